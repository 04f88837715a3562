#include "tui/view/filter.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <regex.h>

#include "tui/view/column.h"

enum term_kind {
    TERM_NAME,    // the name holds a text
    TERM_REGEX,   // the name matches
    TERM_COMPARE, // a number of the table
};

enum comparison {
    COMPARE_LESS_EQUAL,
    COMPARE_GREATER_EQUAL,
    COMPARE_NOT_EQUAL,
    COMPARE_LESS,
    COMPARE_GREATER,
    COMPARE_EQUAL,
    COMPARE_COUNT,
};

// Longer signs first: "<=" is not "<".
static const char *const comparisons[COMPARE_COUNT] = {"<=", ">=", "!=", "<", ">", "="};

struct filter_term {
    enum term_kind kind;
    bool inverse;
    bool fold_case;
    char text[FILTER_BYTES]; // must be in the name, in a regex too; small when folded
    regex_t regex;           // compiled when kind is TERM_REGEX
    enum column_id column;
    enum comparison comparison;
    double number;
};

static void
free_terms(struct filter_term *terms, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (terms[i].kind == TERM_REGEX) {
            regfree(&terms[i].regex);
        }
    }
    free(terms);
}

void
filter_destroy(struct filter *filter)
{
    free_terms(filter->terms, filter->count);
    *filter = (struct filter){0};
}

static bool
has_capital(const char *text)
{
    for (; *text != '\0'; text++) {
        if (isupper((unsigned char)*text)) {
            return true;
        }
    }
    return false;
}

static void
keep_text(struct filter_term *term, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char byte = text[i];
        term->text[i] = term->fold_case ? (char)tolower((unsigned char)byte) : byte;
    }
    term->text[length] = '\0';
}

// The longest run of letters, digits and colons that any match of a pattern holds:
// looking for it first saves most of the work of matching. None in a pattern with
// choices, groups, sets or escapes.
static void
keep_literal(struct filter_term *term, const char *pattern)
{
    size_t best = 0;
    const char *from = pattern;
    if (strpbrk(pattern, "|()[]\\") != NULL) {
        return;
    }
    for (const char *at = pattern;; at++) {
        if (isalnum((unsigned char)*at) || *at == ':' || *at == '_') {
            continue;
        }
        size_t length = (size_t)(at - from);
        // the last one may be repeated no times; what is in braces is no text
        bool repeated = *at != '\0' && strchr("*?{", *at) != NULL;
        length -= repeated && length > 0 ? 1 : 0;
        if (length > best) {
            keep_text(term, from, length);
            best = length;
        }
        if (*at == '{' || *at == '\0') {
            return;
        }
        from = at + 1;
    }
}

static bool
parse_regex(struct filter_term *term, const char *pattern, char *error)
{
    term->fold_case = !has_capital(pattern);
    int flags = REG_EXTENDED | REG_NOSUB | (term->fold_case ? REG_ICASE : 0);
    int status = regcomp(&term->regex, pattern, flags);
    if (status != 0) {
        char reason[100];
        regerror(status, &term->regex, reason, sizeof reason);
        snprintf(error, FILTER_ERROR_BYTES, "~%.40s: %s", pattern, reason);
        return false;
    }
    term->kind = TERM_REGEX;
    keep_literal(term, pattern);
    return true;
}

// A number with K, M or G after it: thousands, of bytes 1024.
static bool
parse_number(const char *text, bool bytes, double *number)
{
    static const char units[] = "kmgt";
    char *end;
    double value = strtod(text, &end);
    if (end == text || !isfinite(value)) {
        return false;
    }
    const char *unit = *end != '\0' ? strchr(units, tolower((unsigned char)*end)) : NULL;
    if (unit != NULL) {
        value *= pow(bytes ? 1024 : 1000, (double)(unit - units + 1));
        end++;
    }
    *number = value;
    return *end == '\0';
}

static void
list_words(char *error, const char *word, size_t length)
{
    int used = snprintf(error, FILTER_ERROR_BYTES, "no column \"%.*s\"; there are",
                        (int)(length < 30 ? length : 30), word);
    for (int id = 0; id < COLUMN_COUNT; id++) {
        if (columns[id].value != NULL && used < FILTER_ERROR_BYTES) {
            used += snprintf(error + used, (size_t)(FILTER_ERROR_BYTES - used), " %s",
                             columns[id].word);
        }
    }
}

