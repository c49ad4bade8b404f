/* A ring of fibres and micro-rings (SiP-ML's SiP-Ring; optical network, section 2).
 *
 * Segment i joins server i to server i + 1, with one fibre up and one down. A
 * circuit holds a micro-ring of its source, one of its target, and one wavelength
 * on every segment of its arc: circuits on disjoint arcs share a wavelength. Only
 * the two micro-rings are tuned, so nobody else is disturbed (scope endpoint).
 *
 * Choice: the lowest wavelength that is dark on the whole shorter arc (up where
 * both are equal); with route first_fit, on the other arc; else the lowest whose
 * arc carries nothing: idle lit circuits on it give way. Micro-rings are chosen in
 * the same way: lowest dark one first.
 *
 * Masks of wavelengths over a tree of segments say what is held and what is closed:
 * held and not to be had, since it carries or does not give way. So a request costs
 * O(log servers * wavelengths / 64), and O(arc / 64) more where idle circuits give
 * way. One that waits for a micro-ring stands in line at its server; one that waits
 * for a wavelength is found when a gap opens that its arc fits in (ring_queue.h).
 *
 * Hardware numbers: sending micro-rings node * T + t, then receiving ones, dense;
 * above, (direction * W + wavelength) * n + first segment of an arc. Nothing of an
 * arc but its beginning is known to the core, which is why `note` asserts that no
 * segment is ever held twice.
 */
#include "fabric/fabrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "fabric/ring_bits.h"
#include "fabric/ring_queue.h"

struct ring {
    uint32_t servers, wavelengths, transceivers;
    struct ring_masks held[DIRECTIONS], closed[DIRECTIONS];
    struct ring_queue queue;           /* for wavelengths */
    uint64_t *mask;                    /* scratch */
    uint32_t words;                    /* of a set of segments */
    uint64_t *starts;                  /* of arcs: sets of segments, (direction * W + wavelength) * words */
    uint64_t *rings_held, *rings_busy; /* sets of micro-rings, by hardware number */
    bool is_first_fit;
};

struct ring_settings {
    int64_t wavelengths;  /* a fibre and direction carries */
    int64_t transceivers; /* pairs of micro-rings of a server */
    int64_t reconfiguration_ps;
    struct fabric_delays delays;
    enum { ROUTE_SHORTEST, ROUTE_FIRST_FIT } route;
};

#define SETTINGS struct ring_settings
static const struct key ring_keys[] = {
    {INTEGER_KEY("ring.wavelengths", wavelengths), .default_text = "64", .minimum = "1", .maximum = "4096",
     .doc = "Wavelengths on each fibre of the ring, in each direction; each carries its share of node_rate."},
    {INTEGER_KEY("ring.transceivers", transceivers), .default_text = "64", .minimum = "1", .maximum = "4096",
     .doc = "Micro-rings of a server that send, and as many that receive."},
    {TIME_KEY("ring.reconfiguration", reconfiguration_ps), .default_text = "25us", .minimum = "0ps",
     .doc = "To tune two micro-rings. The default is unverified (SiP-ML)."},
    FABRIC_DELAY_KEYS("ring", NULL),
    {CHOICE_KEY("ring.route", route, "shortest|first_fit"), .default_text = "shortest",
     .doc = "The shorter arc only, or the first that has a free wavelength, the shorter one tried first."},
};

static const struct fabric_circuits circuits;

static void open_books(struct ring *ring, size_t senders)
{
    ring->words = (ring->servers + 63) / 64;
    for (int i = 0; i < DIRECTIONS; i++) {
        ring->held[i] = ring_masks_create(ring->servers, ring->wavelengths);
        ring->closed[i] = ring_masks_create(ring->servers, ring->wavelengths);
    }
    ring->queue = ring_queue_create(ring->closed);
    ring->mask = memory_alloc(ring->closed->words, sizeof *ring->mask);
    ring->starts = memory_alloc((size_t)DIRECTIONS * ring->wavelengths * ring->words, sizeof *ring->starts);
    ring->rings_held = memory_alloc((2 * senders + 63) / 64, sizeof *ring->rings_held);
    ring->rings_busy = memory_alloc((2 * senders + 63) / 64, sizeof *ring->rings_busy);
}

