/* Inside the network: transfers, circuits, hardware, and the lines that requests stand in.
 *
 * Private to sim/network. Everything is an index into an array of struct network, counted from 1 where 0 means none, so
 * that zeroed memory is the empty state and untouched hardware costs no memory.
 *
 * A circuit is one lane of a pair; a transfer takes as many circuits of its pair as it has lanes.
 *
 * Invariants: hardware belongs to at most one circuit; a circuit carries at most
 * one transfer; a waiting transfer stands in at least one line (or in the one
 * queue of strict order), and older entries of it are recognised by their epoch.
 */
#ifndef NETWORK_CIRCUITS_H
#define NETWORK_CIRCUITS_H

#include "engine/engine.h"
#include "network/fabric.h"
#include "network/network.h"
#include "network/reuse.h"

enum { CIRCUIT_INLINE = 4 };

enum transfer_state { TRANSFER_FREE, TRANSFER_LOCAL, TRANSFER_WAITING, TRANSFER_MOVING };

struct transfer {
    uint64_t bytes;
    uint64_t tag;
    uint64_t word; /* the fabric's */
    transfer_done *done;
    void *context;
    const uint32_t *targets; /* NULL = target */
    struct turn turn;
    sim_time start, begin;
    union {
        sim_time reconfiguration;
        sim_time inside_latency; /* of a transfer that stays in its server */
    };
    sim_time payload;
    event_handle end; /* of its last bit's leaving, then of its arrival */
    uint64_t line;    /* the place of those behind it, where it is in line */
    uint64_t before;  /* pair.waited before it */
    uint64_t pair;    /* the key of its pair */
    uint32_t source, target, target_count;
    uint32_t job;
    uint32_t circuits; /* that carry it, linked by lane_next; 0 before, and once the last bit has left */
    uint32_t epoch;    /* of its entries in lines; never goes back, even when the place is used again */
    uint16_t first_lane, lanes;
    uint8_t state;
    bool is_cleared_when_blocked;
    bool is_in_line; /* at hardware, not only at its pair */
    bool is_patient; /* waits for a circuit of its pair */
    bool has_waited; /* counts in pair.waited */
};

struct circuit {
    uint32_t source, target; /* the first target of a multicast */
    uint32_t transfer;       /* carried; 0 = idle */
    uint32_t slot_count;     /* 0 = this circuit is free */
    union {
        uint32_t few[CIRCUIT_INLINE];
        uint32_t *many; /* owned, where slot_count is more */
    } slots;
    event_handle expiry;               /* of a lingering circuit */
    uint32_t pair;                     /* place of its pair */
    uint32_t pair_next, pair_back;     /* circuits of the pair, the newest first */
    uint32_t lane_next;                /* of the transfer carried */
    sim_time dark;                     /* of the transfer carried: how long this lane was dark for it */
    sim_time dark_from, lit_from;      /* of the stays not yet told: switching, then carrying */
    uint32_t stopped_switch;           /* or FABRIC_NONE */
    uint32_t switch_next, switch_back; /* carrying circuits of that switch */
};

struct hardware {
    sim_time since; /* up to here the books are closed */
    sim_time busy, switching, idle;
    uint32_t circuit; /* that holds it, or HARDWARE_BROKEN */
    uint32_t line;    /* that waits for it */
};

/* Of hardware that is out of service for the whole run. */
#define HARDWARE_BROKEN UINT32_MAX

/* A switch that is dark as a whole while it sets up a circuit. */
struct stopped_switch {
    sim_time dark_until;
    uint32_t first; /* carrying circuit */
};

/* An entry of a line: a node of a pairing heap. */
struct waiter {
    struct turn turn;
    uint32_t transfer, epoch;
    uint32_t child, sibling;
};

/* Where a line stands: a hardware slot, FABRIC_LINE, or a pair of servers. */
#define PLACE_LINE (UINT64_C(1) << 63)
#define PLACE_PAIR (UINT64_C(1) << 62)

