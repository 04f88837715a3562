#include "tui/app_mark.h"

#include <stdio.h>
#include <string.h>

#include "tui/app_state.h"
#include "tui/model/snapshot.h"

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
    bool kept = snapshot_mark_for(shown, mark, app->model, pack, &note);
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
