/* Properties held here, of what the parts of a job send in training (data parallel):
 *   - parts with overlapping shares of the batch are linked, and no others; their bytes add up to the activations;
 *   - the five models synchronise the parameters of their split ops, no more; so do the bytes on the network;
 *   - that is what circuits do where times are as measured, and what the published formulas refuse;
 *   - every part keeps all parameters of its op: devices with a byte less are refused;
 *   - gradients go in buckets, filled last op first, when the last part of the last op of each has ended;
 *   - a part starts when its own inputs are there: chains of like parts do not wait for each other, and with free
 *     transfers every step is that of a second, part by part list schedule, to the tick;
 *   - time adds up on every fabric, waiting in two parts. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "graph/models.h"
#include "job_world.h"
#include "strategies.h"
#include "suites.h"

/* ---- links ---- */

static bool overlap(uint64_t i, uint64_t of, uint64_t j, uint64_t others)
{
    return i * others < (j + 1) * of && j * of < (i + 1) * others;
}

/* A forward link between ops of these parts, written out. */
static void check_shares(uint32_t from, uint32_t to, double bytes)
{
    const struct job_world_op ops[] = {{1, 1, bytes}, {1, 1, 0}};
    const uint32_t parts[] = {from, to};
    struct graph *graph = job_world_chain(ops, 2);
    struct task_graph *tasks =
        task_graph_create(graph, &(struct task_options){.parts = parts, .traffic = TRAFFIC_TRAINING});
    const struct task_link *link = &tasks->links[tasks->in_link[tasks->in_start[1]]];
    uint64_t count = 0, sum = 0;
    CU_ASSERT(link->source == 0 && link->target == 1 && link->pattern == LINK_SHARES);
    for (uint32_t i = 0; i < from; i++) {
        struct part_range targets = task_link_targets(tasks, link, i);
        for (uint32_t j = 0; j < to; j++) {
            struct part_range sources = task_link_sources(tasks, link, j);
            CU_ASSERT_EQUAL(overlap(i, from, j, to), targets.first <= j && j <= targets.last);
            CU_ASSERT_EQUAL(overlap(i, from, j, to), sources.first <= i && i <= sources.last);
            if (!overlap(i, from, j, to))
                continue;
            double share = fmin((i + 1.0) / from, (j + 1.0) / to) - fmax((double)i / from, (double)j / to);
            uint64_t sent = task_link_bytes(tasks, link, i, j);
            CU_ASSERT(fabs((double)sent - share * bytes) <= 1 + 1e-9 * bytes);
            count++;
            sum += sent;
        }
    }
    CU_ASSERT_EQUAL(count, task_link_deps(tasks, link));
    CU_ASSERT_EQUAL(sum, (uint64_t)bytes);
    task_graph_free(tasks);
    graph_free(graph);
}

static void test_shares(void)
{
    for (uint32_t from = 1; from <= 12; from++)
        for (uint32_t to = 1; to <= 12; to++) {
            check_shares(from, to, 1e6 + from);
            check_shares(from, to, 7);
        }
    check_shares(64, 48, 123456789);
}

/* What goes back along an edge is as large as what went forth; parameters never travel there. */
static void test_way_back(void)
{
    struct graph *graph = oracle_random_graph(3, 20, true);
    struct task_graph *tasks = split_create(graph, &(struct split_rule){0.01, 8, TRAFFIC_TRAINING}, NULL, 0);
    uint32_t n = graph->op_count;
    for (uint32_t l = 0; l < tasks->link_count; l++) {
        const struct task_link *link = &tasks->links[l];
        bool is_back = tasks->tasks[link->source].is_backward;
        if (link->pattern != LINK_SYNC)
            CU_ASSERT_EQUAL(link->bytes, graph->ops[(is_back ? link->target : link->source) % n].activation_bytes);
    }
    task_graph_free(tasks);
    graph_free(graph);
}

