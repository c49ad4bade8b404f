/* What the network tells: totals, books, who waits for what.
 *
 * network_check goes over everything once: O(hardware + transfers). It runs when
 * a network is destroyed, so every run ends with its books balanced.
 */
#include <stdlib.h>

#include "engine/hash.h"
#include "network/circuits.h"

enum status network_status(const struct network *network, struct error *error)
{
    if (!network->is_failed)
        return STATUS_OK;
    if (error)
        *error = network->failure;
    return network->failure.status;
}

static statistics_wide bytes_in_flight(const struct network *network)
{
    statistics_wide bytes = 0;
    for (size_t i = 1; i < network->transfer_places.count; i++) {
        const struct transfer *transfer = &network->transfers[i];
        if (transfer->state == TRANSFER_MOVING)
            bytes += (statistics_wide)transfer->bytes * transfer->target_count;
    }
    return bytes;
}

struct network_totals network_totals(const struct network *network)
{
    struct network_totals totals = network->totals;
    sim_time now = engine_now(network->engine);
    totals.waiting = (uint64_t)network->waiting.value;
    totals.moving = (uint64_t)network->moving.value;
    totals.waiting_area = statistics_level_area(&network->waiting, now);
    totals.moving_area = statistics_level_area(&network->moving, now);
    totals.bytes_in_flight = bytes_in_flight(network);
    return totals;
}

static void check_use(void *context, const struct hardware_use *use)
{
    const struct network *network = context;
    require(use->busy >= 0 && use->switching >= 0 && use->idle >= 0);
    require(use->busy + use->switching + use->idle == engine_now(network->engine));
}

static void check_circuits(const struct network *network)
{
    for (size_t i = 1; i < network->circuit_places.count; i++) {
        const struct circuit *circuit = &network->circuits[i];
        for (uint32_t k = 0; k < circuit->slot_count; k++)
            require(hardware_at(network, circuit_slots(circuit)[k])->circuit == i);
        require(circuit->slot_count == 0 || network->pairs[circuit->pair].circuit_count > 0);
    }
}

/* Little's law, exactly: the time integral of those waiting is the sum of the waits that are over and those so far. */
static void check_areas(const struct network *network)
{
    sim_time now = engine_now(network->engine);
    statistics_wide waits = network->totals.wait_sum, moves = network->totals.move_sum;
    uint64_t local = 0;
    for (size_t i = 1; i < network->transfer_places.count; i++) {
        const struct transfer *transfer = &network->transfers[i];
        if (transfer->state == TRANSFER_WAITING)
            waits += now - transfer->start;
        else if (transfer->state == TRANSFER_MOVING)
            moves += now - transfer->begin;
        else if (transfer->state == TRANSFER_LOCAL)
            local++;
    }
    struct network_totals totals = network_totals(network);
    require(waits == totals.waiting_area && moves == totals.moving_area);
    require(totals.sent == totals.local + local + totals.cleared + totals.done + totals.waiting + totals.moving);
    require(totals.bytes_sent == totals.bytes_received + totals.bytes_in_flight);
}

static uint64_t hash_circuit(const struct network *network, const struct circuit *circuit)
{
    uint64_t hash = hash_pair(circuit->source, circuit->target);
    for (uint32_t i = 0; i < circuit->slot_count; i++)
        hash = hash_pair(hash, hardware_id(network, circuit_slots(circuit)[i]));
    return hash;
}

/* Which circuit comes next in its pair decides which one is taken first. */
uint64_t network_lit_hash(const struct network *network)
{
    uint64_t sum = 0;
    for (size_t i = 1; i < network->circuit_places.count; i++) {
        const struct circuit *circuit = &network->circuits[i];
        if (circuit->slot_count == 0)
            continue;
        uint64_t next = circuit->pair_next ? hash_circuit(network, &network->circuits[circuit->pair_next]) : 0;
        sum += hash_pair(hash_circuit(network, circuit), next);
    }
    return sum;
}

void network_check(const struct network *network)
{
    if (network->is_failed)
        return;
    network_visit_hardware(network, check_use, (void *)(uintptr_t)network);
    check_circuits(network);
    check_areas(network);
}

uint64_t network_unfinished(const struct network *network)
{
    return (uint64_t)(network->waiting.value + network->moving.value);
}

/* The first planned hardware that somebody else has. */
static void explain_hardware(const struct network *network, uint32_t index, char text[FABRIC_TEXT_BYTES])
{
    struct fabric_pair pair = circuit_pair(&network->transfers[index]);
    struct fabric_plan plan = {0};
    const struct fabric_circuits *circuits = network->fabric.circuits;
    snprintf(text, FABRIC_TEXT_BYTES, network->transfers[index].is_patient ? "a circuit of its pair" : "its turn");
    if (!circuits->plan(&network->fabric, network, &pair, &plan))
        snprintf(text, FABRIC_TEXT_BYTES, "any free path of the fabric");
    for (size_t i = plan.is_fixed ? plan.hold.count : 0; i-- > 0;)
        if (!network_hardware_is_free(network, plan.hold.ids[i]))
            circuits->describe(&network->fabric, plan.hold.ids[i], text);
    free(plan.hold.ids);
    free(plan.wait.ids);
    free(plan.evict.ids);
}

static void explain_one(const struct network *network, uint32_t index, FILE *out)
{
    const struct transfer *transfer = &network->transfers[index];
    const struct fabric_state *fabric = &network->fabric;
    char source[TOPOLOGY_NAME_BYTES], target[TOPOLOGY_NAME_BYTES], text[FABRIC_TEXT_BYTES] = "the fabric";
    topology_name(network->topology, transfer->source, source);
    topology_name(network->topology, transfer->target, target);
    if (fabric->carrier && fabric->carrier->explain)
        fabric->carrier->explain(network, index, text);
    else if (fabric->circuits)
        explain_hardware(network, index, text);
    fprintf(out, "transfer %u of job %u, %s to %s, %llu bytes, sent at %lld ticks, waits for %s\n", index,
            transfer->job, source, target, (unsigned long long)transfer->bytes, (long long)transfer->start, text);
}

void network_explain_waiting(const struct network *network, size_t most, FILE *out)
{
    size_t told = 0;
    for (size_t i = 1; i < network->transfer_places.count && told < most; i++)
        if (network->transfers[i].state == TRANSFER_WAITING) {
            explain_one(network, (uint32_t)i, out);
            told++;
        }
    size_t waiting = (size_t)network->waiting.value;
    if (waiting > told)
        fprintf(out, "and %zu more\n", waiting - told);
}

struct engine *network_engine(const struct network *network)
{
    return network->engine;
}

const struct fabric_state *network_fabric(const struct network *network)
{
    return &network->fabric;
}

sim_time network_now(const struct network *network)
{
    return engine_now(network->engine);
}

struct transfer_view network_transfer(const struct network *network, uint32_t index)
{
    const struct transfer *transfer = &network->transfers[index];
    require(index < network->transfer_places.count && transfer->state != TRANSFER_FREE);
    return (struct transfer_view){.source = transfer->source,
                                  .target = transfer->target,
                                  .job = transfer->job,
                                  .bytes = transfer->bytes,
                                  .start = transfer->start,
                                  .turn = transfer->turn,
                                  .is_cleared_when_blocked = transfer->is_cleared_when_blocked};
}

uint64_t *network_transfer_word(struct network *network, uint32_t transfer)
{
    require(transfer < network->transfer_places.count);
    return &network->transfers[transfer].word;
}
