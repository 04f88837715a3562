#include "tui/view/born_view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"
#include "tui/view/clock.h"
#include "tui/view/format.h"
#include "tui/view/header.h"
#include "tui/view/pager.h"

#define MARGIN 2 // cells of the cursor's sign
#define WHEEL_ROWS 3
#define NAME_CELLS_MIN 14
#define PATH_CELLS_MIN 24
#define LINE_BYTES 512
#define TITLE_BYTES 40
#define NOTE_ROWS_MAX 8 // and never more than half of the screen

static struct born_view *
born_of(struct view *view)
{
    return (struct born_view *)(void *)view;
}

// clang-format off
static const struct binding bindings[] = {
    {ACTION_CHOOSE, {KEY_CODE_ENTER, KEY_CODE_RIGHT, 'l'}, "call paths", "which call paths allocated what was kept of the class"},
    {ACTION_UP, {KEY_CODE_UP, 'k'}, NULL, "up"},
    {ACTION_DOWN, {KEY_CODE_DOWN, 'j'}, NULL, "down"},
    {ACTION_PAGE_UP, {KEY_CODE_PAGE_UP, KEY_CONTROL('B')}, NULL, "a screen up"},
    {ACTION_PAGE_DOWN, {KEY_CODE_PAGE_DOWN, KEY_CONTROL('F')}, NULL, "a screen down"},
    {ACTION_TOP, {'g', KEY_CODE_HOME}, NULL, "to the top, and stay there"},
    {ACTION_BOTTOM, {'G', KEY_CODE_END}, NULL, "to the last row"},
    {ACTION_MARK, {'m'}, "mark", "set a mark: the moment that is shown"},
    {ACTION_UNITS, {'u'}, NULL, "all digits, or three and a unit"},
    {ACTION_GC, {KEY_CONTROL('G')}, NULL, "run the garbage collector in the program (asks first)"},
    {ACTION_BACK, {KEY_CODE_ESCAPE, 'q', 'D', 'h', KEY_CODE_LEFT}, "back", "back"},
    {ACTION_NONE, {0}, NULL, NULL},
};

static const struct word words[] = {
    {"A, B and now", "What was allocated between marks A and B and lives now. With three marks set, what lives at the third; `:born A C` takes others. A cache that fills and empties is not in it, a leak is."},
    {"BORN AND KEPT", "How many objects: never fewer than the first number, never more than the second. Nobody keeps when each object was born; this is what the counts of three moments leave possible."},
    {"exact", "Both numbers are equal: as where nothing was freed in between, or everything."},
    {"by counts", "A range: the counts alone allow all of it."},
    {"estimated", "A range of a call path of which only some stacks were taken."},
    {"LIVE", "All objects of the class, or of the path, that are alive at the last of the three moments."},
    {"OF LIVE", "At least this part of them was born between the marks."},
    {"BORN", "How many were allocated between the marks. Nobody counted them where it is unknown."},
    {"collections", "What is garbage counts as alive until a collection found it. ^G asks for one."},
};

// The widths hold the space before; the last give way first.
static const int widths[BORN_COLUMN_COUNT] = {20, 11, 11, 9, 13};
static const enum born_column by_rank[BORN_COLUMN_COUNT] = {
    BORN_COLUMN_KEPT, BORN_COLUMN_KNOWN, BORN_COLUMN_LIVE, BORN_COLUMN_SHARE,
    BORN_COLUMN_ALLOCATED,
};
// clang-format on

static bool
word_at(const struct scene *scene, size_t index, struct word *word)
{
    (void)scene;
    if (index >= sizeof words / sizeof words[0]) {
        return false;
    }
    *word = words[index];
    return true;
}

/* Rows. */

struct line {
    uint64_t id; // class, or node on the wire
    struct born_range range;
    uint64_t live;
    uint64_t allocated;
    bool estimated;
};

static size_t
line_count(const struct born_view *born)
{
    const struct born_facts *facts = born->facts;
    if (facts->state != BORN_STATE_KNOWN) {
        return 0;
    }
    if (born->class == 0) {
        return facts->classes.count;
    }
    return facts->paths_of == born->class && facts->paths.known ? facts->paths.count : 0;
}

