/* What a published look-ahead needs before its first tick: see published_run.h. */
#include "step/look_ahead_state.h"

#include <stdlib.h>

double look_ahead_cost_s(const struct look_ahead *run, uint32_t task)
{
    const struct graph_op *op = &run->split->graph->ops[task % run->op_count];
    double cost_ms = task < run->op_count ? op->forward_ms : op->backward_ms;
    return cost_ms / run->split->parts[task % run->op_count] * run->input->unit_s;
}

/* Ranks in the order of placement: ops in topological order, each before its twin. */
static void rank_tasks(struct look_ahead *run)
{
    uint32_t n = run->op_count;
    double *cost = memory_alloc(run->task_count, sizeof *cost);
    uint32_t *rank = memory_alloc(run->task_count, sizeof *rank);
    for (uint32_t i = 0; i < n; i++) {
        cost[2 * i] = look_ahead_cost_s(run, run->split->graph->order[i]);
        cost[2 * i + 1] = look_ahead_cost_s(run, n + run->split->graph->order[i]);
    }
    run->input->scheduler->rank(cost, run->task_count, rank);
    for (uint32_t i = 0; i < n; i++) {
        run->rank[run->split->graph->order[i]] = rank[2 * i];
        run->rank[n + run->split->graph->order[i]] = rank[2 * i + 1];
    }
    free(cost);
    free(rank);
}

static void map_lists(struct look_ahead *run)
{
    const struct placement *placement = run->input->placement;
    run->part_of = arena_alloc(&run->arena, (size_t)placement->list_count * run->servers.count, sizeof *run->part_of);
    run->list_servers = arena_alloc(&run->arena, placement->list_count, sizeof *run->list_servers);
    for (uint32_t list = 0; list < placement->list_count; list++) {
        struct placement_list at = placement->lists[list];
        run->list_servers[list] = arena_alloc(&run->arena, run->words, sizeof(uint64_t));
        for (uint32_t part = 0; part < at.count; part++) {
            uint32_t server = run->servers.of_entry[at.start + part];
            run->part_of[(size_t)list * run->servers.count + server] = part;
            run->list_servers[list][server / 64] |= UINT64_C(1) << server % 64;
        }
    }
}

static uint64_t time_network(struct look_ahead *run)
{
    struct published_network network;
    published_init(&network, run->input->topology);
    published_link_times(run->input, &run->servers, &network, run->link_s);
    for (uint32_t l = 0; l < run->split->link_count; l++) {
        const struct split_link *link = &run->split->links[l];
        for (unsigned class = 0; link->kind == LINK_SYNC && class < PAIR_CLASSES; class ++)
            run->sync_s[link->source - run->op_count][class] = published_sync_s(&network, link->bytes, class);
    }
    return published_count_flows(run->input, &run->servers, &network, run->link_s);
}

static void allocate(struct look_ahead *run)
{
    const struct split *split = run->split;
    uint32_t n = run->op_count;
    size_t parts = split->part_count;
    run->words = (run->servers.count + 63) / 64;
    run->link_s = arena_alloc(&run->arena, split->link_count, sizeof *run->link_s);
    run->sync_s = arena_alloc(&run->arena, n, sizeof *run->sync_s);
    run->rank = arena_alloc(&run->arena, run->task_count, sizeof *run->rank);
    run->part_start = arena_alloc(&run->arena, n + 1, sizeof *run->part_start);
    run->need = arena_alloc(&run->arena, run->task_count, sizeof *run->need);
    run->met = arena_alloc(&run->arena, parts, sizeof *run->met);
    run->left_s = arena_alloc(&run->arena, parts, sizeof *run->left_s);
    run->is_ready = arena_alloc(&run->arena, parts, sizeof *run->is_ready);
    run->parts_left = arena_alloc(&run->arena, run->task_count, sizeof *run->parts_left);
    run->ended = arena_alloc(&run->arena, run->task_count, sizeof *run->ended);
    run->ended_servers = arena_alloc(&run->arena, run->task_count, sizeof *run->ended_servers);
    run->ready = arena_alloc(&run->arena, run->servers.count, sizeof *run->ready);
    run->next_link = arena_alloc(&run->arena, split->link_count, sizeof *run->next_link);
    run->departures = arena_alloc(&run->arena, split->link_count, sizeof *run->departures);
    for (uint32_t op = 0; op < n; op++)
        run->part_start[op + 1] = run->part_start[op] + split->parts[op];
}

uint64_t look_ahead_open(struct look_ahead *run, const struct step_input *input)
{
    *run = (struct look_ahead){.input = input, .split = input->split};
    run->op_count = input->split->graph->op_count;
    run->task_count = 2 * run->op_count;
    require(input->placement->op_count == run->op_count);
    local_servers_init(&run->servers, input->placement, input->topology);
    allocate(run);
    map_lists(run);
    uint64_t flows = time_network(run);
    rank_tasks(run);
    trace_hash_start(&run->hash);
    return flows;
}

void look_ahead_close(struct look_ahead *run)
{
    for (uint32_t server = 0; server < run->servers.count; server++)
        free(run->ready[server].tasks);
    free(run->flights);
    free(run->leaders);
    local_servers_fini(&run->servers);
    arena_free(&run->arena);
}
