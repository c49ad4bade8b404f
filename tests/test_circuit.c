/* Properties held here, of jobs on circuits, step after step and side by side:
 *   - a job that uses its circuits again: teardown takes no less than linger, linger no less than hold; with hold no
 *     step pays more reconfiguration than the first;
 *   - steady is within 1 % of simulating all steps, whatever they do; where they repeat, also in cycles, it is equal to
 *     that and simulates fewer;
 *   - jobs whose servers and hardware do not meet run side by side exactly as alone; on a bottleneck none gains;
 *   - every piece of hardware has a name of its own; a rate that leaves nothing for a transceiver is refused;
 *   - equal keys of the memo are equal steps, whatever the servers are called; other fabrics keep servers as they are.
 */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/memo.h"
#include "job_world.h"
#include "strategies.h"
#include "suites.h"
#include "figures.h"

static const uint32_t pair[] = {0, 5};

/* ---- circuits used again ---- */

static double total_s(struct job_world *job, const struct topology *topology, enum network_circuits circuits,
                      int64_t linger_ps, struct step_result *result)
{
    struct circuit_options options = job_world_options(4);
    options.network.circuits = circuits;
    options.network.linger_ps = linger_ps;
    *result = job_world_step(job, topology, &options);
    return step_times(result, 4).total_s;
}

static void check_policies(struct job_world *job, const struct topology *topology, struct random_stream *random)
{
    struct step_result held, lingered, torn;
    int64_t linger_ps = (int64_t)random_below(random, 1000000000);
    double hold_s = total_s(job, topology, NETWORK_HOLD, 0, &held);
    double linger_s = total_s(job, topology, NETWORK_LINGER, linger_ps, &lingered);
    double teardown_s = total_s(job, topology, NETWORK_TEARDOWN, 0, &torn);
    CU_ASSERT(teardown_s >= linger_s);
    CU_ASSERT(linger_s >= hold_s);
    CU_ASSERT(held.start_up.part_s[TIME_RECONFIG] >= 0); /* the last step pays no more than the mean of all */
    CU_ASSERT_EQUAL(torn.start_up.part_s[TIME_RECONFIG], 0);
    CU_ASSERT_EQUAL(held.step.part_s[TIME_COMP], torn.step.part_s[TIME_COMP]);
}

