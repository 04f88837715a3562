#include "tui/text/amount.h"

#include <stddef.h>
#include <string.h>

// So many digits before and after the point: with them, no product below passes 64 bits.
#define WHOLE_DIGITS_MAX 15
#define PART_DIGITS_MAX 6

// "12.5": 12 and 5 / 10.
struct number {
    uint64_t whole;
    uint64_t part;
    uint64_t scale;
};

struct unit {
    const char *name;
    uint64_t size;
};

static bool
is_digit(char character)
{
    return character >= '0' && character <= '9';
}

// Returns where the number ends, NULL when there is none. A digit too many is left
// there: it is no unit, and so refused.
static const char *
read_number(const char *text, struct number *number)
{
    const char *at = text;
    *number = (struct number){0, 0, 1};
    while (is_digit(*at) && at - text < WHOLE_DIGITS_MAX) {
        number->whole = number->whole * 10 + (uint64_t)(*at++ - '0');
    }
    if (at == text) {
        return NULL;
    }
    if (*at != '.' || !is_digit(at[1])) {
        return at;
    }
    const char *point = at++;
    while (is_digit(*at) && at - point <= PART_DIGITS_MAX) {
        number->part = number->part * 10 + (uint64_t)(*at++ - '0');
        number->scale *= 10;
    }
    return at;
}

// A number of units, rounded down. False when it passes `max`.
static bool
multiply(struct number number, uint64_t unit, uint64_t max, uint64_t *amount)
{
    uint64_t part = number.part * unit / number.scale;
    if (number.whole > max / unit || number.whole * unit > max - part) {
        return false;
    }
    *amount = number.whole * unit + part;
    return true;
}

bool
amount_duration(const char *text, uint64_t *us)
{
    // a unit may follow those above it
    static const struct unit units[] = {
        {"d",  UINT64_C(86400) * 1000000},
        {"h",  UINT64_C(3600) * 1000000 },
        {"m",  UINT64_C(60) * 1000000   },
        {"s",  1000000                  },
        {"ms", 1000                     },
    };
    static const size_t count = sizeof units / sizeof units[0];
    struct number number;
    uint64_t sum = 0;
    size_t unit = 0;
    const char *at = read_number(text, &number);
    if (at != NULL && *at == '\0') {
        return multiply(number, 1000000, AMOUNT_DURATION_MAX_US, us);
    }
    for (; at != NULL; at = read_number(at, &number)) {
        uint64_t part;
        size_t length = strcspn(at, "0123456789.");
        while (unit < count && (strlen(units[unit].name) != length ||
                                strncmp(units[unit].name, at, length) != 0)) {
            unit++;
        }
        if (unit == count ||
            !multiply(number, units[unit].size, AMOUNT_DURATION_MAX_US - sum, &part)) {
            return false;
        }
        sum += part;
        unit++;
        at += length;
        if (*at == '\0') {
            *us = sum;
            return true;
        }
    }
    return false;
}

bool
amount_bytes(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {
        {"",  1                },
        {"B", 1                },
        {"K", UINT64_C(1) << 10},
        {"M", UINT64_C(1) << 20},
        {"G", UINT64_C(1) << 30},
        {"T", UINT64_C(1) << 40},
        {"b", 1                },
        {"k", UINT64_C(1) << 10},
        {"m", UINT64_C(1) << 20},
        {"g", UINT64_C(1) << 30},
        {"t", UINT64_C(1) << 40},
    };
    struct number number;
    const char *at = read_number(text, &number);
    for (size_t i = 0; at != NULL && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(units[i].name, at) == 0) {
            return multiply(number, units[i].size, UINT64_MAX, bytes);
        }
    }
    return false;
}
