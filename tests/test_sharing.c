/* Properties held here, of a stream of jobs that share a fabric:
 *   - a job alone is what it is on a fabric of its own; jobs that contend are slower, and never faster than alone;
 *   - on a rotor a job starts at the phase of the rotor at which it starts: jobs alike, one after the other on an empty
 *     cluster, take what they take where every step is simulated on the clock of the run, and differ;
 *   - two lanes make a job that shares faster, as they do alone;
 *   - paces between changes give what simulating every step gives, within 1 %, for equal jobs too;
 *   - parts of a job's time add up to it; the same run has the same hash;
 *   - groups of jobs that can meet are those of a plain search over all pairs, whoever comes and goes; jobs of
 * different groups take to the tick as long side by side as each group by itself, on every fabric;
 *   - a job slowed down beyond its limit completes, with cause late, counted in jobs_late and not as blocked;
 *   - a clock that runs out is the user's mistake, with a remedy. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/contention.h"
#include "cluster/metrics.h"
#include "job_world.h"
#include "suites.h"

#include <math.h>
#include "figures.h"

static const char few_equal_jobs[] = "model,arrival_s,beta\nalexnet,0,1\nalexnet,0.5,1\nvgg16,0.6,1\nvgg16,1.5,1\n";
static const char few_jobs[] = "model,arrival_s,beta\nalexnet,0,1\nvgg16,0.5,1\nresnet18,0.6,1\n";
static const char shared[] = "network.sharing=shared", exclusive[] = "network.sharing=exclusive";
static const char paces[] = "step.steady=true", live[] = "step.steady=false";

/* A run of the jobs of a CSV text. */
struct stream {
    const char *jobs, *fabric;
    const char *sharing, *steady;
    double oversubscription; /* packet: of edge switches of two servers; 0 = as the file says */
    const char *more[3];     /* assignments, or NULL */
};

static enum status run_stream(const struct stream *stream, struct cluster_result *result, double *values,
                              struct error *error)
{
    char *folder = oracle_folder(), *path = oracle_write(folder, "jobs.csv", stream->jobs);
    char trace[300], topology[64];
    struct oracle_world world;
    snprintf(trace, sizeof trace, "workload.trace=%s", path);
    snprintf(topology, sizeof topology, "topology=topologies/%s-32.yaml", stream->fabric);
    oracle_world_open(
        &world, (const char *const[]){trace, topology, stream->sharing, stream->steady, "network.model=circuit",
                                      "workload.time_unit=ms", "workload.steps=10", "partition.strategy=fixed",
                                      "partition.degree=4", stream->more[0], stream->more[1], stream->more[2], NULL});
    if (stream->oversubscription > 0) {
        *figure_real(&world.world.topology, "packet.oversubscription") = stream->oversubscription;
        *figure_whole(&world.world.topology, "packet.radix") = 2;
    }
    enum status status = cluster_run(&world.world.cluster, result, error);
    if (status == STATUS_OK && values)
        metrics_compute(&world.world.cluster, result, values);
    oracle_world_close(&world);
    oracle_remove(folder);
    free(path);
    free(folder);
    return status;
}

static void run_well(const struct stream *stream, struct cluster_result *result, double *values)
{
    struct error error = {0};
    enum status status = run_stream(stream, result, values, &error);
    if (status != STATUS_OK)
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
}

/* ---- alone and together ---- */

static void check_adds_up(const struct cluster_result *result)
{
    for (size_t i = 0; i < result->job_count; i++) {
        const struct job_record *job = &result->jobs[i];
        if (job->outcome == OUTCOME_COMPLETED)
            CU_ASSERT(oracle_is_near(job_world_sum_s(&job->time), job->time.total_s, 1e-6));
    }
}

