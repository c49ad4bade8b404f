#include "cluster/metrics.h"

#include <math.h>
#include <stdlib.h>

#include "engine/statistics.h"

const char *metric_name(enum metric metric)
{
    static const char *const names[METRIC_COUNT] = {
        "jobs_arrived",
        "jobs_blocked",
        "jobs_completed",
        "blocking_rate",
        "blocked_refused",
        "blocked_no_block",
        "blocked_late",
        "blocked_horizon",
        "jct_mean_s",
        "jct_p50_s",
        "jct_p95_s",
        "jct_p99_s",
        "speedup_mean",
        "throughput_bytes_per_s",
        "device_utilisation",
        "degree_mean",
        "devices_per_job_mean",
        "comm_fraction_mean",
        "jobs_late",
        "comp_mean_s",
        "comm_mean_s",
        "reconfig_mean_s",
        "wait_mean_s",
        "comm_share",
        "blocking_rate_decided",
        "payload_mean_s",
        "latency_mean_s",
    };
    return names[metric];
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

struct sums {
    struct statistics_sample jct, speedup, degree, devices, comm_fraction, comp, comm, reconfig, wait, payload, latency;
    double bytes, device_seconds;
    double *jcts;
    size_t count;
};

static void add_admitted(const struct job_record *job, double length_s, const double *model_bytes, struct sums *sums)
{
    double share = done_share(job, length_s);
    sums->bytes += model_bytes[job->model] * share;
    sums->device_seconds += job->device_count * (job->time.total_s - job->queue_s) * share;
    if (job->outcome != OUTCOME_COMPLETED)
        return;
    statistics_sample_add(&sums->jct, job->time.total_s);
    statistics_sample_add(&sums->speedup, job->time.total_s > 0 ? job->sequential_s / job->time.total_s : 0);
    statistics_sample_add(&sums->degree, job->degree);
    statistics_sample_add(&sums->devices, job->device_count);
    statistics_sample_add(&sums->comm_fraction,
                          job->time.total_s > 0 ? job->time.part_s[TIME_COMM] / job->time.total_s : 0);
    statistics_sample_add(&sums->comp, job->time.part_s[TIME_COMP]);
    statistics_sample_add(&sums->comm, job->time.part_s[TIME_COMM]);
    statistics_sample_add(&sums->reconfig, job->time.part_s[TIME_RECONFIG]);
    statistics_sample_add(&sums->wait, job->time.part_s[TIME_WAIT]);
    statistics_sample_add(&sums->payload, job->time.part_s[TIME_PAYLOAD]);
    statistics_sample_add(&sums->latency, job->time.part_s[TIME_LATENCY]);
    sums->jcts[sums->count++] = job->time.total_s;
}

static void finish(const struct cluster_config *config, double length_s, struct sums *sums, double values[METRIC_COUNT])
{
    statistics_sort(sums->jcts, sums->count);
    values[METRIC_BLOCKING_RATE] = values[METRIC_JOBS_BLOCKED] / values[METRIC_JOBS_ARRIVED];
    values[METRIC_JCT_MEAN] = statistics_sample_mean(&sums->jct);
    values[METRIC_JCT_P50] = statistics_quantile(sums->jcts, sums->count, 0.50);
    values[METRIC_JCT_P95] = statistics_quantile(sums->jcts, sums->count, 0.95);
    values[METRIC_JCT_P99] = statistics_quantile(sums->jcts, sums->count, 0.99);
    values[METRIC_SPEEDUP_MEAN] = statistics_sample_mean(&sums->speedup);
    values[METRIC_THROUGHPUT] = sums->bytes / length_s;
    values[METRIC_DEVICE_UTILISATION] = sums->device_seconds / (config->topology->server_count * length_s);
    values[METRIC_DEGREE_MEAN] = statistics_sample_mean(&sums->degree);
    values[METRIC_DEVICES_PER_JOB_MEAN] = statistics_sample_mean(&sums->devices);
    values[METRIC_COMM_FRACTION_MEAN] = statistics_sample_mean(&sums->comm_fraction);
    values[METRIC_COMP_MEAN] = statistics_sample_mean(&sums->comp);
    values[METRIC_COMM_MEAN] = statistics_sample_mean(&sums->comm);
    values[METRIC_RECONFIG_MEAN] = statistics_sample_mean(&sums->reconfig);
    values[METRIC_WAIT_MEAN] = statistics_sample_mean(&sums->wait);
    values[METRIC_COMM_SHARE] = values[METRIC_COMM_MEAN] / values[METRIC_JCT_MEAN];
    values[METRIC_PAYLOAD_MEAN] = config->circuit ? statistics_sample_mean(&sums->payload) : NAN;
    values[METRIC_LATENCY_MEAN] = config->circuit ? statistics_sample_mean(&sums->latency) : NAN;
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
        if (job->arrival_s < config->warm_up_s)
            continue;
        count_job(job, values);
        if (job->is_decided && job->outcome != OUTCOME_BLOCKED)
            add_admitted(job, result->length_s, model_bytes, &sums);
    }
    finish(config, result->length_s - config->warm_up_s, &sums, values);
    free(model_bytes);
    free(sums.jcts);
}
