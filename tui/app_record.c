#include "tui/app_record.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/app_command.h"
#include "tui/app_state.h"
#include "tui/model/snapshot.h"
#include "tui/record/verify.h"
#include "tui/view/format.h"

static bool
each_message(void *context, bool (*take)(void *, const struct message *), void *taker)
{
    return snapshot_each(context, take, taker);
}

// All frames of the ring as they lie there; KEYs are made anew by the writer.
static bool
copy_ring(struct app *app)
{
    struct tape_frame frame = {.next = tape_first(app->tape)};
    struct message message;
    const unsigned char *bytes;
    for (;;) {
        uint64_t at = frame.next;
        if (tape_read(app->tape, at, &frame, &message) != TAPE_FRAME) {
            return true;
        }
        struct tape_frame same;
        if (tape_read_bytes(app->tape, frame.offset, &same, &bytes) != TAPE_FRAME ||
            !writer_copy(app->writer, &message, bytes,
                         (size_t)(same.next - same.offset))) {
            return false;
        }
    }
}

bool
app_record_start(struct app *app, const char *path, const struct writer_options *options,
                 bool ring, char *why, size_t why_size)
{
    if (app->writer != NULL) {
        snprintf(why, why_size, "a recording is under way already");
        return false;
    }
    app->record_error[0] = '\0';
    app->writer = writer_open(path, options, why, why_size);
    if (app->writer == NULL) {
        return false;
    }
    if (ring && app->options.tape == NULL && !copy_ring(app)) {
        writer_close(app->writer, why, why_size);
        app->writer = NULL;
        return false;
    }
    app->scene.recording = true;
    return true;
}

bool
app_record_stop(struct app *app, char *why, size_t why_size)
{
    if (app->writer == NULL) {
        snprintf(why, why_size, "nothing is recorded");
        return false;
    }
    app->recorded = writer_written(app->writer);
    bool good = writer_close(app->writer, why, why_size);
    app->writer = NULL;
    app->scene.recording = false;
    return good;
}

// It goes on without the recording, which is sound up to here.
static void
give_up(struct app *app)
{
    snprintf(app->record_error, sizeof app->record_error, "%s",
             writer_error(app->writer));
    app_tell(app, true, "the recording ended: %.200s", app->record_error);
    char why[APP_MESSAGE_BYTES];
    app_record_stop(app, why, sizeof why);
}

void
app_record_take(struct app *app, const struct message *message)
{
    const struct state state = {each_message, app->model};
    if (app->writer == NULL || message->kind == MESSAGE_RESULT) {
        return;
    }
    bool met = model_hello(app->model)->pid != 0;
    if (!writer_add(app->writer, message, met ? &state : NULL)) {
        give_up(app);
    }
}

void
app_record_gap(struct app *app, enum gap_reason reason)
{
    struct timespec now;
    app->gap_reason = gap_words((uint64_t)reason);
    if (app->writer == NULL || !model_sampled(app->model)) {
        return;
    }
    timespec_get(&now, TIME_UTC);
    struct stamp at = model_time(app->model);
    uint64_t wall_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    at.monotonic_us += wall_us > at.wall_us ? wall_us - at.wall_us : 0;
    at.wall_us = wall_us;
    app_record_take(app, &(struct message){
                             .kind = MESSAGE_GAP,
                             .at = at,
                             .gap = {(uint64_t)reason, text_of("")},
    });
}

const char *
app_record_error(const struct app *app)
{
    return app->record_error;
}

uint64_t
app_record_written(const struct app *app)
{
    return app->writer != NULL ? writer_written(app->writer) : app->recorded;
}

// "memtop-4120-20260101T000001Z.memtop"
static void
default_path(const struct app *app, char *path, size_t size)
{
    char when[FORMAT_BYTES];
    struct tm utc;
    time_t wall = (time_t)(model_time(app->model).wall_us / 1000000 % INT32_MAX);
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime_r(&wall, &utc));
    snprintf(path, size, "memtop-%llu-%s.memtop",
             (unsigned long long)model_hello(app->model)->pid, when);
}

static unsigned
stop(struct app *app)
{
    char why[APP_MESSAGE_BYTES] = "";
    char size[FORMAT_BYTES];
    bool good = app_record_stop(app, why, sizeof why);
    format_size(size, app->scene.glyphs, (double)app->recorded);
    return good ? app_tell(app, false, "recorded %s into %.180s", size, app->record_path)
                : app_tell(app, true, "record: %.220s", why);
}

// ":record [all] [FILE]": start; the same without a file, or R, ends it.
unsigned
app_record_command(struct app *app, const char *argument)
{
    char why[APP_MESSAGE_BYTES] = "";
    const struct writer_options options = {.mode = WRITER_NEW};
    bool all =
        strncmp(argument, "all", 3) == 0 && (argument[3] == '\0' || argument[3] == ' ');
    if (all) {
        argument += 3;
        argument += strspn(argument, " ");
    }
    if (app->writer != NULL) {
        return stop(app);
    }
    if (app->options.tape != NULL || !model_sampled(app->model)) {
        return app_tell(app, true, "record: there is no program to record");
    }
    if (strlen(argument) >= sizeof app->record_path) {
        return app_tell(app, true, "record: the file's path is too long");
    }
    if (argument[0] != '\0') {
        strcpy(app->record_path, argument);
    } else {
        default_path(app, app->record_path, sizeof app->record_path);
    }
    if (!app_record_start(app, app->record_path, &options, all, why, sizeof why)) {
        return app_tell(app, true, "record: %.220s", why);
    }
    return app_tell(app, false, "recording into %.180s; R ends it", app->record_path);
}
