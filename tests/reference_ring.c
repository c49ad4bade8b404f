/* The slow ring: see reference_fabrics.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "figures.h"
#include "reference_fabrics.h"

static int64_t latency_of(const struct topology *t)
{
    return t->propagation_ps + 2 * t->io_latency_ps;
}

static int64_t payload_of(uint64_t bytes, double rate)
{
    return (int64_t)ceill((long double)bytes * 1e12L / floorl((long double)rate));
}

enum { CIRCUITS = 256 };

/* One lane. */
struct slow_circuit {
    bool is_there;
    int carries; /* transfer, or -1 */
    int64_t until;
    int64_t made; /* the how manyth that was set up */
    uint32_t source, target;
    bool is_up;
    int wave, sender, receiver;
};

struct slow_net {
    const struct world *world;
    struct slow_transfer *x;
    int count;
    bool *waits, *has_waited, *is_patient;
    uint64_t *before; /* bytes of its pair that had to wait before */
    int64_t made;
    struct slow_circuit circuits[CIRCUITS];
    uint32_t n;
};

static bool covers(const struct slow_net *net, const struct slow_circuit *c, uint32_t segment)
{
    uint32_t n = net->n;
    return c->is_up ? (segment + n - c->source) % n < (c->target + n - c->source) % n
                    : (segment + n - c->target) % n < (c->source + n - c->target) % n;
}

static bool do_overlap(const struct slow_net *net, const struct slow_circuit *a, const struct slow_circuit *b)
{
    for (uint32_t segment = 0; a->is_up == b->is_up && segment < net->n; segment++)
        if (covers(net, a, segment) && covers(net, b, segment))
            return true;
    return false;
}

static bool yields(const struct slow_net *net, const struct slow_circuit *c)
{
    enum network_circuits policy = net->world->options.circuits;
    return c->carries < 0 && (policy == NETWORK_HOLD || policy == NETWORK_PATIENT);
}

/* 0 = dark on the arc, 1 = only circuits that give way, 2 = taken. */
static int state_of_wave(const struct slow_net *net, const struct slow_circuit *made, int wave)
{
    int state = 0;
    for (int i = 0; i < CIRCUITS; i++) {
        const struct slow_circuit *c = &net->circuits[i];
        if (c->is_there && c->wave == wave && do_overlap(net, c, made)) {
            int its = yields(net, c) ? 1 : 2;
            state = its > state ? its : state;
        }
    }
    return state;
}

static int state_of_ring(const struct slow_net *net, uint32_t node, int ring, bool is_sender)
{
    for (int i = 0; i < CIRCUITS; i++) {
        const struct slow_circuit *c = &net->circuits[i];
        if (c->is_there && (is_sender ? c->source : c->target) == node && (is_sender ? c->sender : c->receiver) == ring)
            return yields(net, c) ? 1 : 2;
    }
    return 0;
}

/* The lowest dark one, else the lowest that gives way; -1 if there is none. */
static int pick_ring(const struct slow_net *net, uint32_t node, bool is_sender)
{
    for (int wanted = 0; wanted < 2; wanted++)
        for (int i = 0; i < *figure_whole(&net->world->topology, "ring.transceivers"); i++)
            if (state_of_ring(net, node, i, is_sender) == wanted)
                return i;
    return -1;
}

static bool pick_wave(const struct slow_net *net, struct slow_circuit *made)
{
    bool is_first_fit = figure_is(&net->world->topology, "ring.route", "first_fit");
    uint32_t up = (made->target + net->n - made->source) % net->n;
    bool is_up = 2 * up <= net->n;
    for (int worst = 0; worst < 2; worst++)
        for (int other = 0; other < (is_first_fit ? 2 : 1); other++) {
            made->is_up = other ? !is_up : is_up;
            for (made->wave = 0; made->wave < *figure_whole(&net->world->topology, "ring.wavelengths"); made->wave++)
                if (state_of_wave(net, made, made->wave) <= worst)
                    return true;
        }
    return false;
}

static bool is_in_way(const struct slow_net *net, const struct slow_circuit *c, const struct slow_circuit *made)
{
    return c->is_there && ((c->wave == made->wave && do_overlap(net, c, made)) ||
                           (c->source == made->source && c->sender == made->sender) ||
                           (c->target == made->target && c->receiver == made->receiver));
}

static int64_t switching_of(const struct slow_net *net)
{
    return *figure_whole(&net->world->topology, "ring.reconfiguration");
}

static double lane_rate(const struct slow_net *net)
{
    const struct topology *t = &net->world->topology;
    return floor(t->node_rate_bytes_per_s / (double)*figure_whole(t, "ring.transceivers"));
}

