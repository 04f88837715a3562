#include "probe/core/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe/core/attend.h"
#include "probe/core/clock.h"
#include "probe/core/feed.h"
#include "probe/core/flight.h"
#include "probe/core/opened.h"
#include "probe/core/tagfeed.h"
#include "probe/core/viewer.h"
#include "version.h"

#define NS_A_MS 1000000u
#define TICK_LEAST_NS (50 * (uint64_t)NS_A_MS)      // between samples that viewers hasten
#define AGENT_PATIENCE_NS (100 * (uint64_t)NS_A_MS) // then a sample goes without it
#define AGENT_LOST_NS (2000 * (uint64_t)NS_A_MS)    // then it is looked for
#define JUDGE_WATCHED_NS (1000 * (uint64_t)NS_A_MS) // between looks at all classes,
#define JUDGE_ALONE_NS (5000 * (uint64_t)NS_A_MS)   // and when nobody is connected
#define CENSUS_ALONE_NS (60000 * (uint64_t)NS_A_MS) // between censuses then
#define POLL_EXTRA 2 // the listening socket and the eventfd

struct server {
    struct probe *probe; // borrowed
    int listen_fd;       // owned
    pthread_t thread;
    bool stopping;
    bool accept_failed;    // descriptors ran out: try again at the next tick
    const struct bye *bye; // borrowed: the last words, while stopping
    struct viewer *viewers[SERVER_VIEWERS_MAX + 1]; // owned; a recorder is the first
    size_t viewer_count;
    struct viewer *recorder; // borrowed from them; NULL without a flight recorder
    struct flight *flight;   // owned, what it records to
    struct feed feed;
    struct opened opened;
    struct tagfeed tags;
    struct sample last; // the header of the last sample
    uint64_t ticked_ns; // when the last tick was, 0 before one
    uint64_t next_tick_ns;
    uint64_t sample_due_ns; // 0 when no sample waits for the agent
    uint64_t asked_ns;      // when the agent was asked and has not answered, 0 otherwise
    uint64_t judged_ns;     // when classes were last judged
    uint64_t dropped_frames;
    // The cost of the last whole interval, and what the next is reckoned from.
    uint64_t cost_ppm;
    uint64_t cost_at_ns;
    uint64_t cost_spent_ns;
    uint64_t stacks;    // taken so far
    uint64_t stacks_ns; // what they cost, each by the price of its time
};

// Viewers that somebody looks at.
static size_t
watching(const struct server *server)
{
    return server->viewer_count - (server->recorder != NULL);
}

// A sample at once, but not so often that viewers could keep the program busy:
// each takes the GVL.
static void
tick_soon(struct server *server)
{
    uint64_t soon_ns = server->ticked_ns ? server->ticked_ns + TICK_LEAST_NS : 0;
    if (server->next_tick_ns > soon_ns) {
        server->next_tick_ns = soon_ns;
    }
}

static void
drain(int fd)
{
    uint64_t value;
    while (read(fd, &value, sizeof(value)) < 0 && errno == EINTR) {
    }
}

static struct text
read_command(char *text, size_t size)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, size);
    if (fd >= 0) {
        close(fd);
    }
    size_t end = length > 0 ? (size_t)length : 0;
    while (end > 0 && (text[end - 1] == '\0' || text[end - 1] == ' ')) {
        end--;
    }
    for (size_t i = 0; i < end; i++) {
        text[i] = text[i] == '\0' ? ' ' : text[i];
    }
    return (struct text){text, end};
}

static uint64_t
read_rss(void)
{
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0) {
        close(fd);
    }
    // "size resident shared …", in pages.
    const char *resident = length > 0 ? strchr(text, ' ') : NULL;
    if (!resident) {
        return COUNT_UNKNOWN;
    }
    return strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t
capabilities_of(const struct server *server)
{
    const struct probe *probe = server->probe;
    uint64_t tags = probe->runtime.tags ? CAPABILITY_TAGS : 0;
    if (probe->settings.readonly) {
        return CAPABILITY_READONLY | tags;
    }
    uint64_t traces = probe->runtime.capture ? CAPABILITY_TRACE : 0;
    return CAPABILITY_GC | tags | (probe->count_refused ? 0 : CAPABILITY_COUNT | traces) |
           (server->flight ? CAPABILITY_FLIGHT : 0) |
           (probe->runtime.detach ? CAPABILITY_DETACH : 0);
}

