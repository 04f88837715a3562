/*
 * What a person did: one key, or one thing the mouse did.
 */
#ifndef TUI_VIEW_KEY_H
#define TUI_VIEW_KEY_H

#include <stdint.h>

// A Unicode scalar value, or one of these.
enum key_code {
    KEY_CODE_NONE = 0,
    KEY_CODE_TAB = 9,
    KEY_CODE_ENTER = 13,
    KEY_CODE_ESCAPE = 27,
    KEY_CODE_BACKSPACE = 127,
    KEY_CODE_SPECIAL = 0x110000, // the first beyond Unicode
    KEY_CODE_UP = KEY_CODE_SPECIAL,
    KEY_CODE_DOWN,
    KEY_CODE_LEFT,
    KEY_CODE_RIGHT,
    KEY_CODE_PAGE_UP,
    KEY_CODE_PAGE_DOWN,
    KEY_CODE_HOME,
    KEY_CODE_END,
    KEY_CODE_DELETE,
    KEY_CODE_INSERT,
    KEY_CODE_BACK_TAB,
    KEY_CODE_F1, // F2 is KEY_CODE_F1 + 1, and so on to F12
    KEY_CODE_F12 = KEY_CODE_F1 + 11,
    KEY_CODE_MOUSE,
};

// ^A is KEY_CONTROL('A').
#define KEY_CONTROL(letter) ((uint32_t)(letter)&0x1fu)

enum mouse_action {
    MOUSE_PRESS,
    MOUSE_DOUBLE,
    MOUSE_WHEEL_UP,
    MOUSE_WHEEL_DOWN,
};

struct key {
    uint32_t code;
    int mouse; // enum mouse_action, when code is KEY_CODE_MOUSE
    int row;
    int column;
};

#endif
