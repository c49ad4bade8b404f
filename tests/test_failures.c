/* Properties held here, of failures and of energy:
 *   - a job's energy is bits * energy.bit + transceivers * time * energy.port + devices * time * energy.device; the
 * bits of a step are those of its links between servers; of a server in parts, the part of its devices counts;
 *   - a job hit by failures of its servers ends when a replay of the failures by hand says, to the tick, for every
 *     distance of checkpoints; the parts of its time still add up; what it sends again costs energy again;
 *   - failures come at the rate asked for, and an idle server works mtbf / (mtbf + repair) of the time;
 *   - nothing is put on a server that is down;
 *   - failures that never come change nothing, to the bit;
 *   - on a network with transceivers out of service, transfers of a pair use all lanes that are left; whoever has a way
 *     gets through, whatever else waits, and nobody else does; what is broken carries nothing;
 *   - a job whose servers have one transceiver each stands still exactly while one of them is broken; with more it is
 *     slower at most;
 *   - what is not covered is refused. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cluster/metrics.h"
#include "engine/random.h"
#include "figures.h"
#include "job_world.h"
#include "network_world.h"
#include "suites.h"

static const char one_job[] = "model,arrival_s,beta\nalexnet,0,1\n";

/* A run of jobs, on circuits unless the assignments say otherwise. */
struct failing_run {
    const char *jobs; /* CSV; NULL = as the assignments say */
    const char *more[9];
    int64_t switches; /* of ocs; 0 = as the file says */
};

static void run_jobs(const struct failing_run *run, struct cluster_result *result)
{
    char *folder = oracle_folder(), *path = oracle_write(folder, "jobs.csv", run->jobs ? run->jobs : one_job);
    char trace[300] = "workload.trace=";
    struct oracle_world world;
    struct error error = {0};
    if (run->jobs)
        snprintf(trace, sizeof trace, "workload.trace=%s", path);
    const char *all[16] = {
        "topology=topologies/ocs-32.yaml", "network.model=circuit", "workload.time_unit=ms",
        "partition.strategy=fixed",        "partition.degree=4",    run->jobs ? trace : "workload.jobs=100"};
    for (size_t i = 0, used = 6; i < sizeof run->more / sizeof *run->more; i++)
        if (run->more[i])
            all[used++] = run->more[i];
    oracle_world_open(&world, all);
    if (run->switches > 0)
        *figure_whole(&world.world.topology, "ocs.switches") = run->switches;
    enum status status = cluster_run(&world.world.cluster, result, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    oracle_world_close(&world);
    oracle_remove(folder);
    free(path);
    free(folder);
}

/* ---- energy ---- */

static void test_bytes_of_step(void)
{
    static const struct job_world_op ops[] = {{1, 2, 3e6}, {1, 2, 5e6}, {1, 2, 7e6}, {1, 2, 11e6}};
    static const uint32_t servers[] = {4, 9, 9, 30};
    struct topology topology;
    struct job_world job;
    struct circuit_options options = job_world_options(3);
    job_world_topology("ocs", &topology);
    job_world_put(&job, job_world_chain(ops, 4), &topology, servers);
    double bytes = 0;
    for (uint32_t link = 0; link < job.tasks->link_count; link++) {
        const struct task_link *at = &job.tasks->links[link];
        bool is_inside = servers[job.tasks->tasks[at->source].op] == servers[job.tasks->tasks[at->target].op];
        bytes += is_inside ? 0 : at->bytes;
    }
    CU_ASSERT(bytes > 0);
    CU_ASSERT_EQUAL(job_world_step(&job, &topology, &options).bytes, bytes);
    job_world_end(&job);
    topology_free(&topology);
}

static double energy_of(const char *bit, const char *port, const char *device, double *held_s)
{
    struct cluster_result result;
    run_jobs(&(struct failing_run){one_job, {bit, port, device}, 0}, &result);
    CU_ASSERT_EQUAL_FATAL(result.jobs[0].outcome, OUTCOME_COMPLETED);
    CU_ASSERT_EQUAL_FATAL(result.jobs[0].device_count, 4);
    double energy_j = result.jobs[0].energy_j;
    *held_s = result.jobs[0].time.total_s;
    cluster_result_free(&result);
    return energy_j;
}

/* Four servers with four transceivers each. */
static void test_energy(void)
{
    const char *bit = "energy.bit=20", *port = "energy.port=1.5", *device = "energy.device=400";
    double held_s;
    CU_ASSERT_EQUAL(energy_of(NULL, NULL, NULL, &held_s), 0);
    double bits_j = energy_of(bit, NULL, NULL, &held_s);
    CU_ASSERT(bits_j > 0);
    CU_ASSERT(oracle_is_near(energy_of("energy.bit=40", NULL, NULL, &held_s), 2 * bits_j, 1e-12));
    CU_ASSERT(oracle_is_near(energy_of(NULL, port, NULL, &held_s), 4 * 4 * 1.5 * held_s, 1e-12));
    CU_ASSERT(oracle_is_near(energy_of(NULL, NULL, device, &held_s), 4 * 400 * held_s, 1e-12));
    CU_ASSERT(oracle_is_near(energy_of(bit, port, device, &held_s), bits_j + (4 * 4 * 1.5 + 4 * 400) * held_s, 1e-12));
}

static void test_energy_of_parts(void)
{
    struct topology topology;
    struct energy energy;
    struct error error = {0};
    struct energy_figures figures = {.bit_pj = 5, .port_w = 2, .device_w = 100};
    static const uint32_t devices[] = {0, 1, 9}; /* of 8 in a server, which has 8 transceivers */
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology("topologies/hosts-64.yaml", &topology, &error), STATUS_OK);
    enum status status = energy_open(&energy, &figures, &topology, &(struct network_options){0}, &error);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    double power_w = energy_power_w(&energy, devices, 3);
    CU_ASSERT(oracle_is_near(power_w, 8 * 2 * 3 / 8.0 + 300, 1e-12));
    CU_ASSERT(oracle_is_near(energy_j(&energy, power_w, 10, 1e12), 10 * power_w + 8e12 * 5e-12, 1e-12));
    energy_close(&energy);
    topology_free(&topology);
}

