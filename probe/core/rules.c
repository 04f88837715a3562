#include "probe/core/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 48 // bytes of a wrong rule that are shown
#define VALUE_MOST 1e18

/* Words. */

// A part of the text that was given, not terminated.
struct words {
    const char *at;
    size_t length;
};

static bool
is(struct words words, const char *what)
{
    return words.length == strlen(what) && memcmp(words.at, what, words.length) == 0;
}

static struct words
trimmed(struct words words)
{
    while (words.length > 0 && *words.at == ' ') {
        words.at++;
        words.length--;
    }
    while (words.length > 0 && words.at[words.length - 1] == ' ') {
        words.length--;
    }
    return words;
}

// What comes before the first `c`, which is passed; false without one.
static bool
cut(struct words *rest, char c, struct words *before)
{
    const char *found = memchr(rest->at, c, rest->length);
    if (!found) {
        return false;
    }
    *before = (struct words){rest->at, (size_t)(found - rest->at)};
    rest->at = found + 1;
    rest->length -= before->length + 1;
    return true;
}

// Of the text's rules the next one: up to a comma outside parentheses.
static struct words
next_rule(const char *text)
{
    size_t depth = 0;
    size_t length = 0;
    for (; text[length] && (text[length] != ',' || depth > 0); length++) {
        depth += text[length] == '(';
        depth -= text[length] == ')' && depth > 0;
    }
    return (struct words){text, length};
}

/* Values. */

static bool
is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Decimal, and nothing else that strtod() would take; passes what it took.
static bool
take_number(struct words *rest, double *number)
{
    double value = 0;
    double place = 1;
    size_t digits = 0;
    bool point = false;
    size_t i = 0;
    for (; i < rest->length && (is_digit(rest->at[i]) || (rest->at[i] == '.' && !point));
         i++) {
        if (rest->at[i] == '.') {
            point = true;
            continue;
        }
        digits++;
        place = point ? place / 10 : place;
        value = point ? value + place * (rest->at[i] - '0')
                      : value * 10 + (rest->at[i] - '0');
        if (value > VALUE_MOST) {
            return false;
        }
    }
    rest->at += i;
    rest->length -= i;
    *number = value;
    return digits > 0;
}

static double
power(double base, unsigned exponent)
{
    double result = 1;
    while (exponent-- > 0) {
        result *= base;
    }
    return result;
}

static bool
parse_amount(struct words words, double base, uint64_t *amount)
{
    static const char suffixes[] = "KMG";
    double number;
    if (!take_number(&words, &number) || words.length > 1) {
        return false;
    }
    if (words.length == 1) {
        const char *suffix = strchr(suffixes, *words.at);
        if (!suffix || !*suffix) {
            return false;
        }
        number *= power(base, (unsigned)(suffix - suffixes) + 1);
    }
    *amount = (uint64_t)number;
    return number <= VALUE_MOST;
}

static bool
parse_time(struct words words, uint64_t *time_ns)
{
    double number;
    if (!take_number(&words, &number) || words.length != 1) {
        return false;
    }
    double unit_s = *words.at == 's'   ? 1
                    : *words.at == 'm' ? 60
                    : *words.at == 'h' ? 3600
                                       : 0;
    double seconds = number * unit_s;
    *time_ns = (uint64_t)(seconds * 1e9);
    return seconds >= 1 && seconds <= 86400;
}

static bool
parse_verdict(struct words words, uint64_t *verdict)
{
    static const char *const names[] = {
        [VERDICT_NEW] = "new",     [VERDICT_STEADY] = "steady",
        [VERDICT_CHURN] = "churn", [VERDICT_GROWING] = "growing",
        [VERDICT_LEAK] = "leak",
    };
    for (uint64_t i = VERDICT_NEW; i <= VERDICT_LEAK; i++) {
        if (is(words, names[i])) {
            *verdict = i;
            return true;
        }
    }
    return false;
}

/* Rules. */

static bool
take_size(struct rule *rule, struct words value)
{
    return parse_amount(value, 1024, &rule->limit);
}

