#include "tui/record/tape.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tui/record/damage.h"
#include "tui/record/find.h"
#include "tui/record/keys.h"

#define KEY_BODY_MAX 512u // of a KEY; they have some thirty bytes
#define KEY_AHEAD 128u    // a KEY in one read
#define RING_SHARE 16u    // a ring has so many key groups at least

struct tape {
    struct source source;
    char *path; // owned; NULL for a ring
    struct unpacker unpacker;
    struct keys keys;
    struct damages damages;
    struct find_miss miss;
    uint64_t scanned; // frames up to here are known to `keys` and `last`
    struct find_miss scan_miss;
    bool begun; // a group at `begin` has not ended yet
    struct tape_key begin;
    struct stamp first, last; // of what was scanned
    bool spanned;
    bool rebuilt;
    bool exhausted; // memory ran out when a KEY was unpacked last
    char error[160];
    tape_watcher *seen; // NULL: nobody is told
    void *seen_context;
    // of a ring
    size_t bytes_max;
    struct groups groups;
    struct packer packer;
    struct buffer out;
};

static void
say_error(struct tape *tape, int error)
{
    (void)snprintf(tape->error, sizeof tape->error, "%s", strerror(error));
}

static bool
fail_source(struct tape *tape)
{
    say_error(tape, tape->source.error);
    return false;
}

static bool
fail_memory(struct tape *tape)
{
    say_error(tape, ENOMEM);
    return false;
}

// Unpack the KEY that was found. A body that is none is as if there were no frame; but
// see `exhausted`.
static bool
unpack_key(struct tape *tape, const struct found *found, struct message *message)
{
    tape->exhausted = false;
    if (found->frame.kind != MESSAGE_KEY) {
        return false;
    }
    enum unpack_status status = unpack_frame(&tape->unpacker, &found->frame,
                                             found->bytes + FRAME_HEADER_BYTES, message);
    if (status == UNPACK_NO_MEMORY) {
        tape->exhausted = true;
        fail_memory(tape);
    }
    return status == UNPACK_MESSAGE;
}

// A KEY that the scan came by: a begin is kept until its end shows that it is whole.
static bool
scan_key(struct tape *tape, const struct found *found)
{
    struct message message;
    if (!unpack_key(tape, found, &message)) {
        return !tape->exhausted;
    }
    if (message.key.begin) {
        tape->begin = key_of(&message, found->offset);
        tape->begun = true;
        return true;
    }
    bool whole = tape->begun && tape->begin.ordinal == message.key.ordinal;
    tape->begun = false;
    return !whole || keys_add(&tape->keys, &tape->begin) || fail_memory(tape);
}

static bool
scan_frame(struct tape *tape, const struct found *found)
{
    if (found->offset > tape->scanned) {
        damages_note(&tape->damages, tape->scanned, found->offset);
        tape->begun = false;
    }
    if (!tape->spanned) {
        tape->first = found->frame.at;
        tape->spanned = true;
    }
    tape->last = found->frame.at;
    tape->scanned = found->next;
    return scan_key(tape, found);
}

// Look through what came behind `scanned`.
static bool
scan(struct tape *tape)
{
    for (;;) {
        struct found found;
        enum find_status status =
            find_frame(&tape->source, tape->scanned, &tape->scan_miss, &found);
        if (status == FIND_FAILED) {
            return fail_source(tape);
        }
        if (status == FIND_END) {
            return true;
        }
        if (!scan_frame(tape, &found)) {
            return false;
        }
    }
}

enum chain_status {
    CHAIN_WHOLE,
    CHAIN_NONE,   // no group
    CHAIN_BROKEN, // a link leads nowhere
    CHAIN_FAILED, // see the tape's error
};

