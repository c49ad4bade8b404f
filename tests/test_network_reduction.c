/* Reductions occupy devices. Properties held here:
 *   - k all-reduces at once whose reductions take longer than their transfers take k times the reductions of one, and
 *     the transfers of one, to the picosecond; all but one of these times is waiting for the device;
 *   - whatever collectives meet, a device is told to reduce for exactly as long as its reductions take together, added
 *     up apart from the program: none are done side by side, none are left out;
 *   - one reduction at a time means also: in a training step no device is done before its ops and its reductions, one
 *     after the other, can be, and where all follow one another the step takes just that and its transfers. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "job_world.h"
#include "network/collective.h"
#include "network_world.h"
#include "strategies.h"
#include "suites.h"
#include "figures.h"

enum { AT_ONCE = 16, PAIR_BYTES = 2000000, LATENCY_PS = 250000 };

/* Slow memory, so that reductions take longer than all else. */
static void slow_memory(struct topology *topology, double rate_bytes_per_s)
{
    for (uint32_t class = 0; class < topology->class_count; class ++)
        topology->classes[class].memory_rate_bytes_per_s = rate_bytes_per_s;
}

/* Two operands of so many bytes: read twice and written once, one operation per number of two bytes (PAC-ML simulator,
 * section 6). */
static sim_time pair_reduction(double rate_bytes_per_s, uint64_t bytes)
{
    return (sim_time)nearbyint(3 * (double)bytes / rate_bytes_per_s * 1e12);
}

static void open_idle(struct world *world)
{
    world_open(world, "topologies/ocs-32.yaml");
    *figure_whole(&world->topology, "ocs.switches") = 64;
    *figure_whole(&world->topology, "ocs.reconfiguration") = 0;
    world->topology.node_rate_bytes_per_s = 64e12;
}

static void keep_report(void *context, const struct collective_report *report)
{
    *(struct collective_report *)context = *report;
}

static void start(struct collectives *collectives, const struct collective_request *asked,
                  struct collective_report *report)
{
    struct collective_request request = *asked;
    struct error error = {0};
    request.done = keep_report;
    request.context = report;
    CU_ASSERT_EQUAL_FATAL(collective_start(collectives, &request, &error), STATUS_OK);
}

/* Each of two members gets half of the message in 1.25 us, sums it in 300 us, and gets the other half in 1.25 us. */
static void check_at_once(struct world *world, uint32_t count, bool has_barrier)
{
    static const uint32_t pair[] = {3, 20};
    struct collective_report reports[AT_ONCE];
    struct collective_request request = {.algorithm = COLLECTIVE_RING,
                                         .members = pair,
                                         .member_count = 2,
                                         .bytes = PAIR_BYTES,
                                         .has_barrier = has_barrier};
    sim_time transfer = LATENCY_PS + PAIR_BYTES / 2, reduction = pair_reduction(1e10, PAIR_BYTES / 2);
    world_start(world);
    struct collectives *collectives = collectives_create(world->network, WORLD_COLLECTIVE_KIND);
    for (uint32_t i = 0; i < count; i++)
        start(collectives, &request, &reports[i]);
    engine_run(world->engine, SIM_TIME_MAX);
    collectives_destroy(collectives);
    world_stop(world);
    CU_ASSERT_EQUAL(reports[count - 1].end, 2 * transfer + count * reduction);
    for (uint32_t i = 0; i < count; i++)
        CU_ASSERT_EQUAL(reports[i].path.reduction, reduction);
    CU_ASSERT(reports[count - 1].path.device_wait > (sim_time)(count - 1) * (reduction - transfer) - transfer);
}

static void test_at_once(void)
{
    struct world world;
    open_idle(&world);
    slow_memory(&world.topology, 1e10);
    for (uint32_t count = 1; count <= AT_ONCE; count++)
        for (int barrier = 0; barrier < 2; barrier++)
            check_at_once(&world, count, barrier);
    topology_free(&world.topology);
}

/* ---- any mixture ---- */

enum { MIXED = 24, SERVERS = 32 };

struct bookkeeper {
    struct engine *engine;
    sim_time since[SERVERS], sum[SERVERS], expected[SERVERS];
    bool is_reducing[SERVERS];
};

static void note_reduction(void *context, uint32_t device, bool is_reducing)
{
    struct bookkeeper *books = context;
    CU_ASSERT_NOT_EQUAL(books->is_reducing[device], is_reducing);
    books->is_reducing[device] = is_reducing;
    if (is_reducing)
        books->since[device] = engine_now(books->engine);
    else
        books->sum[device] += engine_now(books->engine) - books->since[device];
}

