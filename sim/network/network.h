/* The optical network on the event engine: transfers that need circuits, circuits that need hardware.
 *
 * A transfer from a to b needs lit circuits a->b, one per lane. A circuit holds
 * hardware of the fabric (transmitters, receivers, wavelengths, ports), each of
 * which serves one circuit at a time; it is dark, switching (the hardware is held
 * and carries nothing) or lit. Lanes belong to circuits, not to requests: a
 * transfer takes what is lit for its pair, up to the lanes it asks for, and adds
 * more as far as they pay; it needs one. Hardware is held until the last bit has
 * left; that arrives after the latency, meanwhile others may use the circuit.
 * Within one instant everything that ends, ends first; then the waiting requests
 * get hardware in the order of the policy.
 *
 * Accounting is always on and exact, in integer ticks: for each transfer
 * wait + reconfiguration + latency + payload = end - start; for each piece of
 * hardware busy + switching + idle = the length of the run; bytes sent = bytes
 * received + bytes in flight. A breach is a bug.
 *
 * A waiting request stands in line at the hardware it waits for and is looked at
 * only when that becomes free, so an event costs the same whatever the number of
 * nodes. Memory grows with the transceivers, the wavelengths ever used, and the
 * transfers under way.
 */
#ifndef NETWORK_NETWORK_H
#define NETWORK_NETWORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/engine.h"
#include "engine/statistics.h"
#include "engine/status.h"
#include "topology/topology.h"

struct network;
struct fabric;

/* Who goes first among requests that wait for the same hardware; ties go by the order of sending. */
enum network_order {
    NETWORK_FIFO,    /* first sent, first served */
    NETWORK_SRPT,    /* fewest bytes first */
    NETWORK_PRIORITY /* lowest transfer_request.priority first */
};

/* What becomes of a lit circuit behind its last transfer. */
enum network_circuits {
    NETWORK_PATIENT,  /* stays lit; a transfer whose pair has circuits waits for one that will be free before a new one
                         would be lit, and takes hardware that another pair has lit only where that pays */
    NETWORK_HOLD,     /* stays lit until its hardware is wanted by another */
    NETWORK_TEARDOWN, /* dark at once */
    NETWORK_LINGER    /* keeps its hardware for linger_ps, wanted or not, then dark; 0 is TEARDOWN */
};

enum { NETWORK_KINDS = 4 };

/* Of a transfer: as many as the fabric has. */
enum { NETWORK_ALL_LANES = UINT16_MAX };

/* What hardware does; dark, it has no stay. */
enum network_light {
    NETWORK_SWITCHING, /* held, and carries nothing yet, or nothing while its whole switch is dark */
    NETWORK_CARRYING,  /* lit, with a transfer, from its first bit to its last */
    NETWORK_IDLE       /* lit, without; also while its switch is dark for others */
};

/* A stretch of time in which one piece of hardware was in one state. Fabrics without circuits on request report each
 * transfer as one stay of its source, from its first byte to its end: waits between hops and turns included, and stays
 * of one source may overlap. */
struct network_stay {
    uint64_t hardware; /* the fabric's number, see network_describe */
    enum network_light light;
    sim_time start, end;     /* start < end */
    uint32_t source, target; /* of the circuit; the first target of a multicast */
    uint32_t target_count;   /* of the transfer, as what follows; 0 while idle */
    uint32_t job;
    uint64_t bytes;
};

/* An observer; what happens does not depend on it. Called when a stay is over, in the order of ends for each
 * piece of hardware, at the latest in network_destroy. Borrows stay until it returns; must not send. */
struct network_observer {
    void (*stayed)(void *context, const struct network *network, const struct network_stay *stay);
    void *context;
};

struct network_options {
    enum network_order order;
    bool is_strict; /* nobody overtakes a request that does not fit (backfill: false) */
    enum network_circuits circuits;
    int64_t linger_ps;
    int64_t tick_ps;     /* of the clock; 0 = 1 ps */
    sim_time epoch;      /* the instant of the run at which this network's clock begins: what turns by the clock (rotor)
                            is as far in its turn as it is then */
    uint16_t first_kind; /* the network takes the event kinds first_kind .. first_kind + NETWORK_KINDS - 1 */
    const struct network_observer *observer; /* borrowed until network_destroy; NULL = no observer */
    /* Transceivers that neither send nor receive, numbers server * (those of a server) + transceiver; borrowed until
     * network_create returns. Only on fabrics that find ways around them: see network_find_ports. */
    const uint64_t *broken;
    size_t broken_count;
};

/* What became of a transfer. wait + reconfiguration + latency + payload = end - start, exactly. */
struct transfer_report {
    uint32_t transfer;
    uint32_t source, target; /* the first target of a multicast */
    uint32_t job;
    uint64_t bytes;
    uint64_t tag;             /* from the request */
    sim_time start, end;      /* sent, and received */
    sim_time wait;            /* for hardware */
    sim_time reconfiguration; /* dark before its first bit: own switching and guard time; other circuits' switching that
                                 stopped it; on a rotor the dark time before its windows */
    sim_time latency;         /* propagation + io at both ends, per hop */
    sim_time payload;         /* bytes / rate of its lanes, in whole slots where the fabric has them */
    bool is_cleared;          /* found no free hardware and asked not to wait: nothing was sent */
};

/* Called at the end of a transfer, from within the engine; may send. Borrows report, which lives until it returns. */
typedef void transfer_done(void *context, const struct transfer_report *report);

/* A transfer asked for, between devices: the servers they are in are the nodes of the fabric. Zero bytes, and a target
 * that is the source, end at the instant they are sent: no hardware, no time, but done is still called from the engine.
 * Between two devices of one server the links inside it carry. */
