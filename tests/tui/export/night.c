#include "tests/tui/export/night.h"

#include <stdlib.h>

#define SECOND UINT64_C(1000000)
#define END_US (NIGHT_BEGIN_US + NIGHT_SECONDS * SECOND)
#define TRACED_US (NIGHT_BEGIN_US + 5 * 3600 * SECOND)

// What a class was at the beginning and at the end, and what the probe thinks of it.
static const struct kind {
    const char *name;
    uint64_t first, last;
    uint64_t bytes_each;
    uint64_t allocated;
    enum verdict verdict;
    const char *reason;
    uint64_t ages[AGE_BUCKETS];
} kinds[] = {
    {"Order::Line",
     482,                              577318,
     40,                                            577400,
     VERDICT_LEAK,                                                             "+576 836 objects over 5 412 collections (211 full), 97 % survived 8 or more, still "
     "+20/s",                                                                                                                    {900, 3200, 12218, 561000}},
    {"Order",
     120,                              288612,
     40,                                            288700,
     VERDICT_LEAK,                                                             "+288 492 objects over 5 412 collections (211 full), 97 % survived 8 or more, still "
     "+10/s",                                                                                                                    {410, 1600, 6100, 280502} },
    {"Time",
     203,                              288840,
     88,                                            290112,
     VERDICT_LEAK,                                                             "+288 637 objects over 5 412 collections (211 full), 97 % survived 8 or more, still "
     "+10/s",                                                                                                                    {500, 1500, 6340, 280500} },
    {"String",
     60698,                            921044,
     46,                                            466801220,
     VERDICT_GROWING,                                                          "+860 346 objects over 5 412 collections, 91 % survived 8 or more",
     {60100, 18200, 22744, 820000}                                                                                                                                           },
    {"Hash",
     5417,                             301877,
     168,                                           101952332,
     VERDICT_GROWING,                                                          "+296 460 objects over 5 412 collections, 94 % survived 8 or more",
     {9100, 6200, 6577, 280000}                                                                                                                                              },
    {"Array",
     21953,                            41207,
     40,                                            369966112,
     VERDICT_STEADY,                                                           "no growth that lasts",
     {12100, 3300, 2200, 23607}                                                                                                                                              },
    {"Session",
     876,                              5000,
     320,                                           288600,
     VERDICT_STEADY,                                                           "grew, then stayed below 5 001: a cache that is full",
     {300, 420, 1100, 3180}                                                                                                                                                  },
    {"Cart",
     876,                              412,
     40,                                            288600,
     VERDICT_CHURN,                                                            "short-lived: 98 % died young",
     {401, 9, 2, 0}                                                                                                                                                          },
    {"MatchData",
     2164,                             1830,
     40,                                            53568001,
     VERDICT_CHURN,                                                            "short-lived",
     {1830, 0, 0, 0}                                                                                                                                                         },
    {"Method",                   965,  914,    40,  23921044,  VERDICT_CHURN,  "short-lived",                                                      {900, 10, 2, 2}           },
    {"Proc",
     1234,                             1271,
     64,                                            12400880,
     VERDICT_STEADY,                                                           "no growth that lasts",
     {60, 11, 100, 1100}                                                                                                                                                     },
    {"Regexp",                   812,  812,    520, 812,       VERDICT_STEADY, "no growth",                                                        {0, 0, 0, 812}            },
    {"Rack::Request",            24,   18,     96,  288600,    VERDICT_CHURN,  "short-lived",                                                      {18, 0, 0, 0}             },
    {"Sinatra::IndifferentHash",
     48,                               33,
     168,                                           577200,
     VERDICT_CHURN,                                                            "short-lived",
     {33, 0, 0, 0}                                                                                                                                                           },
    {"Class",                    1022, 1024,   640, 1024,      VERDICT_STEADY, "no growth",                                                        {0, 0, 2, 1022}           },
    {"Thread::Mutex",            31,   31,     64,  31,        VERDICT_STEADY, "no growth",                                                        {0, 0, 0, 31}             },
    {"Feature::Flag",            0,    64,     40,  64,        VERDICT_NEW,    "not seen long enough",                                             {0, 64, 0, 0}             },
};

#define KINDS (sizeof kinds / sizeof kinds[0])

// A number that looks like chance.
static uint64_t
scatter(uint64_t seed)
{
    seed ^= seed >> 33;
    seed *= UINT64_C(0xff51afd7ed558ccd);
    seed ^= seed >> 33;
    seed *= UINT64_C(0xc4ceb9fe1a85ec53);
    return seed ^ seed >> 33;
}

