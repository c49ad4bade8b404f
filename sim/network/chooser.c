/* Trials of all-reduces, and the memory of their outcomes. See chooser.h. */
#include "network/chooser.h"

#include <stdlib.h>

#include "engine/intern.h"
#include "engine/memory.h"
#include "network/collective_plan.h"
#include "network/fabric.h"

enum { KIND_NETWORK = 0, KIND_COLLECTIVE = NETWORK_KINDS, KIND_RUN = KIND_COLLECTIVE + COLLECTIVE_KINDS };
enum { RUNS = 3, RING_MEMBERS_MAX = 256, SIZE_BITS_MAX = 62 };

/* No part of the turns that rotors have. */
#define RUN_GAP_PS INT64_C(317000000)

/* In this order: of equals the first is taken. */
static const enum collective_algorithm candidates[] = {COLLECTIVE_RING, COLLECTIVE_HALVING_DOUBLING, COLLECTIVE_RAMP};
enum { CANDIDATES = sizeof candidates / sizeof *candidates };

/* Numbers of one coordinate in the order of first use; one is known while its stamp is that of the present question. */
struct numbering {
    uint32_t *stamp, *number;
    uint32_t used;
};

struct chooser {
    const struct topology *topology;
    struct network_options options;
    bool renames; /* for the question at hand: other names for the same members change nothing */
    struct numbering groups, racks, places;
    uint32_t stamp;
    uint32_t *key; /* of the question: figures, members, devices */
    size_t key_capacity;
    struct intern keys;
    enum collective_algorithm *answers; /* by the number of their key */
    size_t answer_capacity;
};

/* One candidate, run after run. */
struct trial {
    struct collectives *collectives;
    struct collective_request request;
    struct engine *engine;
    sim_time gap; /* between runs */
    sim_time sum; /* of all runs but the first */
    uint32_t runs;
};

static void numbering_init(struct numbering *numbering, int64_t count)
{
    numbering->stamp = memory_alloc((size_t)count, sizeof *numbering->stamp);
    numbering->number = memory_alloc((size_t)count, sizeof *numbering->number);
}

struct chooser *chooser_create(const struct topology *topology, const struct network_options *options)
{
    struct chooser *chooser = memory_alloc(1, sizeof *chooser);
    chooser->topology = topology;
    chooser->options = *options;
    chooser->options.observer = NULL;
    chooser->options.first_kind = KIND_NETWORK;
    numbering_init(&chooser->groups, topology->groups);
    numbering_init(&chooser->racks, topology->racks_per_group);
    numbering_init(&chooser->places, topology->servers_per_rack);
    return chooser;
}

void chooser_destroy(struct chooser *chooser)
{
    if (!chooser)
        return;
    struct numbering *all[] = {&chooser->groups, &chooser->racks, &chooser->places};
    for (int i = 0; i < 3; i++) {
        free(all[i]->stamp);
        free(all[i]->number);
    }
    free(chooser->key);
    free(chooser->answers);
    intern_free(&chooser->keys);
    free(chooser);
}

/* ---- one candidate ---- */

static void start_run(struct engine *engine, const struct event *event, void *world)
{
    struct trial *trial = world;
    (void)event;
    if (collective_start(trial->collectives, &trial->request, NULL) != STATUS_OK)
        engine_stop(engine);
}

static void on_run(void *context, const struct collective_report *report)
{
    struct trial *trial = context;
    sim_time next;
    if (trial->runs++ > 0 && !clock_add(trial->sum, report->end - report->start, &trial->sum))
        trial->sum = SIM_TIME_MAX;
    if (trial->runs < RUNS && clock_add(report->end, trial->gap, &next))
        engine_schedule(trial->engine, next, 0, KIND_RUN, 0, 0);
}

/* Where the fabric carries by itself nothing goes dark in between, but a rotor turns: its runs begin at other turns, as
 * the collectives of a step do. */
static sim_time gap_of(const struct network *network)
{
    const struct fabric_state *fabric = network_fabric(network);
    return fabric->carrier ? RUN_GAP_PS / fabric->clock.tick_ps : 0;
}

/* The closed form on idle circuits, per run. */
static sim_time ring_form(const struct network *network, const struct collective_request *request)
{
    const struct fabric_state *fabric = network_fabric(network);
    uint64_t bytes = divide_up(request->bytes, request->member_count);
    sim_time payload = fabric_payload(fabric, bytes, request->lanes ? request->lanes : 1), sum = 0;
    sim_time reduction = collective_reduction_time(network, request->members[0], bytes, 2);
    for (uint32_t phase = 0; phase < 2 * (request->member_count - 1); phase++)
        if (!clock_add(sum, fabric->latency, &sum) || !clock_add(sum, payload, &sum) ||
            !clock_add(sum, phase % 2 ? 0 : reduction, &sum))
            return SIM_TIME_MAX;
    return sum;
}

/* How long all runs but the first take; SIM_TIME_MAX where they do not end. */
static sim_time run_trial(struct engine *engine, struct network *network, const struct collective_request *request)
{
    struct trial trial = {.request = *request, .engine = engine, .gap = gap_of(network)};
    trial.request.done = on_run;
    trial.request.context = &trial;
    trial.collectives = collectives_create(network, KIND_COLLECTIVE);
    engine_on(engine, KIND_RUN, start_run, &trial);
    engine_schedule(engine, 0, 0, KIND_RUN, 0, 0);
    engine_run(engine, SIM_TIME_MAX);
    bool is_good = network_status(network, NULL) == STATUS_OK && trial.runs == RUNS;
    collectives_destroy(trial.collectives);
    return is_good ? trial.sum : SIM_TIME_MAX;
}

