#include "step/buckets.h"

#include <math.h>
#include <stdlib.h>

#include "engine/memory.h"

static const uint32_t none = UINT32_MAX;
enum { SYNC_WAYS = SYNC_NONE + 1 };

/* Per op the link that synchronises its parts, or none. Returned owned. */
static uint32_t *find_syncs(const struct task_graph *tasks)
{
    uint32_t *link_of = memory_alloc(tasks->graph->op_count, sizeof *link_of);
    for (uint32_t op = 0; op < tasks->graph->op_count; op++)
        link_of[op] = none;
    for (uint32_t link = 0; link < tasks->link_count; link++)
        if (tasks->links[link].pattern == LINK_SYNC)
            link_of[tasks->tasks[tasks->links[link].source].op] = link;
    return link_of;
}

/* Puts a link into the open bucket of its kind, a new one where there is none, and closes a full one. */
static void put_link(struct buckets *buckets, uint32_t link, double link_bytes, double full_bytes, uint32_t *open)
{
    if (*open == none)
        *open = buckets->count++;
    struct bucket *bucket = &buckets->buckets[*open];
    buckets->of_link[link] = *open;
    bucket->bytes += (uint64_t)ceil(link_bytes);
    bucket->count++;
    if ((double)bucket->bytes >= full_bytes)
        *open = none;
}

static void index_links(struct buckets *buckets, const struct task_graph *tasks, const uint32_t *link_of)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < buckets->count; i++) {
        buckets->buckets[i].first = first;
        first += buckets->buckets[i].count;
        buckets->buckets[i].left = 0;
    }
    for (uint32_t i = tasks->graph->op_count; i-- > 0;) {
        uint32_t link = link_of[tasks->graph->order[i]];
        if (link == none)
            continue;
        struct bucket *bucket = &buckets->buckets[buckets->of_link[link]];
        buckets->links[bucket->first + bucket->left++] = link;
    }
}

void buckets_fill(struct buckets *buckets, const struct deployment *deployment, double bucket_bytes,
                  struct arena *arena)
{
    const struct task_graph *tasks = deployment->tasks;
    size_t kinds = (size_t)deployment->list_count * SYNC_WAYS;
    uint32_t *link_of = find_syncs(tasks), *open = memory_alloc(kinds, sizeof *open);
    *buckets = (struct buckets){.buckets = arena_alloc(arena, tasks->link_count, sizeof *buckets->buckets),
                                .of_link = arena_alloc(arena, tasks->link_count, sizeof *buckets->of_link),
                                .links = arena_alloc(arena, tasks->link_count, sizeof *buckets->links)};
    for (size_t kind = 0; kind < kinds; kind++)
        open[kind] = none;
    for (uint32_t i = tasks->graph->op_count; i-- > 0;) {
        uint32_t op = tasks->graph->order[i], link = link_of[op];
        size_t kind = (size_t)deployment->list_of_op[op] * SYNC_WAYS + deployment_sync(deployment, op);
        if (link != none)
            put_link(buckets, link, tasks->links[link].bytes, tasks->traffic == TRAFFIC_TRAINING ? bucket_bytes : 0,
                     &open[kind]);
    }
    index_links(buckets, tasks, link_of);
    free(link_of);
    free(open);
}
