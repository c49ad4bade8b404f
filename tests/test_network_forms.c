/* All-reduces against their closed forms, reductions included. Properties held here:
 *   - halving-doubling over n members, n a power of two or not, with a barrier or without, on idle dedicated circuits
 *     and on packets:
 *     with c the largest power of two up to n, 2 sum over k = 1 .. log2 c of (latency + ceil(m / 2^k) / rate), and the
 *     reductions of these parts; where n > c, the n - c others hand m over first, which is reduced, and get m last:
 *     2 (latency + m / rate) and the reduction of m. To the picosecond: without a barrier too, a member that took over
 *     never waits for anybody but those who go through the same;
 *   - on a fixed graph a ring over all servers of a job goes over direct links, whatever its members' order: it takes
 *     2 (n - 1) (latency + ceil(m / n) / rate) exactly;
 *   - ramp over 100 MB takes what the formula says, within 1 %, on every block of groups x racks x places of clusters
 *     of 32, 64 and 512 servers with as many planes as racks, slots and switching included: as published where that is
 *     an all-reduce, and completed where it is not. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "network/collective.h"
#include "network_world.h"
#include "suites.h"
#include "figures.h"

enum { LATENCY_PS = 250000, MEMBERS_MAX = 512 };

static void keep_report(void *context, const struct collective_report *report)
{
    *(struct collective_report *)context = *report;
}

static struct collective_report run_alone(struct world *world, const struct collective_request *asked)
{
    struct collective_report report = {.end = -1};
    struct collective_request request = *asked;
    struct error error = {0};
    request.done = keep_report;
    request.context = &report;
    world_start(world);
    struct collectives *collectives = collectives_create(world->network, WORLD_COLLECTIVE_KIND);
    CU_ASSERT_EQUAL_FATAL(collective_start(collectives, &request, &error), STATUS_OK);
    engine_run(world->engine, SIM_TIME_MAX);
    collectives_destroy(collectives);
    world_stop(world);
    return report;
}

static uint64_t up(uint64_t value, uint64_t by)
{
    return (value + by - 1) / by;
}

/* The published roofline (PAC-ML simulator, section 6), in seconds. */
static double reduction_s(const struct topology *t, double bytes, uint64_t d)
{
    double operations = ceil(log2((double)d)), intensity = operations / (2 * ((double)d + 1));
    return operations * bytes / 2 / fmin(t->device.memory_rate_bytes_per_s * intensity, t->device.peak_per_s);
}

/* ---- halving-doubling ---- */

/* Forty servers, a byte per picosecond: on circuits a switch for each pair that a server is in, set up in no time; on
 * packets one line each way, which everybody who sends ahead of time would share. */
#define FORTY                                                                                                          \
    "groups: 40\nracks_per_group: 1\nservers_per_rack: 1\npropagation: 50ns\nio_latency: 100ns\n"                      \
    "device: {name: A100, memory: 80GB, memory_rate: 2TB/s, peak: 130e12}\n"
static const char *const forties[] = {FORTY
                                      "fabric: ocs\nnode_rate: 64TB/s\nocs: {switches: 64, reconfiguration: 0ps}\n",
                                      FORTY "fabric: packet\nnode_rate: 1TB/s\npacket: {hop_latency: 0ns}\n"};

/* Both ways, and summed on the way there. */
static sim_time exchange(const struct topology *t, uint64_t bytes, bool has_reduction)
{
    sim_time reduction = has_reduction ? (sim_time)nearbyint(reduction_s(t, (double)bytes, 2) * 1e12) : 0;
    return 2 * (sim_time)(LATENCY_PS + bytes) + reduction;
}

static sim_time halving_form(const struct topology *t, uint32_t n, uint64_t m, bool has_reduction)
{
    uint32_t core = 1;
    sim_time time = 0;
    for (; 2 * core <= n; core *= 2)
        time += exchange(t, up(m, 2 * core), has_reduction);
    return core < n ? time + exchange(t, m, has_reduction) : time;
}