/* ---- a replay of failures ---- */

/* From a failure to its repair. */
struct outage {
    uint64_t what; /* server or transceiver */
    double start_s, end_s;
};

struct outages {
    struct outage *items;
    size_t count, capacity;
};

/* All of `count` servers, or transceivers, that begin before `until`. */
static struct outages replay(const char *purpose, uint64_t seed, uint64_t count, double mtbf_s, double repair_s,
                             double until_s)
{
    struct outages outages = {0};
    struct random_stream *random = random_open(seed, purpose, 0);
    double *back_s = memory_alloc(count, sizeof *back_s);
    for (double now_s = random_exponential(random, mtbf_s / (double)count); now_s < until_s;) {
        uint64_t what = random_below(random, count);
        double end_s = now_s + random_exponential(random, repair_s);
        if (back_s[what] <= now_s) {
            back_s[what] = end_s;
            outages.items = memory_grow(outages.items, &outages.capacity, outages.count + 1, sizeof *outages.items);
            outages.items[outages.count++] = (struct outage){what, now_s, end_s};
        }
        now_s += random_exponential(random, mtbf_s / (double)count);
    }
    free(back_s);
    random_close(random);
    return outages;
}

/* Of servers with so many devices each. */
static bool has_server(const struct cluster_result *result, const struct job_record *job, uint32_t each,
                       uint64_t server)
{
    bool has = false;
    for (uint32_t i = 0; i < job->device_count && !has; i++)
        has = result->devices[job->device_start + i] / each == server;
    return has;
}

/* ---- servers ---- */

struct course {
    double start_up_s, step_s, steps;
    double bytes;      /* that all steps send, once */
    double checkpoint; /* in steps */
    uint32_t each;     /* devices of a server */
    /* what came out */
    double end_s, stalled_s, lost;
    uint32_t restarts;
};

/* A job on these servers from 0 on. */
static void follow(struct course *course, const struct outages *outages, const struct cluster_result *result)
{
    double kept = 0, from_s = 0; /* it goes on from there, then */
    for (size_t i = 0; i < outages->count; i++) {
        const struct outage *outage = &outages->items[i];
        double end_s = from_s + course->start_up_s + (course->steps - kept) * course->step_s;
        if (outage->start_s >= end_s)
            break;
        if (!has_server(result, &result->jobs[0], course->each, outage->what))
            continue;
        if (outage->start_s >= from_s) {
            double done = kept + fmax(outage->start_s - from_s - course->start_up_s, 0) / course->step_s;
            kept = course->checkpoint > 0 ? floor(done / course->checkpoint) * course->checkpoint : 0;
            course->lost += done - kept;
            course->restarts++;
            from_s = outage->start_s;
        }
        if (outage->end_s > from_s) {
            course->stalled_s += outage->end_s - from_s;
            from_s = outage->end_s;
        }
    }
    course->end_s = from_s + course->start_up_s + (course->steps - kept) * course->step_s;
}