static bool
apply_sample(struct model *model, bool last)
{
    struct class_row rows[KINDS];
    struct totals totals = {0};
    for (size_t i = 0; i < KINDS; i++) {
        uint64_t live = last ? kinds[i].last : kinds[i].first;
        uint64_t allocated = last ? kinds[i].allocated : kinds[i].first;
        uint64_t freed = allocated > live ? allocated - live : 0;
        rows[i] = (struct class_row){(class_id)i + 1, live, allocated, freed,
                                     live * kinds[i].bytes_each};
        totals.live += live;
        totals.allocated += allocated;
        totals.freed += freed;
        totals.bytes += rows[i].bytes;
    }
    uint64_t at = last ? END_US : NIGHT_BEGIN_US;
    return model_apply(
        model, &(struct message){
                   .kind = MESSAGE_SAMPLE,
                   .at = {at - NIGHT_BEGIN_US + SECOND, at},
                   .sample = { .key = true,
                          .mode = MODE_TRACE,
                          .process = {last ? 361758720 : 42991616, 2411904, 8812,
                                          last ? 5774 : 362, last ? 229 : 18, 19412, 0},
                          .probe = {9200, 0, 12, 3, 41000, 2429000, 1},
                          .totals = totals,
                          .rows = rows,
                          .row_count = KINDS}
    });
}

static bool
apply_names(struct model *model)
{
    struct class_name names[KINDS];
    struct verdict_row verdicts[KINDS];
    const struct message hello = {
        .kind = MESSAGE_HELLO,
        .hello = {.version = PROTOCOL_VERSION,
                  .program_version = text_of("0.1.0"),
                  .pid = 14068,
                  .parent_pid = 1,
                  .command = text_of("puma 5.6.5 (tcp://127.0.0.1:32845) [shop]"),
                  .runtime = text_of("ruby 3.1.2"),
                  .started_us = NIGHT_BEGIN_US - 600 * SECOND,
                  .mode = MODE_TRACE,
                  .interval_ms = 1000}
    };
    for (size_t i = 0; i < KINDS; i++) {
        names[i] = (struct class_name){(class_id)i + 1, 0, text_of(kinds[i].name)};
        verdicts[i] = (struct verdict_row){
            .id = (class_id)i + 1,
            .verdict = kinds[i].verdict,
            .reason = text_of(kinds[i].reason),
        };
        for (unsigned age = 0; age < AGE_BUCKETS; age++) {
            verdicts[i].ages[age] = kinds[i].ages[age];
        }
    }
    return model_apply(model, &hello) &&
           model_apply(model,
                       &(struct message){
                           .kind = MESSAGE_NAMES, .names = {names, KINDS}
    }) &&
           apply_sample(model, false) && model_mark_set(model, 0) &&
           model_mark_use(model, 0) && apply_sample(model, true) &&
           model_apply(model, &(struct message){.kind = MESSAGE_VERDICTS,
                                                .verdicts = {verdicts, KINDS}});
}

/* Call trees. */

static bool
apply_frames(struct model *model)
{
    static const struct {
        uint32_t flags;
        const char *label, *path;
    } frames[] = {
        {0,       "Puma::ThreadPool#spawn_thread",
         "/usr/share/rubygems-integration/all/gems/puma-5.6.5/lib/puma/thread_pool.rb" },
        {0,       "Puma::Server#process_client",
         "/usr/share/rubygems-integration/all/gems/puma-5.6.5/lib/puma/server.rb"      },
        {0,       "Puma::Request#handle_request",
         "/usr/share/rubygems-integration/all/gems/puma-5.6.5/lib/puma/request.rb"     },
        {0,       "Rack::Logger#call",
         "/usr/share/rubygems-integration/all/gems/rack-2.2.4/lib/rack/logger.rb"      },
        {0,       "Rack::Head#call",
         "/usr/share/rubygems-integration/all/gems/rack-2.2.4/lib/rack/head.rb"        },
        {0,       "Sinatra::Base#call!",
         "/usr/share/rubygems-integration/all/gems/sinatra-3.0.5/lib/sinatra/base.rb"  },
        {0,       "Sinatra::Base#route!",
         "/usr/share/rubygems-integration/all/gems/sinatra-3.0.5/lib/sinatra/base.rb"  },
        {0,       "<class:OrdersApp>",             "/srv/shop/demo/app.rb"             },
        {0,       "OrdersApp#create",              "/srv/shop/demo/app.rb"             },
        {0,       "OrdersApp#show",                "/srv/shop/demo/app.rb"             },
        {0,       "Cache#fetch",                   "/srv/shop/demo/cache.rb"           },
        {FRAME_C, "Class#new",                     ""                                  },
        {0,       "Order#initialize",              "/srv/shop/demo/order.rb"           },
        {0,       "JSON.parse",                    "/usr/lib/ruby/3.1.0/json/common.rb"},
        {0,       "Reports.nightly",               "/srv/shop/demo/reports.rb"         },
        {0,       "<main>",                        "/srv/shop/demo/server.rb"          },
        {FRAME_C, "Kernel#format",                 ""                                  },
    };
    bool good = true;
    for (uint32_t i = 0; i < sizeof frames / sizeof frames[0] && good; i++) {
        const struct frame_name named = {FRAME_FIRST + i, frames[i].flags,
                                         text_of(frames[i].label),
                                         text_of(frames[i].path), 1};
        good = model_apply(model, &(struct message){
                                      .kind = MESSAGE_FRAMES, .frames = {&named, 1}
        });
    }
    return good;
}