static bool
take_count(struct rule *rule, struct words value)
{
    return parse_amount(value, 1000, &rule->limit);
}

static bool
take_growth(struct rule *rule, struct words value)
{
    struct words count;
    return cut(&value, '/', &count) && take_count(rule, count) &&
           parse_time(value, &rule->window_ns);
}

static bool
take_verdict(struct rule *rule, struct words value)
{
    return parse_verdict(value, &rule->limit);
}

enum class_need { CLASS_NONE, CLASS_MUST, CLASS_MAY };

static const struct rule_form {
    const char *word;
    enum rule_kind kind;
    enum class_need class_need;
    char relation; // 0: the word is all
    bool (*take)(struct rule *rule, struct words value);
    const char *example;
} forms[] = {
    {"on",      RULE_ON,      CLASS_NONE, 0,   NULL,         "on"                    },
    {"exit",    RULE_EXIT,    CLASS_NONE, 0,   NULL,         "exit"                  },
    {"rss",     RULE_RSS,     CLASS_NONE, '>', take_size,    "rss>1.5G"              },
    {"objects", RULE_OBJECTS, CLASS_NONE, '>', take_count,   "objects>5M"            },
    {"live",    RULE_LIVE,    CLASS_MUST, '>', take_count,   "live(Order)>10K"       },
    {"bytes",   RULE_BYTES,   CLASS_MUST, '>', take_size,    "bytes(Order)>2M"       },
    {"growth",  RULE_GROWTH,  CLASS_MUST, '>', take_growth,  "growth(Order)>10000/5m"},
    {"verdict", RULE_VERDICT, CLASS_MAY,  '=', take_verdict, "verdict=leak"          },
};

#define FORM_COUNT (sizeof(forms) / sizeof(*forms))

static const struct rule_form *
find_form(struct words rule)
{
    size_t length = 0;
    while (length < rule.length && rule.at[length] >= 'a' && rule.at[length] <= 'z') {
        length++;
    }
    for (size_t i = 0; i < FORM_COUNT; i++) {
        if (is((struct words){rule.at, length}, forms[i].word)) {
            return &forms[i];
        }
    }
    return NULL;
}

// "(class)" at the front: up to the parenthesis that closes it.
static bool
take_class(struct rule *rule, struct words *rest)
{
    size_t depth = 0;
    size_t i = 0;
    do {
        if (i == rest->length) {
            return false;
        }
        depth += rest->at[i] == '(';
        depth -= rest->at[i] == ')';
        i++;
    } while (depth > 0);
    memcpy(rule->class_name, rest->at + 1, i - 2);
    rule->class_name[i - 2] = '\0';
    rest->at += i;
    rest->length -= i;
    return i > 2;
}

// An example of the rule that was meant, NULL when it is right.
static const char *
parse_rule(struct rule *rule, struct words words)
{
    const struct rule_form *form = find_form(words);
    if (!form || words.length >= RULE_TEXT_MAX) {
        return "rss>1.5G, objects>5M, live(Order)>10K, bytes(Order)>2M, "
               "growth(Order)>10000/5m, verdict=leak, exit or on";
    }
    *rule = (struct rule){.kind = form->kind, .value = COUNT_UNKNOWN};
    memcpy(rule->text, words.at, words.length);
    size_t passed = strlen(form->word);
    struct words rest = {words.at + passed, words.length - passed};
    bool has_class = rest.length > 0 && *rest.at == '(';
    bool right = has_class ? form->class_need != CLASS_NONE && take_class(rule, &rest)
                           : form->class_need != CLASS_MUST;
    if (form->take) {
        right = right && rest.length > 0 && *rest.at == form->relation;
        right = right && form->take(rule, (struct words){rest.at + 1, rest.length - 1});
    } else {
        right = right && rest.length == 0;
    }
    return right ? NULL : form->example;
}

/* Words for people. */

// What was written so far stays; what does not fit is left out.
static void
append(char *text, size_t size, const char *more)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s", more);
}

