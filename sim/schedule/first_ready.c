/* First ready, first served: a device runs whatever became ready on it first, to its end. No device is idle while it
 * could work; nothing is pre-empted. Links go in the order of placement. */
#include "schedule/schedule.h"

static uint32_t pick_oldest(void *state, const struct deployment *deployment, uint32_t device, const uint32_t *ready,
                            uint32_t count)
{
    (void)state, (void)deployment, (void)device, (void)ready, (void)count;
    return 0;
}

const struct scheduler schedule_first_ready = {
    .strategy = {.name = "first_ready", .doc = "what became ready first on its device, to its end"},
    .rank = schedule_as_placed,
    .pick = pick_oldest,
};
