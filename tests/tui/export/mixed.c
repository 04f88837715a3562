#include "mixed.h"

#include <errno.h>
#include <stdio.h>

#include <jansson.h>

#include "tests/tui/memory.h"

#define SECOND UINT64_C(1000000)
#define UNKNOWN                                                                          \
    {                                                                                    \
        COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN                       \
    }
#define WALL UINT64_C(1767225600000000) // 2026-01-01T00:00:00Z

static void
apply(struct model *model, struct message message, uint64_t second)
{
    message.at = (struct stamp){second * SECOND, WALL + second * SECOND};
    assert_true(model_apply(model, &message));
}

struct model *
mixed_empty(void)
{
    struct model *model = model_new();

    assert_non_null(model);
    apply(model,
          (struct message){
              .kind = MESSAGE_HELLO,
              .hello = {.version = PROTOCOL_VERSION,
                        .program_version = text_of("0.1.0"),
                        .pid = 4120,
                        .parent_pid = 1,
                        .command = text_of("ruby /srv/app.rb \033[2J"),
                        .runtime = text_of("ruby 3.1.2"),
                        .started_us = WALL,
                        .mode = MODE_TRACE,
                        .interval_ms = 1000}
    },
          0);
    return model;
}

static void
send_classes(struct model *model)
{
    static const struct class_name names[] = {
        {MIXED_ORDER,   0,              {"Order", 5}                                       },
        {MIXED_HOSTILE, 0,              {MIXED_HOSTILE_NAME, sizeof MIXED_HOSTILE_NAME - 1}},
        {3,             0,              {"String", 6}                                      },
        {4,             CLASS_INTERNAL, {"(iseq)", 6}                                      },
        {MIXED_TORN,    0,              {"Torn", 4}                                        },
    };
    static const struct class_row rows[] = {
        {MIXED_ORDER,   MIXED_ORDER_LIVE,   180,              30,            6000         },
        {MIXED_HOSTILE, MIXED_HOSTILE_LIVE, 1100,             100,           COUNT_UNKNOWN},
        {3,             5000,               9007199254740993, 7,             COUNT_UNKNOWN},
        {4,             70,                 70,               0,             COUNT_UNKNOWN},
        {5,             COUNT_UNKNOWN,      COUNT_UNKNOWN,    COUNT_UNKNOWN, COUNT_UNKNOWN},
        {MIXED_TORN,    MIXED_TORN_LIVE,    50,               0,             2000         },
    };
    static const struct verdict_row verdicts[] = {
        {MIXED_ORDER, VERDICT_LEAK,   {0, 0, 40, 110}, {"+390 objects", 12}},
        {MIXED_TORN,  VERDICT_STEADY, {50, 0, 0, 0},   {"", 0}             },
    };
    apply(model,
          (struct message){
              .kind = MESSAGE_NAMES, .names = {names, 5}
    },
          10);
    apply(model,
          (struct message){
              .kind = MESSAGE_SAMPLE,
              .sample = {.key = true,
                         .mode = MODE_TRACE,
                         .totals = {6270, 1400, 137, COUNT_UNKNOWN},
                         .rows = rows,
                         .row_count = sizeof rows / sizeof *rows}
    },
          10);
    apply(model,
          (struct message){
              .kind = MESSAGE_VERDICTS, .verdicts = {verdicts, 2}
    },
          10);
}

static void
send_frames(struct model *model)
{
    static const struct frame_name frames[] = {
        {16, 0,       {"<main>", 6},                      {"/srv/app.rb", 11},             1},
        {17, 0,       {"Cart#add", 8},                    {"/srv/cart.rb", 12},            7},
        {18, FRAME_C, {"Hash#fetch", 10},                 {"", 0},                         0},
        {19, 0,       {"-a;b\n\"c\",\xff\033[2J 12", 17}, {"/srv/\033]0;x, \"q\".rb", 18}, 3},
        {20, 0,       {"", 0},                            {"", 0},                         0},
    };
    apply(model,
          (struct message){
              .kind = MESSAGE_FRAMES, .frames = {frames, 5}
    },
          10);
}

