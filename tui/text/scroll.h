/*
 * What a program writes to its terminal, as lines of text: the newest, up to a bound.
 *
 * The program is not trusted with our terminal. Control sequences (colours, the cursor,
 * titles, whatever) are taken out as it writes, wherever its bytes are split; what is
 * left may still hold characters that must be escaped to be shown (text.h). A carriage
 * return begins the line anew, as progress bars want it. Lines longer than
 * SCROLL_LINE_MAX are broken.
 */
#ifndef TUI_TEXT_SCROLL_H
#define TUI_TEXT_SCROLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCROLL_LINE_MAX 4096u

struct scroll;

// Keeps about `bytes_max`. NULL when memory ran out.
struct scroll *scroll_new(size_t bytes_max);
void scroll_free(struct scroll *scroll);

// False when memory ran out: some lines are then missing.
bool scroll_feed(struct scroll *scroll, const char *bytes, size_t length);

// Lines are numbered from the program's first, 0, on. Those before scroll_first() are
// forgotten. The last may still be unfinished.
uint64_t scroll_first(const struct scroll *scroll);
uint64_t scroll_end(const struct scroll *scroll); // one after the last

// A line, terminated, at most SCROLL_LINE_MAX bytes; "" when it is not there. Borrowed
// until the next scroll_feed().
const char *scroll_line(const struct scroll *scroll, uint64_t number);

#endif
