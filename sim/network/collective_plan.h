/* How algorithms of collectives speak to collective.c. Private to sim/network.
 *
 * An algorithm is a table of functions of (member, phase). Members go by their
 * position in the request. Nothing is stored per pair.
 */
#ifndef NETWORK_COLLECTIVE_PLAN_H
#define NETWORK_COLLECTIVE_PLAN_H

#include "network/collective.h"
#include "network/fabric.h"

enum { SUBGROUPS_MAX = 20 }; /* each at least halves what is left of at most 2^19 members */

/* One exchange: members that differ in one digit only. */
struct subgroup {
    uint64_t bytes;  /* each member sends to each other one */
    uint32_t size;   /* of a subgroup */
    uint32_t digit;  /* 0 group, 1 rack, 2 place; 0 by rank */
    uint32_t stride; /* of the digit's part that differs: places and ranks are written as several digits */
};

/* Exchanges in subgroups, of halving-doubling and ramp: members are a grid of groups, racks and places, or go by rank.
 */
struct subgroup_plan {
    uint32_t *coordinates; /* group, rack, place of each member, counted among those in use; owned; NULL = by rank */
    uint32_t *at;          /* position plus 1 of (group, rack, place), 0 = nobody; owned */
    uint32_t counts[3];
    struct subgroup subgroups[SUBGROUPS_MAX];
    uint32_t subgroup_count;
    uint32_t rest; /* by rank: members that hand their part to a neighbour first and get the result last */
};

struct held_emission; /* collective.c */

struct member {
    struct held_emission *held;   /* what others have for it in phases to come, first come first; owned */
    struct collective_parts path; /* as of the start of its phase; adds up to the time since the start */
    uint32_t phase;
    uint32_t sends_left;
    uint32_t received; /* in all phases */
    uint32_t needs;    /* before it can leave its phase */
    bool is_reducing;
};

struct collective {
    struct collectives *owner;
    struct network *network; /* the owner's */
    struct collective_request request;
    const struct collective_steps *steps;
    struct member *members;
    uint16_t *arrived;         /* member * phases + phase, where receives are counted by phase; else NULL */
    struct subgroup_plan plan; /* of halving-doubling and ramp */
    uint32_t *targets;         /* of a multicast */
    uint32_t *ring;            /* the members of a ring in its order; NULL = as requested */
    uint32_t phases;
    uint32_t phase;               /* of all, with a barrier */
    uint64_t outstanding;         /* transfers of that phase, then reductions */
    struct collective_parts path; /* of all, with a barrier */
    uint32_t members_left;
    uint32_t slot;
    struct collective_report report;
};

struct collective_steps {
    const char *name;
    /* Gets ready; NULL = nothing to do. */
    void (*prepare)(struct collective *collective);
    uint32_t (*phases)(const struct collective *collective);
    /* Sends what the member sends in the phase, with collective_emit. Returns how many transfers. */
    uint32_t (*send)(struct collective *collective, uint32_t member, uint32_t phase);
    /* How many transfers must have reached the member before it can go on: of this phase, or (is_cumulative) of all
     * phases so far. */
    uint32_t (*needs)(const struct collective *collective, uint32_t member, uint32_t phase);
    /* What the member reduces at the end of the phase: so many parts of *bytes each; below 2 = nothing. */
    uint32_t (*reduces)(const struct collective *collective, uint32_t member, uint32_t phase, uint64_t *bytes);
    bool is_cumulative;
    bool is_ring; /* everybody sends to the next member alone */
};

extern const struct collective_steps collective_steps[COLLECTIVE_ALGORITHMS];

struct emission {
    uint32_t from, to; /* positions */
    uint64_t bytes;
    uint16_t lanes, first_lane;
};
void collective_emit(struct collective *collective, const struct emission *emission, uint32_t phase);

/* The roofline of a device for d operands of so many bytes (PAC-ML simulator, section 6), rounded once; SIM_TIME_MAX
 * where it does not fit the clock. */
sim_time collective_reduction_time(const struct network *network, uint32_t device, uint64_t bytes, uint32_t d);

/* One transfer from a member to all others. */
void collective_emit_to_all(struct collective *collective, uint32_t from, uint64_t bytes, uint32_t phase);

static inline uint64_t divide_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

#endif
