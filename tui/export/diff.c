#include "tui/export/diff.h"

#include <errno.h>
#include <inttypes.h>

#include <jansson.h>

#include "tui/export/sites.h"
#include "tui/export/values.h"
#include "tui/export/words.h"

static bool
wanted(const struct diff_class *class, struct diff_choice choice)
{
    return choice.all || (class->flags & CLASS_INTERNAL) == 0;
}

// Of what is wanted.
static size_t
count_of(const struct diff *diff, struct diff_choice choice, enum diff_kind kind)
{
    size_t count = 0;
    for (size_t i = 0; i < diff->count; i++) {
        count += diff->classes[i].kind == kind && wanted(&diff->classes[i], choice);
    }
    return count;
}

// -1 when it is not known, or goes backwards.
static int64_t
seconds(const struct diff *diff)
{
    uint64_t before_us = model_time(diff->before).wall_us;
    uint64_t after_us = model_time(diff->after).wall_us;
    bool known = before_us > 0 && after_us >= before_us;
    return known ? (int64_t)((after_us - before_us) / 1000000) : -1;
}

/* Text. */

// "-" stands for what nobody measured.
static const char *
change(char out[WORDS_NUMBER_BYTES], int64_t value)
{
    if (value == DIFF_UNKNOWN) {
        return "-";
    }
    snprintf(out, WORDS_NUMBER_BYTES, value == 0 ? "%" PRId64 : "%+" PRId64, value);
    return out;
}

static void
write_process(const char *word, const struct model *model, FILE *out)
{
    const struct hello *hello = model_hello(model);
    char time[WORDS_TIME_BYTES];
    words_time(time, model_time(model).wall_us);
    fprintf(out, "%-8s %s  process %" PRIu64 ": %s\n", word, *time ? time : "-",
            hello->pid, hello->command.bytes != NULL ? hello->command.bytes : "");
}

static void
write_between(const struct diff *diff, FILE *out)
{
    int64_t passed = seconds(diff);
    fprintf(out, "between  %s", diff->same_process ? "one process" : "two processes");
    if (passed >= 0) {
        fprintf(out, ", %" PRId64 " s", passed);
    }
    int64_t collections = diff_subtract(model_sample(diff->after)->process.gc_count,
                                        model_sample(diff->before)->process.gc_count);
    if (diff->same_process && collections != DIFF_UNKNOWN) {
        fprintf(out, ", %" PRId64 " GC runs", collections);
    }
    fputs("\n", out);
}

static void
write_total(const char *word, uint64_t before, uint64_t after, FILE *out)
{
    char a[WORDS_NUMBER_BYTES], b[WORDS_NUMBER_BYTES], c[WORDS_NUMBER_BYTES];
    fprintf(out, "%s %s (%s -> %s)", word, change(a, diff_subtract(after, before)),
            words_number(b, before), words_number(c, after));
}

static void
write_head(const struct diff *diff, struct diff_choice choice, FILE *out)
{
    const struct diff_class *total = &diff->total;
    write_process("before", diff->before, out);
    write_process("after", diff->after, out);
    write_between(diff, out);
    write_total("totals   live", total->before.live, total->after.live, out);
    write_total(", bytes", total->before.bytes, total->after.bytes, out);
    fputs("\nclasses  ", out);
    for (int kind = 0; kind < DIFF_KINDS; kind++) {
        fprintf(out, "%s%zu %s", kind > 0 ? ", " : "",
                count_of(diff, choice, (enum diff_kind)kind),
                diff_kind_name((enum diff_kind)kind));
    }
    fputs("\n", out);
}

static void
write_class(const struct diff_class *class, FILE *out)
{
    char a[WORDS_NUMBER_BYTES], b[WORDS_NUMBER_BYTES], c[WORDS_NUMBER_BYTES],
        d[WORDS_NUMBER_BYTES], e[WORDS_NUMBER_BYTES];
    fprintf(out, "%12s %12s %12s %14s %14s  %s\n", change(a, class->change.live),
            words_number(b, class->before.live), words_number(c, class->after.live),
            change(d, class->change.bytes), change(e, class->change.allocated),
            words_diff_class(class));
}

