#include "tui/export/document.h"

#include <errno.h>

#include <jansson.h>

#include "tui/export/listing.h"
#include "tui/export/words.h"

// Digits of a fraction: 17, the default, would write 0.8 as 0.80000000000000004.
#define FRACTION_DIGITS 10

// null for what nobody measured, and for what no measurement could be.
static json_t *
number(uint64_t value)
{
    return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

static json_t *
percent(uint64_t ppm)
{
    return ppm == COUNT_UNKNOWN ? json_null() : json_real((double)ppm / 10000.0);
}

static json_t *
moment(uint64_t wall_us)
{
    char text[WORDS_TIME_BYTES];

    words_time(text, wall_us);
    return *text ? json_string(text) : json_null();
}

/*
 * Each function below returns a new value, or NULL when memory ran out; "o"
 * takes a value over and makes the whole NULL if it is.
 */

static json_t *
process_of(const struct model *model)
{
    const struct hello *hello = model_hello(model);

    return json_pack("{so so ss ss ss so}", "pid", number(hello->pid), "parent_pid",
                     number(hello->parent_pid), "command", hello->command.bytes, "ruby",
                     words_ruby(hello->runtime.bytes), "mode",
                     mode_name(model_sample(model)->mode), "started",
                     moment(hello->started_us));
}

static json_t *
memory_of(const struct process_state *process)
{
    return json_pack(
        "{so so so so so so so}", "rss_bytes", number(process->rss_bytes),
        "heap_slots_live", number(process->heap_slots_live), "heap_slots_free",
        number(process->heap_slots_free), "gc_count", number(process->gc_count),
        "gc_major_count", number(process->gc_major_count), "gc_time_ms",
        number(process->gc_time_ms), "heap_age_ms", number(process->heap_age_ms));
}

static json_t *
probe_of(const struct probe_state *probe, const struct hello *hello)
{
    return json_pack("{so so so so so so so so}", "cost_percent",
                     percent(probe->cost_ppm), "drift", number(probe->drift),
                     "drift_total", number(probe->drift_total), "dropped_frames",
                     number(probe->dropped_frames), "census_us", number(probe->census_us),
                     "census_objects", number(probe->census_objects), "viewers",
                     number(probe->viewers), "interval_ms", number(hello->interval_ms));
}

static json_t *
totals_of(const struct totals *totals)
{
    return json_pack("{so so so so}", "live", number(totals->live), "allocated",
                     number(totals->allocated), "freed", number(totals->freed), "bytes",
                     number(totals->bytes));
}

static json_t *
class_of(const struct model_class *class)
{
    char spare[32];

    const char *verdict = verdict_name(class->verdict);
    return json_pack("{ss so so so so ss? ss? sb sb}", "name",
                     words_class(class, spare, sizeof(spare)), "live",
                     number(class->now.live), "allocated", number(class->now.allocated),
                     "freed", number(class->now.freed), "bytes", number(class->now.bytes),
                     "verdict", verdict, "reason", verdict ? class->reason : NULL,
                     "internal", (class->flags & CLASS_INTERNAL) != 0, "anonymous",
                     (class->flags & CLASS_ANONYMOUS) != 0);
}

static json_t *
classes_of(const struct model *model, bool all)
{
    struct listing listing;
    json_t *array = json_array();

    if (!array || !listing_init(&listing, model, all)) {
        json_decref(array);
        return NULL;
    }
    for (size_t i = 0; array && i < listing.count; i++) {
        if (json_array_append_new(array, class_of(listing.classes[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    listing_destroy(&listing);
    return array;
}

static json_t *
notices_of(const struct model *model)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < model_notice_count(model); i++) {
        const struct model_notice *notice = model_notice_at(model, i);
        json_t *value = json_pack("{ss ss}", "severity",
                                  notice->severity == NOTICE_WARNING ? "warning" : "info",
                                  "text", notice->text);
        if (json_array_append_new(array, value) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

bool
document_write(const struct model *model, bool all, FILE *out)
{
    const struct sample *sample = model_sample(model);
    json_t *document = json_pack("{so so so so so so so}", "process", process_of(model),
                                 "time", moment(model_time(model).wall_us), "memory",
                                 memory_of(&sample->process), "probe",
                                 probe_of(&sample->probe, model_hello(model)), "totals",
                                 totals_of(&sample->totals), "notices", notices_of(model),
                                 "classes", classes_of(model, all));

    if (!document) {
        errno = ENOMEM;
        return false;
    }
    int status =
        json_dumpf(document, out, JSON_INDENT(1) | JSON_REAL_PRECISION(FRACTION_DIGITS));
    json_decref(document);
    if (status != 0 && !ferror(out)) {
        errno = ENOMEM;
    }
    return status == 0 && fputc('\n', out) != EOF && fflush(out) == 0;
}