// The end of the last whole group: where it begins, and what comes behind it.
static enum chain_status
last_group(struct tape *tape, uint64_t *begin)
{
    uint64_t offset = tape->source.end;
    for (;;) {
        struct found found;
        struct message message;
        enum find_status status =
            find_back(&tape->source, MESSAGE_KEY, KEY_BODY_MAX, &offset, &found);
        if (status == FIND_FAILED) {
            fail_source(tape);
            return CHAIN_FAILED;
        }
        if (status == FIND_END) {
            return CHAIN_NONE;
        }
        if (!unpack_key(tape, &found, &message) || message.key.begin) {
            if (tape->exhausted) {
                return CHAIN_FAILED;
            }
            continue;
        }
        tape->scanned = found.next;
        tape->last = found.frame.at;
        if (message.key.previous > found.offset - tape->source.first) {
            return CHAIN_BROKEN;
        }
        *begin = found.offset - message.key.previous;
        return CHAIN_WHOLE;
    }
}

// From the begin of the last group to the first one.
static enum chain_status
follow(struct tape *tape, uint64_t begin)
{
    for (uint64_t ordinal = UINT64_MAX;;) {
        struct found found;
        struct message message;
        enum find_status status = find_at(&tape->source, begin, KEY_AHEAD, &found);
        if (status == FIND_FAILED) {
            fail_source(tape);
            return CHAIN_FAILED;
        }
        if (status == FIND_END || !unpack_key(tape, &found, &message) ||
            !message.key.begin || message.key.ordinal >= ordinal) {
            return tape->exhausted ? CHAIN_FAILED : CHAIN_BROKEN;
        }
        struct tape_key key = key_of(&message, begin);
        if (!keys_add(&tape->keys, &key)) {
            fail_memory(tape);
            return CHAIN_FAILED;
        }
        ordinal = message.key.ordinal;
        if (message.key.earlier > 0 &&
            message.key.earlier <= begin - tape->source.first) {
            source_expect(&tape->source, begin - message.key.earlier, KEY_AHEAD);
        }
        if (message.key.previous == 0 ||
            message.key.previous > begin - tape->source.first) {
            keys_reverse(&tape->keys);
            return CHAIN_WHOLE;
        }
        begin -= message.key.previous;
    }
}

// The stamp of the oldest frame, which the chain does not tell.
static bool
find_first(struct tape *tape)
{
    struct found found;
    struct find_miss miss = {0};
    enum find_status status =
        find_frame(&tape->source, tape->source.first, &miss, &found);
    if (status == FIND_FAILED) {
        return fail_source(tape);
    }
    if (status == FIND_FRAME) {
        if (found.offset > tape->source.first) {
            damages_note(&tape->damages, tape->source.first, found.offset);
        }
        tape->first = found.frame.at;
        tape->spanned = true;
    }
    return true;
}

static bool
read_everything(struct tape *tape, bool broken)
{
    tape->keys.count = 0;
    tape->begun = false;
    tape->spanned = false;
    tape->scanned = tape->source.first;
    tape->scan_miss = (struct find_miss){0};
    if (!scan(tape)) {
        return false;
    }
    tape->rebuilt = broken || tape->keys.count > 0;
    return true;
}

static bool
find_keys(struct tape *tape)
{
    uint64_t begin = 0;
    enum chain_status status = last_group(tape, &begin);
    if (status == CHAIN_WHOLE) {
        status = follow(tape, begin);
    }
    switch (status) {
    case CHAIN_WHOLE:
        return find_first(tape) && scan(tape);
    case CHAIN_NONE:
    case CHAIN_BROKEN:
        return read_everything(tape, status == CHAIN_BROKEN);
    case CHAIN_FAILED:
        break;
    }
    return false;
}

// Nothing yet, or the beginning of a first frame: somebody has just begun to write.
static bool
may_become_one(struct tape *tape)
{
    size_t have;
    const unsigned char *bytes =
        source_bytes(&tape->source, tape->source.first, FRAME_HEADER_BYTES, 0, &have);
    struct frame frame;
    if (bytes == NULL || have < FRAME_HEADER_BYTES) {
        return bytes != NULL && frame_may_begin(bytes, have);
    }
    return frame_read(bytes, &frame) == FRAME_OK &&
           frame.body_length > tape_size(tape) - FRAME_HEADER_BYTES;
}

