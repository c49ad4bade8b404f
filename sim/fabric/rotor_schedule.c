/* The schedule of a rotor by arithmetic (rotor.h says what and why), and the map of pairs.
 *
 * Everything about windows is O(1) in their number; 128-bit products, so nothing wraps before the clock ends.
 */
#include "fabric/rotor.h"

__extension__ typedef __int128 wide;

static int64_t floor_divide(int64_t left, int64_t right)
{
    return left / right - (left % right < 0);
}

sim_time rotor_showing(const struct rotor_schedule *schedule, int64_t j)
{
    int64_t switches = schedule->switches, slot = floor_divide(j, switches), which = j - slot * switches;
    wide begin = (wide)slot * schedule->period;
    if (schedule->is_staggered)
        begin += (wide)which * schedule->period / switches;
    return begin < SIM_TIME_MAX - schedule->period ? (sim_time)begin : SIM_TIME_MAX;
}

int64_t rotor_showing_at(const struct rotor_schedule *schedule, sim_time time)
{
    int64_t slot = time / schedule->period, switches = schedule->switches, which = switches - 1;
    require(time >= 0);
    if (schedule->is_staggered) {
        /* Switch p has begun when floor(p * period / P) <= rest. */
        wide rest = time % schedule->period;
        which = (int64_t)(((rest + 1) * switches + schedule->period - 1) / schedule->period) - 1;
        if (which > switches - 1)
            which = switches - 1;
    }
    return slot * switches + which;
}

int64_t rotor_next(const struct rotor_schedule *schedule, uint32_t difference, sim_time time)
{
    int64_t begun = rotor_showing_at(schedule, time);
    int64_t c = floor_divide(begun - ((int64_t)difference - 1), schedule->matchings);
    sim_time begin = rotor_showing(schedule, rotor_window(schedule, difference, c));
    require(begin <= time);
    return begin + schedule->lit > time ? c : c + 1;
}

sim_time rotor_sent(const struct rotor_schedule *schedule, uint32_t difference, int64_t c, sim_time time, sim_time work)
{
    sim_time begin = rotor_showing(schedule, rotor_window(schedule, difference, c)),
             first = begin + schedule->lit - time;
    require(begin <= time && first > 0 && work > 0);
    if (work <= first)
        return time + work;
    work -= first;
    int64_t whole = (work - 1) / schedule->lit;
    wide showing = (wide)difference - 1 + ((wide)c + 1 + whole) * schedule->matchings;
    if (showing >= INT64_MAX)
        return SIM_TIME_MAX;
    begin = rotor_showing(schedule, (int64_t)showing);
    return begin == SIM_TIME_MAX ? begin : begin + (work - whole * schedule->lit);
}

static sim_time least(sim_time left, sim_time right)
{
    return left < right ? left : right;
}

sim_time rotor_done(const struct rotor_schedule *schedule, uint32_t difference, int64_t c, sim_time time, sim_time work,
                    sim_time now)
{
    int64_t begun = rotor_showing_at(schedule, now);
    int64_t last = floor_divide(begun - ((int64_t)difference - 1), schedule->matchings);
    sim_time end = rotor_showing(schedule, rotor_window(schedule, difference, c)) + schedule->lit;
    require(time <= now && last >= c);
    if (last == c)
        return least(work, least(now, end) - time);
    sim_time in_last = now - rotor_showing(schedule, rotor_window(schedule, difference, last));
    return least(work, end - time + (last - c - 1) * schedule->lit + least(in_last, schedule->lit));
}

sim_time rotor_dark_before(const struct rotor_schedule *schedule, sim_time begin, sim_time from, sim_time to)
{
    sim_time dark = schedule->period - schedule->lit;
    require(begin <= to && from <= to);
    return begin > from ? least(dark, begin - from) : 0;
}

/* The windows of a pair are a period apart at least, so the dark time before each next one lies behind the last. */
sim_time rotor_held_up(const struct rotor_schedule *schedule, sim_time start, sim_time begin, sim_time time,
                       sim_time work)
{
    sim_time first = least(work, begin + schedule->lit - time), rest = work - first;
    int64_t windows = rest / schedule->lit + (rest % schedule->lit != 0);
    return rotor_dark_before(schedule, begin, start, time) + windows * (schedule->period - schedule->lit);
}

void rotor_spread(const struct rotor_schedule *schedule, uint32_t difference, int64_t c, sim_time time, sim_time work,
                  sim_time *busy)
{
    int64_t switches = schedule->switches, j = rotor_window(schedule, difference, c);
    sim_time first = least(work, rotor_showing(schedule, j) + schedule->lit - time);
    busy[j - floor_divide(j, switches) * switches] += first;
    int64_t whole = (work - first) / schedule->lit, rest = (work - first) % schedule->lit;
    /* The next windows go round the switches in steps of M modulo P: each switch every P-th window at the latest. */
    for (int64_t i = 0; i < switches && i <= whole; i++) {
        j += schedule->matchings;
        sim_time *at = &busy[j - floor_divide(j, switches) * switches];
        *at += (whole - i + switches - 1) / switches * schedule->lit;
        if (i == whole % switches)
            *at += rest;
    }
}

/* Dark ticks in the first ticks of a switch that begins a slot at 0. */
static sim_time dark_within(const struct rotor_schedule *schedule, sim_time ticks)
{
    sim_time rest = ticks % schedule->period;
    return ticks / schedule->period * (schedule->period - schedule->lit) +
           (rest > schedule->lit ? rest - schedule->lit : 0);
}

sim_time rotor_dark(const struct rotor_schedule *schedule, uint32_t which, sim_time now)
{
    sim_time late = schedule->is_staggered ? (sim_time)((wide)which * schedule->period / schedule->switches) : 0;
    sim_time before = late > 0 ? schedule->period - late : 0;
    return dark_within(schedule, now < SIM_TIME_MAX - before ? now + before : now) - dark_within(schedule, before);
}

void rotor_visit_port(const struct rotor_schedule *schedule, uint32_t port, sim_time busy, sim_time now,
                      hardware_visitor *visit, void *context)
{
    struct hardware_use use = {.hardware = port, .busy = busy};
    use.switching = rotor_dark(schedule, port % schedule->switches, now);
    use.idle = now - use.busy - use.switching;
    visit(context, &use);
}

uint32_t rotor_pairs_find(struct rotor_pairs *pairs, uint64_t key)
{
    uint32_t index = reuse_map_find(&pairs->map, key);
    if (index != REUSE_NONE)
        return index;
    pairs->items = reuse_take(&pairs->places, pairs->items, sizeof *pairs->items, &index);
    pairs->items[index] = (struct rotor_pair){.line = pairs->items[index].line, .key = key};
    reuse_map_add(&pairs->map, key, index);
    return index;
}

void rotor_pairs_drop(struct rotor_pairs *pairs, uint32_t index)
{
    require(pairs->items[index].line.count == 0);
    reuse_map_remove(&pairs->map, pairs->items[index].key);
    reuse_give(&pairs->places, index);
}

void rotor_pairs_free(struct rotor_pairs *pairs)
{
    for (size_t i = 0; i < pairs->places.count; i++)
        waitlist_free(&pairs->items[i].line);
    reuse_free(&pairs->places, pairs->items);
    reuse_map_free(&pairs->map);
}
