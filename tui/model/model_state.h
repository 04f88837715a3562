/*
 * The inside of a model, for model.c, which changes it, and for snapshot.c, which
 * tells all of it.
 */
#ifndef TUI_MODEL_MODEL_STATE_H
#define TUI_MODEL_MODEL_STATE_H

#include "tui/model/classes.h"
#include "tui/model/marks.h"
#include "tui/model/notices.h"
#include "tui/model/rates.h"
#include "tui/model/tags.h"
#include "tui/model/timeline.h"
#include "tui/model/trees.h"

// Texts of a hello and a bye, each owned.
enum kept_text {
    KEPT_PROGRAM_VERSION,
    KEPT_COMMAND,
    KEPT_RUNTIME,
    KEPT_BYE,
    KEPT_COUNT,
};

struct model {
    struct classes classes;
    struct marks marks;
    struct notices notices;
    struct timeline timeline;
    struct rates rates;
    struct trees trees;
    struct tags_kept tags;
    struct model_rates totals_rates;
    uint64_t series[MODEL_SERIES_COUNT][MODEL_HISTORY]; // of second % MODEL_HISTORY
    char *texts[KEPT_COUNT];                            // owned
    struct hello hello;
    struct sample sample;
    struct bye bye;
    struct stamp at;        // of the last sample
    struct stamp connected; // of the first sample of this process
    uint64_t number;        // of samples that came, those that failed included
    uint64_t version;
    bool sampled;
    bool ended;      // a bye came
    bool continuous; // a class that was not there at the last sample had no object
    bool restarted;  // the last hello was another process's
    bool rebase;     // the next sample starts "since connecting" anew
    bool judged;     // a verdict came
};

#endif