static const struct tree_model *
tree_of(const struct born_view *born)
{
    return model_tree(born->facts->last, born->class);
}

static struct line
line_at(const struct born_view *born, size_t index)
{
    if (born->class == 0) {
        const struct born_class *class = &born->facts->classes.list[index];
        return (struct line){class->class->id, class->range, class->class->now.live,
                             class->allocated, false};
    }
    const struct born_path *path = &born->facts->paths.list[index];
    // the root's own objects have no id on the wire that a row could not have
    return (struct line){(uint64_t)tree_node_id(tree_of(born), path->node) + 1,
                         path->range, path->live, COUNT_UNKNOWN, path->estimated};
}

// The cursor goes with what it was put on; never moved it stays at the top.
static void
update(struct view *view, const struct scene *scene)
{
    struct born_view *born = born_of(view);
    size_t count = line_count(born);
    (void)scene;
    if (born->selected == 0) {
        born->cursor = 0;
    }
    for (size_t i = 0; i < count && born->selected != 0; i++) {
        if (line_at(born, i).id == born->selected) {
            born->cursor = i;
            break;
        }
    }
    if (born->cursor >= count) {
        born->cursor = count > 0 ? count - 1 : 0;
    }
}

/* Words. */

// "A", or "now", or what else the last moment is called.
static void
moment_name(const struct born_view *born, const struct scene *scene,
            enum born_moment moment, char name[TITLE_BYTES])
{
    char letter = born->facts->letters[moment];
    if (letter != 0) {
        snprintf(name, TITLE_BYTES, "%c", letter);
    } else {
        snprintf(name, TITLE_BYTES, "%s", scene->paused ? "then" : "now");
    }
}

// "1 170", "12–40"
static void
format_range(char out[LINE_BYTES], const struct scene *scene, struct born_range range,
             const char *between, bool exact)
{
    char least[FORMAT_BYTES];
    char most[FORMAT_BYTES];
    (exact ? format_grouped : format_short)(least, scene->glyphs,
                                            format_number(range.least));
    (exact ? format_grouped : format_short)(most, scene->glyphs,
                                            format_number(range.most));
    snprintf(out, LINE_BYTES, range.least == range.most ? "%s" : "%s%s%s", least, between,
             most);
}

static void
note_sum(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char range[LINE_BYTES];
    char text[LINE_BYTES * 2];
    char last[TITLE_BYTES];
    char times[BORN_MOMENTS][CLOCK_BYTES];
    const struct born_facts *facts = born->facts;
    bool paths = born->class != 0;
    struct born_range total = paths ? facts->paths.total : facts->classes.total;
    for (int i = 0; i < BORN_MOMENTS; i++) {
        clock_beside(times[i], facts->wall_us[i], facts->wall_us[BORN_C]);
    }
    moment_name(born, scene, BORN_C, last);
    format_range(range, scene, total, " to ", true);
    snprintf(text, sizeof text,
             "%s object%s%.80s, born between %c (%s) and %c (%s), alive %s%s (%s).", range,
             total.least == 1 && total.most == 1 ? "" : "s", paths ? " of these paths" : "",
             facts->letters[BORN_A], times[BORN_A], facts->letters[BORN_B], times[BORN_B],
             facts->letters[BORN_C] != 0 ? "at " : "", last, times[BORN_C]);
    page_add(page, 0, STYLE_NORMAL, "", text);
}

