/* Things that are chosen by name: strategies, and the registries that list them.
 *
 * A strategy is one file: its name, one line of documentation, and the keys that
 * only it has, which fill a settings struct of its own. What it does stands in the
 * struct of its kind (struct partitioner, struct fabric, ...), whose first member
 * is the struct strategy. A registry lists the strategies of a kind. Choices,
 * `explain`, `list`, the schema, completion, man pages and the tables of the
 * READMEs follow from it; see keys.h for the key that chooses among them.
 */
#ifndef INPUT_REGISTRY_H
#define INPUT_REGISTRY_H

#include <stddef.h>

#include "engine/status.h"

struct key;
struct keys;

struct strategy {
    const char *name;
    const char *doc;        /* one line */
    const struct key *keys; /* its own, offsets into its settings; strategies with the same keys share the settings */
    size_t key_count;
    size_t settings_bytes;
    /* What no single key can check, once all are in; settings are its own. NULL = nothing. */
    enum status (*check)(const struct keys *keys, const void *settings, struct error *error);
};

/* The members of struct strategy that go with a table of keys for a struct. */
#define STRATEGY_KEYS(table, settings_struct)                                                                          \
    .keys = (table), .key_count = sizeof(table) / sizeof *(table), .settings_bytes = sizeof(settings_struct)

struct registry {
    const char *kind;                         /* in the plural, as `ocsim list` has it: "partitioners" */
    const struct strategy *const *strategies; /* in the order of the documentation */
    size_t count;
    const struct strategy *standard; /* chosen where nothing is said */
};

/* Defines a registry from a list with one line per strategy:
 *
 *     #define PARTITIONERS(_, type) \
 *         _(type, partition_fixed)  \
 *         _(type, partition_max)
 *     REGISTRY(partitioners, struct partitioner, PARTITIONERS, partition_max)
 */
#define REGISTRY_EXTERN(type, name) extern const type name;
#define REGISTRY_ENTRY(type, name) &(name).strategy,
#define REGISTRY(variable, type, LIST, chosen)                                                                         \
    LIST(REGISTRY_EXTERN, type)                                                                                        \
    static const struct strategy *const variable##_entries[] = {LIST(REGISTRY_ENTRY, type)};                           \
    const struct registry variable = {.kind = #variable,                                                               \
                                      .strategies = variable##_entries,                                                \
                                      .count = sizeof variable##_entries / sizeof *variable##_entries,                 \
                                      .standard = &(chosen).strategy};

/* What a key of type KEY_STRATEGY holds. Settings live as long as the keys they were read with. */
struct choice {
    const struct strategy *strategy;
    const void *settings; /* of the strategy's own type; NULL where it has no keys */
};

#endif
