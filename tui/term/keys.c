#include "tui/term/keys.h"

#include <curses.h>

struct key_name {
    int curses;
    uint32_t code;
};

static const struct key_name key_names[] = {
    {KEY_UP,        KEY_CODE_UP       },
    {KEY_DOWN,      KEY_CODE_DOWN     },
    {KEY_LEFT,      KEY_CODE_LEFT     },
    {KEY_RIGHT,     KEY_CODE_RIGHT    },
    {KEY_PPAGE,     KEY_CODE_PAGE_UP  },
    {KEY_NPAGE,     KEY_CODE_PAGE_DOWN},
    {KEY_HOME,      KEY_CODE_HOME     },
    {KEY_FIND,      KEY_CODE_HOME     },
    {KEY_END,       KEY_CODE_END      },
    {KEY_SELECT,    KEY_CODE_END      },
    {KEY_DC,        KEY_CODE_DELETE   },
    {KEY_IC,        KEY_CODE_INSERT   },
    {KEY_BTAB,      KEY_CODE_BACK_TAB },
    {KEY_ENTER,     KEY_CODE_ENTER    },
    {'\n',          KEY_CODE_ENTER    },
    {KEY_BACKSPACE, KEY_CODE_BACKSPACE},
    {'\b',          KEY_CODE_BACKSPACE},
};

#define FUNCTION_KEYS 12

static uint32_t
translate(int code)
{
    for (size_t i = 0; i < sizeof(key_names) / sizeof(*key_names); i++) {
        if (key_names[i].curses == code) {
            return key_names[i].code;
        }
    }
    if (code > KEY_F0 && code <= KEY_F0 + FUNCTION_KEYS) {
        return KEY_CODE_F1 + (uint32_t)(code - KEY_F0 - 1);
    }
    return code < KEY_MIN ? (uint32_t)code : KEY_CODE_NONE;
}

/*
 * The mouse, as terminals tell it: a button and a place, counted from 1.
 */

#define BUTTON_LEFT 0
#define BUTTON_WHEEL_UP 64
#define BUTTON_WHEEL_DOWN 65

// An old terminal adds this to each value, to make it a character.
#define OLD_OFFSET 32

#define PLACE_MAX 10000

static int
press_kind(struct keys *keys, int row, int column, uint64_t now_ms)
{
    bool again = keys->pressed_ms != 0 && now_ms - keys->pressed_ms <= KEYS_DOUBLE_MS &&
                 keys->pressed_row == row && keys->pressed_column == column;

    // a third press starts anew
    keys->pressed_ms = again ? 0 : now_ms;
    keys->pressed_row = row;
    keys->pressed_column = column;
    return again ? MOUSE_DOUBLE : MOUSE_PRESS;
}

// No key for what nobody asked about: other buttons, a drag.
static struct key
mouse_key(struct keys *keys, int button, int row, int column, uint64_t now_ms)
{
    struct key key = {.code = KEY_CODE_MOUSE, .row = row - 1, .column = column - 1};

    if (button == BUTTON_WHEEL_UP) {
        key.mouse = MOUSE_WHEEL_UP;
    } else if (button == BUTTON_WHEEL_DOWN) {
        key.mouse = MOUSE_WHEEL_DOWN;
    } else if (button == BUTTON_LEFT) {
        key.mouse = press_kind(keys, key.row, key.column, now_ms);
    } else {
        key.code = KEY_CODE_NONE;
    }
    return key;
}

// After "ESC [ <": "BUTTON;COLUMN;ROW" and M for a press, m for a release.
static struct key
read_mouse(struct keys *keys, uint64_t now_ms)
{
    int values[3] = {0};
    int count = 0;
    int next;

    while ((next = getch()) != ERR && next != 'M' && next != 'm') {
        if (next == ';' && count < 2) {
            count++;
        } else if (next >= '0' && next <= '9' && values[count] < PLACE_MAX) {
            values[count] = values[count] * 10 + next - '0';
        } else {
            return (struct key){.code = KEY_CODE_NONE};
        }
    }
    return next == 'M' && count == 2
               ? mouse_key(keys, values[0], values[2], values[1], now_ms)
               : (struct key){.code = KEY_CODE_NONE};
}

