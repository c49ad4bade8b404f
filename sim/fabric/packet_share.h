/* Max-min fair shares of links among flows, recomputed where something changed.
 *
 * Rates are max-min fair: every flow crosses a link that is full and on which no
 * flow is faster (its bottleneck; Bertsekas and Gallager, Data Networks, 6.5.2).
 * A full link has a level, the rate of the flows whose bottleneck it is; a flow has
 * the lowest level on its way. A link's level follows from what its flows get
 * elsewhere, so a flow that comes or goes changes the levels of its links, these
 * the rates of their flows, and these the levels of their other links: share_update
 * follows the changes, lowest level first, and looks at nothing that they do not
 * reach. The levels below the lowest that changes stay, and settle first, so it
 * ends: a link whose level is the lowest of all has it for good.
 *
 * Tolerance: a link whose level would change by less than this part of it is left as
 * it is, so its flows have that much more or less than their share, and the link
 * may carry that much more or less than it can. Without it every change reaches,
 * however faintly, all flows that hang together. Errors do not add up: a level is
 * always worked out from the rates as they are.
 *
 * A link looked at costs its flows. Rates are doubles; the order of all operations
 * is that of the calls.
 * Private to sim/fabric.
 */
#ifndef FABRIC_PACKET_SHARE_H
#define FABRIC_PACKET_SHARE_H

#include <stddef.h>
#include <stdint.h>

enum { SHARE_LINKS = 4 }; /* a flow crosses at most */
#define SHARE_NONE UINT32_MAX

struct share;

/* Links 0 .. link_count - 1 without capacity: set it with share_capacity before use. tolerance from 0 (what doubles
 * need) to below 1. Returns owned. */
struct share *share_create(uint32_t link_count, double tolerance);
void share_destroy(struct share *share);
void share_capacity(struct share *share, uint32_t link, double rate_bytes_per_s);

/* A flow over count different links, at least 1; returns its number, which is reused behind share_remove. Its rate
 * means nothing until share_update. Borrows links. */
uint32_t share_add(struct share *share, const uint32_t *links, uint32_t count);
void share_remove(struct share *share, uint32_t flow);

/* Brings all rates up to date. Returns the flows whose rate changed, *count of them, in a list that lives until the
 * next call. */
const uint64_t *share_update(struct share *share, size_t *count);
double share_rate(const struct share *share, uint32_t flow);

#endif
