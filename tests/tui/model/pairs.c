#include "tests/tui/model/pairs.h"

#include <stdlib.h>

uint64_t
pairs_random(uint64_t *state, uint64_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (*state >> 33) % below;
}

static uint64_t
sum(uint64_t a, uint64_t b)
{
    return a == COUNT_UNKNOWN || b == COUNT_UNKNOWN ? COUNT_UNKNOWN : a + b;
}

static uint64_t
twice(uint64_t live)
{
    return live > UINT64_MAX / 2 ? live : 2 * live;
}

static bool
say_hello(struct model *model, uint64_t pid)
{
    const struct message hello = {
        .kind = MESSAGE_HELLO,
        .hello = {.version = PROTOCOL_VERSION,
                  .program_version = text_of("0.1.0"),
                  .pid = pid,
                  .command = text_of("ruby app.rb"),
                  .runtime = text_of("ruby 3.1.2"),
                  .started_us = pid * SECOND,
                  .mode = MODE_COUNT,
                  .interval_ms = 1000},
    };
    return model_apply(model, &hello);
}

static bool
give_names(struct model *model, const struct pairs_class *classes, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (classes[i].name != NULL) {
            const struct class_name named = {classes[i].id, classes[i].flags,
                                             text_of(classes[i].name)};
            const struct message names = {
                .kind = MESSAGE_NAMES, .names = {&named, 1}
            };
            good = model_apply(model, &names);
        }
    }
    return good;
}

struct model *
pairs_model(uint64_t pid, uint64_t second, const struct pairs_class *classes,
            size_t count)
{
    struct model *model = model_new();
    struct class_row *rows = calloc(count + 1, sizeof *rows);
    struct totals totals = {0};
    bool good = model != NULL && rows != NULL;
    for (size_t i = 0; i < count && good; i++) {
        const struct pairs_class *class = &classes[i];
        rows[i] = (struct class_row){class->id, class->live, twice(class->live),
                                     class->live, class->bytes};
        totals.live = sum(totals.live, class->live);
        totals.allocated = sum(totals.allocated, twice(class->live));
        totals.bytes = sum(totals.bytes, class->bytes);
    }
    const struct message sample = {
        .kind = MESSAGE_SAMPLE,
        .at = {second * SECOND, second * SECOND},
        .sample = { .key = true,
               .mode = MODE_COUNT,
               .totals = totals,
               .rows = rows,
               .row_count = count},
    };
    good = good && say_hello(model, pid) && give_names(model, classes, count) &&
           model_apply(model, &sample);
    free(rows);
    if (!good) {
        model_free(model);
        return NULL;
    }
    return model;
}

bool
pairs_frame(struct model *model, uint32_t id, const char *label, const char *path,
            uint64_t line)
{
    const struct frame_name named = {id, 0, text_of(label), text_of(path), line};
    const struct message message = {
        .kind = MESSAGE_FRAMES, .frames = {&named, 1}
    };
    return model_apply(model, &message);
}

bool
pairs_tree(struct model *model, class_id id, struct tree tree)
{
    tree.class_id = id;
    tree.key = true;
    tree.since_us = SECOND;
    const struct message message = {
        .kind = MESSAGE_TREE,
        .at = model_time(model),
        .tree = tree,
    };
    return model_apply(model, &message);
}

struct tree_site
pairs_site(uint32_t node, uint32_t shift, uint64_t live)
{
    return (struct tree_site){
        node, shift, live, 2 * live, 40 * live, {0, 0, 0, live}
    };
}

static struct model *
shop(uint64_t pid, uint64_t second, uint64_t live, uint32_t moved)
{
    const struct pairs_class order = {"Order", PAIRS_ORDER, 0, live, 40 * live};
    struct model *model = pairs_model(pid, second, &order, 1);
    if (model == NULL || !pairs_frame(model, 16, "<main>", "/srv/shop/server.rb", 1) ||
        !pairs_frame(model, 17, "Rack::Stack#call",
                     "/usr/lib/gems/rack-2.2.4/lib/rack/stack.rb", 28) ||
        !pairs_frame(model, 18, "OrdersApp#create", "/srv/shop/app/orders.rb",
                     20 + moved) ||
        !pairs_frame(model, 19, "Cache#fetch", "/srv/shop/app/cache.rb", 4 + moved)) {
        model_free(model);
        return NULL;
    }
    return model;
}

struct model *
pairs_shop_before(void)
{
    static const struct tree_node nodes[] = {
        {20, 0,  16, 5,  0},
        {21, 20, 17, 30, 0},
        {22, 21, 18, 22, 1},
        {23, 22, 19, 9,  0},
        {24, 21, 18, 25, 0},
    };
    const struct tree_site sites[] = {
        pairs_site(FRAME_BEFORE_TRACING, 0, 10),
        pairs_site(23, 0, 60),
        pairs_site(24, 0, 30),
    };
    struct model *model = shop(4120, 100, 100, 0);
    if (model != NULL && pairs_tree(model, PAIRS_ORDER,
                                    (struct tree){.live = 100,
                                                  .nodes = nodes,
                                                  .node_count = 5,
                                                  .sites = sites,
                                                  .site_count = 3})) {
        return model;
    }
    model_free(model);
    return NULL;
}

struct model *
pairs_shop_after(uint32_t moved)
{
    const struct tree_node nodes[] = {
        {30, 0,  16, 5,          0},
        {31, 30, 17, 30,         0},
        {32, 31, 18, 22 + moved, 1},
        {33, 32, 19, 9 + moved,  0},
        {34, 31, 18, 25 + moved, 0},
        {35, 0,  16, 7,          0},
    };
    const struct tree_site sites[] = {
        pairs_site(FRAME_BEFORE_TRACING, 0, 10),
        pairs_site(33, 0, 540),
        pairs_site(34, 0, 10),
        pairs_site(35, 0, 40),
    };
    struct model *model = shop(moved > 0 ? 4121 : 4120, 400, 600, moved);
    if (model != NULL && pairs_tree(model, PAIRS_ORDER,
                                    (struct tree){.live = 600,
                                                  .nodes = nodes,
                                                  .node_count = 6,
                                                  .sites = sites,
                                                  .site_count = 4})) {
        return model;
    }
    model_free(model);
    return NULL;
}
