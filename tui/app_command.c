#include "tui/app_command.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/app_born.h"
#include "tui/app_diff.h"
#include "tui/app_fleet.h"
#include "tui/app_record.h"
#include "tui/app_run.h"
#include "tui/app_state.h"
#include "tui/app_tags.h"
#include "tui/app_time.h"
#include "tui/app_tree.h"
#include "tui/text/text.h"
#include "tui/view/format.h"
#include "tui/view/mark_menu.h"
#include "tui/view/notice_view.h"
#include "tui/view/sort_menu.h"
#include "tui/view/when.h"

#define NAME_MAX_BYTES 16

struct command {
    const char *name;
    const char *arguments; // for people, "" for none
    enum action action;    // that means it, without an argument
    unsigned (*run)(struct app *app, const char *argument);
    const char *help; // NULL: not to be typed
};

// Send a request, and remember what to call it when it is answered.
static unsigned
request(struct app *app, const char *name, enum request_action action, uint64_t argument)
{
    struct request request = {++app->request_id, (uint64_t)action, argument};
    if (app->scene.link != LINK_LIVE ||
        !app->options.send(app->options.context, &request)) {
        return app_tell(app, true, "%s: not connected to a probe", name);
    }
    app->pending[request.id % APP_PENDING_MAX] =
        (struct pending){request.id, name, action};
    return app_tell(app, false, "%s: asked for", name);
}

bool
app_may_change(struct app *app, const char *name)
{
    if (!app_is_one(app, name)) {
        return false;
    }
    if (app->scene.readonly) {
        app_tell(app, true, "%s: refused, memtop was started with --readonly", name);
        return false;
    }
    if ((model_hello(app->model)->capabilities & CAPABILITY_READONLY) != 0) {
        app_tell(app, true, "%s: refused, the probe is read-only (MEMTOP_READONLY)",
                 name);
        return false;
    }
    return true;
}

static unsigned
sort_drill(struct app *app, struct drill *drill, const char *argument)
{
    if (!drill_sort(drill, argument)) {
        return app_tell(app, true, "sort: no column \"%.40s\" to order by; < and > do",
                        argument);
    }
    return REACT_DRAW;
}

static unsigned
run_sort(struct app *app, const char *argument)
{
    struct drill *drill = app_drill_shown(app);
    if (drill != NULL) {
        return sort_drill(app, drill, argument);
    }
    if (app_fleet_shown(app)) {
        return app_fleet_sort(app, argument);
    }
    if (app_tree_shown(app)) {
        return app_tree_sort(app, argument);
    }
    if (argument[0] == '\0') {
        char command[SCENE_COMMAND_BYTES];
        snprintf(command, sizeof command, "sort %s", columns[app->table.rows.sort].word);
        menu_init(&app->menu, &sort_menu_classes, &app->scene, command);
        return app_open_view(app, &app->menu.view);
    }
    enum column_id column = column_find(argument, strlen(argument));
    if (column == COLUMN_COUNT || !rows_sort(&app->table.rows, column)) {
        return app_tell(app, true, "sort: no column \"%.40s\" to order by", argument);
    }
    return REACT_DRAW;
}

static unsigned
run_filter(struct app *app, const char *argument)
{
    char error[FILTER_ERROR_BYTES];
    char ignored[FILTER_ERROR_BYTES];
    struct drill *drill = app_drill_shown(app);
    if (drill != NULL) {
        snprintf(drill_list(drill)->filter, LIST_FILTER_BYTES, "%s", argument);
        return REACT_DRAW;
    }
    if (app_fleet_shown(app)) {
        process_view_filter(&app->processes, argument);
        return REACT_DRAW;
    }
    if (app_tree_shown(app)) {
        tree_view_filter(&app->tree, argument);
        return REACT_DRAW;
    }
    if (table_filter(&app->table, argument, error)) {
        return REACT_DRAW;
    }
    if (app->stack[app->depth - 1] == &app->prompt.view) {
        // the rows of before, not those of the last half of a word that made sense
        table_filter(&app->table, app->prompt.before, ignored);
    }
    return app_tell(app, true, "%s", error);
}