/* What a lane carries while another is set up. */
static double set_up_bytes(const struct slow_net *net)
{
    return floor(lane_rate(net) * (double)switching_of(net) / 1e12);
}

/* A new lane, where there is hardware for it. */
static bool find_lane(const struct slow_net *net, int which, struct slow_circuit *made)
{
    const struct slow_transfer *x = &net->x[which];
    *made = (struct slow_circuit){.is_there = true, .source = x->source, .target = x->target, .carries = which};
    made->sender = pick_ring(net, x->source, true);
    made->receiver = pick_ring(net, x->target, false);
    return made->sender >= 0 && made->receiver >= 0 && pick_wave(net, made);
}

/* Whoever is in the way goes. */
static void set_up_lane(struct slow_net *net, struct slow_circuit *made)
{
    int place = -1;
    for (int i = 0; i < CIRCUITS; i++) {
        if (is_in_way(net, &net->circuits[i], made))
            net->circuits[i].is_there = false;
        place = net->circuits[i].is_there ? place : i;
    }
    made->made = ++net->made;
    net->circuits[place] = *made;
}

/* One more lane: it must come in time to carry something and, where somebody is in the way, spare more than a set-up.
 */
static bool add_lane(struct slow_net *net, int which, int lit, int added)
{
    double bytes = (double)net->x[which].bytes, lanes = lit + added;
    struct slow_circuit made;
    bool is_in_way_of_others = false;
    if (bytes <= lit * set_up_bytes(net) || !find_lane(net, which, &made))
        return false;
    for (int i = 0; i < CIRCUITS; i++)
        is_in_way_of_others |= is_in_way(net, &net->circuits[i], &made);
    if (is_in_way_of_others && net->world->options.circuits == NETWORK_PATIENT &&
        bytes <= set_up_bytes(net) * lanes * (lanes + 1))
        return false;
    set_up_lane(net, &made);
    return true;
}

/* Is there a circuit of the pair, all of which are busy, that is free before a new one would be lit? */
static bool is_sooner_free(const struct slow_net *net, int which, int64_t now)
{
    const struct slow_transfer *x = &net->x[which];
    int64_t first = INT64_MAX;
    double ahead = net->has_waited[which] ? (double)net->before[which] : 0, lanes = 0;
    if (net->world->options.circuits != NETWORK_PATIENT || x->is_cleared_when_blocked)
        return false;
    for (int i = 0; i < CIRCUITS; i++) {
        const struct slow_circuit *c = &net->circuits[i];
        if (!c->is_there || c->source != x->source || c->target != x->target)
            continue;
        lanes++;
        first = c->until < first ? c->until : first;
    }
    for (int i = 0; i < net->count; i++)
        if (net->has_waited[i] && net->x[i].source == x->source && net->x[i].target == x->target) {
            ahead += net->has_waited[which] ? 0 : (double)net->x[i].bytes;
            ahead -= net->waits[i] ? 0 : (double)net->x[i].bytes;
        }
    int64_t passes = ahead > 0 && lanes > 0 ? payload_of((uint64_t)ahead, lane_rate(net) * lanes) : 0;
    return lanes > 0 && (net->is_patient[which] || first + passes - now <= switching_of(net));
}

/* Idle circuits of the pair, the newest first. Returns how many. */
static int take_lit(struct slow_net *net, int which)
{
    const struct slow_transfer *x = &net->x[which];
    int taken = 0;
    for (; taken < (x->lanes ? x->lanes : 1); taken++) {
        struct slow_circuit *newest = NULL;
        for (int i = 0; i < CIRCUITS; i++) {
            struct slow_circuit *c = &net->circuits[i];
            if (c->is_there && c->carries < 0 && c->source == x->source && c->target == x->target &&
                (!newest || c->made > newest->made))
                newest = c;
        }
        if (!newest)
            break;
        newest->carries = which;
    }
    return taken;
}

static void carry(struct slow_net *net, int which, int64_t now, int lit, int added)
{
    const struct topology *t = &net->world->topology;
    struct slow_transfer *x = &net->x[which];
    int64_t switching = switching_of(net), gone;
    x->wait = now - x->sent;
    x->reconfiguration = lit ? 0 : switching;
    gone =
        now + (added ? switching : 0) +
        payload_of(x->bytes - (lit && added ? (uint64_t)(lit * set_up_bytes(net)) : 0), lane_rate(net) * (lit + added));
    x->end = gone + latency_of(t);
    for (int i = 0; i < CIRCUITS; i++)
        if (net->circuits[i].is_there && net->circuits[i].carries == which)
            net->circuits[i].until = gone;
    net->waits[which] = false;
}

