#include "tui/view/sort_menu.h"

#include <stdio.h>

#include "tui/text/text.h"
#include "tui/view/column.h"
#include "tui/view/process_column.h"
#include "tui/view/tree_column.h"

#define TITLE_CELLS 13

// A column that is called `word` in commands.
static bool
write_line(struct menu_line *line, int index, const char *title, const char *word)
{
    int pad = TITLE_CELLS - text_width(title);
    snprintf(line->text, sizeof line->text, "%d  %s%*s  %s", index + 1, title,
             pad > 0 ? pad : 0, "", word);
    snprintf(line->command, sizeof line->command, "sort %s", word);
    line->key = (uint32_t)('1' + index);
    return true;
}

static bool
line_of_classes(const struct scene *scene, int index, struct menu_line *line)
{
    char title[COLUMN_TITLE_BYTES];
    enum column_id id = column_sortable(index);
    if (id == COLUMN_COUNT) {
        return false;
    }
    column_title(title, id, scene);
    return write_line(line, index, title, columns[id].word);
}

static bool
line_of_processes(const struct scene *scene, int index, struct menu_line *line)
{
    char title[COLUMN_TITLE_BYTES];
    enum process_column_id id = process_column_sortable(index);
    if (id == PROCESS_COLUMN_COUNT) {
        return false;
    }
    process_column_title(title, id, scene);
    return write_line(line, index, title, process_columns[id].word);
}

// The path, which is no column, comes last.
static bool
line_of_tree(const struct scene *scene, int index, struct menu_line *line)
{
    char title[TREE_TITLE_BYTES];
    enum tree_column_id id = tree_column_sortable(index);
    if (id == TREE_COLUMN_COUNT) {
        return tree_column_sortable(index - 1) != TREE_COLUMN_COUNT &&
               write_line(line, index, "PATH", "path");
    }
    tree_column_title(title, id, scene, NULL);
    return write_line(line, index, title, tree_columns[id].word);
}

const struct menu_class sort_menu_classes = {"sort", " order by ", line_of_classes};
const struct menu_class sort_menu_processes = {"sort", " order by ", line_of_processes};
const struct menu_class sort_menu_tree = {"sort", " order by ", line_of_tree};
