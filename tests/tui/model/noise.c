#include "tests/tui/model/noise.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C(1000000)
#define CLASSES 28 // ids from 1 on

uint32_t
noise_pick(struct noise *noise, uint32_t below)
{
    noise->seed =
        noise->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(noise->seed >> 33) % below;
}

static uint64_t
count(struct noise *noise)
{
    static const uint64_t odd[] = {0, 1, COUNT_UNKNOWN, COUNT_UNKNOWN - 1,
                                   UINT64_C(1) << 48};
    return noise_pick(noise, 8) == 0 ? odd[noise_pick(noise, 5)]
                                     : noise_pick(noise, 100000);
}

static struct text
name(struct noise *noise)
{
    static char grows[MESSAGE_TEXT_MAX]; // to four times its bytes
    static const char *const plain[] = {
        "Order",
        "Hash",
        "",
        "A\xff\n",
        "\x1b[2J\x1b]0;title\a",
        "\\x1B[2J",
        "\xcc\x81 begins with a mark",
        "\xe2\x80\xae right to left",
        "#<Class:0x1>",
        "(iseq)",
        "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
    };
    uint32_t chosen = noise_pick(noise, sizeof plain / sizeof plain[0] + 2);
    if (chosen == sizeof plain / sizeof plain[0]) {
        return (struct text){"\0a\0", 3};
    }
    if (chosen > sizeof plain / sizeof plain[0]) {
        memset(grows, 1, sizeof grows);
        grows[0] = (char)('a' + noise_pick(noise, 3));
        return (struct text){grows, sizeof grows - noise_pick(noise, 3)};
    }
    return text_of(plain[chosen]);
}

static struct message
hello(struct noise *noise)
{
    if (noise->started_us == 0 || noise_pick(noise, 2) == 0) {
        noise->started_us = noise->us;
    }
    noise->connection = 0;
    noise->trees = 0;
    noise->nodes = FRAME_FIRST;
    noise->mode = MODE_COUNT;
    return (struct message){
        .kind = MESSAGE_HELLO,
        .hello = {.version = PROTOCOL_VERSION,
                  .program_version = text_of("0.1.0"),
                  .pid = noise->started_us % 1000,
                  .parent_pid = 1,
                  .command = name(noise),
                  .runtime = text_of("ruby 3.1.2"),
                  .started_us = noise->started_us,
                  .mode = MODE_COUNT,
                  .interval_ms = 1000},
    };
}

static struct message
names(struct noise *noise)
{
    size_t listed = 1 + noise_pick(noise, 8);
    for (size_t i = 0; i < listed; i++) {
        noise->names[i] = (struct class_name){1 + noise_pick(noise, CLASSES),
                                              noise_pick(noise, 16), name(noise)};
    }
    return (struct message){
        .kind = MESSAGE_NAMES, .names = {noise->names, listed}
    };
}

// The first one of a connection is a key; dormant ones say nothing.
static struct message
sample(struct noise *noise)
{
    bool dormant = noise->mode == MODE_DORMANT;
    size_t rows = dormant ? 0 : noise_pick(noise, 16);
    size_t gone =
        dormant || noise->quiet || noise_pick(noise, 4) != 0 ? 0 : noise_pick(noise, 4);
    for (size_t i = 0; i < rows; i++) {
        noise->rows[i] = (struct class_row){1 + noise_pick(noise, CLASSES), count(noise),
                                            count(noise), count(noise), count(noise)};
    }
    for (size_t i = 0; i < gone; i++) {
        noise->gone[i] = 1 + noise_pick(noise, CLASSES);
    }
    bool key =
        noise->connection < 3 || dormant || (noise_pick(noise, 30) == 0 && !noise->quiet);
    struct message message = {
        .kind = MESSAGE_SAMPLE,
        .sample = {.key = key,
                   .mode = noise->mode,
                   .totals = {count(noise), count(noise), count(noise), count(noise)},
                   .rows = noise->rows,
                   .row_count = rows,
                   .gone = noise->gone,
                   .gone_count = gone},
    };
    message.sample.process = (struct process_state){
        .rss_bytes = count(noise), .gc_count = 7, .gc_time_ms = noise->us / 100000};
    // now and then a walk of the heap
    message.sample.probe =
        (struct probe_state){.cost_ppm = 10, .census_us = noise->us / 7000000 * 7000000};
    noise->trees = dormant ? 0 : NOISE_OPEN;
    return message;
}

static struct message
frames(struct noise *noise)
{
    size_t listed = 1 + noise_pick(noise, 8);
    for (size_t i = 0; i < listed; i++) {
        noise->frames[i] = (struct frame_name){FRAME_FIRST - 2 + noise_pick(noise, 30),
                                               noise_pick(noise, 2), name(noise),
                                               name(noise), noise_pick(noise, 100)};
    }
    return (struct message){
        .kind = MESSAGE_FRAMES, .frames = {noise->frames, listed}
    };
}

static void
fill_tree(struct noise *noise, struct tree *tree)
{
    tree->node_count = noise_pick(noise, 6);
    tree->site_count = noise_pick(noise, 12);
    for (size_t i = 0; i < tree->node_count; i++) {
        uint32_t id = ++noise->nodes;
        noise->tree_nodes[i] =
            (struct tree_node){id, noise_pick(noise, id), noise_pick(noise, 46),
                               noise_pick(noise, 90), noise_pick(noise, 3)};
    }
    for (size_t i = 0; i < tree->site_count; i++) {
        uint32_t shift = noise_pick(noise, 2) * noise_pick(noise, 12);
        noise->sites[i] = (struct tree_site){
            noise_pick(noise, noise->nodes + 2),
            shift,
            count(noise) % 100000,
            count(noise),
            count(noise),
            {0, 1, count(noise), COUNT_UNKNOWN}
        };
    }
}