static void
say_hello(struct server *server, struct viewer *viewer, struct stamp at)
{
    const struct probe *probe = server->probe;
    char command[MESSAGE_TEXT_MAX];
    struct message message = {
        .kind = MESSAGE_HELLO,
        .at = at,
        .hello = {.version = PROTOCOL_VERSION,
                  .program_version = text_of(MEMTOP_VERSION),
                  .pid = (uint64_t)getpid(),
                  .parent_pid = (uint64_t)getppid(),
                  .command = read_command(command, sizeof(command)),
                  .runtime = text_of(probe->runtime.name),
                  .started_us = probe->started_us,
                  .mode = probe->mode,
                  .capabilities = capabilities_of(server),
                  .interval_ms = (uint64_t)(probe->settings.interval_s * 1000)}
    };
    viewer_say(viewer, &message);
}

static struct message
notice_message(const struct probe *probe, uint32_t id, struct stamp at)
{
    bool harmless = id == PROBE_NOTICE_FLIGHT;
    return (struct message){
        .kind = MESSAGE_NOTICE,
        .at = at,
        .notice = {.id = id,
                   .severity = harmless ? NOTICE_INFO : NOTICE_WARNING,
                   .text = text_of(probe->notices[id])}
    };
}

// Withdrawn ones too, with no text, to who may know them.
static void
say_notices(struct server *server, struct viewer *viewer, struct stamp at)
{
    const struct probe *probe = server->probe;
    bool anew = viewer->notices_edits == 0;
    if (viewer->notices_edits == probe->notices_edits || viewer->closing) {
        return;
    }
    for (uint32_t id = 1; id < PROBE_NOTICE_COUNT; id++) {
        if (*probe->notices[id] || !anew) {
            struct message message = notice_message(probe, id, at);
            viewer_say(viewer, &message);
        }
    }
    viewer->notices_edits = probe->notices_edits;
}

static void
accept_viewer(struct server *server)
{
    int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        server->accept_failed =
            errno != EAGAIN && errno != EINTR && errno != ECONNABORTED;
        return;
    }
    struct viewer *viewer = viewer_new(fd);
    if (!viewer) {
        close(fd);
        return;
    }
    if (!endpoint_peer_allowed(fd)) {
        viewer_refuse(viewer, clock_stamp(),
                      "this process belongs to another user; run memtop as that user");
        viewer_free(viewer);
        return;
    }
    if (watching(server) == SERVER_VIEWERS_MAX) {
        viewer_refuse(viewer, clock_stamp(), "this probe already serves 64 viewers");
        viewer_free(viewer);
        return;
    }
    struct stamp at = clock_stamp();
    say_hello(server, viewer, at);
    say_notices(server, viewer, at);
    server->viewers[server->viewer_count++] = viewer;
    tick_soon(server);
}

// What the agent is to do for a request; 0 when it is refused with `why`.
static uint32_t
work_for(struct probe *probe, const struct request *request, const char **why)
{
    bool changes = request->action == REQUEST_GC || request->action == REQUEST_MODE;
    if (changes && probe->settings.readonly) {
        *why = "the probe was started read-only (MEMTOP_READONLY)";
        return 0;
    }
    switch (request->action) {
    case REQUEST_GC:
        return WORK_GC | WORK_REFRESH;
    case REQUEST_CENSUS:
        probe->census_hurry = true;
        return WORK_CENSUS | WORK_ANEW;
    case REQUEST_MODE:
        if (request->argument > MODE_TRACE) {
            *why = "this probe has the modes dormant, census, count and trace";
            return 0;
        }
        probe->wanted_mode = (uint32_t)request->argument;
        return WORK_MODE;
    default:
        *why = "this probe does not know that request";
        return 0;
    }
}

static void
say_result(struct viewer *viewer, uint64_t id, enum result_status status,
           const char *text)
{
    struct message message = {
        .kind = MESSAGE_RESULT,
        .at = clock_stamp(),
        .result = {id, status, text_of(text)}
    };
    viewer_say(viewer, &message);
}

static uint32_t
answering_work(uint64_t action)
{
    return action == REQUEST_GC       ? WORK_GC
           : action == REQUEST_CENSUS ? WORK_CENSUS
                                      : WORK_MODE;
}

