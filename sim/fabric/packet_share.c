#include "fabric/packet_share.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "network/fabric.h"
#include "network/reuse.h"
#include "network/waitlist.h"

/* The end of a list of crossings. */
#define NONE UINT32_MAX

/* A flow on one of its links: crossing flow * SHARE_LINKS + i, in the link's list. */
struct crossing {
    uint32_t link;
    uint32_t next, back;
};

struct flow {
    struct crossing crossings[SHARE_LINKS];
    double rate, old_rate;
    uint64_t seen;   /* the update that reached it last */
    uint64_t frozen; /* the update that fixed its rate last */
    uint32_t count;  /* of crossings; 0 = free */
};

struct link {
    double capacity;
    double left; /* of it, while filling */
    uint64_t seen;
    uint32_t first; /* crossing */
    uint32_t flows; /* that cross it */
    uint32_t open;  /* of these without a rate yet, while filling */
};

struct share {
    struct link *links;
    struct flow *flows;
    struct reuse flow_places;
    struct fabric_list touched; /* links of flows that came or went */
    struct fabric_list reached; /* links of the components in question */
    struct fabric_list members; /* flows of these; then those that changed */
    struct waitlist levels;     /* links by the fair share when they were put here: it only grows since */
    uint64_t update;
};

struct share *share_create(uint32_t link_count)
{
    struct share *share = memory_alloc(1, sizeof *share);
    share->links = memory_alloc(link_count, sizeof *share->links);
    for (uint32_t i = 0; i < link_count; i++)
        share->links[i].first = NONE;
    return share;
}

void share_destroy(struct share *share)
{
    if (!share)
        return;
    free(share->links);
    reuse_free(&share->flow_places, share->flows);
    free(share->touched.ids);
    free(share->reached.ids);
    free(share->members.ids);
    waitlist_free(&share->levels);
    free(share);
}

void share_capacity(struct share *share, uint32_t link, double rate_bytes_per_s)
{
    require(rate_bytes_per_s > 0 && share->links[link].flows == 0);
    share->links[link].capacity = rate_bytes_per_s;
}

static struct crossing *crossing_at(struct share *share, uint32_t crossing)
{
    return &share->flows[crossing / SHARE_LINKS].crossings[crossing % SHARE_LINKS];
}

uint32_t share_add(struct share *share, const uint32_t *links, uint32_t count)
{
    require(count > 0 && count <= SHARE_LINKS);
    uint32_t flow;
    share->flows = reuse_take(&share->flow_places, share->flows, sizeof *share->flows, &flow);
    require(flow < NONE / SHARE_LINKS);
    share->flows[flow] = (struct flow){.count = count};
    for (uint32_t i = 0; i < count; i++) {
        struct link *link = &share->links[links[i]];
        uint32_t crossing = flow * SHARE_LINKS + i;
        require(link->capacity > 0);
        share->flows[flow].crossings[i] = (struct crossing){links[i], link->first, NONE};
        if (link->first != NONE)
            crossing_at(share, link->first)->back = crossing;
        link->first = crossing;
        link->flows++;
    }
    fabric_list_add(&share->touched, links[0]);
    return flow;
}

void share_remove(struct share *share, uint32_t flow)
{
    struct flow *gone = &share->flows[flow];
    require(gone->count > 0);
    for (uint32_t i = 0; i < gone->count; i++) {
        struct crossing *crossing = &gone->crossings[i];
        if (crossing->next != NONE)
            crossing_at(share, crossing->next)->back = crossing->back;
        if (crossing->back != NONE)
            crossing_at(share, crossing->back)->next = crossing->next;
        else
            share->links[crossing->link].first = crossing->next;
        share->links[crossing->link].flows--;
        fabric_list_add(&share->touched, crossing->link);
    }
    gone->count = 0;
    reuse_give(&share->flow_places, flow);
}

static void reach(struct share *share, uint32_t link)
{
    if (share->links[link].seen == share->update)
        return;
    share->links[link].seen = share->update;
    fabric_list_add(&share->reached, link);
}

/* Everything that the touched links reach. */
static void collect(struct share *share)
{
    share->reached.count = share->members.count = 0;
    share->update++;
    for (size_t i = 0; i < share->touched.count; i++)
        reach(share, (uint32_t)share->touched.ids[i]);
    share->touched.count = 0;
    for (size_t i = 0; i < share->reached.count; i++) {
        struct link *link = &share->links[share->reached.ids[i]];
        link->left = link->capacity;
        link->open = link->flows;
        for (uint32_t at = link->first; at != NONE; at = crossing_at(share, at)->next) {
            struct flow *flow = &share->flows[at / SHARE_LINKS];
            if (flow->seen == share->update)
                continue;
            flow->seen = share->update;
            flow->old_rate = flow->rate;
            fabric_list_add(&share->members, at / SHARE_LINKS);
            for (uint32_t k = 0; k < flow->count; k++)
                reach(share, flow->crossings[k].link);
        }
    }
}

/* A link's entry in the heap: its fair share, whose bits are in the order of their values as it is never negative. */
static struct waitlist_item level_of(const struct share *share, uint32_t number)
{
    double rate = share->links[number].left / share->links[number].open;
    struct waitlist_item item = {.turn.sequence = number, .what = number};
    memcpy(&item.turn.key, &rate, sizeof rate);
    return item;
}

/* The link is full: its flows without a rate get their share, and take it from their other links. */
static void freeze(struct share *share, uint32_t full, double rate)
{
    for (uint32_t at = share->links[full].first; at != NONE; at = crossing_at(share, at)->next) {
        struct flow *flow = &share->flows[at / SHARE_LINKS];
        if (flow->frozen == share->update)
            continue;
        flow->frozen = share->update;
        flow->rate = rate;
        for (uint32_t k = 0; k < flow->count; k++) {
            struct link *link = &share->links[flow->crossings[k].link];
            require(link->open > 0);
            link->open--;
            link->left = link->left > rate ? link->left - rate : 0;
        }
    }
}

/* A share only grows as others are fixed below it, so an entry that is out of date goes back with its new share. */
static void fill(struct share *share)
{
    for (size_t i = 0; i < share->reached.count; i++) {
        uint32_t number = (uint32_t)share->reached.ids[i];
        if (share->links[number].open > 0)
            waitlist_add(&share->levels, level_of(share, number));
    }
    while (share->levels.count > 0) {
        struct waitlist_item first = share->levels.items[0], now = {.what = first.what};
        bool is_open = share->links[first.what].open > 0;
        if (is_open)
            now = level_of(share, first.what);
        if (now.turn.key > first.turn.key) {
            waitlist_replace(&share->levels, now);
            continue;
        }
        double rate;
        memcpy(&rate, &first.turn.key, sizeof rate);
        waitlist_take(&share->levels);
        if (is_open)
            freeze(share, first.what, rate);
    }
}

const uint64_t *share_update(struct share *share, size_t *count)
{
    size_t changed = 0;
    collect(share);
    fill(share);
    for (size_t i = 0; i < share->members.count; i++) {
        const struct flow *flow = &share->flows[share->members.ids[i]];
        require(flow->frozen == share->update && flow->rate > 0);
        if (flow->rate < flow->old_rate || flow->rate > flow->old_rate)
            share->members.ids[changed++] = share->members.ids[i];
    }
    *count = changed;
    return share->members.ids;
}

double share_rate(const struct share *share, uint32_t flow)
{
    require(share->flows[flow].count > 0);
    return share->flows[flow].rate;
}
