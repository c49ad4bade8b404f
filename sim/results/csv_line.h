/* A line of a CSV file in the making. Private to sim/results. */
#ifndef RESULTS_CSV_LINE_H
#define RESULTS_CSV_LINE_H

#include <string.h>

#include "engine/memory.h"

/* Zero-initialise; free(bytes) in the end. */
struct line {
    char *bytes; /* not terminated */
    size_t used, capacity;
};

/* Here and not in line.c: a million rows are a hundred million of these. */
static inline void line_put(struct line *line, const char *text, size_t length)
{
    if (line->capacity - line->used < length)
        line->bytes = memory_grow(line->bytes, &line->capacity, line->used + length, 1);
    memcpy(line->bytes + line->used, text, length);
    line->used += length;
}

/* A comma between fields. */
static inline void line_comma(struct line *line)
{
    if (line->used)
        line_put(line, ",", 1);
}

/* Texts may hold anything; one with a comma, a quote or a line end goes in quotes. */
void line_text(struct line *line, const char *text);

/* For numbers; at most 63 bytes. */
void line_printf(struct line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
