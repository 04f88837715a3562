#include "tui/model/frames.h"

#include <stdlib.h>
#include <string.h>

#include "tui/text/text.h"

#define CAPACITY_MIN 64u

void
frames_destroy(struct frames_kept *frames)
{
    for (uint32_t i = FRAME_FIRST; i < frames->count; i++) {
        if (frames->list[i].bytes > 0) {
            free((char *)frames->list[i].label);
        }
    }
    free(frames->list);
    index_destroy(&frames->ids);
    *frames = (struct frames_kept){0};
}

static bool
grow(struct frames_kept *frames)
{
    if (frames->count < frames->capacity) {
        return true;
    }
    uint32_t capacity = frames->capacity != 0 ? frames->capacity * 2 : CAPACITY_MIN;
    struct tree_frame *list = realloc(frames->list, capacity * sizeof *list);
    if (list == NULL) {
        return false;
    }
    frames->list = list;
    frames->capacity = capacity;
    return true;
}

static void
add(struct frames_kept *frames, uint32_t id, const char *label)
{
    frames->list[frames->count++] =
        (struct tree_frame){.id = id, .label = label, .path = "", .file = ""};
}

// The special frames come first, so that their slots are their numbers.
static bool
begin(struct frames_kept *frames)
{
    if (frames->count > 0) {
        return true;
    }
    if (!grow(frames)) {
        return false;
    }
    for (uint32_t id = 0; id < FRAME_FIRST; id++) {
        const char *label = special_frame_label(id);
        add(frames, id, label != NULL ? label : "");
    }
    return true;
}

bool
frames_slot(struct frames_kept *frames, uint32_t id, uint32_t *slot)
{
    if (!begin(frames)) {
        return false;
    }
    size_t cursor = 0;
    *slot = id < FRAME_FIRST ? id : index_next(&frames->ids, id, &cursor);
    if (*slot != INDEX_NONE) {
        return true;
    }
    if (frames->count >= TREE_FRAMES_MAX) {
        *slot = FRAMES_UNKNOWN;
        return true;
    }
    if (!grow(frames) || !index_reserve(&frames->ids, 1)) {
        return false;
    }
    *slot = frames->count;
    index_put(&frames->ids, id, *slot);
    add(frames, id, "");
    return true;
}

// Label and path for people, then the path as it is, in one piece of memory. The path's
// own bytes are there whatever they are; no file is called by a path that holds a NUL.
static bool
name(struct frames_kept *frames, struct tree_frame *frame, const struct frame_name *named)
{
    size_t raw = named->path.length;
    size_t label_room = TEXT_ESCAPE_GROWTH * named->label.length + 1;
    label_room = label_room <= MESSAGE_TEXT_MAX ? label_room : MESSAGE_TEXT_MAX + 1;
    size_t path_room = TEXT_ESCAPE_GROWTH * named->path.length + 1;
    char *texts = malloc(label_room + path_room + raw + 1);
    if (texts == NULL) {
        return false;
    }
    size_t label =
        text_escape(texts, label_room, named->label.bytes, named->label.length);
    char *path = texts + label + 1;
    size_t length = text_escape(path, path_room, named->path.bytes, named->path.length);
    char *file = path + length + 1;
    memcpy(file, raw > 0 ? named->path.bytes : "", raw);
    file[raw] = '\0';
    bool openable = strlen(file) == raw;
    size_t bytes = (size_t)(file - texts) + raw + 1;
    char *cut = realloc(texts, bytes);
    texts = cut != NULL ? cut : texts;
    if (frame->bytes > 0) {
        free((char *)frame->label);
    }
    frames->bytes += bytes - frame->bytes;
    *frame = (struct tree_frame){
        .id = frame->id,
        .flags = named->flags,
        .label = texts,
        .path = texts + label + 1,
        .file = texts + label + 1 + length + 1 + (openable ? 0 : raw),
        .line = named->line < UINT32_MAX ? (uint32_t)named->line : 0,
        .bytes = (uint32_t)bytes,
    };
    return true;
}

struct text
frames_path(const struct tree_frame *frame)
{
    if (frame->bytes == 0) {
        return (struct text){"", 0};
    }
    const char *raw = frame->path + strlen(frame->path) + 1;
    return (struct text){raw, (size_t)(frame->label + frame->bytes - 1 - raw)};
}

bool
frames_apply(struct frames_kept *frames, const struct frames *message)
{
    for (size_t i = 0; i < message->count; i++) {
        const struct frame_name *named = &message->list[i];
        uint32_t slot;
        uint32_t known = frames->count;
        if (!frames_slot(frames, named->id, &slot)) {
            return false;
        }
        if (slot < FRAME_FIRST || frames->bytes >= FRAMES_BYTES_MAX) {
            continue; // special frames have their names from us
        }
        if (!name(frames, &frames->list[slot], named)) {
            return false;
        }
        frames->renamed += slot < known;
    }
    return true;
}

bool
frames_copy(struct frames_kept *copy, const struct frames_kept *frames)
{
    *copy = (struct frames_kept){0};
    if (frames->count == 0) {
        return true;
    }
    struct frames_kept made = {
        .list = malloc(frames->count * sizeof *made.list),
        .capacity = frames->count,
        .bytes = frames->bytes,
        .renamed = frames->renamed,
    };
    if (made.list == NULL || !index_copy(&made.ids, &frames->ids)) {
        frames_destroy(&made);
        return false;
    }
    for (; made.count < frames->count; made.count++) {
        const struct tree_frame *from = &frames->list[made.count];
        struct tree_frame *to = &made.list[made.count];
        *to = *from;
        if (from->bytes == 0) {
            continue;
        }
        char *texts = malloc(from->bytes);
        if (texts == NULL) {
            frames_destroy(&made);
            return false;
        }
        memcpy(texts, from->label, from->bytes);
        to->label = texts;
        to->path = texts + (from->path - from->label);
        to->file = texts + (from->file - from->label);
    }
    *copy = made;
    return true;
}
