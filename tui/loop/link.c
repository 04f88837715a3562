#include "tui/loop/link.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "protocol/decoder.h"
#include "tui/loop/process.h"
#include "version.h"

// Read at most this much in a turn of the loop.
#define READ_BYTES (64u * 1024)

// Tries while a listener's queue is full, before the first HELLO.
#define BUSY_TRIES 50

// One connection. Apart from the link, because libuv needs it for a while
// after the link has moved on to the next.
struct channel {
    uv_poll_t poll;
    int descriptor;
    struct link *link; // borrowed
};

struct link {
    uv_loop_t *loop;  // borrowed
    const char *path; // borrowed
    struct link_events events;
    uv_timer_t timer; // until the next try, or until HELLO must have come
    uv_idle_t drain;  // active while messages wait in the decoder
    int handles;      // of the two above, those libuv still knows

    struct channel *channel; // owned; NULL while not connected
    struct decoder decoder;
    struct buffer output;
    long peer;    // process that listens, 0 when it cannot be told
    bool greeted; // HELLO came on this connection
    bool met;     // HELLO came once
    bool reached; // somebody listened
    bool stopped; // link_stop() was called, or all is over
    bool awaits;  // nobody has to listen yet
    int busy_tries;
    uint64_t retry_ms;
    enum link_state state;
    char detail[512];          // of that state
    enum link_failure failure; // why the last connection was lost
    char goodbye[256];         // what BYE said, "" while none came
    unsigned char input[READ_BYTES];
};

static void attempt(struct link *link);

static struct stamp
stamp_now(void)
{
    struct timespec wall;

    clock_gettime(CLOCK_REALTIME, &wall);
    return (struct stamp){
        .monotonic_us = uv_hrtime() / 1000,
        .wall_us = (uint64_t)wall.tv_sec * 1000000 + (uint64_t)wall.tv_nsec / 1000,
    };
}

// A peer's words for a person: nothing in them may command a terminal.
static void
copy_printable(char *to, size_t capacity, struct text from)
{
    size_t length = from.length < capacity - 1 ? from.length : capacity - 1;

    for (size_t i = 0; i < length; i++) {
        to[i] = (from.bytes[i] < ' ' || from.bytes[i] > '~') ? '?' : from.bytes[i];
    }
    to[length] = '\0';
}

static void
free_channel(uv_handle_t *handle)
{
    free(handle->data);
}

static void
disconnect(struct link *link)
{
    if (link->channel) {
        // in this order: libuv forgets the descriptor before it can be reused
        uv_close((uv_handle_t *)&link->channel->poll, free_channel);
        close(link->channel->descriptor);
        link->channel = NULL;
    }
    uv_idle_stop(&link->drain);
    uv_timer_stop(&link->timer);
    decoder_destroy(&link->decoder);
    link->decoder = (struct decoder){0};
    buffer_clear(&link->output);
    link->greeted = false;
}

static void
on_retry(uv_timer_t *timer)
{
    attempt(timer->data);
}

static void
retry_later(struct link *link)
{
    uv_timer_start(&link->timer, on_retry, link->retry_ms, 0);
    link->retry_ms =
        link->retry_ms * 2 < LINK_RETRY_LAST_MS ? link->retry_ms * 2 : LINK_RETRY_LAST_MS;
}

static void
tell_state(struct link *link, enum link_state state, const char *detail)
{
    if (link->state == state && strcmp(link->detail, detail) == 0) {
        return;
    }
    link->state = state;
    snprintf(link->detail, sizeof(link->detail), "%s", detail);
    link->events.state(link->events.context, state, link->detail);
}

// The connection is lost, or there was none.
static void
lose(struct link *link, enum link_failure failure, const char *format, ...)
{
    char why[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, sizeof(why), format, arguments);
    va_end(arguments);
    disconnect(link);
    link->failure = failure;
    if (!link->met) {
        link->stopped = true;
        link->events.failed(link->events.context, failure, why);
        return;
    }
    bool gone = link->peer > 0 && !process_alive(link->peer);
    retry_later(link);
    if (gone) {
        tell_state(link, LINK_GONE,
                   *link->goodbye ? link->goodbye : "ended without a word");
    } else {
        tell_state(link, LINK_RECONNECTING, *link->goodbye ? link->goodbye : why);
    }
}

static void
on_silence(uv_timer_t *timer)
{
    lose(timer->data, LINK_UNREACHABLE,
         "it accepts connections but says nothing. Is the program stopped?");
}

/*
 * Messages.
 */

