/* The engine of collectives: members that send, wait for what they need, reduce, and go on.
 *
 * Each member carries the sums of its critical path: whatever lets it go on (the
 * last transfer it waited for, or its own last send) hands over the sender's sums
 * plus its own parts, so that the sums of every member add up to the time since
 * the start at any instant. That is required, not hoped for.
 *
 * A transfer costs O(1); a phase of a member what it sends. A collective lives in
 * a slot of its owner until its last member is done.
 */
#include "network/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "network/collective_plan.h"
#include "network/reuse.h"

enum { MEMBER_BITS = 22, PHASE_BITS = 20, MEMBER_MAX = 1 << (PHASE_BITS - 1), ALL_MEMBERS = (1 << MEMBER_BITS) - 1 };
enum { BYTES_PER_NUMBER = 2 }; /* half precision, as published */

/* The entity of an event that is about no member: the next phase behind a barrier, or the end of an empty collective.
 */
#define EVERYBODY (UINT32_MAX - 1)

/* The reductions of one device follow one another, first come, first served. */
struct reducer {
    sim_time free_at; /* the end of the last one that was asked for */
    uint32_t count;   /* under way and waiting */
};

struct collectives {
    struct network *network;
    struct reducer *reducers; /* per device */
    reduction_hook *hook;     /* may be NULL */
    void *hook_context;
    struct collective **slots; /* NULL = free */
    struct reuse slot_places;
    uint16_t kind;
};

static event_handler on_event;

const char *collective_name(enum collective_algorithm algorithm)
{
    require(algorithm <= COLLECTIVE_PARAMETER_SERVER);
    return collective_steps[algorithm].name;
}

bool collective_find(const char *name, enum collective_algorithm *algorithm)
{
    for (int i = 0; i < COLLECTIVE_ALGORITHMS; i++)
        if (strcmp(collective_steps[i].name, name) == 0) {
            *algorithm = (enum collective_algorithm)i;
            return true;
        }
    return false;
}

struct collectives *collectives_create(struct network *network, uint16_t kind)
{
    require(network && kind < ENGINE_KINDS);
    struct collectives *collectives = memory_alloc(1, sizeof *collectives);
    collectives->network = network;
    collectives->kind = kind;
    collectives->reducers =
        memory_alloc(network_fabric(network)->topology->device_count, sizeof *collectives->reducers);
    engine_on(network_engine(network), kind, on_event, collectives);
    return collectives;
}

void collectives_on_reduction(struct collectives *collectives, reduction_hook *hook, void *context)
{
    collectives->hook = hook;
    collectives->hook_context = context;
}

struct held_emission {
    struct emission emission;
    uint32_t phase;
    struct held_emission *next;
};

static struct held_emission *take_held(struct held_emission **at)
{
    struct held_emission *held = *at;
    *at = held->next;
    return held;
}

static void destroy(struct collective *c)
{
    for (uint32_t i = 0; c->members && i < c->request.member_count; i++)
        while (c->members[i].held)
            free(take_held(&c->members[i].held));
    free(c->members);
    free(c->arrived);
    free(c->plan.coordinates);
    free(c->plan.at);
    free(c->targets);
    free(c->ring);
    free(c);
}

void collectives_destroy(struct collectives *collectives)
{
    if (!collectives)
        return;
    for (size_t i = 0; i < collectives->slot_places.count; i++)
        if (collectives->slots[i])
            destroy(collectives->slots[i]);
    reuse_free(&collectives->slot_places, collectives->slots);
    free(collectives->reducers);
    free(collectives);
}

size_t collectives_active(const struct collectives *collectives)
{
    return collectives->slot_places.count - collectives->slot_places.free_count;
}

static void schedule(const struct collective *c, sim_time time, uint32_t entity)
{
    engine_schedule(network_engine(c->network), time, 0, c->owner->kind, entity, c->slot);
}

