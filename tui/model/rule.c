#include "tui/model/rule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/text/pattern.h"
#include "tui/text/text.h"

#define NUMBER_MAX 1e18 // beyond it a double is no count of anything

/* Reading a rule. */

struct reader {
    const char *text;
    const char *at;
    char *error; // of RULE_ERROR_BYTES
};

// Always false, so that a reader can end with it.
static bool
expected(const struct reader *reader, const char *at, const char *what)
{
    size_t character = 1; // bytes after the first of a character are none
    for (const char *before = reader->text; before < at; before++) {
        character += ((unsigned char)*before & 0xc0) != 0x80;
    }
    snprintf(reader->error, RULE_ERROR_BYTES, "at character %zu: expected %s", character,
             what);
    return false;
}

static bool
no_memory(const struct reader *reader)
{
    snprintf(reader->error, RULE_ERROR_BYTES, "%s", "memory ran out");
    return false;
}

static bool
is_space(char c)
{
    return c == ' ' || c == '\t';
}

static void
skip_spaces(struct reader *reader)
{
    while (is_space(*reader->at)) {
        reader->at++;
    }
}

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// A word of letters that ends here.
static bool
take_word(struct reader *reader, const char *word)
{
    size_t length = strlen(word);
    char after = strncmp(reader->at, word, length) == 0 ? reader->at[length] : 'x';
    bool ends = !((after >= 'a' && after <= 'z') || (after >= 'A' && after <= 'Z'));
    reader->at += ends ? length : 0;
    return ends;
}

static bool
take(struct reader *reader, char c)
{
    bool is_next = *reader->at == c;
    reader->at += is_next;
    return is_next;
}

// Digits with or without a fraction; no sign, no exponent, whatever the locale.
static bool
read_number(struct reader *reader, double *number)
{
    const char *from = reader->at;
    double scale = 1;
    *number = 0;
    for (; is_digit(*reader->at); reader->at++) {
        *number = *number * 10 + (*reader->at - '0');
    }
    if (reader->at == from) {
        return expected(reader, from, "a number behind “+”, as in +500");
    }
    if (*reader->at == '.' && is_digit(reader->at[1])) {
        for (reader->at++; is_digit(*reader->at); reader->at++) {
            scale /= 10;
            *number += scale * (*reader->at - '0');
        }
    }
    return *number <= NUMBER_MAX || expected(reader, from, "a number up to 10^18");
}

// K, M, G: how many times the base.
static int
read_unit(struct reader *reader)
{
    static const char units[] = "KMG";
    const char *unit = *reader->at != '\0' ? strchr(units, *reader->at) : NULL;
    reader->at += unit != NULL;
    return unit != NULL ? (int)(unit - units) + 1 : 0;
}

static enum rule_measure
read_measure(struct reader *reader)
{
    skip_spaces(reader);
    if (take_word(reader, "bytes")) {
        return RULE_BYTES;
    }
    (void)take_word(reader, "objects");
    return RULE_OBJECTS;
}

static bool
read_amount(struct reader *reader, struct rule *rule)
{
    struct rule_amount amount = {0, false};
    skip_spaces(reader);
    const char *from = reader->at;
    if (!take(reader, '+')) {
        return expected(reader, from, "“+” and a number, as in +500 or +10%");
    }
    if (!read_number(reader, &amount.number)) {
        return false;
    }
    int unit = read_unit(reader);
    skip_spaces(reader);
    amount.percent = unit == 0 && take(reader, '%');
    enum rule_measure measure = read_measure(reader);
    for (; unit > 0; unit--) {
        amount.number *= measure == RULE_BYTES ? 1024 : 1000;
    }
    if (rule->amount_count > 0 && measure != rule->measure) {
        return expected(reader, from, "all amounts in objects, or all in bytes");
    }
    if (rule->amount_count == RULE_AMOUNTS_MAX) {
        return expected(reader, from, "at most 4 amounts");
    }
    rule->measure = measure;
    rule->amounts[rule->amount_count++] = amount;
    return true;
}

static bool
read_amounts(struct reader *reader, struct rule *rule)
{
    do {
        if (!read_amount(reader, rule)) {
            return false;
        }
        skip_spaces(reader);
    } while (take_word(reader, "or"));
    return *reader->at == '\0' ||
           expected(
               reader, reader->at,
               "K, M, G, %, “objects”, “bytes”, “or” and another amount, or the end");
}

