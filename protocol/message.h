/*
 * What the probe and its viewers say to each other: one tagged union, each
 * member one message of README.md beside this file.
 *
 * Messages carry state, not events: a sample holds absolute values of what
 * changed since the one before, a key sample holds everything. A frame that
 * was dropped therefore costs detail in time, never truth.
 *
 * message_encode() appends a whole frame to a buffer; decoder.h takes bytes
 * apart again. Neither does I/O, reads a clock, or trusts a length.
 */
#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/buffer.h"
#include "protocol/frame.h"

// Changes when an old reader would misread; additions need no new version.
#define PROTOCOL_VERSION 1

// A value that nobody measured. On the wire it is nil, on a screen "–". What a
// sender left out is decoded as this in counts, modes, severities, statuses and
// reasons, and as 0, false or empty elsewhere; README.md says which is which.
#define COUNT_UNKNOWN UINT64_MAX

// Names and texts are cut to this many bytes by the encoder.
#define MESSAGE_TEXT_MAX 4096u

typedef uint32_t class_id; // the probe's name for a class, never used twice

enum message_kind {
    // from the probe
    MESSAGE_HELLO = 1,    // first frame on every connection
    MESSAGE_NAMES = 2,    // class ids and what they are called
    MESSAGE_SAMPLE = 3,   // counts
    MESSAGE_NOTICE = 4,   // something a person should know, in words
    MESSAGE_RESULT = 5,   // the answer to a request
    MESSAGE_BYE = 6,      // last frame: why the stream ends
    MESSAGE_FRAMES = 7,   // frame ids and what they are called
    MESSAGE_TREE = 8,     // where the objects of one class were allocated
    MESSAGE_VERDICTS = 9, // what to think of classes, and how old their objects are
    MESSAGE_TAGS = 14, // what was allocated while the program did what it calls by a tag
    // of recordings, beside the above
    MESSAGE_MARK = 10, // what every class was when a mark was set
    MESSAGE_GAP = 11,  // time of which the recording knows nothing
    MESSAGE_KEY = 12,  // begin and end of a key group: the whole state at a moment
    MESSAGE_LEFT = 13, // which classes of a key group are only still remembered
    // from a viewer
    MESSAGE_GREETING = 64, // first frame on every connection
    MESSAGE_REQUEST = 65,
};

enum probe_mode {
    MODE_DORMANT, // loaded, no hooks, nothing counted
    MODE_CENSUS,  // no hooks; the heap is walked now and then
    MODE_COUNT,   // every allocation and free is counted
    MODE_TRACE,   // counted, and stacks are taken
};

// Bytes that are not terminated and may hold anything. // borrowed
struct text {
    const char *bytes;
    size_t length;
};

enum capability {
    CAPABILITY_READONLY = 1 << 0, // requests that change the program are refused
    CAPABILITY_COUNT = 1 << 1,    // mode count can be had
    CAPABILITY_GC = 1 << 2,       // REQUEST_GC can be had
    CAPABILITY_TRACE = 1 << 3,    // REQUEST_OPEN takes stacks
    CAPABILITY_FLIGHT = 1 << 4,   // REQUEST_FLIGHT can be had
    CAPABILITY_TAGS = 1 << 5,     // TAGS are sent when the program has any
    CAPABILITY_DETACH = 1 << 6,   // REQUEST_DETACH can be had
};

struct hello {
    uint64_t version; // PROTOCOL_VERSION of the sender
    struct text program_version;
    uint64_t pid;
    uint64_t parent_pid;
    struct text command;   // the program's arguments, joined by spaces
    struct text runtime;   // such as "ruby 3.1.2"
    uint64_t started_us;   // wall time at which the probe started
    uint64_t mode;         // enum probe_mode
    uint64_t capabilities; // enum capability, or-ed
    uint64_t interval_ms;  // between samples
};

enum class_flag {
    CLASS_INTERNAL = 1 << 0,  // not a Ruby class; named in parentheses
    CLASS_ANONYMOUS = 1 << 1, // the program gave it no name
    CLASS_TRACED = 1 << 2,    // stacks of its objects are being taken
    CLASS_PINNED = 1 << 3,    // and will be when nobody looks any more
};

struct class_name {
    class_id id;
    uint32_t flags; // enum class_flag, or-ed
    struct text name;
};

struct names {
    const struct class_name *list; // borrowed
    size_t count;
};

