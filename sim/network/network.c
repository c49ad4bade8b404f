/* The network's loop: sending, the instant's dispatch, ends.
 *
 * Three events: the end of a transfer, which comes twice, when its last bit leaves
 * and when that arrives; the expiry of a lingering circuit; and the dispatch, which
 * comes last in its instant (priority 255) and gives out hardware (dispatch.c).
 */
#include "network/network.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "network/circuits.h"

enum { PRIORITY_END = 0, PRIORITY_DISPATCH = 255 };

static event_handler on_end, on_expire, on_fabric;

uint16_t network_kind(const struct network *network, int which)
{
    return (uint16_t)(network->options.first_kind + which);
}

static void close_fabric(struct network *network)
{
    struct fabric_state *fabric = &network->fabric;
    if (fabric->carrier)
        fabric->carrier->close(fabric);
    else if (fabric->circuits->close)
        fabric->circuits->close(fabric);
}

/* What open must have filled. */
static void check_fabric(const struct fabric_state *state)
{
    const struct fabric_circuits *circuits = state->circuits;
    const struct fabric_carrier *carrier = state->carrier;
    require(!circuits != !carrier && state->rate_bytes_per_s > 0 && state->lanes_max > 0);
    require(!circuits || (circuits->plan && circuits->describe && !circuits->keep == !circuits->next));
    require(!circuits || state->line_count == 0 || (circuits->line_of && circuits->line_is_open));
    require(!carrier || (carrier->close && carrier->send && carrier->on_event && carrier->visit));
    require(!carrier || (state->dense == 0 && !carrier->open_job == !carrier->close_job));
}

static enum status open_fabric(struct network *network, const struct fabric *fabric, struct error *error)
{
    network->fabric = (struct fabric_state){.fabric = fabric,
                                            .topology = network->topology,
                                            .clock = {network->options.tick_ps},
                                            .epoch = network->options.epoch,
                                            .gives_way = circuits_yield(network)};
    enum status status = fabric->open(&network->fabric, error);
    if (status != STATUS_OK)
        return status;
    check_fabric(&network->fabric);
    if (network->fabric.dense >= FABRIC_NONE) {
        close_fabric(network);
        return error_set(error, STATUS_USER, "%llu transceivers and ports are too many to simulate",
                         (unsigned long long)network->fabric.dense);
    }
    return STATUS_OK;
}

static void open_arrays(struct network *network)
{
    network->dense = memory_alloc((size_t)network->fabric.dense, sizeof *network->dense);
    network->lines = memory_alloc(network->fabric.line_count, sizeof *network->lines);
    network->switches = memory_alloc(network->fabric.switch_count, sizeof *network->switches);
    uint32_t none;
    network->transfers = reuse_take(&network->transfer_places, NULL, sizeof *network->transfers, &none);
    network->circuits = reuse_take(&network->circuit_places, NULL, sizeof *network->circuits, &none);
    network->waiters = reuse_take(&network->waiter_places, NULL, sizeof *network->waiters, &none);
    network->pairs = reuse_take(&network->pair_places, NULL, sizeof *network->pairs, &none);
}

static void break_ports(struct network *network)
{
    const struct network_options *options = &network->options;
    require(options->broken_count == 0 || network->fabric.reroutes);
    for (size_t i = 0; i < options->broken_count; i++) {
        require(options->broken[i] < network->fabric.dense / 2);
        network->dense[options->broken[i]].circuit = HARDWARE_BROKEN;
        network->dense[options->broken[i] + network->fabric.dense / 2].circuit = HARDWARE_BROKEN;
    }
    network->options.broken = NULL;
}