// What is garbage is alive to us until a collection has found it.
static void
note_collections(const struct born_view *born, const struct scene *scene,
                 struct page *page)
{
    char count[FORMAT_BYTES];
    char last[TITLE_BYTES];
    char text[LINE_BYTES];
    const struct born_facts *facts = born->facts;
    uint64_t collections = facts->classes.collections;
    moment_name(born, scene, BORN_C, last);
    format_grouped(count, scene->glyphs, format_number(collections));
    if (facts->classes.restarted) {
        snprintf(text, sizeof text,
                 "The program restarted between %c and %s: nothing of before is alive.",
                 facts->letters[BORN_B], last);
    } else if (collections == 0) {
        snprintf(text, sizeof text,
                 "No collection ran between %c and %s: garbage still counts as alive.",
                 facts->letters[BORN_B], last);
    } else if (collections == COUNT_UNKNOWN) {
        snprintf(text, sizeof text,
                 "%s collections between %c and %s: nobody counted them.", count,
                 facts->letters[BORN_B], last);
    } else {
        snprintf(text, sizeof text, "%s collection%s ran between %c and %s.", count,
                 collections == 1 ? "" : "s", facts->letters[BORN_B], last);
    }
    page_add(page, 0, collections == 0 ? STYLE_WARNING : STYLE_DIM, "", text);
}

static void
note_counting(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char last[TITLE_BYTES];
    char text[LINE_BYTES];
    const struct born_facts *facts = born->facts;
    char b = facts->letters[BORN_B];
    if (facts->reading) {
        page_add(page, 0, STYLE_WARNING, "",
                 "Reading whether all births were counted: ranges may become narrower.");
        return;
    }
    if (facts->counted_ab && facts->counted_bc) {
        return;
    }
    moment_name(born, scene, BORN_C, last);
    if (!facts->counted_ab && !facts->counted_bc) {
        snprintf(text, sizeof text, "%c and %s", facts->letters[BORN_A], last);
    } else if (facts->counted_ab) {
        snprintf(text, sizeof text, "%c and %s", b, last);
    } else {
        snprintf(text, sizeof text, "%c and %c", facts->letters[BORN_A], b);
    }
    char line[LINE_BYTES * 2];
    snprintf(line, sizeof line,
             "Between %s not all births were counted (another mode, or a gap): only what "
             "was alive is compared.",
             text);
    page_add(page, 0, STYLE_WARNING, "", line);
}

static void
note_paths(const struct born_view *born, struct page *page)
{
    if (born->class != 0 && born->facts->paths.known && !born->facts->paths.complete) {
        page_add(page, 0, STYLE_WARNING, "",
                 "The call tree does not account for every object at the three moments: "
                 "each path is bounded by itself.");
    }
}

static void
write_notes(const struct born_view *born, const struct scene *scene, struct page *page)
{
    bool known = born->class == 0 || born->facts->paths.known;
    if (known) {
        note_sum(born, scene, page);
    }
    note_collections(born, scene, page);
    note_counting(born, scene, page);
    note_paths(born, page);
}

// Why there are no figures, and what to do.
static void
write_reason(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char name[TITLE_BYTES];
    char text[LINE_BYTES];
    const struct born_facts *facts = born->facts;
    moment_name(born, scene, facts->which, name);
    switch (facts->state) {
    case BORN_STATE_NO_MARKS:
        page_add(page, 0, STYLE_ACCENT, "", "No mark is set.");
        page_add(page, 0, STYLE_NORMAL, "",
                 "Set two marks with m: D shows what was born between them and still "
                 "lives.");
        break;
    case BORN_STATE_ONE_MARK:
        snprintf(text, sizeof text, "Mark %c is set.", facts->letters[BORN_A]);
        page_add(page, 0, STYLE_ACCENT, "", text);
        page_add(page, 0, STYLE_NORMAL, "",
                 "Set a second one with m: D shows what was born between them and still "
                 "lives.");
        break;
    case BORN_STATE_NO_FIGURES:
        page_add(page, 0, STYLE_NORMAL, "", "There are no figures yet.");
        break;
    case BORN_STATE_EARLY:
        snprintf(text, sizeof text,
                 "The moment shown lies before mark %c: ] goes on, L goes to the newest.",
                 facts->letters[BORN_B]);
        page_add(page, 0, STYLE_NORMAL, "", text);
        break;
    case BORN_STATE_LOST:
        snprintf(text, sizeof text,
                 "%s Mark %s is older than what is kept: what lived then is not known "
                 "any more. m sets another one.",
                 scene->glyphs->unknown, name);
        page_add(page, 0, STYLE_WARNING, "", text);
        break;
    case BORN_STATE_DORMANT:
        snprintf(text, sizeof text, "%s The probe was dormant at %s%s: it counted nothing.",
                 scene->glyphs->unknown, facts->letters[facts->which] != 0 ? "mark " : "",
                 name);
        page_add(page, 0, STYLE_WARNING, "", text);
        break;
    default:
        page_add(page, 0, STYLE_WARNING, "",
                 "There is no memory left to look back at the marks, or the recording "
                 "cannot be read.");
        break;
    }
}

