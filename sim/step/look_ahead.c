/* The published look-ahead of one training step (PAC-ML simulator, section 7).
 *
 * Every server runs its ready op of the highest rank, pre-empting; all ready
 * dependencies travel at once, without contention. Time advances to the next
 * op that ends or the next transfer that ends among those that are first on
 * their channel (the ordered pair of servers); a transfer that is not first may
 * so be noticed late, which is the only effect of ranks on the network.
 *
 * The published program keeps a record for each dependency. Here those that
 * leave parts of one task which ended at the same tick, over one link, are one
 * *flight*: they have the same remainder at all times; so are those over links
 * to the same servers that take equally long. A flight's channels are
 * the product of its source servers and the link's target servers, so "is it
 * first on some channel?" is a question about bit sets. Memory grows with parts
 * and links, not with dependencies.
 *
 * Dependencies inside a server, empty ones and free ones arrive at once: the
 * published program spends ticks of length zero on them, in which nothing else
 * changes.
 */
#include "step/step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "step/look_ahead_state.h"

enum { EVENT_OP_END = 1, EVENT_FLIGHT_END = 2 };

/* Which part of a task sits on a server. */
static uint32_t part_at(const struct look_ahead *run, uint32_t task, uint32_t server)
{
    uint32_t list = look_ahead_list_of(run, task);
    return run->part_of[(size_t)list * run->servers.count + server];
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void fold_event(struct look_ahead *run, uint64_t kind, uint64_t entity)
{
    uint64_t bits;
    memcpy(&bits, &run->now_s, sizeof bits);
    trace_hash_fold(&run->hash, bits, kind, entity);
}

/* ---- ready ops ---- */

static void make_ready(struct look_ahead *run, uint32_t task, uint32_t part, uint32_t server)
{
    run->is_ready[look_ahead_part(run, task, part)] = true;
    ready_push(&run->ready[server], run->deployment, task);
}

/* ---- dependencies ---- */

/* A part got count more dependencies. Quirk kept (7.4f): sync edges count too, so they may release a part early. */
static void add_arrivals(struct look_ahead *run, uint32_t task, uint32_t part, uint32_t server, uint32_t count)
{
    size_t index = look_ahead_part(run, task, part);
    run->met[index] += count;
    if (!run->is_ready[index] && run->met[index] >= run->need[task])
        make_ready(run, task, part, server);
}

/* Servers to which a flight sends from one of its sources: a bit set in targets. */
static void flight_targets(const struct look_ahead *run, const struct flight *flight, uint32_t source,
                           uint64_t *targets)
{
    const struct task_link *link = &run->tasks->links[flight->link];
    uint32_t list = look_ahead_list_of(run, link->target);
    if (link->pattern != LINK_SYNC) {
        memcpy(targets, run->list_servers[list], run->words * sizeof *targets);
        targets[source / 64] &= ~(UINT64_C(1) << source % 64);
        return;
    }
    uint32_t count;
    const uint32_t *servers = look_ahead_list(run, link->target, &count);
    memset(targets, 0, run->words * sizeof *targets);
    for (uint32_t i = 0; i < count; i++)
        if (servers[i] != source && pair_class(&run->servers.at[source], &run->servers.at[servers[i]]) == flight->class)
            targets[servers[i] / 64] |= UINT64_C(1) << servers[i] % 64;
}

static void deliver_sync(struct look_ahead *run, const struct flight *flight)
{
    uint32_t task = run->tasks->links[flight->link].target, count;
    if (run->parts_left[task] == 0)
        return; /* siblings that are all done need no release */
    const uint32_t *servers = look_ahead_list(run, task, &count);
    for (uint32_t part = 0; part < count; part++) {
        uint32_t got = 0;
        for (uint32_t from = 0; from < count; from++)
            got += from != part && has_bit(flight->sources, servers[from]) &&
                   pair_class(&run->servers.at[servers[from]], &run->servers.at[servers[part]]) == flight->class;
        if (got)
            add_arrivals(run, task, part, servers[part], got);
    }
}

/* The dependencies of a data link arrive: inside, from a part to the one on its own server; else all others. */
static void deliver_link(struct look_ahead *run, const struct task_link *link, const uint64_t *sources, bool is_inside)
{
    uint32_t count, sent = 0;
    for (uint32_t word = 0; word < run->words; word++)
        sent += (uint32_t)__builtin_popcountll(sources[word]);
    const uint32_t *servers = look_ahead_list(run, link->target, &count);
    for (uint32_t part = 0; part < count; part++) {
        uint32_t own = has_bit(sources, servers[part]), got = is_inside ? own : sent - own;
        if (got)
            add_arrivals(run, link->target, part, servers[part], got);
    }
}

static void deliver_flight(struct look_ahead *run, const struct flight *flight)
{
    if (run->tasks->links[flight->link].pattern == LINK_SYNC) {
        deliver_sync(run, flight);
        return;
    }
    for (uint32_t link = flight->link; link != NO_LINK; link = run->next_link[link])
        deliver_link(run, &run->tasks->links[link], flight->sources, false);
}

static void launch_flight(struct look_ahead *run, struct flight flight)
{
    flight.left_s = flight.total_s;
    flight.start_s = run->now_s;
    if (flight.total_s <= 0) {
        deliver_flight(run, &flight);
        return;
    }
    run->flights = memory_grow(run->flights, &run->flight_capacity, run->flight_count + 1, sizeof *run->flights);
    run->flights[run->flight_count++] = flight;
}

/* The classes of pairs that exist among the parts of a task, as a bit set. Only pairs with a source that ended matter,
 * but a class without members would fly for nothing and prolong the step. */
static unsigned sync_classes(const struct look_ahead *run, uint32_t task, const uint64_t *sources)
{
    uint32_t count;
    const uint32_t *servers = look_ahead_list(run, task, &count);
    unsigned classes = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; has_bit(sources, servers[i]) && j < count; j++)
            if (i != j)
                classes |= 1U << pair_class(&run->servers.at[servers[i]], &run->servers.at[servers[j]]);
    return classes;
}

