/* manifest.json: how, with what and when the results of a folder were made.
 *
 * Written last, and the only result file that differs from one machine or day
 * to the next. Hashes are hash_bytes of engine/hash.h, as 16 hexadecimal digits.
 */
#ifndef RESULTS_MANIFEST_H
#define RESULTS_MANIFEST_H

#include <time.h>

#include "results/results.h"
#include "results/inputs.h"

/* All borrowed. */
struct manifest {
    const char *directory;
    const char *command_line;
    const struct plan *plan;
    const struct inputs *inputs;
    struct timespec start; /* of the day */
    double wall_s;
    size_t workers, ranks;
    size_t done_now, done_before, failed;
    struct results_totals totals;
};

STATUS_MUST_USE enum status manifest_write(const struct manifest *manifest, struct error *error);

#endif
