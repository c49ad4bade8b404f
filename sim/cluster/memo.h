/* Completion times already simulated, kept by what determines them.
 *
 * A step depends on the graph, the split, and the placement up to renaming:
 * which ops share servers, and which servers share a group, a rack or a place
 * in the rack. So servers and coordinates are renumbered in the order of first
 * use, and equal keys mean equal steps. Keys are compared in full: a memo never
 * answers for another placement. Look-up O(size of the key).
 */
#ifndef CLUSTER_MEMO_H
#define CLUSTER_MEMO_H

#include "place/place.h"
#include "step/step.h"

struct memo;

struct memo *memo_create(const struct topology *topology); /* returned owned */
void memo_free(struct memo *memo);

/* The step of this job, or NULL if it was not simulated yet. Lives until the next memo_add. */
const struct step_result *memo_find(struct memo *memo, uint32_t model, uint32_t degree,
                                    const struct placement *placement);

/* Adds the step that memo_find just did not find. */
void memo_add(struct memo *memo, const struct step_result *result);

#endif
