/*
 * A night in which a shop leaked: a model as it is in the morning, and how it came to
 * that. Always the same.
 */
#ifndef TESTS_TUI_EXPORT_NIGHT_H
#define TESTS_TUI_EXPORT_NIGHT_H

#include "tui/export/html.h"

// Begins 2025-12-31 21:58:30 UTC and takes eight hours.
#define NIGHT_BEGIN_US UINT64_C(1767218310000000)
#define NIGHT_SECONDS UINT64_C(28800)

struct night {
    struct model *model; // owned
    struct html_series series;
    struct html_point *points; // owned
    uint64_t *values;          // owned: `point_count` of each class
    struct html_class classes[HTML_CLASSES_MAX];
    struct html_mark marks[2];
    struct html_gap gaps[2];
};

// With so many points. False when it could not be made.
bool night_init(struct night *night, size_t points);
void night_destroy(struct night *night);

#endif