/* ring: n - 1 shares of m / n, summed by each. Parameter server: the first alone, all messages at once. */
static void expect_mixed(struct bookkeeper *books, const struct collective_request *request, double rate_bytes_per_s)
{
    uint32_t n = request->member_count;
    if (request->algorithm == COLLECTIVE_PARAMETER_SERVER) {
        double operations = ceil(log2(n)), roof = rate_bytes_per_s * operations / (2 * (n + 1.0));
        books->expected[request->members[0]] +=
            (sim_time)nearbyint(operations * (double)request->bytes / 2 / roof * 1e12);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        books->expected[request->members[i]] +=
            (n - 1) * pair_reduction(rate_bytes_per_s, (request->bytes + n - 1) / n);
}

static void shuffle(struct random_stream *random, uint32_t members[SERVERS])
{
    for (uint32_t k = 0; k < SERVERS; k++) {
        uint32_t j = (uint32_t)random_below(random, k + 1);
        members[k] = members[j];
        members[j] = k;
    }
}

/* Returns how long their paths waited for devices. */
static sim_time check_mixture(struct world *world, struct random_stream *random, double rate_bytes_per_s)
{
    static uint32_t members[MIXED][SERVERS];
    struct collective_report reports[MIXED];
    struct bookkeeper books = {0};
    sim_time waited = 0;
    world_start(world);
    struct collectives *collectives = collectives_create(world->network, WORLD_COLLECTIVE_KIND);
    books.engine = world->engine;
    collectives_on_reduction(collectives, note_reduction, &books);
    for (uint32_t i = 0; i < MIXED; i++) {
        shuffle(random, members[i]);
        struct collective_request request = {.algorithm = i % 3 ? COLLECTIVE_RING : COLLECTIVE_PARAMETER_SERVER,
                                             .members = members[i],
                                             .member_count = 2 + (uint32_t)random_below(random, 7),
                                             .bytes = 1 + random_below(random, 10000000),
                                             .has_barrier = i % 2};
        expect_mixed(&books, &request, rate_bytes_per_s);
        start(collectives, &request, &reports[i]);
    }
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(collectives_active(collectives), 0);
    collectives_destroy(collectives);
    world_stop(world);
    for (uint32_t device = 0; device < SERVERS; device++)
        CU_ASSERT(!books.is_reducing[device] && books.sum[device] == books.expected[device]);
    for (uint32_t i = 0; i < MIXED; i++)
        waited += reports[i].path.device_wait;
    return waited;
}

static void test_mixture(void)
{
    struct world world;
    struct random_stream *random = random_open(17, "mixture", 0);
    open_idle(&world);
    for (uint32_t i = 0; i < 40; i++) {
        double rate_bytes_per_s = i % 2 ? 1e10 : 1e12;
        slow_memory(&world.topology, rate_bytes_per_s);
        CU_ASSERT(check_mixture(&world, random, rate_bytes_per_s) > 0);
    }
    topology_free(&world.topology);
    random_close(random);
}

/* ---- in a step ---- */

/* Per device of a job of two parts: all its ops and reductions, one after the other. */
static double work_s(const struct job_world *job, double rate_bytes_per_s)
{
    const struct task_graph *tasks = job->tasks;
    double sum_s = 0;
    for (uint32_t task = 0; task < tasks->task_count; task++)
        sum_s += task_part_ms(tasks, task, 0) * 1e-3;
    for (uint32_t link = 0; link < tasks->link_count; link++)
        if (tasks->links[link].pattern == LINK_SYNC)
            sum_s +=
                (double)pair_reduction(rate_bytes_per_s, (uint64_t)ceil(ceil(tasks->links[link].bytes) / 2)) / 1e12;
    return sum_s;
}

static void check_step(struct topology *topology, double rate_bytes_per_s)
{
    static const struct job_world_op ops[] = {{0.2, 0.4, 1e6}, {0.6, 0.8, 3e6}, {0.1, 0.3, 2e6}, {0.3, 0.3, 4e6}};
    struct job_world job;
    struct circuit_options options = job_world_options(1);
    job_world_split(&job, job_world_chain(ops, 4), topology, 2, &place_ramp_compact);
    CU_ASSERT_EQUAL(job.tasks->degree, 2);
    slow_memory(topology, rate_bytes_per_s);
    struct step_result step = job_world_step(&job, topology, &options);
    double work = work_s(&job, rate_bytes_per_s);
    CU_ASSERT(step.step.total_s >= work * (1 - 1e-12));
    CU_ASSERT(step.step.total_s <= work + 100e-6); /* some ten transfers of less than 10 us each */
    job_world_end(&job);
}

static void test_step(void)
{
    struct topology topology;
    job_world_topology("ocs", &topology);
    *job_world_reconfiguration(&topology) = 0;
    check_step(&topology, 1e10);
    check_step(&topology, 1e9);
    check_step(&topology, 1e8);
    topology_free(&topology);
}

void suite_network_reduction(void)
{
    CU_pSuite suite = CU_add_suite("network reduction", NULL, NULL);
    CU_add_test(suite, "many at once follow one another", test_at_once);
    CU_add_test(suite, "a device reduces as long as it must", test_mixture);
    CU_add_test(suite, "ops and reductions of a step", test_step);
}
