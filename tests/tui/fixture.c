#include "tests/tui/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tui/text/text.h"

// 2026-01-01 12:00:00 UTC
#define WALL_US UINT64_C(1767268800000000)

static bool
take_request(void *context, const struct request *request)
{
    struct fixture *fixture = context;
    if (fixture->refuse_to_send) {
        return false;
    }
    assert_true(fixture->sent_count < FIXTURE_SENT_MAX);
    fixture->sent[fixture->sent_count++] = *request;
    return true;
}

void
fixture_start(struct fixture *fixture, struct fixture_options options)
{
    setenv("TZ", "UTC", 1);
    *fixture = (struct fixture){.now_ms = 1000000};
    const struct app_options app_options = {
        .ring_bytes = options.ring_bytes,
        .source = "/run/user/1000/memtop/4120.sock",
        .ascii = options.ascii,
        .mouse = true,
        .readonly = options.readonly,
        .send = take_request,
        .context = fixture,
        .read_source = options.read_source,
        .choices = options.choices,
        .fleet = options.fleet,
        .command = options.command,
        .output = options.output,
    };
    assert_true(grid_init(&fixture->grid, 30, 118));
    fixture->app = app_new(&app_options, fixture->now_ms);
    assert_non_null(fixture->app);
}

void
fixture_stop(struct fixture *fixture)
{
    app_free(fixture->app);
    grid_destroy(&fixture->grid);
    decoder_destroy(&fixture->decoder);
}

void
fixture_message(struct fixture *fixture, struct message message)
{
    struct buffer buffer = {0};
    struct message decoded;
    message.at.monotonic_us = fixture->now_ms * 1000;
    message.at.wall_us = WALL_US + fixture->now_ms * 1000;
    assert_true(message_encode(&buffer, &message));
    decoder_feed(&fixture->decoder, buffer.bytes, buffer.length);
    assert_int_equal(decoder_next(&fixture->decoder, &decoded), DECODE_MESSAGE);
    fixture->reactions = app_message(fixture->app, &decoded, fixture->now_ms);
    buffer_destroy(&buffer);
}

void
fixture_hello(struct fixture *fixture, uint64_t pid)
{
    fixture->reactions = app_link(fixture->app, LINK_LIVE, "", fixture->now_ms);
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_HELLO,
                        .hello = {.version = PROTOCOL_VERSION,
                                  .program_version = text_of("0.1.0"),
                                  .pid = pid,
                                  .parent_pid = 1,
                                  .command = text_of("puma: demo/app.ru"),
                                  .runtime = text_of("ruby 3.1.2"),
                                  .started_us = WALL_US + pid,
                                  .mode = MODE_COUNT,
                                  .capabilities = CAPABILITY_COUNT | CAPABILITY_GC |
                                                  CAPABILITY_TRACE | CAPABILITY_TAGS,
                                  .interval_ms = 1000},
    });
}

void
fixture_names(struct fixture *fixture, const struct class_name *names, size_t count)
{
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_NAMES, .names = {.list = names, .count = count}
    });
}

void
fixture_notice(struct fixture *fixture, uint64_t id, enum notice_severity severity,
               const char *text)
{
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_NOTICE, .notice = {id, severity, text_of(text)}
    });
}

static uint64_t
sum(uint64_t total, uint64_t value)
{
    return total == COUNT_UNKNOWN || value == COUNT_UNKNOWN ? COUNT_UNKNOWN
                                                            : total + value;
}

struct sample
fixture_sample(const struct class_row *rows, size_t count, bool key)
{
    struct sample sample = {
        .key = key,
        .mode = MODE_COUNT,
        .process = {222298112, 1130212, 111388, 412, 38,    7828,    120},
        .probe = {8000,      0,       0,      0,   41000, 1130212, 1  },
        .rows = rows,
        .row_count = count,
    };
    for (size_t i = 0; i < count; i++) {
        sample.totals.live = sum(sample.totals.live, rows[i].live);
        sample.totals.allocated = sum(sample.totals.allocated, rows[i].allocated);
        sample.totals.freed = sum(sample.totals.freed, rows[i].freed);
        sample.totals.bytes = sum(sample.totals.bytes, rows[i].bytes);
    }
    return sample;
}

void
fixture_send_sample(struct fixture *fixture, struct sample sample)
{
    fixture_message(fixture, (struct message){.kind = MESSAGE_SAMPLE, .sample = sample});
}

