#include "tui/export/export.h"

#include <string.h>

#include "tui/export/csv.h"
#include "tui/export/folded.h"
#include "tui/export/jsonl.h"
#include "tui/export/pprof.h"
#include "tui/export/speedscope.h"
#include "tui/model/tree.h"

static const struct export_format formats[] = {
    {"folded",     "call paths for flamegraph.pl and its like",  folded_write,     true,  false},
    {"speedscope", "call paths for speedscope.app",              speedscope_write, true,  false},
    {"pprof",      "call paths for go tool pprof",               pprof_write,      true,  true },
    {"csv",        "classes for spreadsheets and data tools",    csv_write,        false, false},
    {"csv-paths",  "call paths for the same",                    csv_write_paths,  true,  false},
    {"json",       "classes, then call paths, an object a line", jsonl_write,      false, false},
};

#define FORMATS (sizeof(formats) / sizeof(*formats))

const struct export_format *
export_format_at(size_t index)
{
    return index < FORMATS ? &formats[index] : NULL;
}

const struct export_format *
export_format_find(const char *name)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    return NULL;
}

bool
export_has_paths(const struct model *model)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        if (model_tree(model, model_class_at(model, i)->id)) {
            return true;
        }
    }
    return false;
}
