/* See reference_network.h: plain loops over everything, on purpose. */
#include "reference_network.h"
#include "figures.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 256 };

/* A piece of hardware by its full name: what it is, and up to five numbers. */
struct part {
    char kind; /* t transmitter, r receiver, w wavelength */
    int64_t a, b, c, d, e;
};

struct lightpath {
    bool is_alive, is_carrying;
    int transfer; /* the last one carried */
    uint32_t source, target;
    int lanes;
    struct part parts[PARTS_MAX];
    int part_count;
    int64_t expires;
    int64_t switch_number; /* -1 = none stops */
};

struct state {
    const struct topology *t;
    const struct network_options *o;
    struct reference_transfer *transfers;
    int count;
    bool *is_waiting, *is_moving;
    int64_t *begin, *end;
    struct lightpath *paths;
    int path_count;
    int64_t dark_until[1024];
    int64_t now;
};

static bool same_part(const struct part *x, const struct part *y)
{
    return x->kind == y->kind && x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d && x->e == y->e;
}

static struct lightpath *holder(struct state *s, const struct part *part)
{
    for (int i = 0; i < s->path_count; i++)
        for (int k = 0; s->paths[i].is_alive && k < s->paths[i].part_count; k++)
            if (same_part(&s->paths[i].parts[k], part))
                return &s->paths[i];
    return NULL;
}

static bool gives_way(const struct state *s, const struct lightpath *path)
{
    return !path || (s->o->circuits == NETWORK_HOLD && !path->is_carrying);
}

static int64_t rate(const struct topology *t)
{
    double share = 0;
    if (t->fabric.strategy->name[0] == 'r')
        share = (double)t->groups;
    else if (t->fabric.strategy->name[0] == 'o')
        share = (double)*figure_whole(t, "ocs.switches");
    else
        share = (double)((t->server_count + *figure_whole(t, "awgr.wavelengths") - 1) /
                         *figure_whole(t, "awgr.wavelengths") * *figure_whole(t, "awgr.planes"));
    return (int64_t)(t->node_rate_bytes_per_s / share);
}

static int64_t payload(const struct topology *t, const struct reference_transfer *x)
{
    __extension__ typedef __int128 wide;
    int64_t slot = t->fabric.strategy->name[0] == 'r'   ? *figure_whole(t, "ramp.slot")
                   : t->fabric.strategy->name[0] == 'a' ? *figure_whole(t, "awgr.slot")
                                                        : 0;
    wide per_s = (wide)rate(t) * (x->lanes ? x->lanes : 1);
    wide time = ((wide)x->bytes * 1000000000000 + per_s - 1) / per_s;
    if (slot > 0)
        time = (time + slot - 1) / slot * slot;
    return (int64_t)time;
}

static int64_t switching(const struct topology *t)
{
    return t->fabric.strategy->name[0] == 'r'   ? *figure_whole(t, "ramp.reconfiguration")
           : t->fabric.strategy->name[0] == 'o' ? *figure_whole(t, "ocs.reconfiguration")
                                                : *figure_whole(t, "awgr.reconfiguration");
}

static void add(struct lightpath *path, struct part part)
{
    for (int i = 0; i < path->part_count; i++)
        if (same_part(&path->parts[i], &part))
            return;
    path->parts[path->part_count++] = part;
}

static void want_ramp(const struct state *s, const struct reference_transfer *x, struct lightpath *path)
{
    const struct topology *t = s->t;
    int lanes = x->lanes ? x->lanes : 1;
    for (int k = 0; k < lanes; k++) {
        int64_t from = topology_group(t, x->source), to = topology_group(t, x->targets[0]);
        int64_t lane = ((x->first_lane ? x->first_lane - 1 : to) + k) % t->groups;
        bool is_plain = x->first_lane == 0 && lanes == 1;
        add(path, (struct part){'t', x->source, lane, 0, 0, 0});
        for (uint32_t i = 0; i < x->target_count; i++) {
            uint32_t target = x->targets[i];
            add(path, (struct part){'r', target, is_plain ? from : lane, 0, 0, 0});
            add(path, (struct part){'w', from, topology_group(t, target), lane,
                                    topology_rack(t, target) % *figure_whole(t, "ramp.planes"),
                                    topology_place(t, x->targets[0])});
        }
    }
}

