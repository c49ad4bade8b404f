/* The network end to end: random transfers that keep a number of circuits busy, and all-reduces of ramp.
 *
 * Goals: 3e6 events a second on 32 servers; an event costs at most three times as much on 65,536 servers, with the same
 * number of transfers under way; an all-reduce over 4,096 servers in 1 s, over 65,536 in 30 s and 4 GB. With one
 * transfer under way for each server, a transfer takes at most 20 us on ring and packet at 4,096 servers and 100 us at
 * 65,536; on ramp and ocs 0.4 us at 512 and 3 us at 65,536 where the machine is quiet, and half as much again at most.
 * Set OCSIM_BENCH_SMALL to leave out the largest all-reduce.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/random.h"
#include "fabric/fabrics.h"
#include "network/collective.h"
#include "network/network.h"

enum { UNDER_WAY = 100, WARM_UP = 2000000, MEASURED = 1000000, ROUNDS = 3 };

#define GOAL_PER_S 3e6
#define GOAL_RATIO 3.0
#define GOAL_ROUND_US 3e5

/* One transfer under way for each server of a fabric. */
struct full_load {
    const char *name;
    const char *fabric; /* its lines of the topology file */
    uint32_t groups, racks, servers;
    double goal_us; /* a transfer */
};

struct traffic {
    struct topology topology;
    struct engine *engine;
    struct network *network;
    struct random_stream *draws;
    uint64_t left;
};

static void again(void *context, const struct transfer_report *report);

static void send_one(struct traffic *traffic)
{
    uint32_t nodes = traffic->topology.server_count;
    uint32_t source = (uint32_t)random_below(traffic->draws, nodes);
    uint32_t target = (source + 1 + (uint32_t)random_below(traffic->draws, nodes - 1)) % nodes;
    struct transfer_request request = {.source = source,
                                       .target = target,
                                       .bytes = 1 + random_below(traffic->draws, 1000000),
                                       .done = again,
                                       .context = traffic};
    struct error error;
    if (network_send(traffic->network, &request, NULL, &error) != STATUS_OK)
        require(!"the network refused a transfer");
}

static void again(void *context, const struct transfer_report *report)
{
    struct traffic *traffic = context;
    (void)report;
    if (--traffic->left == 0)
        engine_stop(traffic->engine);
    send_one(traffic);
}

static void open_network(struct traffic *traffic, const char *name)
{
    struct error error;
    struct network_options options = {.order = NETWORK_FIFO};
    traffic->engine = engine_create();
    if (network_create(traffic->engine, &traffic->topology, &options, &traffic->network, &error) != STATUS_OK)
        require(!"the network can be built");
    traffic->draws = random_open(1, name, 0);
}

static void open_traffic(struct traffic *traffic, const char *path)
{
    struct error error;
    if (fabric_load_topology(path, &traffic->topology, &error) != STATUS_OK)
        require(!"the topology is there");
    open_network(traffic, path);
}

static void close_traffic(struct traffic *traffic)
{
    network_destroy(traffic->network);
    engine_destroy(traffic->engine);
    random_close(traffic->draws);
    topology_free(&traffic->topology);
}

static double run_ns(struct traffic *traffic, uint64_t transfers, uint64_t *events)
{
    traffic->left = transfers;
    uint64_t before = engine_events(traffic->engine);
    double start = bench_now_ns();
    engine_run(traffic->engine, SIM_TIME_MAX);
    double time = bench_now_ns() - start;
    *events = engine_events(traffic->engine) - before;
    return time;
}

/* Nanoseconds an event; the warm-up touches the hardware once, which is the price of building, not of running. */
static double measure(const char *path)
{
    struct traffic traffic;
    double best = 1e300;
    uint64_t events;
    open_traffic(&traffic, path);
    for (int i = 0; i < UNDER_WAY; i++)
        send_one(&traffic);
    (void)run_ns(&traffic, WARM_UP, &events);
    for (int i = 0; i < ROUNDS; i++) {
        double time = run_ns(&traffic, MEASURED, &events) / (double)events;
        best = time < best ? time : best;
    }
    struct network_totals totals = network_totals(traffic.network);
    printf("%-30s %6.1f ns/event %9.3g events/s  %4.1f %% waited for\n", path, best, 1e9 / best,
           100 * (double)totals.waiting_area / (double)(totals.waiting_area + totals.moving_area));
    close_traffic(&traffic);
    return best;
}

