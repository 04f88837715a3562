#include "tests/probe/core/client.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static void
say(struct client *client, const struct message *message)
{
    struct buffer frame = {0};
    assert_true(message_encode(&frame, message));
    const ssize_t sent = send(client->fd, frame.bytes, frame.length, MSG_NOSIGNAL);
    // who left is noticed by reading, after its last words
    if (sent >= 0 || errno != EPIPE) {
        assert_int_equal(sent, frame.length);
    }
    buffer_destroy(&frame);
}

struct client
client_connect(const char *path)
{
    struct client client = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    assert_int_equal(connect(client.fd, (struct sockaddr *)&address, sizeof(address)), 0);
    const struct message greeting = {
        .kind = MESSAGE_GREETING, .greeting = {PROTOCOL_VERSION, text_of("test")}
    };
    say(&client, &greeting);
    return client;
}

void
client_close(struct client *client)
{
    close(client->fd);
    decoder_destroy(&client->decoder);
}

void
client_ask(struct client *client, uint64_t id, enum request_action action,
           uint64_t argument)
{
    const struct message message = {
        .kind = MESSAGE_REQUEST, .request = {id, action, argument}
    };
    say(client, &message);
}

// False when the other side closed.
static bool
feed(struct client *client)
{
    static _Thread_local unsigned char bytes[65536];
    struct pollfd ready = {client->fd, POLLIN, 0};
    if (poll(&ready, 1, CLIENT_PATIENCE_MS) != 1) {
        fail_msg("nothing came for %d ms", CLIENT_PATIENCE_MS);
    }
    ssize_t length = recv(client->fd, bytes, sizeof(bytes), 0);
    if (length <= 0) {
        return false;
    }
    decoder_feed(&client->decoder, bytes, (size_t)length);
    return true;
}

// False when the other side closed.
static bool
next(struct client *client)
{
    for (;;) {
        switch (decoder_next(&client->decoder, &client->message)) {
        case DECODE_MESSAGE:
            return true;
        case DECODE_FAILED:
            fail_msg("%s", decoder_error(&client->decoder));
            return false;
        case DECODE_NEED_MORE:
            if (!feed(client)) {
                return false;
            }
        }
    }
}

void
client_next(struct client *client)
{
    assert_true(next(client));
}

const struct message *
client_wait(struct client *client, enum message_kind kind)
{
    do {
        client_next(client);
    } while (client->message.kind != kind);
    return &client->message;
}

const struct result *
client_result(struct client *client, uint64_t id)
{
    while (client_wait(client, MESSAGE_RESULT)->result.id != id) {
    }
    return &client->message.result;
}

int
client_drain(struct client *client)
{
    int reason = -1;
    while (next(client)) {
        if (client->message.kind == MESSAGE_BYE) {
            reason = (int)client->message.bye.reason;
        }
    }
    return reason;
}

bool
client_text_has(struct text text, const char *words)
{
    return memmem(text.bytes, text.length, words, strlen(words)) != NULL;
}
