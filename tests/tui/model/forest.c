#include "tests/tui/model/forest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct model *
forest_model(uint64_t live)
{
    struct model *model = model_new();
    const struct class_name named = {ORDER, 0, text_of("Order")};
    const struct class_row row = {ORDER, live, live, 0, 40 * live};
    const struct message names = {
        .kind = MESSAGE_NAMES, .names = {&named, 1}
    };
    const struct message sample = {
        .kind = MESSAGE_SAMPLE,
        .at = {100 * SECOND, 100 * SECOND},
        .sample = { .key = true,
               .mode = MODE_COUNT,
               .totals = {live, live, 0, 40 * live},
               .rows = &row,
               .row_count = 1},
    };
    if (model == NULL || !model_apply(model, &names) || !model_apply(model, &sample)) {
        model_free(model);
        return NULL;
    }
    return model;
}

bool
forest_frame(struct model *model, uint32_t id, const char *label, const char *path,
             uint32_t flags)
{
    const struct frame_name named = {id, flags, text_of(label), text_of(path), 1};
    const struct message message = {
        .kind = MESSAGE_FRAMES, .frames = {&named, 1}
    };
    return model_apply(model, &message);
}

bool
forest_tree(struct model *model, uint64_t second, struct tree tree)
{
    tree.class_id = ORDER;
    const struct message message = {
        .kind = MESSAGE_TREE,
        .at = {second * SECOND, second * SECOND},
        .tree = tree,
    };
    return model_apply(model, &message);
}

struct model *
forest_shop(void)
{
    static const struct {
        uint32_t flags;
        const char *label, *path;
    } frames[] = {
        {0,       "<main>",           "/srv/shop/app/server.rb"                   },
        {0,       "Rack::Stack#call", "/usr/lib/gems/rack-2.2.4/lib/rack/stack.rb"},
        {0,       "OrdersApp#create", "/srv/shop/app/orders.rb"                   },
        {0,       "OrdersApp#show",   "/srv/shop/app/orders.rb"                   },
        {0,       "Cache#fetch",      "/srv/shop/app/cache.rb"                    },
        {FRAME_C, "Hash#fetch",       ""                                          },
        {0,       "JSON.parse",       "/usr/lib/ruby/3.1.0/json/common.rb"        },
        {0,       "spawn",            "/usr/lib/gems/puma-6.0.2/lib/puma/pool.rb" },
    };
    static const struct tree_node nodes[] = {
        {20, 0,  23, 106, 1}, // spawn
        {21, 20, 17, 30,  0}, // call
        {22, 21, 18, 22,  0}, // create
        {23, 22, 20, 9,   0}, // Cache#fetch
        {24, 23, 21, 0,   0}, // Hash#fetch
        {25, 21, 19, 31,  0}, // show
        {26, 25, 22, 12,  0}, // JSON.parse
        {27, 0,  16, 5,   0}, // main
        {28, 27, 20, 9,   0}, // Cache#fetch
        {29, 21, 22, 12,  0}, // JSON.parse, called by rack
    };
    static const struct tree_site sites[] = {
        {1,  0, 10, 0,  400,  {0, 0, 0, 10}},
        {23, 0, 80, 90, 3200, {0, 0, 0, 80}},
        {24, 0, 20, 20, 800,  {20, 0, 0, 0}},
        {26, 0, 25, 95, 1000, {25, 0, 0, 0}},
        {28, 0, 14, 14, 560,  {0, 14, 0, 0}},
        {29, 0, 1,  1,  40,   {1, 0, 0, 0} },
    };
    struct model *model = forest_model(SHOP_LIVE);
    bool ok = model != NULL;
    for (uint32_t i = 0; i < sizeof frames / sizeof frames[0] && ok; i++) {
        ok = forest_frame(model, FRAME_FIRST + i, frames[i].label, frames[i].path,
                          frames[i].flags);
    }
    struct tree tree = {
        .key = true,
        .live = SHOP_LIVE,
        .nodes = nodes,
        .node_count = sizeof nodes / sizeof nodes[0],
        .sites = sites,
        .site_count = sizeof sites / sizeof sites[0],
    };
    if (!ok || !forest_tree(model, 100, tree)) {
        model_free(model);
        return NULL;
    }
    return model;
}

char *
forest_rows(const struct paths *paths)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; out != NULL && i < paths->count; i++) {
        const struct paths_row *row = &paths->rows[i];
        char label[128];
        char place[128];
        paths_label(paths, i, label, sizeof label);
        paths_place(paths, i, place, sizeof place);
        const char *sign = row->open ? "- " : "+ ";
        fprintf(out, "%4.0f %4.0f %3.0f%% %*s%s%s%s%s", row->total.live, row->self.live,
                100 * row->of_class, (int)(2 * row->depth), "",
                row->foldable ? sign : "  ", label, place[0] != '\0' ? "  " : "", place);
        if (row->recursion > 0) {
            fprintf(out, " x%u", (unsigned)row->recursion + 1);
        }
        fprintf(out, "%s\n", row->matched ? " *" : "");
    }
    if (out == NULL || fclose(out) != 0) {
        return NULL;
    }
    return text;
}
