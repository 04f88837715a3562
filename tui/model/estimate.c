#include "tui/model/estimate.h"

#include <math.h>

// 97.5th percentile of the normal distribution.
#define Z 1.959963984540054

double
estimate_weight(uint32_t shift)
{
    shift = shift < ESTIMATE_SHIFT_MAX ? shift : ESTIMATE_SHIFT_MAX;
    return (double)((UINT64_C(1) << shift) - 1);
}

void
estimate_add(struct estimate *estimate, double objects, uint32_t shift)
{
    double weight = estimate_weight(shift);
    estimate->samples += weight > 0 ? objects : 0;
    estimate->weight += objects * weight;
    estimate->squares += objects * weight * weight;
}

double
estimate_scale(const struct estimate *estimate, uint32_t shift)
{
    if (estimate->weight <= 0 || shift == 0) {
        return 1;
    }
    return 1 + estimate->unsampled * estimate_weight(shift) / estimate->weight;
}

double
estimate_error(const struct estimate *estimate, double weight)
{
    double unsampled = estimate->unsampled;
    if (unsampled <= 0) {
        return 0;
    }
    if (estimate->weight <= 0) {
        return unsampled; // they may all be here
    }
    double population = unsampled + estimate->samples;
    double effective = estimate->weight * estimate->weight / estimate->squares;
    double size = effective * fmax(population - 1, 1) / unsampled;
    double share = fmin(weight / estimate->weight, 1);
    double shrink = 1 + Z * Z / size;
    double centre = (share + Z * Z / (2 * size)) / shrink;
    double half =
        Z / shrink * sqrt(share * (1 - share) / size + Z * Z / (4 * size * size));
    double error = population * (half + fabs(centre - share));
    return fmin(error, unsampled * fmax(share, 1 - share));
}