static double sync_bytes(const struct task_graph *tasks)
{
    double sum = 0;
    for (uint32_t link = 0; link < tasks->link_count; link++)
        sum += tasks->links[link].pattern == LINK_SYNC ? tasks->links[link].bytes : 0;
    return sum;
}

static void test_models(void)
{
    static const char *const names[] = {"alexnet", "gnmt", "resnet18", "squeezenet1_0", "vgg16"};
    struct models models = {0};
    struct error error;
    for (size_t i = 0; i < 5; i++)
        for (uint32_t degree = 1; degree <= 16; degree *= 2) {
            uint32_t model = 0;
            double split_bytes = 0;
            CU_ASSERT_EQUAL_FATAL(models_find(&models, names[i], NULL, &model, &error), STATUS_OK);
            const struct graph *graph = models.graphs[model];
            struct task_graph *tasks =
                split_create(graph, &(struct split_rule){0.01, degree, TRAFFIC_TRAINING}, NULL, 0);
            for (uint32_t op = 0; op < graph->op_count; op++)
                split_bytes += tasks->parts[op] > 1 ? graph->ops[op].parameter_bytes : 0;
            CU_ASSERT_EQUAL(sync_bytes(tasks), split_bytes);
            CU_ASSERT_EQUAL(split_bytes > 0, degree > 1);
            task_graph_free(tasks);
        }
    models_free(&models);
}

/* ---- the key ---- */

static void test_key(void)
{
    static const struct {
        const char *model, *unit, *traffic;
        enum status status;
        enum task_traffic means;
    } cases[] = {{"published", "s", "auto", STATUS_OK, TRAFFIC_PUBLISHED},
                 {"published", "ms", "auto", STATUS_OK, TRAFFIC_PUBLISHED},
                 {"circuit", "s", "auto", STATUS_OK, TRAFFIC_PUBLISHED},
                 {"circuit", "ms", "auto", STATUS_OK, TRAFFIC_TRAINING},
                 {"circuit", "ms", "published", STATUS_OK, TRAFFIC_PUBLISHED},
                 {"circuit", "s", "training", STATUS_OK, TRAFFIC_TRAINING},
                 {"published", "ms", "published", STATUS_OK, TRAFFIC_PUBLISHED},
                 {"published", "ms", "training", STATUS_USER, TRAFFIC_TRAINING}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scenario *scenario = NULL;
        struct error error = {0};
        char text[200];
        int length = snprintf(text, sizeof text, "workload: {time_unit: %s, traffic: %s}\nnetwork: {model: %s}\n",
                              cases[i].unit, cases[i].traffic, cases[i].model);
        enum status status =
            scenario_parse(text, (size_t)length, "s.yaml", (struct scenario_overrides){NULL, 0}, &scenario, &error);
        CU_ASSERT_EQUAL(status, cases[i].status);
        CU_ASSERT(status != STATUS_OK || simulation_traffic(&scenario->settings) == cases[i].means);
        CU_ASSERT(status == STATUS_OK || strstr(error.message, "training traffic needs network.model: circuit"));
        scenario_free(scenario);
    }
}

/* ---- memory ---- */

