/* What the network asks of a fabric, and what it gives to one. The fabrics themselves are in sim/fabric.
 *
 * There are two kinds. Where circuits are granted on request (struct
 * fabric_circuits) the fabric says which hardware a circuit needs, and the network
 * does the rest: lines, switching, accounting. Where the fabric carries transfers
 * itself (struct fabric_carrier; rotor: a schedule, static: many hops, packet:
 * shared links) it gets each transfer, runs its own events, and ends the transfer
 * with network_begin and network_finish, so that reports, totals and errors stay
 * the same for everyone. Which kind serves, open says.
 *
 * Hardware is named by 64-bit numbers of the fabric's own: those below `dense`
 * always exist (transceivers, ports) and live in an array; higher ones
 * (wavelengths of subnets) are made when first used. Every number serves one
 * circuit at a time.
 *
 * A fabric owns its state (freed by close), borrows the topology until then, and
 * keeps no mutable globals. plan and send must cost the same whatever the number
 * of nodes.
 */
#ifndef NETWORK_FABRIC_H
#define NETWORK_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/status.h"
#include "network/network.h"
#include "network/waitlist.h"
#include "topology/topology.h"

/* No switch is stopped, no transfer, and so on. */
#define FABRIC_NONE UINT32_MAX

enum { FABRIC_TEXT_BYTES = NETWORK_TEXT_BYTES };

/* What a circuit is for. */
struct fabric_pair {
    uint32_t source;
    const uint32_t *targets; /* target_count of them, at least 1 */
    uint32_t target_count;
    uint16_t first_lane; /* plus 1; 0 = the fabric's choice */
    uint16_t lanes;      /* at least 1 */
    uint16_t lane;       /* which one is planned: 0 = one that it must have, 1 and up = more, as far as there are any */
};

/* A growing list of hardware numbers. */
struct fabric_list {
    uint64_t *ids;
    size_t count, capacity;
};

static inline void fabric_list_add(struct fabric_list *list, uint64_t id)
{
    if (list->count == list->capacity)
        list->ids = memory_grow(list->ids, &list->capacity, list->count + 1, sizeof *list->ids);
    list->ids[list->count++] = id;
}

/* The answer of plan: what to hold, or what to stand in line at. */
struct fabric_plan {
    struct fabric_list hold;  /* all hardware of the circuit, each once */
    struct fabric_list wait;  /* hardware or lines any of whose release may help */
    struct fabric_list evict; /* hardware whose idle circuits must go first (ring: arcs that overlap) */
    bool is_fixed;            /* hold is what the lane needs, whether others keep it or not: there is no other way */
    uint32_t stopped_switch; /* the switch that goes dark while this circuit is set up (scope switch), or FABRIC_NONE */
};

/* What happens to the hardware of a circuit, in this order; BUSY and IDLE alternate. */
enum fabric_note { FABRIC_TAKEN, FABRIC_BUSY, FABRIC_IDLE, FABRIC_RELEASED };

/* A fabric made for one topology. open fills it; everything in ticks of the clock. */
struct fabric_state {
    const struct fabric *fabric;
    const struct topology *topology;
    const struct fabric_circuits *circuits; /* one of these two serves, the other is NULL */
    const struct fabric_carrier *carrier;
    struct sim_clock clock;
    sim_time epoch;      /* the instant of the run at which the clock begins */
    void *own;           /* the fabric's, freed by close */
    uint64_t dense;      /* hardware numbers below it always exist */
    uint32_t line_count; /* lines of waiting requests that are no hardware; 0 = none */
    uint32_t
        alternatives; /* that a pair can choose from: hardware number modulo these; where there is one, 0 will do */
    uint32_t switch_count;     /* that can be stopped */
    sim_time reconfiguration;  /* from the request to a lit circuit */
    sim_time guard;            /* dark before every transfer, also on a lit circuit */
    sim_time latency;          /* propagation + io at both ends; holds no hardware */
    sim_time slot;             /* payloads take whole slots; 0 = not slotted */
    uint64_t rate_bytes_per_s; /* of one lane, above 0; whole bytes per second, what a share leaves over is lost */
    uint32_t transceivers;     /* of a node */
    uint16_t lanes_max;        /* side by side between two nodes */
    bool can_multicast;
    bool gives_way;         /* an idle lit circuit, to whoever needs its hardware; known to open */
    bool reroutes;          /* plans around transceivers that are broken: number t of node s sends as s * transceivers
                               + t and receives as that + dense / 2 */
    bool has_planned_lanes; /* first_lane means something: collectives lay out their lanes themselves */
};

