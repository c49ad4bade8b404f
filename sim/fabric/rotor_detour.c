/* Detours on a rotor: whoever is connected now carries it on later (after RotorNet's RotorLB and Valiant).
 *
 * Each server has a transmitter per switch. A transmitter looks for work when its
 * window begins, when it has sent what it had, when something joins the line of
 * its present pair, and when a transfer is sent from its server. It takes
 *  1. the first in line for the very server that it is connected to: transfers to
 *     that server, and pieces left here by others on their way to it;
 *  2. else, of the first transfer in line at its server (only that one) whatever
 *     is not sent yet, if the detour is sooner: the piece would reach the server
 *     connected now, and that would have a window to the target, before the next
 *     window of the direct pair begins, lines aside.
 * A piece is what is left or what fits in the rest of the window, and is not
 * interrupted. Lines are in the order of the policy. Within an instant everything
 * that ends, ends first; then the transmitters of a server look in the order of
 * their switches. At most one detour: a piece left elsewhere goes on directly.
 *
 * Accounting: payload is the time during which at least one piece of the transfer
 * is being sent, latency that of the last piece's last trip. Of each stretch in
 * which no piece is, reconfiguration is the dark time right before the window that
 * ends it (where several windows do, the longest of these), as far as it lies
 * within; the rest is wait.
 *
 * Two events per piece, and one per window in which a server has bytes not sent yet; a
 * look costs O(switches). Ticks of sending stand for bytes; pieces add up to the
 * transfer exactly. Memory: servers x switches, and what is pending.
 */
#include "fabric/rotor_detour.h"

#include <stdlib.h>

#include "engine/memory.h"

enum { EVENT_LOOK, EVENT_SENT, EVENT_LANDED, EVENT_WINDOW, EVENT_PAIR, EVENT_LOOSE };
enum { WINDOWS_MAX = 1 << 20 }; /* of one transfer: each costs events */
enum { PIECE_BITS = 24 };       /* of a turn: which piece of its transfer */

/* A transfer. References from lines keep its place when it is done. */
struct trip {
    struct turn turn;
    sim_time unsent, missing; /* ticks: at the source; not yet at the target */
    sim_time payload, since;  /* since the pieces that are being sent are */
    sim_time stopped;         /* when the last one before them was sent; at first, when the transfer was */
    sim_time dark, dark_last; /* reconfiguration, and that of the last stretch alone */
    uint32_t transfer, source, target;
    uint32_t sending, lines; /* pieces being sent; lines that it stands in */
    uint32_t left;           /* pieces left with others so far */
    bool is_begun, is_over;
};

/* Bytes on their way, then perhaps in line at an intermediate server. */
struct piece {
    sim_time ticks;
    sim_time window; /* in which it is sent: when that began */
    uint32_t trip;
    uint32_t sender; /* transmitter */
    uint32_t at;     /* where it lands */
};

struct server {
    struct waitlist line; /* of trips with something unsent */
    bool is_look_due, is_window_due;
};

struct transmitter {
    sim_time busy, from; /* of pieces before; of this one */
    bool is_busy, is_looking;
};

struct rotor_detours {
    struct rotor_schedule schedule;
    struct server *servers;
    struct transmitter *transmitters; /* server * switches + switch */
    struct rotor_pairs pairs;         /* lines of trips (even numbers) and pieces (odd ones) */
    struct trip *trips;
    struct piece *pieces;
    struct reuse trip_places, piece_places;
};

static const struct fabric_carrier carrier;

void rotor_detour_open(struct fabric_state *state, const struct rotor_schedule *schedule)
{
    struct rotor_detours *d = memory_alloc(1, sizeof *d);
    d->schedule = *schedule;
    d->servers = memory_alloc(schedule->servers, sizeof *d->servers);
    d->transmitters = memory_alloc((size_t)schedule->servers * schedule->switches, sizeof *d->transmitters);
    state->carrier = &carrier;
    state->own = d;
}

static void close_detours(struct fabric_state *state)
{
    struct rotor_detours *d = state->own;
    for (uint32_t i = 0; i < d->schedule.servers; i++)
        waitlist_free(&d->servers[i].line);
    rotor_pairs_free(&d->pairs);
    reuse_free(&d->trip_places, d->trips);
    reuse_free(&d->piece_places, d->pieces);
    free(d->servers);
    free(d->transmitters);
    free(d);
}

static void free_trip_if_over(struct rotor_detours *d, uint32_t index)
{
    if (!d->trips[index].is_over || d->trips[index].lines > 0)
        return;
    reuse_give(&d->trip_places, index);
}

