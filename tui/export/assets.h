/*
 * What an HTML report brings along: files of `assets/`, embedded by the build
 * (cmake/embed.rb).
 */
#ifndef TUI_EXPORT_ASSETS_H
#define TUI_EXPORT_ASSETS_H

struct asset {
    const char *text; // terminated; ASCII without < and &
    const char *hash; // "sha256-…", as a Content-Security-Policy says it
};

extern const struct asset asset_report_css;
extern const struct asset asset_report_js;

#endif
