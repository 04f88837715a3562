#include "tui/view/diff_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/clock.h"
#include "tui/view/format.h"
#include "tui/view/header.h"
#include "tui/view/pager.h"

#define MARGIN 2 // cells of the cursor's sign
#define NAME_CELLS_MIN 14
#define PATH_CELLS_MIN 24
#define NOTE_ROWS_MAX 6     // and never more than half of the screen
#define BLANK_FROM_ROWS 16  // of the screen: below it no row is left empty
#define SOURCE_FROM_ROWS 16 // and paths have all of them
#define TEXT_BYTES 640
#define MOMENT_BYTES (CLOCK_BYTES + 2 * DIFF_NAME_BYTES)

// `width` holds the space before; the last ones give way first. The name has what is
// left: before the figures of a class, behind those of a path.
static const struct {
    const char *word;
    const char *title;
    int width;
} columns[DIFF_COLUMN_COUNT] = {
    {"name",   "CLASS",  0 },
    {"",       "WHAT",   12},
    {"delta",  "CHANGE", 16},
    {"bytes",  "BYTES",  11},
    {"before", "BEFORE", 13},
    {"after",  "AFTER",  13},
};

// In the order of the lines, paths have no bytes: one measure orders them.
static bool
has_column(const struct diff_view *view, enum diff_column column)
{
    return view->class == 0 ||
           (column != DIFF_COLUMN_NAME && column != DIFF_COLUMN_BYTES);
}

bool
diff_draw_sortable(const struct diff_view *view, enum diff_column column)
{
    return columns[column].word[0] != '\0' && has_column(view, column);
}

enum diff_column
diff_draw_find(const char *word)
{
    int column = 0;
    while (column < DIFF_COLUMN_COUNT &&
           (word[0] == '\0' || strcmp(columns[column].word, word) != 0)) {
        column++;
    }
    return (enum diff_column)column;
}

/* Where things are. */

static void
lay_out(struct diff_view *view, struct area area)
{
    bool paths = view->class != 0;
    int room = area.columns - MARGIN - 1 - (paths ? PATH_CELLS_MIN : NAME_CELLS_MIN);
    int used = 0;
    view->shown_count = 0;
    if (!paths) {
        view->shown[view->shown_count++] = DIFF_COLUMN_NAME;
    }
    for (int id = DIFF_COLUMN_KIND; id < DIFF_COLUMN_COUNT; id++) {
        if (!has_column(view, (enum diff_column)id)) {
            continue;
        }
        // the word and the change are what it is about
        if (id > DIFF_COLUMN_CHANGE && used + columns[id].width > room) {
            break;
        }
        view->shown[view->shown_count++] = (enum diff_column)id;
        used += columns[id].width;
    }
    view->name_at = MARGIN + (paths ? used + 2 : 0);
    view->name_cells = area.columns - MARGIN - 1 - used - (paths ? 2 : 0);
}

static int
figures_at(const struct diff_view *view)
{
    return view->class != 0 ? MARGIN : MARGIN + view->name_cells;
}

enum diff_column
diff_draw_column(const struct diff_view *view, int column)
{
    int at = figures_at(view);
    if (view->class == 0 && column >= MARGIN && column < at) {
        return DIFF_COLUMN_NAME;
    }
    for (int i = 0; i < view->shown_count; i++) {
        int width = columns[view->shown[i]].width;
        if (width > 0 && column >= at && column < at + width) {
            return view->shown[i];
        }
        at += width;
    }
    return DIFF_COLUMN_COUNT;
}

/* Words. */

// "12:03:11", "12:03:11 of before.memtop", "12:03:11 (the moment shown)"
static void
describe_moments(const struct diff_view *view, char before[MOMENT_BYTES],
                 char after[MOMENT_BYTES])
{
    const struct diff_facts *facts = view->facts;
    char clock[CLOCK_BYTES];
    uint64_t first_us = model_time(facts->diff.before).wall_us;
    uint64_t last_us = model_time(facts->diff.after).wall_us;
    bool file = facts->file[0] != '\0';
    clock_beside(clock, first_us, last_us);
    snprintf(before, MOMENT_BYTES, "%s%s%s", clock, file ? " of " : "", facts->file);
    clock_second(clock, last_us);
    snprintf(after, MOMENT_BYTES, "%s%s", clock,
             facts->to_shown ? " (the moment shown)" : "");
}

