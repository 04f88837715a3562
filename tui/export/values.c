#include "tui/export/values.h"

#include <errno.h>
#include <math.h>

#include "tui/export/words.h"

json_t *
value_count(uint64_t value)
{
    return value > INT64_MAX ? json_null() : json_integer((json_int_t)value);
}

json_t *
value_whole(double value)
{
    return value < (double)INT64_MAX ? json_integer((json_int_t)llround(value))
                                     : json_null();
}

json_t *
value_time(uint64_t wall_us)
{
    char text[WORDS_TIME_BYTES];

    words_time(text, wall_us);
    return *text ? json_string(text) : json_null();
}

json_t *
value_class(const struct model_class *class)
{
    char spare[32];
    const char *verdict = verdict_name(class->verdict);

    return json_pack(
        "{ss so so so so ss? ss? sb sb}", "name",
        words_class(class, spare, sizeof(spare)), "live", value_count(class->now.live),
        "allocated", value_count(class->now.allocated), "freed",
        value_count(class->now.freed), "bytes", value_count(class->now.bytes), "verdict",
        verdict, "reason", verdict ? class->reason : NULL, "internal",
        (class->flags & CLASS_INTERNAL) != 0, "anonymous",
        (class->flags & CLASS_ANONYMOUS) != 0);
}

bool
value_write(json_t *value, size_t flags, FILE *out)
{
    if (!value) {
        errno = ENOMEM;
        return false;
    }
    int status = json_dumpf(value, out, flags);
    json_decref(value);
    if (status != 0 && !ferror(out)) {
        errno = ENOMEM;
    }
    return status == 0 && fputc('\n', out) != EOF;
}
