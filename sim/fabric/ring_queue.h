/* Who waits for a wavelength of a ring, and whom a stretch that opens can help.
 *
 * A request that waits fits on no wavelength. So when a stretch of a wavelength
 * opens, only those can be helped whose arc lies in the gap around it, and of these
 * the first in turn comes first. It is offered; once it was tried, the same stretch
 * is looked at again, in the pieces that are left of it. So a stretch that opens
 * costs one search, and a request that starts two more, whoever else waits; all
 * that could be helped are called in the order of their turns.
 * Private to sim/fabric.
 */
#ifndef FABRIC_RING_QUEUE_H
#define FABRIC_RING_QUEUE_H

#include "fabric/ring_masks.h"
#include "fabric/ring_waiting.h"

enum { UP, DOWN, DIRECTIONS };

struct arc {
    uint32_t direction, first, length;
};

/* Zeroed memory is the empty queue. */
struct ring_queue {
    const struct ring_masks *closed;         /* borrowed: what nobody can have, by direction */
    struct ring_waiting waiting[DIRECTIONS]; /* who may take either way round is in both */
    struct ring_stretch *opened;             /* owned: not looked at yet */
    size_t opened_count, opened_capacity;
    struct waitlist offers;         /* taken off waiting, each for a stretch */
    struct ring_stretch *stretches; /* owned: of the offers */
    struct reuse places;
    uint64_t stamp;
};

/* closed has both directions. */
struct ring_queue ring_queue_create(const struct ring_masks *closed);
void ring_queue_free(struct ring_queue *queue);

/* A request of a wavelength on one of count arcs, which are in different directions; what is the owner's own. */
void ring_queue_add(struct ring_queue *queue, const struct arc *arcs, uint32_t count, struct turn turn, uint32_t what);

/* The wavelength is open on the arc from here on. */
void ring_queue_open(struct ring_queue *queue, const struct arc *arc, uint32_t wavelength);

/* Takes off the first in turn that fits somewhere that opened; 0 if nobody does. Between two calls the one before is
 * tried, and added again where it did not get what it needs. */
uint32_t ring_queue_next(struct ring_queue *queue);

#endif
