/* Circuits: taking hardware, giving it back, and switches that stop as a whole.
 *
 * A circuit owns its list of hardware slots. Each slot is asserted to be nobody's
 * when it is taken and this circuit's when it is given back. Trying costs the
 * length of that list; stopping a switch costs the circuits that carry on it.
 */
#include "network/circuits.h"

#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "engine/memory.h"

struct fabric_pair circuit_pair(const struct transfer *transfer)
{
    return (struct fabric_pair){
        .source = transfer->source,
        .targets = transfer->targets ? transfer->targets : &transfer->target,
        .target_count = transfer->target_count,
        .first_lane = transfer->first_lane,
        .lanes = transfer->lanes,
    };
}

/* Asks the fabric. False: plan.wait names the places to wait at. */
static bool make_plan(struct network *network, uint32_t transfer)
{
    struct fabric_plan *plan = &network->plan;
    struct fabric_pair pair = circuit_pair(&network->transfers[transfer]);
    plan->hold.count = plan->wait.count = plan->evict.count = 0;
    plan->stopped_switch = FABRIC_NONE;
    if (!network->fabric.circuits->plan(&network->fabric, network, &pair, plan)) {
        require(plan->wait.count > 0);
        for (size_t i = 0; i < plan->wait.count; i++)
            if (!(plan->wait.ids[i] & PLACE_LINE))
                plan->wait.ids[i] = hardware_slot(network, plan->wait.ids[i]);
        return false;
    }
    require(plan->hold.count > 0 && plan->hold.count < UINT32_MAX);
    if (plan->hold.count > network->slot_capacity)
        network->slots = memory_grow(network->slots, &network->slot_capacity, plan->hold.count, sizeof *network->slots);
    for (size_t i = 0; i < plan->hold.count; i++)
        network->slots[i] = hardware_slot(network, plan->hold.ids[i]);
    return true;
}

/* The line of those who could share a circuit: by its hardware where that is fixed, in any order, else by its ends. */
static uint64_t pair_place(const struct network *network, const struct transfer *transfer)
{
    uint64_t hash = hash_pair((uint64_t)transfer->source << 32 | transfer->target, transfer->lanes);
    if (network->fabric.circuits->is_fixed) {
        hash = 0;
        for (size_t i = 0; i < network->plan.hold.count; i++)
            hash += hash_mix(network->plan.hold.ids[i] + 1);
    }
    return (hash & (PLACE_PAIR - 1)) | PLACE_PAIR;
}

/* The circuit that holds exactly the planned hardware, 0 if there is none. */
static uint32_t same_circuit(const struct network *network)
{
    uint32_t index = hardware_at(network, network->slots[0])->circuit;
    if (index == 0 || network->circuits[index].slot_count != network->plan.hold.count)
        return 0;
    for (size_t i = 1; i < network->plan.hold.count; i++)
        if (hardware_at(network, network->slots[i])->circuit != index)
            return 0;
    return index;
}

static void switch_join(struct network *network, uint32_t index)
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

static void switch_leave(struct network *network, uint32_t index)
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
static void stop_light(const struct network *network, const struct circuit *circuit, sim_time now, sim_time until)
{
    struct transfer *transfer = &network->transfers[circuit->transfer];
    if (transfer->lit_from <= now) {
        stays_tell_transfer(network, circuit, transfer, now);
        transfer->dark_from = now;
    }
    transfer->lit_from = until;
}

/* Everything that moves on the switch ends later by the time that it is newly dark. */
static void switch_stop(struct network *network, uint32_t which, sim_time now, sim_time until)
{
    struct stopped_switch *at = &network->switches[which];
    sim_time from = at->dark_until > now ? at->dark_until : now, longer = until - from;
    at->dark_until = until;
    for (uint32_t index = at->first; index != 0; index = network->circuits[index].switch_next) {
        struct transfer *transfer = &network->transfers[network->circuits[index].transfer];
        sim_time end;
        stop_light(network, &network->circuits[index], now, until);
        transfer->reconfiguration += longer;
        if (!clock_add(transfer->begin + transfer->reconfiguration + network->fabric.latency, transfer->payload, &end))
            end = SIM_TIME_MAX - 1; /* the new circuit, which is later, fails and stops the run */
        transfer->end = engine_reschedule(network->engine, transfer->end, end);
        require(transfer->end != 0);
    }
}

static void note(const struct network *network, const struct circuit *circuit, enum fabric_note what)
{
    if (!network->fabric.circuits->note)
        return;
    for (uint32_t i = 0; i < circuit->slot_count; i++)
        network->fabric.circuits->note(&network->fabric, what, circuit->source, circuit->target,
                                       hardware_id(network, circuit_slots(circuit)[i]));
}

