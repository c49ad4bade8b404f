/* The table of scenario keys: see settings.h. Order here is the order of `ocsim explain` and of the manifest. */
#include "scenario/settings.h"

#include <math.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

#define AT(field) .offset = offsetof(struct settings, field)
#define DRAWN "workload.trace="
#define CIRCUIT "network.model=circuit"

const struct key settings_keys[] = {
    {.name = "title",
     .type = KEY_TEXT,
     AT(title),
     .doc = "A name for the experiment, shown in results and figures.",
     .example = "blocking against load"},
    {.name = "extends",
     .type = KEY_TEXT,
     AT(extends),
     .doc = "A scenario file this one builds on, relative to itself; only in a file. Keys given here win.",
     .example = "base.yaml"},
    {.name = "topology",
     .type = KEY_FILE,
     AT(topology),
     .default_text = "topologies/ramp-32.yaml",
     .choices = "topologies|.yaml",
     .doc = "The cluster: devices, racks, groups and their links."},

    {.name = "workload.trace",
     .type = KEY_FILE,
     AT(workload.trace),
     .doc = "A CSV file of jobs to replay instead of drawing them.",
     .example = "jobs.csv"},
    {.name = "workload.time_unit",
     .type = KEY_CHOICE,
     AT(workload.time_unit),
     .default_text = "s",
     .choices = "s|ms",
     .doc = "What a millisecond of a model's profile is read as: s as published, ms as measured."},
    {.name = "workload.models",
     .type = KEY_LIST,
     AT(workload.models),
     .default_text = "alexnet,gnmt,resnet18,squeezenet1_0,vgg16",
     .when = DRAWN,
     .doc = "The models jobs are drawn from.",
     .example = "[alexnet, vgg16]"},
    {.name = "workload.weights",
     .type = KEY_LIST,
     AT(workload.weights),
     .when = DRAWN,
     .doc = "How often each model is drawn, one number above zero a model; not set, all alike.",
     .example = "[3, 1]"},
    {.name = "workload.pool",
     .type = KEY_INTEGER,
     AT(workload.pool),
     .default_text = "1000",
     .minimum = "1",
     .maximum = "1000000",
     .when = DRAWN "&workload.weights=",
     .doc =
         "Copies of each model in the pool that jobs are drawn from without replacement; an empty pool is refilled."},
    {.name = "workload.arrivals",
     .type = KEY_CHOICE,
     AT(workload.arrivals),
     .default_text = "fixed",
     .choices = "fixed|poisson|uniform|trace",
     .when = DRAWN,
     .doc = "Time between jobs: always the same, exponential, uniform between 0 and twice the mean, or as in a cluster "
            "trace."},
    {.name = "workload.arrivals_trace",
     .type = KEY_FILE,
     AT(workload.arrivals_trace),
     .when = DRAWN "&workload.arrivals=trace",
     .doc = "A cluster trace whose column timestamp (seconds, or YYYY-MM-DD HH:MM:SS) says when jobs arrive; the first "
            "one is time 0. Models and beta are drawn as usual.",
     .example = "philly.csv",
     .is_needed = true},
    {.name = "workload.arrivals_speedup",
     .type = KEY_NUMBER,
     AT(workload.arrivals_speedup),
     .default_text = "1",
     .minimum = ">0",
     .when = DRAWN "&workload.arrivals=trace",
     .doc = "How many times faster than in the trace jobs arrive."},
    {.name = "workload.load",
     .type = KEY_NUMBER,
     AT(workload.load),
     .minimum = ">0",
     .maximum = "1000",
     .when = DRAWN "&workload.arrivals=fixed|poisson|uniform",
     .doc = "Offered load as a fraction of what the devices can compute: sets the mean time between jobs from the mean "
            "sequential time of the models.",
     .example = "0.9"},
    {.name = "workload.interarrival",
     .type = KEY_SECONDS,
     AT(workload.interarrival_s),
     .default_text = "1000s",
     .minimum = ">0s",
     .when = DRAWN "&workload.arrivals=fixed|poisson|uniform&workload.load=",
     .doc = "The mean time between two jobs."},
    {.name = "workload.beta",
     .type = KEY_CHOICE,
     AT(workload.beta),
     .default_text = "A",
     .choices = "A|B|C|D|uniform|fixed|skew_normal|table|mixture",
     .when = DRAWN,
     .doc = "How the share of its one-device time that a job may take is drawn; A to D are those of PAC-ML."},
    {.name = "workload.beta_value",
     .type = KEY_NUMBER,
     AT(workload.beta_value),
     .minimum = ">0",
     .maximum = "1",
     .when = DRAWN "&workload.beta=fixed",
     .doc = "The share every job gets.",
     .example = "0.5",
     .is_needed = true},
    {.name = "workload.beta_skew",
     .type = KEY_NUMBER,
     AT(workload.beta_skew),
     .minimum = "-1000",
     .maximum = "1000",
     .when = DRAWN "&workload.beta=skew_normal",
     .doc = "Shape of the skew-normal shares: above zero mostly small, below zero mostly large.",
     .example = "5",
     .is_needed = true},
    {.name = "workload.beta_table",
     .type = KEY_FILE,
     AT(workload.beta_table),
     .when = DRAWN "&workload.beta=table",
     .doc = "A CSV file of shares and their probabilities.",
     .example = "shares.csv",
     .is_needed = true},
    {.name = "workload.beta_mixture",
     .type = KEY_LIST,
     AT(workload.beta_mixture),
     .when = DRAWN "&workload.beta=mixture",
     .doc = "Named laws (A, B, C, D) with their shares.",
     .example = "[A:0.5, D:0.5]",
     .is_needed = true},
    {.name = "workload.jobs",
     .type = KEY_INTEGER,
     AT(workload.jobs),
     .default_text = "0",
     .minimum = "0",
     .when = DRAWN,
     .doc = "How many jobs arrive; 0 = as many as fit before the horizon. Given without run.horizon, the run ends when "
            "the last of them has ended.",
     .example = "1000"},
    {.name = "workload.steps",
     .type = KEY_INTEGER,
     AT(workload.steps),
     .default_text = "50",
     .minimum = "1",
     .maximum = "1000000000",
     .doc = "Training steps a job."},

    {.name = "network.model",
     .type = KEY_CHOICE,
     AT(network.model),
     .default_text = "published",
     .choices = "published|circuit",
     .doc = "How long a transfer takes: by the formulas of the PAC-ML simulator, or by circuits set up on the fabric."},
    {.name = "network.sharing",
     .type = KEY_CHOICE,
     AT(network.sharing),
     .default_text = "exclusive",
     .choices = "exclusive|shared",
     .when = CIRCUIT,
     .doc = "Whether a job has the fabric between its servers to itself, or contends with all that run."},
    {.name = "network.reconfiguration",
     .type = KEY_TIME,
     AT(network.reconfiguration_ps),
     .minimum = "0ps",
     .when = CIRCUIT,
     .doc = "How long a circuit takes to set up (rotor and the round robin of awgr: how long a switch is dark); not "
            "set, as the topology says.",
     .example = "10us"},
    {.name = "network.order",
     .type = KEY_CHOICE,
     AT(network.order),
     .default_text = "fifo",
     .choices = "fifo|srpt|priority",
     .when = CIRCUIT,
     .doc =
         "Who gets hardware first: who asked first, who has the fewest bytes, or whose op the scheduler ranks first."},
    {.name = "network.backfill",
     .type = KEY_BOOLEAN,
     AT(network.backfills),
     .default_text = "true",
     .when = CIRCUIT,
     .doc = "Whether a request that fits may overtake one that does not."},
    {.name = "network.circuits",
     .type = KEY_CHOICE,
     AT(network.circuits),
     .default_text = "hold",
     .choices = "hold|teardown|linger",
     .when = CIRCUIT,
     .doc =
         "A circuit behind its transfer: lit until its hardware is wanted, dark at once, or lit for network.linger."},
    {.name = "network.linger",
     .type = KEY_TIME,
     AT(network.linger_ps),
     .minimum = "0ps",
     .when = CIRCUIT "&network.circuits=linger",
     .doc = "How long an idle circuit keeps its hardware.",
     .example = "1us",
     .is_needed = true},
    {.name = "network.all_reduce",
     .type = KEY_CHOICE,
     AT(network.all_reduce),
     .default_text = "ramp",
     .choices = "ramp|ring|halving-doubling|parameter-server",
     .when = CIRCUIT,
     .doc = "How the parts of an op synchronise."},
    {.name = "network.lanes",
     .type = KEY_INTEGER,
     AT(network.lanes),
     .default_text = "1",
     .minimum = "1",
     .maximum = "1024",
     .when = CIRCUIT,
     .doc = "Transceivers a transfer uses side by side, as far as the fabric can. A transceiver has its share of the "
            "node's "
            "rate, so fabrics with many need several for a pair to be as fast as on others."},
    {.name = "network.barrier",
     .type = KEY_BOOLEAN,
     AT(network.has_barriers),
     .default_text = "false",
     .when = CIRCUIT,
     .doc = "Whether each phase of a collective waits for all members."},

    {.name = "network.node_rate",
     .type = KEY_RATE,
     AT(network.node_rate_bytes_per_s),
     .minimum = ">0B/s",
     .doc = "What a server sends over all its transceivers together; not set, as the topology says.",
     .example = "3.125GB/s"},

    {.name = "admission.policy",
     .type = KEY_CHOICE,
     AT(admission.policy),
     .default_text = "instant",
     .choices = "instant|queue",
     .doc = "What becomes of a job that finds no servers: blocked at once, as published, or it waits. Waiting jobs are "
            "served in "
            "the order of arrival; one that still finds none does not hold up those behind it."},
    {.name = "admission.length",
     .type = KEY_INTEGER,
     AT(admission.length),
     .default_text = "10",
     .minimum = "1",
     .maximum = "1000000",
     .when = "admission.policy=queue",
     .doc = "Places in the queue; a job that finds it full is blocked."},
    {.name = "admission.patience",
     .type = KEY_SECONDS,
     AT(admission.patience_s),
     .minimum = ">0s",
     .when = "admission.policy=queue",
     .doc = "How long a job waits before it gives up; not set, until its limit could no longer be met.",
     .example = "3600s"},

    {.name = "partition.strategy",
     .type = KEY_CHOICE,
     AT(partition.strategy),
     .default_text = "max",
     .choices = "fixed|max|min_sufficient|random|trace|exact_min",
     .doc = "How much a job is split."},
    {.name = "partition.degree",
     .type = KEY_INTEGER,
     AT(partition.degree),
     .minimum = "1",
     .maximum = "65536",
     .when = "partition.strategy=fixed",
     .doc = "Parts each op is split into, at most.",
     .example = "8",
     .is_needed = true},
    {.name = "partition.max_degree",
     .type = KEY_INTEGER,
     AT(partition.max_degree),
     .default_text = "16",
     .minimum = "1",
     .maximum = "65536",
     .doc = "The most parts a strategy may ask for."},
    {.name = "partition.quantum",
     .type = KEY_TIME,
     AT(partition.quantum_ps),
     .default_text = "10us",
     .minimum = "1ps",
     .doc = "An op is not split into parts shorter than this; in profile time, scaled by workload.time_unit like the "
            "profile's own times."},

    {.name = "place.strategy",
     .type = KEY_CHOICE,
     AT(place.strategy),
     .default_text = "ramp_first_fit",
     .choices = "ramp_first_fit|ramp_compact",
     .doc = "Which devices get which parts."},
    {.name = "schedule.strategy",
     .type = KEY_CHOICE,
     AT(schedule.strategy),
     .default_text = "srpt",
     .choices = "srpt|fifo",
     .doc = "In which order ops and transfers run."},
    {.name = "step.memo",
     .type = KEY_CHOICE,
     AT(step.memo),
     .default_text = "placement",
     .choices = "placement|model_degree",
     .doc = "Which steps count as alike and are simulated once: those placed alike, or, as published, all of one model "
            "and degree."},

    {.name = "step.steady",
     .type = KEY_BOOLEAN,
     AT(step.is_steady),
     .default_text = "true",
     .when = CIRCUIT,
     .doc = "Simulate a job's steps until two in a row take as long and count the rest as that; false: simulate all."},
    {.name = "step.steady_tolerance",
     .type = KEY_NUMBER,
     AT(step.steady_tolerance),
     .default_text = "0.001",
     .minimum = "0",
     .maximum = "1",
     .when = CIRCUIT "&step.steady=true",
     .doc = "By how much two steps in a row may differ, relative to their length."},
    {.name = "step.min_steps",
     .type = KEY_INTEGER,
     AT(step.min_steps),
     .default_text = "2",
     .minimum = "2",
     .maximum = "1000000",
     .when = CIRCUIT "&step.steady=true",
     .doc = "Steps simulated before a job may count as steady."},
    {.name = "step.max_steps",
     .type = KEY_INTEGER,
     AT(step.max_steps),
     .default_text = "16",
     .minimum = "2",
     .maximum = "1000000",
     .when = CIRCUIT "&step.steady=true",
     .doc = "Steps simulated at most: a job that is not steady by then counts as the mean of the later half of them."},

    {.name = "run.horizon",
     .type = KEY_SECONDS,
     AT(run.horizon_s),
     .minimum = ">0s",
     .doc = "The simulated time at which a run ends. Not set: when the last job has ended, for workload.trace and "
            "workload.jobs; otherwise 1000000s, as published.",
     .example = "1000000s"},
    {.name = "run.warm_up",
     .type = KEY_SECONDS,
     AT(run.warm_up_s),
     .default_text = "0s",
     .minimum = "0s",
     .doc = "Jobs that arrive before this are simulated but not counted."},
    {.name = "run.seed",
     .type = KEY_INTEGER,
     AT(run.seed),
     .default_text = "0",
     .minimum = "0",
     .doc = "The master seed: every random stream is derived from it."},
    {.name = "run.tick",
     .type = KEY_TIME,
     AT(run.tick_ps),
     .default_text = "1ps",
     .minimum = "1ps",
     .doc = "The finest time the clock tells; coarser ticks allow longer horizons.",
     .example = "1ns"},
    {.name = "run.jobs_file",
     .type = KEY_BOOLEAN,
     AT(run.writes_jobs),
     .default_text = "true",
     .doc = "Write jobs.csv, one row a job."},
    {.name = "sweep",
     .type = KEY_NODE,
     AT(sweep),
     .doc = "Values to run through, one run for each combination.",
     .example = "{degree: {key: partition.max_degree, values: [2, 4, 8]}}"},
    {.name = "figures",
     .type = KEY_NODE,
     AT(figures),
     .doc = "What `ocsim plot` draws: a list of figures. Without it, the blocking rate over the first swept key.",
     .example = "[{name: blocking, plot: bars, x: workload.beta, y: blocking_rate, series: partition.strategy}]"},
};
const size_t settings_key_count = sizeof settings_keys / sizeof *settings_keys;

