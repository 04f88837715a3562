#include "tui/cli/command.h"

#include <string.h>

static const char watch_help[] =
    "memtop shows the classes of a running Ruby program, live: how many objects each\n"
    "has, how fast that grows, how much memory they take. It reads what a probe\n"
    "inside the program counts; a viewer that is stopped does not hold it up.\n"
    "\n"
    "First steps:\n"
    "  ruby -r memtop/auto app.rb     start a program with the probe in it\n"
    "  memtop                         in another terminal: watch it\n"
    "  The probe's folder must be on Ruby's load path: -I FOLDER, or the gem.\n"
    "  When several programs run under the probe, memtop shows them all: choose there.\n"
    "\n"
    "Keys (the viewer's own ? shows those of the view you are in):\n"
    "  arrows j k PgUp PgDn g G       move\n"
    "  s < > 1-9 I                    choose the column that orders the rows; invert\n"
    "  /  n N  \\                      filter as you type; next, previous; clear\n"
    "  Enter                          call tree of the class; there: arrows unfold,\n"
    "                                 i lines first, p own code, f flame, o editor\n"
    "  W                              what each route, job or other tag allocates\n"
    "  m  '  d                        set a mark, pick one, changes since the mark\n"
    "  D  :diff                       born between two marks and still alive; changes\n"
    "  Space                          pause the screen, never the program\n"
    "  [ ] { }  L  :goto              a sample, a minute back and on; live; to a time\n"
    "  R                              record into a file, or end that\n"
    "  F  u  i                        follow the row; units; internal types\n"
    "  P  Tab                         all processes; there: Enter opens one, M merges a\n"
    "                                 parent and its children, | shows each beside the "
    "sum\n"
    "  w  :                           write what is shown to a file; command line\n"
    "  ?  q  Q                        help, back, quit\n"
    "\n"
    "Examples:\n"
    "  memtop 4120                    watch process 4120\n"
    "  memtop --socket /run/x.sock    watch the program that listens there\n"
    "  memtop --merged 4101           a process and its children as one\n"
    "  memtop run -- bundle exec puma start a command under the probe, and watch it\n"
    "  memtop --once 4120             one table as text, then the end\n"
    "  memtop --json | jq .totals     the same for machines\n"
    "  memtop tree Order              which lines made the orders that live\n"
    "  memtop record -o night.memtop  write all that comes into a file, until ^C\n"
    "  memtop replay night.memtop     look at it as if it were live\n"
    "  memtop --plain                 a table each interval, for screen readers\n";

static const char tree_help[] =
    "memtop tree prints which call paths allocated the live objects of a class. It asks\n"
    "the probe to take stacks of the class's objects as they are born, waits (--wait,\n"
    "2 seconds by default; not at all when the class is traced already), and prints.\n"
    "Objects born before are one row, (before tracing); --pin goes on taking stacks, so\n"
    "that a later call finds more. Figures are exact unless it says that they are\n"
    "sampled; then +- is the half-width of the 95 % interval.\n"
    "\n"
    "Examples:\n"
    "  memtop tree Order              in the only program there is\n"
    "  memtop tree Order 4120         in process 4120\n"
    "  memtop tree Order --wait 1m    after a minute of taking stacks\n"
    "  memtop tree Order --json | jq '.nodes[] | select(.self_live > 100)'\n";

static const char attach_help[] =
    "memtop attach puts the probe into a Ruby process that runs without it, and shows "
    "it.\n"
    "gdb stops the process for a moment and loads a small library; Ruby itself loads "
    "the\n"
    "probe at the next point where that is safe. Nothing else in the program changes.\n"
    "Memtop.stop in the program, or :detach in the viewer, takes the probe out again.\n"
    "Settings are those of MEMTOP_MODE and so on, as options; what is not given is "
    "taken\n"
    "from the program's environment. Where the probe runs already, it is only shown. "
    "When\n"
    "it cannot be done, the exit status is 3, and the remedy is printed.\n"
    "\n"
    "Examples:\n"
    "  memtop attach 4120                  attach and watch\n"
    "  sudo memtop attach 4120             where only root may debug (ptrace_scope)\n"
    "  memtop attach 4120 --json           attach and print the table as JSON\n"
    "  memtop attach 4120 --mode census    without hooks: the least cost\n";

