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
#include <stdlib.h>

#include "engine/status.h"

struct ramp_settings {
    int64_t reconfiguration_ps, slot_ps;
    int64_t planes; /* subnets side by side for each pair of groups and transmitter; 0 = one per rack */
    struct fabric_delays delays;
};

#define SETTINGS struct ramp_settings
static const struct key ramp_keys[] = {
    {TIME_KEY("ramp.reconfiguration", reconfiguration_ps), .default_text = "1ns", .minimum = "0ps",
     .doc = "To tune a transmitter and a receiver to each other. The default is unverified against RAMP's paper."},
    {TIME_KEY("ramp.slot", slot_ps), .default_text = "20ns", .minimum = "0ps",
     .doc = "Payloads take whole slots; 0ps = not slotted. The default is unverified against RAMP's paper."},
    FABRIC_DELAY_KEYS("ramp", NULL),
    {INTEGER_KEY("ramp.planes", planes), .choices = "racks", .default_text = "racks", .minimum = "1", .maximum = "1024",
     .doc =
         "Subnets side by side for each pair of groups and transmitter; racks of the target group take turns on them. "
         "With one per rack, as RAMP's paper has it, servers of different racks never collide on a wavelength."},
};

static const struct fabric_circuits circuits;

static const struct ramp_settings *settings_of(const struct topology *topology)
{
    return topology->fabric.settings;
}

static uint64_t planes_of(const struct topology *topology)
{
    int64_t planes = settings_of(topology)->planes;
    return (uint64_t)(planes > 0 ? planes : topology->racks_per_group);
}

/* A single lane is named after the groups at its ends, while collectives count theirs from the first one: who meets
 * depends on names then. Planes are by the numbers of racks, unless each has one or all share it. */
static bool is_symmetric_ramp(const struct topology *topology, uint16_t lanes)
{
    uint64_t planes = planes_of(topology);
    return lanes >= topology->groups && (planes == 1 || planes >= (uint64_t)topology->racks_per_group);
}

/* What the published formulas need (PAC-ML simulator, section 6): a subgroup of d members has groups / (d - 1)
 * transceivers per pair, and that must not be none. */
static enum status check_ramp(const struct topology *topology, const char *path, struct error *error)
{
    int64_t x = topology->groups, deep = (topology->servers_per_rack + x - 1) / x;
    int64_t planes = settings_of(topology)->planes;
    if (!topology->has_grid)
        return error_at(error, path, 0, 0,
                        "fabric: ramp needs layout: grid, which says in which group and rack a server stands");
    if (topology->racks_per_group > x)
        return error_at(error, path, 0, 0,
                        "racks_per_group is %lld, groups is %lld: RAMP has at most as many racks per group as groups",
                        (long long)topology->racks_per_group, (long long)x);
    if (deep > x + 1)
        return error_at(error, path, 0, 0,
                        "servers_per_rack is %lld: with %lld groups RAMP can serve at most %lld servers per rack",
                        (long long)topology->servers_per_rack, (long long)x, (long long)(x * (x + 1)));
    if (planes > topology->racks_per_group)
        return error_at(error, path, 0, 0,
                        "ramp.planes is %lld, racks_per_group is %lld: a plane serves a rack at least, so more would "
                        "stay dark",
                        (long long)planes, (long long)topology->racks_per_group);
    return STATUS_OK;
}

