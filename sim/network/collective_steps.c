/* The algorithms of collectives: who sends how much to whom in which phase.
 *
 * Sizes that do not divide are rounded up, as in the published formula: the
 * largest part sets the pace. All functions are O(transfers they make).
 */
#include "network/collective_plan.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

static uint32_t members(const struct collective *c)
{
    return c->request.member_count;
}

/* One transfer on the lanes that were asked for. */
static uint32_t emit_one(struct collective *c, uint32_t from, uint32_t to, uint64_t bytes, uint32_t phase)
{
    collective_emit(c, &(struct emission){from, to, bytes, c->request.lanes, 0}, phase);
    return 1;
}

/* Ring: member i sends to i + 1; the first n - 1 phases reduce, the others gather. */

static uint32_t ring_phases(const struct collective *c)
{
    return 2 * (members(c) - 1);
}

static uint32_t half_ring_phases(const struct collective *c)
{
    return members(c) - 1;
}

static uint32_t ring_send(struct collective *c, uint32_t member, uint32_t phase)
{
    uint32_t next = member + 1 == members(c) ? 0 : member + 1;
    return emit_one(c, member, next, divide_up(c->request.bytes, members(c)), phase);
}

static uint32_t ring_needs(const struct collective *c, uint32_t member, uint32_t phase)
{
    (void)c;
    (void)member;
    return phase + 1;
}

static uint32_t ring_reduces(const struct collective *c, uint32_t member, uint32_t phase, uint64_t *bytes)
{
    (void)member;
    *bytes = divide_up(c->request.bytes, members(c));
    return phase < members(c) - 1 ? 2 : 0;
}

/* The rest: of the first 2 * rest members every second one is outside the core, served by the one before it. */

static bool is_in_core(uint32_t rest, uint32_t member)
{
    return member >= 2 * rest || member % 2 == 0;
}

static uint32_t core_rank(uint32_t rest, uint32_t member)
{
    return member < 2 * rest ? member / 2 : member - rest;
}

static uint32_t core_member(uint32_t rest, uint32_t rank)
{
    return rank < rest ? 2 * rank : rank + rest;
}

/* Subgroups (struct subgroup_plan): rounds go up the subgroups and come down again; where there is a rest, it hands
 * over one phase before and gets the result one phase after. */

static uint32_t subgroup_phases(const struct collective *c)
{
    return 2 * c->plan.subgroup_count + (c->plan.rest > 0 ? 2 : 0);
}

static int64_t subgroup_round(const struct collective *c, uint32_t phase)
{
    return (int64_t)phase - (c->plan.rest > 0);
}

/* NULL while the rest hands over or gets its result. */
static const struct subgroup *subgroup_at(const struct collective *c, uint32_t phase)
{
    int64_t round = subgroup_round(c, phase), count = c->plan.subgroup_count;
    if (round < 0 || round >= 2 * count)
        return NULL;
    return &c->plan.subgroups[round < count ? round : 2 * count - 1 - round];
}

/* Takes sizes that are more than one; a message is divided by each in turn. */
static void take_subgroups(struct collective *c, const struct subgroup *all, uint32_t count)
{
    struct subgroup_plan *plan = &c->plan;
    uint64_t bytes = c->request.bytes;
    plan->subgroup_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        bytes = divide_up(bytes, all[k].size);
        if (all[k].size <= 1)
            continue;
        require(plan->subgroup_count < SUBGROUPS_MAX);
        plan->subgroups[plan->subgroup_count] = all[k];
        plan->subgroups[plan->subgroup_count++].bytes = bytes;
    }
}

/* The largest divisor not above most; 1 where there is none. */
static uint32_t largest_divisor(uint32_t number, uint32_t most)
{
    uint32_t divisor = number < most ? number : most;
    while (divisor > 1 && number % divisor != 0)
        divisor--;
    return divisor;
}

static bool is_product(uint32_t number, uint32_t most)
{
    for (uint32_t divisor = 2; number > 1 && divisor <= most; divisor++)
        while (number % divisor == 0)
            number /= divisor;
    return number == 1;
}

/* Members by rank: the largest number of them that is a product of factors of at most `most` is the core. It is more
 * than half of them, as a power of two is, so everybody else has a neighbour of its own there. The last digit is
 * exchanged first, or the first one. */
