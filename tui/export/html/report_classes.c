#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tui/export/html/figure.h"
#include "tui/export/html/report.h"
#include "tui/export/words.h"

// Suspects and what changed most; then, up to the second, what lives most.
#define CHANGED_MAX 200u
#define SHOWN_MAX 300u

static bool
suspect(const struct model_class *class)
{
    return class->verdict == VERDICT_LEAK || class->verdict == VERDICT_GROWING;
}

// Unknown counts as no change.
static double
change_of(const struct model_class *class)
{
    double delta = report_delta(class);
    return isnan(delta) ? 0 : delta;
}

static int
descending(double left, double right)
{
    return left < right ? 1 : left > right ? -1 : 0;
}

static int
by_interest(const void *left, const void *right)
{
    const struct model_class *a = *(const struct model_class *const *)left;
    const struct model_class *b = *(const struct model_class *const *)right;
    if (suspect(a) != suspect(b)) {
        return suspect(a) ? -1 : 1;
    }
    int order = descending(fabs(change_of(a)), fabs(change_of(b)));
    return order != 0
               ? order
               : descending(figure_number(a->now.live), figure_number(b->now.live));
}

static int
by_live(const void *left, const void *right)
{
    const struct model_class *a = *(const struct model_class *const *)left;
    const struct model_class *b = *(const struct model_class *const *)right;
    // COUNT_UNKNOWN + 1 is 0: what nobody measured sorts below nothing
    return descending((double)(a->now.live + 1), (double)(b->now.live + 1));
}

static int
by_change(const void *left, const void *right)
{
    const struct model_class *a = *(const struct model_class *const *)left;
    const struct model_class *b = *(const struct model_class *const *)right;
    int order = descending(change_of(a), change_of(b));
    return order != 0 ? order : by_live(left, right);
}

/* A row. */

static void
write_number(struct page *page, double value, const char *class, const char *text)
{
    page_open(page, "td");
    page_attribute(page, "class", class);
    if (!isnan(value)) {
        page_attribute_format(page, "data-value", "%.15g", value);
    }
    page_text(page, text);
    page_close(page);
}

// Four bars, the youngest objects first.
static void
write_ages(struct page *page, const struct model_class *class)
{
    static const char *const words[AGE_BUCKETS] = {"below 2 collections", "2 to 7",
                                                   "8 to 31", "32 or more"};
    char share[FIGURE_BYTES];
    double sum = 0;
    double most = 0;
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        sum += class->ages[i];
        most = fmax(most, class->ages[i]);
    }
    if (!(sum > 0)) {
        write_number(page, NAN, "age", "\xe2\x80\x93");
        return;
    }
    page_open(page, "td");
    page_attribute(page, "class", "age");
    page_attribute_format(page, "data-value", "%.4f",
                          (class->ages[2] + class->ages[3]) / sum);
    page_open(page, "svg");
    page_attribute(page, "viewBox", "0 0 30 14");
    page_attribute(page, "role", "img");
    page_open(page, "title");
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        page_format(page, "%s%s: %s", i > 0 ? " \xc2\xb7 " : "survived ", words[i],
                    figure_percent(share, 100 * class->ages[i] / sum));
    }
    page_close(page);
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        double height = class->ages[i] > 0 ? fmax(12 * class->ages[i] / most, 1.5) : 0.5;
        page_open(page, "rect");
        page_place(page, "x", 8 * (double)i);
        page_place(page, "y", 13 - height);
        page_attribute(page, "width", "6");
        page_place(page, "height", height);
        page_end(page);
    }
    page_close(page);
    page_close(page);
}

static void
write_verdict(struct page *page, const struct model_class *class)
{
    const char *verdict = verdict_name(class->verdict);
    page_open(page, "td");
    page_attribute_format(page, "data-value", "%llu", (unsigned long long)class->verdict);
    if (verdict != NULL) {
        page_element(page, "span",
                     class->verdict == VERDICT_LEAK ? "verdict"
                     : suspect(class)               ? "verdict growing"
                                                    : "plain",
                     verdict);
        if (*class->reason != '\0') {
            page_text(page, " ");
            page_element(page, "span", "reason", class->reason);
        }
    }
    page_close(page);
}

static void
write_name(struct report *report, const struct model_class *class)
{
    struct page *page = report->page;
    char spare[32];
    bool tree = model_tree(report->model, class->id) != NULL;
    page_open(page, "th");
    page_attribute(page, "scope", "row");
    if (tree) {
        page_open(page, "a");
        page_attribute_format(page, "href", "#tree-%lu", (unsigned long)class->id);
    }
    page_text(page, words_class(class, spare, sizeof spare));
    if (tree) {
        page_close(page);
    }
    page_close(page);
}