struct fabric {
    struct strategy strategy; /* its keys are those of the topology file */

    /* Refuses a topology that it cannot be; path is that of its file. NULL = none. */
    enum status (*check)(const struct topology *topology, const char *path, struct error *error);

    bool connects_jobs;   /* the servers of a job for good: a server is one job's at a time */
    bool is_reconfigured; /* has a delay that topology->reconfiguration_ps overrules: fabric_delay_ps */

    /* Does it treat all groups, racks and places of the topology alike, so that renumbering them changes nothing?
     * NULL = never. */
    bool (*is_symmetric)(const struct topology *topology, uint16_t lanes);

    /* After how long a fabric that turns by the clock does the same again, 0 = it does not turn; of the state it reads
     * topology and clock. NULL = never turns. */
    sim_time (*cycle)(const struct fabric_state *state);

    /* Adds to the list, by numbers of the fabric's own, what the transfers to one target among these servers may use
     * besides what only servers have: jobs without a shared server that have no number in common never delay each
     * other, those with one may. In O(servers), times the groups they are in. NULL = never anything. */
    void (*domains)(const struct topology *topology, const uint32_t *servers, uint32_t count, struct fabric_list *list);

    /* Checks the topology's figures and fills *state, which comes with topology, clock, epoch and fabric set: circuits
     * or carrier among the rest. */
    enum status (*open)(struct fabric_state *state, struct error *error);
};

/* Circuits on request. */
struct fabric_circuits {
    void (*close)(struct fabric_state *state); /* frees what open made; NULL = nothing */

    /* The hardware of one circuit, a lane of the pair: true with plan->hold filled. Where the fabric chooses, it takes
     * the best that is open (network_hardware_is_free, network_hardware_loss), never an idle lit circuit of the pair
     * itself, since there is none, and may return false with plan->wait filled, in one of two ways. Either one busy
     * piece of hardware for each of its alternatives, in their order: the request is tried again when one of them
     * opens, and then stands in line for that alternative alone. Or any number of FABRIC_LINE(i): it is tried again
     * when one of these moves on (line_of), which costs more where lines are long; and FABRIC_KEPT: when next returns
     * it. */
    bool (*plan)(const struct fabric_state *state, const struct network *network, const struct fabric_pair *pair,
                 struct fabric_plan *plan);

    /* "transmitter 3 of 0-1-1" */
    void (*describe)(const struct fabric_state *state, uint64_t hardware, char text[FABRIC_TEXT_BYTES]);

    /* With lines: the one that moves on when this hardware is released, or FABRIC_NONE; and whether anybody in a line
     * could be helped now, a hint that spares tries. */
    uint32_t (*line_of)(const struct fabric_state *state, uint64_t hardware);
    bool (*line_is_open)(const struct fabric_state *state, const struct network *network, uint32_t line);

    /* A circuit of the pair took this hardware, started or stopped carrying on it, or let it go: for a fabric that
     * keeps books of its own besides, to choose fast (ring). May be NULL. */
    void (*note)(const struct fabric_state *state, enum fabric_note note, uint32_t source, uint32_t target,
                 uint64_t hardware);

    /* Requests that the fabric keeps itself since it knows best whom a release helps (FABRIC_KEPT); or both NULL. keep:
     * this one waits. next: takes off the first in turn that could go now, 0 if nobody could; called while hardware is
     * given out, again behind each try. A request may be out of date, since it could also go from a line. */
    void (*keep)(const struct fabric_state *state, const struct fabric_pair *pair, struct turn turn, uint32_t request);
    uint32_t (*next)(const struct fabric_state *state);
};

