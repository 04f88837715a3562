#include "tui/export/table.h"

#include <errno.h>
#include <inttypes.h>

#include "tui/export/listing.h"
#include "tui/export/words.h"

static const char *
percent(char out[WORDS_NUMBER_BYTES], uint64_t ppm)
{
    if (ppm == COUNT_UNKNOWN) {
        return "-";
    }
    snprintf(out, WORDS_NUMBER_BYTES, "%.2f", (double)ppm / 10000.0);
    return out;
}

static void
write_process(const struct model *model, FILE *out)
{
    const struct hello *hello = model_hello(model);
    char now[WORDS_TIME_BYTES];
    char started[WORDS_TIME_BYTES];

    words_time(now, model_time(model).wall_us);
    words_time(started, hello->started_us);
    fprintf(out, "time     %s\n", now);
    fprintf(out, "process  %" PRIu64 ": %s\n", hello->pid, hello->command.bytes);
    fprintf(out, "ruby     %s, mode %s, probe started %s\n",
            words_ruby(hello->runtime.bytes), mode_name(model_sample(model)->mode),
            started);
}

static void
write_figures(const struct sample *sample, FILE *out)
{
    const struct process_state *process = &sample->process;
    const struct probe_state *probe = &sample->probe;
    const struct totals *totals = &sample->totals;
    char a[WORDS_NUMBER_BYTES], b[WORDS_NUMBER_BYTES], c[WORDS_NUMBER_BYTES],
        d[WORDS_NUMBER_BYTES];

    fprintf(
        out, "memory   RSS %s bytes, heap slots %s live %s free, %s GC runs\n",
        words_number(a, process->rss_bytes), words_number(b, process->heap_slots_live),
        words_number(c, process->heap_slots_free), words_number(d, process->gc_count));
    fprintf(out, "probe    cost %s %% of a core, drift %s, dropped frames %s\n",
            percent(a, probe->cost_ppm), words_number(b, probe->drift),
            words_number(c, probe->dropped_frames));
    fprintf(out, "totals   live %s, allocated %s, freed %s, bytes %s\n",
            words_number(a, totals->live), words_number(b, totals->allocated),
            words_number(c, totals->freed), words_number(d, totals->bytes));
}

static void
write_notices(const struct model *model, FILE *out)
{
    for (size_t i = 0; i < model_notice_count(model); i++) {
        const struct model_notice *notice = model_notice_at(model, i);
        fprintf(out, "%s  %s\n",
                notice->severity == NOTICE_WARNING ? "warning" : "notice ", notice->text);
    }
}

static void
write_class(const struct model_class *class, FILE *out)
{
    char a[WORDS_NUMBER_BYTES], b[WORDS_NUMBER_BYTES], c[WORDS_NUMBER_BYTES],
        d[WORDS_NUMBER_BYTES];
    char spare[32];

    const char *verdict = verdict_name(class->verdict);
    fprintf(out, "%12s %14s %14s %14s  %-8s %s\n", words_number(a, class->now.live),
            words_number(b, class->now.allocated), words_number(c, class->now.freed),
            words_number(d, class->now.bytes), verdict ? verdict : "-",
            words_class(class, spare, sizeof(spare)));
}

bool
table_write(const struct model *model, bool all, FILE *out)
{
    struct listing listing;

    if (!listing_init(&listing, model, all)) {
        errno = ENOMEM;
        return false;
    }
    write_process(model, out);
    write_figures(model_sample(model), out);
    write_notices(model, out);
    fprintf(out, "\n%12s %14s %14s %14s  %-8s %s\n", "LIVE", "ALLOCATED", "FREED",
            "BYTES", "VERDICT", "CLASS");
    for (size_t i = 0; i < listing.count; i++) {
        write_class(listing.classes[i], out);
    }
    listing_destroy(&listing);
    return fflush(out) == 0 && !ferror(out);
}
