/* The jobs of the static fabric and their graphs. See static_jobs.h. */
#include "fabric/static_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

static void free_wiring(struct static_wiring *wiring)
{
    static_graph_destroy(wiring->graph);
    free(wiring->servers);
    free(wiring);
}

void static_jobs_init(struct static_jobs *jobs, const struct topology *topology, struct static_graph *graph)
{
    *jobs = (struct static_jobs){.topology = topology};
    jobs->all = (struct static_wiring){.graph = graph, .count = topology->server_count};
    jobs->seats = memory_alloc(topology->server_count, sizeof *jobs->seats);
}

void static_jobs_fini(struct static_jobs *jobs)
{
    for (size_t i = 0; i < jobs->places.count; i++) {
        struct static_wiring *wiring = jobs->items[i].wiring;
        if (wiring && wiring != &jobs->all) {
            require(wiring->users == 0);
            free_wiring(wiring);
        }
    }
    require(jobs->all.users == 0);
    static_graph_destroy(jobs->all.graph);
    free(jobs->seats);
    reuse_free(&jobs->places, jobs->items);
    reuse_map_free(&jobs->map);
}

/* NULL where the job is not known. */
static struct static_job *find_job(const struct static_jobs *jobs, uint32_t job)
{
    uint32_t place = reuse_map_find(&jobs->map, job);
    return place == REUSE_NONE ? NULL : &jobs->items[place];
}

static struct static_job *add_job(struct static_jobs *jobs, uint32_t job, struct static_wiring *wiring)
{
    uint32_t place;
    jobs->items = reuse_take(&jobs->places, jobs->items, sizeof *jobs->items, &place);
    jobs->items[place] = (struct static_job){.wiring = wiring};
    reuse_map_add(&jobs->map, job, place);
    return &jobs->items[place];
}

static void leave_seats(struct static_jobs *jobs, const uint32_t *servers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        jobs->seats[servers[i]].wiring = NULL;
}

static enum status take_seats(struct static_jobs *jobs, struct static_wiring *wiring, struct error *error)
{
    for (uint32_t i = 0; i < wiring->count; i++) {
        struct static_seat *seat = &jobs->seats[wiring->servers[i]];
        bool is_twice = seat->wiring == wiring;
        if (seat->wiring) {
            leave_seats(jobs, wiring->servers, i);
            return error_set(error, STATUS_USER, "server %u is %s", wiring->servers[i],
                             is_twice ? "named twice for one job" : "taken by another job");
        }
        *seat = (struct static_seat){wiring, i};
    }
    return STATUS_OK;
}

enum status static_jobs_open(struct static_jobs *jobs, uint32_t job, const uint32_t *servers, uint32_t count,
                             struct error *error)
{
    if (find_job(jobs, job))
        return error_set(error, STATUS_USER, "job %u is open or has sent already: it cannot be given a graph now", job);
    struct static_wiring *wiring = memory_alloc(1, sizeof *wiring);
    wiring->count = count;
    wiring->servers = memory_alloc(count, sizeof *wiring->servers);
    memcpy(wiring->servers, servers, count * sizeof *servers);
    enum status status = take_seats(jobs, wiring, error);
    if (status == STATUS_OK && count > 1) {
        status = static_graph_create_job(jobs->topology, count, &wiring->graph, error);
        if (status != STATUS_OK)
            leave_seats(jobs, servers, count);
    }
    if (status == STATUS_OK)
        add_job(jobs, job, wiring);
    else
        free_wiring(wiring);
    return status;
}

enum status static_jobs_close(struct static_jobs *jobs, uint32_t job, struct error *error)
{
    struct static_job *known = find_job(jobs, job);
    if (!known || known->wiring == &jobs->all)
        return error_set(error, STATUS_USER, "job %u is not open: it cannot be closed", job);
    struct static_wiring *wiring = known->wiring;
    leave_seats(jobs, wiring->servers, wiring->count);
    known->wiring = NULL;
    reuse_map_remove(&jobs->map, job);
    reuse_give(&jobs->places, (uint32_t)(known - jobs->items));
    wiring->is_closed = true;
    if (wiring->users == 0)
        free_wiring(wiring);
    return STATUS_OK;
}

enum status static_jobs_find(struct static_jobs *jobs, uint32_t job, uint32_t source, uint32_t target,
                             struct static_way *way, struct error *error)
{
    const struct static_job *known = find_job(jobs, job);
    require(source != target && source < jobs->all.count && target < jobs->all.count);
    if (!known || known->wiring == &jobs->all) {
        *way = (struct static_way){&jobs->all, source, target};
        return STATUS_OK;
    }
    const struct static_seat *from = &jobs->seats[source], *to = &jobs->seats[target];
    if (from->wiring != known->wiring || to->wiring != known->wiring)
        return error_set(error, STATUS_USER,
                         "server %u is none of the %u servers of job %u, which have their own links",
                         from->wiring != known->wiring ? source : target, known->wiring->count, job);
    *way = (struct static_way){known->wiring, from->node, to->node};
    return STATUS_OK;
}

sim_time static_jobs_lit(struct static_jobs *jobs, uint32_t job, sim_time if_new)
{
    struct static_job *known = find_job(jobs, job);
    if (!known)
        known = add_job(jobs, job, &jobs->all);
    if (!known->has_sent)
        known->lit = if_new;
    known->has_sent = true;
    return known->lit;
}

void static_wiring_use(struct static_wiring *wiring)
{
    require(!wiring->is_closed);
    wiring->users++;
}

void static_wiring_drop(struct static_wiring *wiring)
{
    require(wiring->users > 0);
    if (--wiring->users == 0 && wiring->is_closed)
        free_wiring(wiring);
}

uint32_t static_wiring_server(const struct static_wiring *wiring, uint32_t node)
{
    require(node < wiring->count);
    return wiring->servers ? wiring->servers[node] : node;
}
