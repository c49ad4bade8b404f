/* Packets: the electrical baseline (optical network, section 2). No circuits; flows share links, max-min fair.
 *
 * A two-level fat tree: radix servers below an edge switch, a core that never
 * blocks above. Links: server to edge and edge to server at node_rate; edge to
 * core and core to edge at radix * node_rate / oversubscription. A flow crosses
 * two links within an edge switch and four across the core. Without
 * oversubscription the links to the core can never be the tighter ones, so flows
 * are not said to cross them, which keeps changes of rates near (packet_share.h).
 *
 * A flow that stays below its edge switch passes one switch, any other three (edge,
 * core, edge); each adds hop_latency to propagation and io.
 *
 * Rates are fluid: they change only when a flow starts or its last byte leaves,
 * once for all changes of an instant. A flow keeps its bytes left as of the last
 * change of its rate, so a change costs the flows whose rate it changes. The end
 * is rounded up to a tick once; sums of doubles that miss a whole tick by less
 * than their own error count as that tick. A flow whose rate never changed ends
 * exactly at bytes / rate. Then the latency follows, links given back.
 *
 * Accounting: no wait, no reconfiguration; payload is everything above latency. A
 * link is busy while at least one flow crosses it. Hardware numbers: servers up,
 * servers down, edge switches up, edge switches down.
 */
#include "fabric/fabrics.h"

#include <math.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "fabric/packet_share.h"

enum { EVENT_LEFT, EVENT_ARRIVED };
enum { HOPS_WITHIN = 1, HOPS_ACROSS = 3 }; /* switches: edge; edge, core, edge */

/* Indexed by the flow's number in shares. */
struct packet_flow {
    double left_bytes; /* as of since */
    double rate_bytes_per_s;
    sim_time since;
    event_handle end; /* of the last byte's leaving */
    uint32_t transfer;
    bool is_steady; /* the rate never changed */
};

struct packet_link {
    sim_time busy, from;
    uint32_t flows; /* that cross it now, since from */
};

struct packet {
    struct share *shares;
    struct packet_link *links;
    struct packet_flow *flows;
    size_t capacity;
    uint32_t servers, edges, radix;
    sim_time end_latency, hop_latency; /* propagation and io; each switch */
    bool has_core_links;               /* that can be tighter than those of the servers */
    bool is_update_due;
};

static const struct fabric_carrier carrier;

struct packet_settings {
    double oversubscription;
    double tolerance;
    int64_t radix; /* servers below one edge switch */
    int64_t hop_latency_ps;
};

#define SETTINGS struct packet_settings
static const struct key packet_keys[] = {
    {NUMBER_KEY("packet.oversubscription", oversubscription), .default_text = "1", .minimum = "1",
     .doc = "Rate into an edge switch from its servers over its rate towards the core."},
    {INTEGER_KEY("packet.radix", radix), .default_text = "8", .minimum = "1", .maximum = "1024",
     .doc = "Servers below one edge switch of the fat tree."},
    {TIME_KEY("packet.hop_latency", hop_latency_ps), .default_text = "400ns", .minimum = "0ps",
     .doc =
         "That each switch on the way adds: 1 below an edge switch, 3 across the core. Cut-through switches are said "
         "to take 300 to 600 ns from port to port; unverified."},
    {NUMBER_KEY("packet.tolerance", tolerance), .default_text = "0.01", .minimum = "0", .maximum = "0.1",
     .doc =
         "Part of its rate by which a full link may carry more or less than that: changes of rates are followed from "
         "link to link until they are fainter. 0 follows them to the end, which costs all flows at each change."},
};

static void close_packet(struct fabric_state *state)
{
    struct packet *packet = state->own;
    share_destroy(packet->shares);
    free(packet->flows);
    free(packet->links);
    free(packet);
}

/* The fabric's latency is that of its longest way. Closes the fabric where that does not fit in the clock. */
static enum status open_latency(struct fabric_state *state, struct packet *packet, int64_t hop_latency_ps,
                                struct error *error)
{
    packet->end_latency = state->latency;
    packet->hop_latency = clock_from_ps(&state->clock, hop_latency_ps);
    for (int hops = packet->edges > 1 ? HOPS_ACROSS : HOPS_WITHIN; hops > 0; hops--)
        if (!clock_add(state->latency, packet->hop_latency, &state->latency)) {
            close_packet(state);
            return error_set(error, STATUS_USER, "packet.hop_latency is too long for the clock");
        }
    return STATUS_OK;
}

