/* ocsim schema: a JSON Schema (draft 2020-12) of scenario files, made from the table of keys.
 *
 * Editors take it for completion and for marking mistakes as one types. It
 * cannot say when a key has an effect; the description of the key does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "engine/memory.h"

static void put_json(const char *text, size_t length)
{
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c == '\n')
            fputs("\\n", stdout);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

static void put_description(const struct key *key)
{
    struct text_builder text = {0};
    keys_explain(key, &text);
    fputs("\"description\": ", stdout);
    put_json(text.text, text.used - 1); /* without the last newline */
    free(text.text);
}

/* ---- what a value may look like ---- */

static void put_choices(const char *choices)
{
    fputs("{\"enum\": [", stdout);
    for (const char *at = choices; at;) {
        const char *end = strchr(at, '|');
        put_json(at, end ? (size_t)(end - at) : strlen(at));
        at = end ? end + 1 : NULL;
        fputs(at ? ", " : "]}", stdout);
    }
}

static void put_bound(const char *text, const char *name, const char *exclusive, char mark)
{
    if (text)
        printf(", \"%s\": %s", *text == mark ? exclusive : name, *text == mark ? text + 1 : text);
}

static void put_number(const struct key *key)
{
    printf("{\"type\": \"%s\"", key->type == KEY_INTEGER ? "integer" : "number");
    put_bound(key->minimum, "minimum", "exclusiveMinimum", '>');
    put_bound(key->maximum, "maximum", "exclusiveMaximum", '<');
    putchar('}');
    if (key->choices) {
        fputs(", ", stdout);
        put_choices(key->choices);
    }
}

static void put_list(const struct key *key)
{
    fputs("{\"type\": [\"string\", \"number\"]}, {\"type\": \"array\", \"items\": ", stdout);
    if (key->choices)
        put_choices(key->choices);
    else
        fputs("{\"type\": [\"string\", \"number\"]}", stdout);
    putchar('}');
}

#define SCALAR "{\"type\": [\"string\", \"number\", \"boolean\"]}" /* a title may be the year */
#define QUANTITY(units) "{\"type\": \"string\", \"pattern\": \"^[0-9]*\\\\.?[0-9]+([eE][-+]?[0-9]+)? ?(" units ")$\"}"

static void put_form(const struct key *key)
{
    static const char *const forms[] = {[KEY_TEXT] = SCALAR,
                                        [KEY_FILE] = SCALAR,
                                        [KEY_BOOLEAN] = "{\"type\": \"boolean\"}",
                                        [KEY_TIME] = QUANTITY("ps|ns|us|ms|s|min|h|d"),
                                        [KEY_SECONDS] = QUANTITY("ps|ns|us|ms|s|min|h|d"),
                                        [KEY_RATE] = QUANTITY("[kMGTP]?B/s|[kMGTP]?bit/s"),
                                        [KEY_BYTES] = QUANTITY("[kMGTP]?B|[KMGTP]iB"),
                                        [KEY_NODE] = "{\"type\": [\"object\", \"array\"]}",
                                        [KEY_STRATEGY] = NULL};
    if (forms[key->type])
        fputs(forms[key->type], stdout);
    else if (key->type == KEY_LIST)
        put_list(key);
    else if (key->choices && key->type != KEY_INTEGER)
        put_choices(key->choices);
    else
        put_number(key);
}

static void put_property(const char *name, const struct key *key)
{
    put_json(name, strlen(name));
    fputs(": {", stdout);
    put_description(key);
    fputs(", \"anyOf\": [", stdout);
    put_form(key);
    fputs(", {\"type\": \"null\"}]}", stdout); /* back to the default */
}

/* ---- groups ---- */

/* Is this the first key of its group below a prefix of this length? The table is short. */
static bool opens_group(const struct key_table *table, size_t key, size_t prefix)
{
    const char *name = table->rows[key].name;
    size_t length = prefix + strcspn(name + prefix, ".") + 1;
    for (size_t i = 0; i < key; i++)
        if (strncmp(table->rows[i].name, name, length) == 0)
            return false;
    return true;
}

/* The keys that begin with the first prefix bytes of `group`: nested under their next part, and below the top also
 * with all their dots. */
static void put_group(const struct key_table *table, const char *group, size_t prefix, int depth)
{
    const char *comma = "";
    fputs("\"type\": \"object\", \"additionalProperties\": false, \"properties\": {", stdout);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->rows[i].name;
        if (strncmp(name, group, prefix) != 0)
            continue;
        const char *dot = strchr(name + prefix, '.');
        printf("%s\n%*s", comma, 2 * depth + 2, "");
        comma = ",";
        put_property(name + prefix, &table->rows[i]);
        if (!dot || !opens_group(table, i, prefix))
            continue;
        printf(",\n%*s", 2 * depth + 2, "");
        put_json(name + prefix, (size_t)(dot - name) - prefix);
        fputs(": {", stdout);
        put_group(table, name, (size_t)(dot - name) + 1, depth + 1);
        putchar('}');
    }
    putchar('}');
}

int cli_schema(const struct cli_arguments *arguments, struct error *error)
{
    (void)arguments;
    (void)error;
    struct key_table table;
    settings_table(&table);
    fputs("{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"title\": \"ocsim scenario\",\n", stdout);
    put_group(&table, "", 0, 0);
    puts("}");
    key_table_free(&table);
    return STATUS_OK;
}