/* The parts of one alternative (switch or plane) of a pair. */
static void want_one(const struct state *s, const struct reference_transfer *x, int64_t which, struct lightpath *path)
{
    int64_t from = 0, to = 0;
    if (s->t->fabric.strategy->name[0] == 'a') {
        from = x->source / *figure_whole(s->t, "awgr.wavelengths");
        to = x->targets[0] / *figure_whole(s->t, "awgr.wavelengths");
    }
    add(path, (struct part){'t', x->source, to, which, 0, 0});
    add(path, (struct part){'r', x->targets[0], from, which, 0, 0});
    if (s->t->fabric.strategy->name[0] == 'o' && figure_is(s->t, "ocs.scope", "switch"))
        path->switch_number = which;
}

/* 3 = the pair's own lit circuit, 2 = dark, 1 = lit but gives way, 0 = taken. */
static int rate_one(struct state *s, const struct reference_transfer *x, int64_t which)
{
    struct lightpath wish = {.switch_number = -1};
    int lanes = x->lanes ? x->lanes : 1;
    want_one(s, x, which, &wish);
    struct lightpath *send = holder(s, &wish.parts[0]), *receive = holder(s, &wish.parts[1]);
    if (send && send == receive && !send->is_carrying && s->o->circuits != NETWORK_TEARDOWN && send->lanes == lanes)
        return 3;
    if (!send && !receive)
        return 2;
    return gives_way(s, send) && gives_way(s, receive);
}

/* A lit circuit is wanted as it is; else dark alternatives, then those that give way, the lowest first. */
static bool want_choice(struct state *s, const struct reference_transfer *x, struct lightpath *path)
{
    int64_t choices = s->t->fabric.strategy->name[0] == 'o' ? *figure_whole(s->t, "ocs.switches")
                                                            : *figure_whole(s->t, "awgr.planes");
    int lanes = x->lanes ? x->lanes : 1, got = 0;
    struct lightpath *lit = NULL;
    for (int worth = 3; worth >= 1; worth--)
        for (int64_t which = 0; which < choices && got < lanes; which++) {
            struct lightpath wish = {.switch_number = -1};
            want_one(s, x, which, &wish);
            struct lightpath *of = holder(s, &wish.parts[0]);
            if (rate_one(s, x, which) != worth || (worth == 3 && lit && of != lit))
                continue;
            lit = worth == 3 ? of : lit;
            want_one(s, x, which, path);
            got++;
        }
    return got == lanes;
}

/* The circuit that is exactly this wish already, if it is idle. */
static struct lightpath *same_path(struct state *s, const struct lightpath *wish)
{
    struct lightpath *path = holder(s, &wish->parts[0]);
    if (!path || path->is_carrying || path->part_count != wish->part_count)
        return NULL;
    for (int i = 0; i < wish->part_count; i++)
        if (holder(s, &wish->parts[i]) != path)
            return NULL;
    return path;
}

static int64_t latency(const struct topology *t)
{
    return t->propagation_ps + 2 * t->io_latency_ps;
}

static void settle_end(struct state *s, int i)
{
    const struct reference_transfer *x = &s->transfers[i];
    s->end[i] = s->begin[i] + x->reconfiguration + latency(s->t) + payload(s->t, x);
}

static void carry(struct state *s, struct lightpath *path, int i, bool is_new)
{
    struct reference_transfer *x = &s->transfers[i];
    int64_t delay = is_new ? switching(s->t) : 0;
    if (path->switch_number >= 0) {
        int64_t *dark = &s->dark_until[path->switch_number], from = *dark > s->now ? *dark : s->now;
        if (is_new && delay > 0) {
            for (int k = 0; k < s->path_count; k++) {
                struct lightpath *other = &s->paths[k];
                if (!other->is_alive || !other->is_carrying || other->switch_number != path->switch_number)
                    continue;
                s->transfers[other->transfer].reconfiguration += s->now + delay - from;
                settle_end(s, other->transfer);
            }
            *dark = s->now + delay;
        } else if (*dark > s->now) {
            delay = *dark - s->now;
        }
    }
    path->is_carrying = true;
    path->transfer = i;
    s->is_waiting[i] = false;
    s->is_moving[i] = true;
    s->begin[i] = s->now;
    x->wait = s->now - x->sent;
    x->reconfiguration = delay;
    settle_end(s, i);
}

