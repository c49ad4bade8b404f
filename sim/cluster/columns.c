/* The columns of the result files: see columns.h. */
#include "cluster/columns.h"

#include "cluster/metrics.h"

#define NUMBER(given, member) COLUMN_NUMBER, given, offsetof(struct job_record, member)
#define COUNT(given, member) COLUMN_COUNT, given, offsetof(struct job_record, member)
#define OTHER(kind, given) kind, given, 0

/* In the order of enum job_column. */
const struct job_column_row job_columns[JOB_COLUMNS] = {
    {{"job", "", NULL, "Number of the job, from 0 in the order of arrival."}, OTHER(COLUMN_ORDINAL, GIVEN_ALWAYS)},
    {{"model", "", NULL, "What it trains."}, OTHER(COLUMN_MODEL, GIVEN_ALWAYS)},
    {{"arrival_s", "s", "arrival [s]", "When it arrived."}, NUMBER(GIVEN_ALWAYS, arrival_s)},
    {{"beta", "", "\xce\xb2", "The share of its one-device time that it may take."}, NUMBER(GIVEN_ALWAYS, beta)},
    {{"sequential_s", "s", "time on one device [s]", "Its time on one device, all training steps."},
     NUMBER(GIVEN_ALWAYS, sequential_s)},
    {{"limit_s", "s", "longest time asked for [s]", "What it may take: beta * sequential_s."},
     NUMBER(GIVEN_ALWAYS, limit_s)},
    {{"degree", "", "degree of partitioning", "Parts its ops were split into at most; 0 where none was named."},
     COUNT(GIVEN_ALWAYS, degree)},
    {{"outcome", "", NULL, "completed, blocked or unfinished."}, OTHER(COLUMN_OUTCOME, GIVEN_ALWAYS)},
    {{"cause", "", NULL,
      "Why not completed: refused, no_block, late or horizon; empty for completed jobs, or late where others or "
      "failures slowed one down past its limit."},
     OTHER(COLUMN_CAUSE, GIVEN_ALWAYS)},
    {{"jct_s", "s", "completion time [s]",
      "Completion time from its arrival. Of a job blocked as late, the time it would have taken; empty, as all that "
      "follows, for jobs that found no servers."},
     NUMBER(GIVEN_WITH_SERVERS, time.total_s)},
    {{"comm_s", "s", "communication [s]",
      "Time during which something was sent; may overlap with comp_s in the published network model."},
     NUMBER(GIVEN_WITH_SERVERS, time.part_s[TIME_COMM])},
    {{"comp_s", "s", "computation [s]", "Time during which something was computed."},
     NUMBER(GIVEN_WITH_SERVERS, time.part_s[TIME_COMP])},
    {{"reconfig_s", "s", "reconfiguration [s]", "Time spent setting up circuits; 0 in the published network model."},
     NUMBER(GIVEN_WITH_SERVERS, time.part_s[TIME_RECONFIG])},
    {{"wait_s", "s", "waiting [s]", "Time spent waiting: wait_device_s + wait_network_s."},
     NUMBER(GIVEN_WITH_SERVERS, time.part_s[TIME_WAIT])},
    {{"devices", "devices", NULL, "How many devices it held."}, COUNT(GIVEN_WITH_SERVERS, device_count)},
    {{"device_list", "", NULL, "Their names, group-rack-place, separated by spaces: 0-1-0 0-1-1."},
     OTHER(COLUMN_DEVICES, GIVEN_WITH_SERVERS)},
    {{"payload_s", "s", "payload [s]", "On circuits: of comm_s, moving bytes."},
     NUMBER(GIVEN_ON_CIRCUITS, time.part_s[TIME_PAYLOAD])},
    {{"latency_s", "s", "latency [s]", "On circuits: of comm_s, propagation and both ends' io."},
     NUMBER(GIVEN_ON_CIRCUITS, time.part_s[TIME_LATENCY])},
    {{"wait_device_s", "s", "waiting for devices [s]",
      "Of wait_s: in the queue, where it waits for servers, and for devices that were running others of its ops."},
     NUMBER(GIVEN_WITH_SERVERS, time.part_s[TIME_WAIT_DEVICE])},
    {{"wait_network_s", "s", "waiting for the network [s]",
      "Of wait_s: for circuits and other hardware of the network; 0 in the published network model."},
     NUMBER(GIVEN_WITH_SERVERS, time.part_s[TIME_WAIT_NETWORK])},
    {{"energy_j", "J", "energy of a job [J]",
      "On circuits: what it sent, and what the transceivers and devices it held took meanwhile; 0 unless a key of "
      "energy says what these take."},
     NUMBER(GIVEN_ON_CIRCUITS, energy_j)},
    {{"restarts", "", "restarts", "How often the failure of a server set it back to its last checkpoint."},
     COUNT(GIVEN_WITH_SERVERS, restarts)},
    {{"speedup", "", "speed-up", NULL}, OTHER(COLUMN_DERIVED, GIVEN_WITH_SERVERS)},
    {{"blocked", "", "blocking rate", NULL}, OTHER(COLUMN_DERIVED, GIVEN_ALWAYS)},
};

double job_number(const struct job_record *job, enum job_column column)
{
    const struct job_column_row *row = &job_columns[column];
    const void *at = (const char *)job + row->offset;
    require(row->kind == COLUMN_NUMBER || row->kind == COLUMN_COUNT);
    return row->kind == COLUMN_NUMBER ? *(const double *)at : *(const uint32_t *)at;
}

const struct column *column_of_jobs(size_t i)
{
    return i < JOB_FILE_COLUMNS ? &job_columns[i].column : NULL;
}

/* Metrics that came later stand behind trace_hash, so that those before keep their places. */
const struct column *column_of_runs(size_t i)
{
    static const struct column first[] = {
        {"run", "", NULL, "Number of the run in its plan; also the name of its folder under runs/."},
        {COLUMN_SWEPT, "", NULL,
         "One column for each axis of the sweep, with the value this run had; empty where it has no effect."},
        {"seed", "", NULL, "Master seed of the run; repetitions of a point differ in it alone."},
        {"status", "", NULL, "ok for a run that came to its end."},
    };
    static const struct column events[] = {
        {"events", "", NULL, "Events simulated, those inside training steps included."},
        {"trace_hash", "", NULL,
         "Fingerprint of all events: equal for the same program, scenario and seed, everywhere."},
    };
    enum { FIRST = sizeof first / sizeof *first, EVENTS = sizeof events / sizeof *events };
    if (i < FIRST)
        return &first[i];
    i -= FIRST;
    if (i >= METRIC_FIRST_EXTRA && i < METRIC_FIRST_EXTRA + EVENTS)
        return &events[i - METRIC_FIRST_EXTRA];
    i -= i < METRIC_FIRST_EXTRA ? 0 : EVENTS;
    return i < METRIC_COUNT ? metric_column((enum metric)i) : NULL;
}
