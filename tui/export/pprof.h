/*
 * Call paths as pprof reads them: a gzip'd profile.proto (see that file). Each path is
 * a sample of live_objects, live_bytes (where bytes are known at all) and
 * allocated_objects, with the label `class`.
 *
 * A sample has no way to say that a figure is not known. It then counts 0 and has the
 * label live_bytes:unknown, and a comment says of how many objects that is.
 *
 * The file is written in pieces, each a profile with one thing in it: behind one
 * another they are one, as protobuf has it, and no more than one is in memory.
 */
#ifndef TUI_EXPORT_PPROF_H
#define TUI_EXPORT_PPROF_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/export/export.h"

// False when memory ran out or the stream refused; errno says which.
bool pprof_write(const struct model *model, const struct export_options *options,
                 FILE *out);

#endif
