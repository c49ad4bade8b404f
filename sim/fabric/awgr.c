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
 * planes: those of its lit circuit with as many lanes, else the lowest dark ones,
 * then the lowest where what is lit gives way. One lane
 * waits, on every plane, for an end that is busy there; several lanes look again
 * whenever either server lets go of a transceiver. plan is O(planes).
 *
 * All that is for circuits on request. With awgr.schedule: round_robin, as in
 * Sirius, transmitters step through all targets by the clock, one slot each, dark
 * while they tune: a rotor of one hop with a switch a plane (rotor.h), over
 * gratings with a port for every server. open then leaves everything to it.
 */
#include "fabric/fabrics.h"

#include <stdio.h>
#include <string.h>

#include "fabric/rotor.h"

static uint64_t blocks(const struct topology *topology)
{
    uint64_t ports = (uint64_t)topology->awgr.wavelengths;
    return (topology->server_count + ports - 1) / ports;
}

static enum status open_round_robin(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    struct rotor_figures figures = {.switches_key = "awgr.planes",
                                    .slot_key = "awgr.slot",
                                    .switches = topology->awgr.planes,
                                    .slot_ps = topology->awgr.slot_ps,
                                    .dark_ps = topology->awgr.reconfiguration_ps};
    state->fabric = &rotor_of_awgr;
    return rotor_open(state, &figures, error);
}

static enum status open_awgr(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    if (strcmp(topology->awgr.schedule, "round_robin") == 0)
        return open_round_robin(state, error);
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

/* The two ends of a pair: their transceivers on the first plane. */
struct ends {
    uint32_t source, target;
    uint64_t send, receive;
};

static void take(const struct fabric_state *state, const struct ends *ends, uint64_t plane, struct fabric_plan *plan)
{
    fabric_list_add(&plan->hold, ends->send + plane);
    fabric_list_add(&plan->hold, ends->receive + plane);
    fabric_list_add(&plan->hold, wavelength_id(state, ends->source, ends->target, ends->send + plane));
}

/* The lit circuit of the pair on the lowest plane, with all its lanes; nothing if there is none. */
static void take_lit(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                     const struct ends *ends, struct fabric_plan *plan)
{
    uint64_t planes = (uint64_t)state->topology->awgr.planes, first = 0;
    for (uint64_t k = 0; k < planes; k++) {
        if (!network_hardware_is_lit_for(network, ends->send + k, pair))
            continue;
        first = plan->hold.count > 0 ? first : ends->send + k;
        if (network_hardware_is_together(network, first, ends->send + k))
            take(state, ends, k, plan);
    }
}

/* Planes where both ends are dark, or else where somebody has to give way, up to `most` hardware. */
static void take_free(const struct fabric_state *state, const struct network *network, const struct ends *ends,
                      bool is_dark, size_t most, struct fabric_plan *plan)
{
    for (uint64_t k = 0; k < (uint64_t)state->topology->awgr.planes && plan->hold.count < most; k++) {
        uint64_t send = ends->send + k, receive = ends->receive + k;
        if (network_hardware_is_free(network, send) && network_hardware_is_free(network, receive) &&
            is_dark == (network_hardware_is_dark(network, send) && network_hardware_is_dark(network, receive)))
            take(state, ends, k, plan);
    }
}

static void plan_wait(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      const struct ends *ends, struct fabric_plan *plan)
{
    uint64_t planes = (uint64_t)state->topology->awgr.planes, send = ends->send, receive = ends->receive;
    plan->hold.count = 0;
    if (pair->lanes > 1) {
        fabric_list_add(&plan->wait, FABRIC_LINE(send / planes));
        fabric_list_add(&plan->wait, FABRIC_LINE(receive / planes));
        return;
    }
    for (uint64_t k = 0; k < planes; k++)
        fabric_list_add(&plan->wait, network_hardware_is_free(network, send + k) ? receive + k : send + k);
}

static bool plan_awgr(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    uint64_t ports = (uint64_t)state->topology->awgr.wavelengths;
    size_t wanted = 3U * (size_t)pair->lanes;
    struct ends ends = {.source = pair->source, .target = pair->targets[0]};
    ends.send = first_transceiver(state, ends.source, ends.target / ports);
    ends.receive = state->dense / 2 + first_transceiver(state, ends.target, ends.source / ports);
    take_lit(state, network, pair, &ends, plan);
    require(plan->hold.count == 0 || plan->hold.count == wanted);
    take_free(state, network, &ends, true, wanted, plan);
    take_free(state, network, &ends, false, wanted, plan);
    if (plan->hold.count == wanted)
        return true;
    plan_wait(state, network, pair, &ends, plan);
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
