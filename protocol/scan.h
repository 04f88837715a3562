/*
 * A look at one msgpack value before anybody allocates for it.
 *
 * msgpack-c takes memory for as many elements as a list's header claims. This
 * walk allocates nothing and passes only bodies whose claims are true: one
 * whole value, nothing behind it, no more values and no deeper than the maxima
 * of decoder.h. Internal to protocol/.
 */
#ifndef PROTOCOL_SCAN_H
#define PROTOCOL_SCAN_H

#include <stddef.h>

// NULL when the bytes are one acceptable value, else what is wrong, in words.
const char *scan_value(const unsigned char *bytes, size_t length);

#endif