enum status network_create(struct engine *engine, const struct topology *topology,
                           const struct network_options *options, struct network **out, struct error *error)
{
    require(engine && topology && topology->fabric.strategy);
    require(options->first_kind + NETWORK_KINDS <= ENGINE_KINDS && options->linger_ps >= 0 && options->tick_ps >= 0);
    struct network *network = memory_alloc(1, sizeof *network);
    network->engine = engine;
    network->topology = topology;
    network->options = *options;
    if (network->options.tick_ps == 0)
        network->options.tick_ps = 1;
    enum status status = open_fabric(network, fabric_of(topology), error);
    if (status != STATUS_OK) {
        free(network);
        return status;
    }
    network->linger = clock_from_ps(&network->fabric.clock, options->linger_ps);
    network->inside_latency = clock_from_ps(&network->fabric.clock, topology->inside_latency_ps);
    if (options->circuits == NETWORK_LINGER && network->linger == 0)
        network->options.circuits = NETWORK_TEARDOWN;
    if (network->options.circuits != NETWORK_LINGER)
        network->linger = 0;
    open_arrays(network);
    break_ports(network);
    statistics_level_start(&network->waiting, engine_now(engine), 0);
    statistics_level_start(&network->moving, engine_now(engine), 0);
    engine_on(engine, network_kind(network, KIND_END), on_end, network);
    engine_on(engine, network_kind(network, KIND_EXPIRE), on_expire, network);
    engine_on(engine, network_kind(network, KIND_DISPATCH), network_on_dispatch, network);
    engine_on(engine, network_kind(network, KIND_FABRIC), on_fabric, network);
    *out = network;
    return STATUS_OK;
}

enum status network_find_ports(const struct topology *topology, const struct network_options *options,
                               struct network_ports *ports, struct error *error)
{
    struct engine *engine = engine_create();
    struct network *network = NULL;
    enum status status = network_create(engine, topology, options, &network, error);
    if (status == STATUS_OK)
        *ports = (struct network_ports){network->fabric.transceivers, network->fabric.reroutes};
    network_destroy(network);
    engine_destroy(engine);
    return status;
}

