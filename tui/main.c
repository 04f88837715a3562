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
#include "tui/app_diff.h"
#include "tui/app_fleet.h"
#include "tui/app_record.h"
#include "tui/attach/attach.h"
#include "tui/cli/cli.h"
#include "tui/cli/target.h"
#include "tui/config/config.h"
#include "tui/doctor/doctor.h"
#include "tui/export/document.h"
#include "tui/export/listing.h"
#include "tui/export/table.h"
#include "tui/export/tags.h"
#include "tui/export/tree.h"
#include "tui/files.h"
#include "tui/loop/loop.h"
#include "tui/loop/source.h"
#include "tui/model/tags.h"
#include "tui/ps.h"
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

#define FIRST_PATIENCE_MS 30000

struct session {
    const struct cli *cli;
    const struct config *config;
    const char *path;  // of the socket
    struct loop *loop; // owned
    struct app *app;   // owned
    uint64_t until_ms; // of fetch_first()
    enum theme theme;
    struct fleet fleet; // owned: all processes, while somebody looks at them
};

static enum cli_status
print(const struct session *session)
{
    const struct model *model = app_shown(session->app);
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

static bool
incomplete(void *context)
{
    const struct session *session = context;

    return !complete(context) && loop_now_ms() < session->until_ms;
}

// A probe that has only just begun has everything still to do.
static enum loop_end
fetch_first(struct session *session)
{
    session->until_ms = loop_now_ms() + FIRST_PATIENCE_MS;
    enum loop_end how = loop_follow(session->loop, session->app, incomplete, session);
    return how == LOOP_DONE && *loop_error(session->loop) ? LOOP_UNREACHABLE : how;
}

static enum cli_status
once(struct session *session)
{
    enum loop_end how = session->cli->attach
                            ? fetch_first(session)
                            : loop_fetch(session->loop, session->app, complete, session);

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

// Whoever has just connected is told of tags before the first sample.
static bool
has_tags(void *context)
{
    const struct session *session = context;
    const struct sample *sample = model_sample(app_model(session->app));

    return sample->mode == MODE_DORMANT || sample->probe.census_us > 0;
}

static enum cli_status
tags(struct session *session)
{
    enum loop_end how = loop_fetch(session->loop, session->app, has_tags, session);
    const struct model *model = app_model(session->app);

    if (how != LOOP_DONE) {
        return end(session, how);
    }
    if (model_tag_count(model) == 0 && !session->cli->json) {
        fprintf(stderr, "memtop: the program has not used a tag yet; memtop help tags "
                        "says what they are.\n");
    }
    if (!(session->cli->json ? tags_write_json : tags_write_text)(model, stdout)) {
        fprintf(stderr, "memtop: cannot print the tags: %s.\n", strerror(errno));
        return STATUS_BROKEN;
    }
    return STATUS_DONE;
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
    const struct config *config = session->config;
    if (config->problem_count > 0) {
        app_say(session->app, true, config->problems[0], loop_now_ms());
    }
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

// What the configuration file says, as far as the command line does not.
static void
configure(struct app_options *options, const struct session *session)
{
    const struct config *config = session->config;

    options->ascii = options->ascii || config->ascii;
    options->mouse = options->mouse && config->mouse;
    options->readonly = options->readonly || config->readonly;
    options->ring_bytes = (size_t)config->ring_bytes;
    options->choices = &config->choices;
}

// Of `diff --view`: what changed up to the moment that is shown.
static bool
compare(struct session *session, struct tape *tape)
{
    const struct cli *cli = session->cli;
    uint64_t from_us;

    if (cli->files[1]) {
        return app_diff_with(session->app, cli->files[0]);
    }
    return files_time(tape, "--from", cli->from, 0, &from_us) &&
           app_diff_since(session->app, from_us);
}

static enum cli_status
show_recording(struct session *session, struct tape *tape, const char *path,
               bool print_only)
{
    const struct cli *cli = session->cli;
    bool diff = cli->task == CLI_DIFF;
    struct app_options options = {
        .source = path,
        .ascii = cli->ascii || !screen_unicode(),
        .mouse = !cli->no_mouse,
        .readonly = true,
        .send = no_request,
        .read_source = loop_read_source,
        .tape = tape,
        .speed = cli->speed,
    };
    enum cli_status status = STATUS_BROKEN;

    configure(&options, session);
    if (!files_time(tape, diff ? "--to" : "--at", diff ? cli->to : cli->at, UINT64_MAX,
                    &options.at_us)) {
        return STATUS_WRONG_USE;
    }
    session->loop = loop_new(path);
    session->app = app_new(&options, loop_now_ms());
    if (!session->loop || !session->app) {
        complain(status, "the recording holds no sample, or memory ran out.");
    } else if (diff && !compare(session, tape)) {
        status = complain(STATUS_WRONG_USE, "there is nothing to compare with.");
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
    bool diff = cli->task == CLI_DIFF;
    bool print_only = !diff && (cli->once || cli->json || !target_terminal());
    // of two recordings the later one is shown, beside what the earlier one ended with
    const char *path = cli->files[diff && cli->files[1] ? 1 : 0];
    char why[512];

    if (!print_only && !screen_possible(stdout, why, sizeof(why))) {
        return complain(STATUS_WRONG_USE, why);
    }
    struct tape *tape = files_open(path);
    struct tape *other = tape && path != cli->files[0] ? files_open(cli->files[0]) : tape;
    enum cli_status status = STATUS_BROKEN;
    if (other) { // opened to say what is wrong with it while there is no screen
        status = show_recording(session, tape, path, print_only);
    }
    if (other != tape) {
        tape_free(other);
    }
    tape_free(tape);
    return status;
}

/*
 * A program that runs without the probe.
 */

#define ATTACH_PATIENCE_S 30

static void
tell_progress(const char *words)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "memtop: %s\n", words);
    }
}

static enum cli_status
attach_failed(enum attach_end end, const char *why)
{
    return complain(end == ATTACH_BROKEN ? STATUS_BROKEN : STATUS_NO_PROBE, why);
}

// The socket of the probe, which is put into the program unless it is there. Memory
// of `found`, as with target_socket().
static const char *
attach_socket(const struct cli *cli, struct found *found, enum cli_status *status)
{
    const struct attach_setting settings[] = {
        {"mode",     cli->mode    },
        {"interval", cli->interval},
        {"budget",   cli->budget  },
        {"depth",    cli->depth   },
        {"trace",    cli->trace   },
        {NULL,       NULL         }
    };
    struct attach attach = {.pid = cli->pid,
                            .patience_s =
                                cli->wait_s > 0 ? cli->wait_s : ATTACH_PATIENCE_S,
                            .settings = settings,
                            .progress = tell_progress};

    if (find_pid(cli->pid, found)) {
        fprintf(stderr,
                "memtop: the probe runs in process %ld already; settings stay "
                "as they are.\n",
                cli->pid);
        return found->socket;
    }
    enum attach_end end = attach_run(&attach);
    if (end != ATTACH_STARTED && end != ATTACH_ALREADY) {
        *status = attach_failed(end, attach.why);
        return NULL;
    }
    snprintf(found->socket, sizeof(found->socket), "%s", attach.socket);
    return found->socket;
}

static enum cli_status
examine(const struct cli *cli)
{
    static struct doctor doctor;

    doctor_examine(&doctor);
    bool written = cli->json
                       ? doctor_write_json(&doctor, stdout)
                       : doctor_print(&doctor, cli->ascii || !screen_unicode(), stdout);
    if (!written) {
        return complain(STATUS_BROKEN, "cannot print what was found.");
    }
    return doctor_works(&doctor) ? STATUS_DONE : STATUS_CHECK_FAILED;
}

/*
 * From the command line to one of them.
 */

// To one process, to the sum of several, or to none: then a person chooses.
static enum loop_end
connect_to(struct session *session, const char *path)
{
    const struct cli *cli = session->cli;

    if (cli->merged) {
        const struct app_target target = {.pid = (uint64_t)cli->pid, .merged = true};
        app_fleet_target(session->app, &target);
        return loop_merge(session->loop, session->app, target.pid);
    }
    if (path) {
        return loop_connect(session->loop, session->app);
    }
    app_fleet_begin(session->app);
    return LOOP_DONE;
}

// `path` is NULL for all processes, and for the sum of some.
static enum cli_status
start(struct session *session, const char *path)
{
    const struct cli *cli = session->cli;
    static enum cli_status (*const tasks[])(struct session *) = {
        [CLI_WATCH] = watch, [CLI_ONCE] = once,     [CLI_PLAIN] = plain,
        [CLI_TREE] = tree,   [CLI_RECORD] = record, [CLI_TAGS] = tags,
    };
    enum cli_status status = STATUS_BROKEN;

    session->path = path;
    session->loop = loop_new(path);
    bool good = session->loop && loop_fleet(session->loop, &session->fleet, ps_find);
    struct app_options options = {
        .source = path ? path : "all processes",
        .fleet = &session->fleet,
        .ascii = cli->ascii || !screen_unicode(),
        .mouse = !cli->no_mouse,
        .readonly = cli->readonly,
        .send = loop_send,
        .read_source = loop_read_source,
        .context = session->loop,
    };
    configure(&options, session);
    session->app = app_new(&options, loop_now_ms());
    if (!good || !session->app) {
        complain(status, "out of memory.");
        goto done;
    }
    enum loop_end how = connect_to(session, path);
    status = how == LOOP_DONE ? tasks[cli->task](session) : end(session, how);
done:
    loop_free(session->loop);
    app_free(session->app);
    fleet_destroy(&session->fleet);
    return status;
}

// On the screen as well; here they are there when the screen is gone.
static void
tell_problems(const struct config *config)
{
    for (size_t i = 0; i < config->problem_count && i < CONFIG_PROBLEMS_MAX; i++) {
        fprintf(stderr, "memtop: %s\n", config->problems[i]);
    }
}

// For who has a screen: what a script gets does not depend on a person's taste.
static void
read_config(struct config *config, const struct cli *cli)
{
    config_init(config);
    bool viewer = cli->task == CLI_WATCH || cli->task == CLI_REPLAY ||
                  cli->task == CLI_DIFF || cli->task == CLI_RUN;
    if (target_terminal() && viewer) {
        config_load(config, cli->config);
        tell_problems(config);
    }
}

static bool
begin(struct session *session, const struct cli *cli)
{
    static struct config config; // large

    *session = (struct session){.cli = cli, .config = &config};
    read_config(&config, cli);
    session->theme = config.theme;
    if (cli->theme && !theme_parse(cli->theme, &session->theme)) {
        complain(STATUS_WRONG_USE,
                 "no such theme; there are default, mono and colorblind.");
        return false;
    }
    return true;
}

static enum cli_status
look(const struct cli *cli)
{
    struct session session;
    struct found found;
    enum cli_status status = STATUS_DONE;
    char why[512];

    if (!begin(&session, cli)) {
        return STATUS_WRONG_USE;
    }
    if (cli->task == CLI_REPLAY || cli->task == CLI_DIFF) {
        return replay(&session);
    }
    if (cli->task == CLI_WATCH && !screen_possible(stdout, why, sizeof(why))) {
        return complain(STATUS_WRONG_USE, why);
    }
    if (cli->merged || (cli->task == CLI_WATCH && target_open(cli))) {
        return start(&session, NULL);
    }
    const char *path = cli->attach ? attach_socket(cli, &found, &status)
                                   : target_socket(cli, &found, &status);
    return path ? start(&session, path) : status;
}

static int
run(const struct cli *cli)
{
    struct session session;

    if (!begin(&session, cli)) {
        return STATUS_WRONG_USE;
    }
    struct app_options taste = {
        .ascii = cli->ascii || !screen_unicode(),
        .mouse = !cli->no_mouse,
        .readonly = cli->readonly,
    };
    configure(&taste, &session);
    return run_command(cli, session.theme, &taste);
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
    } else if (cli.task == CLI_PS) {
        status = (int)ps_run(&cli);
    } else if (cli.task == CLI_DOCTOR) {
        status = (int)examine(&cli);
    } else if (cli.task == CLI_CONFIG) {
        status = config_print(stdout) ? STATUS_DONE : STATUS_BROKEN;
    } else if (cli.task == CLI_TABLES) {
        cli_tables(stdout);
        status = STATUS_DONE;
    } else if (cli.task > CLI_REPLAY && !cli.view) {
        status = (int)files_run(&cli);
    } else {
        status = (int)look(&cli);
    }
done:
    cli_destroy(&cli);
    return status;
}
