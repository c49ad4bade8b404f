/* The results folder: whose it is, and who writes into it now. Private to sim/run.
 *
 * DIR/scenario.yaml says which experiment the folder belongs to; its first line
 * says that ocsim wrote it, and only then does --fresh remove anything. One
 * process, or several shards, may write into a folder at a time: they hold a
 * lock on it, which ends with the last of their processes, however it ends.
 */
#ifndef RUN_CLAIM_H
#define RUN_CLAIM_H

#include <stdbool.h>

#include "results/inputs.h"

struct claim {
    const char *path;    /* borrowed */
    char *identity;      /* what scenario.yaml must hold; owned */
    bool is_fresh;       /* throw away what ocsim wrote there before */
    bool is_shared;      /* other shards may be at work */
    bool is_made;        /* by claim_open */
    int lock, runs_lock; /* descriptors, -1 = none */
};

/* Works out what the folder must say. Borrows path until claim_close. */
void claim_init(struct claim *claim, const char *path, const struct plan *plan, const struct inputs *inputs);

/* May the experiment go into this folder? Writes nothing. */
STATUS_MUST_USE enum status claim_check(const struct claim *claim, struct error *error);

/* Makes the folder, locks it, clears it if it is to be fresh, and writes scenario.yaml. */
STATUS_MUST_USE enum status claim_open(struct claim *claim, struct error *error);

/* Between these, no other shard writes the files that all of them write. */
void claim_enter(struct claim *claim);
void claim_leave(struct claim *claim);

/* No run came of it: takes back what claim_open made, unless other shards are at work. */
void claim_undo(const struct claim *claim);

void claim_close(struct claim *claim);

#endif