static const char doctor_help[] =
    "memtop doctor says what works on this machine, and what to do about the rest: Ruby\n"
    "and the probe in it, the folder for sockets, gdb and the right to attach, "
    "terminal,\n"
    "editor. Its exit status is 0 when programs can be started with the probe and "
    "looked\n"
    "at, 1 when not.\n"
    "\n"
    "Examples:\n"
    "  memtop doctor\n"
    "  memtop doctor --json | jq '.checks[] | select(.state != \"good\")'\n";
static const char tags_help[] =
    "memtop tags prints what each tag allocated, what lives of it, and what was "
    "retained:\n"
    "survived two collections or more, at the last census. A tag is what the program "
    "says\n"
    "it is doing: Memtop.tag(route: \"orders#show\") { }, requests by Memtop::Rack or "
    "the\n"
    "Railtie, jobs by Memtop::Sidekiq::Middleware. CALLS are those that have ended; "
    "/CALL\n"
    "counts those under way too.\n"
    "\n"
    "Examples:\n"
    "  memtop tags                    of the only program there is\n"
    "  memtop tags 4120 --json | jq '.tags[] | select(.retained > 100)'\n";
static const char ps_help[] =
    "memtop ps lists every process of this user that runs under the probe, children "
    "below\n"
    "their parents: what it is, how large, what grows in it by the probe's own opinion,\n"
    "and which one is unlike its siblings. A process that does not answer within three\n"
    "seconds is listed as silent. Sockets that processes left which are gone are "
    "removed.\n"
    "--wait goes on for a while, to see how much each grows. JSON also has the sockets.\n"
    "\n"
    "Examples:\n"
    "  memtop ps\n"
    "  memtop ps --wait 10s           with DELTA/MIN, measured for so long\n"
    "  memtop ps --json | jq '.[] | select(.odd)'\n"
    "  memtop --merged 4101           the classes of Puma's master and workers, summed\n";

static const char help_help[] =
    "memtop help shows how memtop or one of its commands is used.\n"
    "\n"
    "Examples:\n"
    "  memtop help\n"
    "  memtop --help\n";

static const char record_help[] =
    "memtop record writes all that the probe sends into a file, to be replayed, "
    "compared\n"
    "and exported later. It needs no terminal. It ends, with a sound file, when\n"
    "--duration is over, at ^C (SIGINT) or SIGTERM. With --socket it goes on through\n"
    "restarts of the program, and the file knows of the gap. Above --max-size the file\n"
    "keeps the newest. A file that exists is not overwritten. It holds names, counts "
    "and\n"
    "paths, never an object's content.\n"
    "\n"
    "Examples:\n"
    "  memtop record -o night.memtop                     until ^C\n"
    "  memtop record 4120 -o night.memtop --duration 8h --max-size 256M\n";

static const char replay_help[] =
    "memtop replay shows a recording as the live viewer shows a program: [ and ] step "
    "by\n"
    "a sample, { and } by a minute, :goto 14:03 jumps, Space plays and stops, L goes to\n"
    "the end. It opens at the end, and follows a recording that is still written;\n"
    "--at opens it at another moment, --speed plays it from its start. With --once or\n"
    "--json, or without a terminal, it prints the last moment, or that of --at.\n"
    "\n"
    "Examples:\n"
    "  memtop replay night.memtop\n"
    "  memtop replay night.memtop --speed 60\n"
    "  memtop replay night.memtop --json --at 03:00 | jq .totals\n";

