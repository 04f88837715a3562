/* Where followed objects come from: their sites, and the paths of these. */
#include <stdlib.h>

#include "probe/core/tracing.h"
#include "probe/ruby/api.h"
#include "probe/ruby/heap.h"

static struct probe *probe;

/* Sites as a dense list: those of classes, then those of paths. */

static size_t
site_place(site_id id)
{
    const struct registry *registry = &probe->tally.registry;
    return id < REGISTRY_FIRST_PATH
               ? id
               : registry->class_count * SITES_A_CLASS + (id - REGISTRY_FIRST_PATH);
}

static site_id
site_in(size_t place)
{
    size_t classes = (size_t)probe->tally.registry.class_count * SITES_A_CLASS;
    return (site_id)(place < classes ? place : place - classes + REGISTRY_FIRST_PATH);
}

static size_t
site_count(void)
{
    const struct registry *registry = &probe->tally.registry;
    return (size_t)registry->class_count * SITES_A_CLASS + registry->path_count;
}

// Special nodes are numbers too; what was born without a stack has none.
static uint32_t
node_of(const struct site *site)
{
    return site->id < REGISTRY_FIRST_PATH ? FRAME_NO_STACK : site->node;
}

/* Objects by path. */

struct survey {
    uint32_t class_index;
    struct follow_spans spans;
    uint64_t *live; // owned, by site_place()
    VALUE list;
};

static void
survey_object(void *context, uintptr_t address, uint32_t class_index)
{
    struct survey *survey = context;
    const shadow_entry *entry = shadow_find(&probe->tally.shadow, address);
    (void)class_index;
    if (entry && *entry) {
        survey->live[site_place(shadow_site(*entry))]++;
    }
}

static VALUE
report_survey(VALUE context)
{
    struct survey *survey = (struct survey *)context;
    const struct registry *registry = &probe->tally.registry;
    size_t count = site_count();
    for (size_t i = SITES_A_CLASS; i < count; i++) {
        const struct site *site = registry_site(registry, site_in(i));
        VALUE class = survey->live[i] ? api_class_in(probe, site->class_index) : Qnil;
        if (!NIL_P(class)) {
            rb_ary_push(survey->list,
                        rb_ary_new_from_args(3, class, UINT2NUM(node_of(site)),
                                             ULL2NUM(survey->live[i])));
        }
    }
    return survey->list;
}

static VALUE
end_survey(VALUE context)
{
    heap_hold(false);
    free(((struct survey *)context)->live);
    return Qnil;
}

// paths(class or nil, from, to) -> [[Class, node, live]…] of what is not freed; a node
// may come more than once
static VALUE
native_paths(VALUE self, VALUE class, VALUE from, VALUE to)
{
    struct survey survey = {.spans = api_spans(from, to), .list = rb_ary_new()};
    (void)self;
    if (!probe->tally.follow.active) {
        return survey.list;
    }
    survey.class_index = api_class_index(probe, class);
    heap_hold(true); // and so what is dead is freed
    survey.live = calloc(site_count(), sizeof(*survey.live));
    if (!survey.live) {
        heap_hold(false);
        rb_memerror();
    }
    follow_each(&probe->tally.follow, survey.class_index, survey.spans, survey_object,
                &survey);
    return rb_ensure(report_survey, (VALUE)&survey, end_survey, (VALUE)&survey);
}

// allocations(class) -> {node => objects ever allocated there}
static VALUE
native_allocations(VALUE self, VALUE class)
{
    VALUE sums = rb_hash_new();
    (void)self;
    if (!probe->tally.follow.active) {
        return sums;
    }
    const struct registry *registry = &probe->tally.registry;
    uint32_t index = api_class_index(probe, class);
    site_id id = index ? registry_class(registry, index)->paths : 0;
    while (id) {
        const struct site *site = registry_site(registry, id);
        VALUE node = UINT2NUM(site->node);
        VALUE before = rb_hash_lookup2(sums, node, INT2FIX(0));
        rb_hash_aset(sums, node, ULL2NUM(NUM2ULL(before) + site->allocated));
        id = site->next;
    }
    return sums;
}

/* Frames. */

static const char *
special_label(uint32_t node)
{
    switch (node) {
    case FRAME_OTHER:
        return "(other: there was no room for more paths)";
    case FRAME_TRUNCATED:
        return "(more frames than MEMTOP_DEPTH)";
    default:
        return "(no Ruby code)";
    }
}

// [path, line, label, levels of blocks]; path nil for C functions and special frames
static VALUE
frame_array(const struct calltree_node *node)
{
    const struct calltree_frame *frame =
        calltree_frame(&probe->tally.trace.tree, node->frame);
    if (!frame->named) {
        return rb_ary_new_from_args(4, Qnil, INT2FIX(0),
                                    rb_utf8_str_new_cstr("(unnamed)"), INT2FIX(0));
    }
    VALUE path = *frame->path ? rb_utf8_str_new_cstr(frame->path) : Qnil;
    VALUE label = rb_utf8_str_new_cstr(frame->label);
    return rb_ary_new_from_args(4, path, UINT2NUM(node->line), label,
                                UINT2NUM(calltree_block(frame, node->line)));
}

// path(node) -> [[path or nil, line, label, levels of blocks]…], innermost first
static VALUE
native_path(VALUE self, VALUE of)
{
    const struct calltree *tree = &probe->tally.trace.tree;
    VALUE list = rb_ary_new();
    uint32_t number = NUM2UINT(of);
    (void)self;
    while (tracing_name_frames(probe)) {
    }
    while (number >= CALLTREE_FIRST_NODE && number < tree->node_count) {
        const struct calltree_node *node = calltree_node(tree, number);
        rb_ary_push(list, frame_array(node));
        number = node->parent;
    }
    if (number && number < CALLTREE_FIRST_NODE) {
        VALUE label = rb_utf8_str_new_cstr(special_label(number));
        rb_ary_push(list, rb_ary_new_from_args(4, Qnil, INT2FIX(0), label, INT2FIX(0)));
    }
    return list;
}

void
api_paths_init(VALUE native, struct probe *the_probe)
{
    probe = the_probe;
    rb_define_singleton_method(native, "paths", native_paths, 3);
    rb_define_singleton_method(native, "allocations", native_allocations, 1);
    rb_define_singleton_method(native, "path", native_path, 1);
}