static void
write_section(const struct diff *diff, struct diff_choice choice, enum diff_kind kind,
              FILE *out)
{
    size_t count = count_of(diff, choice, kind);
    size_t written = 0;
    if (count == 0) {
        return;
    }
    fprintf(out, "\n%s\n%12s %12s %12s %14s %14s  %s\n", diff_kind_name(kind), "CHANGE",
            "BEFORE", "AFTER", "+-BYTES", "+-ALLOCATED", "CLASS");
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_class *class = &diff->classes[i];
        if (class->kind != kind || !wanted(class, choice)) {
            continue;
        }
        if (choice.top != 0 && written == choice.top) {
            fprintf(out, "%70s… %zu more\n", "", count - written);
            return;
        }
        write_class(class, out);
        written++;
    }
}

// Why no change of a path can be told, "" when it can.
static const char *
missing(const struct diff_paths *paths)
{
    if (paths->cut) {
        return ": more paths than can be compared";
    }
    if (!paths->known_before && !paths->known_after) {
        return ": no stacks of all its objects were taken, paths are of those there are";
    }
    if (!paths->known_before) {
        return ": no stacks were taken before, paths are of what there is after";
    }
    return !paths->known_after ? ": no stacks were taken after, paths are of before" : "";
}

// A class of as many objects as before has more bytes.
static enum diff_measure
measure_of(const struct diff_class *class)
{
    return class->change.live == 0 ? DIFF_OF_BYTES : DIFF_OF_OBJECTS;
}

static bool
write_paths(const struct diff *diff, const struct diff_class *class,
            struct diff_choice choice, FILE *out)
{
    struct diff_paths paths;
    char live[WORDS_NUMBER_BYTES];
    if (!diff_paths_init(&paths, diff, class, measure_of(class))) {
        return false;
    }
    fprintf(out, "\npaths of %s, %s%s%s\n", words_diff_class(class),
            change(live, class->change.live),
            paths.exact ? "" : ", sampled: estimates, +- 95 %", missing(&paths));
    bool good = sites_write(&paths, (struct sites_choice){choice.paths, false}, 0, out);
    diff_paths_destroy(&paths);
    return good;
}

// Of the classes that are more now.
static bool
write_all_paths(const struct diff *diff, struct diff_choice choice, FILE *out)
{
    for (size_t i = 0; i < diff->count; i++) {
        const struct diff_class *class = &diff->classes[i];
        bool more = class->kind == DIFF_ADDED || class->kind == DIFF_GROWN;
        if (more && class->traced && wanted(class, choice) &&
            !write_paths(diff, class, choice, out)) {
            return false;
        }
    }
    return true;
}

bool
diff_write_text(const struct diff *diff, struct diff_choice choice, FILE *out)
{
    static const enum diff_kind sections[] = {DIFF_ADDED, DIFF_GROWN, DIFF_SHRUNK,
                                              DIFF_GONE, DIFF_UNTOLD};
    write_head(diff, choice, out);
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        write_section(diff, choice, sections[i], out);
    }
    if (!write_all_paths(diff, choice, out)) {
        errno = ENOMEM;
        return false;
    }
    return fflush(out) == 0 && !ferror(out);
}

/* JSON: each function returns a new value, or NULL when memory ran out; "o" takes a
   value over and makes the whole NULL if it is. */

static json_t *
change_json(int64_t value)
{
    return value == DIFF_UNKNOWN ? json_null() : json_integer(value);
}

static json_t *
process_json(const struct model *model)
{
    const struct hello *hello = model_hello(model);
    const char *runtime = hello->runtime.bytes != NULL ? hello->runtime.bytes : "";
    return json_pack("{so ss? ss so so so}", "pid", value_count(hello->pid), "command",
                     hello->command.bytes, "ruby", words_ruby(runtime), "started",
                     value_time(hello->started_us), "time",
                     value_time(model_time(model).wall_us), "gc_count",
                     value_count(model_sample(model)->process.gc_count));
}

