/* A fixed direct-connect graph per job, many hops (optical network, section 2; TopoOpt, TPU v4 slices).
 *
 * An open job (network_open_job) has a graph over its own servers alone, its i-th
 * server node i, so it never meets another job (static_jobs.h). Jobs that are not
 * opened share one graph over all servers. Each server has as many ports as the
 * graph over all, each with its share of node_rate; what the graph of a small job
 * does not need stays dark.
 *
 * A transfer goes from device to device on the shortest path (static_graph.h), in
 * cells: a server passes the first one on as soon as all of it is there, and the
 * next ones follow. All links are equally fast, so behind its first cell a message
 * never has to wait for its own bytes: it holds each link once, for its payload,
 * and no cell needs an event. On an idle path of h hops that is
 *     h * latency + (h - 1) * (time of a cell) + payload,
 * the times of a cell and of the whole each rounded up to a tick, and a message
 * shorter than a cell is one of its own length. With static.forwarding: store the
 * cell is the whole message. The latency delays what is on the link and does not
 * hold it: messages follow each other at the rate of the link.
 *
 * Each directed link is one piece of hardware with a line of its own in the order
 * of the policy: of the messages whose first cell is there the first in line goes,
 * whole, and those behind wait in memory that is large enough. So strict order and
 * backfill are the same here.
 *
 * Reconfiguration is paid once per job, counted from its first transfer: until the
 * graph is lit all transfers of the job stand still, and the time is booked as
 * their reconfiguration. Other jobs are not disturbed.
 *
 * Accounting: latency is that of all hops, payload that of the message and of the
 * first cell on each hop but the last, wait that of all lines. A link is busy
 * while it sends.
 * A transfer costs O(1) events per hop, and O(log of the line) each. The hardware
 * number of a link is server * ports + port, whatever the job.
 */
#include "fabric/fabrics.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "fabric/static_jobs.h"
#include "network/reuse.h"
#include "network/waitlist.h"

enum { EVENT_READY, EVENT_HEAD, EVENT_END, EVENT_SERVE, EVENT_LOOSE };

/* A transfer on its way; indexed by the word of the transfer. */
struct trip {
    struct static_wiring *wiring; /* used; NULL = a trip that is free */
    uint8_t *path;                /* owned; NULL = ask the graph */
    sim_time wait, reconfiguration, payload;
    sim_time cell;  /* that must be there before it goes on */
    sim_time since; /* in line */
    uint32_t transfer;
    uint32_t node, target; /* where it is and goes to, on the wiring */
    uint32_t hops, hop;
    uint32_t link; /* of the hop that its head is at */
    bool is_begun, is_cleared;
};

struct link {
    struct waitlist line;
    sim_time until, busy; /* when the last one has left; of all that it was given to */
    bool is_due;          /* an event will look at it */
};

struct fixed {
    struct static_jobs jobs;
    uint32_t ports;
    struct link *links;
    uint32_t link_count;
    struct trip *trips;
    struct reuse trip_places;
};

#define SETTINGS struct static_settings
static const struct key static_keys[] = {
    {CHOICE_KEY("static.graph", graph, "ring|torus|expander"), .default_text = "torus",
     .doc = "The fixed graph over a job's servers: rings of different strides, a torus, or a random regular graph."},
    {INTEGER_KEY("static.degree", degree), .default_text = "4", .minimum = "1", .maximum = "64",
     .when = "static.graph=ring|expander",
     .doc = "Links of a server, each with its share of node_rate. A job of n servers uses at most n - 1 of them."},
    {INTEGER_KEY("static.dimensions", dimensions), .default_text = "3", .minimum = "1", .maximum = "3",
     .when = "static.graph=torus",
     .doc = "Of the torus, whose sides are as equal as a job's servers allow; a slice of TPU v4 has 3. "
            "A server has two links per dimension."},
    {TIME_KEY("static.reconfiguration", reconfiguration_ps), .default_text = "10ms", .minimum = "0ps",
     .doc = "Paid once per job, to connect its servers. 10ms: a circuit switch; a patch panel takes minutes "
            "(unverified, TopoOpt)."},
    {CHOICE_KEY("static.forwarding", forwarding, "cells|store"), .default_text = "cells",
     .doc = "How a message crosses several links: in cells, each sent on as soon as it is there, or stored whole at "
            "every server on the way, which takes the time of the message once a link."},
    {BYTES_KEY("static.cell", cell_bytes), .default_text = "4kB", .minimum = "1B", .maximum = "1TB",
     .when = "static.forwarding=cells",
     .doc = "What must be there before a server sends it on. 4kB: the largest packet of InfiniBand; on a link of "
            "267GB/s it takes 15ns a hop, little beside the latency. The size of a header, 64B, is cut-through."},
};