void network_destroy(struct network *network)
{
    if (!network)
        return;
    stays_tell_open(network);
    network_check(network);
    close_fabric(network);
    for (size_t i = 1; i < network->circuit_places.count; i++)
        if (network->circuits[i].slot_count > CIRCUIT_INLINE)
            free(network->circuits[i].slots.many);
    reuse_free(&network->transfer_places, network->transfers);
    reuse_free(&network->circuit_places, network->circuits);
    reuse_free(&network->waiter_places, network->waiters);
    reuse_free(&network->pair_places, network->pairs);
    reuse_map_free(&network->pair_map);
    void *blocks[] = {network->dense, network->sparse,        network->sparse_ids,    network->map,
                      network->lines, network->switches,      network->fresh.items,   network->wakes.items,
                      network->slots, network->plan.hold.ids, network->plan.wait.ids, network->plan.evict.ids,
                      network};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

void network_fail(struct network *network, const struct error *error)
{
    if (!network->is_failed)
        network->failure = *error;
    network->is_failed = true;
    engine_stop(network->engine);
}

void network_fail_clock(struct network *network, const char *what)
{
    struct error error;
    error_set(&error, STATUS_USER, "%s behind the clock: a coarser run.tick is needed", what);
    network_fail(network, &error);
}

bool network_advance(struct network *network, sim_time from, sim_time length, sim_time *end)
{
    struct error error;
    if (clock_advance(&network->fabric.clock, from, length, end, &error) == STATUS_OK)
        return true;
    network_fail(network, &error);
    return false;
}

void network_dispatch_soon(struct network *network)
{
    if (network->is_dispatch_due)
        return;
    network->is_dispatch_due = true;
    engine_schedule(network->engine, engine_now(network->engine), PRIORITY_DISPATCH,
                    network_kind(network, KIND_DISPATCH), 0, 0);
}

static uint64_t turn_key(const struct network *network, const struct transfer_request *request)
{
    if (network->options.order == NETWORK_SRPT)
        return request->bytes;
    return network->options.order == NETWORK_PRIORITY ? (uint64_t)request->priority ^ (UINT64_C(1) << 63) : 0;
}

/* Between two devices of one server? Each such pair has a link of its own, which never waits. */
static bool is_inside(const struct network *network, const struct transfer_request *request)
{
    return !request->targets && request->bytes > 0 && request->source != request->target &&
           topology_host(network->topology, request->source) == topology_host(network->topology, request->target);
}

static sim_time payload_of(const struct network *network, const struct transfer_request *request)
{
    if (is_inside(network, request))
        return clock_duration(&network->fabric.clock, request->bytes,
                              (uint64_t)network->topology->inside_rate_bytes_per_s);
    return fabric_payload(&network->fabric, request->bytes, 1); /* it may get no more than one lane */
}

static uint16_t lanes_of(const struct network *network, const struct transfer_request *request)
{
    return request->lanes == NETWORK_ALL_LANES ? network->fabric.lanes_max : request->lanes ? request->lanes : 1;
}

static uint32_t transfer_make(struct network *network, const struct transfer_request *request)
{
    uint32_t index;
    network->transfers = reuse_take(&network->transfer_places, network->transfers, sizeof *network->transfers, &index);
    uint32_t epoch = network->transfers[index].epoch + 1;
    network->transfers[index] = (struct transfer){
        .bytes = request->bytes,
        .tag = request->tag,
        .done = request->done,
        .context = request->context,
        .targets = request->targets,
        .turn = {turn_key(network, request), network->sequence++},
        .start = engine_now(network->engine),
        .source = topology_host(network->topology, request->source),
        .target = topology_host(network->topology, request->targets ? request->targets[0] : request->target),
        .target_count = request->targets ? request->target_count : 1,
        .job = request->job,
        .epoch = epoch,
        .first_lane = request->first_lane,
        .lanes = lanes_of(network, request),
        .is_cleared_when_blocked = request->is_cleared_when_blocked,
    };
    network->totals.sent++;
    return index;
}

static enum status check_targets(const struct network *network, const struct transfer_request *request,
                                 struct error *error)
{
    uint32_t nodes = network->topology->device_count;
    if (request->targets && request->target_count > 1 && !network->fabric.can_multicast)
        return error_set(error, STATUS_USER, "fabric %s cannot send to %u servers at once",
                         network->fabric.fabric->strategy.name, request->target_count);
    if (request->targets && request->target_count == 0)
        return error_set(error, STATUS_USER, "a multicast needs at least one target");
    for (uint32_t i = 0; request->targets && i < request->target_count; i++)
        if (request->targets[i] >= nodes || request->targets[i] == request->source)
            return error_set(error, STATUS_USER, "target %u of a multicast is not another of the %u devices",
                             request->targets[i], nodes);
    if (request->source >= nodes || (!request->targets && request->target >= nodes))
        return error_set(error, STATUS_USER, "a transfer from device %u to device %u: there are %u", request->source,
                         request->target, nodes);
    return STATUS_OK;
}

/* What can never work is refused at once, so that nothing waits for ever. */
static enum status check_request(const struct network *network, const struct transfer_request *request,
                                 struct error *error)
{
    TRY(check_targets(network, request, error));
    uint16_t lanes = lanes_of(network, request);
    if (lanes > network->fabric.lanes_max || request->first_lane > network->fabric.lanes_max)
        return error_set(error, STATUS_USER, "%u lanes from lane %u on: fabric %s has %u between two servers", lanes,
                         request->first_lane, network->fabric.fabric->strategy.name, network->fabric.lanes_max);
    sim_time payload = payload_of(network, request), time;
    if (payload == SIM_TIME_MAX)
        return error_set(error, STATUS_USER, "%llu bytes take longer than the clock has: a coarser run.tick is needed",
                         (unsigned long long)request->bytes);
    const struct sim_clock *clock = &network->fabric.clock;
    if (is_inside(network, request)) {
        TRY(clock_advance(clock, engine_now(network->engine), network->inside_latency, &time, error));
    } else {
        TRY(clock_advance(clock, engine_now(network->engine), network->fabric.latency, &time, error));
        TRY(clock_advance(clock, time, network->fabric.reconfiguration + network->fabric.guard, &time, error));
    }
    return clock_advance(clock, time, payload, &time, error);
}

static void fresh_add(struct network *network, uint32_t index)
{
    struct fresh_list *fresh = &network->fresh;
    if (fresh->count == fresh->capacity)
        fresh->items = memory_grow(fresh->items, &fresh->capacity, fresh->count + 1, sizeof *fresh->items);
    struct turn turn = network->transfers[index].turn;
    if (fresh->count > 0 && turn_is_before(&turn, &fresh->items[fresh->count - 1].turn))
        fresh->is_unsorted = true;
    fresh->items[fresh->count++] = (struct fresh){turn, index};
}

/* A fabric refused it: as if it had never been sent. */
static void take_back(struct network *network, uint32_t index)
{
    struct transfer *transfer = &network->transfers[index];
    statistics_level_add(&network->waiting, transfer->start, -1);
    network->totals.sent--;
    transfer->state = TRANSFER_FREE;
    reuse_give(&network->transfer_places, index);
}

enum status network_send(struct network *network, const struct transfer_request *request, uint32_t *transfer,
                         struct error *error)
{
    require(network && request);
    enum status status = check_request(network, request, error);
    if (status != STATUS_OK)
        return status;
    uint32_t index = transfer_make(network, request);
    struct transfer *made = &network->transfers[index];
    sim_time now = made->start;
    if (request->bytes == 0 || (!request->targets && made->source == made->target)) {
        made->state = TRANSFER_LOCAL;
        if (is_inside(network, request)) {
            made->inside_latency = network->inside_latency;
            made->payload = payload_of(network, request);
        }
        engine_schedule(network->engine, now + made->inside_latency + made->payload, PRIORITY_END,
                        network_kind(network, KIND_END), index, 0);
    } else {
        made->state = TRANSFER_WAITING;
        statistics_level_add(&network->waiting, now, 1);
        if (network->fabric.carrier) {
            status = network->fabric.carrier->send(network, index, error);
        } else {
            made->pair = circuit_pair_key(made);
            fresh_add(network, index);
            network_dispatch_soon(network);
        }
    }
    if (status != STATUS_OK)
        take_back(network, index);
    else if (transfer)
        *transfer = index;
    return status;
}

/* The servers that the devices are in, each once, in the order of first use; returned owned. */
static uint32_t *distinct_hosts(const struct network *network, const uint32_t *devices, uint32_t count, uint32_t *hosts)
{
    uint32_t *found = memory_alloc(count, sizeof *found);
    bool *is_met = memory_alloc(network->topology->server_count, sizeof *is_met);
    *hosts = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t host = topology_host(network->topology, devices[i]);
        if (!is_met[host])
            found[(*hosts)++] = host;
        is_met[host] = true;
    }
    free(is_met);
    return found;
}