// Where the subject ends: at the last ":" that is not part of "::", of a pattern at
// the last one behind a "/". NULL when there is none.
static const char *
find_colon(const char *text)
{
    const char *found = NULL;
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != ':') {
            continue;
        }
        const char *before = at;
        while (before > text && is_space(before[-1])) {
            before--;
        }
        bool closes = text[0] != '/' || (before - text >= 2 && before[-1] == '/');
        if (at[1] == ':') {
            at++; // and on behind both
        } else if (closes) {
            found = at;
        }
    }
    return found;
}

static bool
set_pattern(const struct reader *reader, struct rule *rule, const char *subject,
            size_t length)
{
    char why[128];
    char pattern[RULE_TEXT_MAX];
    snprintf(pattern, sizeof pattern, "%.*s", (int)length - 2, subject + 1);
    rule->subject = RULE_MATCHING;
    if (pattern[0] == '\0') {
        return expected(reader, subject + 1, "a regular expression between “/” and “/”");
    }
    rule->pattern = pattern_new(pattern, why, sizeof why);
    if (rule->pattern == NULL) {
        char what[192];
        snprintf(what, sizeof what, "a regular expression between “/” and “/” (%s)", why);
        return expected(reader, subject + 1, what);
    }
    return true;
}

static bool
set_subject(const struct reader *reader, struct rule *rule, const char *subject,
            size_t length)
{
    if (length == 5 && strncmp(subject, "total", length) == 0) {
        rule->subject = RULE_TOTAL;
        return true;
    }
    if (length == 1 && subject[0] == '*') {
        rule->subject = RULE_EACH;
        return true;
    }
    if (subject[0] == '/') {
        return set_pattern(reader, rule, subject, length);
    }
    rule->subject = RULE_NAMED;
    rule->name = text_escaped(subject, length);
    return rule->name != NULL || no_memory(reader);
}

static bool
read_rule(struct reader *reader, struct rule *rule)
{
    skip_spaces(reader);
    const char *subject = reader->at;
    const char *colon = find_colon(subject);
    const char *end = colon != NULL ? colon : subject;
    while (end > subject && is_space(end[-1])) {
        end--;
    }
    if (*subject == '\0' || colon == subject) {
        return expected(reader, subject, "a class, *, total or /PATTERN/");
    }
    if (colon == NULL) {
        const char *what = subject[0] == '/'
                               ? "“/:” behind the pattern, and an amount such as +500"
                               : "“:” and an amount such as +500";
        return expected(reader, subject + strlen(subject), what);
    }
    reader->at = colon + 1;
    return set_subject(reader, rule, subject, (size_t)(end - subject)) &&
           read_amounts(reader, rule);
}

bool
rule_parse(struct rule *rule, const char *text, char error[RULE_ERROR_BYTES])
{
    struct reader reader = {text, text, error};
    size_t length = strlen(text);
    *rule = (struct rule){0};
    error[0] = '\0';
    if (length >= RULE_TEXT_MAX) {
        return expected(&reader, text + RULE_TEXT_MAX, "the end of the rule");
    }
    rule->text = text_escaped(text, length);
    bool good = rule->text != NULL ? read_rule(&reader, rule) : no_memory(&reader);
    if (!good) {
        rule_destroy(rule);
    }
    return good;
}

void
rule_destroy(struct rule *rule)
{
    free(rule->text);
    free(rule->name);
    pattern_free(rule->pattern);
    *rule = (struct rule){0};
}

/* Judging. */

static bool
speaks_of(const struct rule *rule, const struct diff_class *class)
{
    bool internal = (class->flags & CLASS_INTERNAL) != 0;
    switch (rule->subject) {
    case RULE_EACH:
        return !internal;
    case RULE_MATCHING:
        return !internal && pattern_matches(rule->pattern, class->name);
    case RULE_NAMED:
        return strcmp(class->name, rule->name) == 0;
    default:
        return false;
    }
}