// "delta>100": the letters before the sign must be a column's.
static bool
parse_comparison(struct filter_term *term, const char *text, size_t word, char *error)
{
    enum column_id column = column_find(text, word);
    if (column == COLUMN_COUNT || columns[column].value == NULL) {
        list_words(error, text, word);
        return false;
    }
    int sign = 0;
    while (strncmp(text + word, comparisons[sign], strlen(comparisons[sign])) != 0) {
        sign++;
    }
    const char *number = text + word + strlen(comparisons[sign]);
    bool bytes = column == COLUMN_BYTES;
    if (!parse_number(number, bytes, &term->number)) {
        snprintf(error, FILTER_ERROR_BYTES,
                 *number == '\0' ? "%.40s: a number is missing, as in delta>100%s"
                                 : "%.40s: \"%.40s\" is no number",
                 text, *number == '\0' ? "" : number);
        return false;
    }
    term->kind = TERM_COMPARE;
    term->column = column;
    term->comparison = (enum comparison)sign;
    return true;
}

static bool
parse_term(struct filter_term *term, const char *text, char *error)
{
    *term = (struct filter_term){.kind = TERM_NAME};
    if (text[0] == '!') {
        term->inverse = true;
        text++;
    }
    if (text[0] == '~') {
        return parse_regex(term, text + 1, error);
    }
    size_t word = 0; // letters before a sign
    while (islower((unsigned char)text[word])) {
        word++;
    }
    bool sign = word > 0 &&
                (strchr("<>=", text[word]) != NULL || strncmp(text + word, "!=", 2) == 0);
    if (sign && text[word] != '\0') {
        return parse_comparison(term, text, word, error);
    }
    term->fold_case = !has_capital(text);
    keep_text(term, text, strlen(text));
    return true;
}

bool
filter_parse(struct filter *filter, const char *text, char error[FILTER_ERROR_BYTES])
{
    char copy[FILTER_BYTES];
    size_t count = 0;
    char *rest = NULL;
    error[0] = '\0';
    if (strlen(text) >= sizeof copy) {
        snprintf(error, FILTER_ERROR_BYTES, "a filter has %d bytes at most",
                 FILTER_BYTES - 1);
        return false;
    }
    struct filter_term *terms = calloc(FILTER_TERMS_MAX, sizeof *terms);
    if (terms == NULL) {
        snprintf(error, FILTER_ERROR_BYTES, "no memory for a filter");
        return false;
    }
    strcpy(copy, text);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        if (word[strspn(word, "!~")] == '\0') {
            continue; // the rest is still to be typed
        }
        if (count == FILTER_TERMS_MAX) {
            snprintf(error, FILTER_ERROR_BYTES, "a filter has %d words at most",
                     FILTER_TERMS_MAX);
            goto refuse;
        }
        if (!parse_term(&terms[count], word, error)) {
            goto refuse;
        }
        count++;
    }
    filter_destroy(filter);
    filter->terms = terms;
    filter->count = count;
    strcpy(filter->text, text);
    return true;

refuse:
    free_terms(terms, count);
    return false;
}

static bool
compare(enum comparison comparison, double left, double right)
{
    switch (comparison) {
    case COMPARE_LESS:
        return left < right;
    case COMPARE_LESS_EQUAL:
        return left <= right;
    case COMPARE_GREATER:
        return left > right;
    case COMPARE_GREATER_EQUAL:
        return left >= right;
    case COMPARE_EQUAL:
        return !(left < right) && !(left > right);
    default:
        return left < right || left > right;
    }
}

// strcasestr() is slow for many short texts; ASCII is all that is folded.
static bool
contains_folded(const char *name, const char *text)
{
    for (; *name != '\0'; name++) {
        size_t i = 0;
        while (text[i] != '\0' && tolower((unsigned char)name[i]) == text[i]) {
            i++;
        }
        if (text[i] == '\0') {
            return true;
        }
    }
    return text[0] == '\0';
}

static bool
contains(const struct filter_term *term, const char *name)
{
    return term->fold_case ? contains_folded(name, term->text)
                           : strstr(name, term->text) != NULL;
}

static bool
holds(const struct filter_term *term, const struct scene *scene,
      const struct model_class *class)
{
    double value;
    switch (term->kind) {
    case TERM_REGEX:
        return contains(term, class->name) &&
               regexec(&term->regex, class->name, 0, NULL, 0) == 0;
    case TERM_COMPARE:
        value = columns[term->column].value(scene, class);
        return !isnan(value) && compare(term->comparison, value, term->number);
    default:
        return contains(term, class->name);
    }
}

bool
filter_match(const struct filter *filter, const struct scene *scene,
             const struct model_class *class)
{
    for (size_t i = 0; i < filter->count; i++) {
        if (holds(&filter->terms[i], scene, class) == filter->terms[i].inverse) {
            return false;
        }
    }
    return true;
}
