/*
 * How a person wants to see it, when the viewer starts: what the configuration file
 * can say. And the views whose keys it can choose.
 */
#ifndef TUI_APP_CHOICES_H
#define TUI_APP_CHOICES_H

#include "tui/view/column.h"
#include "tui/view/keymap.h"
#include "tui/view/tree_column.h"

struct app;

struct app_choices {
    struct column_choice columns; // of the classes
    struct tree_column_choice tree_columns;
    enum column_id sort;
    bool inverted;
    bool internal; // classes that are not Ruby's are shown
    bool exact;    // all digits instead of three and a unit
    bool by_bytes; // changes and shares are of bytes instead of objects
    struct keymap keymap;
};

// As it is when nobody says anything.
struct app_choices app_choices_default(void);

// The views that have keys of their own, in the order of a document; NULL after the
// last. A view whose keys can be chosen is a row of this list.
const struct view_class *app_choices_view(size_t index);

// Follow the options' choices, once, before anything is shown.
void app_choose(struct app *app);

#endif
