/* ocsim completion bash|zsh|fish: a script that completes commands, options, scenario keys and their values.
 *
 * Everything comes from two tables: options and words from the usage of each
 * command, keys and values from the table of keys. A command takes keys where
 * its usage says key=value, names of keys where it says KEY.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "input/text.h"

enum { WORD_BYTES = 64 };

static const char name_letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";

/* The next word of a usage, without brackets; "" for one that is too long to be an option. False behind the last one.
 */
static bool next_word(const char **usage, char word[WORD_BYTES])
{
    *usage += strspn(*usage, " []");
    size_t length = strcspn(*usage, " []");
    if (!length)
        return false;
    size_t kept = length < WORD_BYTES ? length : 0;
    memcpy(word, *usage, kept);
    word[kept] = '\0';
    *usage += length;
    return true;
}

static bool has_word(const struct cli_command *command, const char *wanted)
{
    char word[WORD_BYTES];
    const char *at = command->usage;
    while (next_word(&at, word))
        if (strcmp(word, wanted) == 0)
            return true;
    return false;
}

static bool takes_keys(const struct cli_command *command)
{
    return has_word(command, "key=value");
}

/* Does a value follow this option? `at` stands behind it in the usage. */
static bool takes_value(const char *at)
{
    return at[0] == ' ' && at[1] >= 'A' && at[1] <= 'Z';
}

/* Words to choose from: models|topologies. A usage holds them without spaces, so they may be longer than WORD_BYTES. */
static size_t find_words(const struct cli_command *command, const char **words)
{
    *words = command->usage;
    size_t length = strcspn(*words, " []");
    size_t lower = strspn(*words, "abcdefghijklmnopqrstuvwxyz0123456789_|");
    return length > 0 && lower == length && memchr(*words, '|', length) ? length : 0;
}

static void put_words(const char *words, size_t length)
{
    for (size_t i = 0; i < length; i++)
        putchar(words[i] == '|' ? ' ' : words[i]);
}

/* " -o --fresh" */
static void put_options(const struct cli_command *command)
{
    char word[WORD_BYTES];
    const char *at, *words;
    size_t length = find_words(command, &words);
    at = command->usage + length;
    while (next_word(&at, word))
        if (word[0] == '-')
            printf(" %s", word);
}

static void put_names(const struct cli_command *command)
{
    const char *words;
    size_t length = find_words(command, &words);
    put_words(words, length);
    put_options(command);
    fputs(" --help", stdout);
}

static bool has_values(const struct key *key)
{
    return (key->choices && key->type != KEY_FILE) || key->type == KEY_BOOLEAN;
}

static void put_values(const struct key *key)
{
    const char *values = key->type == KEY_BOOLEAN ? "true|false" : key->choices;
    put_words(values, strlen(values));
}

/* Inside single quotes: POSIX shells close and open them again, fish has a backslash. */
static void put_quoted(const char *text, bool is_fish)
{
    putchar('\'');
    for (; *text; text++) {
        if (*text == '\'')
            fputs(is_fish ? "\\'" : "'\\''", stdout);
        else if (*text == '\\' && is_fish)
            fputs("\\\\", stdout);
        else
            putchar(*text);
    }
    putchar('\'');
}

static void put_keys(const struct key_table *table, const char *after)
{
    for (size_t i = 0; i < table->count; i++)
        printf("%s%s%s", i ? " " : "", table->rows[i].name, after);
}

/* ---- bash ---- */

static void bash_values(const struct key_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!has_values(&table->rows[i]))
            continue;
        printf("        %s) words='", table->rows[i].name);
        put_values(&table->rows[i]);
        puts("' ;;");
    }
}

static void bash_commands(void)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *command = &cli_commands[i];
        printf("    %s) words='", command->name);
        put_names(command);
        fputs("'", stdout);
        if (takes_keys(command))
            fputs("; [[ $cur == -* ]] || words+=\" $assignments\"", stdout);
        if (has_word(command, "KEY"))
            fputs("; words+=\" $keys\"", stdout);
        if (has_word(command, "SCENARIO"))
            fputs("; files='!*.@(yaml|yml)'", stdout);
        puts(" ;;");
    }
}

static void print_bash(const struct key_table *table)
{
    puts("# bash completion for ocsim, made by `ocsim completion bash`.\n_ocsim()\n{\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} key='' words='' files=''");
    fputs("    local keys='", stdout);
    put_keys(table, "");
    fputs("'\n    local assignments='", stdout);
    put_keys(table, "=");
    puts("'\n    COMPREPLY=()\n    if ((COMP_CWORD == 1)); then");
    fputs("        mapfile -t COMPREPLY < <(compgen -W '", stdout);
    for (size_t i = 0; i < cli_command_count; i++)
        printf("%s ", cli_commands[i].name);
    puts("--help --version' -- \"$cur\")\n        return\n    fi\n"
         "    # Readline cuts words at '=': key, '=' and value are three.\n"
         "    if [[ $cur == '=' ]]; then\n        key=$prev cur=''\n"
         "    elif [[ $prev == '=' ]]; then\n        key=${COMP_WORDS[COMP_CWORD - 2]}\n    fi\n"
         "    if [[ $key ]]; then\n        case $key in");
    bash_values(table);
    puts("        esac\n        [[ $words ]] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "        return\n    fi\n"
         "    if [[ $prev == --model ]]; then\n"
         "        mapfile -t COMPREPLY < <(compgen -W \"$(ocsim list models 2>/dev/null)\" -- \"$cur\")\n        "
         "return\n"
         "    fi\n    [[ $prev == -o || $prev == --topology ]] && return\n    case ${COMP_WORDS[1]} in");
    bash_commands();
    puts("    esac\n    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
         "    if [[ $files && $cur != -* ]]; then\n        local found=()\n"
         "        mapfile -t found < <(shopt -s extglob; compgen -f -X \"$files\" -- \"$cur\"; compgen -d -S / -- "
         "\"$cur\")\n"
         "        COMPREPLY+=(\"${found[@]}\")\n    fi\n"
         "    [[ ${COMPREPLY[0]} == *[=/] ]] && compopt -o nospace 2>/dev/null\n    return 0\n}\n"
         "complete -o default -F _ocsim ocsim");
}

