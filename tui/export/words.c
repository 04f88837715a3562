#include "tui/export/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tui/model/diff.h"

const char *
words_number(char out[WORDS_NUMBER_BYTES], uint64_t value)
{
    if (value == COUNT_UNKNOWN) {
        return "-";
    }
    snprintf(out, WORDS_NUMBER_BYTES, "%" PRIu64, value);
    return out;
}

void
words_time(char out[WORDS_TIME_BYTES], uint64_t wall_us)
{
    time_t seconds = (time_t)(wall_us / 1000000);
    struct tm parts;

    out[0] = '\0';
    if (wall_us > 0 && gmtime_r(&seconds, &parts)) {
        strftime(out, WORDS_TIME_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
}

const char *
words_class(const struct model_class *class, char *spare, size_t capacity)
{
    if (*class->name) {
        return class->name;
    }
    snprintf(spare, capacity, "(class #%lu)", (unsigned long)class->id);
    return spare;
}

const char *
words_diff_class(const struct diff_class *class)
{
    return class->name[0] != '\0' ? class->name : "(no name yet)";
}

void
words_cut(char *text, size_t capacity)
{
    size_t end = strlen(text);
    if (end + 1 < capacity) {
        return;
    }
    while (end > 0 && ((unsigned char)text[end - 1] & 0xc0) == 0x80) {
        end--;
    }
    if (end > 0 && (unsigned char)text[end - 1] >= 0xc0) {
        end--;
    }
    text[end] = '\0';
}

const char *
words_command(const struct model *model)
{
    const char *command = model_hello(model)->command.bytes;
    return command ? command : "";
}

void
words_label(char out[WORDS_LABEL_BYTES], const struct tree_model *tree, uint32_t node)
{
    tree_label(tree, node, out, WORDS_LABEL_BYTES);
    words_cut(out, WORDS_LABEL_BYTES);
}

const char *
words_ruby(const char *runtime)
{
    static const char prefix[] = "ruby ";
    size_t length = sizeof(prefix) - 1;

    return strncmp(runtime, prefix, length) == 0 ? runtime + length : runtime;
}
