#include "tui/export/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <profile.pb-c.h>

#include "protocol/buffer.h"
#include "tui/export/gzip.h"
#include "tui/export/intern.h"
#include "tui/export/stacks.h"
#include "tui/export/words.h"
#include "version.h"

#define NO_PATH "(no path)"
#define MAPPING 1 // the one there is: the program
#define COMMENT_BYTES 4096

// The columns of a sample, in order. Bytes are left out when nobody knows any.
static const struct {
    const char *name;
    const char *unit;
    enum stacks_figure figure;
} columns[] = {
    {"live_objects",      "count", STACKS_LIVE     },
    {"live_bytes",        "bytes", STACKS_BYTES    },
    {"allocated_objects", "count", STACKS_ALLOCATED},
};

#define COLUMNS (sizeof(columns) / sizeof(*columns))
#define LABELS (1 + COLUMNS) // the class, and each figure that is not known

struct pprof {
    struct gzip gzip;
    struct buffer packed; // one piece
    struct intern texts;
    struct intern functions;
    struct intern locations;
    bool bytes;         // there is a column of bytes
    uint64_t unknown;   // live objects whose bytes nobody knows
    uint64_t beyond;    // paths with more objects than a machine has
    uint64_t since_us;  // the first tracing of all
    uint64_t shift_max; // of stacks taken now
};

/*
 * Each function below returns false when memory ran out. What the stream refuses is
 * found out at the end.
 */

static bool
put(struct pprof *pprof, const Pprof__Profile *piece)
{
    size_t size = pprof__profile__get_packed_size(piece);

    buffer_clear(&pprof->packed);
    unsigned char *bytes = buffer_reserve(&pprof->packed, size + 1);
    if (!bytes) {
        return false;
    }
    gzip_write(&pprof->gzip, bytes, pprof__profile__pack(piece, bytes));
    return true;
}

// The number of a text, which goes into the file when it is new.
static bool
put_text(struct pprof *pprof, const char *text, int64_t *number)
{
    uint32_t known = pprof->texts.count;
    uint32_t found;

    if (!intern_find(&pprof->texts, (struct intern_key){text, "", 0}, &found)) {
        return false;
    }
    *number = found;
    if (found < known) {
        return true;
    }
    char *texts[] = {(char *)text};
    Pprof__Profile piece = PPROF__PROFILE__INIT;
    piece.n_string_table = 1;
    piece.string_table = texts;
    return put(pprof, &piece);
}

static bool
put_type(struct pprof *pprof, const char *type, const char *unit, Pprof__ValueType *value)
{
    return put_text(pprof, type, &value->type) && put_text(pprof, unit, &value->unit);
}

static bool
put_comment(struct pprof *pprof, const char *text)
{
    int64_t numbers[1];
    Pprof__Profile piece = PPROF__PROFILE__INIT;

    piece.n_comment = 1;
    piece.comment = numbers;
    return put_text(pprof, text, numbers) && put(pprof, &piece);
}

/* Places. */

static bool
put_function(struct pprof *pprof, struct intern_key key, uint32_t *number)
{
    uint32_t known = pprof->functions.count;
    Pprof__Function function = PPROF__FUNCTION__INIT;
    Pprof__Function *functions[] = {&function};
    Pprof__Profile piece = PPROF__PROFILE__INIT;

    if (!intern_find(&pprof->functions, key, number)) {
        return false;
    }
    if (*number < known) {
        return true;
    }
    function.id = *number + UINT64_C(1);
    function.start_line = (int64_t)key.number;
    // system_name stays unset: were it the name, pprof would take that for C++ and
    // leave out what is in angle brackets, which is all of <main>.
    piece.n_function = 1;
    piece.function = functions;
    return put_text(pprof, key.text, &function.name) &&
           put_text(pprof, key.file, &function.filename) && put(pprof, &piece);
}

static bool
put_location(struct pprof *pprof, uint32_t function, uint32_t at, uint64_t *location_id)
{
    uint32_t known = pprof->locations.count;
    const struct intern_key key = {"", "", (uint64_t)function << 32 | at};
    uint32_t number;
    Pprof__Line line = PPROF__LINE__INIT;
    Pprof__Line *lines[] = {&line};
    Pprof__Location location = PPROF__LOCATION__INIT;
    Pprof__Location *locations[] = {&location};
    Pprof__Profile piece = PPROF__PROFILE__INIT;

    if (!intern_find(&pprof->locations, key, &number)) {
        return false;
    }
    *location_id = number + UINT64_C(1);
    if (number < known) {
        return true;
    }
    line.function_id = function + UINT64_C(1);
    line.line = at;
    location.id = *location_id;
    location.mapping_id = MAPPING;
    location.n_line = 1;
    location.line = lines;
    piece.n_location = 1;
    piece.location = locations;
    return put(pprof, &piece);
}

static bool
put_node(struct pprof *pprof, const struct tree_model *tree, uint32_t node,
         uint64_t *location_id)
{
    const struct tree_frame *frame = tree_frame(tree, node);
    char label[WORDS_LABEL_BYTES] = NO_PATH;
    uint32_t function;

    if (node != 0) {
        words_label(label, tree, node);
    }
    return put_function(pprof, (struct intern_key){label, frame->path, frame->line},
                        &function) &&
           put_location(pprof, function, tree_line(tree, node), location_id);
}

