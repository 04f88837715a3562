/*
 * What each message looks like on the wire: one table of fields a message, read
 * by the encoder and the decoder alike, so that the two cannot disagree.
 *
 * A field's place in its table is its key in the body's map, or its place in
 * the flat array of a nested struct or row. New fields go to the end. Internal
 * to protocol/.
 */
#ifndef PROTOCOL_SHAPE_H
#define PROTOCOL_SHAPE_H

#include <stddef.h>
#include <stdint.h>

enum field_type {
    FIELD_NUMBER, // uint64_t: ids, versions, sets of flags; 0 when missing
    FIELD_COUNT,  // uint64_t; COUNT_UNKNOWN when missing, nil on the wire
    FIELD_SMALL,  // uint32_t; 0 when missing
    FIELD_BOOL,   // bool; false when missing
    FIELD_REAL,   // double; NAN when missing, nil on the wire; never infinite
    FIELD_TEXT,   // struct text; empty when missing
    FIELD_STRUCT, // a struct of `shape` in place: a flat array
    FIELD_ROWS,   // pointer to `shape` structs and their count: an array of flat arrays
    FIELD_SMALLS, // pointer to uint32_t and their count: an array of numbers
};

#define FIELD_TYPES (FIELD_SMALLS + 1)

struct shape;

struct field {
    const char *name; // for error messages
    enum field_type type;
    size_t offset;             // in the C struct
    size_t count_offset;       // of a list's size_t count, from the list's pointer
    const struct shape *shape; // of FIELD_STRUCT and FIELD_ROWS
};

struct shape {
    const char *name; // for error messages
    size_t size;      // of the C struct
    const struct field *fields;
    size_t count;
};

// The body of messages of this kind; NULL for a kind not known here.
const struct shape *shape_of(uint8_t kind);

#endif
