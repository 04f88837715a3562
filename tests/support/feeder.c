/*
 * A peer that says what a test tells it to: real frames on a real socket, or
 * bytes no real probe would send.
 *
 *     feeder SOCKET [CLASSES [MISBEHAVIOUR]]
 *
 * It prints "ready" once it listens. Lines on its standard input make it act:
 *
 *     step          a delta sample: class i grows by i objects
 *     key           a key sample
 *     notice TEXT   a warning
 *     close         drop every viewer without a word
 *     bye STATUS    say goodbye to every viewer and exit with that status
 *     flood N       N key samples at once
 *     later SECONDS its clock on the wall goes on by so much
 *
 * and the end of its input ends it. Requests are answered, and told on its
 * standard output as "request ACTION". The ways "traced…" and "readonly" have the
 * call tree of traced.h for whichever class is opened, sent again with each step.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "protocol/decoder.h"
#include "protocol/message.h"
#include "support/traced.h"

#define VIEWERS_MAX 8
#define CLASSES_MAX 200000
#define NAME_BYTES 64

struct viewer {
    int descriptor; // -1 for a free place
    struct decoder decoder;
};

struct feeder {
    int listener;
    struct viewer viewers[VIEWERS_MAX];
    size_t classes;
    uint64_t steps;
    struct class_name *names; // owned
    char (*spelled)[NAME_BYTES];
    struct class_row *rows; // owned
    struct buffer out;
    void (*serve)(struct feeder *feeder, int descriptor);
    uint64_t capabilities;
    enum traced_kind traced;
    class_id opened; // whose tree is sent; 0 for none
    uint64_t before; // its objects that are older than the tree
    uint64_t since_us;
};

static uint64_t later_us;

// Names that a terminal must never see as they are.
static const char *const hostile_names[] = {
    "\033[2J\033[31mRed",
    "Title\033]0;owned\007",
    "Bell\007",
    "New\nline",
    "Broken\xff\xfe",
    "\xe2\x80\xaeRight to left\xe2\x80\xac",
    "",
};

#define HOSTILE (sizeof(hostile_names) / sizeof(*hostile_names))

static struct stamp
stamp_now(void)
{
    struct timespec monotonic;
    struct timespec wall;

    clock_gettime(CLOCK_MONOTONIC, &monotonic);
    clock_gettime(CLOCK_REALTIME, &wall);
    return (struct stamp){
        (uint64_t)monotonic.tv_sec * 1000000 + (uint64_t)monotonic.tv_nsec / 1000,
        (uint64_t)wall.tv_sec * 1000000 + (uint64_t)wall.tv_nsec / 1000 + later_us,
    };
}

static void
send_raw(int descriptor, const void *bytes, size_t length)
{
    const char *at = bytes;

    while (length > 0) {
        ssize_t sent = send(descriptor, at, length, MSG_NOSIGNAL);
        if (sent <= 0) {
            return;
        }
        at += sent;
        length -= (size_t)sent;
    }
}

static void
send_message(struct feeder *feeder, int descriptor, const struct message *message)
{
    buffer_clear(&feeder->out);
    if (!message_encode(&feeder->out, message)) {
        fputs("feeder: cannot encode\n", stderr);
        exit(1);
    }
    send_raw(descriptor, feeder->out.bytes, feeder->out.length);
}

static struct message
hello(uint64_t version)
{
    return (struct message){
        .kind = MESSAGE_HELLO,
        .at = stamp_now(),
        .hello = {.version = version,
                  .program_version = text_of("9.9.9"),
                  .pid = (uint64_t)getpid(),
                  .parent_pid = (uint64_t)getppid(),
                  .command = text_of("ruby feeder.rb"),
                  .runtime = text_of("ruby 3.1.2"),
                  .started_us = 1767225600000000,
                  .mode = MODE_COUNT,
                  .capabilities = CAPABILITY_COUNT | CAPABILITY_GC,
                  .interval_ms = 1000},
    };
}

static void
send_hello(struct feeder *feeder, int descriptor)
{
    struct message message = hello(PROTOCOL_VERSION);

    message.hello.capabilities = feeder->capabilities;
    send_message(feeder, descriptor, &message);
}

static void
send_names(struct feeder *feeder, int descriptor)
{
    struct message message = {
        .kind = MESSAGE_NAMES,
        .at = stamp_now(),
        .names = {feeder->names, feeder->classes}
    };

    send_message(feeder, descriptor, &message);
}

static void
send_sample(struct feeder *feeder, int descriptor, bool key)
{
    struct message message = {
        .kind = MESSAGE_SAMPLE,
        .at = stamp_now(),
        .sample = {.key = key,
                   .mode = MODE_COUNT,
                   .process = {212000000, 1241600, 1200, 412, 38, 1900, 0},
                   .probe = {8000, 0, 0, 0, 9000, 1130212, 1},
                   .rows = feeder->rows,
                   .row_count = feeder->classes},
    };

    for (size_t i = 0; i < feeder->classes; i++) {
        message.sample.totals.live += feeder->rows[i].live;
        message.sample.totals.allocated += feeder->rows[i].allocated;
    }
    message.sample.totals.bytes = COUNT_UNKNOWN;
    send_message(feeder, descriptor, &message);
}

static void
send_stamped(struct feeder *feeder, int descriptor, struct message message)
{
    message.at = stamp_now();
    send_message(feeder, descriptor, &message);
}

static void
send_tree(struct feeder *feeder, int descriptor)
{
    uint64_t live = feeder->rows[feeder->opened - 1].live;

    send_stamped(feeder, descriptor,
                 traced_tree(feeder->traced, feeder->opened, live, feeder->before,
                             feeder->since_us));
}

/*
 * Ways to serve a viewer.
 */

