#include "tui/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tui/export/diff.h"
#include "tui/export/export.h"
#include "tui/export/html.h"
#include "tui/files_progress.h"
#include "tui/judge.h"
#include "tui/record/cut.h"
#include "tui/record/player.h"
#include "tui/record/verify.h"
#include "tui/view/when.h"

#define WHY_BYTES 512
#define REPORT_POINTS 1000u // of an HTML report's lines
#define TOP_CLASSES 20
#define TOP_PATHS 5

// Of the one command that a process runs; its words go before others come.
static struct progress progress;

static enum cli_status
complain(enum cli_status status, const char *what, const char *why)
{
    progress_end(&progress);
    fprintf(stderr, "memtop: %s%s%s.\n", what, *why ? ": " : "", why);
    return status;
}

struct tape *
files_open(const char *path)
{
    char why[WHY_BYTES];
    struct tape *tape = tape_open(path, why, sizeof(why));
    if (!tape) {
        complain(STATUS_BROKEN, why, "");
        return NULL;
    }
    if (tape_rebuilt(tape)) {
        fprintf(stderr,
                "memtop: %s: the chain of key groups is broken; all of it was read "
                "instead. memtop verify says more.\n",
                path);
    }
    return tape;
}

static struct when_span
span_of(const struct tape *tape)
{
    struct when_span span = {.live = false};
    struct stamp first = {0};
    struct stamp last = {0};
    tape_span(tape, &first, &last);
    span.from_us = first.wall_us;
    span.to_us = span.cursor_us = last.wall_us;
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        span.marks[i] = WHEN_NO_MARK;
    }
    return span;
}

// Marks are in the state of the last moment.
static void
take_marks(struct when_span *span, const struct tape *tape)
{
    struct player end = {.tape = (struct tape *)tape};
    if (player_seek(&end, UINT64_MAX)) {
        for (int i = 0; i < MODEL_MARKS_MAX; i++) {
            const struct model_mark *mark = model_mark(end.model, i);
            span->marks[i] = mark ? mark->at.wall_us : WHEN_NO_MARK;
        }
    }
    player_destroy(&end);
}

bool
files_time(const struct tape *tape, const char *option, const char *text,
           uint64_t otherwise, uint64_t *wall_us)
{
    struct when_span span = span_of(tape);
    *wall_us = otherwise;
    if (!text) {
        return true;
    }
    take_marks(&span, tape);
    const struct when when = when_parse(text, &span);
    if (*when.words) {
        fprintf(stderr, "memtop: %s %s: %s\n", option, text, when.words);
    }
    *wall_us = when.wall_us;
    return when.status != WHEN_WRONG;
}

static bool
print(const struct buffer *words)
{
    progress_end(&progress);
    return fwrite(words->bytes, 1, words->length, stdout) == words->length &&
           fflush(stdout) == 0;
}

/* verify and cut */

static enum cli_status
verify(const struct cli *cli, struct tape *tape)
{
    struct verify_report report;
    struct buffer words = {0};
    if (!verify_tape(tape, &report)) {
        return complain(STATUS_BROKEN, cli->files[0], tape_error(tape));
    }
    if (report.bytes == 0) {
        return complain(STATUS_BROKEN, cli->files[0], "it is empty");
    }
    bool good = verify_describe(&report, tape, &words) && print(&words);
    buffer_destroy(&words);
    return good && verify_sound(&report) ? STATUS_DONE : STATUS_BROKEN;
}

static enum cli_status
cut(const struct cli *cli, struct tape *tape)
{
    const struct writer_options options = {.mode = WRITER_NEW};
    struct cut_report report = {0};
    struct buffer words = {0};
    char why[WHY_BYTES] = "";
    uint64_t from_us;
    uint64_t to_us;
    if (!files_time(tape, "--from", cli->from, 0, &from_us) ||
        !files_time(tape, "--to", cli->to, UINT64_MAX, &to_us)) {
        return STATUS_WRONG_USE;
    }
    struct writer *writer = writer_open(cli->output, &options, why, sizeof(why));
    if (!writer) {
        return complain(STATUS_BROKEN, why, "");
    }
    bool good = cut_tape(tape, from_us, to_us, writer, &report, why, sizeof(why));
    good = writer_close(writer, *why ? NULL : why, sizeof(why)) && good;
    if (report.frames == 0) {
        remove(cli->output);
        return complain(STATUS_BROKEN, "nothing was cut out",
                        *why ? why : "the recording holds nothing then");
    }
    bool told = cut_describe(&report, &words) && print(&words);
    buffer_destroy(&words);
    return good && told ? STATUS_DONE : complain(STATUS_BROKEN, cli->output, why);
}

/* Moments. */

static bool
moment(struct player *player, struct tape *tape, uint64_t wall_us)
{
    *player = (struct player){.tape = tape};
    if (player_seek(player, wall_us)) {
        return true;
    }
    const char *why = tape_error(tape);
    complain(STATUS_BROKEN, "the recording holds no sample", why);
    return false;
}

