#include "tui/view/header_time.h"

#include <stdio.h>

#include "tui/view/clock.h"

static bool
at_end(const struct header_moment *moment)
{
    return moment->shown_us >= moment->end_us;
}

// How a replay goes on: " ×4", " stopped", " end", or nothing to say.
static void
describe_pace(const struct header_moment *moment, bool ascii, char *out, size_t size)
{
    out[0] = '\0';
    if (at_end(moment)) {
        snprintf(out, size, moment->growing ? " newest" : " end");
    } else if (moment->stopped) {
        snprintf(out, size, " stopped");
    } else if (moment->speed < 1 || moment->speed > 1) {
        snprintf(out, size, " %s%.4g", glyphs_of(ascii)->times, moment->speed);
    }
}

struct header_state
header_time(const struct header_moment *moment, bool ascii)
{
    struct header_state state = {"REWOUND", "", STYLE_WARNING};
    char clock[CLOCK_BYTES];
    char other[CLOCK_BYTES];
    clock_beside(clock, moment->shown_us, moment->end_us);
    if (moment->replay) {
        state.word = "REPLAY";
        state.style = STYLE_ACCENT;
        describe_pace(moment, ascii, other, sizeof other);
        snprintf(state.detail, sizeof state.detail, "%s%s", clock, other);
    } else {
        clock_offset(other, moment->shown_us, moment->end_us);
        snprintf(state.detail, sizeof state.detail, "%s  (%s)", other, clock);
    }
    return state;
}

const char *
header_time_hint(const struct header_moment *moment)
{
    if (!moment->replay) {
        return "L returns to live";
    }
    if (at_end(moment)) {
        return "";
    }
    return moment->stopped   ? "Space goes on"
           : moment->growing ? "L goes to the newest"
                             : "";
}
