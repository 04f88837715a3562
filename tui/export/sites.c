#include "tui/export/sites.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/words.h"
#include "tui/model/paths.h"

#define LABEL_BYTES 4096
#define NUMBER_BYTES 32
#define OWNER_BYTES 64
#define OWNERS_MAX 4
#define DEPTH_MAX 60 // deeper rows are indented no further
#define NO_ROW UINT32_MAX

// A node that leads to a site that is shown.
struct row {
    uint32_t node;
    uint32_t parent;      // row, NO_ROW for the root
    uint32_t first_child; // NO_ROW for none
    uint32_t next_sibling;
    uint32_t children;
    uint32_t depth; // of what is shown
    double size;    // of what changed in it and below
    bool site;
};

struct rows {
    const struct diff_paths *paths;
    struct row *list; // owned; the smallest change first, the root last
    uint32_t count;
    uint32_t *of; // owned, by node: its row, or NO_ROW
};

// An unknown change may be any.
static bool
chosen(const struct diff_site *site, struct sites_choice choice)
{
    return site->change != 0 && !(choice.grown && site->change < 0);
}

// Sites that would be shown if there were room.
static size_t
count_chosen(const struct diff_paths *paths, struct sites_choice choice)
{
    size_t count = 0;
    for (uint32_t i = 0; i < paths->site_count; i++) {
        count += chosen(&paths->sites[i], choice);
    }
    return count;
}

static size_t
count_shown(const struct diff_paths *paths, struct sites_choice choice)
{
    size_t count = count_chosen(paths, choice);
    return choice.top == 0 || count < choice.top ? count : choice.top;
}

/* Rows. */

static int
by_size(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;
    if ((a->node == 0) != (b->node == 0)) {
        return a->node == 0 ? 1 : -1;
    }
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return (a->node < b->node) - (a->node > b->node);
}

static void
add_row(struct rows *rows, uint32_t node)
{
    struct diff_pair total = diff_paths_total(rows->paths, node);
    rows->of[node] = rows->count;
    rows->list[rows->count++] = (struct row){
        .node = node,
        .parent = NO_ROW,
        .first_child = NO_ROW,
        .next_sibling = NO_ROW,
        .size = diff_paths_size(rows->paths, &total),
    };
}

// The sites and everything above them. There is room: a row is a node.
static void
add_rows(struct rows *rows, struct sites_choice choice)
{
    const struct diff_paths *paths = rows->paths;
    size_t left = count_shown(paths, choice);
    add_row(rows, 0);
    for (size_t i = 0; left > 0; i++) {
        uint32_t node = paths->sites[i].node;
        if (!chosen(&paths->sites[i], choice)) {
            continue;
        }
        left--;
        for (uint32_t at = node; rows->of[at] == NO_ROW; at = paths->nodes[at].parent) {
            add_row(rows, at);
        }
        rows->list[rows->of[node]].site = true;
    }
}

// Hang each row under its caller, so that the largest comes first.
static void
link_rows(struct rows *rows)
{
    qsort(rows->list, rows->count, sizeof *rows->list, by_size);
    for (uint32_t i = 0; i < rows->count; i++) {
        rows->of[rows->list[i].node] = i;
    }
    for (uint32_t i = 0; i + 1 < rows->count; i++) {
        struct row *row = &rows->list[i];
        row->parent = rows->of[rows->paths->nodes[row->node].parent];
        struct row *above = &rows->list[row->parent];
        row->next_sibling = above->first_child;
        above->first_child = i;
        above->children++;
    }
}

static bool
make_rows(struct rows *rows, struct sites_choice choice)
{
    uint32_t nodes = rows->paths->node_count;
    rows->of = malloc(nodes * sizeof *rows->of);
    rows->list = malloc(nodes * sizeof *rows->list);
    if (rows->of == NULL || rows->list == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < nodes; i++) {
        rows->of[i] = NO_ROW;
    }
    add_rows(rows, choice);
    link_rows(rows);
    return true;
}

/* Folding. */

// A function in C is whose code called it.
static bool
is_own(const struct diff_paths *paths, uint32_t node)
{
    const struct tree_frame *frame = diff_paths_frame(paths, node);
    while (node != 0 && frame->id >= FRAME_FIRST && frame->label[0] != '\0' &&
           frame->path[0] == '\0') {
        node = paths->nodes[node].parent;
        frame = diff_paths_frame(paths, node);
    }
    return frame->id < FRAME_FIRST || frame->label[0] == '\0' ||
           paths_is_own(frame->path);
}

static bool
folds(const struct rows *rows, uint32_t at)
{
    const struct row *row = &rows->list[at];
    return row->node != 0 && !row->site && row->children == 1 &&
           !is_own(rows->paths, row->node);
}