static enum status open_ring(struct fabric_state *state, struct error *error)
{
    const struct topology *t = state->topology;
    const struct ring_settings *settings = t->fabric.settings;
    if (t->server_count < 2)
        return error_set(error, STATUS_USER, "fabric ring needs at least 2 servers");
    TRY(fabric_share(state, settings->transceivers, settings->reconfiguration_ps, 0, error));
    TRY(fabric_add_delays(state, &settings->delays, error));
    uint64_t senders = (uint64_t)t->server_count * (uint64_t)settings->transceivers;
    if (2 * senders >= FABRIC_NONE)
        return error_set(error, STATUS_USER, "%llu micro-rings are too many to simulate",
                         (unsigned long long)(2 * senders));
    struct ring *ring = memory_alloc(1, sizeof *ring);
    ring->servers = t->server_count;
    ring->wavelengths = (uint32_t)settings->wavelengths;
    ring->transceivers = (uint32_t)settings->transceivers;
    ring->is_first_fit = settings->route == ROUTE_FIRST_FIT;
    open_books(ring, (size_t)senders);
    state->circuits = &circuits;
    state->own = ring;
    state->dense = 2 * senders;
    state->line_count = 2 * ring->servers;
    uint32_t most = ring->wavelengths < ring->transceivers ? ring->wavelengths : ring->transceivers;
    state->lanes_max = (uint16_t)most;
    return STATUS_OK;
}

static void close_ring(struct fabric_state *state)
{
    struct ring *ring = state->own;
    for (int i = 0; i < DIRECTIONS; i++) {
        ring_masks_free(&ring->held[i]);
        ring_masks_free(&ring->closed[i]);
    }
    ring_queue_free(&ring->queue);
    free(ring->mask);
    free(ring->starts);
    free(ring->rings_held);
    free(ring->rings_busy);
    free(ring);
}

static struct arc arc_of(const struct ring *ring, uint32_t source, uint32_t target, uint32_t direction)
{
    uint32_t n = ring->servers, first = direction == UP ? source : target, last = direction == UP ? target : source;
    return (struct arc){direction, first, (last + n - first) % n};
}

/* The arcs that a pair may take, the shorter one first; returns how many. */
static uint32_t arcs_of(const struct ring *ring, const struct fabric_pair *pair, struct arc arcs[DIRECTIONS])
{
    uint32_t n = ring->servers, target = pair->targets[0], up = (target + n - pair->source) % n;
    uint32_t shorter = up <= n - up ? UP : DOWN;
    arcs[0] = arc_of(ring, pair->source, target, shorter);
    arcs[1] = arc_of(ring, pair->source, target, 1 - shorter);
    return ring->is_first_fit ? 2 : 1;
}

static size_t set_of(const struct ring *ring, const struct arc *arc, uint32_t wavelength)
{
    return ((size_t)arc->direction * ring->wavelengths + wavelength) * ring->words;
}

static uint64_t wave_id(const struct fabric_state *state, uint32_t direction, uint32_t wavelength, uint32_t first)
{
    const struct ring *ring = state->own;
    return state->dense + ((uint64_t)direction * ring->wavelengths + wavelength) * ring->servers + first;
}

/* The circuits that hold segments of the arc on a wavelength: those that begin within, and one that reaches in. */
static void add_holders(const struct fabric_state *state, const struct arc *arc, uint32_t wavelength,
                        struct fabric_list *list)
{
    const struct ring *ring = state->own;
    size_t set = set_of(ring, arc, wavelength);
    const uint64_t *starts = &ring->starts[set];
    uint32_t n = ring->servers, end = arc->first + arc->length;
    if (ring_masks_taken(&ring->held[arc->direction], wavelength, arc->first) && !ring_bits_has(starts, arc->first))
        fabric_list_add(list, wave_id(state, arc->direction, wavelength, ring_bits_back(starts, n, arc->first)));
    for (uint32_t at = arc->first; (at = ring_bits_next(starts, at, end < n ? end : n)) < (end < n ? end : n); at++)
        fabric_list_add(list, wave_id(state, arc->direction, wavelength, at));
    for (uint32_t at = 0; end > n && (at = ring_bits_next(starts, at, end - n)) < end - n; at++)
        fabric_list_add(list, wave_id(state, arc->direction, wavelength, at));
}

/* The lowest wavelength that is not in the mask, or `wavelengths`. */
static uint32_t lowest_wave(const struct ring *ring)
{
    for (uint32_t at = 0; at < ring->wavelengths; at += 64)
        if (~ring->mask[at / 64] != 0) {
            uint32_t wave = at + (uint32_t)__builtin_ctzll(~ring->mask[at / 64]);
            return wave < ring->wavelengths ? wave : ring->wavelengths;
        }
    return ring->wavelengths;
}

