/*
 * A leak, or not? From a trend to one word and the reasons for it.
 *
 * Accused is only what grew over several collections, after the program's and the
 * class's own start, without levelling off, with survivors that are old; objects or
 * bytes alike. A cache that fills, a batch that is cleared, a burst and a warm-up
 * are not.
 */
#ifndef PROBE_CORE_VERDICT_H
#define PROBE_CORE_VERDICT_H

#include "probe/core/trend.h"

#define VERDICT_REASON_BYTES 160

struct judgement {
    enum verdict verdict;
    char reason[VERDICT_REASON_BYTES]; // "" with VERDICT_NONE
};

// `started` is the moment at which the probe began to look.
struct judgement verdict_of(const struct trend *trend, const struct trend_state *state,
                            const struct trend_moment *started,
                            const struct trend_moment *now);

#endif