static void fail(struct network *network)
{
    network_fail_clock(network, "a transfer on a rotor ends");
}

/* A transmitter is to look at the end of this instant. */
static void look_soon(struct rotor_detours *d, struct network *network, uint32_t server, uint32_t which)
{
    d->transmitters[(size_t)server * d->schedule.switches + which].is_looking = true;
    if (d->servers[server].is_look_due)
        return;
    d->servers[server].is_look_due = true;
    network_schedule_last(network, network_now(network), server, EVENT_LOOK);
}

/* Makes sure that an event looks in the next window of a pair whose line is not empty. */
static void arm_pair(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct rotor_pair *pair = &d->pairs.items[index];
    if (pair->is_due)
        return;
    int64_t j = rotor_next(&d->schedule, pair->source, pair->target, network_now(network));
    sim_time begin = rotor_showing(&d->schedule, j);
    if (begin <= network_now(network))
        begin = rotor_showing(&d->schedule, j + d->schedule.matchings);
    if (begin == SIM_TIME_MAX) {
        fail(network);
        return;
    }
    pair->is_due = true;
    network_schedule(network, begin, index, EVENT_PAIR);
}

/* Something joins the line of a pair: if the pair is connected now, its transmitter looks. Of the pieces of a transfer
 * the first to be left goes first: no two turns are equal. */
static void join_pair(struct rotor_detours *d, struct network *network, uint32_t server, const struct trip *trip,
                      uint32_t what)
{
    require(trip->left >> PIECE_BITS == 0 && trip->turn.sequence >> (64 - PIECE_BITS) == 0);
    struct turn turn = {trip->turn.key, trip->turn.sequence << PIECE_BITS | trip->left};
    uint32_t index = rotor_pairs_make(&d->pairs, server, trip->target);
    waitlist_add(&d->pairs.items[index].line, (struct waitlist_item){.turn = turn, .what = what});
    int64_t j = rotor_next(&d->schedule, server, trip->target, network_now(network));
    if (rotor_showing(&d->schedule, j) <= network_now(network))
        look_soon(d, network, server, rotor_switch(&d->schedule, j));
    arm_pair(d, network, index);
}

static enum status send_detour(struct network *network, uint32_t transfer, struct error *error)
{
    struct rotor_detours *d = network_fabric(network)->own;
    struct transfer_view view = network_transfer(network, transfer);
    sim_time work = fabric_payload(network_fabric(network), view.bytes, 1);
    if (work / WINDOWS_MAX >= d->schedule.lit)
        return error_set(error, STATUS_USER,
                         "%llu bytes fill more than %d slots of a rotor: with rotor.two_hop each is simulated; send "
                         "less at once, or use two_hop: false",
                         (unsigned long long)view.bytes, WINDOWS_MAX);
    uint32_t index;
    d->trips = reuse_take(&d->trip_places, d->trips, sizeof *d->trips, &index);
    d->trips[index] = (struct trip){.turn = view.turn,
                                    .unsent = work,
                                    .missing = work,
                                    .stopped = view.start,
                                    .transfer = transfer,
                                    .source = view.source,
                                    .target = view.target,
                                    .lines = 2};
    waitlist_add(&d->servers[view.source].line, (struct waitlist_item){.turn = view.turn, .what = index});
    join_pair(d, network, view.source, &d->trips[index], 2 * index);
    for (uint32_t which = 0; which < d->schedule.switches; which++)
        look_soon(d, network, view.source, which);
    if (view.is_cleared_when_blocked)
        network_schedule_last(network, view.start, index, EVENT_LOOSE);
    return STATUS_OK;
}

/* A piece of the trip begins now, and perhaps ends a stretch without any. */
static void end_stretch(const struct rotor_detours *d, struct trip *trip, sim_time window, sim_time now)
{
    if (trip->sending++ == 0) {
        trip->since = now;
        trip->dark_last = 0;
    }
    if (trip->since < now)
        return;
    sim_time dark = rotor_dark_before(&d->schedule, window, trip->stopped, now);
    if (dark <= trip->dark_last)
        return;
    trip->dark += dark - trip->dark_last;
    trip->dark_last = dark;
}

