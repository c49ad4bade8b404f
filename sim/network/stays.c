/* What an observer is told: the stays of hardware, each when it is over.
 *
 * Nothing is kept here. A circuit knows from when on its hardware was dark and
 * lit since its last stay that was told, and the books of hardware know when
 * it fell idle. Telling costs the length of the circuit's list of hardware, and
 * nothing without an observer. For each piece of hardware the stays follow each
 * other, and those that switch and carry add up to its books.
 */
#include "network/circuits.h"

static void tell(const struct network *network, const struct circuit *circuit, struct network_stay stay)
{
    const struct network_observer *observer = network->options.observer;
    if (stay.start >= stay.end)
        return;
    for (uint32_t i = 0; circuit && i < circuit->slot_count; i++) {
        stay.hardware = hardware_id(network, circuit_slots(circuit)[i]);
        observer->stayed(observer->context, network, &stay);
    }
    if (!circuit)
        observer->stayed(observer->context, network, &stay);
}

static struct network_stay stay_of(const struct transfer *transfer)
{
    return (struct network_stay){.hardware = transfer->source,
                                 .light = NETWORK_CARRYING,
                                 .source = transfer->source,
                                 .target = transfer->target,
                                 .target_count = transfer->target_count,
                                 .job = transfer->job,
                                 .bytes = transfer->bytes};
}

void stays_tell_circuit(const struct network *network, const struct circuit *circuit)
{
    if (!network->options.observer)
        return;
    sim_time now = engine_now(network->engine);
    require(circuit->transfer != 0 && circuit->dark_from <= circuit->lit_from);
    struct network_stay stay = stay_of(&network->transfers[circuit->transfer]);
    stay.light = NETWORK_SWITCHING;
    stay.start = circuit->dark_from;
    stay.end = circuit->lit_from < now ? circuit->lit_from : now;
    tell(network, circuit, stay);
    stay.light = NETWORK_CARRYING;
    stay.start = circuit->lit_from;
    stay.end = now;
    tell(network, circuit, stay);
}

void stays_tell_transfer(const struct network *network, const struct transfer *transfer)
{
    if (!network->options.observer)
        return;
    require(transfer->state == TRANSFER_MOVING);
    struct network_stay stay = stay_of(transfer);
    stay.start = transfer->begin;
    stay.end = engine_now(network->engine);
    tell(network, NULL, stay);
}

void stays_tell_idle(const struct network *network, const struct circuit *circuit)
{
    if (!network->options.observer)
        return;
    require(circuit->slot_count > 0 && circuit->transfer == 0);
    struct network_stay stay = {.light = NETWORK_IDLE,
                                .start = hardware_at(network, circuit_slots(circuit)[0])->since,
                                .end = engine_now(network->engine),
                                .source = circuit->source,
                                .target = circuit->target};
    tell(network, circuit, stay);
}

void stays_tell_open(const struct network *network)
{
    if (!network->options.observer)
        return;
    for (size_t i = 1; i < network->circuit_places.count; i++) {
        const struct circuit *circuit = &network->circuits[i];
        if (circuit->slot_count > 0 && circuit->transfer == 0)
            stays_tell_idle(network, circuit);
        else if (circuit->slot_count > 0)
            stays_tell_circuit(network, circuit);
    }
    for (size_t i = 1; i < network->transfer_places.count && !network_has_circuits(network); i++)
        if (network->transfers[i].state == TRANSFER_MOVING)
            stays_tell_transfer(network, &network->transfers[i]);
}

bool network_has_circuits(const struct network *network)
{
    return network->fabric.circuits != NULL;
}

void network_describe(const struct network *network, uint64_t hardware, char text[NETWORK_TEXT_BYTES])
{
    if (network_has_circuits(network)) {
        network->fabric.circuits->describe(&network->fabric, hardware, text);
        return;
    }
    char name[TOPOLOGY_NAME_BYTES];
    topology_name(network->topology, (uint32_t)hardware, name);
    snprintf(text, NETWORK_TEXT_BYTES, "transfers from %s", name);
}
