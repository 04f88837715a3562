#include "tui/view/born_draw.h"

#include <math.h>
#include <stdio.h>

#include "tui/text/text.h"
#include "tui/view/born_words.h"
#include "tui/view/format.h"

const struct drill_column born_draw_columns[BORN_COLUMN_COUNT] = {
    {"name",  "CLASS",         0,  true,  false, true },
    {"kept",  "BORN AND KEPT", 20, true,  true,  false},
    {"",      "KNOWN",         11, false, true,  true },
    {"live",  "LIVE",          11, false, true,  false},
    {"share", "OF LIVE",       10, false, true,  false},
    {"alloc", "BORN",          13, false, false, false},
};

static enum style
write_kept(const struct scene *scene, struct born_range range,
           char text[DRILL_TEXT_BYTES])
{
    int room = born_draw_columns[BORN_COLUMN_KEPT].width - 1;
    born_words_range(text, scene, range, "", scene->glyphs->unknown, scene->exact);
    if (text_width(text) > room) {
        born_words_range(text, scene, range, "", scene->glyphs->unknown, false);
    }
    return range.least == 0 ? STYLE_DIM : STYLE_NORMAL;
}

static enum style
write_known(const struct born_line *line, char text[DRILL_TEXT_BYTES])
{
    bool exact = line->range.least == line->range.most && !line->estimated;
    snprintf(text, DRILL_TEXT_BYTES, "%s",
             exact             ? "exact"
             : line->estimated ? "estimated"
                               : "by counts");
    return exact ? STYLE_NORMAL : STYLE_DIM;
}

enum style
born_draw_figure(const struct drill *drill, const struct scene *scene, size_t row,
                 int column, char text[DRILL_TEXT_BYTES])
{
    const struct born_line line = born_view_line(born_view_of(drill), row);
    double live = format_number(line.live);
    void (*format)(char *, const struct glyphs *, double) =
        scene->exact ? format_grouped : format_short;
    switch (column) {
    case BORN_COLUMN_KEPT:
        return write_kept(scene, line.range, text);
    case BORN_COLUMN_KNOWN:
        return write_known(&line, text);
    case BORN_COLUMN_LIVE:
        format(text, scene->glyphs, live);
        return STYLE_NORMAL;
    case BORN_COLUMN_SHARE:
        format_percent(text, scene->glyphs,
                       line.live > 0 ? 100 * format_number(line.range.least) / live
                                     : (double)NAN);
        return STYLE_NORMAL;
    default:
        format(text, scene->glyphs, format_number(line.allocated));
        return STYLE_NORMAL;
    }
}
