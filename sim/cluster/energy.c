#include "cluster/energy.h"

#include <stdlib.h>

enum status energy_open(struct energy *energy, const struct energy_figures *figures, const struct topology *topology,
                        const struct network_options *network, struct error *error)
{
    *energy = (struct energy){.figures = *figures, .topology = topology};
    if (figures->port_w == 0)
        return STATUS_OK;
    TRY(network_find_ports(topology, network, &energy->ports, error));
    if (topology->has_grid)
        return STATUS_OK;
    energy->devices_in = memory_alloc(topology->server_count, sizeof *energy->devices_in);
    for (uint32_t device = 0; device < topology->device_count; device++)
        energy->devices_in[topology_host(topology, device)]++;
    return STATUS_OK;
}

void energy_close(struct energy *energy)
{
    free(energy->devices_in);
    energy->devices_in = NULL;
}

double energy_power_w(const struct energy *energy, const uint32_t *devices, uint32_t count)
{
    double servers = energy->devices_in ? 0 : count;
    for (uint32_t i = 0; i < count && energy->devices_in; i++)
        servers += 1.0 / energy->devices_in[topology_host(energy->topology, devices[i])];
    return servers * energy->ports.count * energy->figures.port_w + count * energy->figures.device_w;
}

double energy_j(const struct energy *energy, double power_w, double held_s, double bytes)
{
    const double bits = 8, joules = 1e-12;
    return bytes * bits * energy->figures.bit_pj * joules + power_w * held_s;
}