// How much more there may be; of several amounts the largest counts.
static double
allowed_of(const struct rule *rule, uint64_t before)
{
    double allowed = 0;
    for (size_t i = 0; i < rule->amount_count; i++) {
        const struct rule_amount *amount = &rule->amounts[i];
        double more =
            amount->percent ? (double)before * amount->number / 100 : amount->number;
        allowed = fmax(allowed, more);
    }
    return before != COUNT_UNKNOWN ? allowed : (double)NAN;
}

static struct rule_finding
find(const struct rule *rule, const struct diff_class *class)
{
    bool bytes = rule->measure == RULE_BYTES;
    struct rule_finding finding = {
        .class = class,
        .before = bytes ? class->before.bytes : class->before.live,
        .after = bytes ? class->after.bytes : class->after.live,
        .change = bytes ? class->change.bytes : class->change.live,
    };
    finding.allowed = allowed_of(rule, finding.before);
    return finding;
}

static bool
breaks(const struct rule_finding *finding)
{
    return finding->change != DIFF_UNKNOWN && (double)finding->change > finding->allowed;
}

// Take what a rule says of one class.
static void
take_finding(struct rule_outcome *outcome, const struct rule_finding *finding)
{
    const struct rule_finding *most = &outcome->most;
    outcome->matched++;
    if (finding->change == DIFF_UNKNOWN) {
        outcome->unknown++;
        return;
    }
    if (most->class == NULL || (double)finding->change - finding->allowed >
                                   (double)most->change - most->allowed) {
        outcome->most = *finding;
    }
}

static int
by_growth(const void *left, const void *right)
{
    const struct rule_finding *a = left;
    const struct rule_finding *b = right;
    if (a->change != b->change) {
        return a->change > b->change ? -1 : 1;
    }
    return strcmp(a->class->name, b->class->name);
}

// A total has no class to blame: those that grew are named.
static void
judge_total(const struct rule *rule, const struct diff *diff,
            struct rule_outcome *outcome)
{
    struct rule_finding total = find(rule, &diff->total);
    take_finding(outcome, &total);
    for (size_t i = 0; breaks(&total) && i < diff->count; i++) {
        struct rule_finding finding = find(rule, &diff->classes[i]);
        if (finding.change != DIFF_UNKNOWN && finding.change > 0) {
            finding.allowed = (double)NAN;
            outcome->culprits[outcome->count++] = finding;
        }
    }
    outcome->verdict = breaks(&total) ? RULE_BROKEN : RULE_HOLDS;
}

static void
judge_classes(const struct rule *rule, const struct diff *diff,
              struct rule_outcome *outcome)
{
    for (size_t i = 0; i < diff->count; i++) {
        if (!speaks_of(rule, &diff->classes[i])) {
            continue;
        }
        struct rule_finding finding = find(rule, &diff->classes[i]);
        take_finding(outcome, &finding);
        if (breaks(&finding)) {
            outcome->culprits[outcome->count++] = finding;
        }
    }
    outcome->verdict = outcome->count > 0 ? RULE_BROKEN : RULE_HOLDS;
}

bool
rule_judge(const struct rule *rule, const struct diff *diff, struct rule_outcome *outcome)
{
    *outcome = (struct rule_outcome){0};
    struct rule_finding *culprits = malloc((diff->count + 1) * sizeof *culprits);
    if (culprits == NULL) {
        return false;
    }
    outcome->rule = rule;
    outcome->culprits = culprits;
    if (rule->subject == RULE_TOTAL) {
        judge_total(rule, diff, outcome);
    } else {
        judge_classes(rule, diff, outcome);
    }
    if (outcome->verdict == RULE_HOLDS && outcome->unknown > 0) {
        outcome->verdict = RULE_UNTOLD;
    }
    qsort(culprits, outcome->count, sizeof *culprits, by_growth);
    struct rule_finding *less =
        realloc(culprits, (outcome->count + 1) * sizeof *culprits);
    outcome->culprits = less != NULL ? less : culprits;
    return true;
}

void
rule_outcome_destroy(struct rule_outcome *outcome)
{
    free(outcome->culprits);
    *outcome = (struct rule_outcome){0};
}

enum rule_verdict
rule_worst(const struct rule_outcome *outcomes, size_t count)
{
    enum rule_verdict worst = RULE_HOLDS;
    for (size_t i = 0; i < count; i++) {
        worst = outcomes[i].verdict > worst ? outcomes[i].verdict : worst;
    }
    return worst;
}
