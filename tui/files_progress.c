#include "tui/files_progress.h"

// As wide as the words get; blanks over them, because not each terminal can erase.
#define BLANK "                          "

void
progress_say(struct progress *progress, uint64_t now_ms, uint64_t done, uint64_t whole)
{
    if (progress->begun_ms == 0) {
        progress->begun_ms = progress->said_ms = now_ms;
    }
    if (progress->out == NULL || whole == 0 ||
        now_ms - progress->begun_ms < PROGRESS_AFTER_MS ||
        (progress->shown && now_ms - progress->said_ms < PROGRESS_EVERY_MS)) {
        return;
    }
    double part = done < whole ? (double)done / (double)whole : 1;
    fprintf(progress->out, "\rmemtop: reading … %.0f %%", part * 100);
    fflush(progress->out);
    progress->said_ms = now_ms;
    progress->shown = true;
}

void
progress_end(struct progress *progress)
{
    if (progress->shown) {
        fprintf(progress->out, "\r" BLANK "\r");
        fflush(progress->out);
    }
    progress->shown = false;
}
