#include "tui/record/cursor.h"

void
cursor_start(struct cursor *cursor, const struct tape *tape)
{
    *cursor = (struct cursor){.offset = tape_first(tape)};
}

bool
cursor_seek(struct cursor *cursor, struct tape *tape, uint64_t wall_us)
{
    const struct tape_key *key = tape_key_at(tape, tape_key_before(tape, wall_us));
    cursor_start(cursor, tape);
    if (key == NULL) {
        return false;
    }
    cursor->offset = key->offset;
    return true;
}

static void
lose(struct cursor *cursor)
{
    cursor->whole = false;
    cursor->sound = false;
    cursor->in_group = false;
}

static void
at_edge(struct cursor *cursor, const struct key_group *key)
{
    if (key->begin) {
        cursor->in_group = true;
        cursor->sound = true;
    } else if (cursor->in_group) {
        cursor->in_group = false;
        cursor->whole = cursor->whole || cursor->sound;
    }
}

enum tape_status
cursor_next(struct cursor *cursor, struct tape *tape, struct message *message)
{
    cursor->lost = 0;
    for (;;) {
        struct tape_frame frame;
        enum tape_status status = tape_read(tape, cursor->offset, &frame, message);
        if (status == TAPE_FAILED) {
            return status;
        }
        cursor->offset = frame.next;
        cursor->lost += frame.lost;
        if (frame.lost > 0) {
            lose(cursor);
        }
        if (status == TAPE_END) {
            return status;
        }
        if (message->kind == MESSAGE_KEY) {
            at_edge(cursor, &message->key);
            continue;
        }
        if (cursor->in_group && cursor->whole) {
            continue;
        }
        cursor->repeated = cursor->in_group;
        if (message->kind == MESSAGE_GAP && !cursor->in_group) {
            lose(cursor);
        }
        return status;
    }
}
