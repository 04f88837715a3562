#include "tui/run.h"

int
run_command(const struct cli *cli, enum theme theme)
{
    (void)cli;
    (void)theme;
    return STATUS_BROKEN;
}
