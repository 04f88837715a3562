/*
 * Opens and reads what libFuzzer invents as a recording, in two ways: as it is, and as
 * frames whose magic, length and CRC are right, without which nearly no input would
 * come further than that. What is read has to be whole: nothing twice, nothing backwards.
 *
 *     mkdir seeds && build-fuzz/tests/tui_record_write_story seeds/story
 *     build-fuzz/tests/tui_record_fuzz_tape -max_total_time=180 seeds
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tui/record/cursor.h"
#include "tui/record/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
require(bool truth)
{
    if (!truth) {
        abort();
    }
}

static void
play(struct tape *tape, struct cursor *cursor)
{
    struct message message;
    uint64_t before = cursor->offset;
    while (cursor_next(cursor, tape, &message) == TAPE_FRAME) {
        require(cursor->offset > before);
        require(message.kind != MESSAGE_KEY);
        before = cursor->offset;
    }
}

static void
read_all(const char *path, size_t size)
{
    char why[200];
    struct verify_report report;
    struct cursor cursor;
    struct tape *tape = tape_open(path, why, sizeof why);
    if (tape == NULL) {
        return;
    }
    require(verify_tape(tape, &report));
    require(report.bytes == size && report.damaged + report.unfinished <= size);
    for (size_t i = 1; i < tape_key_count(tape); i++) {
        require(tape_key_at(tape, i)->offset > tape_key_at(tape, i - 1)->offset);
    }
    cursor_start(&cursor, tape);
    play(tape, &cursor);
    (void)cursor_seek(&cursor, tape, UINT64_MAX);
    play(tape, &cursor);
    require(tape_refresh(tape) == TAPE_SAME);
    tape_free(tape);
}

static void
read_file(const uint8_t *bytes, size_t size)
{
    char path[64];
    int file = memfd_create("recording", MFD_CLOEXEC);
    require(file >= 0 && write(file, bytes, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    read_all(path, size);
    close(file);
}

// Kind, flags, length and so much body; again and again.
static void
frame_it(struct buffer *out, const uint8_t *data, size_t size)
{
    while (size > 3) {
        unsigned char header[FRAME_HEADER_BYTES];
        size_t left = size - 3;
        size_t length = data[2] < left ? data[2] : left;
        const struct frame frame = {
            .kind = data[0] % 14,
            .flags = data[1] % 3,
            .body_length = (uint32_t)length,
            .at = {out->length, out->length},
        };
        frame_seal(header, &frame, data + 3);
        require(buffer_append(out, header, sizeof header));
        require(buffer_append(out, data + 3, length));
        data += 3 + length;
        size -= 3 + length;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer framed = {0};
    read_file(data, size);
    frame_it(&framed, data, size);
    read_file(framed.bytes, framed.length);
    buffer_destroy(&framed);
    return 0;
}
