/* Circuits: which lanes a transfer gets, taking their hardware and giving it back.
 *
 * A circuit is one lane. A transfer takes the idle lit circuits of its pair, up to
 * the lanes it asks for; without any it needs one new circuit, or waits; and it
 * adds circuits on open hardware as far as that pays. What is lit carries at once,
 * what is set up joins when it is lit. A circuit owns its list of hardware slots;
 * each slot is asserted to be nobody's when it is taken and this circuit's when it
 * is given back. Trying costs the lanes and their hardware.
 */
#include "network/circuits.h"

#include <stdlib.h>
#include <string.h>

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

/* ---- what a lane costs and gains ---- */

/* What a lane carries in the time that it takes to set one up. */
static statistics_wide lane_bytes(const struct network *network)
{
    const struct fabric_state *fabric = &network->fabric;
    return (statistics_wide)fabric->rate_bytes_per_s * (uint64_t)fabric->reconfiguration *
           (uint64_t)fabric->clock.tick_ps / 1000000000000;
}

/* From the first bit to the last on lanes that are lit, joined by others when those are set up. */
static sim_time payload_time(const struct network *network, uint64_t bytes, uint32_t lit, uint32_t made)
{
    const struct fabric_state *fabric = &network->fabric;
    if (lit == 0 || made == 0)
        return fabric_payload(fabric, bytes, (uint16_t)(lit + made));
    statistics_wide carried = lit * lane_bytes(network);
    require(carried < bytes);
    return fabric->reconfiguration + fabric_payload(fabric, bytes - (uint64_t)carried, (uint16_t)(lit + made));
}

/* Is another lane worth it? It must come in time to carry something. One that somebody else has lit must spare more
 * than the set-up that its pair will pay to have it back: the (n + 1)th lane spares bytes / (rate n (n + 1)). */
static bool lane_pays(const struct network *network, const struct transfer *transfer, uint32_t lit, uint32_t made,
                      bool is_dark)
{
    statistics_wide set_up = lane_bytes(network), lanes = lit + made;
    if (transfer->bytes <= lit * set_up)
        return false;
    return is_dark || network->options.circuits != NETWORK_PATIENT || transfer->bytes > set_up * lanes * (lanes + 1);
}

/* ---- hardware of one lane ---- */

