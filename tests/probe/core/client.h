/*
 * A viewer for tests: connects, greets, and takes messages one by one. It waits
 * for what must come, and fails the test when that does not within
 * CLIENT_PATIENCE_MS; it never waits to see whether something comes.
 */
#ifndef TESTS_PROBE_CORE_CLIENT_H
#define TESTS_PROBE_CORE_CLIENT_H

#include "protocol/decoder.h"

#define CLIENT_PATIENCE_MS 20000

struct client {
    int fd;
    struct decoder decoder;
    struct message message; // the last one, borrowed until the next
};

// Connect and greet.
struct client client_connect(const char *path);
void client_close(struct client *client);

void client_ask(struct client *client, uint64_t id, enum request_action action,
                uint64_t argument);

// The next message, whatever it is.
void client_next(struct client *client);

// Pass over messages until one of this kind.
const struct message *client_wait(struct client *client, enum message_kind kind);

// Pass over messages until the result of request `id`.
const struct result *client_result(struct client *client, uint64_t id);

// Everything until the other side closes; the last BYE's reason, or -1.
int client_drain(struct client *client);

bool client_text_has(struct text text, const char *words);

#endif
