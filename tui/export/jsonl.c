#include "tui/export/jsonl.h"

#include <errno.h>
#include <math.h>

#include <jansson.h>

#include "tui/export/listing.h"
#include "tui/export/stacks.h"
#include "tui/export/values.h"
#include "tui/export/words.h"

#define FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(12))

/*
 * Each function below that returns a value returns a new one, or NULL when memory ran
 * out.
 */

// Four numbers, or null: ages come all or none.
static json_t *
ages_of_class(const struct model_class *class)
{
    return isnan(class->ages[0])
               ? json_null()
               : json_pack("[o, o, o, o]", value_whole(class->ages[0]),
                           value_whole(class->ages[1]), value_whole(class->ages[2]),
                           value_whole(class->ages[3]));
}

static json_t *
ages_of_row(const struct stacks_row *row)
{
    const uint64_t *ages = row->figures + STACKS_AGES;

    return ages[0] == COUNT_UNKNOWN
               ? json_null()
               : json_pack("[o, o, o, o]", value_count(ages[0]), value_count(ages[1]),
                           value_count(ages[2]), value_count(ages[3]));
}

static json_t *
class_of(const struct model_class *class)
{
    json_t *line = json_pack("{ss}", "kind", "class");
    json_t *known = value_class(class);

    if (!line || !known || json_object_update(line, known) != 0 ||
        json_object_set_new(line, "ages", ages_of_class(class)) != 0) {
        json_decref(line);
        line = NULL;
    }
    json_decref(known);
    return line;
}

static json_t *
frame_of(const struct tree_model *tree, uint32_t node)
{
    char label[WORDS_LABEL_BYTES];
    const char *path = tree_frame(tree, node)->path;
    uint32_t line = tree_line(tree, node);

    words_label(label, tree, node);
    return json_pack("{ss ss? so}", "label", label, "path", *path ? path : NULL, "line",
                     line > 0 ? json_integer(line) : json_null());
}

static json_t *
stack_of(struct stacks *stacks, const struct stacks_row *row)
{
    size_t depth;
    const uint32_t *path = stacks_path(stacks, row, &depth);
    json_t *array = json_array();

    for (size_t i = 0; array && i < depth; i++) {
        if (json_array_append_new(array, frame_of(stacks->tree, path[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *
path_of(struct stacks *stacks, const struct stacks_row *row)
{
    return json_pack("{ss ss so so sf so so so}", "kind", "path", "class", stacks->name,
                     "stack", stack_of(stacks, row), "live",
                     value_count(row->figures[STACKS_LIVE]), "error",
                     ceil(row->error * 10) / 10, "allocated",
                     value_count(row->figures[STACKS_ALLOCATED]), "bytes",
                     value_count(row->figures[STACKS_BYTES]), "ages", ages_of_row(row));
}

static bool
write_paths(void *context, struct stacks *stacks)
{
    FILE *out = context;
    bool good = true;

    for (size_t i = 0; good && i < stacks->count; i++) {
        good = value_write(path_of(stacks, &stacks->rows[i]), FORMAT, out);
    }
    return good;
}

bool
jsonl_write(const struct model *model, const struct export_options *options, FILE *out)
{
    struct listing listing;
    bool good = listing_init(&listing, model, options->all);

    if (!good) {
        errno = ENOMEM;
        return false;
    }
    for (size_t i = 0; good && i < listing.count; i++) {
        good = value_write(class_of(listing.classes[i]), FORMAT, out);
    }
    listing_destroy(&listing);
    return good && stacks_each(model, write_paths, out) && fflush(out) == 0;
}
