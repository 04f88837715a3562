/*
 * Writes models as every format there is: FOLDER/MODEL.FORMAT, and what the models
 * hold as FOLDER/MODEL.expected, a JSON object. What other programs then read back,
 * see read_back_test.py.
 */
#include <stdio.h>

#include <jansson.h>

#include "mixed.h"
#include "trees.h"
#include "tui/export/values.h"

static FILE *
open_in(const char *folder, const char *model, const char *suffix)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s.%s", folder, model, suffix);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    return file;
}

// A class's own figures, and those of its tree, which are not what was rounded.
static json_t *
expected_of(const struct model *model, const struct model_class *class)
{
    json_t *object = value_class(class);
    const struct tree_model *tree = model_tree(model, class->id);

    if (tree) {
        struct tree_counts total = tree_total(tree, 0);
        json_object_set_new(object, "tree",
                            json_pack("{so so so}", "live", value_whole(total.live),
                                      "allocated", value_whole(total.allocated), "bytes",
                                      value_whole(total.bytes)));
    }
    return object;
}

static void
write_expected(const struct model *model, const char *name, const char *folder)
{
    FILE *file = open_in(folder, name, "expected");
    json_t *classes = json_object();

    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        json_t *expected = expected_of(model, class);
        const char *key = json_string_value(json_object_get(expected, "name"));
        json_object_set_new(classes, key, expected);
    }
    assert_true(value_write(classes, JSON_INDENT(1), file));
    assert_int_equal(fclose(file), 0);
}

static void
write_model(struct model *model, const char *name, const char *folder)
{
    const struct export_format *format;

    for (size_t i = 0; (format = export_format_at(i)); i++) {
        const struct export_options options = {.all = true};
        FILE *file = open_in(folder, name, format->name);
        assert_true(format->write(model, &options, file));
        assert_int_equal(fclose(file), 0);
    }
    write_expected(model, name, folder);
    model_free(model);
}

int
main(int count, char **arguments)
{
    if (count != 2) {
        fprintf(stderr, "usage: write_formats FOLDER\n");
        return 2;
    }
    write_model(mixed_model(), "mixed", arguments[1]);
    write_model(mixed_empty(), "empty", arguments[1]);
    write_model(trees_exact(), "exact", arguments[1]);
    write_model(trees_sampled(), "sampled", arguments[1]);
    write_model(trees_single(UINT64_MAX - 1, "<main>", "/srv/app.rb"), "beyond",
                arguments[1]);
    return 0;
}
