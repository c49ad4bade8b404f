/* One training step of one placed job: when does it end?
 *
 * step_published() follows the published look-ahead (PAC-ML simulator, sections
 * 5 to 7). Its clock is a double, unlike everything else in ocsim: ticks of
 * that program end where a remainder reaches exactly zero, and its verdicts at
 * beta = 1 hang on the last bit, so integers could not repeat them.
 */
#ifndef STEP_STEP_H
#define STEP_STEP_H

#include "deploy/deployment.h"
#include "engine/status.h"
#include "network/collective.h"
#include "network/published_formulas.h"
#include "step/time_parts.h"

/* An observer; what a step comes to does not depend on it. Each function may be NULL. */
struct step_observer {
    /* A part of a task ran on a device for a stretch of time; called in the order of ends. */
    void (*ran)(void *context, uint32_t task, uint32_t part, uint32_t device, double start_s, double end_s);
    void *context;
    /* Dependencies of a link were on the network; in the order of ends. published: those that left together; circuits:
     * all, from the first that left to the last that arrived. */
    void (*flew)(void *context, uint32_t link, double start_s, double end_s);
};

/* All borrowed. */
struct step_input {
    const struct deployment *deployment; /* placed and ranked */
    const struct topology *topology;
    double unit_s;                        /* what a profile's millisecond is taken for: 1 (published) or 0.001 */
    const struct step_observer *observer; /* NULL = none */
};

struct step_result {
    struct time_parts step;     /* of one step; of a steady one where steps differ. published: time during which
                                   something was sent, was computed; circuits: along the critical path */
    struct time_parts start_up; /* what the first steps take beyond a steady one, all together */
    uint32_t all_reduces[COLLECTIVE_ALGORITHMS]; /* circuits: of a step, how many took which */
    double bytes;                                /* circuits: that a step of a job alone sends between servers */
    uint64_t flows;                              /* dependencies that take time on the network */
    uint64_t events;
    uint64_t trace_hash;
};

/* The time of this many steps. */
struct time_parts step_times(const struct step_result *result, int64_t steps);

struct circuit_options; /* step/stepper.h */

/* Runs the deployments side by side, each on devices of its own: on circuits they contend for the fabric; with circuit
 * NULL, the published formulas, each is alone. Fills results[i] for inputs[i], which share the topology.
 * STATUS_IMPOSSIBLE for a deadlock, with what waits named; STATUS_USER where figures do not fit, or the network cannot
 * do what a deployment asks. */
STATUS_MUST_USE enum status step_run(const struct step_input *inputs, uint32_t count,
                                     const struct circuit_options *circuit, struct step_result *results,
                                     struct error *error);

/* Refuses a topology that the published formulas do not know. */
STATUS_MUST_USE enum status step_check_published(const struct topology *topology, struct error *error);

/* The published look-ahead, which step_run calls: STATUS_IMPOSSIBLE with the waiting ops named where nothing can go on.
 */
STATUS_MUST_USE enum status step_published(const struct step_input *input, struct step_result *result,
                                           struct error *error);

#endif
