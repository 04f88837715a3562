#include "tui/cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <popt.h>

#include "tui/cli/command.h"
#include "tui/text/amount.h"
#include "version.h"

// What the options say before they are weighed against each other.
struct wishes {
    char *wait;
    char *duration;
    char *warmup;
    char *max_size;
    char *speed;
    int plain;
    int help;
    int version;
    int print_config;
    int tables;
};

#define OPTIONS_MAX 64
#define WAIT_S 2        // seconds that stacks are taken before a tree is printed
#define SIZE_MIN 65536u // WRITER_SIZE_MIN: a key group and what follows it
#define WAIT_MAX_US (UINT64_C(86400) * 1000000)

/*
 * The options. Help is printed from this table too, so that it cannot tell of
 * one that is not there.
 */
static void
option_table(struct poptOption options[OPTIONS_MAX], struct cli *cli,
             struct wishes *wishes)
{
    // clang-format off: it would pad all rows anew for each that comes
    const struct poptOption table[] = {
        {"socket",       's',  POPT_ARG_STRING,                         &cli->socket,          0,
         "the socket of the program's probe",                                                                                          "PATH" },
        {"once",         '1',  POPT_ARG_NONE,                           &cli->once,            0,
         "print one table; so does memtop without a terminal",                                                                         NULL   },
        {"json",         'j',  POPT_ARG_NONE,                           &cli->json,            0, "the same as JSON (implies --once)",
         NULL                                                                                                                                 },
        {"all",          'a',  POPT_ARG_NONE,                           &cli->all,             0,
         "with --once or --plain: Ruby's internal types too",                                                                          NULL   },
        {"plain",        'p',  POPT_ARG_NONE,                           &wishes->plain,        0,
         "print a table each interval, for pipes and screen readers",                                                                  NULL   },
        {"ascii",        'A',  POPT_ARG_NONE,                           &cli->ascii,           0, "draw with ASCII alone",             NULL   },
        {"no-mouse",     'M',  POPT_ARG_NONE,                           &cli->no_mouse,        0,
         "leave the mouse to the terminal",                                                                                            NULL   },
        {"readonly",     'r',  POPT_ARG_NONE,                           &cli->readonly,        0,
         "never ask the program for anything that changes it",                                                                         NULL   },
        {"theme",        't',  POPT_ARG_STRING,                         &cli->theme,           0,
         "colours: default, mono or colorblind",                                                                                       "NAME" },
        {"merged",       'G',  POPT_ARG_NONE,                           &cli->merged,          0,
         "the process and its children as one: sums by class",                                                                         NULL   },
        {"config",       'c',  POPT_ARG_STRING,                         &cli->config,          0,
         "another configuration file than ~/.config/memtop/config",                                                                    "FILE" },
        {"wait",         'w',  POPT_ARG_STRING,                         &wishes->wait,         0,
         "tree: take stacks first (2s); ps: watch; attach: patience",                                                                  "TIME" },
        {"pin",          'P',  POPT_ARG_NONE,                           &cli->pin,             0,
         "with tree: go on taking stacks of the class afterwards",                                                                     NULL   },
        {"output",       'o',  POPT_ARG_STRING,                         &cli->output,          0,
         "with record, cut, export, run, check: the file to write",                                                                    "FILE" },
        {"record",       'R',  POPT_ARG_STRING,                         &cli->record,          0,
         "with run: write what comes into this file as well",                                                                          "FILE" },
        {"duration",     'd',  POPT_ARG_STRING,                         &wishes->duration,     0,
         "with record, check: how long; 90s, 10m, 8h",                                                                                 "TIME" },
        {"max-size",     'm',  POPT_ARG_STRING,                         &wishes->max_size,     0,
         "with record: keep the newest, so many bytes; 256M",                                                                          "SIZE" },
        {"speed",        'x',  POPT_ARG_STRING,                         &wishes->speed,        0,
         "with replay: play from the start, so many times as fast",                                                                    "N"    },
        {"at",           '@',  POPT_ARG_STRING,                         &cli->at,              0,
         "with replay, export: the moment; -5m, 14:03, end",                                                                           "TIME" },
        {"from",         'F',  POPT_ARG_STRING,                         &cli->from,            0,
         "with diff, cut, check: the first moment",                                                                                    "TIME" },
        {"to",           'T',  POPT_ARG_STRING,                         &cli->to,              0,
         "with diff, cut, check: the last moment",                                                                                     "TIME" },
        {"view",         'v',  POPT_ARG_NONE,                           &cli->view,            0, "with diff: show it in the viewer",
         NULL                                                                                                                                 },
        {"format",       'f',  POPT_ARG_STRING,                         &cli->format,          0,
         "with export: memtop help export lists them",                                                                                 "NAME" },
        {"bytes",        'b',  POPT_ARG_NONE,                           &cli->bytes,           0,
         "with export: bytes where a format has one figure",                                                                           NULL   },
        {"max-growth",   'g',  POPT_ARG_ARGV,                           &cli->rules,           0,
         "with check: what may grow by how much; may be repeated",                                                                     "RULE" },
        {"warmup",       'W',  POPT_ARG_STRING,                         &wishes->warmup,       0,
         "with check: leave out so much of the beginning",                                                                             "TIME" },
        {"mode",         'O',  POPT_ARG_STRING,                         &cli->mode,            0,
         "with attach: dormant, census, count or trace",                                                                               "NAME" },
        {"interval",     'i',  POPT_ARG_STRING,                         &cli->interval,        0,
         "with attach: seconds between samples",                                                                                       "N"    },
        {"budget",       'B',  POPT_ARG_STRING,                         &cli->budget,          0,
         "with attach: percent of one core the probe may use",                                                                         "N"    },
        {"depth",        'D',  POPT_ARG_STRING,                         &cli->depth,           0,
         "with attach: stack frames that are kept",                                                                                    "N"    },
        {"trace",        'C',  POPT_ARG_STRING,                         &cli->trace,           0,
         "with attach: the classes of mode trace; Order,Hash",                                                                         "NAMES"},
        {"print-config", 'K',  POPT_ARG_NONE,                           &wishes->print_config, 0,
         "print the default configuration file, explained",                                                                            NULL   },
        {"tables",       '\0', POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &wishes->tables,       0,
         NULL,                                                                                                                         NULL   },
        {"version",      'V',  POPT_ARG_NONE,                           &wishes->version,      0, "print the version and end",
         NULL                                                                                                                                 },
        {"help",         'h',  POPT_ARG_NONE,                           &wishes->help,         0, "print this and end",                NULL   },
        POPT_TABLEEND
    };
    // clang-format on
    _Static_assert(sizeof(table) / sizeof(*table) <= OPTIONS_MAX, "OPTIONS_MAX");
    memcpy(options, table, sizeof(table));
}

