/* The table of scenario keys: see settings.h. Order here is the order of `ocsim explain` and of the manifest. */
#include "scenario/settings.h"

#include <math.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

#define SETTINGS struct settings
#define DRAWN "workload.trace="
#define CIRCUIT "network.model=circuit"

static const struct key settings_keys[] = {
    {TEXT_KEY("title", title), .doc = "A name for the experiment, shown in results and figures.",
     .example = "blocking against load"},
    {TEXT_KEY("extends", extends),
     .doc = "A scenario file this one builds on, relative to itself; only in a file. Keys given here win.",
     .example = "base.yaml"},
    {FILE_KEY("topology", topology), .default_text = "topologies/ramp-32.yaml", .choices = "topologies|.yaml",
     .doc = "The cluster: devices, racks, groups and their links."},

    {FILE_KEY("workload.trace", workload.trace), .doc = "A CSV file of jobs to replay instead of drawing them.",
     .example = "jobs.csv"},
    {CHOICE_KEY("workload.time_unit", workload.time_unit, "s|ms"), .default_text = "s",
     .doc = "What a millisecond of a model's profile is read as: s as published, ms as measured."},
    {LIST_KEY("workload.models", workload.models), .default_text = "alexnet,gnmt,resnet18,squeezenet1_0,vgg16",
     .when = DRAWN, .doc = "The models jobs are drawn from.", .example = "[alexnet, vgg16]"},
    {LIST_KEY("workload.weights", workload.weights), .when = DRAWN,
     .doc = "How often each model is drawn, one number above zero per model; not set, all alike.", .example = "[3, 1]"},
    {INTEGER_KEY("workload.pool", workload.pool), .default_text = "1000", .minimum = "1", .maximum = "1000000",
     .when = DRAWN "&workload.weights=",
     .doc =
         "Copies of each model in the pool that jobs are drawn from without replacement; an empty pool is refilled."},
    {CHOICE_KEY("workload.arrivals", workload.arrivals, "fixed|poisson|uniform|trace"), .default_text = "fixed",
     .when = DRAWN,
     .doc = "Time between jobs: always the same, exponential, uniform between 0 and twice the mean, or as in a cluster "
            "trace."},
    {FILE_KEY("workload.arrivals_trace", workload.arrivals_trace), .when = DRAWN "&workload.arrivals=trace",
     .doc = "A cluster trace whose column timestamp (seconds, or YYYY-MM-DD HH:MM:SS) says when jobs arrive; the first "
            "one is time 0. Models and beta are drawn as usual.",
     .example = "philly.csv", .is_needed = true},
    {NUMBER_KEY("workload.arrivals_speedup", workload.arrivals_speedup), .default_text = "1", .minimum = ">0",
     .when = DRAWN "&workload.arrivals=trace", .doc = "How many times faster than in the trace jobs arrive."},
    {NUMBER_KEY("workload.load", workload.load), .minimum = ">0", .maximum = "1000",
     .when = DRAWN "&workload.arrivals=fixed|poisson|uniform",
     .doc = "Offered load as a fraction of what the devices can compute: sets the mean time between jobs from the mean "
            "sequential time of the models.",
     .example = "0.9"},
    {SECONDS_KEY("workload.interarrival", workload.interarrival_s), .default_text = "1000s", .minimum = ">0s",
     .when = DRAWN "&workload.arrivals=fixed|poisson|uniform&workload.load=", .doc = "The mean time between two jobs."},
    {STRATEGY_KEY("workload.beta", workload.beta, &distributions), .when = DRAWN,
     .doc = "How the share of its one-device time that a job may take is drawn; A to D are those of PAC-ML."},
    {INTEGER_KEY("workload.jobs", workload.jobs), .default_text = "0", .minimum = "0", .when = DRAWN,
     .doc = "How many jobs arrive; 0 = as many as fit before the horizon. Given without run.horizon, the run ends when "
            "the last of them has ended.",
     .example = "1000"},
    {INTEGER_KEY("workload.steps", workload.steps), .default_text = "50", .minimum = "1", .maximum = "1000000000",
     .doc = "Training steps per job."},
    {CHOICE_KEY("workload.traffic", workload.traffic, "auto|published|training"), .default_text = "auto",
     .doc = "What the parts of a job send. published: every part to every part, all that an op keeps, parameters "
            "included. training: data parallel, each part keeps all parameters of its op and passes its share of the "
            "activations to the parts with the same share; gradients, as large as the parameters, are all-reduced in "
            "buckets. auto: training where circuits meet times as measured (network.model: circuit, "
            "workload.time_unit: ms), else published; the published formulas know no other."},
    {BYTES_KEY("workload.bucket", circuit.bucket_bytes), .default_text = "25MB", .minimum = "0B", .maximum = "1000GB",
     .when = CIRCUIT "&workload.traffic=auto|training",
     .doc = "In training traffic: gradients are gathered, last op first, until they reach this size and then "
            "all-reduced together while the backward pass goes on; 0B = op by op. The default is that of the widely "
            "used data parallel training library of PyTorch.",
     .example = "100MB"},

    {CHOICE_KEY("network.model", network.model, "published|circuit"), .default_text = "published",
     .doc = "How long a transfer takes: by the formulas of the PAC-ML simulator, or by circuits set up on the fabric."},
    {CHOICE_KEY("network.sharing", network.sharing, "exclusive|shared"), .default_text = "exclusive", .when = CIRCUIT,
     .doc = "Whether a job has the fabric between its servers to itself, or contends with all that run."},
    {TIME_KEY("network.reconfiguration", network.reconfiguration_ps), .minimum = "0ps", .when = CIRCUIT,
     .doc = "How long a circuit takes to set up, or a switch that turns by the clock is dark; not set, as the "
            "topology says.",
     .example = "10us"},
    {CHOICE_KEY("network.order", circuit.network.order, "fifo|srpt|priority"), .default_text = "fifo", .when = CIRCUIT,
     .doc =
         "Who gets hardware first: who asked first, who has the fewest bytes, or whose op the scheduler ranks first."},
    {BOOLEAN_KEY("network.backfill", network.backfills), .default_text = "true", .when = CIRCUIT,
     .doc = "Whether a request that fits may overtake one that does not."},
    {CHOICE_KEY("network.circuits", circuit.network.circuits, "patient|hold|teardown|linger"),
     .default_text = "patient", .when = CIRCUIT,
     .doc = "A circuit behind its transfer: lit until its hardware is wanted, dark at once, or lit for network.linger. "
            "patient also lets a transfer wait for a circuit of its own pair that is free before a new one would be "
            "lit, and "
            "takes hardware that another pair has lit only where that pays."},
    {TIME_KEY("network.linger", circuit.network.linger_ps), .minimum = "0ps",
     .when = CIRCUIT "&network.circuits=linger", .doc = "How long an idle circuit keeps its hardware.",
     .example = "1us", .is_needed = true},
    {CHOICE_KEY("network.all_reduce", network.all_reduce, "auto|ramp|ring|halving-doubling|parameter-server"),
     .default_text = "auto", .when = CIRCUIT,
     .doc = "How the parts of an op synchronise; auto: by the fastest of ring, halving-doubling and ramp, found by "
            "simulating each alone on the fabric for these servers and this size, since none is the best everywhere."},
    {INTEGER_KEY("network.lanes", network.lanes), .choices = "auto", .default_text = "auto", .minimum = "1",
     .maximum = "1024", .when = CIRCUIT,
     .doc =
         "Transceivers that a transfer may use side by side: all that the fabric has between two servers (auto), or "
         "so many. A transceiver has its share of the node's rate. A transfer uses what is lit for its pair and adds "
         "lanes as far as that pays."},
    {BOOLEAN_KEY("network.barrier", circuit.has_barriers), .default_text = "false", .when = CIRCUIT,
     .doc = "Whether each phase of a collective waits for all members."},

    {RATE_KEY("network.node_rate", network.node_rate_bytes_per_s), .minimum = ">0B/s",
     .doc = "What a server sends over all its transceivers together; not set, as the topology says.",
     .example = "3.125GB/s"},

    {NUMBER_KEY("energy.bit", energy.bit_pj), .default_text = "0", .minimum = "0", .maximum = "1e9", .when = CIRCUIT,
     .doc = "Picojoules for each bit that a server sends to another, transmitter and receiver together. Pluggable "
            "optics take some 15 to 20 (unverified).",
     .example = "15"},
    {NUMBER_KEY("energy.port", energy.port_w), .default_text = "0", .minimum = "0", .maximum = "1e9", .when = CIRCUIT,
     .doc = "Watts of a transceiver, lit or not, for as long as a job holds its server.", .example = "1.5"},
    {NUMBER_KEY("energy.device", energy.device_w), .default_text = "0", .minimum = "0", .maximum = "1e9",
     .when = CIRCUIT, .doc = "Watts of a device for as long as a job holds it.", .example = "400"},

    {SECONDS_KEY("failures.server_mtbf", failures.server_mtbf_s), .minimum = ">0s",
     .doc = "Mean time from the repair of a server to its next failure, exponential; not set, servers do not fail. A "
            "job whose server fails loses the steps since its last checkpoint, keeps its servers, and goes on when "
            "all are back. Not with network.sharing: shared.",
     .example = "1000h"},
    {SECONDS_KEY("failures.port_mtbf", failures.port_mtbf_s), .minimum = ">0s", .when = CIRCUIT,
     .doc = "The same for a transceiver of a server; not set, they do not fail. A job goes on without it at the pace "
            "that the ways left allow, or stands still where there are none. On ocs, ramp, and awgr on demand.",
     .example = "10000h"},
    {SECONDS_KEY("failures.repair", failures.repair_s), .default_text = "3600s", .minimum = ">0s",
     .doc = "Mean time to repair a server or a transceiver, exponential. Meanwhile no job is put on that server."},
    {INTEGER_KEY("failures.checkpoint", failures.checkpoint), .default_text = "10", .minimum = "0",
     .maximum = "1000000000",
     .doc = "A job saves its state, at no cost, after every so many training steps; 0 = never, and it begins anew "
            "where a server fails."},

    {CHOICE_KEY("admission.policy", admission.policy, "instant|queue"), .default_text = "instant",
     .doc = "What becomes of a job that finds no servers: blocked at once, as published, or it waits. Waiting jobs are "
            "served in "
            "the order of arrival; one that still finds none does not hold up those behind it."},
    {INTEGER_KEY("admission.length", admission.length), .default_text = "10", .minimum = "1", .maximum = "1000000",
     .when = "admission.policy=queue", .doc = "Places in the queue; a job that finds it full is blocked."},
    {SECONDS_KEY("admission.patience", admission.patience_s), .minimum = ">0s", .when = "admission.policy=queue",
     .doc = "How long a job waits before it gives up; not set, until its limit could no longer be met.",
     .example = "3600s"},

    {STRATEGY_KEY("partition.strategy", partition.strategy, &partitioners), .doc = "How much a job is split."},
    {INTEGER_KEY("partition.max_degree", partition.max_degree), .default_text = "16", .minimum = "1",
     .maximum = "65536", .doc = "The most parts a strategy may ask for."},
    {TIME_KEY("partition.quantum", partition.quantum_ps), .default_text = "10us", .minimum = "1ps",
     .doc = "An op is not split into parts shorter than this; in profile time, scaled by workload.time_unit like the "
            "profile's own times."},

    {STRATEGY_KEY("place.strategy", place.strategy, &placers), .doc = "Which devices get which parts."},
    {STRATEGY_KEY("schedule.strategy", schedule.strategy, &schedulers), .doc = "In which order ops and transfers run."},
    {CHOICE_KEY("step.memo", step.memo, "placement|model_degree"), .default_text = "placement",
     .doc = "Which steps count as alike and are simulated once: those placed alike (and begun at the same phase of a "
            "fabric that turns by the clock), or, as published, all of one model and degree."},
    {INTEGER_KEY("step.phases", step.phases), .default_text = "0", .minimum = "0", .maximum = "1000000",
     .when = CIRCUIT,
     .doc =
         "On a fabric that turns by the clock (rotor), into how many phases of a turn the starts of jobs are sorted; "
         "0 = each starts exactly where it does. Few phases let steps placed alike be simulated once, but a job then "
         "starts up to a turn / phases too early."},

    {BOOLEAN_KEY("step.steady", step.is_steady), .default_text = "true", .when = CIRCUIT,
     .doc =
         "Simulate a job's steps until they repeat, one by one or in cycles of up to 8, and count the rest as more of "
         "the same, within 1 %; false: simulate all."},
    {NUMBER_KEY("step.steady_tolerance", circuit.steady_tolerance), .default_text = "0.001", .minimum = "0",
     .maximum = "1", .when = CIRCUIT "&step.steady=true",
     .doc =
         "By how much three steps in a row, or three cycles, may differ, relative to their length; two that are equal "
         "to the tick always do."},
    {INTEGER_KEY("step.min_steps", circuit.min_steps), .default_text = "2", .minimum = "2", .maximum = "1000000",
     .when = CIRCUIT "&step.steady=true", .doc = "Steps simulated before a job may count as steady."},
    {INTEGER_KEY("step.max_steps", circuit.max_steps), .default_text = "16", .minimum = "2", .maximum = "1000000",
     .when = CIRCUIT "&step.steady=true",
     .doc = "Steps after which a job that is not steady may count as the mean of the later half of them: where the two "
            "halves of that agree within 1 %. Otherwise it is tried again after twice as many, and so on."},

    {SECONDS_KEY("run.horizon", run.horizon_s), .minimum = ">0s",
     .doc = "The simulated time at which a run ends. Not set: when the last job has ended, for workload.trace and "
            "workload.jobs; otherwise 1000000s, as published.",
     .example = "1000000s"},
    {SECONDS_KEY("run.warm_up", run.warm_up_s), .default_text = "0s", .minimum = "0s",
     .doc = "Jobs that arrive before this are simulated but not counted."},
    {INTEGER_KEY("run.seed", run.seed), .default_text = "0", .minimum = "0",
     .doc = "The master seed: every random stream is derived from it."},
    {TIME_KEY("run.tick", run.tick_ps), .default_text = "1ps", .minimum = "1ps",
     .doc = "The finest time the clock tells; coarser ticks allow longer horizons.", .example = "1ns"},
    {BOOLEAN_KEY("run.jobs_file", run.writes_jobs), .default_text = "true", .doc = "Write jobs.csv, one row per job."},
    {NODE_KEY("sweep", sweep), .doc = "Values to run through, one run for each combination.",
     .example = "{degree: {key: partition.max_degree, values: [2, 4, 8]}}"},
    {NODE_KEY("figures", figures),
     .doc = "What `ocsim plot` draws: a list of figures. Without it, the blocking rate over the first swept key.",
     .example = "[{name: blocking, plot: bars, x: workload.beta, y: blocking_rate, series: partition.strategy}]"},
};

void settings_table(struct key_table *table)
{
    key_table_init(table, settings_keys, sizeof settings_keys / sizeof *settings_keys);
}

static enum status check_weights(const struct keys *keys, const struct settings *settings, struct error *error)
{
    const struct key_list *weights = &settings->workload.weights;
    size_t key = keys_named(keys, "workload.weights"), models = settings->workload.models.count;
    if (!weights->count || !keys_is_effective(keys, key))
        return STATUS_OK;
    if (weights->count != models)
        return keys_error(keys, key, error, "%zu weights for %zu models; give one per model", weights->count, models);
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
    size_t key = keys_named(keys, "run.horizon");
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

enum status settings_check(const struct keys *keys, struct settings *settings, struct error *error)
{
    require(keys && settings && keys->blocks[0] == settings);
    settings->network.has_reconfiguration = keys_is_set(keys, keys_named(keys, "network.reconfiguration"));
    TRY(check_weights(keys, settings, error));
    if (settings->workload.traffic == TRAFFIC_KEY_TRAINING && settings->network.model == NETWORK_PUBLISHED)
        return keys_error(keys, keys_named(keys, "workload.traffic"), error,
                          "training traffic needs network.model: circuit; the published formulas know published alone");
    return check_horizon(keys, settings, error);
}
