// Keys, messages and sizes at random, but the same ones each time: nothing may
// crash, leave the grid in disorder or get stuck.

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/tui/orders.h"

#define STEPS 8000
#define CLASSES 60

static uint32_t seed;
static uint32_t opens;
static uint32_t opened; // the class whose tree was asked for last

static uint32_t
pick(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static void
random_names(struct fixture *fixture)
{
    struct class_name names[4];
    char texts[4][12];
    for (int i = 0; i < 4; i++) {
        for (size_t k = 0; k < sizeof texts[i]; k++) {
            texts[i][k] = (char)(pick(3) == 0 ? pick(256) : 'A' + pick(26));
        }
        names[i] = (struct class_name){
            pick(CLASSES), pick(4), {texts[i], pick(sizeof texts[i] + 1)}
        };
    }
    fixture_names(fixture, names, 4);
}

static uint64_t
random_count(void)
{
    static const uint64_t odd[] = {0, 1, COUNT_UNKNOWN, COUNT_UNKNOWN - 1,
                                   UINT64_C(1) << 48};
    return pick(8) == 0 ? odd[pick(5)] : pick(100000);
}

static void
random_sample(struct fixture *fixture)
{
    struct class_row rows[20];
    class_id gone[3];
    size_t count = pick(20);
    for (size_t i = 0; i < count; i++) {
        rows[i] = (struct class_row){pick(CLASSES), random_count(), random_count(),
                                     random_count(), random_count()};
    }
    for (size_t i = 0; i < 3; i++) {
        gone[i] = pick(CLASSES);
    }
    struct sample sample = fixture_sample(rows, count, pick(20) == 0);
    sample.mode = pick(30) == 0 ? pick(6) : MODE_COUNT;
    sample.totals.live = random_count();
    sample.process.heap_age_ms = random_count();
    sample.process.rss_bytes = random_count();
    sample.gone = gone;
    sample.gone_count = pick(4);
    fixture_send_sample(fixture, sample);
}

static void
random_frames(struct fixture *fixture)
{
    static const char *const labels[] = {"", "Order#total", "\x1b[2J", "<main>", "\xff"};
    static const char *const paths[] = {"", "/srv/app/order.rb", "(eval)", "relative.rb",
                                        "/var/lib/gems/3.1.0/gems/rack-2.2/lib/rack.rb"};
    struct frame_name names[4];
    for (int i = 0; i < 4; i++) {
        names[i] =
            (struct frame_name){FRAME_FIRST + pick(20), pick(2), text_of(labels[pick(5)]),
                                text_of(paths[pick(5)]), random_count()};
    }
    fixture_message(fixture, (struct message){
                                 .kind = MESSAGE_FRAMES, .frames = {names, 4}
    });
}

static void
random_verdicts(struct fixture *fixture)
{
    struct verdict_row rows[5];
    for (int i = 0; i < 5; i++) {
        rows[i] = (struct verdict_row){
            pick(CLASSES),
            pick(7),
            {random_count(), random_count(), random_count(), random_count()},
            text_of(pick(2) == 0 ? "" : "+5 objects")
        };
    }
    fixture_message(fixture, (struct message){
                                 .kind = MESSAGE_VERDICTS, .verdicts = {rows, 5}
    });
}

// Of the class that is open, mostly; its nodes hang under one another as they may.
static void
random_tree(struct fixture *fixture)
{
    struct tree_node nodes[12];
    struct tree_site sites[12];
    uint32_t id = 16 + pick(40);
    size_t count = pick(12);
    for (size_t i = 0; i < count; i++) {
        uint32_t parent = pick(3) == 0 ? 0 : i > 0 && pick(3) > 0 ? nodes[i - 1].id : 17;
        id += 1 + pick(3);
        nodes[i] = (struct tree_node){id, parent < id ? parent : 0,
                                      FRAME_FIRST + pick(22), pick(500), pick(3)};
        sites[i] = (struct tree_site){
            16 + pick(60),  pick(4) == 0 ? pick(20) : 0,
            random_count(), random_count(),
            random_count(), {random_count(), pick(50), 0, pick(9)}
        };
    }
    struct tree tree = {.class_id = opened > 0 && pick(5) > 0 ? opened : pick(CLASSES),
                        .key = pick(3) == 0,
                        .flags = pick(8),
                        .live = random_count(),
                        .since_us = random_count(),
                        .shift = pick(20),
                        .unsampled_live = pick(1000),
                        .depth = pick(100),
                        .nodes = nodes,
                        .node_count = count,
                        .sites = sites,
                        .site_count = count};
    fixture_message(fixture, (struct message){.kind = MESSAGE_TREE, .tree = tree});
}

static void
random_message(struct fixture *fixture)
{
    static const char long_text[] = "a very long one indeed that no screen can hold in a "
                                    "single line of text, however wide it may be";
    static const char *const texts[] = {"", "a notice", "\x1b[31m", long_text};
    switch (pick(16)) {
    case 0:
        fixture_hello(fixture, pick(3) + 1);
        break;
    case 1:
        fixture_notice(fixture, pick(20), pick(2), texts[pick(4)]);
        break;
    case 2:
        fixture_message(fixture,
                        (struct message){
                            .kind = MESSAGE_BYE,
                            .bye = {pick(4), random_count(), text_of(texts[pick(4)])}
        });
        break;
    case 3:
        fixture_message(fixture,
                        (struct message){
                            .kind = MESSAGE_RESULT,
                            .result = {pick(30), pick(4), text_of(texts[pick(4)])}
        });
        break;
    case 4:
        fixture->reactions = app_link(fixture->app, (enum link_state)pick(4),
                                      texts[pick(4)], fixture->now_ms);
        break;
    case 5:
    case 6:
        random_names(fixture);
        break;
    case 7:
        random_frames(fixture);
        break;
    case 8:
    case 9:
        random_tree(fixture);
        break;
    case 10:
        random_verdicts(fixture);
        break;
    default:
        random_sample(fixture);
        break;
    }
}

static struct key
random_key(void)
{
    struct key key = {0};
    switch (pick(7)) {
    case 0:
        key.code = (unsigned char)"liptfeE*C+-D"[pick(12)]; // the tree, and within it
        break;
    case 1:
        key.code = KEY_CODE_SPECIAL + pick(30);
        break;
    case 2:
        key.code = pick(32);
        break;
    case 3:
        key = (struct key){KEY_CODE_MOUSE, (int)pick(4), (int)pick(60) - 5,
                           (int)pick(150) - 5};
        break;
    case 4:
        key.code = pick(0x110000);
        break;
    default:
        key.code = ' ' + pick(95);
        break;
    }
    return key;
}

// Every cell holds what a terminal may be given, and wide ones have both halves.
static void
check_grid(const struct grid *grid)
{
    for (int i = 0; i < grid->rows * grid->columns; i++) {
        uint32_t character = grid->cells[i].character;
        assert_true(character == 0 || (character >= ' ' && character < 0x110000 &&
                                       !(character >= 0x7f && character < 0xa0)));
        assert_true(character != 0 || i % grid->columns > 0);
        assert_true(grid->cells[i].style < STYLE_COUNT);
    }
    assert_true(grid->cursor_row < grid->rows);
    assert_true(grid->cursor_column < grid->columns || grid->cursor_row < 0);
}

static void
note_requests(const struct fixture *fixture)
{
    for (int i = 0; i < fixture->sent_count; i++) {
        const struct request *request = &fixture->sent[i];
        if (request->action == REQUEST_OPEN) {
            opened = (uint32_t)request->argument;
            opens++;
        }
    }
}

static void
survives(uint32_t with_seed, bool ascii)
{
    struct fixture fixture;
    seed = with_seed;
    fixture_start(&fixture, (struct fixture_options){.ascii = ascii});
    for (int step = 0; step < STEPS; step++) {
        fixture.sent_count = 0;
        switch (pick(8)) {
        case 0:
            random_message(&fixture);
            break;
        case 1:
            fixture_wait(&fixture, pick(40) == 0 ? 70000 : pick(1500));
            break;
        case 2:
            assert_true(grid_resize(&fixture.grid, (int)pick(45), (int)pick(140)));
            break;
        default:
            fixture.reactions = app_key(fixture.app, random_key(), fixture.now_ms);
            break;
        }
        note_requests(&fixture);
        app_draw(fixture.app, &fixture.grid, fixture.now_ms);
        check_grid(&fixture.grid);
    }
    // and it still obeys
    fixture_hello(&fixture, 4120);
    for (int i = 0; i < 10; i++) {
        fixture_keys(&fixture, "<Esc>");
    }
    fixture_keys(&fixture, "q");
    assert_true(fixture.reactions & REACT_QUIT);
    fixture_stop(&fixture);
}

static void
survives_whatever_is_typed_and_sent(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= 4; i++) {
        survives(i, i == 4);
    }
    assert_in_range(opens, 20, STEPS); // trees were among what was seen
}