static bool
refuse(FILE *errors, const char *what, const char *argument)
{
    fprintf(errors, "memtop: %s%s%s\nRun memtop --help to see what it takes.\n", what,
            *argument ? ": " : "", argument);
    return false;
}

static bool
parse_pid(const char *argument, long *pid)
{
    char *end;

    errno = 0;
    *pid = strtol(argument, &end, 10);
    return errno == 0 && *end == '\0' && end != argument && *pid > 0 && *pid <= INT_MAX;
}

// A first word that is not an option: a process, or a command.
static bool
take_word(struct cli *cli, const char *word, FILE *errors)
{
    if (parse_pid(word, &cli->pid)) {
        return true;
    }
    const struct command *command = *word ? command_find(word) : NULL;
    if (command) {
        cli->task = command->task;
        return true;
    }
    return refuse(errors, "neither a process id nor a command", word);
}

static bool
parse_wait(const char *text, double *seconds)
{
    uint64_t us;
    if (!amount_duration(text, &us) || us > WAIT_MAX_US) {
        return false;
    }
    *seconds = (double)us / 1e6;
    return true;
}

// What is given, and whether it goes with the command.
static bool
options_fit(const struct cli *cli, const struct wishes *wishes, FILE *errors)
{
    const struct {
        const char *name;
        bool given;
    } given[] = {
        {" socket ",     cli->socket     },
        {" once ",       cli->once       },
        {" json ",       cli->json       },
        {" all ",        cli->all        },
        {" plain ",      wishes->plain   },
        {" readonly ",   cli->readonly   },
        {" merged ",     cli->merged     },
        {" wait ",       wishes->wait    },
        {" pin ",        cli->pin        },
        {" output ",     cli->output     },
        {" duration ",   wishes->duration},
        {" max-size ",   wishes->max_size},
        {" speed ",      wishes->speed   },
        {" at ",         cli->at         },
        {" from ",       cli->from       },
        {" view ",       cli->view       },
        {" to ",         cli->to         },
        {" format ",     cli->format     },
        {" bytes ",      cli->bytes      },
        {" max-growth ", cli->rules      },
        {" warmup ",     wishes->warmup  },
        {" mode ",       cli->mode       },
        {" interval ",   cli->interval   },
        {" budget ",     cli->budget     },
        {" depth ",      cli->depth      },
        {" trace ",      cli->trace      },
        {" record ",     cli->record     },
    };
    const struct command *command = command_of(cli->attach ? CLI_ATTACH : cli->task);
    for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
        if (given[i].given && !strstr(command->options, given[i].name)) {
            char what[96];
            snprintf(what, sizeof(what), "--%.*s does not go with memtop%s%s",
                     (int)strlen(given[i].name) - 2, given[i].name + 1,
                     *command->name ? " " : "", command->name);
            return refuse(errors, what, "");
        }
    }
    return true;
}

