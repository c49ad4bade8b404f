/* Those who wait for a wavelength on an arc, found by the gap that opens: the first in turn whose arc lies within it.
 *
 * An arc of segments first .. end - 1 is the point (first, end) of a plane, and a
 * gap asks for the points of a quadrant. They are leaves of a binary trie over the
 * bits of both numbers in turn (a k-d tree that needs no balancing); a node has the
 * first turn, the last beginning and the earliest end below it, which is what a
 * search prunes by. With m waiting, add and take are O(log m) for arcs at random
 * and never more than 128 steps; a search looks at O(sqrt m) nodes at most for such arcs.
 * Private to sim/fabric.
 */
#ifndef FABRIC_RING_WAITING_H
#define FABRIC_RING_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "network/reuse.h"
#include "network/waitlist.h"

struct ring_waiter {
    struct turn turn;
    uint64_t stamp;      /* no two in one list share it */
    uint32_t first, end; /* of the arc; end may be up to twice the ring's length */
    uint32_t what;       /* the owner's own, as has_other */
    bool has_other;      /* arc in another list, with the same stamp */
};

struct ring_waiting_node {
    struct ring_waiter first; /* a leaf's own; else turn, first and end that no leaf below is before, beyond, before */
    uint32_t children[2];     /* 0 and 0 = a leaf */
    uint32_t parent;
    uint32_t bit; /* by which its children differ, the highest is 0 */
};

/* Zeroed memory is the empty list. */
struct ring_waiting {
    struct ring_waiting_node *nodes; /* owned; [0] is never used */
    struct reuse places;
    uint32_t root;
};

void ring_waiting_add(struct ring_waiting *list, const struct ring_waiter *waiter);

/* The node of the first in turn that begins at `first` or later and ends at `end` or earlier; 0 if nobody does. */
uint32_t ring_waiting_find(const struct ring_waiting *list, uint32_t first, uint32_t end);

/* Takes the waiter of a node off; and the one with this arc and stamp, which is required to be there. */
struct ring_waiter ring_waiting_take(struct ring_waiting *list, uint32_t node);
void ring_waiting_remove(struct ring_waiting *list, const struct ring_waiter *waiter);
void ring_waiting_free(struct ring_waiting *list);

#endif
