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

sim_time rotor_turn(const struct rotor_schedule *schedule)
{
    int64_t common = schedule->matchings, rest = schedule->switches;
    while (rest > 0) {
        int64_t next = common % rest;
        common = rest;
        rest = next;
    }
    int64_t slots = schedule->matchings / common;
    if (slots == 0 || schedule->period <= 0)
        return 0;
    return slots <= SIM_TIME_MAX / schedule->period ? slots * schedule->period : SIM_TIME_MAX;
}

sim_time rotor_showing(const struct rotor_schedule *schedule, int64_t j)
{
    int64_t switches = schedule->switches, slot = floor_divide(j, switches), which = j - slot * switches;
    wide begin = (wide)slot * schedule->period;
    if (schedule->is_staggered)
        begin += (wide)which * schedule->period / switches;
    begin -= schedule->phase;
    return begin < SIM_TIME_MAX - schedule->period ? (sim_time)begin : SIM_TIME_MAX;
}

int64_t rotor_showing_at(const struct rotor_schedule *schedule, sim_time time)
{
    wide since = (wide)time + schedule->phase;
    int64_t slot = (int64_t)(since / schedule->period), switches = schedule->switches, which = switches - 1;
    require(time >= 0);
    if (schedule->is_staggered) {
        /* Switch p has begun when floor(p * period / P) <= rest. */
        wide rest = since % schedule->period;
        which = (int64_t)(((rest + 1) * switches + schedule->period - 1) / schedule->period) - 1;
        if (which > switches - 1)
            which = switches - 1;
    }
    return slot * switches + which;
}

int64_t rotor_next(const struct rotor_schedule *schedule, uint32_t source, uint32_t target, sim_time time)
{
    uint32_t difference = (target + schedule->servers - source) % schedule->servers;
    int64_t matchings = schedule->matchings, first = (int64_t)difference - 1;
    int64_t j = first + floor_divide(rotor_showing_at(schedule, time) - first, matchings) * matchings;
    sim_time begin = rotor_showing(schedule, j);
    require(begin <= time);
    return begin + schedule->lit > time ? j : j + matchings;
}

sim_time rotor_sent(const struct rotor_schedule *schedule, int64_t j, sim_time time, sim_time work)
{
    sim_time begin = rotor_showing(schedule, j), first = begin + schedule->lit - time;
    require(begin <= time && first > 0 && work > 0);
    if (work <= first)
        return time + work;
    work -= first;
    int64_t whole = (work - 1) / schedule->lit;
    wide showing = j + ((wide)whole + 1) * schedule->matchings;
    if (showing >= INT64_MAX)
        return SIM_TIME_MAX;
    begin = rotor_showing(schedule, (int64_t)showing);
    return begin == SIM_TIME_MAX ? begin : begin + (work - whole * schedule->lit);
}

static sim_time least(sim_time left, sim_time right)
{
    return left < right ? left : right;
}

sim_time rotor_done(const struct rotor_schedule *schedule, int64_t j, sim_time time, sim_time work, sim_time now)
{
    int64_t later = floor_divide(rotor_showing_at(schedule, now) - j, schedule->matchings); /* windows begun since */
    sim_time end = rotor_showing(schedule, j) + schedule->lit;
    require(time <= now && later >= 0);
    if (later == 0)
        return least(work, least(now, end) - time);
    sim_time in_last = now - rotor_showing(schedule, j + later * schedule->matchings);
    return least(work, end - time + (later - 1) * schedule->lit + least(in_last, schedule->lit));
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

void rotor_spread(const struct rotor_schedule *schedule, int64_t j, sim_time time, sim_time work, sim_time *busy)
{
    int64_t switches = schedule->switches;
    sim_time first = least(work, rotor_showing(schedule, j) + schedule->lit - time);
    busy[rotor_switch(schedule, j)] += first;
    int64_t whole = (work - first) / schedule->lit, rest = (work - first) % schedule->lit;
    /* The next windows go round the switches in steps of M modulo P: each switch every P-th window at the latest. */
    for (int64_t i = 0; i < switches && i <= whole; i++) {
        j += schedule->matchings;
        sim_time *at = &busy[rotor_switch(schedule, j)];
        *at += (whole - i + switches - 1) / switches * schedule->lit;
        if (i == whole % switches)
            *at += rest;
    }
}

/* Dark ticks in the first ticks of a switch that begins a slot at 0. */
static wide dark_within(const struct rotor_schedule *schedule, wide ticks)
{
    wide rest = ticks % schedule->period;
    return ticks / schedule->period * (schedule->period - schedule->lit) +
           (rest > schedule->lit ? rest - schedule->lit : 0);
}

/* How long a switch has been dark since time 0. */
static sim_time dark_of(const struct rotor_schedule *schedule, uint32_t which, sim_time now)
{
    sim_time late = schedule->is_staggered ? (sim_time)((wide)which * schedule->period / schedule->switches) : 0;
    wide before = (wide)schedule->phase + (late > 0 ? schedule->period - late : 0);
    return (sim_time)(dark_within(schedule, now + before) - dark_within(schedule, before));
}

void rotor_visit_port(const struct rotor_schedule *schedule, uint32_t port, sim_time busy, sim_time now,
                      hardware_visitor *visit, void *context)
{
    struct hardware_use use = {.hardware = port, .busy = busy};
    use.switching = dark_of(schedule, port % schedule->switches, now);
    use.idle = now - use.busy - use.switching;
    visit(context, &use);
}

static uint64_t key_of(uint32_t source, uint32_t target)
{
    return (uint64_t)source << 32 | target;
}

uint32_t rotor_pairs_find(const struct rotor_pairs *pairs, uint32_t source, uint32_t target)
{
    return reuse_map_find(&pairs->map, key_of(source, target));
}

uint32_t rotor_pairs_make(struct rotor_pairs *pairs, uint32_t source, uint32_t target)
{
    uint32_t index = rotor_pairs_find(pairs, source, target);
    if (index != REUSE_NONE)
        return index;
    pairs->items = reuse_take(&pairs->places, pairs->items, sizeof *pairs->items, &index);
    pairs->items[index] = (struct rotor_pair){.line = pairs->items[index].line, .source = source, .target = target};
    reuse_map_add(&pairs->map, key_of(source, target), index);
    return index;
}

void rotor_pairs_drop(struct rotor_pairs *pairs, uint32_t index)
{
    const struct rotor_pair *pair = &pairs->items[index];
    require(pair->line.count == 0);
    reuse_map_remove(&pairs->map, key_of(pair->source, pair->target));
    reuse_give(&pairs->places, index);
}

void rotor_pairs_free(struct rotor_pairs *pairs)
{
    for (size_t i = 0; i < pairs->places.count; i++)
        waitlist_free(&pairs->items[i].line);
    reuse_free(&pairs->places, pairs->items);
    reuse_map_free(&pairs->map);
}
