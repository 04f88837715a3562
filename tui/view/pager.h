/*
 * Lines of text on a screen of their own, to be scrolled: help and notices are
 * pages. Long lines are broken at blanks.
 */
#ifndef TUI_VIEW_PAGER_H
#define TUI_VIEW_PAGER_H

#include "tui/view/view.h"

// Where a page's text is written to; what is scrolled away is only counted.
struct page {
    const struct scene *scene;
    struct grid *grid;
    struct area area;
    int top;   // first line on the screen
    int lines; // written so far
};

struct pager {
    struct view view;
    int top;
    int height; // of the screen, when it was drawn
    int lines;  // of the page, when it was drawn
};

extern const struct binding pager_bindings[];

// Add a line: a word in the left column of `width` cells, and text beside it, broken
// into as many lines as it needs. `left` may be "".
void page_add(struct page *page, int width, enum style style, const char *left,
              const char *text);

// Draw a page that `write` writes, with a title.
void pager_draw(struct pager *pager, const struct scene *scene, struct grid *grid,
                struct area area, const char *title,
                void (*write)(struct pager *pager, struct page *page));
unsigned pager_act(struct view *view, struct scene *scene, enum action action,
                   struct key key);
unsigned pager_mouse(struct view *view, struct scene *scene, struct key key);

#endif
