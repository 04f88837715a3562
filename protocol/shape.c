#include "protocol/shape.h"

#include "protocol/message.h"

/*
 * PLAIN(struct, type, member), INNER(struct, member, shape) and
 * LIST(struct, type, member, count member, shape), in the order of the wire.
 */
// clang-format off
#define PROCESS_STATE_FIELDS(PLAIN, INNER, LIST)    \
    PLAIN(process_state, COUNT, rss_bytes)          \
    PLAIN(process_state, COUNT, heap_slots_live)    \
    PLAIN(process_state, COUNT, heap_slots_free)    \
    PLAIN(process_state, COUNT, gc_count)           \
    PLAIN(process_state, COUNT, gc_major_count)     \
    PLAIN(process_state, COUNT, gc_time_ms)         \
    PLAIN(process_state, COUNT, heap_age_ms)

#define PROBE_STATE_FIELDS(PLAIN, INNER, LIST)      \
    PLAIN(probe_state, COUNT, cost_ppm)             \
    PLAIN(probe_state, COUNT, drift)                \
    PLAIN(probe_state, COUNT, drift_total)          \
    PLAIN(probe_state, COUNT, dropped_frames)       \
    PLAIN(probe_state, COUNT, census_us)            \
    PLAIN(probe_state, COUNT, census_objects)       \
    PLAIN(probe_state, COUNT, viewers)

#define TOTALS_FIELDS(PLAIN, INNER, LIST)           \
    PLAIN(totals, COUNT, live)                      \
    PLAIN(totals, COUNT, allocated)                 \
    PLAIN(totals, COUNT, freed)                     \
    PLAIN(totals, COUNT, bytes)

#define CLASS_ROW_FIELDS(PLAIN, INNER, LIST)        \
    PLAIN(class_row, SMALL, id)                     \
    PLAIN(class_row, COUNT, live)                   \
    PLAIN(class_row, COUNT, allocated)              \
    PLAIN(class_row, COUNT, freed)                  \
    PLAIN(class_row, COUNT, bytes)

#define CLASS_NAME_FIELDS(PLAIN, INNER, LIST)       \
    PLAIN(class_name, SMALL, id)                    \
    PLAIN(class_name, SMALL, flags)                 \
    PLAIN(class_name, TEXT, name)

#define HELLO_FIELDS(PLAIN, INNER, LIST)            \
    PLAIN(hello, NUMBER, version)                   \
    PLAIN(hello, TEXT, program_version)             \
    PLAIN(hello, NUMBER, pid)                       \
    PLAIN(hello, NUMBER, parent_pid)                \
    PLAIN(hello, TEXT, command)                     \
    PLAIN(hello, TEXT, runtime)                     \
    PLAIN(hello, COUNT, started_us)                 \
    PLAIN(hello, COUNT, mode)                       \
    PLAIN(hello, NUMBER, capabilities)              \
    PLAIN(hello, COUNT, interval_ms)

#define NAMES_FIELDS(PLAIN, INNER, LIST)            \
    LIST(names, ROWS, list, count, &class_name_shape)

#define SAMPLE_FIELDS(PLAIN, INNER, LIST)           \
    PLAIN(sample, BOOL, key)                        \
    PLAIN(sample, COUNT, mode)                      \
    INNER(sample, process, &process_state_shape)    \
    INNER(sample, probe, &probe_state_shape)        \
    INNER(sample, totals, &totals_shape)            \
    LIST(sample, ROWS, rows, row_count, &class_row_shape) \
    LIST(sample, SMALLS, gone, gone_count, NULL)

#define NOTICE_FIELDS(PLAIN, INNER, LIST)           \
    PLAIN(notice, NUMBER, id)                       \
    PLAIN(notice, COUNT, severity)                  \
    PLAIN(notice, TEXT, text)

#define RESULT_FIELDS(PLAIN, INNER, LIST)           \
    PLAIN(result, NUMBER, id)                       \
    PLAIN(result, COUNT, status)                    \
    PLAIN(result, TEXT, text)

#define BYE_FIELDS(PLAIN, INNER, LIST)              \
    PLAIN(bye, COUNT, reason)                       \
    PLAIN(bye, COUNT, status)                       \
    PLAIN(bye, TEXT, text)

#define AGES_FIELDS(PLAIN, owner)                   \
    PLAIN(owner, COUNT, ages[0])                    \
    PLAIN(owner, COUNT, ages[1])                    \
    PLAIN(owner, COUNT, ages[2])                    \
    PLAIN(owner, COUNT, ages[3])

#define FRAME_NAME_FIELDS(PLAIN, INNER, LIST)       \
    PLAIN(frame_name, SMALL, id)                    \
    PLAIN(frame_name, SMALL, flags)                 \
    PLAIN(frame_name, TEXT, label)                  \
    PLAIN(frame_name, TEXT, path)                   \
    PLAIN(frame_name, NUMBER, line)