static void
note_between(const struct diff_view *view, const struct scene *scene, struct page *page)
{
    char before[MOMENT_BYTES];
    char after[MOMENT_BYTES];
    char text[MOMENT_BYTES * 2 + TEXT_BYTES];
    char count[FORMAT_BYTES];
    char collections[FORMAT_BYTES + 16] = "";
    const struct diff *diff = &view->facts->diff;
    int64_t runs = diff_subtract(model_sample(diff->after)->process.gc_count,
                                 model_sample(diff->before)->process.gc_count);
    describe_moments(view, before, after);
    if (diff->same_process && runs != DIFF_UNKNOWN && runs >= 0) {
        format_grouped(count, scene->glyphs, (double)runs);
        snprintf(collections, sizeof collections, ", %s GC%s", count,
                 runs == 1 ? "" : "s");
    }
    snprintf(text, sizeof text, "From %s to %s: %s%s.", before, after,
             diff->same_process ? "one process" : "two processes", collections);
    page_add(page, 0, STYLE_NORMAL, "", text);
}

static double
change_number(int64_t change)
{
    return change == DIFF_UNKNOWN ? (double)NAN : (double)change;
}

// "2 added, 4 grown, 1 shrunk, 0 gone · objects +12 310, bytes +2.11M"
static void
note_kinds(const struct diff_view *view, const struct scene *scene, struct page *page)
{
    char live[FORMAT_BYTES];
    char bytes[FORMAT_BYTES];
    char text[TEXT_BYTES];
    const struct diff *diff = &view->facts->diff;
    size_t kinds[DIFF_KINDS] = {0};
    for (size_t i = 0; i < diff->count; i++) {
        bool hidden = !view->internal && (diff->classes[i].flags & CLASS_INTERNAL) != 0;
        kinds[diff->classes[i].kind] += !hidden;
    }
    format_grouped_change(live, scene->glyphs, change_number(diff->total.change.live));
    format_size_change(bytes, scene->glyphs, change_number(diff->total.change.bytes));
    snprintf(text, sizeof text,
             "Classes: %zu added, %zu grown, %zu shrunk, %zu gone, %zu unchanged, %zu "
             "unknown. All together: %s objects, memory %s.",
             kinds[DIFF_ADDED], kinds[DIFF_GROWN], kinds[DIFF_SHRUNK], kinds[DIFF_GONE],
             kinds[DIFF_UNCHANGED], kinds[DIFF_UNTOLD], live, bytes);
    page_add(page, 0, STYLE_DIM, "", text);
}

static void
note_counting(const struct diff_view *view, struct page *page)
{
    const struct diff *diff = &view->facts->diff;
    if (!diff->counted_before || !diff->counted_after) {
        page_add(page, 0, STYLE_WARNING, "",
                 !diff->counted_before
                     ? "Nothing was counted at the earlier moment: what is not listed "
                       "there is not known."
                     : "Nothing was counted at the later moment: what is not listed "
                       "there is not known.");
    }
}

static void
note_paths(const struct diff_view *view, struct page *page)
{
    const struct diff_paths *paths = &view->facts->paths;
    if (view->class == 0 || !diff_view_has_paths(view) || paths->node_count == 0) {
        return;
    }
    if (!paths->known_before || !paths->known_after) {
        page_add(
            page, 0, STYLE_WARNING, "",
            !paths->known_before
                ? "There is no call tree at the earlier moment: these are the paths "
                  "of the later one."
                : "There is no call tree at the later moment: these are the paths of "
                  "the earlier one.");
    } else if (!paths->exact) {
        page_add(page, 0, STYLE_DIM, "",
                 "Stacks were sampled: estimates with 95 % intervals; what is dim may be "
                 "no change.");
    }
    if (paths->measure == DIFF_OF_BYTES) {
        page_add(page, 0, STYLE_DIM, "", "The figures are bytes.");
    }
}

static void
write_notes(const struct diff_view *view, const struct scene *scene, struct page *page)
{
    const struct list *list = view->class == 0 ? &view->classes : &view->paths;
    if (list->filter[0] != '\0') {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text, "filter %.200s", list->filter);
        page_add(page, 0, STYLE_ACCENT, "", text);
    }
    note_between(view, scene, page);
    note_kinds(view, scene, page);
    note_counting(view, page);
    note_paths(view, page);
}

