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

/* Fills results[i] for inputs[i]; their servers must not overlap. All inputs share topology and scheduler.
 * STATUS_IMPOSSIBLE for a deadlock, STATUS_USER where figures do not fit. */
STATUS_MUST_USE enum status step_circuit(const struct step_input *inputs, uint32_t count,
                                         const struct circuit_options *options, struct step_result *results,
                                         struct error *error);

#endif