static void
take_hello(struct link *link, const struct message *message)
{
    const struct hello *hello = &message->hello;
    char version[64];

    if (message->kind == MESSAGE_BYE) {
        char words[256];
        copy_printable(words, sizeof(words), message->bye.text);
        lose(link, LINK_UNREACHABLE, "the probe refuses: %s", words);
        return;
    }
    if (message->kind != MESSAGE_HELLO) {
        lose(link, LINK_BROKEN, "what answers there is no probe: it does not say hello");
        return;
    }
    copy_printable(version, sizeof(version), hello->program_version);
    if (hello->version != PROTOCOL_VERSION) {
        lose(link, LINK_BROKEN,
             "the probe (memtop %s) speaks protocol %llu, this viewer (memtop %s) speaks "
             "%d. Use the viewer that came with the probe",
             version, (unsigned long long)hello->version, MEMTOP_VERSION,
             PROTOCOL_VERSION);
        return;
    }
    uv_timer_stop(&link->timer);
    link->greeted = true;
    link->met = true;
    link->retry_ms = LINK_RETRY_FIRST_MS;
    link->goodbye[0] = '\0';
    tell_state(link, LINK_LIVE, "");
    if (!link->stopped) {
        link->events.message(link->events.context, message);
    }
}

static void
take_bye(struct link *link, const struct bye *bye)
{
    char words[200];

    copy_printable(words, sizeof(words), bye->text);
    if (bye->reason == BYE_EXIT && bye->status != COUNT_UNKNOWN) {
        snprintf(link->goodbye, sizeof(link->goodbye), "exit status %llu",
                 (unsigned long long)bye->status);
    } else if (bye->reason == BYE_EXIT) {
        snprintf(link->goodbye, sizeof(link->goodbye), "the program ended");
    } else {
        snprintf(link->goodbye, sizeof(link->goodbye), "%s",
                 *words ? words : "the probe was stopped");
    }
    lose(link, LINK_UNREACHABLE, "%s", link->goodbye);
}

static void
take_message(struct link *link, const struct message *message)
{
    if (!link->greeted) {
        take_hello(link, message);
        return;
    }
    if (message->kind >= MESSAGE_GREETING) {
        lose(link, LINK_BROKEN, "what answers there is no probe: it speaks as a viewer");
        return;
    }
    // handing it on may end in link_stop(), and a bye is to be kept for after
    struct message copy = *message;
    link->events.message(link->events.context, message);
    if (copy.kind == MESSAGE_BYE && !link->stopped) {
        take_bye(link, &copy.bye);
    }
}

/*
 * Bytes.
 */

static void on_ready(uv_poll_t *poll, int status, int events);

// Ask libuv for what is of use now.
static void
watch(struct link *link)
{
    int events = 0;

    if (!link->channel) {
        return;
    }
    if (!uv_is_active((uv_handle_t *)&link->drain)) {
        events |= UV_READABLE;
    }
    if (link->output.length > 0) {
        events |= UV_WRITABLE;
    }
    if (events == 0) {
        uv_poll_stop(&link->channel->poll);
    } else {
        uv_poll_start(&link->channel->poll, events, on_ready);
    }
}

// One message a turn of the loop: a key never waits behind more than one.
static void
on_drain(uv_idle_t *idle)
{
    struct link *link = idle->data;
    struct message message;

    switch (decoder_next(&link->decoder, &message)) {
    case DECODE_MESSAGE:
        take_message(link, &message);
        break;
    case DECODE_NEED_MORE:
        uv_idle_stop(&link->drain);
        watch(link);
        break;
    case DECODE_FAILED:
        lose(link, LINK_BROKEN, "what it sends is not memtop's, or damaged: %s",
             decoder_error(&link->decoder));
        break;
    }
}

static void
end_of_input(struct link *link)
{
    if (!decoder_finish(&link->decoder)) {
        lose(link, LINK_BROKEN, "the connection ended in the middle: %s",
             decoder_error(&link->decoder));
    } else if (link->greeted) {
        lose(link, LINK_UNREACHABLE, "the connection was closed");
    } else {
        lose(link, LINK_BROKEN, "it closed the connection without a word");
    }
}

static void
read_some(struct link *link)
{
    ssize_t length = recv(link->channel->descriptor, link->input, sizeof(link->input), 0);

    if (length > 0) {
        decoder_feed(&link->decoder, link->input, (size_t)length);
        uv_idle_start(&link->drain, on_drain);
        watch(link);
    } else if (length == 0) {
        end_of_input(link);
    } else if (errno != EAGAIN && errno != EINTR) {
        lose(link, LINK_UNREACHABLE, "the connection broke: %s", strerror(errno));
    }
}

static void
write_some(struct link *link)
{
    ssize_t length = send(link->channel->descriptor, link->output.bytes,
                          link->output.length, MSG_NOSIGNAL);

    // a peer that left is noticed by reading, after its last words
    if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    buffer_consume(&link->output, length < 0 ? link->output.length : (size_t)length);
    watch(link);
}

static void
on_ready(uv_poll_t *poll, int status, int events)
{
    const struct channel *channel = poll->data;
    struct link *link = channel->link;

    if (events & UV_WRITABLE) {
        write_some(link);
    }
    if (events & UV_READABLE || status < 0) {
        read_some(link);
    }
}

static bool
queue(struct link *link, const struct message *message)
{
    if (!link->channel || link->output.length > LINK_OUTPUT_MAX ||
        !message_encode(&link->output, message)) {
        return false;
    }
    watch(link);
    return true;
}

/*
 * Connecting.
 */

