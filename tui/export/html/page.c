#include "tui/export/html/page.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <libxml/xmlerror.h>
#include <libxml/xmlwriter.h>

#include "tui/text/text.h"

// Longer texts take memory of their own.
#define SPARE_BYTES 1024

struct page {
    xmlTextWriterPtr writer; // owned
    FILE *out;               // borrowed
    int error;               // the first one, 0 while all is well
    xmlStructuredErrorFunc other_handler;
    void *other_context;
    xmlGenericErrorFunc other_speaker;
    void *other_stream;
};

void
page_fail(struct page *page, int error)
{
    page->error = page->error != 0 ? page->error : error;
}

bool
page_failed(const struct page *page)
{
    return page->error != 0;
}

static const xmlChar *
xml(const char *text)
{
    return (const xmlChar *)text;
}

// libxml2 would print what it thinks of a stream that refuses, so it is not told.
static int
write_out(void *context, const char *bytes, int length)
{
    struct page *page = context;
    errno = 0;
    if (page->error == 0 &&
        fwrite(bytes, 1, (size_t)length, page->out) < (size_t)length) {
        page_fail(page, errno != 0 ? errno : EIO);
    }
    return length;
}

// Some of libxml2's functions return well although memory ran out, and leave out what
// they should have written. All of them say so in one of these two ways.
static void
hear(void *context, xmlErrorPtr error)
{
    (void)error;
    page_fail(context, ENOMEM);
}

static void hear_words(void *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
hear_words(void *context, const char *format, ...)
{
    (void)format;
    page_fail(context, ENOMEM);
}

static void
check(struct page *page, int status)
{
    if (status < 0) {
        page_fail(page, ENOMEM);
    }
}

static void
stop_hearing(const struct page *page)
{
    xmlSetStructuredErrorFunc(page->other_context, page->other_handler);
    xmlSetGenericErrorFunc(page->other_stream, page->other_speaker);
}

struct page *
page_new(FILE *out)
{
    struct page *page = malloc(sizeof *page);
    if (page == NULL) {
        return NULL;
    }
    *page = (struct page){.out = out};
    page->other_handler = xmlStructuredError;
    page->other_context = xmlStructuredErrorContext;
    page->other_speaker = xmlGenericError;
    page->other_stream = xmlGenericErrorContext;
    xmlSetStructuredErrorFunc(page, hear);
    xmlSetGenericErrorFunc(page, hear_words);
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateIO(write_out, NULL, page, NULL);
    if (buffer != NULL) {
        page->writer = xmlNewTextWriter(buffer);
    }
    if (page->writer == NULL) {
        xmlOutputBufferClose(buffer);
        stop_hearing(page);
        free(page);
        return NULL;
    }
    return page;
}

bool
page_finish(struct page *page)
{
    if (page->error == 0) {
        check(page, xmlTextWriterEndDocument(page->writer));
    }
    xmlFreeTextWriter(page->writer); // writes what it held back
    errno = 0;
    if (page->error == 0 && (fflush(page->out) != 0 || ferror(page->out))) {
        page_fail(page, errno != 0 ? errno : EIO);
    }
    stop_hearing(page);
    int error = page->error;
    free(page);
    errno = error;
    return error == 0;
}

void
page_open(struct page *page, const char *element)
{
    if (page->error == 0) {
        check(page, xmlTextWriterStartElement(page->writer, xml(element)));
    }
}

void
page_close(struct page *page)
{
    if (page->error == 0) {
        check(page, xmlTextWriterFullEndElement(page->writer));
    }
}

void
page_end(struct page *page)
{
    if (page->error == 0) {
        check(page, xmlTextWriterEndElement(page->writer));
    }
}

void
page_line(struct page *page)
{
    if (page->error == 0) {
        check(page, xmlTextWriterWriteRaw(page->writer, xml("\n")));
    }
}

// Escaped for people; libxml2 then escapes it for the browser.
static void
with_escaped(struct page *page, const char *text, const char *attribute)
{
    char spare[SPARE_BYTES * TEXT_ESCAPE_GROWTH + 1];
    char *owned = NULL;
    size_t length = strlen(text);
    if (length <= SPARE_BYTES) {
        text_escape(spare, sizeof spare, text, length);
    } else {
        owned = text_escaped(text, length);
        if (owned == NULL) {
            page_fail(page, ENOMEM);
            return;
        }
    }
    const xmlChar *shown = xml(owned != NULL ? owned : spare);
    check(page, attribute != NULL
                    ? xmlTextWriterWriteAttribute(page->writer, xml(attribute), shown)
                    : xmlTextWriterWriteString(page->writer, shown));
    free(owned);
}

void
page_attribute(struct page *page, const char *name, const char *value)
{
    if (page->error == 0) {
        with_escaped(page, value, name);
    }
}

void
page_text(struct page *page, const char *text)
{
    if (page->error == 0) {
        with_escaped(page, text, NULL);
    }
}

static void format_text(struct page *page, const char *attribute, const char *format,
                        va_list values) __attribute__((format(printf, 3, 0)));

static void
format_text(struct page *page, const char *attribute, const char *format, va_list values)
{
    char spare[SPARE_BYTES];
    char *owned = NULL;
    va_list again;
    va_copy(again, values);
    int length = vsnprintf(spare, sizeof spare, format, values);
    if (length >= (int)sizeof spare) {
        owned = malloc((size_t)length + 1);
        if (owned != NULL) {
            vsnprintf(owned, (size_t)length + 1, format, again);
        }
    }
    va_end(again);
    if (length < 0 || (length >= (int)sizeof spare && owned == NULL)) {
        page_fail(page, ENOMEM);
    } else {
        with_escaped(page, owned != NULL ? owned : spare, attribute);
    }
    free(owned);
}

void
page_attribute_format(struct page *page, const char *name, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (page->error == 0) {
        format_text(page, name, format, values);
    }
    va_end(values);
}

void
page_format(struct page *page, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    if (page->error == 0) {
        format_text(page, NULL, format, values);
    }
    va_end(values);
}

void
page_place(struct page *page, const char *name, double value)
{
    double tenths = round(value * 10);
    page_attribute_format(page, name, "%.*f", fmod(tenths, 10) != 0, tenths / 10);
}

void
page_element(struct page *page, const char *element, const char *class, const char *text)
{
    page_open(page, element);
    if (class != NULL) {
        page_attribute(page, "class", class);
    }
    page_text(page, text);
    page_close(page);
}

void
page_doctype(struct page *page)
{
    if (page->error == 0) {
        check(page, xmlTextWriterWriteDTD(page->writer, xml("html"), NULL, NULL, NULL));
        page_line(page);
    }
}

void
page_asset(struct page *page, const char *element, const struct asset *asset)
{
    page_open(page, element);
    if (page->error == 0) {
        check(page, xmlTextWriterWriteRaw(page->writer, xml(asset->text)));
    }
    page_close(page);
    page_line(page);
}
