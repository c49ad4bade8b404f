/* What a run comes down to: the columns of runs.csv.
 *
 * Published definitions (PAC-ML simulator, section 9): jobs still running at the end count as blocked; a job that
 * arrives at the very end counts as arrived and as nothing else.
 */
#ifndef CLUSTER_METRICS_H
#define CLUSTER_METRICS_H

#include "cluster/columns.h"

enum metric {
    METRIC_JOBS_ARRIVED,
    METRIC_JOBS_BLOCKED,
    METRIC_JOBS_COMPLETED,
    METRIC_BLOCKING_RATE,
    METRIC_BLOCKED_REFUSED,
    METRIC_BLOCKED_NO_BLOCK,
    METRIC_BLOCKED_LATE,
    METRIC_BLOCKED_HORIZON,
    METRIC_JCT_MEAN,
    METRIC_JCT_P50,
    METRIC_JCT_P95,
    METRIC_JCT_P99,
    METRIC_SPEEDUP_MEAN,
    METRIC_THROUGHPUT,
    METRIC_DEVICE_UTILISATION,
    METRIC_DEGREE_MEAN,
    METRIC_DEVICES_PER_JOB_MEAN,
    METRIC_COMM_FRACTION_MEAN,
    METRIC_FIRST_EXTRA,                    /* columns behind trace_hash */
    METRIC_JOBS_LATE = METRIC_FIRST_EXTRA, /* of the completed: slowed down after admission, past their limit */
    METRIC_COMP_MEAN,
    METRIC_COMM_MEAN,
    METRIC_RECONFIG_MEAN,
    METRIC_WAIT_MEAN,
    METRIC_COMM_SHARE,            /* time completed jobs communicated, of all their time */
    METRIC_BLOCKING_RATE_DECIDED, /* clean: refused, no block and late, of all that were not cut off by the end */
    METRIC_PAYLOAD_MEAN,          /* circuits: the two parts of comm_mean_s */
    METRIC_LATENCY_MEAN,
    METRIC_WAIT_DEVICE_MEAN, /* the two parts of wait_mean_s */
    METRIC_WAIT_NETWORK_MEAN,
    METRIC_ENERGY_MEAN,
    METRIC_RESTARTS_MEAN,
    METRIC_COUNT
};

const struct column *metric_column(enum metric metric);
const char *metric_name(enum metric metric);

/* NaN where there is nothing to take a mean of. O(jobs log jobs). */
void metrics_compute(const struct cluster_config *config, const struct cluster_result *result,
                     double values[METRIC_COUNT]);

#endif
