#include "tui/record/cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tui/record/words.h"

#define GAP_WORDS_MAX 80

struct cut {
    struct tape *tape;
    struct writer *writer;
    struct cut_report *report;
    uint64_t to_us;
    uint64_t offset;
    bool in_group; // which is copied to its end, whatever its frames' times
    uint64_t pid;  // of the last process in the part
    uint64_t started_us;
};

// Write a message that is no copy.
static bool
say(struct cut *cut, const struct message *message)
{
    struct packer packer = {0};
    struct buffer bytes = {0};
    bool written = pack_frame(&packer, &bytes, message) &&
                   writer_copy(cut->writer, message, bytes.bytes, bytes.length);
    buffer_destroy(&bytes);
    packer_destroy(&packer);
    return written;
}

static bool
say_lost(struct cut *cut, const struct tape_frame *frame)
{
    char words[GAP_WORDS_MAX];
    (void)snprintf(words, sizeof words, "%" PRIu64 " bytes of the recording were damaged",
                   frame->lost);
    struct message gap = {
        .kind = MESSAGE_GAP, .at = frame->at, .gap = {GAP_DROPPED, text_of(words)}
    };
    return say(cut, &gap);
}

static void
note(struct cut *cut, const struct tape_frame *frame)
{
    struct cut_report *report = cut->report;
    if (report->frames == 0) {
        report->from = frame->at;
    }
    report->to = frame->at;
    report->frames++;
}

// A KEY says where in a group we are, and has to be unpacked for the writer.
static enum tape_status
read_key(struct cut *cut, const struct tape_frame *frame, struct message *message)
{
    struct tape_frame again;
    enum tape_status status = tape_read(cut->tape, frame->offset, &again, message);
    return status == TAPE_FRAME && again.offset == frame->offset ? TAPE_FRAME : TAPE_END;
}

static bool
copy_key(struct cut *cut, const struct tape_frame *frame)
{
    struct message message;
    if (read_key(cut, frame, &message) != TAPE_FRAME) {
        return true; // a KEY with a body that is none is left out
    }
    cut->in_group = message.key.begin;
    cut->report->groups += message.key.begin;
    note(cut, frame);
    return writer_copy(cut->writer, &message, NULL, 0);
}

// Whose the classes' ids are.
static void
see_hello(struct cut *cut, const struct tape_frame *frame)
{
    struct message message;
    struct tape_frame again;
    if (tape_read(cut->tape, frame->offset, &again, &message) == TAPE_FRAME &&
        message.kind == MESSAGE_HELLO) {
        cut->pid = message.hello.pid;
        cut->started_us = message.hello.started_us;
    }
}

// One frame. False when there was none, or writing failed.
static bool
step(struct cut *cut, bool *failed)
{
    struct tape_frame frame;
    const unsigned char *bytes;
    enum tape_status status = tape_read_bytes(cut->tape, cut->offset, &frame, &bytes);
    if (status != TAPE_FRAME) {
        *failed = status == TAPE_FAILED;
        return false;
    }
    if (frame.lost > 0) {
        cut->in_group = false;
    }
    if (!cut->in_group && frame.at.wall_us > cut->to_us) {
        return false;
    }
    cut->offset = frame.next;
    if (frame.lost > 0) {
        cut->report->lost += frame.lost;
        cut->report->lost_times++;
        *failed = cut->report->frames > 0 && !say_lost(cut, &frame);
        // Saying it has not touched the tape: `bytes` are still there.
    }
    if (*failed) {
        return false;
    }
    if (frame.kind == MESSAGE_KEY) {
        *failed = !copy_key(cut, &frame);
    } else {
        note(cut, &frame);
        *failed =
            !writer_copy(cut->writer, NULL, bytes, (size_t)(frame.next - frame.offset));
        if (frame.kind == MESSAGE_HELLO) {
            see_hello(cut, &frame);
        }
    }
    return !*failed;
}

// Marks that were set after the part's end, of a moment in it: they are in the tape's
// last group or behind it. The ids of another process would be wrong.
static bool
carry_marks(struct cut *cut)
{
    const struct tape_key *last =
        tape_key_at(cut->tape, tape_key_before(cut->tape, UINT64_MAX));
    uint64_t offset =
        last != NULL && last->offset > cut->offset ? last->offset : cut->offset;
    uint64_t pid = cut->pid;
    uint64_t started_us = cut->started_us;
    for (;;) {
        struct tape_frame frame;
        struct message message;
        if (tape_read(cut->tape, offset, &frame, &message) != TAPE_FRAME) {
            return true;
        }
        offset = frame.next;
        if (message.kind == MESSAGE_HELLO) {
            pid = message.hello.pid;
            started_us = message.hello.started_us;
        }
        uint64_t about_us = message.kind == MESSAGE_MARK ? message.mark.at_wall_us : 0;
        if (message.kind != MESSAGE_MARK || message.mark.letter == MARK_CONNECTING ||
            pid != cut->pid || started_us != cut->started_us ||
            about_us < cut->report->from.wall_us || about_us > cut->to_us) {
            continue;
        }
        message.at = cut->report->to;
        cut->report->frames++;
        if (!say(cut, &message)) {
            return false;
        }
    }
}

bool
cut_tape(struct tape *tape, uint64_t from_us, uint64_t to_us, struct writer *writer,
         struct cut_report *report, char *why, size_t why_size)
{
    struct stamp first;
    const struct tape_key *key = tape_key_at(tape, tape_key_before(tape, from_us));
    // Before the first group there may be frames that need none.
    struct cut cut = {
        .tape = tape,
        .writer = writer,
        .report = report,
        .to_us = to_us,
        .offset = key == NULL ? tape_first(tape) : key->offset,
    };
    *report = (struct cut_report){0};
    (void)tape_span(tape, &first, &report->end);
    uint64_t before = writer_written(writer);
    bool failed = false;
    while (step(&cut, &failed)) {
    }
    if (!failed && report->frames > 0) {
        failed = !carry_marks(&cut);
    }
    report->bytes = writer_written(writer) - before;
    if (failed) {
        const char *words = writer_error(writer);
        (void)snprintf(why, why_size, "%s", words[0] != '\0' ? words : tape_error(tape));
        return false;
    }
    if (report->frames == 0) {
        (void)snprintf(why, why_size, "nothing was recorded between these times");
        return false;
    }
    return true;
}

bool
cut_describe(const struct cut_report *report, struct buffer *out)
{
    words_add(out, "%" PRIu64 " frames in %" PRIu64 " bytes, from ", report->frames,
              report->bytes);
    words_add_time(out, report->from.wall_us);
    words_add(out, " to ");
    words_add_time(out, report->to.wall_us);
    words_add(out, "\n");
    if (report->lost > 0) {
        words_add(out, "ignored %" PRIu64 " damaged bytes in %" PRIu64 " places\n",
                  report->lost, report->lost_times);
    }
    return buffer_ok(out);
}
