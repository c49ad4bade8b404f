/* Where to put a job: the interface of placers.
 *
 * A placer gives every op of a task graph a list of devices, one for each part,
 * among those that are free now.
 *
 * To add a placer: one file with one struct placer, one line in place.c.
 */
#ifndef PLACE_PLACE_H
#define PLACE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "deploy/deployment.h"
#include "input/keys.h"
#include "place/occupancy.h"

/* Working memory of a placer for one topology, reused from job to job. */
struct place_scratch {
    const struct topology *topology;
    double *free_bytes; /* per device: what this job leaves free; reset after each job */
    bool *is_used;      /* per device: does this job use it? */
};

struct place_request {
    const void *settings;           /* the placer's own */
    void *state;                    /* what its open made */
    const struct task_graph *tasks; /* to be placed */
    const struct occupancy *occupancy;
    struct place_scratch *scratch;
};

struct placer {
    struct strategy strategy;
    /* State that lives as long as a run; *state is NULL before, and close is called where it is not any more. Both may
     * be NULL. */
    enum status (*open)(const void *settings, const struct topology *topology, void **state, struct error *error);
    void (*close)(void *state);
    /* Can an op be split this far on this topology at all, the cluster being empty? O(degree). */
    bool (*is_legal)(const struct topology *topology, uint32_t degree);
    /* Lays the tasks out and returns true, or false where they cannot be placed now (then *deployment is undefined). */
    bool (*place)(const struct place_request *request, struct deployment *deployment);
    bool counts_memory_together; /* quirk: devices of an op may lend each other memory, see deployment_check */
};

extern const struct registry placers;

/* Can this placer work on this topology at all? STATUS_USER with what it needs. */
STATUS_MUST_USE enum status place_check(const struct placer *placer, const struct topology *topology,
                                        struct error *error);

/* The legal degrees up to max_degree, ascending. Returned owned (free). */
uint32_t *place_legal_degrees(const struct placer *placer, const struct topology *topology, uint32_t max_degree,
                              uint32_t *count);

void place_scratch_init(struct place_scratch *scratch, const struct topology *topology);
void place_scratch_fini(struct place_scratch *scratch);

/* For placers. Start with deployment_start and end with place_end, whatever came of it; in between give each op a list
 * (found or added) of devices, each of which loses the bytes of a part. */
uint32_t place_add_list(const struct place_request *request, struct deployment *deployment, const uint32_t *devices,
                        uint32_t count);
void place_assign(const struct place_request *request, struct deployment *deployment, uint32_t op, uint32_t list);
void place_end(const struct place_request *request, const struct deployment *deployment);

/* Every op on the first of these devices that have memory for its parts; false where too few have. */
bool place_inside(const struct place_request *request, const uint32_t *devices, uint32_t count,
                  struct deployment *deployment);

#endif