/* Asks the fabric for a lane. False: plan.wait names the places to wait at. */
static bool make_plan(struct network *network, uint32_t transfer, uint32_t lane)
{
    struct fabric_plan *plan = &network->plan;
    struct fabric_pair pair = circuit_pair(&network->transfers[transfer]);
    pair.lane = (uint16_t)lane;
    plan->hold.count = plan->wait.count = plan->evict.count = 0;
    plan->stopped_switch = FABRIC_NONE;
    plan->is_fixed = false;
    if (!network->fabric.circuits->plan(&network->fabric, network, &pair, plan)) {
        require(plan->wait.count > 0 || lane > 0);
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

/* The first planned hardware that somebody keeps; FABRIC_NONE where all is open. */
static uint32_t busy_slot(const struct network *network)
{
    for (size_t i = 0; i < network->plan.hold.count; i++)
        if (!hardware_is_open(network, network->slots[i]))
            return network->slots[i];
    return FABRIC_NONE;
}

static bool plan_is_dark(const struct network *network)
{
    bool is_dark = network->plan.evict.count == 0;
    for (size_t i = 0; i < network->plan.hold.count && is_dark; i++)
        is_dark = hardware_at(network, network->slots[i])->circuit == 0;
    return is_dark;
}

static void note(const struct network *network, const struct circuit *circuit, enum fabric_note what)
{
    if (!network->fabric.circuits->note)
        return;
    for (uint32_t i = 0; i < circuit->slot_count; i++)
        network->fabric.circuits->note(&network->fabric, what, circuit->source, circuit->target,
                                       hardware_id(network, circuit_slots(circuit)[i]));
}

/* Idle circuits in the way give way. Nobody waits for what they held: it was open already. */
static void evict(struct network *network)
{
    for (size_t i = 0; i < network->plan.evict.count; i++) {
        uint32_t slot = hardware_find(network, network->plan.evict.ids[i]);
        require(slot != FABRIC_NONE);
        uint32_t other = hardware_at(network, slot)->circuit;
        if (other != 0)
            circuit_release(network, other);
    }
    for (size_t i = 0; i < network->plan.hold.count; i++) {
        uint32_t other = hardware_at(network, network->slots[i])->circuit;
        if (other != 0)
            circuit_release(network, other);
    }
}

static void take_slots(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    uint32_t count = circuit->slot_count;
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
}

static void join_pair(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    struct pair *pair = &network->pairs[circuit->pair];
    circuit->pair_next = pair->circuits;
    if (pair->circuits != 0)
        network->circuits[pair->circuits].pair_back = index;
    pair->circuits = index;
    pair->circuit_count++;
    pair->idle_count++;
}

static void leave_pair(struct network *network, const struct circuit *circuit)
{
    struct pair *pair = &network->pairs[circuit->pair];
    require(pair->circuit_count > 0 && pair->idle_count > 0);
    pair->circuit_count--;
    pair->idle_count--;
    if (circuit->pair_next != 0)
        network->circuits[circuit->pair_next].pair_back = circuit->pair_back;
    if (circuit->pair_back != 0)
        network->circuits[circuit->pair_back].pair_next = circuit->pair_next;
    else
        pair->circuits = circuit->pair_next;
    pair_drop_unused(network, circuit->pair);
}

/* A circuit on the planned hardware, idle. */
static uint32_t set_up(struct network *network, uint32_t transfer)
{
    evict(network);
    uint32_t index;
    network->circuits = reuse_take(&network->circuit_places, network->circuits, sizeof *network->circuits, &index);
    const struct transfer *carried = &network->transfers[transfer];
    network->circuits[index] = (struct circuit){.source = carried->source,
                                                .target = circuit_pair(carried).targets[0],
                                                .slot_count = (uint32_t)network->plan.hold.count,
                                                .pair = pair_of(network, carried->pair),
                                                .stopped_switch = network->plan.stopped_switch};
    take_slots(network, index);
    join_pair(network, index);
    network->totals.circuits_set_up++;
    return index;
}

/* ---- carrying ---- */

/* How long a lane is dark before it carries; a switch that is set up stops all that is on it. */
static sim_time dark_time(struct network *network, const struct circuit *circuit, bool is_new)
{
    sim_time now = engine_now(network->engine), dark = is_new ? network->fabric.reconfiguration : 0;
    if (circuit->stopped_switch != FABRIC_NONE) {
        sim_time until = network->switches[circuit->stopped_switch].dark_until;
        if (is_new && dark > 0)
            switch_stop(network, circuit->stopped_switch, now + dark);
        else if (until > now)
            dark = until - now;
    }
    return dark + network->fabric.guard;
}

/* The transfer gets the lane: from here on its hardware is in use. Returns how long it is dark. */
static sim_time carry(struct network *network, uint32_t index, uint32_t transfer, bool is_new)
{
    sim_time now = engine_now(network->engine);
    struct circuit *circuit = &network->circuits[index];
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
    circuit->dark = dark_time(network, circuit, is_new);
    circuit->dark_from = now;
    circuit->lit_from = now + circuit->dark;
    circuit->transfer = transfer;
    circuit->lane_next = network->transfers[transfer].circuits;
    network->transfers[transfer].circuits = index;
    network->pairs[circuit->pair].idle_count--;
    note(network, circuit, FABRIC_BUSY);
    switch_join(network, index);
    return circuit->dark;
}

/* Idle lit circuits of the pair, the newest first, up to the lanes asked for. Returns how many; *dark is that of the
 * last.
 */
static uint32_t take_lit(struct network *network, uint32_t transfer, uint32_t pair, sim_time *dark)
{
    uint32_t most = network->transfers[transfer].lanes, taken = 0;
    if (pair == REUSE_NONE)
        return 0;
    uint32_t idle = network->pairs[pair].idle_count, left = idle < most ? idle : most;
    for (uint32_t index = network->pairs[pair].circuits, next; taken < left; index = next) {
        next = network->circuits[index].pair_next;
        if (network->circuits[index].transfer != 0)
            continue;
        *dark = carry(network, index, transfer, false);
        taken++;
    }
    return taken;
}

/* More lanes, while they pay. Of fixed ones those that are busy are left out. */
static uint32_t add_lanes(struct network *network, uint32_t transfer, uint32_t lit, uint32_t made)
{
    const struct transfer *carried = &network->transfers[transfer];
    for (uint32_t lane = lit == 0; lane <= carried->lanes && lit + made < carried->lanes; lane++) {
        if (!lane_pays(network, carried, lit, made, true))
            break;
        if (!make_plan(network, transfer, lane))
            break;
        bool is_worth =
            busy_slot(network) == FABRIC_NONE && lane_pays(network, carried, lit, made, plan_is_dark(network));
        if (is_worth) {
            (void)carry(network, set_up(network, transfer), transfer, true);
            made++;
        } else if (!network->plan.is_fixed) {
            break;
        }
    }
    return made;
}

/* ---- patience ---- */

/* When a circuit of the pair, all of which are busy, is free for the transfer: behind those who began to wait before
 * it, less those served since. */
static sim_time pair_free_at(const struct network *network, const struct pair *pair, const struct transfer *transfer)
{
    sim_time first = SIM_TIME_MAX, time;
    for (uint32_t index = pair->circuits; index != 0; index = network->circuits[index].pair_next) {
        const struct transfer *carried = &network->transfers[network->circuits[index].transfer];
        sim_time end = carried->begin + carried->reconfiguration + carried->payload;
        first = end < first ? end : first;
    }
    uint64_t before = transfer->has_waited ? transfer->before : pair->waited;
    uint64_t ahead = before > pair->served ? before - pair->served : 0;
    sim_time passes =
        clock_duration(&network->fabric.clock, ahead, network->fabric.rate_bytes_per_s * pair->circuit_count);
    return clock_add(first, passes, &time) ? time : SIM_TIME_MAX;
}

/* Rather than set up a new circuit, for which there is hardware, it waits for one of its own pair that is free before
 * the new one would be lit; and so until it gets one or the pair has none left. Where a lane's hardware is fixed it
 * waits for that anyway. */
static bool is_patient(const struct network *network, const struct transfer *transfer, uint32_t index)
{
    if (network->options.circuits != NETWORK_PATIENT || transfer->is_cleared_when_blocked)
        return false;
    const struct pair *pair = index == REUSE_NONE ? NULL : &network->pairs[index];
    sim_time now = engine_now(network->engine);
    if (!pair || pair->circuit_count == 0)
        return false;
    return transfer->is_patient || pair_free_at(network, pair, transfer) - now <= network->fabric.reconfiguration;
}

/* What those behind it have to expect. */
static void count_waiting(struct network *network, uint32_t index, enum circuit_answer answer)
{
    struct transfer *transfer = &network->transfers[index];
    transfer->is_patient = answer == CIRCUIT_PATIENT;
    if (transfer->has_waited == (answer != CIRCUIT_STARTED) || transfer->is_cleared_when_blocked)
        return;
    struct pair *pair = pair_at(network, transfer->pair);
    pair->waiting += transfer->has_waited ? -1U : 1U;
    if (!transfer->has_waited)
        transfer->before = pair->waited;
    *(transfer->has_waited ? &pair->served : &pair->waited) += transfer->bytes;
    transfer->has_waited = !transfer->has_waited;
}

/* ---- trying ---- */

/* Plans the one circuit that a transfer without any must have. */
static enum circuit_answer plan_first(struct network *network, uint32_t transfer, uint32_t pair)
{
    const struct transfer *waits = &network->transfers[transfer];
    if (waits->is_patient && is_patient(network, waits, pair))
        return CIRCUIT_PATIENT;
    if (!make_plan(network, transfer, 0))
        return CIRCUIT_BLOCKED;
    uint32_t busy = busy_slot(network);
    if (busy == FABRIC_NONE)
        return !network->plan.is_fixed && is_patient(network, waits, pair) ? CIRCUIT_PATIENT : CIRCUIT_STARTED;
    require(network->plan.is_fixed);
    fabric_list_add(&network->plan.wait, busy);
    return CIRCUIT_BLOCKED;
}

enum circuit_answer circuit_try(struct network *network, uint32_t transfer)
{
    sim_time dark = 0;
    uint32_t pair = reuse_map_find(&network->pair_map, network->transfers[transfer].pair);
    uint32_t lit = take_lit(network, transfer, pair, &dark), made = 0;
    enum circuit_answer answer = lit > 0 ? CIRCUIT_STARTED : plan_first(network, transfer, pair);
    count_waiting(network, transfer, answer);
    if (answer != CIRCUIT_STARTED)
        return answer;
    network->totals.circuits_reused += lit > 0;
    if (lit == 0) {
        dark = carry(network, set_up(network, transfer), transfer, true);
        made = 1;
    }
    made = add_lanes(network, transfer, lit, made);
    circuit_leave_line(network, transfer);
    transfer_start(network, transfer, dark, payload_time(network, network->transfers[transfer].bytes, lit, made));
    return CIRCUIT_STARTED;
}

/* ---- giving back ---- */

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
    leave_pair(network, circuit);
    note(network, circuit, FABRIC_RELEASED);
    circuit_wake(network, circuit);
    if (circuit->slot_count > CIRCUIT_INLINE)
        free(circuit->slots.many);
    circuit->slot_count = 0;
    reuse_give(&network->circuit_places, index);
}

/* Closes the books of the transfer's stay on each piece of hardware. */
static void close_books(struct network *network, struct circuit *circuit)
{
    sim_time now = engine_now(network->engine);
    for (uint32_t i = 0; i < circuit->slot_count; i++) {
        struct hardware *hardware = hardware_at(network, circuit_slots(circuit)[i]);
        require(now - hardware->since >= circuit->dark);
        hardware->switching += circuit->dark;
        hardware->busy += now - hardware->since - circuit->dark;
        hardware->since = now;
        require(hardware->busy + hardware->switching + hardware->idle == now);
    }
}

/* The lane is idle. */
static void end_lane(struct network *network, uint32_t index)
{
    struct circuit *circuit = &network->circuits[index];
    stays_tell_circuit(network, circuit);
    close_books(network, circuit);
    switch_leave(network, index);
    circuit->transfer = 0;
    network->pairs[circuit->pair].idle_count++;
    note(network, circuit, FABRIC_IDLE);
    if (network->options.circuits == NETWORK_TEARDOWN) {
        circuit_release(network, index);
        return;
    }
    if (circuits_yield(network)) {
        circuit_wake(network, circuit);
    } else {
        sim_time expiry;
        if (clock_add(engine_now(network->engine), network->linger, &expiry))
            circuit->expiry = engine_schedule(network->engine, expiry, 0, network_kind(network, KIND_EXPIRE), index, 0);
        if (network->queue != 0)
            network_dispatch_soon(network);
    }
    pair_wake(network, circuit->pair);
}

void circuits_end(struct network *network, uint32_t transfer)
{
    uint32_t index = network->transfers[transfer].circuits;
    require(index != 0);
    network->transfers[transfer].circuits = 0;
    for (uint32_t next; index != 0; index = next) {
        next = network->circuits[index].lane_next;
        require(network->circuits[index].transfer == transfer);
        end_lane(network, index);
    }
}