// Within the tree and the flame graph, which most random walks leave soon.
static void
survives_whatever_is_typed_at_a_tree(void **state)
{
    struct fixture fixture;
    (void)state;
    seed = 7;
    orders_open(&fixture, ORDERS_SAMPLED);
    opened = ORDERS_CLASS;
    for (int step = 0; step < STEPS; step++) {
        fixture.sent_count = 0;
        if (pick(5) == 0) {
            random_tree(&fixture);
        } else if (pick(20) == 0) {
            random_frames(&fixture);
        } else if (pick(300) == 0) {
            assert_true(grid_resize(&fixture.grid, 2 + (int)pick(45), (int)pick(140)));
        } else if (pick(100) == 0) {
            fixture_demo_second(&fixture);
            fixture_keys(&fixture, "<Esc><Esc><Esc><Esc><Esc>L\\gjjjjl");
        } else if (pick(60) == 0) {
            fixture_keys(&fixture, "fjj<Enter>");
        } else {
            app_key(fixture.app, random_key(), fixture.now_ms);
        }
        app_draw(fixture.app, &fixture.grid, fixture.now_ms);
        check_grid(&fixture.grid);
    }
    fixture_stop(&fixture);
}

// Keys may be R: what is recorded then goes with the folder.
static char folder[] = "/tmp/memtop-monkey-XXXXXX";

static int
enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int
leave_folder(void **state)
{
    DIR *here = opendir(".");
    struct dirent *entry;
    (void)state;
    if (here == NULL) {
        return -1;
    }
    while ((entry = readdir(here)) != NULL) {
        (void)unlink(entry->d_name);
    }
    closedir(here);
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survives_whatever_is_typed_and_sent),
        cmocka_unit_test(survives_whatever_is_typed_at_a_tree),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
