/*
 * HTML and SVG, written as it comes: elements open and close, libxml2 escapes. The
 * one place that knows libxml2.
 *
 * What is written is HTML 5 and well-formed XML at once. Every text goes through
 * text_escape() first, so that no byte of a name can end it, hide or turn it round.
 * The first failure is kept, and nothing is written after it.
 */
#ifndef TUI_EXPORT_HTML_PAGE_H
#define TUI_EXPORT_HTML_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "tui/export/assets.h"

struct page;

// NULL when memory ran out. `out` is the caller's, and is flushed at the end.
struct page *page_new(FILE *out);

// Everything open is closed. False, with errno, when anything failed on the way.
bool page_finish(struct page *page);

// What follows need not be made: it would not be written.
bool page_failed(const struct page *page);

// Somebody who helps to fill the page ran out of memory.
void page_fail(struct page *page, int error);

void page_open(struct page *page, const char *element);
void page_close(struct page *page); // with a closing tag, whatever is in it
void page_end(struct page *page);   // of a void element, or of a shape: <path/>
void page_line(struct page *page);  // a new line, for who reads the source

// Of the element just opened.
void page_attribute(struct page *page, const char *name, const char *value);
void page_attribute_format(struct page *page, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void page_place(struct page *page, const char *name, double value); // one decimal

void page_text(struct page *page, const char *text);
void page_format(struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// <element class="…">text</element>; class may be NULL.
void page_element(struct page *page, const char *element, const char *class,
                  const char *text);

// <!DOCTYPE html>; <style> or <script> with an asset in it, byte for byte.
void page_doctype(struct page *page);
void page_asset(struct page *page, const char *element, const struct asset *asset);

#endif
