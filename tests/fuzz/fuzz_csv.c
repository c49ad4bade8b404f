/* Fuzz target: the CSV reader.
 *
 * Whatever the bytes: a mistake is STATUS_USER with a message and a line;
 * otherwise every row has the header's number of fields, lines go up, and the
 * fields of all rows together are never longer than the file.
 */
#include <stdint.h>
#include <string.h>

#include "input/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(enum status status, const struct error *error)
{
    require(status == STATUS_USER && error->status == status && error->message[0] && error->line >= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct csv *csv = NULL;
    struct error error = {0};
    enum status status = csv_parse(size ? (const char *)data : "", size, "fuzz.csv", &csv, &error);
    if (status != STATUS_OK) {
        check_error(status, &error);
        return 0;
    }
    size_t total = 0, columns = csv_column_count(csv);
    require(columns >= 1 && columns <= CSV_COLUMN_LIMIT);
    require(csv_find_column(csv, csv_column_name(csv, columns - 1)) == (int)columns - 1);
    int line = csv_line(csv);
    for (bool has_row = true; has_row && status == STATUS_OK;) {
        status = csv_next(csv, &has_row, &error);
        if (status != STATUS_OK) {
            check_error(status, &error);
        } else if (has_row) {
            require(csv_line(csv) > line);
            line = csv_line(csv);
            for (size_t i = 0; i < columns; i++)
                total += strlen(csv_field(csv, i));
        }
    }
    require(total <= size);
    csv_close(csv);
    return 0;
}
