#include "tui/view/born_words.h"

#include <stdio.h>

#include "tui/view/clock.h"
#include "tui/view/format.h"

#define HOW_TO "D shows what was born between them and still lives."

// clang-format off
static const struct word words[] = {
    {"A, B and now", "What was allocated between marks A and B and lives at the moment shown. A cache that fills and empties is not in it, a leak is. The last two marks before that moment, or those of `:born A C`."},
    {"BORN AND KEPT", "How many of them live: never fewer than the first number, never more than the second. Nobody keeps when each object was born; this is what the counts of three moments leave possible."},
    {"exact", "Both numbers are equal: as where nothing was freed in between, or everything, or where call paths tell what the class alone does not."},
    {"by counts", "A range: the counts alone allow all of it. Pin the class (T) before mark A: its call paths are counted each by itself, and their ranges are narrower."},
    {"estimated", "A range of a call path of which only some stacks were taken."},
    {"LIVE", "All objects of the class, or of the path, that are alive at the last of the three moments."},
    {"OF LIVE", "At least this part of them was born between the marks."},
    {"BORN", "How many were allocated between the marks. Nobody counted them where it is unknown."},
    {"collections", "What is garbage counts as alive until a collection found it. ^G asks for one."},
};
// clang-format on

bool
born_words_explain(const struct scene *scene, size_t index, struct word *word)
{
    (void)scene;
    if (index >= sizeof words / sizeof words[0]) {
        return false;
    }
    *word = words[index];
    return true;
}

// "A"; of the moment shown "now", or "then" when it is another one.
static void
moment_name(const struct born_view *born, const struct scene *scene,
            enum born_moment moment, char name[BORN_TITLE_BYTES])
{
    char letter = born->facts->letters[moment];
    if (letter != 0) {
        snprintf(name, BORN_TITLE_BYTES, "%c", letter);
    } else {
        snprintf(name, BORN_TITLE_BYTES, "%s", scene->paused ? "then" : "now");
    }
}

// "now", "then", "at C"
static void
last_moment(const struct born_view *born, const struct scene *scene,
            char words_of[BORN_TITLE_BYTES])
{
    char name[BORN_TITLE_BYTES - 8];
    moment_name(born, scene, BORN_C, words_of);
    snprintf(name, sizeof name, "%.8s", words_of);
    snprintf(words_of, BORN_TITLE_BYTES, "%s%s",
             born->facts->letters[BORN_C] != 0 ? "at " : "", name);
}

void
born_words_title(const struct drill *drill, const struct scene *scene,
                 char title[DRILL_TITLE_BYTES])
{
    const struct born_view *born = born_view_of(drill);
    const struct born_facts *facts = born->facts;
    const char *paths = drill->class != 0 ? "paths, " : "";
    char last[BORN_TITLE_BYTES];
    if (facts->letters[BORN_B] == 0) {
        snprintf(title, DRILL_TITLE_BYTES, "%sborn and kept", paths);
        return;
    }
    last_moment(born, scene, last);
    snprintf(title, DRILL_TITLE_BYTES, "%sborn %c to %c, alive %.8s", paths,
             facts->letters[BORN_A], facts->letters[BORN_B], last);
}

void
born_words_range(char out[BORN_TEXT_BYTES], const struct scene *scene,
                 struct born_range range, const char *before, const char *between,
                 bool exact)
{
    char least[FORMAT_BYTES];
    char most[FORMAT_BYTES];
    void (*format)(char *, const struct glyphs *, double) =
        exact ? format_grouped : format_short;
    format(least, scene->glyphs, format_number(range.least));
    format(most, scene->glyphs, format_number(range.most));
    if (range.least == range.most) {
        snprintf(out, BORN_TEXT_BYTES, "%s", least);
    } else {
        snprintf(out, BORN_TEXT_BYTES, "%s%s%s%s", before, least, between, most);
    }
}

void
born_words_source(const struct drill *drill, const struct scene *scene, size_t row,
                  char text[DRILL_TEXT_BYTES])
{
    char range[BORN_TEXT_BYTES];
    born_words_range(range, scene, born_view_line(born_view_of(drill), row).range, "",
                     " to ", true);
    snprintf(text, DRILL_TEXT_BYTES, "%.500s kept", range);
}

/* Notes. */