static enum status open_ramp(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    const struct ramp_settings *settings = settings_of(topology);
    TRY(fabric_share(state, topology->groups, settings->reconfiguration_ps, settings->slot_ps, error));
    TRY(fabric_add_delays(state, &settings->delays, error));
    state->circuits = &circuits;
    state->dense = 2 * (uint64_t)topology->server_count * (uint64_t)topology->groups;
    state->alternatives = (uint32_t)topology->groups;
    state->can_multicast = true;
    state->has_planned_lanes = true;
    state->reroutes = true;
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

/* The lanes of a collective are planned, and a single lane is named after the groups at its ends: that one or none. */
static bool plan_fixed(const struct fabric_state *state, const struct fabric_pair *pair, struct fabric_plan *plan)
{
    uint32_t x = (uint32_t)state->topology->groups;
    uint32_t first = pair->first_lane > 0 ? pair->first_lane - 1U : topology_group(state->topology, pair->targets[0]);
    plan->is_fixed = true;
    if (pair->lane >= pair->lanes)
        return false;
    plan_lane(state, pair, (first + pair->lane) % x, pair->first_lane > 0, plan);
    return true;
}

/* What is lost on the planned hardware; on *busy is a piece of it that is not to be had, if there is one. */
static int loss_of(const struct network *network, const struct fabric_plan *plan, uint64_t *busy)
{
    int loss = 0;
    *busy = UINT64_MAX;
    for (size_t i = plan->hold.count; i-- > 0;) {
        if (!network_hardware_is_free(network, plan->hold.ids[i]))
            *busy = plan->hold.ids[i];
        loss += network_hardware_loss(network, plan->hold.ids[i]);
    }
    return loss;
}

/* The lane where the least is lost, the lowest of equals; names of groups do not matter. */
static bool plan_best(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    uint32_t x = (uint32_t)state->topology->groups, best = x;
    int least = 0;
    plan->is_fixed = false;
    for (uint32_t lane = 0; lane < x && (best == x || least > 0); lane++) {
        uint64_t busy;
        plan->hold.count = 0;
        plan_lane(state, pair, lane, true, plan);
        int loss = loss_of(network, plan, &busy);
        if (busy != UINT64_MAX) {
            fabric_list_add(&plan->wait, busy);
        } else if (best == x || loss < least) {
            best = lane;
            least = loss;
        }
    }
    plan->hold.count = 0;
    if (best == x)
        return false;
    plan->wait.count = 0;
    plan_lane(state, pair, best, true, plan);
    return true;
}

static bool is_broken(const struct network *network, const struct fabric_plan *plan)
{
    bool is_broken = false;
    for (size_t i = 0; i < plan->hold.count && !is_broken; i++)
        is_broken = network_hardware_is_broken(network, plan->hold.ids[i]);
    return is_broken;
}

/* Transfers with several lanes and no plan take the best one first, then the others in their order; so do others whose
 * first lane is out of service. */
static bool plan_ramp(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    bool is_fixed = pair->first_lane > 0 || pair->lanes == 1;
    if (is_fixed && !plan_fixed(state, pair, plan))
        return false;
    if (is_fixed && (pair->lane > 0 || !is_broken(network, plan)))
        return true;
    if (pair->lane == 0)
        return plan_best(state, network, pair, plan);
    plan->is_fixed = true;
    plan_lane(state, pair, pair->lane - 1U, true, plan);
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

/* Wavelengths towards servers of one place in different racks of a plane, from the groups that the servers are in. With
 * a plane for each rack they are each server's own. */
static void domains_ramp(const struct topology *t, const uint32_t *servers, uint32_t count, struct fabric_list *list)
{
    uint64_t planes = planes_of(t), targets = (uint64_t)t->groups * planes * (uint64_t)t->servers_per_rack;
    bool *is_used = memory_alloc((size_t)t->groups, sizeof *is_used);
    if (planes == (uint64_t)t->racks_per_group)
        count = 0;
    for (uint32_t i = 0; i < count; i++)
        is_used[topology_group(t, servers[i])] = true;
    for (uint64_t source = 0; source < (uint64_t)t->groups; source++)
        for (uint32_t i = 0; i < count && is_used[source]; i++) {
            uint64_t subnet = topology_group(t, servers[i]) * planes + topology_rack(t, servers[i]) % planes;
            uint64_t wavelength = subnet * (uint64_t)t->servers_per_rack + topology_place(t, servers[i]);
            fabric_list_add(list, source * targets + wavelength);
        }
    free(is_used);
}

static const struct fabric_circuits circuits = {.plan = plan_ramp, .describe = describe_ramp};

const struct fabric fabric_ramp = {
    .strategy = {.name = "ramp",
                 .doc = "Tunable transceivers, one per communication group, on passive subnets: a wavelength per "
                        "server of a rack.",
                 STRATEGY_KEYS(ramp_keys, struct ramp_settings)},
    .check = check_ramp,
    .is_symmetric = is_symmetric_ramp,
    .is_reconfigured = true,
    /* Not symmetric: racks are on planes by their numbers, and where lanes are laid out they are counted from the
     * first transmitter on, while a single one is named after the target's group. Which of them meet depends on the
     * names. */
    .domains = domains_ramp,
    .open = open_ramp,
};
