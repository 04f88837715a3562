#include "tui/view/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/format.h"
#include "tui/view/grid.h"
#include "tui/view/scene.h"
#include "tui/view/view.h"

#define LINE_BYTES 512 // of one that is shown
#define TAB_CELLS 4
#define NUMBER_CELLS 6

static void
forget(struct source *source)
{
    free(source->text.bytes);
    free(source->file);
    free(source->rows);
    *source = (struct source){0};
}

void
source_destroy(struct source *source)
{
    forget(source);
}

// Where each line begins. Without memory the file counts as not readable.
static void
find_rows(struct source *source)
{
    const struct source_text *text = &source->text;
    size_t count = 1;
    for (size_t i = 0; i < text->length; i++) {
        count += text->bytes[i] == '\n';
    }
    source->rows = calloc(count + 1, sizeof *source->rows);
    if (source->rows == NULL) {
        return;
    }
    for (size_t i = 0; i < text->length; i++) {
        if (text->bytes[i] == '\n') {
            source->rows[++source->row_count] = i + 1;
        }
    }
    source->row_count++;
    source->rows[source->row_count] = text->length + 1;
}

static void
take(struct source *source, const struct scene *scene, const char *file)
{
    if (source->file != NULL && strcmp(source->file, file) == 0) {
        return;
    }
    forget(source);
    source->file = strdup(file);
    if (scene->read_source == NULL || source->file == NULL) {
        snprintf(source->text.words, SOURCE_WORDS_BYTES, "files are not read here");
        return;
    }
    scene->read_source(file, &source->text);
    if (source->text.bytes != NULL) {
        find_rows(source);
    }
}

// A line fit to be shown: tabs become blanks, the rest is escaped.
static void
line_text(const struct source *source, size_t row, char out[LINE_BYTES * 4])
{
    char line[LINE_BYTES];
    size_t used = 0;
    size_t end = source->rows[row + 1] - 1;
    for (size_t i = source->rows[row]; i < end && used + TAB_CELLS < sizeof line; i++) {
        char byte = source->text.bytes[i];
        if (byte == '\t') {
            memset(line + used, ' ', TAB_CELLS);
            used += TAB_CELLS;
        } else if (byte != '\r' || i + 1 < end) {
            line[used++] = byte;
        }
    }
    text_escape(out, LINE_BYTES * 4, line, used);
}

static void
draw_line(const struct source *source, const struct scene *scene, struct grid *grid,
          struct area area, size_t row, bool marked, const char *words)
{
    char number[FORMAT_BYTES];
    char text[LINE_BYTES * 4];
    char fitted[LINE_BYTES * 4];
    int words_width = marked ? text_width(words) + 2 : 0;
    int room = area.columns - NUMBER_CELLS - 4;
    snprintf(number, sizeof number, "%zu", row + 1);
    enum style style = marked ? STYLE_NORMAL : STYLE_DIM;
    grid_put_right(grid, area.row, 2, NUMBER_CELLS - 1, style, number);
    grid_put(grid, area.row, NUMBER_CELLS + 2, 1, STYLE_DIM, scene->glyphs->along);
    line_text(source, row, text);
    text_fit(fitted, sizeof fitted, text, room, scene->ascii);
    int used = grid_put(grid, area.row, NUMBER_CELLS + 4, room, style, fitted);
    if (!marked) {
        return;
    }
    grid_put(grid, area.row, 1, 1, STYLE_ACCENT, scene->glyphs->cursor);
    grid_mark(grid, area.row, NUMBER_CELLS + 4, used, ATTRIBUTE_BOLD);
    if (used + words_width < room) {
        grid_put_right(grid, area.row, NUMBER_CELLS + 4, room, STYLE_ACCENT, words);
    }
}

// What the program runs is what it read when it started, or later: this may be another
// text, with other lines.
static bool
may_differ(const struct source *source, const struct scene *scene)
{
    const struct hello *hello = scene->model != NULL ? model_hello(scene->model) : NULL;
    return hello != NULL && hello->started_us > 0 && source->text.bytes != NULL &&
           source->text.changed_us > hello->started_us;
}

static void
draw_title(const struct source *source, const struct scene *scene, struct grid *grid,
           struct area area, const char *name)
{
    char shown[LINE_BYTES];
    char title[LINE_BYTES];
    text_escape(shown, sizeof shown, name, strlen(name));
    for (int i = 0; i < area.columns; i++) {
        grid_put(grid, area.row, area.column + i, 1, STYLE_DIM, scene->glyphs->across);
    }
    if (name[0] != '\0') {
        snprintf(title, sizeof title, " %.400s ", shown);
        int used =
            2 + grid_put(grid, area.row, 2, area.columns - 4, STYLE_HEADING, title);
        if (may_differ(source, scene)) {
            grid_put(grid, area.row, used + 1, area.columns - used - 2, STYLE_WARNING,
                     " changed since the program started ");
        }
    }
}

static const char *
why_not(const struct source *source, const char *file, uint32_t line)
{
    if (file[0] == '\0' || line == 0) {
        return "no line of a file: a C function, or what stands for several rows";
    }
    if (source->text.bytes == NULL || source->rows == NULL) {
        return source->text.words[0] != '\0' ? source->text.words : "no memory for it";
    }
    return line > source->row_count
               ? "the file is shorter: it was changed since the program read it"
               : NULL;
}

void
source_draw(struct source *source, const struct scene *scene, struct grid *grid,
            struct area area, struct source_line line)
{
    if (line.file[0] != '\0') {
        take(source, scene, line.file);
    }
    draw_title(source, scene, grid, area, line.file[0] != '\0' ? line.title : "");
    area.row++;
    area.rows--;
    const char *why = why_not(source, line.file, line.line);
    if (why != NULL) {
        grid_put(grid, area.row, 2, area.columns - 2, STYLE_DIM, why);
        return;
    }
    size_t marked = line.line - 1;
    size_t above = (size_t)(area.rows - 1) / 2;
    size_t first = marked > above ? marked - above : 0;
    for (int i = 0; i < area.rows && first + (size_t)i < source->row_count; i++) {
        size_t row = first + (size_t)i;
        struct area at = {area.row + i, area.column, 1, area.columns};
        draw_line(source, scene, grid, at, row, row == marked, line.words);
    }
}