// The row that a run of folded ones from here ends with, and how many they are.
static uint32_t
folded_to(const struct rows *rows, uint32_t at, uint32_t *frames)
{
    *frames = 1;
    while (folds(rows, at) && folds(rows, rows->list[at].first_child)) {
        at = rows->list[at].first_child;
        *frames += 1;
    }
    return at;
}

// "puma, rack": each once, the first OWNERS_MAX of them.
static void
name_owners(const struct rows *rows, uint32_t at, uint32_t frames,
            char text[OWNERS_MAX * OWNER_BYTES])
{
    char owners[OWNERS_MAX][OWNER_BYTES];
    size_t count = 0;
    size_t length = 0;
    text[0] = '\0';
    for (; frames > 0 && count < OWNERS_MAX; frames--, at = rows->list[at].first_child) {
        paths_owner(diff_paths_frame(rows->paths, rows->list[at].node), owners[count],
                    OWNER_BYTES - 2);
        words_cut(owners[count], OWNER_BYTES - 2);
        size_t same = 0;
        while (strcmp(owners[same], owners[count]) != 0) {
            same++;
        }
        if (same == count && strcmp(owners[count], "C") != 0) {
            length += (size_t)sprintf(text + length, "%s%s", count > 0 ? ", " : "",
                                      owners[count]);
            count++;
        }
    }
}

/* Text. */

// "-" stands for what nobody knows.
static const char *
number(char out[NUMBER_BYTES], double value, const char *format)
{
    if (isnan(value)) {
        return "-";
    }
    snprintf(out, NUMBER_BYTES, format, value + 0.0); // no "-0"
    return out;
}

static void
write_figures(const struct diff_paths *paths, const struct diff_pair *pair, int indent,
              FILE *out)
{
    char texts[4][NUMBER_BYTES];
    double change = diff_paths_measured(paths, &pair->change);
    double error = ceil(diff_paths_error(paths, &pair->change));
    double before = diff_paths_measured(paths, &pair->before);
    double after = diff_paths_measured(paths, &pair->after);
    fprintf(out, "%*s%12s %8s %12s %12s  ", indent, "",
            number(texts[0], change, change != 0 ? "%+.0f" : "%.0f"),
            number(texts[1], error, "%.0f"), number(texts[2], before, "%.0f"),
            number(texts[3], after, "%.0f"));
}

static void
write_place(const struct diff_paths *paths, uint32_t node, FILE *out)
{
    char label[LABEL_BYTES];
    const struct tree_frame *frame = diff_paths_frame(paths, node);
    uint32_t line = diff_paths_line(paths, node);
    diff_paths_label(paths, node, label, sizeof label);
    words_cut(label, sizeof label);
    fputs(label, out);
    if (node == 0 || frame->path[0] == '\0') {
        return;
    }
    fprintf(out, "  %s", frame->path);
    if (line != 0) {
        fprintf(out, ":%" PRIu32, line);
    }
    if (diff_paths_moved(paths, node)) {
        fprintf(out, " (moved from line %" PRIu32 ")", paths->nodes[node].line_before);
    }
}

static void
write_row(const struct rows *rows, uint32_t at, uint32_t frames, int indent, FILE *out)
{
    const struct diff_paths *paths = rows->paths;
    uint32_t node = rows->list[at].node;
    struct diff_pair total = diff_paths_total(paths, node);
    write_figures(paths, &total, indent, out);
    uint32_t depth = rows->list[at].depth;
    fprintf(out, "%*s", 2 * (int)(depth < DEPTH_MAX ? depth : DEPTH_MAX), "");
    if (frames > 1) {
        char owners[OWNERS_MAX * OWNER_BYTES];
        name_owners(rows, at, frames, owners);
        fprintf(out, "… %" PRIu32 " frames%s%s", frames, *owners ? " in " : "", owners);
    } else {
        write_place(paths, node, out);
    }
    bool uncertain =
        total.kind != DIFF_UNCHANGED && total.kind != DIFF_UNTOLD && !total.significant;
    fprintf(out, "%s\n", uncertain ? "  (not significant)" : "");
}

// The row after one without children: a sibling of it or of what is above it.
static uint32_t
next_row(const struct rows *rows, uint32_t at)
{
    while (at != NO_ROW && rows->list[at].next_sibling == NO_ROW) {
        at = rows->list[at].parent;
    }
    return at != NO_ROW ? rows->list[at].next_sibling : NO_ROW;
}

