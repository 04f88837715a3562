/*
 * Which classes are shown. A filter is words between spaces, all of which must
 * hold for a class:
 *
 *     order        the name holds it; capitals matter once one is typed
 *     ~^Active     the name matches the extended regular expression
 *     delta>100    a number of the table: > >= < <= = != and K, M, G after it
 *     !word        the reverse of any of them
 */
#ifndef TUI_VIEW_FILTER_H
#define TUI_VIEW_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/view/scene.h"

#define FILTER_BYTES 256
#define FILTER_TERMS_MAX 8
#define FILTER_ERROR_BYTES 160

struct filter_term;

// Starts as all zeroes, which shows everything; destroying it twice is harmless.
struct filter {
    struct filter_term *terms; // owned
    size_t count;
    char text[FILTER_BYTES]; // as it was typed
};

void filter_destroy(struct filter *filter);

// Take another text. False when it makes no sense: `error` says why in words and
// the filter stays as it was.
bool filter_parse(struct filter *filter, const char *text,
                  char error[FILTER_ERROR_BYTES]);

bool filter_match(const struct filter *filter, const struct scene *scene,
                  const struct model_class *class);

#endif