static void plan_by_rank(struct collective *c, uint32_t most, bool is_last_first)
{
    struct subgroup all[SUBGROUPS_MAX];
    uint32_t core = members(c), count = 0, stride = 1;
    while (!is_product(core, most))
        core--;
    c->plan.rest = members(c) - core;
    require(2 * c->plan.rest <= members(c));
    for (uint32_t left = core; left > 1; left /= all[count++].size) {
        require(count < SUBGROUPS_MAX);
        all[count] = (struct subgroup){.size = largest_divisor(left, most), .stride = stride};
        stride *= all[count].size;
        if (!is_last_first)
            all[count].stride = core / stride;
    }
    require(stride == core);
    take_subgroups(c, all, count);
}

static uint32_t grid_index(const struct subgroup_plan *plan, const uint32_t *at)
{
    return (at[0] * plan->counts[1] + at[1]) * plan->counts[2] + at[2];
}

/* The member `offset` further on in the subgroup, counted in a circle; its position plus 1, 0 if nobody is there. */
static uint32_t subgroup_peer(const struct collective *c, uint32_t member, const struct subgroup *s, uint32_t offset)
{
    const struct subgroup_plan *plan = &c->plan;
    uint32_t at[3] = {core_rank(plan->rest, member), 0, 0};
    if (plan->coordinates)
        memcpy(at, plan->coordinates + 3 * (size_t)member, sizeof at);
    uint32_t digit = at[s->digit] / s->stride % s->size, other = (digit + offset) % s->size;
    at[s->digit] = at[s->digit] - digit * s->stride + other * s->stride;
    if (!plan->coordinates)
        return core_member(plan->rest, at[0]) + 1;
    return at[s->digit] < plan->counts[s->digit] ? plan->at[grid_index(plan, at)] : 0;
}

/* The rest and its neighbours: does the member send, or get, in this phase? */
static bool hands_over(const struct collective *c, uint32_t member, uint32_t phase)
{
    return member < 2 * c->plan.rest && (member % 2 == 1) == (subgroup_round(c, phase) < 0);
}

static uint32_t subgroup_needs(const struct collective *c, uint32_t member, uint32_t phase)
{
    const struct subgroup *s = subgroup_at(c, phase);
    if (!s)
        return member < 2 * c->plan.rest && !hands_over(c, member, phase);
    uint32_t needs = 0;
    for (uint32_t offset = 1; offset < s->size && is_in_core(c->plan.rest, member); offset++)
        needs += subgroup_peer(c, member, s, offset) != 0;
    return needs;
}

/* Its own part and those of the peers that are there. */
static uint32_t subgroup_reduces(const struct collective *c, uint32_t member, uint32_t phase, uint64_t *bytes)
{
    const struct subgroup *s = subgroup_at(c, phase);
    *bytes = s ? s->bytes : c->request.bytes;
    return subgroup_round(c, phase) < (int64_t)c->plan.subgroup_count ? subgroup_needs(c, member, phase) + 1 : 0;
}

/* Halving and doubling: pairs over the largest power of two, the first digit first. */

static void halving_prepare(struct collective *c)
{
    plan_by_rank(c, 2, false);
}

static uint32_t halving_send(struct collective *c, uint32_t member, uint32_t phase)
{
    const struct subgroup *s = subgroup_at(c, phase);
    if (!s)
        return hands_over(c, member, phase) ? emit_one(c, member, member ^ 1U, c->request.bytes, phase) : 0;
    if (!is_in_core(c->plan.rest, member))
        return 0;
    return emit_one(c, member, subgroup_peer(c, member, s, 1) - 1, s->bytes, phase);
}

/* RAMP: the subgroups of the published formula, on planned lanes. */

/* Each number becomes its rank among those in use, in the order of first use: other names for the same members change
 * nothing then. Returns how many are in use. */
static uint32_t rank_numbers(uint32_t *numbers, uint32_t count, uint32_t step, uint32_t bound)
{
    uint32_t *ranks = memory_alloc(bound, sizeof *ranks), used = 0; /* plus 1; 0 = not in use yet */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *rank = &ranks[numbers[i * step]];
        if (*rank == 0)
            *rank = ++used;
        numbers[i * step] = *rank - 1;
    }
    free(ranks);
    return used;
}

