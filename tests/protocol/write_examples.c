/*
 * Writes every example of examples.c as one stream to standard output, in the
 * order in which a probe would, with a frame of an unknown kind between them:
 * what a client in another language is tested against. With --viewer, what a
 * viewer would send. With --seeds FOLDER, a file for each: what fuzz_decoder.c
 * begins from.
 */
#include <stdio.h>
#include <string.h>

#include "tests/protocol/examples.h"

// As fuzz_decoder.c reads it: in one piece, of this kind, with this body.
static bool
write_seed(const char *folder, const struct example *example)
{
    char path[4096];
    struct buffer frame = {0};
    const unsigned char head[] = {0, (unsigned char)example->message.kind};
    snprintf(path, sizeof path, "%s/%s", folder, example->name);
    example_encode(&frame, &example->message);
    FILE *file = fopen(path, "wb");
    bool written =
        file != NULL && fwrite(head, 1, sizeof head, file) == sizeof head &&
        fwrite(frame.bytes + FRAME_HEADER_BYTES, 1, frame.length - FRAME_HEADER_BYTES,
               file) == frame.length - FRAME_HEADER_BYTES;
    written = file != NULL && fclose(file) == 0 && written;
    buffer_destroy(&frame);
    return written;
}

static int
write_seeds(const char *folder)
{
    bool written = true;
    for (size_t i = 0; i < EXAMPLES; i++) {
        written = write_seed(folder, &examples[i]) && written;
    }
    return written ? 0 : 1;
}

int
main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--seeds") == 0) {
        return write_seeds(argv[2]);
    }
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
