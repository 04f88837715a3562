#include "tui/view/path_text.h"

#include <stdio.h>
#include <string.h>

#include "tui/model/tree.h"
#include "tui/text/text.h"

#define LABEL_BYTES 160
#define PLACE_BYTES 240
#define NO_NODE UINT32_MAX

static uint32_t
parent_of(const void *tree, uint32_t node)
{
    return tree_parent(tree, node);
}

static const struct tree_frame *
frame_of(const void *tree, uint32_t node)
{
    return tree_frame(tree, node);
}

static uint32_t
line_of(const void *tree, uint32_t node)
{
    return tree_line(tree, node);
}

static void
label_of(const void *tree, uint32_t node, char *label, size_t size)
{
    tree_label(tree, node, label, size);
}

struct path_steps
path_steps_of(const struct tree_model *tree)
{
    return (struct path_steps){tree, parent_of, frame_of, line_of, label_of};
}

// "demo/cache.rb" of a long path: a file and the folder it is in.
static const char *
short_path(const char *path)
{
    const char *from = path + strlen(path);
    for (int slashes = 0; from > path; from--) {
        slashes += from[-1] == '/';
        if (slashes == 2) {
            break;
        }
    }
    return from;
}

// Cells are what a line has few of, bytes what memory has: a label is cut at a whole
// character of either.
static void
step_text(const struct path_steps *steps, uint32_t node, bool placed, char *out,
          size_t size)
{
    char label[PATH_TEXT_BYTES];
    const struct tree_frame *frame = steps->frame(steps->tree, node);
    steps->label(steps->tree, node, label, sizeof label);
    label[text_cut(label, LABEL_BYTES / 4)] = '\0';
    if (placed || frame->path[0] == '\0') {
        snprintf(out, size, "%s", label);
        return;
    }
    char place[PATH_TEXT_BYTES];
    snprintf(place, sizeof place, "%s", short_path(frame->path));
    place[text_cut(place, PLACE_BYTES / 4)] = '\0';
    snprintf(out, size, "%.*s %.*s:%u", LABEL_BYTES, label, PLACE_BYTES, place,
             (unsigned)steps->line(steps->tree, node));
}

static bool
is_last(const struct path_steps *steps, uint32_t node)
{
    uint32_t parent = steps->parent(steps->tree, node);
    return parent == 0 || parent == NO_NODE;
}

void
path_text(const struct path_steps *steps, uint32_t node, const struct scene *scene,
          int cells, char out[PATH_TEXT_BYTES])
{
    char more[32];
    bool placed = false;
    snprintf(more, sizeof more, "%s %s ", scene->glyphs->more, scene->glyphs->into);
    out[0] = '\0';
    for (uint32_t at = node; at != NO_NODE && (at != 0 || node == 0);
         at = steps->parent(steps->tree, at)) {
        char step[PATH_TEXT_BYTES];
        char longer[PATH_TEXT_BYTES * 2 + 32];
        step_text(steps, at, placed, step, sizeof step);
        placed = placed || steps->frame(steps->tree, at)->path[0] != '\0';
        snprintf(longer, sizeof longer, "%s%s%s%s%s", step, out[0] != '\0' ? " " : "",
                 out[0] != '\0' ? scene->glyphs->into : "", out[0] != '\0' ? " " : "",
                 out);
        int room = cells - (is_last(steps, at) ? 0 : text_width(more));
        bool fits = text_width(longer) <= room && strlen(longer) < PATH_TEXT_BYTES - 32;
        if (!fits && out[0] == '\0') {
            text_fit(out, PATH_TEXT_BYTES, longer, cells > 0 ? cells : 0, scene->ascii);
            return;
        }
        if (!fits) {
            memmove(out + strlen(more), out, strlen(out) + 1);
            memcpy(out, more, strlen(more));
            return;
        }
        memcpy(out, longer, strlen(longer) + 1);
    }
}

bool
path_has(const struct path_steps *steps, uint32_t node, const char *text)
{
    for (uint32_t at = node; at != NO_NODE && (at != 0 || node == 0);
         at = steps->parent(steps->tree, at)) {
        char step[PATH_TEXT_BYTES];
        const struct tree_frame *frame = steps->frame(steps->tree, at);
        steps->label(steps->tree, at, step, sizeof step);
        if (strcasestr(step, text) != NULL || strcasestr(frame->path, text) != NULL) {
            return true;
        }
    }
    return false;
}

bool
path_place(const struct path_steps *steps, uint32_t node, const char **file,
           const char **title, uint32_t *line)
{
    for (uint32_t at = node; at != NO_NODE && at != 0;
         at = steps->parent(steps->tree, at)) {
        const struct tree_frame *frame = steps->frame(steps->tree, at);
        *line = steps->line(steps->tree, at);
        *file = frame->file != NULL ? frame->file : "";
        *title = short_path(frame->path);
        if ((*file)[0] != '\0' && *line > 0) {
            return true;
        }
    }
    return false;
}
