/*
 * memtop, the viewer: reads the command line, finds the program, and does what
 * was asked. Only here does it give up, after the terminal was given back.
 */
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app.h"
#include "tui/app_record.h"
#include "tui/cli/cli.h"
#include "tui/cli/target.h"
#include "tui/export/document.h"
#include "tui/export/listing.h"
#include "tui/export/table.h"
#include "tui/export/tree.h"
#include "tui/files.h"
#include "tui/loop/loop.h"
#include "tui/loop/source.h"
#include "tui/record/tape.h"
#include "tui/run.h"
#include "tui/term/screen.h"

static enum cli_status
status_of(enum loop_end end)
{
    static const enum cli_status statuses[] = {
        [LOOP_DONE] = STATUS_DONE,        [LOOP_UNREACHABLE] = STATUS_NO_PROBE,
        [LOOP_BROKEN] = STATUS_BROKEN,    [LOOP_NO_TERMINAL] = STATUS_WRONG_USE,
        [LOOP_NO_MEMORY] = STATUS_BROKEN, [LOOP_SIGNALLED] = STATUS_DONE,
    };

    return statuses[end];
}

static enum cli_status
complain(enum cli_status status, const char *what)
{
    fprintf(stderr, "memtop: %s\n", what);
    return status;
}

/*
 * What is asked for, each after the probe said hello.
 */

struct session {
    const struct cli *cli;
    const char *path;  // of the socket
    struct loop *loop; // owned
    struct app *app;   // owned
    enum theme theme;
};

static enum cli_status
print(const struct session *session)
{
    const struct model *model = app_model(session->app);
    bool all = session->cli->all;
    bool good = session->cli->json ? document_write(model, all, stdout)
                                   : table_write(model, all, stdout);

    if (!good) {
        fprintf(stderr, "memtop: cannot print the table: %s.\n", strerror(errno));
        return STATUS_BROKEN;
    }
    return STATUS_DONE;
}

static enum cli_status
end(const struct session *session, enum loop_end how)
{
    const char *error = loop_error(session->loop);

    return *error ? complain(status_of(how), error) : status_of(how);
}

// Names and bytes come when the program lets the probe ask: soon, or not at all.
static bool
complete(void *context)
{
    const struct session *session = context;
    const struct model *model = app_model(session->app);
    const struct sample *sample = model_sample(model);
    bool weighed = sample->mode == MODE_DORMANT || sample->probe.census_us > 0;

    return weighed && listing_named(model, session->cli->all);
}

static enum cli_status
once(struct session *session)
{
    enum loop_end how = loop_fetch(session->loop, session->app, complete, session);

    return how == LOOP_DONE ? print(session) : end(session, how);
}

static bool
print_block(void *context)
{
    const struct session *session = context;

    return print(session) == STATUS_DONE && putchar('\n') != EOF && fflush(stdout) == 0;
}

static enum cli_status
plain(struct session *session)
{
    enum loop_end how = loop_follow(session->loop, session->app, print_block, session);

    return ferror(stdout) ? STATUS_BROKEN : end(session, how);
}

/*
 * One class's call tree.
 */

struct wanted {
    struct session *session;
    const struct model_class *class; // good until the next message
    uint64_t until_ms;               // 0 until the tree came
    bool all_named;
};

// The largest class of that name.
static const struct model_class *
class_named(const struct model *model, const char *name)
{
    const struct model_class *best = NULL;

    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (!class->gone && class->listed && strcmp(class->name, name) == 0 &&
            (!best || class->now.live + 1 > best->now.live + 1)) {
            best = class;
        }
    }
    return best;
}

static bool
class_is_there(void *context)
{
    struct wanted *wanted = context;
    const struct model *model = app_model(wanted->session->app);

    wanted->all_named = listing_named(model, true);
    return wanted->all_named || class_named(model, wanted->session->cli->class_name);
}

