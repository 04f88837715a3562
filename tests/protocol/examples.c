#include "tests/protocol/examples.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_AGES                                                                          \
    {                                                                                    \
        COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN                       \
    }

static const struct class_name names[] = {
    {1, 0,               {"String", 6}},
    {2, CLASS_INTERNAL,  {"(iseq)", 6}},
    {3, CLASS_ANONYMOUS, {"", 0}      },
};

static const struct class_row key_rows[] = {
    {1, 1200, 1500,          300,           48000        },
    {2, 80,   0,             0,             COUNT_UNKNOWN},
    {3, 7,    COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN},
};

static const struct class_row delta_rows[] = {
    {1, 1250, 1600, 350, 48000}
};
static const class_id gone[] = {3};

static const struct frame_name frames[] = {
    {16, 0,       {"Shop::Order#total", 17}, {"app/order.rb", 12}, 20},
    {17, FRAME_C, {"Array#map", 9},          {"", 0},              0 },
    {18, 0,       {"", 0},                   {"", 0},              0 },
};

static const struct tree_node tree_nodes[] = {
    {1,  0,  FRAME_BEFORE_TRACING, 0,  0},
    {16, 0,  16,                   22, 0},
    {17, 16, 17,                   0,  0},
    {18, 17, 16,                   23, 1},
};

static const struct tree_site tree_sites[] = {
    {1,  0, 900, 1150, 40000,         {100, 200, 300, 400}},
    {17, 0, 0,   50,   0,             {0, 0, 0, 0}        },
    {18, 3, 20,  30,   COUNT_UNKNOWN, NO_AGES             },
};

static const struct tree_site tree_delta_sites[] = {
    {18, 3, 25, 35, COUNT_UNKNOWN, NO_AGES}
};

static const struct verdict_row verdicts[] = {
    {1, VERDICT_LEAK, {100, 200, 300, 400}, {"grew in 12 collections", 22}},
    {2, VERDICT_NONE, NO_AGES,              {"", 0}                       },
};

static const struct tag_name tag_names[] = {
    {2, {"route=orders#show", 17}      },
    {3, {"job=Mailer\ntenant=acme", 22}},
};

static const struct tag_row tag_rows[] = {
    {2, 120, 1, 4800, 4550, 250,           10000,         {50, 100, 60, 40}},
    {3, 7,   0, 90,   90,   COUNT_UNKNOWN, COUNT_UNKNOWN, NO_AGES          },
};

static const struct tag_class tag_classes[] = {
    {2, 1, 3000, 200, 8000, {20, 90, 50, 40}},
};

static const struct mark_row mark_rows[] = {
    {1, 1200, 48000        },
    {2, 80,   COUNT_UNKNOWN}
};

static const struct left_row left_rows[] = {
    {3,          COUNT_UNKNOWN, 8500000      },
    {4294967295, 3,             COUNT_UNKNOWN},
};

static const struct mark_place mark_places[] = {
    {1, 0,  1200,  48000},
    {1, 18, 160.5, NAN  },
};

