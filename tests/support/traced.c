#include "support/traced.h"

#define MAIN 20u
#define ADD 21u
#define MAIN_LIVE 70u

struct message
traced_frames(enum traced_kind kind)
{
    static struct frame_name frames[2];
    bool hostile = kind == TRACED_HOSTILE;

    frames[0] = (struct frame_name){
        16, 0, text_of(hostile ? "\033[2J\xe2\x80\xae<main>" : "<main>"),
        text_of(hostile ? "/srv/\033]0;owned\007\n.rb" : "/srv/shop/app.rb"), 1};
    frames[1] = (struct frame_name){17, 0, text_of(hostile ? "add\n\xff" : "Cart#add"),
                                    text_of("/srv/shop/cart.rb"), 7};
    return (struct message){
        .kind = MESSAGE_FRAMES, .frames = {frames, 2}
    };
}

// What lives was born at the last census or long before it.
static struct tree_site
site(uint32_t node, uint32_t shift, uint64_t live)
{
    return (struct tree_site){
        node, shift, live, live, 40 * live, {live, 0, 0, 0}
    };
}

struct message
traced_tree(enum traced_kind kind, class_id id, uint64_t live, uint64_t before,
            uint64_t since_us)
{
    static const struct tree_node nodes[] = {
        {MAIN, 0,    16, 5, 0},
        {ADD,  MAIN, 17, 9, 1},
    };
    static struct tree_site sites[3];
    bool sampled = kind == TRACED_SAMPLED;
    bool nothing = kind == TRACED_READONLY;
    uint64_t taken = sampled ? MAIN_LIVE / 8 : MAIN_LIVE;

    sites[0] = site(FRAME_BEFORE_TRACING, 0, nothing ? live : before);
    if (!nothing) {
        sites[1] = site(MAIN, sampled ? 3 : 0, taken);
        sites[2] = site(ADD, 0, live - before - MAIN_LIVE);
    }
    return (struct message){
        .kind = MESSAGE_TREE,
        .tree = {.class_id = id,
                 .key = true,
                 .flags = nothing ? 0 : TREE_TRACING,
                 .live = live,
                 .since_us = nothing ? COUNT_UNKNOWN : since_us,
                 .shift = sampled ? 3 : 0,
                 .unsampled_live = MAIN_LIVE - taken,
                 .unsampled_allocated = MAIN_LIVE - taken,
                 .depth = 64,
                 .nodes_used = 2,
                 .nodes_room = 1000,
                 .nodes = nodes,
                 .node_count = nothing ? 0 : 2,
                 .sites = sites,
                 .site_count = nothing ? 1 : 3}
    };
}

struct message
traced_verdicts(class_id id, uint64_t live)
{
    static struct verdict_row rows[2];

    rows[0] = (struct verdict_row){
        id, VERDICT_LEAK, {0, 0, 1, live - 1},
          text_of("grew with every collection")
    };
    rows[1] = (struct verdict_row){
        id - 1, VERDICT_STEADY, {1, 2, 3, 4},
            text_of("as many as before")
    };
    return (struct message){
        .kind = MESSAGE_VERDICTS, .verdicts = {rows, 2}
    };
}
