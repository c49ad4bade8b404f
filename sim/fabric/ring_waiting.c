#include "fabric/ring_waiting.h"

#include "engine/status.h"

enum { BITS_OF_PLACE = 64, BITS = 128 };

/* 31 .. 0 go to 62, 60 .. 0. */
static uint64_t spread(uint32_t number)
{
    uint64_t x = number;
    x = (x | x << 16) & UINT64_C(0x0000ffff0000ffff);
    x = (x | x << 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x | x << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    x = (x | x << 2) & UINT64_C(0x3333333333333333);
    return (x | x << 1) & UINT64_C(0x5555555555555555);
}

static uint64_t place_of(const struct ring_waiter *waiter)
{
    return spread(waiter->first) << 1 | spread(waiter->end);
}

/* Equal places are told apart by their stamps. */
static uint32_t bit_of(uint64_t place, uint64_t stamp, uint32_t bit)
{
    return (uint32_t)(bit < BITS_OF_PLACE ? place >> (63 - bit) : stamp >> (BITS - 1 - bit)) & 1;
}

/* The highest bit in which two differ. */
static uint32_t difference(const struct ring_waiter *left, const struct ring_waiter *right)
{
    uint64_t places = place_of(left) ^ place_of(right), stamps = left->stamp ^ right->stamp;
    require(places != 0 || stamps != 0);
    return (uint32_t)(places ? __builtin_clzll(places) : BITS_OF_PLACE + __builtin_clzll(stamps));
}

static bool is_leaf(const struct ring_waiting_node *node)
{
    return node->children[0] == 0;
}

/* The leaf that shares most with a waiter. */
static uint32_t nearest(const struct ring_waiting *list, const struct ring_waiter *waiter)
{
    uint32_t at = list->root;
    uint64_t place = place_of(waiter);
    while (!is_leaf(&list->nodes[at]))
        at = list->nodes[at].children[bit_of(place, waiter->stamp, list->nodes[at].bit)];
    return at;
}

/* What is known of those below, up to the root. */
static void climb(struct ring_waiting *list, uint32_t at)
{
    for (; at != 0; at = list->nodes[at].parent) {
        struct ring_waiting_node *node = &list->nodes[at];
        const struct ring_waiter *left = &list->nodes[node->children[0]].first,
                                 *right = &list->nodes[node->children[1]].first;
        node->first.turn = turn_is_before(&left->turn, &right->turn) ? left->turn : right->turn;
        node->first.first = left->first > right->first ? left->first : right->first;
        node->first.end = left->end < right->end ? left->end : right->end;
    }
}

static uint32_t make(struct ring_waiting *list, const struct ring_waiting_node *node)
{
    uint32_t at;
    do {
        list->nodes = reuse_take(&list->places, list->nodes, sizeof *list->nodes, &at);
    } while (at == 0);
    list->nodes[at] = *node;
    return at;
}

/* The child takes the place of another below that one's parent. */
static void replace(struct ring_waiting *list, uint32_t parent, uint32_t old, uint32_t child)
{
    list->nodes[child].parent = parent;
    if (parent == 0)
        list->root = child;
    else
        list->nodes[parent].children[list->nodes[parent].children[1] == old] = child;
}

void ring_waiting_add(struct ring_waiting *list, const struct ring_waiter *waiter)
{
    uint32_t leaf = make(list, &(struct ring_waiting_node){.first = *waiter, .bit = BITS});
    if (list->root == 0) {
        list->root = leaf;
        return;
    }
    uint32_t bit = difference(waiter, &list->nodes[nearest(list, waiter)].first), at = list->root;
    uint64_t place = place_of(waiter);
    while (list->nodes[at].bit < bit)
        at = list->nodes[at].children[bit_of(place, waiter->stamp, list->nodes[at].bit)];
    uint32_t above = list->nodes[at].parent, side = bit_of(place, waiter->stamp, bit);
    uint32_t fork = make(list, &(struct ring_waiting_node){.bit = bit});
    replace(list, above, at, fork);
    list->nodes[fork].children[side] = leaf;
    list->nodes[fork].children[1 - side] = at;
    list->nodes[leaf].parent = list->nodes[at].parent = fork;
    climb(list, fork);
}

struct search {
    uint32_t first, end;
    uint32_t best; /* node, 0 = none yet */
};

static void search(const struct ring_waiting *list, struct search *wanted, uint32_t at)
{
    const struct ring_waiting_node *node = &list->nodes[at];
    if (node->first.first < wanted->first || node->first.end > wanted->end)
        return;
    if (wanted->best != 0 && !turn_is_before(&node->first.turn, &list->nodes[wanted->best].first.turn))
        return;
    if (is_leaf(node)) {
        wanted->best = at;
        return;
    }
    const struct turn *left = &list->nodes[node->children[0]].first.turn,
                      *right = &list->nodes[node->children[1]].first.turn;
    uint32_t sooner = turn_is_before(right, left);
    search(list, wanted, node->children[sooner]);
    search(list, wanted, node->children[1 - sooner]);
}

uint32_t ring_waiting_find(const struct ring_waiting *list, uint32_t first, uint32_t end)
{
    struct search wanted = {.first = first, .end = end};
    if (list->root != 0)
        search(list, &wanted, list->root);
    return wanted.best;
}

struct ring_waiter ring_waiting_take(struct ring_waiting *list, uint32_t leaf)
{
    struct ring_waiter waiter = list->nodes[leaf].first;
    uint32_t fork = list->nodes[leaf].parent;
    require(is_leaf(&list->nodes[leaf]));
    reuse_give(&list->places, leaf);
    if (fork == 0) {
        list->root = 0;
        return waiter;
    }
    uint32_t other = list->nodes[fork].children[list->nodes[fork].children[0] == leaf],
             above = list->nodes[fork].parent;
    replace(list, above, fork, other);
    reuse_give(&list->places, fork);
    climb(list, above);
    return waiter;
}

void ring_waiting_remove(struct ring_waiting *list, const struct ring_waiter *waiter)
{
    uint32_t leaf = list->root == 0 ? 0 : nearest(list, waiter);
    require(leaf != 0 && list->nodes[leaf].first.stamp == waiter->stamp &&
            place_of(&list->nodes[leaf].first) == place_of(waiter));
    (void)ring_waiting_take(list, leaf);
}

void ring_waiting_free(struct ring_waiting *list)
{
    reuse_free(&list->places, list->nodes);
    *list = (struct ring_waiting){0};
}
