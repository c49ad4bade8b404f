#include "cluster/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "engine/statistics.h"

/* How a metric comes about: by code of its own; over completed jobs, as the mean of a column or of its share of
 * another; as a quantile of their completion times. */
#define OWN JOB_ORDINAL, JOB_ORDINAL, 0
#define MEAN(of) of, JOB_ORDINAL, 0
#define SHARE(of, over) of, over, 0
#define QUANTILE(fraction) JOB_ORDINAL, JOB_ORDINAL, fraction

/* In the order of enum metric. */
static const struct metric_row {
    struct column column;
    enum job_column mean_of, over; /* JOB_ORDINAL = none */
    double quantile;
} rows[METRIC_COUNT] = {
    {{"jobs_arrived", "jobs", "jobs arrived", "Jobs that arrived, those of the warm-up aside, as in all columns."},
     OWN},
    {{"jobs_blocked", "jobs", "jobs blocked",
      "Jobs that were not done within their limit, for any of the four causes below."},
     OWN},
    {{"jobs_completed", "jobs", "jobs completed", "Jobs that were admitted and came to their end within the run."},
     OWN},
    {{"blocking_rate", "", "blocking rate", "jobs_blocked / jobs_arrived."}, OWN},
    {{"blocked_refused", "jobs", NULL, "Blocked because the partitioner named no degree, or no server was free."}, OWN},
    {{"blocked_no_block", "jobs", NULL, "Blocked because the placer found no servers, in time where there is a queue."},
     OWN},
    {{"blocked_late", "jobs", NULL, "Blocked because the job as placed would have passed its limit."}, OWN},
    {{"blocked_horizon", "jobs", NULL,
      "Still running or waiting when the run ended; counted as blocked, as published."},
     OWN},
    {{"jct_mean_s", "s", "mean completion time [s]", "Mean completion time (waiting included) of completed jobs."},
     MEAN(JOB_JCT)},
    {{"jct_p50_s", "s", "median completion time [s]", "Median completion time of completed jobs."}, QUANTILE(0.50)},
    {{"jct_p95_s", "s", "completion time, 95th percentile [s]", "95th percentile of the completion time."},
     QUANTILE(0.95)},
    {{"jct_p99_s", "s", "completion time, 99th percentile [s]", "99th percentile of the completion time."},
     QUANTILE(0.99)},
    {{"speedup_mean", "", "mean speed-up", "Mean of sequential time / completion time over completed jobs."},
     SHARE(JOB_SEQUENTIAL, JOB_JCT)},
    {{"throughput_bytes_per_s", "B/s", "throughput [B/s]",
      "Bytes of models (memory and dependencies) worked through per second of the run; jobs cut off count in part."},
     OWN},
    {{"device_utilisation", "", "device utilisation",
      "Share of the time of all devices that jobs held, from the end of the warm-up to run.horizon, or to the last "
      "arrival or end where the stream of jobs is over before that."},
     OWN},
    {{"degree_mean", "", "mean degree of partitioning", "Mean degree of partitioning of completed jobs."},
     MEAN(JOB_DEGREE)},
    {{"devices_per_job_mean", "devices", "mean devices per job", "Mean number of devices of completed jobs."},
     MEAN(JOB_DEVICES)},
    {{"comm_fraction_mean", "", "mean share of communication",
      "Mean share of the completion time during which something was sent."},
     SHARE(JOB_COMM, JOB_JCT)},
    {{"jobs_late", "jobs", NULL,
      "Of jobs_completed: slowed down after they were admitted, and past their limit: by others (network.sharing: "
      "shared), or by failures."},
     OWN},
    {{"comp_mean_s", "s", NULL, "Mean of comp_s over completed jobs."}, MEAN(JOB_COMP)},
    {{"comm_mean_s", "s", NULL, "Mean of comm_s over completed jobs."}, MEAN(JOB_COMM)},
    {{"reconfig_mean_s", "s", NULL, "Mean of reconfig_s over completed jobs."}, MEAN(JOB_RECONFIG)},
    {{"wait_mean_s", "s", NULL, "Mean of wait_s over completed jobs."}, MEAN(JOB_WAIT)},
    {{"comm_share", "", "share of time in communication",
      "Time completed jobs communicated, as a share of all their time."},
     OWN},
    {{"blocking_rate_decided", "", NULL,
      "Without the jobs cut off by the end: blocked_refused, blocked_no_block and blocked_late as a share of these and "
      "the completed."},
     OWN},
    {{"payload_mean_s", "s", NULL, "On circuits: mean of payload_s over completed jobs."}, MEAN(JOB_PAYLOAD)},
    {{"latency_mean_s", "s", NULL, "On circuits: mean of latency_s over completed jobs."}, MEAN(JOB_LATENCY)},
    {{"wait_device_mean_s", "s", NULL, "Mean of wait_device_s over completed jobs."}, MEAN(JOB_WAIT_DEVICE)},
    {{"wait_network_mean_s", "s", NULL, "Mean of wait_network_s over completed jobs."}, MEAN(JOB_WAIT_NETWORK)},
    {{"energy_mean_j", "J", "mean energy of a job [J]", "On circuits: mean of energy_j over completed jobs."},
     MEAN(JOB_ENERGY)},
    {{"restarts_mean", "", "mean restarts of a job", "Mean of restarts over completed jobs."}, MEAN(JOB_RESTARTS)},
};

const struct column *metric_column(enum metric metric)
{
    require(metric < METRIC_COUNT);
    return &rows[metric].column;
}