// A warning goes to a terminal: what somebody gave must not drive it.
static void
say_wrong(char *why, size_t why_size, size_t place, struct words rule,
          const char *example)
{
    char shown[SHOWN_MAX];
    char line[320];
    size_t length = rule.length < SHOWN_MAX - 1 ? rule.length : SHOWN_MAX - 1;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)rule.at[i];
        shown[i] = c < ' ' || c == 0x7f ? '?' : rule.at[i];
    }
    shown[length] = '\0';
    snprintf(line, sizeof(line), "%scharacter %zu: \"%s\" is not like %s",
             *why ? "; " : "", place + 1, shown, example);
    append(why, why_size, line);
}

bool
rules_parse(struct rules *rules, const char *text, char *why, size_t why_size)
{
    *rules = (struct rules){.limit = RULES_LIMIT,
                            .pause_ns = RULES_PAUSE_S * UINT64_C(1000000000)};
    *why = '\0';
    for (const char *at = text; *at;) {
        struct words rule = next_rule(at);
        const char *next = rule.at + rule.length + (rule.at[rule.length] == ',');
        rule = trimmed(rule);
        const char *wrong = NULL;
        if (rule.length > 0 && rules->count == RULES_MAX) {
            wrong = "what fits: there are 32 rules already";
        } else if (rule.length > 0) {
            wrong = parse_rule(&rules->list[rules->count], rule);
            rules->count += !wrong;
        }
        if (wrong) {
            say_wrong(why, why_size, (size_t)(rule.at - text), rule, wrong);
        }
        at = next;
    }
    return !*why;
}

bool
rules_size(const char *text, uint64_t *bytes)
{
    return parse_amount((struct words){text, strlen(text)}, 1024, bytes);
}

/* Looking. */

static void
add_known(uint64_t *sum, uint64_t value)
{
    if (value != COUNT_UNKNOWN) {
        *sum = (*sum == COUNT_UNKNOWN ? 0 : *sum) + value;
    }
}

// What one class adds to what a rule knows.
static void
look_at_class(struct rule *rule, const struct rule_facts *facts, uint32_t index,
              const struct class_entry *entry)
{
    class_id id = atomic_load_explicit(&entry->id, memory_order_acquire);
    switch (rule->kind) {
    case RULE_BYTES:
        add_known(&rule->value,
                  atomic_load_explicit(&entry->bytes, memory_order_acquire));
        break;
    case RULE_LIVE:
    case RULE_GROWTH:
        if (facts->live != COUNT_UNKNOWN) {
            add_known(&rule->value, registry_counts(facts->registry, index).live);
        }
        break;
    case RULE_VERDICT:
        if (!rule->suspect && judge_verdict(facts->judge, index, id) == rule->limit) {
            rule->suspect = entry->name;
        }
        break;
    default:
        break;
    }
}

static bool
is_about(const struct rule *rule, const char *name)
{
    bool of_classes = rule->kind >= RULE_LIVE;
    return of_classes && (!*rule->class_name || strcmp(rule->class_name, name) == 0);
}

static void
look_at_classes(struct rules *rules, const struct rule_facts *facts)
{
    const struct registry *registry = facts->registry;
    uint32_t count = atomic_load_explicit(&registry->class_count, memory_order_acquire);
    for (uint32_t i = 1; i < count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        if (!entry->name || !atomic_load_explicit(&entry->id, memory_order_acquire)) {
            continue;
        }
        for (size_t j = 0; j < rules->count; j++) {
            if (is_about(&rules->list[j], entry->name)) {
                look_at_class(&rules->list[j], facts, i, entry);
            }
        }
    }
}

// Points older than the newest that lies a whole window back are not needed.
static void
drop_old_points(struct rule *rule, uint64_t now_ns)
{
    size_t old = 0;
    while (old + 1 < rule->point_count &&
           now_ns - rule->points[old + 1].at_ns >= rule->window_ns) {
        old++;
    }
    rule->point_count -= old;
    memmove(rule->points, rule->points + old, rule->point_count * sizeof(*rule->points));
}

