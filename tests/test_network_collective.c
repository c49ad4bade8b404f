/* Collectives against their closed forms.
 *
 * Properties: on idle dedicated circuits ring, halving-doubling, all-to-all, broadcast and the halves of ring take
 * their phases times (latency + part / rate) exactly, with a barrier or without; ramp takes what the published formula
 * says once its second division by x is taken out, for every shape of block of 32 servers; the path adds up to the
 * time; after an all-reduce of any algorithm every member has heard of every other, whatever the members, and as many
 * bytes have moved as that takes; sizes of thousands stay small and fast.
 */
#include "suites.h"

#include <math.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "engine/random.h"
#include "network/collective.h"
#include "network_world.h"
#include "place/block.h"
#include "figures.h"

static void keep_report(void *context, const struct collective_report *report)
{
    *(struct collective_report *)context = *report;
}

static struct collective_report run_collective(struct world *world, const struct collective_request *asked)
{
    struct collective_report report = {.end = -1};
    struct collective_request request = *asked;
    struct error error = {0};
    request.done = keep_report;
    request.context = &report;
    world_start(world);
    struct collectives *collectives = collectives_create(world->network, WORLD_COLLECTIVE_KIND);
    CU_ASSERT_EQUAL_FATAL(collective_start(collectives, &request, &error), STATUS_OK);
    CU_ASSERT_EQUAL(collectives_active(collectives), 1);
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(collectives_active(collectives), 0);
    CU_ASSERT_EQUAL(network_unfinished(world->network), 0);
    collectives_destroy(collectives);
    world_stop(world);
    const struct collective_parts *p = &report.path;
    CU_ASSERT_EQUAL(p->wait + p->device_wait + p->reconfiguration + p->latency + p->payload + p->reduction, report.end);
    return report;
}

/* Switches enough for every pair of 32 servers at once, each at 1 TB/s, set up in no time. */
static void open_idle(struct world *world)
{
    world_open(world, "topologies/ocs-32.yaml");
    *figure_whole(&world->topology, "ocs.switches") = 64;
    *figure_whole(&world->topology, "ocs.reconfiguration") = 0;
    world->topology.node_rate_bytes_per_s = 64e12;
}

enum { LATENCY_PS = 250000 };

static const uint32_t servers[32] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static uint64_t up(uint64_t value, uint64_t by)
{
    return (value + by - 1) / by;
}

/* Phases times (latency + bytes); a byte takes a picosecond. */
static sim_time phases(uint64_t count, uint64_t bytes)
{
    return (sim_time)(count * (LATENCY_PS + bytes));
}

static sim_time halving_time(uint32_t n, uint64_t m)
{
    sim_time time = 0;
    uint32_t core = 1;
    while (2 * core <= n)
        core *= 2;
    for (uint32_t part = 2; part <= core; part *= 2)
        time += phases(2, up(m, part));
    return core < n ? time + phases(2, m) : time;
}

static uint64_t log2_up(uint32_t n)
{
    uint64_t bits = 0;
    while ((1U << bits) < n)
        bits++;
    return bits;
}

static void check_idle(struct world *world, enum collective_algorithm algorithm, uint32_t n, bool has_barrier,
                       sim_time expected)
{
    struct collective_request request = {.algorithm = algorithm,
                                         .members = servers,
                                         .member_count = n,
                                         .bytes = 1000003,
                                         .has_barrier = has_barrier,
                                         .is_reduction_free = true};
    struct collective_report report = run_collective(world, &request);
    CU_ASSERT_EQUAL(report.end, expected);
    CU_ASSERT_EQUAL(report.path.wait, 0);
}

static void test_closed_forms(void)
{
    struct world world;
    const uint64_t m = 1000003;
    open_idle(&world);
    for (uint32_t n = 2; n <= 32; n++)
        for (int barrier = 0; barrier < 2; barrier++) {
            check_idle(&world, COLLECTIVE_RING, n, barrier, phases(2 * (n - 1), up(m, n)));
            check_idle(&world, COLLECTIVE_REDUCE_SCATTER, n, barrier, phases(n - 1, up(m, n)));
            check_idle(&world, COLLECTIVE_ALL_GATHER, n, barrier, phases(n - 1, up(m, n)));
            check_idle(&world, COLLECTIVE_ALL_TO_ALL, n, barrier, phases(n - 1, up(m, n)));
            check_idle(&world, COLLECTIVE_HALVING_DOUBLING, n, barrier, halving_time(n, m));
            check_idle(&world, COLLECTIVE_BROADCAST, n, barrier, phases(log2_up(n), m));
            check_idle(&world, COLLECTIVE_PARAMETER_SERVER, n, barrier, phases(2, m));
        }
    topology_free(&world.topology);
}

