/* A folder of results, read back: what `ocsim run -o DIR` left there.
 *
 * runs.csv gives the runs, summary.json the points that were planned and how
 * many of their runs are there. Rows whose status is not "ok" are left out and
 * so count as missing. Reading is O(size of the two files).
 *
 * Everything hangs off the folder's arena and lives until result_reader_free.
 */
#ifndef RESULTS_RESULT_READER_H
#define RESULTS_RESULT_READER_H

#include <stdint.h>

#include "cluster/metrics.h"
#include "engine/memory.h"
#include "engine/status.h"
#include "input/csv.h"

/* The numbers of a run: the metrics, then these. */
enum { RESULT_EVENTS = METRIC_COUNT, RESULT_NUMBER_COUNT };

const char *result_number_name(size_t number);

struct result_run {
    const char *name;   /* of its folder */
    const char **texts; /* of the axes; "" where the axis has no effect in this run */
    int64_t seed;
    double numbers[RESULT_NUMBER_COUNT]; /* NaN = empty */
};

/* One combination of values. */
struct result_point {
    const char **texts; /* of the axes */
    size_t runs_done, runs_planned;
    struct result_metric {
        double mean, half_width; /* NaN = not known */
    } metrics[METRIC_COUNT];
};

struct result_reader {
    struct arena arena;
    const char *path;
    const char *title; /* "" = none */
    const char **axes; /* names of their columns in runs.csv */
    size_t axis_count;
    struct result_run *runs;
    size_t run_count;
    struct result_point *points;
    size_t point_count;
};

/* Returned owned: result_reader_free. A folder without results or with damaged ones is the user's mistake. */
STATUS_MUST_USE enum status result_reader_open(const char *path, struct result_reader **folder, struct error *error);
void result_reader_free(struct result_reader *folder);

/* DIR/name, in the folder's arena. */
const char *result_reader_file(struct result_reader *folder, const char *name);

/* Opens jobs.csv of a run; returned owned: csv_close. */
STATUS_MUST_USE enum status result_reader_open_jobs(const struct result_reader *folder, const struct result_run *run,
                                                    struct csv **jobs, struct error *error);

#endif