/* Two parts of one op with 100 bytes of parameters and 60 of activations: 130 each. */
static void test_memory_of_parts(void)
{
    static const uint32_t servers[] = {0, 5};
    const struct job_world_op ops[] = {{1, 1, 60}, {1, 1, 0}};
    for (int has_room = 0; has_room < 2; has_room++) {
        struct topology topology;
        struct place_scratch scratch;
        struct error error = {0};
        job_world_topology("ocs", &topology);
        topology.classes[0].memory_bytes = has_room ? 130 : 129;
        struct job_world job = {.graph = job_world_chain(ops, 2)};
        job.graph->ops[0].parameter_bytes = 100;
        job.tasks = split_create(job.graph, &(struct split_rule){0.01, 2, TRAFFIC_TRAINING}, NULL, 0);
        const struct place_request request = {.tasks = job.tasks, .scratch = &scratch};
        place_scratch_init(&scratch, &topology);
        CU_ASSERT_EQUAL(place_inside(&request, servers, 2, &job.deployment), has_room);
        deployment_start(&job.deployment, job.tasks);
        for (uint32_t op = 0; op < 2; op++)
            place_assign(&request, &job.deployment, op, place_add_list(&request, &job.deployment, servers, 2));
        place_end(&request, &job.deployment);
        CU_ASSERT_EQUAL(deployment_check(&job.deployment, &topology, true, &error), has_room ? STATUS_OK : STATUS_USER);
        CU_ASSERT_EQUAL(
            cluster_check_fit(job.graph, &topology, &(struct split_rule){0.01, 2, TRAFFIC_TRAINING}, &error),
            has_room ? STATUS_OK : STATUS_USER);
        place_scratch_fini(&scratch);
        job_world_end(&job);
        topology_free(&topology);
    }
}

/* ---- jobs put by hand ---- */

/* Takes graph; op i in parts[i] parts, on devices[i]. */
static void put_parts(struct job_world *job, struct graph *graph, const struct topology *topology,
                      const uint32_t *parts, const uint32_t *const *devices)
{
    struct place_scratch scratch;
    struct task_options options = {parts, topology->speeds, topology->class_count, TRAFFIC_TRAINING};
    *job = (struct job_world){.graph = graph, .tasks = task_graph_create(graph, &options)};
    const struct place_request request = {.tasks = job->tasks, .scratch = &scratch};
    place_scratch_init(&scratch, topology);
    deployment_start(&job->deployment, job->tasks);
    for (uint32_t op = 0; op < graph->op_count; op++)
        place_assign(&request, &job->deployment, op,
                     place_add_list(&request, &job->deployment, devices[op], parts[op]));
    place_end(&request, &job->deployment);
    place_scratch_fini(&scratch);
}

/* ---- buckets ---- */

enum { BUCKET_OPS = 12 };

struct flights {
    const struct task_graph *tasks;
    double start_s[BUCKET_OPS], end_s[BUCKET_OPS]; /* per op, of its gradient */
    double ended_s[BUCKET_OPS];                    /* per op: the end of its last backward part */
};

static void note_flight(void *context, uint32_t link, double start_s, double end_s)
{
    struct flights *flights = context;
    uint32_t op = flights->tasks->tasks[flights->tasks->links[link].source].op;
    if (flights->tasks->links[link].pattern != LINK_SYNC)
        return;
    flights->start_s[op] = start_s;
    flights->end_s[op] = end_s;
}

static void note_run(void *context, uint32_t task, uint32_t part, uint32_t device, double start_s, double end_s)
{
    struct flights *flights = context;
    (void)part;
    (void)device;
    (void)start_s;
    if (flights->tasks->tasks[task].is_backward)
        flights->ended_s[flights->tasks->tasks[task].op] =
            fmax(flights->ended_s[flights->tasks->tasks[task].op], end_s);
}

/* Walks back through the chain, whose even ops and odd ops are on other devices, or synchronise in another way: the
 * ops of a bucket leave when the first of them in the chain, which ends last, has ended, and arrive together. */
static void check_buckets(const struct flights *flights, const struct graph *graph, double bucket_bytes)
{
    for (int kind = 0; kind < 2; kind++) {
        double held = 0;
        int members[BUCKET_OPS], count = 0;
        for (int op = BUCKET_OPS - 1 - !kind; op >= 0; op -= 2) {
            if (graph->ops[op].parameter_bytes > 0) {
                members[count++] = op;
                held += graph->ops[op].parameter_bytes;
            }
            bool is_full = count && (held >= bucket_bytes || op < 2);
            for (int i = 0; is_full && i < count; i++) {
                CU_ASSERT_EQUAL(flights->start_s[members[i]], flights->ended_s[members[count - 1]]);
                CU_ASSERT_EQUAL(flights->end_s[members[i]], flights->end_s[members[0]]);
                CU_ASSERT(flights->end_s[members[i]] > flights->start_s[members[i]]);
            }
            count = is_full ? 0 : count;
            held = is_full ? 0 : held;
        }
    }
}

