/* Random regular graphs, and paths in them by a search from both ends.
 *
 * A graph is a sum of random Hamiltonian cycles. A cycle whose edge exists already
 * is mended by swapping nodes of its order at random; tight cases start again.
 * Making one is O(n * degree^2). A search grows the smaller side by a level at a
 * time until the sides meet, so in an expander each side sees about sqrt(n) nodes.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "fabric/static_graph.h"

enum { SEED = 1, MENDS = 1000, STARTS = 100 };

struct maker {
    uint32_t nodes, degree;
    uint32_t *neighbours; /* the caller's */
    uint32_t *used;       /* ports of a node */
    uint32_t *order;
    bool is_matching; /* edges join order[2i] and order[2i + 1], not all neighbours of the order */
    struct random_stream *random;
};

static bool are_linked(const struct maker *maker, uint32_t left, uint32_t right)
{
    const uint32_t *ports = &maker->neighbours[(size_t)left * maker->degree];
    for (uint32_t i = 0; i < maker->used[left]; i++)
        if (ports[i] == right)
            return true;
    return left == right;
}

static bool is_edge_good(const struct maker *maker, uint32_t at)
{
    if (maker->is_matching)
        at -= at % 2;
    return !are_linked(maker, maker->order[at], maker->order[(at + 1) % maker->nodes]);
}

/* The edges on both sides of a place in the order. */
static bool is_place_good(const struct maker *maker, uint32_t at)
{
    return is_edge_good(maker, at) && is_edge_good(maker, (at + maker->nodes - 1) % maker->nodes);
}

static void swap(uint32_t *order, uint32_t left, uint32_t right)
{
    uint32_t kept = order[left];
    order[left] = order[right];
    order[right] = kept;
}

static bool mend(struct maker *maker, uint32_t at)
{
    for (int i = 0; i < MENDS; i++) {
        uint32_t other = (uint32_t)random_below(maker->random, maker->nodes);
        swap(maker->order, at, other);
        if (is_place_good(maker, at) && is_place_good(maker, other))
            return true;
        swap(maker->order, at, other);
    }
    return false;
}

static void add_edge(struct maker *maker, uint32_t left, uint32_t right)
{
    require(!are_linked(maker, left, right) && maker->used[left] < maker->degree);
    maker->neighbours[(size_t)left * maker->degree + maker->used[left]++] = right;
    maker->neighbours[(size_t)right * maker->degree + maker->used[right]++] = left;
}

static bool add_layer(struct maker *maker)
{
    uint32_t n = maker->nodes;
    for (uint32_t i = 0; i < n; i++)
        maker->order[i] = i;
    for (uint32_t i = n; i-- > 1;)
        swap(maker->order, i, (uint32_t)random_below(maker->random, (uint64_t)i + 1));
    /* A swap leaves two places good, but may have been counted on by none: look again until all are. */
    for (uint32_t i = 0; i < n; i++)
        if (!is_edge_good(maker, i) && !mend(maker, i))
            return false;
    for (uint32_t i = 0; i < n; i++)
        if (!is_edge_good(maker, i))
            return false;
    for (uint32_t i = 0; i < n; i += maker->is_matching ? 2 : 1)
        add_edge(maker, maker->order[i], maker->order[(i + 1) % n]);
    return true;
}

static bool make_once(struct maker *maker)
{
    memset(maker->used, 0, maker->nodes * sizeof *maker->used);
    for (uint32_t i = 0; i < maker->degree; i += 2) {
        maker->is_matching = i + 1 == maker->degree;
        if (!add_layer(maker))
            return false;
    }
    return true;
}

enum status expander_make(uint32_t nodes, uint32_t degree, uint32_t *neighbours, struct error *error)
{
    if (degree < 2 || degree >= nodes || (degree % 2 && nodes % 2))
        return error_set(
            error, STATUS_USER,
            "static.degree is %u: an expander over %u servers takes 2 to %u, an odd one for an even number "
            "of servers only",
            degree, nodes, nodes > 0 ? nodes - 1 : 0);
    struct maker maker = {.nodes = nodes, .degree = degree, .neighbours = neighbours};
    maker.used = memory_alloc(nodes, sizeof *maker.used);
    maker.order = memory_alloc(nodes, sizeof *maker.order);
    maker.random = random_open(SEED, "expander", degree);
    bool is_made = false;
    for (int i = 0; i < STARTS && !is_made; i++)
        is_made = make_once(&maker);
    random_close(maker.random);
    free(maker.used);
    free(maker.order);
    if (!is_made)
        return error_set(error, STATUS_USER, "found no random graph of degree %u over %u servers: lower static.degree",
                         degree, nodes);
    return STATUS_OK;
}

