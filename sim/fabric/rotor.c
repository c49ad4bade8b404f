/* Rotor switches: fixed matchings by the clock, nothing to request (RotorNet, Opera; optical network, section 2).
 *
 * A pair is connected in its windows alone (rotor.h). A transfer waits for the
 * next window of its pair, sends at the rate of one port, stops where the window
 * ends and goes on in the next, until its last byte has left; then the latency
 * follows. The transfers of a pair go one after the other: when a window is there
 * and the pair is free, the first in the order of the policy begins and is not
 * interrupted by others. Pairs never disturb each other, so strict order and
 * backfill are the same here, and circuit policies mean nothing.
 *
 * Hardware numbers: server * switches + switch, a port; busy while it sends,
 * switching while its switch is dark.
 *
 * Accounting: payload is the time that it sends, latency that of one trip. Of
 * each stretch in which it does not send, the dark time right before the window
 * that ends the stretch is reconfiguration, as far as the transfer was sent by
 * then: one dark time per window used, at most. The rest is wait: for its turn, and
 * for others of its pair.
 *
 * The end of sending is arithmetic over whole windows: at most four events per
 * transfer, however many windows it takes, and none while nothing is pending.
 * Memory grows with the pairs that have something pending.
 *
 * With two_hop the traffic may detour: rotor_detour.c. The round robin of awgr is
 * this as well, with figures of its own.
 */
#include "fabric/rotor.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "fabric/fabrics.h"
#include "fabric/rotor_detour.h"

enum { EVENT_SERVE, EVENT_SENT, EVENT_ARRIVED, EVENT_LOOSE };

struct rotor {
    struct rotor_schedule schedule;
    struct rotor_pairs pairs;
    sim_time *busy; /* of ports, in windows of transfers that are through */
};

struct rotor_settings {
    int64_t switches;
    int64_t slot_ps, dark_ps; /* slot 0 = by the duty */
    double duty;
    bool is_two_hop, is_staggered;
};

#define SETTINGS struct rotor_settings
static const struct key rotor_keys[] = {
    {INTEGER_KEY("rotor.switches", switches), .default_text = "4", .minimum = "1", .maximum = "1024",
     .doc = "Rotor switches side by side; a server has one port on each, with its share of node_rate."},
    {TIME_KEY("rotor.dark", dark_ps), .default_text = "10us", .minimum = "0ps",
     .doc = "To turn to the next matching; the switch is dark. network.reconfiguration of a scenario overrules it."},
    {NUMBER_KEY("rotor.duty", duty), .default_text = "0.9", .minimum = ">0", .maximum = "<1", .when = "rotor.slot=",
     .doc = "The share of the time that a matching is lit: dark * duty / (1 - duty) follows each dark time, whoever "
            "says how long that is, so that a slower switch turns less often rather than being dark more of the time. "
            "RotorNet reports 20us dark and 0.9, Opera 10us and 0.98 (both unverified)."},
    {TIME_KEY("rotor.slot", slot_ps), .minimum = ">0ps",
     .doc = "How long a matching is lit, whatever the dark time; not set, by rotor.duty. Needed where the dark time is "
            "0ps.",
     .example = "90us"},
    {BOOLEAN_KEY("rotor.two_hop", is_two_hop), .default_text = "false",
     .doc = "Traffic may detour through one intermediate server."},
    {BOOLEAN_KEY("rotor.staggered", is_staggered), .default_text = "false",
     .doc = "The switches turn one after the other, not all at once (Opera)."},
};

static const struct fabric_carrier carrier;

/* How long a matching is lit; SIM_TIME_MAX where that does not fit. */
static int64_t lit_ps(const struct fabric_state *state, const struct rotor_figures *figures)
{
    if (figures->slot_ps > 0 || figures->duty <= 0)
        return figures->slot_ps;
    double lit = rint((double)fabric_delay_ps(state, figures->dark_ps) * figures->duty / (1 - figures->duty));
    return lit < 0x1p62 ? (int64_t)lit : SIM_TIME_MAX;
}

