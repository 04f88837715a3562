#include "probe/ruby/stacks.h"

#include <stdlib.h>
#include <string.h>

#include <ruby.h>
#include <ruby/debug.h>

#include "probe/core/trace.h"
#include "probe/ruby/blocks.h"

// One thread at a time writes here: it has the GVL.
static VALUE frames[TRACE_DEPTH_MAX + 1];
static int lines[TRACE_DEPTH_MAX + 1];

// The frame that Ruby 3.1 shows below <main>, where nothing ever runs.
static VALUE bottom;

void
stacks_init(void)
{
    int count = rb_profile_frames(0, TRACE_DEPTH_MAX, frames, lines);
    if (count > 0 && lines[count - 1] == 0) {
        bottom = frames[count - 1];
        rb_gc_register_address(&bottom);
    }
}

size_t
stacks_capture(struct stack_frame *stack, size_t limit)
{
    int wanted = limit <= TRACE_DEPTH_MAX ? (int)limit : (int)TRACE_DEPTH_MAX + 1;
    int count = rb_profile_frames(0, wanted, frames, lines);
    if (count > 0 && bottom && frames[count - 1] == bottom) {
        count--;
    }
    for (int i = 0; i < count; i++) {
        stack[i] = (struct stack_frame){frames[i], lines[i] > 0 ? (uint32_t)lines[i] : 0};
    }
    return (size_t)count;
}

/* Names. */

static char *
copy_text(VALUE text)
{
    return RB_TYPE_P(text, T_STRING)
               ? strndup(RSTRING_PTR(text), (size_t)RSTRING_LEN(text))
               : strdup("");
}

struct question {
    VALUE frame;
    struct frame_naming *naming;
};

static VALUE
ask(VALUE context)
{
    struct question *question = (struct question *)context;
    struct frame_naming *naming = question->naming;
    VALUE label = rb_profile_frame_full_label(question->frame);
    VALUE line = rb_profile_frame_first_lineno(question->frame);
    bool ruby = FIXNUM_P(line);
    VALUE path = ruby ? rb_profile_frame_absolute_path(question->frame) : Qnil;
    path = ruby && NIL_P(path) ? rb_profile_frame_path(question->frame) : path;
    naming->label = copy_text(label);
    naming->path = copy_text(path);
    naming->line = ruby && FIX2LONG(line) > 0 ? (uint32_t)FIX2LONG(line) : 0;
    naming->flags = ruby ? 0 : (uint32_t)FRAME_C;
    RB_GC_GUARD(label);
    RB_GC_GUARD(path);
    return Qnil;
}

bool
stacks_frame_name(uintptr_t key, struct frame_naming *naming)
{
    struct question question = {(VALUE)key, naming};
    int failed = 0;
    *naming = (struct frame_naming){0};
    rb_protect(ask, (VALUE)&question, &failed);
    if (failed) {
        rb_set_errinfo(Qnil);
    }
    if (failed || !naming->label || !naming->path) {
        free(naming->label);
        free(naming->path);
        return false;
    }
    blocks_find((VALUE)key, naming);
    return true;
}
