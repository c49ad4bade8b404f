/* Runs spread over the ranks of an MPI job. All MPI calls are in ranks.c; built without OCSIM_MPI there is one rank.
 *
 * Runs are independent, so ranks share nothing but the list of what is done and,
 * at the end, whether all went well. Every rank must make the same calls in the
 * same order: an error on one of them reaches the others through ranks_agree.
 */
#ifndef RUN_RANKS_H
#define RUN_RANKS_H

#include <stddef.h>

struct ranks {
    int rank, size;
};

/* Starts MPI. Once per process. */
void ranks_open(struct ranks *ranks);
void ranks_close(void);

/* The highest of all ranks' exit codes, on every rank; waits for all. */
int ranks_agree(int code);

/* Gives every rank the bytes of rank 0. */
void ranks_share(void *bytes, size_t size);

/* The sum over all ranks, on every rank. */
size_t ranks_sum(size_t count);

#endif
