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
 * planes (parallel.h).
 *
 * All that is for circuits on request. With awgr.schedule: round_robin, as in
 * Sirius, transmitters step through all targets by the clock, one slot each, dark
 * while they tune: a rotor of one hop with a switch per plane (rotor.h), over
 * gratings with a port for every server. open says which of the two serves.
 */
#include "fabric/fabrics.h"

#include <stdio.h>
#include <string.h>

#include "fabric/parallel.h"
#include "fabric/rotor.h"

struct awgr_settings {
    enum { ON_DEMAND, ROUND_ROBIN } schedule;
    int64_t wavelengths; /* and ports of a grating */
    int64_t planes;      /* gratings side by side */
    int64_t reconfiguration_ps, slot_ps;
    struct fabric_delays delays; /* on_demand */
};

#define SETTINGS struct awgr_settings
static const struct key awgr_keys[] = {
    {CHOICE_KEY("awgr.schedule", schedule, "on_demand|round_robin"), .default_text = "on_demand",
     .doc =
         "Circuits are set up on request, or transmitters step through all other servers by the clock, one slot each "
         "and dark for the reconfiguration in between (Sirius), with a transceiver per plane and gratings that have a "
         "port for every server."},
    {INTEGER_KEY("awgr.wavelengths", wavelengths), .default_text = "100", .minimum = "1", .maximum = "4096",
     .when = "awgr.schedule=on_demand",
     .doc = "Ports and wavelengths of a grating. A server has a transceiver for each block of so many servers. 100: "
            "the gratings of Sirius (unverified)."},
    {INTEGER_KEY("awgr.planes", planes), .default_text = "1", .minimum = "1", .maximum = "1024",
     .doc = "Gratings side by side for each pair of blocks, each with transceivers of its own."},
    {TIME_KEY("awgr.reconfiguration", reconfiguration_ps), .default_text = "3840ps", .minimum = "0ps",
     .doc = "To tune a transmitter; with round_robin the dark time after every slot. 3.84ns: Sirius."},
    FABRIC_DELAY_KEYS("awgr", "awgr.schedule=on_demand"),
    {TIME_KEY("awgr.slot", slot_ps), .default_text = "100ns", .minimum = "0ps",
     .doc = "Payloads take whole slots; 0ps = not slotted. With round_robin how long a transmitter stays at a target, "
            "more than 0ps. The default is unverified (Sirius)."},
};

static const struct fabric_circuits circuits;

static const struct awgr_settings *settings_of(const struct topology *topology)
{
    return topology->fabric.settings;
}

/* Of a grating, and its wavelengths. */
static uint64_t ports_of(const struct topology *topology)
{
    return (uint64_t)settings_of(topology)->wavelengths;
}

static uint64_t blocks_of(const struct topology *topology)
{
    return (topology->server_count + ports_of(topology) - 1) / ports_of(topology);
}

static struct rotor_figures round_robin_of(const struct topology *topology)
{
    const struct awgr_settings *settings = settings_of(topology);
    return (struct rotor_figures){.switches_key = "awgr.planes",
                                  .slot_key = "awgr.slot",
                                  .switches = settings->planes,
                                  .slot_ps = settings->slot_ps,
                                  .dark_ps = settings->reconfiguration_ps};
}

static enum status open_round_robin(struct fabric_state *state, struct error *error)
{
    struct rotor_figures figures = round_robin_of(state->topology);
    return rotor_open(state, &figures, error);
}

static sim_time cycle_awgr(const struct fabric_state *state)
{
    struct rotor_figures figures = round_robin_of(state->topology);
    return settings_of(state->topology)->schedule == ROUND_ROBIN ? rotor_cycle(state, &figures) : 0;
}

static enum status open_on_demand(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    const struct awgr_settings *settings = settings_of(topology);
    uint64_t transceivers = blocks_of(topology) * (uint64_t)settings->planes;
    if (2 * topology->server_count * blocks_of(topology) >= FABRIC_NONE)
        return error_set(error, STATUS_USER,
                         "awgr.wavelengths is %lld: %u servers then need %llu transceivers each, too many to simulate",
                         (long long)settings->wavelengths, topology->server_count, (unsigned long long)transceivers);
    TRY(fabric_share(state, (int64_t)transceivers, settings->reconfiguration_ps, settings->slot_ps, error));
    TRY(fabric_add_delays(state, &settings->delays, error));
    state->circuits = &circuits;
    state->dense = 2 * (uint64_t)topology->server_count * transceivers;
    state->alternatives = (uint32_t)settings->planes;
    state->lanes_max = (uint16_t)settings->planes;
    state->reroutes = true;
    return STATUS_OK;
}

static enum status open_awgr(struct fabric_state *state, struct error *error)
{
    return settings_of(state->topology)->schedule == ROUND_ROBIN ? open_round_robin(state, error)
                                                                 : open_on_demand(state, error);
}

/* The transmitters of a server towards a block, one per plane, start here; its receivers half of all further on. */
static uint64_t first_transceiver(const struct fabric_state *state, uint32_t server, uint64_t block)
{
    return (server * blocks_of(state->topology) + block) * state->alternatives;
}

static bool plan_awgr(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    uint64_t ports = ports_of(state->topology);
    uint32_t source = pair->source, target = pair->targets[0];
    struct parallel_ends ends = {.send = first_transceiver(state, source, target / ports),
                                 .receive = state->dense / 2 + first_transceiver(state, target, source / ports)};
    if (!parallel_plan(state, network, &ends, plan))
        return false;
    fabric_list_add(&plan->hold, state->dense + plan->hold.ids[0] * ports + (source + target) % ports);
    return true;
}

static void describe_awgr(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES])
{
    char name[TOPOLOGY_NAME_BYTES];
    uint64_t ports = ports_of(state->topology);
    uint64_t each = blocks_of(state->topology) * state->alternatives;
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

static const struct fabric_circuits circuits = {.plan = plan_awgr, .describe = describe_awgr};

const struct fabric fabric_awgr = {
    .strategy = {.name = "awgr",
                 .doc = "Tunable transmitters on wavelength gratings: the wavelength says where the light goes.",
                 STRATEGY_KEYS(awgr_keys, struct awgr_settings)},
    .is_reconfigured = true,
    .cycle = cycle_awgr,
    .open = open_awgr,
};
