/* The whole table of a kind of file: its own keys, and behind each key that chooses a strategy those of the strategies.
 *
 * A key of a strategy has an effect only where the strategy is chosen: its `when`
 * is put together here. Each strategy's settings are a block of their own; block
 * 0 is the struct of the file's own keys. The table is read-only once made.
 */
#ifndef INPUT_KEY_TABLE_H
#define INPUT_KEY_TABLE_H

#include "engine/memory.h"
#include "input/registry.h"

struct key_table {
    struct arena arena; /* owns everything below */
    struct key *rows;
    size_t count;
    size_t *block_bytes;
    size_t block_count;
};

/* Borrows keys and what they point to until key_table_free. Names of keys must be distinct. O(rows squared). */
void key_table_init(struct key_table *table, const struct key *keys, size_t count);
void key_table_free(struct key_table *table);

/* Position of a key; -1 where there is none. */
int key_table_find(const struct key_table *table, const char *name);

/* The known name nearest to a mistyped one; NULL where nothing is near. Lives as long as the table. */
const char *key_table_nearest(const struct key_table *table, const char *name);

/* "unknown key 'NAME'; did you mean OTHER?" for a name that is no key, into buffer (KEY_UNKNOWN_BYTES), which is
 * returned. */
enum { KEY_UNKNOWN_BYTES = 256 };
const char *key_table_unknown(const struct key_table *table, const char *name, char *buffer);

#endif