static struct tape *
tape_give_up(struct tape *tape, const char *path, const char *problem, char *why,
             size_t why_size)
{
    (void)snprintf(why, why_size, "cannot read %s: %s", path, problem);
    tape_free(tape);
    return NULL;
}

struct tape *
tape_open(const char *path, char *why, size_t why_size)
{
    struct tape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) {
        return tape_give_up(NULL, path, strerror(ENOMEM), why, why_size);
    }
    source_begin(&tape->source);
    tape->path = strdup(path);
    if (tape->path == NULL) {
        return tape_give_up(tape, path, strerror(ENOMEM), why, why_size);
    }
    if (!source_open(&tape->source, path)) {
        const char *problem = errno == EINVAL ? "it is no regular file" : strerror(errno);
        return tape_give_up(tape, path, problem, why, why_size);
    }
    if (!find_keys(tape)) {
        return tape_give_up(tape, path, tape->error, why, why_size);
    }
    if (!tape->spanned && !may_become_one(tape)) {
        return tape_give_up(tape, path, "it is no recording of memtop", why, why_size);
    }
    return tape;
}

struct tape *
tape_new(size_t bytes_max)
{
    struct tape *tape = calloc(1, sizeof *tape);
    if (tape == NULL) {
        return NULL;
    }
    source_begin(&tape->source);
    tape->bytes_max = bytes_max;
    groups_begin(&tape->groups, bytes_max / RING_SHARE);
    return tape;
}

void
tape_free(struct tape *tape)
{
    if (tape == NULL) {
        return;
    }
    source_close(&tape->source);
    free(tape->path);
    unpacker_destroy(&tape->unpacker);
    keys_destroy(&tape->keys);
    damages_destroy(&tape->damages);
    packer_destroy(&tape->packer);
    buffer_destroy(&tape->out);
    free(tape);
}

// The file of our name is another one now. If it is the newer part of ours, its
// places become those that they were in ours.
static enum tape_refresh
change_file(struct tape *tape)
{
    char why[sizeof tape->error];
    struct tape *other = tape_open(tape->path, why, sizeof why);
    if (other == NULL) {
        return TAPE_OTHER;
    }
    const struct tape_key *first = tape_key_at(other, 0);
    const struct tape_key *same = first == NULL ? NULL : keys_same(&tape->keys, first);
    if (same == NULL || same->offset < first->offset) {
        tape_free(other);
        return TAPE_OTHER;
    }
    uint64_t shift = same->offset - first->offset;
    other->source.first = shift;
    other->source.end += shift;
    buffer_clear(&other->source.window);
    keys_shift(&other->keys, shift);
    other->begin.offset += shift;
    other->scanned += shift;
    other->scan_miss = (struct find_miss){0};
    other->source.bytes_read += tape->source.bytes_read;
    struct tape held = *tape;
    *tape = *other;
    *other = held;
    // What was damaged is remembered, of both.
    for (size_t i = 0; i < tape->damages.count; i++) {
        const struct tape_damage *damage = &tape->damages.list[i];
        damages_note(&other->damages, damage->from + shift, damage->to + shift);
    }
    struct damages damages = other->damages;
    other->damages = tape->damages;
    tape->damages = damages;
    tape_free(other);
    return TAPE_GREW;
}

static bool
has_other_file(const struct tape *tape)
{
    struct stat status;
    return stat(tape->path, &status) == 0 &&
           (status.st_dev != tape->source.device || status.st_ino != tape->source.inode);
}

void
tape_watch(struct tape *tape, tape_watcher *seen, void *context)
{
    tape->seen = seen;
    tape->seen_context = context;
}

