/* Parallel optical circuit switches: P of them, a port of each server on each (optical network, section 2).
 *
 * A circuit takes the sending half of the source's port and the receiving half of
 * the target's on the same switch (parallel.h says on which); a half has one peer
 * at a time. With scope "switch" the whole switch is dark while it sets up a
 * circuit, and there is one lane.
 *
 * Hardware numbers, all dense: port p of a server sends as server * P + p and
 * receives as (n + server) * P + p.
 */
#include "fabric/fabrics.h"

#include <stdio.h>

#include "fabric/parallel.h"

struct ocs_settings {
    int64_t switches, reconfiguration_ps;
    struct fabric_delays delays;
    enum { SCOPE_PORT, SCOPE_SWITCH } scope;
};

#define SETTINGS struct ocs_settings
static const struct key ocs_keys[] = {
    {INTEGER_KEY("ocs.switches", switches), .default_text = "4", .minimum = "1", .maximum = "1024",
     .doc = "Circuit switches side by side; a server has one port on each, with its share of node_rate."},
    {TIME_KEY("ocs.reconfiguration", reconfiguration_ps), .default_text = "10ms", .minimum = "0ps",
     .doc = "To connect two ports. 10ms: 3D MEMS (unverified); 2D MEMS 11.5us (Mordia); SiP-ML's public simulator "
            "sweeps 20us to 3000us; a public 24x24 prototype 2.8us, beside its control and lock."},
    FABRIC_DELAY_KEYS("ocs", NULL),
    {CHOICE_KEY("ocs.scope", scope, "port|switch"), .default_text = "port",
     .doc = "What is dark while a circuit is set up: its two ports, or the whole switch (all-stop)."},
};

static const struct fabric_circuits circuits;

static enum status open_ocs(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    const struct ocs_settings *settings = topology->fabric.settings;
    int64_t switches = settings->switches;
    TRY(fabric_share(state, switches, settings->reconfiguration_ps, 0, error));
    TRY(fabric_add_delays(state, &settings->delays, error));
    if (topology->server_count > UINT32_MAX / 2)
        return error_set(error, STATUS_USER, "%u servers are too many for fabric ocs", topology->server_count);
    state->circuits = &circuits;
    state->dense = 2 * (uint64_t)topology->server_count * (uint64_t)switches;
    state->alternatives = (uint32_t)switches;
    state->reroutes = true;
    if (settings->scope == SCOPE_SWITCH) {
        state->switch_count = (uint32_t)switches;
        state->lanes_max = 1;
    }
    return STATUS_OK;
}

static bool is_symmetric_ocs(const struct topology *topology, uint16_t lanes)
{
    (void)topology;
    (void)lanes;
    return true;
}

static bool plan_ocs(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                     struct fabric_plan *plan)
{
    uint64_t switches = state->alternatives;
    struct parallel_ends ends = {pair->source * switches, state->dense / 2 + pair->targets[0] * switches};
    if (!parallel_plan(state, network, &ends, plan))
        return false;
    if (state->switch_count > 0)
        plan->stopped_switch = (uint32_t)(plan->hold.ids[0] % switches);
    return true;
}

/* Ports are the servers' own; switches are everybody's where one circuit stops all the others on them. */
static void domains_ocs(const struct topology *topology, const uint32_t *servers, uint32_t count,
                        struct fabric_list *list)
{
    const struct ocs_settings *settings = topology->fabric.settings;
    (void)servers;
    (void)count;
    if (settings->scope == SCOPE_SWITCH)
        fabric_list_add(list, 0);
}

static void describe_ocs(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES])
{
    char name[TOPOLOGY_NAME_BYTES];
    uint64_t half = state->dense / 2;
    topology_name(state->topology, (uint32_t)(hardware % half) / state->alternatives, name);
    snprintf(text, FABRIC_TEXT_BYTES, "port of %s to %s on switch %u", name, hardware < half ? "send" : "receive",
             (unsigned)(hardware % state->alternatives));
}

static const struct fabric_circuits circuits = {.plan = plan_ocs, .describe = describe_ocs};

const struct fabric fabric_ocs = {
    .strategy = {.name = "ocs",
                 .doc = "Optical circuit switches side by side; a server has one port on each.",
                 STRATEGY_KEYS(ocs_keys, struct ocs_settings)},
    .is_reconfigured = true,
    .is_symmetric = is_symmetric_ocs,
    .domains = domains_ocs,
    .open = open_ocs,
};
