/* Max-min fair shares of links among flows, recomputed where something changed.
 *
 * Rates are max-min fair: every flow crosses a link that is full and on which no
 * flow is faster (its bottleneck). They are found by progressive filling: the
 * link with the smallest fair share left (lowest number on ties) fixes the rates
 * of its flows, again and again (Bertsekas and Gallager, Data Networks, 6.5.2).
 *
 * A flow that comes or goes can change rates only within its component, the flows
 * that it reaches over shared links; share_update fills these alone, once for all
 * changes since the last call. Cost O(flows log links) of the components touched.
 * Rates are doubles; the order of all operations is that of the calls.
 * Private to sim/fabric.
 */
#ifndef FABRIC_PACKET_SHARE_H
#define FABRIC_PACKET_SHARE_H

#include <stddef.h>
#include <stdint.h>

enum { SHARE_LINKS = 4 }; /* a flow crosses at most */

struct share;

/* Links 0 .. link_count - 1 without capacity: set it with share_capacity before use. Returns owned. */
struct share *share_create(uint32_t link_count);
void share_destroy(struct share *share);
void share_capacity(struct share *share, uint32_t link, double rate_bytes_per_s);

/* A flow over count different links, at least 1; returns its number, which is reused behind share_remove. Its rate is
 * 0 until share_update. Borrows links. */
uint32_t share_add(struct share *share, const uint32_t *links, uint32_t count);
void share_remove(struct share *share, uint32_t flow);

/* Brings all rates up to date. Returns the flows whose rate changed, *count of them, in a list that lives until the
 * next call. */
const uint64_t *share_update(struct share *share, size_t *count);
double share_rate(const struct share *share, uint32_t flow);

#endif