static sim_time parts_sum(const struct collective_parts *parts)
{
    return parts->wait + parts->device_wait + parts->reconfiguration + parts->latency + parts->payload +
           parts->reduction;
}

/* Sums over all transfers may pass the clock's range at the largest sizes: they stay at its end. */
static void add_capped(sim_time *sum, sim_time value)
{
    if (!clock_add(*sum, value, sum))
        *sum = SIM_TIME_MAX;
}

static void finish(struct collective *c, const struct collective_parts *path)
{
    c->report.end = network_now(c->network);
    c->report.path = *path;
    require(parts_sum(path) == c->report.end - c->report.start);
    c->owner->slots[c->slot] = NULL;
    reuse_give(&c->owner->slot_places, c->slot);
    struct collective_report report = c->report;
    collective_done *done = c->request.done;
    void *context = c->request.context;
    destroy(c);
    if (done)
        done(context, &report);
}

static transfer_done on_transfer;

static void emit(struct collective *c, struct transfer_request *request, uint32_t phase)
{
    struct error error;
    request->job = c->request.job;
    request->priority = c->request.priority;
    request->done = on_transfer;
    request->context = c;
    request->tag |= (uint64_t)phase << (2 * MEMBER_BITS);
    c->report.transfers++;
    if (network_send(c->network, request, NULL, &error) != STATUS_OK)
        network_fail(c->network, &error);
}

/* A message goes when its receiver has come to its phase, too, as libraries have it for large ones (rendezvous). Only
 * where some members have phases that others have not: sent ahead it would share the receiver's line with what the
 * receiver still waits for, and so hold up both. */
static bool hold_emission(struct collective *c, const struct emission *emission, uint32_t phase)
{
    struct member *to = c->request.has_barrier || c->plan.rest == 0 ? NULL : &c->members[emission->to];
    if (!to || to->phase >= phase)
        return false;
    struct held_emission **at = &to->held, *held = memory_alloc(1, sizeof *held);
    while (*at)
        at = &(*at)->next;
    *held = (struct held_emission){*emission, phase, NULL};
    *at = held;
    return true;
}

/* The member has come to its phase. */
static void release_held(struct collective *c, uint32_t index)
{
    struct member *member = &c->members[index];
    for (struct held_emission **at = &member->held; *at;) {
        if ((*at)->phase > member->phase) {
            at = &(*at)->next;
            continue;
        }
        struct held_emission *held = take_held(at);
        collective_emit(c, &held->emission, held->phase);
        free(held);
    }
}

void collective_emit(struct collective *c, const struct emission *emission, uint32_t phase)
{
    if (hold_emission(c, emission, phase))
        return;
    c->report.bytes += emission->bytes;
    emit(c,
         &(struct transfer_request){.source = c->request.members[emission->from],
                                    .target = c->request.members[emission->to],
                                    .bytes = emission->bytes,
                                    .lanes = emission->lanes,
                                    .first_lane = emission->first_lane,
                                    .tag = emission->from | (uint64_t)emission->to << MEMBER_BITS},
         phase);
}

void collective_emit_to_all(struct collective *c, uint32_t from, uint64_t bytes, uint32_t phase)
{
    uint32_t count = 0;
    c->targets = memory_alloc(c->request.member_count, sizeof *c->targets);
    for (uint32_t i = 0; i < c->request.member_count; i++)
        if (i != from)
            c->targets[count++] = c->request.members[i];
    c->report.bytes += bytes;
    emit(c,
         &(struct transfer_request){.source = c->request.members[from],
                                    .targets = c->targets,
                                    .target_count = count,
                                    .bytes = bytes,
                                    .tag = from | (uint64_t)ALL_MEMBERS << MEMBER_BITS},
         phase);
}

