/* One step of a deployment, whatever the network: here the published formulas and circuits part. */
#include "step/step.h"

#include "step/on_circuits.h"

struct time_parts step_times(const struct step_result *result, int64_t steps)
{
    struct time_parts all = result->start_up;
    time_parts_add(&all, &result->step, (double)steps);
    return all;
}

enum status step_check_published(const struct topology *topology, struct error *error)
{
    if (topology->has_grid)
        return STATUS_OK;
    return error_set(error, STATUS_USER,
                     "network.model: published knows groups, racks and servers with one device of one class; this "
                     "topology needs network.model: circuit");
}

/* The formulas know what the published program sends, and no more. */
static enum status check_published(const struct step_input *input, struct error *error)
{
    const struct task_graph *tasks = input->deployment->tasks;
    TRY(step_check_published(input->topology, error));
    for (uint32_t link = 0; link < tasks->link_count; link++)
        if (tasks->links[link].pattern == LINK_ONE_TO_ONE || tasks->links[link].pattern == LINK_SHARES)
            return error_set(error, STATUS_USER,
                             "model %.100s passes its parts one to one, which network.model: published does not know; "
                             "use network.model: circuit",
                             tasks->graph->name);
    for (uint32_t op = 0; op < tasks->graph->op_count; op++)
        if (deployment_sync(input->deployment, op) != SYNC_STANDARD)
            return error_set(error, STATUS_USER,
                             "network.model: published knows one way to synchronise; use network.model: circuit");
    return STATUS_OK;
}

enum status step_run(const struct step_input *inputs, uint32_t count, const struct circuit_options *circuit,
                     struct step_result *results, struct error *error)
{
    require(count > 0);
    for (uint32_t i = 0; i < count; i++)
        require(inputs[i].deployment->rank && inputs[i].topology == inputs[0].topology && inputs[i].unit_s > 0);
    if (circuit)
        return step_circuit(inputs, count, circuit, results, error);
    for (uint32_t i = 0; i < count; i++) {
        TRY(check_published(&inputs[i], error));
        TRY(step_published(&inputs[i], &results[i], error));
    }
    return STATUS_OK;
}
