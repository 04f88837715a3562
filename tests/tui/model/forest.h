/*
 * A model with one class, "Order", trees for it, and rows as text. Linked by the
 * tests of tree.c and paths.c.
 */
#ifndef TESTS_TUI_MODEL_FOREST_H
#define TESTS_TUI_MODEL_FOREST_H

#include "tui/model/model.h"
#include "tui/model/paths.h"

#define ORDER 7u
#define SECOND UINT64_C(1000000)

// A model that knows "Order" and had a sample at second 100.
struct model *forest_model(uint64_t live);

// Give a frame its name.
bool forest_frame(struct model *model, uint32_t id, const char *label, const char *path,
                  uint32_t flags);

// Apply a tree message for Order at a second, fields as they are given.
bool forest_tree(struct model *model, uint64_t second, struct tree tree);

// A shop, its tree at second 100:
//   spawn (puma) > call (rack) > OrdersApp#create > Cache#fetch 80 > Hash#fetch (C) 20
//                                OrdersApp#show > JSON.parse (standard library) 25
//                                JSON.parse 1
//   <main> > Cache#fetch 14
//   (before tracing) 10
struct model *forest_shop(void);
#define SHOP_LIVE 150u

// The rows as text, one a line; the caller frees it.
char *forest_rows(const struct paths *paths);

#endif
