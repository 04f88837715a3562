/*
 * A file of source for people to look at beside a call tree. The path came from the
 * watched program: a device, a pipe or a huge file in its place is refused.
 */
#ifndef TUI_LOOP_SOURCE_H
#define TUI_LOOP_SOURCE_H

#include "tui/view/source.h"

// A source_reader.
void loop_read_source(const char *file, struct source_text *text);

#endif
