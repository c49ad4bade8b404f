/* Runs spread over the ranks of an MPI job. All MPI calls are in spread.c; built without OCSIM_MPI there is one rank.
 *
 * Runs are independent, so ranks share nothing but the list of what is done and,
 * at the end, whether all went well. Every rank must make the same calls in the
 * same order: an error on one of them reaches the others through spread_agree.
 */
#ifndef RUN_RANKS_H
#define RUN_RANKS_H

#include <stddef.h>

struct spread {
    int rank, size;
};

/* Starts MPI. Once a process. */
void spread_open(struct spread *spread);
void spread_close(struct spread *spread);

/* The highest of all ranks' exit codes, on every rank; waits for all. */
int spread_agree(const struct spread *spread, int code);

/* Gives every rank the bytes of rank 0. */
void spread_share(const struct spread *spread, void *bytes, size_t size);

/* The sum over all ranks, on every rank. */
size_t spread_sum(const struct spread *spread, size_t count);

#endif
