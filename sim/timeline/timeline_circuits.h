/* The circuits of a job's steps on a timeline: one track for each piece of hardware that they use.
 *
 * Bars: "switching", the transfer while it is lit and carries ("0-0-0 -> 1-0-0,
 * 12.3MB"), "lit, idle"; dark is no bar. Bars of a track follow each other.
 * Where a fabric has no circuits on request, transfers of one source may
 * overlap and spread over several tracks.
 *
 * A job on circuits has some hundred times as many of these bars as ops, so they
 * fill half of a timeline at most (timeline_has_room).
 *
 * Memory O(hardware drawn); a bar costs O(1), or O(log tracks of its source).
 */
#ifndef TIMELINE_TIMELINE_CIRCUITS_H
#define TIMELINE_TIMELINE_CIRCUITS_H

#include "engine/intern.h"
#include "network/network.h"
#include "timeline/timeline.h"

/* The caller sets the first part, all borrowed until timeline_circuits_fini, and zeroes the rest. */
struct timeline_circuits {
    struct timeline *timeline;
    const struct topology *topology;
    uint64_t process;
    const char *name;    /* of the process */
    sim_time start, end; /* stays count from start on and are cut off at the end */

    struct intern keys;           /* of the tracks, in the order of first use: hardware and lane */
    struct timeline_lanes *lanes; /* per track: of hardware whose stays overlap, kept at its lane 0 */
    size_t capacity;
};

/* The observer of the network; context is a struct timeline_circuits. */
void timeline_circuits_stayed(void *context, const struct network *network, const struct network_stay *stay);

void timeline_circuits_fini(struct timeline_circuits *circuits);

#endif
