#include "tui/record/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tui/record/file.h"
#include "tui/record/tape.h"
#include "tui/record/trim.h"

#define SIZE_SHARE                                                                       \
    16u                     // of max_size: room for what comes while it is copied,
                            // and what comes between two groups
#define STEP_BYTES 1048576u // copied with each message at least,
#define STEP_SHARE 32u      // or so many times what the message took
#define WORDS_MAX 300
#define EARLIER_GROUPS 32u // so many groups ahead may be read at once

struct writer {
    char *path; // owned
    int descriptor;
    uint64_t size;
    uint64_t written;
    uint64_t max_size;
    struct groups groups;
    struct packer packer;
    struct buffer out;
    uint64_t *begins; // owned: where groups begin in the file, oldest first
    size_t begin_count;
    size_t begin_room;
    uint64_t copied_begin; // of a group that is being copied
    struct trim trim;
    char error[WORDS_MAX];
};

// ---- begin and end

static void
destroy(struct writer *writer)
{
    if (writer->descriptor >= 0) {
        close(writer->descriptor);
    }
    trim_end(&writer->trim);
    packer_destroy(&writer->packer);
    buffer_destroy(&writer->out);
    free(writer->begins);
    free(writer->path);
    free(writer);
}

static struct writer *
give_up(struct writer *writer, const char *path, const char *problem, char *why,
        size_t why_size)
{
    (void)snprintf(why, why_size, "cannot record to %s: %s", path, problem);
    if (writer != NULL) {
        destroy(writer);
    }
    return NULL;
}

