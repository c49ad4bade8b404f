#include "step/step.h"

struct step_time step_time_scale(const struct step_time *time, double factor, const struct step_time *plus)
{
    return (struct step_time){
        .total_s = time->total_s * factor + plus->total_s,
        .comm_s = time->comm_s * factor + plus->comm_s,
        .comp_s = time->comp_s * factor + plus->comp_s,
        .reconfig_s = time->reconfig_s * factor + plus->reconfig_s,
        .wait_s = time->wait_s * factor + plus->wait_s,
        .payload_s = time->payload_s * factor + plus->payload_s,
        .latency_s = time->latency_s * factor + plus->latency_s,
    };
}

struct step_time step_times(const struct step_result *result, int64_t steps)
{
    const struct step_time one = {result->step_s, result->comm_s,    result->comp_s,   result->reconfig_s,
                                  result->wait_s, result->payload_s, result->latency_s};
    return step_time_scale(&one, (double)steps, &result->start_up);
}