static void open_full(struct traffic *traffic, const struct full_load *load)
{
    char text[512];
    struct error error;
    int size = snprintf(text, sizeof text,
                        "%s\ngroups: %u\nracks_per_group: %u\nservers_per_rack: %u\nnode_rate: 1.6TB/s\n"
                        "propagation: 50ns\nio_latency: 100ns\n"
                        "device: {name: A100, memory: 80GB, memory_rate: 2TB/s, peak: 130e12}\n",
                        load->fabric, load->groups, load->racks, load->servers);
    require(size > 0 && (size_t)size < sizeof text);
    if (fabric_parse_topology(text, (size_t)size, "full load", &traffic->topology, &error) != STATUS_OK)
        require(!"the topology can be read");
    open_network(traffic, load->fabric);
}

/* Returns 1 where a transfer took longer than the goal. The first round, which fills the fabric, is not counted. */
static int measure_full(const struct full_load *load)
{
    struct traffic traffic;
    double best = 1e300;
    uint64_t events;
    open_full(&traffic, load);
    uint32_t servers = traffic.topology.server_count, enough = (uint32_t)(GOAL_ROUND_US / load->goal_us);
    uint32_t measured = servers / 2 > enough ? servers / 2 : enough;
    for (uint32_t i = 0; i < servers; i++)
        send_one(&traffic);
    for (int i = 0; i <= 2 * ROUNDS; i++) {
        double time = run_ns(&traffic, measured, &events) / 1e3 / measured;
        best = i > 0 && time < best ? time : best;
    }
    printf("%-30s %5u servers, as many under way: %6.2f us a transfer, goal %g\n", load->name, servers, best,
           load->goal_us);
    close_traffic(&traffic);
    return best > load->goal_us;
}

int bench_load(void)
{
    static const struct full_load loads[] = {
        {"ramp", "fabric: ramp", 8, 8, 8, 0.6},
        {"ocs", "fabric: ocs", 8, 8, 8, 0.6},
        {"ramp", "fabric: ramp", 32, 32, 64, 4.5},
        {"ocs", "fabric: ocs", 32, 32, 64, 4.5},
        {"ring", "fabric: ring", 16, 16, 16, 20},
        {"ring", "fabric: ring", 32, 32, 64, 100},
        {"packet, oversubscription 4", "fabric: packet\npacket: {oversubscription: 4, radix: 16, hop_latency: 0ns}", 16,
         16, 16, 20},
        {"packet, oversubscription 4", "fabric: packet\npacket: {oversubscription: 4, radix: 16, hop_latency: 0ns}", 32,
         32, 64, 100},
    };
    int missed = 0;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++)
        missed += measure_full(&loads[i]);
    return missed;
}

static void keep_end(void *context, const struct collective_report *report)
{
    *(sim_time *)context = report->end;
}

/* Returns the seconds it took. */
static double all_reduce(const char *path)
{
    struct traffic traffic;
    struct error error;
    sim_time end = -1;
    open_traffic(&traffic, path);
    uint32_t count = traffic.topology.server_count, *members = memory_alloc(count, sizeof *members);
    for (uint32_t i = 0; i < count; i++)
        members[i] = i;
    struct collectives *collectives = collectives_create(traffic.network, NETWORK_KINDS);
    struct collective_request request = {.algorithm = COLLECTIVE_RAMP,
                                         .members = members,
                                         .member_count = count,
                                         .bytes = 1000000000,
                                         .done = keep_end,
                                         .context = &end};
    double start = bench_now_ns();
    if (collective_start(collectives, &request, &error) != STATUS_OK)
        require(!"the collective can start");
    engine_run(traffic.engine, SIM_TIME_MAX);
    double time_s = (bench_now_ns() - start) / 1e9;
    require(end > 0);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%-30s all-reduce of 1 GB: %.2f s, %.3g events, peak %ld MB\n", path, time_s,
           (double)engine_events(traffic.engine), usage.ru_maxrss / 1024);
    collectives_destroy(collectives);
    free(members);
    close_traffic(&traffic);
    return time_s;
}

int bench_network(void)
{
    int missed = all_reduce("topologies/ramp-4096.yaml") > 1;
    double small = measure("topologies/ramp-32.yaml"), large = measure("topologies/ramp-65536.yaml");
    (void)measure("topologies/ocs-32.yaml");
    (void)measure("topologies/awgr-32.yaml");
    printf("65,536 servers cost %.2f times as much per event as 32\n", large / small);
    missed += 1e9 / small < GOAL_PER_S;
    missed += large / small > GOAL_RATIO;
    if (!getenv("OCSIM_BENCH_SMALL"))
        missed += all_reduce("topologies/ramp-65536.yaml") > 30;
    return missed;
}
