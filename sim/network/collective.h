/* Collectives: one object with n members and a size, never n * n edges (optical network, section 3).
 *
 * An algorithm turns it into phases of simultaneous transfers, made on the fly,
 * member by member. With a barrier a phase starts when the last is over for all;
 * without, each member goes on when its own sends are done and what it needs is
 * there, and reduced. Reductions take the time of the device's roofline, as in
 * the published formula (PAC-ML simulator, section 6), and occupy the device: those
 * of all collectives follow one another there, first come, first served.
 *
 * Memory is O(members), O(transfers under way), and O(members * phases) small
 * counters for the algorithms whose phases number O(log members).
 * A collective frees itself behind its done callback.
 */
#ifndef NETWORK_COLLECTIVE_H
#define NETWORK_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/network.h"

enum collective_algorithm {
    COLLECTIVE_RING,             /* all-reduce in 2(n-1) phases of m/n */
    COLLECTIVE_HALVING_DOUBLING, /* all-reduce in 2 ceil(log2 n) phases of m/2, m/4, ... and back */
    COLLECTIVE_RAMP,             /* all-reduce over groups, places, racks, places again, and back: see is_complete */
    COLLECTIVE_ALL_TO_ALL,       /* m/n from each to each, in n-1 shifts */
    COLLECTIVE_BROADCAST,        /* m from the first member down a binomial tree, or by multicast */
    COLLECTIVE_REDUCE_SCATTER,   /* the first half of ring */
    COLLECTIVE_ALL_GATHER,       /* the second half of ring */
    COLLECTIVE_PARAMETER_SERVER, /* m from all to the first member, and back */
    COLLECTIVE_AUTO /* none by itself: the best all-reduce of the first three, which network/chooser.h finds */
};
enum { COLLECTIVE_ALGORITHMS = COLLECTIVE_PARAMETER_SERVER + 1 };

enum { COLLECTIVE_KINDS = 1 }; /* event kinds taken */

/* Where time went; the sums of all transfers, or along the critical path. */
struct collective_parts {
    sim_time wait, reconfiguration, latency, payload, reduction;
    sim_time device_wait; /* before a reduction, while the device does others */
};

struct collective_report {
    uint32_t job;
    uint32_t members;
    uint32_t phases;
    uint64_t transfers;
    uint64_t tag;
    uint64_t bytes; /* sent, over all transfers */
    sim_time start, end;
    struct collective_parts path;  /* of the member that ended last: adds up to end - start exactly */
    struct collective_parts total; /* of all transfers; times of 2^63 ticks and more stay there */
};

/* Called from within the engine; may start others. Borrows report, which lives until it returns. */
typedef void collective_done(void *context, const struct collective_report *report);

/* ramp takes the four subgroups of the published formula: [groups, min(groups, places), racks, ceil(places / x)] of
 * the distinct groups, racks and places of the members; who is missing in a block is left out. That leaves some pairs
 * without an exchange where the members are no full block, or the product of the subgroups is not their number (the two
 * servers of a rack). is_complete brings every contribution to everybody: it adds the subgroup of places that is
 * missing; where the product still differs, places go in subgroups of at most x whose product is exact. Where there are
 * none, or the block has holes, members go by their rank instead, in subgroups of that kind; up to half of the members
 * stay outside, hand their part to a neighbour first and get the result last. */
struct collective_request {
    enum collective_algorithm algorithm;
    const uint32_t *members; /* servers, all different; borrowed until done is called. ring and its halves go by their
                                numbers where the fabric does not treat all servers alike: neighbours are close there */
    uint32_t member_count;
    uint64_t bytes; /* the message m */
    bool has_barrier;
    bool is_reduction_free;    /* leaves out the device's time to reduce */
    bool is_complete;          /* ramp, see above */
    bool is_multicast;         /* broadcast, where the fabric can */
    uint16_t lanes;            /* of each transfer, 0 = 1; ramp plans its own */
    uint16_t contending_racks; /* ramp: that share the transceivers' subnets, 0 = 1 as published */
    uint32_t job;
    int64_t priority;
    uint64_t tag;
    collective_done *done; /* may be NULL */
    void *context;
};

struct collectives;

/* The collectives of a network, with one event kind of their own. Borrows network, which must outlive it. Returns
 * owned, to be freed with collectives_destroy. */
struct collectives *collectives_create(struct network *network, uint16_t kind);

/* A device starts to reduce, or has no more to reduce; in turn for each device. Must not start collectives. */
typedef void reduction_hook(void *context, uint32_t device, bool is_reducing);

/* For whoever else works on the devices. Reductions do not wait for it. Borrows context. */
void collectives_on_reduction(struct collectives *collectives, reduction_hook *hook, void *context);

/* Takes collectives, with those under way; NULL is fine. */
void collectives_destroy(struct collectives *collectives);

/* Starts one. Nothing to send, or one member, ends at this instant. STATUS_USER for members that are not there or
 * given twice; a transfer that the network refuses later on shows in network_status. */
STATUS_MUST_USE enum status collective_start(struct collectives *collectives, const struct collective_request *request,
                                             struct error *error);

/* Under way now. */
size_t collectives_active(const struct collectives *collectives);

const char *collective_name(enum collective_algorithm algorithm);

/* False where no algorithm has that name. */
bool collective_find(const char *name, enum collective_algorithm *algorithm);

#endif