/* ---- zsh ---- */

static void zsh_commands(void)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *command = &cli_commands[i];
        printf("    (%s)\n        compadd -- ", command->name);
        put_names(command);
        if (takes_keys(command))
            fputs("\n        compadd -S '' -- $assignments", stdout);
        if (has_word(command, "KEY"))
            fputs("\n        compadd -- $keys", stdout);
        puts(has_word(command, "SCENARIO") ? "\n        _files -g '*.(yaml|yml)' ;;" : "\n        _files ;;");
    }
}

static void print_zsh(const struct key_table *table)
{
    puts("#compdef ocsim\n# zsh completion for ocsim, made by `ocsim completion zsh`.\n_ocsim() {\n"
         "    local -a commands keys assignments\n    commands=(");
    for (size_t i = 0; i < cli_command_count; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s:%s", cli_commands[i].name, cli_commands[i].help);
        fputs("        ", stdout);
        put_quoted(line, false);
        putchar('\n');
    }
    fputs("    )\n    keys=(", stdout);
    put_keys(table, "");
    puts(
        ")\n    assignments=(${^keys}=)\n"
        "    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
        "    if [[ $PREFIX == *=* && $PREFIX != -* ]]; then\n        local key=${PREFIX%%=*}\n        compset -P '*='\n"
        "        case $key in");
    for (size_t i = 0; i < table->count; i++) {
        if (!has_values(&table->rows[i]))
            continue;
        printf("        (%s) compadd -- ", table->rows[i].name);
        put_values(&table->rows[i]);
        puts(" ;;");
    }
    puts("        (*) _files ;;\n        esac\n        return\n    fi\n"
         "    case $words[2] in");
    zsh_commands();
    puts("    esac\n}\nif [[ $funcstack[1] == _ocsim ]]; then\n    _ocsim \"$@\"\nelse\n    compdef _ocsim ocsim\nfi");
}

/* ---- fish ---- */

static void fish_options(const struct cli_command *command)
{
    char word[WORD_BYTES];
    const char *words;
    size_t length = find_words(command, &words);
    const char *at = command->usage + length;
    if (length) {
        printf("complete -c ocsim -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
        put_words(words, length);
        puts("'");
    }
    while (next_word(&at, word)) {
        size_t dashes = strspn(word, "-");
        if (dashes == 0 || strspn(word + dashes, name_letters) == 0)
            continue;
        printf("complete -c ocsim -n '__fish_seen_subcommand_from %s' -%c %s%s\n", command->name,
               dashes == 2 ? 'l' : 's', word + dashes, takes_value(at) ? " -r" : "");
    }
}

static void fish_condition(const char *word)
{
    fputs("'__fish_seen_subcommand_from", stdout);
    for (size_t i = 0; i < cli_command_count; i++)
        if (has_word(&cli_commands[i], word))
            printf(" %s", cli_commands[i].name);
    putchar('\'');
}

static void fish_key(const struct key *key)
{
    fputs("complete -c ocsim -n ", stdout);
    fish_condition("key=value");
    if (has_values(key)) {
        const char *at = key->type == KEY_BOOLEAN ? "true|false" : key->choices;
        for (fputs(" -a '", stdout); *at;) {
            int length = (int)strcspn(at, "|");
            printf("%s=%.*s ", key->name, length, at);
            at += length + (at[length] != '\0');
        }
        fputs("' -d ", stdout);
    } else {
        printf(" -a '%s=' -d ", key->name);
    }
    put_quoted(key->doc, true);
    putchar('\n');
}

static void print_fish(const struct key_table *table)
{
    puts("# fish completion for ocsim, made by `ocsim completion fish`.");
    for (size_t i = 0; i < cli_command_count; i++) {
        printf("complete -c ocsim -n __fish_use_subcommand -f -a %s -d ", cli_commands[i].name);
        put_quoted(cli_commands[i].help, true);
        putchar('\n');
        fish_options(&cli_commands[i]);
    }
    fputs("complete -c ocsim -n ", stdout);
    fish_condition("KEY");
    fputs(" -f -a '", stdout);
    put_keys(table, "");
    puts("'");
    for (size_t i = 0; i < table->count; i++)
        fish_key(&table->rows[i]);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    void (*print)(const struct key_table *table);
} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};

static enum status print_script(const char *name, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(name, shells[i].name) == 0) {
            struct key_table table;
            settings_table(&table);
            shells[i].print(&table);
            key_table_free(&table);
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_USER, "completion: '%s' is not allowed; expected bash, zsh or fish",
                     text_show(name, shown));
}

int cli_completion(int argc, char **argv)
{
    struct error error = {0};
    struct cli_arguments arguments = {0};
    enum status status = cli_parse(argc, argv, NULL, 0, &arguments, &error);
    if (status == STATUS_OK && (arguments.name_count != 1 || arguments.override_count))
        status = error_set(&error, STATUS_USER, "completion: expected one shell, e.g. ocsim completion bash");
    if (status == STATUS_OK)
        status = print_script(arguments.names[0], &error);
    cli_arguments_free(&arguments);
    return status == STATUS_OK ? STATUS_OK : cli_fail(&error);
}
