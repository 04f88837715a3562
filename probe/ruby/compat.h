/*
 * What Ruby does not declare in its public headers, or not in every version.
 * Each is tested for when the extension is configured; nothing is guessed.
 */
#ifndef PROBE_RUBY_COMPAT_H
#define PROBE_RUBY_COMPAT_H

#include <stdbool.h>
#include <stddef.h>

#include <ruby.h>

// context: gvl. Size of an object in memory; 0 where Ruby does not tell.
size_t compat_memsize(VALUE object);

// context: gvl. Walk the heap's pages: `visit` returns non-zero to stop. Any
// collection under way is finished first.
void compat_each_page(int (*visit)(void *start, void *end, size_t stride, void *context),
                      void *context);

// context: gvl. Whether a value is a piece of code (an instruction sequence).
bool compat_is_code(VALUE value);

// context: gvl. The first and the last line of a piece of code; 0 where Ruby does
// not tell.
void compat_code_lines(VALUE code, int *first, int *last);

// context: gvl, no collection under way. What an object refers to, internal objects
// included; nothing where Ruby does not tell.
void compat_each_reference(VALUE object, void (*visit)(VALUE value, void *context),
                           void *context);

// context: any. An internal object's subtype.
static inline unsigned
compat_imemo_type(VALUE object)
{
    return (unsigned)(RBASIC(object)->flags >> RUBY_FL_USHIFT) & 0xf;
}

// context: gvl. "iseq", "ment" and so on; NULL where Ruby does not tell.
const char *compat_imemo_name(unsigned type);

// context: gvl. Once, before compat_run_soon(): what it is to run.
void compat_prepare_job(void (*job)(void *context));

// context: any, a thread unknown to Ruby or a fork handler included. Run the job
// in a Ruby thread, when one next looks for interrupts.
void compat_run_soon(void);

#endif
