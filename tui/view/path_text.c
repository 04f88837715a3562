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

// "Cache#fetch demo/cache.rb:17", with the place alone, or without it. Cells are what a
// line has few of: a long label is cut.
static void
step_text(const struct path_steps *steps, uint32_t node, bool labelled, bool placed,
          char *out, size_t size)
{
    char label[PATH_TEXT_BYTES] = "";
    char place[PATH_TEXT_BYTES] = "";
    const struct tree_frame *frame = steps->frame(steps->tree, node);
    if (labelled) {
        steps->label(steps->tree, node, label, sizeof label);
        label[text_cut(label, LABEL_BYTES / 4)] = '\0';
    }
    if (placed && frame->path[0] != '\0') {
        snprintf(place, sizeof place, "%s", short_path(frame->path));
        place[text_cut(place, PLACE_BYTES / 4)] = '\0';
        snprintf(out, size, "%.*s%s%.*s:%u", LABEL_BYTES, label, labelled ? " " : "",
                 PLACE_BYTES, place, (unsigned)steps->line(steps->tree, node));
    } else {
        snprintf(out, size, "%s", label);
    }
}

static bool
is_last(const struct path_steps *steps, uint32_t node)
{
    uint32_t parent = steps->parent(steps->tree, node);
    return parent == 0 || parent == NO_NODE;
}

// Put a step before what there is; false when it has no room.
static bool
prepend(char out[PATH_TEXT_BYTES], const char *step, const struct scene *scene, int room)
{
    char longer[PATH_TEXT_BYTES * 2 + 32];
    bool first = out[0] == '\0';
    snprintf(longer, sizeof longer, "%s%s%s%s%s", step, first ? "" : " ",
             first ? "" : scene->glyphs->into, first ? "" : " ", out);
    if (step[0] == '\0' || text_width(longer) > room ||
        strlen(longer) >= PATH_TEXT_BYTES - 32) {
        return false;
    }
    memcpy(out, longer, strlen(longer) + 1);
    return true;
}

// Where a step has no room its place may have, which is what a person looks for.
static void
end_early(const struct path_steps *steps, uint32_t node, bool placed,
          const struct scene *scene, int cells, char out[PATH_TEXT_BYTES])
{
    char step[PATH_TEXT_BYTES];
    char more[32];
    step_text(steps, node, false, !placed, step, sizeof step);
    snprintf(more, sizeof more, "%s %s ", scene->glyphs->more, scene->glyphs->into);
    prepend(out, step, scene, cells - text_width(more));
    memmove(out + strlen(more), out, strlen(out) + 1);
    memcpy(out, more, strlen(more));
}

void
path_text(const struct path_steps *steps, uint32_t node, const struct scene *scene,
          int cells, char out[PATH_TEXT_BYTES])
{
    int more = text_width(scene->glyphs->more) + text_width(scene->glyphs->into) + 2;
    bool placed = false;
    out[0] = '\0';
    for (uint32_t at = node; at != NO_NODE && (at != 0 || node == 0);
         at = steps->parent(steps->tree, at)) {
        char step[PATH_TEXT_BYTES];
        bool first = out[0] == '\0';
        step_text(steps, at, true, !placed, step, sizeof step);
        if (first && text_width(step) > cells - (is_last(steps, at) ? 0 : more)) {
            text_fit(out, PATH_TEXT_BYTES, step, cells > 0 ? cells : 0, scene->ascii);
            return;
        }
        if (!prepend(out, step, scene, cells - (is_last(steps, at) ? 0 : more)) &&
            !first) {
            end_early(steps, at, placed, scene, cells, out);
            return;
        }
        placed = placed || steps->frame(steps->tree, at)->path[0] != '\0';
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
