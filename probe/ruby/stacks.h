/*
 * Ruby's call stacks as numbers, and what their frames are called.
 *
 * A frame's key is the address of a method entry or of an instruction sequence, as
 * rb_profile_frames() gives it. What has no name yet is kept alive by hooks.c.
 */
#ifndef PROBE_RUBY_STACKS_H
#define PROBE_RUBY_STACKS_H

#include "probe/core/runtime.h"

// context: gvl. Once, before anything is captured.
void stacks_init(void);

// context: hook. See struct runtime.
size_t stacks_capture(struct stack_frame *stack, size_t limit);

// context: gvl, while collections are held. See struct runtime.
bool stacks_frame_name(uintptr_t key, struct frame_naming *naming);

#endif
