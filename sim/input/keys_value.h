/* One value of one key: from a node into the settings, and back to text. Private to sim/input. */
#ifndef INPUT_KEYS_VALUE_H
#define INPUT_KEYS_VALUE_H

#include "input/keys.h"
#include "input/text.h"

/* Reads and checks the node and stores it at the key's offset, texts in the arena. Errors carry the node's place and
 * the key's name; nothing is stored then. */
STATUS_MUST_USE enum status keys_value_store(struct keys *keys, size_t key, const struct yaml_node *node,
                                             struct error *error);

/* Stores the default; a default that cannot be read is a bug in the table. */
void keys_value_store_default(struct keys *keys, size_t key);

/* "from 1ps to 3s", "more than 0", ... into text; empty where there is no range. */
void keys_value_range(const struct key *key, char *text, size_t size);

/* The stored value as YAML; "null" where it is not set. */
void keys_value_write(const struct keys *keys, size_t key, struct text_builder *out);

/* A scalar as YAML flow, quoted where it has to be. */
void keys_value_write_text(const char *text, struct text_builder *out);

/* Where the key is stored. */
void *keys_field(const struct keys *keys, size_t key);

/* " (B, kB, ...)" for a type with units, "" for others. */
const char *keys_type_units(enum key_type type);

#endif
