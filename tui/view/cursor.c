#include "tui/view/cursor.h"

long
cursor_step(enum action action, int page)
{
    long screen = page > 1 ? page - 1 : 1;
    switch (action) {
    case ACTION_UP:
        return -1;
    case ACTION_DOWN:
        return 1;
    case ACTION_PAGE_UP:
        return -screen;
    case ACTION_PAGE_DOWN:
        return screen;
    case ACTION_HALF_UP:
        return -(screen + 1) / 2;
    case ACTION_HALF_DOWN:
        return (screen + 1) / 2;
    case ACTION_TOP:
        return -CURSOR_END;
    case ACTION_BOTTOM:
        return CURSOR_END;
    default:
        return 0;
    }
}

size_t
cursor_moved(size_t from, long by)
{
    if (by < 0) {
        size_t back = (size_t)-by;
        return from > back ? from - back : 0;
    }
    return from + (size_t)by;
}

size_t
cursor_top(size_t top, size_t cursor, size_t count, size_t page)
{
    size_t last = count > page ? count - page : 0; // last useful top
    if (cursor < top) {
        top = cursor;
    } else if (page > 0 && cursor >= top + page) {
        top = cursor - page + 1;
    }
    return top < last ? top : last;
}
