/*
 * What the probe has to say about its figures, in full.
 */
#ifndef TUI_VIEW_NOTICE_VIEW_H
#define TUI_VIEW_NOTICE_VIEW_H

#include "tui/view/pager.h"

void notice_view_init(struct pager *pager);

#endif