static json_t *
counts_json(const struct diff_counts *counts)
{
    return json_pack("{so so so}", "live", value_count(counts->live), "bytes",
                     value_count(counts->bytes), "allocated",
                     value_count(counts->allocated));
}

static json_t *
changes_json(const struct diff_change *changes)
{
    return json_pack("{so so so}", "live", change_json(changes->live), "bytes",
                     change_json(changes->bytes), "allocated",
                     change_json(changes->allocated));
}

static json_t *
side_json(const struct diff_counts *counts, uint32_t classes)
{
    json_t *side = counts_json(counts);
    if (side == NULL ||
        json_object_set_new(side, "classes", json_integer(classes)) != 0) {
        json_decref(side);
        return NULL;
    }
    return side;
}

static json_t *
paths_json(const struct diff *diff, const struct diff_class *class, size_t top)
{
    struct diff_paths paths;
    if (!class->traced) {
        return json_null();
    }
    if (!diff_paths_init(&paths, diff, class, measure_of(class))) {
        return NULL;
    }
    json_t *value = sites_json(&paths, (struct sites_choice){top, false});
    diff_paths_destroy(&paths);
    return value;
}

static json_t *
class_json(const struct diff *diff, const struct diff_class *class, size_t top)
{
    return json_pack("{ss ss so so so sb sb so}", "name", words_diff_class(class), "kind",
                     diff_kind_name(class->kind), "before",
                     side_json(&class->before, class->classes_before), "after",
                     side_json(&class->after, class->classes_after), "change",
                     changes_json(&class->change), "internal",
                     (class->flags & CLASS_INTERNAL) != 0, "anonymous",
                     (class->flags & CLASS_ANONYMOUS) != 0, "paths",
                     paths_json(diff, class, top));
}

static json_t *
classes_json(const struct diff *diff, struct diff_choice choice, size_t *left_out)
{
    size_t written[DIFF_KINDS] = {0};
    json_t *array = json_array();
    *left_out = 0;
    for (size_t i = 0; array != NULL && i < diff->count; i++) {
        const struct diff_class *class = &diff->classes[i];
        if (class->kind == DIFF_UNCHANGED || !wanted(class, choice)) {
            continue;
        }
        if (choice.top != 0 && written[class->kind]++ >= choice.top) {
            *left_out += 1;
            continue;
        }
        if (json_array_append_new(array, class_json(diff, class, choice.paths)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *
kinds_json(const struct diff *diff, struct diff_choice choice)
{
    json_t *kinds = json_object();
    for (int kind = 0; kinds != NULL && kind < DIFF_KINDS; kind++) {
        size_t count = count_of(diff, choice, (enum diff_kind)kind);
        json_t *value = json_integer((json_int_t)count);
        if (json_object_set_new(kinds, diff_kind_name((enum diff_kind)kind), value) !=
            0) {
            json_decref(kinds);
            kinds = NULL;
        }
    }
    return kinds;
}

static json_t *
document_of(const struct diff *diff, struct diff_choice choice)
{
    size_t left_out;
    int64_t passed = seconds(diff);
    json_t *classes = classes_json(diff, choice, &left_out);
    return json_pack(
        "{so so sb so s{so so so} so sI so}", "before", process_json(diff->before),
        "after", process_json(diff->after), "same_process", diff->same_process, "seconds",
        passed >= 0 ? json_integer(passed) : json_null(), "totals", "before",
        counts_json(&diff->total.before), "after", counts_json(&diff->total.after),
        "change", changes_json(&diff->total.change), "kinds", kinds_json(diff, choice),
        "left_out", (json_int_t)left_out, "classes", classes);
}

bool
diff_write_json(const struct diff *diff, struct diff_choice choice, FILE *out)
{
    return value_write(document_of(diff, choice),
                       JSON_INDENT(1) | JSON_REAL_PRECISION(12), out) &&
           fflush(out) == 0;
}
