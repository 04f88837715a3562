#include "tui/term/terminfo.h"

#include <stdio.h>
#include <string.h>

#include <curses.h>
#include <term.h>

bool
terminfo_check(const char *name, int descriptor, char *why, size_t capacity)
{
    static const char advice[] = "Set TERM to what your terminal is (such as "
                                 "xterm-256color), or use memtop --once or --plain.";
    int found = 0;

    if (!name || !*name) {
        snprintf(why, capacity, "cannot open the viewer: TERM is not set.\n%s", advice);
        return false;
    }
    if (setupterm(name, descriptor, &found) != OK) {
        snprintf(why, capacity,
                 "cannot open the viewer: no terminal called '%s' is known here.\n%s",
                 name, advice);
        return false;
    }
    bool good = cursor_address && clear_screen;
    if (!good) {
        snprintf(why, capacity,
                 "cannot open the viewer: a terminal called '%s' cannot place text.\n%s",
                 name, advice);
    }
    del_curterm(cur_term);
    return good;
}

bool
terminfo_mouse(void)
{
    return key_mouse != NULL;
}

// Append a control string without the delays a description may put into it,
// such as "$<5>".
static size_t
append(char *bytes, size_t length, size_t capacity, const char *string)
{
    while (string && *string && length < capacity) {
        const char *end =
            string[0] == '$' && string[1] == '<' ? strchr(string, '>') : NULL;
        if (end) {
            string = end + 1;
        } else {
            bytes[length++] = *string++;
        }
    }
    return length;
}

size_t
terminfo_farewell(char *bytes, size_t capacity)
{
    const char *const strings[] = {
        keypad_local, exit_attribute_mode, orig_pair, exit_ca_mode, cursor_normal, "\r\n",
    };
    size_t length = 0;

    for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
        length = append(bytes, length, capacity, strings[i]);
    }
    return length;
}