enum tape_refresh
tape_refresh(struct tape *tape)
{
    if (tape->path == NULL) {
        return TAPE_SAME;
    }
    if (has_other_file(tape)) {
        return change_file(tape);
    }
    uint64_t before = tape->source.end;
    if (!source_measure(&tape->source)) {
        fail_source(tape);
        return TAPE_BROKEN;
    }
    if (tape->source.end == before) {
        return TAPE_SAME;
    }
    // Appending never makes it shorter: then nothing that was known holds.
    bool shorter = tape->source.end < before;
    if (shorter) {
        buffer_clear(&tape->source.window);
        tape->miss = (struct find_miss){0};
    }
    bool read = shorter ? read_everything(tape, false) : scan(tape);
    return read ? TAPE_GREW : TAPE_BROKEN;
}

// The oldest group goes, and what was known of it.
static void
drop_oldest(struct tape *tape)
{
    source_drop_segment(&tape->source);
    keys_drop_before(&tape->keys, tape->source.first);
    (void)find_first(tape);
}

// Append to the newest group's segment, if need be at the cost of older ones.
static bool
append(struct tape *tape, const struct buffer *bytes)
{
    while (!source_append(&tape->source, bytes->bytes, bytes->length)) {
        if (tape->source.segment_count <= 1) {
            return fail_memory(tape);
        }
        drop_oldest(tape);
    }
    return true;
}

static bool
add_group(struct tape *tape, const struct message *message, const struct state *state)
{
    struct groups before = tape->groups;
    buffer_clear(&tape->out);
    if (!groups_pack(&tape->groups, &tape->packer, &tape->out, state, tape->source.end, 0,
                     message->at)) {
        return fail_memory(tape);
    }
    if (!source_add_segment(&tape->source) || !append(tape, &tape->out)) {
        tape->groups = before;
        return fail_memory(tape);
    }
    return true;
}

bool
tape_add(struct tape *tape, const struct message *message, const struct state *state)
{
    // Without memory for a group the message may still find room: it is due again.
    if (groups_due(&tape->groups, message)) {
        (void)add_group(tape, message, state);
    }
    if (tape->source.segment_count == 0 && !source_add_segment(&tape->source)) {
        return fail_memory(tape);
    }
    buffer_clear(&tape->out);
    if (!pack_frame(&tape->packer, &tape->out, message)) {
        tape->groups.due = true; // something is missing from here on
        return fail_memory(tape);
    }
    bool added = append(tape, &tape->out);
    groups_note(&tape->groups, message, tape->out.length);
    tape->groups.due = tape->groups.due || !added;
    while (source_memory(&tape->source) > tape->bytes_max &&
           tape->source.segment_count > 1) {
        drop_oldest(tape);
    }
    return scan(tape) && added;
}

// What is not there any more counts as lost.
static uint64_t
clamp(const struct tape *tape, uint64_t offset, struct tape_frame *frame)
{
    if (offset < tape->source.first) {
        frame->lost += tape->source.first - offset;
        return tape->source.first;
    }
    return offset;
}

// On from `offset`; what lies in between is added to `frame->lost`.
static enum tape_status
next_frame(struct tape *tape, uint64_t offset, struct tape_frame *frame,
           struct found *found)
{
    offset = clamp(tape, offset, frame);
    if (tape->seen != NULL) {
        tape->seen(tape->seen_context, offset - tape->source.first, tape_size(tape));
    }
    enum find_status status = find_frame(&tape->source, offset, &tape->miss, found);
    if (status == FIND_FAILED) {
        fail_source(tape);
        return TAPE_FAILED;
    }
    frame->offset = found->offset;
    frame->next = found->next;
    if (status == FIND_END) {
        return TAPE_END;
    }
    if (found->offset > offset) {
        damages_note(&tape->damages, offset, found->offset);
        frame->lost += found->offset - offset;
    }
    frame->kind = found->frame.kind;
    frame->at = found->frame.at;
    return TAPE_FRAME;
}

