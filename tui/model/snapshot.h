/*
 * The whole state of a model as messages, for recordings: applied to a new model, in
 * their order, they give one that is equal in everything but history and rates, which
 * are those of the first sample; two minutes of further messages later they are equal
 * too. What a recording can be entered at (a key group) is these messages between its
 * two KEYs, which are the writer's.
 *
 * The order is HELLO, NAMES, SAMPLE, FRAMES, TREE, VERDICTS, NOTICE, MARK, then what is
 * rarely there: LEFT for classes that went, BYE, GAP. Classes whose ids were another
 * connection's have ids from the far end of all ids until LEFT takes them back. Long
 * lists come in several messages, each far below what a frame may hold. While the probe
 * is dormant the key SAMPLE is empty and comes first, another with the last figures
 * follows the NAMES: a dormant key sample ends what ids mean.
 *
 * Stamps are those of the state: a SAMPLE's, NOTICE's and TREE's is when it came, all
 * others' the last sample's. So time does not run forward in a snapshot, and a TREE's
 * wall clock is the sample's.
 *
 * Which mark is in use, and whether this process took another's place, is not told: that
 * is what a viewer looks at.
 *
 * Memory is taken for the longest message, not for the whole.
 */
#ifndef TUI_MODEL_SNAPSHOT_H
#define TUI_MODEL_SNAPSHOT_H

#include "tui/model/model.h"

// Takes a message, which is borrowed until it returns; false ends the snapshot.
typedef bool snapshot_taker(void *context, const struct message *message);

// Hand all messages to `take` one by one. False when memory ran out or `take` was false.
bool snapshot_each(const struct model *model, snapshot_taker *take, void *context);

// Likewise one mark, 0 for A to MODEL_MARKS_MAX - 1 for Z, which must be set: what to
// record when somebody has set it. Stamped with the last sample's time.
bool snapshot_mark(const struct model *model, int mark, snapshot_taker *take,
                   void *context);

// Likewise in the words of `reader`: ids mean nothing from one process to another, so
// where the two are of different ones its classes are found by their names, the first
// of each, and places in call trees are not told.
bool snapshot_mark_for(const struct model *model, int mark, const struct model *reader,
                       snapshot_taker *take, void *context);

#endif
