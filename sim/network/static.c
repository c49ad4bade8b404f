/* A fixed direct-connect graph a job, many hops (optical network, section 2; TopoOpt, TPU v4 slices).
 *
 * A transfer goes from device to device on the shortest path (static_graph.h),
 * whole at each hop: a hop holds its link for latency + payload, then the next
 * link's line. Each directed link is one piece of hardware with a line of its own
 * in the order of the policy, first in line first served; so strict order and
 * backfill are the same here.
 *
 * Reconfiguration is paid once a job, counted from its first transfer: until the
 * graph is lit all transfers of the job stand still, and the time is booked as
 * their reconfiguration. Other jobs are not disturbed.
 *
 * Accounting: latency and payload are those of all hops, wait that of all lines.
 * A transfer costs O(1) events a hop, and O(log of the line) each. The hardware
 * number of a link is node * ports + port.
 */
#include "network/fabrics.h"

#include <stdlib.h>

#include "engine/hash.h"
#include "engine/memory.h"
#include "network/static_graph.h"
#include "network/waitlist.h"

enum { EVENT_READY, EVENT_HOP };
enum { JOBS_MIN = 64 };

/* A transfer on its way; indexed by the word of the transfer. */
struct trip {
    uint8_t *path; /* owned; NULL = ask the graph */
    sim_time wait, reconfiguration, payload;
    sim_time since; /* in line */
    uint32_t transfer;
    uint32_t node; /* where it is */
    uint32_t hops, hop;
    uint32_t link; /* held or waited for */
    uint32_t next_free;
    bool is_begun, is_cleared;
};

struct link {
    struct waitlist line;
    uint32_t trip;       /* plus 1; 0 = idle */
    sim_time busy, from; /* of the trips before; of this one */
    bool is_due;         /* stands in due */
};

/* When the graph of a job is lit. */
struct job {
    uint32_t job;
    bool is_known;
    sim_time lit;
};

struct numbers {
    uint32_t *items;
    size_t count, capacity;
};

struct fixed {
    struct static_graph *graph;
    uint32_t ports;
    struct link *links;
    uint32_t link_count;
    struct trip *trips;
    size_t trip_count, trip_capacity;
    uint32_t trip_free; /* FABRIC_NONE = none */
    struct job *jobs;   /* hash map, linear probing, at most half full */
    size_t job_count, job_size;
    struct numbers due;   /* links to serve at the end of the instant */
    struct numbers loose; /* trips of this instant that do not want to wait */
    bool is_serve_due;
};

static void add_number(struct numbers *list, uint32_t number)
{
    if (list->count == list->capacity)
        list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = number;
}

static enum status open_static(struct fabric_state *state, struct error *error)
{
    struct static_graph *graph;
    enum status status = static_graph_create(state->topology, &graph, error);
    if (status != STATUS_OK)
        return status;
    uint32_t ports = static_graph_ports(graph);
    status = fabric_share(state, ports, state->topology->fixed.reconfiguration_ps, 0, error);
    if (status != STATUS_OK) {
        static_graph_destroy(graph);
        return status;
    }
    state->lanes_max = 1;
    struct fixed *fixed = memory_alloc(1, sizeof *fixed);
    fixed->graph = graph;
    fixed->ports = ports;
    fixed->link_count = state->topology->server_count * ports;
    fixed->links = memory_alloc(fixed->link_count, sizeof *fixed->links);
    fixed->trip_free = FABRIC_NONE;
    fixed->job_size = JOBS_MIN;
    fixed->jobs = memory_alloc(fixed->job_size, sizeof *fixed->jobs);
    state->own = fixed;
    return STATUS_OK;
}

static void close_static(struct fabric_state *state)
{
    struct fixed *fixed = state->own;
    for (uint32_t i = 0; i < fixed->link_count; i++)
        waitlist_free(&fixed->links[i].line);
    for (size_t i = 0; i < fixed->trip_count; i++)
        free(fixed->trips[i].path);
    static_graph_destroy(fixed->graph);
    free(fixed->links);
    free(fixed->trips);
    free(fixed->jobs);
    free(fixed->due.items);
    free(fixed->loose.items);
    free(fixed);
}