/* Adds the lowest wavelength to hold: a dark one, or also one whose holders give way. */
static bool choose_wave(const struct fabric_state *state, const struct arc *arc, bool is_evicting,
                        struct fabric_plan *plan)
{
    struct ring *ring = state->own;
    const struct ring_masks *taken = &(is_evicting ? ring->closed : ring->held)[arc->direction];
    memset(ring->mask, 0, taken->words * sizeof *ring->mask);
    ring_masks_add(taken, arc->first, arc->length, ring->mask);
    uint32_t wave = lowest_wave(ring);
    if (wave == ring->wavelengths)
        return false;
    fabric_list_add(&plan->hold, wave_id(state, arc->direction, wave, arc->first));
    if (is_evicting)
        add_holders(state, arc, wave, &plan->evict);
    return true;
}

/* Adds the lowest micro-ring from `first` on: a dark one, else an idle one that gives way. */
static bool choose_micro_ring(const struct fabric_state *state, const struct network *network, uint32_t first,
                              struct fabric_list *list)
{
    const struct ring *ring = state->own;
    uint32_t end = first + ring->transceivers, chosen = end;
    for (uint32_t i = first; i < end && chosen == end; i++)
        if (!ring_bits_has(ring->rings_held, i))
            chosen = i;
    for (uint32_t i = first; i < end && chosen == end; i++)
        if (!ring_bits_has(ring->rings_busy, i) && network_hardware_is_free(network, i))
            chosen = i;
    if (chosen < end)
        fabric_list_add(list, chosen);
    return chosen < end;
}

/* A dark wavelength on either arc, else one whose holders give way. */
static bool choose_arc(const struct fabric_state *state, const struct fabric_pair *pair, struct fabric_plan *plan)
{
    struct arc arcs[DIRECTIONS];
    uint32_t count = arcs_of(state->own, pair, arcs), kinds = state->gives_way ? 2 : 1;
    for (uint32_t i = 0; i < kinds * count; i++)
        if (choose_wave(state, &arcs[i % count], i >= count, plan))
            return true;
    return false;
}

/* Micro-rings first: without them no wavelength helps. */
static bool plan_ring(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      struct fabric_plan *plan)
{
    const struct ring *ring = state->own;
    uint32_t n = ring->servers, target = pair->targets[0];
    bool has_sender = choose_micro_ring(state, network, pair->source * ring->transceivers, &plan->hold);
    if (!has_sender || !choose_micro_ring(state, network, (n + target) * ring->transceivers, &plan->hold)) {
        fabric_list_add(&plan->wait, FABRIC_LINE(has_sender ? n + target : pair->source));
        return false;
    }
    if (choose_arc(state, pair, plan))
        return true;
    fabric_list_add(&plan->wait, FABRIC_KEPT);
    return false;
}

static void keep_ring(const struct fabric_state *state, const struct fabric_pair *pair, struct turn turn,
                      uint32_t request)
{
    struct ring *ring = state->own;
    struct arc arcs[DIRECTIONS];
    uint32_t count = arcs_of(ring, pair, arcs);
    ring_queue_add(&ring->queue, arcs, count, turn, request);
}

static uint32_t next_ring(const struct fabric_state *state)
{
    return ring_queue_next(&((struct ring *)state->own)->queue);
}

static uint32_t line_of_ring(const struct fabric_state *state, uint64_t hardware)
{
    const struct ring *ring = state->own;
    return hardware < state->dense ? (uint32_t)hardware / ring->transceivers : FABRIC_NONE;
}

static bool line_is_open_ring(const struct fabric_state *state, const struct network *network, uint32_t line)
{
    const struct ring *ring = state->own;
    (void)network;
    for (uint32_t i = 0; i < ring->transceivers; i++)
        if (!ring_bits_has(ring->rings_busy, line * ring->transceivers + i))
            return true;
    return false;
}

static void note_micro_ring(const struct fabric_state *state, enum fabric_note note, uint32_t at)
{
    struct ring *ring = state->own;
    bool is_holding = note == FABRIC_TAKEN || note == FABRIC_RELEASED,
         is_set = note == FABRIC_TAKEN || note == FABRIC_BUSY;
    ring_bits_put(is_holding ? ring->rings_held : ring->rings_busy, at, is_set);
}

