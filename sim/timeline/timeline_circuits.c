/* Circuits on a timeline: see timeline_circuits.h. Hardware numbers have 64 bits and threads of viewers 32, so tracks
 * are numbered in the order of first use. */
#include "timeline/timeline_circuits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "input/text.h"
#include "input/units.h"

enum { NAME_BYTES = 160 };

static void name_track(struct timeline_circuits *circuits, const struct network *network, const uint64_t key[2],
                       size_t track)
{
    char name[NETWORK_TEXT_BYTES + NAME_BYTES];
    network_describe(network, key[0], name);
    if (key[1])
        text_append(name, sizeof name, ", %" PRIu64, key[1]);
    if (track == 0)
        timeline_name_process(circuits->timeline, circuits->process, circuits->name);
    timeline_name_thread(circuits->timeline, (struct timeline_track){circuits->process, track + 1}, name);
}

/* The number of the track for a lane of some hardware, made and named where it is new. */
static size_t track_of(struct timeline_circuits *circuits, const struct network *network, uint64_t hardware,
                       uint32_t lane)
{
    const uint64_t key[2] = {hardware, lane};
    size_t known = circuits->keys.count, track = intern_number(&circuits->keys, key, sizeof key);
    if (track < known)
        return track;
    require(track < UINT32_MAX - 1);
    circuits->lanes = memory_grow(circuits->lanes, &circuits->capacity, track + 1, sizeof *circuits->lanes);
    circuits->lanes[track] = (struct timeline_lanes){0};
    name_track(circuits, network, key, track);
    return track;
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
        uint32_t lane = timeline_lane(&circuits->lanes[track], start, end, &is_new);
        track = track_of(circuits, network, stay->hardware, lane);
    }
    draw_bar(circuits, stay, track, start, end);
}

void timeline_circuits_fini(struct timeline_circuits *circuits)
{
    for (size_t i = 0; i < circuits->keys.count; i++)
        timeline_lanes_fini(&circuits->lanes[i]);
    free(circuits->lanes);
    intern_free(&circuits->keys);
}