static void
serve_well(struct feeder *feeder, int descriptor)
{
    send_hello(feeder, descriptor);
    send_names(feeder, descriptor);
    send_sample(feeder, descriptor, true);
}

// The last class is a leak. An old probe says no word of that.
static void
serve_traced(struct feeder *feeder, int descriptor)
{
    size_t last = feeder->classes - 1;

    send_hello(feeder, descriptor);
    send_names(feeder, descriptor);
    send_stamped(feeder, descriptor,
                 traced_verdicts(feeder->names[last].id, feeder->rows[last].live));
    send_sample(feeder, descriptor, true);
}

// A program that sits in C: counts are there before anybody can read names.
static void
serve_late_names(struct feeder *feeder, int descriptor)
{
    send_hello(feeder, descriptor);
    send_sample(feeder, descriptor, true);
    send_names(feeder, descriptor);
}

static void
serve_no_names(struct feeder *feeder, int descriptor)
{
    send_hello(feeder, descriptor);
    send_sample(feeder, descriptor, true);
}

static void
serve_nothing(struct feeder *feeder, int descriptor)
{
    (void)feeder;
    (void)descriptor;
}

static void
serve_close(struct feeder *feeder, int descriptor)
{
    (void)feeder;
    shutdown(descriptor, SHUT_RDWR);
}

static void
serve_garbage(struct feeder *feeder, int descriptor)
{
    static const char words[] = "HTTP/1.1 400 Bad Request\r\n\r\n\033[2J\033[31m";

    (void)feeder;
    send_raw(descriptor, words, sizeof(words));
}

static void
serve_late_garbage(struct feeder *feeder, int descriptor)
{
    serve_well(feeder, descriptor);
    serve_garbage(feeder, descriptor);
}

static void
serve_version(struct feeder *feeder, int descriptor)
{
    struct message message = hello(PROTOCOL_VERSION + 1);

    send_message(feeder, descriptor, &message);
}

// A header that promises 4 GiB, and its first bytes.
static void
serve_huge(struct feeder *feeder, int descriptor)
{
    unsigned char header[FRAME_HEADER_BYTES];

    send_hello(feeder, descriptor);
    frame_write(header, MESSAGE_SAMPLE, stamp_now(), NULL, 0);
    memset(header + 4, 0xff, 4);
    send_raw(descriptor, header, sizeof(header));
    send_raw(descriptor, header, sizeof(header));
}

// A key sample cut in its middle, and the end.
static void
serve_cut(struct feeder *feeder, int descriptor)
{
    send_hello(feeder, descriptor);
    send_names(feeder, descriptor);
    buffer_clear(&feeder->out);
    struct message message = {
        .kind = MESSAGE_SAMPLE,
        .at = stamp_now(),
        .sample = {.key = true, .rows = feeder->rows, .row_count = feeder->classes}
    };
    message_encode(&feeder->out, &message);
    send_raw(descriptor, feeder->out.bytes, feeder->out.length / 2);
    shutdown(descriptor, SHUT_RDWR);
}

