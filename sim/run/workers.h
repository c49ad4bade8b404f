/* Does a list of runs, in this process or in several. Private to sim/run.
 *
 * Workers are forked and take the next run of the list from a counter they
 * share, so a long run never holds up the others. What a run writes depends on
 * its settings alone: who does it, and when, does not matter.
 *
 * A run that fails is told and the others go on, except when writing failed: a
 * full disk is full for all. A worker that dies takes one run with it; another
 * takes its place.
 */
#ifndef RUN_WORKERS_H
#define RUN_WORKERS_H

#include <signal.h>

#include "scenario/plan.h"
#include "run/progress.h"

/* All borrowed. */
struct workers_task {
    const struct plan *plan;
    const char *directory;
    const size_t *runs; /* numbers */
    size_t count;
    size_t workers; /* 1 = in this process */
    struct progress *progress;
};

/* Adds up over several tasks: zero-initialise before the first. */
struct workers_outcome {
    size_t done, failed;
    int signal;       /* that stopped it; 0 = none */
    bool is_disk_bad; /* writing failed: no further run was begun */
    size_t first_run; /* the failed run with the lowest number, and its error */
    struct error first;
};

/* The signals that stop a sweep, which the caller of workers_run has blocked. */
void workers_stop_signals(sigset_t *set);

void workers_run(const struct workers_task *task, struct workers_outcome *outcome);

#endif
