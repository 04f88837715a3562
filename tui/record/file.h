/*
 * What files of recordings have in common. Internal to tui/record/.
 */
#ifndef TUI_RECORD_FILE_H
#define TUI_RECORD_FILE_H

#include <stdbool.h>
#include <stddef.h>

// For its owner alone: a recording has the program's command line and paths.
#define FILE_MODE 0600

// All of it, however often the system takes a part. False with errno set.
bool file_write(int descriptor, const void *bytes, size_t length);

#endif
