#include "tests/tui/model/portrait.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/export/document.h"
#include "tui/export/tree.h"
#include "tui/model/tags.h"
#include "tui/model/tree.h"

// Exactly, and one word for all that is no number.
static void
real(FILE *out, const char *name, double value)
{
    if (isnan(value)) {
        fprintf(out, " %s -", name);
    } else {
        fprintf(out, " %s %a", name, value);
    }
}

static void
stamp(FILE *out, const char *name, struct stamp at)
{
    fprintf(out, "%s %" PRIu64 " %" PRIu64 "\n", name, at.monotonic_us, at.wall_us);
}

static void
numbers(FILE *out, const char *name, const uint64_t *values, size_t count)
{
    fprintf(out, "%s", name);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, " %" PRId64, (int64_t)values[i]);
    }
    fprintf(out, "\n");
}

static void
write_head(FILE *out, const struct model *model)
{
    const struct hello *hello = model_hello(model);
    const struct sample *sample = model_sample(model);
    const struct bye *bye = model_bye(model);
    fprintf(out, "hello %" PRIu64 " %" PRIu64 " %s %s %" PRIu64 "\n", hello->pid,
            hello->capabilities, hello->command.bytes, hello->runtime.bytes,
            hello->started_us);
    numbers(out, "process", &sample->process.rss_bytes, 7);
    numbers(out, "probe", &sample->probe.cost_ppm, 7);
    numbers(out, "totals", &sample->totals.live, 4);
    fprintf(out, "mode %" PRIu64 " sampled %d judged %d\n", sample->mode,
            model_sampled(model), model_judged(model));
    stamp(out, "time", model_time(model));
    stamp(out, "connected", model_connected(model));
    if (bye != NULL) {
        fprintf(out, "bye %" PRIu64 " %" PRIu64 " %s\n", bye->reason, bye->status,
                bye->text.bytes);
    }
    for (size_t i = 0; i < model_notice_count(model); i++) {
        const struct model_notice *notice = model_notice_at(model, i);
        fprintf(out, "notice %" PRIu64 " %" PRIu64 " %s ", notice->id, notice->severity,
                notice->text);
        stamp(out, "at", notice->at);
    }
}

static int
by_serial(const void *left, const void *right)
{
    const struct model_class *a = *(const struct model_class *const *)left;
    const struct model_class *b = *(const struct model_class *const *)right;
    return a->serial < b->serial ? -1 : 1;
}

static const struct model_class **
in_order(const struct model *model)
{
    size_t count = model_class_count(model);
    const struct model_class **classes = calloc(count + 1, sizeof *classes);
    assert_non_null(classes);
    for (size_t i = 0; i < count; i++) {
        classes[i] = model_class_at(model, i);
    }
    qsort(classes, count, sizeof *classes, by_serial);
    return classes;
}

static void
write_class(FILE *out, const struct model *model, const struct model_class *class,
            bool moving)
{
    bool found = model_class_find(model, class->id) == class;
    fprintf(out, "class %" PRIu32 " %s %" PRIx32 " %s gone %d listed %d\n", class->id,
            found ? "found" : "orphan", class->flags, class->name, class->gone,
            class->listed);
    numbers(out, "  now", &class->now.live, 4);
    fprintf(out, "  verdict %" PRIu64 " %s", class->verdict, class->reason);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        real(out, "age", class->ages[i]);
    }
    fprintf(out, "\n");
    if (moving) {
        uint64_t values[MODEL_HISTORY];
        size_t count = model_history(model, class, values, MODEL_HISTORY);
        numbers(out, "  history", values, count);
        real(out, "  live/s", class->live_per_second);
        real(out, "allocated/s", class->allocated_per_second);
        real(out, "freed/s", class->freed_per_second);
        fprintf(out, "\n");
    }
}

static void
write_node(FILE *out, const struct tree_model *tree, uint32_t node)
{
    char label[8192];
    const struct tree_frame *frame = tree_frame(tree, node);
    struct tree_counts total = tree_total(tree, node);
    struct tree_counts self = tree_self(tree, node);
    tree_label(tree, node, label, sizeof label);
    fprintf(out, "  node %" PRIu32 " %" PRIu32 " %s %s|%s|%" PRIu32 " %" PRIx32 " %u %u",
            tree_node_id(tree, node), tree_parent(tree, node), label, frame->path,
            frame->file, frame->line, frame->flags, tree_line(tree, node),
            tree_block(tree, node));
    fprintf(out, " %" PRIu32 " %" PRIu32 " %" PRIu64, tree_first_child(tree, node),
            tree_next_sibling(tree, node), total.samples);
    real(out, "live", total.live);
    real(out, "allocated", total.allocated);
    real(out, "bytes", total.bytes);
    real(out, "error", total.error);
    real(out, "own", self.live);
    real(out, "own bytes", self.bytes);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        real(out, "age", total.ages[i]);
    }
    fprintf(out, "\n");
}

