#include "tui/view/clock.h"

#include <stdio.h>

struct tm
clock_local(uint64_t wall_us)
{
    time_t wall = (time_t)((wall_us < CLOCK_MAX_US ? wall_us : CLOCK_MAX_US) / 1000000);
    struct tm local = {.tm_mday = 1};
    localtime_r(&wall, &local);
    return local;
}

static void
write(char out[CLOCK_BYTES], const char *format, uint64_t wall_us)
{
    struct tm local = clock_local(wall_us);
    if (strftime(out, CLOCK_BYTES, format, &local) == 0) {
        out[0] = '\0';
    }
}

void
clock_minute(char out[CLOCK_BYTES], uint64_t wall_us)
{
    write(out, "%H:%M", wall_us);
}

void
clock_second(char out[CLOCK_BYTES], uint64_t wall_us)
{
    write(out, "%H:%M:%S", wall_us);
}

void
clock_day(char out[CLOCK_BYTES], uint64_t wall_us)
{
    write(out, "%m-%d %H:%M", wall_us);
}

void
clock_full(char out[CLOCK_BYTES], uint64_t wall_us)
{
    write(out, "%Y-%m-%d %H:%M:%S", wall_us);
}

void
clock_beside(char out[CLOCK_BYTES], uint64_t wall_us, uint64_t beside_us)
{
    struct tm local = clock_local(wall_us);
    struct tm beside = clock_local(beside_us);
    if (local.tm_year == beside.tm_year && local.tm_yday == beside.tm_yday) {
        clock_second(out, wall_us);
    } else {
        clock_full(out, wall_us);
    }
}

void
clock_offset(char out[CLOCK_BYTES], uint64_t wall_us, uint64_t from_us)
{
    char sign = wall_us > from_us ? '+' : '-';
    uint64_t us = wall_us > from_us ? wall_us - from_us : from_us - wall_us;
    unsigned long long seconds = us / 1000000;
    unsigned long long hours = seconds / 3600 % 24;
    unsigned minute = (unsigned)(seconds / 60 % 60);
    unsigned second = (unsigned)(seconds % 60);
    if (seconds >= 86400) {
        snprintf(out, CLOCK_BYTES, "%c%llud %02llu:%02u:%02u", sign, seconds / 86400,
                 hours, minute, second);
    } else if (hours > 0) {
        snprintf(out, CLOCK_BYTES, "%c%llu:%02u:%02u", sign, hours, minute, second);
    } else {
        snprintf(out, CLOCK_BYTES, "%c%02u:%02u", sign, minute, second);
    }
}