sim_time collective_reduction_time(const struct network *network, uint32_t device, uint64_t bytes, uint32_t d)
{
    const struct fabric_state *fabric = network_fabric(network);
    double operations = ceil(log2((double)d));
    double intensity = operations / ((double)(d + 1) * BYTES_PER_NUMBER);
    const struct device_class *class = topology_class(fabric->topology, device);
    double rate = class->memory_rate_bytes_per_s * intensity;
    double peak = rate < class->peak_per_s ? rate : class->peak_per_s;
    sim_time time = 0;
    double time_s = operations * (double)bytes / BYTES_PER_NUMBER / peak;
    return clock_from_seconds(&fabric->clock, time_s, &time, NULL) == STATUS_OK ? time : SIM_TIME_MAX;
}

static sim_time member_reduction(const struct collective *c, uint32_t index, uint32_t phase)
{
    uint64_t bytes = 0;
    if (c->request.is_reduction_free || !c->steps->reduces)
        return 0;
    uint32_t parts = c->steps->reduces(c, index, phase, &bytes);
    return parts < 2 ? 0 : collective_reduction_time(c->network, c->request.members[index], bytes, parts);
}

static bool has_arrived(const struct collective *c, uint32_t index)
{
    const struct member *member = &c->members[index];
    uint32_t there = c->arrived ? c->arrived[(size_t)index * c->phases + member->phase] : member->received;
    return there >= member->needs;
}

/* The device reduces for so long, behind what it has to reduce already; false where the clock ran out. */
static bool take_device(struct collectives *collectives, uint32_t device, sim_time length, sim_time *end)
{
    struct reducer *reducer = &collectives->reducers[device];
    sim_time now = network_now(collectives->network);
    if (!network_advance(collectives->network, reducer->free_at > now ? reducer->free_at : now, length, end))
        return false;
    reducer->free_at = *end;
    if (reducer->count++ == 0 && collectives->hook)
        collectives->hook(collectives->hook_context, device, true);
    return true;
}

static void release_device(struct collectives *collectives, uint32_t device)
{
    struct reducer *reducer = &collectives->reducers[device];
    require(reducer->count > 0 && reducer->free_at >= network_now(collectives->network));
    if (--reducer->count == 0 && collectives->hook)
        collectives->hook(collectives->hook_context, device, false);
}

/* Schedules the member's reduction; false if there is none and it can go on. */
static bool start_reduction(struct collective *c, uint32_t index)
{
    struct member *member = &c->members[index];
    sim_time reduction = member_reduction(c, index, member->phase), end;
    if (reduction == 0)
        return false;
    member->is_reducing = true;
    if (!take_device(c->owner, c->request.members[index], reduction, &end))
        return true;
    member->path.device_wait += end - reduction - network_now(c->network);
    member->path.reduction += reduction;
    schedule(c, end, index);
    return true;
}

/* Goes through phases until there is something to wait for. Returns false when the collective is gone. */
static bool run_member(struct collective *c, uint32_t index)
{
    struct member *member = &c->members[index];
    while (member->phase < c->phases) {
        release_held(c, index);
        member->sends_left = c->steps->send(c, index, member->phase);
        member->needs = c->steps->needs(c, index, member->phase);
        if (member->sends_left > 0 || !has_arrived(c, index) || start_reduction(c, index))
            return true;
        member->phase++;
    }
    if (--c->members_left > 0)
        return true;
    struct collective_parts path = member->path;
    finish(c, &path);
    return false;
}

/* Something happened to the member, at the end of this path: can it go on? Returns false when the collective is gone.
 */
static bool advance(struct collective *c, uint32_t index, const struct collective_parts *path)
{
    struct member *member = &c->members[index];
    if (member->is_reducing || member->phase >= c->phases || member->sends_left > 0 || !has_arrived(c, index))
        return true;
    member->path = *path;
    if (start_reduction(c, index))
        return true;
    member->phase++;
    return run_member(c, index);
}

/* Starts phases for everybody until one has transfers; ends the collective behind the last. */
static void run_phase(struct collective *c)
{
    for (; c->phase < c->phases; c->phase++) {
        c->outstanding = 0;
        for (uint32_t i = 0; i < c->request.member_count; i++)
            c->outstanding += c->steps->send(c, i, c->phase);
        if (c->outstanding > 0)
            return;
    }
    struct collective_parts path = c->path;
    finish(c, &path);
}

