#include "schedule/schedule.h"

#include <stddef.h>
#include <string.h>

static const struct scheduler *const schedulers[] = {&schedule_srpt, &schedule_fifo};

const struct scheduler *scheduler_at(unsigned i)
{
    return i < sizeof schedulers / sizeof *schedulers ? schedulers[i] : NULL;
}

const struct scheduler *scheduler_find(const char *name)
{
    for (unsigned i = 0; scheduler_at(i); i++)
        if (strcmp(schedulers[i]->name, name) == 0)
            return schedulers[i];
    return NULL;
}