static void
write_change(struct page *page, double delta)
{
    char number[FIGURE_BYTES];
    char shown[2 * FIGURE_BYTES];
    char class[FIGURE_BYTES];
    figure_change(number, delta);
    snprintf(shown, sizeof shown, "%s%s", number, figure_arrow(delta));
    snprintf(class, sizeof class, "n %s", figure_direction(delta));
    write_number(page, delta, class, shown);
}

static void
write_class(struct report *report, const struct model_class *class)
{
    struct page *page = report->page;
    char text[FIGURE_BYTES];
    double live = figure_number(class->now.live);
    double bytes = figure_number(class->now.bytes);
    double allocated = figure_number(class->now.allocated);
    double freed = figure_number(class->now.freed);
    page_open(page, "tr");
    write_name(report, class);
    write_number(page, live, "n", figure_count(text, live));
    write_change(page, report_delta(class));
    write_number(page, bytes, "n", figure_bytes(text, bytes));
    write_number(page, allocated, "n", figure_count(text, allocated));
    write_number(page, freed, "n", figure_count(text, freed));
    write_ages(page, class);
    write_verdict(page, class);
    page_close(page);
    page_line(page);
}

/* The table. */

static void
write_heads(struct report *report)
{
    // word, class, what it means
    static const char *const heads[][3] = {
        {"class",     "w", "what the program calls it"                                   },
        {"live",      "n", "objects alive at the end"                                    },
        {"\xce\x94",  "n", "change of live"                                              },
        {"bytes",     "n", "memory of the live ones, as Ruby knows it"                   },
        {"allocated", "n", "since counting began"                                        },
        {"freed",     "n", "since counting began"                                        },
        {"age",       "w", "how many collections objects survived: the young to the left"},
        {"verdict",   "w", "what the probe thinks of it, and why"                        },
    };
    struct page *page = report->page;
    page_open(page, "thead");
    page_open(page, "tr");
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        page_open(page, "th");
        page_attribute(page, "scope", "col");
        page_attribute(page, "class", heads[i][1]);
        page_attribute(page, "title", heads[i][2]);
        if (i == 2) {
            page_attribute(page, "aria-sort", "descending");
        }
        page_text(page, heads[i][0]);
        page_close(page);
    }
    page_close(page);
    page_close(page);
    page_line(page);
}

static void
write_rest(struct report *report, const struct model_class *const *rest, size_t count)
{
    struct page *page = report->page;
    char number[FIGURE_BYTES];
    char live[FIGURE_BYTES];
    char change[FIGURE_BYTES];
    double sum = 0;
    double delta = 0;
    for (size_t i = 0; i < count; i++) {
        sum += rest[i]->now.live != COUNT_UNKNOWN ? (double)rest[i]->now.live : 0;
        delta += change_of(rest[i]);
    }
    page_open(page, "p");
    page_attribute(page, "class", "note");
    if (count > 0) {
        page_format(page, "\xe2\x80\xa6 %s more classes with %s live, %s. ",
                    figure_count(number, (double)count), figure_count(live, sum),
                    figure_change(change, delta));
    }
    page_text(page, "Types that are internal to Ruby are left out.");
    page_close(page);
    page_line(page);
}

static void
write_table(struct report *report, const struct model_class **list, size_t count)
{
    struct page *page = report->page;
    char since[128];
    size_t changed = count < CHANGED_MAX ? count : CHANGED_MAX;
    size_t shown = count < SHOWN_MAX ? count : SHOWN_MAX;
    qsort(list, count, sizeof *list, by_interest);
    qsort(list + changed, count - changed, sizeof *list, by_live);
    qsort(list, shown, sizeof *list, by_change);
    report_since(report, since, sizeof since);
    page_open(page, "p");
    page_attribute(page, "class", "note");
    page_format(page, "\xce\x94 is %s.", since);
    page_close(page);
    page_open(page, "div");
    page_attribute(page, "class", "scroll");
    page_open(page, "table");
    page_attribute(page, "class", "classes sortable");
    write_heads(report);
    page_open(page, "tbody");
    page_line(page);
    for (size_t i = 0; i < shown && !page_failed(page); i++) {
        write_class(report, list[i]);
    }
    page_close(page);
    page_close(page);
    page_close(page);
    write_rest(report, list + shown, count - shown);
}

void
report_classes(struct report *report)
{
    struct page *page = report->page;
    size_t count = report->listing.count;
    const struct model_class **list = calloc(count + 1, sizeof(struct model_class *));
    if (list == NULL) {
        page_fail(page, ENOMEM);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = report->listing.classes[i];
    }
    page_open(page, "section");
    page_attribute(page, "id", "classes");
    page_element(page, "h2", NULL, "Classes");
    if (count > 0) {
        write_table(report, list, count);
    } else {
        page_element(page, "p", NULL, "No class was counted.");
    }
    page_close(page);
    page_line(page);
    free(list);
}
