#include "tui/view/glyphs.h"

static const struct glyphs utf8 = {
    .up = "▲",
    .down = "▼",
    .same = "=",
    .unknown = "–",
    .cursor = "▶",
    .more = "…",
    .dot = "·",
    .change = "Δ",
    .open = "▾",
    .folded = "▸",
    .branch = "├",
    .branch_last = "└",
    .branch_past = "│",
    .into = "▸",
    .around = "±",
    .times = "×",
    .descending = "↓",
    .ascending = "↑",
    .moment = "◆",
    .newest = "●",
    .track = "·",
    .hole = ":",
    .levels = {"▁",  "▂", "▃", "▄", "▅", "▆", "▇", "█"},
    .across = "─",
    .along = "│",
    .corners = {"┌", "┐", "└", "┘"     },
};

static const struct glyphs ascii = {
    .up = "^",
    .down = "v",
    .same = "=",
    .unknown = "-",
    .cursor = ">",
    .more = "...",
    .dot = "|",
    .change = "chg",
    .open = "-",
    .folded = "+",
    .branch = "|",
    .branch_last = "`",
    .branch_past = "|",
    .into = ">",
    .around = "+-",
    .times = "x",
    .descending = "v",
    .ascending = "^",
    .moment = "^",
    .newest = "o",
    .track = ".",
    .hole = "?",
    .levels = {".",  ":", "-", "=", "+", "*", "#", "@"},
    .across = "-",
    .along = "|",
    .corners = {"+", "+", "+", "+"   },
};

const struct glyphs *
glyphs_of(bool wants_ascii)
{
    return wants_ascii ? &ascii : &utf8;
}
