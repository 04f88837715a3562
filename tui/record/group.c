#include "tui/record/group.h"

// A group while its frames come; they go into a buffer of their own, because the
// begin says what is only known from the sample among them.
struct maker {
    struct packer *packer;
    struct buffer frames;
    struct stamp at;
    struct key_group key;
    bool empty;
};

void
groups_begin(struct groups *groups, uint64_t bytes_max)
{
    *groups = (struct groups){.bytes_max = bytes_max, .first = true};
}

static bool
time_is_up(const struct groups *groups, uint64_t now_us)
{
    uint64_t interval = groups->interval_us > 0 ? groups->interval_us : GROUP_INTERVAL_US;
    // A clock that went back is another machine's, or was started anew.
    return now_us < groups->at_us || now_us - groups->at_us >= interval;
}

// A large state is not written again before as much as twice its size has come.
static bool
bytes_are_enough(const struct groups *groups)
{
    return groups->bytes_max > 0 && groups->bytes >= groups->bytes_max &&
           groups->bytes / 2 >= groups->group_bytes;
}

bool
groups_due(const struct groups *groups, const struct message *message)
{
    if (message->kind == MESSAGE_GAP) {
        return false;
    }
    if (groups->first) {
        return true;
    }
    // Behind a gap the state is an old one until a sample came.
    return message->kind == MESSAGE_SAMPLE && !groups->after_sample &&
           (groups->due || time_is_up(groups, message->at.monotonic_us) ||
            bytes_are_enough(groups));
}

void
groups_note(struct groups *groups, const struct message *message, uint64_t bytes)
{
    groups->bytes += bytes;
    if (message->kind == MESSAGE_GAP) {
        groups->after_sample = true;
    }
    if (message->kind == MESSAGE_SAMPLE && groups->after_sample) {
        groups->after_sample = false;
        groups->due = true;
    }
}

static bool
take(void *context, const struct message *message)
{
    struct maker *maker = context;
    maker->empty = false;
    if (message->kind == MESSAGE_SAMPLE) {
        maker->at = message->at;
        maker->key.live = message->sample.totals.live;
        maker->key.rss_bytes = message->sample.process.rss_bytes;
        maker->key.gc_count = message->sample.process.gc_count;
        maker->key.mode = message->sample.mode;
    }
    return pack_frame(maker->packer, &maker->frames, message);
}

static bool
pack_edge(struct maker *maker, struct buffer *out, bool begin, uint64_t previous)
{
    struct message edge = {.kind = MESSAGE_KEY, .at = maker->at, .key = maker->key};
    edge.key.begin = begin;
    edge.key.previous = previous;
    edge.key.earlier = begin ? maker->key.earlier : 0;
    return pack_frame(maker->packer, out, &edge);
}

static bool
pack_all(struct maker *maker, struct buffer *out, const struct state *state,
         uint64_t previous)
{
    size_t start = out->length;
    return (state == NULL || state->each(state->context, take, maker)) &&
           pack_edge(maker, out, true, previous) &&
           buffer_append(out, maker->frames.bytes, maker->frames.length) &&
           pack_edge(maker, out, false, out->length - start);
}

bool
groups_pack(struct groups *groups, struct packer *packer, struct buffer *out,
            const struct state *state, uint64_t offset, uint64_t earlier,
            struct stamp now)
{
    struct maker maker = {
        .packer = packer,
        .at = now,
        .key = {.ordinal = groups->ordinal + 1,
                .live = COUNT_UNKNOWN,
                .rss_bytes = COUNT_UNKNOWN,
                .gc_count = COUNT_UNKNOWN,
                .mode = COUNT_UNKNOWN,
                .earlier = earlier},
        .empty = true,
    };
    size_t start = out->length;
    bool packed = pack_all(&maker, out, state, groups->any ? offset - groups->begin : 0);
    buffer_destroy(&maker.frames);
    if (!packed) {
        out->length = start;
        out->failed = false;
        return false;
    }
    groups->ordinal++;
    groups->begin = offset;
    groups->any = true;
    groups->first = false;
    groups->due = false;
    // Nothing was known yet, or what was is of before a gap.
    groups->after_sample = groups->after_sample || maker.empty;
    groups->at_us = now.monotonic_us;
    groups->group_bytes = out->length - start;
    groups->bytes = 0;
    return true;
}
