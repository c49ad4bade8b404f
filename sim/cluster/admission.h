/* The published admission, a policy on top of an open cluster: the partitioner names a degree, the cluster does the
 * rest (PAC-ML simulator, sections 8 and 11). */
#ifndef CLUSTER_ADMISSION_H
#define CLUSTER_ADMISSION_H

#include "cluster/cluster.h"

struct admission {
    const struct partitioner *partitioner;
    const void *settings; /* the partitioner's own */
    void *state;
    uint64_t seed;
    struct random_stream *random;
};

/* Release with admission_close, also after failure. Borrows config until then. */
STATUS_MUST_USE enum status admission_open(const struct cluster_config *config, struct admission *admission,
                                           struct error *error);
void admission_close(struct admission *admission);

/* The degree that the partitioner names for the decision that is due; 0 = refuse. */
uint32_t admission_answer(const struct admission *admission, struct cluster *cluster, const struct decision *decision);

#endif