static void test_buckets(void)
{
    static const double sizes[] = {0, 1, 3e6, 1e7, 2.5e7, 1e9};
    static const uint32_t lists[][2] = {{0, 5}, {10, 15}};
    struct random_stream *random = random_open(2, "buckets", 0);
    struct topology topology;
    job_world_topology("ocs", &topology);
    for (size_t i = 0; i < 30; i++) {
        struct job_world job;
        struct error error = {0};
        uint32_t parts[BUCKET_OPS];
        const uint32_t *devices[BUCKET_OPS];
        enum gradient_sync ways[BUCKET_OPS];
        struct graph *graph = job_world_random_chain(random, BUCKET_OPS, 1e6);
        for (uint32_t op = 0; op < BUCKET_OPS; op++) {
            graph->ops[op].parameter_bytes = random_below(random, 4) ? (double)random_below(random, 8000000) : 0;
            parts[op] = 2;
            devices[op] = lists[i % 2 ? op % 2 : 0];
            ways[op] = i % 2 || op % 2 ? SYNC_RING : SYNC_HALVING_DOUBLING;
        }
        put_parts(&job, graph, &topology, parts, devices);
        job.deployment.sync = ways;
        struct flights flights = {.tasks = job.tasks};
        const struct step_observer observer = {.ran = note_run, .flew = note_flight, .context = &flights};
        struct circuit_options options = job_world_options(1);
        struct step_input input = job_world_input(&job, &topology);
        struct step_result step;
        input.observer = &observer;
        options.bucket_bytes = sizes[i / 2 % 6];
        CU_ASSERT_EQUAL_FATAL(step_run(&input, 1, &options, &step, &error), STATUS_OK);
        check_buckets(&flights, graph, sizes[i / 2 % 6]);
        job_world_end(&job);
    }
    topology_free(&topology);
    random_close(random);
}

/* ---- what the network carries ---- */

static void stop_at_end(void *context, struct stepper_job *job, const struct stepper_report *report)
{
    (void)job;
    (void)report;
    engine_stop(context);
}

