#include "cluster/deployer.h"

enum status deployer_open(struct deployer *deployer, const struct topology *topology, struct choice placer,
                          struct choice scheduler, double unit_s, struct error *error)
{
    require(topology->device_count > 0 && placer.strategy && scheduler.strategy && unit_s > 0);
    *deployer = (struct deployer){.topology = topology, .placer = placer, .scheduler = scheduler, .unit_s = unit_s};
    place_scratch_init(&deployer->scratch, topology);
    const struct placer *places = deployer_placer(deployer);
    const struct scheduler *schedules = (const struct scheduler *)scheduler.strategy;
    TRY(place_check(places, topology, error));
    if (places->open)
        TRY(places->open(placer.settings, topology, &deployer->placer_state, error));
    return schedules->open ? schedules->open(scheduler.settings, topology, &deployer->scheduler_state, error)
                           : STATUS_OK;
}

void deployer_close(struct deployer *deployer)
{
    const struct placer *places = deployer_placer(deployer);
    const struct scheduler *schedules = (const struct scheduler *)deployer->scheduler.strategy;
    if (deployer->placer_state)
        places->close(deployer->placer_state);
    if (deployer->scheduler_state)
        schedules->close(deployer->scheduler_state);
    place_scratch_fini(&deployer->scratch);
}

bool deployer_place(struct deployer *deployer, const struct task_graph *tasks, const struct occupancy *occupancy,
                    struct deployment *deployment)
{
    struct place_request request = {.settings = deployer->placer.settings,
                                    .state = deployer->placer_state,
                                    .tasks = tasks,
                                    .occupancy = occupancy,
                                    .scratch = &deployer->scratch};
    if (!deployer_placer(deployer)->place(&request, deployment))
        return false;
    require(deployment->tasks == tasks && deployment->used_count > 0);
    return true;
}

void deployer_rank(const struct deployer *deployer, struct deployment *deployment)
{
    schedule_fill(&deployer->scheduler, deployer->scheduler_state, deployer->topology, deployer->unit_s, deployment);
}

enum status deployer_check(const struct deployer *deployer, const struct deployment *deployment, struct error *error)
{
    bool counts_memory = !deployer_placer(deployer)->counts_memory_together;
    return deployment_check(deployment, deployer->topology, counts_memory, error);
}