static const char verify_help[] =
    "memtop verify reads all of a recording and says what is in it, and what is not\n"
    "sound: damaged places, gaps, a frame that was never finished. Its exit status is 4\n"
    "when something is damaged. An unfinished frame at the end is not damage: a "
    "recorder\n"
    "that was killed leaves one, and one that still runs may.\n"
    "\n"
    "Examples:\n"
    "  memtop verify night.memtop\n";

static const char cut_help[] =
    "memtop cut copies a part of a recording into another file, and says what it left\n"
    "out. The part begins up to a minute before --from, where the whole state is known.\n"
    "\n"
    "Times, here and with the other commands: start, end, -5m (before the end), 14:03,\n"
    "14:03:20, \"2026-01-31 14:03\", the letter of a mark.\n"
    "\n"
    "Examples:\n"
    "  memtop cut night.memtop --from 02:55 --to 03:10 -o leak.memtop\n";

static const char export_help[] =
    "memtop export writes a moment of a recording, the last one or that of --at, in\n"
    "another program's format. Formats of call paths want classes whose trees were open\n"
    "or pinned when it was recorded. A file that exists is not overwritten.\n"
    "\n"
    "Formats:\n"
    "  folded      class;frame;frame count, for flamegraph.pl\n"
    "  speedscope  JSON for speedscope.app\n"
    "  pprof       gzip'd protobuf, for go tool pprof\n"
    "  csv         the classes, for spreadsheets\n"
    "  csv-paths   the call paths\n"
    "  json        a line of JSON for each class and call path\n"
    "  html        a report with charts in one file, for people\n"
    "\n"
    "Examples:\n"
    "  memtop export night.memtop --format html -o night.html\n"
    "  memtop export night.memtop --format folded -o - | flamegraph.pl > night.svg\n";

static const char diff_help[] =
    "memtop diff says what changed between the last moments of two recordings, or "
    "between\n"
    "two moments of one, its first and last unless --from and --to say others: classes\n"
    "that came, grew, shrank and went, and the call paths of those that grew. --view\n"
    "opens the viewer on it, where Enter shows the call paths of any class; there\n"
    ":diff compares other moments.\n"
    "\n"
    "Examples:\n"
    "  memtop diff night.memtop\n"
    "  memtop diff night.memtop --from 22:00 --to 06:00\n"
    "  memtop diff before.memtop after.memtop --view\n"
    "  memtop diff before.memtop after.memtop --json | jq .kinds\n";

static const char run_help[] =
    "memtop run starts a command with the probe in every Ruby process of it, through\n"
    "RUBYOPT: nothing of the application changes, Bundler included. The viewer is on\n"
    "top; the command has a terminal of its own for its output, and no input. O, or o\n"
    "in the list of processes, shows what it writes; --output writes that into FILE\n"
    "instead, which may be another terminal. q asks whether to stop the command\n"
    "(SIGTERM to all of its group), or to leave it running.\n"
    "\n"
    "Without a terminal the command has memtop's own input and output, and a table is\n"
    "printed to standard error at its end; --json makes it JSON. Signals are passed on.\n"
    "\n"
    "Exit status: the command's; 128 and the number when a signal ended it; 126 or 127\n"
    "when it cannot be started; 0 when it was left running.\n"
    "\n"
    "Of several processes the first is shown; when it ends, or as long as no key was\n"
    "pressed, one that has more objects. P lists them: Enter watches another, M the\n"
    "sum of a parent and its children.\n"
    "\n"
    "Environment:\n"
    "  MEMTOP_LIB     the folder of the probe, where it is not found by itself\n"
    "  MEMTOP_SOCKET  FOLDER/: where the sockets are, in the place of the default\n"
    "\n"
    "Examples:\n"
    "  memtop run -- bundle exec puma\n"
    "  memtop run --output log/server.log -- bin/rails server\n"
    "  memtop run --record specs.memtop -- bundle exec rspec\n"
    "  memtop run -- ruby app.rb 2> table.txt | less\n";

