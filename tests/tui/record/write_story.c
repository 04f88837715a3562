// write_story FILE: a recording of a minute and a half, for readers in other languages.
#include <stdio.h>

#include "bench/story.h"
#include "tui/record/writer.h"

#define CLASSES 200
#define SECONDS 90

static bool
add(struct writer *writer, struct story *story, const struct message *message)
{
    struct state state = story_state(story);
    return writer_add(writer, message, &state);
}

int
main(int argc, char **argv)
{
    static const struct writer_options options = {WRITER_NEW, 0, 0};
    char why[400];
    struct story story;
    struct writer *writer =
        argc == 2 ? writer_open(argv[1], &options, why, sizeof why) : NULL;
    if (writer == NULL) {
        return 1;
    }
    story_begin(&story, CLASSES, CLASSES / 5, 1);
    struct message hello = story_hello(&story);
    struct message names = story_names(&story);
    bool written = add(writer, &story, &hello) && add(writer, &story, &names);
    for (int i = 0; i < SECONDS && written; i++) {
        struct message sample = story_step(&story);
        written = add(writer, &story, &sample);
        story_learn(&story);
    }
    struct message gap = {.kind = MESSAGE_GAP, .at = story.at};
    gap.gap.reason = GAP_STOPPED;
    written = written && add(writer, &story, &gap);
    printf("%llu %llu\n", (unsigned long long)story.totals.live,
           (unsigned long long)story.rows[CLASSES - 1].allocated);
    story_end(&story);
    return writer_close(writer, NULL, 0) && written ? 0 : 1;
}
