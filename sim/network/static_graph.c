#include "network/static_graph.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

enum graph_kind { GRAPH_RING, GRAPH_TORUS, GRAPH_EXPANDER };
enum { DIMENSIONS = 3, PORTS_MAX = 64 };

struct static_graph {
    enum graph_kind kind;
    uint32_t nodes, ports;
    uint32_t size[DIMENSIONS];     /* torus */
    uint32_t strides[PORTS_MAX];   /* ring: what a port adds, modulo nodes */
    uint32_t *hops;                /* ring: links to go this much further */
    uint8_t *first;                /* ring: the port to start with */
    uint32_t *neighbours;          /* expander */
    struct expander_search search; /* expander */
};

/* The largest m with m^k <= n. */
static uint32_t root_of(uint32_t n, uint32_t k)
{
    for (uint32_t m = 1;; m++) {
        uint64_t power = 1;
        for (uint32_t i = 0; i < k && power <= n; i++)
            power *= (uint64_t)m + 1;
        if (power > n)
            return m;
    }
}

static enum status set_strides(struct static_graph *graph, struct error *error)
{
    uint32_t count = (graph->ports + 1) / 2, half = (graph->nodes - 1) / 2, n = graph->nodes;
    if (n < 2 || (count > half && !(n == 2 && graph->ports == 1)))
        return error_set(error, STATUS_USER, "static.degree is %u: rings of different strides over %u servers take %u",
                         graph->ports, n,
                         n < 2    ? 0
                         : n == 2 ? 1
                                  : 2 * half);
    uint32_t root = root_of(n, count), stride = 0;
    uint64_t power = 1;
    for (uint32_t i = 0; i < count; i++, power *= root) {
        uint32_t most = n == 2 ? 1 : half - (count - 1 - i);
        stride = power > stride ? (uint32_t)(power < most ? power : most) : stride + 1;
        graph->strides[2 * i] = stride;
        if (2 * i + 1 < graph->ports)
            graph->strides[2 * i + 1] = n - stride;
    }
    return STATUS_OK;
}

/* Breadth first over differences; then each takes the first port that comes nearer. */
static enum status open_ring(struct static_graph *graph, struct error *error)
{
    enum status status = set_strides(graph, error);
    if (status != STATUS_OK)
        return status;
    uint32_t n = graph->nodes, *queue = memory_alloc(n, sizeof *queue);
    graph->hops = memory_alloc(n, sizeof *graph->hops);
    graph->first = memory_alloc(n, sizeof *graph->first);
    for (uint32_t head = 0, tail = 1; head < tail; head++)
        for (uint32_t port = 0; port < graph->ports; port++) {
            uint32_t next = (queue[head] + graph->strides[port]) % n;
            if (next == 0 || graph->hops[next] != 0)
                continue;
            graph->hops[next] = graph->hops[queue[head]] + 1;
            queue[tail++] = next;
        }
    free(queue);
    for (uint32_t far = 1; far < n; far++) {
        uint32_t port = 0;
        while (graph->hops[(far + n - graph->strides[port]) % n] + 1 != graph->hops[far])
            port++;
        require(port < graph->ports);
        graph->first[far] = (uint8_t)port;
    }
    return STATUS_OK;
}

static void open_torus(struct static_graph *graph, const struct topology *topology)
{
    uint32_t sizes[DIMENSIONS] = {(uint32_t)topology->groups, (uint32_t)topology->racks, (uint32_t)topology->servers};
    uint32_t dimensions = (uint32_t)topology->fixed.dimensions;
    for (uint32_t i = 0; i < DIMENSIONS; i++)
        graph->size[i] = 1;
    for (uint32_t i = 0; i < DIMENSIONS; i++)
        graph->size[i < dimensions ? i : dimensions - 1] *= sizes[i];
    graph->ports = 2 * dimensions;
}