static void
write_tree(FILE *out, const struct model *model, const struct model_class *class,
           bool moving)
{
    const struct tree_model *tree = model_tree(model, class->id);
    if (tree == NULL || model_class_find(model, class->id) != class) {
        return;
    }
    const struct tree *header = tree_header(tree);
    fprintf(out, "tree of %s exact %d", class->name, tree_exact(tree));
    numbers(out, "", &header->flags, 9);
    for (uint32_t i = 0; i < tree_node_count(tree); i++) {
        write_node(out, tree, i);
        if (moving) {
            real(out, "    live/s", tree_live_per_second(tree, i));
            real(out, "allocated/s", tree_allocated_per_second(tree, i));
            fprintf(out, "\n");
        }
    }
    assert_true(tree_write_json(class, tree, out));
}

// Against a mark, or since connecting.
static void
write_changes(FILE *out, struct model *model, const struct model_class **classes,
              int mark)
{
    const struct model_mark *at =
        mark == MODEL_MARK_NONE ? NULL : model_mark(model, mark);
    if (mark != MODEL_MARK_NONE && at == NULL) {
        return;
    }
    assert_true(model_mark_use(model, mark));
    fprintf(out, "mark %d\n", mark);
    if (at != NULL) {
        fprintf(out, "totals %" PRIu64 " %" PRIu64 " ", at->live, at->bytes);
        stamp(out, "at", at->at);
    }
    for (size_t i = 0; i < model_class_count(model); i++) {
        fprintf(out, "  %s %" PRId64 " %" PRId64 "\n", classes[i]->name,
                (int64_t)classes[i]->baseline, (int64_t)classes[i]->baseline_bytes);
        const struct tree_model *tree = model_tree(model, classes[i]->id);
        if (tree == NULL || model_class_find(model, classes[i]->id) != classes[i]) {
            continue;
        }
        fprintf(out, "  tree since mark %d\n", tree_since_mark(tree));
        for (uint32_t node = 0; node < tree_node_count(tree); node++) {
            real(out, "    live", tree_delta(tree, node));
            real(out, "bytes", tree_delta_bytes(tree, node));
            fprintf(out, "\n");
        }
    }
}

static void
write_tag(FILE *out, const struct model *model, const struct model_tag *tag)
{
    const struct tag_class *classes = NULL;
    size_t count = model_tag_classes(model, tag->id, &classes);
    fprintf(out, "tag %" PRIu32 " %s listed %d", tag->id, tag->text, tag->listed);
    numbers(out, "", &tag->now.calls, 6);
    numbers(out, "  ages", tag->now.ages, AGE_BUCKETS);
    real(out, "  retained", tag->retained);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "\n  class %" PRIu32, classes[i].class_id);
        numbers(out, "", &classes[i].allocated, 3);
        numbers(out, "  ages", classes[i].ages, AGE_BUCKETS);
    }
    fprintf(out, "\n");
}

static void
write_moving(FILE *out, const struct model *model)
{
    const struct model_rates *rates = model_rates(model);
    for (enum model_series i = 0; i < MODEL_SERIES_COUNT; i++) {
        uint64_t values[MODEL_HISTORY];
        size_t count = model_series(model, i, values, MODEL_HISTORY);
        numbers(out, "series", values, count);
    }
    real(out, "live/s", rates->live);
    real(out, "allocated/s", rates->allocated);
    real(out, "freed/s", rates->freed);
    real(out, "rss/min", rates->rss_bytes_per_minute);
    real(out, "gc", rates->gc_percent);
    fprintf(out, "\n");
}

char *
portrait(struct model *model, bool moving)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    const struct model_class **classes = in_order(model);
    write_head(out, model);
    for (size_t i = 0; i < model_class_count(model); i++) {
        write_class(out, model, classes[i], moving);
        write_tree(out, model, classes[i], moving);
    }
    for (int mark = MODEL_MARKS_MAX - 1; mark >= MODEL_MARK_NONE; mark--) {
        write_changes(out, model, classes, mark);
    }
    for (size_t i = 0; i < model_tag_count(model); i++) {
        write_tag(out, model, model_tag_at(model, i));
    }
    if (moving) {
        write_moving(out, model);
    }
    assert_true(model_hello(model)->command.bytes == NULL ||
                document_write(model, true, out));
    free(classes);
    assert_int_equal(fclose(out), 0);
    return text;
}

void
portrait_expect_same(struct model *one, struct model *other, bool moving,
                     const char *when)
{
    char *left = portrait(one, moving);
    char *right = portrait(other, moving);
    if (strcmp(left, right) != 0) {
        size_t line = 0;
        for (size_t i = 0; left[i] == right[i]; i++) {
            line = left[i] == '\n' ? i + 1 : line;
        }
        fail_msg("%s: the models differ.\n%.600s\n------ against ------\n%.600s", when,
                 left + line, right + line);
    }
    free(left);
    free(right);
}
