#include "tui/view/sparkline.h"

#include <stdbool.h>
#include <string.h>

#include "protocol/message.h"

// What a scale spans at least, as a share of the highest value.
#define SPAN_SHARE 0.25

struct sparkline_scale
sparkline_scale(double low, double high)
{
    double least = high * SPAN_SHARE;
    double span = low < high ? high - low : 0;
    span = span > least ? span : least;
    double middle = (low + high) / 2;
    return (struct sparkline_scale){middle - span / 2, middle + span / 2};
}

const char *
sparkline_level(const struct glyphs *glyphs, struct sparkline_scale scale, double value)
{
    if (scale.high <= scale.low || value <= scale.low) {
        return glyphs->levels[0];
    }
    double share = (value - scale.low) / (scale.high - scale.low);
    int height = share < 1 ? (int)(share * (GLYPHS_LEVELS - 1) + 0.5) : GLYPHS_LEVELS - 1;
    return glyphs->levels[height];
}

static struct sparkline_scale
scale_of(const uint64_t *values, size_t count)
{
    uint64_t low = COUNT_UNKNOWN; // above every value
    uint64_t high = 0;
    for (size_t i = 0; i < count; i++) {
        if (values[i] != COUNT_UNKNOWN) {
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
    }
    return sparkline_scale((double)low, (double)high);
}

size_t
sparkline_span(size_t seconds, int cells)
{
    return seconds > (size_t)cells ? seconds : (size_t)cells;
}

void
sparkline(char out[SPARKLINE_BYTES], int cells, const struct glyphs *glyphs,
          const uint64_t *values, size_t count, size_t span)
{
    struct sparkline_scale scale = scale_of(values, count);
    size_t missing = span > count ? span - count : 0; // seconds before the first value
    size_t wide = cells < SPARKLINE_CELLS_MAX ? (size_t)cells : SPARKLINE_CELLS_MAX;
    out[0] = '\0';
    for (size_t cell = 0; cell < wide; cell++) {
        uint64_t last = COUNT_UNKNOWN; // the newest known value of the cell's seconds
        size_t from = span * cell / wide;
        for (size_t second = span * (cell + 1) / wide; second-- > from;) {
            if (second >= missing && values[second - missing] != COUNT_UNKNOWN) {
                last = values[second - missing];
                break;
            }
        }
        bool known = last != COUNT_UNKNOWN;
        out = stpcpy(out, known ? sparkline_level(glyphs, scale, (double)last) : " ");
    }
}
