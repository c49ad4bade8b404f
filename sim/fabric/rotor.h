/* Fabrics that turn by the clock: the schedule of the matchings, by arithmetic, and the two ways to use it.
 *
 * n servers, M = n - 1 matchings: matching k (1 .. M) connects server i to server
 * i + k modulo n. P switches turn through them: slot s of switch p shows matching
 * (s * P + p) modulo M, plus 1, so that all matchings are shown equally often
 * whatever P and M; where P divides M each switch has M / P matchings of its own
 * (RotorNet). A slot is lit, then dark while the switch turns. Staggered switches
 * (Opera) turn one after the other: switch p is p / P of a period late. All is as
 * it was after M / gcd(M, P) periods: what happens depends on the time modulo that,
 * and a network whose clock begins later in the run begins at that phase.
 *
 * Showings are numbered: j is slot j / P of switch j modulo P. The windows of a
 * pair of difference k are the showings k - 1 + c * M. As P <= M they never overlap,
 * and a moment's window is found without any search: all O(1).
 *
 * Two fabrics use it: rotor, and awgr with its round robin, whose planes are the
 * switches here (rotor_open). Private to sim/fabric.
 */
#ifndef FABRIC_ROTOR_H
#define FABRIC_ROTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/clock.h"
#include "engine/status.h"
#include "network/fabric.h"
#include "network/reuse.h"
#include "network/waitlist.h"

struct rotor_schedule {
    uint32_t servers, matchings, switches;
    sim_time lit, period; /* lit + dark */
    bool is_staggered;
    sim_time phase; /* how far it is in its turn at time 0 */
};

/* The figures of a topology that a schedule is made from, and the keys that messages name. */
struct rotor_figures {
    const char *switches_key, *slot_key; /* borrowed until rotor_open returns */
    int64_t switches;
    int64_t slot_ps; /* lit; 0 = of the dark time, by the duty */
    int64_t dark_ps;
    double duty; /* share of the time that is lit */
    bool is_two_hop, is_staggered;
};

/* After how long all switches are where they were: fabric.cycle of such a fabric. */
sim_time rotor_cycle(const struct fabric_state *state, const struct rotor_figures *figures);

/* The open of a fabric that turns by the clock. Borrows the figures until it returns. STATUS_USER where nothing can
 * rotate. */
STATUS_MUST_USE enum status rotor_open(struct fabric_state *state, const struct rotor_figures *figures,
                                       struct error *error);

/* The same of a schedule; SIM_TIME_MAX where the clock is too short for it. */
sim_time rotor_turn(const struct rotor_schedule *schedule);

/* When showing j begins (also before time 0); SIM_TIME_MAX where the clock ends before it is over. */
sim_time rotor_showing(const struct rotor_schedule *schedule, int64_t j);

/* The last showing that has begun at a time. */
int64_t rotor_showing_at(const struct rotor_schedule *schedule, sim_time time);

/* The switch of a showing. */
static inline uint32_t rotor_switch(const struct rotor_schedule *schedule, int64_t j)
{
    int64_t rest = j % schedule->switches;
    return (uint32_t)(rest < 0 ? rest + schedule->switches : rest);
}

/* The window of a pair at a time, or its next one where it has none then. */
int64_t rotor_next(const struct rotor_schedule *schedule, uint32_t source, uint32_t target, sim_time time);

/* When `work` ticks of sending are done that begin at a time within window j, in this and the next windows of the pair;
 * SIM_TIME_MAX where the clock ends first. */
sim_time rotor_sent(const struct rotor_schedule *schedule, int64_t j, sim_time time, sim_time work);

/* Of `work` ticks that begin at a time within window j: those sent by now. */
sim_time rotor_done(const struct rotor_schedule *schedule, int64_t j, sim_time time, sim_time work, sim_time now);

/* The darkness that held up `work` ticks of a transfer sent at `start`, which begin at a time within the window that
 * begins at `begin`, and go on in the next windows of the pair. Of each stretch in which nothing of it is sent, from
 * `start` on, that is the dark time right before the window that ends the stretch, as far as it lies within. */
sim_time rotor_held_up(const struct rotor_schedule *schedule, sim_time start, sim_time begin, sim_time time,
                       sim_time work);

/* The same of one stretch: from `from` to `to`, ended by a window that begins at `begin`, not after `to`. */
sim_time rotor_dark_before(const struct rotor_schedule *schedule, sim_time begin, sim_time from, sim_time to);

/* Adds the ticks to the switches that the windows are on: busy[switch]. O(switches). */
void rotor_spread(const struct rotor_schedule *schedule, int64_t j, sim_time time, sim_time work, sim_time *busy);

/* Hands the port of a server on a switch, hardware number server * switches + switch, to a visitor. */
void rotor_visit_port(const struct rotor_schedule *schedule, uint32_t port, sim_time busy, sim_time now,
                      hardware_visitor *visit, void *context);

/* A pair with something pending. */
struct rotor_pair {
    struct waitlist line;
    uint32_t source, target;
    bool is_due; /* an event will look at it */
    /* One hop alone: */
    uint32_t transfer; /* that sends; 0 = none */
    int64_t window;    /* where it began, at this time, with so much to send */
    sim_time began, work;
};

/* Zeroed memory is empty. */
struct rotor_pairs {
    struct rotor_pair *items;
    struct reuse places;
    struct reuse_map map;
};

/* REUSE_NONE where nothing is pending; rotor_pairs_make makes the pair then. Its number is good until rotor_pairs_drop,
 * when nothing is pending any more. */
uint32_t rotor_pairs_find(const struct rotor_pairs *pairs, uint32_t source, uint32_t target);
uint32_t rotor_pairs_make(struct rotor_pairs *pairs, uint32_t source, uint32_t target);
void rotor_pairs_drop(struct rotor_pairs *pairs, uint32_t index);
void rotor_pairs_free(struct rotor_pairs *pairs);

/* What a waiting transfer waits for. */
void rotor_explain(const struct network *network, uint32_t transfer, char text[FABRIC_TEXT_BYTES]);

#endif
