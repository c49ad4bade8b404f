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
    uint32_t *parts; /* of the last answer */
    size_t part_capacity;
};

/* Release with admission_close, also after failure. Borrows config until then. */
STATUS_MUST_USE enum status admission_open(const struct cluster_config *config, struct admission *admission,
                                           struct error *error);
void admission_close(struct admission *admission);

/* What the partitioner answers to the decision that is due. Lives until the next call. */
struct answer admission_answer(struct admission *admission, struct cluster *cluster, const struct decision *decision);

#endif