// Answered at once: whether stacks are taken is said by the trees that follow.
static void
take_tree_request(struct server *server, struct viewer *viewer,
                  const struct request *request)
{
    const char *why;
    enum result_status status = opened_take(&server->opened, server->probe, viewer,
                                            request, clock_monotonic_ns(), &why);
    say_result(viewer, request->id, status, why);
    tick_soon(server);
}

// Answered when the file is written.
static void
take_flight_request(struct server *server, struct viewer *viewer,
                    const struct request *request)
{
    const char *why = "this probe has no flight recorder (MEMTOP_FLIGHT)";
    bool begun = false;
    if (server->probe->settings.readonly) {
        why = "the probe was started read-only (MEMTOP_READONLY)";
    } else if (viewer->asked) {
        why = "an earlier request is still under way";
    } else if (server->flight) {
        begun = flight_ask(server->flight, clock_stamp(), &why);
    }
    if (!begun) {
        say_result(viewer, request->id, RESULT_REFUSED, why);
        return;
    }
    viewer->asked = true;
    viewer->request = *request;
}

// Answered first: afterwards there is nobody to answer.
static void
take_detach_request(struct server *server, struct viewer *viewer,
                    const struct request *request)
{
    struct probe *probe = server->probe;
    const char *why = NULL;
    if (probe->settings.readonly) {
        why = "the probe was started read-only (MEMTOP_READONLY)";
    } else if (!probe->runtime.detach) {
        why = "this probe cannot be taken out of its program";
    }
    say_result(viewer, request->id, why ? RESULT_REFUSED : RESULT_DONE, why ? why : "");
    if (!why) {
        probe_ask(probe, WORK_DETACH);
    }
}

static void
take_request(struct server *server, struct viewer *viewer, const struct request *request)
{
    if (request->action == REQUEST_DETACH) {
        take_detach_request(server, viewer, request);
        return;
    }
    if (request->action == REQUEST_FLIGHT) {
        take_flight_request(server, viewer, request);
        return;
    }
    if (request->action >= REQUEST_OPEN && request->action <= REQUEST_UNPIN) {
        take_tree_request(server, viewer, request);
        return;
    }
    if (request->action == REQUEST_TAG) {
        viewer->tag = request->argument < TAGS_MAX ? (uint32_t)request->argument : 0;
        tick_soon(server);
        say_result(viewer, request->id, RESULT_DONE, "");
        return;
    }
    if (request->action == REQUEST_KEY) {
        viewer->wants_seed = true;
        tick_soon(server);
        say_result(viewer, request->id, RESULT_DONE, "");
        return;
    }
    const char *why = "an earlier request is still under way";
    uint32_t work = viewer->asked ? 0 : work_for(server->probe, request, &why);
    if (!work) {
        say_result(viewer, request->id, RESULT_REFUSED, why);
        return;
    }
    viewer->asked = true;
    viewer->request = *request;
    // What was finished before is no answer to this.
    atomic_fetch_and(&server->probe->done, ~answering_work(request->action));
    probe_ask(server->probe, work);
}

static void
answer_requests(struct server *server, uint32_t done)
{
    const struct probe *probe = server->probe;
    for (size_t i = 0; i < server->viewer_count; i++) {
        struct viewer *viewer = server->viewers[i];
        if (viewer->asked && viewer->request.action != REQUEST_FLIGHT &&
            (done & answering_work(viewer->request.action))) {
            viewer->asked = false;
            const struct work_result *result = &probe->results[viewer->request.action];
            say_result(viewer, viewer->request.id,
                       result->failed ? RESULT_FAILED : RESULT_DONE, result->text);
        }
    }
}

// What stacks cost since the last call is added at the price they have now.
static uint64_t
reckon_stacks(struct server *server)
{
    const struct trace *trace = &server->probe->tally.trace;
    uint64_t stacks = trace->stacks;
    // Fewer than before: another mode, which began at none.
    uint64_t taken = stacks < server->stacks ? stacks : stacks - server->stacks;
    server->stacks = stacks;
    server->stacks_ns += taken * trace->stack_ns;
    return server->stacks_ns;
}