// In the place of rows.
static void
write_nothing(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char last[TITLE_BYTES];
    char text[LINE_BYTES + BORN_NAME_BYTES];
    const struct born_facts *facts = born->facts;
    moment_name(born, scene, BORN_C, last);
    if (born->class != 0 && !facts->paths.known) {
        snprintf(text, sizeof text,
                 tree_of(born) == NULL
                     ? "%s There is no call tree of %.200s at this moment: its stacks are "
                       "taken from when its tree is opened or pinned (T)."
                     : "%s The call tree of %.200s is older than its counts: it tells "
                       "nothing of this moment.",
                 scene->glyphs->unknown, born->name);
        page_add(page, 0, STYLE_WARNING, "", text);
        return;
    }
    snprintf(text, sizeof text, "Nothing%s%.200s that was born between %c and %c is alive %s%s.",
             born->class != 0 ? " of " : "", born->class != 0 ? born->name : "",
             facts->letters[BORN_A], facts->letters[BORN_B],
             facts->letters[BORN_C] != 0 ? "at " : "", last);
    page_add(page, 0, STYLE_DIM, "", text);
}

/* Drawing. */

// " classes ▸ born A to B, alive now   LIVE 1s"
static void
draw_title(const struct born_view *born, const struct scene *scene, struct grid *grid,
           int row)
{
    char title[LINE_BYTES + BORN_NAME_BYTES];
    char what[TITLE_BYTES * 2] = "born and kept";
    char name[BORN_NAME_BYTES];
    char last[TITLE_BYTES];
    const struct born_facts *facts = born->facts;
    const char *into = scene->glyphs->into;
    struct header_state state = header_state(scene);
    if (facts->state >= BORN_STATE_NO_FIGURES) {
        moment_name(born, scene, BORN_C, last);
        snprintf(what, sizeof what, "born %c to %c, alive %s%s", facts->letters[BORN_A],
                 facts->letters[BORN_B], facts->letters[BORN_C] != 0 ? "at " : "", last);
    }
    text_fit(name, sizeof name, born->name, grid->columns / 3, scene->ascii);
    snprintf(title, sizeof title, "classes %s %s%s%s%s%s", into,
             born->class != 0 ? name : "", born->class != 0 ? " " : "",
             born->class != 0 ? into : "", born->class != 0 ? " paths, " : "", what);
    int at = 1 + grid_put(grid, row, 1, grid->columns - 1, STYLE_ACCENT, title);
    grid_mark(grid, row, 0, at, ATTRIBUTE_BOLD);
    snprintf(title, sizeof title, "%s %.100s", state.word, state.detail);
    if (grid->columns - at - 3 > 0) {
        grid_put(grid, row, at + 3, grid->columns - at - 3, state.style, title);
    }
}

// Which columns fit beside the name, and where that is: first for a class, last for a
// path.
static void
lay_out(struct born_view *born, struct area area)
{
    int room = area.columns - MARGIN - 1 -
               (born->class != 0 ? PATH_CELLS_MIN : NAME_CELLS_MIN);
    int used = 0;
    born->shown_count = 0;
    for (int i = 0; i < BORN_COLUMN_COUNT; i++) {
        enum born_column id = by_rank[i];
        bool wanted = id != BORN_COLUMN_ALLOCATED || born->class == 0;
        if (!wanted || (i > 0 && used + widths[id] > room)) {
            break;
        }
        born->shown[born->shown_count++] = id;
        used += widths[id];
    }
    born->name_at = MARGIN + (born->class != 0 ? used + 2 : 0);
    born->name_cells = area.columns - MARGIN - 1 - used - (born->class != 0 ? 2 : 0);
}

