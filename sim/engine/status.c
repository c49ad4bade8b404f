#include "engine/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill(struct error *error, enum status status, const char *file, int line, int column)
{
    error->status = status;
    error->line = line;
    error->column = column;
    snprintf(error->file, sizeof error->file, "%s", file);
}

enum status error_set(struct error *error, enum status status, const char *format, ...)
{
    if (!error)
        return status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    fill(error, status, "", 0, 0);
    return status;
}

enum status error_at(struct error *error, const char *file, int line, int column, const char *format, ...)
{
    if (!error)
        return STATUS_USER;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    fill(error, STATUS_USER, file, line, column);
    return STATUS_USER;
}

enum status error_wrap(struct error *error, const char *format, ...)
{
    char rest[sizeof error->message];
    memcpy(rest, error->message, sizeof rest);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    size_t used = strlen(error->message);
    snprintf(error->message + used, sizeof error->message - used, ": %s", rest);
    return error->status;
}

void error_format(const struct error *error, char *text, unsigned long size)
{
    if (!error->file[0])
        snprintf(text, size, "%s", error->message);
    else if (error->line <= 0)
        snprintf(text, size, "%s: %s", error->file, error->message);
    else if (error->column <= 0)
        snprintf(text, size, "%s:%d: %s", error->file, error->line, error->message);
    else
        snprintf(text, size, "%s:%d:%d: %s", error->file, error->line, error->column, error->message);
}

noreturn void require_failed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "ocsim: a bug in ocsim: %s:%d: expected %s; please report it with the command you ran\n", file,
            line, condition);
    exit(STATUS_BUG);
}