/* Where the job runs. */
struct place {
    const char *texts[3]; /* assignments, or NULL */
    uint32_t servers, each;
};

/* A job of so many steps with nothing in the way. */
static struct job_record plain(const struct place *place, const char *steps)
{
    struct cluster_result result;
    run_jobs(&(struct failing_run){one_job, {place->texts[0], place->texts[1], place->texts[2], steps}, 0}, &result);
    CU_ASSERT_EQUAL_FATAL(result.jobs[0].outcome, OUTCOME_COMPLETED);
    struct job_record job = result.jobs[0];
    cluster_result_free(&result);
    return job;
}

static struct course plan_course(const struct place *place)
{
    struct job_record half = plain(place, "workload.steps=50"), all = plain(place, "workload.steps=100");
    struct course course = {.steps = 100,
                            .each = place->each,
                            .step_s = (all.time.total_s - half.time.total_s) / 50,
                            .bytes = all.sent_bytes};
    course.start_up_s = all.time.total_s - 100 * course.step_s;
    return course;
}

static uint32_t check_course(const struct course *plan, const struct place *place, uint64_t seed, int checkpoint)
{
    char seed_text[64], mtbf[64], repair[64], every[64];
    double all_s = plan->start_up_s + plan->steps * plan->step_s, mtbf_s = 2 * all_s, repair_s = all_s / 3;
    snprintf(seed_text, sizeof seed_text, "run.seed=%d", (int)seed);
    snprintf(mtbf, sizeof mtbf, "failures.server_mtbf=%.17gs", mtbf_s);
    snprintf(repair, sizeof repair, "failures.repair=%.17gs", repair_s);
    snprintf(every, sizeof every, "failures.checkpoint=%d", checkpoint);
    struct cluster_result result;
    run_jobs(&(struct failing_run){one_job,
                                   {place->texts[0], place->texts[1], place->texts[2], "workload.steps=100", seed_text,
                                    mtbf, repair, every, plan->bytes > 0 ? "energy.bit=1" : NULL},
                                   0},
             &result);
    const struct job_record *job = &result.jobs[0];
    struct outages outages = replay("server failures", seed, place->servers, mtbf_s, repair_s, job->time.total_s);
    struct course course = *plan;
    course.checkpoint = checkpoint;
    follow(&course, &outages, &result);
    CU_ASSERT_EQUAL(job->outcome, OUTCOME_COMPLETED);
    CU_ASSERT(fabs(job->time.total_s - course.end_s) < 1e-8 * course.end_s);
    CU_ASSERT_EQUAL(job->restarts, course.restarts);
    CU_ASSERT_EQUAL(job->cause == CAUSE_LATE, job->time.total_s > job->limit_s);
    CU_ASSERT(oracle_is_near(job->sent_bytes, plan->bytes * (1 + course.lost / course.steps), 1e-8));
    CU_ASSERT(oracle_is_near(job->energy_j, job->sent_bytes * 8e-12, 1e-12));
    if (plan->bytes > 0) /* circuits, where the parts of a time are all of it */
        CU_ASSERT(oracle_is_near(job_world_sum_s(&job->time), job->time.total_s, 1e-9));
    free(outages.items);
    cluster_result_free(&result);
    return course.restarts;
}

static void test_restarts(void)
{
    /* On four servers, and on two, which have eight devices each. */
    static const struct place places[] = {
        {{"network.model=circuit"}, 32, 1},
        {{"network.model=published"}, 32, 1},
        {{"topology=topologies/hosts-64.yaml", "place.strategy=first_fit", "partition.degree=16"}, 8, 8}};
    static const int checkpoints[] = {0, 1, 7, 40};
    for (int k = 0; k < 3; k++) {
        struct course plan = plan_course(&places[k]);
        uint32_t restarts = 0;
        for (int i = 0; i < 4; i++)
            for (uint64_t seed = 1; seed <= 12; seed++)
                restarts += check_course(&plan, &places[k], seed, checkpoints[i]);
        CU_ASSERT(restarts > 40);
    }
}