void expander_search_open(struct expander_search *search, uint32_t nodes)
{
    for (int side = 0; side < 2; side++) {
        search->stamp[side] = memory_alloc(nodes, sizeof *search->stamp[side]);
        search->level[side] = memory_alloc(nodes, sizeof *search->level[side]);
        search->queue[side] = memory_alloc(nodes, sizeof *search->queue[side]);
    }
    search->is_alive = memory_alloc(nodes, sizeof *search->is_alive);
}

void expander_search_close(struct expander_search *search)
{
    for (int side = 0; side < 2; side++) {
        free(search->stamp[side]);
        free(search->level[side]);
        free(search->queue[side]);
    }
    free(search->is_alive);
}

/* One side of a search: its queue holds the nodes seen, by level; the last level starts at `head`. */
struct side {
    uint32_t which;
    uint32_t head, tail, depth;
};

static bool is_seen(const struct expander_search *search, uint32_t side, uint32_t node)
{
    return search->stamp[side][node] == search->round;
}

static void see(struct expander_search *search, struct side *side, uint32_t node)
{
    search->stamp[side->which][node] = search->round;
    search->level[side->which][node] = side->depth;
    search->queue[side->which][side->tail++] = node;
}

/* Grows a side by a level; true when it met the other side. */
static bool grow(struct expander_search *search, struct side *side, const uint32_t *neighbours, uint32_t degree)
{
    uint32_t end = side->tail;
    bool is_met = false;
    side->depth++;
    for (; side->head < end; side->head++) {
        const uint32_t *ports = &neighbours[(size_t)search->queue[side->which][side->head] * degree];
        for (uint32_t i = 0; i < degree; i++) {
            if (is_seen(search, side->which, ports[i]))
                continue;
            see(search, side, ports[i]);
            is_met |= is_seen(search, 1 - side->which, ports[i]);
        }
    }
    return is_met;
}

/* Which nodes on the source's side lie on a shortest path: from the meeting level back. */
static void mark_alive(struct expander_search *search, const struct side *near, const struct side *far,
                       const uint32_t *neighbours, uint32_t degree)
{
    for (uint32_t at = near->tail; at-- > 0;) {
        uint32_t node = search->queue[0][at], level = search->level[0][node];
        bool is_alive = false;
        if (level == near->depth)
            is_alive = is_seen(search, 1, node) && search->level[1][node] == far->depth;
        for (uint32_t i = 0; level < near->depth && i < degree && !is_alive; i++) {
            uint32_t next = neighbours[(size_t)node * degree + i];
            is_alive = is_seen(search, 0, next) && search->level[0][next] == level + 1 && search->is_alive[next];
        }
        search->is_alive[node] = is_alive;
    }
}

/* On the source's side the next node must be alive, on the target's side one level nearer. */
static bool is_next(const struct expander_search *search, uint32_t node, uint32_t step, uint32_t near, uint32_t hops)
{
    if (step <= near)
        return is_seen(search, 0, node) && search->level[0][node] == step && search->is_alive[node];
    return is_seen(search, 1, node) && search->level[1][node] == hops - step;
}

uint32_t expander_route(struct expander_search *search, const uint32_t *neighbours, uint32_t degree, uint32_t source,
                        uint32_t target, uint8_t **path)
{
    struct side near = {.which = 0}, far = {.which = 1};
    search->round++;
    see(search, &near, source);
    see(search, &far, target);
    for (bool is_met = false; !is_met;) {
        bool is_near = near.tail - near.head <= far.tail - far.head;
        is_met = grow(search, is_near ? &near : &far, neighbours, degree);
        require(is_met || near.head < near.tail || far.head < far.tail);
    }
    uint32_t hops = near.depth + far.depth, node = source;
    mark_alive(search, &near, &far, neighbours, degree);
    *path = memory_alloc(hops, sizeof **path);
    for (uint32_t step = 1; step <= hops; step++) {
        uint32_t port = 0;
        while (!is_next(search, neighbours[(size_t)node * degree + port], step, near.depth, hops))
            port++;
        require(port < degree);
        (*path)[step - 1] = (uint8_t)port;
        node = neighbours[(size_t)node * degree + port];
    }
    require(node == target);
    return hops;
}