enum tape_status
tape_read(struct tape *tape, uint64_t offset, struct tape_frame *frame,
          struct message *message)
{
    *frame = (struct tape_frame){0};
    for (;;) {
        struct found found;
        enum tape_status status = next_frame(tape, offset, frame, &found);
        if (status != TAPE_FRAME) {
            return status;
        }
        switch (unpack_frame(&tape->unpacker, &found.frame,
                             found.bytes + FRAME_HEADER_BYTES, message)) {
        case UNPACK_MESSAGE:
            return TAPE_FRAME;
        case UNPACK_UNKNOWN:
            break;
        case UNPACK_DAMAGED:
            damages_note(&tape->damages, found.offset, found.next);
            frame->lost += found.next - found.offset;
            break;
        case UNPACK_NO_MEMORY:
            fail_memory(tape);
            return TAPE_FAILED;
        }
        offset = found.next;
    }
}

enum tape_status
tape_read_bytes(struct tape *tape, uint64_t offset, struct tape_frame *frame,
                const unsigned char **bytes)
{
    struct found found;
    *frame = (struct tape_frame){0};
    enum tape_status status = next_frame(tape, offset, frame, &found);
    *bytes = status == TAPE_FRAME ? found.bytes : NULL;
    return status;
}

uint64_t
tape_first(const struct tape *tape)
{
    return tape->source.first;
}

uint64_t
tape_size(const struct tape *tape)
{
    return tape->source.end - tape->source.first;
}

bool
tape_span(const struct tape *tape, struct stamp *first, struct stamp *last)
{
    if (!tape->spanned) {
        return false;
    }
    *first = tape->first;
    *last = tape->last;
    return true;
}

size_t
tape_key_count(const struct tape *tape)
{
    return tape->keys.count;
}

const struct tape_key *
tape_key_at(const struct tape *tape, size_t index)
{
    return index < tape->keys.count ? &tape->keys.list[index] : NULL;
}

// Whether every frame of the group is sound, up to its end.
static bool
group_sound(struct tape *tape, const struct tape_key *key)
{
    for (uint64_t offset = key->offset;;) {
        struct found found;
        struct message message;
        struct find_miss miss = {0};
        if (find_frame(&tape->source, offset, &miss, &found) != FIND_FRAME ||
            found.offset != offset) {
            return false;
        }
        if (unpack_key(tape, &found, &message) && offset != key->offset) {
            return !message.key.begin && message.key.ordinal == key->ordinal;
        }
        offset = found.next;
    }
}

size_t
tape_key_before(struct tape *tape, uint64_t wall_us)
{
    for (size_t i = tape->keys.count; i-- > 0;) {
        const struct tape_key *key = &tape->keys.list[i];
        if (key->at.wall_us <= wall_us && group_sound(tape, key)) {
            return i;
        }
    }
    return tape->keys.count;
}

size_t
tape_damage_count(const struct tape *tape)
{
    return tape->damages.count;
}

const struct tape_damage *
tape_damage_at(const struct tape *tape, size_t index)
{
    return index < tape->damages.count ? &tape->damages.list[index] : NULL;
}

uint64_t
tape_damaged_bytes(const struct tape *tape)
{
    return tape->damages.bytes;
}

uint64_t
tape_unfinished(const struct tape *tape)
{
    return tape->source.end > tape->scanned ? tape->source.end - tape->scanned : 0;
}

bool
tape_rebuilt(const struct tape *tape)
{
    return tape->rebuilt;
}

uint64_t
tape_bytes_read(const struct tape *tape)
{
    return tape->source.bytes_read;
}

size_t
tape_memory(const struct tape *tape)
{
    return source_memory(&tape->source);
}

const char *
tape_error(const struct tape *tape)
{
    return tape->error;
}