static int
free_mark(const struct app *app)
{
    int mark = 0;
    while (mark < MODEL_MARKS_MAX && model_mark(app->model, mark) != NULL) {
        mark++;
    }
    return mark;
}

// A letter as the number of a mark; MODEL_MARKS_MAX when it is none.
static int
mark_of(const char *argument)
{
    char letter = argument[0];
    letter = letter >= 'a' && letter <= 'z' ? (char)(letter - 'a' + 'A') : letter;
    bool valid = letter >= 'A' && letter <= 'Z' && argument[1] == '\0';
    return valid ? letter - 'A' : MODEL_MARKS_MAX;
}

static unsigned
use_mark(struct app *app, int mark)
{
    app_time_use_mark(app, mark);
    if (mark != MODEL_MARK_NONE) {
        app->last_mark = mark;
    }
    rows_renew(&app->table.rows);
    return REACT_DRAW;
}

static unsigned
run_mark(struct app *app, const char *argument)
{
    int mark = argument[0] == '\0' ? free_mark(app) : mark_of(argument);
    if (!model_sampled(app->model)) {
        return app_tell(app, true, "mark: there are no figures yet");
    }
    if (mark == MODEL_MARKS_MAX && argument[0] == '\0') {
        return app_tell(app, true, "mark: A to Z are all set; :mark A sets one anew");
    }
    if (mark == MODEL_MARKS_MAX) {
        return app_tell(app, true, "mark: \"%.20s\" is no letter from A to Z", argument);
    }
    bool back = app->scene.model != app->model;
    unsigned reaction = app_time_mark(app, mark);
    if (model_mark(app->model, mark) == NULL) {
        return reaction;
    }
    use_mark(app, mark);
    if (app->mark_error[0] != '\0') {
        return app_tell(app, false, "mark %c is set for this session only: %.200s",
                        'A' + mark, app->mark_error);
    }
    return app_tell(app, false, "mark %c is set: changes are since %s", 'A' + mark,
                    back ? "the moment shown" : "now");
}

static unsigned
run_since(struct app *app, const char *argument)
{
    int used = model_mark_used(app->model);
    if (argument[0] == '\0') {
        int other = used == MODEL_MARK_NONE ? app->last_mark : MODEL_MARK_NONE;
        if (used == MODEL_MARK_NONE && other == MODEL_MARK_NONE) {
            return app_tell(app, true, "since: no mark is set; m sets one");
        }
        return use_mark(app, other);
    }
    if (strcmp(argument, "connecting") == 0) {
        return use_mark(app, MODEL_MARK_NONE);
    }
    int mark = mark_of(argument);
    if (mark == MODEL_MARKS_MAX || model_mark(app->model, mark) == NULL) {
        return app_tell(app, true, "since: there is no mark \"%.20s\"", argument);
    }
    return use_mark(app, mark);
}

static unsigned
run_marks(struct app *app, const char *argument)
{
    (void)argument;
    char command[SCENE_COMMAND_BYTES];
    int used = model_mark_used(app->scene.model);
    snprintf(command, sizeof command, "since %c", 'A' + used);
    menu_init(&app->menu, &mark_menu, &app->scene, command);
    return app_open_view(app, &app->menu.view);
}

static unsigned
run_mode(struct app *app, const char *argument)
{
    enum probe_mode mode;
    uint64_t capabilities = model_hello(app->model)->capabilities;
    if (!mode_parse(argument, &mode)) {
        return app_tell(
            app, true,
            "mode: one of dormant, census, count, trace is needed, not \"%.20s\"",
            argument);
    }
    if (!app_may_change(app, "mode")) {
        return REACT_DRAW;
    }
    if (mode_counts(mode) && (capabilities & CAPABILITY_COUNT) == 0) {
        return app_tell(app, true,
                        "mode: this program cannot be counted; the notices (!) may "
                        "say why");
    }
    return request(app, "mode", REQUEST_MODE, (uint64_t)mode);
}