const struct example examples[EXAMPLES] = {
    {"hello",
     {.kind = MESSAGE_HELLO,
      .at = {5000000, 1767225605000000},
      .hello = {.version = PROTOCOL_VERSION,
                .program_version = {"0.1.0", 5},
                .pid = 4242,
                .parent_pid = 1,
                .command = {"ruby app.rb", 11},
                .runtime = {"ruby 3.1.2", 10},
                .started_us = 1767225600000000,
                .mode = MODE_COUNT,
                .capabilities = CAPABILITY_COUNT | CAPABILITY_GC,
                .interval_ms = 1000}}                                              },
    {"names",
     {.kind = MESSAGE_NAMES,
      .at = {5000100, 1767225605000100},
      .names = {names, sizeof names / sizeof names[0]}}                            },
    {"sample",
     {.kind = MESSAGE_SAMPLE,
      .at = {5000200, 1767225605000200},
      .sample = {.key = true,
                 .mode = MODE_COUNT,
                 .process = {34603008, 40000, 900, 12, 3, 45, 20},
                 .probe = {12000, 0, 0, 0, 6100, 40000, 1},
                 .totals = {1287, 1500, 300, COUNT_UNKNOWN},
                 .rows = key_rows,
                 .row_count = sizeof key_rows / sizeof key_rows[0]}}               },
    {"delta",
     {.kind = MESSAGE_SAMPLE,
      .at = {6000200, 1767225606000200},
      .sample = {.mode = MODE_COUNT,
                 .process = {34603008, 40100, 800, 13, 3, 46, 1020},
                 .probe = {12500, 0, 0, 0, 6100, 40000, 1},
                 .totals = {1330, 1600, 350, COUNT_UNKNOWN},
                 .rows = delta_rows,
                 .row_count = sizeof delta_rows / sizeof delta_rows[0],
                 .gone = gone,
                 .gone_count = sizeof gone / sizeof gone[0]}}                      },
    {"frames",
     {.kind = MESSAGE_FRAMES,
      .at = {6000200, 1767225606000200},
      .frames = {frames, sizeof frames / sizeof frames[0]}}                        },
    {"tree",
     {.kind = MESSAGE_TREE,
      .at = {6000200, 1767225606000200},
      .tree = {.class_id = 1,
               .key = true,
               .flags = TREE_TRACING | TREE_PINNED,
               .live = 1250,
               .since_us = 1767225605500000,
               .shift = 3,
               .unsampled_live = 330,
               .unsampled_allocated = 370,
               .depth = 64,
               .nodes_used = 19,
               .nodes_room = 1048576,
               .nodes = tree_nodes,
               .node_count = sizeof tree_nodes / sizeof tree_nodes[0],
               .sites = tree_sites,
               .site_count = sizeof tree_sites / sizeof tree_sites[0]}}            },
    {"tree-delta",
     {.kind = MESSAGE_TREE,
      .at = {7000200, 1767225607000200},
      .tree = {.class_id = 1,
               .flags = TREE_TRACING,
               .live = 1255,
               .since_us = 1767225605500000,
               .shift = 3,
               .unsampled_live = 330,
               .unsampled_allocated = 370,
               .depth = 64,
               .nodes_used = 19,
               .nodes_room = 1048576,
               .sites = tree_delta_sites,
               .site_count = sizeof tree_delta_sites / sizeof tree_delta_sites[0]}}},
    {"verdicts",
     {.kind = MESSAGE_VERDICTS,
      .at = {7000200, 1767225607000200},
      .verdicts = {verdicts, sizeof verdicts / sizeof verdicts[0]}}                },
    {"tags",
     {.kind = MESSAGE_TAGS,
      .at = {7000300, 1767225607000300},
      .tags = {.key = true,
               .names = tag_names,
               .name_count = sizeof tag_names / sizeof tag_names[0],
               .rows = tag_rows,
               .row_count = sizeof tag_rows / sizeof tag_rows[0],
               .classes = tag_classes,
               .class_count = sizeof tag_classes / sizeof tag_classes[0]}}         },
    {"notice",
     {.kind = MESSAGE_NOTICE,
      .at = {6000300, 1767225606000300},
      .notice = {7, NOTICE_WARNING, {"objspace is tracing", 19}}}                  },
    {"result",
     {.kind = MESSAGE_RESULT,
      .at = {6000400, 1767225606000400},
      .result = {1, RESULT_REFUSED, {"read-only", 9}}}                             },
    {"bye",
     {.kind = MESSAGE_BYE,
      .at = {7000000, 1767225607000000},
      .bye = {BYE_EXIT, 0, {"", 0}}}                                               },
    {"mark",
     {.kind = MESSAGE_MARK,
      .at = {8000000, 1767225608000000},
      .mark = {.letter = 0,
               .counted = true,
               .live = 1287,
               .bytes = COUNT_UNKNOWN,
               .at_monotonic_us = 5000200,
               .at_wall_us = 1767225605000200,
               .rows = mark_rows,
               .row_count = sizeof mark_rows / sizeof mark_rows[0],
               .places = mark_places,
               .place_count = sizeof mark_places / sizeof mark_places[0]}}         },
    {"gap",
     {.kind = MESSAGE_GAP,
      .at = {9000000, 1767225609000000},
      .gap = {GAP_RESTARTED, {"pid 4243 took its place", 23}}}                     },
    {"key",
     {.kind = MESSAGE_KEY,
      .at = {9000000, 1767225609000000},
      .key = {true, 61234, 2, 1330, 34603008, 13, MODE_COUNT, 1959488}}            },
    {"key-end",
     {.kind = MESSAGE_KEY,
      .at = {9000000, 1767225609000000},
      .key = {false, 22222, 2, 1330, 34603008, 13, MODE_COUNT, 0}}                 },
    {"left",
     {.kind = MESSAGE_LEFT,
      .at = {9000000, 1767225609000000},
      .left = {left_rows, sizeof left_rows / sizeof left_rows[0]}}                 },
    {"greeting",
     {.kind = MESSAGE_GREETING,
      .at = {5000050, 1767225605000050},
      .greeting = {PROTOCOL_VERSION, {"0.1.0", 5}}}                                },
    {"request",
     {.kind = MESSAGE_REQUEST,
      .at = {6000350, 1767225606000350},
      .request = {1, REQUEST_MODE, MODE_CENSUS}}                                   },
    {"open",
     {.kind = MESSAGE_REQUEST,
      .at = {6000150, 1767225606000150},
      .request = {2, REQUEST_OPEN, 1}}                                             },
};