static uint64_t bytes_sent(struct job_world *job, const struct topology *topology, double bucket_bytes)
{
    struct engine *engine = engine_create();
    struct circuit_options options = job_world_options(1);
    struct stepper *stepper = NULL;
    struct stepper_job *placed = NULL;
    struct error error = {0};
    struct step_input input = job_world_input(job, topology);
    options.bucket_bytes = bucket_bytes;
    CU_ASSERT_EQUAL_FATAL(stepper_create(engine, topology, 0, &options, &stepper, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(stepper_add(stepper, &input, 0, stop_at_end, engine, &placed, &error), STATUS_OK);
    stepper_start(placed);
    engine_run(engine, SIM_TIME_MAX);
    uint64_t sent = (uint64_t)network_totals(stepper_network(stepper)).bytes_sent;
    stepper_remove(placed);
    stepper_destroy(stepper);
    engine_destroy(engine);
    return sent;
}

/* Written out: each pair of parts on different devices sends what their shares have in common, and a ring of n sends
 * the parameters 2 (n - 1) times, over all its members. */
static uint64_t bytes_by_hand(const struct job_world *job)
{
    const struct task_graph *tasks = job->tasks;
    const struct deployment *deployment = &job->deployment;
    uint64_t sum = 0;
    for (uint32_t l = 0; l < tasks->link_count; l++) {
        const struct task_link *link = &tasks->links[l];
        struct device_list from = deployment_list(deployment, link->source),
                           to = deployment_list(deployment, link->target);
        if (link->pattern == LINK_SYNC)
            sum += 2 * (from.count - 1) * (uint64_t)ceil(link->bytes);
        for (uint32_t i = 0; link->pattern != LINK_SYNC && i < from.count; i++)
            for (uint32_t j = 0; j < to.count; j++)
                if (overlap(i, from.count, j, to.count) &&
                    deployment->devices[from.start + i] != deployment->devices[to.start + j])
                    sum += task_link_bytes(tasks, link, i, j);
    }
    return sum;
}

/* ---- parts on their own ---- */

/* Two ops in two parts each: the first pair has the slow device first, the second has it last. Each pair is a chain of
 * its own; were parts to wait for each other, both slow devices would be on one path. */
static void test_pairs(void)
{
    static const uint32_t first[] = {4, 7}, second[] = {9, 6};
    const uint32_t parts[] = {2, 2}, *devices[] = {first, second};
    const struct job_world_op ops[] = {{0.4, 0.8, 1e6}, {0.6, 1.0, 1e6}};
    struct job_world_unlike unlike;
    struct job_world job;
    struct circuit_options options = job_world_options(1);
    job_world_unlike(&unlike);
    put_parts(&job, job_world_chain(ops, 2), &unlike.topology, parts, devices);
    struct step_result step = job_world_step(&job, &unlike.topology, &options);
    double rate = unlike.topology.node_rate_bytes_per_s / (double)*figure_whole(&unlike.topology, "ocs.switches");
    double flight_s = (double)(*job_world_reconfiguration(&unlike.topology) + unlike.topology.propagation_ps +
                               2 * unlike.topology.io_latency_ps) *
                          1e-12 +
                      0.5e6 / rate;
    double slow_first_s = (0.2 + 0.4) * 1e-3 + (0.15 + 0.25) * 1e-3,
           slow_last_s = (0.1 + 0.2) * 1e-3 + (0.3 + 0.5) * 1e-3;
    CU_ASSERT(oracle_is_near(step.step.total_s, 2 * flight_s + fmax(slow_first_s, slow_last_s), 1e-9));
    CU_ASSERT(oracle_is_near(step.step.part_s[TIME_COMP], fmax(slow_first_s, slow_last_s), 1e-9));
    CU_ASSERT_EQUAL(step.step.part_s[TIME_WAIT], 0);
    job_world_end(&job);
    topology_free(&unlike.topology);
}

/* ---- a second list schedule ---- */

enum { MOST_PARTS = 4, DEVICES = 6 };

struct reference {
    const struct deployment *deployment;
    sim_time *left; /* per part of each task, as the graph numbers them */
    bool *has_ended;
};

static bool is_ready(const struct reference *reference, uint32_t task, uint32_t part)
{
    const struct task_graph *tasks = reference->deployment->tasks;
    for (uint32_t l = tasks->in_start[task]; l < tasks->in_start[task + 1]; l++) {
        uint32_t source = tasks->links[tasks->in_link[l]].source;
        uint32_t from = tasks->parts[tasks->tasks[source].op], to = tasks->parts[tasks->tasks[task].op];
        for (uint32_t i = 0; i < from; i++)
            if (overlap(i, from, part, to) && !reference->has_ended[tasks->part_start[source] + i])
                return false;
    }
    return true;
}

/* The part that a device runs now; UINT32_MAX where none is ready. */
static uint32_t choose_part(const struct reference *reference, uint32_t device)
{
    const struct deployment *deployment = reference->deployment;
    const struct task_graph *tasks = deployment->tasks;
    uint32_t best = UINT32_MAX, best_rank = 0;
    for (uint32_t task = 0; task < tasks->task_count; task++) {
        struct device_list at = deployment_list(deployment, task);
        for (uint32_t part = 0; part < at.count; part++)
            if (deployment->devices[at.start + part] == device &&
                !reference->has_ended[tasks->part_start[task] + part] && is_ready(reference, task, part) &&
                (best == UINT32_MAX || deployment->rank[task] > best_rank)) {
                best = tasks->part_start[task] + part;
                best_rank = deployment->rank[task];
            }
    }
    return best;
}

/* Runs what is chosen until the first of it ends; answers for how long, or -1 behind the end. */
static sim_time advance(struct reference *reference)
{
    uint32_t chosen[DEVICES];
    sim_time shortest = -1;
    for (uint32_t device = 0; device < DEVICES; device++) {
        chosen[device] = choose_part(reference, device);
        if (chosen[device] != UINT32_MAX && (shortest < 0 || reference->left[chosen[device]] < shortest))
            shortest = reference->left[chosen[device]];
    }
    for (uint32_t device = 0; device < DEVICES && shortest >= 0; device++)
        if (chosen[device] != UINT32_MAX) {
            reference->left[chosen[device]] -= shortest;
            reference->has_ended[chosen[device]] = reference->left[chosen[device]] == 0;
        }
    return shortest;
}

static sim_time reference_length(const struct deployment *deployment, const struct topology *topology)
{
    const struct task_graph *tasks = deployment->tasks;
    const struct sim_clock clock = {1};
    size_t parts = (size_t)task_graph_parts(tasks);
    struct reference reference = {deployment, memory_alloc(parts, sizeof(sim_time)), memory_alloc(parts, sizeof(bool))};
    sim_time length = 0, passed;
    for (uint32_t task = 0; task < tasks->task_count; task++)
        for (uint32_t part = 0; part < deployment_list(deployment, task).count; part++) {
            uint32_t device = deployment->devices[deployment_list(deployment, task).start + part];
            double part_s = task_part_ms(tasks, task, topology->devices[device].class) * 1e-3;
            enum status status =
                clock_from_seconds(&clock, part_s, &reference.left[tasks->part_start[task] + part], NULL);
            CU_ASSERT_EQUAL(status, STATUS_OK);
        }
    while ((passed = advance(&reference)) >= 0)
        length += passed;
    for (size_t part = 0; part < parts; part++)
        CU_ASSERT(reference.has_ended[part]);
    free(reference.left);
    free(reference.has_ended);
    return length;
}

/* Different devices, below DEVICES. */
static void draw_devices(struct random_stream *random, uint32_t count, uint32_t *devices)
{
    uint32_t all[DEVICES] = {0, 1, 2, 3, 4, 5};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = i + (uint32_t)random_below(random, DEVICES - i), taken = all[j];
        all[j] = all[i];
        devices[i] = all[i] = taken;
    }
}

static void put_anywhere(struct job_world *job, struct graph *graph, const struct topology *topology,
                         struct random_stream *random)
{
    uint32_t *parts = memory_alloc(graph->op_count, sizeof *parts);
    uint32_t(*devices)[MOST_PARTS] = memory_alloc(graph->op_count, sizeof *devices);
    const uint32_t **lists = memory_alloc(graph->op_count, sizeof *lists);
    for (uint32_t op = 0; op < graph->op_count; op++) {
        parts[op] = 1 + (uint32_t)random_below(random, MOST_PARTS);
        draw_devices(random, parts[op], devices[op]);
        lists[op] = devices[op];
    }
    put_parts(job, graph, topology, parts, lists);
    free(parts);
    free(devices);
    free(lists);
}

/* Whatever the buckets. */
static void test_bytes_sent(void)
{
    struct random_stream *random = random_open(12, "parts", 0);
    struct topology topology;
    job_world_topology("packet", &topology);
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct job_world job;
        struct graph *graph = oracle_random_graph(seed, 2 + (uint32_t)(seed % 20), seed % 2);
        for (uint32_t op = 0; op < graph->op_count; op++) /* cut by 2, 3 or 4 without a rest */
            graph->ops[op].parameter_bytes = 12 * (double)random_below(random, 200000);
        put_anywhere(&job, graph, &topology, random);
        uint64_t expected = bytes_by_hand(&job);
        CU_ASSERT(expected > 0);
        for (int i = 0; i < 3; i++)
            CU_ASSERT_EQUAL(bytes_sent(&job, &topology, i * 1e6), expected);
        job_world_end(&job);
    }
    topology_free(&topology);
    random_close(random);
}

