/*
 * The columns of the view of tags, and of the classes of one: a table row each, from
 * which come the screen, the order and the help.
 */
#ifndef TUI_VIEW_TAGS_COLUMN_H
#define TUI_VIEW_TAGS_COLUMN_H

#include "tui/model/tags.h"
#include "tui/view/column.h"
#include "tui/view/scene.h"

enum tags_column_id {
    TAGS_NAME,
    TAGS_CALLS,
    TAGS_CALL_RATE,
    TAGS_ACTIVE,
    TAGS_ALLOCATED,
    TAGS_ALLOCATED_A_CALL,
    TAGS_LIVE,
    TAGS_DELTA,
    TAGS_RETAINED,
    TAGS_RETAINED_A_CALL,
    TAGS_BYTES,
    TAGS_COLUMN_COUNT,
};

// A line: a tag, or what of it is of one class.
struct tags_line {
    uint32_t id; // of the tag, or the class
    const char *name;
    double values[TAGS_COLUMN_COUNT]; // NAN while unknown; none of the name's
};

struct tags_column {
    const char *title;
    int width;       // cells, the space before it included; at least, for the name
    int rank;        // columns of a higher rank give way first; 0 never does
    bool of_classes; // has a meaning for classes too
    void (*format)(char out[40], const struct scene *scene, double value);
    const char *explain;
};

extern const struct tags_column tags_columns[TAGS_COLUMN_COUNT];

// The line of a tag; that of a class of it.
struct tags_line tags_line(const struct model_tag *tag);
struct tags_line tags_class_line(const struct scene *scene, const struct model_tag *tag,
                                 const struct tag_class *row);

// The heading as it is now, such as "Δ since A".
void tags_column_title(char title[COLUMN_TITLE_BYTES], enum tags_column_id id,
                       const struct scene *scene, bool classes);

// Which columns fit into `width` cells. `sorted` is dropped last. Returns how many.
int tags_column_layout(int width, bool classes, enum tags_column_id sorted,
                       enum tags_column_id shown[TAGS_COLUMN_COUNT],
                       int widths[TAGS_COLUMN_COUNT]);

#endif
