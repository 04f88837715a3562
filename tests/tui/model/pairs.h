/*
 * Two models to compare, made of few words. Linked by the tests of diff.c, rule.c and
 * of what exports them.
 */
#ifndef TESTS_TUI_MODEL_PAIRS_H
#define TESTS_TUI_MODEL_PAIRS_H

#include "tui/model/model.h"
#include "tui/model/tree.h"

#define SECOND UINT64_C(1000000)

struct pairs_class {
    const char *name; // NULL: it never came
    class_id id;
    uint32_t flags;
    uint64_t live;
    uint64_t bytes;
};

// A model of the process `pid` that had a sample at a second, in which every class had
// allocated twice what lives. Totals are the sums. NULL when memory ran out.
struct model *pairs_model(uint64_t pid, uint64_t second,
                          const struct pairs_class *classes, size_t count);

// Give a frame its name and the first line of its method.
bool pairs_frame(struct model *model, uint32_t id, const char *label, const char *path,
                 uint64_t line);

// Apply a key tree of a class, fields as they are given.
bool pairs_tree(struct model *model, class_id id, struct tree tree);

// A site of so many objects, of 40 bytes each.
struct tree_site pairs_site(uint32_t node, uint32_t shift, uint64_t live);

// Numbers that are the same in every run; below a bound.
uint64_t pairs_random(uint64_t *state, uint64_t below);

// Orders of a shop, 100 before, and 600 after. Frames: <main> of /srv/shop/server.rb,
// Rack::Stack#call of a gem, OrdersApp#create and Cache#fetch of /srv/shop/app.
//   <main>:5 > call:30 > create:22 > fetch:9   60 before, 540 after
//                        create:25             30 before, 10 after
//   <main>:7                                    -         40 after
//   (before tracing)                           10 before, 10 after
// `moved`: another process, in which lines of /srv/shop/app are so much further down.
#define PAIRS_ORDER 7u
struct model *pairs_shop_before(void);
struct model *pairs_shop_after(uint32_t moved);

#endif
