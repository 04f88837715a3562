#include "protocol/body.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "protocol/message.h"
#include "protocol/scan.h"

#define PATH_DEPTH 2 // a message's field, a field of a struct or row in it

struct body {
    struct buffer bytes;       // what unpacked texts point into
    msgpack_unpacked unpacked; // its zone holds objects, rows and lists
};

// One unpacking: where it is, and what it found wrong there.
struct reader {
    msgpack_zone *zone;
    const char *path[PATH_DEPTH];
    size_t depth;
    const char *problem;
};

static bool unpack_array(struct reader *reader, const struct shape *shape,
                         const msgpack_object *object, unsigned char *base);

struct body *
body_new(void)
{
    return calloc(1, sizeof(struct body));
}

void
body_free(struct body *body)
{
    if (body == NULL) {
        return;
    }
    msgpack_unpacked_destroy(&body->unpacked);
    buffer_destroy(&body->bytes);
    free(body);
}

void
body_clear(struct body *body)
{
    msgpack_unpacked_destroy(&body->unpacked);
    buffer_clear(&body->bytes);
}

static bool
refuse(struct reader *reader, const char *problem)
{
    reader->problem = problem;
    return false;
}

static bool
unpack_number(struct reader *reader, const struct field *field,
              const msgpack_object *object, void *member)
{
    (void)field;
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        return refuse(reader, "must be a number from 0 up");
    }
    *(uint64_t *)member = object->via.u64;
    return true;
}

static bool
unpack_count(struct reader *reader, const struct field *field,
             const msgpack_object *object, void *member)
{
    (void)field;
    if (object->type == MSGPACK_OBJECT_NIL) {
        *(uint64_t *)member = COUNT_UNKNOWN;
        return true;
    }
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER) {
        return refuse(reader, "must be a number from 0 up, or nil");
    }
    *(uint64_t *)member = object->via.u64;
    return true;
}

static bool
read_small(struct reader *reader, const msgpack_object *object, uint32_t *small)
{
    if (object->type != MSGPACK_OBJECT_POSITIVE_INTEGER || object->via.u64 > UINT32_MAX) {
        return refuse(reader, "must be a number of 32 bits");
    }
    *small = (uint32_t)object->via.u64;
    return true;
}

static bool
unpack_small(struct reader *reader, const struct field *field,
             const msgpack_object *object, void *member)
{
    (void)field;
    return read_small(reader, object, member);
}

static bool
unpack_bool(struct reader *reader, const struct field *field,
            const msgpack_object *object, void *member)
{
    (void)field;
    if (object->type != MSGPACK_OBJECT_BOOLEAN) {
        return refuse(reader, "must be true or false");
    }
    *(bool *)member = object->via.boolean;
    return true;
}

static bool
unpack_text(struct reader *reader, const struct field *field,
            const msgpack_object *object, void *member)
{
    (void)field;
    struct text text;
    if (object->type == MSGPACK_OBJECT_STR) {
        text = (struct text){object->via.str.ptr, object->via.str.size};
    } else if (object->type == MSGPACK_OBJECT_BIN) {
        text = (struct text){object->via.bin.ptr, object->via.bin.size};
    } else {
        return refuse(reader, "must be a text");
    }
    if (text.length > MESSAGE_TEXT_MAX) {
        return refuse(reader, "is a text above the longest allowed");
    }
    *(struct text *)member = text;
    return true;
}

static bool
unpack_struct(struct reader *reader, const struct field *field,
              const msgpack_object *object, void *member)
{
    return unpack_array(reader, field->shape, object, member);
}

// Room for a list's elements, noted in the struct with their count. NULL when
// there is nothing to fill: the list is empty, or the reader says what is wrong.
static void *
list_room(struct reader *reader, const struct field *field, const msgpack_object *object,
          void *member, size_t element_size)
{
    if (object->type != MSGPACK_OBJECT_ARRAY) {
        refuse(reader, "must be a list");
        return NULL;
    }
    size_t count = object->via.array.size;
    void *room = NULL;
    if (count > 0) {
        room = msgpack_zone_malloc(reader->zone, count * element_size);
        if (room == NULL) {
            refuse(reader, "is more than memory can hold");
            return NULL;
        }
    }
    memcpy(member, &room, sizeof room); // whatever the member points to
    memcpy((unsigned char *)member + field->count_offset, &count, sizeof count);
    return room;
}

static bool
unpack_rows(struct reader *reader, const struct field *field,
            const msgpack_object *object, void *member)
{
    unsigned char *rows = list_room(reader, field, object, member, field->shape->size);
    if (rows == NULL) {
        return reader->problem == NULL;
    }
    const msgpack_object_array *list = &object->via.array;
    for (size_t i = 0; i < list->size; i++) {
        unsigned char *row = rows + i * field->shape->size;
        if (!unpack_array(reader, field->shape, &list->ptr[i], row)) {
            return false;
        }
    }
    return true;
}

static bool
unpack_smalls(struct reader *reader, const struct field *field,
              const msgpack_object *object, void *member)
{
    uint32_t *smalls = list_room(reader, field, object, member, sizeof *smalls);
    if (smalls == NULL) {
        return reader->problem == NULL;
    }
    const msgpack_object_array *list = &object->via.array;
    for (size_t i = 0; i < list->size; i++) {
        if (!read_small(reader, &list->ptr[i], &smalls[i])) {
            return false;
        }
    }
    return true;
}