// From the live objects to how many more they are than at the window's begin.
static void
look_back(struct rule *rule, uint64_t now_ns)
{
    uint64_t live = rule->value;
    if (live == COUNT_UNKNOWN) {
        return;
    }
    drop_old_points(rule, now_ns);
    size_t count = rule->point_count;
    if (count == 0 || now_ns - rule->points[count - 1].at_ns >= rule->window_ns / 60) {
        rule->points[rule->point_count++] = (struct rule_point){now_ns, live};
    }
    uint64_t before = rule->points[0].live;
    rule->value = live > before ? live - before : 0;
}

static bool
is_true(const struct rule *rule)
{
    switch (rule->kind) {
    case RULE_ON:
    case RULE_EXIT:
        return false;
    case RULE_VERDICT:
        return rule->suspect != NULL;
    default:
        return rule->value != COUNT_UNKNOWN && rule->value > rule->limit;
    }
}

static bool
may_fire(const struct rules *rules, const struct rule *rule, uint64_t now_ns)
{
    return rule->fired < rules->limit &&
           (rule->fired == 0 || now_ns - rule->fired_ns >= rules->pause_ns);
}

size_t
rules_look(struct rules *rules, const struct rule_facts *facts)
{
    size_t due = 0;
    bool of_classes = false;
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->list[i];
        rule->suspect = NULL;
        rule->value = rule->kind == RULE_RSS       ? facts->rss_bytes
                      : rule->kind == RULE_OBJECTS ? facts->live
                                                   : COUNT_UNKNOWN;
        of_classes |= rule->kind >= RULE_LIVE;
    }
    if (of_classes) {
        look_at_classes(rules, facts);
    }
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->list[i];
        if (rule->kind == RULE_GROWTH) {
            look_back(rule, facts->now_ns);
        }
        rule->due = is_true(rule) && may_fire(rules, rule, facts->now_ns);
        due += rule->due;
    }
    return due;
}

/* Firing. */

static void
append_value(char *text, size_t size, const struct rule *rule)
{
    static const char suffixes[] = "KMG";
    char value[48];
    if (rule->kind == RULE_VERDICT) {
        append(text, size, rule->suspect ? rule->suspect : "");
        return;
    }
    bool bytes = rule->kind == RULE_RSS || rule->kind == RULE_BYTES;
    if (!bytes || rule->value < 1024) {
        snprintf(value, sizeof(value), "%" PRIu64, rule->value);
    } else {
        double number = (double)rule->value / 1024;
        size_t suffix = 0;
        for (; suffix < 2 && number >= 1024; suffix++) {
            number /= 1024;
        }
        snprintf(value, sizeof(value), "%.1f%c", number, suffixes[suffix]);
    }
    append(text, size, value);
}

void
rules_why(const struct rules *rules, char *why, size_t why_size)
{
    *why = '\0';
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];
        if (rule->due) {
            append(why, why_size, *why ? ", " : "");
            append(why, why_size, rule->text);
            append(why, why_size, " (");
            append_value(why, why_size, rule);
            append(why, why_size, ")");
        }
    }
}

void
rules_fired(struct rules *rules, uint64_t now_ns)
{
    for (size_t i = 0; i < rules->count; i++) {
        struct rule *rule = &rules->list[i];
        if (rule->due) {
            rule->fired++;
            rule->fired_ns = now_ns;
        }
    }
}

void
rules_tally(const struct rules *rules, char *text, size_t size)
{
    unsigned most = 0;
    for (size_t i = 0; i < rules->count; i++) {
        const struct rule *rule = &rules->list[i];
        most = rule->due && rule->fired > most ? rule->fired : most;
    }
    snprintf(text, size, "%u of %u", most, rules->limit);
}

bool
rules_has(const struct rules *rules, enum rule_kind kind)
{
    for (size_t i = 0; i < rules->count; i++) {
        if (rules->list[i].kind == kind && rules->list[i].fired < rules->limit) {
            return true;
        }
    }
    return false;
}

void
rules_forget(struct rules *rules)
{
    for (size_t i = 0; i < rules->count; i++) {
        rules->list[i].point_count = 0;
    }
}
