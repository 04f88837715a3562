/*
 * Whether a thread stands where code may be loaded into it.
 *
 * The calls that gdb makes in a thread take the locks of the allocator and of the
 * dynamic linker, and these cannot be taken twice. All other threads run meanwhile,
 * so what they hold they let go; only the thread itself matters. It stands well when
 * no function of those is among its callers, and when it is not in the C library but
 * for a system call: inside, only exported functions have names.
 */
#ifndef TUI_ATTACH_POINT_H
#define TUI_ATTACH_POINT_H

#include <stdbool.h>

// `frames` is gdb's list, as -stack-list-frames gives it, the innermost first.
bool point_is_safe(const char *frames, bool in_system_call);

// Whether the process stands in a system call, from /proc.
bool point_in_system_call(long pid);

#endif
