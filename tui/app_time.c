#include "tui/app_time.h"

#include <stdlib.h>
#include <string.h>

#include "tui/app_born.h"
#include "tui/app_command.h"
#include "tui/app_diff.h"
#include "tui/app_mark.h"
#include "tui/app_record.h"
#include "tui/app_state.h"
#include "tui/app_tree.h"
#include "tui/model/snapshot.h"
#include "tui/record/verify.h"
#include "tui/view/when.h"

#define RING_BYTES (UINT64_C(64) * 1024 * 1024)
#define POINTS_MAX 8192u // of the strip; then every other one is left out
#define KEYS_ENOUGH 30u  // so many key groups make a strip, else all samples do
#define SECOND_US UINT64_C(1000000)
#define MINUTE_US (60 * SECOND_US)
#define GAP_SAMPLES 5 // intervals without a sample that make a gap

/* Points of the strip. */

static bool
grow_points(struct app *app)
{
    if (app->point_count < app->point_capacity) {
        return true;
    }
    size_t capacity = app->point_capacity != 0 ? app->point_capacity * 2 : 256;
    struct strip_point *points = realloc(app->points, capacity * sizeof *points);
    if (points == NULL) {
        return false;
    }
    app->points = points;
    app->point_capacity = capacity;
    return true;
}

static void
add_gap(struct app *app, struct strip_gap gap)
{
    if (gap.to_us > gap.from_us && app->strip.gap_count < APP_GAPS_MAX) {
        app->strip_gaps[app->strip.gap_count++] = gap;
    }
}

// Time without a sample: much longer than usual, or somebody knows why.
static void
note_gap(struct app *app, uint64_t to_us, uint64_t usual_us)
{
    const char *reason = app->gap_reason;
    uint64_t from_us =
        app->point_count > 0 ? app->points[app->point_count - 1].wall_us : to_us;
    if (reason != NULL || to_us > from_us + GAP_SAMPLES * usual_us) {
        add_gap(app, (struct strip_gap){from_us, to_us, reason != NULL ? reason : ""});
    }
    app->gap_reason = NULL;
}

static void
add_point(struct app *app, struct strip_point point, uint64_t usual_us)
{
    note_gap(app, point.wall_us, usual_us);
    if (app->point_count == POINTS_MAX) {
        for (size_t i = 0; i < POINTS_MAX / 2; i++) {
            app->points[i] = app->points[2 * i];
        }
        app->point_count = POINTS_MAX / 2;
    }
    if (grow_points(app)) {
        app->points[app->point_count++] = point;
    }
}

static void
add_sample(struct app *app, const struct message *message)
{
    const struct sample *sample = &message->sample;
    uint64_t interval_ms = model_hello(app->model)->interval_ms;
    bool known = interval_ms >= 1000 && interval_ms < 3600000;
    add_point(app,
              (struct strip_point){
                  .wall_us = message->at.wall_us,
                  .live = sample->totals.live,
                  .rss_bytes = sample->process.rss_bytes,
                  .gc_count = sample->process.gc_count,
                  .mode = sample->mode,
              },
              known ? interval_ms * 1000 : 2000000);
}

// The gap that is told of between two groups; without a reason when there is none.
static struct strip_gap
find_gap(struct app *app, const struct tape_key *before, const struct tape_key *key)
{
    struct tape_frame frame = {.next = before->offset};
    const unsigned char *bytes;
    struct message message;
    uint64_t last_us = before->at.wall_us;
    while (frame.next < key->offset &&
           tape_read_bytes(app->tape, frame.next, &frame, &bytes) == TAPE_FRAME) {
        if (frame.kind == MESSAGE_GAP &&
            tape_read(app->tape, frame.offset, &frame, &message) == TAPE_FRAME &&
            message.kind == MESSAGE_GAP) {
            uint64_t to_us = frame.at.wall_us;
            to_us = to_us < key->at.wall_us ? to_us : key->at.wall_us;
            return (struct strip_gap){last_us, to_us, gap_words(message.gap.reason)};
        }
        last_us = frame.at.wall_us;
    }
    return (struct strip_gap){.reason = NULL};
}

// Groups stand a minute apart. Only where they do not, after another process has begun
// or much later, frames between them are read.
static void
read_keys(struct app *app, size_t keys)
{
    const struct tape_key *before = NULL;
    unsigned searches = 0;
    for (size_t i = 0; i < keys; i++) {
        const struct tape_key *key = tape_key_at(app->tape, i);
        bool later = before != NULL && key->at.wall_us > before->at.wall_us;
        uint64_t apart_us = later ? key->at.wall_us - before->at.wall_us : MINUTE_US;
        bool usual = apart_us >= MINUTE_US - SECOND_US && apart_us <= MINUTE_US * 3 / 2;
        struct strip_gap gap = {.reason = NULL};
        if (!usual && searches++ < APP_GAPS_MAX) {
            gap = find_gap(app, before, key);
        }
        if (gap.reason != NULL) {
            add_gap(app, gap);
        }
        add_point(app,
                  (struct strip_point){key->at.wall_us, key->live, key->rss_bytes,
                                       key->gc_count, key->mode},
                  gap.reason != NULL ? apart_us : MINUTE_US);
        before = key;
    }
}

