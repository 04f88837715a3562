#include "tui/export/processes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "tui/export/values.h"
#include "tui/export/words.h"
#include "tui/model/kin.h"
#include "tui/text/text.h"

#define CELL_BYTES 640
#define NAME_CELLS 24
#define COMMAND_CELLS 100

static const char *
oddity_word(enum peer_oddity oddity)
{
    static const char *const words[] = {NULL, "rss", "live", "growth"};
    return words[oddity];
}

/* A table. */

static const char *
size(char out[CELL_BYTES], double bytes)
{
    static const char units[] = "BKMGT";
    int unit = 0;
    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    int digits = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    snprintf(out, CELL_BYTES, isnan(bytes) ? "-" : "%.*f%c", digits, bytes, units[unit]);
    return out;
}

static const char *
count(char out[CELL_BYTES], double value, bool change)
{
    snprintf(out, CELL_BYTES, isnan(value) ? "-" : change ? "%+.0f" : "%.0f", value);
    return out;
}

static const char *
age(char out[CELL_BYTES], double seconds)
{
    uint64_t whole = isnan(seconds) ? 0 : (uint64_t)seconds;
    if (isnan(seconds)) {
        snprintf(out, CELL_BYTES, "-");
    } else if (whole < 3600) {
        snprintf(out, CELL_BYTES, "%02" PRIu64 ":%02" PRIu64, whole / 60, whole % 60);
    } else if (whole < 86400) {
        snprintf(out, CELL_BYTES, "%" PRIu64 "h%02" PRIu64, whole / 3600,
                 whole / 60 % 60);
    } else {
        snprintf(out, CELL_BYTES, "%" PRIu64 "d%02" PRIu64 "h", whole / 86400,
                 whole / 3600 % 24);
    }
    return out;
}

static void
branch(char out[CELL_BYTES], const struct kin_row *row, bool ascii)
{
    // by whether it is in ASCII, at the row itself, and the last child
    static const char *const signs[2][2][2] = {
        {{"│", " "}, {"├", "└"}},
        {{"| ", "  "}, {"|-", "`-"}  }
    };
    size_t used = 0;
    out[0] = '\0';
    for (int depth = 1; depth <= row->depth && used + 8 < CELL_BYTES; depth++) {
        const char *sign = signs[ascii][depth == row->depth][row->last[depth]];
        used += (size_t)snprintf(out + used, CELL_BYTES - used, "%s", sign);
    }
    snprintf(out + used, CELL_BYTES - used, "%" PRIu64, row->peer->pid);
}

static void
put(FILE *out, const char *text, int width)
{
    int pad = width - text_width(text);
    fprintf(out, "%s%*s", text, pad > 0 ? pad : 0, "");
}

static void
write_row(const struct kin_row *row, bool ascii, FILE *out)
{
    const struct peer *peer = row->peer;
    char cell[CELL_BYTES], rss[CELL_BYTES], live[CELL_BYTES], delta[CELL_BYTES],
        since[CELL_BYTES];
    char worst[CELL_BYTES + 16] = "-";
    bool answers = peer->state == PEER_LIVE && peer->mode != COUNT_UNKNOWN;

    if (peer->verdict != VERDICT_NONE) {
        text_fit(cell, sizeof(cell), peer->worst, NAME_CELLS - 9, ascii);
        snprintf(worst, sizeof(worst), "%s %s", cell, verdict_name(peer->verdict));
    }
    branch(cell, row, ascii);
    put(out, cell, 12);
    fprintf(out, " %-8s %7s %11s %9s  ",
            answers ? mode_name(peer->mode) : peer_state_name(peer->state),
            size(rss, peer->rss_bytes), count(live, peer->live, false),
            count(delta, peer->per_minute, true));
    put(out, worst, NAME_CELLS);
    text_fit(cell, sizeof(cell), *peer->command ? peer->command : peer->socket,
             COMMAND_CELLS, ascii);
    fprintf(out, " %6s  %s%s%s%s", age(since, peer->age_s), cell, *peer->why ? " (" : "",
            peer->why, *peer->why ? ")" : "");
    if (peer->oddity != PEER_USUAL) {
        fprintf(out, " [odd: %s]", oddity_word(peer->oddity));
    }
    fputc('\n', out);
}

bool
processes_write_table(const struct fleet *fleet, bool ascii, FILE *out)
{
    struct kin_row rows[FLEET_MAX];
    size_t row_count = kin_rows(fleet, NULL, NULL, NULL, rows);

    fprintf(out, "%-12s %-8s %7s %11s %9s  %-24s %6s  %s\n", "PID", "MODE", "RSS", "LIVE",
            "DELTA/MIN", "TOP GROWING", "SINCE", "COMMAND");
    for (size_t i = 0; i < row_count; i++) {
        write_row(&rows[i], ascii, out);
    }
    if (fleet->full) {
        fprintf(out, "(more than %u processes: the rest is not listed)\n", FLEET_MAX);
    }
    return fflush(out) == 0 && !ferror(out);
}

/* JSON. */

static json_t *
text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

static json_t *
started(const struct peer *peer)
{
    char time[WORDS_TIME_BYTES];
    words_time(time, model_hello(peer->model)->started_us);
    return text_or_null(model_hello(peer->model)->started_us > 0 ? time : NULL);
}

static json_t *
process(const struct peer *peer)
{
    const struct text runtime = model_hello(peer->model)->runtime;
    bool known = peer->mode != COUNT_UNKNOWN;

    return json_pack(
        "{so ss so so so ss so so so so so so so so so}", "pid", value_count(peer->pid),
        "socket", peer->socket, "command", text_or_null(peer->command), "mode",
        text_or_null(known ? mode_name(peer->mode) : NULL), "parent",
        peer->parent_pid ? value_count(peer->parent_pid) : json_null(), "state",
        peer_state_name(peer->state), "why", text_or_null(peer->why), "ruby",
        text_or_null(runtime.bytes ? words_ruby(runtime.bytes) : NULL), "started",
        started(peer), "rss_bytes", value_whole(peer->rss_bytes), "live",
        value_whole(peer->live), "live_per_minute", value_whole(peer->per_minute),
        "worst", text_or_null(peer->worst), "verdict",
        text_or_null(peer->verdict ? verdict_name(peer->verdict) : NULL), "odd",
        text_or_null(oddity_word(peer->oddity)));
}

bool
processes_write_json(const struct fleet *fleet, FILE *out)
{
    struct kin_row rows[FLEET_MAX];
    size_t row_count = kin_rows(fleet, NULL, NULL, NULL, rows);
    json_t *array = json_array();

    for (size_t i = 0; array && i < row_count; i++) {
        if (json_array_append_new(array, process(rows[i].peer)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return value_write(array, JSON_INDENT(1), out) && fflush(out) == 0;
}
