/* Jobs that share a fabric: each has its servers to itself, all contend for circuits.
 *
 * Whenever a job starts or ends, the steps of all running jobs are simulated
 * side by side, each from where it is in its step, until they are steady, and
 * until the next change each job goes on at that pace: the completion times of
 * the others move. A new job is looked at
 * the same way, among those that run now. Jobs that are slowed down later may
 * miss the limit they were admitted with: they complete, with cause late.
 *
 * Where every step is to be simulated, jobs run on the cluster's own engine
 * instead, from their start to their end.
 *
 * A change costs a few simulated steps of every running job; simulating every step
 * costs each job's own steps, whoever else runs, and is the way for many jobs.
 */
#ifndef CLUSTER_SHARING_H
#define CLUSTER_SHARING_H

#include "step/on_circuits.h"

struct cluster;
struct job_record;
struct sharing;

/* Fills cluster->sharing, to be released with sharing_free before the engine. */
STATUS_MUST_USE enum status sharing_create(struct cluster *cluster);
void sharing_free(struct sharing *sharing);

/* The job last decided on starts, in cluster->deployment, or one ends: everybody's pace changes. Its record is filled
 * as time passes. Trouble is left in cluster->status. */
void sharing_start(struct cluster *cluster, uint32_t number, struct job_record *record);
void sharing_end(struct cluster *cluster, uint32_t number);

/* Trouble on the fabric at the end of the run: a deadlock, or a clock that ran out. */
STATUS_MUST_USE enum status sharing_status(struct cluster *cluster);

#endif
