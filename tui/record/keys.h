/*
 * The key groups of a tape, oldest first. Internal to tui/record/.
 */
#ifndef TUI_RECORD_KEYS_H
#define TUI_RECORD_KEYS_H

#include "tui/record/tape.h"

// More than seven years of minutes; of a longer recording the rest is not listed.
#define KEYS_MAX 4194304u

struct keys {
    struct tape_key *list; // owned
    size_t count;
    size_t room;
};

void keys_destroy(struct keys *keys);

// False when memory ran out.
bool keys_add(struct keys *keys, const struct tape_key *key);

void keys_reverse(struct keys *keys);
void keys_drop_before(struct keys *keys, uint64_t offset);
void keys_shift(struct keys *keys, uint64_t by); // their offsets grow

// What a KEY begin at `offset` says.
struct tape_key key_of(const struct message *begin, uint64_t offset);

// The key with this ordinal and the same stamps; NULL when there is none.
const struct tape_key *keys_same(const struct keys *keys, const struct tape_key *key);

#endif