static void note_ring(const struct fabric_state *state, enum fabric_note note, uint32_t source, uint32_t target,
                      uint64_t hardware)
{
    struct ring *ring = state->own;
    if (hardware < state->dense) {
        note_micro_ring(state, note, (uint32_t)hardware);
        return;
    }
    uint64_t number = hardware - state->dense, colour = number / ring->servers;
    struct arc arc = arc_of(ring, source, target, (uint32_t)(colour / ring->wavelengths));
    uint32_t wavelength = (uint32_t)(colour % ring->wavelengths);
    bool is_holding = note == FABRIC_TAKEN || note == FABRIC_RELEASED,
         is_set = note == FABRIC_TAKEN || note == FABRIC_BUSY;
    require(arc.first == number % ring->servers);
    if (is_holding != state->gives_way) {
        ring_masks_set(&ring->closed[arc.direction], wavelength, arc.first, arc.length, is_set);
        if (!is_set)
            ring_queue_open(&ring->queue, &arc, wavelength);
    }
    if (!is_holding)
        return;
    ring_masks_set(&ring->held[arc.direction], wavelength, arc.first, arc.length, is_set);
    ring_bits_put(&ring->starts[(size_t)colour * ring->words], arc.first, is_set);
}

static void describe_ring(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES])
{
    const struct ring *ring = state->own;
    char name[TOPOLOGY_NAME_BYTES];
    if (hardware < state->dense) {
        bool is_sender = hardware < state->dense / 2;
        topology_name(state->topology, (uint32_t)(hardware % (state->dense / 2) / ring->transceivers), name);
        snprintf(text, FABRIC_TEXT_BYTES, "%s micro-ring %u of %s", is_sender ? "sending" : "receiving",
                 (unsigned)(hardware % ring->transceivers), name);
        return;
    }
    uint64_t number = hardware - state->dense, colour = number / ring->servers;
    topology_name(state->topology, (uint32_t)(number % ring->servers), name);
    snprintf(text, FABRIC_TEXT_BYTES, "wavelength %u %s, arc from %s on", (unsigned)(colour % ring->wavelengths),
             colour < ring->wavelengths ? "up" : "down", name);
}

/* The shortest stretch of the ring that has all these servers, among those that do not pass `origin`. */
static struct arc hull_of(const struct topology *topology, const uint32_t *servers, uint32_t count, uint32_t origin)
{
    uint32_t n = topology->server_count, least = n, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = (servers[i] + n - origin) % n;
        least = at < least ? at : least;
        most = at > most ? at : most;
    }
    return (struct arc){.first = (least + origin) % n, .length = most - least};
}

/* The segments between servers that lie within less than half of the ring: no shorter arc leaves that. Else, or where
 * both arcs are tried, all of them. Taken in at most so many sectors. */
enum { SECTORS = 256 };

static void domains_ring(const struct topology *topology, const uint32_t *servers, uint32_t count,
                         struct fabric_list *list)
{
    uint32_t n = topology->server_count, sector = (n + SECTORS - 1) / SECTORS;
    struct arc hull = hull_of(topology, servers, count, 0), turned = hull_of(topology, servers, count, n / 2);
    if (turned.length < hull.length)
        hull = turned;
    if (((const struct ring_settings *)topology->fabric.settings)->route == ROUTE_FIRST_FIT || 2 * hull.length >= n)
        hull = (struct arc){.first = 0, .length = n};
    for (uint32_t done = 0, segment; done < hull.length; done += sector - segment % sector) {
        segment = hull.first + done < n ? hull.first + done : hull.first + done - n;
        fabric_list_add(list, segment / sector);
        if (segment - segment % sector + sector > n) /* the last one is shorter */
            done -= segment - segment % sector + sector - n;
    }
}

static const struct fabric_circuits circuits = {
    .close = close_ring,
    .plan = plan_ring,
    .describe = describe_ring,
    .line_of = line_of_ring,
    .line_is_open = line_is_open_ring,
    .note = note_ring,
    .keep = keep_ring,
    .next = next_ring,
};

const struct fabric fabric_ring = {
    .strategy =
        {.name = "ring",
         .doc = "Micro-rings on a ring of fibres: a wavelength on the whole arc, shared by circuits on disjoint arcs.",
         STRATEGY_KEYS(ring_keys, struct ring_settings)},
    .is_reconfigured = true,
    .domains = domains_ring,
    .open = open_ring,
};
