#include "tui/config/settings.h"

#include <inttypes.h>
#include <string.h>

#include "tui/text/amount.h"

#define WORD_BYTES 32

/* Yes or no. */

static bool
set_switch(bool *value, const char *text, char why[SETTINGS_WHY_BYTES])
{
    bool yes = strcmp(text, "yes") == 0;
    if (!yes && strcmp(text, "no") != 0) {
        snprintf(why, SETTINGS_WHY_BYTES, "it is yes or no");
        return false;
    }
    *value = yes;
    return true;
}

static void
get_switch(bool value, char text[SETTINGS_VALUE_BYTES])
{
    snprintf(text, SETTINGS_VALUE_BYTES, "%s", value ? "yes" : "no");
}

// A pair of functions for a field that is yes or no.
#define SWITCH(name, field)                                                              \
    static bool set_##name(struct config *config, const char *value,                     \
                           char why[SETTINGS_WHY_BYTES])                                 \
    {                                                                                    \
        return set_switch(&config->field, value, why);                                   \
    }                                                                                    \
    static void get_##name(const struct config *config,                                  \
                           char value[SETTINGS_VALUE_BYTES])                             \
    {                                                                                    \
        get_switch(config->field, value);                                                \
    }

SWITCH(ascii, ascii)
SWITCH(mouse, mouse)
SWITCH(readonly, readonly)
SWITCH(internal, choices.internal)
SWITCH(exact, choices.exact)
SWITCH(by_bytes, choices.by_bytes)
SWITCH(inverted, choices.inverted)

/* Words. */

static bool
set_theme(struct config *config, const char *value, char why[SETTINGS_WHY_BYTES])
{
    if (theme_parse(value, &config->theme)) {
        return true;
    }
    snprintf(why, SETTINGS_WHY_BYTES, "there are default, mono and colorblind");
    return false;
}

static void
get_theme(const struct config *config, char value[SETTINGS_VALUE_BYTES])
{
    snprintf(value, SETTINGS_VALUE_BYTES, "%s", theme_name(config->theme));
}

static bool
set_ring(struct config *config, const char *value, char why[SETTINGS_WHY_BYTES])
{
    uint64_t bytes;
    if (!amount_bytes(value, &bytes) || bytes < 1 << 20 || bytes > UINT64_C(16) << 30) {
        snprintf(why, SETTINGS_WHY_BYTES, "it is a size from 1M to 16G, such as 64M");
        return false;
    }
    config->ring_bytes = bytes;
    return true;
}

static void
get_ring(const struct config *config, char value[SETTINGS_VALUE_BYTES])
{
    snprintf(value, SETTINGS_VALUE_BYTES, "%" PRIu64 "M", config->ring_bytes >> 20);
}

/* Columns. */

// The next of the words between blanks; NULL after the last.
static const char *
next_word(const char *text, char word[WORD_BYTES])
{
    text += strspn(text, " \t,");
    size_t length = strcspn(text, " \t,");
    snprintf(word, WORD_BYTES, "%.*s", length < WORD_BYTES ? (int)length : WORD_BYTES - 1,
             text);
    return length > 0 ? text + length : NULL;
}

// Numbers of what is called so, each once. `find` returns `most` for a wrong name.
static bool
read_list(const char *text, int most, int (*find)(const char *word), int *list,
          int *count, char why[SETTINGS_WHY_BYTES])
{
    char word[WORD_BYTES];
    bool seen[64] = {false};
    *count = 0;
    while ((text = next_word(text, word)) != NULL) {
        int found = find(word);
        if (found == most || seen[found]) {
            snprintf(why, SETTINGS_WHY_BYTES, "%s column \"%s\"",
                     found == most ? "there is no" : "twice the", word);
            return false;
        }
        seen[found] = true;
        list[(*count)++] = found;
    }
    if (*count == 0) {
        snprintf(why, SETTINGS_WHY_BYTES, "it names at least one column");
    }
    return *count > 0;
}

static void
add_word(char text[SETTINGS_VALUE_BYTES], const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, SETTINGS_VALUE_BYTES - used, "%s%s", used > 0 ? " " : "", word);
}

static int
find_column(const char *word)
{
    return (int)column_find(word, strlen(word));
}