static void run_all(struct collective *c)
{
    uint32_t count = c->request.member_count;
    for (uint32_t i = 0; i < count; i++)
        if (!run_member(c, i))
            return;
}

/* All transfers of the phase are there: the last reduction to end holds everybody up. */
static void end_phase(struct collective *c)
{
    c->outstanding = 0;
    for (uint32_t i = 0; i < c->request.member_count; i++) {
        c->members[i].phase = c->phase;
        c->members[i].path = c->path;
        c->outstanding += start_reduction(c, i);
    }
    c->phase++;
    if (c->outstanding == 0)
        run_phase(c);
}

static void add_parts(struct collective *c, const struct transfer_report *report, struct collective_parts *path)
{
    path->wait += report->wait;
    path->reconfiguration += report->reconfiguration;
    path->latency += report->latency;
    path->payload += report->payload;
    require(parts_sum(path) == report->end - c->report.start);
    add_capped(&c->report.total.wait, report->wait);
    add_capped(&c->report.total.reconfiguration, report->reconfiguration);
    add_capped(&c->report.total.latency, report->latency);
    add_capped(&c->report.total.payload, report->payload);
}

static void arrive(struct collective *c, uint32_t index, uint32_t phase)
{
    c->members[index].received++;
    if (c->arrived)
        c->arrived[(size_t)index * c->phases + phase]++;
}

/* Everybody got the message at once. */
static void arrive_all(struct collective *c, uint32_t from, uint32_t phase, const struct collective_parts *path)
{
    uint32_t count = c->request.member_count;
    for (uint32_t i = 0; i < count; i++)
        if (i != from)
            arrive(c, i, phase);
    for (uint32_t i = 0; i < count; i++)
        if (i != from && !advance(c, i, path))
            return;
    advance(c, from, path);
}

/* What led to a transfer: the later of its two ends in coming to the phase. */
static const struct collective_parts *path_to(const struct collective *c, uint32_t from, uint32_t to, sim_time start)
{
    const struct collective_parts *sender = &c->members[from].path;
    if (c->request.has_barrier)
        return &c->path;
    return parts_sum(sender) == start - c->report.start ? sender : &c->members[to].path;
}

static void on_transfer(void *context, const struct transfer_report *report)
{
    struct collective *c = context;
    uint32_t from = report->tag & ALL_MEMBERS, to = report->tag >> MEMBER_BITS & ALL_MEMBERS;
    uint32_t phase = (uint32_t)(report->tag >> (2 * MEMBER_BITS));
    struct collective_parts path = *path_to(c, from, to, report->start);
    add_parts(c, report, &path);
    if (c->request.has_barrier) {
        if (--c->outstanding == 0) {
            c->path = path;
            end_phase(c);
        }
        return;
    }
    require(c->members[from].sends_left > 0 && c->members[from].phase == phase);
    c->members[from].sends_left--;
    if (to == ALL_MEMBERS) {
        arrive_all(c, from, phase, &path);
        return;
    }
    arrive(c, to, phase);
    if (advance(c, to, &path))
        advance(c, from, &path);
}

static void end_reduction(struct collective *c, uint32_t index)
{
    struct member *member = &c->members[index];
    require(member->is_reducing && parts_sum(&member->path) == network_now(c->network) - c->report.start);
    release_device(c->owner, c->request.members[index]);
    member->is_reducing = false;
    if (!c->request.has_barrier) {
        member->phase++;
        run_member(c, index);
    } else if (--c->outstanding == 0) {
        c->path = member->path;
        run_phase(c);
    }
}