/* Samples. */

// What a class's samples are made with.
struct maker {
    struct pprof *pprof;
    struct stacks *stacks;
    uint64_t *seen;  // owned; for each node its location, 0 while it has none
    uint64_t *stack; // owned; locations of a sample, the innermost first
};

static bool
place(const struct maker *maker, const struct stacks_row *row, Pprof__Sample *sample)
{
    static const uint32_t root[] = {0};
    size_t depth;
    const uint32_t *path = stacks_path(maker->stacks, row, &depth);

    if (depth == 0) {
        path = root;
        depth = 1;
    }
    for (size_t i = 0; i < depth; i++) {
        uint64_t *location = &maker->seen[path[i]];
        if (*location == 0 &&
            !put_node(maker->pprof, maker->stacks->tree, path[i], location)) {
            return false;
        }
        maker->stack[depth - 1 - i] = *location;
    }
    sample->n_location_id = depth;
    sample->location_id = maker->stack;
    return true;
}

static bool
put_label(struct pprof *pprof, const char *key, const char *text, Pprof__Label *labels,
          Pprof__Sample *sample)
{
    Pprof__Label *label = &labels[sample->n_label];

    pprof__label__init(label);
    sample->label[sample->n_label++] = label;
    return put_text(pprof, key, &label->key) && put_text(pprof, text, &label->str);
}

static bool
put_figures(const struct maker *maker, const struct stacks_row *row, int64_t *values,
            Pprof__Label *labels, Pprof__Sample *sample)
{
    sample->value = values;
    for (size_t i = 0; i < COLUMNS; i++) {
        uint64_t value = row->figures[columns[i].figure];
        if (columns[i].figure == STACKS_BYTES && !maker->pprof->bytes) {
            continue;
        }
        values[sample->n_value++] = value != COUNT_UNKNOWN ? (int64_t)value : 0;
        if (value == COUNT_UNKNOWN &&
            !put_label(maker->pprof, columns[i].name, "unknown", labels, sample)) {
            return false;
        }
    }
    return true;
}

static bool
put_sample(const struct maker *maker, const struct stacks_row *row)
{
    int64_t values[COLUMNS];
    Pprof__Label labels[LABELS];
    Pprof__Label *list[LABELS];
    Pprof__Sample sample = PPROF__SAMPLE__INIT;
    Pprof__Sample *samples[] = {&sample};
    Pprof__Profile piece = PPROF__PROFILE__INIT;

    sample.label = list;
    piece.n_sample = 1;
    piece.sample = samples;
    return place(maker, row, &sample) &&
           put_label(maker->pprof, "class", maker->stacks->name, labels, &sample) &&
           put_figures(maker, row, values, labels, &sample) && put(maker->pprof, &piece);
}

static bool
put_samples(const struct maker *maker)
{
    for (size_t i = 0; i < maker->stacks->count; i++) {
        const struct stacks_row *row = &maker->stacks->rows[i];
        uint64_t live = row->figures[STACKS_LIVE];
        if (live == COUNT_UNKNOWN) {
            maker->pprof->beyond++;
            continue;
        }
        if (row->figures[STACKS_BYTES] == COUNT_UNKNOWN) {
            maker->pprof->unknown += live;
        }
        if (!put_sample(maker, row)) {
            return false;
        }
    }
    return true;
}

// How the class's figures were come by; remembers what all classes have in common.
static bool
put_origin(struct pprof *pprof, const struct stacks *stacks)
{
    const struct tree *header = tree_header(stacks->tree);
    uint64_t shift = header->shift < 62 ? header->shift : 62;
    char text[COMMENT_BYTES];
    char since[WORDS_TIME_BYTES] = "";

    if (header->since_us != COUNT_UNKNOWN) {
        words_time(since, header->since_us);
        pprof->since_us =
            header->since_us < pprof->since_us ? header->since_us : pprof->since_us;
    }
    pprof->shift_max = shift > pprof->shift_max ? shift : pprof->shift_max;
    if (!*since) {
        snprintf(text, sizeof(text), "%s: no stacks were taken yet", stacks->name);
    } else if (tree_exact(stacks->tree)) {
        snprintf(text, sizeof(text), "%s: exact, traced since %s", stacks->name, since);
    } else {
        snprintf(text, sizeof(text),
                 "%s: estimates, traced since %s, one stack of %" PRIu64 " is taken now",
                 stacks->name, since, UINT64_C(1) << shift);
    }
    words_cut(text, sizeof(text));
    return put_comment(pprof, text);
}

static bool
put_class(void *context, struct stacks *stacks)
{
    struct pprof *pprof = context;
    struct maker maker = {
        .pprof = pprof,
        .stacks = stacks,
        .seen = calloc(tree_node_count(stacks->tree), sizeof(uint64_t)),
        .stack = calloc(stacks->depth + 1, sizeof(uint64_t)),
    };
    bool good =
        maker.seen && maker.stack && put_origin(pprof, stacks) && put_samples(&maker);

    free(maker.seen);
    free(maker.stack);
    return good && pprof->gzip.error == 0;
}