/* Does any dependency of this link leave its server? */
static bool leaves_server(const struct look_ahead *run, const struct task_link *link, const uint64_t *sources)
{
    const uint64_t *targets = run->list_servers[look_ahead_list_of(run, link->target)];
    uint32_t count = 0;
    uint64_t elsewhere = 0;
    for (uint32_t word = 0; word < run->words; word++) {
        count += (uint32_t)__builtin_popcountll(targets[word]);
        elsewhere |= sources[word] & ~targets[word];
    }
    return count > 1 || elsewhere;
}

static void launch_sync(struct look_ahead *run, uint32_t link, uint64_t *sources)
{
    uint32_t task = run->tasks->links[link].source;
    unsigned classes = sync_classes(run, task, sources);
    for (unsigned class = 0; class < PAIR_CLASSES; class ++)
        if (classes >> class & 1)
            launch_flight(run, (struct flight){.link = link,
                                               .class = class,
                                               .bundle = run->bundles++,
                                               .total_s = run->sync_s[task][class],
                                               .sources = sources});
}

/* By channels, then in the order in which they go first: shortest, then last in the order of edges. */
static int departure_total(const void *left, const void *right)
{
    const struct departure *a = left, *b = right;
    if (a->list != b->list)
        return a->list < b->list ? -1 : 1;
    if (a->total_s != b->total_s)
        return a->total_s < b->total_s ? -1 : 1;
    return a->link > b->link ? -1 : a->link < b->link;
}

/* Links to the same servers are one bundle; those of them that take equally long are one flight. */
static void launch_data(struct look_ahead *run, uint32_t count, uint64_t *sources)
{
    struct departure *at = run->departures;
    qsort(at, count, sizeof *at, departure_total);
    for (uint32_t i = 0, end; i < count; i = end) {
        bool is_new = i == 0 || at[i - 1].list != at[i].list;
        run->bundles += is_new;
        for (end = i + 1; end < count && at[end].list == at[i].list && at[end].total_s == at[i].total_s; end++)
            run->next_link[at[end - 1].link] = at[end].link;
        run->next_link[at[end - 1].link] = NO_LINK;
        launch_flight(
            run,
            (struct flight){.link = at[i].link, .bundle = run->bundles, .total_s = at[i].total_s, .sources = sources});
    }
    run->bundles++;
}

static void launch_all(struct look_ahead *run, uint32_t task, uint64_t *sources)
{
    const struct task_graph *tasks = run->tasks;
    uint32_t leaving = 0;
    for (uint32_t i = 0; i < tasks->out_count[task]; i++) {
        uint32_t l = tasks->out_start[task] + i;
        const struct task_link *link = &tasks->links[l];
        if (link->pattern == LINK_SYNC) {
            launch_sync(run, l, sources);
            continue;
        }
        deliver_link(run, link, sources, true);
        if (leaves_server(run, link, sources))
            run->departures[leaving++] = (struct departure){l, look_ahead_list_of(run, link->target), run->link_s[l]};
    }
    launch_data(run, leaving, sources);
}