/* --- ramp ----------------------------------------------------------------------- */

/* A block of the first groups, racks and places. */
static uint32_t lay_block(uint32_t groups, uint32_t racks, uint32_t places, uint32_t *members)
{
    uint32_t count = 0;
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t r = 0; r < racks; r++)
            for (uint32_t p = 0; p < places; p++)
                members[count++] = g * 8 + r * 2 + p;
    return count;
}

/* The published formula (PAC-ML simulator, section 6) with a transceiver's rate divided by x once, not twice; times in
 * ticks, each rounded once. */
static sim_time published_ticks(const struct topology *t, uint64_t m, uint32_t groups, uint32_t racks, uint32_t places)
{
    uint64_t x = (uint64_t)t->groups, rate = (uint64_t)t->node_rate_bytes_per_s / x, bytes = m;
    uint64_t sizes[4] = {groups, groups < places ? groups : places, racks, up(places, x)};
    sim_time time = 0;
    for (int i = 0; i < 4; i++) {
        uint64_t d = sizes[i];
        bytes = up(bytes, d);
        if (d <= 1)
            continue;
        double operations = ceil(log2((double)d)), intensity = operations / ((double)(d + 1) * 2);
        double roof = fmin(t->device.memory_rate_bytes_per_s * intensity, t->device.peak_per_s);
        time += 2 * (LATENCY_PS + (sim_time)up(bytes * UINT64_C(1000000), rate * (x / (d - 1)) / 1000000));
        time += (sim_time)nearbyint(operations * (double)bytes / 2 / roof * 1e12);
    }
    return time;
}

static void check_shape(struct world *world, uint32_t groups, uint32_t racks, uint32_t places, bool has_barrier)
{
    uint32_t members[32];
    struct collective_request request = {.algorithm = COLLECTIVE_RAMP,
                                         .members = members,
                                         .member_count = lay_block(groups, racks, places, members),
                                         .bytes = 12345678,
                                         .has_barrier = has_barrier};
    struct collective_report report = run_collective(world, &request);
    CU_ASSERT_EQUAL(report.end, published_ticks(&world->topology, request.bytes, groups, racks, places));
    CU_ASSERT_EQUAL(report.path.wait, 0);
}

/* As many planes as racks, so that racks do not contend: the formula takes contending racks for one. */
static void test_ramp_shapes(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    *figure_whole(&world.topology, "ramp.slot") = *figure_whole(&world.topology, "ramp.reconfiguration") = 0;
    *figure_whole(&world.topology, "ramp.planes") = 4;
    for (uint32_t groups = 1; groups <= 4; groups++)
        for (uint32_t racks = 1; racks <= 4; racks++)
            for (uint32_t places = 1; places <= 2; places++)
                for (int barrier = 0; barrier < 2; barrier++)
                    check_shape(&world, groups, racks, places, barrier);
    topology_free(&world.topology);
}

/* With one plane the racks of a group take turns on each wavelength, and waiting shows. */
static void test_ramp_contention(void)
{
    struct world world;
    uint32_t members[32];
    world_open(&world, "topologies/ramp-32.yaml");
    *figure_whole(&world.topology, "ramp.slot") = *figure_whole(&world.topology, "ramp.reconfiguration") = 0;
    *figure_whole(&world.topology, "ramp.planes") = 1;
    struct collective_request request = {.algorithm = COLLECTIVE_RAMP,
                                         .members = members,
                                         .member_count = lay_block(2, 4, 1, members),
                                         .bytes = 8000000,
                                         .has_barrier = true,
                                         .is_reduction_free = true};
    struct collective_report report = run_collective(&world, &request);
    /* Between the two groups 4 MB over 4 lanes, between the racks 1 MB over 1 lane to each of three: 2.5 us both times.
     * In both the four racks use the same lanes and the same wavelength, so they go one after the other. */
    CU_ASSERT_EQUAL(report.end, 4 * LATENCY_PS + 2 * (4 + 4) * 2500000);
    CU_ASSERT_EQUAL(report.path.wait, 2 * (3 + 3) * 2500000);
    topology_free(&world.topology);
}

