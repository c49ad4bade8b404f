#include "results/csv_line.h"

#include <stdarg.h>
#include <stdio.h>

#include "engine/status.h"

void line_text(struct line *line, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        line_put(line, text, strlen(text));
        return;
    }
    line_put(line, "\"", 1);
    for (; *text; text++)
        line_put(line, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    line_put(line, "\"", 1);
}

void line_printf(struct line *line, const char *format, ...)
{
    char text[64];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    require(length >= 0 && (size_t)length < sizeof text);
    line_put(line, text, (size_t)length);
}
