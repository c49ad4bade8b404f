/* The figures of a topology's fabric by their keys, for tests that change or compute with them: the structs that hold
 * them are the fabrics' own. A key that the fabric does not have fails the test. */
#ifndef TESTS_FIGURES_H
#define TESTS_FIGURES_H

#include <CUnit/CUnit.h>
#include <string.h>

#include "input/keys.h"
#include "input/text.h"
#include "topology/topology.h"

static inline void *figure_at(const struct topology *topology, const char *name)
{
    const struct strategy *fabric = topology->fabric.strategy;
    for (size_t i = 0; i < fabric->key_count; i++)
        if (strcmp(fabric->keys[i].name, name) == 0)
            return (char *)(uintptr_t)topology->fabric.settings + fabric->keys[i].offset;
    CU_FAIL_FATAL("a key that the fabric does not have");
    return NULL;
}

static inline int64_t *figure_whole(const struct topology *topology, const char *name)
{
    return figure_at(topology, name);
}

static inline double *figure_real(const struct topology *topology, const char *name)
{
    return figure_at(topology, name);
}

static inline bool *figure_truth(const struct topology *topology, const char *name)
{
    return figure_at(topology, name);
}

static inline const char *figure_choices(const struct topology *topology, const char *name)
{
    const struct key *keys = topology->fabric.strategy->keys;
    while (strcmp(keys->name, name) != 0)
        keys++;
    return keys->choices;
}

/* By the words that a file has. */
static inline void figure_choose(const struct topology *topology, const char *name, const char *word)
{
    int *choice = figure_at(topology, name);
    *choice = text_position(word, figure_choices(topology, name));
    CU_ASSERT_FATAL(*choice >= 0);
}

static inline bool figure_is(const struct topology *topology, const char *name, const char *word)
{
    const int *choice = figure_at(topology, name);
    return *choice == text_position(word, figure_choices(topology, name));
}

#endif
