/*
 * The lines around a place in a file, under the tree that names it.
 *
 * Views do no I/O: who reads the file is told by the app (scene.read_source). One
 * file is kept, until another is asked for. The text is the watched machine's only
 * when that is this one; what cannot be read is said in words.
 */
#ifndef TUI_VIEW_SOURCE_H
#define TUI_VIEW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_BYTES_MAX (1024u * 1024)
#define SOURCE_WORDS_BYTES 128

struct source_text {
    char *bytes; // owned, terminated; NULL when it could not be read
    size_t length;
    uint64_t changed_us;            // when the file was changed last, wall time
    char words[SOURCE_WORDS_BYTES]; // why it could not be read
};

// Read a whole file, a regular one of at most SOURCE_BYTES_MAX.
typedef void source_reader(const char *file, struct source_text *text);

struct source {
    struct source_text text;
    char *file;   // owned: what was read, NULL for nothing yet
    size_t *rows; // owned: where each line begins
    size_t row_count;
};

struct scene;
struct grid;
struct area;

void source_destroy(struct source *source);

// A line to be looked at.
struct source_line {
    const char *file;  // "" for none
    const char *title; // what people call the file
    uint32_t line;
    const char *words; // behind it, "" for none
};

// Draw the lines around one, that one marked. The first row of the area is the title.
void source_draw(struct source *source, const struct scene *scene, struct grid *grid,
                 struct area area, struct source_line line);

#endif