// After "ESC [ M": three characters. A release is a button of its own.
static struct key
read_old_mouse(struct keys *keys, uint64_t now_ms)
{
    int button = getch();
    int column = getch();
    int row = getch();

    if (row == ERR) {
        return (struct key){.code = KEY_CODE_NONE};
    }
    return mouse_key(keys, button - OLD_OFFSET, row - OLD_OFFSET, column - OLD_OFFSET,
                     now_ms);
}

// After "ESC [" of a sequence that is not a key of this terminal: to its end.
static struct key
read_sequence(struct keys *keys, uint64_t now_ms)
{
    int next = getch();

    if (next == '<') {
        return read_mouse(keys, now_ms);
    }
    if (next == 'M') {
        return read_old_mouse(keys, now_ms);
    }
    while (next != ERR && next < KEY_MIN && (next < 0x40 || next > 0x7e)) {
        next = getch();
    }
    return (struct key){.code = KEY_CODE_NONE};
}

/*
 * After an Escape that curses could not read as a key of this terminal: the
 * Escape key, or a sequence, which is taken whole lest its letters act as keys.
 */
static struct key
read_escape(struct keys *keys, uint64_t now_ms)
{
    struct key key = {.code = KEY_CODE_NONE};

    timeout(KEYS_ESCAPE_MS); // the rest may be on its way
    int next = getch();
    if (next == '[') {
        key = read_sequence(keys, now_ms);
    } else if (next == 'O') {
        getch();
    } else {
        key.code = KEY_CODE_ESCAPE;
        if (next != ERR) {
            ungetch(next);
        }
    }
    timeout(0);
    return key;
}

static size_t
sequence_length(unsigned char lead)
{
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 1;
}

static uint32_t
decode(const unsigned char *bytes, size_t length)
{
    static const unsigned char lead_bits[] = {0x00, 0x7f, 0x1f, 0x0f, 0x07};
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t character = bytes[0] & lead_bits[length];

    for (size_t i = 1; i < length; i++) {
        character = character << 6 | (bytes[i] & 0x3f);
    }
    bool good = character >= smallest[length] && character < KEY_CODE_SPECIAL &&
                (character < 0xd800 || character > 0xdfff);
    return good ? character : KEY_CODE_NONE;
}

// One more byte of a character beyond ASCII; KEY_CODE_NONE until it is whole.
static uint32_t
assemble(struct keys *keys, unsigned char byte)
{
    bool continues = (byte & 0xc0) == 0x80;

    if (continues != (keys->partial_length > 0)) {
        keys->partial_length = 0;
        if (continues) {
            return KEY_CODE_NONE;
        }
    }
    keys->partial[keys->partial_length++] = byte;
    size_t length = sequence_length(keys->partial[0]);
    if (length == 1) {
        keys->partial_length = 0;
        return KEY_CODE_NONE;
    }
    if (keys->partial_length < length) {
        return KEY_CODE_NONE;
    }
    keys->partial_length = 0;
    return decode(keys->partial, length);
}

bool
keys_next(struct keys *keys, uint64_t now_ms, struct key *key)
{
    int code;

    while ((code = getch()) != ERR) {
        *key = (struct key){.code = KEY_CODE_NONE};
        if (code == KEY_CODE_ESCAPE) {
            *key = read_escape(keys, now_ms);
        } else if (code >= 0x80 && code <= 0xff) {
            key->code = assemble(keys, (unsigned char)code);
        } else {
            keys->partial_length = 0;
            key->code = translate(code);
        }
        if (key->code != KEY_CODE_NONE) {
            return true;
        }
    }
    return false;
}
