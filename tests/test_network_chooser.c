/* The choice of an all-reduce (network/chooser.h). Properties held here, on every fabric of the registry:
 *   - what is chosen is the fastest of ring, halving-doubling and ramp behind one of its own, run apart from the
 *     chooser; of equals the first;
 *   - answers do not depend on the questions before: any order of them gives the same;
 *   - sizes up to the next power of two, and other names for the same members where the fabric treats all alike, have
 *     the same answer;
 *   - a training step says which were taken, and is the same with a chooser that knows the answers and without one;
 *   - members within one server, across servers of several devices, and thousands of them work as well. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "job_world.h"
#include "network/chooser.h"
#include "network_world.h"
#include "strategies.h"
#include "suites.h"

enum { SERVERS = 32, QUESTIONS = 12, WAIT_KIND = NETWORK_KINDS + COLLECTIVE_KINDS };

static const enum collective_algorithm candidates[] = {COLLECTIVE_RING, COLLECTIVE_HALVING_DOUBLING, COLLECTIVE_RAMP};

/* ---- the fastest ---- */

static void add_length(void *context, const struct collective_report *report)
{
    *(sim_time *)context += report->end - report->start;
}

static void do_nothing(struct engine *engine, const struct event *event, void *world)
{
    (void)engine;
    (void)event;
    (void)world;
}

/* How long the second and third of three in a row take; 317 us apart where nobody sets up circuits. */
static sim_time time_later_runs(const struct topology *topology, const struct network_options *options,
                                struct collective_request request)
{
    struct engine *engine = engine_create();
    struct network *network = NULL;
    sim_time sum = 0, first = 0;
    CU_ASSERT_EQUAL_FATAL(network_create(engine, topology, options, &network, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(network_open_job(network, 0, request.members, request.member_count, NULL), STATUS_OK);
    struct collectives *collectives = collectives_create(network, NETWORK_KINDS);
    request.done = add_length;
    request.context = &sum;
    engine_on(engine, WAIT_KIND, do_nothing, NULL);
    for (int run = 0; run < 3; run++) {
        CU_ASSERT_EQUAL_FATAL(collective_start(collectives, &request, NULL), STATUS_OK);
        engine_run(engine, SIM_TIME_MAX);
        first = run == 0 ? sum : first;
        if (!network_has_circuits(network))
            engine_schedule(engine, engine_now(engine) + 317000000, 0, WAIT_KIND, 0, 0);
        engine_run(engine, SIM_TIME_MAX);
    }
    collectives_destroy(collectives);
    network_destroy(network);
    engine_destroy(engine);
    return sum - first;
}

static enum collective_algorithm find_fastest(const struct topology *topology, const struct network_options *options,
                                              struct collective_request request)
{
    enum collective_algorithm fastest = candidates[0];
    sim_time least = SIM_TIME_MAX;
    for (int i = 0; i < 3; i++) {
        request.algorithm = candidates[i];
        sim_time time = time_later_runs(topology, options, request);
        if (time < least) {
            least = time;
            fastest = candidates[i];
        }
    }
    return fastest;
}

static enum collective_algorithm ask(struct chooser *chooser, const struct collective_request *request)
{
    return chooser_pick(chooser, request, request->members, request->member_count);
}

/* The first servers, whose names are those that the chooser uses. */
static void check_fastest(const struct topology *topology, const struct network_options *options, uint32_t *taken)
{
    static const uint32_t counts[] = {2, 3, 4, 8, 16};
    struct chooser *chooser = chooser_create(topology, options);
    uint32_t members[SERVERS];
    for (uint32_t i = 0; i < SERVERS; i++)
        members[i] = i;
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t bits = 10; bits <= 26; bits += 8) {
            struct collective_request request = {.members = members,
                                                 .member_count = counts[i],
                                                 .bytes = UINT64_C(1) << bits,
                                                 .has_barrier = i == 3,
                                                 .is_complete = true,
                                                 .lanes = 1};
            enum collective_algorithm chosen = ask(chooser, &request);
            CU_ASSERT_EQUAL(chosen, find_fastest(topology, options, request));
            taken[chosen]++;
            request.bytes = (UINT64_C(1) << (bits - 1)) + 1;
            CU_ASSERT_EQUAL(ask(chooser, &request), chosen);
        }
    chooser_destroy(chooser);
}

static void test_fastest(void)
{
    uint32_t taken[COLLECTIVE_ALGORITHMS] = {0};
    for (size_t i = 0; i < fabrics.count; i++)
        for (int circuits = 0; circuits < 2; circuits++) {
            struct network_options options = {.circuits = circuits ? NETWORK_TEARDOWN : NETWORK_HOLD};
            struct topology topology;
            job_world_topology(fabrics.strategies[i]->name, &topology);
            check_fastest(&topology, &options, taken);
            topology_free(&topology);
        }
    CU_ASSERT(taken[COLLECTIVE_RING] > 0 && taken[COLLECTIVE_HALVING_DOUBLING] > 0 && taken[COLLECTIVE_RAMP] > 0);
}

/* ---- any order ---- */

static void shuffle(struct random_stream *random, uint32_t *numbers, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t j = (uint32_t)random_below(random, k + 1);
        numbers[k] = numbers[j];
        numbers[j] = k;
    }
}

