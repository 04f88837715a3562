#include "tui/view/prompt.h"

#include <stdio.h>
#include <string.h>

#include "tui/text/text.h"

// clang-format off
static const struct binding bindings[] = {
    {ACTION_CHOOSE, {KEY_CODE_ENTER, '\n'}, "done", NULL},
    {ACTION_BACK, {KEY_CODE_ESCAPE, KEY_CONTROL('C'), KEY_CONTROL('G')}, "never mind", NULL},
    {ACTION_COMPLETE, {KEY_CODE_TAB}, "complete", NULL},
    {ACTION_UP, {KEY_CODE_UP, KEY_CONTROL('P')}, NULL, NULL},
    {ACTION_DOWN, {KEY_CODE_DOWN, KEY_CONTROL('N')}, NULL, NULL},
    {ACTION_TOP, {KEY_CODE_HOME, KEY_CONTROL('A')}, NULL, NULL},
    {ACTION_BOTTOM, {KEY_CODE_END, KEY_CONTROL('E')}, NULL, NULL},
    {ACTION_NONE, {0}, NULL, NULL},
};
// clang-format on

static struct prompt *
prompt_of(struct view *view)
{
    return (struct prompt *)(void *)view;
}

static void
set_text(struct prompt *prompt, const char *text)
{
    snprintf(prompt->text, sizeof prompt->text, "%s", text);
    prompt->cursor = strlen(prompt->text);
}

static void
draw(struct view *view, const struct scene *scene, struct grid *grid, struct area area)
{
    struct prompt *prompt = prompt_of(view);
    char sign[2] = {prompt->sign, '\0'};
    char left[PROMPT_BYTES];
    (void)scene;
    grid_put(grid, area.row, area.column + 1, 1, STYLE_ACCENT, sign);
    // a long text is shown from where its cursor can be seen
    int room = area.columns - 4;
    snprintf(left, sizeof left, "%.*s", (int)prompt->cursor, prompt->text);
    size_t from = 0;
    while (text_width(left + from) > room && left[from] != '\0') {
        size_t step = text_cut(left + from, 2);
        from += step > 0 ? step : 1;
    }
    prompt->used = 2 + grid_put(grid, area.row, area.column + 2, room + 1, STYLE_NORMAL,
                                prompt->text + from);
    int cursor = area.column + 2 + text_width(left + from);
    grid->cursor_row = area.row;
    grid->cursor_column = cursor < grid->columns ? cursor : grid->columns - 1;
}

// The text changed: a filter works at once.
static unsigned
changed(struct prompt *prompt, struct scene *scene)
{
    if (prompt->command == NULL) {
        return OUTCOME_DRAW;
    }
    snprintf(scene->command, sizeof scene->command, "%s %s", prompt->command,
             prompt->text);
    return OUTCOME_DRAW | OUTCOME_COMMAND;
}

static void
insert(struct prompt *prompt, uint32_t character)
{
    char bytes[TEXT_CHARACTER_BYTES];
    size_t length = strlen(prompt->text);
    size_t used = text_encode(character, bytes);
    if (length + used >= sizeof prompt->text) {
        return;
    }
    memmove(prompt->text + prompt->cursor + used, prompt->text + prompt->cursor,
            length - prompt->cursor + 1);
    memcpy(prompt->text + prompt->cursor, bytes, used);
    prompt->cursor += used;
}

// Where the character before or after a byte of the text begins.
static size_t
step(const struct prompt *prompt, size_t at, int by)
{
    size_t to = at;
    if (by < 0 && to > 0) {
        do {
            to--;
        } while (to > 0 && ((unsigned char)prompt->text[to] & 0xc0) == 0x80);
    } else if (by > 0 && prompt->text[to] != '\0') {
        do {
            to++;
        } while (((unsigned char)prompt->text[to] & 0xc0) == 0x80);
    }
    return to;
}

static void
cut(struct prompt *prompt, size_t from, size_t to)
{
    memmove(prompt->text + from, prompt->text + to, strlen(prompt->text + to) + 1);
    prompt->cursor = from;
}

static size_t
word_start(const struct prompt *prompt)
{
    size_t at = prompt->cursor;
    while (at > 0 && prompt->text[at - 1] == ' ') {
        at--;
    }
    while (at > 0 && prompt->text[at - 1] != ' ') {
        at--;
    }
    return at;
}

