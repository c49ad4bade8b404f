/* Which gradients of a job are all-reduced together. Private to sim/step.
 *
 * Going back through the ops of the forward pass, those whose parts synchronise on the same devices in the same way
 * fill a bucket until it holds a number of bytes; the next one then opens another. So a bucket may pass its size by
 * less than its last gradient, and gradients become ready about in the order in which buckets fill. Published traffic
 * synchronises op by op: each bucket holds one.
 */
#ifndef STEP_BUCKETS_H
#define STEP_BUCKETS_H

#include "deploy/deployment.h"

struct bucket {
    uint64_t bytes;
    uint32_t first, count; /* in buckets.links */
    uint32_t left;         /* of these: tasks still to end, in the step under way */
};

struct buckets {
    struct bucket *buckets;
    uint32_t count;
    uint32_t *of_link; /* per link of the task graph; only those that synchronise are in one */
    uint32_t *links;   /* bucket by bucket */
};

/* Every synchronisation is in one bucket. What *buckets points to is the arena's. O(links + lists). */
void buckets_fill(struct buckets *buckets, const struct deployment *deployment, double bucket_bytes,
                  struct arena *arena);

#endif
