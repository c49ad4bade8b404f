/* The registry of schedulers. */
#include "schedule/schedule.h"

/* One line per scheduler. */
#define SCHEDULERS(_, type)                                                                                            \
    _(type, schedule_srpt)                                                                                             \
    _(type, schedule_fifo)
REGISTRY(schedulers, struct scheduler, SCHEDULERS, schedule_srpt)