// Millionths of one core over the last whole interval: what this thread and the
// agent took, and what hooks and stacks took by their measured price.
static uint64_t
reckon_cost(struct server *server, uint64_t now_ns)
{
    const struct probe *probe = server->probe;
    double elapsed_ns = (double)(now_ns - server->cost_at_ns);
    if (server->cost_at_ns && elapsed_ns < probe->settings.interval_s * 0.9e9) {
        return server->cost_ppm;
    }
    struct site_counts events = registry_totals(&probe->tally.registry);
    double hooks_ns = (double)events.allocated * probe->allocated_ns +
                      (double)events.freed * probe->freed_ns;
    uint64_t spent_ns =
        clock_thread_ns() + probe->agent_ns + (uint64_t)hooks_ns + reckon_stacks(server);
    spent_ns += server->flight ? flight_cpu_ns(server->flight) : 0;
    if (server->cost_at_ns && spent_ns >= server->cost_spent_ns) {
        double delta_ns = (double)(spent_ns - server->cost_spent_ns);
        server->cost_ppm = (uint64_t)(delta_ns * 1e6 / elapsed_ns);
    }
    server->cost_at_ns = now_ns;
    server->cost_spent_ns = spent_ns;
    return server->cost_ppm;
}

static struct sample
compose(struct server *server, uint64_t now_ns)
{
    const struct probe *probe = server->probe;
    struct sample sample = {
        .mode = probe->mode,
        .process = probe->heap,
        .probe = {.cost_ppm = reckon_cost(server, now_ns),
                  .drift = probe->drift,
                  .drift_total = probe->drift_total,
                  .dropped_frames = server->dropped_frames,
                  .census_us = probe->census_us,
                  .census_objects = probe->census_objects,
                  .viewers = watching(server)}
    };
    sample.process.rss_bytes = read_rss();
    sample.process.heap_age_ms =
        probe->heap_ns ? (now_ns - probe->heap_ns) / NS_A_MS : COUNT_UNKNOWN;
    return sample;
}

static void
broadcast(struct server *server, const struct buffer *frames)
{
    for (size_t i = 0; i < server->viewer_count; i++) {
        struct viewer *viewer = server->viewers[i];
        if (viewer->wants_seed || viewer->closing || viewer->broken) {
            continue;
        }
        if (!viewer_append(viewer, frames)) {
            viewer->wants_seed = true;
            server->dropped_frames++;
        }
    }
}

static bool
judge_due(const struct server *server, uint64_t now_ns)
{
    uint64_t wait_ns = watching(server) ? JUDGE_WATCHED_NS : JUDGE_ALONE_NS;
    return server->probe->mode != MODE_DORMANT && now_ns - server->judged_ns >= wait_ns;
}

// Verdicts that changed, after the sample that they were made from. Without memory,
// everybody is told all of them later.
static void
judge_classes(struct server *server, uint64_t now_ns, struct stamp at, struct buffer *out)
{
    struct probe *probe = server->probe;
    const struct judge_facts facts = {.at_us = now_ns / 1000,
                                      .mode = probe->mode,
                                      .collections = probe->heap.gc_count,
                                      .majors = probe->heap.gc_major_count,
                                      .census_us = probe->census_us};
    if (!probe->heap_ns || !judge_due(server, now_ns)) {
        return;
    }
    server->judged_ns = now_ns;
    bool said = judge_look(&probe->judge, &probe->tally.registry, &facts, at, out);
    for (size_t i = 0; i < server->viewer_count && !said; i++) {
        server->viewers[i]->wants_seed = true;
    }
}

// What tags have, after the sample. Without memory, everybody is told all of it later.
static void
look_at_tags(struct server *server, struct stamp at, struct buffer *out)
{
    const struct probe *probe = server->probe;
    struct tagfeed *feed = &server->tags;
    tagfeed_want_none(feed);
    for (size_t i = 0; i < server->viewer_count; i++) {
        tagfeed_want(feed, server->viewers[i]->tag);
    }
    if (!tagfeed_read(feed, probe->runtime.tags, &probe->tally.registry,
                      mode_counts(probe->mode)) ||
        !tagfeed_changes(feed, probe->runtime.tags, at, out)) {
        tagfeed_forget(feed);
    }
}

static bool
encode_seed(struct server *server, struct stamp at, struct buffer *out)
{
    struct probe *probe = server->probe;
    return tagfeed_seed(&server->tags, probe->runtime.tags, at, out) &&
           feed_seed(&server->feed, &probe->tally.registry, &server->last, at, out) &&
           judge_seed(&probe->judge, &probe->tally.registry, at, out);
}

