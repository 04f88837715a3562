#include "tui/loop/company.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tui/loop/process.h"

#define ANCESTORS_MAX 64
#define PATH_BYTES 256
#define ENVIRONMENT_MAX (2u * 1024 * 1024) // more than Linux takes

struct member {
    struct company *company; // borrowed
    long pid;
    char path[PATH_BYTES];
    struct link *link; // owned
    bool met;          // it has said hello
    bool live;         // and nobody has told of its end
};

struct company {
    uv_loop_t *loop;    // borrowed
    const char *folder; // borrowed
    const struct company_events *events;
    struct member *members[COMPANY_MAX]; // owned
    size_t count;
    uv_fs_event_t changes;
    uv_timer_t look;
    int handles; // of these two, those that libuv still knows
};

/* Whose process it is. */

static bool
descends(long pid)
{
    for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
        pid = process_parent(pid);
        if (pid == (long)getpid()) {
            return true;
        }
    }
    return false;
}

// Its environment, as it was started with: strings, each ended by a zero.
static bool
names_us(long pid)
{
    char path[64];
    char wanted[64];
    char *line = NULL;
    size_t capacity = 0;
    size_t read = 0;
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
    int wanted_length =
        snprintf(wanted, sizeof(wanted), COMMAND_ATTENDANT "=%ld", (long)getpid());
    FILE *file = fopen(path, "re");
    while (file && !found && read < ENVIRONMENT_MAX) {
        ssize_t length = getdelim(&line, &capacity, '\0', file);
        if (length < 0) {
            break;
        }
        read += (size_t)length;
        found = strncmp(line, wanted, (size_t)wanted_length) == 0 &&
                (line[wanted_length] == '\0' || line[wanted_length] == ',');
    }
    if (file) {
        fclose(file);
    }
    free(line);
    return found;
}

/* Members. */

static void
drop(struct member *member)
{
    struct company *company = member->company;
    size_t i = 0;
    while (company->members[i] != member) {
        i++;
    }
    company->members[i] = company->members[--company->count];
    link_free(member->link);
    free(member);
}

static void
end(struct member *member, const char *how)
{
    const struct company_events *events = member->company->events;
    long pid = member->pid;
    bool told = member->met && member->live;
    char words[256];
    snprintf(words, sizeof(words), "%s", how);
    member->live = false;
    drop(member);
    if (told) {
        events->left(events->context, pid, words);
    }
}

static void
on_message(void *context, const struct message *message)
{
    struct member *member = context;
    const struct company_events *events = member->company->events;
    member->met = true;
    member->live = true;
    events->message(events->context, member->pid, message);
}

static void
on_state(void *context, enum link_state state, const char *detail)
{
    struct member *member = context;
    const struct company_events *events = member->company->events;
    if (state == LINK_GONE) {
        end(member, detail);
    } else if (events->state) {
        events->state(events->context, member->pid, state, detail);
    }
}

static void
on_failed(void *context, enum link_failure failure, const char *why)
{
    struct member *member = context;
    const struct company_events *events = member->company->events;
    if (failure == LINK_BROKEN || process_alive(member->pid)) {
        events->failed(events->context, member->pid, why);
    }
    drop(member);
}

static bool
connect_to(struct member *member)
{
    const struct link_events events = {on_message, on_state, on_failed, member};
    member->link = link_new(member->company->loop, member->path, &events);
    return member->link != NULL;
}

static void
join(struct company *company, long pid)
{
    struct member *member =
        company->count < COMPANY_MAX ? calloc(1, sizeof(*member)) : NULL;
    if (!member) {
        return;
    }
    member->company = company;
    member->pid = pid;
    int length =
        snprintf(member->path, sizeof(member->path), "%s/%ld.sock", company->folder, pid);
    if (length >= PATH_BYTES || !connect_to(member)) {
        free(member);
        return;
    }
    company->members[company->count++] = member;
    link_await(member->link);
}

static struct member *
find(const struct company *company, long pid)
{
    for (size_t i = 0; i < company->count; i++) {
        if (company->members[i]->pid == pid) {
            return company->members[i];
        }
    }
    return NULL;
}

/* Looking. */

// "PID.sock" and nothing else.
static bool
parse_name(const char *name, long *pid)
{
    char *rest;
    errno = 0;
    *pid = *name >= '1' && *name <= '9' ? strtol(name, &rest, 10) : 0;
    return *pid > 0 && errno == 0 && *pid <= INT_MAX && strcmp(rest, ".sock") == 0;
}

static void
look_for_new(struct company *company)
{
    DIR *directory = opendir(company->folder);
    const struct dirent *entry;
    long pid;
    while (directory && (entry = readdir(directory))) {
        if (parse_name(entry->d_name, &pid) && !find(company, pid) &&
            process_alive(pid) && (descends(pid) || names_us(pid))) {
            join(company, pid);
        }
    }
    if (directory) {
        closedir(directory);
    }
}

// Those of whom no connection tells the end.
static void
look_for_ended(struct company *company)
{
    for (size_t i = company->count; i-- > 0;) {
        struct member *member = company->members[i];
        if (!link_connected(member->link) && !process_alive(member->pid)) {
            end(member, "ended without a word");
        }
    }
}

static void
on_change(uv_fs_event_t *changes, const char *name, int events, int status)
{
    (void)name;
    (void)events;
    (void)status;
    look_for_new(changes->data);
}

static void
on_look(uv_timer_t *timer)
{
    look_for_ended(timer->data);
    look_for_new(timer->data);
}

/* Its life. */

struct company *
company_new(uv_loop_t *loop, const char *folder, const struct company_events *events)
{
    struct company *company = calloc(1, sizeof(*company));
    if (!company) {
        return NULL;
    }
    company->loop = loop;
    company->folder = folder;
    company->events = events;
    uv_timer_init(loop, &company->look);
    uv_fs_event_init(loop, &company->changes);
    company->look.data = company;
    company->changes.data = company;
    company->handles = 2;
    // without it the timer does
    uv_fs_event_start(&company->changes, on_change, folder, 0);
    uv_timer_start(&company->look, on_look, COMPANY_LOOK_MS, COMPANY_LOOK_MS);
    return company;
}

bool
company_send(struct company *company, long pid, const struct request *request)
{
    const struct member *member = find(company, pid);
    return member && link_send(member->link, request);
}

void
company_again(struct company *company, long pid)
{
    struct member *member = find(company, pid);
    if (!member) {
        return;
    }
    link_free(member->link);
    if (connect_to(member)) {
        link_await(member->link);
    } else {
        drop(member);
    }
}

bool
company_waits(const struct company *company)
{
    for (size_t i = 0; i < company->count; i++) {
        const struct member *member = company->members[i];
        if (link_connected(member->link) && !process_alive(member->pid)) {
            return true;
        }
    }
    return false;
}

static void
on_closed(uv_handle_t *handle)
{
    struct company *company = handle->data;
    if (--company->handles == 0) {
        free(company);
    }
}

void
company_free(struct company *company)
{
    if (!company) {
        return;
    }
    for (size_t i = 0; i < company->count; i++) {
        link_free(company->members[i]->link);
        free(company->members[i]);
    }
    company->count = 0;
    uv_close((uv_handle_t *)&company->look, on_closed);
    uv_close((uv_handle_t *)&company->changes, on_closed);
}
