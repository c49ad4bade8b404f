/* ocsim: dispatches on the first argument, nothing more. A command is one file and one line in commands.c. */
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static void print_help(void)
{
    puts("ocsim simulates datacenters whose network is made of optical circuits.\n\nCommands:");
    for (size_t i = 0; i < cli_command_count; i++)
        printf("  ocsim %s %s\n      %s\n", cli_commands[i].name, cli_commands[i].usage, cli_commands[i].help);
    puts("  ocsim --version\n      version, compiler and flags\n\n"
         "key=value overrides any scenario key; the last one wins.\n"
         "Exit codes: 0 fine, 1 the model cannot go on, 2 wrong input, 3 no memory, 4 input or output failed, 70 a "
         "bug.");
}

static void print_version(void)
{
#ifdef __clang__
    const char *compiler = "";
#else
    const char *compiler = "gcc ";
#endif
    printf("ocsim %s (%s%s, %s)\n", OCSIM_VERSION, compiler, __VERSION__, OCSIM_FLAGS);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return argc < 2 ? STATUS_USER : STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        print_version();
        return STATUS_OK;
    }
    return cli_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    int code = dispatch(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == STATUS_OK) {
        struct error error = {0};
        error_set(&error, STATUS_IO, "standard output: %s", strerror(errno ? errno : EIO));
        code = cli_fail(&error);
    }
    return code;
}
