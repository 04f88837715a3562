/*
 * A call path as one line of text, for lists of paths: call trees and compared ones are
 * walked alike.
 */
#ifndef TUI_VIEW_PATH_TEXT_H
#define TUI_VIEW_PATH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/view/scene.h"

#define PATH_TEXT_BYTES 512

// How to walk from a node to the root, which is 0.
struct path_steps {
    const void *tree;
    uint32_t (*parent)(const void *tree, uint32_t node);
    const struct tree_frame *(*frame)(const void *tree, uint32_t node);
    uint32_t (*line)(const void *tree, uint32_t node);
    void (*label)(const void *tree, uint32_t node, char *label, size_t size);
};

struct tree_model;
struct path_steps path_steps_of(const struct tree_model *tree);

// "… ▸ OrdersApp#create ▸ Cache#fetch demo/cache.rb:17 ▸ Class#new": as much of the path
// as fits into so many cells, from its end.
void path_text(const struct path_steps *steps, uint32_t node, const struct scene *scene,
               int cells, char out[PATH_TEXT_BYTES]);

// Whether a label or a place of the path has a text in it, any case.
bool path_has(const struct path_steps *steps, uint32_t node, const char *text);

// The node's place in a file, or that of the nearest caller that has one; false when
// there is none. `title` is the file as people call it.
bool path_place(const struct path_steps *steps, uint32_t node, const char **file,
                const char **title, uint32_t *line);

#endif
