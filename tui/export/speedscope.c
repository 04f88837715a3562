#include "tui/export/speedscope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "tui/export/intern.h"
#include "tui/export/stacks.h"
#include "tui/export/values.h"
#include "tui/export/words.h"
#include "version.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"
#define NO_PATH "(no path)" // speedscope shows a stack without frames as a hole

struct speedscope {
    struct intern known;
    json_t *frames;   // owned
    json_t *numbers;  // owned: 0, 1, 2… as many as frames, for stacks to share
    json_t *profiles; // owned
};

/*
 * Each function below that returns a value returns NULL when memory ran out, and a new
 * one unless it says borrowed.
 */

static json_t *
frame_of(struct intern_key key)
{
    return json_pack("{ss ss* so*}", "name", key.text, "file",
                     *key.file ? key.file : NULL, "line",
                     key.number > 0 ? json_integer((json_int_t)key.number) : NULL);
}

// The number of a frame, borrowed.
static json_t *
number_of(struct speedscope *scope, struct intern_key key)
{
    uint32_t number;

    if (!intern_find(&scope->known, key, &number)) {
        return NULL;
    }
    if (number == json_array_size(scope->frames) &&
        (json_array_append_new(scope->frames, frame_of(key)) != 0 ||
         json_array_append_new(scope->numbers, json_integer(number)) != 0)) {
        return NULL;
    }
    return json_array_get(scope->numbers, number);
}

// Likewise, of a node.
static json_t *
number_of_node(struct speedscope *scope, const struct tree_model *tree, uint32_t node)
{
    char label[WORDS_LABEL_BYTES] = NO_PATH;

    if (node == 0) {
        return number_of(scope, (struct intern_key){label, "", 0});
    }
    words_label(label, tree, node);
    return number_of(scope, (struct intern_key){label, tree_frame(tree, node)->path,
                                                tree_line(tree, node)});
}

// The stack of a row; `seen` has the numbers of the nodes that were met before.
static json_t *
stack_of(struct speedscope *scope, struct stacks *stacks, const struct stacks_row *row,
         json_t **seen)
{
    static const uint32_t root[] = {0};
    size_t depth;
    const uint32_t *path = stacks_path(stacks, row, &depth);
    json_t *stack = json_array();

    if (depth == 0) {
        path = root;
        depth = 1;
    }
    for (size_t i = 0; stack && i < depth; i++) {
        json_t **number = &seen[path[i]];
        if (!*number) {
            *number = number_of_node(scope, stacks->tree, path[i]);
        }
        if (!*number || json_array_append(stack, *number) != 0) {
            json_decref(stack);
            stack = NULL;
        }
    }
    return stack;
}

// What a profile is made from.
struct columns {
    json_t *samples; // owned, until they are in the profile
    json_t *weights; // owned, likewise
    uint64_t weight; // of all
    uint64_t live;   // objects of the paths that are in it
};

static bool
add_rows(struct speedscope *scope, struct stacks *stacks, enum stacks_figure figure,
         struct columns *columns, json_t **seen)
{
    for (size_t i = 0; i < stacks->count; i++) {
        const struct stacks_row *row = &stacks->rows[i];
        uint64_t weight = row->figures[figure];
        if (weight == COUNT_UNKNOWN || row->figures[STACKS_LIVE] == COUNT_UNKNOWN) {
            continue;
        }
        columns->live += row->figures[STACKS_LIVE];
        columns->weight += weight;
        if (weight > 0 &&
            (json_array_append_new(columns->samples,
                                   stack_of(scope, stacks, row, seen)) != 0 ||
             json_array_append_new(columns->weights, value_count(weight)) != 0)) {
            return false;
        }
    }
    return true;
}

// "Order: bytes, known of 120 of 150 objects".
static json_t *
name_of(const struct stacks *stacks, enum stacks_figure figure, uint64_t live)
{
    uint64_t all = tree_header(stacks->tree)->live;
    const char *sampled = tree_exact(stacks->tree) ? "" : " (sampled)";

    if (figure == STACKS_LIVE) {
        return json_sprintf("%s: live objects%s", stacks->name, sampled);
    }
    return live == all || all == COUNT_UNKNOWN
               ? json_sprintf("%s: bytes%s", stacks->name, sampled)
               : json_sprintf("%s: bytes%s, known of %" PRIu64 " of %" PRIu64 " objects",
                              stacks->name, sampled, live, all);
}

static bool
add_profile(struct speedscope *scope, struct stacks *stacks, enum stacks_figure figure,
            json_t **seen)
{
    struct columns columns = {.samples = json_array(), .weights = json_array()};

    if (!columns.samples || !columns.weights ||
        !add_rows(scope, stacks, figure, &columns, seen)) {
        json_decref(columns.samples);
        json_decref(columns.weights);
        return false;
    }
    if (figure == STACKS_BYTES && columns.weight == 0) {
        json_decref(columns.samples);
        json_decref(columns.weights);
        return true;
    }
    json_t *profile = json_pack("{ss so ss si so so so}", "type", "sampled", "name",
                                name_of(stacks, figure, columns.live), "unit",
                                figure == STACKS_BYTES ? "bytes" : "none", "startValue",
                                0, "endValue", value_count(columns.weight), "samples",
                                columns.samples, "weights", columns.weights);
    return json_array_append_new(scope->profiles, profile) == 0;
}

static bool
add_class(void *context, struct stacks *stacks)
{
    struct speedscope *scope = context;
    json_t **seen = calloc(tree_node_count(stacks->tree), sizeof(json_t *));
    bool good = seen && add_profile(scope, stacks, STACKS_LIVE, seen) &&
                add_profile(scope, stacks, STACKS_BYTES, seen);

    free(seen);
    errno = good ? errno : ENOMEM;
    return good;
}

static json_t *
title_of(const struct model *model)
{
    const struct hello *hello = model_hello(model);
    char time[WORDS_TIME_BYTES];

    words_time(time, model_time(model).wall_us);
    return json_sprintf("%s (pid %" PRIu64 ") %s", words_command(model), hello->pid,
                        time);
}

bool
speedscope_write(const struct model *model, const struct export_options *options,
                 FILE *out)
{
    struct speedscope scope = {
        .frames = json_array(), .numbers = json_array(), .profiles = json_array()};
    json_t *document = NULL;

    (void)options;
    if (scope.frames && scope.numbers && scope.profiles &&
        stacks_each(model, add_class, &scope)) {
        document = json_pack("{ss ss so s{sO} sO}", "$schema", SCHEMA, "exporter",
                             "memtop " MEMTOP_VERSION, "name", title_of(model), "shared",
                             "frames", scope.frames, "profiles", scope.profiles);
    }
    json_decref(scope.frames);
    json_decref(scope.numbers);
    json_decref(scope.profiles);
    intern_destroy(&scope.known);
    return value_write(document, JSON_COMPACT, out) && fflush(out) == 0;
}