// Everything, for viewers that have nothing and nothing left to read.
static void
seed(struct server *server, struct stamp at)
{
    struct buffer frames = {0};
    for (size_t i = 0; i < server->viewer_count; i++) {
        struct viewer *viewer = server->viewers[i];
        if (!viewer->wants_seed || viewer->out.length > 0 || viewer->closing) {
            server->dropped_frames += viewer->wants_seed && viewer->out.length > 0;
            continue;
        }
        if (frames.length == 0 && !encode_seed(server, at, &frames)) {
            break;
        }
        viewer->wants_seed = false;
        viewer_append(viewer, &frames);
        server->probe->attended |= viewer != server->recorder;
    }
    buffer_destroy(&frames);
}

// The probe forgot its classes: ids that viewers know mean nothing from now on,
// which a dormant key sample tells them. Everything follows.
static void
start_anew(struct server *server, struct stamp at)
{
    struct sample nothing = server->last;
    nothing.key = true;
    nothing.mode = MODE_DORMANT;
    nothing.totals =
        (struct totals){COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN, COUNT_UNKNOWN};
    struct message message = {.kind = MESSAGE_SAMPLE, .at = at, .sample = nothing};
    struct buffer frame = {0};
    if (message_encode(&frame, &message)) {
        broadcast(server, &frame);
    }
    buffer_destroy(&frame);
    feed_forget(&server->feed);
    tagfeed_forget(&server->tags);
    for (size_t i = 0; i < server->viewer_count; i++) {
        server->viewers[i]->wants_seed = true;
    }
    opened_forget(&server->opened, server->probe, server->viewers, server->viewer_count,
                  clock_monotonic_ns());
    if (server->flight) {
        flight_forget(server->flight);
    }
}

/* The flight recorder: a viewer like others, to whom everything is told once more when
   a key group is due. */

// What a viewer that has just connected would be told, in the order of a recording.
static bool
tell_everything(struct server *server, struct stamp at)
{
    struct probe *probe = server->probe;
    const struct registry *registry = &probe->tally.registry;
    struct viewer *recorder = server->recorder;
    struct buffer classes = {0};
    struct buffer verdicts = {0};
    viewer_begin_anew(recorder);
    say_hello(server, recorder, at);
    bool told = feed_seed(&server->feed, registry, &server->last, at, &classes) &&
                judge_seed(&probe->judge, registry, at, &verdicts) &&
                tagfeed_seed(&server->tags, probe->runtime.tags, at, &verdicts) &&
                viewer_append(recorder, &classes);
    recorder->wants_seed = false;
    opened_send(&server->opened, probe, &server->recorder, 1, at);
    told = told && viewer_append(recorder, &verdicts) && !recorder->broken;
    say_notices(server, recorder, at);
    buffer_destroy(&classes);
    buffer_destroy(&verdicts);
    return told && !recorder->broken;
}

static void
look_at_rules(struct server *server, uint64_t now_ns, struct stamp at)
{
    const struct probe *probe = server->probe;
    const struct rule_facts facts = {.now_ns = now_ns,
                                     .rss_bytes = server->last.process.rss_bytes,
                                     .live = server->feed.totals.live,
                                     .registry = &probe->tally.registry,
                                     .judge = &probe->judge};
    flight_look(server->flight, &facts, at);
}

// After a sample: what the recorder was sent of it is complete, or not. It is never cut
// off, and never slow: after a failure it begins anew.
static void
record(struct server *server, uint64_t now_ns, struct stamp at, bool sampled)
{
    struct viewer *recorder = server->recorder;
    if (!recorder) {
        return;
    }
    const struct flight_state state = {.at = at,
                                       .live = server->feed.totals.live,
                                       .rss_bytes = server->last.process.rss_bytes,
                                       .gc_count = server->last.process.gc_count,
                                       .mode = server->last.mode};
    bool whole = sampled && !recorder->wants_seed && !recorder->broken;
    recorder->broken = false;
    flight_commit(server->flight, &state, whole);
    if (sampled && flight_key_due(server->flight, now_ns)) {
        flight_begin_key(server->flight, now_ns);
        flight_commit(server->flight, &state, tell_everything(server, at));
        recorder->broken = false;
    }
    probe_notice(server->probe, PROBE_NOTICE_UNKEPT, flight_trouble(server->flight));
    if (sampled) {
        look_at_rules(server, now_ns, at);
    }
}

