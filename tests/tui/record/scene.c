#include "tests/tui/record/scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <ftw.h>

static char folder[] = "/tmp/memtop-record-XXXXXX";

int
scene_enter(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int
remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

int
scene_leave(void **state)
{
    (void)state;
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *
scene_path(const char *name)
{
    static char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

struct buffer
scene_read(const char *path)
{
    struct buffer content = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (;;) {
        unsigned char *room = buffer_reserve(&content, 65536);
        assert_non_null(room);
        size_t got = fread(room, 1, 65536, file);
        content.length += got;
        if (got == 0) {
            break;
        }
    }
    fclose(file);
    return content;
}

void
scene_write(const char *path, const void *bytes, size_t length)
{
    // A file that is replaced is made safe by some systems, which takes its time.
    (void)unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static bool
add(struct story *story, struct writer *writer, struct tape *ring,
    const struct message *message)
{
    struct state state = story_state(story);
    return writer != NULL ? writer_add(writer, message, &state)
                          : tape_add(ring, message, &state);
}

bool
scene_add(struct story *story, struct writer *writer, struct tape *ring, size_t seconds)
{
    bool added = true;
    if (!story->begun) {
        struct message hello = story_hello(story);
        struct message names = story_names(story);
        added = add(story, writer, ring, &hello) && add(story, writer, ring, &names);
    }
    for (size_t i = 0; i < seconds && added; i++) {
        struct message sample = story_step(story);
        added = add(story, writer, ring, &sample);
        story_learn(story);
    }
    return added;
}

void
scene_record(const char *name, size_t classes, size_t changing, size_t seconds,
             const struct writer_options *options)
{
    char why[256];
    struct story story;
    struct writer *writer = writer_open(scene_path(name), options, why, sizeof why);
    if (writer == NULL) {
        fail_msg("%s", why);
    }
    story_begin(&story, classes, changing, SEED);
    assert_true(scene_add(&story, writer, NULL, seconds));
    story_end(&story);
    assert_true(writer_close(writer, NULL, 0));
}

struct tape *
scene_open(const char *path)
{
    char why[256] = "";
    struct tape *tape = tape_open(path, why, sizeof why);
    if (tape == NULL) {
        fail_msg("%s", why);
    }
    return tape;
}

void
table_apply(struct table *table, const struct cursor *cursor,
            const struct message *message)
{
    table->lost += cursor->lost;
    switch (message->kind) {
    case MESSAGE_NAMES:
        for (size_t i = 0; i < message->names.count; i++) {
            table->named[message->names.list[i].id] = true;
        }
        break;
    case MESSAGE_SAMPLE:
        if (message->sample.key) {
            memset(table->rows, 0, sizeof table->rows);
            table->key = true;
        }
        for (size_t i = 0; i < message->sample.row_count; i++) {
            const struct class_row *row = &message->sample.rows[i];
            table->rows[row->id] = *row;
        }
        table->samples += !cursor->repeated;
        table->at = message->at;
        break;
    case MESSAGE_GAP:
        table->gaps++;
        break;
    default:
        break;
    }
}

enum tape_status
table_play(struct table *table, struct cursor *cursor, struct tape *tape,
           uint64_t until_us)
{
    for (;;) {
        struct message message;
        struct cursor before = *cursor;
        enum tape_status status = cursor_next(cursor, tape, &message);
        if (status != TAPE_FRAME) {
            table->lost += cursor->lost;
            return status;
        }
        if (message.at.wall_us > until_us) {
            *cursor = before;
            return status;
        }
        table_apply(table, cursor, &message);
    }
}

bool
table_right(const struct table *table, size_t classes, size_t changing)
{
    struct story story;
    story_begin(&story, classes, changing, SEED);
    do {
        (void)story_step(&story);
    } while (story.at.wall_us < table->at.wall_us);
    bool right = story.at.wall_us == table->at.wall_us;
    for (size_t i = 0; i < classes && right; i++) {
        const struct class_row *one = &story.rows[i];
        const struct class_row *other = &table->rows[i + 1];
        right = table->named[i + 1] && one->live == other->live &&
                one->allocated == other->allocated && one->freed == other->freed &&
                one->bytes == other->bytes;
    }
    story_end(&story);
    return right;
}
