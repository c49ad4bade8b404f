/* Fuzz target: topology files.
 *
 * Whatever the bytes: a mistake is STATUS_USER with a message and the file; otherwise the cluster has servers, at most
 * as many as the keys allow, and every server has a name.
 */
#include <stdint.h>

#include "topology/topology.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct topology topology;
    struct error error = {0};
    char name[TOPOLOGY_NAME_BYTES];
    enum status status = topology_parse(size ? (const char *)data : "", size, "fuzz.yaml", &topology, &error);
    if (status != STATUS_OK) {
        require(status == STATUS_USER && error.status == status && error.message[0] && error.file[0]);
        return 0;
    }
    require(topology.server_count >= 1 && topology.server_count <= 1024u * 1024u * TOPOLOGY_RACK_MAX);
    require(topology_name(&topology, topology.server_count - 1, name) >= 5);
    topology_free(&topology);
    return 0;
}
