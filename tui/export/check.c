#include "tui/export/check.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include <jansson.h>

#include "tui/export/sites.h"
#include "tui/export/values.h"
#include "tui/export/words.h"

#define INDENT 10 // of what is below a rule

static size_t
shown(const struct check *check, const struct rule_outcome *outcome)
{
    bool all = check->culprits == 0 || outcome->count <= check->culprits;
    return all ? outcome->count : check->culprits;
}

static enum diff_measure
measured(enum rule_measure measure)
{
    return measure == RULE_BYTES ? DIFF_OF_BYTES : DIFF_OF_OBJECTS;
}

/* Text. */

// "Order +500 (100 -> 600), at most +10 bytes"
static void
write_finding(const struct rule_finding *finding, enum rule_measure measure, FILE *out)
{
    char before[WORDS_NUMBER_BYTES], after[WORDS_NUMBER_BYTES];
    fprintf(out, "%s %+" PRId64 " (%s -> %s)", words_diff_class(finding->class),
            finding->change, words_number(before, finding->before),
            words_number(after, finding->after));
    if (!isnan(finding->allowed)) {
        fprintf(out, ", at most +%.0f", floor(finding->allowed));
    }
    fputs(measure == RULE_BYTES ? " bytes" : "", out);
}

static void
write_rule(const struct rule_outcome *outcome, FILE *out)
{
    static const char *const words[] = {
        [RULE_HOLDS] = "ok", [RULE_UNTOLD] = "unknown", [RULE_BROKEN] = "FAILED"};
    const struct rule *rule = outcome->rule;
    fprintf(out, "%-8s %s: ", words[outcome->verdict], rule->text);
    if (outcome->matched == 0) {
        fputs("no such class was seen\n", out);
        return;
    }
    if (outcome->verdict == RULE_UNTOLD && outcome->unknown == outcome->matched) {
        fprintf(out, "%s not counted\n",
                rule->measure == RULE_BYTES ? "bytes were" : "objects were");
        return;
    }
    bool each = rule->subject == RULE_EACH || rule->subject == RULE_MATCHING;
    if (each) {
        fprintf(out, "%zu of %zu classes grew by more", outcome->count, outcome->matched);
    }
    if (!each || outcome->count == 0) {
        fputs(each ? ", nearest: " : "", out);
        write_finding(&outcome->most, rule->measure, out);
    }
    if (outcome->unknown > 0) {
        fprintf(out, "; %zu of %zu not counted", outcome->unknown, outcome->matched);
    }
    fputs("\n", out);
}

static bool
write_paths(const struct check *check, const struct diff_class *class,
            enum rule_measure measure, FILE *out)
{
    struct diff_paths paths;
    if (!class->traced) {
        fprintf(out, "%*s  no stacks of it were taken\n", INDENT, "");
        return true;
    }
    if (!diff_paths_init(&paths, check->diff, class, measured(measure))) {
        return false;
    }
    if (paths.cut) {
        fprintf(out, "%*s  more paths than can be compared\n", INDENT, "");
    } else if (!paths.known_before || !paths.known_after) {
        fprintf(out, "%*s  stacks are missing at one end: where those there are from\n",
                INDENT, "");
    } else if (!paths.exact) {
        fprintf(out, "%*s  sampled: estimates, +- 95 %%\n", INDENT, "");
    }
    bool good =
        sites_write(&paths, (struct sites_choice){check->paths, true}, INDENT, out);
    diff_paths_destroy(&paths);
    return good;
}

static bool
write_culprits(const struct check *check, const struct rule_outcome *outcome, FILE *out)
{
    size_t count = shown(check, outcome);
    enum rule_measure measure = outcome->rule->measure;
    bool said = outcome->rule->subject == RULE_NAMED && outcome->count == 1;
    for (size_t i = 0; i < count; i++) {
        if (!said) { // by the rule's own line
            fprintf(out, "%*s", INDENT, "");
            write_finding(&outcome->culprits[i], measure, out);
            fputs("\n", out);
        }
        if (!write_paths(check, outcome->culprits[i].class, measure, out)) {
            return false;
        }
    }
    if (count < outcome->count) {
        fprintf(out, "%*s… %zu more\n", INDENT, "", outcome->count - count);
    }
    return true;
}

