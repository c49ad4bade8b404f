/* What fabrics share: rates, latencies, slots. See fabric.h. */
#include "network/fabric.h"

sim_time fabric_payload(const struct fabric_state *state, uint64_t bytes, uint16_t lanes)
{
    require(lanes > 0 && state->rate_bytes_per_s > 0);
    sim_time time = clock_duration(&state->clock, bytes, state->rate_bytes_per_s * lanes);
    if (state->slot <= 0 || time == SIM_TIME_MAX)
        return time;
    sim_time over = time % state->slot;
    if (over > 0 && !clock_add(time, state->slot - over, &time))
        return SIM_TIME_MAX;
    return time;
}

enum status fabric_share(struct fabric_state *state, int64_t transceivers, int64_t reconfiguration_ps, int64_t slot_ps,
                         struct error *error)
{
    require(state->topology && state->clock.tick_ps > 0 && transceivers > 0);
    const struct topology *topology = state->topology;
    double rate = topology->node_rate_bytes_per_s / (double)transceivers;
    if (!(rate >= 1))
        return error_set(error, STATUS_USER,
                         "node_rate leaves %g bytes per second for each of %lld transceivers; at least 1B/s is needed",
                         rate, (long long)transceivers);
    if (!(topology->node_rate_bytes_per_s < 0x1p62))
        return error_set(error, STATUS_USER, "node_rate is %gB/s; at most 4e18B/s can be simulated",
                         topology->node_rate_bytes_per_s);
    sim_time latency;
    int64_t ends_ps;
    if (!clock_add(topology->io_latency_ps, topology->io_latency_ps, &ends_ps) ||
        !clock_add(topology->propagation_ps, ends_ps, &latency))
        return error_set(error, STATUS_USER, "propagation and io_latency are too long for the clock");
    state->latency = clock_from_ps(&state->clock, latency);
    state->reconfiguration = clock_from_ps(&state->clock, fabric_delay_ps(state, reconfiguration_ps));
    state->slot = clock_from_ps(&state->clock, slot_ps);
    state->rate_bytes_per_s = (uint64_t)rate;
    state->transceivers = (uint32_t)(transceivers < UINT32_MAX ? transceivers : UINT32_MAX);
    state->lanes_max = (uint16_t)(transceivers < UINT16_MAX ? transceivers : UINT16_MAX);
    return STATUS_OK;
}

enum status fabric_add_delays(struct fabric_state *state, const struct fabric_delays *delays, struct error *error)
{
    const struct sim_clock *clock = &state->clock;
    sim_time set_up = state->reconfiguration, guarded;
    state->guard = clock_from_ps(clock, delays->guard_ps);
    if (!clock_add(set_up, clock_from_ps(clock, delays->control_ps), &set_up) ||
        !clock_add(set_up, clock_from_ps(clock, delays->lock_ps), &set_up) ||
        !clock_add(set_up, state->guard, &guarded))
        return error_set(error, STATUS_USER, "control, lock and guard are too long for the clock");
    state->reconfiguration = set_up;
    return STATUS_OK;
}
