/*
 * Growth rules: how much more there may be at the end than after the warm-up.
 *
 *   rule    = subject ":" amount { "or" amount }
 *   subject = "total"           all objects of the process
 *           | "*"               every class, each by itself
 *           | "/" PATTERN "/"   every class whose name it matches, each by itself
 *           | NAME              the class of that name
 *   amount  = "+" NUMBER [ "K" | "M" | "G" ] [ "objects" | "bytes" ]
 *           | "+" NUMBER "%" [ "objects" | "bytes" ]
 *
 *   Order:+500              at most 500 objects more
 *   Shop::Cart:+0           not one more
 *   *:+10% or +100          by a tenth, or by 100 where a tenth is less
 *   /^Shop::/:+2M bytes     at most 2 MiB more, of each class of that module
 *   total:+1000
 *
 * Without a word an amount is of objects. K, M and G are thousands of objects and
 * 1024s of bytes; a number may have a fraction. A percentage is of what there was
 * after the warm-up. Of several amounts the largest counts; all are of one measure.
 * Spaces are free. The amount starts behind the last ":" that is not part of "::", so
 * that names may hold it. "*" and patterns speak of the program's classes; an internal
 * type is called by its name in parentheses. A class called "total" or "*" is reached
 * by a pattern: a rule with a typing error in a name matches nothing, and says so.
 */
#ifndef TUI_MODEL_RULE_H
#define TUI_MODEL_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/model/diff.h"

#define RULE_AMOUNTS_MAX 4u
#define RULE_TEXT_MAX 4096u // bytes of a rule
#define RULE_ERROR_BYTES 256

enum rule_subject {
    RULE_TOTAL,
    RULE_EACH,
    RULE_MATCHING,
    RULE_NAMED,
};

enum rule_measure {
    RULE_OBJECTS,
    RULE_BYTES,
};

struct rule_amount {
    double number; // objects or bytes, or percent
    bool percent;
};

struct rule {
    char *text; // owned: as it was given, escaped
    enum rule_subject subject;
    char *name;              // owned, escaped; NULL but for RULE_NAMED
    struct pattern *pattern; // owned; NULL but for RULE_MATCHING
    enum rule_measure measure;
    struct rule_amount amounts[RULE_AMOUNTS_MAX];
    size_t amount_count;
};

enum rule_verdict {
    RULE_HOLDS,
    RULE_UNTOLD, // something it speaks of was not counted
    RULE_BROKEN,
};

// What a rule says of one class, or of the whole process.
struct rule_finding {
    const struct diff_class *class; // borrowed from the difference
    uint64_t before;                // in the rule's measure; COUNT_UNKNOWN
    uint64_t after;
    int64_t change; // DIFF_UNKNOWN
    double allowed; // so much more; NAN where it is not known, or not limited
};

struct rule_outcome {
    const struct rule *rule; // borrowed
    enum rule_verdict verdict;
    size_t matched;                // classes that it speaks of; of RULE_TOTAL 1
    size_t unknown;                // those of which the change is not known
    struct rule_finding most;      // what came nearest to its limit, or went furthest
                                   // beyond; its class is NULL when nothing can be told
    struct rule_finding *culprits; // owned: classes that grew by more, most grown
                                   // first. When a total did, all that grew,
                                   // `allowed` is then NAN
    size_t count;
};

// False when it is none, or memory ran out: `error` says where and what was expected,
// terminated; `rule` is then empty.
bool rule_parse(struct rule *rule, const char *text, char error[RULE_ERROR_BYTES]);
void rule_destroy(struct rule *rule);

// Judge what changed from the end of the warm-up to the end. False when memory ran
// out; `outcome` is then empty.
bool rule_judge(const struct rule *rule, const struct diff *diff,
                struct rule_outcome *outcome);
void rule_outcome_destroy(struct rule_outcome *outcome);

// Of several the worst: broken, then untold. None hold.
enum rule_verdict rule_worst(const struct rule_outcome *outcomes, size_t count);

#endif