/* ---- ticks ---- */

/* Ranks of the published program: longest first, then the order of edges; the last goes first. */
static bool goes_before(const struct flight *a, const struct flight *b)
{
    return a->total_s != b->total_s ? a->total_s < b->total_s : a->link > b->link;
}

/* Is the flight, the leader of its bundle, first on at least one of its channels? Of the other bundles, too, only the
 * leaders matter: they use the same channels as those behind them and go before them. */
static bool is_first(const struct look_ahead *run, const struct flight *flight, uint64_t *targets, uint64_t *others)
{
    for (uint32_t source = 0; source < run->servers.count; source++) {
        if (!has_bit(flight->sources, source))
            continue;
        flight_targets(run, flight, source, targets);
        for (uint32_t i = 0; i < run->leader_count; i++) {
            const struct flight *other = &run->flights[run->leaders[i]];
            if (!goes_before(other, flight) || !has_bit(other->sources, source))
                continue;
            flight_targets(run, other, source, others);
            for (uint32_t word = 0; word < run->words; word++)
                targets[word] &= ~others[word];
        }
        for (uint32_t word = 0; word < run->words; word++)
            if (targets[word])
                return true;
    }
    return false;
}

/* The smallest remainder among flights that are first on a channel; infinite without any. */
static double next_flight_s(struct look_ahead *run, uint64_t *targets, uint64_t *others)
{
    run->leader_count = 0;
    run->leaders = memory_grow(run->leaders, &run->leader_capacity, run->flight_count, sizeof *run->leaders);
    for (uint32_t i = 0; i < run->flight_count; i++) {
        if (i > 0 && run->flights[i - 1].bundle == run->flights[i].bundle)
            continue;
        run->flights[i].is_second = false;
        run->leaders[run->leader_count++] = i;
    }
    for (;;) {
        struct flight *next = NULL;
        for (uint32_t i = 0; i < run->leader_count; i++) {
            struct flight *flight = &run->flights[run->leaders[i]];
            if (!flight->is_second && (!next || flight->left_s < next->left_s))
                next = flight;
        }
        if (!next)
            return INFINITY;
        if (is_first(run, next, targets, others))
            return next->left_s;
        next->is_second = true;
    }
}

static double next_op_s(const struct look_ahead *run)
{
    double next_s = INFINITY;
    for (uint32_t server = 0; server < run->servers.count; server++) {
        uint32_t task = ready_top(&run->ready[server], run->deployment, run->deployment->used[server]);
        if (task == READY_NONE)
            continue;
        double left_s = run->left_s[look_ahead_part(run, task, part_at(run, task, server))];
        if (left_s < next_s)
            next_s = left_s;
    }
    return next_s;
}

static void end_part(struct look_ahead *run, uint32_t task, uint32_t part, uint32_t server)
{
    if (!run->ended_servers[task]) {
        run->ended_servers[task] = arena_alloc(&run->arena, run->words, sizeof(uint64_t));
        run->ended[run->ended_count++] = task;
    }
    require(run->parts_left[task] > 0 && run->tasks_left > 0);
    run->ended_servers[task][server / 64] |= UINT64_C(1) << server % 64;
    run->parts_left[task]--;
    run->tasks_left--;
    fold_event(run, EVENT_OP_END, (uint64_t)task << 32 | part);
}

/* Every server works on its op for the tick; returns whether any did. */
static bool advance_ops(struct look_ahead *run, double tick_s, double end_s)
{
    const struct step_observer *observer = run->input->observer;
    bool any = false;
    for (uint32_t server = 0; server < run->servers.count; server++) {
        struct ready_set *set = &run->ready[server];
        if (!set->count)
            continue;
        any = true;
        uint32_t task = set->tasks[0], part = part_at(run, task, server);
        double *left_s = &run->left_s[look_ahead_part(run, task, part)];
        *left_s -= tick_s < *left_s ? tick_s : *left_s;
        if (observer && observer->ran)
            observer->ran(observer->context, task, part, run->deployment->used[server], run->now_s, end_s);
        if (*left_s == 0) {
            ready_pop(set, run->deployment);
            end_part(run, task, part, server);
        }
    }
    return any;
}

/* All flights move; those that end deliver after the others were counted, so that none is ticked twice. */
static void advance_flights(struct look_ahead *run, double tick_s, struct flight *landed, uint32_t *landed_count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < run->flight_count; i++) {
        struct flight *flight = &run->flights[i];
        flight->left_s -= tick_s < flight->left_s ? tick_s : flight->left_s;
        if (flight->left_s == 0)
            landed[(*landed_count)++] = *flight;
        else
            run->flights[kept++] = *flight;
    }
    run->flight_count = kept;
}

