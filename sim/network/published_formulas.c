#include "network/published_formulas.h"

#include <math.h>

enum { BYTES_PER_NUMBER = 2 };

void published_init(struct published_network *network, const struct topology *topology)
{
    require(topology->groups > 0);
    double latency_s = (double)topology->propagation_ps / 1e12, io_s = (double)topology->io_latency_ps / 1e12;
    *network = (struct published_network){
        .hop_s = latency_s + 2 * io_s,
        .transceiver_rate_bytes_per_s = topology->node_rate_bytes_per_s / (double)topology->groups,
        .transceivers = topology->groups,
        .memory_rate_bytes_per_s = topology->device.memory_rate_bytes_per_s,
        .peak_per_s = topology->device.peak_per_s,
    };
}

double published_message_s(const struct published_network *network, double bytes)
{
    return bytes > 0 ? network->hop_s + bytes / network->transceiver_rate_bytes_per_s : 0;
}

/* Spare transceivers of a subgroup of d members work in parallel. */
static double parallel_transceivers(int64_t transceivers, int64_t d)
{
    int64_t spare = transceivers / (d - 1);
    return (double)(spare < transceivers ? spare : transceivers);
}

/* Reducing what d members sent, on the roofline of the device. */
static double reduction_s(const struct published_network *network, double bytes, int64_t d)
{
    double operations = ceil(log2((double)d));
    double intensity = operations / ((double)(d + 1) * BYTES_PER_NUMBER);
    double rate = network->memory_rate_bytes_per_s * intensity;
    double members = (double)d;
    return operations * ((bytes * members) / members) / BYTES_PER_NUMBER /
           (rate < network->peak_per_s ? rate : network->peak_per_s);
}

double published_collective_s(const struct published_network *network, double message_bytes,
                              struct published_spread spread)
{
    int64_t x = network->transceivers;
    int64_t subgroups[4] = {spread.groups, spread.groups < spread.places ? spread.groups : spread.places, spread.racks,
                            (spread.places + x - 1) / x};
    double bytes = message_bytes, communication_s = 0, computation_s = 0;
    for (int i = 0; i < 4; i++) {
        int64_t d = subgroups[i];
        bytes = ceil(bytes / (double)d);
        if (d <= 1)
            continue;
        double rate = parallel_transceivers(x, d) * (network->transceiver_rate_bytes_per_s / (double)x);
        communication_s += network->hop_s + bytes / rate;
        computation_s += reduction_s(network, bytes, d);
    }
    return 2 * communication_s + computation_s;
}
