/* Switches that are dark as a whole while they set up a circuit (scope switch).
 *
 * A switch keeps the circuits that carry on it in a list. Stopping it costs the
 * length of that list; circuits without such a switch cost nothing here.
 */
#include "network/circuits.h"

void switch_join(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    if (circuit->stopped_switch == FABRIC_NONE)
        return;
    struct stopped_switch *at = &network->switches[circuit->stopped_switch];
    circuit->switch_next = at->first;
    circuit->switch_back = 0;
    if (at->first != 0)
        network->circuits[at->first].switch_back = index;
    at->first = index;
}

void switch_leave(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    if (circuit->stopped_switch == FABRIC_NONE)
        return;
    struct stopped_switch *at = &network->switches[circuit->stopped_switch];
    if (circuit->switch_next != 0)
        network->circuits[circuit->switch_next].switch_back = circuit->switch_back;
    if (circuit->switch_back != 0)
        network->circuits[circuit->switch_back].switch_next = circuit->switch_next;
    else
        at->first = circuit->switch_next;
}

/* What is lit goes dark now; what is dark stays so for longer, since all that moves on a switch is dark at once. */
static void stop_light(const struct network *network, struct circuit *circuit, sim_time until, sim_time longer)
{
    sim_time now = engine_now(network->engine);
    if (circuit->lit_from <= now) {
        stays_tell_circuit(network, circuit);
        circuit->dark_from = now;
        circuit->lit_from = until;
    } else {
        circuit->lit_from += longer;
    }
    circuit->dark += longer;
}

/* Everything that moves on the switch ends later by the time that it is newly dark. */
void switch_stop(struct network *network, uint32_t which, sim_time until)
{
    struct stopped_switch *at = &network->switches[which];
    sim_time now = engine_now(network->engine), from = at->dark_until > now ? at->dark_until : now;
    sim_time longer = until - from;
    require(longer >= 0);
    at->dark_until = until;
    for (uint32_t index = at->first; index != 0; index = network->circuits[index].switch_next) {
        struct transfer *transfer = &network->transfers[network->circuits[index].transfer];
        sim_time end;
        stop_light(network, &network->circuits[index], until, longer);
        transfer->reconfiguration += longer;
        if (!clock_add(transfer->begin + transfer->reconfiguration, transfer->payload, &end))
            end = SIM_TIME_MAX - 1; /* the new circuit, which is later, fails and stops the run */
        transfer->end = engine_reschedule(network->engine, transfer->end, end);
        require(transfer->end != 0);
    }
}