static unsigned
run_gc(struct app *app, const char *argument)
{
    if (!app_may_change(app, "garbage collection")) {
        return REACT_DRAW;
    }
    if ((model_hello(app->model)->capabilities & CAPABILITY_GC) == 0) {
        return app_tell(app, true, "garbage collection: this probe cannot run one");
    }
    if (strcmp(argument, "now") == 0) {
        return request(app, "garbage collection", REQUEST_GC, 0);
    }
    confirm_init(&app->confirm, "Run a full garbage collection in the program?",
                 "gc now");
    return app_open_view(app, &app->confirm.view);
}

static unsigned
run_flight(struct app *app, const char *argument)
{
    (void)argument;
    if (!app_may_change(app, "flight")) {
        return REACT_DRAW;
    }
    if ((model_hello(app->model)->capabilities & CAPABILITY_FLIGHT) == 0) {
        return app_tell(app, true,
                        "flight: the program's flight recorder is off; MEMTOP_FLIGHT=on "
                        "starts the program with it");
    }
    return request(app, "flight", REQUEST_FLIGHT, 0);
}

static unsigned
run_detach(struct app *app, const char *argument)
{
    if (!app_may_change(app, "detach")) {
        return REACT_DRAW;
    }
    if ((model_hello(app->model)->capabilities & CAPABILITY_DETACH) == 0) {
        return app_tell(app, true, "detach: this probe cannot be taken out");
    }
    if (strcmp(argument, "now") == 0) {
        return request(app, "detach", REQUEST_DETACH, 0);
    }
    confirm_init(&app->confirm,
                 "Take the probe out of the program? What it counted is gone.",
                 "detach now");
    return app_open_view(app, &app->confirm.view);
}

static unsigned
run_census(struct app *app, const char *argument)
{
    (void)argument;
    if (!app_may_change(app, "census")) { // a walk holds the program up
        return REACT_DRAW;
    }
    return request(app, "census", REQUEST_CENSUS, 0);
}

// "memtop-4120-20260101T000001Z.txt": of the last sample, not of now.
static void
default_path(const struct app *app, char path[APP_PATH_BYTES])
{
    char when[FORMAT_BYTES];
    struct tm utc;
    time_t wall = (time_t)(model_time(app->scene.model).wall_us / 1000000 % INT32_MAX);
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime_r(&wall, &utc));
    snprintf(path, APP_PATH_BYTES, "memtop-%llu-%s.txt",
             (unsigned long long)model_hello(app->model)->pid, when);
}

static unsigned
run_write(struct app *app, const char *argument)
{
    if (strlen(argument) >= sizeof app->write_path) {
        return app_tell(app, true, "write: a path of more than %d bytes",
                        APP_PATH_BYTES - 1);
    }
    if (argument[0] == '\0') {
        default_path(app, app->write_path);
    } else {
        strcpy(app->write_path, argument);
    }
    return REACT_WRITE | REACT_DRAW;
}

static unsigned
run_mouse(struct app *app, const char *argument)
{
    bool on = strcmp(argument, "on") == 0;
    if (!on && strcmp(argument, "off") != 0) {
        return app_tell(app, true, "mouse: on or off is needed, not \"%.20s\"", argument);
    }
    app->scene.mouse = on;
    app_tell(app, false,
             on ? "the mouse works here" : "the mouse is the terminal's again");
    return REACT_MOUSE | REACT_DRAW;
}

static unsigned
run_notices(struct app *app, const char *argument)
{
    (void)argument;
    notice_view_init(&app->notices);
    return app_open_view(app, &app->notices.view);
}

static unsigned
run_help(struct app *app, const char *argument)
{
    (void)argument;
    const struct view *below = app->stack[app->depth - 1];
    help_init(&app->help, below->class, app_command_help);
    return app_open_view(app, &app->help.pager.view);
}