static void
note_sum(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char range[BORN_TEXT_BYTES];
    char text[BORN_TEXT_BYTES * 2];
    char last[BORN_TITLE_BYTES];
    char times[BORN_MOMENTS][CLOCK_BYTES];
    const struct born_facts *facts = born->facts;
    struct born_range total = born->total;
    bool one = total.least == 1 && total.most == 1;
    for (int i = 0; i < BORN_MOMENTS; i++) {
        clock_beside(times[i], facts->wall_us[i], facts->wall_us[BORN_C]);
    }
    last_moment(born, scene, last);
    born_words_range(range, scene, total, "at least ", ", at most ", true);
    snprintf(text, sizeof text,
             "%s%.300s object%s%s, born between %c (%s) and %c (%s), alive %s (%s).",
             total.least == total.most ? "Exactly " : "", range, one ? "" : "s",
             born->drill.class != 0 ? " of these paths" : "", facts->letters[BORN_A],
             times[BORN_A], facts->letters[BORN_B], times[BORN_B], last, times[BORN_C]);
    text[0] = (char)(text[0] == 'a' ? 'A' : text[0]);
    page_add(page, 0, STYLE_NORMAL, "", text);
}

// What is garbage is alive to us until a collection has found it.
static void
note_collections(const struct born_view *born, const struct scene *scene,
                 struct page *page)
{
    char count[FORMAT_BYTES];
    char last[BORN_TITLE_BYTES];
    char text[BORN_TEXT_BYTES];
    const struct born_facts *facts = born->facts;
    uint64_t collections = facts->classes.collections;
    char b = facts->letters[BORN_B];
    bool can_run = !scene->paused && !scene->readonly && scene->link == LINK_LIVE;
    moment_name(born, scene, BORN_C, last);
    format_grouped(count, scene->glyphs, format_number(collections));
    if (facts->classes.restarted) {
        snprintf(text, sizeof text,
                 "The program restarted between %c and %s: nothing of before is alive.",
                 b, last);
    } else if (collections == 0) {
        snprintf(
            text, sizeof text,
            "No GC ran between %c and %s: what is garbage since then still counts as "
            "alive%s.",
            b, last, can_run ? "; ^G runs one" : "");
    } else if (collections == COUNT_UNKNOWN) {
        snprintf(text, sizeof text,
                 "How many GCs ran between %c and %s is not known (%s).", b, last, count);
    } else {
        snprintf(text, sizeof text, "%s GC%s ran between %c and %s.", count,
                 collections == 1 ? "" : "s", b, last);
    }
    page_add(page, 0, collections == 0 ? STYLE_WARNING : STYLE_DIM, "", text);
}

static void
note_counting(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char last[BORN_TITLE_BYTES];
    char text[BORN_TEXT_BYTES];
    const struct born_facts *facts = born->facts;
    bool ab = facts->classes.counted_ab;
    bool bc = facts->classes.counted_bc;
    if ((ab && bc) || facts->classes.restarted) {
        return;
    }
    moment_name(born, scene, BORN_C, last);
    snprintf(text, sizeof text,
             "Between %c and %.1s%.4s not all births were counted (another mode): only "
             "what was alive is compared.",
             facts->letters[ab ? BORN_B : BORN_A],
             bc ? (const char[]){facts->letters[BORN_B], '\0'} : "", bc ? "" : last);
    page_add(page, 0, STYLE_WARNING, "", text);
}

static void
note_paths(const struct born_view *born, struct page *page)
{
    if (born->drill.class != 0 && !born->facts->paths.complete) {
        page_add(page, 0, STYLE_WARNING, "",
                 "The call tree does not account for every object at the three moments: "
                 "each path is bounded by itself.");
    }
}

void
born_words_notes(const struct drill *drill, struct page *page)
{
    const struct born_view *born = born_view_of(drill);
    bool any = drill_shown(drill)->count > 0;
    if (any) {
        note_sum(born, page->scene, page);
    }
    note_collections(born, page->scene, page);
    note_counting(born, page->scene, page);
    if (any) {
        note_paths(born, page);
    }
}

/* Why there is nothing. */

static void
say_early(const struct born_facts *facts, struct page *page)
{
    char text[BORN_TEXT_BYTES];
    snprintf(text, sizeof text, "The moment shown lies before mark %c.",
             facts->letters[BORN_B]);
    page_add(page, 0, STYLE_ACCENT, "", text);
    page_add(page, 0, STYLE_NORMAL, "",
             "] goes on by a sample, } by a minute, L to the newest; :goto goes to a "
             "time.");
}

