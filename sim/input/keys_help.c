/* What the table of keys tells people: the nearest name, `explain`, the reference for the README. */
#include <limits.h>
#include <string.h>

#include "input/keys.h"
#include "input/keys_value.h"
#include "input/text.h"

const char *keys_type_name(enum key_type type)
{
    switch (type) {
    case KEY_TEXT:
        return "text";
    case KEY_FILE:
        return "a file";
    case KEY_CHOICE:
    case KEY_STRATEGY:
        return "one word of a list";
    case KEY_INTEGER:
        return "a whole number";
    case KEY_NUMBER:
        return "a number";
    case KEY_BOOLEAN:
        return "true or false";
    case KEY_TIME:
    case KEY_SECONDS:
        return "a time with its unit";
    case KEY_RATE:
        return "a rate with its unit";
    case KEY_BYTES:
        return "a size with its unit";
    case KEY_LIST:
        return "a list";
    case KEY_NODE:
        return "a part of its own";
    }
    return "a value";
}

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* How far a name without a dot is from the group of a key; infinitely where either is something else. */
static int group_distance(const char *name, const char *key)
{
    char group[64];
    const char *dot = strchr(key, '.');
    if (!dot || strchr(name, '.') || dot - key >= (int)sizeof group)
        return INT_MAX;
    memcpy(group, key, (size_t)(dot - key));
    group[dot - key] = '\0';
    return text_distance(name, group);
}

/* How far a mistyped name is from a key: the edits, or fewer where the group was left out (`beta`), the group is
 * wrong (`job.beta`), the end is missing (`partition.strat`), or only the group stands there (`worklod: {...}`). */
static int likeness(const char *name, const char *key)
{
    int whole = text_distance(name, key);
    int last = text_distance(last_part(name), last_part(key));
    if (last < INT_MAX && last + 1 < whole && strlen(last_part(name)) > 2)
        whole = last + 1;
    size_t length = strlen(name);
    if (length > 2 && strncmp(name, key, length) == 0 && whole > 2)
        whole = 2;
    int group = group_distance(name, key);
    return group < whole ? group : whole;
}

const char *key_table_nearest(const struct key_table *table, const char *name)
{
    int least = INT_MAX;
    const char *nearest = NULL;
    for (size_t i = 0; i < table->count; i++) {
        int far = likeness(name, table->rows[i].name);
        if (far < least) {
            least = far;
            nearest = table->rows[i].name;
        }
    }
    int allowed = (int)(strlen(last_part(name)) / 3) + 1;
    return least <= allowed ? nearest : NULL;
}

static void describe_condition(const char *when, FILE *out)
{
    for (const char *at = when; at;) {
        const char *end = strchr(at, '&');
        int length = end ? (int)(end - at) : (int)strlen(at);
        char part[200], choices[200];
        snprintf(part, sizeof part, "%.*s", length, at);
        char *equals = strchr(part, '=');
        require(equals);
        *equals = '\0';
        fputs(at == when ? "" : " and ", out);
        if (equals[1])
            fprintf(out, "with %s: %s", part, text_alternatives(equals + 1, choices, sizeof choices));
        else
            fprintf(out, "where %s is not set", part);
        at = end ? end + 1 : NULL;
    }
}

static const char *units_of(enum key_type type)
{
    switch (type) {
    case KEY_TIME:
    case KEY_SECONDS:
        return " (ps, ns, us, ms, s, min, h, d)";
    case KEY_RATE:
        return " (B/s, kB/s, MB/s, GB/s, TB/s, PB/s; bit/s, kbit/s, ... Pbit/s)";
    case KEY_BYTES:
        return " (B, kB, MB, GB, TB, PB; KiB, MiB, GiB, TiB, PiB)";
    default:
        return "";
    }
}

static bool has_choices(const struct key *key)
{
    return key->choices && key->type != KEY_FILE;
}

void keys_explain(const struct key *key, FILE *out)
{
    char text[500];
    fprintf(out, "%s: %s%s\n  %s\n", key->name, keys_type_name(key->type), units_of(key->type), key->doc);
    fprintf(out, "  default: %s\n", key->default_text ? key->default_text : "not set");
    if (has_choices(key))
        fprintf(out, "  allowed: %s\n", text_alternatives(key->choices, text, sizeof text));
    keys_value_range(key, text, sizeof text);
    if (*text)
        fprintf(out, "  allowed: %s\n", text);
    if (key->when) {
        fputs("  effect:  only ", out);
        describe_condition(key->when, out);
        fputs(key->is_needed ? ", and needed there\n" : "\n", out);
    } else if (key->is_needed) {
        fputs("  needed:  always\n", out);
    }
    for (size_t i = 0; key->registry && i < key->registry->count; i++)
        fprintf(out, "  %-14s %s\n", key->registry->strategies[i]->name, key->registry->strategies[i]->doc);
    const char *example = key->example ? key->example : key->default_text;
    if (example)
        fprintf(out, "  example: %s: %s\n", key->name, example);
}

static void explain_markdown(const struct key *key, FILE *out)
{
    char text[500];
    fprintf(out, "| `%s` | %s | %s%s%s | %s", key->name, keys_type_name(key->type), key->default_text ? "`" : "",
            key->default_text ? key->default_text : "", key->default_text ? "`" : "", key->doc);
    keys_value_range(key, text, sizeof text);
    if (has_choices(key))
        text_alternatives(key->choices, text, sizeof text);
    if (*text)
        fprintf(out, " Allowed: %s.", text);
    if (key->when) {
        fputs(" Only ", out);
        describe_condition(key->when, out);
        fputc('.', out);
    }
    fputs(" |\n", out);
}

char *keys_explain_text(const struct key *key)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    if (!stream)
        memory_exhausted(1, BUFSIZ);
    keys_explain(key, stream);
    if (fclose(stream) != 0)
        memory_exhausted(1, BUFSIZ);
    return text;
}

void keys_explain_all(const struct key_table *table, bool is_markdown, FILE *out)
{
    if (is_markdown)
        fputs("| Key | Value | Default | Meaning |\n|---|---|---|---|\n", out);
    for (size_t i = 0; i < table->count; i++) {
        const struct key *row = &table->rows[i];
        if (is_markdown)
            explain_markdown(row, out);
        else
            fprintf(out, "%-27s %-22s %s\n", row->name, keys_type_name(row->type),
                    row->default_text ? row->default_text : "-");
    }
}