static void evict(struct network *network)
{
    for (size_t i = 0; i < network->plan.evict.count; i++) {
        uint32_t slot = hardware_find(network, network->plan.evict.ids[i]);
        require(slot != FABRIC_NONE);
        uint32_t other = hardware_at(network, slot)->circuit;
        if (other != 0)
            circuit_release(network, other);
    }
}

/* Idle circuits in the way give way. Nobody waits for what they held: it was open already. */
static uint32_t set_up(struct network *network, uint32_t transfer)
{
    uint32_t count = (uint32_t)network->plan.hold.count;
    evict(network);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = hardware_at(network, network->slots[i])->circuit;
        if (other != 0)
            circuit_release(network, other);
    }
    uint32_t index;
    network->circuits = reuse_take(&network->circuit_places, network->circuits, sizeof *network->circuits, &index);
    struct circuit *circuit = &network->circuits[index];
    const struct transfer *carried = &network->transfers[transfer];
    *circuit = (struct circuit){.source = carried->source,
                                .target = circuit_pair(carried).targets[0],
                                .slot_count = count,
                                .lanes = carried->lanes,
                                .pair = network->linger > 0 ? pair_place(network, carried) : 0,
                                .stopped_switch = network->plan.stopped_switch};
    if (count > CIRCUIT_INLINE)
        circuit->slots.many = memory_alloc(count, sizeof *circuit->slots.many);
    uint32_t *slots = count > CIRCUIT_INLINE ? circuit->slots.many : circuit->slots.few;
    memcpy(slots, network->slots, count * sizeof *slots);
    for (uint32_t i = 0; i < count; i++) {
        struct hardware *hardware = hardware_at(network, slots[i]);
        require(hardware->circuit == 0);
        hardware->circuit = index;
    }
    note(network, circuit, FABRIC_TAKEN);
    network->totals.circuits_set_up++;
    return index;
}

/* The transfer gets the circuit: from here on its hardware is in use. */
static void carry(struct network *network, uint32_t index, uint32_t transfer, bool is_new)
{
    struct circuit *circuit = &network->circuits[index];
    sim_time now = engine_now(network->engine), switching = is_new ? network->fabric.reconfiguration : 0;
    require(circuit->transfer == 0);
    if (!is_new)
        stays_tell_idle(network, circuit);
    for (uint32_t i = 0; i < circuit->slot_count; i++) {
        struct hardware *hardware = hardware_at(network, circuit_slots(circuit)[i]);
        require(hardware->circuit == index && hardware->since <= now);
        hardware->idle += now - hardware->since;
        hardware->since = now;
    }
    engine_cancel(network->engine, circuit->expiry);
    circuit->expiry = 0;
    if (circuit->stopped_switch != FABRIC_NONE) {
        struct stopped_switch *at = &network->switches[circuit->stopped_switch];
        if (is_new && switching > 0)
            switch_stop(network, circuit->stopped_switch, now, now + switching);
        else if (at->dark_until > now)
            switching = at->dark_until - now;
    }
    circuit->transfer = transfer;
    network->transfers[transfer].circuit = index;
    note(network, circuit, FABRIC_BUSY);
    switch_join(network, index);
    transfer_start(network, transfer, switching);
}

/* The entry given up is replaced: at the pair, or at what is busy of the same alternative now. */
static void wait_again(struct network *network, uint32_t transfer, uint64_t from)
{
    if (from & PLACE_PAIR) {
        line_add(network, from, transfer);
        return;
    }
    uint64_t alternatives = network->fabric.alternatives;
    uint64_t which = alternatives > 0 ? hardware_id(network, (uint32_t)from) % alternatives : 0;
    require(which < network->plan.wait.count);
    line_add(network, network->plan.wait.ids[which], transfer);
}

/* Stands in line at hardware from here on, for itself and for those of its pair behind it. */
static void wait_at_hardware(struct network *network, uint32_t transfer, uint64_t pair)
{
    struct transfer *waits = &network->transfers[transfer];
    struct pair_line *at = line_of_pair(network, pair);
    if (!waits->is_in_line) {
        at->head = transfer;
        at->head_sequence = waits->turn.sequence;
    }
    waits->is_in_line = true;
    waits->epoch++;
    for (size_t i = 0; i < network->plan.wait.count; i++)
        line_add(network, network->plan.wait.ids[i], transfer);
    if (network->linger > 0)
        line_add(network, pair, transfer);
}