static void check_halving(struct world *world, uint32_t n, uint32_t variant)
{
    static const uint64_t sizes[] = {1, 1000, 1000003, 100000000};
    uint32_t members[33];
    for (uint32_t i = 0; i < n; i++)
        members[i] = (7 * i + 3) % 40;
    struct collective_request request = {.algorithm = COLLECTIVE_HALVING_DOUBLING,
                                         .members = members,
                                         .member_count = n,
                                         .bytes = sizes[variant / 4],
                                         .has_barrier = variant % 2,
                                         .is_reduction_free = variant / 2 % 2};
    sim_time form = halving_form(&world->topology, n, request.bytes, !request.is_reduction_free);
    CU_ASSERT_EQUAL(run_alone(world, &request).end, form);
}

static void test_halving(void)
{
    for (int i = 0; i < 2; i++) {
        struct world world = {0};
        struct error error = {0};
        enum status status =
            topology_parse(forties[i], strlen(forties[i]), "forty.yaml", &fabrics, &world.topology, &error);
        CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
        for (uint32_t n = 2; n <= 33; n++)
            for (uint32_t variant = 0; variant < 16; variant++)
                check_halving(&world, n, variant);
        topology_free(&world.topology);
    }
}

/* ---- rings of direct neighbours ---- */

/* Links of a byte per picosecond between any servers of a job; members in no order. */
static void check_neighbours(struct world *world, uint32_t n, bool has_barrier)
{
    uint32_t servers[32], members[32];
    for (uint32_t i = 0; i < n; i++) {
        servers[i] = (5 * i + 2) % 32;
        members[i] = (5 * (i % 2 ? n - 1 - i / 2 : i / 2) + 2) % 32; /* first, last, second, last but one, ... */
    }
    const struct world_job job = {.job = 0, .count = n, .servers = servers};
    struct collective_request request = {.algorithm = COLLECTIVE_RING,
                                         .members = members,
                                         .member_count = n,
                                         .bytes = 1000003,
                                         .has_barrier = has_barrier,
                                         .is_reduction_free = true};
    world->jobs = &job;
    world->job_count = 1;
    struct collective_report report = run_alone(world, &request);
    CU_ASSERT_EQUAL(report.end, 2 * (sim_time)(n - 1) * (sim_time)(LATENCY_PS + up(request.bytes, n)));
    CU_ASSERT_EQUAL(report.path.wait, 0);
}

static void test_neighbours(void)
{
    static const uint32_t counts[] = {2, 3, 4, 5, 6, 8, 12, 15, 16, 27, 30, 32};
    static const char *const graphs[] = {"", ", graph: ring, degree: 4", ", graph: expander, degree: 6"};
    static const char *const rates[] = {"6TB/s", "4TB/s", "6TB/s"};
    for (int graph = 0; graph < 3; graph++) {
        char text[600];
        struct world world = {0};
        struct error error = {0};
        snprintf(text, sizeof text,
                 "fabric: static\ngroups: 4\nracks_per_group: 4\nservers_per_rack: 2\npropagation: 50ns\n"
                 "io_latency: 100ns\ndevice: {name: A100, memory: 80GB, memory_rate: 2TB/s, peak: 130e12}\n"
                 "node_rate: %s\nstatic: {reconfiguration: 0ps%s}\n",
                 rates[graph], graphs[graph]);
        enum status status = topology_parse(text, strlen(text), "graph.yaml", &fabrics, &world.topology, &error);
        CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
        for (uint32_t i = 0; i < sizeof counts / sizeof *counts; i++)
            for (int barrier = 0; barrier < 2; barrier++)
                check_neighbours(&world, counts[i], barrier);
        topology_free(&world.topology);
    }
}

/* ---- ramp ---- */

/* The subgroups of section 3, completed where is_complete: places that are left over, or all of them as few digits of
 * at most x as it takes. Returns how many; 0 where there are none. */
static uint32_t list_subgroups(uint64_t x, const uint64_t block[3], bool is_complete, uint64_t sizes[8])
{
    uint64_t groups = block[0], racks = block[1], places = block[2];
    uint64_t near = groups < places ? groups : places, far = up(places, x), deep = near * far;
    uint32_t count = 0;
    if (!is_complete || places % deep == 0) {
        const uint64_t all[] = {groups, near, racks, far, is_complete ? places / deep : 1};
        for (int i = 0; i < 5; i++)
            sizes[count++] = all[i];
        return count;
    }
    sizes[count++] = groups;
    while (places > 1) {
        uint64_t digit = places < x ? places : x;
        while (places % digit)
            digit--;
        if (digit == 1)
            return 0;
        sizes[count++] = digit;
        places /= digit;
    }
    sizes[count++] = racks;
    return count;
}