/* The circuits and the waiting of two ends, known by a hash of 62 bits, which two of a million share once in ten
 * million runs.
 *
 * Whoever can use a lit circuit of the pair stands in its line, and is called up when one is idle. Requests that need
 * the same hardware have a place of their own, which is in this map too: only the first of them (the head) stands in
 * line at the hardware, those with a later turn stand behind it at that place.
 */
struct pair {
    uint64_t key;            /* with PLACE_PAIR; 0 = unused */
    uint64_t head_sequence;  /* its turn.sequence, to know it from a later transfer with the same number */
    uint64_t waited, served; /* bytes of those who ever had to wait, and of those among them who started */
    uint32_t head;           /* a transfer that stands in line at hardware; 0 = none */
    uint32_t line;
    uint32_t circuits; /* the newest; 0 = none is lit */
    uint32_t circuit_count, idle_count;
    uint32_t waiting; /* of those who had to wait: that have not started */
};

struct fresh {
    struct turn turn;
    uint32_t transfer;
};

struct fresh_list {
    struct fresh *items;
    size_t count, capacity;
    bool is_unsorted;
};

struct network {
    struct engine *engine;
    const struct topology *topology;
    struct network_options options;
    struct fabric_state fabric;
    sim_time linger;
    sim_time inside_latency; /* between two devices of one server */

    struct transfer *transfers; /* [0] of these three is never used */
    struct circuit *circuits;
    struct waiter *waiters;
    struct reuse transfer_places, circuit_places, waiter_places, pair_places;

    struct hardware *dense; /* fabric.dense of them */
    struct hardware *sparse;
    uint64_t *sparse_ids;
    size_t sparse_count, sparse_capacity, sparse_id_capacity;
    uint32_t *map; /* id -> index in sparse, plus 1 */
    size_t map_size;
    uint32_t *lines;    /* fabric.line_count of them */
    struct pair *pairs; /* [0] is never used */
    struct reuse_map pair_map;
    struct stopped_switch *switches;

    struct fresh_list fresh; /* sent at this instant, not tried yet */
    struct waitlist wakes;   /* lines that were called up: the best of each, a waiter, and its place */
    uint32_t queue;          /* strict order: everybody who waits */
    uint32_t kept;           /* entries that the fabric keeps */
    bool is_dispatch_due, is_dispatching;
    struct fabric_plan plan; /* scratch */
    uint32_t *slots;         /* scratch, of plan.hold */
    size_t slot_capacity;

    uint64_t sequence;
    struct statistics_level waiting, moving;
    struct network_totals totals;
    struct error failure;
    bool is_failed;
};

/* hardware_map.c: the slot of a hardware number, made where it is new; and whether it exists at all (FABRIC_NONE if
 * not).
 */
uint32_t hardware_slot(struct network *network, uint64_t id);
uint32_t hardware_find(const struct network *network, uint64_t id);
uint64_t hardware_id(const struct network *network, uint32_t slot);

static inline struct hardware *hardware_at(const struct network *network, uint32_t slot)
{
    return slot < network->fabric.dense ? &network->dense[slot] : &network->sparse[slot - network->fabric.dense];
}

static inline const uint32_t *circuit_slots(const struct circuit *circuit)
{
    return circuit->slot_count > CIRCUIT_INLINE ? circuit->slots.many : circuit->slots.few;
}

/* Idle circuits stay lit until somebody wants their hardware. */
static inline bool circuits_yield(const struct network *network)
{
    return network->options.circuits == NETWORK_HOLD || network->options.circuits == NETWORK_PATIENT;
}

/* An idle lit circuit that gives way. */
static inline bool circuit_yields(const struct network *network, uint32_t circuit)
{
    return circuits_yield(network) && network->circuits[circuit].transfer == 0;
}

