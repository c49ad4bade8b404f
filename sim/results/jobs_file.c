#include "results/jobs_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/hash.h"
#include "input/csv.h"
#include "input/file.h"
#include "input/units.h"

/* Numbers recur: betas are hundredths and most completion times were met before. A million rows are written several
 * times faster for remembering the text of the last number in each of a few slots. */
enum { TEXT_SLOTS = 4096 };

struct number_text {
    uint64_t bits;
    uint8_t length; /* 0 = empty slot */
    char text[UNITS_TEXT_BYTES];
};

struct line {
    char *bytes;
    size_t used, capacity;
    struct number_text *numbers;
};

static void put(struct line *line, const char *text, size_t length)
{
    line->bytes = memory_grow(line->bytes, &line->capacity, line->used + length + 1, 1);
    memcpy(line->bytes + line->used, text, length);
    line->used += length;
}

static void put_comma(struct line *line)
{
    put(line, ",", 1);
}

static void put_text(struct line *line, const char *text)
{
    put_comma(line);
    put(line, text, strlen(text));
}

/* A model may be named by a path, which may hold anything. */
static void put_quoted(struct line *line, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        put_text(line, text);
        return;
    }
    put(line, ",\"", 2);
    for (; *text; text++)
        put(line, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    put(line, "\"", 1);
}

static void put_count(struct line *line, uint64_t count)
{
    char digits[24];
    size_t start = sizeof digits;
    do {
        digits[--start] = (char)('0' + count % 10);
        count /= 10;
    } while (count);
    put(line, digits + start, sizeof digits - start);
}

static void put_number(struct line *line, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    struct number_text *slot = &line->numbers[hash_mix(bits) % TEXT_SLOTS];
    if (!slot->length || slot->bits != bits) {
        units_format_number(value, slot->text);
        slot->bits = bits;
        slot->length = (uint8_t)strlen(slot->text);
    }
    put_comma(line);
    put(line, slot->text, slot->length);
}

static int server_total(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void put_devices(struct line *line, const struct topology *topology, uint32_t *servers, uint32_t count)
{
    put_comma(line);
    put_count(line, count);
    put_comma(line);
    qsort(servers, count, sizeof *servers, server_total);
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            put(line, " ", 1);
        put_count(line, topology_group(topology, servers[i]));
        put(line, "-", 1);
        put_count(line, topology_rack(topology, servers[i]));
        put(line, "-", 1);
        put_count(line, topology_place(topology, servers[i]));
    }
}

static void put_job(struct line *line, const struct cluster_config *config, const struct cluster_result *result,
                    size_t number)
{
    const struct job_record *job = &result->jobs[number];
    line->used = 0;
    put_count(line, number);
    put_quoted(line, config->models->names[job->model]);
    put_number(line, job->arrival_s);
    put_number(line, job->beta);
    put_number(line, job->sequential_s);
    put_number(line, job->limit_s);
    put_comma(line);
    put_count(line, job->degree);
    put_text(line, outcome_name(job->outcome));
    put_text(line, cause_name(job->cause));
    if (!job->device_count) {
        put(line, ",,,,,,,,,", 9);
        return;
    }
    put_number(line, job->time.total_s);
    put_number(line, job->time.part_s[TIME_COMM]);
    put_number(line, job->time.part_s[TIME_COMP]);
    put_number(line, job->time.part_s[TIME_RECONFIG]);
    put_number(line, job->time.part_s[TIME_WAIT]);
    put_devices(line, config->topology, result->devices + job->device_start, job->device_count);
    if (config->circuit) {
        put_number(line, job->time.part_s[TIME_PAYLOAD]);
        put_number(line, job->time.part_s[TIME_LATENCY]);
    } else {
        put(line, ",,", 2); /* the published formulas do not tell them apart */
    }
}

enum status jobs_file_write(const char *path, const struct cluster_config *config, const struct cluster_result *result,
                            struct error *error)
{
    struct file_writer *writer;
    struct line line = {.numbers = memory_alloc(TEXT_SLOTS, sizeof *line.numbers)};
    enum status status = file_create(path, &writer, error);
    if (status == STATUS_OK) {
        file_printf(writer, "job,model,arrival_s,beta,sequential_s,limit_s,degree,outcome,cause,jct_s,comm_s,comp_s,"
                            "reconfig_s,wait_s,devices,device_list,payload_s,latency_s\n");
        for (size_t i = 0; i < result->job_count; i++) {
            put_job(&line, config, result, i);
            put(&line, "\n", 1);
            file_append(writer, line.bytes, line.used);
        }
        status = file_finish(writer, error);
    }
    free(line.bytes);
    free(line.numbers);
    return status;
}
