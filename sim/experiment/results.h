/* Result files of a run and of an experiment.
 *
 *   DIR/runs/<run>/jobs.csv   one row a job
 *   DIR/runs/<run>/run.csv    the run's row of runs.csv; written last: a run that has it is done
 *   DIR/runs.csv              one row a run, put together from those
 *   DIR/summary.json          means, intervals and quantiles for each point of the sweep
 *   DIR/scenario.yaml         the resolved scenario the folder belongs to
 *   DIR/manifest.json         how, with what and when it was made
 *
 * Every file is written under another name, synced and renamed. All but the
 * manifest depend on the scenario and the program alone.
 */
#ifndef EXPERIMENT_RESULTS_H
#define EXPERIMENT_RESULTS_H

#include "cluster/metrics.h"
#include "experiment/plan.h"

/* jobs.csv (unless the settings say no) and then run.csv of one run. */
STATUS_MUST_USE enum status results_write_run(const char *directory, const struct plan *plan, size_t run,
                                              const struct settings *settings, const struct cluster_config *config,
                                              const struct cluster_result *result, struct error *error);

/* Is the run's run.csv there, whole, and of this plan? A damaged one counts as not there. */
bool results_is_done(const char *directory, const struct plan *plan, size_t run);

/* One row of runs.csv, read back. */
struct results_row {
    bool is_there;
    double values[METRIC_COUNT]; /* NaN = empty */
    char *line;                  /* the row as it stands in the file, without the newline */
};
STATUS_MUST_USE enum status results_read_row(const char *directory, const struct plan *plan, size_t run,
                                             struct results_row *row, struct error *error);
void results_row_free(struct results_row *row);

/* runs.csv and summary.json from the runs that are done. */
STATUS_MUST_USE enum status results_collect(const char *directory, const struct plan *plan, struct error *error);

#endif