/* The profile as a whole. */

static bool
put_columns(struct pprof *pprof)
{
    for (size_t i = 0; i < COLUMNS; i++) {
        Pprof__ValueType type = PPROF__VALUE_TYPE__INIT;
        Pprof__ValueType *types[] = {&type};
        Pprof__Profile piece = PPROF__PROFILE__INIT;
        if (columns[i].figure == STACKS_BYTES && !pprof->bytes) {
            continue;
        }
        piece.n_sample_type = 1;
        piece.sample_type = types;
        if (!put_type(pprof, columns[i].name, columns[i].unit, &type) ||
            !put(pprof, &piece)) {
            return false;
        }
    }
    return true;
}

// The program is the one mapping, and its functions are known: pprof looks for no
// symbols then.
static bool
put_program(struct pprof *pprof, const struct model *model)
{
    Pprof__Mapping mapping = PPROF__MAPPING__INIT;
    Pprof__Mapping *mappings[] = {&mapping};
    Pprof__Profile piece = PPROF__PROFILE__INIT;

    mapping.id = MAPPING;
    mapping.has_functions = mapping.has_filenames = mapping.has_line_numbers = true;
    piece.n_mapping = 1;
    piece.mapping = mappings;
    return put_text(pprof, words_command(model), &mapping.filename) && put(pprof, &piece);
}

static bool
put_process(struct pprof *pprof, const struct model *model)
{
    const struct hello *hello = model_hello(model);
    const char *runtime = hello->runtime.bytes;
    char time[WORDS_TIME_BYTES];
    char text[COMMENT_BYTES];

    words_time(time, model_time(model).wall_us);
    snprintf(text, sizeof(text), "process %" PRIu64 ": %s", hello->pid,
             words_command(model));
    words_cut(text, sizeof(text));
    if (!put_comment(pprof, text)) {
        return false;
    }
    snprintf(text, sizeof(text), "%s, at %s, written by memtop " MEMTOP_VERSION,
             runtime && *runtime ? runtime : "unknown runtime",
             *time ? time : "an unknown time");
    words_cut(text, sizeof(text));
    return put_comment(pprof, text);
}

static bool
put_doubts(struct pprof *pprof)
{
    char text[COMMENT_BYTES];

    if (pprof->bytes && pprof->unknown > 0) {
        snprintf(text, sizeof(text),
                 "bytes of %" PRIu64 " objects are not known and count as 0: samples "
                 "with the label live_bytes:unknown",
                 pprof->unknown);
        if (!put_comment(pprof, text)) {
            return false;
        }
    }
    if (pprof->beyond > 0) {
        snprintf(text, sizeof(text),
                 "left out: %" PRIu64 " paths with more objects than can be",
                 pprof->beyond);
        return put_comment(pprof, text);
    }
    return true;
}

// What is one number of the whole profile.
static bool
put_scalars(struct pprof *pprof, const struct model *model)
{
    uint64_t now = model_time(model).wall_us;
    Pprof__ValueType period = PPROF__VALUE_TYPE__INIT;
    Pprof__Profile piece = PPROF__PROFILE__INIT;

    piece.period_type = &period;
    piece.period = (int64_t)(UINT64_C(1) << pprof->shift_max);
    piece.time_nanos = now <= INT64_MAX / 1000 ? (int64_t)now * 1000 : 0;
    if (pprof->since_us < now && piece.time_nanos > 0) {
        piece.duration_nanos = (int64_t)(now - pprof->since_us) * 1000;
    }
    return put_type(pprof, "allocated_objects", "count", &period) &&
           put_text(pprof, columns[0].name, &piece.default_sample_type) &&
           put(pprof, &piece);
}

static bool
knows_bytes(const struct model *model)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct tree_model *tree = model_tree(model, model_class_at(model, i)->id);
        if (tree && tree_total(tree, 0).bytes < (double)INT64_MAX) { // NAN is not
            return true;
        }
    }
    return false;
}

static bool
put_all(struct pprof *pprof, const struct model *model)
{
    int64_t first;

    return put_text(pprof, "", &first) && put_columns(pprof) &&
           put_program(pprof, model) && put_process(pprof, model) &&
           stacks_each(model, put_class, pprof) && put_doubts(pprof) &&
           put_scalars(pprof, model);
}

bool
pprof_write(const struct model *model, const struct export_options *options, FILE *out)
{
    struct pprof pprof = {.bytes = knows_bytes(model), .since_us = COUNT_UNKNOWN};

    (void)options;
    if (!gzip_begin(&pprof.gzip, out)) {
        return false;
    }
    bool made = put_all(&pprof, model);
    bool written = gzip_end(&pprof.gzip);
    buffer_destroy(&pprof.packed);
    intern_destroy(&pprof.texts);
    intern_destroy(&pprof.functions);
    intern_destroy(&pprof.locations);
    if (!made && written) {
        errno = ENOMEM;
    }
    return made && written && fflush(out) == 0;
}