/* Both ways of simulating, on every fabric. */
static void test_alone(void)
{
    for (size_t i = 0; i < fabrics.count; i++) {
        const char *more = strcmp(fabrics.strategies[i]->name, "packet") == 0 ? NULL : "network.reconfiguration=1us";
        struct stream stream = {
            "model,arrival_s,beta\nalexnet,0,1\n", fabrics.strategies[i]->name, exclusive, live, 0, {more}};
        struct cluster_result alone, same, pace;
        run_well(&stream, &alone, NULL);
        stream.sharing = shared;
        run_well(&stream, &same, NULL);
        stream.steady = paces;
        run_well(&stream, &pace, NULL);
        CU_ASSERT_EQUAL_FATAL(alone.job_count, 1);
        CU_ASSERT_EQUAL(alone.jobs[0].outcome, OUTCOME_COMPLETED);
        CU_ASSERT(oracle_is_near(same.jobs[0].time.total_s, alone.jobs[0].time.total_s, 1e-9));
        CU_ASSERT(
            oracle_is_near(same.jobs[0].time.part_s[TIME_RECONFIG], alone.jobs[0].time.part_s[TIME_RECONFIG], 1e-9));
        CU_ASSERT(oracle_is_near(pace.jobs[0].time.total_s, alone.jobs[0].time.total_s, 0.01));
        /* What the first step pays for switching is booked as that, not as a share of a steady step: each part is right
         * to a five-hundredth of the whole. */
        for (int part = 0; part < TIME_PARTS; part++)
            CU_ASSERT(fabs(pace.jobs[0].time.part_s[part] - alone.jobs[0].time.part_s[part]) <
                      0.002 * alone.jobs[0].time.total_s);
        CU_ASSERT(pace.jobs[0].time.part_s[TIME_RECONFIG] > 0 || alone.jobs[0].time.part_s[TIME_RECONFIG] == 0);
        check_adds_up(&alone);
        check_adds_up(&same);
        check_adds_up(&pace);
        cluster_result_free(&alone);
        cluster_result_free(&same);
        cluster_result_free(&pace);
    }
}

/* 50 us dark and 450 us lit: a turn of 15.5 ms, and three phases of it. */
static void test_phases(void)
{
    struct stream stream = {"model,arrival_s,beta\nalexnet,0,1\nalexnet,1000.0123,1\nalexnet,2000.1777,1\n",
                            "rotor",
                            exclusive,
                            live,
                            0,
                            {"network.reconfiguration=50us", "network.all_reduce=ring"}};
    struct cluster_result alone, clock;
    run_well(&stream, &alone, NULL);
    stream.sharing = shared;
    run_well(&stream, &clock, NULL);
    CU_ASSERT_EQUAL_FATAL(alone.job_count, 3);
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(alone.jobs[i].outcome, OUTCOME_COMPLETED);
        CU_ASSERT(fabs(alone.jobs[i].time.total_s - clock.jobs[i].time.total_s) < 1e-9); /* of a run of 2,000 s */
        CU_ASSERT(i == 0 || alone.jobs[i].time.total_s != alone.jobs[i - 1].time.total_s);
    }
    cluster_result_free(&alone);
    cluster_result_free(&clock);
}

/* One phase: all start as if at the first instant, and one step is simulated for all. */
static void test_one_phase(void)
{
    struct stream stream = {"model,arrival_s,beta\nalexnet,0,1\nalexnet,1000.0123,1\nalexnet,2000.1781,1\n",
                            "rotor",
                            exclusive,
                            live,
                            0,
                            {"network.all_reduce=ring", "step.phases=1"}};
    struct cluster_result rough, exact;
    run_well(&stream, &rough, NULL);
    stream.more[1] = NULL;
    run_well(&stream, &exact, NULL);
    CU_ASSERT_EQUAL(rough.jobs[0].time.total_s, exact.jobs[0].time.total_s);
    CU_ASSERT_EQUAL(rough.jobs[1].time.total_s, rough.jobs[0].time.total_s);
    CU_ASSERT_EQUAL(rough.jobs[2].time.total_s, rough.jobs[0].time.total_s);
    CU_ASSERT(rough.steps_simulated == 1 && exact.steps_simulated == 3);
    cluster_result_free(&rough);
    cluster_result_free(&exact);
}

