/* A line of transfers in the order of the policy, for fabrics that run their own lines.
 *
 * A binary heap on (key, sequence); sequences differ, so the order is total. Add
 * and take are O(log n). Zeroed memory is the empty line; waitlist_free releases
 * what it owns.
 */
#ifndef FABRIC_WAITLIST_H
#define FABRIC_WAITLIST_H

#include <stddef.h>
#include <stdint.h>

struct waitlist_item {
    uint64_t key, sequence;
    uint32_t what; /* the fabric's own number */
};

struct waitlist {
    struct waitlist_item *items; /* owned */
    size_t count, capacity;
};

void waitlist_add(struct waitlist *list, uint64_t key, uint64_t sequence, uint32_t what);

/* The first, which is required to be there; take also takes it off. */
uint32_t waitlist_first(const struct waitlist *list);
uint32_t waitlist_take(struct waitlist *list);

/* Zeroes the list. */
void waitlist_free(struct waitlist *list);

#endif