/* On a network of its own. */
static sim_time time_candidate(const struct chooser *chooser, const struct collective_request *request,
                               const uint32_t *devices, uint32_t device_count)
{
    struct engine *engine = engine_create();
    struct network *network = NULL;
    sim_time time = SIM_TIME_MAX;
    if (network_create(engine, chooser->topology, &chooser->options, &network, NULL) == STATUS_OK &&
        network_open_job(network, 0, devices, device_count, NULL) == STATUS_OK) {
        if (request->algorithm == COLLECTIVE_RING && request->member_count > RING_MEMBERS_MAX) {
            sim_time once = ring_form(network, request);
            time = once < SIM_TIME_MAX / RUNS ? (RUNS - 1) * once : SIM_TIME_MAX;
        } else
            time = run_trial(engine, network, request);
    }
    network_destroy(network);
    engine_destroy(engine);
    return time;
}

/* ---- the question ---- */

static uint32_t number_of(struct numbering *numbering, uint32_t stamp, uint32_t value)
{
    if (numbering->stamp[value] != stamp) {
        numbering->stamp[value] = stamp;
        numbering->number[value] = numbering->used++;
    }
    return numbering->number[value];
}

/* The device that stands for this one: the first ones there are, by the order of first use. */
static uint32_t rename_device(struct chooser *chooser, uint32_t device)
{
    const struct topology *t = chooser->topology;
    if (!chooser->renames)
        return device;
    uint32_t group = number_of(&chooser->groups, chooser->stamp, topology_group(t, device));
    uint32_t rack = number_of(&chooser->racks, chooser->stamp, topology_rack(t, device));
    uint32_t place = number_of(&chooser->places, chooser->stamp, topology_place(t, device));
    return (group * (uint32_t)t->racks_per_group + rack) * (uint32_t)t->servers_per_rack + place;
}

enum { KEY_SIZE_BITS, KEY_LANES, KEY_FLAGS, KEY_MEMBERS, KEY_HEAD };

/* The smallest power of two that is not less. */
static uint32_t size_bits(uint64_t bytes)
{
    uint32_t bits = 0;
    while (bits < SIZE_BITS_MAX && UINT64_C(1) << bits < bytes)
        bits++;
    return bits;
}

/* Returns the length of the key. A fabric that knows nothing of jobs needs no more than the members. */
static size_t build_key(struct chooser *chooser, const struct collective_request *request, const uint32_t *devices,
                        uint32_t device_count)
{
    uint32_t others = fabric_of(chooser->topology)->connects_jobs ? device_count : 0;
    size_t length = KEY_HEAD, all = (size_t)KEY_HEAD + request->member_count + others;
    chooser->key = memory_grow(chooser->key, &chooser->key_capacity, all, sizeof *chooser->key);
    chooser->renames = chooser->topology->has_grid && fabric_is_symmetric(chooser->topology, request->lanes);
    chooser->key[KEY_SIZE_BITS] = size_bits(request->bytes);
    chooser->key[KEY_LANES] = request->lanes;
    chooser->key[KEY_FLAGS] =
        request->has_barrier | (uint32_t)request->is_reduction_free << 1 | (uint32_t)request->is_complete << 2;
    chooser->key[KEY_MEMBERS] = request->member_count;
    chooser->stamp++;
    chooser->groups.used = chooser->racks.used = chooser->places.used = 0;
    for (uint32_t i = 0; i < request->member_count; i++)
        chooser->key[length++] = rename_device(chooser, request->members[i]);
    for (uint32_t i = 0; i < others; i++)
        chooser->key[length++] = rename_device(chooser, devices[i]);
    require(length == all);
    return length;
}

/* Everything that decides is read from the key. */
static enum collective_algorithm answer(const struct chooser *chooser, const struct collective_request *asked,
                                        size_t length)
{
    const uint32_t *members = chooser->key + KEY_HEAD;
    uint32_t count = asked->member_count, others = (uint32_t)(length - KEY_HEAD) - count;
    struct collective_request request = *asked;
    request.members = members;
    request.bytes = UINT64_C(1) << chooser->key[KEY_SIZE_BITS];
    request.job = 0;
    request.priority = 0;
    sim_time best = SIM_TIME_MAX;
    enum collective_algorithm winner = candidates[0];
    for (int i = 0; i < CANDIDATES; i++) {
        request.algorithm = candidates[i];
        sim_time time = time_candidate(chooser, &request, others ? members + count : members, others ? others : count);
        if (time < best) {
            best = time;
            winner = candidates[i];
        }
    }
    return winner;
}

enum collective_algorithm chooser_pick(struct chooser *chooser, const struct collective_request *request,
                                       const uint32_t *devices, uint32_t device_count)
{
    require(request->member_count > 0 && device_count >= request->member_count);
    if (request->member_count == 1 || request->bytes == 0)
        return candidates[0];
    size_t length = build_key(chooser, request, devices, device_count), known = chooser->keys.count;
    size_t number = intern_number(&chooser->keys, chooser->key, length * sizeof *chooser->key);
    if (number == known) {
        chooser->answers =
            memory_grow(chooser->answers, &chooser->answer_capacity, known + 1, sizeof *chooser->answers);
        chooser->answers[number] = answer(chooser, request, length);
    }
    return chooser->answers[number];
}