static const struct fabric_carrier carrier;

static enum status open_static(struct fabric_state *state, struct error *error)
{
    struct static_graph *graph;
    enum status status = static_graph_create(state->topology, &graph, error);
    if (status != STATUS_OK)
        return status;
    uint32_t ports = static_graph_ports(graph);
    status = fabric_share(
        state, ports, ((const struct static_settings *)state->topology->fabric.settings)->reconfiguration_ps, 0, error);
    if (status != STATUS_OK) {
        static_graph_destroy(graph);
        return status;
    }
    state->lanes_max = 1;
    struct fixed *fixed = memory_alloc(1, sizeof *fixed);
    static_jobs_init(&fixed->jobs, state->topology, graph);
    fixed->ports = ports;
    fixed->link_count = state->topology->server_count * ports;
    fixed->links = memory_alloc(fixed->link_count, sizeof *fixed->links);
    state->carrier = &carrier;
    state->own = fixed;
    return STATUS_OK;
}

/* Gives back what a trip has. */
static void empty_trip(struct trip *trip)
{
    if (trip->wiring)
        static_wiring_drop(trip->wiring);
    free(trip->path);
    *trip = (struct trip){0};
}

static void close_static(struct fabric_state *state)
{
    struct fixed *fixed = state->own;
    for (uint32_t i = 0; i < fixed->link_count; i++)
        waitlist_free(&fixed->links[i].line);
    for (size_t i = 0; i < fixed->trip_places.count; i++)
        empty_trip(&fixed->trips[i]);
    static_jobs_fini(&fixed->jobs);
    free(fixed->links);
    reuse_free(&fixed->trip_places, fixed->trips);
    free(fixed);
}

static enum status open_job(const struct fabric_state *state, uint32_t job, const uint32_t *servers, uint32_t count,
                            struct error *error)
{
    struct fixed *fixed = state->own;
    return static_jobs_open(&fixed->jobs, job, servers, count, error);
}

static enum status close_job(const struct fabric_state *state, uint32_t job, struct error *error)
{
    struct fixed *fixed = state->own;
    return static_jobs_close(&fixed->jobs, job, error);
}

static void free_trip(struct fixed *fixed, uint32_t index)
{
    empty_trip(&fixed->trips[index]);
    reuse_give(&fixed->trip_places, index);
}

/* Once the link is free, and all else of that instant is done. */
static void serve_soon(struct network *network, struct fixed *fixed, uint32_t number)
{
    struct link *link = &fixed->links[number];
    sim_time now = network_now(network);
    if (link->is_due)
        return;
    link->is_due = true;
    network_schedule_last(network, link->until > now ? link->until : now, number, EVENT_SERVE);
}

static void stand_in_line(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    struct transfer_view view = network_transfer(network, trip->transfer);
    const struct static_wiring *wiring = trip->wiring;
    uint32_t port = trip->path ? trip->path[trip->hop] : static_graph_port(wiring->graph, trip->node, trip->target);
    require(port < fixed->ports);
    trip->link = static_wiring_server(wiring, trip->node) * fixed->ports + port;
    trip->since = network_now(network);
    waitlist_add(&fixed->links[trip->link].line, (struct waitlist_item){.turn = view.turn, .what = index});
    serve_soon(network, fixed, trip->link);
}

