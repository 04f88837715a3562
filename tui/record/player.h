/*
 * The model as it was at a moment of a tape.
 *
 * A moment is a sample and all that came before the next one: its trees, verdicts,
 * notices. A seek begins PLAYER_HISTORY_US earlier, so that the two minutes of history
 * are there, and costs one key group and the messages since; going on from there costs
 * the messages alone. The tape may grow meanwhile.
 */
#ifndef TUI_RECORD_PLAYER_H
#define TUI_RECORD_PLAYER_H

#include "tui/model/model.h"
#include "tui/record/cursor.h"

#define PLAYER_HISTORY_US ((MODEL_HISTORY + 5) * UINT64_C(1000000))

// Starts with the tape alone; player_destroy() leaves it so again.
struct player {
    struct tape *tape;   // borrowed
    struct model *model; // owned; NULL before a seek
    struct cursor cursor;
    uint64_t lost; // bytes passed over on the way, since the seek
};

void player_destroy(struct player *player);

// To the last sample at or before the wall time, or the first one there is. The model
// is another one then. False when memory ran out, the tape cannot be read or holds no
// sample: the model is then the one of before.
bool player_seek(struct player *player, uint64_t wall_us);

// On to the last sample at or before the wall time, in the same model. True when there
// was something new. `good` is false when memory ran out or the tape cannot be read.
bool player_advance(struct player *player, uint64_t wall_us, bool *good);

// Wall time of the sample that is shown, and of the next one; false when there is none.
uint64_t player_time(const struct player *player);
bool player_next_time(const struct player *player, uint64_t *wall_us);

#endif
