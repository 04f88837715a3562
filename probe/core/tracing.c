#include "probe/core/tracing.h"

#include <stdlib.h>
#include <string.h>

#include "probe/core/clock.h"
#include "probe/core/opened.h"

#define NAMES_A_TURN 300u // some milliseconds of the GVL

/* Which classes. */

static void
show_flags(struct registry *registry, uint32_t class_index)
{
    const struct class_entry *entry = registry_class(registry, class_index);
    uint32_t flags = (entry->traced ? (uint32_t)CLASS_TRACED : 0) |
                     (entry->pinned ? (uint32_t)CLASS_PINNED : 0);
    registry_flag(registry, class_index, CLASS_TRACED | CLASS_PINNED, flags);
}

static void
bring_in_line(struct probe *probe, uint32_t class_index, bool counting)
{
    struct tally *tally = &probe->tally;
    struct class_entry *entry = registry_class(&tally->registry, class_index);
    bool wanted = counting && opened_wanted(entry, clock_monotonic_ns());
    if (wanted != entry->traced || (wanted && !entry->traced_us)) {
        trace_class(&tally->trace, &tally->registry, class_index, wanted,
                    clock_stamp().wall_us);
    }
    trace_shorten(&tally->trace, &tally->registry, class_index);
    show_flags(&tally->registry, class_index);
}

void
tracing_follow(struct probe *probe)
{
    struct registry *registry = &probe->tally.registry;
    bool counting = mode_counts(probe->mode);
    pthread_mutex_lock(&probe->lock);
    uint32_t count = registry->class_count;
    for (uint32_t i = 1; i < count; i++) {
        const struct class_entry *entry = registry_class(registry, i);
        if (entry->id && (entry->key || entry->traced)) { // the dead allocate nothing
            bring_in_line(probe, i, counting);
        }
    }
    pthread_mutex_unlock(&probe->lock);
}

// Whether a name is one of a list such as "Order,Cart::Line".
static bool
lists(const char *list, const char *name)
{
    size_t length = strlen(name);
    while (*list) {
        list += strspn(list, ", ");
        size_t word = strcspn(list, ", ");
        if (word == length && strncmp(list, name, word) == 0) {
            return true;
        }
        list += word;
    }
    return false;
}

// What has no name yet may turn out to be listed: its first objects count too.
static bool
is_pinned_by(const struct probe *probe, enum probe_mode mode,
             const struct class_entry *entry)
{
    const char *list = probe->settings.trace;
    return mode == MODE_TRACE && (!*list || !entry->name || lists(list, entry->name));
}

void
tracing_enter(struct probe *probe, enum probe_mode mode)
{
    struct registry *registry = &probe->tally.registry;
    pthread_mutex_lock(&probe->lock);
    registry->traces_new = mode == MODE_TRACE;
    uint32_t count = registry->class_count;
    for (uint32_t i = 1; i < count; i++) {
        struct class_entry *entry = registry_class(registry, i);
        entry->pinned = is_pinned_by(probe, mode, entry);
    }
    pthread_mutex_unlock(&probe->lock);
}

void
tracing_named(struct probe *probe, uint32_t class_index)
{
    struct class_entry *entry = registry_class(&probe->tally.registry, class_index);
    if (probe->mode == MODE_TRACE) {
        pthread_mutex_lock(&probe->lock);
        entry->pinned = is_pinned_by(probe, MODE_TRACE, entry);
        bring_in_line(probe, class_index, true);
        pthread_mutex_unlock(&probe->lock);
    }
}

/* For the program itself. */

void
tracing_exactly(struct probe *probe, uint32_t class_index, bool on)
{
    struct tally *tally = &probe->tally;
    struct registry *registry = &tally->registry;
    uint32_t count = registry->class_count;
    pthread_mutex_lock(&probe->lock);
    if (class_index) {
        trace_exactly(&tally->trace, registry, class_index, on);
        bring_in_line(probe, class_index, mode_counts(probe->mode));
    } else {
        registry->exact_new += on ? 1 : -1u;
    }
    for (uint32_t i = 1; !class_index && i < count; i++) {
        if (registry_class(registry, i)->id) {
            trace_exactly(&tally->trace, registry, i, on);
            bring_in_line(probe, i, mode_counts(probe->mode));
        }
    }
    pthread_mutex_unlock(&probe->lock);
}

/* Names of frames. */

struct turn {
    struct probe *probe;
    unsigned left;
};

static void
name_frame(void *context, uint32_t frame, uintptr_t key)
{
    struct turn *turn = context;
    struct probe *probe = turn->probe;
    struct calltree *tree = &probe->tally.trace.tree;
    struct frame_naming naming = {0};
    if (!turn->left) {
        return;
    }
    turn->left--;
    bool known = key && probe->runtime.frame_name(key, &naming);
    pthread_mutex_lock(&probe->lock);
    if (known) {
        calltree_name(tree, frame, &naming);
    } else {
        calltree_name_lost(tree, frame);
    }
    pthread_mutex_unlock(&probe->lock);
}

bool
tracing_name_frames(struct probe *probe)
{
    struct turn turn = {probe, NAMES_A_TURN};
    const struct calltree *tree = &probe->tally.trace.tree;
    if (!tree->unnamed) {
        return false;
    }
    probe->runtime.hold(true);
    calltree_each_unnamed(tree, name_frame, &turn);
    probe->runtime.hold(false);
    return !turn.left;
}