/* Restarts come at the rate of failures while a job runs: 3 standard errors of a Poisson count. */
static void test_rate(void)
{
    double expected = 0, mtbf_s = 100, counted = 0;
    for (int seed = 0; seed < 150; seed++) {
        char seed_text[64];
        struct cluster_result result;
        snprintf(seed_text, sizeof seed_text, "run.seed=%d", seed);
        run_jobs(&(struct failing_run){one_job,
                                       {seed_text, "network.model=published", "failures.server_mtbf=100s",
                                        "failures.repair=10s", "failures.checkpoint=1", "workload.steps=500"},
                                       0},
                 &result);
        struct outages outages = replay("server failures", (uint64_t)seed, 32, mtbf_s, 10, result.jobs[0].time.total_s);
        struct course course = {.steps = 500, .checkpoint = 1, .each = 1};
        course.step_s = result.jobs[0].sequential_s; /* only what it stands still is asked for */
        follow(&course, &outages, &result);
        expected += 4 * (result.jobs[0].time.total_s - course.stalled_s) / mtbf_s;
        counted += result.jobs[0].restarts;
        free(outages.items);
        cluster_result_free(&result);
    }
    CU_ASSERT(expected > 100);
    CU_ASSERT(fabs(counted - expected) < 3 * sqrt(expected));
}

/* A cluster that nobody uses, looked at every 1,000 s. */
static void test_availability(void)
{
    struct oracle_world world;
    struct cluster *cluster = NULL;
    const struct decision *decision;
    struct error error = {0};
    double looks = 0, working = 0, share = 100.0 / (100 + 50);
    oracle_world_open(&world, (const char *const[]){"topology=topologies/ocs-32.yaml", "workload.interarrival=1000s",
                                                    "run.horizon=2000000s", "run.tick=1ns", "failures.repair=50s",
                                                    "failures.server_mtbf=100s", NULL});
    CU_ASSERT_EQUAL_FATAL(cluster_open(&world.world.cluster, &cluster, &error), STATUS_OK);
    while (cluster_next(cluster, &decision, &error) == STATUS_OK && decision) {
        looks += decision->now > 0 ? 32 : 0;
        working += decision->now > 0 ? decision->occupancy->free_count : 0;
        CU_ASSERT_EQUAL_FATAL(cluster_decide(cluster, (struct answer){0}, &error), STATUS_OK);
    }
    CU_ASSERT_EQUAL(cluster_close(cluster, NULL, &error), STATUS_OK);
    CU_ASSERT(looks > 60000);
    CU_ASSERT(fabs(working / looks - share) < 3 * sqrt(share * (1 - share) / looks));
    oracle_world_close(&world);
}

/* Of 300 jobs, many at a time. */
static void test_down_gets_none(void)
{
    struct cluster_result result;
    struct failing_run run = {NULL,
                              {"workload.jobs=300", "workload.interarrival=2s", "failures.server_mtbf=200s",
                               "failures.repair=30s", "run.seed=5", "admission.policy=queue"},
                              0};
    run_jobs(&run, &result);
    struct outages outages = replay("server failures", 5, 32, 200, 30, result.length_s);
    size_t placed = 0, wrong = 0, near = 0;
    for (size_t i = 0; i < result.job_count; i++) {
        const struct job_record *job = &result.jobs[i];
        double start_s = job->arrival_s + job->queue_s;
        placed += job->outcome == OUTCOME_COMPLETED;
        for (size_t k = 0; k < outages.count && job->outcome == OUTCOME_COMPLETED; k++) {
            const struct outage *outage = &outages.items[k];
            bool is_down = outage->start_s < start_s - 1e-6 && outage->end_s > start_s + 1e-6;
            near += is_down;
            wrong += is_down && has_server(&result, job, 1, outage->what);
        }
    }
    CU_ASSERT(placed > 50 && near > 100);
    CU_ASSERT_EQUAL(wrong, 0);
    free(outages.items);
    cluster_result_free(&result);
}

