// Whose code a path is, and how to say where it is: by what the path looks like,
// because the program's load path may be that of another machine.

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tui/model/paths_state.h"

// Where code lies that is not the program's own, and what is left of a path there.
struct home {
    const char *owner; // of all there, NULL: told by what follows
    const char *file;  // the path from where people know it
    int owner_bytes;
};

static size_t
digits(const char *text)
{
    return strspn(text, "0123456789");
}

// "3.1.0/" at the start.
static size_t
version(const char *text)
{
    size_t length = strspn(text, "0123456789.");
    return digits(text) > 0 && length > 1 && text[length] == '/' ? length + 1 : 0;
}

// Of "puma-6.0.2/lib/…" the bytes of the name, 0 when there is no version behind it.
static size_t
gem_name(const char *text, bool commit)
{
    size_t length = strcspn(text, "/");
    if (text[length] == '\0') {
        return 0;
    }
    for (size_t i = length; i-- > 1;) {
        if (text[i] == '-' && (commit || isdigit((unsigned char)text[i + 1]) != 0)) {
            return i;
        }
    }
    return 0;
}

// A gem's folder: ".../gems/puma-6.0.2/lib/puma/server.rb". Where gems lie in gems
// the last one counts.
static bool
in_gem(const char *path, struct home *home)
{
    bool found = false;
    for (const char *at = path; (at = strstr(at, "/gems/")) != NULL; at++) {
        const char *bundler = "/bundler";
        size_t before = (size_t)(at - path);
        bool commit = before >= strlen(bundler) &&
                      strncmp(at - strlen(bundler), bundler, strlen(bundler)) == 0;
        const char *name = at + strlen("/gems/");
        size_t bytes = gem_name(name, commit);
        if (bytes == 0) {
            continue;
        }
        const char *file = strchr(name, '/') + 1;
        file += strncmp(file, "lib/", 4) == 0 ? 4 : 0;
        *home = (struct home){name, file, (int)bytes};
        found = true;
    }
    return found;
}

// Folders in which distributions keep libraries, by what they are called there.
static bool
in_vendor(const char *path, struct home *home)
{
    static const char *const folders[] = {"/vendor_ruby/", "/site_ruby/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const char *at = strstr(path, folders[i]);
        if (at == NULL) {
            continue;
        }
        const char *file = at + strlen(folders[i]);
        file += version(file);
        if (strcspn(file, "/.") == 0) {
            continue;
        }
        *home = (struct home){file, file, (int)strcspn(file, "/.")};
        return true;
    }
    return false;
}

// ".../lib/ruby/3.1.0/json/common.rb".
static bool
in_stdlib(const char *path, struct home *home)
{
    static const char folder[] = "/lib/ruby/";
    for (const char *at = path; (at = strstr(at, folder)) != NULL; at++) {
        const char *file = at + strlen(folder);
        if (version(file) > 0) {
            *home = (struct home){"stdlib", file + version(file), (int)strlen("stdlib")};
            return true;
        }
    }
    return false;
}

// ".../lib/memtop/rack.rb": the probe's own, which `memtop run` brings from where it
// was built or installed.
static bool
in_probe(const char *path, struct home *home)
{
    static const char folder[] = "/lib/memtop/";
    const char *at = strstr(path, folder);
    if (at == NULL) {
        return false;
    }
    *home = (struct home){"memtop", at + strlen("/lib/"), (int)strlen("memtop")};
    return true;
}

// "<internal:kernel>", "(eval)" and what has no file at all.
static bool
in_ruby(const char *path, struct home *home)
{
    if (strncmp(path, "<internal:", strlen("<internal:")) == 0) {
        *home = (struct home){"ruby", path, (int)strlen("ruby")};
        return true;
    }
    if (strcmp(path, "(eval)") == 0) {
        *home = (struct home){"eval", path, (int)strlen("eval")};
        return true;
    }
    return false;
}

// True when it is not the program's own.
static bool
find_home(const char *path, struct home *home)
{
    return in_ruby(path, home) || in_gem(path, home) || in_vendor(path, home) ||
           in_stdlib(path, home) || in_probe(path, home);
}

bool
paths_is_own(const char *path)
{
    struct home home;
    return path[0] != '\0' && !find_home(path, &home);
}

void
paths_owner(const struct tree_frame *frame, char *owner, size_t size)
{
    struct home home;
    if ((frame->flags & FRAME_C) != 0 || frame->path[0] == '\0') {
        snprintf(owner, size, "%s", frame->id < FRAME_FIRST ? "" : "C");
    } else if (find_home(frame->path, &home)) {
        snprintf(owner, size, "%.*s", home.owner_bytes, home.owner);
    } else {
        snprintf(owner, size, "program");
    }
}

// Where the name of the last folder starts that all the program's paths share: so
// that "demo/app.rb" tells more than "app.rb".
static size_t
shared(const struct places *places)
{
    size_t start = places->root > 0 ? places->root - 1 : 0;
    while (start > 0 && places->root_of[start - 1] != '/') {
        start--;
    }
    return start > 1 ? start : 0;
}

// Without the line.
static const char *
short_path(const struct places *places, const char *path)
{
    struct home home;
    if (find_home(path, &home)) {
        return home.file;
    }
    size_t start = path[0] == '/' && places->root_of != NULL ? shared(places) : 0;
    return start < strlen(path) ? path + start : path;
}

void
paths_state_place(const struct paths_state *state, const struct tree_frame *frame,
                  uint32_t line, char *place, size_t size)
{
    if (frame->path[0] == '\0') {
        snprintf(place, size, "%s", "");
    } else if (line == 0) {
        snprintf(place, size, "%s", short_path(&state->places, frame->path));
    } else {
        snprintf(place, size, "%s:%u", short_path(&state->places, frame->path),
                 (unsigned)line);
    }
}

const char *
paths_file(const struct paths *paths, const char *path)
{
    return paths->state != NULL ? short_path(&paths->state->places, path) : path;
}