/* The whole way, empty lines assumed, must fit in the clock. */
static enum status check_way(const struct network *network, sim_time ready, const struct trip *trip,
                             struct error *error)
{
    sim_time hop, end;
    uint32_t further = trip->hops - 1;
    if (!clock_add(trip->cell, network_fabric(network)->latency, &hop) || (hop > 0 && further > SIM_TIME_MAX / hop) ||
        !clock_add(ready, hop * further, &end) || !clock_add(end, trip->payload, &end) ||
        !clock_add(end, network_fabric(network)->latency, &end))
        return error_set(error, STATUS_USER,
                         "a transfer over %u hops takes longer than the clock has: a coarser "
                         "run.tick is needed",
                         trip->hops);
    return STATUS_OK;
}

/* Of the bytes that a server must have before it sends them on. */
static sim_time cell_of(const struct fabric_state *state, sim_time payload)
{
    const struct static_settings *settings = state->topology->fabric.settings;
    if (settings->forwarding == FORWARD_WHOLE)
        return payload;
    sim_time cell = fabric_payload(state, (uint64_t)settings->cell_bytes, 1);
    return cell < payload ? cell : payload;
}

/* Finds the way; trip->path is owned by the caller on success. */
static enum status plan_trip(struct network *network, const struct transfer_view *view, struct trip *trip,
                             struct error *error)
{
    const struct fabric_state *state = network_fabric(network);
    struct fixed *fixed = state->own;
    struct static_way way;
    enum status status = static_jobs_find(&fixed->jobs, view->job, view->source, view->target, &way, error);
    if (status != STATUS_OK)
        return status;
    trip->wiring = way.wiring;
    trip->node = way.source;
    trip->target = way.target;
    trip->payload = fabric_payload(state, view->bytes, 1);
    trip->cell = cell_of(state, trip->payload);
    trip->hops = static_graph_route(way.wiring->graph, way.source, way.target, &trip->path);
    status = check_way(network, view->start + state->reconfiguration, trip, error);
    if (status != STATUS_OK)
        free(trip->path);
    return status;
}

static enum status send_static(struct network *network, uint32_t transfer, struct error *error)
{
    const struct fabric_state *state = network_fabric(network);
    struct fixed *fixed = state->own;
    struct transfer_view view = network_transfer(network, transfer);
    struct trip trip = {.transfer = transfer};
    enum status status = plan_trip(network, &view, &trip, error);
    if (status != STATUS_OK)
        return status;
    sim_time lit = static_jobs_lit(&fixed->jobs, view.job, view.start + state->reconfiguration);
    trip.reconfiguration = lit > view.start ? lit - view.start : 0;
    static_wiring_use(trip.wiring);
    uint32_t index;
    fixed->trips = reuse_take(&fixed->trip_places, fixed->trips, sizeof *fixed->trips, &index);
    fixed->trips[index] = trip;
    if (lit > view.start) {
        network_schedule(network, lit, index, EVENT_READY);
        return STATUS_OK;
    }
    stand_in_line(network, fixed, index);
    if (view.is_cleared_when_blocked)
        network_schedule_last(network, view.start, index, EVENT_LOOSE);
    return STATUS_OK;
}

/* The trip gets its link: its head is at the next server one cell later, or all of it at the target. */
static void start_hop(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    struct link *link = &fixed->links[trip->link];
    sim_time now = network_now(network), latency = network_fabric(network)->latency, there;
    bool is_last = trip->hop + 1 == trip->hops;
    trip->wait += now - trip->since;
    if (!trip->is_begun)
        network_begin(network, trip->transfer);
    trip->is_begun = true;
    if (!network_advance(network, now, trip->payload, &link->until))
        return;
    link->busy += trip->payload;
    if (network_advance(network, is_last ? link->until : now + trip->cell, latency, &there))
        network_schedule(network, there, index, is_last ? EVENT_END : EVENT_HEAD);
}

static void serve(struct network *network, struct fixed *fixed, uint32_t number)
{
    struct link *link = &fixed->links[number];
    bool is_given = false;
    require(link->is_due && link->until <= network_now(network));
    link->is_due = false;
    while (!is_given && link->line.count > 0) {
        uint32_t index = waitlist_take(&link->line);
        is_given = !fixed->trips[index].is_cleared;
        if (is_given)
            start_hop(network, fixed, index);
        else
            free_trip(fixed, index);
    }
    if (link->line.count > 0)
        serve_soon(network, fixed, number);
}