// A number of a setting, as the probe takes it: it would warn in the program's log.
static bool
is_number(const char *text, double least, double most)
{
    char *end;
    double number = strtod(text, &end);
    return end != text && !*end && number >= least && number <= most;
}

static bool
settings_fit(const struct cli *cli, FILE *errors)
{
    static const char modes[] = " dormant census count trace ";
    char word[32];
    if (cli->mode) {
        snprintf(word, sizeof(word), " %.20s ", cli->mode);
    }
    if (cli->mode && (strchr(cli->mode, ' ') || !strstr(modes, word))) {
        return refuse(errors, "--mode is one of dormant, census, count, trace",
                      cli->mode);
    }
    if (cli->interval && !is_number(cli->interval, 0.1, 3600)) {
        return refuse(errors, "--interval wants seconds, from 0.1 to 3600",
                      cli->interval);
    }
    if (cli->budget && !is_number(cli->budget, 0.1, 100)) {
        return refuse(errors, "--budget wants percent, from 0.1 to 100", cli->budget);
    }
    return !cli->depth || is_number(cli->depth, 1, 4096) ||
           refuse(errors, "--depth wants a number of frames from 1 to 4096", cli->depth);
}

static bool
read_amounts(struct cli *cli, const struct wishes *wishes, FILE *errors)
{
    char *end;
    if (wishes->duration && !amount_duration(wishes->duration, &cli->duration_us)) {
        return refuse(errors, "--duration wants a time such as 90s, 10m or 8h",
                      wishes->duration);
    }
    if (wishes->duration && cli->duration_us == 0) {
        return refuse(errors, "--duration is longer than nothing; without it, until ^C",
                      wishes->duration);
    }
    if (wishes->warmup && !amount_duration(wishes->warmup, &cli->warmup_us)) {
        return refuse(errors, "--warmup wants a time such as 90s or 10m", wishes->warmup);
    }
    if (wishes->max_size && !amount_bytes(wishes->max_size, &cli->max_size)) {
        return refuse(errors, "--max-size wants a size such as 64K, 256M or 1G",
                      wishes->max_size);
    }
    if (wishes->max_size && cli->max_size < SIZE_MIN) {
        return refuse(errors, "--max-size is at least 64K", wishes->max_size);
    }
    if (!wishes->speed) {
        return true;
    }
    cli->speed = strtod(wishes->speed, &end);
    return (end != wishes->speed && !*end && cli->speed > 0 && cli->speed <= 1e6) ||
           refuse(errors, "--speed wants a number such as 60 or 0.5", wishes->speed);
}

// FILE [FILE] after a command about recordings.
static bool
take_files(struct cli *cli, const char **words, FILE *errors)
{
    size_t most = cli->task == CLI_DIFF ? 2 : 1;
    size_t count = 0;
    for (; words[count]; count++) {
        if (count == most) {
            return refuse(errors, "one argument too many", words[count]);
        }
        cli->files[count] = strdup(words[count]);
        if (!cli->files[count]) {
            return false;
        }
    }
    return count > 0 || refuse(errors, "the name of a recording is missing", "");
}

// Of a recording or of a command.
static bool
settle_check(const struct cli *cli, FILE *errors)
{
    if (!cli->rules) {
        return refuse(errors, "check wants --max-growth RULE, such as Order:+500", "");
    }
    if (!cli->command) {
        return !(cli->output || cli->duration_us) ||
               refuse(errors, "--output and --duration go with check -- COMMAND", "");
    }
    if (cli->from || cli->to) {
        return refuse(errors, "--from and --to are moments of a recording", "");
    }
    return !cli->json || cli->output ||
           refuse(errors,
                  "--json wants --output FILE here: standard output is the command's",
                  "");
}

