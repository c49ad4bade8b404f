/* Small helpers for messages: see text.h. */
#include "input/text.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/status.h"

enum { SHOWN_BYTES = 48, DISTANCE_LIMIT = 64 };

const char *text_show_bytes(const char *text, size_t length, size_t most, char *buffer)
{
    size_t kept = length < most ? length : most;
    /* A UTF-8 character must not be cut in two. */
    while (kept < length && kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    for (size_t i = 0; i < kept; i++) {
        unsigned char byte = (unsigned char)text[i];
        buffer[i] = byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
    memcpy(buffer + kept, kept < length ? "..." : "", kept < length ? 4 : 1);
    return buffer;
}

const char *text_show(const char *text, char *buffer)
{
    return text_show_bytes(text, strlen(text), SHOWN_BYTES, buffer);
}

void text_place(const char *text, size_t size, size_t offset, int *line, int *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < size; i++) {
        *column += *column < INT_MAX;
        if (text[i] != '\n')
            continue;
        *line += *line < INT_MAX;
        *column = 1;
    }
}

static int least(int a, int b, int c)
{
    int two = a < b ? a : b;
    return two < c ? two : c;
}

int text_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    if (rows >= DISTANCE_LIMIT || columns >= DISTANCE_LIMIT)
        return INT_MAX;
    int cost[3][DISTANCE_LIMIT]; /* the row before last, the last row, this row */
    for (size_t j = 0; j <= columns; j++)
        cost[1][j] = (int)j;
    for (size_t i = 1; i <= rows; i++) {
        cost[2][0] = (int)i;
        for (size_t j = 1; j <= columns; j++) {
            cost[2][j] = least(cost[1][j] + 1, cost[2][j - 1] + 1, cost[1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && cost[0][j - 2] + 1 < cost[2][j])
                cost[2][j] = cost[0][j - 2] + 1;
        }
        memcpy(cost[0], cost[1], sizeof cost[0]);
        memcpy(cost[1], cost[2], sizeof cost[1]);
    }
    return cost[1][columns];
}

void text_offer(struct text_search *search, const char *name)
{
    int distance = text_distance(search->word, name);
    if (distance >= search->limit)
        return;
    search->limit = distance;
    search->nearest = name;
}

const char *text_hint(const char *nearest, char *buffer)
{
    snprintf(buffer, TEXT_HINT_BYTES, "%s%s%s", nearest ? "; did you mean " : "", nearest ? nearest : "",
             nearest ? "?" : "");
    return buffer;
}

void text_append(char *buffer, size_t size, const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(buffer);
    require(used < size);
    va_start(arguments, format);
    vsnprintf(buffer + used, size - used, format, arguments);
    va_end(arguments);
}

void text_clear(struct text_builder *builder)
{
    builder->text = memory_grow(builder->text, &builder->capacity, 1, 1);
    builder->text[0] = '\0';
    builder->used = 0;
}

void text_build(struct text_builder *builder, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = builder->capacity - builder->used;
    int length = vsnprintf(room ? builder->text + builder->used : NULL, room, format, arguments);
    require(length >= 0);
    if ((size_t)length >= room) {
        builder->text = memory_grow(builder->text, &builder->capacity, builder->used + (size_t)length + 1, 1);
        vsnprintf(builder->text + builder->used, (size_t)length + 1, format, again);
    }
    builder->used += (size_t)length;
    va_end(again);
    va_end(arguments);
}

const char *text_alternatives(const char *choices, char *buffer, size_t size)
{
    require(size > 0);
    size_t used = 0;
    buffer[0] = '\0';
    for (const char *word = choices; word;) {
        const char *end = strchr(word, '|');
        int length = end ? (int)(end - word) : (int)strlen(word);
        const char *joint = word == choices ? "" : end ? ", " : " or ";
        int written = snprintf(buffer + used, size - used, "%s%.*s", joint, length, word);
        if (written < 0 || (size_t)written >= size - used)
            return buffer;
        used += (size_t)written;
        word = end ? end + 1 : NULL;
    }
    return buffer;
}

int text_position(const char *word, const char *choices)
{
    size_t length = strlen(word);
    int position = 0;
    for (const char *choice = choices; choice; position++) {
        const char *end = strchr(choice, '|');
        if ((end ? (size_t)(end - choice) : strlen(choice)) == length && strncmp(choice, word, length) == 0)
            return position;
        choice = end ? end + 1 : NULL;
    }
    return -1;
}
