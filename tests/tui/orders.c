#include "tests/tui/orders.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BORN_BEFORE 7732 // live in the demo when the class is opened
#define BORN_A_SECOND 41
#define BORN_COUNTED 1640u // of those, while they were counted
#define ORDERS_DEPTH 60
#define PUMA "/var/lib/gems/3.1.0/gems/puma-6.6.0/lib/puma/"
#define RACK "/var/lib/gems/3.1.0/gems/rack-2.2.4/lib/rack/"
#define SINATRA "/var/lib/gems/3.1.0/gems/sinatra-3.0.5/lib/sinatra/"

// clang-format off
static const struct {
    uint32_t flags;
    const char *label, *path;
} frames[] = {
    {0,       "Puma::ThreadPool#spawn_thread",  PUMA "thread_pool.rb"   },  // 16
    {0,       "Puma::Server#process_client",    PUMA "server.rb"        },
    {0,       "Rack::Builder#call",             RACK "builder.rb"       },
    {0,       "Sinatra::Base#route!",           SINATRA "base.rb"       },
    {FRAME_C, "Kernel#catch",                   ""                      },  // 20
    {0,       "OrdersApp#create",               "/srv/shop/demo/app.rb" },
    {0,       "Cache#fetch",                    "/srv/shop/demo/cache.rb"},
    {FRAME_C, "Class#new",                      ""                      },
    {0,       "OrdersApp#show",                 "/srv/shop/demo/app.rb" },
    {0,       "Order#split",                    "/srv/shop/demo/order.rb"}, // 25
    {0,       "Order.parse\x1b[31m",            "/srv/shop/demo/order.rb"},
    {0,       "JSON.parse",                     "/usr/lib/ruby/3.1.0/json/common.rb"},
};

static const struct tree_node nodes[] = {
    {20, 0,  16, 106, 1}, // spawn_thread
    {21, 20, 17, 431, 0}, // process_client
    {22, 21, 18, 244, 0}, // Rack
    {23, 22, 19, 979, 2}, // Sinatra
    {24, 23, 20, 0,   0}, // catch
    {25, 24, 21, 54,  0}, // create
    {26, 25, 22, 17,  0}, // Cache#fetch
    {27, 26, 23, 0,   0}, // Class#new
    {28, 24, 24, 61,  0}, // show
    {29, 28, 25, 30,  0}, // split
    {30, 29, 25, 32,  0}, // split, again
    {31, 30, 25, 32,  0}, // and again
    {32, 28, 26, 12,  0}, // parse
    {33, 22, 27, 216, 0}, // JSON, called by Rack
    {34, FRAME_TRUNCATED, 21, 54, 0},
    {35, 34, 22, 17,  0},
};
// clang-format on

// Where a second's orders are allocated, in a hundred of them.
static const struct {
    uint32_t node;
    uint32_t share;
} births[] = {
    {27, 9500},
    {31, 390 },
    {32, 100 },
    {33, 10  },
};

static const char cache_source[] = "# Makes an order once and remembers it.\n"
                                   "class Cache\n"
                                   "  def initialize\n"
                                   "    @store = {}\n"
                                   "  end\n"
                                   "\n\n\n\n\n\n\n\n\n"
                                   "  def fetch(key, cart)\n"
                                   "    @store[key] ||=\n"
                                   "      Order.new(key, cart.lines)\n"
                                   "  end\n"
                                   "\n"
                                   "  def [](key)\n"
                                   "    @store[key]\n"
                                   "  end\n"
                                   "end\n";

uint64_t orders_source_changed_us;

void
orders_read_source(const char *file, struct source_text *text)
{
    if (strcmp(file, "/srv/shop/demo/cache.rb") == 0) {
        text->bytes = strdup(cache_source);
        text->length = strlen(cache_source);
        text->changed_us = orders_source_changed_us;
    } else {
        snprintf(text->words, sizeof text->words, "No such file or directory");
    }
}

static void
send_frames(struct fixture *fixture)
{
    struct frame_name names[sizeof frames / sizeof frames[0]];
    const size_t count = sizeof frames / sizeof frames[0];
    for (uint32_t i = 0; i < count; i++) {
        names[i] =
            (struct frame_name){FRAME_FIRST + i, frames[i].flags,
                                text_of(frames[i].label), text_of(frames[i].path), 1};
    }
    fixture_message(fixture, (struct message){
                                 .kind = MESSAGE_FRAMES, .frames = {names, count}
    });
}

// The last two are of stacks that were cut.
static size_t
node_count(enum orders_kind kind)
{
    const size_t all = sizeof nodes / sizeof nodes[0];
    return kind == ORDERS_EVEN ? 0 : kind == ORDERS_FULL ? all : all - 2;
}