static void
send_order(struct model *model)
{
    static const struct tree_node nodes[] = {
        {20, 0,  16, 5,  0},
        {21, 20, 17, 9,  0},
        {22, 20, 17, 12, 1},
        {23, 22, 18, 0,  0},
        {24, 20, 17, 13, 0},
    };
    static const struct tree_site sites[] = {
        {FRAME_BEFORE_TRACING, 0, 10,  0,   400,  {0, 0, 0, 10} },
        {21,                   0, 100, 110, 4000, {0, 0, 0, 100}},
        {23,                   0, 40,  60,  1600, {0, 0, 40, 0} },
        {24,                   0, 0,   10,  0,    {0, 0, 0, 0}  },
    };
    apply(model,
          (struct message){
              .kind = MESSAGE_TREE,
              .tree = {.class_id = MIXED_ORDER,
                       .key = true,
                       .live = MIXED_ORDER_LIVE,
                       .since_us = WALL + SECOND,
                       .depth = 64,
                       .nodes = nodes,
                       .node_count = 5,
                       .sites = sites,
                       .site_count = 4}
    },
          10);
}

static void
send_hostile(struct model *model)
{
    static const struct tree_node nodes[] = {
        {30, 0,  16, 5, 0},
        {31, 30, 19, 9, 0},
        {32, 31, 20, 0, 0},
    };
    static const struct tree_site sites[] = {
        {FRAME_BEFORE_TRACING, 0, 100, 0,  COUNT_UNKNOWN, UNKNOWN},
        {30,                   3, 30,  40, COUNT_UNKNOWN, UNKNOWN},
        {31,                   3, 7,   7,  COUNT_UNKNOWN, UNKNOWN},
        {32,                   3, 4,   4,  COUNT_UNKNOWN, UNKNOWN},
    };
    apply(model,
          (struct message){
              .kind = MESSAGE_TREE,
              .tree = {.class_id = MIXED_HOSTILE,
                       .key = true,
                       .live = MIXED_HOSTILE_LIVE,
                       .since_us = WALL + 2 * SECOND,
                       .shift = 3,
                       .depth = 64,
                       .unsampled_live = 859,
                       .unsampled_allocated = 900,
                       .nodes = nodes,
                       .node_count = 3,
                       .sites = sites,
                       .site_count = 4}
    },
          10);
}

static void
send_torn(struct model *model)
{
    static const struct tree_site site = {
        FRAME_OTHER, 0, 20, 20, 800, {20, 0, 0, 0}
    };
    apply(model,
          (struct message){
              .kind = MESSAGE_TREE,
              .tree = {.class_id = MIXED_TORN,
                       .key = true,
                       .flags = TREE_FULL,
                       .live = MIXED_TORN_LIVE,
                       .since_us = WALL + SECOND,
                       .depth = 64,
                       .sites = &site,
                       .site_count = 1}
    },
          10);
}

struct model *
mixed_model(void)
{
    struct model *model = mixed_empty();

    send_classes(model);
    send_frames(model);
    send_order(model);
    send_hostile(model);
    send_torn(model);
    return model;
}

static export_writer *
writer_of(const char *format)
{
    const struct export_format *found = export_format_find(format);

    assert_non_null(found);
    return found->write;
}

char *
mixed_written(const struct model *model, const char *format,
              struct export_options options, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    assert_non_null(out);
    assert_true(writer_of(format)(model, &options, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

void
mixed_expect(const char *format, struct export_options options, const char *wanted)
{
    size_t length;
    struct model *model = mixed_model();
    char *text = mixed_written(model, format, options, &length);

    assert_int_equal(strlen(text), length);
    assert_string_equal(text, wanted);
    free(text);
    model_free(model);
}

void
mixed_expect_full(const char *format)
{
    const struct export_options options = {.all = true};
    struct model *model = mixed_model();

    for (int buffered = 0; buffered < 2; buffered++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        setvbuf(full, NULL, buffered ? _IOFBF : _IONBF, BUFSIZ);
        errno = 0;
        assert_false(writer_of(format)(model, &options, full));
        assert_int_equal(errno, ENOSPC);
        fclose(full);
    }
    model_free(model);
}

// Without memory from the N-th allocation on, for each N: all or nothing.
void
mixed_expect_memory(const char *format)
{
    const struct export_options options = {.all = true};
    struct model *model = mixed_model();
    bool done = false;
    int allowed = 0;

    json_set_alloc_funcs(malloc, free);
    for (; !done && allowed < 5000; allowed++) {
        FILE *out = fopen("/dev/null", "w");
        assert_non_null(out);
        errno = 0;
        memory_allow(allowed);
        done = writer_of(format)(model, &options, out);
        int error = errno;
        memory_allow(-1);
        fclose(out);
        assert_true(done || error == ENOMEM);
    }
    assert_true(done);
    assert_true(allowed > 3);
    model_free(model);
}
