/*
 * The header's words while another moment than now is shown: "REWOUND -04:12
 * (11:58:29)", "REPLAY 14:03:20 ×4". What header_state() answers with then.
 */
#ifndef TUI_VIEW_HEADER_TIME_H
#define TUI_VIEW_HEADER_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/view/header.h"

struct header_moment {
    bool replay;       // of a recording; else of the program that is watched
    bool growing;      // the recording is still being written
    bool stopped;      // the replay stands still
    double speed;      // of the replay, 1 is as it was
    uint64_t shown_us; // wall time of the moment that is shown
    uint64_t end_us;   // of the last one there is
};

struct header_state header_time(const struct header_moment *moment, bool ascii);

// What can be done about it, at the right end of the line where the probe's figures
// are otherwise; "" for nothing.
const char *header_time_hint(const struct header_moment *moment);

#endif
