#include "reference_fabrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "figures.h"

struct sender {
    struct world *world;
    struct slow_transfer *transfers;
    struct transfer_report *reports;
};

static void on_send(struct engine *engine, const struct event *event, void *context)
{
    struct sender *sender = context;
    const struct slow_transfer *x = &sender->transfers[event->entity];
    struct transfer_request request = {.source = x->source,
                                       .target = x->target,
                                       .bytes = x->bytes,
                                       .job = x->job,
                                       .priority = x->priority,
                                       .lanes = x->lanes,
                                       .is_cleared_when_blocked = x->is_cleared_when_blocked,
                                       .done = world_keep,
                                       .context = &sender->reports[event->entity]};
    struct error error = {0};
    (void)engine;
    sender->reports[event->entity].end = -1;
    network_check(sender->world->network);
    CU_ASSERT_EQUAL_FATAL(network_send(sender->world->network, &request, NULL, &error), STATUS_OK);
}

static void add_busy(void *context, const struct hardware_use *use)
{
    *(sim_time *)context += use->busy;
}

sim_time fast_run(struct world *world, struct slow_transfer *transfers, struct transfer_report *reports, int count)
{
    struct sender sender = {world, transfers, reports};
    sim_time busy = 0;
    world_start(world);
    engine_on(world->engine, WORLD_SEND_KIND, on_send, &sender);
    for (int i = 0; i < count; i++)
        (void)engine_schedule(world->engine, transfers[i].sent, 0, WORLD_SEND_KIND, (uint32_t)i, 0);
    engine_run(world->engine, SIM_TIME_MAX);
    CU_ASSERT_EQUAL(network_unfinished(world->network), 0);
    network_visit_hardware(world->network, add_busy, &busy);
    world_stop(world);
    return busy;
}

int slow_differences(const struct slow_transfer *transfers, const struct transfer_report *reports, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++)
        wrong += transfers[i].end != reports[i].end || transfers[i].was_cleared != reports[i].is_cleared ||
                 transfers[i].wait != reports[i].wait || transfers[i].reconfiguration != reports[i].reconfiguration;
    return wrong;
}

bool slow_is_before(const struct world *world, const struct slow_transfer *transfers, int left, int right)
{
    const struct slow_transfer *a = &transfers[left], *b = &transfers[right];
    if (world->options.order == NETWORK_SRPT && a->bytes != b->bytes)
        return a->bytes < b->bytes;
    if (world->options.order == NETWORK_PRIORITY && a->priority != b->priority)
        return a->priority < b->priority;
    return left < right;
}

static int64_t latency_of(const struct topology *t)
{
    return t->propagation_ps + 2 * t->io_latency_ps;
}

/* ---- packet ---- */

struct slow_flow {
    bool is_active, is_fixed;
    long double left, rate;
};

/* The links of the tree by number; crosses() says which a transfer uses, the core links always among them. */
static bool crosses(const struct topology *t, const struct slow_transfer *x, uint32_t link)
{
    uint32_t n = t->server_count, radix = (uint32_t)*figure_whole(t, "packet.radix"), edges = (n + radix - 1) / radix;
    uint32_t out = x->source / radix, in = x->target / radix;
    return link == x->source || link == n + x->target ||
           (out != in && (link == 2 * n + out || link == 2 * n + edges + in));
}

/* Of the ends, and of one switch or three. */
static int64_t packet_latency(const struct topology *t, const struct slow_transfer *x)
{
    int64_t radix = *figure_whole(t, "packet.radix"), hop = *figure_whole(t, "packet.hop_latency");
    return latency_of(t) + (x->source / radix == x->target / radix ? hop : 3 * hop);
}

/* Progressive filling over all links and flows. */
static void fill_all(const struct topology *t, const struct slow_transfer *x, struct slow_flow *flows, int count)
{
    uint32_t n = t->server_count, radix = (uint32_t)*figure_whole(t, "packet.radix"), edges = (n + radix - 1) / radix;
    long double rate = floorl((long double)t->node_rate_bytes_per_s);
    for (int i = 0; i < count; i++)
        flows[i].is_fixed = !flows[i].is_active;
    for (;;) {
        long double lowest = INFINITY;
        uint32_t tightest = 0;
        for (uint32_t link = 0; link < 2 * (n + edges); link++) {
            long double left =
                link < 2 * n ? rate : rate * radix / (long double)*figure_real(t, "packet.oversubscription");
            int open = 0;
            for (int i = 0; i < count; i++)
                if (flows[i].is_active && crosses(t, &x[i], link)) {
                    open += !flows[i].is_fixed;
                    left -= flows[i].is_fixed ? flows[i].rate : 0;
                }
            if (open > 0 && left / open < lowest) {
                lowest = left / open;
                tightest = link;
            }
        }
        if (isinf(lowest))
            return;
        for (int i = 0; i < count; i++)
            if (!flows[i].is_fixed && crosses(t, &x[i], tightest)) {
                flows[i].is_fixed = true;
                flows[i].rate = lowest;
            }
    }
}

void slow_packet(const struct world *world, struct slow_transfer *x, int count)
{
    const struct topology *t = &world->topology;
    struct slow_flow *flows = memory_alloc((size_t)count, sizeof *flows);
    int64_t *leaves = memory_alloc((size_t)count, sizeof *leaves);
    for (int64_t now = 0, next = 0; next != INT64_MAX;) {
        for (int i = 0; i < count; i++)
            if (flows[i].is_active)
                flows[i].left -= flows[i].rate * (long double)(next - now) / 1e12L;
        now = next;
        next = INT64_MAX;
        for (int i = 0; i < count; i++) {
            if (flows[i].is_active && leaves[i] == now) {
                flows[i].is_active = false;
                x[i].end = now + packet_latency(t, &x[i]);
            }
            if (x[i].sent == now)
                flows[i] = (struct slow_flow){.is_active = true, .left = (long double)x[i].bytes};
        }
        fill_all(t, x, flows, count);
        for (int i = 0; i < count; i++) {
            /* Less than a millionth of a tick is rounding, not time. */
            if (flows[i].is_active)
                leaves[i] = now + (int64_t)ceill(flows[i].left * 1e12L / flows[i].rate - 1e-6L);
            int64_t change = flows[i].is_active ? leaves[i] : x[i].sent;
            if (change > now && change < next)
                next = change;
        }
    }
    free(flows);
    free(leaves);
}
