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
#include "tui/cli/cli.h"
#include "tui/cli/target.h"
#include "tui/export/document.h"
#include "tui/export/listing.h"
#include "tui/export/table.h"
#include "tui/loop/loop.h"
#include "tui/loop/source.h"
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
 * From the command line to one of them.
 */

static enum cli_status
start(struct session *session, const char *path)
{
    const struct cli *cli = session->cli;
    static enum cli_status (*const tasks[])(struct session *) = {
        [CLI_WATCH] = watch, [CLI_ONCE] = once, [CLI_PLAIN] = plain};
    enum cli_status status = STATUS_BROKEN;

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
    if (cli->task == CLI_WATCH && !screen_possible(stdout, why, sizeof(why))) {
        return complain(STATUS_WRONG_USE, why);
    }
    const char *path = target_socket(cli, &found, &status);
    return path ? start(&session, path) : status;
}

int
main(int argc, const char **argv)
{
    enum cli_status status = STATUS_WRONG_USE;
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
    } else {
        status = look(&cli);
    }
done:
    cli_destroy(&cli);
    return (int)status;
}
