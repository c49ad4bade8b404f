/* Training steps of placed jobs, op by op and transfer by transfer, on an engine and a network that others may share.
 *
 * Devices run their ready op of the highest rank and pre-empt, as in the
 * published simulator. What lies between two tasks is one link: it is sent when
 * every part of its source has ended, and every part of its target waits for all
 * of it. A link between tasks on the same servers is an all-to-all collective,
 * any other is a set of transfers; the parts of a backward task synchronise with
 * an all-reduce, which nobody waits for but the end of the step.
 *
 * Each step's length is split along its critical path: compute + payload +
 * latency + reconfiguration + waiting, in ticks, adding up exactly. Waiting
 * is for a device or for network hardware.
 *
 * Memory O(parts + links) a job; an op or transfer costs O(log ready ops).
 */
#ifndef STEP_STEPPER_H
#define STEP_STEPPER_H

#include "network/collective.h"
#include "network/network.h"
#include "step/step.h"

struct stepper;     /* the devices of a cluster */
struct stepper_job; /* a job that is on some of them */

struct stepper_report {
    sim_time start, end;
    struct step_path path; /* adds up to end - start */
};

/* Called at the end of a step, from within the engine; may start the next one. Borrows report until it returns. */
typedef void stepper_done(void *context, struct stepper_job *job, const struct stepper_report *report);

struct stepper_options {
    struct sim_clock clock;
    uint16_t first_kind; /* takes the event kind first_kind, and those of collectives behind it */
    enum collective_algorithm all_reduce;
    bool has_barriers; /* phases of a collective wait for all members */
    uint16_t lanes;    /* transceivers side by side for a transfer, as far as the fabric can; 0 = 1 */
};

/* Borrows engine, network and topology until stepper_destroy. Returned owned. */
struct stepper *stepper_create(struct engine *engine, struct network *network, const struct topology *topology,
                               const struct stepper_options *options);

/* Takes stepper; its jobs must have been removed. NULL is fine. */
void stepper_destroy(struct stepper *stepper);

/* Puts a job on its servers, which must be free of others. Borrows what input names until stepper_remove. *out lives
 * until then. STATUS_USER where a time or a size does not fit the clock. */
STATUS_MUST_USE enum status stepper_add(struct stepper *stepper, const struct step_input *input, uint32_t number,
                                        stepper_done *done, void *context, struct stepper_job **out,
                                        struct error *error);

/* Starts one step now; the one before must have ended. Trouble with the network stops the engine: stepper_status. */
void stepper_start(struct stepper_job *job);
void stepper_remove(struct stepper_job *job);

/* What went wrong in a handler, STATUS_OK if nothing did. */
STATUS_MUST_USE enum status stepper_status(const struct stepper *stepper, struct error *error);

/* STATUS_IMPOSSIBLE, naming an op of the job that waits and what for. */
enum status stepper_explain(const struct stepper_job *job, struct error *error);

#endif
