/*
 * What a long recording costs: its size, the time to open it and to get anywhere in it,
 * and the memory that takes.
 *
 *     recordings FILE [HOURS [CLASSES [CHANGING]]]
 *
 * writes FILE, unless it is there, and measures reading it in a process of its own.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "bench/story.h"
#include "tui/record/cursor.h"
#include "tui/record/writer.h"

#define SEED 20260101u
#define HISTORY_US 120000000u // what is played before the moment that is looked for
#define SEEKS 500u
#define OPENINGS 50u
#define MEGA 1e6

// Compressed in one go, as a file of raw frames would be: what the best could be.
struct stream {
    ZSTD_CCtx *context;
    struct buffer plain;
    uint64_t raw;
    uint64_t packed;
};

static double
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void
give_up(const char *words)
{
    (void)fprintf(stderr, "recordings: %s\n", words);
    exit(1);
}

static void
compress_on(struct stream *stream, ZSTD_EndDirective end)
{
    static unsigned char out[1u << 17];
    ZSTD_inBuffer input = {stream->plain.bytes, stream->plain.length, 0};
    size_t left = 0;
    do {
        ZSTD_outBuffer output = {out, sizeof out, 0};
        left = ZSTD_compressStream2(stream->context, &output, &input, end);
        stream->packed += output.pos;
    } while (input.pos < input.size || (end == ZSTD_e_end && left > 0));
    stream->raw += stream->plain.length;
    buffer_clear(&stream->plain);
}

static void
add(struct writer *writer, struct stream *stream, struct story *story,
    const struct message *message)
{
    struct state state = story_state(story);
    if (!writer_add(writer, message, &state)) {
        give_up(writer_error(writer));
    }
    if (!message_encode(&stream->plain, message)) {
        give_up("out of memory");
    }
    compress_on(stream, ZSTD_e_continue);
}

static void
write_file(const char *path, uint64_t seconds, size_t classes, size_t changing)
{
    static const struct writer_options options = {WRITER_NEW, 0, 0};
    char why[400];
    struct story story;
    struct stream stream = {.context = ZSTD_createCCtx()};
    struct writer *writer = writer_open(path, &options, why, sizeof why);
    if (writer == NULL) {
        give_up(why);
    }
    ZSTD_CCtx_setParameter(stream.context, ZSTD_c_compressionLevel, 3);
    story_begin(&story, classes, changing, SEED);
    struct message hello = story_hello(&story);
    struct message names = story_names(&story);
    add(writer, &stream, &story, &hello);
    add(writer, &stream, &story, &names);
    double begin = now();
    uint64_t rows = 0;
    for (uint64_t i = 0; i < seconds; i++) {
        struct message sample = story_step(&story);
        add(writer, &stream, &story, &sample);
        story_learn(&story);
        rows += sample.sample.row_count;
    }
    double took = now() - begin;
    compress_on(&stream, ZSTD_e_end);
    uint64_t size = writer_size(writer);
    if (!writer_close(writer, why, sizeof why)) {
        give_up(why);
    }
    printf("%-28s %10.1f h, %zu classes, %.0f changing a second\n", "recording",
           (double)seconds / 3600, classes, (double)rows / (double)seconds);
    printf("%-28s %10.1f MB\n", "raw frames", (double)stream.raw / MEGA);
    printf("%-28s %10.1f MB\n", "raw frames, zstd -3 in one",
           (double)stream.packed / MEGA);
    printf("%-28s %10.1f MB, %.2f MB an hour\n", "recording, with key groups",
           (double)size / MEGA, (double)size / MEGA / ((double)seconds / 3600));
    printf("%-28s %10.3f ms (story and comparison included)\n", "writing a second",
           took * 1000 / (double)seconds);
    ZSTD_freeCCtx(stream.context);
    buffer_destroy(&stream.plain);
    story_end(&story);
}

static int
compare(const void *one, const void *other)
{
    double first = *(const double *)one;
    double second = *(const double *)other;
    return (first > second) - (first < second);
}

static void
print_times(const char *what, double *times, size_t count, double aim_ms)
{
    qsort(times, count, sizeof *times, compare);
    printf("%-28s %10.2f ms median, %.2f ms at most (aim: %.0f)\n", what,
           times[count / 2] * 1000, times[count - 1] * 1000, aim_ms);
}

// The system forgets what it knows of the file, as after a night.
static void
forget(const char *path)
{
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        (void)fdatasync(descriptor);
        (void)posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED);
        close(descriptor);
    }
}

static void
measure_opening(const char *path, const char *what, bool cold)
{
    double times[OPENINGS];
    uint64_t bytes = 0;
    for (size_t i = 0; i < OPENINGS; i++) {
        char why[400];
        if (cold) {
            forget(path);
        }
        double begin = now();
        struct tape *tape = tape_open(path, why, sizeof why);
        times[i] = now() - begin;
        if (tape == NULL) {
            give_up(why);
        }
        bytes = tape_bytes_read(tape);
        tape_free(tape);
    }
    print_times(what, times, OPENINGS, 100);
    printf("%-28s %10.1f kB\n", "  bytes read for it", (double)bytes / 1000);
}

static void
seek(struct tape *tape, uint64_t wall_us)
{
    struct cursor cursor;
    struct message message;
    (void)cursor_seek(&cursor, tape, wall_us - HISTORY_US);
    while (cursor_next(&cursor, tape, &message) == TAPE_FRAME &&
           message.at.wall_us <= wall_us) {
    }
}

static void
measure_seeking(const char *path)
{
    double times[SEEKS];
    char why[400];
    struct stamp first;
    struct stamp last;
    struct tape *tape = tape_open(path, why, sizeof why);
    if (tape == NULL || !tape_span(tape, &first, &last)) {
        give_up(why);
        return;
    }
    uint64_t random = SEED;
    for (size_t i = 0; i < SEEKS; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t wall = first.wall_us + (random >> 16) % (last.wall_us - first.wall_us);
        double begin = now();
        seek(tape, wall);
        times[i] = now() - begin;
    }
    print_times("seeking anywhere", times, SEEKS, 50);
    printf("%-28s %10zu\n", "key groups", tape_key_count(tape));
    tape_free(tape);
}

static int
read_file(const char *path)
{
    struct rusage usage;
    measure_opening(path, "opening", false);
    measure_opening(path, "opening, nothing cached", true);
    measure_seeking(path);
    getrusage(RUSAGE_SELF, &usage);
    printf("%-28s %10.1f MB at most, all told (aim: 100)\n", "memory of reading",
           (double)usage.ru_maxrss * 1024 / MEGA);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--read") == 0) {
        return read_file(argv[2]);
    }
    if (argc < 2) {
        give_up("FILE [HOURS [CLASSES [CHANGING]]]");
    }
    double hours = argc > 2 ? strtod(argv[2], NULL) : 24;
    size_t classes = argc > 3 ? strtoul(argv[3], NULL, 10) : 2000;
    size_t changing = argc > 4 ? strtoul(argv[4], NULL, 10) : 200;
    if (access(argv[1], F_OK) != 0) {
        write_file(argv[1], (uint64_t)(hours * 3600), classes, changing);
        (void)fflush(stdout);
    }
    // Anew, so that the memory is that of reading alone.
    execl("/proc/self/exe", argv[0], "--read", argv[1], (char *)NULL);
    give_up("cannot run itself");
    return 1;
}
