#include "tui/model/odd.h"

#include <math.h>
#include <stdlib.h>

// So many usual distances away; 1.4826 of them are a standard deviation.
#define DISTANCES (5 * 1.4826)

static int
by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

// Puts `values` in order.
static double
median_of(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    return count % 2 != 0 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}

bool
odd_usual(const double *values, size_t count, const struct odd_measure *measure,
          struct odd_usual *usual)
{
    double known[ODD_MOST];
    size_t left = 0;
    if (count > ODD_MOST) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!isnan(values[i])) {
            known[left++] = values[i];
        }
    }
    if (left < ODD_LEAST) {
        return false;
    }
    usual->median = median_of(known, left);
    for (size_t i = 0; i < left; i++) {
        known[i] = fabs(known[i] - usual->median);
    }
    double spread = DISTANCES * median_of(known, left);
    double share = measure->share * fabs(usual->median);
    usual->distance = fmax(fmax(spread, share), measure->distance);
    return true;
}

double
odd_distance(const struct odd_usual *usual, double value)
{
    if (isnan(value) || usual->distance <= 0) {
        return 0;
    }
    return fabs(value - usual->median) / usual->distance;
}