static size_t key_named(const char *name)
{
    int key = keys_find(settings_keys, settings_key_count, name);
    require(key >= 0);
    return (size_t)key;
}

static enum status check_weights(const struct keys *keys, const struct settings *settings, struct error *error)
{
    const struct key_list *weights = &settings->workload.weights;
    size_t key = key_named("workload.weights"), models = settings->workload.models.count;
    if (!weights->count || !keys_is_effective(keys, key))
        return STATUS_OK;
    if (weights->count != models)
        return keys_error(keys, key, error, "%zu weights for %zu models; give one a model", weights->count, models);
    for (size_t i = 0; i < weights->count; i++) {
        double weight = 0;
        char shown[TEXT_SHOW_BYTES];
        if (units_number(weights->items[i], &weight, NULL) != STATUS_OK || weight <= 0)
            return keys_error(keys, key, error, "'%s' is no weight; expected numbers above zero, e.g. [3, 1]",
                              text_show(weights->items[i], shown));
    }
    return STATUS_OK;
}

double settings_horizon_s(const struct settings *settings)
{
    const double published_s = 1e6;
    if (settings->run.horizon_s > 0)
        return settings->run.horizon_s;
    return settings->workload.trace || settings->workload.jobs ? 0 : published_s;
}

/* A law of one letter, a colon, a share. */
static enum status check_mixture(const struct keys *keys, const struct settings *settings, struct error *error)
{
    const struct key_list *items = &settings->workload.beta_mixture;
    size_t key = key_named("workload.beta_mixture");
    for (size_t i = 0; i < items->count && keys_is_effective(keys, key); i++) {
        const char *item = items->items[i];
        double share = 0;
        char shown[TEXT_SHOW_BYTES];
        bool is_law = item[0] >= 'A' && item[0] <= 'D' && item[1] == ':';
        if (!is_law || units_number(item + 2, &share, NULL) != STATUS_OK || share <= 0)
            return keys_error(keys, key, error, "found '%s'; expected a law (A, B, C or D) and its share, e.g. A:0.5",
                              text_show(item, shown));
    }
    return STATUS_OK;
}