static void ramp_lay_out(struct collective *c)
{
    const struct topology *topology = network_fabric(c->network)->topology;
    struct subgroup_plan *plan = &c->plan;
    plan->coordinates = memory_alloc(3 * (size_t)members(c), sizeof *plan->coordinates);
    for (uint32_t i = 0; i < members(c); i++) {
        uint32_t host = topology_host(topology, c->request.members[i]);
        plan->coordinates[3 * i] = topology_group(topology, host);
        plan->coordinates[3 * i + 1] = topology_rack(topology, host);
        plan->coordinates[3 * i + 2] = topology_place(topology, host);
    }
    uint32_t bounds[3] = {(uint32_t)topology->groups, (uint32_t)topology->racks_per_group,
                          (uint32_t)topology->servers_per_rack};
    for (uint32_t k = 0; k < 3; k++)
        plan->counts[k] = rank_numbers(plan->coordinates + k, members(c), 3, bounds[k]);
    plan->at = memory_alloc((size_t)plan->counts[0] * plan->counts[1] * plan->counts[2], sizeof *plan->at);
    for (uint32_t i = 0; i < members(c); i++)
        plan->at[grid_index(plan, plan->coordinates + 3 * i)] = i + 1;
}

/* A full block whose places the published subgroups do not divide: digits of at most x whose product is their number.
 * False where there are none, as a prime above x. */
static bool ramp_divide_places(struct collective *c, uint32_t x)
{
    const uint32_t *counts = c->plan.counts;
    struct subgroup all[SUBGROUPS_MAX] = {{.size = counts[0], .digit = 0, .stride = 1}};
    uint32_t count = 1, stride = 1;
    for (uint32_t size = x; stride < counts[2] && size > 1; stride *= size) {
        size = largest_divisor(counts[2] / stride, x);
        all[count++] = (struct subgroup){.size = size, .digit = 2, .stride = stride};
    }
    all[count++] = (struct subgroup){.size = counts[1], .digit = 1, .stride = 1};
    if (stride == counts[2])
        take_subgroups(c, all, count);
    return stride == counts[2];
}

/* The subgroups, in the order of the published formula. Where those do not bring all to all, as a share of the message
 * then belongs to somebody who is not there, or several have the same: places in other digits, or all by rank. */
static void ramp_prepare(struct collective *c)
{
    ramp_lay_out(c);
    struct subgroup_plan *plan = &c->plan;
    uint32_t x = (uint32_t)network_fabric(c->network)->topology->groups;
    uint32_t groups = plan->counts[0], racks = plan->counts[1], places = plan->counts[2];
    uint32_t near = groups < places ? groups : places, far = (uint32_t)divide_up(places, x);
    uint32_t missing = c->request.is_complete ? (uint32_t)divide_up(places, (uint64_t)near * far) : 1;
    const struct subgroup all[] = {{.size = groups, .digit = 0, .stride = 1},
                                   {.size = near, .digit = 2, .stride = 1},
                                   {.size = racks, .digit = 1, .stride = 1},
                                   {.size = far, .digit = 2, .stride = near},
                                   {.size = missing, .digit = 2, .stride = near * far}};
    bool is_block = (uint64_t)groups * racks * places == members(c);
    if (!c->request.is_complete || (is_block && (uint64_t)near * far * missing == places)) {
        take_subgroups(c, all, sizeof all / sizeof *all);
        return;
    }
    if (is_block && ramp_divide_places(c, x))
        return;
    free(plan->coordinates);
    free(plan->at);
    plan->coordinates = plan->at = NULL;
    plan_by_rank(c, x > 2 ? x : 2, true);
}

/* Spare transceivers work side by side: min(x / contending racks, x / (d - 1)) of them for each of the d - 1 peers. */
static uint32_t ramp_lanes(const struct collective *c, uint32_t size)
{
    uint32_t x = network_fabric(c->network)->lanes_max;
    uint32_t contending = c->request.contending_racks ? c->request.contending_racks : 1;
    uint32_t spare = x / (size - 1) < x / contending ? x / (size - 1) : x / contending;
    return spare > 0 ? spare : 1;
}

/* The rest and its neighbours are alone on all their transceivers. */
static uint32_t ramp_hand_over(struct collective *c, uint32_t member, uint32_t phase)
{
    if (!hands_over(c, member, phase))
        return 0;
    bool is_planned = network_fabric(c->network)->has_planned_lanes;
    struct emission emission = {member, member ^ 1U, c->request.bytes, (uint16_t)ramp_lanes(c, 2), is_planned};
    collective_emit(c, &emission, phase);
    return 1;
}

static uint32_t ramp_send(struct collective *c, uint32_t member, uint32_t phase)
{
    const struct subgroup *s = subgroup_at(c, phase);
    if (!s)
        return ramp_hand_over(c, member, phase);
    if (!is_in_core(c->plan.rest, member))
        return 0;
    const struct fabric_state *fabric = network_fabric(c->network);
    uint32_t lanes = ramp_lanes(c, s->size), sent = 0, x = fabric->lanes_max;
    for (uint32_t offset = 1; offset < s->size; offset++) {
        uint32_t peer = subgroup_peer(c, member, s, offset);
        if (peer == 0)
            continue;
        uint16_t first = fabric->has_planned_lanes ? (uint16_t)((offset - 1) * lanes % x + 1) : 0;
        struct emission emission = {member, peer - 1, s->bytes, (uint16_t)lanes, first};
        collective_emit(c, &emission, phase);
        sent++;
    }
    return sent;
}

