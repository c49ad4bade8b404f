/* What several suites share: golden tables, one job on an empty cluster, runs from settings, random graphs.
 *
 * A golden table is CSV with lines of '#' in front that say where its figures come from. The full figures of the
 * published simulator may lie beside the repo (ORACLE_FULL); tests use them where they do.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include "scenario/scenario.h"
#include "scenario/simulation.h"
#include "input/csv.h"

#define ORACLE_GOLDEN "tests/golden/"
#define ORACLE_FULL "../shared/oracle/pac-ml/"

/* Reads the header of a table; returned owned (csv_close). NULL where the file is not there. */
struct csv *oracle_open(const char *path);

/* The next row; false behind the last one. A broken row fails the test. */
bool oracle_next(struct csv *csv);

/* A field of the row by its column's name; a column that is not there fails the test. */
const char *oracle_text(const struct csv *csv, const char *column);
double oracle_number(const struct csv *csv, const char *column);

/* Within relative of the larger of the two; says both numbers where not. */
bool oracle_is_near(double got, double want, double relative);

/* Copies a table without its lines of '#'. */
void oracle_strip(const char *from, const char *to);

/* One job on an empty cluster; owns all it holds, graph points into models. */
struct oracle_job {
    struct topology topology;
    struct models models;
    const struct graph *graph;
    struct task_graph *tasks;
    struct deployment deployment;
    struct step_result step;
};

/* Loads, splits, places, ranks and simulates; observer may be NULL. Answers whether the job found servers.
 * oracle_job_end must follow. */
bool oracle_job_run(struct oracle_job *job, const char *model, uint32_t degree, const char *topology,
                    const struct placer *placer, const struct step_observer *observer);
void oracle_job_end(struct oracle_job *job);

/* A graph split by the published rule with a quantum of 0.01 ms, for devices of one class; returned owned
 * (task_graph_free). */
struct task_graph *oracle_split(const struct graph *graph, uint32_t degree);

/* Asks a placer without settings. */
bool oracle_place(const struct placer *placer, const struct task_graph *tasks, const struct occupancy *occupancy,
                  struct place_scratch *scratch, struct deployment *deployment);

/* Ranks a placed job and simulates it again, as published. */
enum status oracle_step(struct deployment *deployment, const struct topology *topology, struct step_result *step);

/* The names of servers in ascending order with spaces between, returned owned. Sorts servers. */
char *oracle_names(const struct topology *topology, uint32_t *servers, uint32_t count);

/* A world from the default settings and key=value texts, NULL at the end of the list. */
struct oracle_world {
    struct scenario *scenario;
    struct simulation world;
};
void oracle_world_open(struct oracle_world *world, const char *const *assignments);
void oracle_world_close(struct oracle_world *world);

/* Builds a world, runs it, fills the result (cluster_result_free). */
void oracle_run(const char *const *assignments, struct cluster_result *result);

/* A random acyclic graph whose last op is its only sink unless has_sinks; returned owned (graph_free). */
struct graph *oracle_random_graph(uint64_t seed, uint32_t op_count, bool has_sinks);

/* A folder below build/ for one test, returned owned (free); oracle_remove takes it away with all it holds. */
char *oracle_folder(void);
void oracle_remove(const char *path);

/* Writes a file; returns its path, owned. */
char *oracle_write(const char *folder, const char *name, const char *text);

#endif
