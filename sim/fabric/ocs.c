/* Parallel optical circuit switches: P of them, a port of each server on each (optical network, section 2).
 *
 * A circuit takes the sending half of the source's port and the receiving half of
 * the target's on the same switch; a half has one peer at a time. A lit circuit of
 * the same pair and as many lanes is used first, else the lowest switches where
 * both halves are dark, then the lowest where what is lit gives way.
 * With scope "switch" the whole switch is dark while it sets up a circuit, and
 * there is one lane.
 *
 * Hardware numbers, all dense: port p of a server sends as server * P + p and
 * receives as (n + server) * P + p. A server has two lines: for a free half to
 * send with, and one to receive with. plan is O(P).
 */
#include "fabric/fabrics.h"

#include <stdio.h>
#include <string.h>

static enum status open_ocs(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    enum status status = fabric_share(state, topology->ocs.switches, topology->ocs.reconfiguration_ps, 0, error);
    if (status != STATUS_OK)
        return status;
    if (topology->server_count > UINT32_MAX / 2)
        return error_set(error, STATUS_USER, "%u servers are too many for fabric ocs", topology->server_count);
    state->dense = 2 * (uint64_t)topology->server_count * (uint64_t)topology->ocs.switches;
    state->line_count = 2 * topology->server_count;
    state->switch_count = (uint32_t)topology->ocs.switches;
    if (strcmp(topology->ocs.scope, "switch") == 0)
        state->lanes_max = 1;
    return STATUS_OK;
}

static uint64_t sender(const struct fabric_state *state, uint32_t server, uint64_t port)
{
    return server * (uint64_t)state->topology->ocs.switches + port;
}

static uint64_t receiver(const struct fabric_state *state, uint32_t server, uint64_t port)
{
    return state->dense / 2 + server * (uint64_t)state->topology->ocs.switches + port;
}

static void take(const struct fabric_state *state, const struct fabric_pair *pair, uint64_t port,
                 struct fabric_plan *plan)
{
    fabric_list_add(&plan->hold, sender(state, pair->source, port));
    fabric_list_add(&plan->hold, receiver(state, pair->targets[0], port));
    if (strcmp(state->topology->ocs.scope, "switch") == 0)
        plan->stopped_switch = (uint32_t)port;
}

/* One lane waits, on every switch, for a half that is busy there; several lanes look again whenever either server lets
 * go of a port. */
static void plan_wait(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    plan->hold.count = 0;
    if (pair->lanes > 1) {
        fabric_list_add(&plan->wait, FABRIC_LINE(2 * pair->source));
        fabric_list_add(&plan->wait, FABRIC_LINE(2 * pair->targets[0] + 1));
        return;
    }
    for (uint64_t port = 0; port < (uint64_t)state->topology->ocs.switches; port++) {
        uint64_t send = sender(state, pair->source, port), receive = receiver(state, pair->targets[0], port);
        fabric_list_add(&plan->wait, network_hardware_is_free(network, send) ? receive : send);
    }
}

/* The lit circuit of the pair on the lowest switch, with all its ports; nothing if there is none. */
static void take_lit(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                     struct fabric_plan *plan)
{
    uint64_t switches = (uint64_t)state->topology->ocs.switches, first = 0;
    for (uint64_t port = 0; port < switches; port++) {
        uint64_t send = sender(state, pair->source, port);
        if (!network_hardware_is_lit_for(network, send, pair))
            continue;
        first = plan->hold.count > 0 ? first : send;
        if (network_hardware_is_together(network, first, send))
            take(state, pair, port, plan);
    }
}

/* Switches where both halves are dark, or else where somebody has to give way, up to as many as lanes. */
static void take_free(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      bool is_dark, struct fabric_plan *plan)
{
    uint64_t switches = (uint64_t)state->topology->ocs.switches;
    for (uint64_t port = 0; port < switches && plan->hold.count < 2U * pair->lanes; port++) {
        uint64_t send = sender(state, pair->source, port), receive = receiver(state, pair->targets[0], port);
        if (network_hardware_is_free(network, send) && network_hardware_is_free(network, receive) &&
            is_dark == (network_hardware_is_dark(network, send) && network_hardware_is_dark(network, receive)))
            take(state, pair, port, plan);
    }
}

static bool plan_ocs(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                     struct fabric_plan *plan)
{
    take_lit(state, network, pair, plan);
    if (plan->hold.count > 0) {
        require(plan->hold.count == 2U * pair->lanes);
        return true;
    }
    take_free(state, network, pair, true, plan);
    take_free(state, network, pair, false, plan);
    if (plan->hold.count == 2U * pair->lanes)
        return true;
    plan_wait(state, network, pair, plan);
    return false;
}

static uint32_t alternative_of_ocs(const struct fabric_state *state, uint64_t hardware)
{
    return (uint32_t)(hardware % (uint64_t)state->topology->ocs.switches);
}

static uint32_t line_of_ocs(const struct fabric_state *state, uint64_t hardware)
{
    uint64_t half = state->dense / 2, switches = (uint64_t)state->topology->ocs.switches;
    uint32_t server = (uint32_t)(hardware % half / switches);
    return 2 * server + (hardware >= half);
}

static bool line_is_open_ocs(const struct fabric_state *state, const struct network *network, uint32_t line)
{
    for (uint64_t port = 0; port < (uint64_t)state->topology->ocs.switches; port++)
        if (network_hardware_is_free(network,
                                     line % 2 ? receiver(state, line / 2, port) : sender(state, line / 2, port)))
            return true;
    return false;
}

static void describe_ocs(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES])
{
    char name[TOPOLOGY_NAME_BYTES];
    uint64_t switches = (uint64_t)state->topology->ocs.switches;
    topology_name(state->topology, line_of_ocs(state, hardware) / 2, name);
    snprintf(text, FABRIC_TEXT_BYTES, "port of %s to %s on switch %u", name,
             hardware < state->dense / 2 ? "send" : "receive", (unsigned)(hardware % switches));
}

const struct fabric fabric_ocs = {
    .name = "ocs",
    .doc = "Optical circuit switches side by side; a server has one port on each.",
    .open = open_ocs,
    .plan_choose = plan_ocs,
    .alternative_of = alternative_of_ocs,
    .line_of = line_of_ocs,
    .line_is_open = line_is_open_ocs,
    .describe = describe_ocs,
};