/* The piece leaves on a transmitter: ticks of a trip, to the server it is connected to. */
static void send_piece(struct rotor_detours *d, struct network *network, const struct piece *piece)
{
    struct trip *trip = &d->trips[piece->trip];
    sim_time now = network_now(network), landing;
    uint32_t index;
    d->pieces = reuse_take(&d->piece_places, d->pieces, sizeof *d->pieces, &index);
    require(index < FABRIC_NONE / 2);
    d->pieces[index] = *piece;
    require(piece->ticks > 0 && !d->transmitters[piece->sender].is_busy);
    d->transmitters[piece->sender].is_busy = true;
    d->transmitters[piece->sender].from = now;
    end_stretch(d, trip, piece->window, now);
    if (!trip->is_begun)
        network_begin(network, trip->transfer);
    trip->is_begun = true;
    if (!clock_add(now + piece->ticks, network_fabric(network)->latency, &landing)) {
        fail(network);
        return;
    }
    network_schedule(network, now + piece->ticks, index, EVENT_SENT);
    network_schedule(network, landing, index, EVENT_LANDED);
}

/* Rule 1. False when nobody stands in line for the server that it is connected to. */
static bool look_direct(struct rotor_detours *d, struct network *network, struct piece *made, uint32_t server,
                        sim_time rest)
{
    uint32_t found = rotor_pairs_find(&d->pairs, server, made->at);
    while (found != REUSE_NONE && d->pairs.items[found].line.count > 0) {
        struct waitlist *line = &d->pairs.items[found].line;
        uint32_t what = waitlist_first(line), index = what / 2;
        bool is_piece = what % 2;
        made->trip = is_piece ? d->pieces[index].trip : index;
        sim_time *left = is_piece ? &d->pieces[index].ticks : &d->trips[index].unsent;
        made->ticks = *left < rest ? *left : rest;
        *left -= made->ticks;
        bool is_gone = *left == 0;
        if (is_gone) {
            waitlist_take(line);
            if (is_piece)
                reuse_give(&d->piece_places, index);
            else
                d->trips[index].lines--;
        }
        if (made->ticks > 0) {
            send_piece(d, network, made);
            return true;
        }
        free_trip_if_over(d, index);
    }
    return false;
}

/* Rule 2: the first transfer in line, if the detour is sooner. */
static void look_detour(struct rotor_detours *d, struct network *network, struct piece *made, uint32_t server,
                        sim_time rest)
{
    struct waitlist *line = &d->servers[server].line;
    sim_time now = network_now(network), landing;
    while (line->count > 0 && d->trips[waitlist_first(line)].unsent == 0) {
        uint32_t gone = waitlist_take(line);
        d->trips[gone].lines--;
        free_trip_if_over(d, gone);
    }
    if (line->count == 0)
        return;
    made->trip = waitlist_first(line);
    struct trip *trip = &d->trips[made->trip];
    if (trip->target == made->at)
        return;
    made->ticks = trip->unsent < rest ? trip->unsent : rest;
    if (!clock_add(now + made->ticks, network_fabric(network)->latency, &landing))
        return;
    sim_time direct_at = rotor_showing(&d->schedule, rotor_next(&d->schedule, server, trip->target, now));
    sim_time second_at = rotor_showing(&d->schedule, rotor_next(&d->schedule, made->at, trip->target, landing));
    if (second_at < landing)
        second_at = landing;
    if (second_at >= direct_at || direct_at <= now)
        return;
    trip->unsent -= made->ticks;
    send_piece(d, network, made);
}

/* One transmitter looks for work. */
static void look(struct rotor_detours *d, struct network *network, uint32_t server, uint32_t which, int64_t last)
{
    /* Its last showing that has begun: the latest one not after `last` on this switch. */
    int64_t switches = d->schedule.switches,
            j = last - (rotor_switch(&d->schedule, last) + switches - which) % switches;
    sim_time now = network_now(network), end = rotor_showing(&d->schedule, j) + d->schedule.lit;
    if (end <= now)
        return;
    int64_t matchings = d->schedule.matchings, matching = (j % matchings + matchings) % matchings;
    struct piece made = {.sender = (uint32_t)(server * switches + which), .window = end - d->schedule.lit};
    made.at = (uint32_t)((server + (uint64_t)matching + 1) % d->schedule.servers);
    if (!look_direct(d, network, &made, server, end - now))
        look_detour(d, network, &made, server, end - now);
}

/* While a server has bytes not sent yet, it looks at every window that begins. */
static void arm_server(struct rotor_detours *d, struct network *network, uint32_t server, int64_t last)
{
    struct server *at = &d->servers[server];
    if (at->is_window_due || at->line.count == 0)
        return;
    sim_time begin = rotor_showing(&d->schedule, last + 1);
    if (begin == SIM_TIME_MAX) {
        fail(network);
        return;
    }
    at->is_window_due = true;
    network_schedule(network, begin, server, EVENT_WINDOW);
}