static void test_second_schedule(void)
{
    struct random_stream *random = random_open(9, "parts", 0);
    struct job_world_unlike unlike;
    job_world_unlike(&unlike);
    for (uint64_t seed = 0; seed < 150; seed++) {
        struct job_world job;
        struct circuit_options options = job_world_options(1);
        struct graph *graph = oracle_random_graph(seed, 2 + (uint32_t)(seed % 25), seed % 2);
        for (uint32_t op = 0; op < graph->op_count; op++)
            graph->ops[op].activation_bytes = graph->ops[op].parameter_bytes = 0;
        put_anywhere(&job, graph, &unlike.topology, random);
        struct step_result step = job_world_step(&job, &unlike.topology, &options);
        CU_ASSERT_EQUAL(llround(step.step.total_s * 1e12), reference_length(&job.deployment, &unlike.topology));
        CU_ASSERT_EQUAL(step.step.part_s[TIME_WAIT_NETWORK], 0);
        CU_ASSERT_EQUAL(step.step.part_s[TIME_WAIT_DEVICE], step.step.part_s[TIME_WAIT]);
        job_world_end(&job);
    }
    topology_free(&unlike.topology);
    random_close(random);
}

/* ---- every fabric ---- */

/* The work of the busiest device, all of speed 1. */
static double busiest_s(const struct job_world *job)
{
    const struct deployment *deployment = &job->deployment;
    double work_s[DEVICES] = {0}, most_s = 0;
    for (uint32_t task = 0; task < job->tasks->task_count; task++)
        for (uint32_t part = 0; part < deployment_list(deployment, task).count; part++) {
            uint32_t device = deployment->devices[deployment_list(deployment, task).start + part];
            work_s[device] += task_part_ms(job->tasks, task, 0) * 1e-3;
            most_s = fmax(most_s, work_s[device]);
        }
    return most_s;
}

