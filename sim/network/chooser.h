/* Which all-reduce is the best on this fabric, for these members and this size: network.all_reduce: auto.
 *
 * The candidates are ring, halving-doubling and ramp. Each is simulated alone on a
 * network of its own, with the same options, three times in a row: circuits
 * persist, so what counts is how long the later ones take. The
 * shortest is taken; of equals, the first in this order. Nothing else decides, so
 * an answer does not depend on the questions before it.
 *
 * Answers are kept. Sizes go by the next power of two, and where the fabric treats
 * all servers alike, members go by which of them share a group, rack or place: a
 * model of 300 ops asks for some ten simulations, not 300. A question costs
 * O(members); a new one as much as nine such collectives, except that a ring of
 * many members, which makes members^2 transfers, counts by its closed form.
 */
#ifndef NETWORK_CHOOSER_H
#define NETWORK_CHOOSER_H

#include "network/collective.h"

struct chooser;

/* Borrows topology until chooser_destroy; of options, the observer and first_kind are not read. Returned owned. */
struct chooser *chooser_create(const struct topology *topology, const struct network_options *options);

/* Takes chooser; NULL is fine. */
void chooser_destroy(struct chooser *chooser);

/* The best algorithm for an all-reduce as requested; its algorithm, job and done are not read. devices are all that the
 * job has, which a fabric may connect among themselves (network_open_job). */
enum collective_algorithm chooser_pick(struct chooser *chooser, const struct collective_request *request,
                                       const uint32_t *devices, uint32_t device_count);

#endif
