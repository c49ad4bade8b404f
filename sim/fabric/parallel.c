#include "fabric/parallel.h"

/* On every alternative an end that is busy there. */
static void plan_wait(const struct fabric_state *state, const struct network *network, const struct parallel_ends *ends,
                      struct fabric_plan *plan)
{
    for (uint64_t k = 0; k < state->alternatives; k++)
        fabric_list_add(&plan->wait,
                        network_hardware_is_free(network, ends->send + k) ? ends->receive + k : ends->send + k);
}

bool parallel_plan(const struct fabric_state *state, const struct network *network, const struct parallel_ends *ends,
                   struct fabric_plan *plan)
{
    uint64_t best = state->alternatives;
    int least = 0;
    for (uint64_t k = 0; k < state->alternatives; k++) {
        uint64_t send = ends->send + k, receive = ends->receive + k;
        if (!network_hardware_is_free(network, send) || !network_hardware_is_free(network, receive))
            continue;
        int loss = network_hardware_loss(network, send) + network_hardware_loss(network, receive);
        if (best < state->alternatives && loss >= least)
            continue;
        best = k;
        least = loss;
        if (loss == 0)
            break;
    }
    if (best == state->alternatives) {
        plan_wait(state, network, ends, plan);
        return false;
    }
    fabric_list_add(&plan->hold, ends->send + best);
    fabric_list_add(&plan->hold, ends->receive + best);
    return true;
}
