/* The clock's arithmetic: 128 bits wherever a product might not fit in 64. */
#include "engine/clock.h"

#include <math.h>
#include <stddef.h>

__extension__ typedef unsigned __int128 wide;

#define PS_PER_S INT64_C(1000000000000)

/* 2^63 as a double: the first time that does not fit. */
#define TICKS_END 9223372036854775808.0

static const struct {
    const char *name;
    int64_t tick_ps;
} ticks[] = {{"1ps", 1}, {"1ns", 1000}, {"1us", 1000000}, {"1ms", 1000000000}};

sim_time clock_from_ps(const struct sim_clock *clock, int64_t time_ps)
{
    require(clock->tick_ps >= 1);
    int64_t whole = time_ps / clock->tick_ps;
    int64_t rest = time_ps % clock->tick_ps;
    if (rest >= clock->tick_ps - rest)
        return whole + 1;
    if (-rest >= clock->tick_ps + rest)
        return whole - 1;
    return whole;
}

/* The finest tick in which time_s fits, NULL if there is none. */
static const char *tick_that_fits(double time_s)
{
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++)
        if (fabs(time_s) * ((double)PS_PER_S / (double)ticks[i].tick_ps) < TICKS_END)
            return ticks[i].name;
    return NULL;
}

static enum status does_not_fit(double time_s, int64_t tick_ps, struct error *error)
{
    const char *tick = tick_that_fits(time_s);
    if (!tick)
        return error_set(error, STATUS_USER, "%.17g s is longer than any clock can tell", time_s);
    return error_set(error, STATUS_USER,
                     "%.17g s does not fit in the clock with a tick of %lld ps; run.tick: %s would do", time_s,
                     (long long)tick_ps, tick);
}

enum status clock_from_seconds(const struct sim_clock *clock, double time_s, sim_time *time, struct error *error)
{
    require(clock->tick_ps >= 1);
    if (!isfinite(time_s))
        return error_set(error, STATUS_USER, "a time must be a finite number of seconds, not %g", time_s);
    /* 1e12 over a power of ten is exact, so that this rounds once in the product and once to the tick. */
    double value = rint(time_s * ((double)PS_PER_S / (double)clock->tick_ps));
    if (fabs(value) >= TICKS_END)
        return does_not_fit(time_s, clock->tick_ps, error);
    *time = (sim_time)value;
    return STATUS_OK;
}

double clock_to_seconds(const struct sim_clock *clock, sim_time time)
{
    require(clock->tick_ps >= 1);
    return (double)time / ((double)PS_PER_S / (double)clock->tick_ps);
}

bool clock_add(sim_time left, sim_time right, sim_time *sum)
{
    sim_time result;
    if (__builtin_add_overflow(left, right, &result) || result == SIM_TIME_MAX)
        return false;
    *sum = result;
    return true;
}

enum status clock_advance(const struct sim_clock *clock, sim_time now, sim_time delay, sim_time *time,
                          struct error *error)
{
    if (clock_add(now, delay, time))
        return STATUS_OK;
    return does_not_fit(clock_to_seconds(clock, now) + clock_to_seconds(clock, delay), clock->tick_ps, error);
}

sim_time clock_duration(const struct sim_clock *clock, uint64_t size_bytes, uint64_t rate_bytes_per_s)
{
    require(clock->tick_ps >= 1);
    require(rate_bytes_per_s > 0);
    wide work = (wide)size_bytes * (wide)PS_PER_S;
    wide speed = (wide)rate_bytes_per_s * (wide)clock->tick_ps;
    wide ticks_needed = work / speed + (work % speed != 0);
    return ticks_needed < (wide)SIM_TIME_MAX ? (sim_time)ticks_needed : SIM_TIME_MAX;
}