static bool try_one(struct state *s, int i)
{
    const struct reference_transfer *x = &s->transfers[i];
    struct lightpath wish = {.is_alive = true,
                             .source = x->source,
                             .target = x->targets[0],
                             .lanes = x->lanes ? x->lanes : 1,
                             .expires = -1,
                             .switch_number = -1};
    if (s->t->fabric.strategy->name[0] == 'r')
        want_ramp(s, x, &wish);
    else if (!want_choice(s, x, &wish))
        return false;
    struct lightpath *same = same_path(s, &wish);
    if (same) {
        carry(s, same, i, false);
        return true;
    }
    for (int k = 0; k < wish.part_count; k++)
        if (!gives_way(s, holder(s, &wish.parts[k])))
            return false;
    for (int k = 0; k < wish.part_count; k++) {
        struct lightpath *other = holder(s, &wish.parts[k]);
        if (other)
            other->is_alive = false;
    }
    s->paths[s->path_count] = wish;
    carry(s, &s->paths[s->path_count++], i, true);
    return true;
}

static bool is_before(const struct state *s, int left, int right)
{
    const struct reference_transfer *x = &s->transfers[left], *y = &s->transfers[right];
    if (s->o->order == NETWORK_SRPT && x->bytes != y->bytes)
        return x->bytes < y->bytes;
    if (s->o->order == NETWORK_PRIORITY && x->priority != y->priority)
        return x->priority < y->priority;
    return left < right;
}

static void end_what_ends(struct state *s)
{
    for (int k = 0; k < s->path_count; k++) {
        struct lightpath *path = &s->paths[k];
        if (path->is_alive && path->is_carrying && s->end[path->transfer] == s->now) {
            path->is_carrying = false;
            s->is_moving[path->transfer] = false;
            s->transfers[path->transfer].end = s->now;
            path->expires = s->now + s->o->linger_ps;
            if (s->o->circuits == NETWORK_TEARDOWN)
                path->is_alive = false;
        }
        if (path->is_alive && !path->is_carrying && s->o->circuits == NETWORK_LINGER && path->expires <= s->now)
            path->is_alive = false;
    }
}

static void serve_waiting(struct state *s)
{
    bool *is_tried = calloc((size_t)s->count, sizeof *is_tried), is_stuck = false;
    for (;;) {
        int best = -1;
        for (int i = 0; i < s->count; i++)
            if (s->is_waiting[i] && !is_tried[i] && (best < 0 || is_before(s, i, best)))
                best = i;
        if (best < 0)
            break;
        is_tried[best] = true;
        if (!is_stuck && try_one(s, best))
            continue;
        if (s->transfers[best].is_cleared_when_blocked) {
            s->is_waiting[best] = false;
            s->transfers[best].was_cleared = true;
            s->transfers[best].end = s->now;
        } else if (s->o->is_strict) {
            is_stuck = true;
        }
    }
    free(is_tried);
}

static int64_t next_change(const struct state *s)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < s->count; i++) {
        if (s->transfers[i].sent > s->now && s->transfers[i].sent < next)
            next = s->transfers[i].sent;
        if (s->is_moving[i] && s->end[i] < next)
            next = s->end[i];
    }
    for (int k = 0; k < s->path_count && s->o->circuits == NETWORK_LINGER; k++)
        if (s->paths[k].is_alive && !s->paths[k].is_carrying && s->paths[k].expires < next)
            next = s->paths[k].expires;
    return next;
}

void reference_network_run(const struct topology *topology, const struct network_options *options,
                           struct reference_transfer *transfers, int count)
{
    size_t size = (size_t)count;
    struct state *s = calloc(1, sizeof *s);
    s->t = topology;
    s->o = options;
    s->transfers = transfers;
    s->count = count;
    s->is_waiting = calloc(size, sizeof *s->is_waiting);
    s->is_moving = calloc(size, sizeof *s->is_moving);
    s->begin = calloc(size, sizeof *s->begin);
    s->end = calloc(size, sizeof *s->end);
    s->paths = calloc(size, sizeof *s->paths);
    s->now = -1;
    for (int i = 0; i < count; i++)
        transfers[i].end = -1;
    while ((s->now = next_change(s)) != INT64_MAX) {
        end_what_ends(s);
        for (int i = 0; i < count; i++)
            if (transfers[i].sent == s->now)
                s->is_waiting[i] = true;
        serve_waiting(s);
    }
    void *blocks[] = {s->is_waiting, s->is_moving, s->begin, s->end, s->paths, s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}
