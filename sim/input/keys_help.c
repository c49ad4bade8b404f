/* What the table of keys tells people: the nearest name, `explain`, the reference for the README. */
#include <limits.h>
#include <string.h>

#include "input/keys.h"
#include "input/keys_value.h"

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

const char *key_table_unknown(const struct key_table *table, const char *name, char *buffer)
{
    char shown[TEXT_SHOW_BYTES], hint[TEXT_HINT_BYTES];
    const char *nearest = key_table_nearest(table, name);
    snprintf(buffer, KEY_UNKNOWN_BYTES, "unknown key '%s'%s", text_show(name, shown),
             nearest ? text_hint(nearest, hint) : "; `ocsim explain` lists the keys there are");
    return buffer;
}

static void describe_condition(const char *when, struct text_builder *out)
{
    for (const char *at = when; at;) {
        const char *end = strchr(at, '&');
        int length = end ? (int)(end - at) : (int)strlen(at);
        char part[200], choices[200];
        snprintf(part, sizeof part, "%.*s", length, at);
        char *equals = strchr(part, '=');
        require(equals);
        *equals = '\0';
        text_build(out, at == when ? "" : " and ");
        if (equals[1])
            text_build(out, "with %s: %s", part, text_alternatives(equals + 1, choices, sizeof choices));
        else
            text_build(out, "where %s is not set", part);
        at = end ? end + 1 : NULL;
    }
}

static bool has_choices(const struct key *key)
{
    return key->choices && key->type != KEY_FILE && key->type != KEY_INTEGER;
}

void keys_explain(const struct key *key, struct text_builder *out)
{
    char text[500];
    text_build(out, "%s: %s%s\n  %s\n", key->name, keys_type_name(key->type), keys_type_units(key->type), key->doc);
    text_build(out, "  default: %s\n", key->default_text ? key->default_text : "not set");
    if (has_choices(key))
        text_build(out, "  allowed: %s\n", text_alternatives(key->choices, text, sizeof text));
    keys_value_range(key, text, sizeof text);
    if (*text)
        text_build(out, "  allowed: %s\n", text);
    if (key->when) {
        text_build(out, "  effect:  only ");
        describe_condition(key->when, out);
        text_build(out, key->is_needed ? ", and needed there\n" : "\n");
    } else if (key->is_needed) {
        text_build(out, "  needed:  always\n");
    }
    for (size_t i = 0; key->registry && i < key->registry->count; i++)
        text_build(out, "  %-14s %s\n", key->registry->strategies[i]->name, key->registry->strategies[i]->doc);
    const char *example = key->example ? key->example : key->default_text;
    if (example)
        text_build(out, "  example: %s: %s\n", key->name, example);
}

static void explain_markdown(const struct key *key, struct text_builder *out)
{
    char text[500];
    text_build(out, "| `%s` | %s | %s%s%s | %s", key->name, keys_type_name(key->type), key->default_text ? "`" : "",
               key->default_text ? key->default_text : "", key->default_text ? "`" : "", key->doc);
    keys_value_range(key, text, sizeof text);
    if (has_choices(key))
        text_alternatives(key->choices, text, sizeof text);
    if (*text)
        text_build(out, " Allowed: %s.", text);
    if (key->when) {
        text_build(out, " Only ");
        describe_condition(key->when, out);
        text_build(out, ".");
    }
    text_build(out, " |\n");
}

void keys_explain_all(const struct key_table *table, bool is_markdown, struct text_builder *out)
{
    if (is_markdown)
        text_build(out, "| Key | Value | Default | Meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; i < table->count; i++) {
        const struct key *row = &table->rows[i];
        if (is_markdown)
            explain_markdown(row, out);
        else
            text_build(out, "%-27s %-22s %s\n", row->name, keys_type_name(row->type),
                       row->default_text ? row->default_text : "-");
    }
}