// A long recording is drawn from its key groups, a short one from its samples.
static void
read_points(struct app *app)
{
    size_t keys = tape_key_count(app->tape);
    app->point_count = 0;
    app->strip.gap_count = 0;
    app->gap_reason = NULL;
    if (keys >= KEYS_ENOUGH) {
        read_keys(app, keys);
        return;
    }
    struct cursor cursor;
    struct message message;
    cursor_start(&cursor, app->tape);
    while (cursor_next(&cursor, app->tape, &message) == TAPE_FRAME) {
        if (message.kind == MESSAGE_SAMPLE && !cursor.repeated) {
            add_sample(app, &message);
        }
        if (message.kind == MESSAGE_GAP && !cursor.repeated) {
            app->gap_reason = gap_words(message.gap.reason);
        }
    }
}

/* What is shown. */

static bool
each_message(void *context, bool (*take)(void *, const struct message *), void *taker)
{
    return snapshot_each(context, take, taker);
}

static bool
apply_mark(void *context, const struct message *message)
{
    return model_apply(context, message);
}

// Marks are known at all moments: those of the newest state.
static void
take_marks(struct app *app, struct model *model)
{
    for (int mark = 0; mark < MODEL_MARKS_MAX; mark++) {
        if (model_mark(app->model, mark) != NULL) {
            snapshot_mark_for(app->model, mark, model, apply_mark, model);
        }
    }
    model_mark_use(model, model_mark_used(app->model));
}

// Classes have other places in another model: what is selected goes with its id.
static void
show(struct app *app, const struct model *model)
{
    struct rows *rows = &app->table.rows;
    const struct model *old = app->scene.model;
    if (model == old) {
        return;
    }
    const struct model_class *was = rows->selected_slot < model_slots(old)
                                        ? model_class_in(old, rows->selected_slot)
                                        : NULL;
    const struct model_class *tree = tree_view_class(&app->tree, &app->scene);
    const struct model_class *is = was != NULL && was->serial == rows->selected
                                       ? model_class_find(model, was->id)
                                       : NULL;
    const struct model_class *shown =
        tree != NULL ? model_class_find(model, tree->id) : NULL;
    rows->selected = is != NULL ? is->serial : 0;
    rows->selected_slot = is != NULL ? is->slot : 0;
    rows->frozen_until_ms = 0;
    app->tree.slot = shown != NULL ? shown->slot : 0;
    app->tree.serial = shown != NULL ? shown->serial : 0;
    app->scene.model = model;
    rows_forget(rows);
    app_tree_forget(app);
    app_born_forget(app);
    app_diff_forget(app);
}

// The player made another model of the one before, which nothing may point to.
static bool
seek(struct app *app, uint64_t wall_us)
{
    struct player made = {.tape = app->tape};
    if (!player_seek(&made, wall_us)) {
        return false;
    }
    take_marks(app, made.model);
    show(app, made.model);
    player_destroy(&app->player);
    app->player = made;
    return true;
}

static uint64_t
newest(const struct app *app)
{
    return model_time(app->model).wall_us;
}

static bool
held(const struct app *app)
{
    return app->player.model != NULL && app->scene.model == app->player.model;
}

void
app_time_hold(struct app *app)
{
    if (!app->scene.paused || held(app) || !model_sampled(app->model)) {
        return;
    }
    if (!seek(app, newest(app))) {
        app->scene.paused = false;
        app_tell(app, true, "no memory to keep a paused screen: it goes on");
    }
}

void
app_time_take(struct app *app, const struct message *message)
{
    const struct state state = {each_message, app->model};
    app_time_hold(app);
    app_record_take(app, message);
    if (app->options.tape != NULL || message->kind == MESSAGE_RESULT) {
        return;
    }
    if (!tape_add(app->tape, message, &state) && !app->tape_short) {
        app->tape_short = true;
        app_tell(app, true, "no memory to keep what came: going back ends here");
    }
    if (message->kind == MESSAGE_SAMPLE) {
        add_sample(app, message);
    }
}

static void
go_live(struct app *app)
{
    app->rewound = false;
    app->scene.paused = false;
    show(app, app->model);
    player_destroy(&app->player);
    app->scene.sample_ms = app->sample_ms;
}