static void check_orders(const struct topology *topology, struct random_stream *random)
{
    static uint32_t members[QUESTIONS][SERVERS];
    struct collective_request requests[QUESTIONS];
    enum collective_algorithm answers[QUESTIONS];
    uint32_t order[QUESTIONS];
    struct network_options options = {0};
    struct chooser *chooser = chooser_create(topology, &options);
    for (uint32_t i = 0; i < QUESTIONS; i++) {
        shuffle(random, members[i], SERVERS);
        requests[i] = (struct collective_request){.members = members[i],
                                                  .member_count = 2 + (uint32_t)random_below(random, 8),
                                                  .bytes = 1 + random_below(random, UINT64_C(1) << 27),
                                                  .lanes = random_below(random, 2) ? NETWORK_ALL_LANES : 1,
                                                  .is_complete = true};
        answers[i] = ask(chooser, &requests[i]);
    }
    chooser_destroy(chooser);
    chooser = chooser_create(topology, &options);
    shuffle(random, order, QUESTIONS);
    for (uint32_t i = 0; i < 2 * QUESTIONS; i++) {
        uint32_t at = order[i % QUESTIONS];
        CU_ASSERT_EQUAL(ask(chooser, &requests[at]), answers[at]);
        if (fabric_is_symmetric(topology, requests[at].lanes)) {
            for (uint32_t k = 0; k < requests[at].member_count; k++) /* the next group, with all racks and places */
                members[at][k] = (members[at][k] + 8) % SERVERS;
            CU_ASSERT_EQUAL(ask(chooser, &requests[at]), answers[at]);
        }
    }
    chooser_destroy(chooser);
}

static void test_orders(void)
{
    struct random_stream *random = random_open(31, "questions", 0);
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        check_orders(&topology, random);
        topology_free(&topology);
    }
    random_close(random);
}

/* ---- in a step ---- */

static void check_step(struct topology *topology)
{
    struct circuit_options options = job_world_options(2);
    struct job_world job;
    job_world_split(&job, oracle_random_graph(5, 6, false), topology, 8, &place_ramp_compact);
    options.all_reduce = COLLECTIVE_AUTO;
    struct step_result alone = job_world_step(&job, topology, &options);
    struct network_options network = options.network;
    network.tick_ps = options.clock.tick_ps;
    options.chooser = chooser_create(topology, &network);
    uint32_t syncs = 0, taken = 0;
    for (uint32_t link = 0; link < job.tasks->link_count; link++)
        syncs += job.tasks->links[link].pattern == LINK_SYNC;
    for (int i = 0; i < COLLECTIVE_ALGORITHMS; i++)
        taken += alone.all_reduces[i];
    CU_ASSERT(syncs > 0 && taken == syncs);
    for (int again = 0; again < 2; again++) {
        struct step_result step = job_world_step(&job, topology, &options);
        CU_ASSERT_EQUAL(step.trace_hash, alone.trace_hash);
        CU_ASSERT_EQUAL(step.step.total_s, alone.step.total_s);
    }
    chooser_destroy(options.chooser);
    job_world_end(&job);
}

static void test_step(void)
{
    for (size_t i = 0; i < fabrics.count; i++) {
        struct topology topology;
        job_world_topology(fabrics.strategies[i]->name, &topology);
        check_step(&topology);
        topology_free(&topology);
    }
}

/* ---- other members ---- */

/* Eight servers of eight devices: all in one, or one in each. */
static void test_hosts(void)
{
    struct world world;
    uint32_t inside[8], across[8];
    world_open(&world, "topologies/hosts-64.yaml");
    struct chooser *chooser = chooser_create(&world.topology, &world.options);
    for (uint32_t i = 0; i < 8; i++) {
        inside[i] = i;
        across[i] = 8 * i;
    }
    struct collective_request request = {.members = inside, .member_count = 8, .bytes = 1 << 20, .is_complete = true};
    CU_ASSERT_EQUAL(ask(chooser, &request), find_fastest(&world.topology, &world.options, request));
    request.members = across;
    CU_ASSERT_EQUAL(ask(chooser, &request), find_fastest(&world.topology, &world.options, request));
    chooser_destroy(chooser);
    topology_free(&world.topology);
}

/* 4,096 latencies of a ring are more than three phases there and back. */
static void test_many(void)
{
    struct world world;
    uint32_t *members = memory_alloc(4096, sizeof *members);
    world_open(&world, "topologies/ramp-4096.yaml");
    struct chooser *chooser = chooser_create(&world.topology, &world.options);
    for (uint32_t i = 0; i < 4096; i++)
        members[i] = i;
    struct collective_request request = {
        .members = members, .member_count = 4096, .bytes = 1 << 20, .is_complete = true};
    CU_ASSERT_NOT_EQUAL(ask(chooser, &request), COLLECTIVE_RING);
    chooser_destroy(chooser);
    topology_free(&world.topology);
    free(members);
}

void suite_network_chooser(void)
{
    CU_pSuite suite = CU_add_suite("network chooser", NULL, NULL);
    CU_add_test(suite, "the fastest of three", test_fastest);
    CU_add_test(suite, "any order of questions", test_orders);
    CU_add_test(suite, "in a step", test_step);
    CU_add_test(suite, "devices of servers", test_hosts);
    CU_add_test(suite, "4,096 members", test_many);
}