// The newest marks, and changes since the first sample of this process.
static bool
first_and_last(const struct cli *cli, struct tape *tape, uint64_t *from_us,
               uint64_t *to_us)
{
    const struct when_span span = span_of(tape);
    return files_time(tape, "--from", cli->from, span.from_us, from_us) &&
           files_time(tape, "--to", cli->to, span.to_us, to_us);
}

/* diff and check */

static enum cli_status
write_diff(const struct cli *cli, const struct diff *diff)
{
    const struct diff_choice choice = {cli->all, TOP_CLASSES, TOP_PATHS};
    progress_end(&progress);
    bool good = cli->json ? diff_write_json(diff, choice, stdout)
                          : diff_write_text(diff, choice, stdout);
    return good && fflush(stdout) == 0
               ? STATUS_DONE
               : complain(STATUS_BROKEN, "cannot print", strerror(errno));
}

static enum cli_status
diff_models(const struct cli *cli, const struct model *before, const struct model *after)
{
    struct diff diff;
    if (!diff_init(&diff, before, after)) {
        return complain(STATUS_BROKEN, "out of memory", "");
    }
    enum cli_status status = write_diff(cli, &diff);
    diff_destroy(&diff);
    return status;
}

static enum cli_status
diff(const struct cli *cli, struct tape *tape)
{
    struct tape *other = cli->files[1] ? files_open(cli->files[1]) : NULL;
    struct player before = {0};
    struct player after = {0};
    enum cli_status status = STATUS_BROKEN;
    uint64_t from_us = UINT64_MAX;
    uint64_t to_us = UINT64_MAX;
    if (cli->files[1] && !other) {
        return status;
    }
    if (!other && !first_and_last(cli, tape, &from_us, &to_us)) {
        status = STATUS_WRONG_USE;
    } else if (moment(&before, tape, from_us) &&
               moment(&after, other ? other : tape, to_us)) {
        status = diff_models(cli, before.model, after.model);
    }
    player_destroy(&before);
    player_destroy(&after);
    tape_free(other);
    return status;
}

static enum cli_status
check_between(const struct cli *cli, struct tape *tape, const struct judge *judge)
{
    struct player before = {0};
    struct player after = {0};
    enum cli_status status = STATUS_BROKEN;
    uint64_t from_us;
    uint64_t to_us;
    if (!first_and_last(cli, tape, &from_us, &to_us)) {
        return STATUS_WRONG_USE;
    }
    if (to_us > 0 && from_us + cli->warmup_us >= to_us) {
        return complain(STATUS_WRONG_USE, "--warmup is as long as the recording", "");
    }
    if (moment(&before, tape, from_us + cli->warmup_us) && moment(&after, tape, to_us)) {
        status = judge_print(judge, before.model, after.model, cli->json, stdout);
    }
    player_destroy(&before);
    player_destroy(&after);
    return status;
}

static enum cli_status
check(const struct cli *cli, struct tape *tape)
{
    struct judge judge;
    enum cli_status status = STATUS_WRONG_USE;
    if (judge_init(&judge, cli->rules)) {
        status = check_between(cli, tape, &judge);
        judge_destroy(&judge);
    }
    return status;
}

/* export */

struct report {
    struct html_point points[REPORT_POINTS + 2];
    size_t count;
    class_id ids[HTML_CLASSES_MAX];
    uint64_t live[HTML_CLASSES_MAX][REPORT_POINTS + 2];
    size_t classes;
    struct html_mark marks[MODEL_MARKS_MAX];
    size_t mark_count;
};

static class_id
id_of(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (strcmp(class->name, name) == 0 && !class->gone) {
            return class->id;
        }
    }
    return 0;
}

// The classes that grew most over the span.
static void
choose_classes(struct report *report, const struct model *first, const struct model *last)
{
    struct diff diff;
    if (!diff_init(&diff, first, last)) {
        return;
    }
    for (size_t i = 0; i < diff.count && report->classes < HTML_CLASSES_MAX; i++) {
        const struct diff_class *class = &diff.classes[i];
        bool grew = class->change.live > 0 && *class->name;
        class_id id =
            grew && !(class->flags & CLASS_INTERNAL) ? id_of(last, class->name) : 0;
        if (id) {
            report->ids[report->classes++] = id;
        }
    }
    diff_destroy(&diff);
}

static void
add_point(struct report *report, const struct model *model)
{
    const struct sample *sample = model_sample(model);
    size_t at = report->count++;
    report->points[at] = (struct html_point){
        model_time(model).wall_us, sample->totals.live, sample->process.rss_bytes,
        sample->process.gc_count, sample->mode};
    for (size_t i = 0; i < report->classes; i++) {
        const struct model_class *class = model_class_find(model, report->ids[i]);
        report->live[i][at] = class && class->listed ? class->now.live : COUNT_UNKNOWN;
    }
}

