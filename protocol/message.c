#include "protocol/message.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include <msgpack.h>

#include "protocol/shape.h"

// Where the packer writes: a buffer, up to a length that no frame may pass.
struct sink {
    struct buffer *out;
    size_t end;
};

static int
sink_write(void *context, const char *bytes, size_t length)
{
    struct sink *sink = context;
    if (length > sink->end - sink->out->length) {
        sink->out->failed = true;
    }
    return buffer_append(sink->out, bytes, length) ? 0 : -1;
}

// Whether it is worth packing on.
static bool
sink_ok(const msgpack_packer *packer)
{
    return buffer_ok(((const struct sink *)packer->data)->out);
}

static void pack_array(msgpack_packer *packer, const struct shape *shape,
                       const unsigned char *base);

static void
pack_number(msgpack_packer *packer, const struct field *field, const void *member)
{
    (void)field;
    msgpack_pack_uint64(packer, *(const uint64_t *)member);
}

static void
pack_count(msgpack_packer *packer, const struct field *field, const void *member)
{
    (void)field;
    uint64_t count = *(const uint64_t *)member;
    if (count == COUNT_UNKNOWN) {
        msgpack_pack_nil(packer);
    } else {
        msgpack_pack_uint64(packer, count);
    }
}

static void
pack_small(msgpack_packer *packer, const struct field *field, const void *member)
{
    (void)field;
    msgpack_pack_uint32(packer, *(const uint32_t *)member);
}

static void
pack_bool(msgpack_packer *packer, const struct field *field, const void *member)
{
    (void)field;
    if (*(const bool *)member) {
        msgpack_pack_true(packer);
    } else {
        msgpack_pack_false(packer);
    }
}

static void
pack_real(msgpack_packer *packer, const struct field *field, const void *member)
{
    (void)field;
    double real = *(const double *)member;
    if (isfinite(real)) {
        msgpack_pack_double(packer, real);
    } else {
        msgpack_pack_nil(packer);
    }
}

// At most MESSAGE_TEXT_MAX bytes, without half a UTF-8 character at the cut.
static size_t
cut_length(const struct text *text)
{
    if (text->length <= MESSAGE_TEXT_MAX) {
        return text->length;
    }
    size_t length = MESSAGE_TEXT_MAX;
    size_t shortest = length - 3; // a character is four bytes at most
    while (length > shortest && ((unsigned char)text->bytes[length] & 0xc0) == 0x80) {
        length--;
    }
    return length;
}

static void
pack_text(msgpack_packer *packer, const struct field *field, const void *member)
{
    (void)field;
    const struct text *text = member;
    size_t length = cut_length(text);
    msgpack_pack_str(packer, length);
    msgpack_pack_str_body(packer, text->bytes, length);
}

static void
pack_struct(msgpack_packer *packer, const struct field *field, const void *member)
{
    pack_array(packer, field->shape, member);
}

// A list as a struct holds it: a pointer, and a count beside it.
struct list {
    const unsigned char *bytes;
    size_t count;
};

static struct list
list_in(const struct field *field, const void *member)
{
    struct list list;
    memcpy(&list.bytes, member, sizeof list.bytes); // whatever it points to
    memcpy(&list.count, (const unsigned char *)member + field->count_offset,
           sizeof list.count);
    return list;
}

static void
pack_rows(msgpack_packer *packer, const struct field *field, const void *member)
{
    struct list rows = list_in(field, member);
    msgpack_pack_array(packer, rows.count);
    for (size_t i = 0; i < rows.count && sink_ok(packer); i++) {
        pack_array(packer, field->shape, rows.bytes + i * field->shape->size);
    }
}

static void
pack_smalls(msgpack_packer *packer, const struct field *field, const void *member)
{
    struct list numbers = list_in(field, member);
    msgpack_pack_array(packer, numbers.count);
    for (size_t i = 0; i < numbers.count && sink_ok(packer); i++) {
        msgpack_pack_uint32(packer, ((const uint32_t *)(const void *)numbers.bytes)[i]);
    }
}