// What each of the commands about recordings cannot do without.
static bool
settle_files(const struct cli *cli, FILE *errors)
{
    if (cli->task == CLI_CHECK) {
        return settle_check(cli, errors);
    }
    if ((cli->task == CLI_RECORD || cli->task == CLI_CUT) && !cli->output) {
        return refuse(errors, "-o says which file to write, and is missing", "");
    }
    if (cli->task == CLI_CUT && (!cli->from || !cli->to)) {
        return refuse(errors, "cut wants --from and --to", "");
    }
    if (cli->task == CLI_EXPORT && !cli->format) {
        return refuse(errors, "export wants --format; memtop help export lists them", "");
    }
    if (cli->view && (cli->json || cli->all)) {
        return refuse(errors, "--view shows, --json and --all are about what is printed",
                      "");
    }
    return cli->task != CLI_DIFF || !cli->files[1] || (!cli->from && !cli->to) ||
           refuse(errors, "--from and --to are moments of one recording", "");
}

// CLASS [PID] after `tree`.
static bool
take_tree(struct cli *cli, const char **words, FILE *errors)
{
    if (!words[0] || !*words[0]) {
        return refuse(errors, "tree wants the name of a class: memtop tree Order", "");
    }
    cli->class_name = strdup(words[0]);
    if (words[1] && !parse_pid(words[1], &cli->pid)) {
        return refuse(errors, "not a process id", words[1]);
    }
    return words[1] && words[2] ? refuse(errors, "one argument too many", words[2])
                                : cli->class_name != NULL;
}

// PID after `attach`; from then on it is as if the probe were there.
static bool
take_attach(struct cli *cli, const char **words, FILE *errors)
{
    cli->task = CLI_WATCH;
    cli->attach = true;
    cli->wait_s = 0;
    if (!words[1]) {
        return refuse(errors, "attach wants a process id: memtop attach 4120", "");
    }
    if (words[2]) {
        return refuse(errors, "one argument too many", words[2]);
    }
    return parse_pid(words[1], &cli->pid) || refuse(errors, "not a process id", words[1]);
}

// Whether the first command that is named is one that starts another.
static bool
starts_command(int argc, const char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct command *command = *argv[i] ? command_find(argv[i]) : NULL;
        if (command) {
            return command->task == CLI_RUN || command->task == CLI_CHECK;
        }
    }
    return false;
}

// The words behind --, which are none of ours: popt is not shown them.
static int
cut_command(struct cli *cli, int argc, const char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--") == 0 && starts_command(i, argv)) {
            cli->command = argv + i + 1;
            return i;
        }
    }
    return argc;
}

// A command stands behind --, and nowhere else.
static bool
fit_command(const struct cli *cli, const char **words, FILE *errors)
{
    bool given = cli->command && cli->command[0];
    if (cli->command && !given) {
        return refuse(errors, "there is no command behind --", "");
    }
    if (words && words[0] && (given || cli->task == CLI_RUN)) {
        return refuse(errors, "the command to run belongs behind --, after the options",
                      words[0]);
    }
    return given || cli->task != CLI_RUN ||
           refuse(errors, "run wants a command: memtop run -- COMMAND", "");
}

static bool
take_words(struct cli *cli, const struct wishes *wishes, const char **words, FILE *errors)
{
    if (!words || !words[0]) {
        return fit_command(cli, words, errors);
    }
    if (!take_word(cli, words[0], errors)) {
        return false;
    }
    if (cli->task != CLI_WATCH && cli->task != CLI_HELP && wishes->help) {
        cli->topic = command_find(words[0])->name;
        return true;
    }
    if (cli->task == CLI_ATTACH) {
        return take_attach(cli, words, errors);
    }
    if (!fit_command(cli, words + 1, errors)) {
        return false;
    }
    if (cli->command) {
        return true;
    }
    if (cli->task == CLI_TREE) {
        return take_tree(cli, words + 1, errors);
    }
    if (cli->task == CLI_RECORD || cli->task == CLI_TAGS) {
        return !words[1] || (parse_pid(words[1], &cli->pid) && !words[2]) ||
               refuse(errors, "not a process id", words[1]);
    }
    if (cli->task >= CLI_REPLAY && cli->task <= CLI_CHECK) {
        return take_files(cli, words + 1, errors);
    }
    if (cli->task == CLI_DOCTOR && words[1]) {
        return refuse(errors, "doctor takes no arguments", words[1]);
    }
    if (cli->task == CLI_HELP && words[1]) {
        const struct command *topic = command_find(words[1]);
        if (!topic) {
            return refuse(errors, "no help for an unknown command", words[1]);
        }
        cli->topic = topic->name;
        words++;
    }
    return words[1] ? refuse(errors, "one argument too many", words[1]) : true;
}

