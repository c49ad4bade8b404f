/* Where to put a job: the interface of placers, and what they answer.
 *
 * A placement names, for each op, a *list* of servers: part j of the op and of
 * its backward twin run on the list's j-th server. Ops that sit on the same
 * servers in the same order share one list, so a placement is small whatever
 * the degree. Servers of one list are distinct.
 *
 * To add a placer: one file with one struct placer, one line in place.c.
 */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/split.h"
#include "input/keys.h"
#include "place/block.h"
#include "place/occupancy.h"
#include "topology/topology.h"

struct placement_list {
    uint32_t start, count; /* in servers */
};

struct placement {
    uint32_t op_count, op_capacity;
    uint32_t *list_of_op; /* op_count */
    uint32_t list_count;
    size_t list_capacity;
    struct placement_list *lists;
    uint32_t server_count; /* entries of servers: lists one after the other */
    size_t server_capacity;
    uint32_t *servers;
    uint32_t used_count; /* distinct servers, in the order of first use */
    size_t used_capacity;
    uint32_t *used;
};

/* Working memory of a placer for one topology, reused from job to job. */
struct place_scratch {
    const struct topology *topology;
    double *free_bytes; /* per server: what this job leaves free; reset after each job */
    bool *is_used;      /* per server: does this job use it? */
};

struct placer {
    struct strategy strategy;
    /* Fills *placement and returns true, or false where the job cannot be placed (then *placement is undefined).
     * Reads the occupancy, does not change it. */
    bool (*place)(const struct split *split, const struct occupancy *occupancy, struct place_scratch *scratch,
                  struct placement *placement);
};

extern const struct registry placers;

void place_scratch_init(struct place_scratch *scratch, const struct topology *topology);
void place_scratch_fini(struct place_scratch *scratch);
void placement_fini(struct placement *placement);

/* Makes *to, which may hold an older placement, a copy of from. */
void placement_copy(const struct placement *from, struct placement *to);

/* For placers: start anew for a graph; give op a list (found or added) of count servers, each losing bytes of its
 * free memory; undo the marks in scratch when the job is done. */
void placement_reset(struct placement *placement, uint32_t op_count);
void placement_assign(struct placement *placement, struct place_scratch *scratch, uint32_t op, uint32_t list,
                      double bytes);
uint32_t placement_add_list(struct placement *placement, struct place_scratch *scratch, const uint32_t *servers,
                            uint32_t count);
void placement_done(const struct placement *placement, struct place_scratch *scratch);

#endif