enum status network_open_job(struct network *network, uint32_t job, const uint32_t *devices, uint32_t count,
                             struct error *error)
{
    require(network && (devices || count == 0));
    uint32_t nodes = network->topology->device_count;
    if (count == 0)
        return error_set(error, STATUS_USER, "job %u has no servers", job);
    for (uint32_t i = 0; i < count; i++)
        if (devices[i] >= nodes)
            return error_set(error, STATUS_USER, "job %u on server %u: there are %u", job, devices[i], nodes);
    const struct fabric_carrier *carrier = network->fabric.carrier;
    if (!carrier || !carrier->open_job)
        return STATUS_OK;
    if (network->topology->has_grid)
        return carrier->open_job(&network->fabric, job, devices, count, error);
    uint32_t host_count, *hosts = distinct_hosts(network, devices, count, &host_count);
    enum status status = carrier->open_job(&network->fabric, job, hosts, host_count, error);
    free(hosts);
    return status;
}

enum status network_close_job(struct network *network, uint32_t job, struct error *error)
{
    const struct fabric_carrier *carrier = network->fabric.carrier;
    return carrier && carrier->close_job ? carrier->close_job(&network->fabric, job, error) : STATUS_OK;
}

void network_begin(struct network *network, uint32_t index)
{
    struct transfer *transfer = &network->transfers[index];
    sim_time now = engine_now(network->engine);
    require(transfer->state == TRANSFER_WAITING);
    transfer->state = TRANSFER_MOVING;
    transfer->begin = now;
    transfer->epoch++;
    statistics_level_add(&network->waiting, now, -1);
    statistics_level_add(&network->moving, now, 1);
    network->totals.wait_sum += now - transfer->start;
    network->totals.bytes_sent += (statistics_wide)transfer->bytes * transfer->target_count;
}

void transfer_start(struct network *network, uint32_t index, sim_time reconfiguration, sim_time payload)
{
    struct transfer *transfer = &network->transfers[index];
    sim_time end;
    network_begin(network, index);
    transfer->reconfiguration = reconfiguration;
    transfer->payload = payload;
    if (!network_advance(network, transfer->begin, reconfiguration, &end) ||
        !network_advance(network, end, payload, &end))
        return;
    transfer->end = engine_schedule(network->engine, end, PRIORITY_END, network_kind(network, KIND_END), index, 0);
}

