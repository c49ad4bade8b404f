/* The static fabric once more, cell by cell: every cell of every message on every link is sent and arrives by itself.
 */
#include <stdlib.h>

#include "engine/memory.h"
#include "fabric/static_graph.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { HOPS = 16, CELLS = 64 };

/* A message on one of its links. */
struct slow_hop {
    uint64_t link;        /* server, port */
    int64_t there[CELLS]; /* when each cell is at the server that sends it; INT64_MAX = not known yet */
    int sent;             /* cells */
    int64_t until;        /* the one that is being sent; -1 = none */
    bool is_begun;
};

struct slow_message {
    struct slow_transfer *x;
    int hops, cells;
    struct slow_hop hop[HOPS];
};

struct slow_graph {
    struct static_graph *graph;
    const uint32_t *servers; /* of the nodes; NULL = a node is a server */
    uint32_t n;
};

struct slow_links {
    const struct world *world;
    struct slow_message *messages;
    int count;
    int64_t cell, latency; /* a byte takes a tick */
    int64_t busy;
};

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

static uint32_t node_of(const struct slow_graph *on, uint32_t server)
{
    uint32_t node = 0;
    while (on->servers && on->servers[node] != server)
        node++;
    return on->servers ? node : server;
}

/* The links that a message will use, and when its cells are at the first. */
static void lay_out(const struct slow_links *links, const struct slow_graph *on, struct slow_message *message,
                    int64_t ready)
{
    uint32_t node = node_of(on, message->x->source), target = node_of(on, message->x->target);
    message->cells = (int)(((int64_t)message->x->bytes + links->cell - 1) / links->cell);
    require(message->cells <= CELLS);
    for (message->hops = 0; node != target; message->hops++) {
        require(message->hops < HOPS);
        struct slow_hop *hop = &message->hop[message->hops];
        uint32_t port = first_port(on->graph, on->n, node, target);
        hop->link = ((uint64_t)(on->servers ? on->servers[node] : node) << 32) + port;
        hop->until = -1;
        for (int i = 0; i < message->cells; i++)
            hop->there[i] = message->hops == 0 ? ready : INT64_MAX;
        node = static_graph_neighbour(on->graph, node, port);
    }
}

static int64_t lit_at(const struct world *world, const struct slow_transfer *x, int which)
{
    for (int i = 0; i <= which; i++)
        if (x[i].job == x[which].job)
            return x[i].sent + *figure_whole(&world->topology, "static.reconfiguration");
    return 0;
}

/* What leaves now: the cell is at the next server a latency later, or at the target. */
static void end_cells(const struct slow_links *links, struct slow_message *message, int64_t now)
{
    for (int h = 0; h < message->hops; h++) {
        struct slow_hop *hop = &message->hop[h];
        if (hop->until != now)
            continue;
        hop->until = -1;
        hop->sent++;
        if (h + 1 < message->hops)
            message->hop[h + 1].there[hop->sent - 1] = now + links->latency;
        else if (hop->sent == message->cells)
            message->x->end = now + links->latency;
    }
}

static void send_cell(struct slow_links *links, struct slow_message *message, struct slow_hop *hop, int64_t now)
{
    int64_t rest = (int64_t)message->x->bytes - hop->sent * links->cell,
            length = rest < links->cell ? rest : links->cell;
    if (!hop->is_begun)
        message->x->wait += now - hop->there[0];
    hop->is_begun = true;
    hop->until = now + length;
    links->busy += length;
}

/* Whoever has begun on the link and is not through, else the first of those whose first cell is there. */
static void serve_link(struct slow_links *links, uint64_t link, int64_t now)
{
    struct slow_hop *best = NULL;
    int of = -1;
    for (int i = 0; i < links->count; i++)
        for (int h = 0; h < links->messages[i].hops; h++) {
            struct slow_hop *hop = &links->messages[i].hop[h];
            if (hop->link != link || hop->sent == links->messages[i].cells || links->messages[i].x->was_cleared)
                continue;
            if (hop->is_begun && hop->until < 0 && hop->there[hop->sent] <= now)
                send_cell(links, &links->messages[i], hop, now);
            if (hop->is_begun)
                return;
            if (hop->there[0] <= now && (of < 0 || slow_is_before(links->world, links->messages[0].x, i, of))) {
                best = hop;
                of = i;
            }
        }
    if (best)
        send_cell(links, &links->messages[of], best, now);
}

static void serve_all(struct slow_links *links, int64_t now)
{
    for (int i = 0; i < links->count; i++)
        for (int h = 0; h < links->messages[i].hops; h++) {
            const struct slow_hop *hop = &links->messages[i].hop[h];
            if (hop->sent < links->messages[i].cells && hop->until < 0 && hop->there[hop->sent] <= now)
                serve_link(links, hop->link, now);
        }
    for (int i = 0; i < links->count; i++) {
        struct slow_message *message = &links->messages[i];
        if (message->x->sent != now || !message->x->is_cleared_when_blocked || message->x->reconfiguration > 0 ||
            message->hop[0].is_begun)
            continue;
        message->x->was_cleared = true;
        message->x->end = now;
    }
}

static int64_t next_change(const struct slow_links *links, int64_t now)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < links->count; i++)
        for (int h = 0; h < links->messages[i].hops && !links->messages[i].x->was_cleared; h++) {
            const struct slow_hop *hop = &links->messages[i].hop[h];
            if (hop->sent == links->messages[i].cells)
                continue;
            int64_t change = hop->until >= 0 ? hop->until : hop->there[hop->sent];
            next = change > now && change < next ? change : next;
        }
    return next;
}

/* Those of the world's jobs, then that over all servers. */
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

static void lay_out_all(const struct slow_links *links, struct slow_transfer *x)
{
    const struct world *world = links->world;
    struct slow_graph *graphs = make_graphs(world);
    uint32_t ports = static_graph_ports(graphs[world->job_count].graph);
    require(world->topology.node_rate_bytes_per_s == 1e12 * ports);
    for (int i = 0; i < links->count; i++) {
        uint32_t job = 0;
        while (job < world->job_count && world->jobs[job].job != x[i].job)
            job++;
        int64_t lit = lit_at(world, x, i), ready = lit > x[i].sent ? lit : x[i].sent;
        x[i].end = -1;
        x[i].reconfiguration = ready - x[i].sent;
        links->messages[i].x = &x[i];
        lay_out(links, &graphs[job], &links->messages[i], ready);
    }
    for (uint32_t i = 0; i <= world->job_count; i++)
        static_graph_destroy(graphs[i].graph);
    free(graphs);
}

int64_t slow_static(const struct world *world, struct slow_transfer *x, int count)
{
    const struct topology *t = &world->topology;
    bool is_stored = figure_is(t, "static.forwarding", "store");
    struct slow_links links = {.world = world,
                               .messages = memory_alloc((size_t)count, sizeof(struct slow_message)),
                               .count = count,
                               .cell = is_stored ? INT64_MAX / 2 : (int64_t)*figure_real(t, "static.cell"),
                               .latency = t->propagation_ps + 2 * t->io_latency_ps};
    lay_out_all(&links, x);
    for (int64_t now = next_change(&links, -1); now != INT64_MAX; now = next_change(&links, now)) {
        for (int i = 0; i < count; i++)
            end_cells(&links, &links.messages[i], now);
        serve_all(&links, now);
    }
    for (int i = 0; i < count; i++)
        if (x[i].was_cleared)
            x[i].reconfiguration = x[i].wait = 0;
    free(links.messages);
    return links.busy;
}
