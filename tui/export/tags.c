#include "tui/export/tags.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/values.h"
#include "tui/export/words.h"
#include "tui/model/tags.h"
#include "tui/text/text.h"

#define NUMBER_BYTES 24

struct sorted {
    const struct model_tag **list; // owned
    size_t count;
};

static int
compare(const void *left, const void *right)
{
    const struct model_tag *a = *(const struct model_tag *const *)left;
    const struct model_tag *b = *(const struct model_tag *const *)right;
    // COUNT_UNKNOWN, of all or none, is the largest
    int order =
        (b->now.allocated > a->now.allocated) - (b->now.allocated < a->now.allocated);
    return order != 0 ? order : strcmp(a->text, b->text);
}

static bool
sort(struct sorted *sorted, const struct model *model)
{
    size_t count = model_tag_count(model);
    *sorted = (struct sorted){.list = calloc(count + 1, sizeof *sorted->list)};
    if (sorted->list == NULL) {
        errno = ENOMEM;
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (model_tag_at(model, i)->listed) {
            sorted->list[sorted->count++] = model_tag_at(model, i);
        }
    }
    qsort(sorted->list, sorted->count, sizeof(const struct model_tag *), compare);
    return true;
}

/* Text. */

static const char *
number(char out[NUMBER_BYTES], double value)
{
    snprintf(out, NUMBER_BYTES, isnan(value) ? "-" : "%.0f", value);
    return out;
}

static const char *
each(char out[NUMBER_BYTES], double value, uint64_t calls)
{
    bool known = calls != COUNT_UNKNOWN && calls > 0 && !isnan(value);
    snprintf(out, NUMBER_BYTES, known ? "%.1f" : "-", known ? value / (double)calls : 0);
    return out;
}

static double
known(uint64_t count)
{
    return count == COUNT_UNKNOWN ? (double)NAN : (double)count;
}

static uint64_t
calls_of(const struct tag_row *row)
{
    bool unknown = row->calls == COUNT_UNKNOWN || row->active == COUNT_UNKNOWN;
    return unknown ? row->calls : row->calls + row->active;
}

static void
write_tag(const struct model_tag *tag, FILE *out)
{
    char a[NUMBER_BYTES], b[NUMBER_BYTES], c[NUMBER_BYTES], d[NUMBER_BYTES];
    char e[NUMBER_BYTES], f[NUMBER_BYTES], g[NUMBER_BYTES];
    uint64_t calls = calls_of(&tag->now);
    fprintf(out, "%10s %14s %11s %12s %12s %11s %14s  %s\n",
            number(a, known(tag->now.calls)), number(b, known(tag->now.allocated)),
            each(c, known(tag->now.allocated), calls), number(d, known(tag->now.live)),
            number(e, tag->retained), each(f, tag->retained, calls),
            number(g, known(tag->now.bytes)), tag->text);
}

bool
tags_write_text(const struct model *model, FILE *out)
{
    struct sorted sorted;
    if (!sort(&sorted, model)) {
        return false;
    }
    fprintf(out, "%10s %14s %11s %12s %12s %11s %14s  %s\n", "CALLS", "ALLOCATED",
            "/CALL", "LIVE", "RETAINED", "/CALL", "BYTES", "TAG");
    for (size_t i = 0; i < sorted.count; i++) {
        write_tag(sorted.list[i], out);
    }
    free(sorted.list);
    return fflush(out) == 0 && !ferror(out);
}

/* JSON. */

static json_t *
escaped(const char *bytes, size_t length)
{
    char *text = text_escaped(bytes, length);
    json_t *value = text != NULL ? json_string(text) : NULL;
    free(text);
    return value;
}

// {"route": "orders#show"}; empty for "(other)".
static json_t *
keys_of(const char *raw)
{
    json_t *keys = json_object();
    while (keys != NULL && *raw != '\0') {
        size_t length = strcspn(raw, "\n");
        size_t key_length = strcspn(raw, "=");
        if (key_length < length) {
            char *key = text_escaped(raw, key_length);
            json_t *value = escaped(raw + key_length + 1, length - key_length - 1);
            if (key == NULL || json_object_set_new(keys, key, value) != 0) {
                json_decref(keys);
                keys = NULL;
            }
            free(key);
        }
        raw += length + (raw[length] == '\n');
    }
    return keys;
}

static json_t *
value_of(const struct model_tag *tag)
{
    return json_pack(
        "{ss so so so so so so so so}", "tag", tag->text, "keys", keys_of(tag->raw),
        "calls", value_count(tag->now.calls), "active", value_count(tag->now.active),
        "allocated", value_count(tag->now.allocated), "freed",
        value_count(tag->now.freed), "live", value_count(tag->now.live), "retained",
        value_whole(tag->retained), "bytes", value_count(tag->now.bytes));
}

json_t *
tags_values(const struct model *model)
{
    struct sorted sorted;
    json_t *array = json_array();
    if (array == NULL || !sort(&sorted, model)) {
        json_decref(array);
        return NULL;
    }
    for (size_t i = 0; array != NULL && i < sorted.count; i++) {
        if (json_array_append_new(array, value_of(sorted.list[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    free(sorted.list);
    return array;
}

bool
tags_write_json(const struct model *model, FILE *out)
{
    char time[WORDS_TIME_BYTES];
    words_time(time, model_time(model).wall_us);
    return value_write(json_pack("{ss so}", "time", time, "tags", tags_values(model)),
                       JSON_INDENT(1), out) &&
           fflush(out) == 0;
}
