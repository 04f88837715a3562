#include "tui/export/document.h"

#include <jansson.h>

#include "tui/export/listing.h"
#include "tui/export/tags.h"
#include "tui/export/values.h"
#include "tui/export/words.h"
#include "tui/model/tags.h"

// Digits of a fraction: 17, the default, would write 0.8 as 0.80000000000000004.
#define FRACTION_DIGITS 10

static json_t *
percent(uint64_t ppm)
{
    return ppm == COUNT_UNKNOWN ? json_null() : json_real((double)ppm / 10000.0);
}

/*
 * Each function below returns a new value, or NULL when memory ran out; "o"
 * takes a value over and makes the whole NULL if it is.
 */

static json_t *
process_of(const struct model *model)
{
    const struct hello *hello = model_hello(model);

    return json_pack("{so so ss ss ss so}", "pid", value_count(hello->pid), "parent_pid",
                     value_count(hello->parent_pid), "command", hello->command.bytes,
                     "ruby", words_ruby(hello->runtime.bytes), "mode",
                     mode_name(model_sample(model)->mode), "started",
                     value_time(hello->started_us));
}

static json_t *
memory_of(const struct process_state *process)
{
    return json_pack(
        "{so so so so so so so}", "rss_bytes", value_count(process->rss_bytes),
        "heap_slots_live", value_count(process->heap_slots_live), "heap_slots_free",
        value_count(process->heap_slots_free), "gc_count", value_count(process->gc_count),
        "gc_major_count", value_count(process->gc_major_count), "gc_time_ms",
        value_count(process->gc_time_ms), "heap_age_ms",
        value_count(process->heap_age_ms));
}

static json_t *
probe_of(const struct probe_state *probe, const struct hello *hello)
{
    return json_pack(
        "{so so so so so so so so}", "cost_percent", percent(probe->cost_ppm), "drift",
        value_count(probe->drift), "drift_total", value_count(probe->drift_total),
        "dropped_frames", value_count(probe->dropped_frames), "census_us",
        value_count(probe->census_us), "census_objects",
        value_count(probe->census_objects), "viewers", value_count(probe->viewers),
        "interval_ms", value_count(hello->interval_ms));
}

static json_t *
totals_of(const struct totals *totals)
{
    return json_pack("{so so so so}", "live", value_count(totals->live), "allocated",
                     value_count(totals->allocated), "freed", value_count(totals->freed),
                     "bytes", value_count(totals->bytes));
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
        if (json_array_append_new(array, value_class(listing.classes[i])) != 0) {
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
                                 "time", value_time(model_time(model).wall_us), "memory",
                                 memory_of(&sample->process), "probe",
                                 probe_of(&sample->probe, model_hello(model)), "totals",
                                 totals_of(&sample->totals), "notices", notices_of(model),
                                 "classes", classes_of(model, all));

    // only of programs that have some
    if (document && model_tag_count(model) > 0 &&
        json_object_set_new(document, "tags", tags_values(model)) != 0) {
        json_decref(document);
        document = NULL;
    }
    return value_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(FRACTION_DIGITS),
                       out) &&
           fflush(out) == 0;
}