static double ticks_in(double time_s, double tick_ps)
{
    return time_s * (1e12 / tick_ps);
}

/* The clock counts ticks in 63 bits. */
static enum status check_horizon(const struct keys *keys, const struct settings *settings, struct error *error)
{
    const double most_ticks = 9.2e18;
    double horizon_s = settings_horizon_s(settings), tick_ps = (double)settings->run.tick_ps;
    if (horizon_s <= 0)
        return STATUS_OK;
    size_t key = key_named("run.horizon");
    char horizon[UNITS_TEXT_BYTES], tick[UNITS_TEXT_BYTES], better[UNITS_TEXT_BYTES];
    units_format_time_s(horizon_s, horizon);
    units_format_time_ps(settings->run.tick_ps, tick);
    if (ticks_in(horizon_s, tick_ps) > most_ticks) {
        int64_t would_do_ps = 1;
        while (would_do_ps < 1000000000000 && ticks_in(horizon_s, (double)would_do_ps) > most_ticks)
            would_do_ps *= 1000;
        if (ticks_in(horizon_s, (double)would_do_ps) > most_ticks)
            return keys_error(keys, key, error, "%s is too long for any tick; at most 9.2e18s with run.tick: 1s",
                              horizon);
        units_format_time_ps(would_do_ps, better);
        return keys_error(keys, key, error, "%s does not fit the clock with run.tick: %s; run.tick: %s would do",
                          horizon, tick, better);
    }
    if (ticks_in(horizon_s, tick_ps) < 1)
        return keys_error(keys, key, error, "%s is shorter than one tick (run.tick: %s)", horizon, tick);
    return STATUS_OK;
}

static enum status check_partition(const struct keys *keys, const struct settings *settings, struct error *error)
{
    size_t strategy = key_named("partition.strategy"), degree = key_named("partition.degree");
    int64_t parts = settings->partition.degree;
    if (strcmp(settings->partition.strategy, "trace") == 0 && !settings->workload.trace)
        return keys_error(keys, strategy, error, "trace takes the degrees of workload.trace, which is not set");
    if (keys_is_effective(keys, degree) && parts > 1 && parts % 2)
        return keys_error(keys, degree, error, "%lld is odd; expected 1 or an even number, e.g. 8", (long long)parts);
    return STATUS_OK;
}

enum status settings_check(const struct keys *keys, struct settings *settings, struct error *error)
{
    require(keys && settings && keys->table == settings_keys);
    settings->network.has_reconfiguration = keys_place(keys, key_named("network.reconfiguration")).layer > 0;
    enum status status = check_weights(keys, settings, error);
    if (status == STATUS_OK)
        status = check_partition(keys, settings, error);
    if (status == STATUS_OK)
        status = check_mixture(keys, settings, error);
    if (status == STATUS_OK)
        status = check_horizon(keys, settings, error);
    return status;
}
