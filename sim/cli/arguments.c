/* What commands share: sorting their arguments, loading their scenario. See cli.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "input/text.h"

static bool is_override(const char *argument)
{
    size_t length = strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789._");
    return length > 0 && argument[length] == '=';
}

const char *cli_find_word(const char *usage, const char *word, size_t length)
{
    for (const char *at = usage + strspn(usage, " []"); *at; at += strspn(at, " []")) {
        size_t size = strcspn(at, " []");
        if (size == length && strncmp(at, word, length) == 0)
            return at;
        at += size;
    }
    return NULL;
}

size_t cli_words_length(const char *usage)
{
    size_t length = strcspn(usage, " []");
    size_t lower = strspn(usage, "abcdefghijklmnopqrstuvwxyz0123456789_|");
    return lower == length && memchr(usage, '|', length) ? length : 0;
}

/* Reads the option at argv[*at], and the argument behind it where the option takes one. */
static enum status read_option(struct cli_arguments *arguments, int *at, struct error *error)
{
    const char *command = arguments->command->name, *argument = arguments->argv[*at];
    bool is_jobs = strncmp(argument, "-j", 2) == 0 && argument[2] >= '0' && argument[2] <= '9'; /* as all type it */
    size_t length = is_jobs ? 2 : strcspn(argument, "=");
    const char *name = cli_find_word(arguments->command->usage, argument, length), *value = NULL;
    char shown[TEXT_SHOW_BYTES];
    if (!name)
        return error_set(error, STATUS_USER, "%s: unknown option '%s'; `ocsim %s --help` lists them", command,
                         text_show(argument, shown), command);
    if (argument[length])
        value = argument + length + !is_jobs;
    bool takes_value = name[length] == ' ' && !strchr("[-", name[length + 1]);
    if (!takes_value && value)
        return error_set(error, STATUS_USER, "%s: option %.*s takes no value", command, (int)length, argument);
    if (takes_value && !value && *at + 1 < arguments->argc)
        value = arguments->argv[++*at];
    if (takes_value && !value)
        return error_set(error, STATUS_USER, "%s: option %.*s needs a value", command, (int)length, argument);
    arguments->options[arguments->option_count++] = (struct cli_option){name, value ? value : ""};
    return STATUS_OK;
}

enum status cli_parse(struct cli_arguments *arguments, struct error *error)
{
    int argc = arguments->argc;
    char **argv = arguments->argv;
    require(argc >= 1 && argv && arguments->command);
    arguments->names = memory_alloc((size_t)argc, sizeof *arguments->names);
    arguments->overrides = memory_alloc((size_t)argc, sizeof *arguments->overrides);
    arguments->options = memory_alloc((size_t)argc, sizeof *arguments->options);
    enum status status = STATUS_OK;
    bool has_options = true;
    for (int i = 1; i < argc && status == STATUS_OK; i++) {
        if (has_options && strcmp(argv[i], "--") == 0)
            has_options = false;
        else if (has_options && argv[i][0] == '-' && argv[i][1])
            status = read_option(arguments, &i, error);
        else if (is_override(argv[i]))
            arguments->overrides[arguments->override_count++] = argv[i];
        else
            arguments->names[arguments->name_count++] = argv[i];
    }
    return status;
}

void cli_arguments_free(struct cli_arguments *arguments)
{
    free(arguments->names);
    free(arguments->overrides);
    free(arguments->options);
    *arguments = (struct cli_arguments){0};
}

const char *cli_value(const struct cli_arguments *arguments, const char *option, const char *otherwise)
{
    const char *name = cli_find_word(arguments->command->usage, option, strlen(option));
    require(name);
    for (size_t i = arguments->option_count; i-- > 0;)
        if (arguments->options[i].name == name)
            return arguments->options[i].value;
    return otherwise;
}

bool cli_is_given(const struct cli_arguments *arguments, const char *option)
{
    return cli_value(arguments, option, NULL) != NULL;
}

enum status cli_scenario_load(const struct cli_arguments *arguments, struct cli_scenario *loaded, struct error *error)
{
    struct scenario_overrides overrides = {arguments->overrides, arguments->override_count};
    enum status status = scenario_load(arguments->names[0], overrides, &loaded->scenario, error);
    return status == STATUS_OK ? plan_create(loaded->scenario, &loaded->plan, error) : status;
}

void cli_scenario_free(struct cli_scenario *loaded)
{
    plan_free(loaded->plan);
    scenario_free(loaded->scenario);
}