static struct tree_site
site(uint32_t node, uint32_t shift, uint64_t live)
{
    struct tree_site site = {node, shift, live, live, live * 120, {0}};
    site.ages[0] = node == 27 ? live / 10 : live; // the rest of the cache's grow old
    site.ages[2] = live - site.ages[0];
    return site;
}

// A method that calls itself through a block, again and again.
static struct tree
deep_tree(struct tree tree, uint64_t second)
{
    static struct tree_node chain[ORDERS_DEPTH];
    static struct tree_site leaf[2];
    for (uint32_t i = 0; i < ORDERS_DEPTH; i++) {
        chain[i] =
            (struct tree_node){100 + i, i > 0 ? 99 + i : 0, 21 + i % 2, 10 + i, i % 2};
    }
    leaf[0] = site(FRAME_BEFORE_TRACING, 0, BORN_BEFORE);
    leaf[1] = site(99 + ORDERS_DEPTH, 0, second * BORN_A_SECOND);
    tree.nodes = chain;
    tree.node_count = second == 0 ? ORDERS_DEPTH : 0;
    tree.sites = leaf;
    tree.site_count = 2;
    return tree;
}

// The tree after `second` seconds. What is not sampled has no site; what has no room
// for its path is at FRAME_OTHER.
static void
send_tree(struct fixture *fixture, enum orders_kind kind, uint64_t second)
{
    struct tree_site sites[8];
    size_t count = 0;
    uint64_t born = second * BORN_A_SECOND;
    uint32_t shift = kind == ORDERS_SAMPLED ? 3 : kind == ORDERS_FEW ? 7 : 0;
    struct tree tree = {
        .class_id = ORDERS_CLASS,
        .key = second == 0,
        .flags = TREE_TRACING | (kind == ORDERS_FULL ? (uint64_t)TREE_FULL : 0),
        .live = BORN_BEFORE + born,
        .since_us = UINT64_C(1767268800000000) + 1040 * UINT64_C(1000000),
        .shift = shift,
        .depth = 64,
        .nodes_used = 36,
        .nodes_room = 1000000,
        .nodes = nodes,
        .node_count = second == 0 ? node_count(kind) : 0,
        .sites = sites,
    };
    uint64_t taken = 0;
    sites[count] = site(FRAME_BEFORE_TRACING, 0, BORN_BEFORE);
    sites[count++].allocated = BORN_COUNTED;
    for (size_t i = 0; kind != ORDERS_EVEN && i < sizeof births / sizeof births[0]; i++) {
        uint64_t here = (born * births[i].share / 10000) >> shift;
        if (kind == ORDERS_FREED && births[i].node == 31 && second > 30) {
            here = 0;
        }
        bool cut = kind == ORDERS_FULL && births[i].node == 31;
        bool other = kind == ORDERS_FULL && births[i].node == 32;
        taken += here;
        sites[count++] = site(cut     ? 35
                              : other ? (uint32_t)FRAME_OTHER
                                      : births[i].node,
                              shift, here);
    }
    tree.site_count = count;
    tree.live = kind == ORDERS_EVEN    ? BORN_BEFORE
                : kind == ORDERS_FREED ? BORN_BEFORE + taken
                                       : tree.live;
    if (kind == ORDERS_DEEP) {
        tree = deep_tree(tree, second);
    } else if (kind == ORDERS_FREED) {
        // what rounding left out was never there
    } else if (shift > 0) {
        tree.unsampled_live = tree.unsampled_allocated = born - taken;
    } else if (kind != ORDERS_EVEN) { // what rounding left out
        sites[1] = site(27, 0, sites[1].live + born - taken);
    }
    fixture_message(fixture, (struct message){.kind = MESSAGE_TREE, .tree = tree});
}

void
orders_begin(struct fixture *fixture, struct fixture_options options)
{
    fixture_start(fixture, options);
    fixture_demo(fixture);
    free(fixture_screen(fixture, 118, 30));
    fixture_keys(fixture, "jjjj<Enter>");
    assert_int_equal(fixture->sent_count, 1);
    assert_int_equal(fixture->sent[0].action, REQUEST_OPEN);
    assert_int_equal(fixture->sent[0].argument, ORDERS_CLASS);
}

void
orders_more(struct fixture *fixture, enum orders_kind kind, unsigned from, unsigned to)
{
    for (unsigned second = from + 1; second <= to; second++) {
        fixture_demo_second(fixture);
        send_tree(fixture, kind, second);
    }
}

void
orders_arrive(struct fixture *fixture, enum orders_kind kind, unsigned seconds)
{
    send_frames(fixture);
    send_tree(fixture, kind, 0);
    orders_more(fixture, kind, 0, seconds);
    free(fixture_screen(fixture, 118, 30));
}

void
orders_open(struct fixture *fixture, enum orders_kind kind)
{
    orders_begin(fixture, (struct fixture_options){.read_source = orders_read_source});
    orders_arrive(fixture, kind, 30);
}