// Names that hold what was asked for, or are held by it, the largest class first.
static enum cli_status
suggest(const struct session *session)
{
    const char *name = session->cli->class_name;
    struct listing listing;
    int said = 0;

    fprintf(stderr, "memtop: this program has no class %s", name);
    if (listing_init(&listing, app_model(session->app), true)) {
        for (size_t i = 0; i < listing.count && said < 5; i++) {
            const char *other = listing.classes[i]->name;
            if (*other && (strcasestr(other, name) || strcasestr(name, other))) {
                fprintf(stderr, "%s %s", said++ ? "," : "; there is", other);
            }
        }
        listing_destroy(&listing);
    }
    fprintf(stderr, ".\n");
    return STATUS_WRONG_USE;
}

static bool
probe_is_readonly(const struct session *session)
{
    return (model_hello(app_model(session->app))->capabilities & CAPABILITY_READONLY) !=
           0;
}

static bool
has_stacks(const struct tree_model *tree)
{
    return tree_header(tree)->since_us != COUNT_UNKNOWN;
}

// Whether to go on waiting, asked at each sample. A probe that is read-only sends the
// tree of a class that it will never trace.
static bool
tree_lacks(void *context)
{
    struct wanted *wanted = context;
    struct session *session = wanted->session;
    const struct model *model = app_model(session->app);

    wanted->class = class_named(model, session->cli->class_name);
    if (!wanted->class || *app_tree_words(session->app)) {
        return false;
    }
    const struct tree_model *tree = model_tree(model, wanted->class->id);
    if (!tree) {
        return true;
    }
    if (!has_stacks(tree)) {
        return !probe_is_readonly(session);
    }
    uint64_t since_us = tree_header(tree)->since_us;
    uint64_t now_us = model_time(model).wall_us;
    return now_us < since_us + (uint64_t)(session->cli->wait_s * 1e6);
}

static enum cli_status
print_tree(const struct session *session, const struct model_class *class)
{
    const struct model *model = app_model(session->app);
    const struct tree_model *tree = class ? model_tree(model, class->id) : NULL;

    if (*app_tree_words(session->app)) {
        return complain(STATUS_CHECK_FAILED, app_tree_words(session->app));
    }
    if (!tree) {
        return complain(STATUS_CHECK_FAILED, "the class is gone, and its tree with it.");
    }
    if (!has_stacks(tree)) {
        return complain(STATUS_CHECK_FAILED,
                        "No call tree: the probe is read-only (MEMTOP_READONLY) and "
                        "takes no stacks of this class.");
    }
    bool good = session->cli->json ? tree_write_json(class, tree, stdout)
                                   : tree_write_text(model, class, tree, stdout);
    if (!good) {
        fprintf(stderr, "memtop: cannot print the tree: %s.\n", strerror(errno));
        return STATUS_BROKEN;
    }
    return STATUS_DONE;
}

static enum cli_status
tree(struct session *session)
{
    const struct cli *cli = session->cli;
    struct wanted wanted = {.session = session};
    enum loop_end how = loop_fetch(session->loop, session->app, class_is_there, &wanted);

    if (how != LOOP_DONE) {
        return end(session, how);
    }
    wanted.class = class_named(app_model(session->app), cli->class_name);
    if (!wanted.class) {
        return suggest(session);
    }
    if (cli->pin && probe_is_readonly(session)) {
        return complain(STATUS_CHECK_FAILED, "cannot pin the class: the probe is "
                                             "read-only (MEMTOP_READONLY).");
    }
    if (isatty(STDERR_FILENO) && cli->wait_s >= 1) {
        fprintf(stderr, "memtop: taking stacks of %s for %g s …\n", cli->class_name,
                cli->wait_s);
    }
    app_show_tree(session->app, wanted.class, cli->pin);
    how = loop_follow(session->loop, session->app, tree_lacks, &wanted);
    if (how == LOOP_DONE && *loop_error(session->loop)) {
        how = LOOP_UNREACHABLE; // gone before there was anything to print
    }
    return how == LOOP_DONE ? print_tree(session, wanted.class) : end(session, how);
}

