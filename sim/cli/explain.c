/* ocsim explain [KEY ...]: what the table of keys says. Without a key: all of them; a group ("workload") gives its
 * keys.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "input/text.h"

static bool explain_group(const struct key_table *table, const char *name)
{
    size_t length = strlen(name);
    bool is_found = false;
    for (size_t i = 0; i < table->count; i++) {
        const char *key = table->rows[i].name;
        if (strncmp(key, name, length) == 0 && (key[length] == '.' || !key[length])) {
            if (is_found)
                putchar('\n');
            keys_explain(&table->rows[i], stdout);
            is_found = true;
        }
    }
    return is_found;
}

static enum status explain(const struct key_table *table, const struct cli_arguments *arguments, struct error *error)
{
    if (arguments->override_count)
        return error_set(error, STATUS_USER, "explain: expected a key without a value, e.g. ocsim explain run.seed");
    if (!arguments->name_count)
        keys_explain_all(table, cli_is_given(arguments, "--markdown"), stdout);
    for (size_t i = 0; i < arguments->name_count; i++) {
        const char *name = arguments->names[i];
        char shown[TEXT_SHOW_BYTES];
        if (explain_group(table, name))
            continue;
        const char *nearest = key_table_nearest(table, name);
        return error_set(error, STATUS_USER, "unknown key '%s'; %s%s%s", text_show(name, shown),
                         nearest ? "did you mean " : "`ocsim explain` lists the keys there are", nearest ? nearest : "",
                         nearest ? "?" : "");
    }
    return STATUS_OK;
}

int cli_explain(const struct cli_arguments *arguments, struct error *error)
{
    struct key_table table;
    settings_table(&table);
    enum status status = explain(&table, arguments, error);
    key_table_free(&table);
    return status;
}