static void (*const pack_field[FIELD_TYPES])(msgpack_packer *packer,
                                             const struct field *field,
                                             const void *member) = {
    [FIELD_NUMBER] = pack_number, [FIELD_COUNT] = pack_count,
    [FIELD_SMALL] = pack_small,   [FIELD_BOOL] = pack_bool,
    [FIELD_REAL] = pack_real,     [FIELD_TEXT] = pack_text,
    [FIELD_STRUCT] = pack_struct, [FIELD_ROWS] = pack_rows,
    [FIELD_SMALLS] = pack_smalls,
};

static void
pack_one(msgpack_packer *packer, const struct field *field, const unsigned char *base)
{
    pack_field[field->type](packer, field, base + field->offset);
}

static void
pack_array(msgpack_packer *packer, const struct shape *shape, const unsigned char *base)
{
    msgpack_pack_array(packer, shape->count);
    for (size_t i = 0; i < shape->count; i++) {
        pack_one(packer, &shape->fields[i], base);
    }
}

static void
pack_map(msgpack_packer *packer, const struct shape *shape, const unsigned char *base)
{
    msgpack_pack_map(packer, shape->count);
    for (size_t i = 0; i < shape->count; i++) {
        msgpack_pack_uint64(packer, i);
        pack_one(packer, &shape->fields[i], base);
    }
}

bool
message_encode(struct buffer *out, const struct message *message)
{
    const struct shape *shape = shape_of((uint8_t)message->kind);
    assert(shape != NULL);

    size_t start = out->length;
    if (buffer_reserve(out, FRAME_HEADER_BYTES) == NULL) {
        return false;
    }
    out->length += FRAME_HEADER_BYTES;

    size_t body = out->length;
    struct sink sink = {out, body + FRAME_BODY_MAX};
    msgpack_packer packer;
    msgpack_packer_init(&packer, &sink, sink_write);
    // Every member of the union begins where the union does.
    pack_map(&packer, shape, (const unsigned char *)&message->hello);
    if (!buffer_ok(out)) {
        out->length = start;
        return false;
    }
    frame_write(out->bytes + start, (uint8_t)message->kind, message->at,
                out->bytes + body, (uint32_t)(out->length - body));
    return true;
}

static const char *const mode_names[] = {
    [MODE_DORMANT] = "dormant",
    [MODE_CENSUS] = "census",
    [MODE_COUNT] = "count",
    [MODE_TRACE] = "trace",
};

#define MODES (sizeof mode_names / sizeof mode_names[0])

const char *
mode_name(uint64_t mode)
{
    return mode < MODES ? mode_names[mode] : "unknown";
}

bool
mode_parse(const char *name, enum probe_mode *mode)
{
    for (size_t i = 0; i < MODES; i++) {
        if (strcmp(name, mode_names[i]) == 0) {
            *mode = (enum probe_mode)i;
            return true;
        }
    }
    return false;
}

static const char *const verdict_names[] = {
    [VERDICT_NEW] = "new",         [VERDICT_STEADY] = "steady", [VERDICT_CHURN] = "churn",
    [VERDICT_GROWING] = "growing", [VERDICT_LEAK] = "leak?",
};

const char *
verdict_name(uint64_t verdict)
{
    size_t count = sizeof verdict_names / sizeof verdict_names[0];
    return verdict < count ? verdict_names[verdict] : NULL;
}

static const char *const frame_labels[] = {
    [FRAME_ROOT] = "(root)",
    [FRAME_BEFORE_TRACING] = "(before tracing)",
    [FRAME_OTHER] = "(other)",
    [FRAME_TRUNCATED] = "(deeper stack, cut)",
    [FRAME_NO_STACK] = "(no Ruby frame)",
};

const char *
special_frame_label(uint32_t frame)
{
    size_t count = sizeof frame_labels / sizeof frame_labels[0];
    return frame < count ? frame_labels[frame] : NULL;
}
