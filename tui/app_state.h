/*
 * What the viewer consists of, for app.c and the commands it can be given.
 */
#ifndef TUI_APP_STATE_H
#define TUI_APP_STATE_H

#include "tui/app.h"
#include "tui/app_fleet.h"
#include "tui/app_run.h"
#include "tui/record/player.h"
#include "tui/record/writer.h"
#include "tui/view/born_view.h"
#include "tui/view/confirm.h"
#include "tui/view/diff_view.h"
#include "tui/view/flame.h"
#include "tui/view/header_time.h"
#include "tui/view/help.h"
#include "tui/view/keymap.h"
#include "tui/view/menu.h"
#include "tui/view/output_view.h"
#include "tui/view/process_view.h"
#include "tui/view/prompt.h"
#include "tui/view/strip.h"
#include "tui/view/table.h"
#include "tui/view/tags_view.h"
#include "tui/view/tree_view.h"

#define APP_MESSAGE_BYTES 256
#define APP_STATE_BYTES 320
#define APP_PATH_BYTES 256
#define APP_EDIT_BYTES 4096
#define APP_PENDING_MAX 8
#define APP_SOURCE_BYTES 160
#define APP_STACK_MAX 8
#define APP_KEPT_MAX 7u // trees; a probe keeps eight open for a viewer, one is shown
#define APP_GAPS_MAX 64

// A request on its way, and what to call it when its result comes.
struct pending {
    uint64_t id; // 0: none
    const char *name;
    enum request_action action;
};

// What was born between two marks: see app_born.c.
struct app_born {
    struct born_facts facts;
    struct player at[BORN_C];  // the program at the two marks
    int wanted[BORN_C];        // marks that were asked for, or MODEL_MARK_NONE
    const struct model *model; // the facts are of this one, or NULL: of none
    uint64_t version;          // at that version
    bool rewound;
};

// What changed between two moments: see app_diff.c.
struct app_diff {
    struct diff_facts facts;
    struct tape *other;        // owned: another recording, of the earlier moment; or NULL
    struct player before;      // the earlier moment
    struct player after;       // the later one, unless it is the moment shown
    const struct model *model; // the facts are of this one, or NULL: of none
    uint64_t version;          // at that version
    uint64_t paths_of;         // and of this class, see diff_view_id()
};

struct app {
    struct app_options options;
    struct model *model; // owned: the newest state
    struct scene scene;
    uint64_t sample_ms; // when the last sample came, seen or not

    // Time: see app_time.h.
    struct tape *tape;     // owned, unless it is the options' recording
    struct player player;  // the moment that is shown, when it is not the newest
    bool rewound;          // and was gone to, not only held
    bool playing;          // a recording goes on by itself
    bool following;        // a recording is shown at its end, as it grows
    bool tape_short;       // something had no room on the tape
    bool tape_grew;        // somebody else writes to the recording
    uint64_t play_from_us; // where playing began
    uint64_t play_from_ms; // and when
    struct writer *writer; // owned: what comes is recorded, or NULL
    uint64_t recorded;     // bytes of the last recording
    char record_path[APP_PATH_BYTES];
    char record_error[APP_MESSAGE_BYTES];
    char mark_error[APP_MESSAGE_BYTES]; // why a mark is not in the recording; ""
    struct header_moment moment;
    struct strip_data strip;
    struct strip_point *points; // owned
    size_t point_count;
    size_t point_capacity;
    struct strip_mark strip_marks[MODEL_MARKS_MAX];
    struct strip_gap strip_gaps[APP_GAPS_MAX];
    const char *gap_reason; // of the gap before the next sample; NULL for none

    // Views, the lowest first; all but the table belong to whoever opened them last.
    struct view *stack[APP_STACK_MAX];
    int depth;
    struct table table;
    struct tree_view tree;
    struct flame flame;
    struct born_view born_view;
    struct diff_view diff_view;
    struct tags_view tags;
    struct help help;
    struct pager notices;
    struct process_view processes;
    struct menu menu;
    struct confirm confirm;
    struct prompt prompt;
    struct output_view output;
    struct confirm leave;
    struct prompt_history filters;
    struct prompt_history commands;

    // All processes: see app_fleet.h.
    struct app_target target;
    bool roams;                    // the list was open, and Escape goes back to it
    char source[APP_SOURCE_BYTES]; // of what was chosen

    struct pending pending[APP_PENDING_MAX];
    uint64_t request_id; // of the last request
    bool command_runs;   // that memtop started
    bool touched;        // somebody pressed a key
    enum app_parting parting;
    int last_mark; // that was in use, or MODEL_MARK_NONE

    uint32_t tag_asked;          // whose classes the probe sends, 0 for none
    class_id opened;             // at the probe, 0 for none
    class_id refused;            // the probe would not open it
    class_id kept[APP_KEPT_MAX]; // open as well, for what is recorded; 0 for none

    struct app_born born;
    struct app_diff diff;

    struct labels labels; // of the bottom line, as it was drawn
    int bottom;           // its row
    char message[APP_MESSAGE_BYTES];
    bool message_error;
    uint64_t message_until_ms;
    char link_detail[APP_MESSAGE_BYTES];
    char state_drawn[APP_STATE_BYTES]; // of the data, as the screen has it
    char write_path[APP_PATH_BYTES];
    char edit_path[APP_EDIT_BYTES];
    uint32_t edit_line;
};

// Show words on the message line. Returns what app_say() does.
unsigned app_tell(struct app *app, bool error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Show a view over the others; one that is open comes up again.
unsigned app_open_view(struct app *app, struct view *view);

// Whether a view is open, on top or below others.
bool app_view_shown(const struct app *app, const struct view *view);

// The view of classes and their paths that keys and commands are about, NULL when they
// are about the table or the tree.
struct drill *app_drill_shown(struct app *app);

// As app_new() left it, to show what is at `source`; how a person wants to see things
// stays. False when memory ran out: nothing is changed then.
bool app_again(struct app *app, const char *source);

// Says why when the program must not be changed; true when it may.
bool app_may_change(struct app *app, const char *name);

#endif
