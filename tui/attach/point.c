#include "tui/attach/point.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256

// Functions, without leading underscores, by how they begin; a $ ends a whole name.
static const char *const functions[] = {
    "malloc",       "calloc$",        "realloc",      "free$",     "cfree$",
    "memalign$",    "posix_memal",    "aligned_",     "valloc$",   "pvalloc",
    "libc_mall",    "libc_calloc",    "libc_reallo",  "libc_free", "libc_memal",
    "mallinfo",     "mallopt$",       "int_malloc",   "int_free",  "dl",
    "tls_get_addr", "fork",           "vfork$",       "clone",     "posix_spawn",
    "libc_fork",    "pthread_create", "pthread_exit", "exit$",     "quick_exit$",
    "run_exit_h",   "cxa_",           "je_",          "tc_",       "mi_",
    "abort$",
};

// Files that are allocators, or load code.
static const char *const files[] = {"/ld-",     "/ld.so",   "jemalloc",
                                    "tcmalloc", "mimalloc", "hoard"};

// The text of `key="…"` in one frame; "" when it has none.
static void
take_text(const char *frame, const char *end, const char *key, char text[NAME_BYTES])
{
    const char *from = strstr(frame, key);
    size_t length = 0;
    if (from && from < end) {
        from += strlen(key);
        length = strcspn(from, "\"");
    }
    snprintf(text, NAME_BYTES, "%.*s",
             (int)(length < NAME_BYTES ? length : NAME_BYTES - 1), from ? from : "");
}

static bool
function_is_unsafe(const char *name)
{
    name += strspn(name, "_");
    name += strncmp(name, "GI_", 3) == 0 ? 3 : 0; // what the C library calls its own
    name += strspn(name, "_");
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        size_t length = strcspn(functions[i], "$");
        if (strncmp(name, functions[i], length) == 0 &&
            (!functions[i][length] || !name[length])) {
            return true;
        }
    }
    return false;
}

static bool
file_is_unsafe(const char *file)
{
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        if (strstr(file, files[i])) {
            return true;
        }
    }
    return false;
}

static bool
is_c_library(const char *file)
{
    return strstr(file, "/libc.so") || strstr(file, "/libc-") ||
           strstr(file, "/libpthread");
}

bool
point_is_safe(const char *frames, bool in_system_call)
{
    char text[NAME_BYTES];
    size_t count = 0;
    for (const char *frame = strstr(frames, "frame={"); frame; count++) {
        const char *next = strstr(frame + 1, "frame={");
        const char *end = next ? next : frame + strlen(frame);
        take_text(frame, end, "func=\"", text);
        if (function_is_unsafe(text)) {
            return false;
        }
        take_text(frame, end, "from=\"", text);
        if (file_is_unsafe(text) ||
            (count == 0 && is_c_library(text) && !in_system_call)) {
            return false;
        }
        frame = next;
    }
    return count > 0;
}

bool
point_in_system_call(long pid)
{
    char text[64] = "";
    snprintf(text, sizeof(text), "/proc/%ld/syscall", pid);
    FILE *file = fopen(text, "re");
    bool read = file && fgets(text, sizeof(text), file);
    if (file) {
        fclose(file);
    }
    return read && *text >= '0' && *text <= '9'; // else "-1 …" or "running"
}