static enum cli_status
watch(struct session *session)
{
    const struct screen_options options = {
        .in = stdin,
        .out = stdout,
        .theme = session->theme,
        .mouse = !session->cli->no_mouse,
    };
    enum loop_end how = loop_watch(session->loop, session->app, &options);

    if (how == LOOP_SIGNALLED) {
        // end as the signal would have ended us
        signal(loop_signal(session->loop), SIG_DFL);
        raise(loop_signal(session->loop));
    }
    return end(session, how);
}

/*
 * Recordings.
 */

static bool
still_recording(void *context)
{
    const struct session *session = context;

    return !*app_record_error(session->app);
}

// A socket that is named after a process is not used again by the next one.
static bool
ends_with_process(const struct session *session, const char *path)
{
    char name[64];
    snprintf(name, sizeof(name), "/%llu.sock",
             (unsigned long long)model_hello(app_model(session->app))->pid);
    size_t length = strlen(path);
    return length >= strlen(name) && strcmp(path + length - strlen(name), name) == 0;
}

static void
tell_recorded(const struct session *session, double seconds)
{
    double bytes = (double)app_record_written(session->app);

    fprintf(stderr, "memtop: recorded %.1f s into %s: %.1f kB", seconds,
            session->cli->output, bytes / 1e3);
    if (seconds >= 0.5) {
        fprintf(stderr, ", %.1f MB an hour", bytes / seconds * 3600 / 1e6);
    }
    fputs(".\n", stderr);
}

static enum cli_status
record(struct session *session)
{
    const struct cli *cli = session->cli;
    const struct writer_options options = {.mode = WRITER_NEW, .max_size = cli->max_size};
    char why[512] = "";
    uint64_t began_ms = loop_now_ms();

    if (!app_record_start(session->app, cli->output, &options, false, why, sizeof(why))) {
        fprintf(stderr, "memtop: %s.\n", why);
        return STATUS_BROKEN;
    }
    fprintf(stderr, "memtop: recording into %s; ^C ends it.\n", cli->output);
    enum loop_end how =
        loop_stay(session->loop, session->app, cli->duration_us / 1000,
                  ends_with_process(session, session->path), still_recording, session);
    bool failed = *app_record_error(session->app);
    snprintf(why, sizeof(why), "%s", app_record_error(session->app));
    bool closed = failed || app_record_stop(session->app, why, sizeof(why));
    tell_recorded(session, (double)(loop_now_ms() - began_ms) / 1000);
    if (failed || !closed) {
        fprintf(stderr, "memtop: the recording ended early: %s.\n", why);
        return STATUS_BROKEN;
    }
    return how == LOOP_DONE ? STATUS_DONE : end(session, how);
}

static bool
no_request(void *context, const struct request *request)
{
    (void)context;
    (void)request;
    return false;
}

static enum cli_status
show_recording(struct session *session, struct tape *tape, bool print_only)
{
    const struct cli *cli = session->cli;
    struct app_options options = {
        .source = cli->files[0],
        .ascii = cli->ascii || !screen_unicode(),
        .mouse = !cli->no_mouse,
        .readonly = true,
        .send = no_request,
        .read_source = loop_read_source,
        .tape = tape,
        .speed = cli->speed,
    };
    enum cli_status status = STATUS_BROKEN;

    if (!files_time(tape, "--at", cli->at, UINT64_MAX, &options.at_us)) {
        return STATUS_WRONG_USE;
    }
    session->loop = loop_new(cli->files[0]);
    session->app = app_new(&options, loop_now_ms());
    if (!session->loop || !session->app) {
        complain(status, "the recording holds no sample, or memory ran out.");
    } else {
        status = print_only ? print(session) : watch(session);
    }
    loop_free(session->loop);
    app_free(session->app);
    return status;
}