static enum status open_packet(struct fabric_state *state, struct error *error)
{
    const struct topology *topology = state->topology;
    const struct packet_settings *settings = topology->fabric.settings;
    enum status status = fabric_share(state, 1, 0, 0, error);
    if (status != STATUS_OK)
        return status;
    double rate = (double)state->rate_bytes_per_s;
    double uplink = rate * (double)settings->radix / settings->oversubscription;
    if (!(uplink >= 1))
        return error_set(error, STATUS_USER,
                         "packet.oversubscription of %g leaves %gB/s towards the core; at least 1B/s is needed",
                         settings->oversubscription, uplink);
    struct packet *packet = memory_alloc(1, sizeof *packet);
    packet->servers = topology->server_count;
    packet->radix = (uint32_t)settings->radix;
    packet->edges = (packet->servers + packet->radix - 1) / packet->radix;
    packet->has_core_links = settings->oversubscription > 1;
    packet->shares = share_create(2 * (packet->servers + packet->edges), settings->tolerance);
    packet->links = memory_alloc(2 * ((size_t)packet->servers + packet->edges), sizeof *packet->links);
    for (uint32_t i = 0; i < 2 * packet->servers; i++)
        share_capacity(packet->shares, i, rate);
    for (uint32_t i = 0; i < 2 * packet->edges; i++)
        share_capacity(packet->shares, 2 * packet->servers + i, uplink);
    state->carrier = &carrier;
    state->own = packet;
    return open_latency(state, packet, settings->hop_latency_ps, error);
}

/* Two links, or four across the core. */
static uint32_t links_of(const struct packet *packet, uint32_t source, uint32_t target, uint32_t links[SHARE_LINKS])
{
    uint32_t out = source / packet->radix, in = target / packet->radix, count = 0;
    links[count++] = source;
    links[count++] = packet->servers + target;
    if (out != in) {
        links[count++] = 2 * packet->servers + out;
        links[count++] = 2 * packet->servers + packet->edges + in;
    }
    return count;
}

static sim_time latency_of(const struct packet *packet, const struct transfer_view *view)
{
    bool is_within = view->source / packet->radix == view->target / packet->radix;
    return packet->end_latency + (is_within ? HOPS_WITHIN : HOPS_ACROSS) * packet->hop_latency;
}

static void book(struct packet_link *link, sim_time now, bool is_coming)
{
    if (link->flows > 0)
        link->busy += now - link->from;
    link->from = now;
    require(is_coming || link->flows > 0);
    link->flows = is_coming ? link->flows + 1 : link->flows - 1;
}

static void update_soon(struct network *network, struct packet *packet)
{
    if (packet->is_update_due)
        return;
    packet->is_update_due = true;
    network_schedule_last(network, network_now(network), 0, 0);
}

static enum status send_packet(struct network *network, uint32_t transfer, struct error *error)
{
    struct packet *packet = network_fabric(network)->own;
    struct transfer_view view = network_transfer(network, transfer);
    uint32_t links[SHARE_LINKS], count = links_of(packet, view.source, view.target, links);
    (void)error;
    for (uint32_t i = 0; i < count; i++)
        book(&packet->links[links[i]], view.start, true);
    uint32_t flow = share_add(packet->shares, links, packet->has_core_links ? count : 2);
    if (flow >= packet->capacity)
        packet->flows = memory_grow(packet->flows, &packet->capacity, (size_t)flow + 1, sizeof *packet->flows);
    packet->flows[flow] =
        (struct packet_flow){.left_bytes = (double)view.bytes, .since = view.start, .transfer = transfer};
    network_begin(network, transfer);
    update_soon(network, packet);
    return STATUS_OK;
}

/* A millionth of a tick, or the error that doubles gather over some hundred changes, does not make a tick. */
static double whole_ticks(double ticks)
{
    return ceil(ticks - 1e-6 - ticks * 1e-13);
}

/* When the last byte leaves at the present rate; SIM_TIME_MAX where the clock ends first. */
static sim_time leaving(const struct network *network, const struct packet_flow *flow)
{
    const struct sim_clock *clock = &network_fabric(network)->clock;
    sim_time ticks, end;
    if (flow->is_steady && floor(flow->rate_bytes_per_s) >= flow->rate_bytes_per_s) {
        uint64_t bytes = network_transfer(network, flow->transfer).bytes;
        ticks = clock_duration(clock, bytes, (uint64_t)flow->rate_bytes_per_s);
    } else {
        double needed = flow->left_bytes * (1e12 / (double)clock->tick_ps) / flow->rate_bytes_per_s;
        double whole = whole_ticks(needed > 0 ? needed : 0);
        ticks = whole < 0x1p62 ? (sim_time)(whole > 0 ? whole : 0) : SIM_TIME_MAX;
    }
    return ticks != SIM_TIME_MAX && clock_add(flow->since, ticks, &end) ? end : SIM_TIME_MAX;
}

