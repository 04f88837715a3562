/*
 * Call paths for https://www.speedscope.app, which is also a file that one opens
 * offline; as https://www.speedscope.app/file-format-schema.json has it. For each class
 * that has a tree a profile of live objects, and one of their bytes where bytes are
 * known at all; paths whose bytes are not known are then not in it, and its name says
 * so. Frames are told apart by label, file and line.
 */
#ifndef TUI_EXPORT_SPEEDSCOPE_H
#define TUI_EXPORT_SPEEDSCOPE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/export/export.h"

// False when memory ran out or the stream refused; errno says which.
bool speedscope_write(const struct model *model, const struct export_options *options,
                      FILE *out);

#endif