static struct job *job_place(struct job *jobs, size_t size, uint32_t job)
{
    size_t at = (size_t)hash_mix(job) & (size - 1);
    while (jobs[at].is_known && jobs[at].job != job)
        at = (at + 1) & (size - 1);
    return &jobs[at];
}

static void grow_jobs(struct fixed *fixed)
{
    size_t size = 2 * fixed->job_size;
    struct job *jobs = memory_alloc(size, sizeof *jobs);
    for (size_t i = 0; i < fixed->job_size; i++)
        if (fixed->jobs[i].is_known)
            *job_place(jobs, size, fixed->jobs[i].job) = fixed->jobs[i];
    free(fixed->jobs);
    fixed->jobs = jobs;
    fixed->job_size = size;
}

/* When the job's graph is lit; a job not seen before starts to set it up now. */
static sim_time job_lit(struct fixed *fixed, uint32_t number, sim_time if_new)
{
    if (2 * (fixed->job_count + 1) > fixed->job_size)
        grow_jobs(fixed);
    struct job *job = job_place(fixed->jobs, fixed->job_size, number);
    if (!job->is_known) {
        *job = (struct job){number, true, if_new};
        fixed->job_count++;
    }
    return job->lit;
}

static uint32_t take_trip(struct fixed *fixed)
{
    uint32_t index = fixed->trip_free;
    if (index != FABRIC_NONE) {
        fixed->trip_free = fixed->trips[index].next_free;
        return index;
    }
    if (fixed->trip_count == fixed->trip_capacity)
        fixed->trips = memory_grow(fixed->trips, &fixed->trip_capacity, fixed->trip_count + 1, sizeof *fixed->trips);
    require(fixed->trip_count < FABRIC_NONE);
    return (uint32_t)fixed->trip_count++;
}

static void free_trip(struct fixed *fixed, uint32_t index)
{
    free(fixed->trips[index].path);
    fixed->trips[index].path = NULL;
    fixed->trips[index].next_free = fixed->trip_free;
    fixed->trip_free = index;
}

static void serve_soon(struct network *network, struct fixed *fixed, uint32_t link)
{
    if (!fixed->links[link].is_due) {
        fixed->links[link].is_due = true;
        add_number(&fixed->due, link);
    }
    if (!fixed->is_serve_due) {
        fixed->is_serve_due = true;
        network_schedule_last(network, engine_now(network_engine(network)), 0, 0);
    }
}

static void stand_in_line(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    struct transfer_view view = network_transfer(network, trip->transfer);
    uint32_t port = trip->path ? trip->path[trip->hop] : static_graph_port(fixed->graph, trip->node, view.target);
    trip->link = trip->node * fixed->ports + port;
    trip->since = engine_now(network_engine(network));
    waitlist_add(&fixed->links[trip->link].line, view.turn_key, view.turn_sequence, index);
    serve_soon(network, fixed, trip->link);
}

/* The whole way, empty lines assumed, must fit in the clock. */
static enum status check_way(const struct network *network, sim_time ready, uint32_t hops, sim_time payload,
                             struct error *error)
{
    sim_time hop, end;
    if (!clock_add(payload, network_fabric(network)->latency, &hop) || (hop > 0 && hops > SIM_TIME_MAX / hop) ||
        !clock_add(ready, hop * hops, &end))
        return error_set(error, STATUS_USER,
                         "a transfer over %u hops takes longer than the clock has: a coarser "
                         "run.tick is needed",
                         hops);
    return STATUS_OK;
}

static enum status send_static(struct network *network, uint32_t transfer, struct error *error)
{
    const struct fabric_state *state = network_fabric(network);
    struct fixed *fixed = state->own;
    struct transfer_view view = network_transfer(network, transfer);
    sim_time payload = fabric_payload(state, view.bytes, 1);
    uint8_t *path;
    uint32_t hops = static_graph_route(fixed->graph, view.source, view.target, &path);
    enum status status = check_way(network, view.start + state->reconfiguration, hops, payload, error);
    if (status != STATUS_OK) {
        free(path);
        return status;
    }
    sim_time lit = job_lit(fixed, view.job, view.start + state->reconfiguration);
    uint32_t index = take_trip(fixed);
    fixed->trips[index] = (struct trip){.path = path,
                                        .payload = payload,
                                        .reconfiguration = lit > view.start ? lit - view.start : 0,
                                        .transfer = transfer,
                                        .node = view.source,
                                        .hops = hops};
    if (lit > view.start) {
        network_schedule(network, lit, index, EVENT_READY);
        return STATUS_OK;
    }
    if (view.is_cleared_when_blocked)
        add_number(&fixed->loose, index);
    stand_in_line(network, fixed, index);
    return STATUS_OK;
}