// To a moment; what is said when there is none is the caller's.
static bool
go_to(struct app *app, uint64_t wall_us)
{
    app->scene.paused = true;
    if (!seek(app, wall_us)) {
        app_time_hold(app);
        app_tell(app, true, "there is nothing to go back to");
        return false;
    }
    app->rewound = true;
    return true;
}

/* Commands. */

unsigned
app_time_live(struct app *app, const char *argument)
{
    (void)argument;
    if (app->options.tape != NULL) {
        app->playing = false;
        app->following = true;
        go_to(app, UINT64_MAX);
    } else if (app->scene.paused) {
        go_live(app);
    }
    return REACT_DRAW;
}

static unsigned
play_or_stop(struct app *app)
{
    app->playing = !app->playing;
    app->following = false;
    app->play_from_us = player_time(&app->player);
    app->play_from_ms = app->scene.now_ms;
    return REACT_DRAW;
}

// The figures are kept when the next ones come: a key does not wait for it.
unsigned
app_time_pause(struct app *app, const char *argument)
{
    if (app->options.tape != NULL) {
        return play_or_stop(app);
    }
    if (app->scene.paused) {
        return app_time_live(app, argument);
    }
    app->scene.paused = true;
    return REACT_DRAW;
}

static bool
ready(struct app *app)
{
    struct stamp first;
    struct stamp last;
    app->playing = false;
    app->following = false;
    if (!model_sampled(app->model) || !tape_span(app->tape, &first, &last)) {
        app_tell(app, true, "there are no figures yet");
        return false;
    }
    app->scene.paused = true;
    app_time_hold(app);
    return held(app);
}

static unsigned
go_back(struct app *app, uint64_t by_us)
{
    if (!ready(app)) {
        return REACT_DRAW;
    }
    uint64_t before = player_time(&app->player);
    go_to(app, before > by_us ? before - by_us : 0);
    if (held(app) && player_time(&app->player) >= before) {
        app_tell(app, false, "this is the oldest moment there is");
    }
    return REACT_DRAW;
}

static unsigned
go_on(struct app *app, uint64_t to_us)
{
    bool good = true;
    if (!player_advance(&app->player, to_us, &good)) {
        app_tell(app, !good,
                 good ? "this is the newest moment there is; L goes on live"
                      : "the recording cannot be read on");
    }
    app->rewound = true;
    return REACT_DRAW;
}

unsigned
app_time_back(struct app *app, const char *argument)
{
    (void)argument;
    return go_back(app, 1);
}

unsigned
app_time_minute_back(struct app *app, const char *argument)
{
    (void)argument;
    return go_back(app, MINUTE_US);
}

unsigned
app_time_on(struct app *app, const char *argument)
{
    uint64_t next = 0;
    (void)argument;
    if (!ready(app)) {
        return REACT_DRAW;
    }
    return go_on(app, player_next_time(&app->player, &next) ? next : 0);
}

unsigned
app_time_minute_on(struct app *app, const char *argument)
{
    (void)argument;
    return ready(app) ? go_on(app, player_time(&app->player) + MINUTE_US)
                      : (unsigned)REACT_DRAW;
}

struct when
app_time_when(const struct app *app, const char *text)
{
    struct stamp first = {0, 0};
    struct stamp last = {0, 0};
    tape_span(app->tape, &first, &last);
    struct when_span span = {.from_us = first.wall_us,
                             .to_us = last.wall_us,
                             .cursor_us = model_time(app->scene.model).wall_us,
                             .live = app->options.tape == NULL};
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        const struct model_mark *mark = model_mark(app->model, i);
        span.marks[i] = mark != NULL ? mark->at.wall_us : WHEN_NO_MARK;
    }
    return when_parse(text, &span);
}

unsigned
app_time_goto(struct app *app, const char *argument)
{
    if (!ready(app)) {
        return REACT_DRAW;
    }
    const struct when when = app_time_when(app, argument);
    if (when.status == WHEN_WRONG) {
        return app_tell(app, true, "goto: %s", when.words);
    }
    if (when.live) {
        return app_time_live(app, "");
    }
    if (go_to(app, when.wall_us) && when.words[0] != '\0') {
        app_tell(app, false, "goto: %s", when.words);
    }
    return REACT_DRAW;
}

unsigned
app_time_series(struct app *app, const char *argument)
{
    (void)argument;
    app->strip.series = (enum strip_series)((app->strip.series + 1) % STRIP_SERIES);
    return app_tell(app, false, "the timeline shows %s",
                    strip_series_name(app->strip.series));
}

static bool
record_mark(void *context, const struct message *message)
{
    struct app *app = context;
    const struct state state = {each_message, app->model};
    app_record_take(app, message);
    bool good = model_apply(app->model, message);
    return good && (app->options.tape != NULL || tape_add(app->tape, message, &state));
}