#define FRAMES_FIELDS(PLAIN, INNER, LIST)           \
    LIST(frames, ROWS, list, count, &frame_name_shape)

#define TREE_NODE_FIELDS(PLAIN, INNER, LIST)        \
    PLAIN(tree_node, SMALL, id)                     \
    PLAIN(tree_node, SMALL, parent)                 \
    PLAIN(tree_node, SMALL, frame)                  \
    PLAIN(tree_node, SMALL, line)                   \
    PLAIN(tree_node, SMALL, block)

#define TREE_SITE_FIELDS(PLAIN, INNER, LIST)        \
    PLAIN(tree_site, SMALL, node)                   \
    PLAIN(tree_site, SMALL, shift)                  \
    PLAIN(tree_site, COUNT, live)                   \
    PLAIN(tree_site, COUNT, allocated)              \
    PLAIN(tree_site, COUNT, bytes)                  \
    AGES_FIELDS(PLAIN, tree_site)

#define TREE_FIELDS(PLAIN, INNER, LIST)             \
    PLAIN(tree, SMALL, class_id)                    \
    PLAIN(tree, BOOL, key)                          \
    PLAIN(tree, NUMBER, flags)                      \
    PLAIN(tree, COUNT, live)                        \
    PLAIN(tree, COUNT, since_us)                    \
    PLAIN(tree, NUMBER, shift)                      \
    PLAIN(tree, COUNT, unsampled_live)              \
    PLAIN(tree, COUNT, unsampled_allocated)         \
    PLAIN(tree, COUNT, depth)                       \
    PLAIN(tree, COUNT, nodes_used)                  \
    PLAIN(tree, COUNT, nodes_room)                  \
    LIST(tree, ROWS, nodes, node_count, &tree_node_shape) \
    LIST(tree, ROWS, sites, site_count, &tree_site_shape)

#define VERDICT_ROW_FIELDS(PLAIN, INNER, LIST)      \
    PLAIN(verdict_row, SMALL, id)                   \
    PLAIN(verdict_row, NUMBER, verdict)             \
    AGES_FIELDS(PLAIN, verdict_row)                 \
    PLAIN(verdict_row, TEXT, reason)

#define VERDICTS_FIELDS(PLAIN, INNER, LIST)         \
    LIST(verdicts, ROWS, list, count, &verdict_row_shape)

#define TAG_NAME_FIELDS(PLAIN, INNER, LIST)         \
    PLAIN(tag_name, SMALL, id)                      \
    PLAIN(tag_name, TEXT, text)

#define TAG_ROW_FIELDS(PLAIN, INNER, LIST)          \
    PLAIN(tag_row, SMALL, id)                       \
    PLAIN(tag_row, COUNT, calls)                    \
    PLAIN(tag_row, COUNT, active)                   \
    PLAIN(tag_row, COUNT, allocated)                \
    PLAIN(tag_row, COUNT, freed)                    \
    PLAIN(tag_row, COUNT, live)                     \
    PLAIN(tag_row, COUNT, bytes)                    \
    AGES_FIELDS(PLAIN, tag_row)

#define TAG_CLASS_FIELDS(PLAIN, INNER, LIST)        \
    PLAIN(tag_class, SMALL, tag)                    \
    PLAIN(tag_class, SMALL, class_id)               \
    PLAIN(tag_class, COUNT, allocated)              \
    PLAIN(tag_class, COUNT, live)                   \
    PLAIN(tag_class, COUNT, bytes)                  \
    AGES_FIELDS(PLAIN, tag_class)

#define TAGS_FIELDS(PLAIN, INNER, LIST)             \
    PLAIN(tags_state, BOOL, key)                    \
    LIST(tags_state, ROWS, names, name_count, &tag_name_shape) \
    LIST(tags_state, ROWS, rows, row_count, &tag_row_shape) \
    LIST(tags_state, ROWS, classes, class_count, &tag_class_shape)

#define MARK_ROW_FIELDS(PLAIN, INNER, LIST)         \
    PLAIN(mark_row, SMALL, id)                      \
    PLAIN(mark_row, COUNT, live)                    \
    PLAIN(mark_row, COUNT, bytes)

#define MARK_PLACE_FIELDS(PLAIN, INNER, LIST)       \
    PLAIN(mark_place, SMALL, class_id)              \
    PLAIN(mark_place, SMALL, node)                  \
    PLAIN(mark_place, REAL, live)                   \
    PLAIN(mark_place, REAL, bytes)

#define MARK_FIELDS(PLAIN, INNER, LIST)             \
    PLAIN(mark_state, SMALL, letter)                \
    PLAIN(mark_state, BOOL, counted)                \
    PLAIN(mark_state, COUNT, live)                  \
    PLAIN(mark_state, COUNT, bytes)                 \
    PLAIN(mark_state, NUMBER, at_monotonic_us)      \
    PLAIN(mark_state, NUMBER, at_wall_us)           \
    LIST(mark_state, ROWS, rows, row_count, &mark_row_shape) \
    LIST(mark_state, ROWS, places, place_count, &mark_place_shape)

