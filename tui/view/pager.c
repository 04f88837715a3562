#include "tui/view/pager.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"

#define LINE_BYTES 1024
#define WHEEL_LINES 3

// clang-format off
const struct binding pager_bindings[] = {
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, "scroll", "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B'), KEY_CONTROL('U')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F'), KEY_CONTROL('D')}, NULL, "a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the first line"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last line"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q', '?', KEY_CODE_F1, '!', KEY_CODE_LEFT}, "back", "back"},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static void
put_line(struct page *page, int column, enum style style, const char *text)
{
    int row = page->lines - page->top;
    if (row >= 0 && row < page->area.rows) {
        grid_put(page->grid, page->area.row + row, page->area.column + column,
                 page->area.columns - column - 1, style, text);
    }
}

// Bytes of `text` that make one line of `columns` cells, broken at a blank.
static size_t
break_line(const char *text, int columns)
{
    size_t fits = text_cut(text, columns);
    if (text[fits] == '\0') {
        return fits;
    }
    for (size_t at = fits; at > 0; at--) {
        if (text[at] == ' ') {
            return at;
        }
    }
    size_t character = text_cut(text, 2);
    return fits > 0 ? fits : character > 0 ? character : strlen(text);
}

void
page_add(struct page *page, int width, enum style style, const char *left,
         const char *text)
{
    int columns = page->area.columns - width - 2;
    put_line(page, 1, STYLE_ACCENT, left);
    do {
        char line[LINE_BYTES];
        size_t length = break_line(text, columns > 8 ? columns : 8);
        snprintf(line, sizeof line, "%.*s", (int)length, text);
        put_line(page, width + 1, style, line);
        page->lines++;
        text += length;
        text += *text == ' ';
    } while (*text != '\0');
}

void
pager_draw(struct pager *pager, const struct scene *scene, struct grid *grid,
           struct area area, const char *title,
           void (*write)(struct pager *pager, struct page *page))
{
    struct page page = {scene, grid, area, pager->top, 0};
    grid_put(grid, area.row, 1, area.columns - 2, STYLE_ACCENT, title);
    page.area.row += 2;
    page.area.rows = area.rows > 2 ? area.rows - 2 : 0;
    pager->height = page.area.rows;
    // a larger screen may show more than is left below the top
    struct page counted = page;
    counted.area.rows = 0;
    write(pager, &counted);
    pager->lines = counted.lines;
    int last = pager->lines > pager->height ? pager->lines - pager->height : 0;
    pager->top = pager->top < last ? pager->top : last;
    page.top = pager->top;
    write(pager, &page);
    if (last > 0) {
        char place[40];
        snprintf(place, sizeof place, "%d to %d of %d lines", pager->top + 1,
                 pager->top + pager->height, pager->lines);
        grid_put_right(grid, area.row, 0, area.columns - 1, STYLE_DIM, place);
    }
}

static unsigned
scroll(struct pager *pager, int by)
{
    int last = pager->lines > pager->height ? pager->lines - pager->height : 0;
    int top = pager->top + by;
    pager->top = top < 0 ? 0 : top > last ? last : top;
    return OUTCOME_DRAW;
}

unsigned
pager_act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct pager *pager = (struct pager *)(void *)view;
    (void)scene;
    (void)key;
    switch (action) {
    case ACTION_UP:
        return scroll(pager, -1);
    case ACTION_DOWN:
        return scroll(pager, 1);
    case ACTION_PAGE_UP:
        return scroll(pager, -pager->height);
    case ACTION_PAGE_DOWN:
        return scroll(pager, pager->height);
    case ACTION_TOP:
        return scroll(pager, -pager->lines);
    case ACTION_BOTTOM:
        return scroll(pager, pager->lines);
    case ACTION_BACK:
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    default:
        return OUTCOME_PASS;
    }
}

unsigned
pager_mouse(struct view *view, struct scene *scene, struct key key)
{
    struct pager *pager = (struct pager *)(void *)view;
    (void)scene;
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        return scroll(pager, key.mouse == MOUSE_WHEEL_UP ? -WHEEL_LINES : WHEEL_LINES);
    }
    return OUTCOME_NONE;
}
