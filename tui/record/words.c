#include "tui/record/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define PIECE_MAX 512

void
words_add(struct buffer *out, const char *format, ...)
{
    char piece[PIECE_MAX];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length > 0) {
        size_t most = sizeof piece - 1;
        (void)buffer_append(out, piece, (size_t)length < most ? (size_t)length : most);
    }
}

void
words_add_time(struct buffer *out, uint64_t wall_us)
{
    char words[64];
    struct tm when;
    time_t seconds = (time_t)(wall_us / 1000000);
    // A file may claim any year.
    if (localtime_r(&seconds, &when) == NULL ||
        strftime(words, sizeof words, "%Y-%m-%d %H:%M:%S", &when) == 0) {
        words_add(out, "an unknown time");
        return;
    }
    words_add(out, "%s", words);
}

void
words_add_span(struct buffer *out, uint64_t us)
{
    uint64_t seconds = us / 1000000;
    if (seconds >= 3600) {
        words_add(out, "%" PRIu64 " h %02" PRIu64 " min %02" PRIu64 " s", seconds / 3600,
                  seconds / 60 % 60, seconds % 60);
    } else if (seconds >= 60) {
        words_add(out, "%" PRIu64 " min %02" PRIu64 " s", seconds / 60, seconds % 60);
    } else {
        words_add(out, "%" PRIu64 ".%" PRIu64 " s", seconds, us / 100000 % 10);
    }
}
