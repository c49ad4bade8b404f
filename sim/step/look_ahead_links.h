/* How long each dependency of a placed job takes on the published network (PAC-ML simulator, sections 5 and 6). Private
 * to sim/step. */
#ifndef STEP_LOOK_AHEAD_LINKS_H
#define STEP_LOOK_AHEAD_LINKS_H

#include "step/step.h"

enum coordinate { GROUP, RACK, PLACE, COORDINATES };

struct local_server {
    uint32_t at[COORDINATES];
};

/* A pair of servers: one bit for each coordinate in which they differ. */
enum { PAIR_CLASSES = 1 << COORDINATES };

/* The job's servers numbered 0 .. count - 1 in the order of first use. */
struct local_servers {
    uint32_t count;
    struct local_server *at; /* count */
    uint32_t *of_entry;      /* for each entry of deployment->devices its local number */
};

void local_servers_init(struct local_servers *servers, const struct deployment *deployment,
                        const struct topology *topology);
void local_servers_fini(struct local_servers *servers);

static inline unsigned pair_class(const struct local_server *a, const struct local_server *b)
{
    return (unsigned)(a->at[GROUP] != b->at[GROUP]) << GROUP | (unsigned)(a->at[RACK] != b->at[RACK]) << RACK |
           (unsigned)(a->at[PLACE] != b->at[PLACE]) << PLACE;
}

/* Fills link_s with the time of one dependency of each data link between different servers (those inside a server
 * take none). Sync links are left at 0: theirs depends on the pair, see published_sync_s. O(links + parts). */
void published_link_times(const struct step_input *input, const struct local_servers *servers,
                          const struct published_network *network, double *link_s);

/* The time of one synchronisation edge: each pair of edges is a collective of its own. */
double published_sync_s(const struct published_network *network, double bytes, unsigned class);

/* Dependencies with a time above 0. */
uint64_t published_count_flows(const struct step_input *input, const struct local_servers *servers,
                               const struct published_network *network, const double *link_s);

#endif