static void
answer_flights(struct server *server, const struct flightfile_result *result)
{
    const char *text = result->failed ? flight_words(server->flight) : result->path;
    for (size_t i = 0; i < server->viewer_count; i++) {
        struct viewer *viewer = server->viewers[i];
        if (viewer->asked && viewer->request.action == REQUEST_FLIGHT) {
            viewer->asked = false;
            say_result(viewer, viewer->request.id,
                       result->failed ? RESULT_FAILED : RESULT_DONE, text);
        }
    }
}

// A recording was written, or could not be.
static void
land(struct server *server)
{
    struct probe *probe = server->probe;
    const struct flightfile_result *result =
        server->flight ? flight_landed(server->flight) : NULL;
    if (!result) {
        return;
    }
    const char *words = flight_words(server->flight);
    if (result->failed) {
        probe_notice(probe, PROBE_NOTICE_UNWRITTEN, words);
    } else {
        probe_notice(probe, PROBE_NOTICE_FLIGHT, words);
        probe_notice(probe, PROBE_NOTICE_UNWRITTEN, "");
    }
    answer_flights(server, result);
    tick_soon(server);
}

// Before goodbye is said: what was begun is finished, and `exit` is a rule.
static void
land_last(struct server *server)
{
    if (server->flight) {
        flight_wait(server->flight);
        land(server);
        flight_end(server->flight, server->bye, clock_stamp());
        flight_wait(server->flight);
        land(server);
    }
}

static void
send_sample(struct server *server, uint64_t now_ns)
{
    struct probe *probe = server->probe;
    struct stamp at = clock_stamp();
    struct buffer frames = {0};
    server->sample_due_ns = 0;
    if (probe->reset) {
        probe->reset = false;
        start_anew(server, at);
    }
    if (server->recorder) {
        opened_look_on(&server->opened, probe, server->recorder, now_ns);
    }
    for (size_t i = 0; i < server->viewer_count; i++) {
        say_notices(server, server->viewers[i], at);
    }
    server->last = compose(server, now_ns);
    opened_read(&server->opened, probe, &server->feed);
    bool sampled =
        feed_sample(&server->feed, &probe->tally.registry, &server->last, at, &frames);
    if (sampled) {
        judge_classes(server, now_ns, at, &frames);
        look_at_tags(server, at, &frames);
        broadcast(server, &frames);
        seed(server, at);
        server->dropped_frames += opened_send(&server->opened, probe, server->viewers,
                                              server->viewer_count, at);
    } else { // without memory, everybody starts anew later
        feed_forget(&server->feed);
        server->dropped_frames += server->viewer_count;
        probe->reset = true;
    }
    record(server, now_ns, at, sampled);
    buffer_destroy(&frames);
}

static void
ask_agent(struct server *server, uint64_t now_ns)
{
    struct probe *probe = server->probe;
    uint64_t lost_ns = server->asked_ns ? now_ns - server->asked_ns : 0;
    if (lost_ns > AGENT_LOST_NS && !probe->agent_alive) {
        probe->runtime.revive();
    }
    server->asked_ns = server->asked_ns ? server->asked_ns : now_ns;
    probe_ask(probe, WORK_REFRESH);
}

// A census is due when its cost since the last one stays below its share.
static bool
census_due(const struct server *server, uint64_t now_ns)
{
    const struct probe *probe = server->probe;
    if (probe->mode == MODE_DORMANT) {
        return false;
    }
    double share = probe->settings.budget_percent / 100 / 3;
    uint64_t least_ns = (probe->unbalanced ? 1000 : 10000) * (uint64_t)NS_A_MS;
    least_ns = watching(server) ? least_ns : CENSUS_ALONE_NS;
    uint64_t wait_ns = (uint64_t)((double)probe->census_cost_ns / share);
    return now_ns - probe->census_ns >= (wait_ns > least_ns ? wait_ns : least_ns) ||
           probe->census_us == 0;
}

static void
tick(struct server *server, uint64_t now_ns)
{
    struct probe *probe = server->probe;
    server->ticked_ns = now_ns;
    server->next_tick_ns = now_ns + (uint64_t)(probe->settings.interval_s * 1e9);
    server->accept_failed = false;
    opened_tick(probe, now_ns);
    bool chores = probe->tally.registry.unnamed || probe->tally.registry.dead ||
                  probe->tally.trace.tree.unnamed;
    if (!server->viewer_count && !chores && !judge_due(server, now_ns)) {
        return;
    }
    if (census_due(server, now_ns)) {
        probe_ask(probe, WORK_CENSUS);
    }
    if (!server->sample_due_ns) { // else the one before still waits for the agent
        // who stands still has nothing newer to say
        server->sample_due_ns = now_ns + (probe->awaits ? 0 : AGENT_PATIENCE_NS);
    }
    ask_agent(server, now_ns);
}