static bool
set_columns(struct config *config, const char *value, char why[SETTINGS_WHY_BYTES])
{
    int list[COLUMN_COUNT];
    struct column_choice choice = {0};
    bool named = false;
    if (!read_list(value, COLUMN_COUNT, find_column, list, &choice.count, why)) {
        return false;
    }
    for (int i = 0; i < choice.count; i++) {
        choice.ids[i] = (enum column_id)list[i];
        named = named || list[i] == COLUMN_NAME;
    }
    if (!named) {
        snprintf(why, SETTINGS_WHY_BYTES, "the column \"name\" has to be among them");
        return false;
    }
    config->choices.columns = choice;
    return true;
}

static void
get_columns(const struct config *config, char value[SETTINGS_VALUE_BYTES])
{
    const struct column_choice *choice = &config->choices.columns;
    value[0] = '\0';
    for (int i = 0; i < choice->count; i++) {
        add_word(value, columns[choice->ids[i]].word);
    }
}

static int
find_tree_column(const char *word)
{
    int id = 0;
    while (id < TREE_COLUMN_COUNT &&
           strcmp(tree_column_name((enum tree_column_id)id), word) != 0) {
        id++;
    }
    return id;
}

static bool
set_tree_columns(struct config *config, const char *value, char why[SETTINGS_WHY_BYTES])
{
    int list[TREE_COLUMN_COUNT];
    struct tree_column_choice choice = {0};
    if (!read_list(value, TREE_COLUMN_COUNT, find_tree_column, list, &choice.count,
                   why)) {
        return false;
    }
    for (int i = 0; i < choice.count; i++) {
        choice.ids[i] = (enum tree_column_id)list[i];
    }
    config->choices.tree_columns = choice;
    return true;
}

static void
get_tree_columns(const struct config *config, char value[SETTINGS_VALUE_BYTES])
{
    const struct tree_column_choice *choice = &config->choices.tree_columns;
    value[0] = '\0';
    for (int i = 0; i < choice->count; i++) {
        add_word(value, tree_column_name(choice->ids[i]));
    }
}

static bool
set_sort(struct config *config, const char *value, char why[SETTINGS_WHY_BYTES])
{
    enum column_id id = column_find(value, strlen(value));
    if (id == COLUMN_COUNT || (columns[id].value == NULL && id != COLUMN_NAME)) {
        snprintf(why, SETTINGS_WHY_BYTES, "there is no such column to order by");
        return false;
    }
    config->choices.sort = id;
    return true;
}

static void
get_sort(const struct config *config, char value[SETTINGS_VALUE_BYTES])
{
    snprintf(value, SETTINGS_VALUE_BYTES, "%s", columns[config->choices.sort].word);
}

// clang-format off
static const struct setting settings[] = {
    {"viewer", "theme", "colours: default, mono (none), or colorblind (blue and orange for green and red)", set_theme, get_theme},
    {"viewer", "ascii", "draw with ASCII alone", set_ascii, get_ascii},
    {"viewer", "mouse", "no leaves the mouse to the terminal, which then can select text", set_mouse, get_mouse},
    {"viewer", "readonly", "never ask the program for anything that changes it", set_readonly, get_readonly},
    {"viewer", "ring", "memory for the past, to which [ and { go back", set_ring, get_ring},
    {"classes", "columns", "the columns of the table, left to right; what does not fit is left out", set_columns, get_columns},
    {"classes", "sort", "the column that orders the rows at the start", set_sort, get_sort},
    {"classes", "inverted", "smallest first", set_inverted, get_inverted},
    {"classes", "internal", "show what is not a Ruby class as well", set_internal, get_internal},
    {"classes", "digits", "all digits; no: three and a unit", set_exact, get_exact},
    {"classes", "bytes", "changes and shares are of bytes instead of objects", set_by_bytes, get_by_bytes},
    {"call tree", "columns", "the columns of a call tree, left to right, before the path", set_tree_columns, get_tree_columns},
};
// clang-format on

const struct setting *
settings_at(size_t index)
{
    return index < sizeof settings / sizeof settings[0] ? &settings[index] : NULL;
}

const struct setting *
settings_find(const char *section, const char *name)
{
    const struct setting *setting;
    for (size_t i = 0; (setting = settings_at(i)) != NULL; i++) {
        if (strcmp(setting->section, section) == 0 && strcmp(setting->name, name) == 0) {
            return setting;
        }
    }
    return NULL;
}
