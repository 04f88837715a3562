#include "tui/export/csv.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tui/export/listing.h"
#include "tui/export/stacks.h"
#include "tui/export/words.h"

#define AGES_HEADER                                                                      \
    "survived_below_2,survived_below_8,survived_below_32,survived_32_or_more"
#define END_OF_LINE "\r\n"

// Part of a text within its quotation marks.
static void
write_part(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '"') {
            fputc('"', out);
        }
        fputc(*text, out);
    }
}

// A text's quotation mark, and what keeps the text from being a formula.
static void
begin_text(char first, FILE *out)
{
    fputs(first != '\0' && strchr("=+-@'\t\r", first) ? "\"'" : "\"", out);
}

static void
write_text(const char *text, FILE *out)
{
    begin_text(*text, out);
    write_part(text, out);
    fputc('"', out);
}

// Each with the comma before it.
static void
write_number(uint64_t value, FILE *out)
{
    if (value == COUNT_UNKNOWN) {
        fputc(',', out);
    } else {
        fprintf(out, ",%" PRIu64, value);
    }
}

static void
write_rounded(double value, FILE *out)
{
    bool known = value < (double)INT64_MAX; // NAN is not
    write_number(known ? (uint64_t)llround(value) : COUNT_UNKNOWN, out);
}

static void
write_class(const struct model_class *class, FILE *out)
{
    char spare[32];
    const char *verdict = verdict_name(class->verdict);

    write_text(words_class(class, spare, sizeof(spare)), out);
    write_number(class->now.live, out);
    write_number(class->now.allocated, out);
    write_number(class->now.freed, out);
    write_number(class->now.bytes, out);
    fputc(',', out);
    if (verdict) {
        write_text(verdict, out);
    }
    fputc(',', out);
    if (verdict && *class->reason) {
        write_text(class->reason, out);
    }
    for (unsigned i = 0; i < AGE_BUCKETS; i++) {
        write_rounded(class->ages[i], out);
    }
    fprintf(out, ",%s,%s" END_OF_LINE, class->flags & CLASS_INTERNAL ? "true" : "false",
            class->flags & CLASS_ANONYMOUS ? "true" : "false");
}

bool
csv_write(const struct model *model, const struct export_options *options, FILE *out)
{
    struct listing listing;

    if (!listing_init(&listing, model, options->all)) {
        errno = ENOMEM;
        return false;
    }
    fputs("name,live,allocated,freed,bytes,verdict,reason," AGES_HEADER
          ",internal,anonymous" END_OF_LINE,
          out);
    for (size_t i = 0; i < listing.count && !ferror(out); i++) {
        write_class(listing.classes[i], out);
    }
    listing_destroy(&listing);
    return !ferror(out) && fflush(out) == 0;
}

// A label within a stack.
static void
write_frame(char *label, FILE *out)
{
    for (char *at = strchr(label, ';'); at; at = strchr(at, ';')) {
        *at = ':';
    }
    write_part(label, out);
}

static void
write_stack(const struct tree_model *tree, const uint32_t *path, size_t depth, FILE *out)
{
    char label[WORDS_LABEL_BYTES] = "";

    if (depth > 0) {
        words_label(label, tree, path[0]);
    }
    begin_text(*label, out);
    for (size_t i = 0; i < depth; i++) {
        words_label(label, tree, path[i]);
        if (i > 0) {
            fputc(';', out);
        }
        write_frame(label, out);
    }
    fputc('"', out);
}

// Label, path and line of the innermost frame, each with the comma before it.
static void
write_place(const struct tree_model *tree, uint32_t node, FILE *out)
{
    char label[WORDS_LABEL_BYTES];
    const char *file = tree_frame(tree, node)->path;

    fputc(',', out);
    if (node != 0) {
        words_label(label, tree, node);
        write_text(label, out);
    }
    fputc(',', out);
    if (*file) {
        write_text(file, out);
    }
    write_number(tree_line(tree, node) > 0 ? tree_line(tree, node) : COUNT_UNKNOWN, out);
}

static void
write_path(struct stacks *stacks, const struct stacks_row *row, FILE *out)
{
    size_t depth;
    const uint32_t *path = stacks_path(stacks, row, &depth);

    write_text(stacks->name, out);
    fputc(',', out);
    write_stack(stacks->tree, path, depth, out);
    write_place(stacks->tree, row->node, out);
    write_number(row->figures[STACKS_LIVE], out);
    write_rounded(ceil(row->error), out);
    for (unsigned figure = STACKS_LIVE + 1; figure < STACKS_FIGURES; figure++) {
        write_number(row->figures[figure], out);
    }
    fputs(END_OF_LINE, out);
}

static bool
write_paths(void *context, struct stacks *stacks)
{
    FILE *out = context;

    for (size_t i = 0; i < stacks->count && !ferror(out); i++) {
        write_path(stacks, &stacks->rows[i], out);
    }
    return !ferror(out);
}

bool
csv_write_paths(const struct model *model, const struct export_options *options,
                FILE *out)
{
    (void)options;
    fputs(
        "class,stack,label,path,line,live,error,allocated,bytes," AGES_HEADER END_OF_LINE,
        out);
    return !ferror(out) && stacks_each(model, write_paths, out) && fflush(out) == 0;
}
