#include "step/step.h"

struct step_time step_times(const struct step_result *result, int64_t steps)
{
    const struct step_time *extra = &result->start_up;
    double n = (double)steps;
    return (struct step_time){
        .total_s = result->step_s * n + extra->total_s,
        .comm_s = result->comm_s * n + extra->comm_s,
        .comp_s = result->comp_s * n + extra->comp_s,
        .reconfig_s = result->reconfig_s * n + extra->reconfig_s,
        .wait_s = result->wait_s * n + extra->wait_s,
        .payload_s = result->payload_s * n + extra->payload_s,
        .latency_s = result->latency_s * n + extra->latency_s,
    };
}
