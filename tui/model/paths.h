/*
 * A call tree as rows: unfolded as far as somebody unfolded it, seen from the
 * callers or from the allocating lines, or flat; ordered, filtered, shortened.
 *
 * Rows of one projection are made when they are unfolded, never all of the tree:
 * a million nodes cost one pass to sum, not a million rows. What is open stays
 * open when counts change: a row is known by the path of (frame, line) from the
 * top row to it.
 */
#ifndef TUI_MODEL_PATHS_H
#define TUI_MODEL_PATHS_H

#include "tui/model/tree.h"

enum paths_shape {
    PATHS_CALLERS, // from the root of the stack down to the allocating line
    PATHS_LINES,   // the allocating lines first, their callers below
    PATHS_FLAT,    // every (frame, line) once: own objects, and those below it
};

enum paths_order {
    PATHS_BY_LIVE,
    PATHS_BY_DELTA,
    PATHS_BY_RATE,
    PATHS_BY_BYTES,
    PATHS_BY_ALLOCATED,
    PATHS_BY_AGE, // share of objects that survived 8 collections or more
    PATHS_BY_LABEL,
    PATHS_ORDERS,
};

enum paths_row_kind {
    PATHS_ROW_NODE,
    PATHS_ROW_FOLDED, // frames of gems and the standard library, or a chain without
                      // branches, folded into one row: `frames` of them in `label`
    PATHS_ROW_REST,   // siblings below the threshold: `frames` of them
};

struct paths_row {
    enum paths_row_kind kind;
    uint32_t node;      // a node that stands for the row: its frame and line are shown
    uint32_t depth;     // of unfolding; 0 is the top row
    uint32_t frames;    // that the row stands for, 1 for a plain node
    uint32_t recursion; // how often this frame is above itself on the path already
    bool foldable;      // there is something below
    bool open;          // and it is shown
    bool last;          // of its siblings: the branch drawn is └
    bool matched;       // by the filter itself, not only kept for what is below
    struct tree_counts total;
    struct tree_counts self;
    double delta;
    double delta_bytes;
    double live_per_second;
    double allocated_per_second;
    double of_parent; // share of live, 0 to 1
    double of_class;
};

struct paths {
    enum paths_shape shape;
    enum paths_order order;
    bool inverted;
    bool own_only;    // gems and standard library folded, by their paths
    double threshold; // share of the class below which siblings become PATHS_ROW_REST
    char filter[256]; // part of a label or path, any case; "" for none

    struct paths_row *rows; // owned; what is shown, in order
    size_t count;
    size_t capacity;
    uint64_t version;              // of the tree when rows were made
    bool stale;                    // something above was set by hand
    struct paths_open *open;       // owned: what is unfolded, see paths.c
    const struct tree_model *tree; // borrowed, as of the last paths_update()
};

// Callers first, by live, the first branching levels of the largest path unfolded
// down to its allocating line, so that the culprit is on the first screen.
void paths_init(struct paths *paths);
void paths_destroy(struct paths *paths);

// Bring the rows up to date; does nothing when nothing changed. False when memory
// ran out: rows are then those that could be made.
bool paths_update(struct paths *paths, const struct tree_model *tree);

// The tree is about to go, or another class's comes: `keep` what is unfolded.
void paths_forget(struct paths *paths, bool keep);

// Something that decides what is shown was set by hand.
void paths_renew(struct paths *paths);

// Fold or unfold a row; everything below it as well with `deep`. False when there
// was nothing to do.
bool paths_fold(struct paths *paths, size_t row, bool open, bool deep);

// Show all levels above `depth` and none below; 0 folds all, UINT32_MAX unfolds
// all, as far as PATHS_ROWS_MAX goes.
#define PATHS_ROWS_MAX 200000u
void paths_fold_level(struct paths *paths, uint32_t depth);

// The row that the row hangs under; itself for a top row.
size_t paths_parent(const struct paths *paths, size_t row);

// The row of before, by its path, after rows changed; SIZE_MAX when it is not there.
// A key is never 0.
uint64_t paths_key(const struct paths *paths, size_t row);
size_t paths_find(const struct paths *paths, uint64_t key);

// The line of a row without its figures: "block in Cart#add", "… 14 frames in puma,
// rack, sinatra", "… 12 more paths".
void paths_label(const struct paths *paths, size_t row, char *label, size_t size);

// Where it is, short enough for people: "demo/app.rb:22", "puma/thread_pool.rb:106".
void paths_place(const struct paths *paths, size_t row, char *place, size_t size);

// Whether a path belongs to the program itself, not to a gem, the standard library
// or Ruby; and what to call where it belongs: "puma", "stdlib", "ruby", "C".
bool paths_is_own(const char *path);
void paths_owner(const struct tree_frame *frame, char *owner, size_t size);

#endif