// In the place of rows.
static void
write_nothing(const struct diff_view *view, const struct scene *scene, struct page *page)
{
    char text[TEXT_BYTES];
    const struct list *list = view->class == 0 ? &view->classes : &view->paths;
    if (view->no_memory) {
        page_add(page, 0, STYLE_WARNING, "", "There is no memory for the rows.");
    } else if (list->filter[0] != '\0') {
        page_add(page, 0, STYLE_DIM, "", "Nothing that the filter shows; \\ shows all.");
    } else if (view->class == 0) {
        page_add(page, 0, STYLE_DIM, "", "No class changed.");
    } else if (!diff_view_has_paths(view)) {
        page_add(page, 0, STYLE_DIM, "", "The class is in neither of the moments now.");
    } else if (view->facts->paths.node_count == 0) {
        snprintf(text, sizeof text,
                 "%s There is no call tree of %.200s at either moment. Stacks are taken "
                 "from when the class is opened or pinned (T in the table of classes).",
                 scene->glyphs->unknown, view->name);
        page_add(page, 0, STYLE_WARNING, "", text);
    } else {
        page_add(page, 0, STYLE_DIM, "", "No path of the class changed.");
    }
}

/* Drawing. */

static void
draw_title(const struct diff_view *view, const struct scene *scene, struct grid *grid,
           int row)
{
    char title[TEXT_BYTES + DIFF_NAME_BYTES];
    char name[DIFF_NAME_BYTES];
    const char *into = scene->glyphs->into;
    struct header_state state = header_state(scene);
    text_fit(name, sizeof name, view->class != 0 ? view->name : "", grid->columns / 3,
             scene->ascii);
    if (view->class != 0) {
        snprintf(title, sizeof title, "classes %s %s %s paths that changed", into, name,
                 into);
    } else {
        snprintf(title, sizeof title, "classes %s what changed", into);
    }
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, title);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(title, sizeof title, "%s %.100s", state.word, state.detail);
    if (grid->columns - at - 3 > 0) {
        grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, title);
    }
}

static void
draw_heading(const struct diff_view *view, const struct scene *scene, struct grid *grid,
             enum diff_column id, int at)
{
    char title[32];
    const struct list *list = view->class == 0 ? &view->classes : &view->paths;
    bool sorted = list->sort == (int)id;
    enum style style = sorted ? STYLE_ACCENT : STYLE_HEADING;
    // names begin with A, figures with the largest
    bool downwards = list->inverted == (id == DIFF_COLUMN_NAME);
    snprintf(title, sizeof title, sorted ? "%s %s" : "%s", columns[id].title,
             downwards ? scene->glyphs->descending : scene->glyphs->ascending);
    if (id == DIFF_COLUMN_NAME) {
        grid_put(grid, view->heading_row, view->name_at, view->name_cells, style, title);
    } else if (id == DIFF_COLUMN_KIND) {
        grid_put(grid, view->heading_row, at + 2, columns[id].width - 2, style, title);
    } else {
        grid_put_right(grid, view->heading_row, at + 1, columns[id].width - 1, style,
                       title);
    }
}

