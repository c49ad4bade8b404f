/* Runs a plan into a results folder: what is done is skipped, the rest is done and collected. */
#ifndef EXPERIMENT_RUNNER_H
#define EXPERIMENT_RUNNER_H

#include "experiment/plan.h"

struct runner_options {
    const char *directory;
    const char *command_line; /* for the manifest */
    int64_t jobs;             /* processes */
    bool is_fresh;            /* forget what the folder holds */
};

STATUS_MUST_USE enum status runner_run(const struct plan *plan, const struct runner_options *options,
                                       struct error *error);

#endif
