/* The clock: signed 64-bit ticks, never floating point.
 *
 * A tick is 1 ps (106 days fit) unless the scenario says otherwise. A duration
 * is computed once, rounded once, and is an integer ever after. What does not
 * fit is an error that names the tick that would do, or a value callers can
 * test for (SIM_TIME_MAX, false), never a wrap-around.
 * Everything here is O(1) and owns nothing.
 */
#ifndef ENGINE_CLOCK_H
#define ENGINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/status.h"

typedef int64_t sim_time; /* ticks */

/* The end of time: no event ever happens then; also "never" and "does not fit". */
#define SIM_TIME_MAX INT64_MAX

struct sim_clock {
    int64_t tick_ps; /* picoseconds in a tick, at least 1 */
};

/* Picoseconds to the nearest tick; halves go away from zero. */
sim_time clock_from_ps(const struct sim_clock *clock, int64_t time_ps);

/* Seconds to the nearest tick; halves go to even. STATUS_USER when it is not finite or does not fit: the message names
 * the tick (1ps, 1ns, 1us, 1ms) that would do, if any. *time is written only on success. */
STATUS_MUST_USE enum status clock_from_seconds(const struct sim_clock *clock, double time_s, sim_time *time,
                                               struct error *error);

/* The nearest double; for reports, never to compute further times from. */
double clock_to_seconds(const struct sim_clock *clock, sim_time time);

/* The sum, or false (and *sum untouched) where it does not fit below SIM_TIME_MAX. */
STATUS_MUST_USE bool clock_add(sim_time left, sim_time right, sim_time *sum);

/* The same for a user's model: STATUS_USER with a message that names a coarser tick. */
STATUS_MUST_USE enum status clock_advance(const struct sim_clock *clock, sim_time now, sim_time delay, sim_time *time,
                                          struct error *error);

/* Ticks that size_bytes take at a rate (which is required to be above 0), exact and rounded up: a transfer never ends
 * early. SIM_TIME_MAX where it does not fit. */
sim_time clock_duration(const struct sim_clock *clock, uint64_t size_bytes, uint64_t rate_bytes_per_s);

#endif