/* network.lanes counts where jobs share as well: with two lanes per job is what it is on a fabric of its own. */
static void test_lanes(void)
{
    struct stream stream = {"model,arrival_s,beta\nalexnet,0,1\n",
                            "ocs",
                            exclusive,
                            live,
                            0,
                            {"network.reconfiguration=1us", "network.lanes=2", "workload.traffic=published"}};
    struct cluster_result alone, two, one;
    run_well(&stream, &alone, NULL);
    stream.sharing = shared;
    run_well(&stream, &two, NULL);
    stream.more[1] = "network.lanes=1";
    run_well(&stream, &one, NULL);
    CU_ASSERT_EQUAL(two.jobs[0].outcome, OUTCOME_COMPLETED);
    CU_ASSERT(two.jobs[0].time.part_s[TIME_PAYLOAD] < 0.6 * one.jobs[0].time.part_s[TIME_PAYLOAD]);
    CU_ASSERT(oracle_is_near(two.jobs[0].time.total_s, alone.jobs[0].time.total_s, 1e-9));
    cluster_result_free(&alone);
    cluster_result_free(&two);
    cluster_result_free(&one);
}

static void check_paces(const struct stream *stream)
{
    struct stream each = *stream, own = *stream;
    struct cluster_result guess, truth, alone;
    each.steady = live;
    own.sharing = exclusive;
    run_well(stream, &guess, NULL);
    run_well(&each, &truth, NULL);
    run_well(&own, &alone, NULL);
    CU_ASSERT_EQUAL_FATAL(guess.job_count, truth.job_count);
    for (size_t i = 0; i < truth.job_count; i++) {
        CU_ASSERT_EQUAL(truth.jobs[i].outcome, OUTCOME_COMPLETED);
        if (!oracle_is_near(guess.jobs[i].time.total_s, truth.jobs[i].time.total_s, 0.01))
            printf("\n  %s %g: job %zu takes %.6g s by paces, %.6g s step by step\n", stream->fabric,
                   stream->oversubscription, i, guess.jobs[i].time.total_s, truth.jobs[i].time.total_s);
        CU_ASSERT(oracle_is_near(guess.jobs[i].time.total_s, truth.jobs[i].time.total_s, 0.01));
        CU_ASSERT(truth.jobs[i].time.total_s >= alone.jobs[i].time.total_s * (1 - 1e-9));
    }
    check_adds_up(&guess);
    check_adds_up(&truth);
    cluster_result_free(&guess);
    cluster_result_free(&truth);
    cluster_result_free(&alone);
}

/* Equal jobs that begin at different times stay out of step and hardly meet: a look-ahead that began them together
 * would have them collide in every transfer. */
static void test_paces(void)
{
    static const double oversubscriptions[] = {4, 16, 64};
    for (size_t i = 0; i < 3; i++)
        check_paces(&(struct stream){few_equal_jobs, "packet", shared, paces, oversubscriptions[i], {NULL}});
    check_paces(&(struct stream){few_jobs, "packet", shared, paces, 16, {NULL}});
    check_paces(&(struct stream){few_jobs, "ramp", shared, paces, 0, {NULL}});
    check_paces(&(struct stream){few_jobs, "awgr", shared, paces, 0, {NULL}});
}

static void test_again(void)
{
    for (int i = 0; i < 2; i++) {
        struct stream stream = {few_jobs, "ring", shared, i ? live : paces, 0, {NULL}};
        struct cluster_result first, second;
        run_well(&stream, &first, NULL);
        run_well(&stream, &second, NULL);
        CU_ASSERT_EQUAL(first.trace_hash, second.trace_hash);
        CU_ASSERT_EQUAL(first.events, second.events);
        CU_ASSERT(first.events > 1000);
        cluster_result_free(&first);
        cluster_result_free(&second);
    }
}

/* ---- groups ---- */

enum { JOBS_MOST = 6, SERVERS = 32 };

/* A fabric, and what is set on it besides. */
struct variant {
    const char *fabric, *whole_key, *real_key;
    int64_t whole;
    double real;
    bool is_apart; /* jobs never meet */
};