const char *metric_name(enum metric metric)
{
    return metric_column(metric)->name;
}

static void count_job(const struct job_record *job, double values[METRIC_COUNT])
{
    static const enum metric by_cause[] = {METRIC_JOBS_COMPLETED, METRIC_BLOCKED_REFUSED, METRIC_BLOCKED_NO_BLOCK,
                                           METRIC_BLOCKED_LATE, METRIC_BLOCKED_HORIZON};
    values[METRIC_JOBS_ARRIVED]++;
    if (!job->is_decided)
        return;
    bool is_completed = job->outcome == OUTCOME_COMPLETED;
    values[is_completed ? METRIC_JOBS_COMPLETED : by_cause[job->cause]]++;
    values[METRIC_JOBS_BLOCKED] += !is_completed;
    values[METRIC_JOBS_LATE] += is_completed && job->cause == CAUSE_LATE;
}

/* How much of an admitted job was done within the run. */
static double done_share(const struct job_record *job, double length_s)
{
    if (job->outcome == OUTCOME_COMPLETED)
        return 1;
    double run_s = job->time.total_s - job->queue_s;
    return run_s > 0 ? fmin((length_s - job->arrival_s - job->queue_s) / run_s, 1) : 0;
}

/* The time of its devices that an admitted job held, from the end of the warm-up on. */
static double held_s(const struct job_record *job, double length_s, double warm_up_s)
{
    double all_s = job->device_count * (job->time.total_s - job->queue_s) * done_share(job, length_s);
    double before_s = job->device_count * fmax(warm_up_s - (job->arrival_s + job->queue_s), 0);
    return fmax(all_s - before_s, 0);
}

struct sums {
    struct statistics_sample means[METRIC_COUNT]; /* of the metrics that are means */
    double bytes, device_seconds;
    double *jcts;
    size_t count;
};

static void add_completed(const struct job_record *job, struct sums *sums)
{
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &rows[metric];
        if (!row->mean_of)
            continue;
        double value = job_number(job, row->mean_of), whole = row->over ? job_number(job, row->over) : 1;
        statistics_sample_add(&sums->means[metric], whole > 0 ? value / whole : 0);
    }
    sums->jcts[sums->count++] = job->time.total_s;
}

static void add_admitted(const struct job_record *job, double length_s, const double *model_bytes, struct sums *sums)
{
    double share = done_share(job, length_s);
    sums->bytes += model_bytes[job->model] * share;
    if (job->outcome == OUTCOME_COMPLETED)
        add_completed(job, sums);
}

static void finish_metrics(const struct cluster_config *config, const struct cluster_result *result, struct sums *sums,
                           double values[METRIC_COUNT])
{
    double length_s = result->length_s - config->warm_up_s, simulated_s = result->simulated_s - config->warm_up_s;
    statistics_sort(sums->jcts, sums->count);
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        const struct metric_row *row = &rows[metric];
        bool is_given = config->circuit || job_columns[row->mean_of].given != GIVEN_ON_CIRCUITS;
        if (row->mean_of)
            values[metric] = is_given ? statistics_sample_mean(&sums->means[metric]) : NAN;
        if (row->quantile > 0)
            values[metric] = statistics_quantile(sums->jcts, sums->count, row->quantile);
    }
    values[METRIC_BLOCKING_RATE] = values[METRIC_JOBS_BLOCKED] / values[METRIC_JOBS_ARRIVED];
    values[METRIC_THROUGHPUT] = sums->bytes / length_s;
    values[METRIC_DEVICE_UTILISATION] = sums->device_seconds / (config->topology->device_count * simulated_s);
    values[METRIC_COMM_SHARE] = values[METRIC_COMM_MEAN] / values[METRIC_JCT_MEAN];
    double blocked = values[METRIC_BLOCKED_REFUSED] + values[METRIC_BLOCKED_NO_BLOCK] + values[METRIC_BLOCKED_LATE];
    values[METRIC_BLOCKING_RATE_DECIDED] = blocked / (blocked + values[METRIC_JOBS_COMPLETED]);
}

void metrics_compute(const struct cluster_config *config, const struct cluster_result *result,
                     double values[METRIC_COUNT])
{
    uint32_t models = config->models->count;
    double *model_bytes = memory_alloc(models, sizeof *model_bytes);
    struct sums sums = {.jcts = memory_alloc(result->job_count, sizeof *sums.jcts)};
    for (uint32_t model = 0; model < models; model++) {
        struct graph_totals totals = graph_sum(config->models->graphs[model]);
        model_bytes[model] = totals.memory_bytes + totals.dep_bytes;
    }
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        values[metric] = 0;
    for (size_t i = 0; i < result->job_count; i++) {
        const struct job_record *job = &result->jobs[i];
        if (job->is_decided && job->outcome != OUTCOME_BLOCKED)
            sums.device_seconds += held_s(job, result->length_s, config->warm_up_s);
        if (job->arrival_s < config->warm_up_s)
            continue;
        count_job(job, values);
        if (job->is_decided && job->outcome != OUTCOME_BLOCKED)
            add_admitted(job, result->length_s, model_bytes, &sums);
    }
    require(values[METRIC_JOBS_COMPLETED] + values[METRIC_JOBS_BLOCKED] <= values[METRIC_JOBS_ARRIVED]);
    require(sums.count == (size_t)values[METRIC_JOBS_COMPLETED]);
    finish_metrics(config, result, &sums, values);
    free(model_bytes);
    free(sums.jcts);
}
