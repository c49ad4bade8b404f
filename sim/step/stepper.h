/* Training steps of placed jobs, op by op and transfer by transfer, on an engine that others may share.
 *
 * Devices run their ready op of the highest rank and pre-empt, as in the
 * published simulator, or the one that the deployment picks, to its end; an op
 * stands still while its device reduces for a collective. A part
 * sends what others need of it when it has ended, and starts when all that it needs
 * itself is there, whatever the other parts of its task do. Only a link between all
 * parts of tasks on the same devices goes as a whole: it is an all-to-all
 * collective, which starts when the last part has ended and arrives at all at once.
 *
 * The parts of backward tasks synchronise as the deployment says, which nobody
 * waits for but the end of the step. In training traffic (graph/task_graph.h) they
 * do so in buckets: going back through the ops, gradients of ops on the same devices
 * are gathered until they reach a number of bytes, and all-reduced together when the
 * last part of the last of these ops has ended, beside the rest of the step.
 *
 * Each step's length is split along its critical path: compute + payload +
 * latency + reconfiguration + waiting for a device + waiting for network hardware,
 * in ticks, adding up exactly.
 *
 * Memory O(parts + links) a job; an op or transfer costs O(log ready ops).
 */
#ifndef STEP_STEPPER_H
#define STEP_STEPPER_H

#include "network/chooser.h"
#include "network/collective.h"
#include "network/network.h"
#include "step/step.h"

struct stepper;     /* the devices of a cluster */
struct stepper_job; /* a job that is on some of them */

struct stepper_report {
    sim_time start, end;
    struct step_path path; /* adds up to end - start */
    uint64_t schedule;     /* equal for steps in which everything ends as long after the start, at the same phase of a
                              fabric that turns by the clock */
    uint32_t all_reduces[COLLECTIVE_ALGORITHMS]; /* how many of the step took which */
};

/* Called at the end of a step, from within the engine; may start the next one. Borrows report until it returns. */
typedef void stepper_done(void *context, struct stepper_job *job, const struct stepper_report *report);

/* How steps are simulated on circuits. What is behind lanes is for step_circuit, which runs many steps. */
struct circuit_options {
    struct network_options network; /* for step_circuit its epoch is the instant from which on steps count */
    struct sim_clock clock;
    enum collective_algorithm all_reduce;
    struct chooser *chooser; /* of COLLECTIVE_AUTO; borrowed, made for the same topology and network options. NULL =
                                each stepper has its own and asks everything again */
    bool has_barriers;
    double bucket_bytes;     /* of gradients that are all-reduced together, in training traffic; 0 = op by op */
    uint16_t lanes;          /* transceivers side by side for a transfer, as far as the fabric can; 0 = 1 */
    int64_t steps;           /* of a job, all in all */
    double steady_tolerance; /* relative; negative = simulate all steps */
    int64_t min_steps;       /* before a job may count as steady, at least 2 */
    int64_t max_steps; /* from then on the mean of the later half may count, where it is good for 1 %; 0 = never */
    /* Borrowed, per job: for how long its step has been under way at the instant from which on steps count. NULL = all
     * begin there. Jobs in step with each other collide as no others do, so phases matter. */
    const double *head_start_s;
    /* Borrowed, per job: the steps it has left; when one has run them, everybody's pace is what it was until then, as
     * it will not be afterwards. NULL = steps, and each job's are looked at to the end. */
    const int64_t *steps_left;
};

/* Event kinds that a stepper takes: its network's, its own, and those of collectives. */
enum { STEPPER_KINDS = NETWORK_KINDS + 1 + COLLECTIVE_KINDS };

/* The devices of a topology and the network between them; takes the event kinds first_kind .. first_kind +
 * STEPPER_KINDS - 1. Of options->network, tick_ps and first_kind are not read. Borrows engine, topology and the
 * observer until stepper_destroy. *out is owned, to be freed with that, and written only on success; STATUS_USER where
 * the topology's figures cannot work. */
STATUS_MUST_USE enum status stepper_create(struct engine *engine, const struct topology *topology, uint16_t first_kind,
                                           const struct circuit_options *options, struct stepper **out,
                                           struct error *error);

/* Takes stepper; its jobs must have been removed. NULL is fine. */
void stepper_destroy(struct stepper *stepper);

/* Lives as long as the stepper. */
const struct network *stepper_network(const struct stepper *stepper);

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
