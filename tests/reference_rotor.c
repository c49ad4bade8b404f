/* The rotor once more, tick by tick: every switch, every server, every transmitter is asked at every tick. */
#include <stdlib.h>

#include "engine/memory.h"
#include "reference_fabrics.h"
#include "figures.h"

enum { PIECES = 20000, SERVERS = 16, SWITCHES = 8 };

/* Bytes of a transfer somewhere: at a server, or on the way to it. */
struct slow_piece {
    int transfer;
    int64_t ticks; /* of sending that it takes */
    uint32_t at;
    int64_t from, begin;       /* when it was begun, and the window that it was begun in */
    int64_t sent_at, lands_at; /* on the way while lands_at is ahead */
    bool is_gone;              /* arrived, or all sent on */
};

struct slow_rotor {
    const struct world *world;
    struct slow_transfer *x;
    int count;
    uint32_t n, switches;
    struct slow_piece *pieces;
    int piece_count;
    int64_t *unsent, *missing, *busy; /* of transfers; busy: ticks in which a piece of it is sent */
    int64_t *last;                    /* of these, the last so far */
    bool *is_begun;
    int64_t sending, forwarded; /* ticks of all ports; of these, what others carried on */
    int64_t busy_until[SERVERS][SWITCHES];
    bool looks[SERVERS][SWITCHES];
    int current[SERVERS][SERVERS]; /* one hop: the transfer that has the pair, or -1 */
};

/* Whom a switch connects a server to at a time; -1 = dark. *begin and *end are those of the slot. */
static int64_t connected(const struct slow_rotor *r, uint32_t server, uint32_t which, int64_t now, int64_t *begin,
                         int64_t *end)
{
    const struct topology *t = &r->world->topology;
    int64_t period = *figure_whole(t, "rotor.slot") + *figure_whole(t, "rotor.dark"), slot = 0;
    int64_t offset = *figure_truth(t, "rotor.staggered") ? which * period / r->switches : 0, matchings = r->n - 1;
    offset -= r->world->options.epoch; /* the rotor turned before the clock began */
    while (offset + slot * period > now)
        slot--;
    while (offset + (slot + 1) * period <= now)
        slot++;
    *begin = offset + slot * period;
    *end = *begin + *figure_whole(t, "rotor.slot");
    if (*end <= now)
        return -1;
    int64_t matching = (slot * r->switches + which) % matchings;
    matching = matching < 0 ? matching + matchings : matching;
    return (server + matching + 1) % r->n;
}

/* The first time from now on at which source is connected to target. */
static int64_t next_time(const struct slow_rotor *r, uint32_t source, uint32_t target, int64_t now)
{
    int64_t begin, end;
    for (;; now++)
        for (uint32_t which = 0; which < r->switches; which++)
            if (connected(r, source, which, now, &begin, &end) == target)
                return now;
}

static int64_t latency_of(const struct slow_rotor *r)
{
    return r->world->topology.propagation_ps + 2 * r->world->topology.io_latency_ps;
}

static void finish(struct slow_rotor *r, int which, int64_t now)
{
    struct slow_transfer *x = &r->x[which];
    x->end = now;
    x->wait = now - x->sent - latency_of(r) - r->busy[which] - x->reconfiguration;
}

/* Of the ticks before this one in which nothing of the transfer was sent: those that are dark right before a window. */
static int64_t dark_ticks(const struct slow_rotor *r, int transfer, int64_t now, int64_t begin)
{
    int64_t dark = 0;
    for (int64_t tick = now - 1; tick > r->last[transfer] && tick >= r->x[transfer].sent; tick--)
        dark += tick < begin && tick >= begin - *figure_whole(&r->world->topology, "rotor.dark");
    return dark;
}

static void send_ticks(struct slow_rotor *r, int transfer, uint32_t from, uint32_t which, uint32_t to, int64_t ticks,
                       int64_t now)
{
    int64_t begin, end;
    require(r->piece_count < PIECES && connected(r, from, which, now, &begin, &end) == to);
    r->pieces[r->piece_count++] = (struct slow_piece){.transfer = transfer,
                                                      .ticks = ticks,
                                                      .at = to,
                                                      .from = now,
                                                      .begin = begin,
                                                      .sent_at = now + ticks,
                                                      .lands_at = now + ticks + latency_of(r)};
    r->busy_until[from][which] = now + ticks;
    r->sending += ticks;
    r->forwarded += from != r->x[transfer].source ? ticks : 0;
    r->is_begun[transfer] = true;
}

