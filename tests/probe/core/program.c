#include "tests/probe/core/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/probe/core/fixture.h"

#define HEAP ((uintptr_t)0x7f3a12340000)
#define PAGE_SLOTS 400u
#define STRIDE 40u
#define PAGES 8u

struct probe probe;
char program_folder[64];

static pthread_mutex_t gvl = PTHREAD_MUTEX_INITIALIZER;
static pthread_t agent;
static bool has_agent;

bool
program_begin(struct settings *settings)
{
    heap_reset();
    for (size_t i = 0; i < PAGES; i++) {
        heap_add_page(HEAP + i * SHADOW_BLOCK_BYTES, STRIDE, PAGE_SLOTS);
    }
    settings_init(settings);
    settings->interval_s = 0.1;
    snprintf(program_folder, sizeof(program_folder), "/tmp/memtop-test-XXXXXX");
    if (!mkdtemp(program_folder)) {
        return false;
    }
    snprintf(settings->socket, sizeof(settings->socket), "%s/p.sock", program_folder);
    return true;
}

void
program_end(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -rf '%s'", program_folder);
    assert_int_equal(system(command), 0);
}

void
program_lock(void)
{
    pthread_mutex_lock(&gvl);
}

void
program_unlock(void)
{
    pthread_mutex_unlock(&gvl);
}

static void *
run_agent(void *argument)
{
    bool go_on = true;
    (void)argument;
    while (go_on) {
        probe_wait(&probe);
        program_lock();
        go_on = probe_work(&probe);
        program_unlock();
    }
    return NULL;
}

void
program_start_agent(void)
{
    has_agent = true;
    probe.agent_alive = true;
    assert_int_equal(pthread_create(&agent, NULL, run_agent, NULL), 0);
}

void
program_start(const struct settings *settings, bool with_agent)
{
    const struct runtime runtime = heap_runtime();
    char why[256] = "";
    program_lock();
    bool started = probe_start(&probe, settings, &runtime, why, sizeof(why));
    program_unlock();
    assert_string_equal(why, "");
    assert_true(started);
    has_agent = false;
    if (with_agent) {
        program_start_agent();
    }
}

void
program_stop(void)
{
    if (has_agent) {
        probe_ask(&probe, WORK_QUIT);
        pthread_join(agent, NULL);
        has_agent = false;
    }
    program_lock();
    probe_stop(&probe, BYE_STOP, COUNT_UNKNOWN);
    program_unlock();
}

static uintptr_t
address_of(size_t slot)
{
    return HEAP + slot / PAGE_SLOTS * SHADOW_BLOCK_BYTES + slot % PAGE_SLOTS * STRIDE;
}

void
program_allocate(size_t slot, uintptr_t key)
{
    program_lock();
    *heap_slot(address_of(slot)) = key;
    if (heap.hooked) {
        tally_allocated(&probe.tally, address_of(slot), key);
    }
    program_unlock();
}

void
program_free(size_t slot)
{
    program_lock();
    *heap_slot(address_of(slot)) = 0;
    if (heap.hooked) {
        tally_freed(&probe.tally, address_of(slot));
    }
    program_unlock();
}
