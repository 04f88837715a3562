#include "probe/core/viewer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct viewer *
viewer_new(int fd)
{
    struct viewer *viewer = calloc(1, sizeof(*viewer));
    if (viewer) {
        viewer->fd = fd;
        viewer->wants_seed = true;
    }
    return viewer;
}

struct viewer *
viewer_new_onlooker(bool (*take)(void *, const struct buffer *), void *taker)
{
    struct viewer *viewer = viewer_new(-1);
    if (viewer) {
        viewer->wants_seed = false;
        viewer->take = take;
        viewer->taker = taker;
    }
    return viewer;
}

void
viewer_begin_anew(struct viewer *viewer)
{
    viewer->wants_seed = true;
    viewer->notices_edits = 0;
    for (size_t i = 0; i < viewer->open_count; i++) {
        viewer->open[i].seeded = false;
    }
}

void
viewer_free(struct viewer *viewer)
{
    if (viewer) {
        if (viewer->fd >= 0) {
            close(viewer->fd);
        }
        buffer_destroy(&viewer->out);
        decoder_destroy(&viewer->in);
        free(viewer);
    }
}

void
viewer_flush(struct viewer *viewer)
{
    size_t sent = 0;
    if (viewer->take) {
        viewer->broken |= !viewer->take(viewer->taker, &viewer->out);
        buffer_destroy(&viewer->out);
        return;
    }
    while (sent < viewer->out.length) {
        ssize_t written = send(viewer->fd, viewer->out.bytes + sent,
                               viewer->out.length - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (written >= 0) {
            sent += (size_t)written;
        } else if (errno != EINTR) {
            viewer->broken |= errno != EAGAIN && errno != EWOULDBLOCK;
            break;
        }
    }
    if (sent == viewer->out.length) {
        buffer_destroy(&viewer->out); // an idle viewer keeps no memory
        viewer->broken |= viewer->closing;
    } else {
        buffer_consume(&viewer->out, sent);
    }
}

bool
viewer_append(struct viewer *viewer, const struct buffer *frames)
{
    if (viewer->out.length + frames->length > VIEWER_BACKLOG_MAX &&
        viewer->out.length > 0) {
        return false;
    }
    if (!buffer_append(&viewer->out, frames->bytes, frames->length)) {
        viewer->broken = true;
    }
    viewer_flush(viewer);
    return true;
}

void
viewer_say(struct viewer *viewer, const struct message *message)
{
    if (viewer->out.length > VIEWER_BACKLOG_MAX ||
        !message_encode(&viewer->out, message)) {
        viewer->broken = true;
        return;
    }
    viewer_flush(viewer);
}

void
viewer_refuse(struct viewer *viewer, struct stamp at, const char *why)
{
    struct message message = {
        .kind = MESSAGE_BYE,
        .at = at,
        .bye = {.reason = BYE_REFUSED, .status = COUNT_UNKNOWN, .text = text_of(why)}
    };
    viewer->closing = true;
    viewer_say(viewer, &message);
}

bool
viewer_read(struct viewer *viewer)
{
    unsigned char bytes[4096];
    size_t total = 0;
    while (total < VIEWER_READ_MAX) {
        ssize_t length = recv(viewer->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (length > 0) {
            if (!viewer->closing) {
                decoder_feed(&viewer->in, bytes, (size_t)length);
            }
            total += (size_t)length;
        } else if (length < 0 && errno == EINTR) {
            continue;
        } else {
            viewer->broken |= length == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
            break;
        }
    }
    return total > 0;
}

static void
check_greeting(struct viewer *viewer, struct stamp at, const struct greeting *greeting)
{
    viewer->greeted = greeting->version == PROTOCOL_VERSION;
    if (!viewer->greeted) {
        char why[160];
        snprintf(why, sizeof(why),
                 "this probe speaks protocol version %d, the viewer %llu; use the "
                 "memtop that came with the probe",
                 PROTOCOL_VERSION, (unsigned long long)greeting->version);
        viewer_refuse(viewer, at, why);
    }
}

static void
check_length(struct viewer *viewer, struct stamp at)
{
    if (viewer->in.input.length - viewer->in.read > VIEWER_REQUEST_MAX) {
        viewer_refuse(viewer, at, "a request is never that long");
    }
}

bool
viewer_next(struct viewer *viewer, struct stamp at, struct request *request)
{
    struct message message;
    while (!viewer->closing && !viewer->broken) {
        switch (decoder_next(&viewer->in, &message)) {
        case DECODE_NEED_MORE:
            check_length(viewer, at);
            return false;
        case DECODE_FAILED:
            viewer_refuse(viewer, at, decoder_error(&viewer->in));
            return false;
        case DECODE_MESSAGE:
            break;
        }
        if (message.kind == MESSAGE_GREETING) {
            check_greeting(viewer, at, &message.greeting);
        } else if (message.kind != MESSAGE_REQUEST) {
            viewer_refuse(viewer, at, "a viewer sends requests, and nothing else");
        } else if (viewer->greeted) {
            *request = message.request;
            return true;
        }
    }
    return false;
}