/* The first in line for `to` at `from`: a transfer with something unsent, or a piece left there; -1 = nobody. */
static int first_in_line(const struct slow_rotor *r, uint32_t from, uint32_t to, int64_t now, struct slow_piece **piece)
{
    int best = -1;
    *piece = NULL;
    for (int i = 0; i < r->count; i++)
        if (r->x[i].sent <= now && !r->x[i].was_cleared && r->unsent[i] > 0 && r->x[i].source == from &&
            r->x[i].target == to && (best < 0 || slow_is_before(r->world, r->x, i, best)))
            best = i;
    for (int i = 0; i < r->piece_count; i++) {
        struct slow_piece *p = &r->pieces[i];
        if (!p->is_gone && p->lands_at <= now && p->at == from && r->x[p->transfer].target == to &&
            (best < 0 || slow_is_before(r->world, r->x, p->transfer, best))) {
            best = p->transfer;
            *piece = p;
        }
    }
    return best;
}

static void look(struct slow_rotor *r, uint32_t server, uint32_t which, int64_t now)
{
    int64_t begin, end, to = connected(r, server, which, now, &begin, &end);
    struct slow_piece *piece;
    if (to < 0 || r->busy_until[server][which] > now)
        return;
    int transfer = first_in_line(r, server, (uint32_t)to, now, &piece);
    if (transfer >= 0) {
        int64_t *left = piece ? &piece->ticks : &r->unsent[transfer];
        int64_t ticks = *left < end - now ? *left : end - now;
        *left -= ticks;
        if (piece)
            piece->is_gone = piece->ticks == 0;
        send_ticks(r, transfer, server, which, (uint32_t)to, ticks, now);
        return;
    }
    for (int i = 0; i < r->count; i++)
        if (r->x[i].sent <= now && !r->x[i].was_cleared && r->unsent[i] > 0 && r->x[i].source == server &&
            (transfer < 0 || slow_is_before(r->world, r->x, i, transfer)))
            transfer = i;
    if (transfer < 0 || r->x[transfer].target == to)
        return;
    uint32_t target = r->x[transfer].target;
    int64_t ticks = r->unsent[transfer] < end - now ? r->unsent[transfer] : end - now;
    int64_t direct = next_time(r, server, target, now);
    int64_t second = next_time(r, (uint32_t)to, target, now + ticks + latency_of(r));
    if (direct == now || second >= direct)
        return;
    r->unsent[transfer] -= ticks;
    send_ticks(r, transfer, server, which, (uint32_t)to, ticks, now);
}

static void land(struct slow_rotor *r, int64_t now)
{
    int64_t begin, end;
    for (int i = 0; i < r->piece_count; i++) {
        struct slow_piece *p = &r->pieces[i];
        if (p->is_gone || p->lands_at != now)
            continue;
        uint32_t target = r->x[p->transfer].target;
        if (p->at == target) {
            p->is_gone = true;
            r->missing[p->transfer] -= p->ticks;
            if (r->missing[p->transfer] == 0)
                finish(r, p->transfer, now);
            continue;
        }
        for (uint32_t which = 0; which < r->switches; which++)
            if (connected(r, p->at, which, now, &begin, &end) == target)
                r->looks[p->at][which] = true;
    }
}

static void find_looks(struct slow_rotor *r, int64_t now)
{
    int64_t begin, end;
    for (uint32_t server = 0; server < r->n; server++)
        for (uint32_t which = 0; which < r->switches; which++) {
            bool is_lit = connected(r, server, which, now, &begin, &end) >= 0;
            if ((is_lit && begin == now) || (r->busy_until[server][which] == now && now > 0))
                r->looks[server][which] = true;
        }
    for (int i = 0; i < r->count; i++)
        for (uint32_t which = 0; r->x[i].sent == now && which < r->switches; which++)
            r->looks[r->x[i].source][which] = true;
}

static void clear_loose(struct slow_rotor *r, int64_t now)
{
    for (int i = 0; i < r->count; i++)
        if (r->x[i].sent == now && r->x[i].is_cleared_when_blocked && !r->is_begun[i]) {
            r->x[i].was_cleared = true;
            r->x[i].end = now;
        }
}

