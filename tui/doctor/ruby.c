// Is there a Ruby, does the probe work in it, and what can that Ruby do?
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/attach/elf.h"
#include "tui/attach/library.h"
#include "tui/doctor/checks.h"
#include "tui/doctor/child.h"

#define PATIENCE_MS 30000
#define SAID_BYTES 8192

static const char about[] =
    "require 'rbconfig'\n"
    "puts RUBY_DESCRIPTION, RUBY_ENGINE, RbConfig.ruby\n"
    "puts File.foreach('/proc/self/maps').grep(/libruby/).first.to_s[%r{/.*}]\n";

// Everything once, in a folder of its own.
static const char trial[] =
    "require 'tmpdir'\n"
    "require 'memtop'\n"
    "Dir.mktmpdir do |folder|\n"
    "  Memtop.start(socket: File.join(folder, 'doctor.sock'), mode: 'count')\n"
    "  mode = Memtop.mode\n"
    "  Memtop.stop\n"
    "  abort 'objects cannot be counted in it' unless mode == 'count'\n"
    "end\n";

// Keep the line that says why: the one with the exception's class, else the last one.
static void
keep_reason(char *words)
{
    char *error = strstr(words, "Error)");
    size_t length = error ? (size_t)(error - words) + 6 : strlen(words);
    while (length > 0 && words[length - 1] == '\n') {
        length--;
    }
    words[length] = '\0';
    const char *start = strrchr(words, '\n');
    if (start) {
        memmove(words, start + 1, strlen(start));
    }
}

// The n-th line of what was said.
static void
take_line(const char *said, int n, char *line, size_t size)
{
    for (; n > 0 && *said; n--) {
        said += strcspn(said, "\n");
        said += *said == '\n';
    }
    snprintf(line, size, "%.*s", (int)strcspn(said, "\n"), said);
}

static void
check_features(struct doctor *doctor, const char *said)
{
    static const struct {
        const char *symbol;
        const char *or_symbol;
        const char *what;
        bool needed;
    } features[] = {
        {"rb_objspace_each_objects",           NULL,                            "a walk over the heap",    true },
        {"rb_add_event_hook2",                 NULL,                            "hooks of allocations",    true },
        {"rb_profile_frames",                  NULL,                            "call stacks",             false},
        {"rb_obj_memsize_of",                  NULL,                            "sizes in bytes",          false},
        {"rb_postponed_job_trigger",           "rb_postponed_job_register_one", "postponed jobs",
         false                                                                                                  },
        {"rb_imemo_name",                      NULL,                            "names of internal types", false},
        {"rb_iseq_code_location",              NULL,                            "lines of blocks",         false},
        {"rb_objspace_reachable_objects_from", NULL,                            "blocks in methods",       false},
        {"rb_vm_lock_enter_body",              NULL,                            "walks beside Ractors",    false},
    };
    char program[PATH_MAX];
    char library[PATH_MAX];
    size_t length = 0;
    enum doctor_state state = DOCTOR_GOOD;
    char lacking[DOCTOR_WORDS] = "";
    take_line(said, 2, program, sizeof(program));
    take_line(said, 3, library, sizeof(library));
    for (size_t i = 0; i < sizeof(features) / sizeof(*features); i++) {
        const char *other =
            features[i].or_symbol ? features[i].or_symbol : features[i].symbol;
        if (elf_symbol(library, features[i].symbol, NULL, 0) ||
            elf_symbol(program, features[i].symbol, NULL, 0) ||
            elf_symbol(library, other, NULL, 0) || elf_symbol(program, other, NULL, 0)) {
            continue;
        }
        state = features[i].needed || state == DOCTOR_BAD ? DOCTOR_BAD : DOCTOR_LACKS;
        length += (size_t)snprintf(lacking + length, sizeof(lacking) - length, "%s%s",
                                   length ? ", " : "", features[i].what);
    }
    struct doctor_finding *finding = doctor_add(doctor, "features", state);
    if (state == DOCTOR_GOOD) {
        snprintf(finding->words, sizeof(finding->words),
                 "this Ruby has all that the probe makes use of");
    } else {
        snprintf(finding->words, sizeof(finding->words),
                 "this Ruby does not export: %.*s", 600, lacking);
        snprintf(finding->remedy, sizeof(finding->remedy), "%s",
                 state == DOCTOR_BAD
                     ? "Use MRI 3.1 or later."
                     : "What needs it is left out; the counts are exact.");
    }
}

static void
check_probe(struct doctor *doctor)
{
    struct library library;
    char said[SAID_BYTES];
    library_find(&library);
    const char *const try[] = {"ruby", "-I", library.folder, "-e", trial, NULL};
    bool loads = library.found && child_says(try, said, sizeof(said), PATIENCE_MS);
    struct doctor_finding *finding =
        doctor_add(doctor, "probe", loads ? DOCTOR_GOOD : DOCTOR_BAD);
    if (loads) {
        snprintf(finding->words, sizeof(finding->words),
                 "starts and counts in that Ruby (%.*s, built for %d.%d)", 500,
                 library.folder, library.version[0], library.version[1]);
        return;
    }
    if (!library.found) {
        snprintf(finding->words, sizeof(finding->words), "is not in %.*s", 500,
                 library.folder);
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "Build it: cmake -S . -B build && cmake --build build; or name the "
                 "folder that has memtop.rb: MEMTOP_LIB=/path/to/lib");
        return;
    }
    keep_reason(said);
    snprintf(finding->words, sizeof(finding->words), "does not start in that Ruby: %.*s",
             500, said);
    snprintf(finding->remedy, sizeof(finding->remedy),
             "It was built for Ruby %d.%d; build it for this one: cmake -S . -B build "
             "-DRUBY_EXECUTABLE=$(which ruby) && cmake --build build",
             library.version[0], library.version[1]);
}

void
doctor_check_ruby(struct doctor *doctor)
{
    static const char *const ask[] = {"ruby", "-e", about, NULL};
    char said[SAID_BYTES];
    char engine[64];
    bool there = child_says(ask, said, sizeof(said), PATIENCE_MS);
    take_line(said, 1, engine, sizeof(engine));
    bool good = there && strcmp(engine, "ruby") == 0;
    struct doctor_finding *finding =
        doctor_add(doctor, "ruby", good ? DOCTOR_GOOD : DOCTOR_BAD);
    take_line(said, 0, finding->words, sizeof(finding->words));
    if (!there) {
        snprintf(finding->words, sizeof(finding->words), "there is no ruby in PATH");
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "On Debian: sudo apt-get install ruby");
    } else if (!good) {
        snprintf(finding->remedy, sizeof(finding->remedy),
                 "The probe is for MRI 3.1 or later, not for %s.", engine);
    }
    if (good) {
        check_probe(doctor);
        check_features(doctor, said);
    }
}
