/* The whole loop: pop, trace hash, dispatch, a handler that schedules again. Goal: 2e7 events a second of CPU time with
 * 1000 events pending. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "../increments.h"
#include "engine/engine.h"
#include "engine/memory.h"

enum { PENDING = 1000, EVENTS = 2000000, ROUNDS = 5 };

#define GOAL_PER_S 2e7

struct world {
    struct increments increments;
    uint64_t left;
};

static void again(struct engine *engine, const struct event *event, void *world_pointer)
{
    struct world *world = world_pointer;
    if (--world->left == 0)
        engine_stop(engine);
    (void)engine_schedule(engine, event->time + increments_next(&world->increments), event->priority, event->kind,
                          event->entity, event->data);
}

static int measure(struct world *world, enum increment_kind kind)
{
    increments_fill(&world->increments, kind, 1);
    struct engine *engine = engine_create();
    for (uint16_t i = 0; i < 4; i++)
        engine_on(engine, i, again, world);
    for (uint32_t i = 0; i < PENDING; i++)
        (void)engine_schedule(engine, increments_next(&world->increments), 0, (uint16_t)(i % 4), i, 0);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        world->left = EVENTS;
        double start = bench_now_ns();
        engine_run(engine, SIM_TIME_MAX);
        double per_s = EVENTS / (bench_now_ns() - start) * 1e9;
        best = per_s > best ? per_s : best;
    }
    printf("%-8s %10.3g events/s  %5.1f ns  %s  trace %016llx\n", increment_names[kind], best, 1e9 / best,
           best >= GOAL_PER_S ? "ok" : "MISSED", (unsigned long long)engine_trace_hash(engine));
    engine_destroy(engine);
    return best < GOAL_PER_S;
}

int bench_engine(void)
{
    int missed = 0;
    struct world *world = memory_alloc(1, sizeof *world);
    for (int kind = 0; kind < INCREMENT_KINDS; kind++)
        missed += measure(world, (enum increment_kind)kind);
    free(world);
    return missed;
}
