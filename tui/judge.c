#include "tui/judge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/export/check.h"

#define TOP_CLASSES 20
#define TOP_PATHS 5

static enum cli_status
complain(const char *why)
{
    fprintf(stderr, "memtop: cannot judge: %s.\n", why);
    return STATUS_BROKEN;
}

bool
judge_init(struct judge *judge, char **texts)
{
    char error[RULE_ERROR_BYTES];
    size_t given = 0;
    while (texts[given]) {
        given++;
    }
    *judge = (struct judge){.rules = calloc(given + 1, sizeof(*judge->rules))};
    for (size_t i = 0; judge->rules && i < given; i++) {
        if (!rule_parse(&judge->rules[i], texts[i], error)) {
            fprintf(stderr, "memtop: --max-growth %s: %s\n", texts[i], error);
            judge_destroy(judge);
            return false;
        }
        judge->count++;
    }
    return judge->rules || (complain("out of memory"), false);
}

void
judge_destroy(struct judge *judge)
{
    for (size_t i = 0; i < judge->count; i++) {
        rule_destroy(&judge->rules[i]);
    }
    free(judge->rules);
    *judge = (struct judge){0};
}

/* Outcomes: one for each rule. */

static struct rule_outcome *
outcomes_new(const struct judge *judge, const struct diff *diff)
{
    struct rule_outcome *outcomes = calloc(judge->count + 1, sizeof(*outcomes));
    for (size_t i = 0; outcomes && i < judge->count; i++) {
        if (!rule_judge(&judge->rules[i], diff, &outcomes[i])) {
            while (i-- > 0) {
                rule_outcome_destroy(&outcomes[i]);
            }
            free(outcomes);
            return NULL;
        }
    }
    return outcomes;
}

static void
outcomes_free(const struct judge *judge, struct rule_outcome *outcomes)
{
    for (size_t i = 0; outcomes && i < judge->count; i++) {
        rule_outcome_destroy(&outcomes[i]);
    }
    free(outcomes);
}

static enum cli_status
print_outcomes(const struct judge *judge, const struct diff *diff, bool json, FILE *out)
{
    struct rule_outcome *outcomes = outcomes_new(judge, diff);
    const struct check check = {diff, outcomes, judge->count, TOP_CLASSES, TOP_PATHS};
    if (!outcomes) {
        return complain("out of memory");
    }
    bool good = json ? check_write_json(&check, out) : check_write_text(&check, out);
    enum cli_status status = !good ? complain(strerror(errno))
                             : rule_worst(outcomes, judge->count) == RULE_HOLDS
                                 ? STATUS_DONE
                                 : STATUS_CHECK_FAILED;
    outcomes_free(judge, outcomes);
    return status;
}

enum cli_status
judge_print(const struct judge *judge, const struct model *before,
            const struct model *after, bool json, FILE *out)
{
    struct diff diff;
    if (!diff_init(&diff, before, after)) {
        return complain("out of memory");
    }
    enum cli_status status = print_outcomes(judge, &diff, json, out);
    diff_destroy(&diff);
    return status;
}

/* Suspects. */

struct suspects {
    const char **list;
    size_t count;
    size_t capacity;
};

static void
add_name(struct suspects *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->list[i], name) == 0) {
            return;
        }
    }
    if (*name && names->count < names->capacity) {
        names->list[names->count++] = name;
    }
}

static void
add_culprits(const struct judge *judge, const struct diff *diff, struct suspects *names)
{
    struct rule_outcome *outcomes = outcomes_new(judge, diff);
    for (size_t i = 0; outcomes && i < judge->count; i++) {
        for (size_t j = 0; j < outcomes[i].count; j++) {
            add_name(names, outcomes[i].culprits[j].class->name);
        }
    }
    outcomes_free(judge, outcomes);
}

size_t
judge_suspects(const struct judge *judge, const struct model *before,
               const struct model *after, const char **list, size_t capacity)
{
    struct suspects names = {list, 0, capacity};
    struct diff diff;
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->rules[i].subject == RULE_NAMED) {
            add_name(&names, judge->rules[i].name);
        }
    }
    if (before && !judge_names(judge) && diff_init(&diff, before, after)) {
        add_culprits(judge, &diff, &names); // names are the models'
        diff_destroy(&diff);
    }
    return names.count;
}

bool
judge_weighs(const struct judge *judge)
{
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->rules[i].measure == RULE_BYTES) {
            return true;
        }
    }
    return false;
}

bool
judge_names(const struct judge *judge)
{
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->rules[i].subject != RULE_NAMED) {
            return false;
        }
    }
    return true;
}
