/*
 * What a probe that takes stacks says: the shop's call tree, and what is thought of
 * its class. The messages borrow from each other's memory: send one, then make another.
 */
#ifndef TESTS_SUPPORT_TRACED_H
#define TESTS_SUPPORT_TRACED_H

#include "protocol/message.h"

#define TRACED_LIVE 100u // objects that have paths from the start, all others have none

enum traced_kind {
    TRACED_EXACT,
    TRACED_SAMPLED,  // a stack of eight, of what <main> allocates
    TRACED_HOSTILE,  // names and paths no terminal should see
    TRACED_READONLY, // nothing but what is older than tracing, which never began
};

struct message traced_frames(enum traced_kind kind);

// The tree of a class of `live` objects, of which `before` are older than tracing:
//   <main> 70 > block in Cart#add, all the rest
struct message traced_tree(enum traced_kind kind, class_id id, uint64_t live,
                           uint64_t before, uint64_t since_us);

// The class is a leak, and its objects are old; the class before it is steady.
struct message traced_verdicts(class_id id, uint64_t live);

#endif