static bool (*const unpack_field[FIELD_TYPES])(struct reader *reader,
                                               const struct field *field,
                                               const msgpack_object *object,
                                               void *member) = {
    [FIELD_NUMBER] = unpack_number, [FIELD_COUNT] = unpack_count,
    [FIELD_SMALL] = unpack_small,   [FIELD_BOOL] = unpack_bool,
    [FIELD_TEXT] = unpack_text,     [FIELD_STRUCT] = unpack_struct,
    [FIELD_ROWS] = unpack_rows,     [FIELD_SMALLS] = unpack_smalls,
};

// Counts that nobody sent are unknown; all else is zero already: 0, false, "", no rows.
static void // NOLINTNEXTLINE(misc-no-recursion): as deep as the tables nest
set_missing(const struct field *field, unsigned char *base)
{
    if (field->type == FIELD_COUNT) {
        *(uint64_t *)(void *)(base + field->offset) = COUNT_UNKNOWN;
    }
    if (field->type == FIELD_STRUCT) {
        for (size_t i = 0; i < field->shape->count; i++) {
            set_missing(&field->shape->fields[i], base + field->offset);
        }
    }
}

static bool
unpack_one(struct reader *reader, const struct field *field, const msgpack_object *object,
           unsigned char *base)
{
    assert(reader->depth < PATH_DEPTH);
    reader->path[reader->depth++] = field->name;
    if (!unpack_field[field->type](reader, field, object, base + field->offset)) {
        return false; // the path stays for the message
    }
    reader->depth--;
    return true;
}

// A struct or row. A newer sender's may be longer, an older one's shorter.
static bool
unpack_array(struct reader *reader, const struct shape *shape,
             const msgpack_object *object, unsigned char *base)
{
    if (object->type != MSGPACK_OBJECT_ARRAY) {
        return refuse(reader, "must be a list");
    }
    const msgpack_object_array *list = &object->via.array;
    memset(base, 0, shape->size);
    for (size_t i = 0; i < shape->count; i++) {
        const struct field *field = &shape->fields[i];
        if (i >= list->size) {
            set_missing(field, base);
        } else if (!unpack_one(reader, field, &list->ptr[i], base)) {
            return false;
        }
    }
    return true;
}

// A message. Keys that are no number known here are a newer sender's.
static bool
unpack_map(struct reader *reader, const struct shape *shape, const msgpack_object *object,
           unsigned char *base)
{
    if (object->type != MSGPACK_OBJECT_MAP) {
        return refuse(reader, "must be a map");
    }
    memset(base, 0, shape->size);
    for (size_t i = 0; i < shape->count; i++) {
        set_missing(&shape->fields[i], base);
    }
    const msgpack_object_map *map = &object->via.map;
    for (size_t i = 0; i < map->size; i++) {
        const msgpack_object *key = &map->ptr[i].key;
        bool known =
            key->type == MSGPACK_OBJECT_POSITIVE_INTEGER && key->via.u64 < shape->count;
        if (known &&
            !unpack_one(reader, &shape->fields[key->via.u64], &map->ptr[i].val, base)) {
            return false;
        }
    }
    return true;
}

// "sample.process.rss_bytes must be a number".
static void
describe(const struct reader *reader, const struct shape *shape, char *problem,
         size_t problem_size)
{
    const char *outer = reader->depth > 0 ? reader->path[0] : "";
    const char *inner = reader->depth > 1 ? reader->path[1] : "";
    (void)snprintf(problem, problem_size, "%s%s%s%s%s %s", shape->name,
                   outer[0] == '\0' ? "" : ".", outer, inner[0] == '\0' ? "" : ".", inner,
                   reader->problem);
}

bool
body_unpack(struct body *body, const struct shape *shape, const unsigned char *bytes,
            size_t length, void *target, char *problem, size_t problem_size)
{
    body_clear(body);
    const char *refused = scan_value(bytes, length);
    if (refused != NULL) {
        (void)snprintf(problem, problem_size, "%s: %s", shape->name, refused);
        return false;
    }
    // What passed the scan can only fail for want of memory.
    size_t end = 0;
    if (!buffer_append(&body->bytes, bytes, length) ||
        msgpack_unpack_next(&body->unpacked, (const char *)body->bytes.bytes, length,
                            &end) != MSGPACK_UNPACK_SUCCESS) {
        (void)snprintf(problem, problem_size, "%s: out of memory", shape->name);
        return false;
    }
    struct reader reader = {.zone = body->unpacked.zone};
    if (!unpack_map(&reader, shape, &body->unpacked.data, target)) {
        describe(&reader, shape, problem, problem_size);
        return false;
    }
    return true;
}

bool
body_message(struct body *body, const struct frame *frame, const unsigned char *bytes,
             size_t length, struct message *message, char *problem, size_t problem_size)
{
    const struct shape *shape = shape_of(frame->kind);
    assert(shape != NULL);
    *message = (struct message){.kind = (enum message_kind)frame->kind, .at = frame->at};
    // Every member of the union begins where the union does.
    return body_unpack(body, shape, bytes, length, &message->hello, problem,
                       problem_size);
}
