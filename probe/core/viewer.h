/*
 * One viewer's connection, from the probe's side.
 *
 * Happy path: whole frames are appended to what waits to be sent, and go out
 * when the socket takes them; bytes that come in become requests.
 *
 * Failure modes: a viewer that reads too slowly loses whole frames, which are
 * counted, and is given a full state once it has read everything it was sent; one that
 * sends anything but requests is told why and closed; one that dies is closed.
 * Nothing here waits for a viewer.
 */
#ifndef PROBE_CORE_VIEWER_H
#define PROBE_CORE_VIEWER_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/decoder.h"

// More than this many bytes waiting: further frames are dropped. A full state is
// sent whole, but only to a viewer that has nothing waiting.
#define VIEWER_BACKLOG_MAX (1024u * 1024)

// What one turn reads from one viewer at most; nobody has more to say.
#define VIEWER_READ_MAX 65536u

// An unfinished frame longer than this is refused: a request has some 50 bytes.
#define VIEWER_REQUEST_MAX 65536u

// Classes whose trees one viewer can have open at once, and an onlooker.
#define VIEWER_OPEN_MAX 8u
#define VIEWER_OPEN_ROOM 32u

struct viewer_open {
    class_id id;
    bool seeded; // it has the whole tree, and every change since
};

struct viewer {
    int fd; // owned
    struct buffer out;
    struct decoder in;
    bool greeted;           // its greeting came and fits
    bool wants_seed;        // has no state, or lost some
    bool closing;           // close once `out` is sent
    bool broken;            // close now
    bool asked;             // `request` waits for its result
    uint32_t notices_edits; // of the notices it has, 0 for none
    struct request request;
    struct viewer_open open[VIEWER_OPEN_ROOM]; // see opened.h
    size_t open_count;

    // Instead of a descriptor: who keeps what it is sent, and takes all of it at once.
    // False when that failed. Such a viewer is an onlooker: it sees trees of classes
    // that are traced, and has none traced.
    bool (*take)(void *taker, const struct buffer *frames); // NULL for none
    void *taker;                                            // borrowed
};

// context: server. NULL when memory ran out; then `fd` is left to the caller.
struct viewer *viewer_new(int fd);

// context: server. One without a descriptor, see `take`, who is there from the first
// sample on. NULL when memory ran out.
struct viewer *viewer_new_onlooker(bool (*take)(void *, const struct buffer *),
                                   void *taker);

// context: server. It has nothing (any more) of what viewers are sent.
void viewer_begin_anew(struct viewer *viewer);

void viewer_free(struct viewer *viewer);

// context: server. Send as much as the socket takes now.
void viewer_flush(struct viewer *viewer);

// context: server. Append frames, or drop them when too much waits already.
// Returns false when they were dropped.
bool viewer_append(struct viewer *viewer, const struct buffer *frames);

// context: server. Append one message; what does not fit marks it broken.
void viewer_say(struct viewer *viewer, const struct message *message);

// context: server. Say why it is not served, and close once that is sent.
void viewer_refuse(struct viewer *viewer, struct stamp at, const char *why);

// context: server. Read what came. False when there is nothing (more) to do.
bool viewer_read(struct viewer *viewer);

// context: server. The next request it sent, if any. Greetings are checked here.
bool viewer_next(struct viewer *viewer, struct stamp at, struct request *request);

#endif
