#include "step/look_ahead_links.h"

#include <stdlib.h>

static int server_total(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right; /* {server, local number} */
    return a[0] < b[0] ? -1 : a[0] > b[0];
}

void local_servers_init(struct local_servers *servers, const struct deployment *deployment,
                        const struct topology *topology)
{
    uint32_t count = deployment->used_count;
    uint32_t(*sorted)[2] = memory_alloc(count, sizeof *sorted);
    *servers = (struct local_servers){count, memory_alloc(count, sizeof *servers->at),
                                      memory_alloc(deployment->entry_count, sizeof *servers->of_entry)};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t server = deployment->used[i];
        sorted[i][0] = server;
        sorted[i][1] = i;
        servers->at[i] = (struct local_server){
            {topology_group(topology, server), topology_rack(topology, server), topology_place(topology, server)}};
    }
    qsort(sorted, count, sizeof *sorted, server_total);
    for (uint32_t entry = 0; entry < deployment->entry_count; entry++) {
        uint32_t key[2] = {deployment->devices[entry], 0};
        const uint32_t *found = bsearch(key, sorted, count, sizeof *sorted, server_total);
        require(found);
        servers->of_entry[entry] = found[1];
    }
    free(sorted);
}

void local_servers_fini(struct local_servers *servers)
{
    free(servers->at);
    free(servers->of_entry);
}

/* Distinct values of one coordinate among the servers of a list. */
static int64_t count_distinct(const struct local_servers *servers, const uint32_t *local, uint32_t count,
                              enum coordinate coordinate, int64_t limit)
{
    bool *seen = memory_alloc((size_t)limit, sizeof *seen);
    int64_t distinct = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = servers->at[local[i]].at[coordinate];
        distinct += !seen[value];
        seen[value] = true;
    }
    free(seen);
    return distinct;
}

static struct published_spread spread_of(const struct step_input *input, const struct local_servers *servers,
                                         uint32_t list)
{
    struct device_list at = input->deployment->lists[list];
    const uint32_t *local = servers->of_entry + at.start;
    const struct topology *t = input->topology;
    return (struct published_spread){count_distinct(servers, local, at.count, GROUP, t->groups),
                                     count_distinct(servers, local, at.count, RACK, t->racks_per_group),
                                     count_distinct(servers, local, at.count, PLACE, t->servers_per_rack)};
}

/* The dependencies of one op that are timed together: those out of its forward parts, or those into its backward
 * parts. An op that is split but has none (a forward sink that is not the last op) makes the published program divide
 * by zero; here there is simply nothing to time. */
struct bundle {
    uint32_t op;
    uint32_t count;
    const uint32_t *links; /* positions in tasks->links, in summing order */
};

static uint32_t far_op(const struct task_graph *tasks, const struct bundle *bundle, uint32_t i)
{
    const struct task_link *link = &tasks->links[bundle->links[i]];
    uint32_t source = tasks->tasks[link->source].op;
    return source == bundle->op ? tasks->tasks[link->target].op : source;
}

/* A bundle is a collective iff sources and destinations are the same servers, as often each: then every server of the
 * op is met equally often by the far ends, and no other server is. met is zeroed scratch, one counter a server. */
static bool is_collective(const struct step_input *input, const struct local_servers *servers,
                          const struct bundle *bundle, uint32_t *met)
{
    const struct deployment *deployment = input->deployment;
    struct device_list own = deployment->lists[deployment->list_of_op[bundle->op]];
    uint64_t far_parts = 0, met_own = 0;
    for (uint32_t i = 0; i < bundle->count; i++) {
        struct device_list at = deployment->lists[deployment->list_of_op[far_op(input->deployment->tasks, bundle, i)]];
        far_parts += at.count;
        for (uint32_t part = 0; part < at.count; part++)
            met[servers->of_entry[at.start + part]]++;
    }
    bool is_even = true;
    for (uint32_t part = 0; part < own.count; part++) {
        uint32_t times = met[servers->of_entry[own.start + part]];
        is_even = is_even && (uint64_t)times * own.count == far_parts;
        met_own += times;
    }
    for (uint32_t i = 0; i < bundle->count; i++) {
        struct device_list at = deployment->lists[deployment->list_of_op[far_op(input->deployment->tasks, bundle, i)]];
        for (uint32_t part = 0; part < at.count; part++)
            met[servers->of_entry[at.start + part]] = 0;
    }
    return is_even && met_own == far_parts;
}

/* Added one by one, since the published program rounds the sum up to whole bytes: a last bit may cost a byte. */
static double message_bytes(const struct task_graph *tasks, const struct bundle *bundle)
{
    double sum = 0;
    for (uint32_t part = 0; part < tasks->parts[bundle->op]; part++)
        for (uint32_t i = 0; i < bundle->count; i++) {
            double bytes = tasks->links[bundle->links[i]].bytes;
            for (uint32_t far = tasks->parts[far_op(tasks, bundle, i)]; far > 0; far--)
                sum += bytes;
        }
    return sum;
}