// The viewer, or what stands for it where there is no terminal.
static bool
settle_watch(struct cli *cli, const struct wishes *wishes, bool terminal, FILE *errors)
{
    bool once = cli->once || cli->json;

    if (once && wishes->plain) {
        return refuse(errors, "--plain has no end, --once and --json have one", "");
    }
    if (wishes->plain) {
        cli->task = CLI_PLAIN;
        return true;
    }
    cli->task = once || !terminal ? CLI_ONCE : CLI_WATCH;
    return !cli->all || cli->task != CLI_WATCH ||
           refuse(errors, "--all goes with --once or --plain", "");
}

static bool
waits_fit(struct cli *cli, const struct wishes *wishes, FILE *errors)
{
    bool waits = cli->task == CLI_TREE || cli->task == CLI_PS || cli->attach;

    if ((wishes->wait && !waits) || (cli->pin && cli->task != CLI_TREE)) {
        return refuse(errors, "--wait and --pin go with memtop tree CLASS", "");
    }
    if (cli->task == CLI_PS && !wishes->wait) {
        cli->wait_s = 0;
    }
    return !cli->merged || cli->pid ||
           refuse(errors,
                  "--merged wants the process whose children to sum: "
                  "memtop --merged PID",
                  "");
}

// Weigh the wishes against each other: one task comes out.
static bool
settle(struct cli *cli, const struct wishes *wishes, bool terminal, FILE *errors)
{
    if (wishes->help || cli->task == CLI_HELP) {
        cli->task = CLI_HELP;
        return true;
    }
    if (wishes->version) {
        cli->task = CLI_VERSION;
        return true;
    }
    if (wishes->print_config || wishes->tables) {
        cli->task = wishes->tables ? CLI_TABLES : CLI_CONFIG;
        return true;
    }
    if (cli->socket && cli->pid) {
        return refuse(errors, "--socket and a process id exclude each other", "");
    }
    if (!waits_fit(cli, wishes, errors)) {
        return false;
    }
    if (cli->pin && cli->readonly) {
        return refuse(errors, "--pin changes the program, --readonly never does", "");
    }
    if (wishes->wait && !parse_wait(wishes->wait, &cli->wait_s)) {
        return refuse(errors, "--wait wants a time such as 500ms, 90s or 10m",
                      wishes->wait);
    }
    if (!options_fit(cli, wishes, errors) || !settings_fit(cli, errors) ||
        !read_amounts(cli, wishes, errors)) {
        return false;
    }
    if (cli->task >= CLI_RECORD && cli->task <= CLI_CHECK) {
        return settle_files(cli, errors);
    }
    if (cli->task == CLI_PS || cli->task == CLI_RUN) {
        return true;
    }
    if (cli->task == CLI_TREE) {
        return cli->once || wishes->plain || cli->all
                   ? refuse(errors,
                            "tree prints one tree: of the options about output "
                            "only --json goes with it",
                            "")
                   : true;
    }
    return cli->task == CLI_DOCTOR || cli->task == CLI_TAGS ||
           settle_watch(cli, wishes, terminal, errors);
}

bool
cli_parse(struct cli *cli, int argc, const char **argv, bool terminal, FILE *errors)
{
    struct wishes wishes = {0};
    struct poptOption options[OPTIONS_MAX];

    *cli = (struct cli){.task = CLI_WATCH, .topic = "", .wait_s = WAIT_S};
    option_table(options, cli, &wishes);
    argc = cut_command(cli, argc, argv);
    poptContext context = poptGetContext("memtop", argc, argv, options, 0);
    int code = poptGetNextOpt(context);
    bool good = code == -1 ? take_words(cli, &wishes, poptGetArgs(context), errors) &&
                                 settle(cli, &wishes, terminal, errors)
                           : refuse(errors, poptStrerror(code),
                                    poptBadOption(context, POPT_BADOPTION_NOALIAS));
    free(wishes.wait);
    free(wishes.duration);
    free(wishes.warmup);
    free(wishes.max_size);
    free(wishes.speed);
    poptFreeContext(context);
    return good;
}

