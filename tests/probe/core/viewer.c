/*
 * A viewer's connection over a real pair of sockets; the test is at the other
 * end. malloc and its like pass through here (--wrap), so that memory can run
 * out.
 */
#include "probe/core/viewer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define AT ((struct stamp){5, 6})
#define MIB ((size_t)1024 * 1024)

static bool no_memory;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *
__wrap_malloc(size_t size)
{
    return no_memory ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    return no_memory ? NULL : __real_calloc(count, size);
}

void *
__wrap_realloc(void *memory, size_t size)
{
    return no_memory ? NULL : __real_realloc(memory, size);
}

struct scene {
    struct viewer *viewer;
    int peer;               // the other end, -1 once closed
    struct decoder decoder; // what the peer understands
};

static struct scene scene;

static int
start(void **state)
{
    int ends[2];
    (void)state;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) {
        return -1;
    }
    scene = (struct scene){.viewer = viewer_new(ends[0]), .peer = ends[1]};
    return scene.viewer ? 0 : -1;
}

static int
end(void **state)
{
    (void)state;
    viewer_free(scene.viewer);
    viewer_free(NULL);
    if (scene.peer >= 0) {
        close(scene.peer);
    }
    decoder_destroy(&scene.decoder);
    return 0;
}

static void
peer_leaves(void)
{
    close(scene.peer);
    scene.peer = -1;
}

static void
peer_sends(const void *bytes, size_t length)
{
    assert_int_equal(send(scene.peer, bytes, length, 0), length);
}

static void
peer_says(const struct message *message)
{
    struct buffer frame = {0};
    assert_true(message_encode(&frame, message));
    peer_sends(frame.bytes, frame.length);
    buffer_destroy(&frame);
}

static void
peer_greets(uint64_t version)
{
    const struct message greeting = {
        .kind = MESSAGE_GREETING, .greeting = {version, text_of("test")}
    };
    peer_says(&greeting);
}

static struct message
request_of(uint64_t id)
{
    return (struct message){
        .kind = MESSAGE_REQUEST, .request = {id, REQUEST_GC, id * 3}
    };
}

// What the socket holds, as messages; the last of them, its texts included,
// stays valid until the next call. Returns how many there were.
static size_t
peer_reads(struct message *last)
{
    static char bytes[65536];
    size_t count = 0;
    ssize_t length;
    while ((length = recv(scene.peer, bytes, sizeof(bytes), 0)) > 0) {
        struct message message;
        decoder_feed(&scene.decoder, bytes, (size_t)length);
        while (decoder_next(&scene.decoder, &message) == DECODE_MESSAGE) {
            count++;
            if (message.kind == MESSAGE_BYE || message.kind == MESSAGE_RESULT) {
                *last = message;
            }
        }
        assert_string_equal(decoder_error(&scene.decoder), "");
    }
    return count;
}

static bool
next_request(struct request *request)
{
    viewer_read(scene.viewer);
    return viewer_next(scene.viewer, AT, request);
}

// Told why in one BYE that has these words, and closed once that is sent.
static void
expect_refusal(const char *words)
{
    struct request request;
    struct message last = {0};
    assert_false(next_request(&request));
    assert_true(scene.viewer->closing);
    assert_true(scene.viewer->broken);
    assert_int_equal(peer_reads(&last), 1);
    assert_int_equal(last.kind, MESSAGE_BYE);
    assert_int_equal(last.bye.reason, BYE_REFUSED);
    assert_true(last.bye.text.length > 0);
    assert_non_null(
        memmem(last.bye.text.bytes, last.bye.text.length, words, strlen(words)));
    assert_false(next_request(&request));
}

/* What comes in. */

static void
requests_arrive_however_they_are_split(void **state)
{
    struct buffer frames = {0};
    (void)state;
    peer_greets(PROTOCOL_VERSION);
    for (uint64_t id = 1; id <= 3; id++) {
        struct message message = request_of(id);
        assert_true(message_encode(&frames, &message));
    }
    for (size_t split = 0; split <= frames.length; split++) {
        struct request request;
        uint64_t expected = 1;
        peer_sends(frames.bytes, split);
        while (next_request(&request)) {
            assert_int_equal(request.id, expected++);
        }
        if (split < frames.length) {
            peer_sends(frames.bytes + split, frames.length - split);
        }
        while (next_request(&request)) {
            assert_int_equal(request.id, expected);
            assert_int_equal(request.argument, expected * 3);
            expected++;
        }
        assert_int_equal(expected, 4);
        assert_false(scene.viewer->broken);
    }
    buffer_destroy(&frames);
}

