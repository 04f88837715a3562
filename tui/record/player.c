#include "tui/record/player.h"

void
player_destroy(struct player *player)
{
    model_free(player->model);
    *player = (struct player){.tape = player->tape};
}

// Whether a message is of a later moment than `wall_us`.
static bool
later(const struct message *message, bool repeated, uint64_t wall_us)
{
    switch (message->kind) {
    case MESSAGE_SAMPLE:
    case MESSAGE_HELLO:
    case MESSAGE_GAP:
    case MESSAGE_BYE:
        return !repeated && message->at.wall_us > wall_us;
    default:
        return false;
    }
}

// Apply what belongs to moments up to `wall_us`; the first sample there is in any case.
static enum tape_status
play(struct player *player, uint64_t wall_us, bool *any)
{
    for (;;) {
        struct message message;
        struct cursor before = player->cursor;
        enum tape_status status = cursor_next(&player->cursor, player->tape, &message);
        if (status != TAPE_FRAME) {
            return status;
        }
        if (model_sampled(player->model) &&
            later(&message, player->cursor.repeated, wall_us)) {
            player->cursor = before;
            return TAPE_END;
        }
        player->lost += player->cursor.lost;
        if (!model_apply(player->model, &message)) {
            player->cursor = before;
            return TAPE_FAILED;
        }
        *any = true;
    }
}

bool
player_seek(struct player *player, uint64_t wall_us)
{
    struct player made = {.tape = player->tape, .model = model_new()};
    bool any = false;
    if (made.model == NULL) {
        return false;
    }
    struct stamp first;
    struct stamp last;
    // Beyond the end is the end, also where the wall clock was set back on the way.
    bool beyond = tape_span(made.tape, &first, &last) && wall_us > last.wall_us;
    uint64_t from = beyond ? last.wall_us : wall_us;
    from = from > PLAYER_HISTORY_US ? from - PLAYER_HISTORY_US : 0;
    cursor_seek(&made.cursor, made.tape, from);
    if (play(&made, wall_us, &any) == TAPE_FAILED || !model_sampled(made.model)) {
        player_destroy(&made);
        return false;
    }
    player_destroy(player);
    *player = made;
    return true;
}

bool
player_advance(struct player *player, uint64_t wall_us, bool *good)
{
    bool any = false;
    *good = play(player, wall_us, &any) != TAPE_FAILED;
    return any;
}

uint64_t
player_time(const struct player *player)
{
    return player->model != NULL ? model_time(player->model).wall_us : 0;
}

bool
player_next_time(const struct player *player, uint64_t *wall_us)
{
    struct cursor look = player->cursor;
    struct message message;
    while (cursor_next(&look, player->tape, &message) == TAPE_FRAME) {
        if (message.kind == MESSAGE_SAMPLE && !look.repeated) {
            *wall_us = message.at.wall_us;
            return true;
        }
    }
    return false;
}