struct transfer_request {
    uint32_t source, target;
    const uint32_t *targets; /* of a multicast, all different; NULL = target alone. Borrowed until done is called */
    uint32_t target_count;   /* of targets */
    uint32_t job;
    uint64_t bytes;
    int64_t priority;    /* lower goes first, with NETWORK_PRIORITY */
    uint16_t lanes;      /* at most so many transceivers side by side, 0 = 1; the fabric says how many it can, which is
                            NETWORK_ALL_LANES */
    uint16_t first_lane; /* the first of them plus 1, where the caller plans the lanes of a collective; 0 = the fabric's
                            choice */
    bool is_cleared_when_blocked; /* rather than wait (a loss system) */
    uint64_t tag;
    transfer_done *done; /* may be NULL */
    void *context;
};

/* Builds the network of a topology, with its fabric, on an engine. Borrows both until network_destroy. *out is owned,
 * to be freed with network_destroy, and written only on success; STATUS_USER where the topology's figures cannot work.
 */
STATUS_MUST_USE enum status network_create(struct engine *engine, const struct topology *topology,
                                           const struct network_options *options, struct network **out,
                                           struct error *error);

/* Takes network; NULL is fine. Checks the books first (network_check) and tells the observer of stays still open. */
void network_destroy(struct network *network);

/* Sends; the hardware is asked for when all else of this instant is done. *transfer (may be NULL) is its number, good
 * until done is called. STATUS_USER where it can never be: a node or lane that is not there, a multicast on a fabric
 * without, a duration beyond the clock. */
STATUS_MUST_USE enum status network_send(struct network *network, const struct transfer_request *request,
                                         uint32_t *transfer, struct error *error);

/* Tells that a job has these devices from now on, for a fabric that connects them for good (static); others only check
 * them. A job that is never opened can send all the same. Borrows devices until it returns; STATUS_USER where there are
 * none or one is not there; on such a fabric also where one is named twice or is another open job's, or the job is open
 * or has sent already. */
STATUS_MUST_USE enum status network_open_job(struct network *network, uint32_t job, const uint32_t *devices,
                                             uint32_t count, struct error *error);

/* Its servers are free for others; its transfers under way go on to their ends. STATUS_USER where the fabric connects
 * jobs and this one is not open. */
STATUS_MUST_USE enum status network_close_job(struct network *network, uint32_t job, struct error *error);

/* STATUS_USER once a transfer could not go on since the clock ran out (the engine is stopped then); else STATUS_OK. */
STATUS_MUST_USE enum status network_status(const struct network *network, struct error *error);

/* Sums over the run so far; sent = local + cleared + done + waiting + moving, and bytes likewise. */
struct network_totals {
    uint64_t sent;    /* transfers */
    uint64_t local;   /* of these: no hardware needed, ended at once */
    uint64_t cleared; /* found no free hardware and did not wait */
    uint64_t done, waiting, moving;
    uint64_t circuits_set_up;   /* lanes */
    uint64_t circuits_reused;   /* transfers that found theirs lit */
    statistics_wide bytes_sent; /* by transfers that got hardware; a multicast counts once per target */
    statistics_wide bytes_received;
    statistics_wide bytes_in_flight; /* counted apart: sent = received + in flight */
    statistics_wide waiting_area;    /* integral of `waiting` over time, in ticks */
    statistics_wide moving_area;     /* the same of `moving`: set-up, latency and payload */
    statistics_wide wait_sum;        /* of the times before their first byte or set-up: Little's law is an identity */
    statistics_wide move_sum;        /* of (end - start - wait) of the transfers done */
};

struct network_totals network_totals(const struct network *network);

/* The books of one piece of hardware up to now: busy + switching + idle = now. */
struct hardware_use {
    uint64_t hardware; /* the fabric's number for it, see fabric.h */
    sim_time busy;     /* carrying a transfer */
    sim_time switching;
    sim_time idle; /* lit without a transfer counts as idle, also while its switch is dark for others (scope switch) */
};

/* Visits all hardware that exists (transceivers, ports) or was ever used (wavelengths), in order of first use within
 * each kind. O(hardware). */
typedef void hardware_visitor(void *context, const struct hardware_use *use);
void network_visit_hardware(const struct network *network, hardware_visitor *visit, void *context);

/* A number for the circuits that are there now, their hardware and their order: equal where transfers find the same.
 * O(circuits). */
uint64_t network_lit_hash(const struct network *network);

/* Requires all books to balance now. O(hardware + transfers under way). */
void network_check(const struct network *network);

/* Waiting and moving transfers now: 0 when all is done. With an empty queue of events, more than 0 is a deadlock. */
uint64_t network_unfinished(const struct network *network);

/* Who waits for what, one line per waiting transfer, at most `most` lines and a count of the rest. */
void network_explain_waiting(const struct network *network, size_t most, FILE *out);

/* Names hardware as the stays of an observer have it, for people: "transmitter 3 of 0-1-1", "transfers from 0-1-1". */
enum { NETWORK_TEXT_BYTES = 160 };
void network_describe(const struct network *network, uint64_t hardware, char text[NETWORK_TEXT_BYTES]);

/* The transceivers of a server, which share its rate, and whether transfers find ways around those out of service. */
struct network_ports {
    uint32_t count;
    bool reroutes;
};

/* Those of a topology, by opening its network for a moment. STATUS_USER where its figures cannot work. */
STATUS_MUST_USE enum status network_find_ports(const struct topology *topology, const struct network_options *options,
                                               struct network_ports *ports, struct error *error);

/* Do circuits hold the hardware of stays, so that those of one piece never overlap? */
bool network_has_circuits(const struct network *network);

struct engine *network_engine(const struct network *network);

#endif
