/* RAMP: every circuit is two tuned transceivers and a wavelength (RAMP, arXiv 2211.15226; optical network, section 2).
 *
 * A server has one transceiver per communication group. A circuit to group d uses
 * transmitter d of its source and receiver s of its target, s being the source's
 * group, and the wavelength of the target's place in its rack, on the subnet
 * (s, d, transmitter, plane). The racks of a group share its wavelengths, so two
 * circuits of one subnet towards the same place of different racks collide,
 * unless their racks are on different planes: plane = rack of the target modulo
 * planes. Switching darkens only the two ends: tunable lasers and receivers.
 *
 * Collectives use spare transceivers side by side: lane k is transmitter k and
 * receiver k, and the subnets of different transmitters are different fibres, so
 * lanes never collide with each other.
 *
 * A multicast holds the one transmitter of its first target's group, the
 * wavelength of its first target on the subnet of each group, and all receivers.
 *
 * Hardware numbers: transmitters node * x + t, then receivers n * x + node * x + r,
 * both dense; wavelengths above. plan is O(lanes * targets).
 */
#include "fabric/fabrics.h"

#include <stdio.h>

#include "engine/status.h"

static const struct fabric_circuits circuits;

static uint64_t planes_of(const struct topology *topology)
{
    return (uint64_t)topology->ramp.planes;
}

/* The racks of a group are on planes by their numbers, unless there is but one. */
static bool is_symmetric_ramp(const struct topology *topology)
{
    return planes_of(topology) == 1;
}

static enum status open_ramp(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    enum status status =
        fabric_share(state, topology->groups, topology->ramp.reconfiguration_ps, topology->ramp.slot_ps, error);
    if (status != STATUS_OK)
        return status;
    state->circuits = &circuits;
    state->dense = 2 * (uint64_t)topology->server_count * (uint64_t)topology->groups;
    state->can_multicast = true;
    state->has_planned_lanes = true;
    return STATUS_OK;
}

static uint64_t wavelength_id(const struct fabric_state *state, uint32_t source, uint32_t target, uint32_t lane,
                              uint32_t colour)
{
    const struct topology *t = state->topology;
    uint64_t x = (uint64_t)t->groups;
    uint64_t plane = topology_rack(t, target) % planes_of(t);
    uint64_t subnet = (topology_group(t, source) * x + topology_group(t, target)) * x + lane;
    return state->dense + (subnet * planes_of(t) + plane) * (uint64_t)t->servers_per_rack + colour;
}

/* Two targets of a multicast in one group and plane share the wavelength. */
static void add_once(struct fabric_list *list, uint64_t id)
{
    for (size_t i = list->count; i-- > 0;)
        if (list->ids[i] == id)
            return;
    fabric_list_add(list, id);
}

static void plan_lane(const struct fabric_state *state, const struct fabric_pair *pair, uint32_t lane, bool is_planned,
                      struct fabric_plan *plan)
{
    const struct topology *t = state->topology;
    uint64_t x = (uint64_t)t->groups, receivers = (uint64_t)t->server_count * x;
    uint32_t colour = topology_place(t, pair->targets[0]);
    require(lane < x);
    fabric_list_add(&plan->hold, pair->source * x + lane);
    for (uint32_t i = 0; i < pair->target_count; i++) {
        uint32_t target = pair->targets[i];
        uint64_t receiver = is_planned ? lane : topology_group(t, pair->source);
        fabric_list_add(&plan->hold, receivers + target * x + receiver);
        uint64_t wavelength = wavelength_id(state, pair->source, target, lane, colour);
        if (pair->target_count == 1)
            fabric_list_add(&plan->hold, wavelength);
        else
            add_once(&plan->hold, wavelength);
    }
}

static bool plan_ramp(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    (void)network;
    uint32_t x = (uint32_t)state->topology->groups;
    bool is_planned = pair->first_lane > 0 || pair->lanes > 1;
    uint32_t first = pair->first_lane > 0 ? pair->first_lane - 1U : topology_group(state->topology, pair->targets[0]);
    for (uint32_t k = 0; k < pair->lanes; k++)
        plan_lane(state, pair, (first + k) % x, is_planned, plan);
    return true;
}

static void describe_ramp(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES])
{
    const struct topology *t = state->topology;
    uint64_t x = (uint64_t)t->groups, half = state->dense / 2;
    if (hardware < state->dense) {
        char name[TOPOLOGY_NAME_BYTES];
        topology_name(t, (uint32_t)(hardware % half / x), name);
        snprintf(text, FABRIC_TEXT_BYTES, "%s %u of %s", hardware < half ? "transmitter" : "receiver",
                 (unsigned)(hardware % x), name);
        return;
    }
    uint64_t rest = hardware - state->dense, colours = (uint64_t)t->servers_per_rack, planes = planes_of(t);
    uint64_t subnet = rest / colours / planes;
    snprintf(text, FABRIC_TEXT_BYTES, "wavelength %u of group %u to group %u, transmitter %u, plane %u",
             (unsigned)(rest % colours), (unsigned)(subnet / x / x), (unsigned)(subnet / x % x), (unsigned)(subnet % x),
             (unsigned)(rest / colours % planes));
}

static const struct fabric_circuits circuits = {.is_fixed = true, .plan = plan_ramp, .describe = describe_ramp};

const struct fabric fabric_ramp = {
    .name = "ramp",
    .doc = "Tunable transceivers, one a communication group, on passive subnets: a wavelength a server of a rack.",
    .is_symmetric = is_symmetric_ramp,
    .open = open_ramp,
};
