#include "fabric/static_graph.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

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

/* The longest stride. Half way round up and down are the same, so that is for a single last port alone. */
static uint32_t longest_stride(uint32_t nodes, uint32_t ports)
{
    bool is_half_way = nodes % 2 == 0 && ports + 1 == nodes;
    return is_half_way ? nodes / 2 : (nodes - 1) / 2;
}

static enum status set_strides(struct static_graph *graph, struct error *error)
{
    uint32_t count = (graph->ports + 1) / 2, n = graph->nodes;
    if (graph->ports >= n)
        return error_set(error, STATUS_USER, "static.degree is %u: rings of different strides over %u servers take %u",
                         graph->ports, n, n - 1);
    uint32_t root = root_of(n, count), stride = 0, longest = longest_stride(n, graph->ports);
    uint64_t power = 1;
    require(count <= longest);
    for (uint32_t i = 0; i < count; i++, power *= root) {
        uint32_t most = longest - (count - 1 - i);
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

static const struct static_settings *settings_of(const struct topology *topology)
{
    return topology->fabric.settings;
}

static void open_torus(struct static_graph *graph, const struct topology *topology)
{
    uint32_t sizes[DIMENSIONS] = {(uint32_t)topology->groups, (uint32_t)topology->racks_per_group,
                                  (uint32_t)topology->servers_per_rack};
    uint32_t dimensions = (uint32_t)settings_of(topology)->dimensions;
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

/* Hands the graph out, or frees it. */
static enum status open_graph(struct static_graph *graph, struct static_graph **out, struct error *error)
{
    enum status status = STATUS_OK;
    require(graph->nodes > 0 && graph->ports > 0 && graph->ports <= PORTS_MAX);
    if (graph->kind != GRAPH_TORUS)
        status = graph->kind == GRAPH_RING ? open_ring(graph, error) : open_expander(graph, error);
    if (status == STATUS_OK)
        *out = graph;
    else
        static_graph_destroy(graph);
    return status;
}

enum status static_graph_create(const struct topology *topology, struct static_graph **out, struct error *error)
{
    struct static_graph *graph = memory_alloc(1, sizeof *graph);
    graph->kind = settings_of(topology)->graph;
    graph->nodes = topology->server_count;
    graph->ports = (uint32_t)settings_of(topology)->degree;
    if (graph->kind == GRAPH_TORUS)
        open_torus(graph, topology);
    return open_graph(graph, out, error);
}

/* The two sides nearest to a square, the longer first. */
static void split_in_two(uint32_t area, uint32_t sides[2])
{
    sides[1] = 1;
    for (uint32_t side = 2; (uint64_t)side * side <= area; side++)
        if (area % side == 0)
            sides[1] = side;
    sides[0] = area / sides[1];
}

/* Sides as equal as they can be, that is of the smallest sum, the longest first; a prime leaves one dimension. */
static void open_job_torus(struct static_graph *graph, uint32_t dimensions)
{
    uint32_t n = graph->nodes, best[DIMENSIONS] = {n, 1, 1};
    if (dimensions > 1)
        split_in_two(n, best);
    for (uint32_t side = 2; dimensions > 2 && (uint64_t)side * side * side <= n; side++) {
        uint32_t sides[DIMENSIONS] = {0, 0, side};
        if (n % side != 0)
            continue;
        split_in_two(n / side, sides);
        if (sides[1] >= side && sides[0] + sides[1] + side < best[0] + best[1] + best[2])
            memcpy(best, sides, sizeof best);
    }
    memcpy(graph->size, best, sizeof best);
    graph->ports = best[2] > 1 ? 6 : best[1] > 1 ? 4 : 2;
    require(best[0] * best[1] * best[2] == n);
}

/* Where each server is linked to more than half of the others, any two are at most two hops apart in any graph, and
 * random cycles without a common edge get hard to find: rings of all strides take their place. */
static void open_job_links(struct static_graph *graph, uint32_t degree)
{
    uint32_t n = graph->nodes;
    graph->ports = degree < n ? degree : n - 1;
    if (graph->kind == GRAPH_EXPANDER && n % 2 && graph->ports % 2)
        graph->ports--;
    if (2 * graph->ports > n || graph->ports < 2)
        graph->kind = GRAPH_RING;
}

enum status static_graph_create_job(const struct topology *topology, uint32_t count, struct static_graph **out,
                                    struct error *error)
{
    require(count > 1 && count <= topology->server_count);
    struct static_graph *graph = memory_alloc(1, sizeof *graph);
    graph->kind = settings_of(topology)->graph;
    graph->nodes = count;
    if (graph->kind == GRAPH_TORUS)
        open_job_torus(graph, (uint32_t)settings_of(topology)->dimensions);
    else
        open_job_links(graph, (uint32_t)settings_of(topology)->degree);
    return open_graph(graph, out, error);
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

/* Dimension by dimension: the cycle so far is gone through in every layer, to and fro, but for its first node, whose
 * copies lead back from the last layer to the first. */
static void torus_ring(const struct static_graph *graph, uint32_t *order)
{
    uint32_t *base = memory_alloc(graph->nodes, sizeof *base), length = 1;
    order[0] = 0;
    for (uint32_t dimension = 0; dimension < DIMENSIONS; dimension++) {
        uint32_t layers = graph->size[dimension], scale = scale_of(graph, dimension), count = 1;
        memcpy(base, order, length * sizeof *base);
        for (uint32_t layer = 0; layer < layers; layer++)
            for (uint32_t i = 1; i < length; i++)
                order[count++] = base[layer % 2 ? length - i : i] + layer * scale;
        for (uint32_t layer = layers; layer-- > 1;)
            order[count++] = base[0] + layer * scale;
        length = count;
    }
    require(length == graph->nodes);
    free(base);
}

/* The first two ports are those of one cycle. Two ports that do not make one leave the nodes by their numbers. */
void static_graph_ring(const struct static_graph *graph, uint32_t *order)
{
    if (graph->kind == GRAPH_TORUS) {
        torus_ring(graph, order);
        return;
    }
    bool *is_seen = memory_alloc(graph->nodes, sizeof *is_seen);
    uint32_t node = 0, count = 0;
    while (!is_seen[node]) {
        uint32_t next = static_graph_neighbour(graph, node, 0);
        is_seen[node] = true;
        order[count++] = node;
        node = is_seen[next] && graph->ports > 1 ? static_graph_neighbour(graph, node, 1) : next;
    }
    for (uint32_t i = 0; count < graph->nodes && i < graph->nodes; i++)
        order[i] = i;
    free(is_seen);
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