// Of the moment that is shown; all other moments know it too.
unsigned
app_time_mark(struct app *app, int mark)
{
    struct model *model = held(app) ? app->player.model : app->model;
    app->mark_error[0] = '\0';
    if (!model_mark_set(model, mark) ||
        !snapshot_mark_for(model, mark, app->model, record_mark, app)) {
        return app_tell(app, true, "mark: no memory left to keep one");
    }
    if (app->options.tape != NULL) {
        app_mark_keep(app, model, mark, app->mark_error, sizeof app->mark_error);
    }
    return REACT_DRAW;
}

void
app_time_use_mark(struct app *app, int mark)
{
    model_mark_use(app->model, mark);
    if (held(app)) {
        model_mark_use(app->player.model, mark);
    }
}

/* By itself, and on the screen. */

bool
app_time_tick(struct app *app, uint64_t now_ms)
{
    bool good = true;
    if (app->options.tape == NULL || (!app->playing && !app->following)) {
        return false;
    }
    if (tape_refresh(app->tape) == TAPE_GREW) {
        app->tape_grew = true;
        read_points(app);
    }
    double passed = (double)(now_ms - app->play_from_ms) * 1000 * app->options.speed;
    uint64_t to = app->following ? UINT64_MAX : app->play_from_us + (uint64_t)passed;
    return player_advance(&app->player, to, &good) || !good;
}

void
app_time_tell(struct app *app)
{
    struct stamp first;
    struct stamp last;
    bool any = tape_span(app->tape, &first, &last);
    bool replay = app->options.tape != NULL;
    app->moment = (struct header_moment){
        .replay = replay,
        .growing = app->following,
        .stopped = !app->playing,
        .speed = app->options.speed,
        .shown_us = model_time(app->scene.model).wall_us,
        .end_us = replay && any ? last.wall_us : newest(app),
    };
    app->scene.moment = app->rewound ? &app->moment : NULL;
    app->strip.points = app->points;
    app->strip.point_count = app->point_count;
    app->strip.from_us = any ? first.wall_us : 0;
    app->strip.to_us = app->moment.end_us;
    app->strip.cursor_us = app->moment.shown_us;
    app->strip.growing = !replay;
    app->strip.live = !app->scene.paused;
    app->strip.gaps = app->strip_gaps;
    app->strip.marks = app->strip_marks;
    app->strip.mark_count = 0;
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        const struct model_mark *mark = model_mark(app->model, i);
        if (mark != NULL) {
            app->strip_marks[app->strip.mark_count++] =
                (struct strip_mark){mark->at.wall_us, (char)('A' + i)};
        }
    }
    app->scene.strip = any && app->point_count > 1 ? &app->strip : NULL;
}

bool
app_time_click(struct app *app, int row, int column)
{
    uint64_t wall_us;
    bool shown =
        app->scene.strip != NULL && app->stack[app->depth - 1] == &app->table.view;
    if (!shown ||
        !strip_time_at(&app->strip, app->table.strip_area, row, column, &wall_us)) {
        return false;
    }
    if (ready(app)) {
        go_to(app, wall_us);
    }
    return true;
}

// The newest state of a recording is what live is to a program: its marks count.
static bool
open_recording(struct app *app)
{
    struct player end = {.tape = app->tape};
    if (!player_seek(&end, UINT64_MAX)) {
        return false;
    }
    model_free(app->model);
    app->model = end.model;
    app->scene.model = end.model;
    read_points(app);
    app->playing = app->options.speed > 0;
    // who asked for a moment is not taken on to the end
    app->following = !app->playing && app->options.at_us >= newest(app);
    app->options.speed = app->playing ? app->options.speed : 1;
    bool good = go_to(app, app->playing ? 0 : app->options.at_us);
    app->play_from_us = player_time(&app->player);
    app->play_from_ms = app->scene.now_ms;
    return good;
}

bool
app_time_init(struct app *app)
{
    size_t bytes = app->options.ring_bytes > 0 ? app->options.ring_bytes : RING_BYTES;
    app->tape = app->options.tape != NULL ? app->options.tape : tape_new(bytes);
    app->player = (struct player){.tape = app->tape};
    app->strip.series = STRIP_LIVE;
    return app->tape != NULL && (app->options.tape == NULL || open_recording(app));
}

void
app_time_destroy(struct app *app)
{
    char why[APP_MESSAGE_BYTES];
    if (app->writer != NULL) {
        app_record_stop(app, why, sizeof why);
    }
    player_destroy(&app->player);
    if (app->options.tape == NULL) {
        tape_free(app->tape);
    }
    free(app->points);
}
