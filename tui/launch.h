/*
 * What a command is started with so that the probe comes up in every Ruby process of
 * it: RUBYOPT and RUBYLIB, which Ruby reads by itself, and the probe's settings. Nothing
 * of the application changes; Bundler, which looks at gems alone, lets it pass.
 *
 * RUBYOPT can quote nothing, so that a path with a space could not stand there: it
 * names the probe, RUBYLIB has the folder. What both held before stays.
 *
 * What can go wrong, each said on standard error with what to do: the probe is not
 * found, its path has a colon, the sockets' folder is not ours.
 */
#ifndef TUI_LAUNCH_H
#define TUI_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>

#define LAUNCH_PATH_BYTES 4096

struct launch {
    char folder[LAUNCH_PATH_BYTES]; // of the sockets, without a slash at its end
    char **environment;             // owned, ended by NULL
    size_t count;
};

// False after having said why not; `launch` is then empty. `collects`: what is left at
// the end is to be counted without garbage.
bool launch_init(struct launch *launch, bool collects);
void launch_destroy(struct launch *launch);

// Add a variable, in the place of what it is now. False when memory ran out.
bool launch_set(struct launch *launch, const char *name, const char *value);

// The value of a variable, NULL when it is not set.
const char *launch_get(const struct launch *launch, const char *name);

#endif
