/* The files an experiment reads, with their hashes, and a fingerprint of all that its results depend on.
 *
 * Gathering is also the check before any run starts: each file is read by the
 * code that will read it later, once, so a bad one is told before the first
 * result is written.
 */
#ifndef RESULTS_INPUTS_H
#define RESULTS_INPUTS_H

#include "engine/intern.h"
#include "scenario/plan.h"

struct inputs_file {
    const char *kind; /* the key that names it, "model" or "scenario" */
    const char *path;
    uint64_t size_bytes, rows, hash; /* rows: lines */
};

struct inputs {
    struct inputs_file *files; /* each once, in the order of the runs that need them */
    size_t count, capacity;
    struct intern paths;  /* of those looked at */
    uint64_t fingerprint; /* of the data files and of every point's settings, but not of how the scenario is spelled */
    struct arena arena;   /* owns the texts */
};

/* Reads and checks every file the plan's runs name. Release with inputs_free, also after failure.
 * O(points + bytes of the distinct files). */
STATUS_MUST_USE enum status inputs_gather(const struct plan *plan, struct inputs *inputs, struct error *error);
void inputs_free(struct inputs *inputs);

/* Size, lines and hash of a file. kind and path are left alone. */
STATUS_MUST_USE enum status inputs_describe(const char *path, struct inputs_file *file, struct error *error);

#endif
