/* The only file that knows MPI: see spread.h. An MPI call that fails ends the job, which is MPI's own default. */
#include "run/ranks.h"

#ifdef OCSIM_MPI
#include <mpi.h>
#include <stdint.h>

void spread_open(struct spread *spread)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &spread->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &spread->size);
}

void spread_close(struct spread *spread)
{
    (void)spread;
    MPI_Finalize();
}

int spread_agree(const struct spread *spread, int code)
{
    int highest = code;
    (void)spread;
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return highest;
}

/* MPI counts in int: large arrays go in pieces. */
void spread_share(const struct spread *spread, void *bytes, size_t size)
{
    enum { PIECE_BYTES = 1 << 30 };
    (void)spread;
    for (size_t at = 0; at < size; at += PIECE_BYTES) {
        size_t left = size - at;
        MPI_Bcast((char *)bytes + at, (int)(left < PIECE_BYTES ? left : PIECE_BYTES), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
}

size_t spread_sum(const struct spread *spread, size_t count)
{
    uint64_t own = count, sum = count;
    (void)spread;
    MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return (size_t)sum;
}

#else

void spread_open(struct spread *spread)
{
    *spread = (struct spread){.rank = 0, .size = 1};
}

void spread_close(struct spread *spread)
{
    (void)spread;
}

int spread_agree(const struct spread *spread, int code)
{
    (void)spread;
    return code;
}

void spread_share(const struct spread *spread, void *bytes, size_t size)
{
    (void)spread;
    (void)bytes;
    (void)size;
}

size_t spread_sum(const struct spread *spread, size_t count)
{
    (void)spread;
    return count;
}

#endif
