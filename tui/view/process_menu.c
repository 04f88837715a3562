#include "tui/view/process_menu.h"

#include <stdio.h>

#include "tui/text/text.h"
#include "tui/view/process_column.h"

#define TITLE_CELLS 13

static bool
line_at(const struct scene *scene, int index, char line[MENU_LINE_BYTES],
        char command[SCENE_COMMAND_BYTES], uint32_t *key)
{
    char title[COLUMN_TITLE_BYTES];
    enum process_column_id id = process_column_sortable(index);
    if (id == PROCESS_COLUMN_COUNT) {
        return false;
    }
    process_column_title(title, id, scene);
    int pad = TITLE_CELLS - text_width(title);
    snprintf(line, MENU_LINE_BYTES, "%d  %s%*s  %s", index + 1, title, pad > 0 ? pad : 0,
             "", process_columns[id].word);
    snprintf(command, SCENE_COMMAND_BYTES, "sort %s", process_columns[id].word);
    *key = (uint32_t)('1' + index);
    return true;
}

const struct menu_class process_menu = {
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
