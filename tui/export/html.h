/*
 * A night's leak as one HTML file: what the model holds at the end, and how it came
 * to that, as charts. For whoever reads it in the morning or finds it attached to a
 * ticket, so it opens offline: styles, scripts and charts are inside, and a policy
 * forbids the browser to fetch anything or to run anything else. Without JavaScript
 * only sorting and searching are missing.
 *
 * Its size is bounded whatever comes: a series is drawn with HTML_DRAWN_MAX points,
 * the extremes kept; a table has a few hundred classes, those that changed most; a
 * tree a few thousand rows. What is left out is said where it is missing.
 *
 * Times are shown in the time zone of the machine that writes, and in UTC.
 */
#ifndef TUI_EXPORT_HTML_H
#define TUI_EXPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tui/model/model.h"

#define HTML_CLASSES_MAX 12u // with a chart of their own; more are ignored
#define HTML_DRAWN_MAX 2000u // points of one line

// A moment of the recording. Any but the time may be COUNT_UNKNOWN.
struct html_point {
    uint64_t wall_us;
    uint64_t live;
    uint64_t rss_bytes;
    uint64_t gc_count;
    uint64_t mode; // enum probe_mode
};

// A class over the same moments. One that the model does not know has no name to be
// shown by, and is passed over.
struct html_class {
    class_id id;
    const uint64_t *live; // `point_count` of them; COUNT_UNKNOWN where nobody counted
};

struct html_mark {
    uint64_t wall_us;
    char letter;
};

// Time of which nothing is known. Lines are broken there.
struct html_gap {
    uint64_t from_us; // wall time
    uint64_t to_us;
    const char *text; // why, in words; any bytes
};

// Everything is borrowed, and any list may be empty.
struct html_series {
    const char *source;              // what was read, such as a file's name; or NULL
    const struct html_point *points; // in the order of the recording
    size_t point_count;
    const struct html_class *classes; // those that grew most first
    size_t class_count;
    const struct html_mark *marks;
    size_t mark_count;
    const struct html_gap *gaps;
    size_t gap_count;
};

// Write it. Changes of classes are since the mark that the model uses, or since it
// connected: for changes over the whole of the series, set a mark where that begins
// and use it. False when memory ran out or the stream refused; errno says which.
bool html_write(const struct model *model, const struct html_series *series, FILE *out);

#endif
