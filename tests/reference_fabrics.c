#include "reference_fabrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "fabric/static_graph.h"
#include "figures.h"

struct sender {
    struct world *world;
    struct slow_transfer *transfers;
    struct transfer_report *reports;
};

static void on_send(struct engine *engine, const struct event *event, void *context)
{
    struct sender *sender = context;
    const struct slow_transfer *x = &sender->transfers[event->entity];
    struct transfer_request request = {.source = x->source,
                                       .target = x->target,
                                       .bytes = x->bytes,
                                       .job = x->job,
                                       .priority = x->priority,
                                       .lanes = x->lanes,
                                       .is_cleared_when_blocked = x->is_cleared_when_blocked,
                                       .done = world_keep,
                                       .context = &sender->reports[event->entity]};
    struct error error = {0};
    (void)engine;
    sender->reports[event->entity].end = -1;
    network_check(sender->world->network);
    CU_ASSERT_EQUAL_FATAL(network_send(sender->world->network, &request, NULL, &error), STATUS_OK);
}

static void add_busy(void *context, const struct hardware_use *use)
{
    *(sim_time *)context += use->busy;
}

sim_time fast_run(struct world *world, struct slow_transfer *transfers, struct transfer_report *reports, int count)
{
    struct sender sender = {world, transfers, reports};
    sim_time busy = 0;
    world_start(world);
    engine_on(world->engine, WORLD_SEND_KIND, on_send, &sender);
    for (int i = 0; i < count; i++)
        (void)engine_schedule(world->engine, transfers[i].sent, 0, WORLD_SEND_KIND, (uint32_t)i, 0);
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world->network), 0);
    network_visit_hardware(world->network, add_busy, &busy);
    world_stop(world);
    return busy;
}

int slow_differences(const struct slow_transfer *transfers, const struct transfer_report *reports, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += transfers[i].end != reports[i].end || transfers[i].was_cleared != reports[i].is_cleared ||
                 transfers[i].wait != reports[i].wait || transfers[i].reconfiguration != reports[i].reconfiguration;
    return wrong;
}

bool slow_is_before(const struct world *world, const struct slow_transfer *transfers, int left, int right)
{
    const struct slow_transfer *a = &transfers[left], *b = &transfers[right];
    if (world->options.order == NETWORK_SRPT && a->bytes != b->bytes)
        return a->bytes < b->bytes;
    if (world->options.order == NETWORK_PRIORITY && a->priority != b->priority)
        return a->priority < b->priority;
    return left < right;
}

static int64_t latency_of(const struct topology *t)
{
    return t->propagation_ps + 2 * t->io_latency_ps;
}

static int64_t payload_of(uint64_t bytes, double rate)
{
    return (int64_t)ceill((long double)bytes * 1e12L / floorl((long double)rate));
}

/* ---- static ---- */

/* The first port from node on a shortest way to target, by a search back from the target. */
static uint32_t first_port(const struct static_graph *graph, uint32_t n, uint32_t node, uint32_t target)
{
    uint32_t ports = static_graph_ports(graph), *far = memory_alloc(n, sizeof *far);
    for (uint32_t i = 0; i < n; i++)
        far[i] = i == target ? 0 : n;
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t port = 0; port < ports; port++) {
                uint32_t through = far[static_graph_neighbour(graph, i, port)] + 1;
                is_changed |= through < far[i];
                far[i] = through < far[i] ? through : far[i];
            }
    }
    uint32_t port = 0;
    while (far[static_graph_neighbour(graph, node, port)] + 1 != far[node])
        port++;
    free(far);
    return port;
}

/* The graph that a transfer is on, and where its nodes are. */
struct slow_graph {
    struct static_graph *graph;
    const uint32_t *servers; /* NULL = a node is a server */
    uint32_t n;
};

struct slow_hop {
    const struct slow_graph *on;
    uint32_t node, target, port;
    int64_t since, until; /* in line since; on the link until, or -1 */
    bool is_active, is_first;
};

static uint32_t server_of(const struct slow_hop *hop)
{
    return hop->on->servers ? hop->on->servers[hop->node] : hop->node;
}

static uint32_t node_of(const struct slow_graph *on, uint32_t server)
{
    uint32_t node = 0;
    while (on->servers && on->servers[node] != server)
        node++;
    return on->servers ? node : server;
}

