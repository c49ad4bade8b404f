/* The glossary of result columns: see columns.h. */
#include "results/columns.h"

const struct column columns_of_runs[] = {
    {"run", "", "Number of the run in its plan; also the name of its folder under runs/."},
    {COLUMN_SWEPT, "",
     "One column for each axis of the sweep, with the value this run had; empty where it has no effect."},
    {"seed", "", "Master seed of the run; repetitions of a point differ in it alone."},
    {"status", "", "ok for a run that came to its end."},
    {"jobs_arrived", "jobs", "Jobs that arrived, those of the warm-up aside, as in all columns."},
    {"jobs_blocked", "jobs", "Jobs that were not done within their limit, for any of the four causes below."},
    {"jobs_completed", "jobs", "Jobs that were admitted and came to their end within the run."},
    {"blocking_rate", "", "jobs_blocked / jobs_arrived."},
    {"blocked_refused", "jobs", "Blocked because the partitioner named no degree, or no server was free."},
    {"blocked_no_block", "jobs", "Blocked because the placer found no servers, in time where there is a queue."},
    {"blocked_late", "jobs", "Blocked because the job as placed would have passed its limit."},
    {"blocked_horizon", "jobs", "Still running or waiting when the run ended; counted as blocked, as published."},
    {"jct_mean_s", "s", "Mean completion time (waiting included) of completed jobs."},
    {"jct_p50_s", "s", "Median completion time of completed jobs."},
    {"jct_p95_s", "s", "95th percentile of the completion time."},
    {"jct_p99_s", "s", "99th percentile of the completion time."},
    {"speedup_mean", "", "Mean of sequential time / completion time over completed jobs."},
    {"throughput_bytes_per_s", "B/s",
     "Bytes of models (memory and dependencies) worked through per second of the run; jobs cut off count in part."},
    {"device_utilisation", "", "Share of all device time that was held by jobs."},
    {"degree_mean", "", "Mean degree of partitioning of completed jobs."},
    {"devices_per_job_mean", "devices", "Mean number of devices of completed jobs."},
    {"comm_fraction_mean", "", "Mean share of the completion time during which something was sent."},
    {"events", "", "Events simulated, those inside training steps included."},
    {"trace_hash", "", "Fingerprint of all events: equal for the same program, scenario and seed, everywhere."},
    {"jobs_late", "jobs",
     "Of jobs_completed: slowed down by others after they were admitted, and past their limit (network.sharing: "
     "shared)."},
    {"comp_mean_s", "s", "Mean of comp_s over completed jobs."},
    {"comm_mean_s", "s", "Mean of comm_s over completed jobs."},
    {"reconfig_mean_s", "s", "Mean of reconfig_s over completed jobs."},
    {"wait_mean_s", "s", "Mean of wait_s over completed jobs."},
    {"comm_share", "", "Time completed jobs communicated, as a share of all their time."},
    {"blocking_rate_decided", "",
     "Without the jobs cut off by the end: blocked_refused, blocked_no_block and blocked_late as a share of these and "
     "the "
     "completed."},
    {"payload_mean_s", "s", "On circuits: mean of payload_s over completed jobs."},
    {"latency_mean_s", "s", "On circuits: mean of latency_s over completed jobs."},
};
const size_t columns_of_runs_count = sizeof columns_of_runs / sizeof *columns_of_runs;

const struct column columns_of_jobs[] = {
    {"job", "", "Number of the job, from 0 in the order of arrival."},
    {"model", "", "What it trains."},
    {"arrival_s", "s", "When it arrived."},
    {"beta", "", "The share of its one-device time that it may take."},
    {"sequential_s", "s", "Its time on one device, all training steps."},
    {"limit_s", "s", "What it may take: beta * sequential_s."},
    {"degree", "", "Parts its ops were split into at most; 0 where none was named."},
    {"outcome", "", "completed, blocked or unfinished."},
    {"cause", "",
     "Why not completed: refused, no_block, late or horizon; empty for completed jobs, or late where others slowed one "
     "down past its limit."},
    {"jct_s", "s",
     "Completion time from its arrival. Of a job blocked as late, the time it would have taken; empty, as all that "
     "follows, for jobs that found no servers."},
    {"comm_s", "s", "Time during which something was sent; may overlap with comp_s in the published network model."},
    {"comp_s", "s", "Time during which something was computed."},
    {"reconfig_s", "s", "Time spent setting up circuits; 0 in the published network model."},
    {"wait_s", "s", "Time spent waiting: in the queue, and for circuits where the network has them."},
    {"devices", "devices", "How many devices it held."},
    {"device_list", "", "Their names, group-rack-place, separated by spaces: 0-1-0 0-1-1."},
    {"payload_s", "s", "On circuits: of comm_s, moving bytes."},
    {"latency_s", "s", "On circuits: of comm_s, propagation and both ends' io."},
};
const size_t columns_of_jobs_count = sizeof columns_of_jobs / sizeof *columns_of_jobs;
