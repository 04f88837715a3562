/*
 * A model with a bit of everything that exports must get right.
 */
#ifndef TESTS_TUI_EXPORT_EXAMPLES_H
#define TESTS_TUI_EXPORT_EXAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tui/model/model.h"

static inline void
example_apply(struct model *model, const struct message *message)
{
    assert_true(model_apply(model, message));
}

static inline void
example_hello(struct model *model)
{
    example_apply(model, &(struct message){
                             .kind = MESSAGE_HELLO,
                             .hello = {.version = PROTOCOL_VERSION,
                                       .program_version = text_of("0.1.0"),
                                       .pid = 4120,
                                       .parent_pid = 1,
                                       .command = text_of("ruby app.rb \033[2J"),
                                       .runtime = text_of("ruby 3.1.2"),
                                       .started_us = 1767225600000000,
                                       .mode = MODE_COUNT,
                                       .interval_ms = 1000}
    });
}

static inline void
example_names(struct model *model)
{
    static const struct class_name names[] = {
        {1, 0,               {"String", 6}       },
        {2, 0,               {"Bad\033[31m", 8}  },
        {3, 0,               {"Broken\xff", 7}   },
        {4, CLASS_INTERNAL,  {"(iseq)", 6}       },
        {5, CLASS_ANONYMOUS, {"#<Class:0x1>", 12}},
        {6, 0,               {"Caf\xc3\xa9", 5}  },
        {7, 0,               {"NeverCounted", 12}},
        {8, 0,               {"Gone", 4}         },
    };

    example_apply(model, &(struct message){
                             .kind = MESSAGE_NAMES, .names = {names, 8}
    });
}

static inline void
example_sample(struct model *model)
{
    static const struct class_row rows[] = {
        {2, 5,             5,                0,             COUNT_UNKNOWN},
        {1, 400,           9007199254740993, 7,             16384        },
        {3, 5,             UINT64_MAX - 1,   0,             0            },
        {4, 1000,          1000,             0,             COUNT_UNKNOWN},
        {5, COUNT_UNKNOWN, COUNT_UNKNOWN,    COUNT_UNKNOWN, COUNT_UNKNOWN},
        {6, 0,             0,                0,             COUNT_UNKNOWN},
        {8, 1,             1,                0,             COUNT_UNKNOWN},
        {9, 2,             2,                0,             COUNT_UNKNOWN},
    };

    example_apply(model, &(struct message){
                             .kind = MESSAGE_SAMPLE,
                             .at = {1000000,      1767225601000000},
                             .sample = { .key = true,
                                    .mode = MODE_COUNT,
                                    .process = {212000000, 1241600, 1200, 412, 38,
                                                    1900, COUNT_UNKNOWN},
                                    .probe = {8000, 1, 2, 3, 9000, 1000, 1},
                                    .totals = {1413, 1000, 7, COUNT_UNKNOWN},
                                    .rows = rows,
                                    .row_count = 8}
    });
}

static inline void
example_verdicts(struct model *model)
{
    static const struct verdict_row rows[] = {
        {1, VERDICT_LEAK,   {0, 0, 40, 360}, {"+390 objects \033[5m", 17}},
        {2, VERDICT_STEADY, {5, 0, 0, 0},    {"no growth that lasts", 20}},
    };

    example_apply(model, &(struct message){
                             .kind = MESSAGE_VERDICTS, .verdicts = {rows, 2}
    });
}

static inline struct model *
example_model(void)
{
    static const class_id gone[] = {8};
    struct model *model = model_new();

    assert_non_null(model);
    example_hello(model);
    example_names(model);
    example_sample(model);
    example_verdicts(model);
    example_apply(model, &(struct message){
                             .kind = MESSAGE_SAMPLE,
                             .at = {1500000,      1767225601500000},
                             .sample = { .mode = MODE_COUNT,
                                    .process = {212000000, 1241600, 1200, 412, 38,
                                                    1900, COUNT_UNKNOWN},
                                    .probe = {8000, 1, 2, 3, 9000, 1000, 1},
                                    .totals = {1413, 1000, 7, COUNT_UNKNOWN},
                                    .gone = gone,
                                    .gone_count = 1}
    });
    example_apply(model,
                  &(struct message){
                      .kind = MESSAGE_NOTICE,
                      .notice = {1, NOTICE_WARNING, text_of("objspace tracing is on")}
    });
    return model;
}

#endif
