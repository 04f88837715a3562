#include "tui/view/help.h"

#include <stdio.h>
#include <string.h>

#include "tui/view/keymap.h"

#define KEYS_WIDTH 16
#define COMMANDS_WIDTH 32
#define WORDS_WIDTH 16

static void
write_bindings(struct page *page, const struct view_class *view)
{
    const struct binding *at = view != NULL ? view->bindings : view_everywhere;
    for (; at->action != ACTION_NONE; at++) {
        char keys[80];
        if (at->help != NULL) {
            keymap_names(keys, sizeof keys, page->scene->keymap, view, at,
                         page->scene->ascii);
            page_add(page, KEYS_WIDTH, STYLE_NORMAL, keys, at->help);
        }
    }
}

static void
write_heading(struct page *page, const char *heading)
{
    page_add(page, 0, STYLE_NORMAL, "", "");
    page_add(page, 0, STYLE_HEADING, "", heading);
}

static void
write_help(struct pager *pager, struct page *page)
{
    const struct help *help = (const struct help *)(const void *)pager;
    struct word word;
    struct help_command command;
    page_add(page, 0, STYLE_HEADING, "", "Keys here");
    write_bindings(page, help->about);
    write_heading(page, "Keys everywhere");
    write_bindings(page, NULL);
    write_heading(page, "Mouse");
    page_add(page, KEYS_WIDTH, STYLE_NORMAL, "click",
             "selects a row, orders by a heading (again: inverts), does what a key in "
             "the bottom line says; `:mouse off` leaves the mouse to the terminal");
    page_add(page, KEYS_WIDTH, STYLE_NORMAL, "wheel", "scrolls");
    write_heading(page, "Words");
    for (size_t i = 0;
         help->about->word != NULL && help->about->word(page->scene, i, &word); i++) {
        page_add(page, WORDS_WIDTH, STYLE_NORMAL, word.word, word.meaning);
    }
    page_add(page, WORDS_WIDTH, STYLE_NORMAL, page->scene->glyphs->unknown,
             "Nobody measured this: the mode cannot tell, or it is too early.");
    write_heading(page, "Commands, after :");
    for (size_t i = 0; help->command(i, &command); i++) {
        page_add(page, COMMANDS_WIDTH, STYLE_NORMAL, command.usage, command.help);
    }
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct help *help = (struct help *)(void *)view;
    char title[80];
    snprintf(title, sizeof title, "help: %s", help->about->name);
    pager_draw(&help->pager, scene, grid, area, title, write_help);
}

static const struct view_class help_class = {
    .name = "help",
    .extent = EXTENT_SCREEN,
    .bindings = pager_bindings,
    .draw = draw,
    .act = pager_act,
    .mouse = pager_mouse,
};

void
help_init(struct help *help, const struct view_class *about,
          bool (*command)(size_t index, struct help_command *command))
{
    *help = (struct help){
        .pager = {.view = {&help_class}}, .about = about, .command = command};
}