static unsigned
search(struct app *app, int by)
{
    if (app_output_shown(app)) {
        return app_run_next(app, -by); // the newest is the last: on is upwards
    }
    if (app_tree_shown(app)) {
        return tree_view_search(&app->tree, &app->scene, by)
                   ? REACT_DRAW
                   : app_tell(app, true, "no row to go to: / looks for one");
    }
    if (app->table.wanted.count == 0) {
        return app_tell(app, true, "there is no filter to look for: / sets one");
    }
    if (!table_search(&app->table, &app->scene, by)) {
        return app_tell(app, true, "no class in the list matches %.100s",
                        app->table.wanted.text);
    }
    return REACT_DRAW;
}

static unsigned
run_next(struct app *app, const char *argument)
{
    (void)argument;
    return search(app, 1);
}

static unsigned
run_previous(struct app *app, const char *argument)
{
    (void)argument;
    return search(app, -1);
}

static unsigned
run_follow(struct app *app, const char *argument)
{
    bool *follow = &app->table.rows.follow;
    (void)argument;
    *follow = !*follow;
    return app_tell(app, false,
                    *follow ? "the cursor follows its class"
                            : "the cursor stays in its row");
}

static unsigned
run_redraw(struct app *app, const char *argument)
{
    (void)app;
    (void)argument;
    return REACT_REDRAW | REACT_DRAW;
}

static unsigned
run_suspend(struct app *app, const char *argument)
{
    (void)app;
    (void)argument;
    return REACT_SUSPEND;
}

// clang-format off
static const struct command commands[] = {
    {"sort", "[COLUMN]", ACTION_SORT_MENU, run_sort, "order by a column, or choose one; the same again inverts"},
    {"filter", "[WORDS]", ACTION_CLEAR_FILTER, run_filter, "show only classes that match all words, or all classes"},
    {"tree", "", ACTION_OPEN, app_tree_open, "the call tree of the class under the cursor"},
    {"pin", "", ACTION_PIN, app_tree_pin, "take the class's stacks when nobody looks as well, or no longer"},
    {"edit", "", ACTION_EDIT, app_tree_edit, "open the selected line in $VISUAL or $EDITOR"},
    {"flame", "", ACTION_FLAME, app_tree_flame, "the call tree as a flame graph"},
    {"tags", "", ACTION_TAGS, app_tags_run, "what each tag (a route, a job) allocates and leaves behind"},
    {"processes", "", ACTION_PROCESSES, app_fleet_open, "all processes that run under the probe"},
    {"process", "PID", ACTION_NONE, app_fleet_process, "the classes of that process"},
    {"merge", "PID", ACTION_NONE, app_fleet_merge, "the classes of a process and its children as one"},
    {"spread", "", ACTION_SPREAD, app_fleet_spread, "of merged processes: each one's LIVE beside the sum"},
    {"next-view", "", ACTION_NEXT_VIEW, app_fleet_next, NULL},
    {"mark", "[LETTER]", ACTION_MARK, run_mark, "set a mark, by default the next letter"},
    {"since", "[LETTER|connecting]", ACTION_SINCE_MARK, run_since, "show changes since a mark, or since memtop connected"},
    {"marks", "", ACTION_PICK_MARK, run_marks, "pick a mark"},
    {"born", "[LETTER [LETTER]]", ACTION_BORN, app_born_open, "what was born between two marks and is still alive, by default the last two"},
    {"diff", "[FROM [TO]]|FILE", ACTION_NONE, app_diff_open, "what changed between two moments, as those of goto, by default from the first one to the one shown; or since the end of another recording"},
    {"mode", "dormant|census|count|trace", ACTION_NONE, run_mode, "tell the probe what to count"},
    {"gc", "[now]", ACTION_GC, run_gc, "run the garbage collector in the program; asks, unless it is to be now"},
    {"flight", "", ACTION_NONE, run_flight, "let the program's flight recorder write what it has, and say where"},
    {"detach", "[now]", ACTION_NONE, run_detach, "take the probe out of the program; asks, unless it is to be now"},
    {"census", "", ACTION_CENSUS, run_census, "walk the heap now: bytes, and a check of the counts"},
    {"write", "[FILE]", ACTION_WRITE, run_write, "write what is shown to a file"},
    {"mouse", "on|off", ACTION_NONE, run_mouse, "use the mouse here, or leave it to the terminal"},
    {"pause", "", ACTION_PAUSE, app_time_pause, "stop the screen, or go on"},
    {"live", "", ACTION_LIVE, app_time_live, "go on with the screen"},
    {"record", "[all] [FILE]", ACTION_RECORD, app_record_command, "record into a file, with `all` what is still known of the past too; again: end it"},
    {"goto", "-5m|14:03|A|start|live", ACTION_NONE, app_time_goto, "show another moment: " WHEN_EXAMPLES},
    {"back", "", ACTION_STEP_BACK, app_time_back, "show the sample before"},
    {"on", "", ACTION_STEP_ON, app_time_on, "show the sample after"},
    {"minute-back", "", ACTION_MINUTE_BACK, app_time_minute_back, NULL},
    {"minute-on", "", ACTION_MINUTE_ON, app_time_minute_on, NULL},
    {"timeline", "", ACTION_SERIES, app_time_series, "let the timeline show live objects, RSS or collections"},
    {"notices", "", ACTION_NOTICES, run_notices, "what the probe has to say about its figures"},
    {"help", "", ACTION_HELP, run_help, "keys, words and commands"},
    {"follow", "", ACTION_FOLLOW, run_follow, "let the cursor follow its class, or stay in its row"},
    {"next", "", ACTION_NEXT, run_next, NULL},
    {"previous", "", ACTION_PREVIOUS, run_previous, NULL},
    {"redraw", "", ACTION_REDRAW, run_redraw, NULL},
    {"suspend", "", ACTION_SUSPEND, run_suspend, NULL},
    {"output", "", ACTION_OUTPUT, app_run_output, "what the command writes that memtop run started"},
    {"find", "WORDS", ACTION_NONE, app_run_find, NULL},
    {"quit", "[stop|leave]", ACTION_QUIT, app_run_quit, "quit memtop; the program and its probe go on, one that memtop started as you answer"},
};