static void change_rate(struct network *network, struct packet *packet, uint32_t number)
{
    struct packet_flow *flow = &packet->flows[number];
    sim_time now = network_now(network);
    double spent = (double)(now - flow->since) * (double)network_fabric(network)->clock.tick_ps / 1e12;
    flow->left_bytes -= flow->rate_bytes_per_s * spent;
    flow->since = now;
    flow->is_steady = flow->end == 0;
    flow->rate_bytes_per_s = share_rate(packet->shares, number);
    sim_time end = leaving(network, flow);
    if (end == SIM_TIME_MAX) {
        network_fail_clock(network, "a transfer on a shared link ends");
        return;
    }
    if (flow->end == 0)
        flow->end = network_schedule(network, end, number, EVENT_LEFT);
    else
        flow->end = engine_reschedule(network_engine(network), flow->end, end);
    require(flow->end != 0);
}

static void update(struct network *network, struct packet *packet)
{
    size_t count;
    packet->is_update_due = false;
    const uint64_t *changed = share_update(packet->shares, &count);
    for (size_t i = 0; i < count; i++)
        change_rate(network, packet, (uint32_t)changed[i]);
}

static void arrive(struct network *network, uint32_t transfer)
{
    struct transfer_view view = network_transfer(network, transfer);
    sim_time latency = latency_of(network_fabric(network)->own, &view), total = network_now(network) - view.start;
    network_finish(network, transfer, &(struct transfer_report){.latency = latency, .payload = total - latency});
}

static void leave(struct network *network, struct packet *packet, uint32_t number)
{
    uint32_t transfer = packet->flows[number].transfer;
    sim_time arrival, now = network_now(network);
    struct transfer_view view = network_transfer(network, transfer);
    uint32_t links[SHARE_LINKS], count = links_of(packet, view.source, view.target, links);
    for (uint32_t i = 0; i < count; i++)
        book(&packet->links[links[i]], now, false);
    share_remove(packet->shares, number);
    update_soon(network, packet);
    if (clock_add(now, latency_of(packet, &view), &arrival))
        network_schedule(network, arrival, transfer, EVENT_ARRIVED);
    else
        network_fail_clock(network, "a transfer arrives");
}

static void on_packet(struct network *network, const struct event *event)
{
    struct packet *packet = network_fabric(network)->own;
    if (event->priority == FABRIC_LAST)
        update(network, packet);
    else if (event->data == EVENT_LEFT)
        leave(network, packet, event->entity);
    else
        arrive(network, event->entity);
}

static void visit_packet(const struct network *network, hardware_visitor *visit, void *context)
{
    const struct packet *packet = network_fabric(network)->own;
    sim_time now = network_now(network);
    for (uint32_t i = 0; i < 2 * (packet->servers + packet->edges); i++) {
        const struct packet_link *link = &packet->links[i];
        struct hardware_use use = {.hardware = i, .busy = link->busy + (link->flows ? now - link->from : 0)};
        use.idle = now - use.busy;
        visit(context, &use);
    }
}

/* The links between edge switches and the core, where they can be too slow: of every edge, unless it is but one. */
static void domains_packet(const struct topology *topology, const uint32_t *servers, uint32_t count,
                           struct fabric_list *list)
{
    const struct packet_settings *settings = topology->fabric.settings;
    uint64_t radix = (uint64_t)settings->radix;
    bool is_across = false;
    for (uint32_t i = 1; i < count && !is_across; i++)
        is_across = servers[i] / radix != servers[0] / radix;
    for (uint32_t i = 0; i < count && is_across && settings->oversubscription > 1; i++)
        fabric_list_add(list, servers[i] / radix);
}

static const struct fabric_carrier carrier = {
    .close = close_packet, .send = send_packet, .on_event = on_packet, .visit = visit_packet};

const struct fabric fabric_packet = {
    .strategy =
        {.name = "packet",
         .doc = "No circuits: flows share the links of a two-level fat tree, max-min fair. The electrical baseline.",
         STRATEGY_KEYS(packet_keys, struct packet_settings)},
    .domains = domains_packet,
    .open = open_packet,
};
