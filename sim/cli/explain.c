/* ocsim explain [KEY ...]: what the table of keys says. Without a key: all of a scenario; a group ("workload") gives
 * its keys. Keys of topology files are explained, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "fabric/fabrics.h"

static bool explain_group(const struct key_table *table, const char *name, struct text_builder *text)
{
    size_t length = strlen(name), before = text->used;
    for (size_t i = 0; i < table->count; i++) {
        const char *key = table->rows[i].name;
        if (strncmp(key, name, length) != 0 || (key[length] != '.' && key[length]))
            continue;
        text_build(text, text->used > before ? "\n" : "");
        keys_explain(&table->rows[i], text);
    }
    return text->used > before;
}

int cli_explain(const struct cli_arguments *arguments, struct error *error)
{
    struct key_table table, topology;
    struct text_builder text = {0};
    enum status status = STATUS_OK;
    char unknown[KEY_UNKNOWN_BYTES];
    if (arguments->override_count)
        return error_set(error, STATUS_USER, "explain: expected a key without a value, e.g. ocsim explain run.seed");
    settings_table(&table);
    fabric_topology_table(&topology);
    text_clear(&text);
    if (!arguments->name_count)
        keys_explain_all(&table, cli_is_given(arguments, "--markdown"), &text);
    for (size_t i = 0; i < arguments->name_count && status == STATUS_OK; i++)
        if (!explain_group(&table, arguments->names[i], &text) && !explain_group(&topology, arguments->names[i], &text))
            status = error_set(error, STATUS_USER, "%s", key_table_unknown(&table, arguments->names[i], unknown));
    fputs(text.text, stdout);
    free(text.text);
    key_table_free(&table);
    key_table_free(&topology);
    return status;
}
