/* The engine: the loop that takes events in order and hands them to their handlers.
 *
 * Events are ordered by (time, priority, sequence of scheduling). A handler is
 * named by the event's kind, a small number, so that the trace can be hashed and
 * compared between runs. Every executed event is folded into the trace hash.
 * One engine is one run: no state is shared, so runs go side by side in threads.
 * Each operation is O(1) amortised (see calendar.h).
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/calendar.h"
#include "engine/clock.h"
#include "engine/pool.h" /* struct event, event_handle */

enum { ENGINE_KINDS = 64 }; /* kinds are below this */

struct engine;

/* Borrows event (lives until the handler returns); it may schedule, cancel and stop, but not run or step. */
typedef void event_handler(struct engine *engine, const struct event *event, void *world);

/* Returns owned, to be freed with engine_destroy. The clock starts at 0. */
struct engine *engine_create(void);

/* Takes engine, with the events still pending; NULL is fine. */
void engine_destroy(struct engine *engine);

/* Says who handles a kind. Borrows world, which must live as long as events of the kind do. */
void engine_on(struct engine *engine, uint16_t kind, event_handler *handler, void *world);

/* time is required to be now or later, and below SIM_TIME_MAX; callers check sums with clock_add. */
event_handle engine_schedule(struct engine *engine, sim_time time, uint8_t priority, uint16_t kind, uint32_t entity,
                             uint64_t data);

/* False if the event has run or was cancelled already, or handle is 0. */
bool engine_cancel(struct engine *engine, event_handle handle);

/* Moves a pending event to another time, behind those already scheduled there. Returns its new handle (the old one is
 * dead), or 0 if it has run or was cancelled. */
event_handle engine_reschedule(struct engine *engine, event_handle handle, sim_time time);

/* Executes the next event; false when there is none. */
bool engine_step(struct engine *engine);

/* Executes the events with time <= until. Afterwards now is until, unless it was stopped or until is SIM_TIME_MAX: then
 * now is the time of the last event executed. */
void engine_run(struct engine *engine, sim_time until);

/* Makes engine_run return after the current handler. The next run goes on from there. */
void engine_stop(struct engine *engine);

sim_time engine_now(const struct engine *engine);

/* The time of the next event, SIM_TIME_MAX when there is none. */
sim_time engine_peek(struct engine *engine);

/* Executed so far. */
uint64_t engine_events(const struct engine *engine);
uint64_t engine_trace_hash(const struct engine *engine);

/* Scheduled, not yet executed or cancelled. */
size_t engine_pending(const struct engine *engine);

struct calendar_stats engine_calendar_stats(const struct engine *engine);

#endif
