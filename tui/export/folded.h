/*
 * Call paths as folded stacks, one a line, `class;frame;frame 120`: what
 * flamegraph.pl, inferno and speedscope read.
 *
 * The format knows no escapes: in a name ";" becomes ":", and white space "_". A line
 * has live objects, or their bytes; paths with none, or whose bytes are not known, have
 * no line, because a line would have to say 0.
 */
#ifndef TUI_EXPORT_FOLDED_H
#define TUI_EXPORT_FOLDED_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/export/export.h"

// False when memory ran out or the stream refused; errno says which.
bool folded_write(const struct model *model, const struct export_options *options,
                  FILE *out);

#endif