/* A rack's servers: nothing as published, an exchange where it is asked to be complete. */
static void test_ramp_complete(void)
{
    struct world world;
    uint32_t members[32];
    world_open(&world, "topologies/ramp-32.yaml");
    struct collective_request request = {.algorithm = COLLECTIVE_RAMP,
                                         .members = members,
                                         .member_count = lay_block(1, 1, 2, members),
                                         .bytes = 8000000};
    CU_ASSERT_EQUAL(run_collective(&world, &request).transfers, 0);
    request.is_complete = true;
    struct collective_report report = run_collective(&world, &request);
    CU_ASSERT_EQUAL(report.transfers, 4);
    CU_ASSERT_EQUAL(report.phases, 2);
    topology_free(&world.topology);
}

/* Members that are no full block still finish, and only talk to those that are there: 0-0-0 with 1-0-0, and 1-0-0 with
 * 1-0-1, both ways up and down; 3-2-0 has nobody in any line. */
static void test_ramp_holes(void)
{
    struct world world;
    static const uint32_t members[] = {0, 8, 9, 28}, strangers[] = {0, 9, 18, 27};
    world_open(&world, "topologies/ramp-32.yaml");
    for (int barrier = 0; barrier < 2; barrier++) {
        struct collective_request request = {.algorithm = COLLECTIVE_RAMP,
                                             .members = members,
                                             .member_count = 4,
                                             .bytes = 8000000,
                                             .has_barrier = barrier == 1};
        CU_ASSERT_EQUAL(run_collective(&world, &request).transfers, 8);
        request.members = strangers;
        struct collective_report report = run_collective(&world, &request);
        CU_ASSERT_EQUAL(report.transfers, 0);
        CU_ASSERT_EQUAL(report.end, 0); /* who has no peers reduces nothing */
    }
    topology_free(&world.topology);
}

/* --- Who has heard of whom -------------------------------------------------------- */

enum { HEARD_MAX = 4096 };

/* Sendings and arrivals; index is that of the transfer. */
struct moment {
    sim_time time;
    uint32_t is_sending, index;
};

/* All transfers of one run; a packet network tells each once, and begins it when it is sent. */
struct hearsay {
    struct network_stay stays[HEARD_MAX];
    struct moment moments[2 * HEARD_MAX];
    uint32_t carried[HEARD_MAX];
    uint32_t count;
};

static void hear(void *context, const struct network *network, const struct network_stay *stay)
{
    struct hearsay *hearsay = context;
    (void)network;
    CU_ASSERT_FATAL(hearsay->count < HEARD_MAX);
    hearsay->stays[hearsay->count++] = *stay;
}

/* What arrives at an instant is known to those who send then. */
static int moment_total(const void *left, const void *right)
{
    const struct moment *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->is_sending != b->is_sending)
        return a->is_sending < b->is_sending ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* heard[s]: the servers whose contribution server s has, as bits. */
static void spread_word(struct hearsay *hearsay, uint32_t heard[32])
{
    for (uint32_t s = 0; s < 32; s++)
        heard[s] = UINT32_C(1) << s;
    for (uint32_t i = 0; i < hearsay->count; i++) {
        hearsay->moments[2 * i] = (struct moment){hearsay->stays[i].start, 1, i};
        hearsay->moments[2 * i + 1] = (struct moment){hearsay->stays[i].end, 0, i};
    }
    qsort(hearsay->moments, 2 * (size_t)hearsay->count, sizeof *hearsay->moments, moment_total);
    for (uint32_t i = 0; i < 2 * hearsay->count; i++) {
        uint32_t index = hearsay->moments[i].index;
        const struct network_stay *stay = &hearsay->stays[index];
        if (hearsay->moments[i].is_sending)
            hearsay->carried[index] = heard[stay->source];
        else
            heard[stay->target] |= hearsay->carried[index];
    }
}

/* Does everybody hear of everybody, and do the bytes suffice? No all-reduce moves less than 2 (n - 1) m in all. */
static bool reaches_all(struct world *world, struct collective_request *request, struct hearsay *hearsay)
{
    const struct network_observer observer = {hear, hearsay};
    uint32_t heard[32], all = 0;
    bool is_reached = true;
    world->options.observer = &observer;
    hearsay->count = 0;
    request->bytes = 1000003;
    struct collective_report report = run_collective(world, request);
    world->options.observer = NULL;
    CU_ASSERT_EQUAL(report.transfers, hearsay->count);
    spread_word(hearsay, heard);
    for (uint32_t i = 0; i < request->member_count; i++)
        all |= UINT32_C(1) << request->members[i];
    for (uint32_t i = 0; i < request->member_count; i++)
        is_reached = is_reached && heard[request->members[i]] == all;
    return is_reached && report.bytes >= 2 * (request->member_count - 1) * request->bytes;
}

