/* A run drawn as a timeline: jobs, the ops, transfers and circuits of their steps, who waits, who is blocked.
 *
 * Processes of the timeline: "cluster" (busy devices, blocked jobs, the queue),
 * one for each group of servers (one track per device: the job that holds it and,
 * inside, the ops it runs), one for each job (its bar and its transfers) and, on
 * circuits, one more with a track for each transceiver, port or wavelength that
 * the drawn steps use: switching, lit with a transfer, lit and idle; dark where
 * there is no bar. Fabrics without circuits on request have their transfers
 * there, by source.
 *
 * All steps of a job are alike, so only the first ones are drawn op by op. On
 * circuits they are, too, but for jobs that contend for one fabric
 * (network.sharing: shared): their steps depend on each other, and only the jobs
 * themselves are drawn.
 */
#ifndef TIMELINE_TIMELINE_JOBS_H
#define TIMELINE_TIMELINE_JOBS_H

#include "cluster/cluster.h"
#include "timeline/timeline.h"

enum { TIMELINE_ALL_JOBS = -1 };

struct timeline_jobs_options {
    double window_start_s, window_end_s; /* infinite end = all */
    uint64_t limit;                      /* events */
    int64_t job;                         /* the only job to draw, as numbered in jobs.csv; or TIMELINE_ALL_JOBS */
    int64_t steps;                       /* of each job to draw op by op: the first ones that touch the window */
};

/* Runs the cluster and writes its timeline to path. Borrows everything; the workload is used up. O(run + what is
 * drawn); memory grows with the servers and with the hardware that the steps of one job use, not with what is drawn. */
STATUS_MUST_USE enum status timeline_jobs_run(const struct cluster_config *config,
                                              const struct timeline_jobs_options *options, const char *path,
                                              struct timeline_totals *totals, struct error *error);

#endif
