/*
 * memtop doctor: what works on this machine, and what would make the rest work.
 *
 * Each check tries the thing itself where that is harmless: the probe is started in a
 * Ruby of its own, the folder for sockets is made and looked at. Nothing stays of it
 * but that folder.
 */
#ifndef TUI_DOCTOR_DOCTOR_H
#define TUI_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define DOCTOR_FINDINGS_MAX 32
#define DOCTOR_WORDS 768

enum doctor_state {
    DOCTOR_GOOD,
    DOCTOR_LACKS, // something memtop can do without
    DOCTOR_BAD,   // what memtop is for does not work
};

struct doctor_finding {
    const char *name; // of the check
    enum doctor_state state;
    char words[DOCTOR_WORDS];
    char remedy[DOCTOR_WORDS]; // "" where nothing is lacking
};

struct doctor {
    struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
    size_t count;
};

void doctor_examine(struct doctor *doctor);

// Whether programs can be started with the probe, and looked at.
bool doctor_works(const struct doctor *doctor);

// For people; false when it cannot be written.
bool doctor_print(const struct doctor *doctor, bool ascii, FILE *out);
bool doctor_write_json(const struct doctor *doctor, FILE *out);

#endif
