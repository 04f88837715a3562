#include "tui/export/folded.h"

#include <inttypes.h>

#include "tui/export/stacks.h"
#include "tui/export/words.h"

struct folded {
    enum stacks_figure figure;
    FILE *out;
};

// A reader takes what is between two ";" for a frame, and what follows the last space
// for the count: "Foo 12" would be a frame Foo with two counts.
static void
write_frame(const char *text, FILE *out)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;
        if (byte == ';') {
            byte = ':';
        } else if (byte <= ' ' || byte == 0x7f) {
            byte = '_';
        }
        fputc(byte, out);
    }
}

static void
write_row(struct stacks *stacks, const struct stacks_row *row, uint64_t count, FILE *out)
{
    char label[WORDS_LABEL_BYTES];
    size_t depth;
    const uint32_t *path = stacks_path(stacks, row, &depth);

    write_frame(stacks->name, out);
    for (size_t i = 0; i < depth; i++) {
        fputc(';', out);
        words_label(label, stacks->tree, path[i]);
        write_frame(label, out);
    }
    fprintf(out, " %" PRIu64 "\n", count);
}

static bool
write_class(void *context, struct stacks *stacks)
{
    const struct folded *folded = context;

    for (size_t i = 0; i < stacks->count && !ferror(folded->out); i++) {
        uint64_t count = stacks->rows[i].figures[folded->figure];
        if (count > 0 && count != COUNT_UNKNOWN) {
            write_row(stacks, &stacks->rows[i], count, folded->out);
        }
    }
    return !ferror(folded->out);
}

bool
folded_write(const struct model *model, const struct export_options *options, FILE *out)
{
    struct folded folded = {options->bytes ? STACKS_BYTES : STACKS_LIVE, out};

    return stacks_each(model, write_class, &folded) && fflush(out) == 0 && !ferror(out);
}
