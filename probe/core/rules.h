/*
 * When the flight recorder (flight.h) is to write: rules, as MEMTOP_FLIGHT has them.
 *
 *   rules = rule {"," rule}
 *   rule  = "on"                             never: only when a viewer asks
 *         | "exit"                           when the program ends
 *         | "rss>" size                      resident memory
 *         | "objects>" count                 live objects of all classes
 *         | "live(" class ")>" count         live objects of a class
 *         | "bytes(" class ")>" size         their memory size, at the last census
 *         | "growth(" class ")>" count "/" time
 *                                            live objects more than that time ago, or
 *                                            than since the class is known, if that is
 *                                            later
 *         | "verdict=" word                  of any class
 *         | "verdict(" class ")=" word
 *   size  = number ["K" | "M" | "G"]         powers of 1024
 *   count = number ["K" | "M" | "G"]         powers of 1000
 *   time  = number ("s" | "m" | "h")         from 1s to 24h
 *   word  = "leak" | "growing" | "churn" | "steady" | "new"
 *
 * A number is decimal, such as 2 or 1.5. Spaces may stand around a rule. A class is
 * named as the viewer shows it, parentheses included: live((iseq))>9. Classes of one
 * name are taken together. What nobody knows (nothing is counted, no census yet, no
 * class of that name) makes no rule true.
 *
 * A rule that is true fires, again and again while it stays so, but not within the
 * pause after it fired and not more often than the limit. Nothing here does I/O or
 * reads a clock, and looking allocates nothing.
 */
#ifndef PROBE_CORE_RULES_H
#define PROBE_CORE_RULES_H

#include "probe/core/judge.h"
#include "probe/core/registry.h"

#define RULES_MAX 32u
#define RULES_TEXT_MAX 4096u // of all of them
#define RULE_TEXT_MAX 300u   // of one
#define RULES_LIMIT 3u       // firings of a rule, unless it is set
#define RULES_PAUSE_S 300    // between two of them
#define RULE_POINTS 62u      // of the window of a growth: steps of a 60th of it

enum rule_kind {
    RULE_ON,
    RULE_EXIT,
    RULE_RSS,
    RULE_OBJECTS,
    RULE_LIVE,
    RULE_BYTES,
    RULE_GROWTH,
    RULE_VERDICT,
};

struct rule_point {
    uint64_t at_ns;
    uint64_t live;
};

struct rule {
    enum rule_kind kind;
    char text[RULE_TEXT_MAX];       // as it was given
    char class_name[RULE_TEXT_MAX]; // "" for none, or any
    uint64_t limit;                 // above it the rule is true; or enum verdict
    uint64_t window_ns;

    // As last looked at.
    uint64_t value;      // COUNT_UNKNOWN: nobody knows
    const char *suspect; // the class that has the verdict. // borrowed, NULL for none
    struct rule_point points[RULE_POINTS]; // of the past, oldest first
    size_t point_count;
    bool due; // true, and may fire
    unsigned fired;
    uint64_t fired_ns;
};

struct rules {
    struct rule list[RULES_MAX];
    size_t count;
    unsigned limit;    // firings of one rule
    uint64_t pause_ns; // between two firings of one rule
};

// What rules are about, beside the registry.
struct rule_facts {
    uint64_t now_ns; // monotonic
    uint64_t rss_bytes;
    uint64_t live; // objects of all classes; unknown: of no class either
    const struct registry *registry;
    const struct judge *judge;
};

// Take the rules of `text`; `rules` is made anew, its limit 3 and its pause five
// minutes. False when some are wrong: `why` then says which, at which character, and
// what would do. The others are taken.
bool rules_parse(struct rules *rules, const char *text, char *why, size_t why_size);

// Bytes from "64K", "16M", "1.5G" or "4096"; false when it is none of these.
bool rules_size(const char *text, uint64_t *bytes);

// Whether there is a rule of that kind that may still fire.
bool rules_has(const struct rules *rules, enum rule_kind kind);

// context: server, under the probe's lock. Look at everything; returns how many rules
// are due.
size_t rules_look(struct rules *rules, const struct rule_facts *facts);

// context: server. Which rules are due, and what they saw: "rss>1G (1.2G)", commas
// between.
void rules_why(const struct rules *rules, char *why, size_t why_size);

// context: server. Those that are due have fired.
void rules_fired(struct rules *rules, uint64_t now_ns);

// context: server. How often those fired that are due, "2 of 3": of the one that fired
// most often. To be asked after rules_fired().
void rules_tally(const struct rules *rules, char *text, size_t size);

// context: server. Counts begin anew: what was seen of the past is no past of theirs.
void rules_forget(struct rules *rules);

#endif
