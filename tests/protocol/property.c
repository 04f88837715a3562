// Random messages survive encoding and decoding. MEMTOP_SEED repeats a run.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/protocol/examples.h"

#define ROUNDS 3000
#define LIST_MAX 40
#define TEXT_MAX 300

static uint64_t seed;

// xorshift64*: small, and the same everywhere.
static uint64_t
random_bits(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(2685821657736338717);
}

// Of any size: each length in bits is as likely as another.
static uint64_t
random_number(void)
{
    return random_bits() >> random_bits() % 64;
}

// Unknown now and then.
static uint64_t
random_count(void)
{
    return random_bits() % 5 == 0 ? COUNT_UNKNOWN : random_number();
}

static struct text
random_text(void)
{
    static char bytes[TEXT_MAX]; // shared: what matters is what is in it
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)random_bits();
    }
    return (struct text){bytes, random_bits() % sizeof bytes};
}

static void
fill_counts(uint64_t *counts, size_t size)
{
    for (size_t i = 0; i < size / sizeof *counts; i++) {
        counts[i] = random_count();
    }
}

static struct sample
random_sample(void)
{
    static struct class_row rows[LIST_MAX];
    static class_id gone[LIST_MAX];
    struct sample sample = {
        .key = random_bits() % 2 == 0,
        .mode = random_count(),
        .rows = rows,
        .row_count = random_bits() % LIST_MAX,
        .gone = gone,
        .gone_count = random_bits() % LIST_MAX,
    };
    fill_counts(&sample.process.rss_bytes, sizeof sample.process);
    fill_counts(&sample.probe.cost_ppm, sizeof sample.probe);
    fill_counts(&sample.totals.live, sizeof sample.totals);
    for (size_t i = 0; i < LIST_MAX; i++) {
        rows[i] = (struct class_row){(class_id)random_number(), random_count(),
                                     random_count(), random_count(), random_count()};
        gone[i] = (class_id)random_number();
    }
    return sample;
}

static void
expect_same_text(struct text one, struct text other)
{
    assert_int_equal(one.length, other.length);
    assert_memory_equal(one.bytes, other.bytes, one.length);
}

static struct message
sent_and_received(struct decoder *decoder, const struct message *message)
{
    struct buffer frame = {0};
    struct message received;
    example_encode(&frame, message);
    size_t split = random_bits() % frame.length;
    decoder_feed(decoder, frame.bytes, split);
    assert_int_equal(decoder_next(decoder, &received), DECODE_NEED_MORE);
    decoder_feed(decoder, frame.bytes + split, frame.length - split);
    assert_int_equal(decoder_next(decoder, &received), DECODE_MESSAGE);
    buffer_destroy(&frame);
    assert_true(received.kind == message->kind);
    assert_true(received.at.monotonic_us == message->at.monotonic_us);
    assert_true(received.at.wall_us == message->at.wall_us);
    return received;
}

static void
any_sample_arrives_as_it_was_sent(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct message sent = {
            .kind = MESSAGE_SAMPLE,
            .at = {random_number(), random_number()},
            .sample = random_sample(),
        };
        struct message got = sent_and_received(&decoder, &sent);
        const struct sample *one = &sent.sample;
        const struct sample *other = &got.sample;
        assert_true(one->key == other->key && one->mode == other->mode);
        assert_memory_equal(&one->process, &other->process, sizeof one->process);
        assert_memory_equal(&one->probe, &other->probe, sizeof one->probe);
        assert_memory_equal(&one->totals, &other->totals, sizeof one->totals);
        assert_int_equal(one->row_count, other->row_count);
        for (size_t i = 0; i < one->row_count; i++) {
            assert_memory_equal(&one->rows[i].live, &other->rows[i].live,
                                4 * sizeof(uint64_t));
            assert_int_equal(one->rows[i].id, other->rows[i].id);
        }
        assert_int_equal(one->gone_count, other->gone_count);
        for (size_t i = 0; i < one->gone_count; i++) {
            assert_int_equal(one->gone[i], other->gone[i]);
        }
    }
    decoder_destroy(&decoder);
}