static void check_reach(struct world *world, enum collective_algorithm algorithm, const uint32_t *members,
                        uint32_t count, struct hearsay *hearsay)
{
    for (int barrier = 0; barrier < 2; barrier++) {
        struct collective_request request = {.algorithm = algorithm,
                                             .members = members,
                                             .member_count = count,
                                             .has_barrier = barrier == 1,
                                             .is_complete = true};
        CU_ASSERT(reaches_all(world, &request, hearsay));
    }
}

/* A shape that the placers look for, at every origin. */
static uint32_t check_shape_reach(struct world *world, const struct block_shape *shape, uint32_t k,
                                  struct hearsay *hearsay)
{
    bool is_diagonal = shape->servers < 0;
    int64_t groups = shape->groups, racks = shape->racks, deep = is_diagonal ? 1 : shape->servers;
    uint32_t members[32], checked = 0;
    for (int64_t g = 0; g + groups <= 4; g++)
        for (int64_t r = 0; r + racks <= 4; r++)
            for (int64_t p = 0; p + deep <= 2; p++, checked++) {
                uint32_t count = 0;
                for (int64_t i = 0; i < groups * racks * deep; i++) {
                    int64_t group = i / deep / racks, rack = i / deep % racks;
                    if (!is_diagonal || group == rack)
                        members[count++] = (uint32_t)((g + group) * 8 + (r + rack) * 2 + p + i % deep);
                }
                CU_ASSERT_EQUAL(count, k);
                check_reach(world, COLLECTIVE_RAMP, members, count, hearsay);
            }
    return checked;
}

static void test_ramp_reach(void)
{
    struct world world;
    struct hearsay *hearsay = memory_alloc(1, sizeof *hearsay);
    uint32_t checked = 0;
    world_open(&world, "topologies/packet-32.yaml"); /* named as in ramp-32: four groups of four racks of two */
    for (uint32_t k = 2; k <= 32; k++) {
        struct block_walk walk = {.k = k};
        struct block_shape shape;
        while (block_next(&world.topology, &walk, &shape))
            checked += check_shape_reach(&world, &shape, k, hearsay);
    }
    CU_ASSERT(checked > 100);
    topology_free(&world.topology);
    free(hearsay);
}

/* Any members, in any order; also where a group has more places than there are groups. */
static void test_random_reach(void)
{
    static const int64_t shapes[][3] = {{4, 4, 2}, {4, 1, 8}, {2, 2, 8}, {1, 1, 32}, {3, 2, 5}, {8, 4, 1}};
    struct random_stream *random = random_open(11, "members", 0);
    struct hearsay *hearsay = memory_alloc(1, sizeof *hearsay);
    struct world world;
    world_open(&world, "topologies/packet-32.yaml");
    for (uint32_t i = 0; i < 240; i++) {
        const int64_t *shape = shapes[i % 6];
        uint32_t members[32], all = (uint32_t)(shape[0] * shape[1] * shape[2]);
        world.topology.groups = shape[0];
        world.topology.racks_per_group = shape[1];
        world.topology.servers_per_rack = shape[2];
        world.topology.server_count = world.topology.device_count = all;
        for (uint32_t k = 0; k < all; k++) {
            uint32_t j = (uint32_t)random_below(random, k + 1);
            members[k] = members[j];
            members[j] = k;
        }
        uint32_t count = i < 12 ? all : 2 + (uint32_t)random_below(random, all - 1);
        check_reach(&world, COLLECTIVE_RAMP, members, count, hearsay);
    }
    topology_free(&world.topology);
    random_close(random);
    free(hearsay);
}

/* The others do not look at where members are; and the published subgroups fail this test where they should. */
static void test_reach(void)
{
    static const enum collective_algorithm others[] = {COLLECTIVE_RING, COLLECTIVE_HALVING_DOUBLING,
                                                       COLLECTIVE_PARAMETER_SERVER};
    struct hearsay *hearsay = memory_alloc(1, sizeof *hearsay);
    struct world world;
    world_open(&world, "topologies/packet-32.yaml");
    for (uint32_t n = 2; n <= 32; n++)
        for (int k = 0; k < 3; k++)
            check_reach(&world, others[k], servers, n, hearsay);
    static const uint32_t diagonal[] = {16, 26};
    struct collective_request request = {.algorithm = COLLECTIVE_RAMP, .members = servers, .member_count = 2};
    CU_ASSERT_FALSE(reaches_all(&world, &request, hearsay));
    request.members = diagonal;
    CU_ASSERT_FALSE(reaches_all(&world, &request, hearsay));
    topology_free(&world.topology);
    free(hearsay);
}

/* --- The rest --------------------------------------------------------------------- */