static int
figures_at(const struct born_view *born)
{
    return born->class != 0 ? MARGIN : MARGIN + born->name_cells;
}

static void
draw_headings(const struct born_view *born, const struct scene *scene, struct grid *grid,
              int row)
{
    static const char *const titles[BORN_COLUMN_COUNT] = {"BORN AND KEPT", "KNOWN", "LIVE",
                                                          "OF LIVE", "BORN"};
    int at = figures_at(born);
    for (int i = 0; i < born->shown_count; i++) {
        enum born_column id = born->shown[i];
        char title[TITLE_BYTES];
        bool sorted = id == BORN_COLUMN_KEPT;
        snprintf(title, sizeof title, sorted ? "%s %s" : "%s", titles[id],
                 scene->glyphs->descending);
        if (id == BORN_COLUMN_KNOWN) {
            grid_put(grid, row, at + 2, widths[id] - 2, STYLE_HEADING, title);
        } else {
            grid_put_right(grid, row, at + 1, widths[id] - 1,
                           sorted ? STYLE_ACCENT : STYLE_HEADING, title);
        }
        at += widths[id];
    }
    grid_put(grid, row, born->name_at, born->name_cells, STYLE_HEADING,
             born->class != 0 ? "PATH, innermost last" : "CLASS");
    grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_BOLD);
}

static void
draw_figure(const struct scene *scene, const struct line *line, enum born_column id,
            struct grid *grid, int row, int at)
{
    char text[LINE_BYTES];
    bool exact = line->range.least == line->range.most && !line->estimated;
    int room = widths[id] - 1;
    enum style style = STYLE_NORMAL;
    switch (id) {
    case BORN_COLUMN_KEPT:
        format_range(text, scene, line->range, scene->glyphs->unknown, scene->exact);
        if (text_width(text) > room) {
            format_range(text, scene, line->range, scene->glyphs->unknown, false);
        }
        style = line->range.least == 0 ? STYLE_DIM : STYLE_NORMAL;
        break;
    case BORN_COLUMN_KNOWN:
        grid_put(grid, row, at + 2, widths[id] - 2, exact ? STYLE_NORMAL : STYLE_DIM,
                 exact             ? "exact"
                 : line->estimated ? "estimated"
                                   : "by counts");
        return;
    case BORN_COLUMN_LIVE:
        (scene->exact ? format_grouped : format_short)(text, scene->glyphs,
                                                       format_number(line->live));
        break;
    case BORN_COLUMN_SHARE:
        format_percent(text, scene->glyphs,
                       line->live > 0
                           ? 100 * (double)line->range.least / format_number(line->live)
                           : (double)NAN);
        break;
    default:
        (scene->exact ? format_grouped : format_short)(text, scene->glyphs,
                                                       format_number(line->allocated));
        break;
    }
    grid_put_right(grid, row, at + 1, room, style, text);
}

// "demo/cache.rb:17", or "" for what has no place.
static void
place_of(const struct tree_model *tree, uint32_t node, char *place, size_t size)
{
    const char *path = tree_frame(tree, node)->path;
    const char *from = path + strlen(path);
    for (int slashes = 0; from > path; from--) {
        slashes += from[-1] == '/';
        if (slashes == 2) {
            break;
        }
    }
    snprintf(place, size, path[0] != '\0' ? "%.200s:%u" : "%.200s", from,
             (unsigned)tree_line(tree, node));
}