// Sampled or exact, of one of the open classes or, in the wild, of any.
static struct message
tree(struct noise *noise, class_id class)
{
    struct message message = {
        .kind = MESSAGE_TREE,
        .tree = {.class_id = class,
                 .key = noise_pick(noise, 9) == 0,
                 .flags = noise_pick(noise, 8),
                 .live = count(noise),
                 .since_us = count(noise),
                 .shift = noise_pick(noise, 5),
                 .unsampled_live = noise_pick(noise, 2) * noise_pick(noise, 900),
                 .unsampled_allocated = noise_pick(noise, 2) * noise_pick(noise, 2000),
                 .depth = 32,
                 .nodes = noise->tree_nodes,
                 .sites = noise->sites},
    };
    fill_tree(noise, &message.tree);
    return message;
}

static struct message
verdicts(struct noise *noise)
{
    size_t listed = noise_pick(noise, 5);
    for (size_t i = 0; i < listed; i++) {
        noise->verdicts[i] = (struct verdict_row){
            1 + noise_pick(noise, CLASSES + 3),
            noise_pick(noise, 8),
            {1, count(noise), COUNT_UNKNOWN, count(noise)},
            name(noise)
        };
    }
    return (struct message){
        .kind = MESSAGE_VERDICTS, .verdicts = {noise->verdicts, listed}
    };
}

// Ids in any order, again, and without a name; classes of tags nobody knows.
static struct message
tags(struct noise *noise)
{
    size_t named = noise_pick(noise, 4);
    size_t listed = noise_pick(noise, 6);
    size_t classes = noise_pick(noise, 4);
    for (size_t i = 0; i < named; i++) {
        noise->tag_names[i] = (struct tag_name){noise_pick(noise, 9), name(noise)};
    }
    for (size_t i = 0; i < listed; i++) {
        noise->tag_rows[i] = (struct tag_row){
            noise_pick(noise, 9), count(noise), count(noise), count(noise),
            count(noise),         count(noise), count(noise), {0, 1, count(noise), 5}
        };
    }
    for (size_t i = 0; i < classes; i++) {
        noise->tag_classes[i] = (struct tag_class){
            (uint32_t)(1 + i / 2), 1 + noise_pick(noise, CLASSES),
            count(noise),          count(noise),
            count(noise),          {0, 1, 2, count(noise)}
        };
    }
    return (struct message){
        .kind = MESSAGE_TAGS,
        .tags = {noise_pick(noise, 9) == 0, noise->tag_names, named, noise->tag_rows,
                 listed, noise->tag_classes, classes}
    };
}

static struct message
notice(struct noise *noise)
{
    return (struct message){
        .kind = MESSAGE_NOTICE,
        .notice = {noise_pick(noise, 20), noise_pick(noise, 2), name(noise)}
    };
}

static struct message
bye(struct noise *noise)
{
    return (struct message){
        .kind = MESSAGE_BYE, .bye = {noise_pick(noise, 3), count(noise), name(noise)}
    };
}

// Time goes on unevenly.
static void
pass(struct noise *noise)
{
    uint32_t step = noise->quiet ? 1 : noise_pick(noise, 60);
    if (step == 0) {
        noise->us += 40 * SECOND; // a gap
    } else if (step == 59 && noise->us > 200 * SECOND) {
        noise->us -= 100 * SECOND; // another machine's clock
    } else {
        noise->us += 700000 + noise_pick(noise, 600000);
    }
}

static struct message
something(struct noise *noise)
{
    uint32_t kind = noise_pick(noise, 100);
    if (kind < 55) {
        pass(noise);
        return sample(noise);
    }
    if (kind < 65) {
        return names(noise);
    }
    if (kind < 75) {
        return frames(noise);
    }
    if (kind < 82) {
        return verdicts(noise);
    }
    if (kind < 85) {
        return tags(noise);
    }
    if (kind < 88) {
        return notice(noise);
    }
    if (kind < 90 && !noise->quiet) {
        noise->mode = (uint64_t[]){MODE_DORMANT, MODE_CENSUS, MODE_COUNT,
                                   MODE_TRACE}[noise_pick(noise, 4)];
        pass(noise);
        return sample(noise);
    }
    if (kind == 90 && !noise->quiet) {
        return bye(noise);
    }
    if (kind < 93 && !noise->quiet) {
        return hello(noise);
    }
    return noise->wild ? tree(noise, 1 + noise_pick(noise, CLASSES)) : names(noise);
}

static struct message
next(struct noise *noise)
{
    if (noise->us == 0) {
        noise->us = 1000 * SECOND + noise_pick(noise, 5000000);
        return hello(noise);
    }
    noise->connection++;
    if (noise->connection == 1) {
        return names(noise);
    }
    if (noise->connection == 2 && noise_pick(noise, 4) > 0) {
        pass(noise);
        return sample(noise);
    }
    if (noise->trees > 0) {
        return tree(noise, (class_id)noise->trees--);
    }
    return something(noise);
}

struct message
noise_next(struct noise *noise)
{
    struct message message = next(noise);
    message.at = (struct stamp){noise->us, UINT64_C(1767268800000000) + noise->us};
    return message;
}
