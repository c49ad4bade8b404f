/* Which running jobs can meet on the fabric: those that use something in common, and those that meet these.
 *
 * The fabric says what the traffic among a job's servers may use (domains in
 * struct fabric); a server with several devices is one more such thing. Jobs that
 * are connected by what they share are a group: whatever happens in one never
 * changes another.
 *
 * Adding and removing a job costs O(what it uses), finding its group O(what the
 * jobs of the group use) and a sort of them. Private to sim/cluster.
 */
#ifndef CLUSTER_CONTENTION_H
#define CLUSTER_CONTENTION_H

#include <stdbool.h>
#include <stdint.h>

#include "topology/topology.h"

struct contention;

/* is_one: all jobs are one group, whatever they use. Borrows topology; returned owned (contention_free). */
struct contention *contention_create(const struct topology *topology, bool is_one);
void contention_free(struct contention *contention);

/* A job on these devices; its number is good until contention_remove. Borrows the devices until it returns. */
uint32_t contention_add(struct contention *contention, void *job, const uint32_t *devices, uint32_t count);
void contention_remove(struct contention *contention, uint32_t number);

/* From here on contention_group finds jobs that it found before. */
void contention_start(struct contention *contention);

/* A job's group, itself among it, in the order of adding; *count 0 if it was found since contention_start. Good until
 * the next call of anything here. */
void *const *contention_group(struct contention *contention, uint32_t number, uint32_t *count);

#endif