static void
any_names_arrive_as_they_were_sent(void **state)
{
    (void)state;
    static struct class_name list[LIST_MAX];
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS / 10; round++) {
        for (size_t i = 0; i < LIST_MAX; i++) {
            list[i] = (struct class_name){(class_id)random_number(),
                                          (uint32_t)random_number(), random_text()};
        }
        struct message sent = {
            .kind = MESSAGE_NAMES, .names = {list, random_bits() % LIST_MAX}
        };
        struct message got = sent_and_received(&decoder, &sent);
        assert_int_equal(got.names.count, sent.names.count);
        for (size_t i = 0; i < got.names.count; i++) {
            assert_int_equal(got.names.list[i].id, list[i].id);
            assert_int_equal(got.names.list[i].flags, list[i].flags);
            expect_same_text(got.names.list[i].name, list[i].name);
        }
    }
    decoder_destroy(&decoder);
}

static void
any_hello_arrives_as_it_was_sent(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct message sent = {
            .kind = MESSAGE_HELLO,
            .at = {random_number(),                 random_number()},
            .hello = { .version = random_number(),
                   .program_version = random_text(),
                   .pid = random_number(),
                   .parent_pid = random_number(),
                   .command = random_text(),
                   .runtime = random_text(),
                   .started_us = random_count(),
                   .mode = random_count(),
                   .capabilities = random_number(),
                   .interval_ms = random_count()},
        };
        struct message got = sent_and_received(&decoder, &sent);
        const struct hello *one = &sent.hello;
        const struct hello *other = &got.hello;
        assert_true(one->version == other->version && one->pid == other->pid);
        assert_true(one->parent_pid == other->parent_pid && one->mode == other->mode);
        assert_true(one->started_us == other->started_us);
        assert_true(one->capabilities == other->capabilities);
        assert_true(one->interval_ms == other->interval_ms);
        expect_same_text(one->program_version, other->program_version);
        expect_same_text(one->command, other->command);
        expect_same_text(one->runtime, other->runtime);
    }
    decoder_destroy(&decoder);
}

static struct tree_site
random_site(void)
{
    struct tree_site site = {.node = (uint32_t)random_number(),
                             .shift = (uint32_t)random_number()};
    fill_counts(&site.live, sizeof site - offsetof(struct tree_site, live));
    return site;
}

static struct tree
random_tree(void)
{
    static struct tree_node nodes[LIST_MAX];
    static struct tree_site sites[LIST_MAX];
    for (size_t i = 0; i < LIST_MAX; i++) {
        nodes[i] =
            (struct tree_node){(uint32_t)random_number(), (uint32_t)random_number(),
                               (uint32_t)random_number(), (uint32_t)random_number(),
                               (uint32_t)random_number()};
        sites[i] = random_site();
    }
    return (struct tree){.class_id = (class_id)random_number(),
                         .key = random_bits() % 2 == 0,
                         .flags = random_number(),
                         .live = random_count(),
                         .since_us = random_count(),
                         .shift = random_number(),
                         .unsampled_live = random_count(),
                         .unsampled_allocated = random_count(),
                         .depth = random_count(),
                         .nodes_used = random_count(),
                         .nodes_room = random_count(),
                         .nodes = nodes,
                         .node_count = random_bits() % LIST_MAX,
                         .sites = sites,
                         .site_count = random_bits() % LIST_MAX};
}

static void
expect_same_site(const struct tree_site *one, const struct tree_site *other)
{
    assert_true(one->node == other->node && one->shift == other->shift);
    assert_memory_equal(&one->live, &other->live,
                        sizeof *one - offsetof(struct tree_site, live));
}

