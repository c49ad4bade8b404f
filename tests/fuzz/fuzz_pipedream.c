/* Fuzz target: PipeDream profiles.
 *
 * Whatever the bytes: a mistake is STATUS_USER with a message and a place; a
 * graph keeps its promises (graph.h), and written as a model file it reads back
 * to the same text.
 */
#include <stdint.h>

#include "graph/graph.h"
#include "graph_promises.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct graph *graph;
    struct error error;
    enum status status = graph_read_pipedream((const char *)data, size, "input", &graph, &error);
    if (status != STATUS_OK) {
        require(status == STATUS_USER && error.status == status);
        require(error.line >= 1 && error.column >= 1 && error.message[0]);
        return 0;
    }
    check_promises(graph);
    check_round_trip(graph);
    graph_free(graph);
    return 0;
}