static void
serve_damaged(struct feeder *feeder, int descriptor)
{
    struct message message = hello(PROTOCOL_VERSION);

    buffer_clear(&feeder->out);
    message_encode(&feeder->out, &message);
    feeder->out.bytes[feeder->out.length - 1] ^= 1;
    send_raw(descriptor, feeder->out.bytes, feeder->out.length);
}

static void
serve_without_hello(struct feeder *feeder, int descriptor)
{
    send_sample(feeder, descriptor, true);
}

static void
serve_as_viewer(struct feeder *feeder, int descriptor)
{
    struct message message = {
        .kind = MESSAGE_GREETING,
        .at = stamp_now(),
        .greeting = {PROTOCOL_VERSION, text_of("9.9.9")}
    };

    send_hello(feeder, descriptor);
    send_message(feeder, descriptor, &message);
}

static void
serve_refusal(struct feeder *feeder, int descriptor)
{
    struct message message = {
        .kind = MESSAGE_BYE,
        .at = stamp_now(),
        .bye = {BYE_REFUSED, COUNT_UNKNOWN, text_of("eight viewers \033[2J are enough")}
    };

    send_message(feeder, descriptor, &message);
}

#define PLAIN (CAPABILITY_COUNT | CAPABILITY_GC)
#define TRACES (PLAIN | CAPABILITY_TRACE)

static const struct {
    const char *name;
    void (*serve)(struct feeder *feeder, int descriptor);
    uint64_t capabilities;
    enum traced_kind traced;
} ways[] = {
    {"well",           serve_well,          PLAIN,               TRACED_EXACT   },
    {"late-names",     serve_late_names,    PLAIN,               TRACED_EXACT   },
    {"no-names",       serve_no_names,      PLAIN,               TRACED_EXACT   },
    {"nothing",        serve_nothing,       PLAIN,               TRACED_EXACT   },
    {"close",          serve_close,         PLAIN,               TRACED_EXACT   },
    {"garbage",        serve_garbage,       PLAIN,               TRACED_EXACT   },
    {"late-garbage",   serve_late_garbage,  PLAIN,               TRACED_EXACT   },
    {"version",        serve_version,       PLAIN,               TRACED_EXACT   },
    {"huge",           serve_huge,          PLAIN,               TRACED_EXACT   },
    {"cut",            serve_cut,           PLAIN,               TRACED_EXACT   },
    {"damaged",        serve_damaged,       PLAIN,               TRACED_EXACT   },
    {"no-hello",       serve_without_hello, PLAIN,               TRACED_EXACT   },
    {"as-viewer",      serve_as_viewer,     PLAIN,               TRACED_EXACT   },
    {"refuse",         serve_refusal,       PLAIN,               TRACED_EXACT   },
    {"traced",         serve_traced,        TRACES,              TRACED_EXACT   },
    {"traced-sampled", serve_traced,        TRACES,              TRACED_SAMPLED },
    {"traced-hostile", serve_traced,        TRACES,              TRACED_HOSTILE },
    {"readonly",       serve_traced,        CAPABILITY_READONLY, TRACED_READONLY},
};

/*
 * Viewers.
 */

static void
drop(struct viewer *viewer)
{
    if (viewer->descriptor >= 0) {
        close(viewer->descriptor);
        decoder_destroy(&viewer->decoder);
        viewer->descriptor = -1;
    }
}

// Why a request is refused; "" when it is not. A probe of before call trees knows none
// of theirs.
static const char *
why_not(const struct feeder *feeder, uint64_t action)
{
    bool of_trees = action >= REQUEST_OPEN;
    bool changes = action != REQUEST_OPEN && action != REQUEST_CLOSE;
    bool readonly = feeder->capabilities & CAPABILITY_READONLY;

    if (of_trees && !readonly && !(feeder->capabilities & CAPABILITY_TRACE)) {
        return "this probe does not know that request";
    }
    return readonly && changes ? "the probe was started read-only (MEMTOP_READONLY)" : "";
}

// A sample comes before the tree, as it must, and after it, as it will.
static void
open_tree(struct feeder *feeder, int descriptor, class_id id)
{
    uint64_t live = feeder->rows[id - 1].live;

    feeder->opened = id;
    feeder->before = live - TRACED_LIVE;
    feeder->since_us = stamp_now().wall_us;
    send_sample(feeder, descriptor, true);
    send_stamped(feeder, descriptor, traced_frames(feeder->traced));
    send_tree(feeder, descriptor);
}

