/*
 * What tests of recordings have in common: a folder of their own, recordings of a
 * story, and a reader that knows what a table has to be.
 */
#ifndef TESTS_TUI_RECORD_SCENE_H
#define TESTS_TUI_RECORD_SCENE_H

#include "bench/story.h"
#include "tui/record/cursor.h"
#include "tui/record/tape.h"
#include "tui/record/writer.h"

#define SEED 20260101u
#define CLASSES_MAX 4096

// A folder that scene_leave() removes with all that is in it; group fixtures.
int scene_enter(void **state);
int scene_leave(void **state);
const char *scene_path(const char *name); // in the folder; good until the next call

// The bytes of a file, and a file of these bytes.
struct buffer scene_read(const char *path);
void scene_write(const char *path, const void *bytes, size_t length);

// Add the story's next `seconds` to a writer or a ring, one of them NULL; at the very
// beginning its HELLO and NAMES as well. False when that was refused.
bool scene_add(struct story *story, struct writer *writer, struct tape *ring,
               size_t seconds);

// A new file at scene_path(name) with so many seconds of a story.
void scene_record(const char *name, size_t classes, size_t changing, size_t seconds,
                  const struct writer_options *options);

// A tape that has to open.
struct tape *scene_open(const char *path);

// What a viewer would show.
struct table {
    struct class_row rows[CLASSES_MAX]; // by id
    bool named[CLASSES_MAX];
    bool key;         // there was a key sample
    uint64_t samples; // that were news
    uint64_t lost;    // bytes the cursor passed over
    uint64_t gaps;
    struct stamp at; // of the last sample
};

void table_apply(struct table *table, const struct cursor *cursor,
                 const struct message *message);

// Play on, up to a wall time.
enum tape_status table_play(struct table *table, struct cursor *cursor, struct tape *tape,
                            uint64_t until_us);

// Whether it is what the story was at the table's time.
bool table_right(const struct table *table, size_t classes, size_t changing);

#endif
