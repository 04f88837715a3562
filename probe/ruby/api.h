/*
 * What the classes of the Ruby API ask of the probe: the methods of Memtop::Native,
 * which is private. What they mean to people is told in probe/ruby/lib/memtop/.
 *
 * Counting is held (probe_hold()) from the first Native.begin to the last Native.end.
 */
#ifndef PROBE_RUBY_API_H
#define PROBE_RUBY_API_H

#include <ruby.h>

#include "probe/core/probe.h"

// context: gvl. Once. `hold` is probe_hold() with settings and runtime filled in.
void api_init(struct probe *probe, bool (*hold)(char *why, size_t why_size));

// context: gvl. Nothing can be counted from now on: the program ends, or starts a
// Ractor. Captures keep the figures they have.
void api_counting_ends(void);

// context: gvl. The row of a class, made if need be. Raises TypeError for what is no
// class; FOLLOW_ALL_CLASSES for nil.
uint32_t api_class_index(struct probe *of, VALUE class);

// context: gvl, while collections are held. The class in a row: a String with its name
// when it is dead or internal, nil when it is `internal` and those are not wanted.
VALUE api_class_in(const struct probe *of, uint32_t class_index);

// context: gvl. Spans from two Ruby integers; `to` may be nil: up to now.
struct follow_spans api_spans(VALUE from, VALUE to);

// context: gvl. The part about paths (api_paths.c) and about listening (api_events.c).
void api_paths_init(VALUE native, struct probe *probe);
void api_events_init(VALUE native, struct probe *probe);

// context: gvl. Nobody listens any more.
void api_events_end(void);

#endif
