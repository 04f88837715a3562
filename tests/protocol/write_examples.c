/*
 * Writes every example of examples.c as one stream to standard output, in the
 * order in which a probe would, with a frame of an unknown kind between them:
 * what a client in another language is tested against. With --viewer, what a
 * viewer would send.
 */
#include <stdio.h>
#include <string.h>

#include "tests/protocol/examples.h"

int
main(int argc, char **argv)
{
    bool viewer = argc > 1 && strcmp(argv[1], "--viewer") == 0;
    struct buffer out = {0};
    for (size_t i = 0; i < EXAMPLES; i++) {
        if ((examples[i].message.kind >= MESSAGE_GREETING) == viewer) {
            example_encode(&out, &examples[i].message);
        }
        if (i == 0) {
            example_frame(&out, 200, "from the future", 15);
        }
    }
    bool written = fwrite(out.bytes, 1, out.length, stdout) == out.length;
    buffer_destroy(&out);
    return written && fflush(stdout) == 0 ? 0 : 1;
}
