/* The columns of the result files: what each is called and means, and where its value stands.
 *
 * A column of jobs.csv is one row of job_columns, a number of a run one row of the table in metrics.c. What is written
 * and read back, the glossary of `ocsim man results`, and what figures may name and how they call it follow from these
 * rows, which stand in the order of the files.
 */
#ifndef CLUSTER_COLUMNS_H
#define CLUSTER_COLUMNS_H

#include "cluster/cluster.h"

struct column {
    const char *name;    /* COLUMN_SWEPT stands for one column per swept key */
    const char *unit;    /* "" = none */
    const char *label;   /* on the axis of a figure: "quantity [unit]"; NULL = made from the name */
    const char *meaning; /* for the glossary; NULL = in no file */
};

#define COLUMN_SWEPT "<swept keys>"

/* The columns of a file, from 0; NULL behind the last one. */
typedef const struct column *column_list(size_t i);
column_list column_of_runs, column_of_jobs;

enum job_column {
    JOB_ORDINAL,
    JOB_MODEL,
    JOB_ARRIVAL,
    JOB_BETA,
    JOB_SEQUENTIAL,
    JOB_LIMIT,
    JOB_DEGREE,
    JOB_OUTCOME,
    JOB_CAUSE,
    JOB_JCT,
    JOB_COMM,
    JOB_COMP,
    JOB_RECONFIG,
    JOB_WAIT,
    JOB_DEVICES,
    JOB_DEVICE_LIST,
    JOB_PAYLOAD,
    JOB_LATENCY,
    JOB_WAIT_DEVICE,
    JOB_WAIT_NETWORK,
    JOB_ENERGY,
    JOB_RESTARTS,
    JOB_FILE_COLUMNS,               /* what follows is worked out from those before */
    JOB_SPEEDUP = JOB_FILE_COLUMNS, /* sequential_s / jct_s */
    JOB_BLOCKED,                    /* 1 = blocked or unfinished, 0 = completed */
    JOB_COLUMNS
};

/* How a value is found: numbers, texts, and what figures have no use for. */
enum column_kind {
    COLUMN_NUMBER,  /* a double of the record */
    COLUMN_COUNT,   /* a uint32_t of the record */
    COLUMN_DERIVED, /* worked out, in no record */
    COLUMN_LAST_NUMBER = COLUMN_DERIVED,
    COLUMN_MODEL,
    COLUMN_OUTCOME,
    COLUMN_CAUSE,
    COLUMN_LAST_TEXT = COLUMN_CAUSE,
    COLUMN_ORDINAL, /* the place of the record among all */
    COLUMN_DEVICES  /* the names of all its devices */
};

/* Which jobs have a value; the field of others is empty. On circuits is with servers, too. */
enum column_given { GIVEN_ALWAYS, GIVEN_WITH_SERVERS, GIVEN_ON_CIRCUITS };

struct job_column_row {
    struct column column;
    enum column_kind kind;
    enum column_given given;
    size_t offset; /* of a number or count in struct job_record */
};
extern const struct job_column_row job_columns[JOB_COLUMNS];

/* The value of a number or count. */
double job_number(const struct job_record *job, enum job_column column);

#endif