static enum status open_expander(struct static_graph *graph, struct error *error)
{
    graph->neighbours = memory_alloc((size_t)graph->nodes * graph->ports, sizeof *graph->neighbours);
    expander_search_open(&graph->search, graph->nodes);
    return expander_make(graph->nodes, graph->ports, graph->neighbours, error);
}

enum status static_graph_create(const struct topology *topology, struct static_graph **out, struct error *error)
{
    struct static_graph *graph = memory_alloc(1, sizeof *graph);
    const char *name = topology->fixed.graph;
    enum status status = STATUS_OK;
    graph->nodes = topology->server_count;
    graph->ports = (uint32_t)topology->fixed.degree;
    require(graph->ports > 0 && graph->ports <= PORTS_MAX);
    if (strcmp(name, "torus") == 0) {
        graph->kind = GRAPH_TORUS;
        open_torus(graph, topology);
    } else if (strcmp(name, "ring") == 0) {
        graph->kind = GRAPH_RING;
        status = open_ring(graph, error);
    } else {
        graph->kind = GRAPH_EXPANDER;
        status = open_expander(graph, error);
    }
    if (status == STATUS_OK)
        *out = graph;
    else
        static_graph_destroy(graph);
    return status;
}

void static_graph_destroy(struct static_graph *graph)
{
    if (!graph)
        return;
    free(graph->hops);
    free(graph->first);
    free(graph->neighbours);
    expander_search_close(&graph->search);
    free(graph);
}

uint32_t static_graph_ports(const struct static_graph *graph)
{
    return graph->ports;
}

/* The first dimension varies slowest, as in the names of servers. */
static uint32_t scale_of(const struct static_graph *graph, uint32_t dimension)
{
    uint32_t scale = 1;
    for (uint32_t i = dimension + 1; i < DIMENSIONS; i++)
        scale *= graph->size[i];
    return scale;
}

uint32_t static_graph_neighbour(const struct static_graph *graph, uint32_t node, uint32_t port)
{
    require(node < graph->nodes && port < graph->ports);
    if (graph->kind == GRAPH_EXPANDER)
        return graph->neighbours[(size_t)node * graph->ports + port];
    if (graph->kind == GRAPH_RING)
        return (uint32_t)(((uint64_t)node + graph->strides[port]) % graph->nodes);
    uint32_t scale = scale_of(graph, port / 2), size = graph->size[port / 2], at = node / scale % size;
    uint32_t next = (at + (port % 2 ? size - 1 : 1)) % size;
    return node - at * scale + next * scale;
}

/* How far up the target lies in a dimension. */
static uint32_t gap_of(const struct static_graph *graph, uint32_t dimension, uint32_t node, uint32_t target)
{
    uint32_t scale = scale_of(graph, dimension), size = graph->size[dimension];
    return (target / scale % size + size - node / scale % size) % size;
}

uint32_t static_graph_port(const struct static_graph *graph, uint32_t node, uint32_t target)
{
    require(graph->kind != GRAPH_EXPANDER && node != target);
    if (graph->kind == GRAPH_RING)
        return graph->first[(target + graph->nodes - node) % graph->nodes];
    uint32_t dimension = 0, gap;
    while ((gap = gap_of(graph, dimension, node, target)) == 0)
        dimension++;
    require(dimension < DIMENSIONS);
    return 2 * dimension + (gap > graph->size[dimension] - gap);
}

uint32_t static_graph_route(struct static_graph *graph, uint32_t source, uint32_t target, uint8_t **path)
{
    require(source < graph->nodes && target < graph->nodes && source != target);
    *path = NULL;
    if (graph->kind == GRAPH_EXPANDER)
        return expander_route(&graph->search, graph->neighbours, graph->ports, source, target, path);
    if (graph->kind == GRAPH_RING)
        return graph->hops[(target + graph->nodes - source) % graph->nodes];
    uint32_t hops = 0;
    for (uint32_t i = 0; i < DIMENSIONS; i++) {
        uint32_t gap = gap_of(graph, i, source, target), back = graph->size[i] - gap;
        hops += gap < back ? gap : gap > 0 ? back : 0;
    }
    return hops;
}