static void test_adds_up(void)
{
    struct random_stream *random = random_open(10, "parts", 0);
    double device_s = 0, network_s = 0;
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint64_t seed = 0; seed < 12; seed++) {
            struct job_world job;
            struct circuit_options options = job_world_options(2);
            options.bucket_bytes = (double)(seed % 3) * 1e6;
            put_anywhere(&job, oracle_random_graph(seed, 3 + (uint32_t)seed, seed % 2), &topology, random);
            struct step_result step = job_world_step(&job, &topology, &options);
            struct time_parts all = step_times(&step, 2);
            CU_ASSERT(oracle_is_near(job_world_sum_s(&all), all.total_s, 1e-13));
            CU_ASSERT(oracle_is_near(all.part_s[TIME_WAIT_DEVICE] + all.part_s[TIME_WAIT_NETWORK],
                                     all.part_s[TIME_WAIT], 1e-13));
            CU_ASSERT(step.step.total_s >= busiest_s(&job) * (1 - 1e-9));
            device_s += all.part_s[TIME_WAIT_DEVICE];
            network_s += all.part_s[TIME_WAIT_NETWORK];
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    CU_ASSERT(device_s > 0 && network_s > 0);
    random_close(random);
}

void suite_traffic(void)
{
    CU_pSuite suite = CU_add_suite("traffic", NULL, NULL);
    CU_ADD_TEST(suite, test_shares);
    CU_ADD_TEST(suite, test_way_back);
    CU_ADD_TEST(suite, test_models);
    CU_ADD_TEST(suite, test_key);
    CU_ADD_TEST(suite, test_memory_of_parts);
    CU_ADD_TEST(suite, test_buckets);
    CU_ADD_TEST(suite, test_bytes_sent);
    CU_ADD_TEST(suite, test_pairs);
    CU_ADD_TEST(suite, test_second_schedule);
    CU_ADD_TEST(suite, test_adds_up);
}