/* The trip gets its link. */
static void start_hop(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    sim_time now = engine_now(network_engine(network)), end;
    struct error error;
    trip->wait += now - trip->since;
    fixed->links[trip->link].trip = index + 1;
    fixed->links[trip->link].from = now;
    if (!trip->is_begun)
        network_begin(network, trip->transfer);
    trip->is_begun = true;
    if (clock_advance(network_clock(network), now, network_fabric(network)->latency + trip->payload, &end, &error) ==
        STATUS_OK)
        network_schedule(network, end, index, EVENT_HOP);
    else
        network_fail(network, &error);
}

static void serve_link(struct network *network, struct fixed *fixed, uint32_t number)
{
    struct link *link = &fixed->links[number];
    link->is_due = false;
    while (link->trip == 0 && link->line.count > 0) {
        uint32_t index = waitlist_take(&link->line);
        if (fixed->trips[index].is_cleared)
            free_trip(fixed, index);
        else
            start_hop(network, fixed, index);
    }
}

/* Those that did not get their first link now and do not want to wait go; their places in line are skipped later.
 * Their callbacks may send: that is for another round of this instant, with a list of its own. */
static void clear_loose(struct network *network, struct fixed *fixed)
{
    struct numbers loose = fixed->loose;
    fixed->loose = (struct numbers){0};
    for (size_t i = 0; i < loose.count; i++) {
        struct trip *trip = &fixed->trips[loose.items[i]];
        if (trip->is_begun)
            continue;
        trip->is_cleared = true;
        network_clear(network, trip->transfer);
    }
    free(loose.items);
}

static void serve(struct network *network, struct fixed *fixed)
{
    fixed->is_serve_due = false;
    for (size_t i = 0; i < fixed->due.count; i++)
        serve_link(network, fixed, fixed->due.items[i]);
    fixed->due.count = 0;
    if (fixed->loose.count > 0)
        clear_loose(network, fixed);
}

static void finish_hop(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    struct link *link = &fixed->links[trip->link];
    require(link->trip == index + 1);
    link->trip = 0;
    link->busy += engine_now(network_engine(network)) - link->from;
    if (link->line.count > 0)
        serve_soon(network, fixed, trip->link);
    trip->node = static_graph_neighbour(fixed->graph, trip->node, trip->link % fixed->ports);
    if (++trip->hop < trip->hops) {
        stand_in_line(network, fixed, index);
        return;
    }
    require(trip->node == network_transfer(network, trip->transfer).target);
    uint32_t transfer = trip->transfer;
    struct transfer_report parts = {.wait = trip->wait,
                                    .reconfiguration = trip->reconfiguration,
                                    .latency = network_fabric(network)->latency * trip->hops,
                                    .payload = trip->payload * trip->hops};
    free_trip(fixed, index);
    network_finish(network, transfer, &parts);
}

static void on_static(struct network *network, const struct event *event)
{
    struct fixed *fixed = network_fabric(network)->own;
    if (event->priority == FABRIC_LAST)
        serve(network, fixed);
    else if (event->data == EVENT_READY)
        stand_in_line(network, fixed, event->entity);
    else
        finish_hop(network, fixed, event->entity);
}

static void visit_static(const struct network *network, hardware_visitor *visit, void *context)
{
    const struct fixed *fixed = network_fabric(network)->own;
    sim_time now = engine_now(network_engine(network));
    for (uint32_t i = 0; i < fixed->link_count; i++) {
        const struct link *link = &fixed->links[i];
        struct hardware_use use = {.hardware = i, .busy = link->busy + (link->trip ? now - link->from : 0)};
        use.idle = now - use.busy;
        visit(context, &use);
    }
}

const struct fabric fabric_static = {
    .name = "static",
    .doc = "A fixed graph of direct links (rings, torus, expander), set up once a job; many hops, whole at each.",
    .open = open_static,
    .close = close_static,
    .send = send_static,
    .on_event = on_static,
    .visit = visit_static,
};