// The state of one class. Objects; bytes are memsize at the last census.
// Any but `id` may be COUNT_UNKNOWN.
struct class_row {
    class_id id;
    uint64_t live;      // alive now, those older than the probe included
    uint64_t allocated; // since counting started
    uint64_t freed;     // since counting started
    uint64_t bytes;
};

// The process as a whole. Any may be COUNT_UNKNOWN.
struct process_state {
    uint64_t rss_bytes;
    uint64_t heap_slots_live;
    uint64_t heap_slots_free;
    uint64_t gc_count;
    uint64_t gc_major_count;
    uint64_t gc_time_ms;
    uint64_t heap_age_ms; // how old the five figures above are: a program that sits
                          // in C with the GVL lets nobody read them
};

// What the probe says of itself.
struct probe_state {
    uint64_t cost_ppm;       // of one core, millionths, over the last interval
    uint64_t drift;          // objects the last census found miscounted, then mended
    uint64_t drift_total;    // the same, since counting started
    uint64_t dropped_frames; // frames this program could not deliver, all viewers
    uint64_t census_us;      // wall time of the last whole census, 0 before one
    uint64_t census_objects; // objects it walked
    uint64_t viewers;        // connected now
};

struct totals {
    uint64_t live;
    uint64_t allocated;
    uint64_t freed;
    uint64_t bytes;
};

struct sample {
    bool key;      // everything is listed: what is not, does not exist. In mode
                   // dormant nothing is counted: ids given before mean nothing then
    uint64_t mode; // enum probe_mode
    struct process_state process;
    struct probe_state probe;
    struct totals totals;
    const struct class_row *rows; // borrowed
    size_t row_count;
    const class_id *gone; // borrowed: classes that died with no object left
    size_t gone_count;
};

// How old objects are, in collections survived: below 2, below 8, below 32, more.
// As of the last census; COUNT_UNKNOWN before one.
#define AGE_BUCKETS 4u

// Frames that are no place in the program. They are never sent in FRAMES; a real
// frame's id is FRAME_FIRST or more.
enum special_frame {
    FRAME_ROOT,           // node 0 stands on it
    FRAME_BEFORE_TRACING, // objects born while no stacks were taken
    FRAME_OTHER,          // stacks there was no room for
    FRAME_TRUNCATED,      // above it were more frames than MEMTOP_DEPTH
    FRAME_NO_STACK,       // allocated where no Ruby method runs
    FRAME_FIRST = 16,
};

enum frame_flag {
    FRAME_C = 1 << 0, // a function in C: without path and line
};

struct frame_name {
    uint32_t id;
    uint32_t flags;    // enum frame_flag, or-ed
    struct text label; // "Order#total", "<main>"; empty until it could be asked
    struct text path;  // as Ruby knows it; empty when it has none
    uint64_t line;     // the first one of the method or file; 0 when it has none
};

struct frames {
    const struct frame_name *list; // borrowed
    size_t count;
};

// A place in the call tree: a frame, the line it is at, and who called it.
struct tree_node {
    uint32_t id;     // never 0, greater than its parent's, never used twice
    uint32_t parent; // 0: the root
    uint32_t frame;
    uint32_t line;  // 0 when it has none
    uint32_t block; // levels of blocks within the frame's method: "block in" is 1,
                    // "block (2 levels) in" 2. 0 is the method itself, or not known
};

// Objects of the tree's class that were allocated with this node as the innermost
// frame. Each stands for 2^shift objects: 1 where every stack was taken. A node
// has a row for each shift that it was sampled with.
struct tree_site {
    uint32_t node;
    uint32_t shift;
    uint64_t live;
    uint64_t allocated;
    uint64_t bytes; // memsize at the last census
    uint64_t ages[AGE_BUCKETS];
};

enum tree_flag {
    TREE_TRACING = 1 << 0, // stacks are being taken
    TREE_PINNED = 1 << 1,  // and will be when nobody looks any more
    TREE_FULL = 1 << 2,    // there is no room for new paths: they go to FRAME_OTHER
};