/* All to all: in shift p everybody sends to the member p + 1 further on. Nobody waits for what it is sent but at the
 * end, so the last phase alone needs something. */

static uint32_t shift_send(struct collective *c, uint32_t member, uint32_t phase)
{
    uint32_t to = (uint32_t)(((uint64_t)member + phase + 1) % members(c));
    return emit_one(c, member, to, divide_up(c->request.bytes, members(c)), phase);
}

static uint32_t shift_needs(const struct collective *c, uint32_t member, uint32_t phase)
{
    (void)member;
    return phase + 2 == members(c) ? members(c) - 1 : 0;
}

/* Broadcast: in phase p the first 2^p members have the message and pass it on. */

static bool is_one_shot(const struct collective *c)
{
    return c->request.is_multicast && network_fabric(c->network)->can_multicast;
}

static uint32_t tree_phases(const struct collective *c)
{
    uint32_t phases = 0;
    while ((UINT64_C(1) << phases) < members(c))
        phases++;
    return is_one_shot(c) ? 1 : phases;
}

static uint32_t tree_send(struct collective *c, uint32_t member, uint32_t phase)
{
    uint64_t have = UINT64_C(1) << phase;
    if (is_one_shot(c)) {
        if (member == 0)
            collective_emit_to_all(c, 0, c->request.bytes, phase);
        return member == 0;
    }
    if (member >= have || member + have >= members(c))
        return 0;
    return emit_one(c, member, (uint32_t)(member + have), c->request.bytes, phase);
}

static uint32_t tree_needs(const struct collective *c, uint32_t member, uint32_t phase)
{
    uint64_t have = UINT64_C(1) << phase;
    return is_one_shot(c) ? member > 0 : member >= have && member < 2 * have;
}

/* Parameter server: all to the first member, which sums, and back. */

static uint32_t server_phases(const struct collective *c)
{
    (void)c;
    return 2;
}

static uint32_t server_send(struct collective *c, uint32_t member, uint32_t phase)
{
    if ((member == 0) != (phase == 1))
        return 0;
    if (member > 0)
        return emit_one(c, member, 0, c->request.bytes, phase);
    for (uint32_t to = 1; to < members(c); to++)
        emit_one(c, 0, to, c->request.bytes, phase);
    return members(c) - 1;
}

static uint32_t server_needs(const struct collective *c, uint32_t member, uint32_t phase)
{
    if (phase == 0)
        return member == 0 ? members(c) - 1 : 0;
    return members(c) - 1 > 0 && member > 0 ? 1 : members(c) - 1;
}

static uint32_t server_reduces(const struct collective *c, uint32_t member, uint32_t phase, uint64_t *bytes)
{
    *bytes = c->request.bytes;
    return member == 0 && phase == 0 ? members(c) : 0;
}

const struct collective_steps collective_steps[COLLECTIVE_ALGORITHMS] = {
    [COLLECTIVE_RING] = {"ring", NULL, ring_phases, ring_send, ring_needs, ring_reduces, true, true},
    [COLLECTIVE_HALVING_DOUBLING] = {"halving-doubling", halving_prepare, subgroup_phases, halving_send, subgroup_needs,
                                     subgroup_reduces, false},
    [COLLECTIVE_RAMP] = {"ramp", ramp_prepare, subgroup_phases, ramp_send, subgroup_needs, subgroup_reduces, false},
    [COLLECTIVE_ALL_TO_ALL] = {"all-to-all", NULL, half_ring_phases, shift_send, shift_needs, NULL, true},
    [COLLECTIVE_BROADCAST] = {"broadcast", NULL, tree_phases, tree_send, tree_needs, NULL, false},
    [COLLECTIVE_REDUCE_SCATTER] = {"reduce-scatter", NULL, half_ring_phases, ring_send, ring_needs, ring_reduces, true,
                                   true},
    [COLLECTIVE_ALL_GATHER] = {"all-gather", NULL, half_ring_phases, ring_send, ring_needs, NULL, true, true},
    [COLLECTIVE_PARAMETER_SERVER] = {"parameter-server", NULL, server_phases, server_send, server_needs, server_reduces,
                                     true},
};
