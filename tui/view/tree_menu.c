#include "tui/view/tree_menu.h"

#include <stdio.h>

#include "tui/text/text.h"
#include "tui/view/tree_column.h"

#define TITLE_CELLS 13

static bool
line_at(const struct scene *scene, int index, char line[MENU_LINE_BYTES],
        char command[SCENE_COMMAND_BYTES], uint32_t *key)
{
    char title[TREE_TITLE_BYTES] = "PATH";
    const char *word = "path";
    enum tree_column_id id = tree_column_sortable(index);
    if (id == TREE_COLUMN_COUNT && tree_column_sortable(index - 1) == TREE_COLUMN_COUNT) {
        return false;
    }
    if (id != TREE_COLUMN_COUNT) {
        tree_column_title(title, id, scene, NULL);
        word = tree_columns[id].word;
    }
    int pad = TITLE_CELLS - text_width(title);
    snprintf(line, MENU_LINE_BYTES, "%d  %s%*s  %s", index + 1, title, pad > 0 ? pad : 0,
             "", word);
    snprintf(command, SCENE_COMMAND_BYTES, "sort %s", word);
    *key = (uint32_t)('1' + index);
    return true;
}

const struct menu_class tree_menu = {
    .view =
        {
               .name = "sort",
               .extent = EXTENT_BOX,
               .bindings = menu_bindings,
               .draw = menu_draw,
               .act = menu_act,
               .type = menu_type,
               .mouse = menu_mouse,
               },
    .title = " order by ",
    .line = line_at,
};
