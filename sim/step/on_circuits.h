/* Training steps on circuits: transfers and collectives set up light paths, wait for hardware and pay for switching.
 *
 * A job simulates steps until two in a row take as long, within a tolerance, and
 * the rest count as the last; or up to a number of steps, and the rest count as the
 * mean of the later half; or all of its steps. Several jobs given together run
 * side by side on one fabric and contend for it until all of them are steady.
 */
#ifndef STEP_ON_CIRCUITS_H
#define STEP_ON_CIRCUITS_H

#include "step/stepper.h"

struct circuit_options {
    struct network_options network;
    struct sim_clock clock;
    enum collective_algorithm all_reduce;
    bool has_barriers;
    uint16_t lanes;          /* transceivers side by side for a transfer, as far as the fabric can; 0 = 1 */
    int64_t steps;           /* of a job, all in all */
    double steady_tolerance; /* relative; negative = simulate all steps */
    int64_t min_steps;       /* before a job may count as steady, at least 2 */
    int64_t max_steps; /* a job that is not steady by then counts as the mean of the later half of them; 0 = none */
    /* Borrowed, per job: for how long its step has been under way at the instant from which on steps count. NULL = all
     * begin there. Jobs in step with each other collide as no others do, so phases matter. */
    const double *head_start_s;
};

/* Fills results[i] for inputs[i]; their servers must not overlap. All inputs share topology and scheduler.
 * STATUS_IMPOSSIBLE for a deadlock, STATUS_USER where figures do not fit. */
STATUS_MUST_USE enum status step_circuit(const struct step_input *inputs, uint32_t count,
                                         const struct circuit_options *options, struct step_result *results,
                                         struct error *error);

#endif
