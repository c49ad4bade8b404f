/* CSV: see csv.h. The text is held once; a row is cut into fields by writing NULs over the separators and by moving
 * quoted text to the left, which never needs more room than it had. */
#include "input/csv.h"

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "input/text.h"

static const size_t file_limit_bytes = (size_t)1 << 30;

struct csv {
    char *file, *text, *end; /* end points at the NUL behind the text */
    char *next;              /* where the next row begins */
    int next_line, row_line;
    size_t column_count;
    char **columns; /* names of the header */
    char **fields;  /* of the row just read; room for CSV_COLUMN_LIMIT */
};

/* An error about the row being read. */
#define refuse_row(csv, error, ...) error_at(error, (csv)->file, (csv)->row_line, 0, __VA_ARGS__)

static bool ends_line(const struct csv *csv, const char *at)
{
    return at == csv->end || *at == '\n' || (*at == '\r' && at + 1 < csv->end && at[1] == '\n');
}

/* Steps over one line end. */
static char *pass_line_end(struct csv *csv, char *at)
{
    if (at == csv->end)
        return at;
    at += *at == '\r' ? 2 : 1;
    require(csv->next_line < INT_MAX);
    csv->next_line++;
    return at;
}

/* Reads a quoted field whose opening quote is at *cursor; leaves *cursor behind the closing one. */
static enum status read_quoted(struct csv *csv, char **cursor, char **field, char **field_end, struct error *error)
{
    char *from = *cursor + 1, *to = from;
    *field = to;
    for (;; from++) {
        if (from == csv->end)
            return refuse_row(csv, error, "a quote is opened and never closed");
        if (*from == '"' && from[1] != '"')
            break;
        from += *from == '"';
        csv->next_line += *from == '\n';
        *to++ = *from;
    }
    *field_end = to;
    *cursor = from + 1;
    if (!ends_line(csv, *cursor) && **cursor != ',')
        return refuse_row(csv, error, "text behind a closing quote; a quote inside a field is written twice (\"\")");
    return STATUS_OK;
}

static enum status read_bare(struct csv *csv, char **cursor, char **field, char **field_end, struct error *error)
{
    char *at = *cursor;
    *field = at;
    while (!ends_line(csv, at) && *at != ',') {
        if (*at == '"')
            return refuse_row(csv, error, "a quote in the middle of a field; put the whole field in quotes");
        at++;
    }
    *field_end = *cursor = at;
    return STATUS_OK;
}

/* Cuts the row at csv->next into fields. */
static enum status read_row(struct csv *csv, size_t *count, struct error *error)
{
    char *start = csv->next, *cursor = start;
    size_t fields = 0;
    csv->row_line = csv->next_line;
    for (;;) {
        if (fields == CSV_COLUMN_LIMIT)
            return refuse_row(csv, error, "more than %d fields in a row", CSV_COLUMN_LIMIT);
        char *field_end = NULL;
        enum status status = *cursor == '"' && cursor < csv->end
                                 ? read_quoted(csv, &cursor, &csv->fields[fields], &field_end, error)
                                 : read_bare(csv, &cursor, &csv->fields[fields], &field_end, error);
        if (status != STATUS_OK)
            return status;
        fields++;
        if (cursor - start > CSV_ROW_LIMIT_BYTES)
            return refuse_row(csv, error, "a row of more than %d bytes; is a quote or a line end missing?",
                              CSV_ROW_LIMIT_BYTES);
        bool is_last = ends_line(csv, cursor);
        char *behind = is_last ? pass_line_end(csv, cursor) : cursor + 1;
        *field_end = '\0'; /* only now: the separator had to be seen first */
        cursor = behind;
        if (is_last)
            break;
    }
    csv->next = cursor;
    *count = fields;
    return STATUS_OK;
}

static void skip_empty_lines(struct csv *csv)
{
    while (csv->next < csv->end && ends_line(csv, csv->next))
        csv->next = pass_line_end(csv, csv->next);
}

static enum status check_header(const struct csv *csv, struct error *error)
{
    for (size_t i = 0; i < csv->column_count; i++) {
        char shown[TEXT_SHOW_BYTES];
        if (!csv->columns[i][0])
            return refuse_row(csv, error, "column %zu has no name", i + 1);
        for (size_t j = 0; j < i; j++) { /* at most 1024 columns, once a file */
            if (strcmp(csv->columns[i], csv->columns[j]) == 0)
                return refuse_row(csv, error, "column '%s' is there twice", text_show(csv->columns[i], shown));
        }
    }
    return STATUS_OK;
}