static void
any_tree_arrives_as_it_was_sent(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct message sent = {.kind = MESSAGE_TREE, .tree = random_tree()};
        struct message got = sent_and_received(&decoder, &sent);
        const struct tree *one = &sent.tree;
        const struct tree *other = &got.tree;
        assert_true(one->class_id == other->class_id && one->key == other->key);
        assert_true(one->flags == other->flags && one->live == other->live);
        assert_true(one->since_us == other->since_us && one->shift == other->shift);
        assert_true(one->unsampled_live == other->unsampled_live);
        assert_true(one->unsampled_allocated == other->unsampled_allocated);
        assert_true(one->depth == other->depth);
        assert_true(one->nodes_used == other->nodes_used);
        assert_true(one->nodes_room == other->nodes_room);
        assert_int_equal(one->node_count, other->node_count);
        if (one->node_count > 0) {
            assert_memory_equal(one->nodes, other->nodes,
                                one->node_count * sizeof *one->nodes);
        }
        assert_int_equal(one->site_count, other->site_count);
        for (size_t i = 0; i < one->site_count; i++) {
            expect_same_site(&one->sites[i], &other->sites[i]);
        }
    }
    decoder_destroy(&decoder);
}

static void
any_frames_arrive_as_they_were_sent(void **state)
{
    (void)state;
    static struct frame_name list[LIST_MAX];
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS / 10; round++) {
        for (size_t i = 0; i < LIST_MAX; i++) {
            list[i] =
                (struct frame_name){(uint32_t)random_number(), (uint32_t)random_number(),
                                    random_text(), random_text(), random_number()};
        }
        struct message sent = {
            .kind = MESSAGE_FRAMES, .frames = {list, random_bits() % LIST_MAX}
        };
        struct message got = sent_and_received(&decoder, &sent);
        assert_int_equal(got.frames.count, sent.frames.count);
        for (size_t i = 0; i < got.frames.count; i++) {
            const struct frame_name *other = &got.frames.list[i];
            assert_true(other->id == list[i].id && other->flags == list[i].flags);
            assert_true(other->line == list[i].line);
            expect_same_text(other->label, list[i].label);
            expect_same_text(other->path, list[i].path);
        }
    }
    decoder_destroy(&decoder);
}

static void
any_verdicts_arrive_as_they_were_sent(void **state)
{
    (void)state;
    static struct verdict_row list[LIST_MAX];
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS / 10; round++) {
        for (size_t i = 0; i < LIST_MAX; i++) {
            list[i] = (struct verdict_row){.id = (class_id)random_number(),
                                           .verdict = random_number(),
                                           .reason = random_text()};
            fill_counts(list[i].ages, sizeof list[i].ages);
        }
        struct message sent = {
            .kind = MESSAGE_VERDICTS, .verdicts = {list, random_bits() % LIST_MAX}
        };
        struct message got = sent_and_received(&decoder, &sent);
        assert_int_equal(got.verdicts.count, sent.verdicts.count);
        for (size_t i = 0; i < got.verdicts.count; i++) {
            const struct verdict_row *other = &got.verdicts.list[i];
            assert_true(other->id == list[i].id && other->verdict == list[i].verdict);
            assert_memory_equal(other->ages, list[i].ages, sizeof other->ages);
            expect_same_text(other->reason, list[i].reason);
        }
    }
    decoder_destroy(&decoder);
}