static struct rotor_schedule schedule_of(const struct fabric_state *state, const struct rotor_figures *figures)
{
    uint32_t servers = state->topology->server_count;
    struct rotor_schedule schedule = {.servers = servers,
                                      .matchings = servers - 1,
                                      .switches = (uint32_t)figures->switches,
                                      .lit = clock_from_ps(&state->clock, lit_ps(state, figures)),
                                      .is_staggered = figures->is_staggered};
    sim_time dark = clock_from_ps(&state->clock, fabric_delay_ps(state, figures->dark_ps));
    schedule.period = schedule.lit / 4 + dark / 4 < SIM_TIME_MAX / 4 ? schedule.lit + dark : SIM_TIME_MAX;
    return schedule;
}

sim_time rotor_cycle(const struct fabric_state *state, const struct rotor_figures *figures)
{
    struct rotor_schedule schedule = schedule_of(state, figures);
    return rotor_turn(&schedule);
}

static enum status check_schedule(const struct fabric_state *state, const struct rotor_figures *figures,
                                  const struct rotor_schedule *schedule, struct error *error)
{
    uint32_t servers = schedule->servers;
    if (servers < 3)
        return error_set(error, STATUS_USER,
                         "fabric %s over %u server%s has %u matching%s: at least 3 servers are "
                         "needed for anything to rotate",
                         state->fabric->strategy.name, servers, servers == 1 ? "" : "s", servers - 1,
                         servers == 2 ? "" : "s");
    if (schedule->switches > schedule->matchings)
        return error_set(error, STATUS_USER, "%s is %u: %u servers have %u matchings, one per switch at most",
                         figures->switches_key, schedule->switches, servers, schedule->matchings);
    if (schedule->lit <= 0 || schedule->period > SIM_TIME_MAX / 4)
        return error_set(error, STATUS_USER,
                         "%s is %lldps: it must be at least one tick (%lldps), and slot and "
                         "dark time must fit in the clock",
                         figures->slot_key, (long long)lit_ps(state, figures), (long long)state->clock.tick_ps);
    return STATUS_OK;
}

enum status rotor_open(struct fabric_state *state, const struct rotor_figures *figures, struct error *error)
{
    require(figures->switches > 0 && figures->slot_ps >= 0 && figures->dark_ps >= 0);
    enum status status = fabric_share(state, figures->switches, 0, 0, error);
    if (status != STATUS_OK)
        return status;
    state->reconfiguration = 0; /* switches are dark by the clock, not for a circuit */
    struct rotor_schedule schedule = schedule_of(state, figures);
    status = check_schedule(state, figures, &schedule, error);
    if (status != STATUS_OK)
        return status;
    sim_time turn = rotor_turn(&schedule), phase = state->epoch % turn;
    schedule.phase = phase < 0 ? phase + turn : phase;
    state->lanes_max = 1;
    if (figures->is_two_hop) {
        rotor_detour_open(state, &schedule);
        return STATUS_OK;
    }
    struct rotor *rotor = memory_alloc(1, sizeof *rotor);
    rotor->schedule = schedule;
    rotor->busy = memory_alloc((size_t)schedule.servers * schedule.switches, sizeof *rotor->busy);
    state->carrier = &carrier;
    state->own = rotor;
    return STATUS_OK;
}

static struct rotor_figures figures_of(const struct topology *topology)
{
    const struct rotor_settings *settings = topology->fabric.settings;
    return (struct rotor_figures){.switches_key = "rotor.switches",
                                  .slot_key = "rotor.slot",
                                  .switches = settings->switches,
                                  .slot_ps = settings->slot_ps,
                                  .dark_ps = settings->dark_ps,
                                  .duty = settings->duty,
                                  .is_two_hop = settings->is_two_hop,
                                  .is_staggered = settings->is_staggered};
}

static enum status open_rotor(struct fabric_state *state, struct error *error)
{
    struct rotor_figures figures = figures_of(state->topology);
    return rotor_open(state, &figures, error);
}

static sim_time cycle_rotor(const struct fabric_state *state)
{
    struct rotor_figures figures = figures_of(state->topology);
    return rotor_cycle(state, &figures);
}

static void close_rotor(struct fabric_state *state)
{
    struct rotor *rotor = state->own;
    rotor_pairs_free(&rotor->pairs);
    free(rotor->busy);
    free(rotor);
}

