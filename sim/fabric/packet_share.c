#include "fabric/packet_share.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "network/fabric.h"
#include "network/reuse.h"
#include "network/waitlist.h"

/* What doubles gather over the flows of a link is no change: the least tolerance there is. */
#define ROUNDING 1e-13

struct flow {
    uint32_t links[SHARE_LINKS];
    uint32_t places[SHARE_LINKS]; /* in the lists of these links */
    double rate, old_rate;
    uint64_t seen;  /* the update that changed it last */
    uint32_t count; /* of links; 0 = free */
};

/* Its level is in share->levels. */
struct link {
    double capacity;
    double margin;   /* by which the rates of its flows may change in sum until its level must be looked at */
    uint32_t *flows; /* owned: that cross it */
    size_t count, room;
    bool is_due; /* to be looked at */
};

struct share {
    struct link *links;
    double *levels; /* of links: the rate that none of its flows exceeds; INFINITY = it is not full */
    struct flow *flows;
    struct reuse flow_places;
    struct waitlist due;        /* links, those with the lowest level first */
    struct fabric_list changed; /* flows, since the last update */
    double *limits;             /* scratch */
    size_t limit_room;
    double tolerance;
    uint64_t update;
    uint32_t link_count;
};

struct share *share_create(uint32_t link_count, double tolerance)
{
    require(tolerance >= 0 && tolerance < 1);
    struct share *share = memory_alloc(1, sizeof *share);
    share->links = memory_alloc(link_count, sizeof *share->links);
    share->levels = memory_alloc(link_count, sizeof *share->levels);
    for (uint32_t i = 0; i < link_count; i++)
        share->levels[i] = INFINITY;
    share->link_count = link_count;
    share->tolerance = tolerance > ROUNDING ? tolerance : ROUNDING;
    share->update = 1;
    return share;
}

void share_destroy(struct share *share)
{
    if (!share)
        return;
    for (uint32_t i = 0; i < share->link_count; i++)
        free(share->links[i].flows);
    free(share->links);
    free(share->levels);
    reuse_free(&share->flow_places, share->flows);
    free(share->changed.ids);
    free(share->limits);
    waitlist_free(&share->due);
    free(share);
}

void share_capacity(struct share *share, uint32_t link, double rate_bytes_per_s)
{
    require(rate_bytes_per_s > 0 && share->links[link].count == 0);
    share->links[link].capacity = rate_bytes_per_s;
    share->links[link].margin = rate_bytes_per_s;
}

/* The order is that of the levels, whose bits are in the order of their values as they are never negative. */
static void look_at(struct share *share, uint32_t number)
{
    struct link *link = &share->links[number];
    if (link->is_due)
        return;
    link->is_due = true;
    double level = share->levels[number];
    if (isinf(level))
        level = link->capacity / (double)(link->count + 1);
    struct waitlist_item item = {.turn.sequence = number, .what = number};
    memcpy(&item.turn.key, &level, sizeof level);
    waitlist_add(&share->due, item);
}

/* The lowest level on its way, but for one link: where that is the flow's last, no limit. */
static double limit_of(const struct share *share, const struct flow *flow, uint32_t but)
{
    double limit = INFINITY;
    for (uint32_t i = 0; i < flow->count; i++)
        if (flow->links[i] != but && share->levels[flow->links[i]] < limit)
            limit = share->levels[flow->links[i]];
    return limit;
}

/* Gives the flow what the levels on its way allow. The link whose level changed knows; the others are told. */
static void refresh(struct share *share, uint32_t number, uint32_t knows)
{
    struct flow *flow = &share->flows[number];
    double rate = limit_of(share, flow, SHARE_NONE), change = fabs(rate - flow->rate);
    if (!(rate < flow->rate || rate > flow->rate))
        return;
    if (flow->seen != share->update) {
        flow->seen = share->update;
        flow->old_rate = flow->rate;
        fabric_list_add(&share->changed, number);
    }
    flow->rate = rate;
    for (uint32_t i = 0; i < flow->count; i++) {
        if (flow->links[i] == knows)
            continue;
        struct link *link = &share->links[flow->links[i]];
        link->margin -= change;
        if (link->margin < 0)
            look_at(share, flow->links[i]);
    }
}

