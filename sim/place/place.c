/* The registry of placers, and what they share. */
#include "place/place.h"

#include <stdlib.h>
#include <string.h>

#include "input/text.h"

/* One line per placer. */
#define PLACERS(_, type)                                                                                               \
    _(type, place_ramp_first_fit)                                                                                      \
    _(type, place_ramp_compact)                                                                                        \
    _(type, place_first_fit)
REGISTRY(placers, struct placer, PLACERS, place_ramp_first_fit)

enum status place_check(const struct placer *placer, const struct topology *topology, struct error *error)
{
    char names[200] = "", able[240];
    if (placer->is_legal(topology, 1))
        return STATUS_OK;
    for (size_t i = 0; i < placers.count; i++)
        if (((const struct placer *)placers.strategies[i])->is_legal(topology, 1))
            text_append(names, sizeof names, "%s%s", *names ? "|" : "", placers.strategies[i]->name);
    return error_set(error, STATUS_USER,
                     "place.strategy: %s looks for blocks of servers in a grid of groups and racks (layout: grid), "
                     "which this topology has not; expected %s",
                     placer->strategy.name, text_alternatives(names, able, sizeof able));
}

uint32_t *place_legal_degrees(const struct placer *placer, const struct topology *topology, uint32_t max_degree,
                              uint32_t *count)
{
    require(max_degree > 0);
    if (max_degree > topology->device_count)
        max_degree = topology->device_count;
    uint32_t *legal = memory_alloc(max_degree, sizeof *legal);
    *count = 0;
    for (uint32_t degree = 1; degree <= max_degree; degree++)
        if (placer->is_legal(topology, degree))
            legal[(*count)++] = degree;
    return legal;
}

void place_scratch_init(struct place_scratch *scratch, const struct topology *topology)
{
    require(topology->device_count > 0);
    scratch->topology = topology;
    scratch->free_bytes = memory_alloc(topology->device_count, sizeof *scratch->free_bytes);
    scratch->is_used = memory_alloc(topology->device_count, sizeof *scratch->is_used);
    for (uint32_t device = 0; device < topology->device_count; device++)
        scratch->free_bytes[device] = topology_class(topology, device)->memory_bytes;
}

void place_scratch_fini(struct place_scratch *scratch)
{
    free(scratch->free_bytes);
    free(scratch->is_used);
}

static void use_device(struct deployment *deployment, struct place_scratch *scratch, uint32_t device)
{
    if (scratch->is_used[device])
        return;
    scratch->is_used[device] = true;
    deployment->used =
        memory_grow(deployment->used, &deployment->used_capacity, deployment->used_count + 1, sizeof *deployment->used);
    deployment->used[deployment->used_count++] = device;
}

uint32_t place_add_list(const struct place_request *request, struct deployment *deployment, const uint32_t *devices,
                        uint32_t count)
{
    require(count > 0);
    for (uint32_t list = 0; list < deployment->list_count; list++)
        if (deployment->lists[list].count == count &&
            memcmp(deployment->devices + deployment->lists[list].start, devices, count * sizeof *devices) == 0)
            return list;
    deployment->lists = memory_grow(deployment->lists, &deployment->list_capacity, deployment->list_count + 1,
                                    sizeof *deployment->lists);
    deployment->devices = memory_grow(deployment->devices, &deployment->entry_capacity,
                                      (size_t)deployment->entry_count + count, sizeof *deployment->devices);
    deployment->lists[deployment->list_count] = (struct device_list){deployment->entry_count, count};
    memcpy(deployment->devices + deployment->entry_count, devices, count * sizeof *devices);
    deployment->entry_count += count;
    for (uint32_t i = 0; i < count; i++)
        use_device(deployment, request->scratch, devices[i]);
    return deployment->list_count++;
}

void place_assign(const struct place_request *request, struct deployment *deployment, uint32_t op, uint32_t list)
{
    struct device_list at = deployment->lists[list];
    double part_bytes = task_graph_op_bytes(request->tasks, op) / request->tasks->parts[op];
    double *free_bytes = request->scratch->free_bytes;
    const uint32_t *devices = deployment->devices + at.start;
    require(at.count == request->tasks->parts[op]);
    deployment->list_of_op[op] = list;
    for (uint32_t i = 0; i < at.count; i++)
        free_bytes[devices[i]] -= part_bytes;
}

void place_end(const struct place_request *request, const struct deployment *deployment)
{
    struct place_scratch *scratch = request->scratch;
    for (uint32_t i = 0; i < deployment->used_count; i++) {
        uint32_t device = deployment->used[i];
        scratch->free_bytes[device] = topology_class(scratch->topology, device)->memory_bytes;
        scratch->is_used[device] = false;
    }
}

/* The first devices that have room for a part each; false where too few have. */
static bool choose_devices(const struct place_request *request, const uint32_t *devices, uint32_t count, uint32_t op,
                           uint32_t *chosen)
{
    uint32_t parts = request->tasks->parts[op], used = 0;
    double part_bytes = task_graph_op_bytes(request->tasks, op) / parts;
    for (uint32_t i = 0; i < count && used < parts; i++)
        if (request->scratch->free_bytes[devices[i]] >= part_bytes)
            chosen[used++] = devices[i];
    return used == parts;
}

bool place_inside(const struct place_request *request, const uint32_t *devices, uint32_t count,
                  struct deployment *deployment)
{
    const struct graph *graph = request->tasks->graph;
    require(count >= request->tasks->degree);
    uint32_t *chosen = memory_alloc(count, sizeof *chosen);
    bool is_placed = true;
    deployment_start(deployment, request->tasks);
    for (uint32_t i = 0; i < graph->op_count && is_placed; i++) {
        uint32_t op = graph->order[i];
        is_placed = choose_devices(request, devices, count, op, chosen);
        if (is_placed)
            place_assign(request, deployment, op,
                         place_add_list(request, deployment, chosen, request->tasks->parts[op]));
    }
    place_end(request, deployment);
    free(chosen);
    return is_placed;
}
