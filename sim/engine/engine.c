/* The loop. Handlers are looked up by kind in a table, not through pointers in events, so that a trace can be hashed.
 */
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/hash.h"
#include "engine/memory.h"
#include "engine/status.h"

struct engine_entry {
    event_handler *handler;
    void *world;
};

struct engine {
    sim_time now;
    struct calendar *calendar;
    struct trace_hash trace;
    bool stopped;
    bool running; /* a handler is at work */
    struct engine_entry entries[ENGINE_KINDS];
};

struct engine *engine_create(void)
{
    struct engine *engine = memory_alloc(1, sizeof *engine);
    engine->calendar = calendar_create();
    trace_hash_start(&engine->trace);
    return engine;
}

void engine_destroy(struct engine *engine)
{
    if (!engine)
        return;
    require(!engine->running);
    calendar_destroy(engine->calendar);
    free(engine);
}

void engine_on(struct engine *engine, uint16_t kind, event_handler *handler, void *world)
{
    require(kind < ENGINE_KINDS);
    require(handler);
    engine->entries[kind] = (struct engine_entry){.handler = handler, .world = world};
}

event_handle engine_schedule(struct engine *engine, sim_time time, uint8_t priority, uint16_t kind, uint32_t entity,
                             uint64_t data)
{
    require(time >= engine->now);
    require(time < SIM_TIME_MAX);
    require(kind < ENGINE_KINDS);
    require(engine->entries[kind].handler);
    struct event event = {.time = time, .data = data, .entity = entity, .kind = kind, .priority = priority};
    return calendar_push(engine->calendar, &event);
}

bool engine_cancel(struct engine *engine, event_handle handle)
{
    return calendar_cancel(engine->calendar, handle);
}

event_handle engine_reschedule(struct engine *engine, event_handle handle, sim_time time)
{
    require(time >= engine->now);
    require(time < SIM_TIME_MAX);
    return calendar_reschedule(engine->calendar, handle, time);
}

static bool execute(struct engine *engine, sim_time until)
{
    struct event event;
    if (!calendar_pop_until(engine->calendar, until, &event))
        return false;
    require(event.time >= engine->now);
    engine->now = event.time;
    trace_hash_fold(&engine->trace, (uint64_t)event.time, event.kind, event.entity);
    const struct engine_entry *entry = &engine->entries[event.kind];
    engine->running = true;
    entry->handler(engine, &event, entry->world);
    engine->running = false;
    return true;
}

bool engine_step(struct engine *engine)
{
    require(!engine->running);
    return execute(engine, SIM_TIME_MAX);
}

void engine_run(struct engine *engine, sim_time until)
{
    require(!engine->running);
    require(until >= engine->now);
    engine->stopped = false;
    while (!engine->stopped && execute(engine, until)) {
    }
    if (!engine->stopped && until != SIM_TIME_MAX)
        engine->now = until;
}

void engine_stop(struct engine *engine)
{
    engine->stopped = true;
}

sim_time engine_now(const struct engine *engine)
{
    return engine->now;
}

sim_time engine_peek(struct engine *engine)
{
    return calendar_peek_time(engine->calendar);
}

uint64_t engine_events(const struct engine *engine)
{
    return engine->trace.count;
}

uint64_t engine_trace_hash(const struct engine *engine)
{
    return trace_hash_value(&engine->trace);
}

size_t engine_pending(const struct engine *engine)
{
    return calendar_size(engine->calendar);
}

struct calendar_stats engine_calendar_stats(const struct engine *engine)
{
    return calendar_stats(engine->calendar);
}