// One class of the demo: how it begins and what a second adds.
static const struct {
    const char *name;
    uint32_t flags;
    uint64_t live;
    uint64_t bytes; // of one object
    uint64_t allocated;
    uint64_t freed;
} demo[] = {
    {"String",                  0,               371114, 109, 12401, 12303},
    {"Hash",                    0,               48902,  192, 1920,  1879 },
    {"Order",                   0,               6092,   120, 41,    0    },
    {"Array",                   0,               88120,  72,  5020,  5020 },
    {"Session",                 0,               5000,   131, 0,     0    },
    {"ActionDispatch::Request", 0,               24,     410, 62,    62   },
    {"Proc",                    0,               12044,  80,  12,    14   },
    {"Rack::Utils::HeaderHash", 0,               310,    280, 62,    60   },
    {"#<Class:0x00007f21a0>",   CLASS_ANONYMOUS, 1,      600, 0,     0    },
    {"(iseq)",                  CLASS_INTERNAL,  31022,  640, 3,     1    },
    {"(callcache)",             CLASS_INTERNAL,  40110,  40,  11,    9    },
};

#define DEMO_COUNT (sizeof demo / sizeof demo[0])

static void
demo_sample(struct fixture *fixture, uint64_t second, bool key)
{
    struct class_row rows[DEMO_COUNT];
    for (size_t i = 0; i < DEMO_COUNT; i++) {
        uint64_t live =
            demo[i].live + second * demo[i].allocated - second * demo[i].freed;
        rows[i] = (struct class_row){(class_id)(i + 1), live, second * demo[i].allocated,
                                     second * demo[i].freed, live * demo[i].bytes};
    }
    struct sample sample = fixture_sample(rows, DEMO_COUNT, key);
    sample.process.rss_bytes += second * 18350;
    sample.process.gc_time_ms += second * 19;
    fixture_send_sample(fixture, sample);
}

// What the probe makes of them after half a minute; ages are parts of a hundred.
static const struct {
    enum verdict verdict;
    uint64_t ages[AGE_BUCKETS];
    const char *reason;
} verdicts[DEMO_COUNT] = {
    {VERDICT_GROWING,
     {60, 30, 8, 2},
     "+31 004 objects over 38 collections (9 full), but survivors are young: 10 % "
     "survived 8 or more"                                                                                                         },
    {VERDICT_GROWING,
     {50, 20, 15, 15},
     "+12 318 objects over 38 collections (9 full), ages not known before a census"                                               },
    {VERDICT_LEAK,
     {5, 15, 30, 50},
     "+12 310 objects over 38 collections (9 full), 80 % survived 8 or more, still "
     "+41/s"                                                                                                                      },
    {VERDICT_CHURN,   {90, 8, 2, 0},                                                "many are allocated, few survive"             },
    {VERDICT_STEADY,  {0, 0, 10, 90},                                               "levelled off: +0 % over the last half"       },
    {VERDICT_CHURN,   {100, 0, 0, 0},                                               "many are allocated, few survive"             },
    {VERDICT_STEADY,  {0, 10, 20, 70},                                              "no growth that lasts"                        },
    {VERDICT_NEW,     {30, 40, 30, 0},                                              "first seen too short a time ago to be judged"},
    {VERDICT_NONE,    {COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN}, ""                                            },
    {VERDICT_STEADY,  {0, 0, 0, 100},                                               "no growth that lasts"                        },
    {VERDICT_STEADY,  {0, 0, 0, 100},                                               "no growth that lasts"                        },
};

static void
demo_verdicts(struct fixture *fixture)
{
    struct verdict_row rows[DEMO_COUNT];
    for (size_t i = 0; i < DEMO_COUNT; i++) {
        rows[i] = (struct verdict_row){
            (class_id)(i + 1), verdicts[i].verdict, {0}, text_of(verdicts[i].reason)};
        memcpy(rows[i].ages, verdicts[i].ages, sizeof rows[i].ages);
    }
    fixture_message(fixture,
                    (struct message){
                        .kind = MESSAGE_VERDICTS, .verdicts = {rows, DEMO_COUNT}
    });
}

void
fixture_demo_second(struct fixture *fixture)
{
    fixture_wait(fixture, 1000);
    demo_sample(fixture, fixture->now_ms / 1000 - 1000, false);
}

void
fixture_demo(struct fixture *fixture)
{
    struct class_name names[DEMO_COUNT];
    for (size_t i = 0; i < DEMO_COUNT; i++) {
        names[i] =
            (struct class_name){(class_id)(i + 1), demo[i].flags, text_of(demo[i].name)};
    }
    fixture_hello(fixture, 4120);
    fixture_names(fixture, names, DEMO_COUNT);
    demo_sample(fixture, fixture->now_ms / 1000 - 1000, true);
    for (int second = 0; second < 40; second++) {
        fixture_demo_second(fixture);
    }
    demo_verdicts(fixture);
}