static const struct tree_node nodes[] = {
    {20, 0,  16, 106,  1}, // spawn_thread
    {21, 20, 17, 443,  0}, // process_client
    {22, 21, 18, 76,   0}, // handle_request
    {23, 22, 19, 17,   0}, // Rack::Logger
    {24, 23, 20, 12,   0}, // Rack::Head
    {25, 24, 21, 970,  0}, // call!
    {26, 25, 22, 1058, 0}, // route!
    {27, 26, 23, 38,   1}, // block in <class:OrdersApp>
    {28, 27, 24, 64,   0}, // create
    {29, 28, 26, 17,   0}, // Cache#fetch
    {30, 29, 27, 0,    0}, // Class#new
    {31, 30, 28, 9,    0}, // Order#initialize
    {32, 26, 23, 44,   1}, // block in <class:OrdersApp>
    {33, 32, 25, 71,   0}, // show
    {34, 33, 29, 216,  0}, // JSON.parse
    {35, 0,  31, 12,   0}, // main
    {36, 35, 30, 33,   0}, // nightly
    {37, 36, 26, 17,   0}, // Cache#fetch
    {38, 37, 27, 0,    0}, // Class#new
    {39, 31, 32, 0,    0}, // format
};

static bool
apply_tree(struct model *model, class_id id, uint64_t live, uint64_t unsampled,
           uint64_t shift, const struct tree_site *sites, size_t site_count, bool key)
{
    return model_apply(
        model, &(struct message){
                   .kind = MESSAGE_TREE,
                   .at = {(key ? TRACED_US : END_US) - NIGHT_BEGIN_US + SECOND,
                          key ? TRACED_US : END_US},
                   .tree = { .class_id = id,
                          .key = key,
                          .flags = TREE_TRACING,
                          .live = live,
                          .since_us = TRACED_US,
                          .shift = shift,
                          .unsampled_live = unsampled,
                          .unsampled_allocated = unsampled,
                          .depth = 64,
                          .nodes_used = 20,
                          .nodes_room = 65536,
                          .nodes = nodes,
                          .node_count = key ? sizeof nodes / sizeof nodes[0] : 0,
                          .sites = sites,
                          .site_count = site_count}
    });
}

static bool
apply_trees(struct model *model)
{
    static const struct tree_site orders[] = {
        {FRAME_BEFORE_TRACING, 0, 180560, 0,      7222400, {0, 0, 0, 180560}       },
        {30,                   0, 104822, 104850, 4192880, {410, 1600, 6100, 96712}},
        {38,                   0, 3120,   3120,   124800,  {0, 0, 0, 3120}         },
        {33,                   0, 110,    9000,   4400,    {110, 0, 0, 0}          },
    };
    static const struct tree_site strings[] = {
        {FRAME_BEFORE_TRACING, 0, 520000, 0,     23920000, {0, 0, 0, 520000}   },
        {31,                   6, 2710,   2712,  124660,   {10, 100, 100, 2500}},
        {39,                   6, 1630,   1640,  74980,    {10, 100, 100, 1420}},
        {34,                   6, 420,    99000, 19320,    {400, 20, 0, 0}     },
        {28,                   6, 310,    8000,  14260,    {10, 100, 100, 100} },
        {22,                   6, 44,     80000, 2024,     {44, 0, 0, 0}       },
        {36,                   6, 31,     31,    1426,     {0, 0, 0, 31}       },
    };
    const uint64_t sampled = 2710 + 1630 + 420 + 310 + 44 + 31;
    // at first nothing but what is older than tracing
    return apply_frames(model) &&
           apply_tree(model, 2, orders[0].live, 0, 0, orders, 1, true) &&
           apply_tree(model, 4, strings[0].live, 0, 6, strings, 1, true) &&
           apply_tree(model, 2, kinds[1].last, 0, 0, orders, 4, false) &&
           apply_tree(model, 4, kinds[3].last, kinds[3].last - 520000 - sampled, 6,
                      strings, 7, false);
}

