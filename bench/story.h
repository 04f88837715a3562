/*
 * A program that never ran: its classes, and how they change from second to second, the
 * same for a seed on every machine. Its messages are what a probe would send.
 *
 *     story_begin(&story, 2000, 200, seed);
 *     for (…) {
 *         struct message sample = story_step(&story);
 *         struct state state = story_state(&story);   // what was known before it
 *         writer_add(writer, &sample, &state);
 *         story_learn(&story);
 *     }
 */
#ifndef BENCH_STORY_H
#define BENCH_STORY_H

#include "tui/record/group.h"

struct story {
    size_t classes;
    size_t changing; // about so many each second
    uint64_t random;
    struct stamp at;
    struct process_state process;
    struct totals totals;
    struct class_row *rows;   // owned
    struct class_row *known;  // owned: before the last step
    struct class_row *delta;  // owned
    struct class_name *names; // owned
    char (*spelled)[64];      // owned
    size_t delta_count;
    bool begun;           // the first sample was made
    bool learned;         // and is known
    struct sample before; // headers of `known`
    struct stamp before_at;
};

// Memory that runs out ends the program: nobody needs a story then.
void story_begin(struct story *story, size_t classes, size_t changing, uint64_t seed);
void story_end(struct story *story);

struct message story_hello(const struct story *story);
struct message story_names(const struct story *story);

// A second goes by: what a sample says of it. The first is a key.
struct message story_step(struct story *story);

// What a recorder knows that was told all messages up to story_learn().
struct state story_state(struct story *story);
void story_learn(struct story *story);

#endif