void circuit_wait(struct network *network, uint32_t transfer, uint64_t from)
{
    const struct transfer *waits = &network->transfers[transfer];
    bool is_at_hardware = !(network->plan.wait.ids[0] & PLACE_LINE);
    if (waits->is_in_line && is_at_hardware && !(from & PLACE_LINE)) {
        wait_again(network, transfer, from);
        return;
    }
    uint64_t pair = pair_place(network, waits);
    const struct pair_line *at = line_of_pair(network, pair);
    bool is_behind = !waits->is_in_line && pair_has_head(network, at) &&
                     turn_is_before(&network->transfers[at->head].turn, &waits->turn);
    if (is_behind)
        line_add(network, pair, transfer);
    else
        wait_at_hardware(network, transfer, pair);
}

/* The head of a pair got what it waited for: somebody else has to stand in line for the others. */
static void leave_line(struct network *network, uint32_t transfer)
{
    if (!network->transfers[transfer].is_in_line)
        return;
    uint64_t pair = pair_place(network, &network->transfers[transfer]);
    struct pair_line *at = line_of_pair(network, pair);
    if (at->head != transfer || at->head_sequence != network->transfers[transfer].turn.sequence)
        return;
    at->head = 0;
    line_wake(network, pair);
}

enum circuit_answer circuit_try(struct network *network, uint32_t transfer)
{
    if (!make_plan(network, transfer))
        return CIRCUIT_BLOCKED;
    uint32_t same = same_circuit(network);
    if (same != 0 && network->circuits[same].transfer == 0) {
        network->totals.circuits_reused++;
        leave_line(network, transfer);
        carry(network, same, transfer, false);
        return CIRCUIT_STARTED;
    }
    for (size_t i = 0; i < network->plan.hold.count; i++) {
        if (hardware_is_open(network, network->slots[i]))
            continue;
        require(network->fabric.circuits->is_fixed);
        fabric_list_add(&network->plan.wait, network->slots[i]);
        return CIRCUIT_BLOCKED;
    }
    leave_line(network, transfer);
    uint32_t index = set_up(network, transfer);
    carry(network, index, transfer, true);
    return CIRCUIT_STARTED;
}

/* Calls up everybody who waits for the circuit's hardware. */
static void wake_all(struct network *network, const struct circuit *circuit)
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

void circuit_release(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    require(circuit->slot_count > 0 && circuit->transfer == 0);
    stays_tell_idle(network, circuit);
    for (uint32_t i = 0; i < circuit->slot_count; i++) {
        struct hardware *hardware = hardware_at(network, circuit_slots(circuit)[i]);
        require(hardware->circuit == index);
        hardware->circuit = 0;
    }
    note(network, circuit, FABRIC_RELEASED);
    wake_all(network, circuit);
    if (circuit->slot_count > CIRCUIT_INLINE)
        free(circuit->slots.many);
    circuit->slot_count = 0;
    reuse_give(&network->circuit_places, index);
}

/* Closes the books of the transfer's stay on each piece of hardware. */
static void close_books(struct network *network, struct circuit *circuit, const struct transfer *transfer)
{
    sim_time now = engine_now(network->engine);
    for (uint32_t i = 0; i < circuit->slot_count; i++) {
        struct hardware *hardware = hardware_at(network, circuit_slots(circuit)[i]);
        require(now - hardware->since >= transfer->reconfiguration);
        hardware->switching += transfer->reconfiguration;
        hardware->busy += now - hardware->since - transfer->reconfiguration;
        hardware->since = now;
        require(hardware->busy + hardware->switching + hardware->idle == now);
    }
}

void circuit_end(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    require(circuit->transfer != 0);
    stays_tell_transfer(network, circuit, &network->transfers[circuit->transfer], engine_now(network->engine));
    close_books(network, circuit, &network->transfers[circuit->transfer]);
    switch_leave(network, index);
    circuit->transfer = 0;
    note(network, circuit, FABRIC_IDLE);
    if (network->options.circuits == NETWORK_TEARDOWN) {
        circuit_release(network, index);
    } else if (network->options.circuits == NETWORK_HOLD) {
        wake_all(network, circuit);
    } else {
        sim_time expiry;
        if (clock_add(engine_now(network->engine), network->linger, &expiry))
            circuit->expiry = engine_schedule(network->engine, expiry, 0, network_kind(network, KIND_EXPIRE), index, 0);
        line_wake(network, circuit->pair);
        if (network->queue != 0)
            network_dispatch_soon(network);
    }
}
