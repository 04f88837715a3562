#include "tui/text/scroll.h"

#include <stdlib.h>
#include <string.h>

#define TAB 8
#define LINE_COST 32      // of a line beside its bytes
#define SEQUENCE_MAX 4096 // longer ones are none: the rest is text again
#define LINES_FIRST 256

enum state {
    IN_TEXT,
    IN_ESCAPE,  // after ESC
    IN_CONTROL, // after ESC [
    IN_STRING,  // after ESC ] and its like, until BEL or ESC \.
    IN_STRING_ESCAPE,
};

struct scroll {
    size_t bytes_max;
    char **lines;    // owned, as a ring of `capacity`
    size_t capacity; // a power of two
    uint64_t first;
    uint64_t finished;              // lines that are, from the program's first
    size_t bytes;                   // of those that are kept
    char line[SCROLL_LINE_MAX + 1]; // the unfinished one
    size_t length;
    enum state state;
    size_t sequence; // bytes of the control sequence so far
    bool returned;   // a carriage return: what comes next begins the line anew
    bool failed;
};

struct scroll *
scroll_new(size_t bytes_max)
{
    struct scroll *scroll = calloc(1, sizeof *scroll);
    char **lines = malloc(LINES_FIRST * sizeof *lines);
    if (scroll == NULL || lines == NULL) {
        free(scroll);
        free((void *)lines);
        return NULL;
    }
    scroll->bytes_max = bytes_max;
    scroll->lines = lines;
    scroll->capacity = LINES_FIRST;
    return scroll;
}

static char **
place(const struct scroll *scroll, uint64_t number)
{
    return &scroll->lines[number & (scroll->capacity - 1)];
}

static void
forget_first(struct scroll *scroll)
{
    char *line = *place(scroll, scroll->first);
    scroll->bytes -= strlen(line) + LINE_COST;
    free(line);
    scroll->first++;
}

void
scroll_free(struct scroll *scroll)
{
    if (scroll == NULL) {
        return;
    }
    while (scroll->first < scroll->finished) {
        forget_first(scroll);
    }
    free((void *)scroll->lines);
    free(scroll);
}

// Room for one more line.
static bool
make_room(struct scroll *scroll)
{
    size_t count = (size_t)(scroll->finished - scroll->first);
    if (count < scroll->capacity) {
        return true;
    }
    size_t capacity = scroll->capacity * 2;
    char **lines = malloc(capacity * sizeof *lines);
    if (lines == NULL) {
        return false;
    }
    for (uint64_t i = scroll->first; i < scroll->finished; i++) {
        lines[i & (capacity - 1)] = *place(scroll, i);
    }
    free((void *)scroll->lines);
    scroll->lines = lines;
    scroll->capacity = capacity;
    return true;
}

static void
finish_line(struct scroll *scroll)
{
    char *copy = make_room(scroll) ? malloc(scroll->length + 1) : NULL;
    if (copy == NULL) {
        scroll->failed = true;
    } else {
        memcpy(copy, scroll->line, scroll->length);
        copy[scroll->length] = '\0';
        *place(scroll, scroll->finished++) = copy;
        scroll->bytes += scroll->length + LINE_COST;
    }
    while (scroll->bytes > scroll->bytes_max && scroll->first < scroll->finished) {
        forget_first(scroll);
    }
    scroll->length = 0;
    scroll->returned = false;
}

static void
put(struct scroll *scroll, char c)
{
    if (scroll->returned) {
        scroll->length = 0;
        scroll->returned = false;
    }
    if (scroll->length == SCROLL_LINE_MAX) {
        finish_line(scroll);
    }
    scroll->line[scroll->length++] = c;
}

// One character back: all bytes of it.
static void
step_back(struct scroll *scroll)
{
    while (scroll->length > 0 &&
           ((unsigned char)scroll->line[--scroll->length] & 0xc0) == 0x80) {
    }
}

static void
take_text(struct scroll *scroll, char c)
{
    switch (c) {
    case '\n':
        finish_line(scroll);
        break;
    case '\r':
        scroll->returned = true;
        break;
    case '\t':
        do {
            put(scroll, ' ');
        } while (scroll->length % TAB != 0);
        break;
    case '\b':
        step_back(scroll);
        break;
    case '\033':
        scroll->state = IN_ESCAPE;
        scroll->sequence = 0;
        break;
    default:
        if ((unsigned char)c >= ' ' && c != 0x7f) {
            put(scroll, c);
        }
    }
}

static enum state
after_escape(char c)
{
    if (c == '[') {
        return IN_CONTROL;
    }
    if (c != '\0' && strchr("]P_^X", c) != NULL) {
        return IN_STRING;
    }
    return c >= ' ' && c <= '/' ? IN_ESCAPE : IN_TEXT; // intermediates, then the last
}

static enum state
after(enum state state, char c)
{
    switch (state) {
    case IN_ESCAPE:
        return after_escape(c);
    case IN_CONTROL:
        return c >= '@' && c <= '~' ? IN_TEXT : c == '\033' ? IN_ESCAPE : IN_CONTROL;
    case IN_STRING:
        return c == '\a' ? IN_TEXT : c == '\033' ? IN_STRING_ESCAPE : IN_STRING;
    case IN_STRING_ESCAPE:
        return c == '\\' ? IN_TEXT : IN_STRING;
    default:
        return IN_TEXT;
    }
}

bool
scroll_feed(struct scroll *scroll, const char *bytes, size_t length)
{
    scroll->failed = false;
    for (size_t i = 0; i < length; i++) {
        if (scroll->state == IN_TEXT) {
            take_text(scroll, bytes[i]);
        } else if (bytes[i] == '\n' || ++scroll->sequence > SEQUENCE_MAX) {
            scroll->state = IN_TEXT; // it was none, or never ended
            take_text(scroll, bytes[i]);
        } else {
            scroll->state = after(scroll->state, bytes[i]);
        }
    }
    scroll->line[scroll->length] = '\0';
    return !scroll->failed;
}

uint64_t
scroll_first(const struct scroll *scroll)
{
    return scroll->first;
}

uint64_t
scroll_end(const struct scroll *scroll)
{
    return scroll->finished + (scroll->length > 0);
}

const char *
scroll_line(const struct scroll *scroll, uint64_t number)
{
    if (number == scroll->finished) {
        return scroll->line;
    }
    return number < scroll->first || number > scroll->finished ? ""
                                                               : *place(scroll, number);
}
