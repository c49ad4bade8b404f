#include "fabric/parallel.h"

static void take(const struct parallel_ends *ends, uint64_t which, struct fabric_plan *plan)
{
    fabric_list_add(&plan->hold, ends->send + which);
    fabric_list_add(&plan->hold, ends->receive + which);
    for (size_t i = 2; i < ends->per_lane; i++)
        fabric_list_add(&plan->hold, 0);
}

/* The lit circuit of the pair on the lowest alternative, with all its lanes; nothing if there is none. */
static void take_lit(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                     const struct parallel_ends *ends, struct fabric_plan *plan)
{
    uint64_t first = 0;
    for (uint64_t k = 0; k < state->alternatives; k++) {
        if (!network_hardware_is_lit_for(network, ends->send + k, pair))
            continue;
        first = plan->hold.count > 0 ? first : ends->send + k;
        if (network_hardware_is_together(network, first, ends->send + k))
            take(ends, k, plan);
    }
}

/* Alternatives where both ends are dark, or else where somebody has to give way, up to `most` hardware. */
static void take_free(const struct fabric_state *state, const struct network *network, const struct parallel_ends *ends,
                      bool is_dark, size_t most, struct fabric_plan *plan)
{
    for (uint64_t k = 0; k < state->alternatives && plan->hold.count < most; k++) {
        uint64_t send = ends->send + k, receive = ends->receive + k;
        if (network_hardware_is_free(network, send) && network_hardware_is_free(network, receive) &&
            is_dark == (network_hardware_is_dark(network, send) && network_hardware_is_dark(network, receive)))
            take(ends, k, plan);
    }
}

static void plan_wait(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                      const struct parallel_ends *ends, struct fabric_plan *plan)
{
    uint64_t send = ends->send, receive = ends->receive;
    plan->hold.count = 0;
    if (pair->lanes > 1) {
        fabric_list_add(&plan->wait, FABRIC_LINE(send / state->alternatives));
        fabric_list_add(&plan->wait, FABRIC_LINE(receive / state->alternatives));
        return;
    }
    for (uint64_t k = 0; k < state->alternatives; k++)
        fabric_list_add(&plan->wait, network_hardware_is_free(network, send + k) ? receive + k : send + k);
}

bool parallel_plan(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                   const struct parallel_ends *ends, struct fabric_plan *plan)
{
    size_t wanted = ends->per_lane * pair->lanes;
    require(state->alternatives > 0 && ends->per_lane >= 2 && pair->target_count == 1 && plan->hold.count == 0);
    take_lit(state, network, pair, ends, plan);
    require(plan->hold.count == 0 || plan->hold.count == wanted);
    take_free(state, network, ends, true, wanted, plan);
    take_free(state, network, ends, false, wanted, plan);
    if (plan->hold.count == wanted)
        return true;
    plan_wait(state, network, pair, ends, plan);
    return false;
}

uint32_t parallel_line_of(const struct fabric_state *state, uint64_t hardware)
{
    return hardware < state->dense ? (uint32_t)hardware / state->alternatives : FABRIC_NONE;
}

bool parallel_line_is_open(const struct fabric_state *state, const struct network *network, uint32_t line)
{
    for (uint32_t k = 0; k < state->alternatives; k++)
        if (network_hardware_is_free(network, (uint64_t)line * state->alternatives + k))
            return true;
    return false;
}