static void
write_rows(const struct rows *rows, int indent, FILE *out)
{
    uint32_t at = rows->count - 1;
    while (at != NO_ROW) {
        uint32_t frames;
        uint32_t last = folded_to(rows, at, &frames);
        uint32_t below = rows->list[last].first_child;
        write_row(rows, at, frames, indent, out);
        for (uint32_t i = below; i != NO_ROW; i = rows->list[i].next_sibling) {
            rows->list[i].depth = rows->list[at].depth + 1;
        }
        at = below != NO_ROW ? below : next_row(rows, last);
    }
}

bool
sites_write(const struct diff_paths *paths, struct sites_choice choice, int indent,
            FILE *out)
{
    struct rows rows = {.paths = paths};
    if (paths->node_count == 0) {
        return true;
    }
    bool good = make_rows(&rows, choice);
    if (good) {
        bool bytes = paths->measure == DIFF_OF_BYTES;
        fprintf(out, "%*s%12s %8s %12s %12s  %s\n", indent, "",
                bytes ? "+-BYTES" : "CHANGE", "+-", "BEFORE", "AFTER", "PATH");
        write_rows(&rows, indent, out);
        size_t left_out = count_chosen(paths, choice) - count_shown(paths, choice);
        if (left_out > 0) {
            fprintf(out, "%*s%49s… %zu more\n", indent, "", "", left_out);
        }
    }
    free(rows.of);
    free(rows.list);
    return good;
}

/* JSON. */

json_t *
sites_number(double value)
{
    // NAN compares with nothing
    return fabs(value) < (double)INT64_MAX ? json_integer((json_int_t)llround(value))
                                           : json_null();
}

// One digit is all that an interval is worth.
static json_t *
error_of(double error)
{
    return isnan(error) ? json_null() : json_real(ceil(error * 10) / 10);
}

static json_t *
figures_of(const struct diff_figures *figures)
{
    return json_pack("{so so so so}", "live", sites_number(figures->live), "bytes",
                     sites_number(figures->bytes), "allocated",
                     sites_number(figures->allocated), "error", error_of(figures->error));
}

static json_t *
line_or_null(uint32_t line)
{
    return line > 0 ? json_integer(line) : json_null();
}

static json_t *
frame_of(const struct diff_paths *paths, uint32_t node)
{
    char label[LABEL_BYTES];
    const struct tree_frame *frame = diff_paths_frame(paths, node);
    diff_paths_label(paths, node, label, sizeof label);
    words_cut(label, sizeof label);
    return json_pack(
        "{ss ss? so so}", "label", label, "path",
        frame->path[0] != '\0' ? frame->path : NULL, "line",
        line_or_null(diff_paths_line(paths, node)), "moved_from",
        line_or_null(diff_paths_moved(paths, node) ? paths->nodes[node].line_before : 0));
}

// The root is the class, which is no frame.
static json_t *
stack_of(const struct diff_paths *paths, uint32_t node)
{
    json_t *stack = json_array();
    for (; node != 0 && json_array_size(stack) < SITES_FRAMES_MAX && stack != NULL;
         node = paths->nodes[node].parent) {
        if (json_array_append_new(stack, frame_of(paths, node)) != 0) {
            json_decref(stack);
            return NULL;
        }
    }
    // from the innermost frame outwards so far: appending is what costs little
    for (size_t i = 0, end = json_array_size(stack); i + 1 < end; i++, end--) {
        json_t *one = json_incref(json_array_get(stack, i));
        json_t *other = json_incref(json_array_get(stack, end - 1));
        json_array_set_new(stack, i, other);
        json_array_set_new(stack, end - 1, one);
    }
    return stack;
}

static json_t *
site_of(const struct diff_paths *paths, uint32_t node)
{
    struct diff_pair self = diff_paths_self(paths, node);
    return json_pack("{ss sb so so so so}", "kind", diff_kind_name(self.kind),
                     "significant", self.significant, "before", figures_of(&self.before),
                     "after", figures_of(&self.after), "change", figures_of(&self.change),
                     "stack", stack_of(paths, node));
}

json_t *
sites_json(const struct diff_paths *paths, struct sites_choice choice)
{
    size_t count = count_shown(paths, choice);
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && json_array_size(array) < count; i++) {
        if (chosen(&paths->sites[i], choice) &&
            json_array_append_new(array, site_of(paths, paths->sites[i].node)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return json_pack("{ss sb sb sb sb sI so}", "measure",
                     paths->measure == DIFF_OF_BYTES ? "bytes" : "objects",
                     "known_before", paths->known_before, "known_after",
                     paths->known_after, "cut", paths->cut, "exact", paths->exact,
                     "left_out", (json_int_t)(count_chosen(paths, choice) - count),
                     "sites", array);
}