static const char *
explain(int error)
{
    static const struct {
        int error;
        const char *words;
    } reasons[] = {
        {ENOENT,       "there is no such file. Is the program running, under the probe?"     },
        {ENOTDIR,      "there is no such file. Is the program running, under the probe?"     },
        {ENOTSOCK,     "that file is not a socket"                                           },
        {ECONNREFUSED, "nobody listens there any more. Did the program end?"                 },
        {EACCES,       "permission denied. Only root and the user it belongs to may watch it"},
        {EPERM,        "permission denied. Only root and the user it belongs to may watch it"},
        {ENAMETOOLONG, "the path is too long for a socket"                                   },
        {EAGAIN,       "too many wait there already. Is the program stopped?"                },
    };

    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
        if (reasons[i].error == error) {
            return reasons[i].words;
        }
    }
    return strerror(error);
}

// A connected socket, or -1 with errno set.
static int
connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat status;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    if (stat(path, &status) != 0) {
        return -1;
    }
    // connect() calls it refused, which would be misread
    if (!S_ISSOCK(status.st_mode)) {
        errno = ENOTSOCK;
        return -1;
    }
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor < 0) {
        return -1;
    }
    if (connect(descriptor, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = errno;
        close(descriptor);
        errno = error;
        return -1;
    }
    return descriptor;
}

static long
peer_of(int descriptor)
{
    struct ucred credentials = {.pid = 0};
    socklen_t length = sizeof(credentials);

    getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length);
    return credentials.pid;
}

// Takes the descriptor, whatever happens.
static bool
channel_open(struct link *link, int descriptor)
{
    struct channel *channel = malloc(sizeof(*channel));

    if (!channel || uv_poll_init(link->loop, &channel->poll, descriptor) != 0) {
        free(channel);
        close(descriptor);
        return false;
    }
    channel->descriptor = descriptor;
    channel->link = link;
    channel->poll.data = channel;
    link->channel = channel;
    return true;
}

static void
greet(struct link *link)
{
    struct message greeting = {
        .kind = MESSAGE_GREETING,
        .at = stamp_now(),
        .greeting = {PROTOCOL_VERSION, text_of(MEMTOP_VERSION)},
    };

    queue(link, &greeting);
    watch(link);
    uv_timer_start(&link->timer, on_silence, LINK_HELLO_MS, 0);
}

// Whether it is worth trying again at once: a queue is full, or a probe has made its
// socket and is about to listen on it.
static bool
may_come(struct link *link, int error)
{
    int tries = error == EAGAIN ? BUSY_TRIES : error == ECONNREFUSED ? 1 : 0;

    return !link->met && link->busy_tries++ < tries;
}

static void
attempt(struct link *link)
{
    int descriptor = connect_to(link->path);

    if (descriptor < 0) {
        int error = errno;
        if (link->awaits && !link->met && (error == ENOENT || error == ECONNREFUSED)) {
            uv_timer_start(&link->timer, on_retry, LINK_AWAIT_MS, 0);
            return;
        }
        if (may_come(link, error)) {
            uv_timer_start(&link->timer, on_retry, LINK_RETRY_FIRST_MS, 0);
            return;
        }
        lose(link, LINK_UNREACHABLE, "%s", explain(error));
        return;
    }
    long peer = peer_of(descriptor);
    if (!channel_open(link, descriptor)) {
        lose(link, LINK_UNREACHABLE, "out of memory");
        return;
    }
    link->peer = peer;
    link->reached = true;
    greet(link);
}

/*
 * A link's life.
 */

struct link *
link_new(uv_loop_t *loop, const char *path, const struct link_events *events)
{
    struct link *link = calloc(1, sizeof(*link));

    if (!link) {
        return NULL;
    }
    link->loop = loop;
    link->path = path;
    link->events = *events;
    link->retry_ms = LINK_RETRY_FIRST_MS;
    link->state = LINK_CONNECTING;
    uv_timer_init(loop, &link->timer);
    uv_idle_init(loop, &link->drain);
    link->timer.data = link;
    link->drain.data = link;
    link->handles = 2;
    return link;
}

void
link_start(struct link *link)
{
    attempt(link);
}

void
link_await(struct link *link)
{
    link->awaits = true;
    attempt(link);
}

bool
link_connected(const struct link *link)
{
    return link->channel != NULL;
}

bool
link_send(struct link *link, const struct request *request)
{
    struct message message = {
        .kind = MESSAGE_REQUEST,
        .at = stamp_now(),
        .request = *request,
    };

    return link->greeted && queue(link, &message);
}

enum link_failure
link_last_failure(const struct link *link)
{
    return link->failure;
}

bool
link_was_accepted(const struct link *link)
{
    return link->reached;
}

void
link_stop(struct link *link)
{
    if (!link->stopped) {
        link->stopped = true;
        disconnect(link);
    }
}

static void
on_closed(uv_handle_t *handle)
{
    struct link *link = handle->data;

    if (--link->handles == 0) {
        buffer_destroy(&link->output);
        free(link);
    }
}

void
link_free(struct link *link)
{
    if (!link) {
        return;
    }
    link_stop(link);
    uv_close((uv_handle_t *)&link->timer, on_closed);
    uv_close((uv_handle_t *)&link->drain, on_closed);
}
