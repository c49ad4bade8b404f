/* Fuzz target: model files.
 *
 * Whatever the bytes: a mistake is STATUS_USER with a message and a place; a
 * graph keeps its promises (graph.h), and written as a model file it reads back
 * to the same text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_promises(const struct graph *graph)
{
    uint32_t *rank = memory_alloc(graph->op_count, sizeof *rank);
    require(graph->op_count >= 2 && graph->last_op < graph->op_count);
    require(graph->out_start[graph->op_count] == graph->edge_count);
    require(graph->in_start[graph->op_count] == graph->edge_count);
    for (uint32_t i = 0; i < graph->op_count; i++) {
        require(graph->ops[i].id >= 1 && graph->ops[i].id <= graph->ops[graph->last_op].id);
        require(rank[graph->order[i]] == 0);
        rank[graph->order[i]] = i + 1;
    }
    for (uint32_t i = 0; i < graph->edge_count; i++)
        require(rank[graph->edges[i].source] < rank[graph->edges[i].target]);
    free(rank);
}

static void check_round_trip(const struct graph *graph)
{
    char *text = graph_to_json(graph);
    struct graph *again;
    struct error error;
    enum status status = graph_read_json(text, strlen(text), "written", &again, &error);
    require(status == STATUS_OK);
    char *text_again = graph_to_json(again);
    require(strcmp(text, text_again) == 0);
    free(text_again);
    free(text);
    graph_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct graph *graph;
    struct error error;
    enum status status = graph_read_json((const char *)data, size, "input", &graph, &error);
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
