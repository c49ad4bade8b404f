/* See reference_network.h: plain loops over everything, on purpose. */
#include "reference_network.h"
#include "figures.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS_MAX = 16, LANES_MAX = 16 };

/* A piece of hardware by its full name: what it is, and up to five numbers. */
struct part {
    char kind; /* t transmitter, r receiver, w wavelength */
    int64_t a, b, c, d, e;
};

/* One lane. */
struct lightpath {
    bool is_alive, is_carrying;
    int transfer; /* the last one carried */
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
    bool *is_waiting, *is_moving, *has_waited, *is_patient;
    int64_t *begin, *gone; /* first and last instant on circuits */
    int64_t *spent;        /* from the first bit to the last */
    int64_t *before;       /* bytes of its pair that had to wait before it did */
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
    bool is_lasting = s->o->circuits == NETWORK_HOLD || s->o->circuits == NETWORK_PATIENT;
    return !path || (is_lasting && !path->is_carrying);
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

__extension__ typedef __int128 wide;

/* Whole picoseconds, and whole slots. */
static int64_t payload(const struct topology *t, wide bytes, int lanes)
{
    int64_t slot = t->fabric.strategy->name[0] == 'r'   ? *figure_whole(t, "ramp.slot")
                   : t->fabric.strategy->name[0] == 'a' ? *figure_whole(t, "awgr.slot")
                                                        : 0;
    wide per_s = (wide)rate(t) * lanes;
    wide time = (bytes * 1000000000000 + per_s - 1) / per_s;
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

static int lanes_of(const struct reference_transfer *x)
{
    return x->lanes ? x->lanes : 1;
}

static bool is_same_pair(const struct reference_transfer *x, const struct reference_transfer *y)
{
    bool is_same = x->source == y->source && x->target_count == y->target_count;
    for (uint32_t i = 0; i < x->target_count && is_same; i++)
        is_same = x->targets[i] == y->targets[i];
    return is_same;
}

static void want_ramp(const struct state *s, const struct reference_transfer *x, int which, struct lightpath *path)
{
    const struct topology *t = s->t;
    int64_t from = topology_group(t, x->source), to = topology_group(t, x->targets[0]);
    int64_t lane = ((x->first_lane ? x->first_lane - 1 : to) + which) % t->groups;
    bool is_plain = x->first_lane == 0 && lanes_of(x) == 1;
    add(path, (struct part){'t', x->source, lane, 0, 0, 0});
    for (uint32_t i = 0; i < x->target_count; i++) {
        uint32_t target = x->targets[i];
        add(path, (struct part){'r', target, is_plain ? from : lane, 0, 0, 0});
        add(path, (struct part){'w', from, topology_group(t, target), lane,
                                topology_rack(t, target) % *figure_whole(t, "ramp.planes"),
                                topology_place(t, x->targets[0])});
    }
}

static bool is_ramp(const struct state *s)
{
    return s->t->fabric.strategy->name[0] == 'r';
}

/* Are its lanes named, by a plan or after the groups at the ends of a single one? */
static bool is_planned(const struct state *s, const struct reference_transfer *x)
{
    return is_ramp(s) && (x->first_lane > 0 || lanes_of(x) == 1);
}

/* The parts of one alternative (lane, switch or plane) of a pair. */
static void want_one(const struct state *s, const struct reference_transfer *x, int64_t which, struct lightpath *path)
{
    int64_t from = 0, to = 0;
    if (is_ramp(s)) {
        struct reference_transfer planned = *x;
        planned.first_lane = (uint16_t)(which + 1);
        want_ramp(s, &planned, 0, path);
        return;
    }
    if (s->t->fabric.strategy->name[0] == 'a') {
        from = x->source / *figure_whole(s->t, "awgr.wavelengths");
        to = x->targets[0] / *figure_whole(s->t, "awgr.wavelengths");
    }
    add(path, (struct part){'t', x->source, to, which, 0, 0});
    add(path, (struct part){'r', x->targets[0], from, which, 0, 0});
    if (s->t->fabric.strategy->name[0] == 'o' && figure_is(s->t, "ocs.scope", "switch"))
        path->switch_number = which;
}

/* Lanes that are lit for the pair, idle or not. */
static int lit_lanes(const struct state *s, const struct reference_transfer *x)
{
    int lit = 0;
    for (int k = 0; k < s->path_count; k++)
        lit += s->paths[k].is_alive && is_same_pair(x, &s->transfers[s->paths[k].transfer]);
    return lit;
}

/* What it costs others when this path goes: more when it is the last of its pair. */
static int loss(const struct state *s, const struct lightpath *path)
{
    if (!path)
        return 0;
    return lit_lanes(s, &s->transfers[path->transfer]) > 1 ? 1 : 4;
}

/* The alternative where the least is lost, the lowest of equals. False where none is open. */
static bool want_choice(struct state *s, const struct reference_transfer *x, struct lightpath *path)
{
    int64_t choices = is_ramp(s)                              ? s->t->groups
                      : s->t->fabric.strategy->name[0] == 'o' ? *figure_whole(s->t, "ocs.switches")
                                                              : *figure_whole(s->t, "awgr.planes");
    int64_t best = -1;
    int least = 0;
    for (int64_t which = 0; which < choices; which++) {
        struct lightpath wish = {.switch_number = -1};
        want_one(s, x, which, &wish);
        int lost = 0;
        bool is_open = true;
        for (int k = 0; k < wish.part_count; k++) {
            const struct lightpath *held = holder(s, &wish.parts[k]);
            is_open &= gives_way(s, held);
            lost += loss(s, held);
        }
        if (is_open && (best < 0 || lost < least)) {
            best = which;
            least = lost;
        }
    }
    if (best >= 0)
        want_one(s, x, best, path);
    return best >= 0;
}

/* The wish for a lane; false where something of it is kept by others. */
static bool want(struct state *s, const struct reference_transfer *x, int lane, struct lightpath *wish)
{
    *wish = (struct lightpath){.is_alive = true, .expires = -1, .switch_number = -1};
    if (is_planned(s, x) && lane >= lanes_of(x))
        return false;
    if (!is_ramp(s) || (lane == 0 && !is_planned(s, x)))
        return want_choice(s, x, wish);
    if (is_planned(s, x))
        want_ramp(s, x, lane, wish);
    else
        want_one(s, x, lane - 1, wish);
    for (int k = 0; k < wish->part_count; k++)
        if (!gives_way(s, holder(s, &wish->parts[k])))
            return false;
    return true;
}

static bool is_dark(struct state *s, const struct lightpath *wish)
{
    for (int k = 0; k < wish->part_count; k++)
        if (holder(s, &wish->parts[k]))
            return false;
    return true;
}

static int64_t latency(const struct topology *t)
{
    return t->propagation_ps + 2 * t->io_latency_ps;
}

static void settle_end(struct state *s, int i)
{
    s->gone[i] = s->begin[i] + s->transfers[i].reconfiguration + s->spent[i];
}

/* A lane starts to carry. Returns how long it is dark. */
static int64_t carry(struct state *s, struct lightpath *path, int i, bool is_new)
{
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
    return delay;
}

static int64_t set_up(struct state *s, const struct lightpath *wish, int i)
{
    for (int k = 0; k < wish->part_count; k++) {
        struct lightpath *other = holder(s, &wish->parts[k]);
        if (other)
            other->is_alive = false;
    }
    s->paths[s->path_count] = *wish;
    int64_t delay = carry(s, &s->paths[s->path_count], i, true);
    s->path_count++;
    return delay;
}

/* What a lane carries while another is set up. */
static wide set_up_bytes(const struct state *s)
{
    return (wide)rate(s->t) * switching(s->t) / 1000000000000;
}

/* More lanes: they must come in time to carry something, and, where others have them lit, spare more than a set-up. */
static int add_lanes(struct state *s, int i, int lit, int made)
{
    const struct reference_transfer *x = &s->transfers[i];
    wide bytes = (wide)x->bytes, per_set_up = set_up_bytes(s);
    for (int lane = lit ? 0 : 1; lane <= lanes_of(x) && lit + made < lanes_of(x) && bytes > lit * per_set_up; lane++) {
        struct lightpath wish;
        wide n = lit + made;
        bool is_open = want(s, x, lane, &wish);
        bool is_worth =
            is_open && (s->o->circuits != NETWORK_PATIENT || is_dark(s, &wish) || bytes > n * (n + 1) * per_set_up);
        if (is_worth) {
            set_up(s, &wish, i);
            made++;
        } else if (!is_ramp(s) || (lane == 0 && !is_planned(s, x))) {
            break;
        }
    }
    return made;
}

/* The first circuit of the pair that gets free is so before a new one would be lit, for those before it too. */
static bool is_sooner_free(const struct state *s, int i)
{
    const struct reference_transfer *x = &s->transfers[i];
    int64_t first = INT64_MAX, ahead = s->has_waited[i] ? s->before[i] : 0;
    int lit = lit_lanes(s, x);
    if (s->o->circuits != NETWORK_PATIENT || is_planned(s, x) || x->is_cleared_when_blocked || !lit)
        return false;
    for (int k = 0; k < s->path_count; k++)
        if (s->paths[k].is_alive && is_same_pair(x, &s->transfers[s->paths[k].transfer]) &&
            s->gone[s->paths[k].transfer] < first)
            first = s->gone[s->paths[k].transfer];
    for (int j = 0; j < s->count; j++)
        if (s->has_waited[j] && is_same_pair(x, &s->transfers[j])) {
            ahead += s->has_waited[i] ? 0 : (int64_t)s->transfers[j].bytes;
            ahead -= s->is_waiting[j] ? 0 : (int64_t)s->transfers[j].bytes;
        }
    wide per_s = (wide)rate(s->t) * lit;
    wide passes = ahead > 0 ? ((wide)ahead * 1000000000000 + per_s - 1) / per_s : 0;
    return first + passes - s->now <= switching(s->t);
}

static void start(struct state *s, int i, int64_t delay, int lit, int made)
{
    struct reference_transfer *x = &s->transfers[i];
    wide carried = lit * set_up_bytes(s);
    s->is_waiting[i] = false;
    s->is_moving[i] = true;
    s->begin[i] = s->now;
    x->wait = s->now - x->sent;
    x->reconfiguration = delay;
    s->spent[i] = lit && made ? switching(s->t) + payload(s->t, (wide)x->bytes - carried, lit + made)
                              : payload(s->t, (wide)x->bytes, lit + made);
    settle_end(s, i);
}

/* Idle lanes of the pair, the newest first; else one new lane; then more. */
static bool try_one(struct state *s, int i)
{
    const struct reference_transfer *x = &s->transfers[i];
    int64_t delay = 0;
    int lit = 0, made = 0;
    for (int k = s->path_count - 1; k >= 0 && lit < lanes_of(x); k--)
        if (s->paths[k].is_alive && !s->paths[k].is_carrying && is_same_pair(x, &s->transfers[s->paths[k].transfer])) {
            delay = carry(s, &s->paths[k], i, false);
            lit++;
        }
    if (lit == 0) {
        struct lightpath wish;
        if (s->is_patient[i] && lit_lanes(s, x) > 0)
            return false;
        s->is_patient[i] = false;
        if (!want(s, x, 0, &wish))
            return false;
        s->is_patient[i] = is_sooner_free(s, i);
        if (s->is_patient[i])
            return false;
        delay = set_up(s, &wish, i);
        made = 1;
    }
    made = add_lanes(s, i, lit, made);
    start(s, i, delay, lit, made);
    return true;
}

/* Bytes of its pair that had to wait before. */
static void begin_to_wait(struct state *s, int i)
{
    if (s->has_waited[i] || s->transfers[i].is_cleared_when_blocked)
        return;
    for (int j = 0; j < s->count; j++)
        if (s->has_waited[j] && is_same_pair(&s->transfers[i], &s->transfers[j]))
            s->before[i] += (int64_t)s->transfers[j].bytes;
    s->has_waited[i] = true;
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
        if (path->is_alive && path->is_carrying && s->gone[path->transfer] == s->now) {
            path->is_carrying = false;
            s->is_moving[path->transfer] = false;
            s->transfers[path->transfer].end = s->now + latency(s->t);
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
        if (!is_stuck)
            begin_to_wait(s, best);
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
        if (s->is_moving[i] && s->gone[i] < next)
            next = s->gone[i];
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
    s->has_waited = calloc(size, sizeof *s->has_waited);
    s->begin = calloc(size, sizeof *s->begin);
    s->gone = calloc(size, sizeof *s->gone);
    s->is_patient = calloc(size, sizeof *s->is_patient);
    s->spent = calloc(size, sizeof *s->spent);
    s->before = calloc(size, sizeof *s->before);
    s->paths = calloc(size * LANES_MAX, sizeof *s->paths);
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
    void *blocks[] = {s->is_waiting, s->is_moving, s->has_waited, s->begin, s->gone,
                      s->is_patient, s->spent,     s->before,     s->paths, s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}