static void
any_tags_arrive_as_they_were_sent(void **state)
{
    (void)state;
    static struct tag_name names[LIST_MAX];
    static struct tag_row rows[LIST_MAX];
    static struct tag_class classes[LIST_MAX];
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS / 10; round++) {
        for (size_t i = 0; i < LIST_MAX; i++) {
            names[i] = (struct tag_name){(uint32_t)random_number(), random_text()};
            rows[i].id = (uint32_t)random_number();
            fill_counts(&rows[i].calls, 6 * sizeof(uint64_t));
            fill_counts(rows[i].ages, sizeof rows[i].ages);
            classes[i] = (struct tag_class){.tag = (uint32_t)random_number(),
                                            .class_id = (class_id)random_number()};
            fill_counts(&classes[i].allocated, 3 * sizeof(uint64_t));
            fill_counts(classes[i].ages, sizeof classes[i].ages);
        }
        struct message sent = {
            .kind = MESSAGE_TAGS,
            .tags = {.key = random_bits() % 2 == 0,
                     .names = names,
                     .name_count = random_bits() % LIST_MAX,
                     .rows = rows,
                     .row_count = random_bits() % LIST_MAX,
                     .classes = classes,
                     .class_count = random_bits() % LIST_MAX}
        };
        struct message got = sent_and_received(&decoder, &sent);
        assert_true(got.tags.key == sent.tags.key);
        assert_int_equal(got.tags.name_count, sent.tags.name_count);
        for (size_t i = 0; i < got.tags.name_count; i++) {
            assert_true(got.tags.names[i].id == names[i].id);
            expect_same_text(got.tags.names[i].text, names[i].text);
        }
        assert_int_equal(got.tags.row_count, sent.tags.row_count);
        for (size_t i = 0; i < got.tags.row_count; i++) {
            assert_true(got.tags.rows[i].id == rows[i].id);
            assert_memory_equal(&got.tags.rows[i].calls, &rows[i].calls,
                                sizeof rows[i] - offsetof(struct tag_row, calls));
        }
        assert_int_equal(got.tags.class_count, sent.tags.class_count);
        for (size_t i = 0; i < got.tags.class_count; i++) {
            assert_true(got.tags.classes[i].tag == classes[i].tag);
            assert_true(got.tags.classes[i].class_id == classes[i].class_id);
            assert_memory_equal(&got.tags.classes[i].allocated, &classes[i].allocated,
                                sizeof classes[i] -
                                    offsetof(struct tag_class, allocated));
        }
    }
    decoder_destroy(&decoder);
}

static void
any_mark_arrives_as_it_was_sent(void **state)
{
    (void)state;
    static struct mark_row rows[LIST_MAX];
    static struct mark_place places[LIST_MAX];
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS / 10; round++) {
        for (size_t i = 0; i < LIST_MAX; i++) {
            rows[i] = (struct mark_row){(class_id)random_number(), random_count(),
                                        random_count()};
            places[i] = (struct mark_place){
                (class_id)random_number(), (uint32_t)random_number(),
                (double)random_number() / 3, (double)random_number() / 7};
        }
        struct message sent = {
            .kind = MESSAGE_MARK,
            .mark = {.letter = (uint32_t)random_number(),
                     .counted = random_bits() % 2 == 0,
                     .live = random_count(),
                     .bytes = random_count(),
                     .at_monotonic_us = random_number(),
                     .at_wall_us = random_number(),
                     .rows = rows,
                     .row_count = random_bits() % LIST_MAX,
                     .places = places,
                     .place_count = random_bits() % LIST_MAX},
        };
        struct message got = sent_and_received(&decoder, &sent);
        const struct mark_state *one = &sent.mark;
        const struct mark_state *other = &got.mark;
        assert_true(one->letter == other->letter && one->counted == other->counted);
        assert_true(one->live == other->live && one->bytes == other->bytes);
        assert_true(one->at_monotonic_us == other->at_monotonic_us);
        assert_true(one->at_wall_us == other->at_wall_us);
        assert_int_equal(one->row_count, other->row_count);
        for (size_t i = 0; i < one->row_count; i++) {
            assert_true(rows[i].id == other->rows[i].id);
            assert_true(rows[i].live == other->rows[i].live);
            assert_true(rows[i].bytes == other->rows[i].bytes);
        }
        assert_int_equal(one->place_count, other->place_count);
        for (size_t i = 0; i < one->place_count; i++) {
            assert_true(places[i].class_id == other->places[i].class_id);
            assert_true(places[i].node == other->places[i].node);
            assert_true(places[i].live == other->places[i].live);
            assert_true(places[i].bytes == other->places[i].bytes);
        }
    }
    decoder_destroy(&decoder);
}