static const char *const candidates[] = {
    "born ", "census", "detach", "diff ", "diff start", "edit", "filter ", "flame", "flight", "follow", "gc",
    "goto ", "goto start", "help", "live", "mark ", "marks", "merge ", "mode census", "mode count", "mode dormant",
    "mode trace", "mouse off", "mouse on", "notices", "output", "pause", "pin", "process ", "processes", "quit", "record ",
    "record all ", "since connecting",
    "sort alloc", "sort bytes", "sort delta", "sort free", "sort live", "sort name", "sort rate",
    "sort share", "spread",
    "tags", "timeline", "tree", "write ", NULL,
};
// clang-format on

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

unsigned
app_command_run(struct app *app, const char *line)
{
    line += strspn(line, " ");
    size_t length = strcspn(line, " ");
    const char *argument = line + length;
    argument += strspn(argument, " ");
    if (length == 0) {
        return REACT_DRAW;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strlen(commands[i].name) == length &&
            strncmp(commands[i].name, line, length) == 0) {
            return commands[i].run(app, argument) | REACT_DRAW;
        }
    }
    char name[NAME_MAX_BYTES * TEXT_ESCAPE_GROWTH];
    text_escape(name, sizeof name, line,
                length < NAME_MAX_BYTES ? length : NAME_MAX_BYTES);
    return app_tell(app, true, "no command \"%s\"; ? lists them, Tab completes", name);
}

unsigned
app_command_act(struct app *app, enum action action)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].action == action) {
            return commands[i].run(app, "");
        }
    }
    return REACT_NOTHING;
}

const char *
app_command_candidate(size_t index)
{
    return candidates[index];
}

bool
app_command_help(size_t index, struct help_command *command)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].help != NULL && index-- == 0) {
            snprintf(command->usage, sizeof command->usage, "%s %s", commands[i].name,
                     commands[i].arguments);
            command->help = commands[i].help;
            return true;
        }
    }
    return false;
}