void
fixture_wait(struct fixture *fixture, uint64_t ms)
{
    fixture->now_ms += ms;
    fixture->reactions = app_tick(fixture->app, fixture->now_ms);
}

// The key of a name in angle brackets.
static uint32_t
special(const char *name, size_t length)
{
    static const struct {
        const char *name;
        uint32_t code;
    } keys[] = {
        {"Enter", KEY_CODE_ENTER    },
        {"Esc",   KEY_CODE_ESCAPE   },
        {"Tab",   KEY_CODE_TAB      },
        {"BkSp",  KEY_CODE_BACKSPACE},
        {"Up",    KEY_CODE_UP       },
        {"Down",  KEY_CODE_DOWN     },
        {"Left",  KEY_CODE_LEFT     },
        {"Right", KEY_CODE_RIGHT    },
        {"PgUp",  KEY_CODE_PAGE_UP  },
        {"PgDn",  KEY_CODE_PAGE_DOWN},
        {"Home",  KEY_CODE_HOME     },
        {"End",   KEY_CODE_END      },
        {"Del",   KEY_CODE_DELETE   },
        {"F1",    KEY_CODE_F1       },
        {"F4",    KEY_CODE_F1 + 3   },
        {"F6",    KEY_CODE_F1 + 5   },
        {"F10",   KEY_CODE_F1 + 9   },
    };
    if (name[0] == '^') {
        return KEY_CONTROL(name[1]);
    }
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strlen(keys[i].name) == length && strncmp(keys[i].name, name, length) == 0) {
            return keys[i].code;
        }
    }
    fail_msg("no such key: %.*s", (int)length, name);
    return 0;
}

void
fixture_keys(struct fixture *fixture, const char *keys)
{
    while (*keys != '\0') {
        struct key key = {0};
        const char *end = *keys == '<' ? strchr(keys, '>') : NULL;
        if (end != NULL && end > keys + 1) {
            key.code = special(keys + 1, (size_t)(end - keys - 1));
            keys = end + 1;
        } else {
            bool valid;
            keys += text_decode(keys, strlen(keys), &key.code, &valid);
        }
        fixture->reactions = app_key(fixture->app, key, fixture->now_ms);
        if ((fixture->reactions & REACT_DRAW) != 0) {
            app_draw(fixture->app, &fixture->grid, fixture->now_ms);
        }
    }
}

void
fixture_click(struct fixture *fixture, int row, int column)
{
    struct key key = {
        .code = KEY_CODE_MOUSE, .mouse = MOUSE_PRESS, .row = row, .column = column};
    fixture->reactions = app_key(fixture->app, key, fixture->now_ms);
}

char *
fixture_screen(struct fixture *fixture, int columns, int rows)
{
    assert_true(grid_resize(&fixture->grid, rows, columns));
    app_draw(fixture->app, &fixture->grid, fixture->now_ms);
    char *text = grid_text(&fixture->grid);
    assert_non_null(text);
    return text;
}

int
fixture_row_of(struct fixture *fixture, const char *text)
{
    char *screen = grid_text(&fixture->grid);
    int row = 0;
    assert_non_null(screen);
    const char *found = strstr(screen, text);
    for (const char *at = screen; found != NULL && at < found; at++) {
        row += *at == '\n';
    }
    free(screen);
    return found != NULL ? row : -1;
}

static void
write_golden(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void
compare_golden(const char *path, const char *text)
{
    static char wanted[65536];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fail_msg("%s is missing; MEMTOP_GOLDEN=update writes it:\n%s", path, text);
    }
    size_t length = fread(wanted, 1, sizeof wanted - 1, file);
    wanted[length] = '\0';
    fclose(file);
    if (strcmp(wanted, text) != 0) {
        fail_msg("%s differs. It says\n%s\nand the screen is\n%s", path, wanted, text);
    }
}

void
fixture_golden_text(const char *name, const char *text)
{
    char path[512];
    const char *update = getenv("MEMTOP_GOLDEN");
    snprintf(path, sizeof path, "%s/%s.txt", GOLDEN_FOLDER, name);
    if (update != NULL && strcmp(update, "update") == 0) {
        write_golden(path, text);
    } else {
        compare_golden(path, text);
    }
}

void
fixture_golden(struct fixture *fixture, const char *name, int columns, int rows)
{
    char *text = fixture_screen(fixture, columns, rows);
    fixture_golden_text(name, text);
    free(text);
}
