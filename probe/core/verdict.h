/*
 * A leak, or not? From a trend to one word and the reasons for it.
 *
 * Accused is only what grew for a third of the time that it was watched or longer,
 * after the program's and the class's own start, in every part of that time, without
 * slowing down, without having been cleared before, past full collections, and with as
 * many old survivors as a leak leaves; objects or bytes alike. A cache that fills, a
 * batch that is cleared, a burst and a warm-up are not.
 *
 * What nobody can tell: something that fills evenly for longer than that, right from
 * the start, is a leak until it stops. It is no longer called one soon after.
 */
#ifndef PROBE_CORE_VERDICT_H
#define PROBE_CORE_VERDICT_H

#include "probe/core/trend.h"

#define VERDICT_REASON_BYTES 160

struct judgement {
    enum verdict verdict;
    double grown;                      // objects or bytes that the reason speaks of
    char reason[VERDICT_REASON_BYTES]; // "" with VERDICT_NONE
};

// `started` is the moment at which the probe began to look, `before` the verdict so
// far: who is accused is acquitted only when the evidence is clearly gone.
struct judgement verdict_of(const struct trend *trend, const struct trend_state *state,
                            const struct trend_moment *started,
                            const struct trend_moment *now, enum verdict before);

#endif
