/* The jobs of the static fabric and their graphs. See static_jobs.h.
 *
 * The map from jobs is never walked in its own order but to free it, so nothing
 * depends on the hash. Taking a job out moves later ones of its run back, so no
 * marks of the dead pile up over a long stream of jobs.
 */
#include "fabric/static_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "engine/memory.h"

enum { JOBS_MIN = 64 };

static void free_wiring(struct static_wiring *wiring)
{
    static_graph_destroy(wiring->graph);
    free(wiring->servers);
    free(wiring);
}

void static_jobs_init(struct static_jobs *jobs, const struct topology *topology, struct static_graph *graph)
{
    *jobs = (struct static_jobs){.topology = topology, .size = JOBS_MIN};
    jobs->all = (struct static_wiring){.graph = graph, .count = topology->server_count};
    jobs->seats = memory_alloc(topology->server_count, sizeof *jobs->seats);
    jobs->places = memory_alloc(jobs->size, sizeof *jobs->places);
}

void static_jobs_fini(struct static_jobs *jobs)
{
    for (size_t i = 0; i < jobs->size; i++)
        if (jobs->places[i].is_known && jobs->places[i].wiring != &jobs->all) {
            require(jobs->places[i].wiring->users == 0);
            free_wiring(jobs->places[i].wiring);
        }
    require(jobs->all.users == 0);
    static_graph_destroy(jobs->all.graph);
    free(jobs->seats);
    free(jobs->places);
}

static size_t home_of(const struct static_jobs *jobs, uint32_t job)
{
    return (size_t)hash_mix(job) & (jobs->size - 1);
}

/* Where the job is, or would be put. */
static struct static_job *place_of(struct static_jobs *jobs, uint32_t job)
{
    size_t at = home_of(jobs, job);
    while (jobs->places[at].is_known && jobs->places[at].job != job)
        at = (at + 1) & (jobs->size - 1);
    return &jobs->places[at];
}

static void grow(struct static_jobs *jobs)
{
    struct static_job *old = jobs->places;
    size_t old_size = jobs->size;
    jobs->size = 2 * old_size;
    jobs->places = memory_alloc(jobs->size, sizeof *jobs->places);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].is_known)
            *place_of(jobs, old[i].job) = old[i];
    free(old);
}

static void put(struct static_jobs *jobs, const struct static_job *job)
{
    if (2 * (jobs->count + 1) > jobs->size)
        grow(jobs);
    struct static_job *place = place_of(jobs, job->job);
    require(!place->is_known && job->is_known);
    *place = *job;
    jobs->count++;
}

/* Closes the gap: whoever behind it has its home no later than the gap moves there. */
static void take_out(struct static_jobs *jobs, struct static_job *place)
{
    size_t mask = jobs->size - 1, gap = (size_t)(place - jobs->places);
    for (size_t at = (gap + 1) & mask; jobs->places[at].is_known; at = (at + 1) & mask) {
        size_t from_home = (at - home_of(jobs, jobs->places[at].job)) & mask;
        if (from_home < ((at - gap) & mask))
            continue;
        jobs->places[gap] = jobs->places[at];
        gap = at;
    }
    jobs->places[gap].is_known = false;
    jobs->count--;
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
    if (place_of(jobs, job)->is_known)
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
        put(jobs, &(struct static_job){.job = job, .is_known = true, .wiring = wiring});
    else
        free_wiring(wiring);
    return status;
}

enum status static_jobs_close(struct static_jobs *jobs, uint32_t job, struct error *error)
{
    struct static_job *place = place_of(jobs, job);
    if (!place->is_known || place->wiring == &jobs->all)
        return error_set(error, STATUS_USER, "job %u is not open: it cannot be closed", job);
    struct static_wiring *wiring = place->wiring;
    leave_seats(jobs, wiring->servers, wiring->count);
    take_out(jobs, place);
    wiring->is_closed = true;
    if (wiring->users == 0)
        free_wiring(wiring);
    return STATUS_OK;
}

enum status static_jobs_find(struct static_jobs *jobs, uint32_t job, uint32_t source, uint32_t target,
                             struct static_way *way, struct error *error)
{
    const struct static_job *place = place_of(jobs, job);
    require(source != target && source < jobs->all.count && target < jobs->all.count);
    if (!place->is_known || place->wiring == &jobs->all) {
        *way = (struct static_way){&jobs->all, source, target};
        return STATUS_OK;
    }
    const struct static_seat *from = &jobs->seats[source], *to = &jobs->seats[target];
    if (from->wiring != place->wiring || to->wiring != place->wiring)
        return error_set(error, STATUS_USER,
                         "server %u is none of the %u servers of job %u, which have their own links",
                         from->wiring != place->wiring ? source : target, place->wiring->count, job);
    *way = (struct static_way){place->wiring, from->node, to->node};
    return STATUS_OK;
}

sim_time static_jobs_lit(struct static_jobs *jobs, uint32_t job, sim_time if_new)
{
    if (!place_of(jobs, job)->is_known)
        put(jobs, &(struct static_job){.job = job, .is_known = true, .wiring = &jobs->all});
    struct static_job *place = place_of(jobs, job);
    if (!place->has_sent)
        place->lit = if_new;
    place->has_sent = true;
    return place->lit;
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