/* Transfers carried by the fabric itself. */
struct fabric_carrier {
    void (*close)(struct fabric_state *state); /* frees what open made */

    /* Called once for every transfer with bytes and a target other than its source. */
    enum status (*send)(struct network *network, uint32_t transfer, struct error *error);

    /* An event scheduled with network_schedule. */
    void (*on_event)(struct network *network, const struct event *event);

    /* network_visit_hardware of the fabric's own hardware. */
    void (*visit)(const struct network *network, hardware_visitor *visit, void *context);

    /* What a transfer waits for, for people ("its slot on a rotor switch"); NULL = "the fabric". */
    void (*explain)(const struct network *network, uint32_t transfer, char text[FABRIC_TEXT_BYTES]);

    /* network_open_job and network_close_job, for a fabric that connects the servers of a job for good; or both NULL.
     * Borrows servers, all of which exist, until it returns. */
    enum status (*open_job)(const struct fabric_state *state, uint32_t job, const uint32_t *servers, uint32_t count,
                            struct error *error);
    enum status (*close_job)(const struct fabric_state *state, uint32_t job, struct error *error);

    /* Orders servers of a job, all different and given in ascending order, as a ring of direct neighbours as far as its
     * links allow. NULL = by their numbers is as good. */
    void (*order_ring)(const struct fabric_state *state, uint32_t job, uint32_t *servers, uint32_t count);
};

#define FABRIC_LINE(index) ((UINT64_C(1) << 63) | (uint64_t)(index))
#define FABRIC_KEPT FABRIC_LINE(UINT32_MAX)

/* The fabric of a topology. */
static inline const struct fabric *fabric_of(const struct topology *topology)
{
    return (const struct fabric *)topology->fabric.strategy;
}

/* Does renumbering groups, racks and places change nothing for transfers of so many lanes? */
static inline bool fabric_is_symmetric(const struct topology *topology, uint16_t lanes)
{
    const struct fabric *fabric = fabric_of(topology);
    return fabric->is_symmetric && fabric->is_symmetric(topology, lanes);
}

/* How long its turn is, 0 = it does not turn: what a transfer takes depends on the instant modulo that. */
static inline sim_time fabric_cycle(const struct topology *topology, const struct sim_clock *clock)
{
    const struct fabric *fabric = fabric_of(topology);
    struct fabric_state state = {.fabric = fabric, .topology = topology, .clock = *clock};
    return fabric->cycle ? fabric->cycle(&state) : 0;
}

/* The delay that counts: the topology's, or else the fabric's own. */
static inline int64_t fabric_delay_ps(const struct fabric_state *state, int64_t own_ps)
{
    int64_t delay_ps = state->topology->reconfiguration_ps;
    return delay_ps == TOPOLOGY_AS_FABRIC ? own_ps : delay_ps;
}

/* The ticks that bytes take on `lanes` lanes, in whole slots; SIM_TIME_MAX where it does not fit. */
sim_time fabric_payload(const struct fabric_state *state, uint64_t bytes, uint16_t lanes);

/* What real systems pay beside switching, as keys of every fabric with circuits; ps, all 0 unless a topology says so.
 */
struct fabric_delays {
    int64_t control_ps; /* to compute and send a configuration, before switching */
    int64_t lock_ps;    /* until the receiver has locked on, after switching */
    int64_t guard_ps;   /* dark before every transfer */
};

/* Their rows in the key table of a fabric whose settings have a `struct fabric_delays delays`. */
#define FABRIC_DELAY_KEY(key, field, condition, text)                                                                  \
    {                                                                                                                  \
        TIME_KEY(key, delays.field), .default_text = "0ps", .minimum = "0ps", .when = condition, .doc = text           \
    }