static const struct variant variants[] = {
    {"ramp", "ramp.planes", NULL, 1, 0, false},
    {"ramp", "ramp.planes", NULL, 2, 0, false},
    {"ramp", "ramp.planes", NULL, 4, 0, true},
    {"ocs", NULL, NULL, 0, 0, true},
    {"awgr", NULL, NULL, 0, 0, true},
    {"ring", "ring.wavelengths", NULL, 2, 0, false},
    {"rotor", NULL, NULL, 0, 0, true},
    {"static", NULL, NULL, 0, 0, true},
    {"packet", "packet.radix", "packet.oversubscription", 2, 8, false},
};

static void open_variant(const struct variant *variant, struct topology *topology)
{
    job_world_topology(variant->fabric, topology);
    if (variant->whole_key)
        *figure_whole(topology, variant->whole_key) = variant->whole;
    if (variant->real_key)
        *figure_real(topology, variant->real_key) = variant->real;
}

/* Jobs on servers of their own, dealt out at random. */
struct crowd {
    struct job_world jobs[JOBS_MOST];
    uint32_t servers[JOBS_MOST][SERVERS], server_count[JOBS_MOST];
    uint32_t count;
};

static void deal_servers(struct crowd *crowd, struct random_stream *random)
{
    uint32_t servers[SERVERS], next = 0;
    for (uint32_t i = 0; i < SERVERS; i++)
        servers[i] = i;
    for (uint32_t i = SERVERS - 1; i > 0; i--) {
        uint32_t j = (uint32_t)random_below(random, i + 1), kept = servers[i];
        servers[i] = servers[j];
        servers[j] = kept;
    }
    crowd->count = 2 + (uint32_t)random_below(random, JOBS_MOST - 1);
    bool is_near = random_below(random, 2); /* neighbours, so that not everybody meets everybody */
    for (uint32_t job = 0; job < crowd->count; job++) {
        crowd->server_count[job] = 1 + (uint32_t)random_below(random, 5);
        for (uint32_t i = 0; i < crowd->server_count[job]; i++, next++)
            crowd->servers[job][i] = is_near ? next : servers[next];
    }
}

static void open_crowd(struct crowd *crowd, const struct topology *topology, struct random_stream *random)
{
    deal_servers(crowd, random);
    for (uint32_t job = 0; job < crowd->count; job++) {
        uint64_t seed = random_below(random, 1000);
        job_world_put_randomly(&crowd->jobs[job], oracle_random_graph(seed, 12, seed % 2), topology, random,
                               crowd->servers[job], crowd->server_count[job]);
    }
}

/* Simulates some of them side by side. */
static void run_some(struct crowd *crowd, const struct topology *topology, const uint32_t *jobs, uint32_t count,
                     struct step_result *steps)
{
    struct step_input inputs[JOBS_MOST];
    struct circuit_options options = job_world_options(3);
    struct error error = {0};
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = job_world_input(&crowd->jobs[jobs[i]], topology);
    CU_ASSERT_EQUAL_FATAL(step_run(inputs, count, &options, steps, &error), STATUS_OK);
}

/* max-min shares of flows that never meet may differ in the last bit, and then by a tick. */
static void check_same(const struct topology *topology, const struct step_result *group, const struct step_result *all)
{
    bool is_packet = strcmp(topology->fabric.strategy->name, "packet") == 0;
    double near = is_packet ? 1e-9 : 0;
    CU_ASSERT(fabs(group->step.total_s - all->step.total_s) <= near * all->step.total_s);
    CU_ASSERT(fabs(group->start_up.total_s - all->start_up.total_s) <= near * all->step.total_s);
    CU_ASSERT(fabs(group->step.part_s[TIME_WAIT] - all->step.part_s[TIME_WAIT]) <= near * all->step.total_s);
}

