/* Result files of a run and of an experiment.
 *
 *   DIR/runs/<run>/jobs.csv   one row per job
 *   DIR/runs/<run>/run.csv    the run's row of runs.csv and its hash; written last: a run that has it is done
 *   DIR/runs.csv              one row per run, put together from those
 *   DIR/summary.json          means, intervals and quantiles for each point of the sweep
 *   DIR/scenario.yaml         the resolved scenario the folder belongs to
 *   DIR/manifest.json         how, with what and when it was made
 *
 * Every file is written under another name, synced and renamed. All but the
 * manifest depend on the scenario and the program alone.
 */
#ifndef RESULTS_RESULTS_H
#define RESULTS_RESULTS_H

#include "cluster/metrics.h"
#include "scenario/plan.h"

enum { RESULTS_PATH_BYTES = 4096 };

/* DIR/runs/<run>/<file>; file "" = the folder. Too long a path is STATUS_IO. */
STATUS_MUST_USE enum status results_path(const char *directory, const struct plan *plan, size_t run, const char *file,
                                         char path[RESULTS_PATH_BYTES], struct error *error);

/* jobs.csv (unless the settings say no) and then run.csv of one run. */
STATUS_MUST_USE enum status results_write_run(const char *directory, const struct plan *plan, size_t run,
                                              const struct settings *settings, const struct cluster_config *config,
                                              const struct cluster_result *result, struct error *error);

/* Removes what a run that was cut off may have left under temporary names. */
void results_remove_temporaries(const char *directory, const struct plan *plan, size_t run);

/* One row of runs.csv, read back. */
struct results_row {
    bool is_there;
    double values[METRIC_COUNT]; /* NaN = empty */
    uint64_t events, trace_hash;
    char *line; /* the row as it stands in runs.csv, without the newline; owned: results_row_free */
};

/* False, and *row untouched, where run.csv is not there, is damaged (its hash tells) or belongs to another plan. */
bool results_read_row(const char *directory, const struct plan *plan, size_t run, struct results_row *row);
void results_row_free(struct results_row *row);

/* What went into runs.csv. */
struct results_totals {
    size_t runs;
    uint64_t events;
};

/* runs.csv and summary.json from the runs that are done and count (see scenario/stop_rule.h). Where none is done,
 * neither file is left. */
STATUS_MUST_USE enum status results_collect(const char *directory, const struct plan *plan,
                                            struct results_totals *totals, struct error *error);

#endif