#define FABRIC_DELAY_KEYS(name, condition)                                                                             \
    FABRIC_DELAY_KEY(name ".control", control_ps, condition,                                                           \
                     "To compute and send a configuration, before the hardware switches: part of every set-up. A "     \
                     "public 24x24 prototype takes 68.5us."),                                                          \
        FABRIC_DELAY_KEY(                                                                                              \
            name ".lock", lock_ps, condition,                                                                          \
            "Until a receiver has locked on to new light: part of every set-up. A public 24x24 prototype "             \
            "takes 8.7us."),                                                                                           \
        FABRIC_DELAY_KEY(name ".guard", guard_ps, condition,                                                           \
                         "Dark time before every transfer, also on a circuit that is lit: what keeps bursts apart.")

/* Adds them to the figures that fabric_share set. */
STATUS_MUST_USE enum status fabric_add_delays(struct fabric_state *state, const struct fabric_delays *delays,
                                              struct error *error);

/* Sets latency, rate (node rate / transceivers), lanes and clock-bound figures that most fabrics share. STATUS_USER
 * where less than a byte per second is left for a transceiver. */
STATUS_MUST_USE enum status fabric_share(struct fabric_state *state, int64_t transceivers, int64_t reconfiguration_ps,
                                         int64_t slot_ps, struct error *error);

/* For fabrics. ---------------------------------------------------------------------------------------------------- */

const struct fabric_state *network_fabric(const struct network *network);
sim_time network_now(const struct network *network);

/* Free, or held by a circuit that is lit, carries nothing and gives way (hold). Never used counts as free; out of
 * service does not, and is never released. */
bool network_hardware_is_free(const struct network *network, uint64_t hardware);

/* Out of service for the whole run. */
bool network_hardware_is_broken(const struct network *network, uint64_t hardware);

/* Nobody's: no circuit would have to give way. */
bool network_hardware_is_dark(const struct network *network, uint64_t hardware);

/* What is lost when the circuit that holds it gives way: nothing where it is dark, little where its pair has other
 * lanes, more where it is the pair's last. To choose by, lowest first. */
int network_hardware_loss(const struct network *network, uint64_t hardware);

/* A transfer under way, for carriers. The returned pointer lives until the next transfer is sent. */
struct transfer_view {
    uint32_t source, target;
    uint32_t job;
    uint64_t bytes;
    sim_time start;
    struct turn turn; /* in the policy's order */
    bool is_cleared_when_blocked;
};
struct transfer_view network_transfer(const struct network *network, uint32_t transfer);

/* A word of the fabric's own with each transfer, 0 at first. */
uint64_t *network_transfer_word(struct network *network, uint32_t transfer);

/* The first byte leaves: ends the wait. Once per transfer. */
void network_begin(struct network *network, uint32_t transfer);

/* The last byte is there: now = start + the four parts, which is required; calls done. The transfer's number is dead
 * afterwards. Only wait, reconfiguration, latency and payload are read from parts; the wait may hold more than the time
 * before network_begin (a detour's second wait). */
void network_finish(struct network *network, uint32_t transfer, const struct transfer_report *parts);

/* An event for on_event, at a time that is now or later. */
event_handle network_schedule(struct network *network, sim_time time, uint32_t entity, uint64_t data);

/* The same behind all ends of its instant (event->priority is FABRIC_LAST): when to give out what they left. */
enum { FABRIC_LAST = 255 };
event_handle network_schedule_last(struct network *network, sim_time time, uint32_t entity, uint64_t data);

/* A waiting transfer that asked not to wait goes at the instant it was sent: nothing was sent; calls done. */
void network_clear(struct network *network, uint32_t transfer);

/* Keeps the error for network_status and stops the engine; the same for a clock that ran out, of what (a sentence up to
 * its verb); and advance: the end of a stretch of time, or false where the clock ran out, which is failed already. */
void network_fail(struct network *network, const struct error *error);
void network_fail_clock(struct network *network, const char *what);
STATUS_MUST_USE bool network_advance(struct network *network, sim_time from, sim_time length, sim_time *end);

#endif
