/* Completion times already simulated, kept by what determines them.
 *
 * A step depends on the graph, the split, and the placement up to renaming:
 * which ops share servers, and which servers share a group, a rack or a place
 * in the rack. So servers and coordinates are renumbered in the order of first
 * use, and the renumbered placement is what is simulated (memo_rename): that is
 * why equal keys mean equal steps. Keys are compared in full: a memo never answers
 * for another placement. Look-up O(size of the key).
 *
 * On a fabric that turns by the clock a step also depends on the phase at which the
 * job starts, which is part of the key: exact, and next to no two jobs are alike.
 *
 * That holds where the network treats groups, racks and places alike to the tick
 * (fabric_is_symmetric): on ramp where transfers ask for all lanes, not where they
 * ask for one, which is named after its target's group while those of collectives
 * are counted (of 120 random placements, turned, 17 steps moved then, by up to
 * 5 %). There, and on other fabrics, keys hold the servers themselves.
 */
#ifndef CLUSTER_MEMO_H
#define CLUSTER_MEMO_H

#include "deploy/deployment.h"
#include "step/step.h"

struct memo;

/* renames: the network treats all groups, racks and places alike, so servers may be renumbered; otherwise keys hold the
 * servers themselves. Returned owned. */
struct memo *memo_create(const struct topology *topology, bool renames);
void memo_free(struct memo *memo);

/* The step of this job, or NULL if it was not simulated yet: then memo_add must follow. Without a deployment (the
 * published cache) one step stands for all of the model and variant (how it is split), whatever the phase; phase is 0
 * where the fabric does not turn. Lives until the next memo_add. */
const struct step_result *memo_find(struct memo *memo, uint32_t model, uint32_t variant,
                                    const struct deployment *deployment, sim_time phase);

/* The placement of the last memo_find with its servers renumbered: what a simulation must see for equal keys to give
 * equal steps. Fills *out, a placement of the caller's. */
void memo_rename(struct memo *memo, const struct deployment *deployment, struct deployment *out);

/* Adds the step that memo_find just did not find. */
void memo_add(struct memo *memo, const struct step_result *result);

#endif