// Where the objects of one class come from: what changed since the tree before, or
// with `key` all of it. Sites of one tree and the two pairs of counts below sum to
// the class's row in the sample just before.
struct tree {
    class_id class_id;
    bool key;
    uint64_t flags;          // enum tree_flag, or-ed
    uint64_t live;           // of the class, those before tracing included
    uint64_t since_us;       // wall time at which tracing began; COUNT_UNKNOWN: never yet
    uint64_t shift;          // of samples taken now: one stack of 2^shift; 0 is exact
    uint64_t unsampled_live; // born while tracing, no stack taken
    uint64_t unsampled_allocated;
    uint64_t depth;      // frames kept of a stack
    uint64_t nodes_used; // in the whole program, of nodes_room
    uint64_t nodes_room;
    const struct tree_node *nodes; // borrowed; parents before children
    size_t node_count;
    const struct tree_site *sites; // borrowed
    size_t site_count;
};

// What the growth of a class looks like.
enum verdict {
    VERDICT_NONE, // too early to say
    VERDICT_NEW,
    VERDICT_STEADY,
    VERDICT_CHURN,
    VERDICT_GROWING,
    VERDICT_LEAK,
};

struct verdict_row {
    class_id id;
    uint64_t verdict; // enum verdict
    uint64_t ages[AGE_BUCKETS];
    struct text reason; // in words; empty with VERDICT_NONE
};

// State, as names are: a class keeps what was last said of it.
struct verdicts {
    const struct verdict_row *list; // borrowed
    size_t count;
};

// A tag is what the program says it is doing: keys with a value each.
struct tag_name {
    uint32_t id;      // never 0, never used for another
    struct text text; // "key=value", a line each in order of the keys; or "(other)",
                      // which stands for all tags there was no room for
};

// The state of one tag. Any but `id` may be COUNT_UNKNOWN: objects are not counted by
// tags but in modes count and trace.
struct tag_row {
    uint32_t id;
    uint64_t calls;  // how often the program entered it and left it again
    uint64_t active; // how often it is in it now
    uint64_t allocated;
    uint64_t freed;
    uint64_t live;
    uint64_t bytes; // memsize at the last census
    uint64_t ages[AGE_BUCKETS];
};

// What of a tag's objects are of one class.
struct tag_class {
    uint32_t tag;
    class_id class_id;
    uint64_t allocated;
    uint64_t live;
    uint64_t bytes;
    uint64_t ages[AGE_BUCKETS];
};

// State: what changed, or with `key` all of it. A tag that is not listed is as it was.
struct tags_state {
    bool key;
    const struct tag_name *names; // borrowed
    size_t name_count;
    const struct tag_row *rows; // borrowed
    size_t row_count;
    const struct tag_class *classes; // borrowed: of tags that somebody asked for, all
    size_t class_count;              // classes of each, one after the other
};

struct mark_row {
    class_id id;
    uint64_t live;
    uint64_t bytes;
};

// A node of a class's tree with everything below it. Where stacks are sampled these
// are estimates, and not whole.
struct mark_place {
    class_id class_id;
    uint32_t node;
    double live;
    double bytes; // NAN: not known
};

// The letter of the mark that sets itself when a viewer connects.
#define MARK_CONNECTING 255u

// State as well: a letter that is told again replaces the mark, and adds to it when
// it was set at the very same moment: long lists come in several frames.
struct mark_state {
    uint32_t letter; // 0 is A, 25 is Z; or MARK_CONNECTING
    bool counted;    // objects were counted then: a class not listed had none
    uint64_t live;   // totals at that moment
    uint64_t bytes;
    uint64_t at_monotonic_us; // when it was set: the message's stamp may be later
    uint64_t at_wall_us;
    const struct mark_row *rows; // borrowed
    size_t row_count;
    const struct mark_place *places; // borrowed: of a tree that was there then, the
    size_t place_count;              // root and what had an object or a byte
};

// A class that died, or whose id went with an earlier connection. A viewer remembers
// it for a while: it may come again under its name.
struct left_row {
    class_id id;        // as the key group calls it; means nothing from here on if ...
    uint64_t former_id; // ... it had this one in the earlier connection; COUNT_UNKNOWN
                        // when it is of this one
    uint64_t gone_us;   // monotonic time at which it went; COUNT_UNKNOWN: it did not
};

struct left {
    const struct left_row *list; // borrowed
    size_t count;
};

enum gap_reason {
    GAP_LOST,      // the connection broke
    GAP_ENDED,     // the program ended
    GAP_RESTARTED, // another process took its place
    GAP_DROPPED,   // frames were dropped on the way
    GAP_STOPPED,   // recording was stopped
    GAP_RESUMED,   // and went on
};

