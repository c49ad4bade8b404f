/* First placed, first served: the order of placement is the order of service, whatever the cost. */
#include "schedule/schedule.h"

const struct scheduler schedule_fifo = {
    .strategy = {.name = "fifo", .doc = "in the order of placement"},
    .rank = schedule_as_placed,
};
