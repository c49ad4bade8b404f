/* CSV with a header line (RFC 4180): columns are asked for by name.
 *
 * Fields may be quoted, with "" for a quote inside; lines end in LF or CRLF; a
 * byte-order mark is skipped; empty lines are skipped. Every row must have as
 * many fields as the header. Refused, with file and line: NUL bytes, a row of
 * more than 64 KiB, more than 1024 columns, a column twice, an open quote, text
 * behind a closing quote.
 *
 * The file is read once into memory and fields are unquoted in place: a pass is
 * O(size) and a row costs no allocation.
 */
#ifndef INPUT_CSV_H
#define INPUT_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/status.h"
#include "input/file.h"

enum { CSV_ROW_LIMIT_BYTES = 64 * 1024, CSV_COLUMN_LIMIT = 1024 };

struct csv;

/* Opens and reads the header. The reader is returned owned: csv_close. */
STATUS_MUST_USE enum status csv_open(const char *path, struct csv **csv, struct error *error);

/* The same from memory (borrows text and file during the call only). */
STATUS_MUST_USE enum status csv_parse(const char *text, size_t size, const char *file, struct csv **csv,
                                      struct error *error);
void csv_close(struct csv *csv);

size_t csv_column_count(const struct csv *csv);
const char *csv_column_name(const struct csv *csv, size_t column);

/* The position of the named column; -1 where it is not there. */
int csv_find_column(const struct csv *csv, const char *name);

/* The same where it must be there: otherwise an error that lists the columns there are. */
STATUS_MUST_USE enum status csv_need_column(const struct csv *csv, const char *name, size_t *column,
                                            struct error *error);

/* Reads the next row; *has_row is false behind the last one. */
STATUS_MUST_USE enum status csv_next(struct csv *csv, bool *has_row, struct error *error);

/* A field of the row just read; lives until the next csv_next. */
const char *csv_field(const struct csv *csv, size_t column);

/* The line on which the row just read begins, from 1. */
int csv_line(const struct csv *csv);

/* An error about the row just read, prefixed with the column's name where column >= 0. Returns STATUS_USER. */
enum status csv_error(const struct csv *csv, int column, struct error *error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Writes one field, in quotes only where it needs them. */
void csv_write(struct file_writer *writer, const char *field);

#endif