/* Answers how many groups there are. */
static uint32_t check_crowd(struct crowd *crowd, const struct topology *topology)
{
    struct contention *contention = contention_create(topology, false);
    struct step_result all[JOBS_MOST], steps[JOBS_MOST];
    uint32_t numbers[JOBS_MOST], jobs[JOBS_MOST], groups = 0, met = 0;
    for (uint32_t job = 0; job < crowd->count; job++) {
        const struct deployment *deployment = &crowd->jobs[job].deployment;
        numbers[job] =
            contention_add(contention, &crowd->jobs[job], deployment->used, crowd->jobs[job].deployment.used_count);
        jobs[job] = job;
    }
    run_some(crowd, topology, jobs, crowd->count, all);
    contention_start(contention);
    for (uint32_t job = 0; job < crowd->count; job++) {
        uint32_t count;
        void *const *group = contention_group(contention, numbers[job], &count);
        for (uint32_t i = 0; i < count; i++)
            jobs[i] = (uint32_t)((struct job_world *)group[i] - crowd->jobs);
        if (count > 0)
            run_some(crowd, topology, jobs, count, steps);
        for (uint32_t i = 0; i < count; i++)
            check_same(topology, &steps[i], &all[jobs[i]]);
        groups += count > 0;
        met += count;
    }
    CU_ASSERT_EQUAL(met, crowd->count);
    contention_free(contention);
    return groups;
}

static void test_groups(void)
{
    struct random_stream *random = random_open(61, "groups", 0);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct topology topology;
        uint32_t joined = 0, apart = 0;
        open_variant(&variants[i], &topology);
        for (uint32_t n = 0; n < 60; n++) {
            struct crowd crowd;
            open_crowd(&crowd, &topology, random);
            uint32_t groups = check_crowd(&crowd, &topology);
            joined += groups < crowd.count;
            apart += groups > 1;
            for (uint32_t job = 0; job < crowd.count; job++)
                job_world_end(&crowd.jobs[job]);
        }
        CU_ASSERT(apart > 0);
        CU_ASSERT_EQUAL(joined == 0, variants[i].is_apart);
        topology_free(&topology);
    }
    random_close(random);
}

/* Do two jobs use something in common? */
static bool has_common(const struct topology *topology, const struct crowd *crowd, uint32_t left, uint32_t right)
{
    struct fabric_list a = {0}, b = {0};
    bool is_common = false;
    fabric_of(topology)->domains(topology, crowd->servers[left], crowd->server_count[left], &a);
    fabric_of(topology)->domains(topology, crowd->servers[right], crowd->server_count[right], &b);
    for (size_t i = 0; i < a.count; i++)
        for (size_t j = 0; j < b.count; j++)
            is_common = is_common || a.ids[i] == b.ids[j];
    free(a.ids);
    free(b.ids);
    return is_common;
}

/* Marks all that can be reached from a job over jobs that run. */
static void reach(const struct topology *topology, const struct crowd *crowd, const bool *runs, uint32_t from,
                  bool *is_reached)
{
    is_reached[from] = true;
    for (uint32_t job = 0; job < crowd->count; job++)
        if (runs[job] && !is_reached[job] && has_common(topology, crowd, from, job))
            reach(topology, crowd, runs, job, is_reached);
}

/* Jobs come and go; each time one of them is asked for its group. */
static void check_coming_and_going(const struct topology *topology, struct random_stream *random)
{
    struct contention *contention = contention_create(topology, false);
    struct crowd crowd;
    uint32_t numbers[JOBS_MOST];
    bool runs[JOBS_MOST] = {false};
    deal_servers(&crowd, random);
    for (uint32_t n = 0; n < 30; n++) {
        uint32_t job = (uint32_t)random_below(random, crowd.count), count, expected = 0;
        bool is_reached[JOBS_MOST] = {false};
        if (runs[job]) {
            contention_remove(contention, numbers[job]);
            runs[job] = false;
            continue;
        }
        numbers[job] =
            contention_add(contention, &crowd.server_count[job], crowd.servers[job], crowd.server_count[job]);
        runs[job] = true;
        contention_start(contention);
        void *const *group = contention_group(contention, numbers[job], &count);
        reach(topology, &crowd, runs, job, is_reached);
        for (uint32_t i = 0; i < crowd.count; i++)
            expected += is_reached[i];
        CU_ASSERT_EQUAL_FATAL(count, expected);
        for (uint32_t i = 0; i < count; i++)
            CU_ASSERT(is_reached[(const uint32_t *)group[i] - crowd.server_count]);
        CU_ASSERT_PTR_EQUAL(group[count - 1], &crowd.server_count[job]); /* the last to come */
    }
    contention_free(contention);
}