static inline bool hardware_is_open(const struct network *network, uint32_t slot)
{
    uint32_t circuit = hardware_at(network, slot)->circuit;
    return circuit == 0 || (circuit != HARDWARE_BROKEN && circuit_yields(network, circuit));
}

/* wait_lines.c: a line is the root of a pairing heap, 0 = empty. */
void line_add(struct network *network, uint64_t place, uint32_t transfer);
uint32_t line_insert(struct network *network, uint32_t root, uint32_t transfer);

/* The transfer that the first entry stands for, 0 if that no longer waits here. root is required not to be 0. */
uint32_t line_first(const struct network *network, uint32_t root);
uint32_t *line_at(struct network *network, uint64_t place);  /* lives until the next call */
uint32_t pair_of(struct network *network, uint64_t key);     /* its place; made where it is new */
struct pair *pair_at(struct network *network, uint64_t key); /* the same; lives until the next call */
void pair_drop_unused(struct network *network, uint32_t pair);
void pair_wake(struct network *network, uint32_t pair); /* its line is called up */
bool pair_has_head(const struct network *network, const struct pair *pair);
uint32_t line_meld(struct network *network, uint32_t left, uint32_t right);

/* The same, and takes the entry off. */
uint32_t line_take(struct network *network, uint32_t *root);

/* Calls up the line at a place, if there is one. */
void line_wake(struct network *network, uint64_t place);

/* Calls up the next that the fabric keeps, if there is one. */
void line_wake_kept(struct network *network);
void wake_put(struct network *network, uint64_t place, uint32_t waiter);

/* circuits.c: takes hardware for a transfer, or says that it must wait: for hardware, or patiently for a circuit of its
 * pair. */
enum circuit_answer { CIRCUIT_STARTED, CIRCUIT_BLOCKED, CIRCUIT_PATIENT };
enum circuit_answer circuit_try(struct network *network, uint32_t transfer);

/* The lanes of a transfer whose last bit has left are free. */
void circuits_end(struct network *network, uint32_t transfer);
void circuit_release(struct network *network, uint32_t circuit);
struct fabric_pair circuit_pair(const struct transfer *transfer);

/* circuit_waits.c: behind circuit_try that did not start it: stands in line at what it found busy. It was called up
 * from a place, whose entry is the only one it gave up, or (PLACE_NONE) it stands nowhere yet. */
#define PLACE_NONE UINT64_MAX
void circuit_wait(struct network *network, uint32_t transfer, enum circuit_answer answer, uint64_t from);

/* It starts: somebody else has to stand in line for those behind it. */
void circuit_leave_line(struct network *network, uint32_t transfer);

/* Calls up everybody who waits for the circuit's hardware. */
void circuit_wake(struct network *network, const struct circuit *circuit);
uint64_t circuit_pair_key(const struct transfer *transfer); /* transfer.pair, from its ends */

/* switches.c: switches that are dark as a whole while they set up a circuit; nothing happens to circuits of others. */
void switch_join(struct network *network, uint32_t circuit);
void switch_leave(struct network *network, uint32_t circuit);

/* The switch goes dark until then, and all that moves on it ends later. */
void switch_stop(struct network *network, uint32_t which, sim_time until);

/* stays.c: nothing happens without an observer. What a circuit did for its transfer up to now; the transfer of a
 * carrier, at its source; the idle stay of a circuit up to now; all that is open. */
void stays_tell_circuit(const struct network *network, const struct circuit *circuit);
void stays_tell_transfer(const struct network *network, const struct transfer *transfer);
void stays_tell_idle(const struct network *network, const struct circuit *circuit);
void stays_tell_open(const struct network *network);

/* dispatch.c */
event_handler network_on_dispatch;

/* network.c */
void network_dispatch_soon(struct network *network);
void transfer_start(struct network *network, uint32_t transfer, sim_time reconfiguration, sim_time payload);
uint16_t network_kind(const struct network *network, int which);
enum { KIND_END, KIND_EXPIRE, KIND_DISPATCH, KIND_FABRIC };

#endif