static void
requests_arrive_byte_by_byte(void **state)
{
    struct buffer frames = {0};
    struct request request = {0};
    (void)state;
    struct message message = request_of(9);
    peer_greets(PROTOCOL_VERSION);
    assert_true(message_encode(&frames, &message));
    for (size_t i = 0; i < frames.length; i++) {
        peer_sends(frames.bytes + i, 1);
        assert_true(next_request(&request) == (i + 1 == frames.length));
    }
    assert_int_equal(request.id, 9);
    buffer_destroy(&frames);
}

static void
garbage_is_answered_in_words_and_closed(void **state)
{
    (void)state;
    static const char garbage[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    peer_sends(garbage, sizeof(garbage) - 1);
    expect_refusal("not memtop");
}

static void
a_damaged_request_is_answered_in_words_and_closed(void **state)
{
    struct buffer frames = {0};
    (void)state;
    peer_greets(PROTOCOL_VERSION);
    struct message message = request_of(1);
    assert_true(message_encode(&frames, &message));
    frames.bytes[frames.length - 1] ^= 1;
    peer_sends(frames.bytes, frames.length);
    buffer_destroy(&frames);
    expect_refusal("CRC");
}

static void
another_version_is_answered_with_both(void **state)
{
    (void)state;
    peer_greets(PROTOCOL_VERSION + 1);
    peer_says(&(struct message){
        .kind = MESSAGE_REQUEST, .request = {1, REQUEST_GC, 0}
    });
    expect_refusal("the viewer 2");
}

static void
a_request_before_the_greeting_is_passed_over(void **state)
{
    struct request request;
    (void)state;
    struct message message = request_of(1);
    peer_says(&message);
    assert_false(next_request(&request));
    peer_greets(PROTOCOL_VERSION);
    message = request_of(2);
    peer_says(&message);
    assert_true(next_request(&request));
    assert_int_equal(request.id, 2);
}

static void
what_only_a_probe_says_is_refused(void **state)
{
    (void)state;
    peer_greets(PROTOCOL_VERSION);
    peer_says(&(struct message){.kind = MESSAGE_SAMPLE});
    expect_refusal("request");
}

static void
a_frame_that_is_too_long_for_a_request_is_refused_before_it_is_kept(void **state)
{
    static const unsigned char header[FRAME_HEADER_BYTES] = {'M',  'T', 'O', 'P', 0,
                                                             0xff, 0,   0,   65};
    static char body[16384];
    struct request request;
    (void)state;
    peer_greets(PROTOCOL_VERSION);
    peer_sends(header, sizeof(header));
    for (size_t sent = 0; sent < MIB && !scene.viewer->closing; sent += sizeof(body)) {
        peer_sends(body, sizeof(body));
        assert_false(next_request(&request));
    }
    assert_true(scene.viewer->closing);
    assert_true(scene.viewer->in.input.capacity < MIB);
}

static void
one_that_dies_is_broken_even_in_mid_frame(void **state)
{
    struct buffer frames = {0};
    struct request request;
    (void)state;
    struct message message = request_of(1);
    peer_greets(PROTOCOL_VERSION);
    assert_true(message_encode(&frames, &message));
    peer_sends(frames.bytes, frames.length / 2);
    buffer_destroy(&frames);
    assert_false(next_request(&request));
    assert_false(scene.viewer->broken);
    peer_leaves();
    assert_false(next_request(&request));
    assert_true(scene.viewer->broken);
}

static void
one_turn_reads_a_bounded_amount(void **state)
{
    struct buffer frames = {0};
    struct request request;
    size_t requests = 0;
    (void)state;
    peer_greets(PROTOCOL_VERSION);
    while (frames.length < 2 * VIEWER_READ_MAX) {
        struct message message = request_of(1);
        assert_true(message_encode(&frames, &message));
    }
    int size = 1 << 20;
    setsockopt(scene.peer, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    ssize_t sent = send(scene.peer, frames.bytes, frames.length, 0);
    assert_true(sent > (ssize_t)VIEWER_READ_MAX + 8192);
    viewer_read(scene.viewer);
    assert_true(scene.viewer->in.input.length <= VIEWER_READ_MAX);
    while (viewer_next(scene.viewer, AT, &request)) {
        requests++;
    }
    assert_true(requests > 0);
    assert_true(next_request(&request)); // the rest is there in the next turn
    buffer_destroy(&frames);
}

/* What goes out. */

// A frame of about `length` bytes that says so.
static void
make_frame(struct buffer *frame, size_t length)
{
    size_t rows = length / 10;
    struct class_row *list = calloc(rows, sizeof(*list));
    assert_non_null(list);
    for (size_t i = 0; i < rows; i++) {
        list[i] = (struct class_row){(class_id)i + 1, 100000, 100000, 0, 0};
    }
    const struct message message = {
        .kind = MESSAGE_SAMPLE, .sample = {.rows = list, .row_count = rows}
    };
    assert_true(message_encode(frame, &message));
    free(list);
}

static void
a_slow_reader_loses_whole_frames_and_stays_in_step(void **state)
{
    struct buffer frame = {0};
    struct message last;
    size_t kept = 0;
    size_t dropped = 0;
    (void)state;
    make_frame(&frame, MIB / 2);
    for (size_t i = 0; i < 40; i++) {
        bool appended = viewer_append(scene.viewer, &frame);
        assert_true(!appended || dropped == 0); // nothing is read meanwhile
        kept += appended;
        dropped += !appended;
        assert_true(scene.viewer->out.length <= VIEWER_BACKLOG_MAX);
    }
    assert_true(kept > 0 && dropped > 0);
    assert_false(scene.viewer->broken);
    size_t arrived = 0;
    while (scene.viewer->out.length > 0) {
        arrived += peer_reads(&last);
        viewer_flush(scene.viewer);
    }
    arrived += peer_reads(&last);
    assert_int_equal(arrived, kept);
    assert_true(viewer_append(scene.viewer, &frame)); // room again
    buffer_destroy(&frame);
}

static void
what_is_larger_than_the_backlog_goes_to_one_that_has_nothing_waiting(void **state)
{
    struct buffer frame = {0};
    struct message last;
    (void)state;
    make_frame(&frame, VIEWER_BACKLOG_MAX);
    make_frame(&frame, VIEWER_BACKLOG_MAX);
    assert_true(frame.length > VIEWER_BACKLOG_MAX);
    assert_true(viewer_append(scene.viewer, &frame));
    assert_false(viewer_append(scene.viewer, &frame));
    size_t arrived = 0;
    while (scene.viewer->out.length > 0) {
        arrived += peer_reads(&last);
        viewer_flush(scene.viewer);
    }
    assert_int_equal(arrived + peer_reads(&last), 2);
    buffer_destroy(&frame);
}

static void
an_idle_viewer_keeps_no_memory(void **state)
{
    struct buffer frame = {0};
    (void)state;
    make_frame(&frame, 1000);
    assert_true(viewer_append(scene.viewer, &frame));
    assert_null(scene.viewer->out.bytes);
    buffer_destroy(&frame);
}

static void
sending_to_one_that_died_breaks_it_and_raises_no_signal(void **state)
{
    struct buffer frame = {0};
    (void)state;
    make_frame(&frame, 1000);
    peer_leaves();
    assert_true(viewer_append(scene.viewer, &frame));
    assert_true(scene.viewer->broken);
    buffer_destroy(&frame);
}

static void
fill_the_socket(void)
{
    static char bytes[65536];
    while (send(scene.viewer->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
}

// Going on without the frame would show the state of another moment as this one.
static void
one_whose_frame_found_no_memory_is_broken_for_good(void **state)
{
    struct buffer first = {0};
    struct buffer second = {0};
    (void)state;
    make_frame(&first, 1000);
    make_frame(&second, 100000);
    fill_the_socket();
    assert_true(viewer_append(scene.viewer, &first));
    assert_false(scene.viewer->broken);
    no_memory = true;
    viewer_append(scene.viewer, &second);
    no_memory = false;
    assert_true(scene.viewer->broken);
    viewer_flush(scene.viewer);
    assert_true(scene.viewer->broken);
    buffer_destroy(&first);
    buffer_destroy(&second);
}

static void
a_message_that_finds_no_memory_breaks_it(void **state)
{
    (void)state;
    const struct message message = {.kind = MESSAGE_NOTICE};
    no_memory = true;
    viewer_say(scene.viewer, &message);
    no_memory = false;
    assert_true(scene.viewer->broken);
}

static void
without_memory_there_is_no_viewer(void **state)
{
    (void)state;
    no_memory = true;
    assert_null(viewer_new(scene.peer));
    no_memory = false;
    assert_true(fcntl(scene.peer, F_GETFD) >= 0); // it is left to the caller
}

// It was told to go, does not read that, and goes on sending.
static void
what_one_sends_that_is_being_closed_is_thrown_away(void **state)
{
    static char bytes[16384];
    struct request request;
    (void)state;
    fill_the_socket();
    peer_greets(PROTOCOL_VERSION + 1);
    assert_false(next_request(&request));
    assert_true(scene.viewer->closing);
    assert_false(scene.viewer->broken);
    for (size_t i = 0; i < 1000; i++) {
        peer_sends(bytes, sizeof(bytes));
        assert_false(next_request(&request));
    }
    assert_true(scene.viewer->in.input.capacity < MIB);
}

struct taker {
    struct buffer taken;
    bool refuses;
};

static bool
take(void *context, const struct buffer *frames)
{
    struct taker *taker = context;
    return !taker->refuses && buffer_append(&taker->taken, frames->bytes, frames->length);
}

static void
an_onlooker_is_given_everything_at_once(void **state)
{
    struct taker taker = {.refuses = false};
    struct buffer frames = {0};
    (void)state;
    struct viewer *viewer = viewer_new_onlooker(take, &taker);
    assert_non_null(viewer);
    assert_false(viewer->wants_seed);
    unsigned char *place = buffer_reserve(&frames, 3 * MIB);
    assert_non_null(place);
    memset(place, 7, 3 * MIB);
    frames.length = 3 * MIB;
    for (size_t i = 1; i < 4; i++) { // far beyond what others may have waiting
        assert_true(viewer_append(viewer, &frames));
        assert_int_equal(viewer->out.length, 0);
        assert_int_equal(taker.taken.length, i * 3 * MIB);
    }
    viewer->notices_edits = 4;
    viewer->open[viewer->open_count++] = (struct viewer_open){.id = 5, .seeded = true};
    viewer_begin_anew(viewer);
    assert_true(viewer->wants_seed && !viewer->open[0].seeded);
    assert_int_equal(viewer->notices_edits, 0);
    assert_false(viewer->broken);
    taker.refuses = true;
    viewer_append(viewer, &frames);
    assert_true(viewer->broken);
    buffer_destroy(&frames);
    buffer_destroy(&taker.taken);
    viewer_free(viewer);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests_arrive_however_they_are_split, start,
                                        end),
        cmocka_unit_test_setup_teardown(requests_arrive_byte_by_byte, start, end),
        cmocka_unit_test_setup_teardown(garbage_is_answered_in_words_and_closed, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_damaged_request_is_answered_in_words_and_closed,
                                        start, end),
        cmocka_unit_test_setup_teardown(another_version_is_answered_with_both, start,
                                        end),
        cmocka_unit_test_setup_teardown(a_request_before_the_greeting_is_passed_over,
                                        start, end),
        cmocka_unit_test_setup_teardown(what_only_a_probe_says_is_refused, start, end),
        cmocka_unit_test_setup_teardown(
            a_frame_that_is_too_long_for_a_request_is_refused_before_it_is_kept, start,
            end),
        cmocka_unit_test_setup_teardown(one_that_dies_is_broken_even_in_mid_frame, start,
                                        end),
        cmocka_unit_test_setup_teardown(one_turn_reads_a_bounded_amount, start, end),
        cmocka_unit_test_setup_teardown(
            a_slow_reader_loses_whole_frames_and_stays_in_step, start, end),
        cmocka_unit_test_setup_teardown(
            what_is_larger_than_the_backlog_goes_to_one_that_has_nothing_waiting, start,
            end),
        cmocka_unit_test_setup_teardown(an_idle_viewer_keeps_no_memory, start, end),
        cmocka_unit_test_setup_teardown(
            sending_to_one_that_died_breaks_it_and_raises_no_signal, start, end),
        cmocka_unit_test_setup_teardown(
            one_whose_frame_found_no_memory_is_broken_for_good, start, end),
        cmocka_unit_test_setup_teardown(a_message_that_finds_no_memory_breaks_it, start,
                                        end),
        cmocka_unit_test_setup_teardown(without_memory_there_is_no_viewer, start, end),
        cmocka_unit_test_setup_teardown(
            what_one_sends_that_is_being_closed_is_thrown_away, start, end),
        cmocka_unit_test(an_onlooker_is_given_everything_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
