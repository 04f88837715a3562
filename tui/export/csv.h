/*
 * Tables for spreadsheets and data tools, as RFC 4180 has them: a header line, CRLF,
 * texts in quotation marks with those in them doubled, numbers bare. What nobody
 * measured is empty.
 *
 * A spreadsheet runs a text that starts with one of = + - @ as a formula, and a program
 * may call its classes so. Such a text has a ' before it, and so has one that starts
 * with a ' itself: who takes one ' away from the front has what the program said.
 */
#ifndef TUI_EXPORT_CSV_H
#define TUI_EXPORT_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/export/export.h"

// Classes, a row each: names, counts, verdicts, ages. False when memory ran out or the
// stream refused; errno says which.
bool csv_write(const struct model *model, const struct export_options *options,
               FILE *out);

// Call paths, a row each: of every class that has a tree. `stack` is the labels from
// the outermost to the innermost, with ";" between them (":" within them); the columns
// behind it are the innermost frame's. Likewise.
bool csv_write_paths(const struct model *model, const struct export_options *options,
                     FILE *out);

#endif
