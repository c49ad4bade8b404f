/* jobs.csv: one row per job. Private to sim/results. */
#ifndef RESULTS_JOBS_FILE_H
#define RESULTS_JOBS_FILE_H

#include "cluster/cluster.h"

/* Writes path. O(jobs + devices named). */
STATUS_MUST_USE enum status jobs_file_write(const char *path, const struct cluster_config *config,
                                            const struct cluster_result *result, struct error *error);

#endif