/* Over time. */

static const class_id shown[] = {4, 1, 5, 3, 2, 6, 7, 8, 9};

#define SHOWN (sizeof shown / sizeof shown[0])

static uint64_t
value_at(const struct kind *kind, double part, uint64_t seed)
{
    double grown = kind->verdict == VERDICT_STEADY && kind->last > 2 * kind->first
                       ? (part < 0.2 ? part * 5 : 1)
                       : part;
    double change = ((double)kind->last - (double)kind->first) * grown;
    double noise = kind->verdict == VERDICT_CHURN || kind->allocated > 1000 * kind->last
                       ? 0.4
                       : 0.01;
    double low = (double)kind->first + change;
    return (uint64_t)(low * (1 + noise * (double)(scatter(seed) % 1000) / 1000));
}

static bool
in_gap(const struct night *night, uint64_t wall_us)
{
    for (size_t i = 0; i < 2; i++) {
        if (wall_us > night->gaps[i].from_us && wall_us < night->gaps[i].to_us) {
            return true;
        }
    }
    return false;
}

static void
fill_point(struct night *night, size_t index, size_t points)
{
    double part = points > 1 ? (double)index / (double)(points - 1) : 1;
    uint64_t at = NIGHT_BEGIN_US + (uint64_t)(part * (double)NIGHT_SECONDS) * SECOND;
    bool gap = in_gap(night, at);
    uint64_t live = 0;
    for (size_t i = 0; i < KINDS; i++) {
        live += value_at(&kinds[i], part, index * KINDS + i);
    }
    double rss = 42991616 + (361758720.0 - 42991616) * part;
    night->points[index] = (struct html_point){
        .wall_us = at,
        .live = gap ? COUNT_UNKNOWN : live,
        .rss_bytes =
            gap ? COUNT_UNKNOWN : (uint64_t)(rss + (double)(scatter(index) % 3000000)),
        .gc_count =
            gap ? COUNT_UNKNOWN : 362 + (uint64_t)(5412 * part * (0.7 + 0.3 * part)),
        .mode = at < TRACED_US ? MODE_COUNT : MODE_TRACE,
    };
    for (size_t i = 0; i < SHOWN; i++) {
        size_t kind = shown[i] - 1;
        night->values[i * points + index] =
            gap ? COUNT_UNKNOWN : value_at(&kinds[kind], part, index * KINDS + kind);
    }
}

bool
night_init(struct night *night, size_t points)
{
    *night = (struct night){.model = model_new()};
    night->points = calloc(points + 1, sizeof *night->points);
    night->values = calloc(points * SHOWN + 1, sizeof *night->values);
    if (night->model == NULL || night->points == NULL || night->values == NULL ||
        !apply_names(night->model) || !apply_trees(night->model)) {
        night_destroy(night);
        return false;
    }
    night->marks[0] = (struct html_mark){NIGHT_BEGIN_US, 'A'};
    night->marks[1] = (struct html_mark){NIGHT_BEGIN_US + 17640 * SECOND, 'B'};
    night->gaps[0] =
        (struct html_gap){NIGHT_BEGIN_US + 9000 * SECOND, NIGHT_BEGIN_US + 10320 * SECOND,
                          "the connection was lost"};
    night->gaps[1] =
        (struct html_gap){NIGHT_BEGIN_US + 22000 * SECOND,
                          NIGHT_BEGIN_US + 22030 * SECOND, "frames were dropped"};
    for (size_t i = 0; i < points; i++) {
        fill_point(night, i, points);
    }
    for (size_t i = 0; i < SHOWN; i++) {
        night->classes[i] = (struct html_class){shown[i], night->values + i * points};
    }
    night->series = (struct html_series){"shop-night.memtop",
                                         night->points,
                                         points,
                                         night->classes,
                                         SHOWN,
                                         night->marks,
                                         2,
                                         night->gaps,
                                         2};
    return true;
}

void
night_destroy(struct night *night)
{
    model_free(night->model);
    free(night->points);
    free(night->values);
    *night = (struct night){.model = NULL};
}
