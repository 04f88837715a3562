#include "tui/record/verify.h"

#include <inttypes.h>

#include "tui/record/words.h"

#define HOUR_US 3600000000.0

static const char *const gap_reasons[] = {
    [GAP_LOST] = "the connection broke",
    [GAP_ENDED] = "the program ended",
    [GAP_RESTARTED] = "another process took its place",
    [GAP_DROPPED] = "frames were dropped",
    [GAP_STOPPED] = "recording was stopped",
    [GAP_RESUMED] = "recording went on",
};

const char *
gap_words(uint64_t reason)
{
    size_t count = sizeof gap_reasons / sizeof gap_reasons[0];
    return reason < count ? gap_reasons[reason] : NULL;
}

struct walk {
    struct verify_report *report;
    bool in_group;
    uint64_t pid;
    uint64_t started_us;
    struct stamp before; // of the last frame
};

static void
see_hello(struct walk *walk, const struct hello *hello)
{
    if (walk->report->processes == 0 || hello->pid != walk->pid ||
        hello->started_us != walk->started_us) {
        walk->report->processes++;
    }
    walk->pid = hello->pid;
    walk->started_us = hello->started_us;
}

static void
see_gap(struct walk *walk, const struct message *message)
{
    struct verify_report *report = walk->report;
    if (report->gaps < VERIFY_GAPS_MAX) {
        report->gap_list[report->gaps] =
            (struct verify_gap){walk->before, message->at, message->gap.reason};
    }
    report->gaps++;
}

static void
see_key(struct walk *walk, const struct key_group *key)
{
    if (key->begin) {
        walk->report->groups_short += walk->in_group;
        walk->in_group = true;
    } else if (walk->in_group) {
        walk->report->groups++;
        walk->in_group = false;
    }
}

static void
see(struct walk *walk, const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_HELLO:
        see_hello(walk, &message->hello);
        break;
    case MESSAGE_SAMPLE:
        walk->report->samples += !walk->in_group;
        break;
    case MESSAGE_GAP:
        see_gap(walk, message);
        break;
    case MESSAGE_KEY:
        see_key(walk, &message->key);
        break;
    default:
        break;
    }
}

// What was lost may have been a group's end.
static void
see_lost(struct walk *walk, const struct tape_frame *frame)
{
    if (frame->lost > 0 && walk->in_group) {
        walk->report->groups_short++;
        walk->in_group = false;
    }
}

static void
see_frame(struct walk *walk, const struct tape_frame *frame)
{
    struct verify_report *report = walk->report;
    see_lost(walk, frame);
    if (!report->spanned) {
        report->first = frame->at;
        report->spanned = true;
    }
    report->last = frame->at;
    report->frames++;
}

bool
verify_tape(struct tape *tape, struct verify_report *report)
{
    struct walk walk = {.report = report};
    uint64_t offset = tape_first(tape);
    *report = (struct verify_report){0};
    for (;;) {
        struct tape_frame frame;
        struct tape_frame sound = {0};
        struct message message;
        const unsigned char *bytes;
        // Every frame is seen, and then, if it can be, as a message.
        enum tape_status status = tape_read_bytes(tape, offset, &frame, &bytes);
        if (status == TAPE_FRAME) {
            status = tape_read(tape, frame.offset, &sound, &message);
        }
        if (status == TAPE_FAILED) {
            return false;
        }
        if (status == TAPE_END && bytes == NULL) {
            offset = frame.offset;
            break;
        }
        if (status == TAPE_FRAME && sound.offset == frame.offset) {
            see_frame(&walk, &frame);
            see(&walk, &message);
            walk.before = frame.at;
        } else if (sound.lost == 0) {
            see_frame(&walk, &frame);
            report->unknown++;
        }
        offset = frame.next;
    }
    report->bytes = tape_size(tape);
    report->damaged = tape_damaged_bytes(tape);
    report->damaged_times = tape_damage_count(tape);
    report->unfinished = tape_first(tape) + tape_size(tape) - offset;
    report->chain_broken = tape_rebuilt(tape);
    return true;
}

bool
verify_sound(const struct verify_report *report)
{
    return report->damaged == 0 && !report->chain_broken;
}

static void
describe_time(const struct verify_report *report, struct buffer *out)
{
    if (!report->spanned) {
        words_add(out, "no frame yet\n");
        return;
    }
    uint64_t first = report->first.wall_us;
    uint64_t last = report->last.wall_us;
    words_add_time(out, first);
    words_add(out, " to ");
    words_add_time(out, last);
    if (last > first) {
        words_add(out, ", ");
        words_add_span(out, last - first);
        words_add(out, ", %.1f MB an hour",
                  (double)report->bytes / 1e6 / ((double)(last - first) / HOUR_US));
    }
    words_add(out, "\n");
}

static void
describe_gaps(const struct verify_report *report, struct buffer *out)
{
    for (size_t i = 0; i < report->gaps && i < VERIFY_GAPS_MAX; i++) {
        const struct verify_gap *gap = &report->gap_list[i];
        const char *words = gap_words(gap->reason);
        words_add(out, "gap: ");
        words_add_time(out, gap->from.wall_us);
        words_add(out, " to ");
        words_add_time(out, gap->to.wall_us);
        words_add(out, ": %s\n", words != NULL ? words : "for a reason not known here");
    }
    if (report->gaps > VERIFY_GAPS_MAX) {
        words_add(out, "and %" PRIu64 " gaps more\n", report->gaps - VERIFY_GAPS_MAX);
    }
}

static void
describe_damage(const struct verify_report *report, const struct tape *tape,
                struct buffer *out)
{
    for (size_t i = 0; i < tape_damage_count(tape); i++) {
        const struct tape_damage *damage = tape_damage_at(tape, i);
        words_add(out, "damaged: bytes %" PRIu64 " to %" PRIu64 " (%" PRIu64 ")\n",
                  damage->from, damage->to - 1, damage->to - damage->from);
    }
    if (report->damaged > 0) {
        words_add(out, "ignored %" PRIu64 " damaged bytes of %" PRIu64 "\n",
                  report->damaged, report->bytes);
    }
    if (report->groups_short > 0) {
        words_add(out, "%" PRIu64 " key groups were cut short\n", report->groups_short);
    }
    if (report->chain_broken) {
        words_add(out,
                  "the chain of key groups is broken: opening it reads everything\n");
    }
    if (report->unfinished > 0) {
        words_add(out,
                  "the last %" PRIu64 " bytes are an unfinished frame: still being "
                  "written, or its writer was killed\n",
                  report->unfinished);
    }
}

bool
verify_describe(const struct verify_report *report, const struct tape *tape,
                struct buffer *out)
{
    words_add(out,
              "%" PRIu64 " bytes, %" PRIu64 " frames, %" PRIu64 " samples, %" PRIu64
              " key groups, %" PRIu64 " processes\n",
              report->bytes, report->frames, report->samples, report->groups,
              report->processes);
    describe_time(report, out);
    if (report->unknown > 0) {
        words_add(out, "%" PRIu64 " frames are of a newer memtop, and passed over\n",
                  report->unknown);
    }
    describe_gaps(report, out);
    describe_damage(report, tape, out);
    words_add(out, verify_sound(report) ? "sound\n" : "NOT SOUND\n");
    return buffer_ok(out);
}