static void test_never(void)
{
    static const char *const never[] = {"failures.server_mtbf=1e12s", "failures.port_mtbf=1e14s"};
    struct cluster_result plain_result, result;
    run_jobs(&(struct failing_run){NULL, {"workload.interarrival=2s"}, 0}, &plain_result);
    for (int i = 0; i < 2; i++) {
        run_jobs(&(struct failing_run){NULL, {"workload.interarrival=2s", never[i]}, 0}, &result);
        CU_ASSERT_EQUAL_FATAL(result.job_count, plain_result.job_count);
        for (size_t k = 0; k < result.job_count; k++) {
            const struct job_record *one = &result.jobs[k], *other = &plain_result.jobs[k];
            CU_ASSERT(memcmp(&one->time, &other->time, sizeof one->time) == 0);
            CU_ASSERT(one->end == other->end && one->outcome == other->outcome && one->cause == other->cause);
        }
        CU_ASSERT_EQUAL(result.length_s, plain_result.length_s);
        CU_ASSERT_EQUAL(result.trace_hash, plain_result.trace_hash);
        cluster_result_free(&result);
    }
    cluster_result_free(&plain_result);
}

/* Servers with several devices: a failure hits all that are on one, and the books balance. */
static void test_hosts(void)
{
    struct cluster_result result;
    struct failing_run run = {NULL,
                              {"topology=topologies/hosts-64.yaml", "place.strategy=first_fit",
                               "workload.interarrival=2s", "failures.server_mtbf=20s", "failures.repair=5s",
                               "failures.port_mtbf=3000s"},
                              0};
    run_jobs(&run, &result);
    uint32_t restarts = 0;
    for (size_t i = 0; i < result.job_count; i++) {
        const struct job_record *job = &result.jobs[i];
        if (job->outcome == OUTCOME_COMPLETED)
            CU_ASSERT(oracle_is_near(job_world_sum_s(&job->time), job->time.total_s, 1e-9));
        restarts += job->restarts;
    }
    CU_ASSERT(restarts > 5);
    cluster_result_free(&result);
}

/* ---- transceivers out of service ---- */

/* One transfer between two servers of different groups, with the first `broken` transceivers of the source or target
 * out of service. */
static sim_time payload_without(const char *topology, uint64_t broken, bool is_source, uint16_t lanes)
{
    enum { SOURCE = 3, TARGET = 29, BYTES = 100000000 };
    struct world world;
    struct transfer_report report = {.end = -1};
    struct error error = {0};
    struct network_ports ports;
    uint64_t list[64];
    world_open(&world, topology);
    world.options.circuits = NETWORK_PATIENT;
    CU_ASSERT_EQUAL_FATAL(network_find_ports(&world.topology, &world.options, &ports, &error), STATUS_OK);
    CU_ASSERT_FATAL(ports.reroutes && broken <= ports.count);
    *job_world_reconfiguration(&world.topology) = 1000;
    for (uint64_t i = 0; i < broken; i++)
        list[i] = (is_source ? SOURCE : TARGET) * ports.count + i;
    world.options.broken = list;
    world.options.broken_count = broken;
    world_start(&world);
    struct transfer_request request = {
        .source = SOURCE, .target = TARGET, .bytes = BYTES, .lanes = lanes, .done = world_keep, .context = &report};
    CU_ASSERT_EQUAL_FATAL(network_send(world.network, &request, NULL, &error), STATUS_OK);
    engine_run(world.engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world.network), report.end < 0);
    double slot_s = strstr(topology, "ramp") ? 20e-9 : 0;
    double rate = floor(world.topology.node_rate_bytes_per_s / ports.count);
    uint64_t left = ports.count - broken < lanes ? ports.count - broken : lanes;
    CU_ASSERT_EQUAL(report.end < 0, left == 0);
    if (left > 0)
        CU_ASSERT(fabs((double)report.payload * 1e-12 - BYTES / (rate * (double)left)) <= slot_s + 1e-11);
    world_close(&world);
    return report.payload;
}

static void test_lanes_left(void)
{
    static const char *const topologies[] = {"topologies/ocs-32.yaml", "topologies/ramp-32.yaml"};
    for (int i = 0; i < 2; i++)
        for (uint64_t broken = 0; broken <= 4; broken++)
            for (int is_source = 0; is_source < 2; is_source++) {
                payload_without(topologies[i], broken, is_source, NETWORK_ALL_LANES);
                payload_without(topologies[i], broken, is_source, 1);
            }
}

static void check_unused(void *context, const struct hardware_use *use)
{
    const bool *is_broken = context;
    enum { HALF = 32 * 4 };
    if (use->hardware < 2 * HALF && is_broken[use->hardware % HALF])
        CU_ASSERT_EQUAL(use->busy + use->switching, 0);
}

