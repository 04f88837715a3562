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

static int
press_kind(struct keys *keys, const MEVENT *event, uint64_t now_ms)
{
    bool again = keys->pressed_ms != 0 && now_ms - keys->pressed_ms <= KEYS_DOUBLE_MS &&
                 keys->pressed_row == event->y && keys->pressed_column == event->x;

    // a third press starts anew
    keys->pressed_ms = again ? 0 : now_ms;
    keys->pressed_row = event->y;
    keys->pressed_column = event->x;
    return again ? MOUSE_DOUBLE : MOUSE_PRESS;
}

// Nothing for what the mouse does that nobody asked about, such as a release.
static struct key
take_mouse(struct keys *keys, uint64_t now_ms)
{
    const struct key none = {.code = KEY_CODE_NONE};
    MEVENT event;

    if (getmouse(&event) != OK) {
        return none;
    }
    struct key key = {.code = KEY_CODE_MOUSE, .row = event.y, .column = event.x};
    if (event.bstate & BUTTON4_PRESSED) {
        key.mouse = MOUSE_WHEEL_UP;
    } else if (event.bstate & BUTTON5_PRESSED) {
        key.mouse = MOUSE_WHEEL_DOWN;
    } else if (event.bstate & BUTTON1_PRESSED) {
        key.mouse = press_kind(keys, &event, now_ms);
    } else {
        return none;
    }
    return key;
}

/*
 * After an Escape that curses could not read as a key of this terminal: if a
 * sequence follows, swallow it whole, lest its letters act as keys. True when
 * it was the Escape key itself.
 */
static bool
escape_alone(void)
{
    int next = getch();

    if (next == ERR) {
        return true;
    }
    if (next == 'O') {
        getch();
        return false;
    }
    if (next != '[') {
        ungetch(next);
        return true;
    }
    do {
        next = getch();
    } while (next != ERR && next < KEY_MIN && (next < 0x40 || next > 0x7e));
    return false;
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
        if (code == KEY_MOUSE) {
            *key = take_mouse(keys, now_ms);
        } else if (code >= 0x80 && code <= 0xff) {
            key->code = assemble(keys, (unsigned char)code);
        } else if (code != KEY_CODE_ESCAPE || escape_alone()) {
            keys->partial_length = 0;
            key->code = translate(code);
        }
        if (key->code != KEY_CODE_NONE) {
            return true;
        }
    }
    return false;
}
