/*
 * The odd one out: a value that is far from what its siblings have.
 *
 * What is usual is the median, and how far values usually are from it is the median of
 * their distances (MAD): neither moves when one value does, as a mean would. A value is
 * odd that is further from the median than five such distances, than a quarter of the
 * median, and than what is no matter in this measure.
 */
#ifndef TUI_MODEL_ODD_H
#define TUI_MODEL_ODD_H

#include <stdbool.h>
#include <stddef.h>

#define ODD_LEAST 3u // values: of two nobody knows which one is the odd one
#define ODD_MOST 256u

struct odd_measure {
    double distance; // from the median that is no matter
    double share;    // of the median that is no matter
};

struct odd_usual {
    double median;
    double distance; // beyond which a value is odd
};

// What is usual among `count` values; those that are NAN are left out. False when
// fewer than ODD_LEAST are left, or more than ODD_MOST were given.
bool odd_usual(const double *values, size_t count, const struct odd_measure *measure,
               struct odd_usual *usual);

// How many times as far from the median as is still usual; above 1 is odd. 0 for NAN.
double odd_distance(const struct odd_usual *usual, double value);

#endif