static void test_policies(void)
{
    static const char *const circuits[] = {"ramp", "ocs", "awgr", "ring"};
    struct random_stream *random = random_open(23, "policies", 0);
    uint32_t gains = 0;
    for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++) {
        struct topology topology;
        job_world_topology(circuits[i], &topology);
        for (uint32_t n = 0; n < 100; n++) {
            struct job_world job;
            struct step_result held, torn;
            struct graph *graph = job_world_random_chain(random, 2 + (uint32_t)random_below(random, 8), 1e8);
            job_world_put_randomly(&job, graph, &topology, random, pair, 2);
            check_policies(&job, &topology, random);
            gains +=
                total_s(&job, &topology, NETWORK_HOLD, 0, &held) < total_s(&job, &topology, NETWORK_TEARDOWN, 0, &torn);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    CU_ASSERT(gains > 300);
    random_close(random);
}

/* Every step of a job, one by one. */
enum { STEPS = 30 };
struct diary {
    struct engine *engine;
    struct step_path paths[STEPS];
    uint64_t schedules[STEPS];
    uint32_t count;
};

static void note_step(void *context, struct stepper_job *job, const struct stepper_report *report)
{
    struct diary *diary = context;
    diary->schedules[diary->count] = report->schedule;
    diary->paths[diary->count++] = report->path;
    if (diary->count < STEPS)
        stepper_start(job);
    else
        engine_stop(diary->engine);
}

static void keep_diary(struct job_world *job, const struct topology *topology, struct diary *diary)
{
    struct circuit_options options = {.network.circuits = NETWORK_HOLD, .clock = {1}};
    struct step_input input = job_world_input(job, topology);
    struct stepper *stepper = NULL;
    struct stepper_job *placed = NULL;
    struct error error = {0};
    *diary = (struct diary){.engine = engine_create()};
    CU_ASSERT_EQUAL_FATAL(stepper_create(diary->engine, topology, 0, &options, &stepper, &error), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(stepper_add(stepper, &input, 0, note_step, diary, &placed, &error), STATUS_OK);
    stepper_start(placed);
    engine_run(diary->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(stepper_status(stepper, &error), STATUS_OK);
    CU_ASSERT_EQUAL(diary->count, STEPS);
    stepper_remove(placed);
    stepper_destroy(stepper);
    engine_destroy(diary->engine);
}

/* Any servers, so that some circuits have to give way to others. */
static void check_later_steps(struct job_world *job, const struct topology *topology)
{
    struct diary diary;
    keep_diary(job, topology, &diary);
    for (uint32_t step = 1; step < STEPS; step++)
        CU_ASSERT(diary.paths[step].ticks[PATH_RECONFIGURATION] <= diary.paths[0].ticks[PATH_RECONFIGURATION]);
}

static void test_later_steps(void)
{
    static const char *const circuits[] = {"ramp", "ocs", "awgr", "ring"};
    static const uint32_t servers[] = {0, 5, 10, 15, 20, 25, 30, 3};
    struct random_stream *random = random_open(29, "policies", 0);
    for (size_t i = 0; i < sizeof circuits / sizeof *circuits; i++) {
        struct topology topology;
        job_world_topology(circuits[i], &topology);
        for (uint32_t n = 0; n < 100; n++) {
            struct job_world job;
            struct graph *graph = job_world_random_chain(random, 2 + (uint32_t)random_below(random, 12), 1e8);
            job_world_put_randomly(&job, graph, &topology, random, servers, 8);
            check_later_steps(&job, &topology);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* ---- steady ---- */

static double length_s(const struct diary *diary, int64_t step)
{
    return (double)step_path_length(&diary->paths[step]) * 1e-12;
}

/* The longest stretch at the end in which each step repeats the one so many before. */
static int64_t repeated_from(const struct diary *diary, int64_t cycle)
{
    int64_t first = STEPS - cycle;
    while (first > 0 && diary->schedules[first - 1] == diary->schedules[first - 1 + cycle])
        first--;
    return first;
}

/* Do the steps go in cycles of at most 8, seen twice by the middle of them? */
static bool is_cyclic(const struct diary *diary)
{
    for (int64_t cycle = 1; cycle <= 8; cycle++)
        if (repeated_from(diary, cycle) + 2 * cycle <= STEPS / 2)
            return true;
    return false;
}

/* Steps with equal schedules must take as long, or the schedule says nothing. */
static void check_schedules(const struct diary *diary)
{
    for (uint32_t i = 1; i < STEPS; i++)
        if (diary->schedules[i] == diary->schedules[i - 1])
            CU_ASSERT_EQUAL(step_path_length(&diary->paths[i]), step_path_length(&diary->paths[i - 1]));
}

/* Answers whether the steps became alike. */
static bool check_steady(struct job_world *job, const struct topology *topology, double tolerance, int64_t min_steps)
{
    struct diary diary;
    double whole_s = 0;
    struct circuit_options all = job_world_options(STEPS), steady = all;
    steady.steady_tolerance = tolerance;
    steady.min_steps = min_steps;
    keep_diary(job, topology, &diary);
    check_schedules(&diary);
    for (int64_t step = 0; step < STEPS; step++)
        whole_s += length_s(&diary, step);
    struct step_result long_way = job_world_step(job, topology, &all);
    struct step_result short_way = job_world_step(job, topology, &steady);
    struct time_parts whole = step_times(&long_way, STEPS), guess = step_times(&short_way, STEPS);
    bool is_even = is_cyclic(&diary), is_exact = is_even && tolerance == 0;
    CU_ASSERT(oracle_is_near(whole.total_s, whole_s, 1e-12));
    CU_ASSERT(oracle_is_near(guess.total_s, whole.total_s, is_exact ? 1e-12 : 0.01));
    CU_ASSERT(is_even ? short_way.events < long_way.events : short_way.events <= long_way.events);
    CU_ASSERT(oracle_is_near(job_world_sum_s(&guess), guess.total_s, 1e-12));
    return is_even;
}

/* Chains become alike soon, unless they meet the turns of a rotor. Split jobs may keep taking circuits from each other
 * in ever new ways. */
static void test_steady(void)
{
    static const uint32_t servers[] = {0, 5, 10, 15, 20, 25, 30, 3};
    struct random_stream *random = random_open(31, "steady", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        bool is_rotor = strcmp(topology.fabric.strategy->name, "rotor") == 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            struct job_world job;
            struct graph *graph = seed % 2 ? oracle_random_graph(seed, 2 + (uint32_t)(seed % 15), seed % 4 == 1)
                                           : job_world_random_chain(random, 2 + (uint32_t)(seed % 10), 1e8);
            if (seed % 4 == 1)
                job_world_split(&job, graph, &topology, 4, &place_ramp_first_fit);
            else
                job_world_put_randomly(&job, graph, &topology, random, servers, 8);
            bool is_even = check_steady(&job, &topology, seed % 3 ? 0.001 : 0, 2 + (int64_t)(seed % 3));
            CU_ASSERT(is_even || is_rotor || seed % 2);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* A published model, split, on a fabric with a delay: all 50 steps against the shortcut. */
static void check_shortcut(const char *model, const struct topology *topology, uint32_t degree, uint16_t lanes)
{
    struct job_world job;
    struct graph *graph = NULL;
    struct error error = {0};
    struct circuit_options all = job_world_options(50);
    all.lanes = lanes;
    struct circuit_options steady = all;
    steady.steady_tolerance = 0.001;
    steady.max_steps = 16;
    CU_ASSERT_EQUAL_FATAL(graph_load(model, &graph, &error), STATUS_OK);
    job_world_split(&job, graph, topology, degree, &place_ramp_first_fit);
    struct step_result long_way = job_world_step(&job, topology, &all);
    struct step_result short_way = job_world_step(&job, topology, &steady);
    CU_ASSERT(oracle_is_near(step_times(&short_way, 50).total_s, step_times(&long_way, 50).total_s, 0.01));
    job_world_end(&job);
}

/* Delays at which jobs take circuits from each other in turns, in ever new ways, or meet the turns of a rotor. */
static void test_shortcut(void)
{
    static const char *const names[] = {"ocs", "ring", "rotor"};
    static const int64_t delays_ps[] = {1000000000, 10000000000};
    for (size_t i = 0; i < 6; i++) {
        struct topology topology;
        job_world_topology(names[i / 2], &topology);
        topology.reconfiguration_ps = delays_ps[i % 2];
        for (uint32_t degree = 4; degree <= 8; degree *= 2) {
            check_shortcut("models/alexnet.json", &topology, degree, i / 2 == 1 ? 4 : 1);
            check_shortcut("models/vgg16.json", &topology, degree, i / 2 == 1 ? 4 : 1);
        }
        topology_free(&topology);
    }
}

/* ---- side by side ---- */

/* Two jobs together, all steps. */
static void run_both(struct job_world *left, struct job_world *right, const struct topology *topology, int64_t steps,
                     struct step_result results[2])
{
    struct step_input inputs[] = {job_world_input(left, topology), job_world_input(right, topology)};
    struct circuit_options options = job_world_options(steps);
    struct error error = {0};
    CU_ASSERT_EQUAL_FATAL(step_run(inputs, 2, &options, results, &error), STATUS_OK);
}

static void check_as_alone(struct job_world *job, const struct topology *topology, const struct step_result *both)
{
    struct circuit_options options = job_world_options(4);
    struct step_result alone = job_world_step(job, topology, &options);
    CU_ASSERT_EQUAL(both->step.total_s, alone.step.total_s);
    CU_ASSERT_EQUAL(both->step.part_s[TIME_COMM], alone.step.part_s[TIME_COMM]);
    CU_ASSERT_EQUAL(both->step.part_s[TIME_RECONFIG], alone.step.part_s[TIME_RECONFIG]);
    CU_ASSERT_EQUAL(both->step.part_s[TIME_WAIT], alone.step.part_s[TIME_WAIT]);
    CU_ASSERT_EQUAL(both->start_up.total_s, alone.start_up.total_s);
}

/* Each in a group, a stretch of the ring, an edge switch and a corner of the torus of its own. */
static void test_side_by_side(void)
{
    static const uint32_t here[] = {0, 1, 2, 3}, there[] = {16, 17, 18, 19};
    struct random_stream *random = random_open(37, "side by side", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct job_world left, right;
            struct step_result both[2];
            job_world_put_randomly(&left, oracle_random_graph(seed, 12, false), &topology, random, here, 4);
            job_world_put_randomly(&right, oracle_random_graph(seed + 100, 9, true), &topology, random, there, 4);
            run_both(&left, &right, &topology, 4, both);
            check_as_alone(&left, &topology, &both[0]);
            check_as_alone(&right, &topology, &both[1]);
            job_world_end(&left);
            job_world_end(&right);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* Both cross the same uplinks, or the same arc of a ring of one wavelength. Answers how many were slowed. */
static uint32_t check_bottleneck(const struct topology *topology, struct random_stream *random)
{
    static const uint32_t left_servers[] = {0, 16}, right_servers[] = {1, 15};
    struct job_world jobs[2];
    struct step_result both[2];
    struct circuit_options options = job_world_options(3);
    uint32_t slowed = 0;
    for (int i = 0; i < 2; i++) {
        struct graph *graph = job_world_random_chain(random, 3 + (uint32_t)random_below(random, 6), 1e9);
        job_world_put_randomly(&jobs[i], graph, topology, random, i ? right_servers : left_servers, 2);
    }
    run_both(&jobs[0], &jobs[1], topology, 3, both);
    for (int i = 0; i < 2; i++) {
        struct step_result alone = job_world_step(&jobs[i], topology, &options);
        double alone_s = step_times(&alone, 3).total_s, together_s = step_times(&both[i], 3).total_s;
        CU_ASSERT(together_s >= alone_s * (1 - 1e-14));
        slowed += together_s > alone_s * 1.01;
        job_world_end(&jobs[i]);
    }
    return slowed;
}

static void test_bottleneck(void)
{
    struct random_stream *random = random_open(41, "bottleneck", 0);
    static const char *const names[] = {"packet", "ring"};
    for (size_t i = 0; i < 2; i++) {
        struct topology topology;
        uint32_t slowed = 0;
        job_world_topology(names[i], &topology);
        if (i == 0)
            *figure_real(&topology, "packet.oversubscription") = 8;
        else
            *figure_whole(&topology, "ring.wavelengths") = *figure_whole(&topology, "ring.transceivers") = 1;
        for (uint32_t n = 0; n < 200; n++)
            slowed += check_bottleneck(&topology, random);
        CU_ASSERT(slowed > 100);
        topology_free(&topology);
    }
    random_close(random);
}

/* ---- the memo ---- */

/* Groups and racks turned, places swapped: other names for the same placement. */
static void turn_servers(const struct topology *t, uint32_t *servers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t group = (topology_group(t, servers[i]) + 3) % 4, rack = (topology_rack(t, servers[i]) * 3 + 1) % 4;
        servers[i] = (group * 4 + rack) * 2 + (1 - topology_place(t, servers[i]));
    }
}

static void check_equal_steps(const struct step_result *a, const struct step_result *b)
{
    CU_ASSERT_EQUAL(a->step.total_s, b->step.total_s);
    CU_ASSERT_EQUAL(a->step.part_s[TIME_COMM], b->step.part_s[TIME_COMM]);
    CU_ASSERT_EQUAL(a->step.part_s[TIME_RECONFIG], b->step.part_s[TIME_RECONFIG]);
    CU_ASSERT_EQUAL(a->step.part_s[TIME_WAIT], b->step.part_s[TIME_WAIT]);
    CU_ASSERT_EQUAL(a->start_up.total_s, b->start_up.total_s);
    CU_ASSERT_EQUAL(a->flows, b->flows);
}

/* The memo's answer is that of the renamed placement; other names lead to the same one. */
static void check_renamed(struct job_world *job, const struct topology *topology, enum collective_algorithm all_reduce,
                          uint16_t lanes)
{
    bool is_symmetric = fabric_is_symmetric(topology, lanes);
    struct circuit_options options = job_world_options(2);
    options.network.circuits = NETWORK_PATIENT;
    options.lanes = lanes;
    struct memo *memo = memo_create(topology, is_symmetric);
    struct job_world renamed = {.graph = job->graph, .tasks = job->tasks};
    options.all_reduce = all_reduce;
    CU_ASSERT_PTR_NULL(memo_find(memo, 0, job->tasks->degree, &job->deployment, 0));
    memo_rename(memo, &job->deployment, &renamed.deployment);
    struct step_result as_is = job_world_step(job, topology, &options);
    struct step_result as_renamed = job_world_step(&renamed, topology, &options);
    check_equal_steps(&as_is, &as_renamed);
    memo_add(memo, &as_renamed);
    if (!is_symmetric)
        CU_ASSERT_EQUAL(as_is.trace_hash, as_renamed.trace_hash);
    turn_servers(topology, job->deployment.devices, job->deployment.entry_count);
    turn_servers(topology, job->deployment.used, job->deployment.used_count);
    const struct step_result *known = memo_find(memo, 0, job->tasks->degree, &job->deployment, 0);
    CU_ASSERT_EQUAL_FATAL(known != NULL, is_symmetric);
    if (known) {
        struct step_result turned = job_world_step(job, topology, &options);
        check_equal_steps(known, &turned);
    } else {
        memo_add(memo, &as_is);
    }
    deployment_free(&renamed.deployment);
    memo_free(memo);
}

static void test_memo(void)
{
    struct random_stream *random = random_open(43, "memo", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        bool is_ocs = strcmp(fabrics.strategies[i]->name, "ocs") == 0,
             is_ramp = strcmp(fabrics.strategies[i]->name, "ramp") == 0;
        CU_ASSERT_EQUAL(fabric_is_symmetric(&topology, 1), is_ocs);
        CU_ASSERT_EQUAL(fabric_is_symmetric(&topology, NETWORK_ALL_LANES), is_ocs || is_ramp);
        for (uint64_t seed = 0; seed < 30; seed++) {
            static const uint32_t servers[] = {4, 29, 10, 15, 20, 25, 30, 3};
            struct job_world job;
            struct graph *graph = oracle_random_graph(seed, 2 + (uint32_t)(seed % 15), seed % 2);
            if (seed % 2)
                job_world_split(&job, graph, &topology, 2 + 2 * (uint32_t)(seed % 4),
                                seed % 4 == 1 ? &place_ramp_first_fit : &place_ramp_compact);
            else
                job_world_put_randomly(&job, graph, &topology, random, servers, 8);
            static const enum collective_algorithm all_reduces[] = {COLLECTIVE_RING, COLLECTIVE_RAMP, COLLECTIVE_AUTO};
            for (int k = 0; k < 6; k++)
                check_renamed(&job, &topology, all_reduces[k / 2], k % 2 ? NETWORK_ALL_LANES : 1);
            job_world_end(&job);
        }
        topology_free(&topology);
    }
    random_close(random);
}

/* ---- hardware ---- */

struct names {
    const struct network *network;
    char (*texts)[FABRIC_TEXT_BYTES];
    size_t count, capacity;
};

static void add_name(void *context, const struct hardware_use *use)
{
    struct names *names = context;
    const struct fabric_state *state = network_fabric(names->network);
    names->texts = memory_grow(names->texts, &names->capacity, names->count + 1, sizeof *names->texts);
    state->circuits->describe(state, use->hardware, names->texts[names->count++]);
    CU_ASSERT(use->busy >= 0 && use->switching >= 0 && use->idle >= 0);
}

static int name_total(const void *left, const void *right)
{
    return strcmp(left, right);
}

static void check_names(const struct network *network)
{
    struct names names = {.network = network};
    network_visit_hardware(network, add_name, &names);
    CU_ASSERT(names.count >= 64); /* 32 servers, to send and to receive */
    qsort(names.texts, names.count, sizeof *names.texts, name_total);
    for (size_t i = 0; i < names.count; i++) {
        CU_ASSERT(strlen(names.texts[i]) > 8);
        CU_ASSERT(i == 0 || strcmp(names.texts[i - 1], names.texts[i]) != 0);
    }
    free(names.texts);
}

/* From everybody to a neighbour and to one far away, so that wavelengths are in use as well. */
static void test_names(void)
{
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        struct network *network = NULL;
        struct error error = {0};
        const struct network_options options = {.circuits = NETWORK_HOLD};
        struct engine *engine = engine_create();
        job_world_topology(fabrics.strategies[i]->name, &topology);
        CU_ASSERT_EQUAL_FATAL(network_create(engine, &topology, &options, &network, &error), STATUS_OK);
        for (uint32_t server = 0; server < 64; server++) {
            uint32_t far = (server + (server < 32 ? 1 : 13)) % 32;
            struct transfer_request request = {.source = server % 32, .target = far, .bytes = 1000000};
            CU_ASSERT_EQUAL_FATAL(network_send(network, &request, NULL, &error), STATUS_OK);
        }
        engine_run(engine, SIM_TIME_MAX);
        CU_ASSERT_EQUAL(network_unfinished(network), 0);
        if (network_has_circuits(network))
            check_names(network);
        network_destroy(network);
        engine_destroy(engine);
        topology_free(&topology);
    }
}

static void test_no_rate(void)
{
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        struct job_world job;
        struct step_result step = {.flows = 77};
        struct error error = {0};
        const struct job_world_op ops[] = {{1, 1, 1e6}, {1, 1, 1e6}};
        struct circuit_options options = job_world_options(1);
        job_world_topology(fabrics.strategies[i]->name, &topology);
        topology.node_rate_bytes_per_s = 0.5;
        job_world_put(&job, job_world_chain(ops, 2), &topology, pair);
        struct step_input input = job_world_input(&job, &topology);
        CU_ASSERT_EQUAL(step_run(&input, 1, &options, &step, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "node_rate"));
        CU_ASSERT_EQUAL(step.flows, 77);
        job_world_end(&job);
        topology_free(&topology);
    }
}

void suite_circuit(void)
{
    CU_pSuite suite = CU_add_suite("jobs on circuits", NULL, NULL);
    CU_ADD_TEST(suite, test_policies);
    CU_ADD_TEST(suite, test_later_steps);
    CU_ADD_TEST(suite, test_steady);
    CU_ADD_TEST(suite, test_shortcut);
    CU_ADD_TEST(suite, test_side_by_side);
    CU_ADD_TEST(suite, test_bottleneck);
    CU_ADD_TEST(suite, test_memo);
    CU_ADD_TEST(suite, test_names);
    CU_ADD_TEST(suite, test_no_rate);
}