static void
serve_viewer(struct server *server, struct viewer *viewer, short events)
{
    struct request request;
    if (events & POLLOUT) {
        viewer_flush(viewer);
        if (viewer->out.length == 0 && (viewer->wants_seed || opened_lacks(viewer))) {
            tick_soon(server);
        }
    }
    if (events & (POLLIN | POLLHUP | POLLERR)) {
        viewer_read(viewer);
        while (viewer_next(viewer, clock_stamp(), &request)) {
            take_request(server, viewer, &request);
        }
    }
}

static void
drop_broken(struct server *server)
{
    size_t kept = 0;
    for (size_t i = 0; i < server->viewer_count; i++) {
        if (server->viewers[i]->broken) {
            opened_leave(&server->opened, server->probe, server->viewers[i],
                         clock_monotonic_ns());
            viewer_free(server->viewers[i]);
        } else {
            server->viewers[kept++] = server->viewers[i];
        }
    }
    server->viewer_count = kept;
}

static size_t
fill_polls(const struct server *server, struct pollfd *polls)
{
    int listen_fd = server->accept_failed ? -1 : server->listen_fd;
    polls[0] = (struct pollfd){listen_fd, POLLIN, 0};
    polls[1] = (struct pollfd){server->probe->server_fd, POLLIN, 0};
    for (size_t i = 0; i < server->viewer_count; i++) {
        short events = server->viewers[i]->out.length > 0 ? POLLIN | POLLOUT : POLLIN;
        polls[POLL_EXTRA + i] = (struct pollfd){server->viewers[i]->fd, events, 0};
    }
    return POLL_EXTRA + server->viewer_count;
}

static int
timeout_ms(const struct server *server)
{
    uint64_t now_ns = clock_monotonic_ns();
    uint64_t until_ns = server->next_tick_ns;
    if (server->sample_due_ns && server->sample_due_ns < until_ns) {
        until_ns = server->sample_due_ns;
    }
    return until_ns <= now_ns ? 0 : (int)((until_ns - now_ns) / NS_A_MS + 1);
}

static void
turn(struct server *server, const struct pollfd *polls, size_t poll_count)
{
    struct probe *probe = server->probe;
    for (size_t i = POLL_EXTRA; i < poll_count; i++) {
        serve_viewer(server, server->viewers[i - POLL_EXTRA], polls[i].revents);
    }
    drop_broken(server);
    if (polls[1].revents) {
        drain(probe->server_fd);
    }
    if (polls[0].revents) {
        accept_viewer(server);
    }
    land(server);
    uint32_t done = atomic_exchange(&probe->done, 0);
    answer_requests(server, done);
    server->asked_ns = done & WORK_REFRESH ? 0 : server->asked_ns;
    uint64_t now_ns = clock_monotonic_ns();
    if (now_ns >= server->next_tick_ns) {
        tick(server, now_ns);
    }
    if (done & WORK_CENSUS) { // its figures are waited for
        server->sample_due_ns = now_ns;
    }
    if (server->sample_due_ns &&
        ((done & WORK_REFRESH) || now_ns >= server->sample_due_ns)) {
        send_sample(server, now_ns);
    }
}

static void
say_bye(struct server *server)
{
    struct message message = {
        .kind = MESSAGE_BYE, .at = clock_stamp(), .bye = *server->bye};
    for (size_t i = 0; i < server->viewer_count; i++) {
        viewer_say(server->viewers[i], &message);
    }
}

// Who started the program for these words may have come only now, and wants the trees
// that matter, whichever it had open.
static void
show_attendant(struct server *server)
{
    if (!attend_wanted(server->probe)) {
        return;
    }
    accept_viewer(server);
    for (size_t i = 0; i < server->viewer_count; i++) {
        opened_look_on(&server->opened, server->probe, server->viewers[i],
                       clock_monotonic_ns());
    }
}

