/* Files: read whole, written crash-safe, looked up where people keep them.
 *
 * A writer fills `path.tmp` and gives it its name only in file_finish(), after
 * the bytes are on the disk, so nobody ever reads half a file under the real
 * name. A failed write is remembered and told by file_finish(): callers append
 * without checking each call.
 *
 * Trouble: a file that is not there is the user's mistake (STATUS_USER, exit
 * 2); everything else the system refuses is STATUS_IO (exit 4), with the path
 * and the system's own words.
 */
#ifndef INPUT_FILE_H
#define INPUT_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/memory.h"
#include "engine/status.h"

/* Reads all of path, pipes included; more than limit_bytes is refused (STATUS_USER). *text is returned owned
 * (free), with a NUL behind its *size bytes. O(size). */
STATUS_MUST_USE enum status file_read(const char *path, size_t limit_bytes, char **text, size_t *size,
                                      struct error *error);

struct file_writer;

/* Opens path.tmp, overwriting a left-over; behind a symbolic link, so that the link stays. A device or a pipe is
 * written as it is. The writer is returned owned, until file_finish or file_abandon takes it. Borrows path only during
 * the call. */
STATUS_MUST_USE enum status file_create(const char *path, struct file_writer **writer, struct error *error);
void file_append(struct file_writer *writer, const void *bytes, size_t size);
void file_printf(struct file_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Flush, sync, rename, sync of the directory. Takes the writer whatever it answers; on failure path.tmp is gone and
 * path is as it was. */
STATUS_MUST_USE enum status file_finish(struct file_writer *writer, struct error *error);

/* Takes the writer and removes path.tmp; path is as it was. NULL is fine. */
void file_abandon(struct file_writer *writer);

/* Makes the directory and those above it; one that exists is fine. */
STATUS_MUST_USE enum status file_make_directory(const char *path, struct error *error);

/* Where to look for a data file. */
struct file_search {
    const char *folder;   /* kind of data: "models", "topologies"; NULL = none */
    const char *suffix;   /* also tried behind the name, e.g. ".json"; NULL = none */
    const char *named_in; /* the file that names it; NULL = none, e.g. the command line */
};

/* Looks for a readable file: the name as given from the folder of named_in, then from the current folder; then in
 * ./<folder>/, <folder of the program>/<folder>/ and <installed data>/<folder>/; absolute names only as given. *path is
 * put into the arena and lives until arena_free. Not found: STATUS_USER, naming the places. */
STATUS_MUST_USE enum status file_find(const struct file_search *search, const char *name, struct arena *arena,
                                      const char **path, struct error *error);

/* The i-th folder (0, 1, 2) that file_find looks in for this kind of data, in the arena. NULL behind the last one. */
const char *file_data_folder(const char *folder, int i, struct arena *arena);

/* The part of path before its last slash, in the arena; "." where there is none. */
const char *file_directory(const char *path, struct arena *arena);

#endif
