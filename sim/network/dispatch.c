/* Giving out hardware, last in an instant: what was sent at this instant is merged with the lines that were called up,
 * in the order of the policy. In strict order there is one queue, and only its head is ever tried.
 */
#include <stdlib.h>

#include "network/circuits.h"

static enum circuit_answer try_or_wait(struct network *network, uint32_t index, uint64_t from)
{
    enum circuit_answer answer = circuit_try(network, index);
    if (answer == CIRCUIT_STARTED)
        return answer;
    if (network->transfers[index].is_cleared_when_blocked)
        network_clear(network, index);
    else
        circuit_wait(network, index, answer, from);
    return answer;
}

/* Is there hope for the next in line? Of those behind a head, while the last one was helped or went to wait for its
 * pair's circuits; of those who wait for these, while the last one was helped or there are none. */
static bool place_is_open(const struct network *network, uint64_t place, uint32_t last, enum circuit_answer answer)
{
    if (place & PLACE_LINE)
        return network->fabric.circuits->line_is_open(&network->fabric, network, (uint32_t)(place & ~PLACE_LINE));
    if (!(place & PLACE_PAIR))
        return hardware_is_open(network, (uint32_t)place);
    if (answer == CIRCUIT_STARTED)
        return true;
    bool is_of_pair = place == network->transfers[last].pair;
    return answer == (is_of_pair ? CIRCUIT_BLOCKED : CIRCUIT_PATIENT);
}

/* Tries the first of a line that was called up; the rest stays called up while there is hope. */
static void serve(struct network *network)
{
    uint64_t place = network->wakes.items[0].place;
    uint32_t waiter = waitlist_take(&network->wakes), index = line_take(network, &waiter);
    enum circuit_answer answer = index == 0 ? CIRCUIT_STARTED : try_or_wait(network, index, place);
    if (place == FABRIC_KEPT)
        line_wake_kept(network);
    if (waiter == 0)
        return;
    if (place_is_open(network, place, index, answer)) {
        wake_put(network, place, waiter);
        return;
    }
    uint32_t *root = line_at(network, place);
    *root = line_meld(network, *root, waiter);
}

static int compare_fresh_total(const void *left, const void *right)
{
    const struct fresh *a = left, *b = right;
    return turn_is_before(&b->turn, &a->turn) - turn_is_before(&a->turn, &b->turn);
}

static void dispatch_lines(struct network *network, const struct fresh_list *fresh)
{
    const struct waitlist *wakes = &network->wakes;
    line_wake_kept(network);
    for (size_t next = 0; !network->is_failed && (next < fresh->count || wakes->count > 0);) {
        bool is_fresh = next < fresh->count;
        if (is_fresh && wakes->count > 0)
            is_fresh = turn_is_before(&fresh->items[next].turn, &wakes->items[0].turn);
        if (is_fresh)
            try_or_wait(network, fresh->items[next++].transfer, PLACE_NONE);
        else
            serve(network);
    }
}

/* One queue: its head goes or everybody waits. The head that would be cleared is cleared, and so is everybody else of
 * this instant who does not want to stand behind it. */
static void dispatch_strict(struct network *network, const struct fresh_list *fresh)
{
    for (size_t i = 0; i < fresh->count; i++)
        network->queue = line_insert(network, network->queue, fresh->items[i].transfer);
    while (network->queue != 0 && !network->is_failed) {
        uint32_t index = line_first(network, network->queue);
        if (index != 0 && circuit_try(network, index) != CIRCUIT_STARTED) {
            if (!network->transfers[index].is_cleared_when_blocked)
                break;
            network_clear(network, index);
        }
        line_take(network, &network->queue);
    }
    for (size_t i = 0; i < fresh->count; i++) {
        const struct transfer *transfer = &network->transfers[fresh->items[i].transfer];
        if (transfer->state == TRANSFER_WAITING && transfer->is_cleared_when_blocked &&
            transfer->turn.sequence == fresh->items[i].turn.sequence)
            network_clear(network, fresh->items[i].transfer);
    }
}

void network_on_dispatch(struct engine *engine, const struct event *event, void *world)
{
    struct network *network = world;
    (void)engine;
    (void)event;
    require(network->is_dispatch_due);
    network->is_dispatch_due = false;
    struct fresh_list fresh = network->fresh; /* callbacks may send: that is for the next dispatch of this instant */
    network->fresh = (struct fresh_list){0};
    if (fresh.is_unsorted)
        qsort(fresh.items, fresh.count, sizeof *fresh.items, compare_fresh_total);
    network->is_dispatching = true;
    if (network->options.is_strict)
        dispatch_strict(network, &fresh);
    else
        dispatch_lines(network, &fresh);
    network->is_dispatching = false;
    if (network->fresh.items == NULL && fresh.items != NULL) {
        network->fresh = (struct fresh_list){.items = fresh.items, .capacity = fresh.capacity};
        return;
    }
    free(fresh.items);
}
