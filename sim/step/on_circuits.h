/* Training steps on circuits: transfers and collectives set up light paths, wait for hardware and pay for switching.
 *
 * A job simulates steps until they repeat, and the rest count as more of the same.
 * They repeat where in each of the last 1 to 8 steps everything ends to the tick
 * when it does in those before (two in a row, or circuits that are taken from each
 * other in turns), or where the last three such cycles, or six after steps that
 * differ, take as long within a tolerance, the first step aside. Or, at
 * max_steps, twice that and so on, where the two halves of the later half agree:
 * then the rest count as its mean. In both of the latter a drift or a scatter that
 * would put all steps together wrong by 1 % says no. Otherwise all are simulated.
 * Several jobs given together run side by side on one fabric and contend for it
 * until all of them are steady.
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