/* The last bit of a transfer leaves: its circuits are free, and it arrives after the latency. False: it is there. */
static bool leave_circuits(struct network *network, uint32_t index)
{
    sim_time end;
    if (network->transfers[index].circuits == 0)
        return false;
    circuits_end(network, index);
    if (network->fabric.latency == 0)
        return false;
    if (network_advance(network, engine_now(network->engine), network->fabric.latency, &end))
        network->transfers[index].end =
            engine_schedule(network->engine, end, PRIORITY_END, network_kind(network, KIND_END), index, 0);
    return true;
}

/* Frees the transfer before it calls done, which may send again. */
static void report(struct network *network, uint32_t index, struct transfer_report *parts)
{
    struct transfer *transfer = &network->transfers[index];
    parts->transfer = index;
    parts->source = transfer->source;
    parts->target = transfer->target;
    parts->job = transfer->job;
    parts->bytes = transfer->bytes;
    parts->tag = transfer->tag;
    parts->start = transfer->start;
    parts->end = engine_now(network->engine);
    require(parts->wait >= 0 && parts->reconfiguration >= 0 && parts->latency >= 0 && parts->payload >= 0);
    require(parts->wait + parts->reconfiguration + parts->latency + parts->payload == parts->end - parts->start);
    transfer_done *done = transfer->done;
    void *context = transfer->context;
    transfer->state = TRANSFER_FREE;
    reuse_give(&network->transfer_places, index);
    if (done)
        done(context, parts);
}

static void finish(struct network *network, uint32_t index, struct transfer_report *parts)
{
    struct transfer *transfer = &network->transfers[index];
    sim_time now = engine_now(network->engine);
    require(transfer->state == TRANSFER_MOVING);
    statistics_level_add(&network->moving, now, -1);
    network->totals.done++;
    network->totals.move_sum += now - transfer->begin;
    network->totals.bytes_received += (statistics_wide)transfer->bytes * transfer->target_count;
    report(network, index, parts);
}

static void on_end(struct engine *engine, const struct event *event, void *world)
{
    struct network *network = world;
    uint32_t index = event->entity;
    struct transfer *transfer = &network->transfers[index];
    (void)engine;
    if (transfer->state == TRANSFER_LOCAL) {
        network->totals.local++;
        report(network, index,
               &(struct transfer_report){.latency = transfer->inside_latency, .payload = transfer->payload});
        return;
    }
    if (leave_circuits(network, index))
        return;
    struct transfer_report parts = {.wait = transfer->begin - transfer->start,
                                    .reconfiguration = transfer->reconfiguration,
                                    .latency = network->fabric.latency,
                                    .payload = transfer->payload};
    finish(network, index, &parts);
}

static void on_expire(struct engine *engine, const struct event *event, void *world)
{
    struct network *network = world;
    (void)engine;
    require(network->circuits[event->entity].transfer == 0);
    network->circuits[event->entity].expiry = 0;
    circuit_release(network, event->entity);
}

static void on_fabric(struct engine *engine, const struct event *event, void *world)
{
    struct network *network = world;
    (void)engine;
    network->fabric.carrier->on_event(network, event);
}

void network_clear(struct network *network, uint32_t index)
{
    struct transfer *transfer = &network->transfers[index];
    require(transfer->is_cleared_when_blocked);
    require(transfer->state == TRANSFER_WAITING && transfer->start == engine_now(network->engine));
    transfer->epoch++;
    statistics_level_add(&network->waiting, transfer->start, -1);
    network->totals.cleared++;
    report(network, index, &(struct transfer_report){.is_cleared = true});
}

void network_finish(struct network *network, uint32_t transfer, const struct transfer_report *parts)
{
    struct transfer_report copy = *parts;
    stays_tell_transfer(network, &network->transfers[transfer]);
    copy.is_cleared = false;
    finish(network, transfer, &copy);
}

event_handle network_schedule(struct network *network, sim_time time, uint32_t entity, uint64_t data)
{
    return engine_schedule(network->engine, time, PRIORITY_END, network_kind(network, KIND_FABRIC), entity, data);
}

event_handle network_schedule_last(struct network *network, sim_time time, uint32_t entity, uint64_t data)
{
    return engine_schedule(network->engine, time, FABRIC_LAST, network_kind(network, KIND_FABRIC), entity, data);
}
