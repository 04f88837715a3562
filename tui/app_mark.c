#include "tui/app_mark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/app_state.h"

struct telling {
    const struct model *from;
    const struct model *to;
    bool same_process;
    snapshot_taker *take;
    void *context;
};

static bool
same_process(const struct model *one, const struct model *other)
{
    const struct hello *a = model_hello(one);
    const struct hello *b = model_hello(other);
    return a->pid == b->pid && a->started_us == b->started_us;
}

static const struct model_class *
class_named(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model_class_count(model); i++) {
        const struct model_class *class = model_class_at(model, i);
        if (!class->gone && strcmp(class->name, name) == 0) {
            return class;
        }
    }
    return NULL;
}

// The class of `to` that is the one of `from` with this id; NULL when there is none.
static const struct model_class *
counterpart(const struct telling *telling, class_id id)
{
    const struct model_class *class = model_class_find(telling->from, id);
    const struct model_class *same = model_class_find(telling->to, id);
    if (class == NULL) {
        return NULL;
    }
    if (same != NULL && strcmp(same->name, class->name) == 0 &&
        (class->name[0] != '\0' || telling->same_process)) {
        return same;
    }
    return class->name[0] != '\0' ? class_named(telling->to, class->name) : NULL;
}

static bool
tell(void *context, const struct message *message)
{
    const struct telling *telling = context;
    struct message told = *message;
    struct mark_row *rows = calloc(message->mark.row_count + 1, sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    told.mark.rows = rows;
    told.mark.row_count = 0;
    for (size_t i = 0; i < message->mark.row_count; i++) {
        const struct mark_row *row = &message->mark.rows[i];
        const struct model_class *class = counterpart(telling, row->id);
        if (class != NULL) {
            rows[told.mark.row_count++] =
                (struct mark_row){class->id, row->live, row->bytes};
        }
    }
    told.mark.place_count = telling->same_process ? message->mark.place_count : 0;
    bool good = telling->take(telling->context, &told);
    free(rows);
    return good;
}

bool
app_mark_tell(const struct model *from, int mark, const struct model *to,
              snapshot_taker *take, void *context)
{
    struct telling telling = {from, to, same_process(from, to), take, context};
    return snapshot_mark(from, mark, tell, &telling);
}

// A mark's frames, as they will lie in the file.
struct note {
    struct stamp at; // of the recording's last frame: time does not run back in it
    struct packer packer;
    struct buffer bytes;
};

static bool
pack(void *context, const struct message *message)
{
    struct note *note = context;
    struct message stamped = *message;
    stamped.at = note->at;
    return pack_frame(&note->packer, &note->bytes, &stamped);
}

static bool
append(const char *path, const struct note *note, char *why, size_t why_size)
{
    const struct writer_options options = {.mode = WRITER_EXTEND};
    char words[APP_MESSAGE_BYTES + APP_PATH_BYTES];
    struct writer *writer = writer_open(path, &options, words, sizeof words);
    if (writer == NULL) {
        // which file it is, is known: the words have to fit into a line
        const char *behind = strstr(words, path);
        behind = behind != NULL ? strstr(behind + strlen(path), ": ") : NULL;
        snprintf(why, why_size, "%.*s", (int)why_size - 1,
                 behind != NULL ? behind + 2 : words);
        return false;
    }
    bool written =
        writer_copy(writer, NULL, note->bytes.bytes, (size_t)note->bytes.length);
    return writer_close(writer, why, why_size) && written;
}

bool
app_mark_keep(struct app *app, const struct model *shown, int mark, char *why,
              size_t why_size)
{
    struct stamp first;
    struct note note = {.at = {0}};
    enum tape_refresh file = tape_refresh(app->tape);
    app->tape_grew = app->tape_grew || file == TAPE_GREW;
    if (app->tape_grew || file != TAPE_SAME) {
        snprintf(why, why_size,
                 app->tape_grew ? "the recording is still being written"
                                : "the recording's file is another one now");
        return false;
    }
    tape_span(app->tape, &first, &note.at);
    bool kept = app_mark_tell(shown, mark, app->model, pack, &note);
    if (kept) {
        kept = append(app->options.source, &note, why, why_size);
    } else {
        snprintf(why, why_size, "no memory left to write it");
    }
    packer_destroy(&note.packer);
    buffer_destroy(&note.bytes);
    (void)tape_refresh(app->tape); // to know what we wrote ourselves
    return kept;
}