// And gets the time to read them; nobody else does.
static void
take_leave(struct server *server)
{
    uint64_t until_ns = clock_monotonic_ns() + ATTEND_MS * (uint64_t)NS_A_MS;
    bool attended = attend_wanted(server->probe);
    for (size_t i = 0; attended && i < server->viewer_count; i++) {
        const struct viewer *viewer = server->viewers[i];
        while (viewer != server->recorder && viewer->out.length > 0 && !viewer->broken &&
               clock_monotonic_ns() < until_ns && attend_wanted(server->probe)) {
            struct pollfd room = {viewer->fd, POLLOUT, 0};
            poll(&room, 1, ATTEND_LOOK_MS);
            viewer_flush(server->viewers[i]);
        }
    }
}

static void *
serve(void *argument)
{
    struct server *server = argument;
    struct probe *probe = server->probe;
    struct pollfd polls[POLL_EXTRA + SERVER_VIEWERS_MAX + 1];
    pthread_mutex_lock(&probe->lock);
    while (!server->stopping) {
        size_t count = fill_polls(server, polls);
        int timeout = timeout_ms(server);
        pthread_mutex_unlock(&probe->lock);
        int ready = poll(polls, (nfds_t)count, timeout);
        pthread_mutex_lock(&probe->lock);
        for (size_t i = 0; ready <= 0 && i < count; i++) {
            polls[i].revents = 0;
        }
        turn(server, polls, count);
    }
    show_attendant(server);
    send_sample(server, clock_monotonic_ns()); // the last state, then goodbye
    land_last(server);
    for (size_t i = 0; i < server->viewer_count; i++) {
        say_notices(server, server->viewers[i], clock_stamp());
    }
    say_bye(server);
    take_leave(server);
    pthread_mutex_unlock(&probe->lock);
    return NULL;
}

static void
free_server(struct server *server)
{
    opened_forget(&server->opened, server->probe, server->viewers, server->viewer_count,
                  clock_monotonic_ns());
    for (size_t i = 0; i < server->viewer_count; i++) {
        viewer_free(server->viewers[i]);
    }
    close(server->listen_fd);
    feed_destroy(&server->feed);
    tagfeed_destroy(&server->tags);
    flight_free(server->flight);
    free(server);
}

// Without memory there is no recorder, and the program goes on.
static void
start_recorder(struct server *server)
{
    struct probe *probe = server->probe;
    if (!flight_wanted(&probe->settings)) {
        return;
    }
    for (int i = PROBE_NOTICE_FLIGHT; i <= PROBE_NOTICE_UNWRITTEN; i++) {
        probe_notice(probe, (enum probe_notice)i, ""); // of a parent's recorder
    }
    server->flight =
        flight_new(&probe->settings, probe->path, getpid(), probe->server_fd);
    server->recorder =
        server->flight ? viewer_new_onlooker(flight_take, server->flight) : NULL;
    if (server->recorder) {
        server->viewers[server->viewer_count++] = server->recorder;
        return;
    }
    flight_free(server->flight);
    server->flight = NULL;
    probe_notice(probe, PROBE_NOTICE_UNKEPT, "no memory for the flight recorder");
}

// No signal of the program's is ever delivered to this thread.
static int
start_thread(struct server *server)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&server->thread, NULL, serve, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_setname_np(server->thread, "memtop-server");
    }
    return error;
}

struct server *
server_start(struct probe *probe, int listen_fd, char *why, size_t why_size)
{
    struct server *server = calloc(1, sizeof(*server));
    if (!server) {
        snprintf(why, why_size, "no memory for the probe's server");
        close(listen_fd);
        return NULL;
    }
    server->probe = probe;
    server->listen_fd = listen_fd;
    server->cost_ppm = COUNT_UNKNOWN;
    start_recorder(server);
    int error = start_thread(server);
    if (error != 0) {
        snprintf(why, why_size, "cannot start the probe's thread: %s", strerror(error));
        free_server(server);
        return NULL;
    }
    return server;
}

void
server_stop(struct server *server, const struct bye *bye)
{
    struct probe *probe = server->probe;
    pthread_mutex_lock(&probe->lock);
    server->stopping = true;
    server->bye = bye;
    pthread_mutex_unlock(&probe->lock);
    probe_signal(probe->server_fd);
    pthread_join(server->thread, NULL);
    free_server(server);
}

void
server_abandon(struct server *server)
{
    flight_abandon(server->flight);
    server->flight = NULL;
    free_server(server);
}
