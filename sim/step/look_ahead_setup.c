/* What a published look-ahead needs before its first tick: see look_ahead_state.h. */
#include "step/look_ahead_state.h"

#include <stdlib.h>

static void map_lists(struct look_ahead *run)
{
    const struct deployment *deployment = run->deployment;
    run->part_of = arena_alloc(&run->arena, (size_t)deployment->list_count * run->servers.count, sizeof *run->part_of);
    run->list_servers = arena_alloc(&run->arena, deployment->list_count, sizeof *run->list_servers);
    for (uint32_t list = 0; list < deployment->list_count; list++) {
        struct device_list at = deployment->lists[list];
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
    for (uint32_t l = 0; l < run->tasks->link_count; l++) {
        const struct task_link *link = &run->tasks->links[l];
        for (unsigned class = 0; link->pattern == LINK_SYNC && class < PAIR_CLASSES; class ++)
            run->sync_s[link->source][class] = published_sync_s(&network, link->bytes, class);
    }
    return published_count_flows(run->input, &run->servers, &network, run->link_s);
}

static void allocate_run(struct look_ahead *run)
{
    const struct task_graph *tasks = run->tasks;
    size_t parts = (size_t)task_graph_parts(tasks);
    run->words = (run->servers.count + 63) / 64;
    run->link_s = arena_alloc(&run->arena, tasks->link_count, sizeof *run->link_s);
    run->sync_s = arena_alloc(&run->arena, run->task_count, sizeof *run->sync_s);
    run->need = arena_alloc(&run->arena, run->task_count, sizeof *run->need);
    run->met = arena_alloc(&run->arena, parts, sizeof *run->met);
    run->left_s = arena_alloc(&run->arena, parts, sizeof *run->left_s);
    run->is_ready = arena_alloc(&run->arena, parts, sizeof *run->is_ready);
    run->parts_left = arena_alloc(&run->arena, run->task_count, sizeof *run->parts_left);
    run->ended = arena_alloc(&run->arena, run->task_count, sizeof *run->ended);
    run->ended_servers = arena_alloc(&run->arena, run->task_count, sizeof *run->ended_servers);
    run->ready = arena_alloc(&run->arena, run->servers.count, sizeof *run->ready);
    run->next_link = arena_alloc(&run->arena, tasks->link_count, sizeof *run->next_link);
    run->departures = arena_alloc(&run->arena, tasks->link_count, sizeof *run->departures);
}

uint64_t look_ahead_open(struct look_ahead *run, const struct step_input *input)
{
    *run = (struct look_ahead){.input = input, .deployment = input->deployment, .tasks = input->deployment->tasks};
    run->task_count = run->tasks->task_count;
    require(run->deployment->rank && run->deployment->op_count == run->tasks->graph->op_count);
    local_servers_init(&run->servers, run->deployment, input->topology);
    allocate_run(run);
    map_lists(run);
    uint64_t flows = time_network(run);
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