static void on_event(struct engine *engine, const struct event *event, void *world)
{
    struct collectives *collectives = world;
    struct collective *c = collectives->slots[event->data];
    (void)engine;
    require(c != NULL);
    if (event->entity == EVERYBODY) {
        if (c->request.has_barrier || c->phases == 0)
            run_phase(c);
        else
            run_all(c);
        return;
    }
    end_reduction(c, event->entity);
}

static enum status check_members(const struct collectives *collectives, const struct collective_request *request,
                                 struct error *error)
{
    uint32_t nodes = network_fabric(collectives->network)->topology->device_count;
    if (request->member_count == 0 || request->member_count > MEMBER_MAX)
        return error_set(error, STATUS_USER, "a collective of %u members; 1 to %d are possible", request->member_count,
                         MEMBER_MAX);
    uint64_t *seen = memory_alloc(nodes / 64 + 1, sizeof *seen);
    enum status status = STATUS_OK;
    for (uint32_t i = 0; i < request->member_count && status == STATUS_OK; i++) {
        uint32_t server = request->members[i];
        if (server >= nodes)
            status =
                error_set(error, STATUS_USER, "member %u of a collective is server %u: there are %u", i, server, nodes);
        else if (seen[server / 64] >> (server % 64) & 1)
            status = error_set(error, STATUS_USER, "server %u is a member of a collective twice", server);
        else
            seen[server / 64] |= UINT64_C(1) << (server % 64);
    }
    free(seen);
    return status;
}

static int member_total(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

/* By their numbers, or as the fabric says, so that the next one is a direct neighbour where the fabric has such. */
static void order_ring(struct collective *c)
{
    size_t size = sizeof *c->ring;
    const struct fabric_state *fabric = network_fabric(c->network);
    if (!c->steps->is_ring || fabric_is_symmetric(fabric->topology, c->request.lanes))
        return;
    c->ring = memory_alloc(c->request.member_count, size);
    memcpy(c->ring, c->request.members, c->request.member_count * size);
    qsort(c->ring, c->request.member_count, size, member_total);
    if (fabric->carrier && fabric->carrier->order_ring &&
        fabric->topology->device_count == fabric->topology->server_count)
        fabric->carrier->order_ring(fabric, c->request.job, c->ring, c->request.member_count);
    c->request.members = c->ring;
}

/* Counters by phase only where there are few phases; the others need no more than a total. */
static void prepare(struct collective *c)
{
    order_ring(c);
    if (c->steps->prepare)
        c->steps->prepare(c);
    c->phases = c->steps->phases(c);
    require(c->phases < 1U << PHASE_BITS);
    c->report.phases = c->phases;
    c->members = memory_alloc(c->request.member_count, sizeof *c->members);
    if (!c->steps->is_cumulative && !c->request.has_barrier)
        c->arrived = memory_alloc((size_t)c->request.member_count * c->phases, sizeof *c->arrived);
}

enum status collective_start(struct collectives *collectives, const struct collective_request *request,
                             struct error *error)
{
    require(collectives && request && (request->members || request->member_count == 0));
    require(request->algorithm <= COLLECTIVE_PARAMETER_SERVER);
    enum status status = check_members(collectives, request, error);
    if (status != STATUS_OK)
        return status;
    struct collective *c = memory_alloc(1, sizeof *c);
    c->owner = collectives;
    c->network = collectives->network;
    c->request = *request;
    c->steps = &collective_steps[request->algorithm];
    c->members_left = request->member_count;
    c->report = (struct collective_report){.job = request->job,
                                           .members = request->member_count,
                                           .tag = request->tag,
                                           .start = network_now(collectives->network)};
    struct collective **slots = collectives->slots;
    collectives->slots = reuse_take(&collectives->slot_places, slots, sizeof *slots, &c->slot);
    collectives->slots[c->slot] = c;
    if (request->member_count > 1 && request->bytes > 0)
        prepare(c);
    /* From the engine, so that done is never called before this returns, however little there is to do. */
    schedule(c, c->report.start, EVERYBODY);
    return STATUS_OK;
}