// "… ▸ OrdersApp#create ▸ Cache#fetch demo/cache.rb:17 ▸ Class#new": as much of the path
// as fits, from its end.
static void
describe_path(const struct tree_model *tree, uint32_t node, const struct scene *scene,
              int cells, char out[LINE_BYTES])
{
    char more[TITLE_BYTES];
    bool placed = false;
    snprintf(more, sizeof more, "%s %s ", scene->glyphs->more, scene->glyphs->into);
    out[0] = '\0';
    for (uint32_t at = node; at != TREE_NONE && (at != 0 || node == 0);
         at = tree_parent(tree, at)) {
        char label[LINE_BYTES / 4];
        char place[LINE_BYTES / 2] = "";
        char longer[LINE_BYTES * 2];
        tree_label(tree, at, label, sizeof label);
        if (!placed) {
            place_of(tree, at, place, sizeof place);
            placed = place[0] != '\0';
        }
        snprintf(longer, sizeof longer, "%s%s%s%s%s%s%s", label,
                 place[0] != '\0' ? " " : "", place, out[0] != '\0' ? " " : "",
                 out[0] != '\0' ? scene->glyphs->into : "", out[0] != '\0' ? " " : "",
                 out);
        bool last = tree_parent(tree, at) == 0 || tree_parent(tree, at) == TREE_NONE;
        int room = cells - (last ? 0 : text_width(more));
        if (out[0] == '\0' && text_width(longer) > room) {
            text_fit(out, LINE_BYTES, longer, cells, scene->ascii);
            return;
        }
        if (text_width(longer) > room || strlen(longer) + sizeof more >= LINE_BYTES) {
            snprintf(longer, sizeof longer, "%s%s", more, out);
            snprintf(out, LINE_BYTES, "%.*s", LINE_BYTES - 1, longer);
            return;
        }
        snprintf(out, LINE_BYTES, "%.*s", LINE_BYTES - 1, longer);
    }
}

static void
draw_line(const struct born_view *born, const struct scene *scene, struct grid *grid,
          int row, size_t index)
{
    char text[LINE_BYTES];
    struct line line = line_at(born, index);
    int at = figures_at(born);
    if (born->class == 0) {
        text_fit(text, sizeof text, born->facts->classes.list[index].class->name,
                 born->name_cells - 1, scene->ascii);
    } else {
        describe_path(tree_of(born), born->facts->paths.list[index].node, scene,
                      born->name_cells, text);
    }
    grid_put(grid, row, born->name_at, born->name_cells, STYLE_NORMAL, text);
    for (int i = 0; i < born->shown_count; i++) {
        draw_figure(scene, &line, born->shown[i], grid, row, at);
        at += widths[born->shown[i]];
    }
    if (index == born->cursor) {
        grid_put(grid, row, MARGIN - 1, 1, STYLE_SELECTED, scene->glyphs->cursor);
        grid_mark(grid, row, 0, grid->columns, ATTRIBUTE_SELECTED);
    }
}

static void
show_cursor(struct born_view *born)
{
    size_t page = born->page > 0 ? (size_t)born->page : 1;
    size_t count = line_count(born);
    if (born->cursor < born->top) {
        born->top = born->cursor;
    } else if (born->cursor >= born->top + page) {
        born->top = born->cursor - page + 1;
    }
    if (born->top + page > count) {
        born->top = count > page ? count - page : 0;
    }
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct born_view *born = born_of(view);
    struct page page = {scene, grid, area, 0, 0};
    bool known = born->facts->state == BORN_STATE_KNOWN;
    int notes = area.rows / 2 < NOTE_ROWS_MAX ? area.rows / 2 : NOTE_ROWS_MAX;
    draw_title(born, scene, grid, area.row);
    page.area.row += known ? 1 : 2;
    page.area.rows = known ? notes : area.rows - 2;
    born->page = 0;
    if (!known) {
        write_reason(born, scene, &page);
        return;
    }
    write_notes(born, scene, &page);
    lay_out(born, area);
    int heading = page.area.row + (page.lines < notes ? page.lines : notes);
    heading += area.rows >= 16; // a blank one, where there is room
    born->first_row = heading + 1;
    born->page = area.row + area.rows - born->first_row;
    size_t count = line_count(born);
    if (count == 0) {
        struct page rest = {
            scene, grid, {heading, area.column, born->page + 1, area.columns},
                 0, 0
        };
        write_nothing(born, scene, &rest);
        return;
    }
    draw_headings(born, scene, grid, heading);
    show_cursor(born);
    for (int i = 0; i < born->page && born->top + (size_t)i < count; i++) {
        draw_line(born, scene, grid, born->first_row + i, born->top + (size_t)i);
    }
}

