/* Those who wait, in the order of the policy: a binary heap of turns.
 *
 * Turns differ, so the order is total. Add and take are O(log n). Zeroed memory is
 * the empty list; waitlist_free releases what it owns.
 */
#ifndef NETWORK_WAITLIST_H
#define NETWORK_WAITLIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a request is ordered by: key, then sequence, which no two share. */
struct turn {
    uint64_t key;
    uint64_t sequence;
};

static inline bool turn_is_before(const struct turn *left, const struct turn *right)
{
    return left->key < right->key || (left->key == right->key && left->sequence < right->sequence);
}

struct waitlist_item {
    struct turn turn;
    uint64_t place; /* the owner's own, as what; not looked at here */
    uint32_t what;
};

struct waitlist {
    struct waitlist_item *items; /* owned; the first is [0] */
    size_t count, capacity;
};

void waitlist_add(struct waitlist *list, struct waitlist_item item);

/* The first, which is required to be there; take also takes it off. */
uint32_t waitlist_first(const struct waitlist *list);
uint32_t waitlist_take(struct waitlist *list);

/* Takes the first off and adds another, in one go. */
void waitlist_replace(struct waitlist *list, struct waitlist_item item);

/* Zeroes the list. */
void waitlist_free(struct waitlist *list);

#endif