static void serve_at(struct network *network, struct rotor *rotor, uint32_t index, sim_time time)
{
    if (rotor->pairs.items[index].is_due)
        return;
    rotor->pairs.items[index].is_due = true;
    network_schedule_last(network, time, index, EVENT_SERVE);
}

static enum status send_rotor(struct network *network, uint32_t transfer, struct error *error)
{
    const struct fabric_state *state = network_fabric(network);
    struct rotor *rotor = state->own;
    struct transfer_view view = network_transfer(network, transfer);
    int64_t j = rotor_next(&rotor->schedule, view.source, view.target, view.start);
    sim_time begin = rotor_showing(&rotor->schedule, j), end = SIM_TIME_MAX;
    if (begin != SIM_TIME_MAX)
        end = rotor_sent(&rotor->schedule, j, begin > view.start ? begin : view.start,
                         fabric_payload(state, view.bytes, 1));
    if (end == SIM_TIME_MAX || !clock_add(end, state->latency, &end))
        return error_set(error, STATUS_USER,
                         "%llu bytes in the windows of one pair take longer than the clock has: a coarser run.tick is "
                         "needed",
                         (unsigned long long)view.bytes);
    uint32_t index = rotor_pairs_make(&rotor->pairs, view.source, view.target);
    waitlist_add(&rotor->pairs.items[index].line, (struct waitlist_item){.turn = view.turn, .what = transfer});
    /* Also where the pair is sending: that may end at this very instant. */
    serve_at(network, rotor, index, view.start);
    if (view.is_cleared_when_blocked)
        network_schedule_last(network, view.start, transfer, EVENT_LOOSE);
    return STATUS_OK;
}

static void fail(struct network *network)
{
    network_fail_clock(network, "a transfer that waits for its windows ends");
}

/* The windows of the pair are this transfer's until its last byte has left. The word is its reconfiguration plus 1, so
 * not 0 once it has begun. */
static void begin(struct network *network, struct rotor *rotor, uint32_t index, int64_t j)
{
    struct rotor_pair *pair = &rotor->pairs.items[index];
    uint32_t transfer = waitlist_take(&pair->line);
    struct transfer_view view = network_transfer(network, transfer);
    pair->transfer = transfer;
    pair->window = j;
    pair->began = network_now(network);
    pair->work = fabric_payload(network_fabric(network), view.bytes, 1);
    sim_time end = rotor_sent(&rotor->schedule, j, pair->began, pair->work), arrival;
    *network_transfer_word(network, transfer) = 1;
    network_begin(network, transfer);
    if (end == SIM_TIME_MAX || !clock_add(end, network_fabric(network)->latency, &arrival)) {
        fail(network);
        return;
    }
    sim_time lit = rotor_showing(&rotor->schedule, j);
    sim_time dark = rotor_held_up(&rotor->schedule, view.start, lit, pair->began, pair->work);
    *network_transfer_word(network, transfer) = (uint64_t)dark + 1;
    network_schedule(network, end, index, EVENT_SENT);
    network_schedule(network, arrival, transfer, EVENT_ARRIVED);
}

static void serve(struct network *network, struct rotor *rotor, uint32_t index)
{
    struct rotor_pair *pair = &rotor->pairs.items[index];
    sim_time now = network_now(network);
    pair->is_due = false;
    if (pair->transfer != 0)
        return;
    if (pair->line.count == 0) {
        rotor_pairs_drop(&rotor->pairs, index);
        return;
    }
    int64_t j = rotor_next(&rotor->schedule, pair->source, pair->target, now);
    sim_time lit = rotor_showing(&rotor->schedule, j);
    if (lit <= now)
        begin(network, rotor, index, j);
    else if (lit == SIM_TIME_MAX)
        fail(network);
    else
        serve_at(network, rotor, index, lit);
}

/* Takes a transfer out of the line that did not begin at once and does not want to wait. O(line): a loss system's are
 * empty. */
