/*
 * write_report [POINTS]: the report of a night, on standard output, for tests that open
 * it in a browser. A class and a frame in it have names that would like to be markup.
 */
#include <stdlib.h>

#include "tests/tui/export/night.h"

#define HOSTILE "</script><img src=x onerror=\"document.title='owned'\">\xff'&amp;"

static bool
add_hostile(struct model *model)
{
    const struct class_name name = {1000, 0, text_of(HOSTILE)};
    const struct class_row row = {1000, 70, 70, 0, 2800};
    struct sample sample = *model_sample(model);
    sample.key = false;
    sample.rows = &row;
    sample.row_count = 1;
    return model_apply(model,
                       &(struct message){
                           .kind = MESSAGE_NAMES, .names = {&name, 1}
    }) &&
           model_apply(model, &(struct message){.kind = MESSAGE_SAMPLE,
                                                .at = model_time(model),
                                                .sample = sample});
}

int
main(int count, char **arguments)
{
    struct night night;
    size_t points = count > 1 ? strtoul(arguments[1], NULL, 10) : NIGHT_SECONDS;
    if (!night_init(&night, points) || !add_hostile(night.model)) {
        return EXIT_FAILURE;
    }
    bool good = html_write(night.model, &night.series, stdout);
    night_destroy(&night);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
