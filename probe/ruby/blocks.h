/*
 * Which lines of a method belong to a block in it.
 *
 * In a stack, Ruby gives the method itself for a block within it, with the block's
 * line. People expect "block in Cart#add", as a backtrace has it. A line strictly
 * between a block's first and last line can only be the block's; on those two lines
 * there may be code of both, and the method is named.
 */
#ifndef PROBE_RUBY_BLOCKS_H
#define PROBE_RUBY_BLOCKS_H

#include <ruby.h>

#include "probe/core/calltree.h"

// context: gvl, while collections are held. Fill in `blocks` for a method's frame.
// Without memory, or where Ruby does not tell, there are none.
void blocks_find(VALUE frame, struct frame_naming *naming);

#endif
