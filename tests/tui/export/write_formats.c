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

#define NOISE_NODES 400u
#define NOISE_FRAMES 100u
#define NOISE_BYTES 40u

static uint32_t
draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

// Any bytes at all, for labels and paths.
static void
name_noise(struct model *model, uint32_t *seed)
{
    char bytes[2][NOISE_BYTES + 1];

    for (uint32_t id = 0; id < NOISE_FRAMES; id++) {
        for (int which = 0; which < 2; which++) {
            uint32_t length = draw(seed, NOISE_BYTES);
            for (uint32_t i = 0; i < length; i++) {
                bytes[which][i] = (char)(1 + draw(seed, 255));
            }
            bytes[which][length] = '\0';
        }
        assert_true(forest_frame(model, FRAME_FIRST + id, bytes[0], bytes[1], 0));
    }
}

// A sampled tree of any shape whose frames are called anything.
static struct model *
noise_model(uint64_t live)
{
    static struct tree_node nodes[NOISE_NODES];
    static struct tree_site sites[NOISE_NODES];
    struct model *model = forest_model(live);
    uint64_t samples = 0;
    uint32_t seed = 4;

    name_noise(model, &seed);
    for (uint32_t i = 0; i < NOISE_NODES; i++) {
        uint32_t parent = draw(&seed, i + 1); // 0: the root
        uint64_t seen = draw(&seed, 3);
        nodes[i] = (struct tree_node){20 + i, parent > 0 ? 19 + parent : 0,
                                      FRAME_FIRST + draw(&seed, NOISE_FRAMES),
                                      draw(&seed, 9), draw(&seed, 3)};
        sites[i] = (struct tree_site){.node = 20 + i,
                                      .shift = 1 + draw(&seed, 4),
                                      .live = seen,
                                      .allocated = seen + draw(&seed, 2),
                                      .bytes = 40 * seen};
        samples += seen;
    }
    assert_true(samples < live);
    assert_true(forest_tree(model, 101,
                            (struct tree){.key = true,
                                          .live = live,
                                          .since_us = SINCE,
                                          .shift = 3,
                                          .unsampled_live = live - samples,
                                          .unsampled_allocated = live,
                                          .nodes = nodes,
                                          .node_count = NOISE_NODES,
                                          .sites = sites,
                                          .site_count = NOISE_NODES}));
    return model;
}

// A label that has to be cut; every other byte is the second of a character, or the
// first.
static struct model *
long_model(size_t odd)
{
    static char label[10002];

    memset(label, 'x', sizeof(label) - 1);
    for (size_t i = odd; i + 1 < sizeof(label) - 1; i += 2) {
        memcpy(label + i, "\xc3\xa9", 2);
    }
    return trees_single(5, label, "/srv/app.rb");
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
    write_model(noise_model(5003), "noise", arguments[1]);
    write_model(long_model(0), "even", arguments[1]);
    write_model(long_model(1), "odd", arguments[1]);
    return 0;
}
