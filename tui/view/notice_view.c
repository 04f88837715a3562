#include "tui/view/notice_view.h"

#include <stdio.h>
#include <time.h>

#include "tui/view/format.h"

#define WHEN_WIDTH 12

static void
write_notices(struct pager *pager, struct page *page)
{
    (void)pager;
    const struct model *model = page->scene->model;
    size_t count = model_notice_count(model);
    for (size_t i = count; i-- > 0;) {
        const struct model_notice *notice = model_notice_at(model, i);
        char ago[FORMAT_BYTES];
        char when[FORMAT_BYTES + 8];
        uint64_t now_us = model_time(model).monotonic_us;
        uint64_t at_us = notice->at.monotonic_us;
        format_duration(ago, now_us > at_us ? (now_us - at_us) / 1000000 : 0);
        snprintf(when, sizeof when, "%s ago", ago);
        page_add(page, WHEN_WIDTH,
                 notice->severity == NOTICE_WARNING ? STYLE_WARNING : STYLE_NORMAL, when,
                 notice->text);
    }
    if (count == 0) {
        page_add(page, 0, STYLE_NORMAL, "", "The probe has nothing to say.");
    }
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    pager_draw((struct pager *)(void *)view, scene, grid, area, "notices from the probe",
               write_notices);
}

static const struct view_class notices_class = {
    .name = "notices",
    .extent = EXTENT_SCREEN,
    .bindings = pager_bindings,
    .draw = draw,
    .act = pager_act,
    .mouse = pager_mouse,
};

void
notice_view_init(struct pager *pager)
{
    *pager = (struct pager){.view = {&notices_class}};
}
