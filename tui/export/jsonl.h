/*
 * JSON lines: an object for each class, most alive first, then one for each call path
 * of the classes that have a tree. "kind" says which, so that `jq` and its like can
 * choose: {"kind": "class", "name", "live", …}, as in document.h, with "ages"; and
 * {"kind": "path", "class", "stack": [{"label", "path", "line"}…], "live", "error",
 * "allocated", "bytes", "ages"}, the outermost frame first; of what no path accounts
 * for the stack is empty. What nobody measured is null.
 */
#ifndef TUI_EXPORT_JSONL_H
#define TUI_EXPORT_JSONL_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/export/export.h"

// False when memory ran out or the stream refused; errno says which.
bool jsonl_write(const struct model *model, const struct export_options *options,
                 FILE *out);

#endif
