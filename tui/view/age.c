#include "tui/view/age.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

void
age_histogram(char out[AGE_BYTES], const struct glyphs *glyphs,
              const double ages[AGE_BUCKETS])
{
    double most = 0;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        most = ages[i] > most ? ages[i] : most;
    }
    out[0] = '\0';
    if (!(most > 0)) {
        snprintf(out, AGE_BYTES, "%s", glyphs->unknown);
        return;
    }
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        bool some = ages[i] > 0; // not so where this one is not known
        int level = some ? (int)ceil(ages[i] / most * GLYPHS_LEVELS) : 0;
        strcat(out, level == 0 ? " " : glyphs->levels[level - 1]);
    }
}

double
age_old(const double ages[AGE_BUCKETS])
{
    double sum = ages[0] + ages[1] + ages[2] + ages[3];
    return sum > 0 ? (ages[2] + ages[3]) / sum : (double)NAN;
}