// From the first moment to the last in steps of the same length.
static bool
read_points(struct report *report, struct tape *tape, uint64_t to_us)
{
    struct player player;
    const struct when_span span = span_of(tape);
    bool good = moment(&player, tape, span.from_us);
    uint64_t step_us = (to_us - span.from_us) / REPORT_POINTS + 1;
    for (uint64_t at = span.from_us; good && report->count <= REPORT_POINTS;
         at += step_us) {
        if (player_advance(&player, at, &good) || report->count == 0) {
            add_point(report, player.model);
        }
        if (at >= to_us) {
            break;
        }
    }
    player_destroy(&player);
    return good;
}

static bool
write_html(const struct cli *cli, struct tape *tape, const struct player *shown,
           FILE *out)
{
    struct report *report = calloc(1, sizeof(*report));
    struct player first;
    if (!report) {
        return false;
    }
    bool good = moment(&first, tape, 0);
    if (good) {
        choose_classes(report, first.model, shown->model);
        player_destroy(&first);
        good = read_points(report, tape, player_time(shown));
    }
    struct html_class classes[HTML_CLASSES_MAX];
    for (size_t i = 0; i < report->classes; i++) {
        classes[i] = (struct html_class){report->ids[i], report->live[i]};
    }
    for (int i = 0; i < MODEL_MARKS_MAX; i++) {
        const struct model_mark *mark = model_mark(shown->model, i);
        if (mark) {
            report->marks[report->mark_count++] =
                (struct html_mark){mark->at.wall_us, (char)('A' + i)};
        }
    }
    const struct html_series series = {.source = cli->files[0],
                                       .points = report->points,
                                       .point_count = report->count,
                                       .classes = classes,
                                       .class_count = report->classes,
                                       .marks = report->marks,
                                       .mark_count = report->mark_count};
    progress_end(&progress);
    good = good && html_write(shown->model, &series, out);
    free(report);
    return good;
}

static bool
write_format(const struct cli *cli, struct tape *tape, const struct player *shown,
             FILE *out)
{
    const struct export_options options = {cli->all, cli->bytes};
    const struct export_format *format = export_format_find(cli->format);
    if (!format) {
        return write_html(cli, tape, shown, out);
    }
    if (format->paths && !export_has_paths(shown->model)) {
        fprintf(stderr,
                "memtop: no class had a call tree at this moment: %s will be empty. Open "
                "or pin a class while you record.\n",
                cli->format);
    }
    return format->write(shown->model, &options, out);
}

static FILE *
open_output(const struct cli *cli)
{
    const struct export_format *format = export_format_find(cli->format);
    if (cli->output && strcmp(cli->output, "-") != 0) {
        FILE *out = fopen(cli->output, "wbx");
        if (!out) {
            complain(STATUS_BROKEN, cli->output, strerror(errno));
        }
        return out;
    }
    if (format && format->binary && isatty(STDOUT_FILENO)) {
        complain(STATUS_WRONG_USE, "this format is not for a terminal; -o FILE", "");
        return NULL;
    }
    return stdout;
}

static enum cli_status
write_export(const struct cli *cli, struct tape *tape)
{
    struct player shown;
    uint64_t at_us;
    if (!export_format_find(cli->format) && strcmp(cli->format, "html") != 0) {
        return complain(STATUS_WRONG_USE, "no such format; memtop help export lists them",
                        cli->format);
    }
    if (!files_time(tape, "--at", cli->at, UINT64_MAX, &at_us)) {
        return STATUS_WRONG_USE;
    }
    if (!moment(&shown, tape, at_us)) {
        return STATUS_BROKEN;
    }
    FILE *out = open_output(cli);
    if (!out) {
        player_destroy(&shown);
        return STATUS_BROKEN;
    }
    bool good = write_format(cli, tape, &shown, out) && fflush(out) == 0;
    int error = errno;
    if (out != stdout) {
        good = fclose(out) == 0 && good;
        if (!good) {
            remove(cli->output);
        }
    }
    player_destroy(&shown);
    return good ? STATUS_DONE : complain(STATUS_BROKEN, "cannot export", strerror(error));
}

// Reading takes the time of all these commands.
static void
tell_progress(void *context, uint64_t done, uint64_t whole)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    (void)context;
    progress_say(&progress, (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000,
                 done, whole);
}

enum cli_status
files_run(const struct cli *cli)
{
    struct tape *tape = files_open(cli->files[0]);
    enum cli_status status = STATUS_BROKEN;
    if (!tape) {
        return status;
    }
    progress.out = isatty(STDERR_FILENO) ? stderr : NULL;
    tape_watch(tape, tell_progress, NULL);
    switch (cli->task) {
    case CLI_VERIFY:
        status = verify(cli, tape);
        break;
    case CLI_CUT:
        status = cut(cli, tape);
        break;
    case CLI_EXPORT:
        status = write_export(cli, tape);
        break;
    case CLI_DIFF:
        status = diff(cli, tape);
        break;
    default:
        status = check(cli, tape);
        break;
    }
    progress_end(&progress);
    tape_free(tape);
    return status;
}