static void test_coming_and_going(void)
{
    struct random_stream *random = random_open(67, "groups", 0);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct topology topology;
        open_variant(&variants[i], &topology);
        for (uint32_t n = 0; n < 50 && fabric_of(&topology)->domains; n++)
            check_coming_and_going(&topology, random);
        topology_free(&topology);
    }
    random_close(random);
}

/* ---- late ---- */

/* The first job may take a little longer than it would alone; the second slows it by more. */
static void check_late(const char *steady)
{
    char jobs[128];
    double values[METRIC_COUNT];
    struct stream stream = {"model,arrival_s,beta\nalexnet,0,1\n", "packet", shared, steady, 64,
                            {"workload.traffic=published"}};
    struct cluster_result alone, both;
    run_well(&stream, &alone, NULL);
    double beta = 1.001 * alone.jobs[0].time.total_s / alone.jobs[0].sequential_s;
    snprintf(jobs, sizeof jobs, "model,arrival_s,beta\nalexnet,0,%.17g\nvgg16,0.5,1\n", beta);
    stream.jobs = jobs;
    run_well(&stream, &both, values);
    CU_ASSERT_EQUAL_FATAL(both.job_count, 2);
    CU_ASSERT_EQUAL(both.jobs[0].outcome, OUTCOME_COMPLETED);
    CU_ASSERT_EQUAL(both.jobs[0].cause, CAUSE_LATE);
    CU_ASSERT(both.jobs[0].time.total_s > both.jobs[0].limit_s);
    CU_ASSERT_EQUAL(both.jobs[1].cause, CAUSE_NONE);
    CU_ASSERT_EQUAL(values[METRIC_JOBS_LATE], 1);
    CU_ASSERT_EQUAL(values[METRIC_JOBS_BLOCKED], 0);
    CU_ASSERT_EQUAL(values[METRIC_BLOCKED_LATE], 0);
    CU_ASSERT_EQUAL(values[METRIC_JOBS_COMPLETED], 2);
    cluster_result_free(&alone);
    cluster_result_free(&both);
}

static void test_late(void)
{
    check_late(paces);
    check_late(live);
}

/* ---- the clock ---- */

static void check_refused(const struct stream *stream, const char *says)
{
    struct cluster_result result;
    struct error error = {0};
    CU_ASSERT_EQUAL(run_stream(stream, &result, NULL, &error), STATUS_USER);
    if (!strstr(error.message, says))
        printf("\n  said: %s\n", error.message);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, says));
}

/* 2^63 ps are 9,223,372.04 seconds. */
static void test_clock_runs_out(void)
{
    static const char late[] = "model,arrival_s,beta\nalexnet,9223371,1\n",
                      one[] = "model,arrival_s,beta\nalexnet,0,1\n";
    check_refused(&(struct stream){late, "packet", shared, live, 0, {NULL}}, "1ns");
    check_refused(&(struct stream){late, "packet", shared, paces, 0, {NULL}}, "1ns");
    check_refused(&(struct stream){one, "packet", shared, paces, 0, {"workload.steps=1000000000"}}, "1ns");
}

void suite_sharing(void)
{
    CU_pSuite suite = CU_add_suite("sharing a fabric", NULL, NULL);
    CU_ADD_TEST(suite, test_alone);
    CU_ADD_TEST(suite, test_phases);
    CU_ADD_TEST(suite, test_one_phase);
    CU_ADD_TEST(suite, test_lanes);
    CU_ADD_TEST(suite, test_paces);
    CU_ADD_TEST(suite, test_again);
    CU_ADD_TEST(suite, test_groups);
    CU_ADD_TEST(suite, test_coming_and_going);
    CU_ADD_TEST(suite, test_late);
    CU_ADD_TEST(suite, test_clock_runs_out);
}
