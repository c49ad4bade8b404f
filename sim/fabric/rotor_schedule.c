/* The schedule of a rotor by arithmetic (rotor.h says what and why), and the map of pairs.
 *
 * Everything about windows is O(1) in their number; 128-bit products, so nothing wraps before the clock ends.
 */
#include "fabric/rotor.h"

#include <stdlib.h>

#include "engine/hash.h"
#include "engine/memory.h"

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

enum { MAP_MIN = 64 };

static size_t map_place(const struct rotor_map *map, uint64_t key)
{
    size_t mask = map->size - 1, at = (size_t)hash_mix(key) & mask;
    while (map->keys[at] != 0 && map->keys[at] != key + 1)
        at = (at + 1) & mask;
    return at;
}

uint32_t rotor_map_find(const struct rotor_map *map, uint64_t key)
{
    size_t at = map->size > 0 ? map_place(map, key) : 0;
    return map->size > 0 && map->keys[at] != 0 ? map->places[at] : FABRIC_NONE;
}

static void map_grow(struct rotor_map *map)
{
    struct rotor_map old = *map;
    map->size = old.size > 0 ? 2 * old.size : MAP_MIN;
    map->keys = memory_alloc(map->size, sizeof *map->keys);
    map->places = memory_alloc(map->size, sizeof *map->places);
    for (size_t i = 0; i < old.size; i++)
        if (old.keys[i] != 0) {
            size_t at = map_place(map, old.keys[i] - 1);
            map->keys[at] = old.keys[i];
            map->places[at] = old.places[i];
        }
    rotor_map_free(&old);
}

void rotor_map_add(struct rotor_map *map, uint64_t key, uint32_t place)
{
    require(key < UINT64_MAX);
    if (2 * (map->count + 1) > map->size)
        map_grow(map);
    size_t at = map_place(map, key);
    require(map->keys[at] == 0);
    map->keys[at] = key + 1;
    map->places[at] = place;
    map->count++;
}

/* Moves back what linear probing had pushed on, so that no mark is left behind. */
void rotor_map_remove(struct rotor_map *map, uint64_t key)
{
    size_t mask = map->size - 1, hole = map_place(map, key);
    require(map->keys[hole] == key + 1);
    for (size_t at = (hole + 1) & mask; map->keys[at] != 0; at = (at + 1) & mask) {
        size_t home = (size_t)hash_mix(map->keys[at] - 1) & mask;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue;
        map->keys[hole] = map->keys[at];
        map->places[hole] = map->places[at];
        hole = at;
    }
    map->keys[hole] = 0;
    map->count--;
}

void rotor_map_free(struct rotor_map *map)
{
    free(map->keys);
    free(map->places);
}
