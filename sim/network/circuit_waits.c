/* Where a transfer stands that got no circuit, and who is called up when one is free.
 *
 * Whoever found hardware busy stands in line at it, those who need the same behind
 * one head. Whoever waits patiently stands at its pair alone. See struct pair.
 */
#include "engine/hash.h"
#include "network/circuits.h"

uint64_t circuit_pair_key(const struct transfer *transfer)
{
    uint64_t hash = hash_pair((uint64_t)transfer->source << 32 | transfer->target, transfer->target_count);
    for (uint32_t i = 0; i < transfer->target_count && transfer->targets; i++)
        hash = hash_pair(hash, transfer->targets[i]);
    return (hash & (PLACE_PAIR - 1)) | PLACE_PAIR;
}

/* The place of those who need the same hardware: by that of the first lane, in any order, where it is fixed, else by
 * the ends. The plan is that of the first lane. */
static uint64_t line_place(const struct network *network, const struct transfer *transfer)
{
    uint64_t hash = 0;
    if (!network->plan.is_fixed)
        hash = hash_mix(transfer->pair);
    for (size_t i = 0; i < network->plan.hold.count && network->plan.is_fixed; i++)
        hash += hash_mix(network->plan.hold.ids[i] + 1);
    return (hash & (PLACE_PAIR - 1)) | PLACE_PAIR;
}

/* The entry given up is replaced: at the pair, or at what is busy of the same alternative now, which transceivers and
 * ports tell by their numbers. */
static void wait_again(struct network *network, uint32_t transfer, uint64_t from)
{
    if (from & PLACE_PAIR) {
        line_add(network, from, transfer);
        return;
    }
    uint64_t alternatives = network->plan.is_fixed ? 0 : network->fabric.alternatives;
    uint64_t which = alternatives > 0 ? hardware_id(network, (uint32_t)from) % alternatives : 0;
    require(which < network->plan.wait.count);
    line_add(network, network->plan.wait.ids[which], transfer);
}

/* Stands in line at hardware from here on, for itself and for those of its pair behind it. */
static void wait_at_hardware(struct network *network, uint32_t transfer, uint64_t line)
{
    struct transfer *waits = &network->transfers[transfer];
    struct pair *at = pair_at(network, line);
    if (!waits->is_in_line || !pair_has_head(network, at)) {
        at->head = transfer;
        at->head_sequence = waits->turn.sequence;
    }
    waits->is_in_line = true;
    waits->line = line;
    waits->epoch++;
    for (size_t i = 0; i < network->plan.wait.count; i++)
        line_add(network, network->plan.wait.ids[i], transfer);
    if (network->options.circuits != NETWORK_TEARDOWN) /* any idle circuit of the pair helps, whatever its hardware */
        line_add(network, waits->pair, transfer);
}

void circuit_leave_line(struct network *network, uint32_t transfer)
{
    struct transfer *leaves = &network->transfers[transfer];
    if (!leaves->is_in_line)
        return;
    leaves->is_in_line = false;
    uint32_t index = pair_of(network, leaves->line);
    struct pair *at = &network->pairs[index];
    if (at->head == transfer && at->head_sequence == leaves->turn.sequence) {
        at->head = 0;
        pair_wake(network, index);
    }
    pair_drop_unused(network, index);
}

void circuit_wait(struct network *network, uint32_t transfer, enum circuit_answer answer, uint64_t from)
{
    struct transfer *waits = &network->transfers[transfer];
    if (answer == CIRCUIT_PATIENT) {
        circuit_leave_line(network, transfer);
        waits->epoch++;
        line_add(network, waits->pair, transfer);
        return;
    }
    bool is_at_hardware = !(network->plan.wait.ids[0] & PLACE_LINE);
    bool is_known = (from & PLACE_PAIR) || network->plan.is_fixed || from < network->fabric.dense;
    if (waits->is_in_line && is_at_hardware && is_known && !(from & PLACE_LINE)) {
        wait_again(network, transfer, from);
        return;
    }
    uint64_t line = waits->is_in_line ? waits->line : line_place(network, waits);
    const struct pair *at = pair_at(network, line);
    bool is_behind = !waits->is_in_line && pair_has_head(network, at) &&
                     turn_is_before(&network->transfers[at->head].turn, &waits->turn);
    if (is_behind)
        line_add(network, line, transfer);
    else
        wait_at_hardware(network, transfer, line);
}

void circuit_wake(struct network *network, const struct circuit *circuit)
{
    bool has_lines = network->fabric.line_count > 0;
    if (network->queue != 0 || network->kept > 0)
        network_dispatch_soon(network);
    for (uint32_t i = 0; i < circuit->slot_count; i++) {
        uint32_t slot = circuit_slots(circuit)[i];
        line_wake(network, slot);
        if (!has_lines)
            continue;
        uint32_t line = network->fabric.circuits->line_of(&network->fabric, hardware_id(network, slot));
        if (line != FABRIC_NONE)
            line_wake(network, FABRIC_LINE(line));
    }
}