static void look_around(struct rotor_detours *d, struct network *network, uint32_t server)
{
    int64_t last = rotor_showing_at(&d->schedule, network_now(network));
    struct transmitter *first = &d->transmitters[(size_t)server * d->schedule.switches];
    d->servers[server].is_look_due = false;
    for (uint32_t which = 0; which < d->schedule.switches; which++) {
        if (first[which].is_looking && !first[which].is_busy)
            look(d, network, server, which, last);
        first[which].is_looking = false;
    }
    arm_server(d, network, server, last);
}

static void begin_windows(struct rotor_detours *d, struct network *network, uint32_t server)
{
    sim_time now = network_now(network);
    int64_t j = rotor_showing_at(&d->schedule, now);
    d->servers[server].is_window_due = false;
    for (uint32_t i = 0; i < d->schedule.switches && rotor_showing(&d->schedule, j - i) == now; i++)
        look_soon(d, network, server, rotor_switch(&d->schedule, j - i));
}

static void begin_pair(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct rotor_pair *pair = &d->pairs.items[index];
    pair->is_due = false;
    if (pair->line.count == 0) {
        rotor_pairs_drop(&d->pairs, index);
        return;
    }
    int64_t j = rotor_next(&d->schedule, pair->source, pair->target, network_now(network));
    look_soon(d, network, pair->source, rotor_switch(&d->schedule, j));
    arm_pair(d, network, index);
}

static void sent(struct rotor_detours *d, struct network *network, uint32_t index)
{
    const struct piece *piece = &d->pieces[index];
    struct trip *trip = &d->trips[piece->trip];
    uint32_t switches = d->schedule.switches;
    d->transmitters[piece->sender].is_busy = false;
    d->transmitters[piece->sender].busy += network_now(network) - d->transmitters[piece->sender].from;
    if (--trip->sending == 0) {
        trip->stopped = network_now(network);
        trip->payload += trip->stopped - trip->since;
    }
    look_soon(d, network, piece->sender / switches, piece->sender % switches);
}

static void finish(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct trip *trip = &d->trips[index];
    require(trip->unsent == 0 && trip->sending == 0);
    uint32_t transfer = trip->transfer;
    struct transfer_report parts = {
        .reconfiguration = trip->dark, .latency = network_fabric(network)->latency, .payload = trip->payload};
    sim_time start = network_transfer(network, transfer).start;
    parts.wait = network_now(network) - start - parts.latency - parts.payload - parts.reconfiguration;
    trip->is_over = true;
    free_trip_if_over(d, index);
    network_finish(network, transfer, &parts);
}

static void landed(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct piece *piece = &d->pieces[index];
    struct trip *trip = &d->trips[piece->trip];
    if (piece->at != trip->target) {
        trip->left++;
        join_pair(d, network, piece->at, trip, 2 * index + 1);
        return;
    }
    uint32_t whole = piece->trip;
    trip->missing -= piece->ticks;
    require(trip->missing >= 0);
    reuse_give(&d->piece_places, index);
    if (trip->missing == 0)
        finish(d, network, whole);
}

static void clear_loose(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct trip *trip = &d->trips[index];
    if (trip->is_begun)
        return;
    trip->unsent = 0;
    trip->is_over = true;
    network_clear(network, trip->transfer);
}

static void on_detour(struct network *network, const struct event *event)
{
    static void (*const handlers[])(struct rotor_detours * d, struct network * network, uint32_t which) = {
        [EVENT_LOOK] = look_around,     [EVENT_SENT] = sent,       [EVENT_LANDED] = landed,
        [EVENT_WINDOW] = begin_windows, [EVENT_PAIR] = begin_pair, [EVENT_LOOSE] = clear_loose,
    };
    handlers[event->data](network_fabric(network)->own, network, event->entity);
}

static void visit_detours(const struct network *network, hardware_visitor *visit, void *context)
{
    const struct rotor_detours *d = network_fabric(network)->own;
    sim_time now = network_now(network);
    for (uint32_t i = 0; i < d->schedule.servers * d->schedule.switches; i++) {
        const struct transmitter *at = &d->transmitters[i];
        rotor_visit_port(&d->schedule, i, at->busy + (at->is_busy ? now - at->from : 0), now, visit, context);
    }
}

static const struct fabric_carrier carrier = {
    .close = close_detours,
    .send = send_detour,
    .on_event = on_detour,
    .visit = visit_detours,
    .explain = rotor_explain,
};
