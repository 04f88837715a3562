/*
 * Ractors: Ruby's allocation hooks see one Ractor only, and on Ruby 3.1 starting
 * one under such a hook crashes Ruby (its bug 18464). So the first Ractor.new
 * ends the counting, before the Ractor exists.
 */
#ifndef PROBE_RUBY_RACTORS_H
#define PROBE_RUBY_RACTORS_H

#include <stdbool.h>

// context: gvl. Call `first` right before the program starts its first Ractor;
// at once when it already has.
void ractors_watch(void (*first)(void));

// context: gvl. True while this is the only Ractor.
bool ractors_alone(void);

#endif