void
example_encode(struct buffer *out, const struct message *message)
{
    if (!message_encode(out, message)) {
        abort();
    }
}

void
example_frame(struct buffer *out, uint8_t kind, const void *body, size_t length)
{
    unsigned char header[FRAME_HEADER_BYTES];
    frame_write(header, kind, (struct stamp){1, 2}, body, (uint32_t)length);
    if (!buffer_append(out, header, sizeof header) || !buffer_append(out, body, length)) {
        abort();
    }
}

bool
example_same(const struct message *one, const struct message *other)
{
    struct buffer first = {0};
    struct buffer second = {0};
    example_encode(&first, one);
    example_encode(&second, other);
    bool same = first.length == second.length &&
                memcmp(first.bytes, second.bytes, first.length) == 0;
    buffer_destroy(&second);
    buffer_destroy(&first);
    return same;
}

// The bytes of a line of a hex dump, up to its remark.
static void
read_hex_line(const char *line, struct buffer *bytes)
{
    while (isxdigit((unsigned char)line[0]) && isxdigit((unsigned char)line[1])) {
        char digits[] = {line[0], line[1], '\0'};
        unsigned char byte = (unsigned char)strtoul(digits, NULL, 16);
        if (!buffer_append(bytes, &byte, 1)) {
            abort();
        }
        line += line[2] == ' ' ? 3 : 2;
    }
}

// The dump begins with a line of three backticks, "hex " and the name.
void
example_specified(struct buffer *bytes, const char *name)
{
    char line[256];
    char begin[64];
    bool inside = false;
    FILE *file = fopen(SPECIFICATION, "r");
    if (file == NULL) {
        abort();
    }
    (void)snprintf(begin, sizeof begin, "```hex %s\n", name);
    while (fgets(line, sizeof line, file) != NULL) {
        if (inside && line[0] == '`') {
            break;
        }
        if (inside) {
            read_hex_line(line, bytes);
        }
        inside = inside || strcmp(line, begin) == 0;
    }
    fclose(file);
    if (!inside) {
        abort();
    }
}
