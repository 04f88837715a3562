/*
 * Is a process still there?
 *
 * The happy path: /proc says its state. A process that has ended and was not
 * yet waited for counts as gone.
 *
 * What can go wrong: no /proc (the signal 0 answers then, zombies count as
 * alive), or the pid was given to another process meanwhile (it counts as
 * alive: nobody can tell).
 */
#ifndef TUI_LOOP_PROCESS_H
#define TUI_LOOP_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

bool process_alive(long pid);

// Its parent; 0 when it cannot be told.
long process_parent(long pid);

// Wall time at which it began; 0 when it cannot be told.
uint64_t process_began_us(long pid);

#endif
