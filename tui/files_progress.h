/*
 * How far reading a recording has come: "memtop: reading … 41 %" on a terminal, once it
 * has taken a second, gone at the end.
 */
#ifndef TUI_FILES_PROGRESS_H
#define TUI_FILES_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PROGRESS_AFTER_MS 1000u // nothing is said before
#define PROGRESS_EVERY_MS 100u

struct progress {
    FILE *out;         // borrowed; NULL: say nothing
    uint64_t begun_ms; // 0 before the first call
    uint64_t said_ms;
    bool shown;
};

// Say how much of the whole is done, as often as is worth it.
void progress_say(struct progress *progress, uint64_t now_ms, uint64_t done,
                  uint64_t whole);

// Take the words away again. It may be called when there are none.
void progress_end(struct progress *progress);

#endif
