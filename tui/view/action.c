#include "tui/view/action.h"

#include <string.h>

// Not in it: the digits that order by a column, which are the key itself.
static const char *const names[] = {
    [ACTION_UP] = "up",
    [ACTION_DOWN] = "down",
    [ACTION_PAGE_UP] = "page-up",
    [ACTION_PAGE_DOWN] = "page-down",
    [ACTION_HALF_UP] = "half-up",
    [ACTION_HALF_DOWN] = "half-down",
    [ACTION_TOP] = "top",
    [ACTION_BOTTOM] = "bottom",
    [ACTION_CHOOSE] = "choose",
    [ACTION_COMPLETE] = "complete",
    [ACTION_YES] = "yes",
    [ACTION_NO] = "no",
    [ACTION_BACK] = "back",
    [ACTION_QUIT] = "quit",
    [ACTION_SORT_LEFT] = "sort-left",
    [ACTION_SORT_RIGHT] = "sort-right",
    [ACTION_SORT_MENU] = "sort-menu",
    [ACTION_INVERT] = "invert",
    [ACTION_FILTER] = "filter",
    [ACTION_NEXT] = "next",
    [ACTION_PREVIOUS] = "previous",
    [ACTION_CLEAR_FILTER] = "clear-filter",
    [ACTION_MARK] = "mark",
    [ACTION_PICK_MARK] = "pick-mark",
    [ACTION_SINCE_MARK] = "since-mark",
    [ACTION_PAUSE] = "pause",
    [ACTION_LIVE] = "live",
    [ACTION_RECORD] = "record",
    [ACTION_STEP_BACK] = "step-back",
    [ACTION_STEP_ON] = "step-on",
    [ACTION_MINUTE_BACK] = "minute-back",
    [ACTION_MINUTE_ON] = "minute-on",
    [ACTION_SERIES] = "series",
    [ACTION_FOLLOW] = "follow",
    [ACTION_MEASURE] = "measure",
    [ACTION_UNITS] = "units",
    [ACTION_INTERNAL] = "internal",
    [ACTION_CENSUS] = "census",
    [ACTION_GC] = "gc",
    [ACTION_WRITE] = "write",
    [ACTION_NOTICES] = "notices",
    [ACTION_COMMAND] = "command",
    [ACTION_HELP] = "help",
    [ACTION_REDRAW] = "redraw",
    [ACTION_SUSPEND] = "suspend",
    [ACTION_OPEN] = "open",
    [ACTION_PIN] = "pin",
    [ACTION_UNFOLD] = "unfold",
    [ACTION_FOLD] = "fold",
    [ACTION_TOGGLE] = "toggle",
    [ACTION_UNFOLD_BELOW] = "unfold-below",
    [ACTION_UNFOLD_ALL] = "unfold-all",
    [ACTION_FOLD_ALL] = "fold-all",
    [ACTION_DEEPER] = "deeper",
    [ACTION_SHALLOWER] = "shallower",
    [ACTION_TURN] = "turn",
    [ACTION_FLAT] = "flat",
    [ACTION_OWN] = "own",
    [ACTION_SOURCE] = "source",
    [ACTION_EDIT] = "edit",
    [ACTION_FLAME] = "flame",
    [ACTION_BORN] = "born",
    [ACTION_TAGS] = "tags",
    [ACTION_PROCESSES] = "processes",
    [ACTION_NEXT_VIEW] = "next-view",
    [ACTION_MERGE] = "merge",
    [ACTION_SPREAD] = "spread",
    [ACTION_OUTPUT] = "output",
};

#define NAMES (sizeof names / sizeof names[0])

const char *
action_name(enum action action)
{
    return (size_t)action < NAMES ? names[action] : NULL;
}

enum action
action_find(const char *name)
{
    for (size_t i = 0; i < NAMES; i++) {
        if (names[i] != NULL && strcmp(names[i], name) == 0) {
            return (enum action)i;
        }
    }
    return ACTION_NONE;
}