static void
any_key_gap_and_leaving_arrive_as_they_were_sent(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct message gap = {
            .kind = MESSAGE_GAP, .gap = {random_count(), random_text()}
        };
        struct message got = sent_and_received(&decoder, &gap);
        assert_true(got.gap.reason == gap.gap.reason);
        expect_same_text(got.gap.text, gap.gap.text);

        struct message key = {.kind = MESSAGE_KEY};
        key.key = (struct key_group){
            random_bits() % 2 == 0, random_number(), random_number(), random_count(),
            random_count(),         random_count(),  random_count(),  random_number()};
        got = sent_and_received(&decoder, &key);
        assert_true(got.key.begin == key.key.begin);
        assert_memory_equal(&got.key.previous, &key.key.previous, 7 * sizeof(uint64_t));

        const struct left_row row = {(class_id)random_number(), random_count(),
                                     random_count()};
        struct message left = {
            .kind = MESSAGE_LEFT, .left = {&row, 1}
        };
        got = sent_and_received(&decoder, &left);
        assert_int_equal(got.left.count, 1);
        assert_true(got.left.list->id == row.id);
        assert_true(got.left.list->former_id == row.former_id);
        assert_true(got.left.list->gone_us == row.gone_us);
    }
    decoder_destroy(&decoder);
}

static void
any_short_message_arrives_as_it_was_sent(void **state)
{
    (void)state;
    struct decoder decoder = {0};
    for (int round = 0; round < ROUNDS; round++) {
        struct message notice = {
            .kind = MESSAGE_NOTICE,
            .notice = {random_number(), random_count(), random_text()}
        };
        struct message got = sent_and_received(&decoder, &notice);
        assert_true(got.notice.id == notice.notice.id);
        assert_true(got.notice.severity == notice.notice.severity);
        expect_same_text(got.notice.text, notice.notice.text);

        struct message result = {
            .kind = MESSAGE_RESULT,
            .result = {random_number(), random_count(), random_text()}
        };
        got = sent_and_received(&decoder, &result);
        assert_true(got.result.id == result.result.id);
        assert_true(got.result.status == result.result.status);
        expect_same_text(got.result.text, result.result.text);

        struct message bye = {
            .kind = MESSAGE_BYE, .bye = {random_count(), random_count(), random_text()}
        };
        got = sent_and_received(&decoder, &bye);
        assert_true(got.bye.reason == bye.bye.reason);
        assert_true(got.bye.status == bye.bye.status);
        expect_same_text(got.bye.text, bye.bye.text);

        struct message request = {
            .kind = MESSAGE_REQUEST,
            .request = {random_number(), random_number(), random_number()}
        };
        got = sent_and_received(&decoder, &request);
        assert_memory_equal(&got.request, &request.request, sizeof request.request);
    }
    decoder_destroy(&decoder);
}

int
main(void)
{
    const char *chosen = getenv("MEMTOP_SEED");
    seed = chosen != NULL ? strtoull(chosen, NULL, 10) : (uint64_t)time(NULL);
    seed += seed == 0; // zero would stay zero
    print_message("MEMTOP_SEED=%" PRIu64 "\n", seed);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_sample_arrives_as_it_was_sent),
        cmocka_unit_test(any_names_arrive_as_they_were_sent),
        cmocka_unit_test(any_hello_arrives_as_it_was_sent),
        cmocka_unit_test(any_tree_arrives_as_it_was_sent),
        cmocka_unit_test(any_frames_arrive_as_they_were_sent),
        cmocka_unit_test(any_verdicts_arrive_as_they_were_sent),
        cmocka_unit_test(any_tags_arrive_as_they_were_sent),
        cmocka_unit_test(any_mark_arrives_as_it_was_sent),
        cmocka_unit_test(any_key_gap_and_leaving_arrive_as_they_were_sent),
        cmocka_unit_test(any_short_message_arrives_as_it_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
