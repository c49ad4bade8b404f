/* What commands share: sorting their arguments, telling errors. See cli.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "engine/memory.h"
#include "input/text.h"

int cli_fail(const struct error *error)
{
    char text[sizeof error->file + sizeof error->message + 64];
    error_format(error, text, sizeof text);
    fflush(stdout);
    fprintf(stderr, "ocsim: %s\n", text);
    require(error->status != STATUS_OK);
    return (int)error->status;
}

static bool is_override(const char *argument)
{
    size_t length = strspn(argument, "abcdefghijklmnopqrstuvwxyz0123456789._");
    return length > 0 && argument[length] == '=';
}

/* The option an argument stands for; *joined is the value behind '=', or NULL. */
static const struct cli_option *find_option(const struct cli_option *options, size_t count, const char *argument,
                                            const char **joined)
{
    size_t length = strcspn(argument, "=");
    for (size_t i = 0; i < count; i++) {
        if (strlen(options[i].name) == length && strncmp(options[i].name, argument, length) == 0) {
            *joined = argument[length] == '=' ? argument + length + 1 : NULL;
            return &options[i];
        }
    }
    return NULL;
}

/* Reads the option at argv[*at], and the argument behind it where the option takes one. */
static enum status read_option(int argc, char **argv, const struct cli_option *options, size_t count, int *at,
                               struct error *error)
{
    const char *joined = NULL;
    char shown[TEXT_SHOW_BYTES];
    const char *argument = argv[*at];
    const struct cli_option *option = find_option(options, count, argument, &joined);
    if (!option)
        return error_set(error, STATUS_USER, "%s: unknown option '%s'; `ocsim %s --help` lists them", argv[0],
                         text_show(argument, shown), argv[0]);
    require(!option->value != !option->is_given);
    if (option->is_given) {
        if (joined)
            return error_set(error, STATUS_USER, "%s: option %s takes no value", argv[0], option->name);
        *option->is_given = true;
        return STATUS_OK;
    }
    if (!joined && *at + 1 < argc)
        joined = argv[++*at];
    if (!joined)
        return error_set(error, STATUS_USER, "%s: option %s needs a value", argv[0], option->name);
    *option->value = joined;
    return STATUS_OK;
}

enum status cli_parse(int argc, char **argv, const struct cli_option *options, size_t option_count,
                      struct cli_arguments *arguments, struct error *error)
{
    require(argc >= 1 && argv && arguments);
    struct cli_arguments sorted = {.names = memory_alloc((size_t)argc, sizeof(char *)),
                                   .overrides = memory_alloc((size_t)argc, sizeof(char *))};
    bool has_options = true;
    for (int i = 1; i < argc; i++) {
        if (has_options && strcmp(argv[i], "--") == 0) {
            has_options = false;
        } else if (has_options && argv[i][0] == '-' && argv[i][1]) {
            enum status status = read_option(argc, argv, options, option_count, &i, error);
            if (status != STATUS_OK) {
                cli_arguments_free(&sorted);
                return status;
            }
        } else if (is_override(argv[i])) {
            sorted.overrides[sorted.override_count++] = argv[i];
        } else {
            sorted.names[sorted.name_count++] = argv[i];
        }
    }
    *arguments = sorted;
    return STATUS_OK;
}

void cli_arguments_free(struct cli_arguments *arguments)
{
    free(arguments->names);
    free(arguments->overrides);
    *arguments = (struct cli_arguments){0};
}
