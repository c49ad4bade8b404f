/* Jobs that share a fabric: each has its servers to itself, all contend for circuits.
 *
 * Whenever a job starts or ends, the steps of those that can meet it (contention.h)
 * are simulated side by side, each from where it is in its step, until they are
 * steady or one of them is done, and until the next change each goes on at that
 * pace: the completion times of the others move. All other jobs go on as they did.
 * A job with nobody to meet takes its step from the memo: no simulation. Paces of
 * several jobs are not remembered: they depend on the phases of the steps towards
 * each other, which do not come again (two equal jobs on a packet network with
 * oversubscription 64: 28.4 s in step, 24.6 to 24.9 s out of it).
 * A new job is looked at as if alone. Jobs
 * that are slowed down later may miss the limit they were admitted with: they
 * complete, with cause late.
 *
 * Where every step is to be simulated, jobs run on the cluster's own engine
 * instead, from their start to their end.
 *
 * A change costs the simulated steps of one group of jobs that can meet;
 * simulating every step costs each job's own steps, whoever else runs, and is the
 * way where many jobs meet.
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

/* The job last decided on starts, in cluster->deployment, or one ends: the pace of those that can meet it
 * changes. Its record is filled
 * as time passes. Trouble is left in cluster->status. */
void sharing_start(struct cluster *cluster, uint32_t number, struct job_record *record);
void sharing_end(struct cluster *cluster, uint32_t number);

/* Trouble on the fabric at the end of the run: a deadlock, or a clock that ran out. */
STATUS_MUST_USE enum status sharing_status(struct cluster *cluster);

#endif
