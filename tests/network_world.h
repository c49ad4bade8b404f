/* A network to test: topology, engine and network in one, and transfers sent at given times.
 *
 * Figures of the topology may be changed between world_open and world_start.
 */
#ifndef TESTS_NETWORK_WORLD_H
#define TESTS_NETWORK_WORLD_H

#include <CUnit/CUnit.h>

#include "engine/engine.h"
#include "fabric/fabrics.h"
#include "network/network.h"
#include "topology/topology.h"

enum { WORLD_SEND_KIND = 10, WORLD_COLLECTIVE_KIND = 11 };

/* A job that is open from the start. */
struct world_job {
    uint32_t job;
    uint32_t count;
    const uint32_t *servers; /* borrowed */
};

struct world {
    struct topology topology;
    const struct world_job *jobs; /* borrowed */
    uint32_t job_count;
    struct network_options options;
    struct engine *engine;
    struct network *network;
};

static inline void world_open(struct world *world, const char *path)
{
    struct error error = {0};
    *world = (struct world){0};
    enum status status = fabric_load_topology(path, &world->topology, &error);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
}

static inline void world_start(struct world *world)
{
    struct error error = {0};
    world->engine = engine_create();
    enum status status = network_create(world->engine, &world->topology, &world->options, &world->network, &error);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    for (uint32_t i = 0; i < world->job_count; i++) {
        const struct world_job *job = &world->jobs[i];
        status = network_open_job(world->network, job->job, job->servers, job->count, &error);
        CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
    }
}

/* Ends the run; the books are checked on the way. The topology stays, for another start. */
static inline void world_stop(struct world *world)
{
    network_destroy(world->network);
    engine_destroy(world->engine);
    world->network = NULL;
    world->engine = NULL;
}

static inline void world_close(struct world *world)
{
    world_stop(world);
    topology_free(&world->topology);
}

static inline void world_keep(void *context, const struct transfer_report *report)
{
    *(struct transfer_report *)context = *report;
}

/* When its last bit left, and its hardware was free. */
static inline sim_time world_gone(const struct transfer_report *report)
{
    return report->end - report->latency;
}

/* Sends now; the report goes where it says. */
static inline void world_send(struct world *world, uint32_t source, uint32_t target, uint64_t bytes,
                              struct transfer_report *report)
{
    struct transfer_request request = {
        .source = source, .target = target, .bytes = bytes, .done = world_keep, .context = report};
    struct error error = {0};
    *report = (struct transfer_report){.end = -1};
    CU_ASSERT_EQUAL_FATAL(network_send(world->network, &request, NULL, &error), STATUS_OK);
}

#endif