/* Section 3 without the double division: each subgroup of d sends its share of the message to each of d - 1 others on
 * floor(x / (d - 1)) transceivers of a rate of node_rate / x, both ways, and reduces on the way there. */
static double ramp_form_s(const struct topology *t, double m, const uint64_t *sizes, uint32_t count)
{
    double x = (double)t->groups, time_s = 0, hop_s = 1e-12 * (double)(t->propagation_ps + 2 * t->io_latency_ps);
    for (uint32_t i = 0; i < count; i++) {
        double d = (double)sizes[i];
        m = ceil(m / d);
        if (d <= 1)
            continue;
        double lanes = 1 + (fmin(x, floor(x / (d - 1))) - 1);
        time_s += 2 * (hop_s + m / (lanes * t->node_rate_bytes_per_s / x)) + reduction_s(t, m, sizes[i]);
    }
    return time_s;
}

static uint32_t lay_block(const struct topology *t, const uint64_t block[3], uint32_t *members)
{
    uint32_t count = 0;
    for (uint64_t g = 0; g < block[0]; g++)
        for (uint64_t r = 0; r < block[1]; r++)
            for (uint64_t p = 0; p < block[2]; p++)
                members[count++] =
                    (uint32_t)((g * (uint64_t)t->racks_per_group + r) * (uint64_t)t->servers_per_rack + p);
    return count;
}

static void check_block(struct world *world, const uint64_t block[3], bool is_complete, bool has_barrier)
{
    const struct topology *t = &world->topology;
    uint32_t members[MEMBERS_MAX];
    uint64_t sizes[8];
    struct collective_request request = {.algorithm = COLLECTIVE_RAMP,
                                         .members = members,
                                         .member_count = lay_block(t, block, members),
                                         .bytes = 100000000,
                                         .is_complete = is_complete,
                                         .has_barrier = has_barrier};
    uint32_t count = list_subgroups((uint64_t)t->groups, block, is_complete, sizes);
    if (count == 0)
        return;
    double form_s = ramp_form_s(t, (double)request.bytes, sizes, count);
    double time_s = (double)run_alone(world, &request).end / 1e12;
    CU_ASSERT(fabs(time_s - form_s) <= 0.01 * form_s);
}

/* Returns how many blocks there are. */
static uint32_t check_blocks(const char *path)
{
    struct world world;
    uint32_t checked = 0;
    world_open(&world, path);
    const struct topology *t = &world.topology;
    *figure_whole(t, "ramp.planes") = t->racks_per_group;
    uint64_t most[3] = {(uint64_t)t->groups, (uint64_t)t->racks_per_group, (uint64_t)t->servers_per_rack};
    for (uint64_t g = 1; g <= most[0]; g++)
        for (uint64_t r = 1; r <= most[1]; r++)
            for (uint64_t p = 1; p <= most[2]; p++, checked++)
                for (uint32_t i = 0; i < 4; i++)
                    check_block(&world, (uint64_t[]){g, r, p}, i % 2, i / 2);
    topology_free(&world.topology);
    return checked;
}

static void test_ramp(void)
{
    CU_ASSERT_EQUAL(check_blocks("topologies/ramp-32.yaml"), 32);
    CU_ASSERT_EQUAL(check_blocks("topologies/ramp-64.yaml"), 64);
    CU_ASSERT_EQUAL(check_blocks("topologies/ramp-512.yaml"), 512);
}

void suite_network_forms(void)
{
    CU_pSuite suite = CU_add_suite("network forms", NULL, NULL);
    CU_add_test(suite, "halving-doubling, 2 to 33 members", test_halving);
    CU_add_test(suite, "rings of direct neighbours", test_neighbours);
    CU_add_test(suite, "ramp, every block of 32, 64 and 512 servers", test_ramp);
}
