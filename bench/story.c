#include "bench/story.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_US 1000000u
#define CENSUS_SECONDS 60u
#define BEGIN_WALL_US 1767225600000000u // 2026-01-01 UTC
#define BEGIN_MONOTONIC_US 5000000u
#define HOT 12u // every twelfth class changes nearly always

static uint64_t
random_bits(struct story *story)
{
    story->random ^= story->random >> 12;
    story->random ^= story->random << 25;
    story->random ^= story->random >> 27;
    return story->random * UINT64_C(2685821657736338717);
}

static void *
room_for(size_t count, size_t size)
{
    void *room = calloc(count, size);
    if (room == NULL) {
        abort();
    }
    return room;
}

static void
name_classes(struct story *story)
{
    static const char *const modules[] = {"Shop", "Billing", "ActiveRecord::Type",
                                          "Warehouse", "RSpec::Core"};
    static const char *const nouns[] = {"Order", "Line",    "Customer", "Price",
                                        "Cache", "Address", "Event"};
    for (size_t i = 0; i < story->classes; i++) {
        (void)snprintf(story->spelled[i], sizeof story->spelled[i], "%s::%s%zu",
                       modules[i % 5], nouns[i % 7], i);
        story->names[i] =
            (struct class_name){(class_id)i + 1, 0, text_of(story->spelled[i])};
    }
}

void
story_begin(struct story *story, size_t classes, size_t changing, uint64_t seed)
{
    *story = (struct story){
        .classes = classes,
        .changing = changing,
        .random = seed,
        .at = {BEGIN_MONOTONIC_US, BEGIN_WALL_US},
        .process = { 100000000, 400000, 20000, 10, 2, 30, 100},
        .rows = room_for(classes, sizeof(struct class_row)),
        .known = room_for(classes, sizeof(struct class_row)),
        .delta = room_for(classes, sizeof(struct class_row)),
        .names = room_for(classes, sizeof(struct class_name)),
        .spelled = room_for(classes, 64),
    };
    name_classes(story);
    for (size_t i = 0; i < classes; i++) {
        uint64_t live = random_bits(story) % 5000;
        story->rows[i] =
            (struct class_row){(class_id)i + 1, live, live * 7, live * 6, live * 88};
        story->totals.live += live;
        story->totals.allocated += live * 7;
        story->totals.freed += live * 6;
        story->totals.bytes += live * 88;
    }
}

void
story_end(struct story *story)
{
    free(story->rows);
    free(story->known);
    free(story->delta);
    free(story->names);
    free(story->spelled);
    *story = (struct story){0};
}

struct message
story_hello(const struct story *story)
{
    return (struct message){
        .kind = MESSAGE_HELLO,
        .at = story->at,
        .hello = {.version = PROTOCOL_VERSION,
                  .program_version = text_of("0.1.0"),
                  .pid = 4242,
                  .parent_pid = 1,
                  .command = text_of("ruby app.rb"),
                  .runtime = text_of("ruby 3.1.2"),
                  .started_us = BEGIN_WALL_US,
                  .mode = MODE_COUNT,
                  .capabilities = CAPABILITY_COUNT | CAPABILITY_GC,
                  .interval_ms = 1000}
    };
}

struct message
story_names(const struct story *story)
{
    return (struct message){
        .kind = MESSAGE_NAMES, .at = story->at, .names = {story->names, story->classes}
    };
}

static bool
changes(struct story *story, size_t i)
{
    size_t hot = story->classes / HOT + 1;
    size_t of_hot = story->changing < hot ? story->changing : hot;
    if (i % HOT == 0) {
        return random_bits(story) % hot < of_hot;
    }
    return random_bits(story) % (story->classes - hot + 1) < story->changing - of_hot;
}

static void
change(struct story *story, struct class_row *row)
{
    uint64_t born = random_bits(story) % 300;
    uint64_t died = random_bits(story) % 299;
    died = died < row->live + born ? died : row->live + born;
    row->allocated += born;
    row->freed += died;
    row->live += born - died;
    story->totals.allocated += born;
    story->totals.freed += died;
    story->totals.live += born - died;
}

static void
census(struct story *story, struct class_row *row)
{
    uint64_t bytes = row->live * (40 + row->id % 97);
    story->totals.bytes += bytes - row->bytes;
    row->bytes = bytes;
}

static void
pass_second(struct story *story)
{
    uint64_t second = (story->at.wall_us - BEGIN_WALL_US) / SECOND_US;
    story->at.monotonic_us += SECOND_US + random_bits(story) % 900;
    story->at.wall_us += SECOND_US;
    story->process.rss_bytes += (random_bits(story) % 64) * 4096;
    story->process.heap_slots_live = story->totals.live;
    story->process.gc_count += random_bits(story) % 3;
    story->process.gc_time_ms += random_bits(story) % 9;
    story->delta_count = 0;
    for (size_t i = 0; i < story->classes; i++) {
        struct class_row *row = &story->rows[i];
        uint64_t bytes = row->bytes;
        bool changed = changes(story, i);
        if (changed) {
            change(story, row);
        }
        if (second % CENSUS_SECONDS == 0) {
            census(story, row);
        }
        if (changed || bytes != row->bytes) {
            story->delta[story->delta_count++] = *row;
        }
    }
}

static struct sample
header(const struct story *story)
{
    return (struct sample){
        .mode = MODE_COUNT,
        .process = story->process,
        .probe = {12000 + story->totals.live % 777, 0, 0, 0, 6100, 40000, 1},
        .totals = story->totals
    };
}

struct message
story_step(struct story *story)
{
    if (story->begun) {
        pass_second(story);
    }
    struct message message = {
        .kind = MESSAGE_SAMPLE, .at = story->at, .sample = header(story)};
    message.sample.key = !story->begun;
    message.sample.rows = story->begun ? story->delta : story->rows;
    message.sample.row_count = story->begun ? story->delta_count : story->classes;
    story->begun = true;
    return message;
}

void
story_learn(struct story *story)
{
    memcpy(story->known, story->rows, story->classes * sizeof *story->rows);
    story->before = header(story);
    story->before_at = story->at;
    story->learned = true;
}

static bool
tell(void *context, bool (*take)(void *taker, const struct message *message), void *taker)
{
    struct story *story = context;
    if (!story->learned) {
        return true;
    }
    struct message hello = story_hello(story);
    struct message names = story_names(story);
    struct message sample = {
        .kind = MESSAGE_SAMPLE, .at = story->before_at, .sample = story->before};
    sample.sample.key = true;
    sample.sample.rows = story->known;
    sample.sample.row_count = story->classes;
    return take(taker, &hello) && take(taker, &names) && take(taker, &sample);
}

struct state
story_state(struct story *story)
{
    return (struct state){tell, story};
}