/* 40 transfers at once with two fifths of all transceivers broken. Returns how many had no way. */
static int check_ways(const char *topology, enum network_circuits circuits, struct random_stream *random)
{
    enum { SENT = 40, PORTS = 32 * 4 };
    struct world world;
    struct transfer_report reports[SENT];
    bool is_broken[PORTS] = {false}, has_way[SENT] = {false};
    uint64_t list[PORTS];
    int cut = 0;
    world_open(&world, topology);
    *job_world_reconfiguration(&world.topology) = 1000000;
    world.options.circuits = circuits;
    world.options.broken = list;
    for (uint64_t i = 0; i < PORTS; i++)
        if ((is_broken[i] = random_below(random, 5) < 2))
            list[world.options.broken_count++] = i;
    world_start(&world);
    for (int i = 0; i < SENT; i++) {
        uint64_t source = random_below(random, 8), target = 8 + random_below(random, 8);
        struct transfer_request request = {.source = (uint32_t)source,
                                           .target = (uint32_t)target,
                                           .bytes = 1000000,
                                           .lanes = (uint16_t)(2 + random_below(random, 3)),
                                           .done = world_keep,
                                           .context = &reports[i]};
        struct error error = {0};
        reports[i] = (struct transfer_report){.source = (uint32_t)source, .target = (uint32_t)target, .end = -1};
        CU_ASSERT_EQUAL_FATAL(network_send(world.network, &request, NULL, &error), STATUS_OK);
        for (int port = 0; port < 4; port++)
            has_way[i] |= !is_broken[source * 4 + (uint64_t)port] && !is_broken[target * 4 + (uint64_t)port];
        cut += !has_way[i];
    }
    engine_run(world.engine, SIM_TIME_MAX);
    for (int i = 0; i < SENT; i++)
        CU_ASSERT_EQUAL(reports[i].end >= 0, has_way[i]);
    network_visit_hardware(world.network, check_unused, is_broken);
    world_close(&world);
    return cut;
}

static void test_ways(void)
{
    static const char *const topologies[] = {"topologies/ocs-32.yaml", "topologies/ramp-32.yaml"};
    struct random_stream *random = random_open(8, "ways", 0);
    int cut = 0;
    for (int i = 0; i < 2; i++)
        for (int trial = 0; trial < 300; trial++)
            cut += check_ways(topologies[i], (enum network_circuits)(trial % 3), random);
    CU_ASSERT(cut > 100);
    random_close(random);
}

/* The time in which a job that needs so much is done, if it stands still while one of its servers is cut off. */
static double end_between(const struct outages *outages, const struct cluster_result *result, double need_s)
{
    double now_s = 0, free_s = 0; /* cut off up to free_s */
    for (size_t i = 0; i < outages->count; i++) {
        const struct outage *outage = &outages->items[i];
        if (!has_server(result, &result->jobs[0], 1, outage->what))
            continue;
        if (outage->start_s > free_s) {
            if (outage->start_s - now_s >= need_s)
                break;
            need_s -= outage->start_s - now_s;
        }
        free_s = fmax(free_s, outage->end_s);
        now_s = free_s;
    }
    return now_s + need_s;
}

static void test_cut_off(void)
{
    struct cluster_result alone, result;
    double slower = 0;
    run_jobs(&(struct failing_run){one_job, {NULL}, 1}, &alone);
    double all_s = alone.jobs[0].time.total_s;
    for (int seed = 1; seed <= 20; seed++) {
        char seed_text[64], mtbf[64], repair[64];
        snprintf(seed_text, sizeof seed_text, "run.seed=%d", seed);
        snprintf(mtbf, sizeof mtbf, "failures.port_mtbf=%.17gs", 2 * all_s);
        snprintf(repair, sizeof repair, "failures.repair=%.17gs", all_s / 4);
        run_jobs(&(struct failing_run){one_job, {seed_text, mtbf, repair}, 1}, &result);
        const struct job_record *job = &result.jobs[0];
        struct outages outages = replay("port failures", (uint64_t)seed, 32, 2 * all_s, all_s / 4, job->time.total_s);
        CU_ASSERT(oracle_is_near(job->time.total_s, end_between(&outages, &result, all_s), 1e-9));
        CU_ASSERT(oracle_is_near(job_world_sum_s(&job->time), job->time.total_s, 1e-9));
        double stood_s = job->time.part_s[TIME_WAIT_NETWORK] - alone.jobs[0].time.part_s[TIME_WAIT_NETWORK];
        CU_ASSERT(fabs(stood_s - (job->time.total_s - all_s)) < 1e-9 * all_s);
        CU_ASSERT_EQUAL(job->restarts, 0);
        slower += job->time.total_s > all_s;
        free(outages.items);
        cluster_result_free(&result);
    }
    CU_ASSERT(slower > 5);
    cluster_result_free(&alone);
}

