#include "results/jobs_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/columns.h"
#include "engine/hash.h"
#include "input/file.h"
#include "input/units.h"
#include "results/csv_line.h"

/* Numbers recur: betas are hundredths and most completion times were met before. A million rows are written several
 * times faster for remembering the text of the last number in each of a few slots. */
enum { TEXT_SLOTS = 4096 };

struct number_text {
    uint64_t bits;
    uint8_t length; /* 0 = empty slot */
    char text[UNITS_TEXT_BYTES];
};

struct jobs_file {
    const struct cluster_config *config;
    const struct cluster_result *result;
    struct line line;
    struct number_text *numbers;
};

static void put_count(struct line *line, uint64_t count)
{
    char digits[24];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + count % 10);
        count /= 10;
    } while (count);
    line_put(line, digits + start, sizeof digits - start);
}

static void put_number(struct jobs_file *file, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    struct number_text *slot = &file->numbers[hash_mix(bits) % TEXT_SLOTS];
    if (!slot->length || slot->bits != bits) {
        units_format_number(value, slot->text);
        slot->bits = bits;
        slot->length = (uint8_t)strlen(slot->text);
    }
    line_put(&file->line, slot->text, slot->length);
}

static int device_total(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* topology_device_name in a grid, without its cost: names are most of a row. */
static void put_grid_name(struct line *line, const struct topology *topology, uint32_t server)
{
    put_count(line, topology_group(topology, server));
    line_put(line, "-", 1);
    put_count(line, topology_rack(topology, server));
    line_put(line, "-", 1);
    put_count(line, topology_place(topology, server));
}

static void put_devices(struct line *line, const struct topology *topology, uint32_t *devices, uint32_t count)
{
    qsort(devices, count, sizeof *devices, device_total);
    for (uint32_t i = 0; i < count; i++) {
        char name[TOPOLOGY_NAME_BYTES];
        if (i)
            line_put(line, " ", 1);
        if (topology->has_grid)
            put_grid_name(line, topology, devices[i]);
        else
            line_put(line, name, (size_t)topology_device_name(topology, devices[i], name));
    }
}

static void put_value(struct jobs_file *file, size_t number, enum job_column column)
{
    const struct job_record *job = &file->result->jobs[number];
    switch (job_columns[column].kind) {
    case COLUMN_NUMBER:
        put_number(file, job_number(job, column));
        break;
    case COLUMN_COUNT:
        put_count(&file->line, (uint64_t)job_number(job, column));
        break;
    case COLUMN_MODEL:
        line_text(&file->line, file->config->models->names[job->model]);
        break;
    case COLUMN_OUTCOME:
        line_text(&file->line, outcome_name(job->outcome));
        break;
    case COLUMN_CAUSE:
        line_text(&file->line, cause_name(job->cause));
        break;
    case COLUMN_ORDINAL:
        put_count(&file->line, number);
        break;
    case COLUMN_DEVICES:
        put_devices(&file->line, file->config->topology, file->result->devices + job->device_start, job->device_count);
        break;
    case COLUMN_DERIVED:
        require(column >= JOB_FILE_COLUMNS);
    }
}

static void put_job(struct jobs_file *file, size_t number)
{
    enum column_given given = file->config->circuit ? GIVEN_ON_CIRCUITS : GIVEN_WITH_SERVERS;
    if (!file->result->jobs[number].device_count)
        given = GIVEN_ALWAYS;
    for (int column = 0; column < JOB_FILE_COLUMNS; column++) {
        line_comma(&file->line);
        if (job_columns[column].given <= given)
            put_value(file, number, (enum job_column)column);
    }
}

static void end_line(struct line *line, struct file_writer *writer)
{
    line_put(line, "\n", 1);
    file_append(writer, line->bytes, line->used);
    line->used = 0;
}

static void put_header(struct line *line)
{
    for (int column = 0; column < JOB_FILE_COLUMNS; column++) {
        line_comma(line);
        line_text(line, job_columns[column].column.name);
    }
}

enum status jobs_file_write(const char *path, const struct cluster_config *config, const struct cluster_result *result,
                            struct error *error)
{
    struct file_writer *writer;
    TRY(file_create(path, &writer, error));
    struct jobs_file file = {config, result, .numbers = memory_alloc(TEXT_SLOTS, sizeof *file.numbers)};
    put_header(&file.line);
    end_line(&file.line, writer);
    for (size_t i = 0; i < result->job_count; i++) {
        put_job(&file, i);
        end_line(&file.line, writer);
    }
    free(file.line.bytes);
    free(file.numbers);
    return file_finish(writer, error);
}
