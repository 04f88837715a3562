/*
 * What a probe could say at random, the same each time for a seed: reconnects and
 * restarts, names that are hostile, missing, or the same for several classes, classes
 * that go, counts nobody knows, dormant and census modes, trees exact and sampled,
 * clocks that jitter and jump.
 */
#ifndef TESTS_TUI_MODEL_NOISE_H
#define TESTS_TUI_MODEL_NOISE_H

#include "protocol/message.h"

#define NOISE_LIST 40
#define NOISE_OPEN 3 // classes whose trees come after each sample

struct noise {
    uint64_t seed; // set by the test
    bool wild;     // set by the test: trees of any class come and stay behind as well
    bool quiet;    // set by the test: no class that is gone, no other connection
    uint64_t us;
    uint64_t started_us;
    uint64_t mode;
    int connection; // messages since the last one began
    int trees;      // of open classes, still to come for this sample
    uint32_t nodes;
    struct class_name names[NOISE_LIST];
    struct class_row rows[NOISE_LIST];
    class_id gone[NOISE_LIST];
    struct frame_name frames[NOISE_LIST];
    struct tree_node tree_nodes[NOISE_LIST];
    struct tree_site sites[NOISE_LIST];
    struct verdict_row verdicts[NOISE_LIST];
    struct tag_name tag_names[NOISE_LIST];
    struct tag_row tag_rows[NOISE_LIST];
    struct tag_class tag_classes[NOISE_LIST];
};

uint32_t noise_pick(struct noise *noise, uint32_t below);

// The next message, borrowed until the one after it.
struct message noise_next(struct noise *noise);

#endif