static void
write_end(const struct check *check, FILE *out)
{
    size_t of[RULE_BROKEN + 1] = {0};
    for (size_t i = 0; i < check->count; i++) {
        of[check->outcomes[i].verdict]++;
    }
    fprintf(out, "%zu ok, %zu failed, %zu unknown\n", of[RULE_HOLDS], of[RULE_BROKEN],
            of[RULE_UNTOLD]);
}

bool
check_write_text(const struct check *check, FILE *out)
{
    for (size_t i = 0; i < check->count; i++) {
        write_rule(&check->outcomes[i], out);
        if (!write_culprits(check, &check->outcomes[i], out)) {
            errno = ENOMEM;
            return false;
        }
    }
    write_end(check, out);
    return fflush(out) == 0 && !ferror(out);
}

/* JSON: each function returns a new value, or NULL when memory ran out; "o" takes a
   value over and makes the whole NULL if it is. */

static const char *
verdict_word(enum rule_verdict verdict)
{
    static const char *const words[] = {
        [RULE_HOLDS] = "ok", [RULE_UNTOLD] = "unknown", [RULE_BROKEN] = "failed"};
    return words[verdict];
}

static json_t *
finding_json(const struct rule_finding *finding)
{
    if (finding->class == NULL) {
        return json_null();
    }
    return json_pack(
        "{ss so so so so}", "class", words_diff_class(finding->class), "before",
        value_count(finding->before), "after", value_count(finding->after), "change",
        finding->change != DIFF_UNKNOWN ? json_integer(finding->change) : json_null(),
        "allowed", sites_number(floor(finding->allowed)));
}

static json_t *
paths_json(const struct check *check, const struct diff_class *class,
           enum rule_measure measure)
{
    struct diff_paths paths;
    if (!class->traced) {
        return json_null();
    }
    if (!diff_paths_init(&paths, check->diff, class, measured(measure))) {
        return NULL;
    }
    json_t *value = sites_json(&paths, (struct sites_choice){check->paths, true});
    diff_paths_destroy(&paths);
    return value;
}

static json_t *
culprit_json(const struct check *check, const struct rule_finding *finding,
             enum rule_measure measure)
{
    json_t *culprit = finding_json(finding);
    if (culprit == NULL ||
        json_object_set_new(culprit, "paths",
                            paths_json(check, finding->class, measure)) != 0) {
        json_decref(culprit);
        return NULL;
    }
    return culprit;
}

static json_t *
culprits_json(const struct check *check, const struct rule_outcome *outcome)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < shown(check, outcome); i++) {
        if (json_array_append_new(array, culprit_json(check, &outcome->culprits[i],
                                                      outcome->rule->measure)) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

static json_t *
rule_json(const struct check *check, const struct rule_outcome *outcome)
{
    return json_pack("{ss ss ss sI sI so sI so}", "rule", outcome->rule->text, "verdict",
                     verdict_word(outcome->verdict), "measure",
                     outcome->rule->measure == RULE_BYTES ? "bytes" : "objects",
                     "matched", (json_int_t)outcome->matched, "unknown",
                     (json_int_t)outcome->unknown, "most", finding_json(&outcome->most),
                     "left_out", (json_int_t)(outcome->count - shown(check, outcome)),
                     "culprits", culprits_json(check, outcome));
}

static json_t *
rules_json(const struct check *check)
{
    json_t *array = json_array();
    for (size_t i = 0; array != NULL && i < check->count; i++) {
        if (json_array_append_new(array, rule_json(check, &check->outcomes[i])) != 0) {
            json_decref(array);
            array = NULL;
        }
    }
    return array;
}

bool
check_write_json(const struct check *check, FILE *out)
{
    const struct diff *diff = check->diff;
    enum rule_verdict worst = rule_worst(check->outcomes, check->count);
    json_t *document = json_pack(
        "{sb ss so so sb so}", "ok", worst == RULE_HOLDS, "verdict", verdict_word(worst),
        "from", value_time(model_time(diff->before).wall_us), "to",
        value_time(model_time(diff->after).wall_us), "same_process", diff->same_process,
        "rules", rules_json(check));
    return value_write(document, JSON_INDENT(1) | JSON_REAL_PRECISION(12), out) &&
           fflush(out) == 0;
}