static void
draw_headings(const struct diff_view *view, const struct scene *scene, struct grid *grid)
{
    int at = figures_at(view);
    for (int i = 0; i < view->shown_count; i++) {
        draw_heading(view, scene, grid, view->shown[i], at);
        at += columns[view->shown[i]].width;
    }
    if (view->class != 0) {
        grid_put(grid, view->heading_row, view->name_at, view->name_cells, STYLE_HEADING,
                 "PATH, the allocating line last");
    }
    grid_mark(grid, view->heading_row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static enum style
style_of(enum diff_kind kind)
{
    return kind == DIFF_ADDED || kind == DIFF_GROWN   ? STYLE_GREW
           : kind == DIFF_SHRUNK || kind == DIFF_GONE ? STYLE_SHRANK
                                                      : STYLE_DIM;
}

static const char *
arrow_of(enum diff_kind kind, const struct glyphs *glyphs)
{
    return kind == DIFF_ADDED || kind == DIFF_GROWN   ? glyphs->up
           : kind == DIFF_SHRUNK || kind == DIFF_GONE ? glyphs->down
                                                      : glyphs->unknown;
}

// What is alike in a row of a class and of a path.
struct figures {
    enum diff_kind kind;
    enum style style;
    double change;
    double error; // of the change, 0 where exact
    double bytes; // of a class
    double before;
    double after;
};

static struct figures
figures_of(const struct diff_view *view, size_t row)
{
    const struct diff_facts *facts = view->facts;
    if (view->class == 0) {
        const struct diff_class *class = &facts->diff.classes[row];
        return (struct figures){class->kind,
                                style_of(class->kind),
                                change_number(class->change.live),
                                0,
                                change_number(class->change.bytes),
                                format_number(class->before.live),
                                format_number(class->after.live)};
    }
    const struct diff_paths *paths = &facts->paths;
    struct diff_pair pair = diff_paths_self(paths, paths->sites[row].node);
    return (struct figures){pair.kind,
                            pair.significant ? style_of(pair.kind) : STYLE_DIM,
                            diff_paths_measured(paths, &pair.change),
                            diff_paths_error(paths, &pair.change),
                            (double)NAN,
                            diff_paths_measured(paths, &pair.before),
                            diff_paths_measured(paths, &pair.after)};
}

// "+12 310", "+390 ± 74"
static void
draw_change(const struct diff_view *view, const struct scene *scene,
            const struct figures *figures, struct grid *grid, int row, int at)
{
    char change[FORMAT_BYTES];
    char error[FORMAT_BYTES];
    char text[FORMAT_BYTES * 2 + 8];
    bool bytes = view->class != 0 && view->facts->paths.measure == DIFF_OF_BYTES;
    int room = columns[DIFF_COLUMN_CHANGE].width - 1;
    if (bytes) {
        format_size_change(change, scene->glyphs, figures->change);
        format_size(error, scene->glyphs, figures->error);
    } else if (scene->exact && !(figures->error > 0)) {
        format_grouped_change(change, scene->glyphs, round(figures->change));
    } else {
        format_short_change(change, scene->glyphs, round(figures->change));
        format_short(error, scene->glyphs, round(figures->error));
    }
    if (figures->error > 0) {
        snprintf(text, sizeof text, "%s %s %s", change, scene->glyphs->around, error);
    } else {
        snprintf(text, sizeof text, "%s", change);
    }
    grid_put_right(grid, row, at + 1, room, figures->style, text);
}

static void
draw_number(const struct diff_view *view, const struct scene *scene, double number,
            struct grid *grid, int row, int at, int width)
{
    char text[FORMAT_BYTES];
    bool bytes = view->class != 0 && view->facts->paths.measure == DIFF_OF_BYTES;
    if (bytes) {
        format_size(text, scene->glyphs, number);
    } else if (scene->exact) {
        format_grouped(text, scene->glyphs, round(number));
    } else {
        format_short(text, scene->glyphs, round(number));
    }
    grid_put_right(grid, row, at + 1, width - 1, STYLE_NORMAL, text);
}

static void
draw_figure(const struct diff_view *view, const struct scene *scene,
            const struct figures *figures, enum diff_column id, struct grid *grid,
            int row, int at)
{
    char text[FORMAT_BYTES];
    int width = columns[id].width;
    switch (id) {
    case DIFF_COLUMN_NAME:
        return;
    case DIFF_COLUMN_KIND:
        snprintf(text, sizeof text, "%s %s", arrow_of(figures->kind, scene->glyphs),
                 diff_kind_name(figures->kind));
        grid_put(grid, row, at + 2, width - 2, figures->style, text);
        return;
    case DIFF_COLUMN_CHANGE:
        draw_change(view, scene, figures, grid, row, at);
        return;
    case DIFF_COLUMN_BYTES:
        format_size_change(text, scene->glyphs, figures->bytes);
        grid_put_right(grid, row, at + 1, width - 1, figures->style, text);
        return;
    case DIFF_COLUMN_BEFORE:
        draw_number(view, scene, figures->before, grid, row, at, width);
        return;
    default:
        draw_number(view, scene, figures->after, grid, row, at, width);
        return;
    }
}

static void
draw_name(const struct diff_view *view, const struct scene *scene, struct grid *grid,
          int row, size_t index)
{
    char text[PATH_TEXT_BYTES];
    const struct diff_facts *facts = view->facts;
    if (view->class == 0) {
        const char *name = facts->diff.classes[index].name;
        text_fit(text, sizeof text, name[0] != '\0' ? name : "(no name yet)",
                 view->name_cells - 1, scene->ascii);
    } else {
        const struct path_steps steps = diff_view_steps(view);
        path_text(&steps, facts->paths.sites[index].node, scene, view->name_cells, text);
    }
    grid_put(grid, row, view->name_at, view->name_cells, STYLE_NORMAL, text);
}

static void
draw_row(const struct diff_view *view, const struct scene *scene, struct grid *grid,
         int row, const struct list *list, size_t place)
{
    size_t index = list->order[place];
    const struct figures figures = figures_of(view, index);
    int at = figures_at(view);
    draw_name(view, scene, grid, row, index);
    for (int i = 0; i < view->shown_count; i++) {
        draw_figure(view, scene, &figures, view->shown[i], grid, row, at);
        at += columns[view->shown[i]].width;
    }
    if (place == list->cursor) {
        grid_put(grid, row, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
}

// "+974", and the line's number of before where it is another one now.
static void
draw_source(struct diff_view *view, const struct scene *scene, struct grid *grid,
            struct area pane)
{
    struct source_line line = {.file = "", .title = ""};
    char change[FORMAT_BYTES];
    char text[FORMAT_BYTES + 48] = "";
    size_t row;
    if (!diff_view_place(view, &line.file, &line.title, &line.line)) {
        line.file = "";
    }
    if (list_row(&view->paths, &row)) {
        const struct diff_paths *paths = &view->facts->paths;
        uint32_t node = paths->sites[row].node;
        format_grouped_change(change, scene->glyphs, round(paths->sites[row].change));
        snprintf(text, sizeof text,
                 diff_paths_moved(paths, node) ? "%s, line %" PRIu32 " before" : "%s",
                 change, paths->nodes[node].line_before);
    }
    line.words = text;
    source_draw(&view->source, scene, grid, pane, line);
}

// The rows, below the notes; and the source of the path under the cursor.
static void
draw_rows(struct diff_view *view, const struct scene *scene, struct grid *grid,
          struct area area)
{
    struct list *list = diff_view_list(view);
    int bottom = area.row + area.rows;
    bool source = view->class != 0 && !view->no_source && grid->rows >= SOURCE_FROM_ROWS;
    struct area pane = {bottom - grid->rows / 3, area.column, grid->rows / 3,
                        area.columns};
    lay_out(view, area);
    view->heading_row = area.row;
    list_scroll(list, area.row + 1, (source ? pane.row : bottom) - area.row - 1);
    draw_headings(view, scene, grid);
    for (int i = 0; i < list->page && list->top + (size_t)i < list->count; i++) {
        draw_row(view, scene, grid, list->first_row + i, list, list->top + (size_t)i);
    }
    if (source && pane.row > area.row + 1) {
        draw_source(view, scene, grid, pane);
    }
}

void
diff_draw(struct view *view, const struct scene *scene, struct grid *grid,
          struct area area)
{
    struct diff_view *diff = (struct diff_view *)(void *)view;
    int notes = area.rows / 2 < NOTE_ROWS_MAX ? area.rows / 2 : NOTE_ROWS_MAX;
    struct page page = {scene, grid, area, 0, 0};
    draw_title(diff, scene, grid, area.row);
    page.area.row += 1;
    page.area.rows = notes;
    diff->heading_row = -1;
    diff_view_list(diff)->page = 0;
    if (!diff->facts->known) {
        page_add(&page, 0, STYLE_WARNING, "",
                 "There are no figures yet, or no memory to compare them.");
        return;
    }
    write_notes(diff, scene, &page);
    int below = page.area.row + (page.lines < notes ? page.lines : notes);
    below += area.rows >= BLANK_FROM_ROWS;
    struct area rest = {below, area.column, area.row + area.rows - below, area.columns};
    if (diff_view_list(diff)->count > 0) {
        draw_rows(diff, scene, grid, rest);
        return;
    }
    page = (struct page){scene, grid, rest, 0, 0};
    write_nothing(diff, scene, &page);
}