static void
say_lost(const struct born_facts *facts, const struct scene *scene, struct page *page)
{
    char text[BORN_TEXT_BYTES];
    snprintf(text, sizeof text, "%s What lived at mark %c is not known any more.",
             scene->glyphs->unknown, facts->letters[facts->which]);
    page_add(page, 0, STYLE_WARNING, "", text);
    page_add(page, 0, STYLE_NORMAL, "",
             "The mark is older than what is kept. Set two new ones with m; R records "
             "into a file, which keeps all.");
}

static void
say_dormant(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char name[BORN_TITLE_BYTES];
    char text[BORN_TEXT_BYTES];
    const struct born_facts *facts = born->facts;
    moment_name(born, scene, facts->which, name);
    snprintf(text, sizeof text, "%s The probe was dormant %s%s: it counted nothing.",
             scene->glyphs->unknown, facts->letters[facts->which] != 0 ? "at mark " : "",
             name);
    page_add(page, 0, STYLE_WARNING, "", text);
    page_add(page, 0, STYLE_NORMAL, "",
             ":mode count starts counting; then set two marks with m.");
}

static void
say_reason(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char text[BORN_TEXT_BYTES];
    const struct born_facts *facts = born->facts;
    switch (facts->state) {
    case BORN_STATE_NO_MARKS:
        page_add(page, 0, STYLE_ACCENT, "", "No mark is set.");
        page_add(page, 0, STYLE_NORMAL, "",
                 "Set one with m, let the program work, set another one with m: " HOW_TO);
        break;
    case BORN_STATE_ONE_MARK:
        snprintf(text, sizeof text, "Mark %c is set, a second one is not.",
                 facts->letters[BORN_A]);
        page_add(page, 0, STYLE_ACCENT, "", text);
        page_add(page, 0, STYLE_NORMAL, "",
                 "Let the program work, and set it with m: " HOW_TO);
        break;
    case BORN_STATE_NO_FIGURES:
        page_add(page, 0, STYLE_NORMAL, "",
                 "There are no figures yet: they come with the first sample.");
        break;
    case BORN_STATE_EARLY:
        say_early(facts, page);
        break;
    case BORN_STATE_LOST:
        say_lost(facts, scene, page);
        break;
    case BORN_STATE_DORMANT:
        say_dormant(born, scene, page);
        break;
    default:
        page_add(page, 0, STYLE_WARNING, "",
                 "There is no memory to look back at the marks, or the recording cannot "
                 "be read (memtop verify says more).");
        break;
    }
}

bool
born_words_reason(const struct drill *drill, struct page *page)
{
    const struct born_view *born = born_view_of(drill);
    if (born->facts->state == BORN_STATE_KNOWN) {
        return false;
    }
    page_add(page, 0, STYLE_NORMAL, "", "");
    say_reason(born, page->scene, page);
    return true;
}

static void
say_no_paths(const struct born_view *born, const struct scene *scene, struct page *page)
{
    char text[BORN_TEXT_BYTES];
    bool any = model_tree(born->facts->last, born_view_wants(born)) != NULL;
    snprintf(
        text, sizeof text,
        any ? "%s The call tree of %.200s is older than its counts: it tells nothing "
              "of this moment."
            : "%s There is no call tree of %.200s at this moment.",
        scene->glyphs->unknown, born->drill.name);
    page_add(page, 0, STYLE_WARNING, "", text);
    page_add(page, 0, STYLE_NORMAL, "",
             "Stacks are taken from when the class is pinned: T pins it, then set two "
             "marks anew with m.");
}

void
born_words_nothing(const struct drill *drill, struct page *page)
{
    const struct born_view *born = born_view_of(drill);
    char last[BORN_TITLE_BYTES];
    char text[BORN_TEXT_BYTES];
    const struct born_facts *facts = born->facts;
    last_moment(born, page->scene, last);
    if (drill->class != 0 && !facts->paths.known) {
        say_no_paths(born, page->scene, page);
    } else if (drill_shown(drill)->filter[0] != '\0') {
        page_add(page, 0, STYLE_DIM, "", "Nothing that the filter shows; \\ shows all.");
    } else {
        snprintf(text, sizeof text,
                 "Nothing%s%.200s that was born between %c and %c is alive %s.",
                 drill->class != 0 ? " of " : "", drill->class != 0 ? drill->name : "",
                 facts->letters[BORN_A], facts->letters[BORN_B], last);
        page_add(page, 0, STYLE_DIM, "", text);
    }
}