static void test_multicast(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    struct collective_request request = {
        .algorithm = COLLECTIVE_BROADCAST, .members = servers, .member_count = 32, .bytes = 8000, .is_multicast = true};
    struct collective_report report = run_collective(&world, &request);
    CU_ASSERT_EQUAL(report.transfers, 1);
    CU_ASSERT_EQUAL(report.end, 1000 + LATENCY_PS + 20000);
    topology_free(&world.topology);
}

/* Ahead of the others: without a barrier nobody waits for a member it has no business with. */
static void test_barrier_is_never_faster(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    for (int algorithm = 0; algorithm < COLLECTIVE_ALGORITHMS; algorithm++) {
        struct collective_request request = {.algorithm = (enum collective_algorithm)algorithm,
                                             .members = servers,
                                             .member_count = 32,
                                             .bytes = 100000000};
        sim_time without = run_collective(&world, &request).end;
        request.has_barrier = true;
        CU_ASSERT_TRUE(run_collective(&world, &request).end >= without);
    }
    topology_free(&world.topology);
}

static void test_nothing(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-32.yaml");
    for (int algorithm = 0; algorithm < COLLECTIVE_ALGORITHMS; algorithm++) {
        struct collective_request request = {
            .algorithm = (enum collective_algorithm)algorithm, .members = servers, .member_count = 1, .bytes = 8000};
        CU_ASSERT_EQUAL(run_collective(&world, &request).end, 0);
        request.member_count = 32;
        request.bytes = 0;
        CU_ASSERT_EQUAL(run_collective(&world, &request).end, 0);
    }
    topology_free(&world.topology);
}

static void test_refused(void)
{
    struct world world;
    static const uint32_t twice[] = {3, 4, 3}, outside[] = {3, 32};
    world_open(&world, "topologies/ramp-32.yaml");
    world_start(&world);
    struct collectives *collectives = collectives_create(world.network, WORLD_COLLECTIVE_KIND);
    struct collective_request request = {.members = twice, .member_count = 3, .bytes = 1};
    CU_ASSERT_EQUAL(collective_start(collectives, &request, NULL), STATUS_USER);
    request.members = outside;
    request.member_count = 2;
    CU_ASSERT_EQUAL(collective_start(collectives, &request, NULL), STATUS_USER);
    request.member_count = 0;
    CU_ASSERT_EQUAL(collective_start(collectives, &request, NULL), STATUS_USER);
    collectives_destroy(collectives);
    world_close(&world);
}

static void test_names(void)
{
    for (int i = 0; i < COLLECTIVE_ALGORITHMS; i++) {
        enum collective_algorithm found;
        CU_ASSERT_TRUE(collective_find(collective_name((enum collective_algorithm)i), &found) && (int)found == i);
    }
    enum collective_algorithm none;
    CU_ASSERT_FALSE(collective_find("tree", &none));
}

static void test_4096(void)
{
    struct world world;
    world_open(&world, "topologies/ramp-4096.yaml");
    uint32_t *members = memory_alloc(4096, sizeof *members);
    for (uint32_t i = 0; i < 4096; i++)
        members[i] = i;
    struct collective_request request = {
        .algorithm = COLLECTIVE_RAMP, .members = members, .member_count = 4096, .bytes = 1000000000};
    struct collective_report report = run_collective(&world, &request);
    CU_ASSERT_EQUAL(report.phases, 6);
    CU_ASSERT_EQUAL(report.transfers, 6 * 4096 * 15);
    free(members);
    topology_free(&world.topology);
}

void suite_network_collective(void)
{
    CU_pSuite suite = CU_add_suite("network collective", NULL, NULL);
    CU_add_test(suite, "closed forms on idle circuits", test_closed_forms);
    CU_add_test(suite, "ramp: every shape of 32 servers", test_ramp_shapes);
    CU_add_test(suite, "ramp: racks in turn", test_ramp_contention);
    CU_add_test(suite, "ramp: complete", test_ramp_complete);
    CU_add_test(suite, "ramp: members that are no block", test_ramp_holes);
    CU_add_test(suite, "ramp: all hear of all, every block", test_ramp_reach);
    CU_add_test(suite, "ramp: all hear of all, any members", test_random_reach);
    CU_add_test(suite, "all hear of all, the others", test_reach);
    CU_add_test(suite, "broadcast by multicast", test_multicast);
    CU_add_test(suite, "a barrier is never faster here", test_barrier_is_never_faster);
    CU_add_test(suite, "nothing to do", test_nothing);
    CU_add_test(suite, "refused", test_refused);
    CU_add_test(suite, "names", test_names);
    CU_add_test(suite, "ramp over 4,096 servers", test_4096);
}