static void
answer(struct feeder *feeder, int descriptor, const struct request *request)
{
    const char *why = why_not(feeder, request->action);
    struct message message = {
        .kind = MESSAGE_RESULT,
        .at = stamp_now(),
        .result = {request->id, *why ? RESULT_REFUSED : RESULT_DONE,
                   text_of(*why ? why : "done")}
    };

    printf("request %" PRIu64 "\n", request->action);
    fflush(stdout);
    send_message(feeder, descriptor, &message);
    if (request->action != REQUEST_OPEN) {
        return;
    }
    if (!*why && request->argument > 0 && request->argument <= feeder->classes) {
        open_tree(feeder, descriptor, (class_id)request->argument);
    }
    send_sample(feeder, descriptor, true);
}

static void
hear(struct feeder *feeder, struct viewer *viewer)
{
    char bytes[4096];
    struct message message;
    ssize_t length = recv(viewer->descriptor, bytes, sizeof(bytes), 0);

    if (length <= 0) {
        drop(viewer);
        return;
    }
    decoder_feed(&viewer->decoder, bytes, (size_t)length);
    while (decoder_next(&viewer->decoder, &message) == DECODE_MESSAGE) {
        if (message.kind == MESSAGE_REQUEST) {
            answer(feeder, viewer->descriptor, &message.request);
        }
    }
}

static void
welcome(struct feeder *feeder)
{
    int descriptor = accept(feeder->listener, NULL, NULL);

    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        struct viewer *viewer = &feeder->viewers[i];
        if (viewer->descriptor < 0) {
            *viewer = (struct viewer){.descriptor = descriptor};
            feeder->serve(feeder, descriptor);
            return;
        }
    }
    close(descriptor);
}

/*
 * Orders.
 */

static void
send_all(struct feeder *feeder, const struct message *message)
{
    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        if (feeder->viewers[i].descriptor >= 0) {
            send_message(feeder, feeder->viewers[i].descriptor, message);
        }
    }
}

static void
sample_all(struct feeder *feeder, bool key)
{
    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        if (feeder->viewers[i].descriptor >= 0) {
            send_sample(feeder, feeder->viewers[i].descriptor, key);
        }
    }
}

static void
trees_all(struct feeder *feeder)
{
    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        if (feeder->opened != 0 && feeder->viewers[i].descriptor >= 0) {
            send_tree(feeder, feeder->viewers[i].descriptor);
        }
    }
}

static void
order_later(struct feeder *feeder, const char *argument)
{
    (void)feeder;
    later_us += strtoull(argument, NULL, 10) * 1000000;
}

static void
order_step(struct feeder *feeder, const char *argument)
{
    (void)argument;
    feeder->steps++;
    for (size_t i = 0; i < feeder->classes; i++) {
        feeder->rows[i].live += i;
        feeder->rows[i].allocated += i;
    }
    sample_all(feeder, false);
    trees_all(feeder);
}

static void
order_key(struct feeder *feeder, const char *argument)
{
    (void)argument;
    sample_all(feeder, true);
}

static void
order_flood(struct feeder *feeder, const char *argument)
{
    for (long i = strtol(argument, NULL, 10); i > 0; i--) {
        sample_all(feeder, true);
    }
}

static void
order_notice(struct feeder *feeder, const char *argument)
{
    struct message message = {
        .kind = MESSAGE_NOTICE,
        .at = stamp_now(),
        .notice = {1, NOTICE_WARNING, text_of(argument)}
    };

    send_all(feeder, &message);
}

static void
order_close(struct feeder *feeder, const char *argument)
{
    (void)argument;
    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        drop(&feeder->viewers[i]);
    }
}

static void
order_bye(struct feeder *feeder, const char *argument)
{
    long status = strtol(argument, NULL, 10);
    struct message message = {
        .kind = MESSAGE_BYE,
        .at = stamp_now(),
        .bye = {BYE_EXIT, (uint64_t)status, text_of("")}
    };

    send_all(feeder, &message);
    exit((int)status);
}

