/* What a call answers, and how a user's mistake is told.
 *
 * Three kinds of trouble, never mixed:
 *   - a bug in ocsim: require() prints what was expected and exits 70;
 *   - a user's or the environment's mistake: the call returns a status other
 *     than STATUS_OK and fills a struct error, innermost caller first; callers
 *     on the way up may prefix it with error_wrap();
 *   - no memory: memory_alloc() and friends exit 3 (see memory.h).
 *
 * The numbers of the statuses are the exit codes of the program.
 */
#ifndef ENGINE_STATUS_H
#define ENGINE_STATUS_H

#include <stdnoreturn.h>

enum status {
    STATUS_OK = 0,
    STATUS_IMPOSSIBLE = 1, /* the model cannot go on: deadlock */
    STATUS_USER = 2,       /* the user's input is wrong */
    STATUS_MEMORY = 3,     /* no memory left */
    STATUS_IO = 4,         /* reading or writing failed */
    STATUS_BUG = 70        /* a bug in ocsim */
};

/* file is empty where no file is to blame; line and column count from 1, 0 = not known. */
struct error {
    enum status status;
    char file[512];
    int line;
    int column;
    char message[1024];
};

#define STATUS_MUST_USE __attribute__((warn_unused_result))

/* Fills *error and returns status. error may be NULL: then only the status is returned. */
enum status error_set(struct error *error, enum status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same, with the place in a file. */
enum status error_at(struct error *error, const char *file, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Hands a failure on: returns the status of a call that did not end well. For functions with nothing to undo. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        enum status try_status = (call);                                                                               \
        if (try_status != STATUS_OK)                                                                                   \
            return try_status;                                                                                         \
    } while (0)

/* Puts "text: " before the message of an error on its way up. Returns error->status. */
enum status error_wrap(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes "file:line:column: message" on one line into text, leaving out what is not known. */
void error_format(const struct error *error, char *text, unsigned long size);

/* require(condition): always on; a breach is a bug in ocsim, told on stderr, exit 70. */
#define require(condition) ((condition) ? (void)0 : require_failed(#condition, __FILE__, __LINE__))
noreturn void require_failed(const char *condition, const char *file, int line);

#endif