static enum cli_status
replay(struct session *session)
{
    const struct cli *cli = session->cli;
    bool print_only = cli->once || cli->json || !target_terminal();
    char why[512];

    if (!print_only && !screen_possible(stdout, why, sizeof(why))) {
        return complain(STATUS_WRONG_USE, why);
    }
    struct tape *tape = files_open(cli->files[0]);
    if (!tape) {
        return STATUS_BROKEN;
    }
    enum cli_status status = show_recording(session, tape, print_only);
    tape_free(tape);
    return status;
}

/*
 * From the command line to one of them.
 */

static enum cli_status
start(struct session *session, const char *path)
{
    const struct cli *cli = session->cli;
    static enum cli_status (*const tasks[])(struct session *) = {
        [CLI_WATCH] = watch, [CLI_ONCE] = once,     [CLI_PLAIN] = plain,
        [CLI_TREE] = tree,   [CLI_RECORD] = record,
    };
    enum cli_status status = STATUS_BROKEN;

    session->path = path;
    session->loop = loop_new(path);
    struct app_options options = {
        .source = path,
        .ascii = cli->ascii || !screen_unicode(),
        .mouse = !cli->no_mouse,
        .readonly = cli->readonly,
        .send = loop_send,
        .read_source = loop_read_source,
        .context = session->loop,
    };
    session->app = app_new(&options, loop_now_ms());
    if (!session->loop || !session->app) {
        complain(status, "out of memory.");
        goto done;
    }
    enum loop_end how = loop_connect(session->loop, session->app);
    status = how == LOOP_DONE ? tasks[cli->task](session) : end(session, how);
done:
    loop_free(session->loop);
    app_free(session->app);
    return status;
}

static enum cli_status
look(const struct cli *cli)
{
    struct session session = {.cli = cli, .theme = THEME_DEFAULT};
    struct found found;
    enum cli_status status = STATUS_DONE;
    char why[512];

    if (cli->theme && !theme_parse(cli->theme, &session.theme)) {
        return complain(STATUS_WRONG_USE,
                        "no such theme; there are default, mono and colorblind.");
    }
    if (cli->task == CLI_REPLAY) {
        return replay(&session);
    }
    if (cli->task == CLI_WATCH && !screen_possible(stdout, why, sizeof(why))) {
        return complain(STATUS_WRONG_USE, why);
    }
    const char *path = target_socket(cli, &found, &status);
    return path ? start(&session, path) : status;
}

static int
run(const struct cli *cli)
{
    enum theme theme = THEME_DEFAULT;

    if (cli->theme && !theme_parse(cli->theme, &theme)) {
        return (int)complain(STATUS_WRONG_USE,
                             "no such theme; there are default, mono and colorblind.");
    }
    return run_command(cli, theme);
}

int
main(int argc, const char **argv)
{
    int status = STATUS_WRONG_USE; // a command's own may be any
    struct cli cli;

    setlocale(LC_CTYPE, "");
    // a file that grew too big is an error to report, not an end
    signal(SIGXFSZ, SIG_IGN);
    if (!cli_parse(&cli, argc, argv, target_terminal(), stderr)) {
        goto done;
    }
    if (cli.task == CLI_HELP) {
        cli_help(cli.topic, stdout);
        status = STATUS_DONE;
    } else if (cli.task == CLI_VERSION) {
        cli_version(stdout);
        status = STATUS_DONE;
    } else if (cli.task == CLI_RUN) {
        status = run(&cli);
    } else if (cli.task == CLI_CHECK && cli.command) {
        status = run_check(&cli);
    } else if (cli.task > CLI_REPLAY) {
        status = (int)files_run(&cli);
    } else {
        status = (int)look(&cli);
    }
done:
    cli_destroy(&cli);
    return status;
}
