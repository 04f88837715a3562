#include "tui/export/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <jansson.h>

#include "tui/export/values.h"
#include "tui/export/words.h"
#include "tui/model/paths.h"

#define DEPTH_MAX 60 // deeper rows are indented no further

/* Text. */

static void
write_head(const struct model *model, const struct model_class *class,
           const struct tree_model *tree, FILE *out)
{
    const struct tree *header = tree_header(tree);
    char spare[32];
    char now[WORDS_TIME_BYTES];
    char live[WORDS_NUMBER_BYTES];
    char depth[WORDS_NUMBER_BYTES];
    words_time(now, model_time(model).wall_us);
    fprintf(out, "time     %s\n", now);
    fprintf(out, "class    %s, live %s\n", words_class(class, spare, sizeof(spare)),
            words_number(live, header->live));
    if (header->since_us == COUNT_UNKNOWN) {
        fprintf(out, "stacks   none were taken yet\n");
    } else {
        words_time(now, header->since_us);
        fprintf(out, "stacks   since %s, %s, depth %s%s\n", now,
                tree_exact(tree) ? "exact" : "sampled: live is an estimate, +- 95 %",
                words_number(depth, header->depth),
                header->flags & TREE_FULL ? "; room for paths is used up" : "");
    }
    if (header->shift > 0) {
        fprintf(out, "rate     one stack of %llu is taken now\n",
                1ULL << (header->shift < 63 ? header->shift : 63));
    }
    fprintf(out, "\n%12s %8s %8s %12s  %s\n", "LIVE", "+-", "SHARE", "BYTES", "PATH");
}

static void
write_row(const struct paths *paths, size_t index, FILE *out)
{
    const struct paths_row *row = &paths->rows[index];
    char label[WORDS_LABEL_BYTES];
    char place[WORDS_LABEL_BYTES];
    char bytes[32] = "-";
    int depth = row->depth < DEPTH_MAX ? (int)row->depth : DEPTH_MAX;
    paths_label(paths, index, label, sizeof(label));
    paths_place(paths, index, place, sizeof(place));
    words_cut(label, sizeof(label));
    words_cut(place, sizeof(place));
    if (!isnan(row->total.bytes)) {
        snprintf(bytes, sizeof(bytes), "%.0f", row->total.bytes);
    }
    fprintf(out, "%12.0f %8.0f %6.1f %% %12s  %*s%s%s%s\n", row->total.live,
            ceil(row->total.error), 100 * row->of_class, bytes, 2 * depth, "", label,
            *place ? "  " : "", place);
}

bool
tree_write_text(const struct model *model, const struct model_class *class,
                const struct tree_model *tree, FILE *out)
{
    struct paths paths;
    paths_init(&paths);
    paths.own_only = false;
    paths_fold_level(&paths, UINT32_MAX);
    bool good = paths_update(&paths, tree);
    if (good) {
        write_head(model, class, tree, out);
        for (size_t i = 0; i < paths.count; i++) {
            write_row(&paths, i, out);
        }
        if (paths.cut) {
            fprintf(out, "… not all rows are shown: --json has them\n");
        }
    }
    paths_destroy(&paths);
    errno = good ? errno : ENOMEM;
    return good && fflush(out) == 0 && !ferror(out);
}

/* JSON. */

static json_t *
node_of(const struct tree_model *tree, uint32_t node)
{
    const struct tree_frame *frame = tree_frame(tree, node);
    struct tree_counts total = tree_total(tree, node);
    struct tree_counts self = tree_self(tree, node);
    uint32_t parent = tree_parent(tree, node);
    char label[WORDS_LABEL_BYTES];
    words_label(label, tree, node);
    return json_pack(
        "{sI sI ss ss? so so so so so so sf}", "id", (json_int_t)tree_node_id(tree, node),
        "parent", (json_int_t)tree_node_id(tree, parent), "label", label, "path",
        frame->path[0] != '\0' ? frame->path : NULL, "line",
        tree_line(tree, node) > 0 ? json_integer(tree_line(tree, node)) : json_null(),
        "live", value_whole(total.live), "allocated", value_whole(total.allocated),
        "self_live", value_whole(self.live), "self_allocated",
        value_whole(self.allocated), "bytes", value_whole(total.bytes), "error",
        ceil(total.error * 10) / 10);
}

static json_t *
nodes_of(const struct tree_model *tree)
{
    json_t *array = json_array();
    uint32_t count = tree_node_count(tree);
    for (uint32_t node = 1; array && node < count; node++) {
        if (json_array_append_new(array, node_of(tree, node)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

// Objects whose stacks were taken, of those that live.
static json_t *
traced(const struct tree_model *tree)
{
    double before = 0;
    uint32_t node = tree_first_child(tree, 0);
    for (; node != TREE_NONE; node = tree_next_sibling(tree, node)) {
        before += tree_frame(tree, node)->id == FRAME_BEFORE_TRACING
                      ? tree_total(tree, node).live
                      : 0;
    }
    uint64_t unsampled = tree_header(tree)->unsampled_live;
    double live = tree_total(tree, 0).live - before -
                  (unsampled != COUNT_UNKNOWN ? (double)unsampled : 0);
    return value_whole(live > 0 ? live : 0);
}

bool
tree_write_json(const struct model_class *class, const struct tree_model *tree, FILE *out)
{
    char spare[32];
    const struct tree *header = tree_header(tree);
    json_t *document = json_pack(
        "{ss so so sb sI so}", "class", words_class(class, spare, sizeof(spare)), "live",
        value_count(header->live), "traced", traced(tree), "exact", tree_exact(tree),
        "sampled_one_of", (json_int_t)(1LL << (header->shift < 62 ? header->shift : 62)),
        "nodes", nodes_of(tree));
    return value_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(12), out) &&
           fflush(out) == 0;
}
