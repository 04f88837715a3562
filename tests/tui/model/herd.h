/*
 * A fleet for tests: a master and its workers, which say what a test has them say.
 */
#ifndef TESTS_TUI_MODEL_HERD_H
#define TESTS_TUI_MODEL_HERD_H

#include "tui/model/fleet.h"

#define HERD_CLASSES 4u // String, Array, Order, (iseq)

struct herd {
    struct fleet fleet;
    uint64_t now_ms;
};

void herd_start(struct herd *herd);
void herd_stop(struct herd *herd);

// A process that has said hello and is live.
struct peer *herd_add(struct herd *herd, uint64_t pid, uint64_t parent,
                      const char *command);

// A sample of it: so many of each class, and so much memory.
void herd_sample(struct herd *herd, struct peer *peer, const uint64_t live[HERD_CLASSES],
                 uint64_t rss_bytes);

// A sample of mode dormant.
void herd_sleep(struct herd *herd, struct peer *peer);

// What its probe thinks of Order.
void herd_judge(struct herd *herd, struct peer *peer, enum verdict verdict);

// Puma's master 4101, and workers 4120, 4121 and 4177, of which the first grows for
// `seconds`.
void herd_puma(struct herd *herd, unsigned seconds);

#endif
