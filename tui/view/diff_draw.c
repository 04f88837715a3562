#include "tui/view/diff_draw.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tui/view/clock.h"
#include "tui/view/format.h"
#include "tui/view/pager.h"

#define TEXT_BYTES 640
#define MOMENT_BYTES (CLOCK_BYTES + 2 * DRILL_NAME_BYTES)

// In the order of the lines, paths have no bytes: one measure orders them. The word and
// the change are what it is about.
const struct drill_column diff_draw_columns[DIFF_COLUMN_COUNT] = {
    {"name",   "CLASS",  0,  true,  false, true },
    {"",       "WHAT",   12, true,  true,  true },
    {"delta",  "CHANGE", 16, true,  true,  false},
    {"bytes",  "BYTES",  11, false, false, false},
    {"before", "BEFORE", 13, false, true,  false},
    {"after",  "AFTER",  13, false, true,  false},
};

/* Words. */

void
diff_draw_title(const struct drill *drill, const struct scene *scene,
                char title[DRILL_TITLE_BYTES])
{
    (void)scene;
    snprintf(title, DRILL_TITLE_BYTES, "%s",
             drill->class != 0 ? "paths that changed" : "what changed");
}

bool
diff_draw_reason(const struct drill *drill, struct page *page)
{
    bool known = diff_view_of(drill)->facts->known;
    if (!known) {
        page_add(page, 0, STYLE_WARNING, "",
                 "There are no figures yet, or no memory to compare them.");
    }
    return !known;
}

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
        bool hidden =
            !view->drill.internal && (diff->classes[i].flags & CLASS_INTERNAL) != 0;
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
    if (view->drill.class == 0 || !diff_view_has_paths(view) || paths->node_count == 0) {
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

void
diff_draw_notes(const struct drill *drill, struct page *page)
{
    const struct diff_view *view = diff_view_of(drill);
    note_between(view, page->scene, page);
    note_kinds(view, page->scene, page);
    note_counting(view, page);
    note_paths(view, page);
}

void
diff_draw_nothing(const struct drill *drill, struct page *page)
{
    char text[TEXT_BYTES];
    const struct diff_view *view = diff_view_of(drill);
    if (drill_shown(drill)->filter[0] != '\0') {
        page_add(page, 0, STYLE_DIM, "", "Nothing that the filter shows; \\ shows all.");
    } else if (drill->class == 0) {
        page_add(page, 0, STYLE_DIM, "", "No class changed.");
    } else if (!diff_view_has_paths(view)) {
        page_add(page, 0, STYLE_DIM, "", "The class is in neither of the moments now.");
    } else if (view->facts->paths.node_count == 0) {
        snprintf(text, sizeof text,
                 "%s There is no call tree of %.200s at either moment. Stacks are taken "
                 "from when the class is opened or pinned (T in the table of classes).",
                 page->scene->glyphs->unknown, drill->name);
        page_add(page, 0, STYLE_WARNING, "", text);
    } else {
        page_add(page, 0, STYLE_DIM, "", "No path of the class changed.");
    }
}

/* Figures. */

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
    if (view->drill.class == 0) {
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
write_change(const struct scene *scene, const struct figures *figures, bool bytes,
             char text[DRILL_TEXT_BYTES])
{
    char change[FORMAT_BYTES];
    char error[FORMAT_BYTES];
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
        snprintf(text, DRILL_TEXT_BYTES, "%s %s %s", change, scene->glyphs->around,
                 error);
    } else {
        snprintf(text, DRILL_TEXT_BYTES, "%s", change);
    }
}

static void
write_number(const struct scene *scene, double number, bool bytes,
             char text[DRILL_TEXT_BYTES])
{
    if (bytes) {
        format_size(text, scene->glyphs, number);
    } else if (scene->exact) {
        format_grouped(text, scene->glyphs, round(number));
    } else {
        format_short(text, scene->glyphs, round(number));
    }
}

enum style
diff_draw_figure(const struct drill *drill, const struct scene *scene, size_t row,
                 int column, char text[DRILL_TEXT_BYTES])
{
    const struct diff_view *view = diff_view_of(drill);
    const struct figures figures = figures_of(view, row);
    bool bytes = drill->class != 0 && view->facts->paths.measure == DIFF_OF_BYTES;
    switch (column) {
    case DIFF_COLUMN_KIND:
        snprintf(text, DRILL_TEXT_BYTES, "%s %s", arrow_of(figures.kind, scene->glyphs),
                 diff_kind_name(figures.kind));
        return figures.style;
    case DIFF_COLUMN_CHANGE:
        write_change(scene, &figures, bytes, text);
        return figures.style;
    case DIFF_COLUMN_BYTES:
        format_size_change(text, scene->glyphs, figures.bytes);
        return figures.style;
    case DIFF_COLUMN_BEFORE:
        write_number(scene, figures.before, bytes, text);
        return STYLE_NORMAL;
    default:
        write_number(scene, figures.after, bytes, text);
        return STYLE_NORMAL;
    }
}

void
diff_draw_source(const struct drill *drill, const struct scene *scene, size_t row,
                 char text[DRILL_TEXT_BYTES])
{
    char change[FORMAT_BYTES];
    const struct diff_paths *paths = &diff_view_of(drill)->facts->paths;
    uint32_t node = paths->sites[row].node;
    format_grouped_change(change, scene->glyphs, round(paths->sites[row].change));
    snprintf(text, DRILL_TEXT_BYTES,
             diff_paths_moved(paths, node) ? "%s, line %" PRIu32 " before" : "%s", change,
             paths->nodes[node].line_before);
}