uint32_t share_add(struct share *share, const uint32_t *links, uint32_t count)
{
    require(count > 0 && count <= SHARE_LINKS);
    uint32_t number;
    share->flows = reuse_take(&share->flow_places, share->flows, sizeof *share->flows, &number);
    struct flow *flow = &share->flows[number];
    flow->count = count;
    flow->rate = flow->old_rate = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct link *link = &share->links[links[i]];
        require(link->capacity > 0);
        flow->links[i] = links[i];
        flow->places[i] = (uint32_t)link->count;
        link->flows = memory_grow(link->flows, &link->room, link->count + 1, sizeof *link->flows);
        link->flows[link->count++] = number;
    }
    refresh(share, number, SHARE_NONE);
    return number;
}

/* The last of the link's list takes the place. */
static void leave(struct share *share, uint32_t number, uint32_t place)
{
    struct link *link = &share->links[number];
    uint32_t last = link->flows[--link->count];
    struct flow *moved = &share->flows[last];
    link->flows[place] = last;
    for (uint32_t i = 0; i < moved->count; i++)
        if (moved->links[i] == number)
            moved->places[i] = place;
}

void share_remove(struct share *share, uint32_t number)
{
    struct flow *gone = &share->flows[number];
    require(gone->count > 0);
    for (uint32_t i = 0; i < gone->count; i++) {
        struct link *link = &share->links[gone->links[i]];
        leave(share, gone->links[i], gone->places[i]);
        link->margin += isinf(share->levels[gone->links[i]]) ? gone->rate : -gone->rate;
        if (link->margin < 0)
            look_at(share, gone->links[i]);
    }
    gone->count = 0;
    reuse_give(&share->flow_places, number);
}

/* The level at which the flows fill the link, those that others limit below it apart: `open` stay. INFINITY with what
 * is left of the link where none does. */
static double fill(struct share *share, uint32_t number, size_t *open, double *left)
{
    const struct link *link = &share->links[number];
    if (link->count > share->limit_room)
        share->limits = memory_grow(share->limits, &share->limit_room, link->count, sizeof *share->limits);
    for (size_t i = 0; i < link->count; i++)
        share->limits[i] = limit_of(share, &share->flows[link->flows[i]], number);
    *open = link->count;
    *left = link->capacity;
    while (*open > 0) {
        double level = *left / (double)*open;
        size_t kept = 0;
        for (size_t i = 0; i < *open; i++) {
            double limit = share->limits[i];
            if (limit <= level)
                *left -= limit;
            else
                share->limits[kept++] = limit;
        }
        if (kept == *open)
            return level;
        *open = kept;
    }
    return INFINITY;
}

/* Brings a link's level up to date, unless it is off by less than the tolerance. */
static void settle(struct share *share, uint32_t number)
{
    struct link *link = &share->links[number];
    size_t open;
    double left, old = share->levels[number], level = fill(share, number, &open, &left);
    double off = fabs(level - old);
    link->is_due = false;
    if (isinf(level)) {
        link->margin = left;
    } else if (!isinf(old) && off <= share->tolerance * old) {
        link->margin = (share->tolerance * old - off) * (double)open;
        return;
    } else {
        link->margin = share->tolerance * level * (double)open;
    }
    share->levels[number] = level;
    for (size_t i = 0; i < link->count; i++)
        refresh(share, link->flows[i], number);
}

const uint64_t *share_update(struct share *share, size_t *count)
{
    size_t changed = 0;
    while (share->due.count > 0)
        settle(share, waitlist_take(&share->due));
    for (size_t i = 0; i < share->changed.count; i++) {
        const struct flow *flow = &share->flows[share->changed.ids[i]];
        require(flow->count == 0 || (flow->rate > 0 && !isinf(flow->rate)));
        if (flow->count > 0 && (flow->rate < flow->old_rate || flow->rate > flow->old_rate))
            share->changed.ids[changed++] = share->changed.ids[i];
    }
    share->changed.count = 0;
    share->update++;
    *count = changed;
    return share->changed.ids;
}

double share_rate(const struct share *share, uint32_t flow)
{
    require(share->flows[flow].count > 0);
    return share->flows[flow].rate;
}