void
cli_destroy(struct cli *cli)
{
    char **const texts[] = {
        &cli->socket,   &cli->theme,  &cli->config,   &cli->class_name, &cli->files[0],
        &cli->files[1], &cli->output, &cli->format,   &cli->at,         &cli->from,
        &cli->to,       &cli->mode,   &cli->interval, &cli->budget,     &cli->depth,
        &cli->trace,    &cli->record,
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
    for (size_t i = 0; cli->rules && cli->rules[i]; i++) {
        free(cli->rules[i]);
    }
    free((void *)cli->rules);
    cli->rules = NULL;
}

static void
help_commands(FILE *out)
{
    const struct command *command;

    fputs("Use:\n", out);
    for (size_t i = 0; (command = command_at(i)); i++) {
        char use[64];
        snprintf(use, sizeof(use), "memtop%s%s %s", *command->name ? " " : "",
                 command->name, command->arguments);
        fprintf(out, "  %-33s %s\n", use, command->line);
    }
}

static void
help_options(FILE *out)
{
    struct cli cli = {.topic = ""};
    struct wishes wishes = {0};
    struct poptOption options[OPTIONS_MAX];

    option_table(options, &cli, &wishes);
    fputs("\nOptions:\n", out);
    for (const struct poptOption *option = options; option->longName; option++) {
        char name[32];
        if (!option->descrip) {
            continue;
        }
        snprintf(name, sizeof(name), "--%s%s%s", option->longName,
                 option->argDescrip ? " " : "",
                 option->argDescrip ? option->argDescrip : "");
        fprintf(out, "  -%c, %-16s %s\n", option->shortName, name, option->descrip);
    }
}

static const char afterword[] =
    "\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  a check failed\n"
    "  2  wrong use, or a terminal that cannot show the viewer\n"
    "  3  no such process, or no probe in it\n"
    "  4  a file or a peer is broken\n"
    "\n"
    "Environment:\n"
    "  XDG_RUNTIME_DIR  its folder memtop is searched for sockets\n"
    "  TMPDIR           so is its folder memtop-UID (/tmp without it)\n"
    "  XDG_CONFIG_HOME  its file memtop/config is read (~/.config/memtop/config)\n"
    "  MEMTOP_LIB       the folder that has memtop.rb, for attach and doctor\n"
    "  VISUAL, EDITOR   what `o` opens a line of source in\n"
    "  NO_COLOR         when set and not empty, no colours\n"
    "  TERM, LC_ALL     what the terminal can do and show\n";

void
cli_help(const char *topic, FILE *out)
{
    const struct command *command = command_find(topic);

    if (*topic) {
        fprintf(out, "memtop %s %s: %s\n\n%s", topic, command->arguments, command->line,
                command->help);
        return;
    }
    fputs("memtop: htop for the Ruby heap\n\n", out);
    help_commands(out);
    fprintf(out, "\n%s", command->help);
    help_options(out);
    fputs(afterword, out);
}

// Help as lines that say whose they are.
static void
write_help(const char *whose, const char *help, FILE *out)
{
    while (*help) {
        int length = (int)strcspn(help, "\n");
        fprintf(out, "help\t%s\t%.*s\n", whose, length, help);
        help += length + (help[length] == '\n');
    }
}

void
cli_tables(FILE *out)
{
    struct cli cli = {.topic = ""};
    struct wishes wishes = {0};
    struct poptOption options[OPTIONS_MAX];
    const struct command *command;

    option_table(options, &cli, &wishes);
    for (size_t i = 0; (command = command_at(i)); i++) {
        fprintf(out, "command\t%s\t%s\t%s\t%s\n", command->name, command->arguments,
                command->line, command->options);
        write_help(command->name, command->help, out);
    }
    for (const struct poptOption *option = options; option->longName; option++) {
        if (option->descrip) {
            fprintf(out, "option\t%s\t%c\t%s\t%s\n", option->longName, option->shortName,
                    option->argDescrip ? option->argDescrip : "", option->descrip);
        }
    }
    write_help("after", afterword, out);
}

void
cli_version(FILE *out)
{
    fputs("memtop " MEMTOP_VERSION "\n", out);
}
