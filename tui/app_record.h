/*
 * Recording what comes into a file, for the viewer (R) and for `memtop record`.
 */
#ifndef TUI_APP_RECORD_H
#define TUI_APP_RECORD_H

#include "tui/record/writer.h"

struct app;

// Record into a file from now on, with what the ring still holds before it when `ring`.
// False when it cannot be done; `why` then has the words.
bool app_record_start(struct app *app, const char *path,
                      const struct writer_options *options, bool ring, char *why,
                      size_t why_size);

// End it. False when the last bytes could not be made safe, or nothing is recorded.
bool app_record_stop(struct app *app, char *why, size_t why_size);

// A message has come, and the model does not know it yet.
void app_record_take(struct app *app, const struct message *message);

// Time passes of which nothing will be known.
void app_record_gap(struct app *app, enum gap_reason reason);

// Why recording ended by itself, "" while it did not; what it wrote.
const char *app_record_error(const struct app *app);
uint64_t app_record_written(const struct app *app);

// The command.
unsigned app_record_command(struct app *app, const char *argument);

#endif
