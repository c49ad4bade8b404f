/* Lines of waiting requests: pairing heaps in one array of entries.
 *
 * A request that was blocked stands in line at the hardware that blocked it. When
 * that opens, its line is called up: entries come out best first and are tried
 * until the hardware is taken again; the rest of the heap goes back in one meld.
 * So a release costs what it starts, not what waits. Add and meld are O(1), take
 * is O(log n) amortised (Fredman and others 1986).
 *
 * An entry whose transfer has moved on is stale (its epoch is old) and is dropped
 * when it comes out. Lines called up wait in a binary heap of their first entries,
 * so that requests at different hardware are tried in the order of the policy.
 */
#include <stdlib.h>

#include "engine/memory.h"
#include "network/circuits.h"

bool pair_has_head(const struct network *network, const struct pair *pair)
{
    const struct transfer *head = &network->transfers[pair->head];
    return pair->head != 0 && head->state == TRANSFER_WAITING && head->turn.sequence == pair->head_sequence;
}

uint32_t pair_of(struct network *network, uint64_t key)
{
    uint32_t index = reuse_map_find(&network->pair_map, key);
    if (index != REUSE_NONE)
        return index;
    network->pairs = reuse_take(&network->pair_places, network->pairs, sizeof *network->pairs, &index);
    network->pairs[index] = (struct pair){.key = key};
    reuse_map_add(&network->pair_map, key, index);
    return index;
}

struct pair *pair_at(struct network *network, uint64_t key)
{
    uint32_t index = pair_of(network, key); /* which may move them */
    return &network->pairs[index];
}

void pair_drop_unused(struct network *network, uint32_t index)
{
    const struct pair *pair = &network->pairs[index];
    if (pair->line != 0 || pair->circuits != 0 || pair->waiting != 0 || pair_has_head(network, pair))
        return;
    reuse_map_remove(&network->pair_map, pair->key);
    reuse_give(&network->pair_places, index);
}

uint32_t *line_at(struct network *network, uint64_t place)
{
    if (place & PLACE_LINE) {
        require((place & ~PLACE_LINE) < network->fabric.line_count);
        return &network->lines[place & ~PLACE_LINE];
    }
    if (place & PLACE_PAIR)
        return &pair_at(network, place)->line;
    return &hardware_at(network, (uint32_t)place)->line;
}

uint32_t line_meld(struct network *network, uint32_t left, uint32_t right)
{
    if (left == 0 || right == 0)
        return left + right;
    if (turn_is_before(&network->waiters[right].turn, &network->waiters[left].turn)) {
        uint32_t swap = left;
        left = right;
        right = swap;
    }
    network->waiters[right].sibling = network->waiters[left].child;
    network->waiters[left].child = right;
    return left;
}

/* Two passes: pairs from left to right, then all pairs from right to left. */
static uint32_t meld_siblings(struct network *network, uint32_t first)
{
    uint32_t pairs = 0;
    while (first != 0) {
        uint32_t second = network->waiters[first].sibling;
        uint32_t next = second ? network->waiters[second].sibling : 0;
        network->waiters[first].sibling = 0;
        if (second != 0)
            network->waiters[second].sibling = 0;
        uint32_t pair = line_meld(network, first, second);
        network->waiters[pair].sibling = pairs;
        pairs = pair;
        first = next;
    }
    uint32_t root = 0;
    while (pairs != 0) {
        uint32_t next = network->waiters[pairs].sibling;
        network->waiters[pairs].sibling = 0;
        root = line_meld(network, root, pairs);
        pairs = next;
    }
    return root;
}

uint32_t line_insert(struct network *network, uint32_t root, uint32_t transfer)
{
    uint32_t index;
    network->waiters = reuse_take(&network->waiter_places, network->waiters, sizeof *network->waiters, &index);
    const struct transfer *waits = &network->transfers[transfer];
    network->waiters[index] = (struct waiter){.turn = waits->turn, .transfer = transfer, .epoch = waits->epoch};
    return line_meld(network, root, index);
}

static void keep(struct network *network, uint32_t index)
{
    const struct waiter *waiter = &network->waiters[index];
    struct fabric_pair pair = circuit_pair(&network->transfers[waiter->transfer]);
    network->kept++;
    network->fabric.circuits->keep(&network->fabric, &pair, waiter->turn, index);
}

void line_add(struct network *network, uint64_t place, uint32_t transfer)
{
    uint32_t index = line_insert(network, 0, transfer);
    if (place == FABRIC_KEPT) {
        keep(network, index);
        return;
    }
    uint32_t *root = line_at(network, place);
    *root = line_meld(network, *root, index);
}

uint32_t line_first(const struct network *network, uint32_t root)
{
    const struct waiter *waiter = &network->waiters[root];
    const struct transfer *transfer = &network->transfers[waiter->transfer];
    bool is_current = transfer->state == TRANSFER_WAITING && transfer->epoch == waiter->epoch;
    return is_current ? waiter->transfer : 0;
}

uint32_t line_take(struct network *network, uint32_t *root)
{
    uint32_t index = *root;
    require(index != 0);
    uint32_t transfer = line_first(network, index);
    *root = meld_siblings(network, network->waiters[index].child);
    reuse_give(&network->waiter_places, index);
    return transfer;
}

void wake_put(struct network *network, uint64_t place, uint32_t waiter)
{
    waitlist_add(&network->wakes, (struct waitlist_item){network->waiters[waiter].turn, place, waiter});
}

static void wake_root(struct network *network, uint64_t place, uint32_t *root)
{
    if (*root == 0)
        return;
    wake_put(network, place, *root);
    *root = 0;
    if (!network->is_dispatching)
        network_dispatch_soon(network);
}

void line_wake(struct network *network, uint64_t place)
{
    wake_root(network, place, line_at(network, place));
}

void pair_wake(struct network *network, uint32_t index)
{
    wake_root(network, network->pairs[index].key, &network->pairs[index].line);
}

void line_wake_kept(struct network *network)
{
    uint32_t index = network->kept > 0 ? network->fabric.circuits->next(&network->fabric) : 0;
    if (index == 0)
        return;
    network->kept--;
    wake_put(network, FABRIC_KEPT, index);
}