static void land_flight(struct look_ahead *run, const struct flight *flight)
{
    const struct step_observer *observer = run->input->observer;
    fold_event(run, EVENT_FLIGHT_END, flight->link);
    bool is_sync = run->tasks->links[flight->link].pattern == LINK_SYNC;
    for (uint32_t link = flight->link; observer && observer->flew && link != NO_LINK;
         link = is_sync ? NO_LINK : run->next_link[link])
        observer->flew(observer->context, link, flight->start_s, run->now_s);
    deliver_flight(run, flight);
}

static void run_tick(struct look_ahead *run, double tick_s)
{
    require(tick_s >= 0 && run->ended_count == 0);
    bool had_flights = run->flight_count > 0 && tick_s > 0;
    struct flight *landed = memory_alloc(run->flight_count, sizeof *landed);
    uint32_t landed_count = 0;
    double end_s = run->now_s + tick_s;
    bool had_ops = advance_ops(run, tick_s, end_s);
    advance_flights(run, tick_s, landed, &landed_count);
    run->now_s = end_s;
    run->comm_s += had_flights ? tick_s : 0;
    run->comp_s += had_ops ? tick_s : 0;
    for (uint32_t i = 0; i < landed_count; i++)
        land_flight(run, &landed[i]);
    for (uint32_t i = 0; i < run->ended_count; i++) {
        uint32_t task = run->ended[i];
        uint64_t *sources = run->ended_servers[task];
        run->ended_servers[task] = NULL;
        launch_all(run, task, sources);
    }
    run->ended_count = 0;
    free(landed);
}

/* A task without true parents may start. The published program also waits for sync edges here, so that a split
 * backward source never starts and the run ends in an exception; here it starts at once. */
static void start_tasks(struct look_ahead *run)
{
    for (uint32_t l = 0; l < run->tasks->link_count; l++) {
        const struct task_link *link = &run->tasks->links[l];
        if (link->pattern != LINK_SYNC)
            run->need[link->target] += run->tasks->parts[run->tasks->tasks[link->source].op];
    }
    for (uint32_t task = 0; task < run->task_count; task++) {
        uint32_t count;
        const uint32_t *servers = look_ahead_list(run, task, &count);
        run->parts_left[task] = count;
        run->tasks_left += count;
        for (uint32_t part = 0; part < count; part++) {
            run->left_s[look_ahead_part(run, task, part)] = look_ahead_cost_s(run, task);
            if (run->need[task] == 0)
                make_ready(run, task, part, servers[part]);
        }
    }
}

/* Queue empty with work undone: names the first op that waits and what it waits for. */
static enum status explain_deadlock(const struct look_ahead *run, struct error *error)
{
    for (uint32_t task = 0; task < run->task_count; task++) {
        size_t index = look_ahead_part(run, task, 0);
        if (run->parts_left[task] && !run->is_ready[index])
            return error_set(error, STATUS_IMPOSSIBLE,
                             "deadlock: %s op %u of model %s waits for %u dependencies and got %u",
                             task_pass_name(run->tasks, task), run->tasks->graph->ops[run->tasks->tasks[task].op].id,
                             run->tasks->graph->name, run->need[task], run->met[index]);
    }
    return error_set(error, STATUS_IMPOSSIBLE, "deadlock: a transfer never ends");
}

enum status step_published(const struct step_input *input, struct step_result *result, struct error *error)
{
    struct look_ahead run;
    struct step_result found = {.flows = look_ahead_open(&run, input)};
    start_tasks(&run);
    uint64_t *targets = arena_alloc(&run.arena, run.words, sizeof *targets);
    uint64_t *others = arena_alloc(&run.arena, run.words, sizeof *others);
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (run.tasks_left || run.flight_count)) {
        double op_s = next_op_s(&run), flight_s = next_flight_s(&run, targets, others);
        double tick_s = op_s < flight_s ? op_s : flight_s;
        if (isfinite(tick_s))
            run_tick(&run, tick_s);
        else
            status = explain_deadlock(&run, error);
    }
    if (status == STATUS_OK) {
        found.step.total_s = run.now_s;
        found.step.part_s[TIME_COMM] = run.comm_s;
        found.step.part_s[TIME_COMP] = run.comp_s;
        found.events = run.hash.count;
        found.trace_hash = trace_hash_value(&run.hash);
        *result = found;
    }
    look_ahead_close(&run);
    return status;
}
