#include "tui/cli/command.h"

#include <string.h>

static const char watch_help[] =
    "memtop shows the classes of a running Ruby program, live: how many objects each\n"
    "has, how fast that grows, how much memory they take. It reads what a probe inside\n"
    "the program counts; a viewer that is stopped or killed does not hold it up.\n"
    "\n"
    "First steps:\n"
    "  ruby -r memtop/auto app.rb     start a program with the probe in it\n"
    "  memtop                         in another terminal: watch it\n"
    "  The probe's folder must be on Ruby's load path: -I FOLDER, or the gem.\n"
    "  When several programs run under the probe, memtop lists them and asks.\n"
    "\n"
    "Keys (the viewer's own ? shows those of the view you are in):\n"
    "  arrows j k PgUp PgDn g G       move\n"
    "  s < > 1-9 I                    choose the column that orders the rows; invert\n"
    "  /  n N  \\                      filter as you type; next, previous; clear\n"
    "  Enter                          the call tree of the class; there: arrows unfold,\n"
    "                                 i lines first, p own code, f flame, o editor\n"
    "  m  '  d                        set a mark, pick one, changes since the mark\n"
    "  Space                          pause the screen, never the program\n"
    "  F  u  i                        follow the row; units; internal types\n"
    "  w  :                           write what is shown to a file; command line\n"
    "  ?  q  Q                        help, back, quit\n"
    "\n"
    "Examples:\n"
    "  memtop 4120                    watch process 4120\n"
    "  memtop --socket /run/x.sock    watch the program that listens there\n"
    "  memtop --once 4120             one table as text, then the end\n"
    "  memtop --json | jq .totals     the same for machines\n"
    "  memtop tree Order              which lines made the orders that live\n"
    "  memtop --plain                 a table each interval, for pipes and screen "
    "readers\n";

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

static const char help_help[] =
    "memtop help shows how memtop or one of its commands is used.\n"
    "\n"
    "Examples:\n"
    "  memtop help\n"
    "  memtop --help\n";

static const struct command commands[] = {
    {"",     "[--socket PATH | PID]", "watch a Ruby program",      watch_help, CLI_WATCH},
    {"tree", "CLASS [PID]",           "the call paths of a class", tree_help,  CLI_TREE },
    {"help", "[COMMAND]",             "show how it is used",       help_help,  CLI_HELP },
};

static const char *const later[] = {
    "attach", "check",  "cut",    "diff", "doctor", "export",
    "ps",     "record", "replay", "run",  "verify",
};

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

bool
command_is_later(const char *name)
{
    for (size_t i = 0; i < sizeof(later) / sizeof(*later); i++) {
        if (strcmp(later[i], name) == 0) {
            return true;
        }
    }
    return false;
}