static int64_t lit_at(const struct world *world, const struct slow_transfer *x, int which)
{
    for (int i = 0; i <= which; i++)
        if (x[i].job == x[which].job)
            return x[i].sent + *figure_whole(&world->topology, "static.reconfiguration");
    return 0;
}

static bool is_link_busy(const struct slow_hop *hops, int count, const struct slow_hop *hop)
{
    for (int i = 0; i < count; i++)
        if (hops[i].is_active && hops[i].until >= 0 && server_of(&hops[i]) == server_of(hop) &&
            hops[i].port == hop->port)
            return true;
    return false;
}

static void arrive_static(struct slow_transfer *x, struct slow_hop *hop, int64_t now)
{
    hop->node = static_graph_neighbour(hop->on->graph, hop->node, hop->port);
    hop->is_active = hop->node != hop->target;
    hop->until = -1;
    hop->since = now;
    hop->is_first = false;
    if (hop->is_active)
        hop->port = first_port(hop->on->graph, hop->on->n, hop->node, hop->target);
    else
        x->end = now;
}

static void start_static(const struct world *world, struct slow_transfer *x, struct slow_hop *hops, int count,
                         int64_t now, double rate)
{
    for (;;) {
        int best = -1;
        for (int i = 0; i < count; i++)
            if (hops[i].is_active && hops[i].until < 0 && !is_link_busy(hops, count, &hops[i]) &&
                (best < 0 || slow_is_before(world, x, i, best)))
                best = i;
        if (best < 0)
            break;
        x[best].wait += now - hops[best].since;
        hops[best].until = now + latency_of(&world->topology) + payload_of(x[best].bytes, rate);
    }
    for (int i = 0; i < count; i++)
        if (hops[i].is_active && hops[i].until < 0 && hops[i].is_first && x[i].sent == now &&
            x[i].is_cleared_when_blocked) {
            hops[i].is_active = false;
            x[i].was_cleared = true;
            x[i].end = now;
            x[i].wait = 0;
        }
}

/* graphs: those of the world's jobs, then that over all servers. */
static void enter_static(const struct world *world, const struct slow_graph *graphs, struct slow_transfer *x,
                         struct slow_hop *hops, int which, int64_t now)
{
    int64_t lit = lit_at(world, x, which), ready = lit > x[which].sent ? lit : x[which].sent;
    if (ready != now)
        return;
    uint32_t job = 0;
    while (job < world->job_count && world->jobs[job].job != x[which].job)
        job++;
    const struct slow_graph *on = &graphs[job];
    x[which].reconfiguration = ready - x[which].sent;
    hops[which] = (struct slow_hop){.on = on,
                                    .node = node_of(on, x[which].source),
                                    .target = node_of(on, x[which].target),
                                    .since = now,
                                    .until = -1,
                                    .is_active = true,
                                    .is_first = true};
    hops[which].port = first_port(on->graph, on->n, hops[which].node, hops[which].target);
}

static struct slow_graph *make_graphs(const struct world *world)
{
    struct slow_graph *graphs = memory_alloc(world->job_count + (size_t)1, sizeof *graphs);
    const struct topology *t = &world->topology;
    for (uint32_t i = 0; i < world->job_count; i++) {
        const struct world_job *job = &world->jobs[i];
        graphs[i] = (struct slow_graph){.servers = job->servers, .n = job->count};
        CU_ASSERT_EQUAL_FATAL(static_graph_create_job(t, job->count, &graphs[i].graph, NULL), STATUS_OK);
    }
    graphs[world->job_count].n = t->server_count;
    CU_ASSERT_EQUAL_FATAL(static_graph_create(t, &graphs[world->job_count].graph, NULL), STATUS_OK);
    return graphs;
}