static bool try_ring(struct slow_net *net, int which, int64_t now)
{
    const struct slow_transfer *x = &net->x[which];
    int lanes = x->lanes ? x->lanes : 1, lit = take_lit(net, which), added = 0;
    if (lit == 0) {
        struct slow_circuit made;
        bool is_sooner = is_sooner_free(net, which, now);
        if (net->is_patient[which] && is_sooner)
            return false;
        net->is_patient[which] = find_lane(net, which, &made) && is_sooner;
        if (net->is_patient[which] || !find_lane(net, which, &made))
            return false;
        set_up_lane(net, &made);
        added = 1;
    }
    while (lit + added < lanes && add_lane(net, which, lit, added))
        added++;
    carry(net, which, now, lit, added);
    return true;
}

/* Bytes of its pair that had to wait before. */
static void begin_to_wait(struct slow_net *net, int which)
{
    const struct slow_transfer *x = &net->x[which];
    if (net->has_waited[which] || x->is_cleared_when_blocked)
        return;
    for (int i = 0; i < net->count; i++)
        if (net->has_waited[i] && net->x[i].source == x->source && net->x[i].target == x->target)
            net->before[which] += net->x[i].bytes;
    net->has_waited[which] = true;
}

static void end_circuits(struct slow_net *net, int64_t now)
{
    int64_t linger = net->world->options.linger_ps;
    bool is_lingering = net->world->options.circuits == NETWORK_LINGER;
    for (int i = 0; i < CIRCUITS; i++) {
        struct slow_circuit *c = &net->circuits[i];
        if (!c->is_there || c->until > now)
            continue;
        if (c->carries >= 0) {
            c->carries = -1;
            c->is_there = yields(net, c) || (is_lingering && linger > 0);
            c->until = is_lingering ? now + linger : INT64_MAX;
        } else {
            c->is_there = false;
        }
    }
}

static void clear_transfer(struct slow_net *net, int which)
{
    net->waits[which] = false;
    net->x[which].was_cleared = true;
    net->x[which].end = net->x[which].sent;
}

/* The waiting transfers in order; strict order stops at the first that does not fit. */
static void dispatch_ring(struct slow_net *net, int64_t now)
{
    bool *tried = memory_alloc((size_t)net->count, sizeof *tried);
    for (;;) {
        int best = -1;
        for (int i = 0; i < net->count; i++)
            if (net->waits[i] && !tried[i] && (best < 0 || slow_is_before(net->world, net->x, i, best)))
                best = i;
        if (best < 0)
            break;
        tried[best] = true;
        if (try_ring(net, best, now))
            continue;
        begin_to_wait(net, best);
        if (net->x[best].is_cleared_when_blocked)
            clear_transfer(net, best);
        else if (net->world->options.is_strict)
            break;
    }
    for (int i = 0; i < net->count; i++)
        if (net->waits[i] && net->x[i].is_cleared_when_blocked)
            clear_transfer(net, i);
    free(tried);
}

static int64_t next_change(const struct slow_net *net, int64_t now)
{
    int64_t next = INT64_MAX;
    for (int i = 0; i < net->count; i++)
        if (net->x[i].sent > now && net->x[i].sent < next)
            next = net->x[i].sent;
    for (int i = 0; i < CIRCUITS; i++)
        if (net->circuits[i].is_there && net->circuits[i].until > now && net->circuits[i].until < next)
            next = net->circuits[i].until;
    return next;
}

void slow_ring(const struct world *world, struct slow_transfer *transfers, int count)
{
    struct slow_net *net = memory_alloc(1, sizeof *net);
    *net = (struct slow_net){.world = world, .x = transfers, .count = count, .n = world->topology.server_count};
    net->waits = memory_alloc((size_t)count, sizeof *net->waits);
    net->has_waited = memory_alloc((size_t)count, sizeof *net->has_waited);
    net->is_patient = memory_alloc((size_t)count, sizeof *net->is_patient);
    net->before = memory_alloc((size_t)count, sizeof *net->before);
    for (int i = 0; i < count; i++)
        transfers[i].end = -1;
    for (int64_t now = transfers[0].sent; now != INT64_MAX; now = next_change(net, now)) {
        end_circuits(net, now);
        for (int i = 0; i < count; i++)
            if (transfers[i].sent == now)
                net->waits[i] = true;
        dispatch_ring(net, now);
    }
    free(net->waits);
    free(net->has_waited);
    free(net->is_patient);
    free(net->before);
    free(net);
}
