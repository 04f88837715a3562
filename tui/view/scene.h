/*
 * What all views are drawn from and may set: the data, the time, how a person
 * wants to see it. The app owns it; views get it with every call.
 */
#ifndef TUI_VIEW_SCENE_H
#define TUI_VIEW_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/model/model.h"
#include "tui/view/glyphs.h"
#include "tui/view/link.h"
#include "tui/view/source.h"

#define SCENE_COMMAND_BYTES 512

struct fleet;
struct header_moment;
struct keymap;
struct merge;
struct strip_data;

struct scene {
    const struct model *model; // borrowed; as it was at the moment that is shown
    const struct glyphs *glyphs;
    uint64_t now_ms;    // monotonic
    uint64_t sample_ms; // when the last sample came
    uint64_t link_ms;   // since when the link is as it is
    enum link_state link;
    const char *link_detail; // borrowed: in words, "" for none
    const char *source;      // borrowed: where the probe is
    bool ascii;
    bool readonly; // nothing that changes the program may be asked for
    bool mouse;
    bool recording;            // into a file
    bool paused;               // the screen stands still, samples go on arriving
    bool exact;                // all digits instead of three and a unit
    bool by_bytes;             // changes and shares are of bytes instead of objects
    bool internal;             // classes that are not Ruby's are shown
    bool chosen;               // there is a program to show, not all of them alone
    bool spread;               // of what is merged each process has a column
    const struct fleet *fleet; // borrowed: all processes; NULL: they are not known here
    bool attended;             // memtop started the program
    const struct merge *merge; // borrowed: the model is a sum of several; NULL: it is not
    const struct header_moment *moment; // borrowed: another moment than now is shown
    const struct strip_data *strip;     // borrowed: the timeline; NULL for none
    const struct keymap *keymap;        // borrowed: a person's own keys; NULL for none
    source_reader *read_source;         // NULL: there are no files here
    const char *message; // borrowed: the last word to the person, "" for none
    bool message_error;  // it went wrong
    char command[SCENE_COMMAND_BYTES]; // what a view asks for, see OUTCOME_COMMAND
};

#endif
