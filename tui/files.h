/*
 * The commands about recordings that need no screen: verify, cut, export, diff and
 * check. Each prints, says on standard error what is wrong, and returns how memtop
 * ends.
 */
#ifndef TUI_FILES_H
#define TUI_FILES_H

#include "tui/cli/cli.h"

struct tape;

enum cli_status files_run(const struct cli *cli);

// Open a recording; NULL after having said why not.
struct tape *files_open(const char *path);

// The wall time that a person wrote, on this tape; `otherwise` when nothing was written.
// False after having said what is wrong with it.
bool files_time(const struct tape *tape, const char *option, const char *text,
                uint64_t otherwise, uint64_t *wall_us);

#endif