void slow_static(const struct world *world, struct slow_transfer *x, int count)
{
    struct slow_graph *graphs = make_graphs(world);
    double rate = world->topology.node_rate_bytes_per_s / static_graph_ports(graphs[world->job_count].graph);
    struct slow_hop *hops = memory_alloc((size_t)count, sizeof *hops);
    for (int i = 0; i < count; i++)
        x[i].end = -1;
    for (int64_t now = -1, next = 0; next != INT64_MAX;) {
        now = next;
        next = INT64_MAX;
        for (int i = 0; i < count; i++)
            if (hops[i].is_active && hops[i].until == now)
                arrive_static(&x[i], &hops[i], now);
        for (int i = 0; i < count; i++)
            enter_static(world, graphs, x, hops, i, now);
        start_static(world, x, hops, count, now, rate);
        for (int i = 0; i < count; i++) {
            int64_t lit = lit_at(world, x, i), ready = lit > x[i].sent ? lit : x[i].sent;
            if (ready > now && ready < next)
                next = ready;
            if (hops[i].is_active && hops[i].until > now && hops[i].until < next)
                next = hops[i].until;
        }
    }
    free(hops);
    for (uint32_t i = 0; i <= world->job_count; i++)
        static_graph_destroy(graphs[i].graph);
    free(graphs);
}

/* ---- packet ---- */

struct slow_flow {
    bool is_active, is_fixed;
    long double left, rate;
};

/* The links of the tree by number; crosses() says which a transfer uses, the core links always among them. */
static bool crosses(const struct topology *t, const struct slow_transfer *x, uint32_t link)
{
    uint32_t n = t->server_count, radix = (uint32_t)*figure_whole(t, "packet.radix"), edges = (n + radix - 1) / radix;
    uint32_t out = x->source / radix, in = x->target / radix;
    return link == x->source || link == n + x->target ||
           (out != in && (link == 2 * n + out || link == 2 * n + edges + in));
}

/* Progressive filling over all links and flows. */
static void fill_all(const struct topology *t, const struct slow_transfer *x, struct slow_flow *flows, int count)
{
    uint32_t n = t->server_count, radix = (uint32_t)*figure_whole(t, "packet.radix"), edges = (n + radix - 1) / radix;
    long double rate = floorl((long double)t->node_rate_bytes_per_s);
    for (int i = 0; i < count; i++)
        flows[i].is_fixed = !flows[i].is_active;
    for (;;) {
        long double lowest = INFINITY;
        uint32_t tightest = 0;
        for (uint32_t link = 0; link < 2 * (n + edges); link++) {
            long double left =
                link < 2 * n ? rate : rate * radix / (long double)*figure_real(t, "packet.oversubscription");
            int open = 0;
            for (int i = 0; i < count; i++)
                if (flows[i].is_active && crosses(t, &x[i], link)) {
                    open += !flows[i].is_fixed;
                    left -= flows[i].is_fixed ? flows[i].rate : 0;
                }
            if (open > 0 && left / open < lowest) {
                lowest = left / open;
                tightest = link;
            }
        }
        if (isinf(lowest))
            return;
        for (int i = 0; i < count; i++)
            if (!flows[i].is_fixed && crosses(t, &x[i], tightest)) {
                flows[i].is_fixed = true;
                flows[i].rate = lowest;
            }
    }
}

void slow_packet(const struct world *world, struct slow_transfer *x, int count)
{
    const struct topology *t = &world->topology;
    struct slow_flow *flows = memory_alloc((size_t)count, sizeof *flows);
    int64_t *leaves = memory_alloc((size_t)count, sizeof *leaves);
    for (int64_t now = 0, next = 0; next != INT64_MAX;) {
        for (int i = 0; i < count; i++)
            if (flows[i].is_active)
                flows[i].left -= flows[i].rate * (long double)(next - now) / 1e12L;
        now = next;
        next = INT64_MAX;
        for (int i = 0; i < count; i++) {
            if (flows[i].is_active && leaves[i] == now) {
                flows[i].is_active = false;
                x[i].end = now + latency_of(t);
            }
            if (x[i].sent == now)
                flows[i] = (struct slow_flow){.is_active = true, .left = (long double)x[i].bytes};
        }
        fill_all(t, x, flows, count);
        for (int i = 0; i < count; i++) {
            /* Less than a millionth of a tick is rounding, not time. */
            if (flows[i].is_active)
                leaves[i] = now + (int64_t)ceill(flows[i].left * 1e12L / flows[i].rate - 1e-6L);
            int64_t change = flows[i].is_active ? leaves[i] : x[i].sent;
            if (change > now && change < next)
                next = change;
        }
    }
    free(flows);
    free(leaves);
}
