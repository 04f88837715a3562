/*
 * What the viewer knows of a process: its classes, their history, totals,
 * marks. Messages are applied, views and exports read.
 *
 * Knows no terminal, no clock and no order on a screen (rows.h does that).
 * Names are kept as they came: hostile bytes, escaped where they are shown.
 */
#ifndef TUI_MODEL_MODEL_H
#define TUI_MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/message.h"

// Seconds of history kept for each class and for the totals: two minutes.
#define MODEL_HISTORY 120

#define MODEL_MARKS_MAX 26 // A to Z

struct model;

struct model_class {
    class_id id;
    uint32_t flags;    // enum class_flag, or-ed
    const char *name;  // UTF-8, terminated; escaped when it came broken; "" until known
    bool gone;         // died with no object left; kept dim for a while
    struct class_row now;
    uint64_t baseline; // live at the mark in use, or when first seen after connecting
    double live_per_second;      // over the last samples, objects
    double allocated_per_second; // NAN while unknown
    double freed_per_second;     // NAN while unknown
    const void *history;         // see model_history()
};

struct model *model_new(void); // NULL when memory ran out
void model_free(struct model *model);

// Take a message from a probe. False when memory ran out; the model is then
// as it was, less this message.
bool model_apply(struct model *model, const struct message *message);

// A new connection follows: ids will be defined anew, rates and history keep a gap.
void model_reconnect(struct model *model);

// Classes known, in no particular order. Pointers are good until the next
// model_apply() or model_reconnect().
size_t model_class_count(const struct model *model);
const struct model_class *model_class_at(const struct model *model, size_t index);
const struct model_class *model_class_find(const struct model *model, class_id id);

// The last up to MODEL_HISTORY values of live, oldest first; COUNT_UNKNOWN is a
// gap. Returns how many were written to `values`, one for each second of `seconds`.
size_t model_history(const struct model_class *class, uint64_t *values, size_t capacity);

// The last hello, sample header and bye; fields are zero or COUNT_UNKNOWN before.
// Texts are borrowed from the model.
const struct hello *model_hello(const struct model *model);
const struct sample *model_sample(const struct model *model); // rows are not kept
const struct bye *model_bye(const struct model *model);       // NULL while none came
struct stamp model_time(const struct model *model);           // of the last sample

#endif