static const struct {
    const char *name;
    void (*act)(struct feeder *feeder, const char *argument);
} orders[] = {
    {"step",   order_step  },
    {"key",    order_key   },
    {"flood",  order_flood },
    {"notice", order_notice},
    {"close",  order_close },
    {"bye",    order_bye   },
    {"later",  order_later },
};

static bool
obey(struct feeder *feeder)
{
    char line[256];

    if (!fgets(line, sizeof(line), stdin)) {
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    char *argument = line + strcspn(line, " ");
    if (*argument) {
        *argument++ = '\0';
    }
    for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
        if (strcmp(orders[i].name, line) == 0) {
            orders[i].act(feeder, argument);
            return true;
        }
    }
    fprintf(stderr, "feeder: no such order: %s\n", line);
    exit(2);
}

/*
 * Its life.
 */

static void
make_classes(struct feeder *feeder, size_t count)
{
    feeder->classes = count;
    feeder->names = calloc(count, sizeof(*feeder->names));
    feeder->spelled = calloc(count, sizeof(*feeder->spelled));
    feeder->rows = calloc(count, sizeof(*feeder->rows));
    if (!feeder->names || !feeder->spelled || !feeder->rows) {
        exit(1);
    }
    for (size_t i = 0; i < count; i++) {
        snprintf(feeder->spelled[i], NAME_BYTES, "Class%05zu", i);
        feeder->names[i] =
            (struct class_name){(class_id)i + 1, 0, text_of(feeder->spelled[i])};
        feeder->rows[i] =
            (struct class_row){(class_id)i + 1, i * 10, i * 10, 0, COUNT_UNKNOWN};
    }
    if (count > 0) {
        feeder->names[0] = (struct class_name){1, CLASS_INTERNAL, text_of("(iseq)")};
        feeder->rows[0].live = 7;
    }
}

// The classes with the most objects get the worst names.
static void
make_names_hostile(struct feeder *feeder)
{
    for (size_t i = 0; i < HOSTILE && i < feeder->classes; i++) {
        feeder->names[feeder->classes - 1 - i].name = text_of(hostile_names[i]);
    }
}

static void
misbehave(struct feeder *feeder, const char *how)
{
    feeder->serve = serve_well;
    feeder->capabilities = PLAIN;
    if (strcmp(how, "hostile-names") == 0) {
        make_names_hostile(feeder);
        return;
    }
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        if (strcmp(ways[i].name, how) == 0) {
            feeder->serve = ways[i].serve;
            feeder->capabilities = ways[i].capabilities;
            feeder->traced = ways[i].traced;
            return;
        }
    }
    fprintf(stderr, "feeder: no such misbehaviour: %s\n", how);
    exit(2);
}

static int
listen_at(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    unlink(path);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    if (listener < 0 ||
        bind(listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, VIEWERS_MAX) != 0) {
        fprintf(stderr, "feeder: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return listener;
}

static void
turn(struct feeder *feeder, bool *running)
{
    struct pollfd watched[VIEWERS_MAX + 2] = {
        {feeder->listener, POLLIN, 0},
        {STDIN_FILENO,     POLLIN, 0},
    };

    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        watched[i + 2] = (struct pollfd){feeder->viewers[i].descriptor, POLLIN, 0};
    }
    if (poll(watched, VIEWERS_MAX + 2, -1) < 0) {
        return;
    }
    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        if (watched[i + 2].revents) {
            hear(feeder, &feeder->viewers[i]);
        }
    }
    if (watched[0].revents) {
        welcome(feeder);
    }
    if (watched[1].revents) {
        *running = obey(feeder);
    }
}

int
main(int argc, char **argv)
{
    static struct feeder feeder;
    bool running = true;
    size_t classes = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;

    if (argc < 2 || classes > CLASSES_MAX) {
        fputs("usage: feeder SOCKET [CLASSES [MISBEHAVIOUR]]\n", stderr);
        return 2;
    }
    setvbuf(stdin, NULL, _IONBF, 0); // poll() must see every line
    for (size_t i = 0; i < VIEWERS_MAX; i++) {
        feeder.viewers[i].descriptor = -1;
    }
    make_classes(&feeder, classes);
    misbehave(&feeder, argc > 3 ? argv[3] : "well");
    feeder.listener = listen_at(argv[1]);
    puts("ready");
    fflush(stdout);
    while (running) {
        turn(&feeder, &running);
    }
    return 0;
}
