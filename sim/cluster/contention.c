#include "cluster/contention.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "fabric/fabrics.h"
#include "network/reuse.h"

/* Where a job stands in what it uses. */
struct use {
    uint32_t domain, at;
};

struct member {
    void *job;
    uint64_t serial; /* counts up as jobs are added */
    uint64_t round;  /* in which it was found last */
    struct use *uses;
    size_t use_count, use_capacity;
};

/* A job that uses a domain, and which of its uses that is. */
struct user {
    uint32_t member;
    uint32_t use;
};

struct domain {
    uint64_t number;
    uint64_t round;
    struct user *users;
    size_t user_count, user_capacity;
};

struct contention {
    const struct topology *topology;
    bool is_one;
    struct member *members;
    struct reuse member_places;
    struct domain *domains;
    struct reuse domain_places;
    struct reuse_map map; /* from the number of a domain to its place */
    uint64_t serial, round;
    struct fabric_list numbers; /* scratch */
    uint32_t *servers;
    size_t server_capacity;
    struct found *found;
    size_t found_count, found_capacity;
    void **jobs;
    size_t job_capacity;
};

struct found {
    uint64_t serial;
    uint32_t member;
};

struct contention *contention_create(const struct topology *topology, bool is_one)
{
    struct contention *contention = memory_alloc(1, sizeof *contention);
    contention->topology = topology;
    contention->is_one = is_one;
    return contention;
}

void contention_free(struct contention *contention)
{
    if (!contention)
        return;
    for (size_t i = 0; i < contention->member_places.count; i++)
        free(contention->members[i].uses);
    for (size_t i = 0; i < contention->domain_places.count; i++)
        free(contention->domains[i].users);
    reuse_free(&contention->member_places, contention->members);
    reuse_free(&contention->domain_places, contention->domains);
    reuse_map_free(&contention->map);
    free(contention->numbers.ids);
    free(contention->servers);
    free(contention->found);
    free(contention->jobs);
    free(contention);
}

/* ---- what a job uses ---- */

/* Numbers of the fabric are doubled, those of servers are odd. */
static void list_domains(struct contention *contention, const uint32_t *devices, uint32_t count)
{
    const struct topology *topology = contention->topology;
    const struct fabric *fabric = fabric_of(topology);
    struct fabric_list *numbers = &contention->numbers;
    numbers->count = 0;
    if (contention->is_one) {
        fabric_list_add(numbers, 0);
        return;
    }
    contention->servers =
        memory_grow(contention->servers, &contention->server_capacity, count, sizeof *contention->servers);
    for (uint32_t i = 0; i < count; i++)
        contention->servers[i] = topology->devices[devices[i]].host;
    if (fabric->domains)
        fabric->domains(topology, contention->servers, count, numbers);
    for (size_t i = 0; i < numbers->count; i++)
        numbers->ids[i] *= 2;
    for (uint32_t i = 0; i < count && topology->device_count > topology->server_count; i++)
        fabric_list_add(numbers, 2 * (uint64_t)contention->servers[i] + 1);
}

static uint32_t find_domain(struct contention *contention, uint64_t number)
{
    uint32_t place = reuse_map_find(&contention->map, number);
    if (place != REUSE_NONE)
        return place;
    contention->domains =
        reuse_take(&contention->domain_places, contention->domains, sizeof *contention->domains, &place);
    contention->domains[place].number = number;
    require(contention->domains[place].user_count == 0);
    reuse_map_add(&contention->map, number, place);
    return place;
}

/* Of a number that a job has twice the second is passed over: it was the last to use it. */
static void add_use(struct contention *contention, uint32_t number, uint64_t domain_number)
{
    struct member *member = &contention->members[number];
    uint32_t place = find_domain(contention, domain_number);
    struct domain *domain = &contention->domains[place];
    size_t users = domain->user_count;
    if (users > 0 && domain->users[users - 1].member == number)
        return;
    domain->users = memory_grow(domain->users, &domain->user_capacity, users + 1, sizeof *domain->users);
    member->uses = memory_grow(member->uses, &member->use_capacity, member->use_count + 1, sizeof *member->uses);
    domain->users[domain->user_count++] = (struct user){number, (uint32_t)member->use_count};
    member->uses[member->use_count++] = (struct use){place, (uint32_t)users};
}

uint32_t contention_add(struct contention *contention, void *job, const uint32_t *devices, uint32_t count)
{
    uint32_t number;
    contention->members =
        reuse_take(&contention->member_places, contention->members, sizeof *contention->members, &number);
    struct member *member = &contention->members[number];
    member->job = job;
    member->serial = ++contention->serial;
    member->round = 0;
    list_domains(contention, devices, count);
    for (size_t i = 0; i < contention->numbers.count; i++)
        add_use(contention, number, contention->numbers.ids[i]);
    return number;
}

/* The last user takes its place. */
static void remove_use(struct contention *contention, uint32_t number, struct use use)
{
    struct domain *domain = &contention->domains[use.domain];
    require(use.at < domain->user_count && domain->users[use.at].member == number);
    struct user last = domain->users[--domain->user_count];
    domain->users[use.at] = last;
    contention->members[last.member].uses[last.use].at = use.at;
    if (domain->user_count > 0)
        return;
    reuse_map_remove(&contention->map, domain->number);
    reuse_give(&contention->domain_places, use.domain);
}

void contention_remove(struct contention *contention, uint32_t number)
{
    struct member *member = &contention->members[number];
    for (size_t i = 0; i < member->use_count; i++)
        remove_use(contention, number, member->uses[i]);
    member->use_count = 0;
    reuse_give(&contention->member_places, number);
}

/* ---- groups ---- */

void contention_start(struct contention *contention)
{
    contention->round++;
}

static void find_member(struct contention *contention, uint32_t number)
{
    struct member *member = &contention->members[number];
    if (member->round == contention->round)
        return;
    member->round = contention->round;
    contention->found = memory_grow(contention->found, &contention->found_capacity, contention->found_count + 1,
                                    sizeof *contention->found);
    contention->found[contention->found_count++] = (struct found){member->serial, number};
}

static void find_neighbours(struct contention *contention, uint32_t number)
{
    const struct member *member = &contention->members[number];
    for (size_t i = 0; i < member->use_count; i++) {
        struct domain *domain = &contention->domains[member->uses[i].domain];
        for (size_t j = 0; j < domain->user_count && domain->round != contention->round; j++)
            find_member(contention, domain->users[j].member);
        domain->round = contention->round;
    }
}

static int compare_found_total(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    return (a->serial > b->serial) - (a->serial < b->serial);
}

void *const *contention_group(struct contention *contention, uint32_t number, uint32_t *count)
{
    contention->found_count = 0;
    find_member(contention, number);
    for (size_t i = 0; i < contention->found_count; i++)
        find_neighbours(contention, contention->found[i].member);
    if (contention->found_count > 0)
        qsort(contention->found, contention->found_count, sizeof *contention->found, compare_found_total);
    contention->jobs =
        memory_grow(contention->jobs, &contention->job_capacity, contention->found_count + 1, sizeof(void *));
    for (size_t i = 0; i < contention->found_count; i++)
        contention->jobs[i] = contention->members[contention->found[i].member].job;
    *count = (uint32_t)contention->found_count;
    return contention->jobs;
}
