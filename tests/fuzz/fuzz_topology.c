/* Fuzz target: topology files.
 *
 * Whatever the bytes: a mistake is STATUS_USER with a message and the file; otherwise the cluster has servers, at most
 * as many as the keys allow, and every server has a name.
 */
#include <stdint.h>

#include "fabric/fabrics.h"
#include "topology/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct topology topology;
    struct error error = {0};
    char name[TOPOLOGY_NAME_BYTES];
    enum status status = fabric_parse_topology(size ? (const char *)data : "", size, "fuzz.yaml", &topology, &error);
    if (status != STATUS_OK) {
        require(status == STATUS_USER && error.status == status && error.message[0] && error.file[0]);
        return 0;
    }
    require(topology.server_count >= 1 && topology.server_count <= 1024u * 1024u * TOPOLOGY_RACK_MAX);
    require(topology.device_count >= topology.server_count && topology.class_count >= 1);
    int length = topology_device_name(&topology, topology.device_count - 1, name);
    require(length >= (topology.has_grid ? 5 : 3) && length < TOPOLOGY_NAME_BYTES && !name[length]);
    for (uint32_t device = 0; device < topology.device_count; device++)
        require(topology.devices[device].host < topology.server_count &&
                topology.devices[device].class < topology.class_count && topology_class(&topology, device)->speed > 0);
    topology_free(&topology);
    return 0;
}
