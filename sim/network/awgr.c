/* Arrayed waveguide gratings: the wavelength says where the light goes (Sirius; optical network, section 2).
 *
 * A grating has W ports and W wavelengths: input i reaches output o on wavelength
 * (i + o) mod W and no other, so nothing collides inside it. Servers are counted
 * in blocks of W; a grating joins a block of sources to a block of targets, with
 * `planes` gratings side by side. A server has a transceiver for each block and
 * plane: a circuit takes transmitter (target's block, plane), receiver (source's
 * block, plane) and the wavelength of its grating's input. Only the transmitter
 * tunes, so switching darkens the two ends.
 *
 * Hardware numbers: transmitters server * x + t, receivers (n + server) * x + r,
 * both dense, x = blocks * planes; wavelengths above. A pair has a choice of
 * planes: its lit one, else a dark one, else the first that gives way. One lane
 * waits, on every plane, for an end that is busy there; several lanes look again
 * whenever either server lets go of a transceiver. plan is O(planes).
 */
#include "network/fabrics.h"

#include <stdio.h>

static uint64_t blocks(const struct topology *topology)
{
    uint64_t ports = (uint64_t)topology->awgr.wavelengths;
    return (topology->server_count + ports - 1) / ports;
}

static enum status open_awgr(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    uint64_t transceivers = blocks(topology) * (uint64_t)topology->awgr.planes;
    uint64_t lines = 2 * topology->server_count * blocks(topology);
    if (lines >= FABRIC_NONE)
        return error_set(error, STATUS_USER,
                         "awgr.wavelengths is %lld: %u servers then need %llu transceivers each, too many to simulate",
                         (long long)topology->awgr.wavelengths, topology->server_count,
                         (unsigned long long)transceivers);
    enum status status =
        fabric_share(state, (int64_t)transceivers, topology->awgr.reconfiguration_ps, topology->awgr.slot_ps, error);
    if (status != STATUS_OK)
        return status;
    state->dense = 2 * (uint64_t)topology->server_count * transceivers;
    state->line_count = (uint32_t)lines;
    state->lanes_max = (uint16_t)topology->awgr.planes;
    return STATUS_OK;
}

/* The transmitters of a server towards a block, one a plane, start here; its receivers half of all further on. */
static uint64_t first_transceiver(const struct fabric_state *state, uint32_t server, uint64_t block)
{
    return (server * blocks(state->topology) + block) * (uint64_t)state->topology->awgr.planes;
}

static uint64_t wavelength_id(const struct fabric_state *state, uint32_t source, uint32_t target, uint64_t transmitter)
{
    uint64_t ports = (uint64_t)state->topology->awgr.wavelengths;
    return state->dense + transmitter * ports + (source + target) % ports;
}

/* For one lane: the plane of the lit circuit of the pair, or else one where nobody has to give way, or else `planes`.
 */
static uint64_t best_plane(const struct fabric_state *state, const struct network *network,
                           const struct fabric_pair *pair, uint64_t send, uint64_t receive)
{
    uint64_t planes = (uint64_t)state->topology->awgr.planes, dark = planes;
    for (uint64_t k = 0; k < planes; k++) {
        if (network_hardware_is_lit_for(network, send + k, pair))
            return k;
        if (dark == planes && network_hardware_is_dark(network, send + k) &&
            network_hardware_is_dark(network, receive + k))
            dark = k;
    }
    return dark;
}

static bool plan_awgr(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    uint32_t source = pair->source, target = pair->targets[0];
    uint64_t ports = (uint64_t)state->topology->awgr.wavelengths, planes = (uint64_t)state->topology->awgr.planes;
    uint64_t send = first_transceiver(state, source, target / ports);
    uint64_t receive = state->dense / 2 + first_transceiver(state, target, source / ports);
    uint64_t best = pair->lanes == 1 ? best_plane(state, network, pair, send, receive) : planes;
    for (uint64_t k = best < planes ? best : 0; k < planes && plan->hold.count < 3U * pair->lanes; k++) {
        bool is_free = network_hardware_is_free(network, send + k) && network_hardware_is_free(network, receive + k);
        if (k != best && !is_free)
            continue;
        fabric_list_add(&plan->hold, send + k);
        fabric_list_add(&plan->hold, receive + k);
        fabric_list_add(&plan->hold, wavelength_id(state, source, target, send + k));
    }
    if (plan->hold.count == 3U * pair->lanes)
        return true;
    plan->hold.count = 0;
    for (uint64_t k = 0; k < planes && pair->lanes == 1; k++)
        fabric_list_add(&plan->wait, network_hardware_is_free(network, send + k) ? receive + k : send + k);
    if (pair->lanes > 1) {
        fabric_list_add(&plan->wait, FABRIC_LINE(send / planes));
        fabric_list_add(&plan->wait, FABRIC_LINE(receive / planes));
    }
    return false;
}

static uint32_t alternative_of_awgr(const struct fabric_state *state, uint64_t hardware)
{
    return (uint32_t)(hardware % (uint64_t)state->topology->awgr.planes);
}

static uint32_t line_of_awgr(const struct fabric_state *state, uint64_t hardware)
{
    return hardware < state->dense ? (uint32_t)(hardware / (uint64_t)state->topology->awgr.planes) : FABRIC_NONE;
}

static bool line_is_open_awgr(const struct fabric_state *state, const struct network *network, uint32_t line)
{
    uint64_t planes = (uint64_t)state->topology->awgr.planes;
    for (uint64_t k = 0; k < planes; k++)
        if (network_hardware_is_free(network, line * planes + k))
            return true;
    return false;
}

static void describe_awgr(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES])
{
    char name[TOPOLOGY_NAME_BYTES];
    uint64_t ports = (uint64_t)state->topology->awgr.wavelengths;
    uint64_t each = blocks(state->topology) * (uint64_t)state->topology->awgr.planes;
    bool is_wavelength = hardware >= state->dense;
    uint64_t transceiver = is_wavelength ? (hardware - state->dense) / ports : hardware;
    topology_name(state->topology, (uint32_t)(transceiver % (state->dense / 2) / each), name);
    if (is_wavelength)
        snprintf(text, FABRIC_TEXT_BYTES, "wavelength %u of transmitter %u of %s",
                 (unsigned)((hardware - state->dense) % ports), (unsigned)(transceiver % each), name);
    else
        snprintf(text, FABRIC_TEXT_BYTES, "%s %u of %s", hardware < state->dense / 2 ? "transmitter" : "receiver",
                 (unsigned)(transceiver % each), name);
}

const struct fabric fabric_awgr = {
    .name = "awgr",
    .doc = "Tunable transmitters on wavelength gratings: the wavelength says where the light goes.",
    .open = open_awgr,
    .plan_choose = plan_awgr,
    .alternative_of = alternative_of_awgr,
    .line_of = line_of_awgr,
    .line_is_open = line_is_open_awgr,
    .describe = describe_awgr,
};
