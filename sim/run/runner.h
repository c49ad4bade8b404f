/* Runs a plan into a results folder: what is done is skipped, the rest is done and collected.
 *
 * Whatever the number of processes, shards and ranks, and however often it was
 * interrupted, the result files are the same, byte for byte, but for
 * manifest.json. SIGINT and SIGTERM end it at once with exit code 130 or 143:
 * what is done stays, and the same command goes on from there.
 *
 * A shard does the runs whose number leaves its own number when divided by the
 * number of shards; where points stop repeating by a rule, a point is done by
 * one shard as a whole, since the rule looks at all its repetitions.
 */
#ifndef RUN_RUNNER_H
#define RUN_RUNNER_H

#include "scenario/plan.h"
#include "run/ranks.h"

struct runner_options {
    const char *directory;
    const char *command_line;   /* for the manifest */
    int64_t jobs;               /* processes; 1 = only this one */
    int64_t shard, shard_count; /* shard from 0; a count of 1 = all runs */
    bool is_fresh;              /* forget what the folder holds */
    bool is_dry;                /* only list the runs, on stdout */
    bool is_quiet;              /* nothing on stderr but errors */
    const struct ranks *ranks;  /* the ranks */
};

/* Borrows all. *signal is what stopped it, 0 = nothing did; then the status is STATUS_OK. With several ranks, all of
 * them get the same status. */
STATUS_MUST_USE enum status runner_run(const struct plan *plan, const struct runner_options *options, int *signal,
                                       struct error *error);

#endif