static void tick_two_hop(struct slow_rotor *r, int64_t now)
{
    land(r, now);
    find_looks(r, now);
    for (uint32_t server = 0; server < r->n; server++)
        for (uint32_t which = 0; which < r->switches; which++) {
            if (r->looks[server][which])
                look(r, server, which, now);
            r->looks[server][which] = false;
        }
    clear_loose(r, now);
    for (int i = 0; i < r->count; i++) {
        int64_t dark = 0;
        bool is_sending = false;
        for (int k = 0; k < r->piece_count; k++) {
            const struct slow_piece *p = &r->pieces[k];
            int64_t before = p->transfer == i && p->from == now ? dark_ticks(r, i, now, p->begin) : 0;
            is_sending |= p->transfer == i && p->sent_at > now;
            dark = before > dark ? before : dark;
        }
        r->x[i].reconfiguration += dark;
        r->busy[i] += is_sending;
        r->last[i] = is_sending ? now : r->last[i];
    }
}

/* One hop: whoever has the pair sends a tick's worth whenever the pair is connected. */
static void tick_pair(struct slow_rotor *r, uint32_t source, uint32_t target, int64_t now)
{
    struct slow_piece *none;
    int64_t begin, end;
    uint32_t which = 0;
    while (which < r->switches && connected(r, source, which, now, &begin, &end) != target)
        which++;
    if (which == r->switches)
        return;
    int *current = &r->current[source][target];
    if (*current < 0)
        *current = first_in_line(r, source, target, now, &none);
    if (*current < 0)
        return;
    r->is_begun[*current] = true;
    r->busy[*current]++;
    r->sending++;
    r->x[*current].reconfiguration += dark_ticks(r, *current, now, begin);
    r->last[*current] = now;
    if (--r->unsent[*current] == 0) {
        finish(r, *current, now + 1 + latency_of(r));
        *current = -1;
    }
}

static bool is_over(const struct slow_rotor *r)
{
    for (int i = 0; i < r->count; i++)
        if (r->x[i].end < 0)
            return false;
    return true;
}

/* All that was sent has arrived, nothing is left anywhere, and ports sent every byte once, and those of detours twice.
 */
static void check_bytes(const struct slow_rotor *r, bool is_two_hop)
{
    int64_t work = 0;
    for (int i = 0; i < r->count; i++) {
        work += r->x[i].was_cleared ? 0 : (int64_t)r->x[i].bytes;
        CU_ASSERT(r->x[i].was_cleared || (r->unsent[i] == 0 && (!is_two_hop || r->missing[i] == 0)));
    }
    for (int i = 0; i < r->piece_count; i++)
        CU_ASSERT(r->pieces[i].is_gone);
    CU_ASSERT_EQUAL(r->sending, work + r->forwarded);
}

int64_t slow_rotor(const struct world *world, struct slow_transfer *x, int count)
{
    struct slow_rotor *r = memory_alloc(1, sizeof *r);
    const struct topology *t = &world->topology;
    *r = (struct slow_rotor){.world = world, .x = x, .count = count, .n = t->server_count};
    r->switches = (uint32_t)*figure_whole(t, "rotor.switches");
    require(r->n <= SERVERS && r->switches <= SWITCHES);
    r->pieces = memory_alloc(PIECES, sizeof *r->pieces);
    r->unsent = memory_alloc((size_t)count, sizeof *r->unsent);
    r->missing = memory_alloc((size_t)count, sizeof *r->missing);
    r->busy = memory_alloc((size_t)count, sizeof *r->busy);
    r->last = memory_alloc((size_t)count, sizeof *r->last);
    r->is_begun = memory_alloc((size_t)count, sizeof *r->is_begun);
    for (int i = 0; i < count; i++) {
        uint64_t rate = (uint64_t)(t->node_rate_bytes_per_s / r->switches);
        r->unsent[i] = r->missing[i] = (int64_t)((x[i].bytes * UINT64_C(1000000000000) + rate - 1) / rate);
        x[i].end = r->last[i] = -1;
    }
    for (uint32_t i = 0; i < r->n * r->n; i++)
        r->current[i / r->n][i % r->n] = -1;
    for (int64_t now = 0; !is_over(r); now++) {
        if (*figure_truth(t, "rotor.two_hop")) {
            tick_two_hop(r, now);
            continue;
        }
        for (uint32_t i = 0; i < r->n * r->n; i++)
            if (i / r->n != i % r->n)
                tick_pair(r, i / r->n, i % r->n, now);
        clear_loose(r, now);
    }
    check_bytes(r, *figure_truth(t, "rotor.two_hop"));
    int64_t sending = r->sending;
    free(r->pieces);
    free(r->unsent);
    free(r->missing);
    free(r->busy);
    free(r->last);
    free(r->is_begun);
    free(r);
    return sending;
}