static void time_bundle(const struct step_input *input, const struct local_servers *servers,
                        const struct published_network *network, const struct bundle *bundle, uint32_t *met,
                        double *link_s)
{
    const struct task_graph *tasks = input->deployment->tasks;
    bool together = tasks->parts[bundle->op] > 1 && bundle->count > 0 && is_collective(input, servers, bundle, met);
    double collective_s = 0;
    if (together) {
        struct published_spread spread = spread_of(input, servers, input->deployment->list_of_op[bundle->op]);
        collective_s = published_collective_s(network, message_bytes(tasks, bundle), spread);
    }
    for (uint32_t i = 0; i < bundle->count; i++) {
        double bytes = tasks->links[bundle->links[i]].bytes;
        link_s[bundle->links[i]] = !together ? published_message_s(network, bytes) : bytes > 0 ? collective_s : 0;
    }
}

void published_link_times(const struct step_input *input, const struct local_servers *servers,
                          const struct published_network *network, double *link_s)
{
    const struct task_graph *tasks = input->deployment->tasks;
    uint32_t *links = memory_alloc(tasks->link_count, sizeof *links);
    uint32_t *met = memory_alloc(servers->count, sizeof *met);
    for (uint32_t i = 0; i < tasks->task_count; i++) {
        /* op by op, forward then backward: a link that joins the passes is timed with what goes into the twin */
        uint32_t task = tasks->placing[i];
        struct bundle bundle = {.op = tasks->tasks[task].op, .links = links};
        for (uint32_t l = 0; l < tasks->out_count[task] && !tasks->tasks[task].is_backward; l++)
            links[bundle.count++] = tasks->out_start[task] + l;
        for (uint32_t l = tasks->in_start[task]; l < tasks->in_start[task + 1] && tasks->tasks[task].is_backward; l++)
            if (tasks->links[tasks->in_link[l]].pattern != LINK_SYNC)
                links[bundle.count++] = tasks->in_link[l];
        time_bundle(input, servers, network, &bundle, met, link_s);
    }
    free(links);
    free(met);
}

double published_sync_s(const struct published_network *network, double bytes, unsigned class)
{
    if (bytes <= 0)
        return 0;
    struct published_spread spread = {1 + (class >> GROUP & 1), 1 + (class >> RACK & 1), 1 + (class >> PLACE & 1)};
    return published_collective_s(network, bytes + bytes, spread);
}

/* Pairs of parts of a sync link whose edges take time. O(parts * parts), in registers only. */
static uint64_t count_sync_flows(const struct step_input *input, const struct local_servers *servers,
                                 const struct published_network *network, const struct task_link *link)
{
    struct device_list at = deployment_list(input->deployment, link->source);
    bool takes_time[PAIR_CLASSES];
    for (unsigned class = 0; class < PAIR_CLASSES; class ++)
        takes_time[class] = published_sync_s(network, link->bytes, class) > 0;
    uint64_t flows = 0;
    for (uint32_t i = 0; i < at.count; i++)
        for (uint32_t j = 0; j < at.count; j++) {
            const struct local_server *a = &servers->at[servers->of_entry[at.start + i]];
            flows += i != j && takes_time[pair_class(a, &servers->at[servers->of_entry[at.start + j]])];
        }
    return flows;
}

uint64_t published_count_flows(const struct step_input *input, const struct local_servers *servers,
                               const struct published_network *network, const double *link_s)
{
    const struct task_graph *tasks = input->deployment->tasks;
    const struct deployment *deployment = input->deployment;
    bool *is_source = memory_alloc(servers->count, sizeof *is_source);
    uint64_t flows = 0;
    for (uint32_t l = 0; l < tasks->link_count; l++) {
        const struct task_link *link = &tasks->links[l];
        if (link->pattern == LINK_SYNC) {
            flows += count_sync_flows(input, servers, network, link);
            continue;
        }
        if (link_s[l] <= 0)
            continue;
        struct device_list from = deployment_list(deployment, link->source);
        struct device_list to = deployment_list(deployment, link->target);
        flows += (uint64_t)from.count * to.count;
        for (uint32_t i = 0; i < from.count; i++)
            is_source[servers->of_entry[from.start + i]] = true;
        for (uint32_t i = 0; i < to.count; i++)
            flows -= is_source[servers->of_entry[to.start + i]];
        for (uint32_t i = 0; i < from.count; i++)
            is_source[servers->of_entry[from.start + i]] = false;
    }
    free(is_source);
    return flows;
}
