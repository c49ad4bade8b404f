/* Where time goes, part by part: in ticks along the critical path of a step, and in seconds.
 *
 * A part is named here once. Whatever adds, scales or converts times does so in a loop over all of them; a new part is
 * a constant here, a row of the table in time_parts.c, and a row each in the tables of columns (cluster/columns.h).
 */
#ifndef STEP_TIME_PARTS_H
#define STEP_TIME_PARTS_H

#include "engine/clock.h"

/* The parts of a critical path: they follow one another and add up to its length exactly. */
enum path_part {
    PATH_COMPUTE,
    PATH_PAYLOAD,
    PATH_LATENCY,
    PATH_RECONFIGURATION,
    PATH_WAIT_DEVICE,  /* ready to run, while the device ran others */
    PATH_WAIT_NETWORK, /* ready to send, while the hardware was others' */
    PATH_PARTS
};

struct step_path {
    sim_time ticks[PATH_PARTS];
};

/* sum + path * times. */
void step_path_add(struct step_path *sum, const struct step_path *path, int64_t times);
sim_time step_path_length(const struct step_path *path);

/* What results say of a step or of a job. Parts may overlap: comm and comp do in the published network model, and on
 * circuits payload and latency are the two parts of comm; those of wait are for a device and for the network. */
enum time_part {
    TIME_COMM,
    TIME_COMP,
    TIME_RECONFIG,
    TIME_WAIT,
    TIME_PAYLOAD,
    TIME_LATENCY,
    TIME_WAIT_DEVICE,
    TIME_WAIT_NETWORK,
    TIME_PARTS
};

struct time_parts {
    double total_s;
    double part_s[TIME_PARTS];
};

/* sum + time * factor, the total and each part. */
void time_parts_add(struct time_parts *sum, const struct time_parts *time, double factor);

/* A job waits for servers before it starts: for devices, not for the network. */
void time_parts_queue(struct time_parts *time, double waited_s);
struct time_parts time_parts_of(const struct sim_clock *clock, const struct step_path *path);

#endif
