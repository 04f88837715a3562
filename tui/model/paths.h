/*
 * A call tree as rows: unfolded as far as somebody unfolded it, seen from the
 * callers or from the allocating lines, or flat; ordered, filtered, shortened.
 *
 * Row 0 is the class itself, whatever the shape; everything else hangs under it.
 * Rows are made when they are unfolded, never all of the tree: a million nodes cost
 * one pass to sum, not a million rows. What is open stays open when counts change,
 * and over a new connection: a row is known by the path of (label, path, line) from
 * the top row to it. Siblings equal in these are one row: to a person, code that was
 * loaded again is the same code.
 *
 * Bottom-up a row counts the objects that its top row allocated and that came this
 * way, so that recursion counts nothing twice. Flat, a place has everything below
 * its topmost occurrences.
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
    PATHS_ROW_FOLDED, // frames of gems, the standard library and Ruby on the way to
                      // the program's own code: below it come that code, and the
                      // lines in those frames that allocate
    PATHS_ROW_REST,   // siblings below the threshold: unfolded they are below it
};

struct paths_row {
    enum paths_row_kind kind;
    uint32_t node;      // a node that stands for the row: its frame and line are shown
    uint32_t depth;     // of unfolding; 0 is the top row
    uint32_t frames;    // that a folded row stands for, siblings of a rest; else 1
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

// Work done so far, for those who want it to stay little.
struct paths_work {
    uint64_t builds;     // times that rows were made
    uint64_t candidates; // nodes looked at for rows below an open one
    uint64_t folded;     // nodes looked at within folded rows
    uint64_t matched;    // places that a filter looked at
};

struct paths {
    enum paths_shape shape;
    enum paths_order order;
    bool inverted;
    bool own_only;    // gems and standard library folded, by their paths. Bottom-up the
                      // first line of the program's own stands for what it allocates
                      // through them; flat they are one row
    bool held;        // rows shown keep their order, new ones come below their
                      // siblings: while somebody moves the cursor
    double threshold; // share of the class's live below which siblings that did not
                      // change by as much become PATHS_ROW_REST; by bytes or by
                      // allocated when they are the order
    char filter[256]; // part of a label or path, any case; "" for none

    struct paths_row *rows; // owned; what is shown, in order
    size_t count;
    size_t capacity;
    bool cut;                      // PATHS_ROWS_MAX or PATHS_WORK_MAX were reached:
                                   // not all that is open is shown
    uint64_t version;              // of the tree when rows were made
    bool stale;                    // something above was set by hand
    struct paths_state *state;     // owned: what is unfolded, see paths_state.h
    const struct tree_model *tree; // borrowed, as of the last paths_update()
    struct paths_work work;
};

// Callers first, by live, own code only, what is below 0.1 % in one row. Until
// somebody folds or unfolds, the largest path is open down to its allocating line, so
// that the culprit is on the first screen; it changes when another one is clearly
// larger, and not while `held`.
void paths_init(struct paths *paths);
void paths_destroy(struct paths *paths);

// Bring the rows up to date; does nothing when nothing changed. False when memory
// ran out: rows are then those that could be made.
bool paths_update(struct paths *paths, const struct tree_model *tree);

// The tree is about to go: rows go with it. `keep` what is unfolded for when it comes
// again; another class's tree starts as after paths_init().
void paths_forget(struct paths *paths, bool keep);

// Something that decides what is shown was set by hand, `held` included.
void paths_renew(struct paths *paths);

// Fold or unfold a row; everything below it as well with `deep`. False when there
// was nothing to do.
bool paths_fold(struct paths *paths, size_t row, bool open, bool deep);

// Show all levels above `depth` and none below; 0 folds all, UINT32_MAX unfolds
// all, as far as PATHS_ROWS_MAX goes, and as looking at PATHS_WORK_MAX nodes does.
#define PATHS_ROWS_MAX 200000u
#define PATHS_WORK_MAX 8000000u
void paths_fold_level(struct paths *paths, uint32_t depth);

// The row that the row hangs under; itself for a top row.
size_t paths_parent(const struct paths *paths, size_t row);

// The row of before, by its path, after rows changed; SIZE_MAX when it is not there.
// A key is never 0. One from before a frame got its name is still found once.
uint64_t paths_key(const struct paths *paths, size_t row);
size_t paths_find(const struct paths *paths, uint64_t key);

// The line of a row without its figures: "block in Cart#add", "… 14 frames in puma,
// rack, sinatra", "… 12 more paths"; the class's name for row 0.
void paths_label(const struct paths *paths, size_t row, char *label, size_t size);

// Where it is, short enough for people: "demo/app.rb:22", "puma/thread_pool.rb:106".
void paths_place(const struct paths *paths, size_t row, char *place, size_t size);

// A file's path as short as there: "demo/app.rb". Borrowed from `path`.
const char *paths_file(const struct paths *paths, const char *path);

// Whether a path belongs to the program itself, not to a gem, the standard library
// or Ruby; and what to call where it belongs: "puma", "stdlib", "ruby", "C".
bool paths_is_own(const char *path);
void paths_owner(const struct tree_frame *frame, char *owner, size_t size);

#endif
