/* What both graph targets hold against a graph that was accepted: it keeps the
 * promises of graph.h, and written as a model file it reads back to the same
 * text. Borrows the graph. O(ops + edges). */
#ifndef FUZZ_GRAPH_PROMISES_H
#define FUZZ_GRAPH_PROMISES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

static inline void check_promises(const struct graph *graph)
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

static inline void check_round_trip(const struct graph *graph)
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

#endif