static enum status read_header(struct csv *csv, struct error *error)
{
    csv->row_line = csv->next_line = 1;
    const char *nul = memchr(csv->text, 0, (size_t)(csv->end - csv->text));
    if (nul) {
        int column;
        text_place(csv->text, (size_t)(nul - csv->text), SIZE_MAX, &csv->row_line, &column);
        return refuse_row(csv, error, "a NUL byte; this is no CSV text");
    }
    skip_empty_lines(csv);
    if (csv->next == csv->end)
        return refuse_row(csv, error, "nothing in the file; expected a line with the names of the columns");
    enum status status = read_row(csv, &csv->column_count, error);
    if (status != STATUS_OK)
        return status;
    csv->columns = memory_alloc(csv->column_count, sizeof *csv->columns);
    memcpy(csv->columns, csv->fields, csv->column_count * sizeof *csv->columns);
    return check_header(csv, error);
}

/* Takes text. */
static enum status start(char *text, size_t size, const char *file, struct csv **csv, struct error *error)
{
    struct csv *made = memory_alloc(1, sizeof *made);
    made->file = memory_text(file, strlen(file));
    made->text = text;
    made->end = text + size;
    made->next = text + (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
    made->fields = memory_alloc(CSV_COLUMN_LIMIT, sizeof *made->fields);
    enum status status = size >= INT_MAX ? error_at(error, file, 0, 0, "the file is too large") : STATUS_OK;
    if (status == STATUS_OK)
        status = read_header(made, error);
    if (status != STATUS_OK) {
        csv_close(made);
        return status;
    }
    *csv = made;
    return STATUS_OK;
}

enum status csv_open(const char *path, struct csv **csv, struct error *error)
{
    require(path && csv);
    char *text = NULL;
    size_t size = 0;
    enum status status = file_read(path, file_limit_bytes, &text, &size, error);
    if (status != STATUS_OK)
        return status;
    return start(text, size, path, csv, error);
}

enum status csv_parse(const char *text, size_t size, const char *file, struct csv **csv, struct error *error)
{
    require(text && file && csv);
    return start(memory_text(text, size), size, file, csv, error);
}

void csv_close(struct csv *csv)
{
    if (!csv)
        return;
    free(csv->file);
    free(csv->text);
    free(csv->columns);
    free(csv->fields);
    free(csv);
}

size_t csv_column_count(const struct csv *csv)
{
    return csv->column_count;
}

const char *csv_column_name(const struct csv *csv, size_t column)
{
    require(column < csv->column_count);
    return csv->columns[column];
}

int csv_find_column(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->column_count; i++) {
        if (strcmp(csv->columns[i], name) == 0)
            return (int)i;
    }
    return -1;
}

enum status csv_need_column(const struct csv *csv, const char *name, size_t *column, struct error *error)
{
    int found = csv_find_column(csv, name);
    if (found >= 0) {
        *column = (size_t)found;
        return STATUS_OK;
    }
    char names[400] = "", shown[TEXT_SHOW_BYTES];
    for (size_t i = 0; i < csv->column_count && strlen(names) < sizeof names - TEXT_SHOW_BYTES - 3; i++)
        text_append(names, sizeof names, "%s%s", i ? ", " : "", text_show(csv->columns[i], shown));
    return refuse_row(csv, error, "no column '%s'; the columns are: %s", name, names);
}

enum status csv_next(struct csv *csv, bool *has_row, struct error *error)
{
    require(csv && has_row);
    skip_empty_lines(csv);
    if (csv->next == csv->end) {
        *has_row = false;
        return STATUS_OK;
    }
    size_t count = 0;
    enum status status = read_row(csv, &count, error);
    if (status != STATUS_OK)
        return status;
    if (count != csv->column_count)
        return refuse_row(csv, error, "%zu fields where the header has %zu columns", count, csv->column_count);
    *has_row = true;
    return STATUS_OK;
}

const char *csv_field(const struct csv *csv, size_t column)
{
    require(column < csv->column_count);
    return csv->fields[column];
}

int csv_line(const struct csv *csv)
{
    return csv->row_line;
}

enum status csv_error(const struct csv *csv, int column, struct error *error, const char *format, ...)
{
    char text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (column < 0)
        return refuse_row(csv, error, "%s", text);
    char shown[TEXT_SHOW_BYTES];
    return refuse_row(csv, error, "%s: %s", text_show(csv_column_name(csv, (size_t)column), shown), text);
}

void csv_write(struct file_writer *writer, const char *field)
{
    if (!field[strcspn(field, ",\"\r\n")]) {
        file_append(writer, field, strlen(field));
        return;
    }
    file_append(writer, "\"", 1);
    for (const char *at = field; *at; at++)
        file_append(writer, *at == '"' ? "\"\"" : at, *at == '"' ? 2 : 1);
    file_append(writer, "\"", 1);
}
