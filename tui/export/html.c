#include "tui/export/html.h"

#include <errno.h>

#include "tui/export/html/report.h"
#include "tui/export/words.h"
#include "version.h"

static void
write_meta(struct page *page, const char *name, const char *content)
{
    page_open(page, "meta");
    page_attribute(page, "name", name);
    page_attribute(page, "content", content);
    page_end(page);
}

// First in the page, so that nothing comes before it is in force.
static void
write_policy(struct page *page)
{
    page_open(page, "meta");
    page_attribute(page, "charset", "utf-8");
    page_end(page);
    page_open(page, "meta");
    page_attribute(page, "http-equiv", "Content-Security-Policy");
    page_attribute_format(page, "content",
                          "default-src 'none'; style-src '%s'; script-src '%s'; "
                          "base-uri 'none'; form-action 'none'",
                          asset_report_css.hash, asset_report_js.hash);
    page_end(page);
}

static void
write_head(const struct report *report)
{
    struct page *page = report->page;
    const struct hello *hello = model_hello(report->model);
    char day[WORDS_TIME_BYTES];
    words_time(day, model_time(report->model).wall_us);
    page_open(page, "head");
    write_policy(page);
    page_open(page, "title");
    page_format(page, "%s, %.10s \xc2\xb7 memtop",
                hello->command.bytes != NULL && *hello->command.bytes != '\0'
                    ? hello->command.bytes
                    : "Ruby heap",
                day);
    page_close(page);
    write_meta(page, "viewport", "width=device-width, initial-scale=1");
    write_meta(page, "color-scheme", "light dark");
    write_meta(page, "referrer", "no-referrer");
    write_meta(page, "generator", "memtop " MEMTOP_VERSION);
    page_line(page);
    page_asset(page, "style", &asset_report_css);
    page_close(page);
    page_line(page);
}

static void
write_body(struct report *report)
{
    struct page *page = report->page;
    page_open(page, "body");
    page_line(page);
    report_head(report);
    page_open(page, "main");
    page_line(page);
    report_suspects(report);
    report_missing(report);
    report_charts(report);
    report_classes(report);
    report_trees(report);
    page_close(page);
    page_open(page, "footer");
    page_open(page, "p");
    page_text(page, "Written by memtop " MEMTOP_VERSION ". This file is complete in "
                    "itself and fetches nothing.");
    page_close(page);
    page_close(page);
    page_line(page);
    page_asset(page, "script", &asset_report_js);
    page_close(page);
}

bool
html_write(const struct model *model, const struct html_series *series, FILE *out)
{
    struct report report = {.model = model, .series = series};
    if (!listing_init(&report.listing, model, false)) {
        errno = ENOMEM;
        return false;
    }
    report.page = page_new(out);
    if (report.page == NULL) {
        listing_destroy(&report.listing);
        errno = ENOMEM;
        return false;
    }
    page_doctype(report.page);
    page_open(report.page, "html");
    page_attribute(report.page, "lang", "en");
    write_head(&report);
    write_body(&report);
    page_close(report.page);
    page_line(report.page);
    listing_destroy(&report.listing);
    return page_finish(report.page);
}
