/* Where time goes: see time_parts.h. */
#include "step/time_parts.h"

/* The parts of a path that a time takes in, one bit each. */
#define PATH_BIT(part) (1U << (part))
static const unsigned parts_of_time[TIME_PARTS] = {
    [TIME_COMM] = PATH_BIT(PATH_PAYLOAD) | PATH_BIT(PATH_LATENCY),
    [TIME_COMP] = PATH_BIT(PATH_COMPUTE),
    [TIME_RECONFIG] = PATH_BIT(PATH_RECONFIGURATION),
    [TIME_WAIT] = PATH_BIT(PATH_WAIT_DEVICE) | PATH_BIT(PATH_WAIT_NETWORK),
    [TIME_PAYLOAD] = PATH_BIT(PATH_PAYLOAD),
    [TIME_LATENCY] = PATH_BIT(PATH_LATENCY),
    [TIME_WAIT_DEVICE] = PATH_BIT(PATH_WAIT_DEVICE),
    [TIME_WAIT_NETWORK] = PATH_BIT(PATH_WAIT_NETWORK),
};

void step_path_add(struct step_path *sum, const struct step_path *path, int64_t times)
{
    for (int part = 0; part < PATH_PARTS; part++)
        sum->ticks[part] += times * path->ticks[part];
}

static sim_time sum_parts(const struct step_path *path, unsigned parts)
{
    sim_time sum = 0;
    for (int part = 0; part < PATH_PARTS; part++)
        sum += parts & PATH_BIT(part) ? path->ticks[part] : 0;
    return sum;
}

sim_time step_path_length(const struct step_path *path)
{
    return sum_parts(path, PATH_BIT(PATH_PARTS) - 1);
}

void time_parts_add(struct time_parts *sum, const struct time_parts *time, double factor)
{
    sum->total_s += time->total_s * factor;
    for (int part = 0; part < TIME_PARTS; part++)
        sum->part_s[part] += time->part_s[part] * factor;
}

void time_parts_queue(struct time_parts *time, double waited_s)
{
    time->total_s += waited_s;
    time->part_s[TIME_WAIT] += waited_s;
    time->part_s[TIME_WAIT_DEVICE] += waited_s;
}

/* Ticks are added before they become seconds: each time is rounded once. */
struct time_parts time_parts_of(const struct sim_clock *clock, const struct step_path *path)
{
    struct time_parts time = {.total_s = clock_to_seconds(clock, step_path_length(path))};
    for (int part = 0; part < TIME_PARTS; part++)
        time.part_s[part] = clock_to_seconds(clock, sum_parts(path, parts_of_time[part]));
    return time;
}
