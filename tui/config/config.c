#include "tui/config/config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "tui/config/settings.h"
#include "tui/view/action.h"

#define RING_BYTES (UINT64_C(64) << 20)
#define KEYS_SECTION "keys"
#define LINE_BYTES 200 // what inih takes, its end included
#define COMMENT_COLUMN 34

void
config_init(struct config *config)
{
    *config = (struct config){
        .theme = THEME_DEFAULT,
        .mouse = true,
        .ring_bytes = RING_BYTES,
        .choices = app_choices_default(),
    };
    config->choices.keymap = (struct keymap){config->keys, 0};
}

/* Reading. */

struct reading {
    struct config *config;
    FILE *in;
    const char *name; // of the file
    int line;
};

static void problem(struct reading *reading, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void
problem(struct reading *reading, int line, const char *format, ...)
{
    struct config *config = reading->config;
    size_t index = config->problem_count++;
    if (index >= CONFIG_PROBLEMS_MAX) {
        return;
    }
    char *text = config->problems[index];
    int used = snprintf(text, CONFIG_PROBLEM_BYTES, "%.100s:%d: ", reading->name, line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, (size_t)(CONFIG_PROBLEM_BYTES - used), format, arguments);
    va_end(arguments);
}

static void
skip_rest(FILE *in)
{
    int next = getc(in);
    while (next != EOF && next != '\n') {
        next = getc(in);
    }
}

// Gives inih its lines, and knows which one it is at. inih would take a line that
// begins with a blank for more of the one before, and the rest of a long one for
// another: neither is meant here.
static char *
next_line(char *text, int size, void *context)
{
    struct reading *reading = context;
    if (fgets(text, size, reading->in) == NULL) {
        return NULL;
    }
    reading->line++;
    size_t length = strlen(text);
    if (length + 1 == (size_t)size && text[length - 1] != '\n') {
        skip_rest(reading->in);
        problem(reading, reading->line, "the line is longer than %d bytes", size - 2);
        text[0] = '\0';
    }
    size_t blanks = strspn(text, " \t");
    if (blanks > 0) {
        memmove(text, text + blanks, strlen(text + blanks) + 1);
    }
    return text;
}

// The view whose keys a section is about: "keys" is everywhere (""). NULL for none.
static const char *
keys_view(const char *section, const struct view_class **view)
{
    size_t length = strlen(KEYS_SECTION);
    *view = NULL;
    if (strcmp(section, KEYS_SECTION) == 0) {
        return "";
    }
    if (strncmp(section, KEYS_SECTION " ", length + 1) != 0) {
        return NULL;
    }
    for (size_t i = 0; (*view = app_choices_view(i)) != NULL; i++) {
        if (strcmp((*view)->name, section + length + 1) == 0) {
            return (*view)->name;
        }
    }
    return NULL;
}

static bool
binds(const struct view_class *view, enum action action)
{
    const struct binding *at = view != NULL ? view->bindings : view_everywhere;
    while (at->action != ACTION_NONE && at->action != action) {
        at++;
    }
    return action != ACTION_NONE && at->action == action;
}

static bool
read_keys(struct reading *reading, const char *value, uint32_t keys[BINDING_KEYS_MAX])
{
    int count = 0;
    while (*(value += strspn(value, " \t")) != '\0') {
        char name[KEYMAP_NAME_BYTES];
        size_t length = strcspn(value, " \t");
        snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), value);
        value += length;
        uint32_t key = keymap_key(name);
        if (key == 0 || count == BINDING_KEYS_MAX) {
            problem(reading, reading->line,
                    key == 0 ? "there is no key \"%s\"; a letter, ^A, F1, Space, Tab, "
                               "Enter, Esc, Up, PgDn … are keys"
                             : "\"%s\" is one key too many for an action",
                    name);
            return false;
        }
        keys[count++] = key;
    }
    if (count < BINDING_KEYS_MAX) {
        keys[count] = 0;
    }
    return true;
}

static void
take_keys(struct reading *reading, const char *view, const struct view_class *class,
          const char *name, const char *value)
{
    struct config *config = reading->config;
    struct keymap *keymap = &config->choices.keymap;
    struct keymap_choice choice = {.view = view, .action = action_find(name)};
    if (!binds(class, choice.action)) {
        problem(reading, reading->line,
                "there is no action \"%.50s\" here; memtop --print-config has them all",
                name);
        return;
    }
    if (!read_keys(reading, value, choice.keys)) {
        return;
    }
    // who says it twice means the last
    size_t i = 0;
    while (i < keymap->count && (config->keys[i].action != choice.action ||
                                 strcmp(config->keys[i].view, view) != 0)) {
        i++;
    }
    if (i < CONFIG_KEYS_MAX) {
        config->keys[i] = choice;
        keymap->count = i == keymap->count ? i + 1 : keymap->count;
    }
}

static bool
section_is_known(const char *section)
{
    const struct setting *setting;
    for (size_t i = 0; (setting = settings_at(i)) != NULL; i++) {
        if (strcmp(setting->section, section) == 0) {
            return true;
        }
    }
    return false;
}

