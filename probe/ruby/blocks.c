#include "probe/ruby/blocks.h"

#include <stdlib.h>
#include <string.h>

#include <ruby/debug.h>

#include "probe/ruby/compat.h"

#define CODES_MAX 512u        // pieces of code in one method
#define BLOCK_LINES_MAX 4096u // lines that are listed of one method

// One piece of a method's code: the method's own, a block's, a rescue's.
struct code {
    VALUE code;
    uint32_t levels; // of blocks that it lies in
};

struct codes {
    struct code list[CODES_MAX];
    size_t count;
    size_t at;        // whose children are looked for
    VALUE base_label; // that all of them share
};

static bool
starts_with(VALUE text, const char *start)
{
    size_t length = strlen(start);
    return RB_TYPE_P(text, T_STRING) && (size_t)RSTRING_LEN(text) >= length &&
           memcmp(RSTRING_PTR(text), start, length) == 0;
}

static bool
is_known(const struct codes *codes, VALUE code)
{
    for (size_t i = 0; i < codes->count; i++) {
        if (codes->list[i].code == code) {
            return true;
        }
    }
    return false;
}

// What a piece of code refers to: of that, the pieces within it. A method that is
// defined within a method has a label of its own, and is none of them.
static void
visit(VALUE value, void *context)
{
    struct codes *codes = context;
    if (codes->count == CODES_MAX || !compat_is_code(value) || is_known(codes, value)) {
        return;
    }
    VALUE base = rb_profile_frame_base_label(value);
    VALUE label = rb_profile_frame_label(value);
    bool inner = codes->count == 0 || (RB_TYPE_P(base, T_STRING) &&
                                       rb_str_equal(base, codes->base_label) == Qtrue);
    if (!inner) {
        return;
    }
    codes->base_label = codes->count == 0 ? base : codes->base_label;
    uint32_t outer = codes->count == 0 ? 0 : codes->list[codes->at].levels;
    uint32_t levels = outer + (starts_with(label, "block ") ? 1 : 0);
    codes->list[codes->count++] = (struct code){value, levels};
}

static int
compare_lines(const void *left, const void *right)
{
    const struct block_line *a = left;
    const struct block_line *b = right;
    return (a->line > b->line) - (a->line < b->line);
}

// The innermost block comes last in the list, and wins.
static void
add_line(struct frame_naming *naming, uint32_t room, uint32_t line, uint32_t levels)
{
    for (uint32_t i = 0; i < naming->block_count; i++) {
        if (naming->blocks[i].line == line) {
            naming->blocks[i].levels =
                levels > naming->blocks[i].levels ? levels : naming->blocks[i].levels;
            return;
        }
    }
    if (naming->block_count < room) {
        naming->blocks[naming->block_count++] = (struct block_line){line, levels};
    }
}

static void
add_lines(struct frame_naming *naming, uint32_t room, const struct code *code)
{
    int first = 0;
    int last = 0;
    compat_code_lines(code->code, &first, &last);
    for (int line = first + 1; first > 0 && line < last; line++) {
        add_line(naming, room, (uint32_t)line, code->levels);
    }
}

static uint32_t
count_lines(const struct codes *codes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < codes->count; i++) {
        int first = 0;
        int last = 0;
        if (codes->list[i].levels) {
            compat_code_lines(codes->list[i].code, &first, &last);
            count += last > first ? (uint32_t)(last - first) : 0;
        }
    }
    return count < BLOCK_LINES_MAX ? count : BLOCK_LINES_MAX;
}

void
blocks_find(VALUE frame, struct frame_naming *naming)
{
    static struct codes codes; // one agent
    codes.count = 0;
    if (compat_is_code(frame)) {
        return; // it is named as what it is
    }
    compat_each_reference(frame, visit, &codes);
    codes.count = codes.count > 1 ? 1 : codes.count; // the method's own
    for (codes.at = 0; codes.at < codes.count; codes.at++) {
        compat_each_reference(codes.list[codes.at].code, visit, &codes);
    }
    uint32_t lines = count_lines(&codes);
    naming->blocks = lines ? calloc(lines, sizeof(*naming->blocks)) : NULL;
    for (size_t i = 0; naming->blocks && i < codes.count; i++) {
        if (codes.list[i].levels) {
            add_lines(naming, lines, &codes.list[i]);
        }
    }
    if (naming->blocks) {
        qsort(naming->blocks, naming->block_count, sizeof(*naming->blocks),
              compare_lines);
    }
}
