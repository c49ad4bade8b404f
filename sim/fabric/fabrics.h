/* The registry of fabrics, and topologies with theirs. */
#ifndef FABRIC_FABRICS_H
#define FABRIC_FABRICS_H

#include "network/fabric.h"

extern const struct registry fabrics;

/* Every key of a topology file. Release with key_table_free. */
void fabric_topology_table(struct key_table *table);

/* topology_load and topology_parse with these fabrics, and what the chosen one needs of the topology checked. */
STATUS_MUST_USE enum status fabric_load_topology(const char *path, struct topology *out, struct error *error);
STATUS_MUST_USE enum status fabric_parse_topology(const char *text, size_t size, const char *file, struct topology *out,
                                                  struct error *error);

#endif