// inih's handler: one setting.
static int
take(void *context, const char *section, const char *name, const char *value)
{
    struct reading *reading = context;
    const struct view_class *class;
    const char *view = keys_view(section, &class);
    const struct setting *setting = settings_find(section, name);
    char why[SETTINGS_WHY_BYTES] = "";
    if (view != NULL) {
        take_keys(reading, view, class, name, value);
    } else if (setting == NULL) {
        problem(reading, reading->line,
                "there is no %s \"%.50s\"; memtop --print-config has them all",
                section_is_known(section) ? "setting" : "section",
                section_is_known(section) ? name : section);
    } else if (!setting->set(reading->config, value, why)) {
        problem(reading, reading->line, "%s = %.60s: %s", name, value, why);
    }
    return 1;
}

void
config_read(struct config *config, FILE *in, const char *name)
{
    struct reading reading = {.config = config, .in = in, .name = name};
    int line = ini_parse_stream(next_line, &reading, take, &reading);
    if (line > 0) {
        problem(&reading, line, "this is neither a [section] nor name = value");
    }
    if (ferror(in)) {
        problem(&reading, reading.line, "cannot be read further: %s", strerror(errno));
    }
}

bool
config_path(char path[CONFIG_PATH_BYTES])
{
    const char *folder = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    int length = 0;
    if (folder != NULL && folder[0] == '/') {
        length = snprintf(path, CONFIG_PATH_BYTES, "%s/memtop/config", folder);
    } else if (home != NULL && home[0] != '\0') {
        length = snprintf(path, CONFIG_PATH_BYTES, "%s/.config/memtop/config", home);
    }
    return length > 0 && length < CONFIG_PATH_BYTES;
}

void
config_load(struct config *config, const char *path)
{
    char own[CONFIG_PATH_BYTES];
    bool asked = path != NULL;
    if (!asked && !config_path(own)) {
        return;
    }
    const char *name = asked ? path : own;
    FILE *in = fopen(name, "re");
    if (in == NULL) {
        if (asked || errno != ENOENT) {
            struct reading reading = {.config = config, .name = name};
            problem(&reading, 0, "cannot be read: %s", strerror(errno));
        }
        return;
    }
    config_read(config, in, name);
    fclose(in);
}

/* Writing. */

static const char preface[] =
    "# memtop's configuration, as it is by default: $XDG_CONFIG_HOME/memtop/config, or\n"
    "# ~/.config/memtop/config. This is what memtop --print-config prints.\n"
    "#\n"
    "# A # or ; at the beginning of a line makes a comment of it; every setting below "
    "is\n"
    "# one, so that what you do not choose follows memtop. The command line goes before\n"
    "# this file. A line that makes no sense is left out, and memtop says so.\n";

static const char keys_preface[] =
    "\n"
    "# Keys: each action has the keys that stand here, with blanks between, and no "
    "others.\n"
    "# A key is a letter or sign, ^A, F1 to F12, Space, Tab, S-Tab, Enter, Esc, BkSp, "
    "Up,\n"
    "# Down, Left, Right, PgUp, PgDn, Home, End, Ins, Del or Semicolon. A view's keys "
    "go\n"
    "# before those of everywhere, and in each what you choose goes before the rest.\n";

static void
print_settings(FILE *out)
{
    struct config config;
    const struct setting *setting;
    const char *section = "";
    config_init(&config);
    for (size_t i = 0; (setting = settings_at(i)) != NULL; i++) {
        char value[SETTINGS_VALUE_BYTES];
        if (strcmp(section, setting->section) != 0) {
            section = setting->section;
            fprintf(out, "\n[%s]\n", section);
        }
        setting->get(&config, value);
        fprintf(out, "# %s\n#%s = %s\n", setting->explain, setting->name, value);
    }
}

static void
print_keys(FILE *out, const struct binding *binding)
{
    int column = fprintf(out, "#%s =", action_name(binding->action));
    for (int i = 0; i < BINDING_KEYS_MAX && binding->keys[i] != 0; i++) {
        char name[KEYMAP_NAME_BYTES];
        keymap_name(name, binding->keys[i], true);
        column += fprintf(out, " %s", strcmp(name, ";") == 0 ? "Semicolon" : name);
    }
    if (binding->help != NULL) {
        fprintf(out, "%*s; %s", column < COMMENT_COLUMN ? COMMENT_COLUMN - column : 1, "",
                binding->help);
    }
    fputc('\n', out);
}

static void
print_bindings(FILE *out, const char *section, const struct binding *bindings)
{
    fprintf(out, "\n[%s]\n", section);
    for (const struct binding *at = bindings; at->action != ACTION_NONE; at++) {
        if (action_name(at->action) != NULL) {
            print_keys(out, at);
        }
    }
}

bool
config_print(FILE *out)
{
    const struct view_class *view;
    fputs(preface, out);
    print_settings(out);
    fputs(keys_preface, out);
    print_bindings(out, KEYS_SECTION, view_everywhere);
    for (size_t i = 0; (view = app_choices_view(i)) != NULL; i++) {
        char section[64];
        snprintf(section, sizeof section, KEYS_SECTION " %s", view->name);
        print_bindings(out, section, view->bindings);
    }
    return fflush(out) == 0 && !ferror(out);
}