#define LEFT_ROW_FIELDS(PLAIN, INNER, LIST)         \
    PLAIN(left_row, SMALL, id)                      \
    PLAIN(left_row, COUNT, former_id)               \
    PLAIN(left_row, COUNT, gone_us)

#define LEFT_FIELDS(PLAIN, INNER, LIST)             \
    LIST(left, ROWS, list, count, &left_row_shape)

#define GAP_FIELDS(PLAIN, INNER, LIST)              \
    PLAIN(gap, COUNT, reason)                       \
    PLAIN(gap, TEXT, text)

#define KEY_FIELDS(PLAIN, INNER, LIST)              \
    PLAIN(key_group, BOOL, begin)                   \
    PLAIN(key_group, NUMBER, previous)              \
    PLAIN(key_group, NUMBER, ordinal)               \
    PLAIN(key_group, COUNT, live)                   \
    PLAIN(key_group, COUNT, rss_bytes)              \
    PLAIN(key_group, COUNT, gc_count)               \
    PLAIN(key_group, COUNT, mode)                   \
    PLAIN(key_group, NUMBER, earlier)

#define GREETING_FIELDS(PLAIN, INNER, LIST)         \
    PLAIN(greeting, NUMBER, version)                \
    PLAIN(greeting, TEXT, program_version)

#define REQUEST_FIELDS(PLAIN, INNER, LIST)          \
    PLAIN(request, NUMBER, id)                      \
    PLAIN(request, NUMBER, action)                  \
    PLAIN(request, NUMBER, argument)

#define NESTED(X)                                   \
    X(process_state, PROCESS_STATE)                 \
    X(probe_state, PROBE_STATE)                     \
    X(totals, TOTALS)                               \
    X(class_row, CLASS_ROW)                         \
    X(class_name, CLASS_NAME)                       \
    X(frame_name, FRAME_NAME)                       \
    X(tree_node, TREE_NODE)                         \
    X(tree_site, TREE_SITE)                         \
    X(verdict_row, VERDICT_ROW)                     \
    X(tag_name, TAG_NAME)                           \
    X(tag_row, TAG_ROW)                             \
    X(tag_class, TAG_CLASS)                         \
    X(mark_row, MARK_ROW)                           \
    X(mark_place, MARK_PLACE)                       \
    X(left_row, LEFT_ROW)

#define MESSAGES(X)                                 \
    X(hello, HELLO)                                 \
    X(names, NAMES)                                 \
    X(sample, SAMPLE)                               \
    X(notice, NOTICE)                               \
    X(result, RESULT)                               \
    X(bye, BYE)                                     \
    X(frames, FRAMES)                               \
    X(tree, TREE)                                   \
    X(verdicts, VERDICTS)                           \
    X(tags_state, TAGS)                             \
    X(mark_state, MARK)                             \
    X(gap, GAP)                                     \
    X(key_group, KEY)                               \
    X(left, LEFT)                                   \
    X(greeting, GREETING)                           \
    X(request, REQUEST)

#define PLAIN_FIELD(owner, type, member) \
    {#member, FIELD_##type, offsetof(struct owner, member), 0, NULL},
#define INNER_FIELD(owner, member, shape) \
    {#member, FIELD_STRUCT, offsetof(struct owner, member), 0, shape},
#define LIST_FIELD(owner, type, member, count, shape) \
    {#member, FIELD_##type, offsetof(struct owner, member), \
     offsetof(struct owner, count) - offsetof(struct owner, member), shape},

#define FIELD_TABLE(owner, OWNER)                          \
    static const struct field owner##_fields[] = {         \
        OWNER##_FIELDS(PLAIN_FIELD, INNER_FIELD, LIST_FIELD)};
#define NESTED_SHAPE(owner, OWNER)                         \
    static const struct shape owner##_shape = {            \
        #owner, sizeof(struct owner), owner##_fields,      \
        sizeof owner##_fields / sizeof owner##_fields[0]};
#define MESSAGE_SHAPE(owner, OWNER)                        \
    [MESSAGE_##OWNER] = {                                  \
        #owner, sizeof(struct owner), owner##_fields,      \
        sizeof owner##_fields / sizeof owner##_fields[0]},

NESTED(FIELD_TABLE)
NESTED(NESTED_SHAPE)
MESSAGES(FIELD_TABLE)

static const struct shape messages[] = {MESSAGES(MESSAGE_SHAPE)};
// clang-format on

const struct shape *
shape_of(uint8_t kind)
{
    if (kind >= sizeof messages / sizeof messages[0] || messages[kind].fields == NULL) {
        return NULL;
    }
    return &messages[kind];
}