// True when the key changed the text.
static bool
edit(struct prompt *prompt, uint32_t code)
{
    size_t at = prompt->cursor;
    switch (code) {
    case KEY_CODE_BACKSPACE:
    case KEY_CONTROL('H'):
        cut(prompt, step(prompt, at, -1), at);
        return true;
    case KEY_CODE_DELETE:
    case KEY_CONTROL('D'):
        cut(prompt, at, step(prompt, at, 1));
        return true;
    case KEY_CONTROL('U'):
        cut(prompt, 0, at);
        return true;
    case KEY_CONTROL('K'):
        cut(prompt, at, strlen(prompt->text));
        return true;
    case KEY_CONTROL('W'):
        cut(prompt, word_start(prompt), at);
        return true;
    default:
        if (code >= KEY_CODE_SPECIAL || text_hostile(code)) {
            return false;
        }
        insert(prompt, code);
        return true;
    }
}

static unsigned
type(struct view *view, struct scene *scene, struct key key)
{
    struct prompt *prompt = prompt_of(view);
    if (key.code == KEY_CODE_LEFT || key.code == KEY_CODE_RIGHT) {
        prompt->cursor = step(prompt, prompt->cursor, key.code == KEY_CODE_LEFT ? -1 : 1);
        return OUTCOME_DRAW;
    }
    bool empty = prompt->text[0] == '\0';
    if (empty && (key.code == KEY_CODE_BACKSPACE || key.code == KEY_CONTROL('H'))) {
        return OUTCOME_CLOSE | OUTCOME_DRAW;
    }
    return edit(prompt, key.code) ? changed(prompt, scene) : OUTCOME_NONE;
}

static void
remember(struct prompt_history *history, const char *text)
{
    if (text[0] == '\0' ||
        (history->count > 0 && strcmp(history->lines[history->count - 1], text) == 0)) {
        return;
    }
    if (history->count == PROMPT_HISTORY) {
        memmove(history->lines[0], history->lines[1],
                sizeof history->lines - sizeof history->lines[0]);
        history->count--;
    }
    snprintf(history->lines[history->count++], PROMPT_BYTES, "%s", text);
}

static unsigned
recall(struct prompt *prompt, struct scene *scene, int by)
{
    int past = prompt->past + by;
    if (past < 0 || past > prompt->history->count) {
        return OUTCOME_NONE;
    }
    prompt->past = past;
    set_text(prompt,
             past == 0 ? "" : prompt->history->lines[prompt->history->count - past]);
    return changed(prompt, scene);
}

// Lengthen the text by what all candidates that begin with it agree on.
static unsigned
complete(struct prompt *prompt)
{
    const char *found = NULL;
    size_t agreed = 0;
    size_t length = strlen(prompt->text);
    if (prompt->candidate == NULL) {
        return OUTCOME_NONE;
    }
    for (size_t i = 0; prompt->candidate(i) != NULL; i++) {
        const char *candidate = prompt->candidate(i);
        if (strncmp(candidate, prompt->text, length) != 0) {
            continue;
        }
        if (found == NULL) {
            found = candidate;
            agreed = strlen(candidate);
        }
        size_t same = 0;
        while (same < agreed && candidate[same] == found[same]) {
            same++;
        }
        agreed = same;
    }
    if (found != NULL && agreed > length && agreed < sizeof prompt->text) {
        memcpy(prompt->text, found, agreed);
        prompt->text[agreed] = '\0';
        prompt->cursor = agreed;
    }
    return OUTCOME_DRAW;
}

static unsigned
act(struct view *view, struct scene *scene, enum action action, struct key key)
{
    struct prompt *prompt = prompt_of(view);
    (void)key;
    switch (action) {
    case ACTION_CHOOSE:
        remember(prompt->history, prompt->text);
        snprintf(scene->command, sizeof scene->command, "%s%s%s",
                 prompt->command != NULL ? prompt->command : "",
                 prompt->command != NULL ? " " : "", prompt->text);
        return OUTCOME_CLOSE | OUTCOME_COMMAND | OUTCOME_DRAW;
    case ACTION_BACK:
        set_text(prompt, prompt->before);
        return changed(prompt, scene) | OUTCOME_CLOSE;
    case ACTION_COMPLETE:
        return complete(prompt);
    case ACTION_UP:
        return recall(prompt, scene, 1);
    case ACTION_DOWN:
        return recall(prompt, scene, -1);
    case ACTION_TOP:
        prompt->cursor = 0;
        return OUTCOME_DRAW;
    default:
        prompt->cursor = strlen(prompt->text);
        return OUTCOME_DRAW;
    }
}

static const struct view_class prompt_class = {
    .name = "prompt",
    .extent = EXTENT_LINE,
    .takes_text = true,
    .bindings = bindings,
    .draw = draw,
    .act = act,
    .type = type,
};

void
prompt_init(struct prompt *prompt, char sign, const char *command,
            struct prompt_history *history, const char *(*candidate)(size_t index),
            const char *text)
{
    *prompt = (struct prompt){.view = {&prompt_class},
                              .sign = sign,
                              .command = command,
                              .history = history,
                              .candidate = candidate};
    snprintf(prompt->before, sizeof prompt->before, "%s", text);
    set_text(prompt, text);
}
