/* Servers and transceivers that fail and are repaired, and what becomes of the jobs on them.
 *
 * Each server, and each transceiver, works for exponential times of mean mtbf and
 * is then repaired, for exponential times of mean repair. All failures of a kind
 * come from one Poisson process of rate count / mtbf that picks one at random and
 * passes over those that are being repaired: the same law, whatever their number,
 * and the same failures whatever the jobs.
 *
 * A server that is down, or has a transceiver that is, gets no new job. A job whose
 * server goes down loses the steps since its last checkpoint, keeps its servers,
 * waits until all of them are back, and goes on from there; it pays for its first
 * circuits again. Saving costs nothing. A job with a transceiver out of service goes
 * on, and loses nothing, at the pace of a step simulated without that hardware: the
 * fabric finds other ways; where there is none it stands still until the repair.
 *
 * A failure costs the devices of its server and, for a transceiver that a job has,
 * one simulated step. Private to sim/cluster.
 */
#ifndef CLUSTER_FAILURES_H
#define CLUSTER_FAILURES_H

#include "engine/engine.h"
#include "engine/status.h"

struct cluster;
struct job_record;
struct failures;

/* Fills cluster->failures where the config asks for any, to be released with failures_free. STATUS_USER where the
 * fabric knows no way around a transceiver. */
STATUS_MUST_USE enum status failures_create(struct cluster *cluster);
void failures_free(struct failures *failures);

/* The job last decided on starts, in cluster->deployment, and would end with that event. */
void failures_start(struct cluster *cluster, uint32_t number, sim_time start, event_handle end);

/* It ends: its record says how long it took. */
void failures_end(struct cluster *cluster, uint32_t number);

/* Its devices were given back: those of servers out of service are taken again. */
void failures_keep(struct cluster *cluster, const struct job_record *record);

/* Free devices that are out of service. */
uint32_t failures_devices(const struct cluster *cluster);

#endif
