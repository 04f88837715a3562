#include "tui/text/pattern.h"

#include <stdio.h>
#include <stdlib.h>

#include <regex.h>

struct pattern {
    regex_t regex;
};

struct pattern *
pattern_new(const char *text, char *why, size_t size)
{
    struct pattern *pattern = malloc(sizeof *pattern);
    if (pattern == NULL) {
        snprintf(why, size, "%s", "memory ran out");
        return NULL;
    }
    int status = regcomp(&pattern->regex, text, REG_EXTENDED | REG_NOSUB);
    if (status != 0) {
        regerror(status, &pattern->regex, why, size);
        free(pattern);
        return NULL;
    }
    return pattern;
}

void
pattern_free(struct pattern *pattern)
{
    if (pattern != NULL) {
        regfree(&pattern->regex);
        free(pattern);
    }
}

bool
pattern_matches(const struct pattern *pattern, const char *text)
{
    return regexec(&pattern->regex, text, 0, NULL, 0) == 0;
}
