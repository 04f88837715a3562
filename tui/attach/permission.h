/*
 * Whether the system lets us debug a process, and in which words to say that not.
 */
#ifndef TUI_ATTACH_PERMISSION_H
#define TUI_ATTACH_PERMISSION_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/attach/facts.h"

// Yama's setting: 0 to 3; -1 where there is none.
int permission_scope(void);

// Whether we have a capability, of linux/capability.h, right now.
bool permission_capable(int capability);

// Why not, and what would help, for a process that may not be traced.
void permission_explain(const struct facts *facts, char *words, size_t size);

#endif
