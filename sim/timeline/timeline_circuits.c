/* Circuits on a timeline: see timeline_circuits.h. Hardware numbers have 64 bits and threads of viewers 32, so tracks
 * are numbered in the order of first use; a hash map by linear probing, at most half full, finds them. */
#include "timeline/timeline_circuits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/hash.h"
#include "engine/memory.h"
#include "input/units.h"

enum { MAP_MIN = 64, NAME_BYTES = 160 };

/* What a track is for: hardware and, where its stays overlap, a lane of it. */
struct timeline_circuit {
    uint64_t hardware;
    uint32_t lane;
    struct timeline_lanes lanes; /* of hardware whose stays overlap; kept at lane 0 */
};

static size_t map_place(const struct timeline_circuits *circuits, uint64_t hardware, uint32_t lane)
{
    size_t mask = circuits->map_size - 1, place = (size_t)hash_pair(hardware, lane) & mask;
    for (; circuits->map[place] != 0; place = (place + 1) & mask) {
        const struct timeline_circuit *track = &circuits->tracks[circuits->map[place] - 1];
        if (track->hardware == hardware && track->lane == lane)
            break;
    }
    return place;
}

static void map_grow(struct timeline_circuits *circuits)
{
    free(circuits->map);
    circuits->map_size = circuits->map_size ? circuits->map_size * 2 : MAP_MIN;
    circuits->map = memory_alloc(circuits->map_size, sizeof *circuits->map);
    for (size_t i = 0; i < circuits->count; i++)
        circuits->map[map_place(circuits, circuits->tracks[i].hardware, circuits->tracks[i].lane)] = (uint32_t)i + 1;
}

static void name_track(struct timeline_circuits *circuits, const struct network *network, size_t index)
{
    const struct timeline_circuit *track = &circuits->tracks[index];
    char hardware[NETWORK_TEXT_BYTES], name[NAME_BYTES];
    network_describe(network, track->hardware, hardware);
    if (track->lane)
        snprintf(name, sizeof name, "%s, %" PRIu32, hardware, track->lane);
    else
        snprintf(name, sizeof name, "%s", hardware);
    if (index == 0)
        timeline_name_process(circuits->timeline, circuits->process, circuits->name);
    timeline_name_thread(circuits->timeline, (struct timeline_track){circuits->process, index + 1}, name);
}

/* The number of a track, made and named where it is new. */
static size_t track_of(struct timeline_circuits *circuits, const struct network *network, uint64_t hardware,
                       uint32_t lane)
{
    if (circuits->map_size < 2 * (circuits->count + 1))
        map_grow(circuits);
    size_t place = map_place(circuits, hardware, lane);
    if (circuits->map[place] != 0)
        return circuits->map[place] - 1;
    size_t index = circuits->count;
    require(index < UINT32_MAX - 1);
    if (index == circuits->capacity)
        circuits->tracks = memory_grow(circuits->tracks, &circuits->capacity, index + 1, sizeof *circuits->tracks);
    circuits->tracks[index] = (struct timeline_circuit){.hardware = hardware, .lane = lane};
    circuits->map[place] = (uint32_t)++circuits->count;
    name_track(circuits, network, index);
    return index;
}

/* Three digits are enough for the eye; the exact number stands beside. */
static void format_size(uint64_t bytes, char text[UNITS_TEXT_BYTES])
{
    char digits[32];
    snprintf(digits, sizeof digits, "%.3g", (double)bytes);
    units_format_size(strtod(digits, NULL), text);
}

static void draw_bar(struct timeline_circuits *circuits, const struct network_stay *stay, size_t track, sim_time start,
                     sim_time end)
{
    char source[TOPOLOGY_NAME_BYTES], target[TOPOLOGY_NAME_BYTES], size[UNITS_TEXT_BYTES], more[32] = "";
    char circuit[NAME_BYTES], name[NAME_BYTES + UNITS_TEXT_BYTES + 2];
    topology_name(circuits->topology, stay->source, source);
    topology_name(circuits->topology, stay->target, target);
    if (stay->target_count > 1)
        snprintf(more, sizeof more, " and %" PRIu32 " more", stay->target_count - 1);
    snprintf(circuit, sizeof circuit, "%s -> %s%s", source, target, more);
    format_size(stay->bytes, size);
    snprintf(name, sizeof name, "%s, %s", circuit, size);
    static const char *const lights[] = {
        [NETWORK_SWITCHING] = "switching", [NETWORK_CARRYING] = "lit", [NETWORK_IDLE] = "lit, idle"};
    const struct timeline_arg args[] = {{.name = "light", .text = lights[stay->light]},
                                        {.name = "circuit", .text = circuit},
                                        {.name = "bytes", .number = (double)stay->bytes}};
    timeline_bar(circuits->timeline, (struct timeline_track){circuits->process, track + 1},
                 stay->light == NETWORK_CARRYING ? name : lights[stay->light], start, end,
                 (struct timeline_args){args, stay->light == NETWORK_IDLE ? 2 : 3});
}

void timeline_circuits_stayed(void *context, const struct network *network, const struct network_stay *stay)
{
    struct timeline_circuits *circuits = context;
    sim_time start, end;
    if (!clock_add(circuits->start, stay->start, &start) || start >= circuits->end)
        return; /* cut off by the end of the run */
    if (!clock_add(circuits->start, stay->end, &end) || end > circuits->end)
        end = circuits->end;
    if (!timeline_has_room(circuits->timeline)) {
        timeline_leave_out(circuits->timeline, start, end);
        return;
    }
    if (!timeline_wants(circuits->timeline, start, end))
        return;
    size_t track = track_of(circuits, network, stay->hardware, 0);
    if (!network_has_circuits(network)) {
        bool is_new;
        uint32_t lane = timeline_lane(&circuits->tracks[track].lanes, start, end, &is_new);
        track = track_of(circuits, network, stay->hardware, lane);
    }
    draw_bar(circuits, stay, track, start, end);
}

void timeline_circuits_fini(struct timeline_circuits *circuits)
{
    for (size_t i = 0; i < circuits->count; i++)
        timeline_lanes_fini(&circuits->tracks[i].lanes);
    free(circuits->tracks);
    free(circuits->map);
}