/* One that did not get its first link now and does not want to wait goes; its place in line is skipped later. */
static void clear_loose(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    if (trip->is_begun)
        return;
    trip->is_cleared = true;
    network_clear(network, trip->transfer);
}

/* The first cell is at the next server. */
static void arrive(struct network *network, struct fixed *fixed, uint32_t index)
{
    struct trip *trip = &fixed->trips[index];
    trip->node = static_graph_neighbour(trip->wiring->graph, trip->node, trip->link % fixed->ports);
    trip->hop++;
    stand_in_line(network, fixed, index);
}

static void finish(struct network *network, struct fixed *fixed, uint32_t index)
{
    const struct trip *trip = &fixed->trips[index];
    uint32_t transfer = trip->transfer, further = trip->hops - 1;
    require(static_graph_neighbour(trip->wiring->graph, trip->node, trip->link % fixed->ports) == trip->target);
    struct transfer_report parts = {.wait = trip->wait,
                                    .reconfiguration = trip->reconfiguration,
                                    .latency = network_fabric(network)->latency * trip->hops,
                                    .payload = trip->payload + trip->cell * further};
    free_trip(fixed, index);
    network_finish(network, transfer, &parts);
}

static void on_static(struct network *network, const struct event *event)
{
    static void (*const handlers[])(struct network * network, struct fixed * fixed, uint32_t which) = {
        [EVENT_READY] = stand_in_line, [EVENT_HEAD] = arrive,       [EVENT_END] = finish,
        [EVENT_SERVE] = serve,         [EVENT_LOOSE] = clear_loose,
    };
    handlers[event->data](network, network_fabric(network)->own, event->entity);
}

static void visit_static(const struct network *network, hardware_visitor *visit, void *context)
{
    const struct fixed *fixed = network_fabric(network)->own;
    sim_time now = network_now(network);
    for (uint32_t i = 0; i < fixed->link_count; i++) {
        const struct link *link = &fixed->links[i];
        struct hardware_use use = {.hardware = i, .busy = link->busy - (link->until > now ? link->until - now : 0)};
        use.idle = now - use.busy;
        visit(context, &use);
    }
}

/* The nodes of the job's graph that are among its servers; false where they cannot send at all, and will say so then.
 */
static bool mark_nodes(struct static_jobs *jobs, uint32_t job, const uint32_t *servers, uint32_t count, bool *is_member)
{
    struct static_way way;
    for (uint32_t i = 0; i < count; i++) {
        if (static_jobs_find(jobs, job, servers[i], servers[i == 0], &way, NULL) != STATUS_OK)
            return false;
        is_member[way.source] = true;
    }
    return true;
}

/* Along a cycle over all nodes of the job's graph: O(nodes). */
static void order_static(const struct fabric_state *state, uint32_t job, uint32_t *servers, uint32_t count)
{
    struct fixed *fixed = state->own;
    struct static_way way;
    if (count < 2 || static_jobs_find(&fixed->jobs, job, servers[0], servers[1], &way, NULL) != STATUS_OK)
        return;
    uint32_t nodes = way.wiring->count, *order = memory_alloc(nodes, sizeof *order);
    bool *is_member = memory_alloc(nodes, sizeof *is_member);
    if (mark_nodes(&fixed->jobs, job, servers, count, is_member)) {
        static_graph_ring(way.wiring->graph, order);
        for (uint32_t i = 0, n = 0; i < nodes; i++)
            if (is_member[order[i]])
                servers[n++] = static_wiring_server(way.wiring, order[i]);
    }
    free(is_member);
    free(order);
}

static const struct fabric_carrier carrier = {
    .close = close_static,
    .send = send_static,
    .on_event = on_static,
    .visit = visit_static,
    .open_job = open_job,
    .close_job = close_job,
    .order_ring = order_static,
};

const struct fabric fabric_static = {
    .strategy = {.name = "static",
                 .doc = "A fixed graph of direct links for each job (rings, torus, expander), set up once; many hops, "
                        "in cells.",
                 STRATEGY_KEYS(static_keys, struct static_settings)},
    .connects_jobs = true,
    .is_reconfigured = true,
    .open = open_static,
};
