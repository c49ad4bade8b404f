#include "step/step.h"

struct time_parts step_times(const struct step_result *result, int64_t steps)
{
    struct time_parts all = result->start_up;
    time_parts_add(&all, &result->step, (double)steps);
    return all;
}