static void clear_loose(struct network *network, struct rotor *rotor, uint32_t transfer)
{
    struct transfer_view view = network_transfer(network, transfer);
    if (*network_transfer_word(network, transfer) != 0)
        return;
    struct rotor_pair *pair = &rotor->pairs.items[rotor_pairs_find(&rotor->pairs, view.source, view.target)];
    struct waitlist old = pair->line, kept = {0};
    for (size_t i = 0; i < old.count; i++)
        if (old.items[i].what != transfer)
            waitlist_add(&kept, old.items[i]);
    require(kept.count + 1 == old.count);
    waitlist_free(&old);
    pair->line = kept;
    network_clear(network, transfer);
}

static void arrive(struct network *network, struct rotor *rotor, uint32_t transfer)
{
    const struct fabric_state *state = network_fabric(network);
    struct transfer_view view = network_transfer(network, transfer);
    struct transfer_report parts = {.latency = state->latency, .payload = fabric_payload(state, view.bytes, 1)};
    (void)rotor;
    parts.reconfiguration = (sim_time)(*network_transfer_word(network, transfer) - 1);
    parts.wait = network_now(network) - view.start - parts.latency - parts.payload - parts.reconfiguration;
    network_finish(network, transfer, &parts);
}

/* Adds what the pair's transfer has sent up to now to the ports of its source, among `busy` of all ports. */
static void book(const struct rotor *rotor, const struct rotor_pair *pair, sim_time now, sim_time *busy)
{
    const struct rotor_schedule *schedule = &rotor->schedule;
    sim_time done = rotor_done(schedule, pair->window, pair->began, pair->work, now);
    if (done > 0)
        rotor_spread(schedule, pair->window, pair->began, done, &busy[(size_t)pair->source * schedule->switches]);
}

static void finish_sending(struct network *network, struct rotor *rotor, uint32_t index)
{
    book(rotor, &rotor->pairs.items[index], network_now(network), rotor->busy);
    rotor->pairs.items[index].transfer = 0;
    serve_at(network, rotor, index, network_now(network));
}

static void visit_rotor(const struct network *network, hardware_visitor *visit, void *context)
{
    const struct rotor *rotor = network_fabric(network)->own;
    sim_time now = network_now(network);
    uint32_t ports = rotor->schedule.servers * rotor->schedule.switches;
    sim_time *busy = memory_alloc(ports, sizeof *busy);
    memcpy(busy, rotor->busy, ports * sizeof *busy);
    for (size_t i = 0; i < rotor->pairs.places.count; i++)
        if (rotor->pairs.items[i].transfer != 0)
            book(rotor, &rotor->pairs.items[i], now, busy);
    for (uint32_t i = 0; i < ports; i++)
        rotor_visit_port(&rotor->schedule, i, busy[i], now, visit, context);
    free(busy);
}

static void on_rotor(struct network *network, const struct event *event)
{
    static void (*const handlers[])(struct network * network, struct rotor * rotor, uint32_t which) = {
        [EVENT_SERVE] = serve,
        [EVENT_SENT] = finish_sending,
        [EVENT_ARRIVED] = arrive,
        [EVENT_LOOSE] = clear_loose,
    };
    handlers[event->data](network, network_fabric(network)->own, event->entity);
}

/* Windows belong to pairs; with two hops anybody may be a detour. */
static void domains_rotor(const struct topology *topology, const uint32_t *servers, uint32_t count,
                          struct fabric_list *list)
{
    (void)servers;
    (void)count;
    if (((const struct rotor_settings *)topology->fabric.settings)->is_two_hop)
        fabric_list_add(list, 0);
}

void rotor_explain(const struct network *network, uint32_t transfer, char text[FABRIC_TEXT_BYTES])
{
    struct transfer_view view = network_transfer(network, transfer);
    snprintf(text, FABRIC_TEXT_BYTES, "the windows of servers %u to %u", view.source, view.target);
}

static const struct fabric_carrier carrier = {
    .close = close_rotor,
    .send = send_rotor,
    .on_event = on_rotor,
    .visit = visit_rotor,
    .explain = rotor_explain,
};

const struct fabric fabric_rotor = {
    .strategy =
        {.name = "rotor",
         .doc = "Switches that turn through fixed matchings by the clock: a pair sends in its windows, or by a detour.",
         STRATEGY_KEYS(rotor_keys, struct rotor_settings)},
    .is_reconfigured = true,
    .cycle = cycle_rotor,
    .domains = domains_rotor,
    .open = open_rotor,
};
