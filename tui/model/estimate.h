/*
 * What a sample of stacks says about all objects of a class.
 *
 * Of the objects born while tracing the stacks of some were taken: those are known
 * to be where they are. The others, `unsampled`, are spread over the paths as the
 * samples are, and a sample that was taken with the chance of 1 / 2^shift speaks
 * for the 2^shift - 1 that were passed over. So what was taken with shift 0 speaks
 * for itself alone and is exact, and everything is exact when nothing was passed
 * over; with one shift for all it is the plain share: k of K samples are k / K of
 * all objects.
 *
 * The interval is Wilson's, which stays honest for rare paths, with the effective
 * size of a weighted sample (Kish) and the correction for a finite population.
 */
#ifndef TUI_MODEL_ESTIMATE_H
#define TUI_MODEL_ESTIMATE_H

#include <stdint.h>

// Larger shifts are taken for this one.
#define ESTIMATE_SHIFT_MAX 40u

// Starts as all zeroes but for `unsampled`.
struct estimate {
    double unsampled; // objects that nothing is known of
    double samples;   // objects taken with a chance below 1
    double weight;    // objects they speak for, themselves not counted
    double squares;   // sum of the squares of the weights
};

// Objects that one sample speaks for beside itself.
double estimate_weight(uint32_t shift);

// So many objects were taken with the chance of 1 / 2^shift.
void estimate_add(struct estimate *estimate, double objects, uint32_t shift);

// Objects that one sample stands for, itself included: at least 1.
double estimate_scale(const struct estimate *estimate, uint32_t shift);

// Half-width of the 95 % interval, in objects, for places whose samples together
// have this weight. Wilson's interval reaches further towards the middle: this is
// the longer side, so that figure ± error holds all of it.
double estimate_error(const struct estimate *estimate, double weight);

#endif