// From the stamp of the frame before it to its own, nothing is known.
struct gap {
    uint64_t reason;  // enum gap_reason
    struct text text; // in words, may be empty
};

// One edge of a key group: what is between KEY begin and KEY end is the whole state,
// so that reading can start there. Its figures make a timeline of KEYs alone.
struct key_group {
    bool begin;        // or the end of the group
    uint64_t previous; // bytes from the KEY begin before this frame to this frame;
                       // 0: there is none
    uint64_t ordinal;  // of the group, from 1
    uint64_t live;
    uint64_t rss_bytes;
    uint64_t gc_count;
    uint64_t mode;    // enum probe_mode
    uint64_t earlier; // bytes from a KEY begin some groups before to this frame, for who
                      // reads ahead; 0: not told
};

enum notice_severity {
    NOTICE_INFO,
    NOTICE_WARNING, // a figure on the screen needs this to be understood
};

// State as well: a notice with the id of an earlier one replaces it, an empty
// text withdraws it.
struct notice {
    uint64_t id;
    uint64_t severity; // enum notice_severity
    struct text text;
};

enum request_action {
    REQUEST_GC = 1,     // run a full garbage collection
    REQUEST_CENSUS = 2, // walk the heap now
    REQUEST_MODE = 3,   // argument: enum probe_mode
    REQUEST_KEY = 4,    // send a key sample
    REQUEST_OPEN = 5,   // argument: class_id. Take stacks of its objects, send its tree
    REQUEST_CLOSE = 6,  // argument: class_id. Its tree is no longer wanted
    REQUEST_PIN = 7,    // argument: class_id. Take stacks whether anybody looks or not
    REQUEST_UNPIN = 8,
    REQUEST_FLIGHT = 9,  // write what the flight recorder has; the result has the path
    REQUEST_TAG = 10,    // argument: a tag's id. Send its classes from now on, and of no
                         // other tag; 0: of none
    REQUEST_DETACH = 11, // take the probe out of the program
};

struct request {
    uint64_t id; // chosen by the viewer, repeated in the result
    uint64_t action;
    uint64_t argument;
};

enum result_status {
    RESULT_DONE,
    RESULT_REFUSED, // not allowed, or not known here
    RESULT_FAILED,
};

struct result {
    uint64_t id;
    uint64_t status;  // enum result_status
    struct text text; // in words, may be empty
};

enum bye_reason {
    BYE_EXIT,    // the program ends
    BYE_STOP,    // the probe was stopped, the program goes on
    BYE_REFUSED, // this viewer is not served: the text says why
};

struct bye {
    uint64_t reason; // enum bye_reason
    uint64_t status; // exit status, 128 and more for a signal; or COUNT_UNKNOWN
    struct text text;
};

struct greeting {
    uint64_t version;
    struct text program_version;
};

struct message {
    enum message_kind kind;
    struct stamp at;
    union {
        struct hello hello;
        struct names names;
        struct sample sample;
        struct notice notice;
        struct result result;
        struct bye bye;
        struct frames frames;
        struct tree tree;
        struct verdicts verdicts;
        struct tags_state tags;
        struct mark_state mark;
        struct gap gap;
        struct key_group key;
        struct left left;
        struct greeting greeting;
        struct request request;
    };
};

// Append `message` as one frame. False when memory ran out or the frame would
// pass FRAME_BODY_MAX; `out` is then as it was, with its failure set.
bool message_encode(struct buffer *out, const struct message *message);

// "dormant", "census", "count", "trace"; "unknown" for anything else.
const char *mode_name(uint64_t mode);

// Whether every allocation and free is counted in this mode.
static inline bool
mode_counts(uint64_t mode)
{
    return mode == MODE_COUNT || mode == MODE_TRACE;
}

// The reverse of mode_name(); false when `name` is none of them.
bool mode_parse(const char *name, enum probe_mode *mode);

// "leak?", "growing", "churn", "steady", "new"; NULL for anything else.
const char *verdict_name(uint64_t verdict);

// "(before tracing)" and so on; NULL for a frame that is a place in the program.
const char *special_frame_label(uint32_t frame);

static inline struct text
text_of(const char *string)
{
    size_t length = 0;
    while (string[length] != '\0') {
        length++;
    }
    return (struct text){string, length};
}

#endif