/* Keys. */

static bool
can(const struct view *view, const struct scene *scene, enum action action)
{
    const struct born_view *born = (const struct born_view *)(const void *)view;
    switch (action) {
    case ACTION_CHOOSE:
        return born->class == 0 && line_count(born) > 0;
    case ACTION_MARK:
        return model_sampled(scene->model);
    default:
        return true;
    }
}

static unsigned
move_to(struct born_view *born, long to)
{
    long last = (long)line_count(born) - 1;
    if (last >= 0) {
        born->cursor = (size_t)(to < 0 ? 0 : to > last ? last : to);
        born->selected = line_at(born, born->cursor).id;
    }
    return OUTCOME_DRAW;
}

static unsigned
choose(struct born_view *born)
{
    if (born->class != 0 || line_count(born) == 0) {
        return OUTCOME_NONE;
    }
    const struct model_class *class = born->facts->classes.list[born->cursor].class;
    born->was = class->id;
    born->class = class->id;
    snprintf(born->name, sizeof born->name, "%s", class->name);
    born->selected = 0;
    born->cursor = born->top = 0;
    return OUTCOME_DRAW;
}

static unsigned
go_back(struct born_view *born)
{
    if (born->class == 0 || born->paths_only) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    born->class = 0;
    born->selected = born->was;
    return OUTCOME_DRAW;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct born_view *born = born_of(view);
    long cursor = (long)born->cursor;
    long screen = born->page > 1 ? born->page - 1 : 1;
    (void)key;
    switch (action) {
    case ACTION_UP:
        return move_to(born, cursor - 1);
    case ACTION_DOWN:
        return move_to(born, cursor + 1);
    case ACTION_PAGE_UP:
        return move_to(born, cursor - screen);
    case ACTION_PAGE_DOWN:
        return move_to(born, cursor + screen);
    case ACTION_TOP:
        move_to(born, 0);
        born->selected = 0;
        return OUTCOME_DRAW;
    case ACTION_BOTTOM:
        return move_to(born, (long)line_count(born) - 1);
    case ACTION_CHOOSE:
        return choose(born);
    case ACTION_UNITS:
        scene->exact = !scene->exact;
        return OUTCOME_DRAW;
    case ACTION_BACK:
        return go_back(born);
    default:
        return OUTCOME_PASS;
    }
}

static unsigned
mouse(struct view *view, struct scene *scene, struct key key)
{
    struct born_view *born = born_of(view);
    (void)scene;
    if (key.mouse == MOUSE_WHEEL_UP || key.mouse == MOUSE_WHEEL_DOWN) {
        long by = key.mouse == MOUSE_WHEEL_UP ? -WHEEL_ROWS : WHEEL_ROWS;
        return move_to(born, (long)born->cursor + by);
    }
    int line = key.row - born->first_row;
    if (key.mouse != MOUSE_PRESS || line < 0 || line >= born->page ||
        born->top + (size_t)line >= line_count(born)) {
        return OUTCOME_NONE;
    }
    return move_to(born, (long)born->top + line);
}

static const struct view_class born_class = {
    .name = "born",
    .extent = EXTENT_SCREEN,
    .bindings = bindings,
    .word = word_at,
    .update = update,
    .draw = draw,
    .can = can,
    .act = act,
    .mouse = mouse,
};

void
born_view_open(struct born_view *born, const struct born_facts *facts,
               const struct model_class *class)
{
    *born = (struct born_view){.view = {&born_class}, .facts = facts};
    if (class != NULL) {
        born->class = class->id;
        born->paths_only = true;
        snprintf(born->name, sizeof born->name, "%s", class->name);
    }
}
