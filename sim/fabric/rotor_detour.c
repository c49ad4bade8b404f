/* Detours on a rotor: whoever is connected now carries it on later (after RotorNet's RotorLB and Valiant).
 *
 * Each server has a transmitter a switch. A transmitter looks for work when its
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
 * Two events a piece, and one a window in which a server has bytes not sent yet; a
 * look costs O(switches). Ticks of sending stand for bytes; pieces add up to the
 * transfer exactly. Memory: servers x switches, and what is pending.
 */
#include "fabric/rotor_detour.h"

#include <stdlib.h>

#include "engine/memory.h"

enum { EVENT_LOOK, EVENT_SENT, EVENT_LANDED, EVENT_WINDOW, EVENT_PAIR, EVENT_LOOSE };
enum { WINDOWS_MAX = 1 << 20 }; /* of one transfer: each costs events */

/* A transfer. References from lines keep the place in the pool when it is done. */
struct trip {
    uint64_t key, sequence;
    sim_time unsent, missing; /* ticks: at the source; not yet at the target */
    sim_time payload, since;  /* since the pieces that are being sent are */
    sim_time stopped;         /* when the last one before them was sent; at first, when the transfer was */
    sim_time dark, dark_last; /* reconfiguration, and that of the last stretch alone */
    uint32_t transfer, source, target;
    uint32_t sending, lines; /* pieces being sent; lines that it stands in */
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
    const struct rotor_schedule *schedule;
    struct server *servers;
    struct transmitter *transmitters; /* server * switches + switch */
    struct rotor_pairs pairs;         /* lines of trips (even numbers) and pieces (odd ones) */
    struct trip *trips;
    struct piece *pieces;
    struct reuse trip_places, piece_places;
};

struct rotor_detours *rotor_detour_open(const struct rotor_schedule *schedule)
{
    struct rotor_detours *d = memory_alloc(1, sizeof *d);
    d->schedule = schedule;
    d->servers = memory_alloc(schedule->servers, sizeof *d->servers);
    d->transmitters = memory_alloc((size_t)schedule->servers * schedule->switches, sizeof *d->transmitters);
    return d;
}

void rotor_detour_close(struct rotor_detours *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; i < d->schedule->servers; i++)
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
    struct error error;
    error_set(&error, STATUS_USER, "a transfer on a rotor ends behind the clock: a coarser run.tick is needed");
    network_fail(network, &error);
}

/* A transmitter is to look at the end of this instant. */
static void look_soon(struct rotor_detours *d, struct network *network, uint32_t server, uint32_t which)
{
    d->transmitters[(size_t)server * d->schedule->switches + which].is_looking = true;
    if (d->servers[server].is_look_due)
        return;
    d->servers[server].is_look_due = true;
    network_schedule_last(network, engine_now(network_engine(network)), server, EVENT_LOOK);
}

static uint32_t switch_of(const struct rotor_detours *d, int64_t showing)
{
    int64_t rest = showing % d->schedule->switches;
    return (uint32_t)(rest < 0 ? rest + d->schedule->switches : rest);
}

/* Makes sure that somebody looks in the next window of a pair whose line is not empty. */
static void arm_pair(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct rotor_pair *pair = &d->pairs.items[index];
    uint32_t n = d->schedule->servers;
    if (pair->is_due)
        return;
    uint32_t difference = rotor_difference(d->schedule, (uint32_t)(pair->key / n), (uint32_t)(pair->key % n));
    sim_time now = engine_now(network_engine(network));
    int64_t c = rotor_next(d->schedule, difference, now);
    sim_time begin = rotor_showing(d->schedule, rotor_window(d->schedule, difference, c));
    if (begin <= now)
        begin = rotor_showing(d->schedule, rotor_window(d->schedule, difference, c + 1));
    if (begin == SIM_TIME_MAX) {
        fail(network);
        return;
    }
    pair->is_due = true;
    network_schedule(network, begin, index, EVENT_PAIR);
}