static const char check_help[] =
    "memtop check judges by rules: which classes may grow by how much, from the end of\n"
    "the warm-up to the end. It prints the culprits of each rule that is broken with\n"
    "their call paths. Its exit status is 1 when a rule is broken, or cannot be judged\n"
    "because nobody counted.\n"
    "\n"
    "It judges a recording, or a command that it runs under the probe: there garbage is\n"
    "collected before both moments, call paths of the classes that rules name are taken\n"
    "from the start, and every Ruby process of the command is judged by itself. Without\n"
    "--warmup the first moment is before the program's first line. The report goes to\n"
    "standard error, or into the file of --output. --duration ends a command that has\n"
    "no end, with SIGTERM. A command that fails is reported too, and then its status is\n"
    "memtop's, whatever the rules say.\n"
    "\n"
    "Rules:\n"
    "  Order:+500           objects of one class\n"
    "  'String:+2M bytes'   bytes of them\n"
    "  '*:+10% or +100'     every class, a tenth or a hundred\n"
    "  '/^Shop::/:+0'       classes by a regular expression\n"
    "  total:+1000          all of them together\n"
    "\n"
    "Examples:\n"
    "  memtop check night.memtop --max-growth Order:+500 --warmup 60s\n"
    "  memtop check night.memtop -g '*:+10% or +100' -g total:+5000 --json\n"
    "  memtop check -g Order:+500 --warmup 60s -- bundle exec ruby soak.rb\n";

// clang-format off
static const struct command commands[] = {
    {"",       "[--socket PATH | PID]",   "watch a Ruby program",                 watch_help,  CLI_WATCH,  " socket once json all plain readonly merged "},
    {"tree",   "CLASS [PID]",             "the call paths of a class",            tree_help,   CLI_TREE,   " socket once json all plain readonly wait pin "},
    {"attach", "PID",                     "put the probe into a process and watch it", attach_help, CLI_ATTACH, " once json all plain readonly wait mode interval budget depth trace "},
    {"tags",   "[PID]",                   "what routes and jobs allocate",        tags_help,   CLI_TAGS,   " socket json "},
    {"ps",     "[--json]",                "all Ruby programs under the probe",    ps_help,     CLI_PS,     " json wait "},
    {"record", "[PID] -o FILE",           "write what comes into a file",         record_help, CLI_RECORD, " socket readonly output duration max-size "},
    {"replay", "FILE",                    "show a recording",                     replay_help, CLI_REPLAY, " once json all at speed "},
    {"diff",   "FILE [FILE]",             "what changed between two moments",     diff_help,   CLI_DIFF,   " json all from to view "},
    {"export", "FILE -f F -o OUT",        "a moment in another format",           export_help, CLI_EXPORT, " all bytes at format output "},
    {"run",    "[OPTIONS] -- COMMAND",    "start a command under the probe",      run_help,    CLI_RUN,    " json all readonly output record "},
    {"check",  "-g RULE FILE|-- COMMAND",  "whether anything grew too much",       check_help,  CLI_CHECK,  " json from to max-growth warmup output duration "},
    {"verify", "FILE",                    "whether a recording is sound",         verify_help, CLI_VERIFY, " "},
    {"cut",    "FILE -F T -T T -o OUT",   "a part of a recording",                cut_help,    CLI_CUT,    " from to output "},
    {"doctor", "",                        "what works on this machine, and what not", doctor_help, CLI_DOCTOR, " json "},
    {"help",   "[COMMAND]",               "show how it is used",                  help_help,   CLI_HELP,   " socket once json all plain readonly wait pin "},
};
// clang-format on

const struct command *
command_find(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

const struct command *
command_at(size_t index)
{
    return index < sizeof(commands) / sizeof(*commands) ? &commands[index] : NULL;
}

const struct command *
command_of(enum cli_task task)
{
    size_t i = 0;
    while (i + 1 < sizeof(commands) / sizeof(*commands) && commands[i].task != task) {
        i++;
    }
    return &commands[i];
}