static bool
note_begin(struct writer *writer, uint64_t begin)
{
    if (writer->begin_count == writer->begin_room) {
        size_t room = writer->begin_room == 0 ? 64 : writer->begin_room * 2;
        uint64_t *grown = realloc(writer->begins, room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        writer->begins = grown;
        writer->begin_room = room;
    }
    writer->begins[writer->begin_count++] = begin;
    return true;
}

// What the recording holds that is gone on with. False with the words in `why`.
static bool
take_over(struct writer *writer, enum writer_mode mode, char *why, size_t why_size)
{
    struct tape *tape = tape_open(writer->path, why, why_size);
    if (tape == NULL) {
        return false;
    }
    size_t count = tape_key_count(tape);
    bool noted = true;
    for (size_t i = 0; i < count && noted; i++) {
        noted = note_begin(writer, tape_key_at(tape, i)->offset);
    }
    if (count > 0) {
        const struct tape_key *last = tape_key_at(tape, count - 1);
        writer->groups.ordinal = last->ordinal;
        writer->groups.begin = last->offset;
        writer->groups.any = true;
    }
    writer->size = tape_size(tape);
    uint64_t unfinished = tape_unfinished(tape);
    tape_free(tape);
    if (mode == WRITER_EXTEND && unfinished > 0) {
        (void)snprintf(why, why_size,
                       "cannot record to %s: its last %" PRIu64
                       " bytes are no whole frame; memtop cut makes a file without them",
                       writer->path, unfinished);
        return false;
    }
    if (!noted) {
        (void)snprintf(why, why_size, "cannot record to %s: %s", writer->path,
                       strerror(ENOMEM));
    }
    return noted;
}

static int
open_file(const char *path, enum writer_mode mode)
{
    int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    flags |= mode == WRITER_EXTEND ? 0 : O_CREAT;
    return open(path, mode == WRITER_NEW ? flags | O_EXCL : flags, FILE_MODE);
}

// What is wrong, and what can be done about it.
static const char *
words_for(int error)
{
    switch (error) {
    case EEXIST:
        return "File exists; it is not written over: choose another name";
    case ENOENT:
        return "No such file or directory; make its folder first";
    case EACCES:
        return "Permission denied; choose a folder that you may write to";
    case EROFS:
        return "Read-only file system; choose a folder that you may write to";
    default:
        return strerror(error);
    }
}

// NULL, or what is wrong with the file that was opened.
static const char *
claim(const struct writer *writer)
{
    struct stat status;
    if (fstat(writer->descriptor, &status) != 0) {
        return strerror(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return "it is no regular file";
    }
    if (flock(writer->descriptor, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? "another memtop is recording to it"
                                    : strerror(errno);
    }
    return NULL;
}

struct writer *
writer_open(const char *path, const struct writer_options *options, char *why,
            size_t why_size)
{
    struct writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL) {
        return give_up(NULL, path, strerror(ENOMEM), why, why_size);
    }
    writer->descriptor = -1;
    writer->trim.descriptor = -1;
    writer->max_size = options->max_size;
    if (writer->max_size > 0 && writer->max_size < WRITER_SIZE_MIN) {
        writer->max_size = WRITER_SIZE_MIN;
    }
    groups_begin(&writer->groups, writer->max_size / SIZE_SHARE);
    writer->groups.interval_us = options->interval_us;
    writer->path = strdup(path);
    if (writer->path == NULL) {
        return give_up(writer, path, strerror(ENOMEM), why, why_size);
    }
    writer->descriptor = open_file(path, options->mode);
    if (writer->descriptor < 0) {
        return give_up(writer, path, words_for(errno), why, why_size);
    }
    const char *problem = claim(writer);
    if (problem != NULL) {
        return give_up(writer, path, problem, why, why_size);
    }
    if (options->mode == WRITER_REPLACE && ftruncate(writer->descriptor, 0) != 0) {
        return give_up(writer, path, strerror(errno), why, why_size);
    }
    bool goes_on = options->mode == WRITER_APPEND || options->mode == WRITER_EXTEND;
    if (goes_on && !take_over(writer, options->mode, why, why_size)) {
        destroy(writer);
        return NULL;
    }
    return writer;
}

bool
writer_close(struct writer *writer, char *why, size_t why_size)
{
    if (writer->error[0] == '\0' && fdatasync(writer->descriptor) != 0) {
        (void)snprintf(writer->error, sizeof writer->error,
                       "the end of %s may be missing: %s", writer->path, strerror(errno));
    }
    bool well = writer->error[0] == '\0';
    if (why != NULL && why_size > 0) {
        (void)snprintf(why, why_size, "%s", writer->error);
    }
    destroy(writer);
    return well;
}

// ---- bytes

// What was written of a frame that found no room is taken away again.
static bool
fail(struct writer *writer, const char *problem)
{
    bool cut = ftruncate(writer->descriptor, (off_t)writer->size) == 0;
    trim_end(&writer->trim);
    (void)snprintf(writer->error, sizeof writer->error,
                   "recording to %s ended after %" PRIu64 " bytes, which are kept%s: %s",
                   writer->path, writer->size, cut ? "" : " but for an unfinished frame",
                   problem);
    return false;
}

static bool
append(struct writer *writer, const void *bytes, size_t length)
{
    if (!file_write(writer->descriptor, bytes, length)) {
        return fail(writer, strerror(errno));
    }
    writer->size += length;
    writer->written += length;
    return true;
}

// ---- not above max_size

// The newer half begins with a group. False while there is none.
static bool
find_cut(const struct writer *writer, uint64_t *cut)
{
    uint64_t middle = writer->size - writer->max_size / 2;
    for (size_t i = 0; i < writer->begin_count; i++) {
        *cut = writer->begins[i];
        if (*cut >= middle) {
            break;
        }
    }
    return writer->begin_count > 0 && *cut > 0;
}

// The new file has the name: go on in it.
static void
move_over(struct writer *writer)
{
    uint64_t from = writer->trim.from;
    close(writer->descriptor);
    writer->descriptor = writer->trim.descriptor;
    writer->trim = (struct trim){.descriptor = -1};
    writer->size -= from;
    writer->groups.begin -= from;
    writer->copied_begin -= from;
    size_t kept = 0;
    for (size_t i = 0; i < writer->begin_count; i++) {
        if (writer->begins[i] >= from) {
            writer->begins[kept++] = writer->begins[i] - from;
        }
    }
    writer->begin_count = kept;
}

static bool
keep_below(struct writer *writer, uint64_t added)
{
    uint64_t cut;
    if (writer->max_size == 0 ||
        writer->size < writer->max_size - writer->max_size / SIZE_SHARE * 2) {
        return true;
    }
    if (writer->trim.descriptor < 0) {
        if (!find_cut(writer, &cut)) {
            writer->groups.due = true;
            return true;
        }
        if (!trim_begin(&writer->trim, writer->path, cut)) {
            return fail(writer, strerror(errno));
        }
    }
    uint64_t bytes = added > STEP_BYTES / STEP_SHARE ? added * STEP_SHARE : STEP_BYTES;
    switch (
        trim_step(&writer->trim, writer->path, writer->descriptor, writer->size, bytes)) {
    case TRIM_GOES_ON:
        return true;
    case TRIM_DONE:
        move_over(writer);
        return true;
    case TRIM_FAILED:
        break;
    }
    return fail(writer, strerror(errno));
}

// ---- messages

// From the begin of a group that a reader, who goes from group to group, wants some
// reads after the one that begins here; 0 when there are not so many.
static uint64_t
earlier(const struct writer *writer)
{
    return writer->begin_count < EARLIER_GROUPS
               ? 0
               : writer->size - writer->begins[writer->begin_count - EARLIER_GROUPS];
}

static bool
add_group(struct writer *writer, const struct message *message, const struct state *state)
{
    buffer_clear(&writer->out);
    // Without memory for it there is no group this time; it stays due.
    if (!groups_pack(&writer->groups, &writer->packer, &writer->out, state, writer->size,
                     earlier(writer), message->at)) {
        return true;
    }
    // Not noted it is only no place to cut at.
    (void)note_begin(writer, writer->size);
    return append(writer, writer->out.bytes, writer->out.length);
}

bool
writer_add(struct writer *writer, const struct message *message,
           const struct state *state)
{
    if (writer->error[0] != '\0') {
        return false;
    }
    uint64_t before = writer->written;
    if (groups_due(&writer->groups, message) && !add_group(writer, message, state)) {
        return false;
    }
    buffer_clear(&writer->out);
    if (!pack_frame(&writer->packer, &writer->out, message)) {
        return fail(writer, strerror(ENOMEM));
    }
    if (!append(writer, writer->out.bytes, writer->out.length)) {
        return false;
    }
    groups_note(&writer->groups, message, writer->out.length);
    return keep_below(writer, writer->written - before);
}

// A KEY with the distance that it has in this file.
static bool
copy_key(struct writer *writer, const struct message *message)
{
    struct groups *groups = &writer->groups;
    struct message key = *message;
    bool begin = key.key.begin;
    if (begin) {
        writer->copied_begin = writer->size;
        key.key.previous = groups->any ? writer->size - groups->begin : 0;
        key.key.earlier = earlier(writer);
    } else {
        key.key.previous = writer->size - writer->copied_begin;
        key.key.earlier = 0;
    }
    buffer_clear(&writer->out);
    if (!pack_frame(&writer->packer, &writer->out, &key)) {
        return fail(writer, strerror(ENOMEM));
    }
    if (!append(writer, writer->out.bytes, writer->out.length)) {
        return false;
    }
    if (!begin) {
        groups->any = true;
        groups->first = false;
        groups->begin = writer->copied_begin;
        groups->ordinal = key.key.ordinal;
        groups->at_us = key.at.monotonic_us;
        (void)note_begin(writer, writer->copied_begin);
    }
    return true;
}

bool
writer_copy(struct writer *writer, const struct message *message,
            const unsigned char *bytes, size_t length)
{
    if (writer->error[0] != '\0') {
        return false;
    }
    if (message != NULL && message->kind == MESSAGE_KEY) {
        return copy_key(writer, message);
    }
    return append(writer, bytes, length) && keep_below(writer, length);
}

const char *
writer_error(const struct writer *writer)
{
    return writer->error;
}

uint64_t
writer_size(const struct writer *writer)
{
    return writer->size;
}

uint64_t
writer_written(const struct writer *writer)
{
    return writer->written;
}