/* Something joins the line of a pair: if the pair is connected now, its transmitter looks. */
static void join_pair(struct rotor_detours *d, struct network *network, uint32_t server, const struct trip *trip,
                      uint32_t what)
{
    uint32_t index = rotor_pairs_find(&d->pairs, (uint64_t)server * d->schedule->servers + trip->target);
    uint32_t difference = rotor_difference(d->schedule, server, trip->target);
    sim_time now = engine_now(network_engine(network));
    waitlist_add(&d->pairs.items[index].line, trip->key, trip->sequence, what);
    int64_t j = rotor_window(d->schedule, difference, rotor_next(d->schedule, difference, now));
    if (rotor_showing(d->schedule, j) <= now)
        look_soon(d, network, server, switch_of(d, j));
    arm_pair(d, network, index);
}

enum status rotor_detour_send(struct rotor_detours *d, struct network *network, uint32_t transfer, struct error *error)
{
    struct transfer_view view = network_transfer(network, transfer);
    sim_time work = fabric_payload(network_fabric(network), view.bytes, 1);
    if (work / WINDOWS_MAX >= d->schedule->lit)
        return error_set(error, STATUS_USER,
                         "%llu bytes fill more than %d slots of a rotor: with rotor.two_hop each is simulated; send "
                         "less at once, or use two_hop: false",
                         (unsigned long long)view.bytes, WINDOWS_MAX);
    uint32_t index;
    d->trips = reuse_take(&d->trip_places, d->trips, sizeof *d->trips, &index);
    d->trips[index] = (struct trip){.key = view.turn_key,
                                    .sequence = view.turn_sequence,
                                    .unsent = work,
                                    .missing = work,
                                    .stopped = view.start,
                                    .transfer = transfer,
                                    .source = view.source,
                                    .target = view.target,
                                    .lines = 2};
    waitlist_add(&d->servers[view.source].line, view.turn_key, view.turn_sequence, index);
    join_pair(d, network, view.source, &d->trips[index], 2 * index);
    for (uint32_t which = 0; which < d->schedule->switches; which++)
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
    sim_time dark = rotor_dark_before(d->schedule, window, trip->stopped, now);
    if (dark <= trip->dark_last)
        return;
    trip->dark += dark - trip->dark_last;
    trip->dark_last = dark;
}