/* Slow enough for the network to count. */
static void test_detour(void)
{
    static const char *const topologies[] = {"topology=topologies/ocs-32.yaml", "topology=topologies/ramp-32.yaml"};
    const char *rate = "network.node_rate=2GB/s", *delay = "network.reconfiguration=1us";
    for (int i = 0; i < 2; i++) {
        struct cluster_result alone, result;
        int slower = 0;
        run_jobs(&(struct failing_run){one_job, {topologies[i], rate, delay}, 0}, &alone);
        for (int seed = 1; seed <= 6; seed++) {
            char seed_text[64];
            snprintf(seed_text, sizeof seed_text, "run.seed=%d", seed);
            run_jobs(&(struct failing_run){one_job,
                                           {topologies[i], rate, delay, seed_text, "failures.port_mtbf=60s",
                                            "failures.repair=5s"},
                                           0},
                     &result);
            const struct job_record *job = &result.jobs[0];
            CU_ASSERT(job->time.total_s > alone.jobs[0].time.total_s * (1 - 1e-9));
            CU_ASSERT(oracle_is_near(job_world_sum_s(&job->time), job->time.total_s, 1e-9));
            slower += job->time.total_s > alone.jobs[0].time.total_s * 1.001;
            cluster_result_free(&result);
        }
        CU_ASSERT(slower > 2);
        cluster_result_free(&alone);
    }
}

/* ---- refused ---- */

static enum status refused(const char *const *assignments, struct error *error)
{
    struct oracle_world world;
    struct cluster_result result;
    oracle_world_open(&world, assignments);
    enum status status = cluster_run(&world.world.cluster, &result, error);
    if (status == STATUS_OK)
        cluster_result_free(&result);
    oracle_world_close(&world);
    return status;
}

static void test_refused(void)
{
    static const char *const fabric_names[] = {"ring", "rotor", "static", "packet"};
    struct error error = {0};
    for (int i = 0; i < 4; i++) {
        char topology[64];
        snprintf(topology, sizeof topology, "topology=topologies/%s-32.yaml", fabric_names[i]);
        const char *const assignments[] = {topology, "network.model=circuit", "failures.port_mtbf=1000s",
                                           "run.tick=1ns", NULL};
        CU_ASSERT_EQUAL(refused(assignments, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, fabric_names[i]));
    }
}

static void test_shared_refused(void)
{
    struct oracle_world world;
    struct error error = {0};
    oracle_world_open(&world, (const char *const[]){"network.model=circuit", "failures.server_mtbf=1000s", NULL});
    struct settings settings = world.scenario->settings;
    struct simulation other;
    settings.network.sharing = SHARING_SHARED;
    CU_ASSERT_EQUAL(simulation_open(&other, &settings, &error), STATUS_USER);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "network.sharing"));
    simulation_close(&other);
    oracle_world_close(&world);
}

void suite_failures(void)
{
    CU_pSuite suite = CU_add_suite("failures", NULL, NULL);
    CU_add_test(suite, "bytes of a step", test_bytes_of_step);
    CU_add_test(suite, "energy of a job", test_energy);
    CU_add_test(suite, "energy of parts of servers", test_energy_of_parts);
    CU_add_test(suite, "restarts from checkpoints", test_restarts);
    CU_add_test(suite, "the rate of failures", test_rate);
    CU_add_test(suite, "an idle server's availability", test_availability);
    CU_add_test(suite, "nothing on servers that are down", test_down_gets_none);
    CU_add_test(suite, "failures that never come", test_never);
    CU_add_test(suite, "servers with several devices", test_hosts);
    CU_add_test(suite, "lanes that are left", test_lanes_left);
    CU_add_test(suite, "whoever has a way gets through", test_ways);
    CU_add_test(suite, "cut off until the repair", test_cut_off);
    CU_add_test(suite, "around what is broken", test_detour);
    CU_add_test(suite, "what is not covered is refused", test_refused);
    CU_add_test(suite, "not with shared fabrics", test_shared_refused);
}
