/* The only file that knows MPI: see ranks.h. An MPI call that fails ends the job, which is MPI's own default. */
#include "run/ranks.h"

#include <stdint.h>

#ifdef OCSIM_MPI
#include <mpi.h>
#endif

void ranks_open(struct ranks *ranks)
{
    *ranks = (struct ranks){.rank = 0, .size = 1};
#ifdef OCSIM_MPI
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->size);
#endif
}

void ranks_close(void)
{
#ifdef OCSIM_MPI
    MPI_Finalize();
#endif
}

int ranks_agree(int code)
{
    int highest = code;
#ifdef OCSIM_MPI
    MPI_Allreduce(&code, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
#endif
    return highest;
}

/* MPI counts in int: large arrays go in pieces. */
void ranks_share(void *bytes, size_t size)
{
#ifdef OCSIM_MPI
    enum { PIECE_BYTES = 1 << 30 };
    for (size_t at = 0; at < size; at += PIECE_BYTES) {
        size_t left = size - at;
        MPI_Bcast((char *)bytes + at, (int)(left < PIECE_BYTES ? left : PIECE_BYTES), MPI_BYTE, 0, MPI_COMM_WORLD);
    }
#else
    (void)bytes;
    (void)size;
#endif
}

size_t ranks_sum(size_t count)
{
    uint64_t own = count, sum = own;
#ifdef OCSIM_MPI
    MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
#endif
    return (size_t)sum;
}