/* The piece leaves on a transmitter: ticks of a trip, to the server it is connected to. */
static void send_piece(struct rotor_detours *d, struct network *network, const struct piece *piece)
{
    struct trip *trip = &d->trips[piece->trip];
    sim_time now = engine_now(network_engine(network)), landing;
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

static sim_time least(sim_time left, sim_time right)
{
    return left < right ? left : right;
}

/* Rule 1. False when nobody stands in line for the server that it is connected to. */
static bool look_direct(struct rotor_detours *d, struct network *network, struct piece *made, uint32_t server,
                        sim_time rest)
{
    uint32_t found = reuse_map_find(&d->pairs.map, (uint64_t)server * d->schedule->servers + made->at);
    while (found != FABRIC_NONE && d->pairs.items[found].line.count > 0) {
        struct waitlist *line = &d->pairs.items[found].line;
        uint32_t what = waitlist_first(line), index = what / 2;
        bool is_piece = what % 2;
        made->trip = is_piece ? d->pieces[index].trip : index;
        sim_time *left = is_piece ? &d->pieces[index].ticks : &d->trips[index].unsent;
        made->ticks = least(*left, rest);
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
    sim_time now = engine_now(network_engine(network)), landing;
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
    made->ticks = least(trip->unsent, rest);
    if (!clock_add(now + made->ticks, network_fabric(network)->latency, &landing))
        return;
    uint32_t direct = rotor_difference(d->schedule, server, trip->target);
    uint32_t second = rotor_difference(d->schedule, made->at, trip->target);
    int64_t j = rotor_window(d->schedule, direct, rotor_next(d->schedule, direct, now));
    int64_t k = rotor_window(d->schedule, second, rotor_next(d->schedule, second, landing));
    sim_time direct_at = rotor_showing(d->schedule, j), second_at = rotor_showing(d->schedule, k);
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
    int64_t switches = d->schedule->switches, j = last - (switch_of(d, last) + switches - which) % switches;
    sim_time now = engine_now(network_engine(network)), end = rotor_showing(d->schedule, j) + d->schedule->lit;
    if (end <= now)
        return;
    int64_t matchings = d->schedule->matchings, matching = (j % matchings + matchings) % matchings;
    struct piece made = {.sender = (uint32_t)(server * switches + which), .window = end - d->schedule->lit};
    made.at = (uint32_t)((server + (uint64_t)matching + 1) % d->schedule->servers);
    if (!look_direct(d, network, &made, server, end - now))
        look_detour(d, network, &made, server, end - now);
}

/* While a server has bytes not sent yet, it looks at every window that begins. */
static void arm_server(struct rotor_detours *d, struct network *network, uint32_t server, int64_t last)
{
    struct server *at = &d->servers[server];
    if (at->is_window_due || at->line.count == 0)
        return;
    sim_time begin = rotor_showing(d->schedule, last + 1);
    if (begin == SIM_TIME_MAX) {
        fail(network);
        return;
    }
    at->is_window_due = true;
    network_schedule(network, begin, server, EVENT_WINDOW);
}

static void look_around(struct rotor_detours *d, struct network *network, uint32_t server)
{
    int64_t last = rotor_showing_at(d->schedule, engine_now(network_engine(network)));
    struct transmitter *first = &d->transmitters[(size_t)server * d->schedule->switches];
    d->servers[server].is_look_due = false;
    for (uint32_t which = 0; which < d->schedule->switches; which++) {
        if (first[which].is_looking && !first[which].is_busy)
            look(d, network, server, which, last);
        first[which].is_looking = false;
    }
    arm_server(d, network, server, last);
}

static void begin_windows(struct rotor_detours *d, struct network *network, uint32_t server)
{
    sim_time now = engine_now(network_engine(network));
    int64_t j = rotor_showing_at(d->schedule, now);
    d->servers[server].is_window_due = false;
    for (uint32_t i = 0; i < d->schedule->switches && rotor_showing(d->schedule, j - i) == now; i++)
        look_soon(d, network, server, switch_of(d, j - i));
}

static void begin_pair(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct rotor_pair *pair = &d->pairs.items[index];
    uint32_t n = d->schedule->servers, source = (uint32_t)(pair->key / n), target = (uint32_t)(pair->key % n);
    pair->is_due = false;
    if (pair->line.count == 0) {
        rotor_pairs_drop(&d->pairs, index);
        return;
    }
    uint32_t difference = rotor_difference(d->schedule, source, target);
    sim_time now = engine_now(network_engine(network));
    int64_t j = rotor_window(d->schedule, difference, rotor_next(d->schedule, difference, now));
    look_soon(d, network, source, switch_of(d, j));
    arm_pair(d, network, index);
}

static void sent(struct rotor_detours *d, struct network *network, uint32_t index)
{
    const struct piece *piece = &d->pieces[index];
    struct trip *trip = &d->trips[piece->trip];
    uint32_t switches = d->schedule->switches;
    d->transmitters[piece->sender].is_busy = false;
    d->transmitters[piece->sender].busy += engine_now(network_engine(network)) - d->transmitters[piece->sender].from;
    if (--trip->sending == 0) {
        trip->stopped = engine_now(network_engine(network));
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
    parts.wait = engine_now(network_engine(network)) - start - parts.latency - parts.payload - parts.reconfiguration;
    trip->is_over = true;
    free_trip_if_over(d, index);
    network_finish(network, transfer, &parts);
}

static void landed(struct rotor_detours *d, struct network *network, uint32_t index)
{
    struct piece *piece = &d->pieces[index];
    struct trip *trip = &d->trips[piece->trip];
    if (piece->at != trip->target) {
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

void rotor_detour_event(struct rotor_detours *d, struct network *network, const struct event *event)
{
    switch (event->data) {
    case EVENT_LOOK:
        look_around(d, network, event->entity);
        break;
    case EVENT_SENT:
        sent(d, network, event->entity);
        break;
    case EVENT_LANDED:
        landed(d, network, event->entity);
        break;
    case EVENT_WINDOW:
        begin_windows(d, network, event->entity);
        break;
    case EVENT_PAIR:
        begin_pair(d, network, event->entity);
        break;
    default:
        clear_loose(d, network, event->entity);
        break;
    }
}

void rotor_detour_visit(const struct rotor_detours *d, const struct network *network, hardware_visitor *visit,
                        void *context)
{
    sim_time now = engine_now(network_engine(network));
    for (uint32_t i = 0; i < d->schedule->servers * d->schedule->switches; i++) {
        const struct transmitter *at = &d->transmitters[i];
        rotor_visit_port(d->schedule, i, at->busy + (at->is_busy ? now - at->from : 0), now, visit, context);
    }
}
