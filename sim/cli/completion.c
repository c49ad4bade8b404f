/* ocsim completion bash|zsh|fish: a script that completes commands, options, scenario keys and their values.
 *
 * Everything comes from two tables: options and words from the usage of each
 * command, keys and values from the table of keys. A command takes keys where
 * its usage says key=value, names of keys where it says KEY.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

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

static bool has_word(const struct cli_command *command, const char *word)
{
    return cli_find_word(command->usage, word, strlen(word));
}

/* Does a value follow this option? `at` stands behind it in the usage. */
static bool takes_value(const char *at)
{
    return at[0] == ' ' && at[1] >= 'A' && at[1] <= 'Z';
}

static void put_words(const char *words, size_t length)
{
    for (size_t i = 0; i < length; i++)
        putchar(words[i] == '|' ? ' ' : words[i]);
}

/* The words to choose from, and " -o --fresh --help". */
static void put_names(const struct cli_command *command)
{
    char word[WORD_BYTES];
    size_t length = cli_words_length(command->usage);
    const char *at = command->usage + length;
    put_words(command->usage, length);
    while (next_word(&at, word))
        if (word[0] == '-')
            printf(" %s", word);
    fputs(" --help", stdout);
}

/* What the key can be set to, "a|b|c"; NULL where that is no list of words. */
static const char *values_of(const struct key *key)
{
    return key->type == KEY_BOOLEAN ? "true|false" : key->type == KEY_FILE ? NULL : key->choices;
}

/* One line per key with values to choose from: the key, the values, each in its frame. */
static void put_values(const struct key_table *table, const char *before, const char *between, const char *after)
{
    for (size_t i = 0; i < table->count; i++) {
        const char *values = values_of(&table->rows[i]);
        if (!values)
            continue;
        printf("%s%s%s", before, table->rows[i].name, between);
        put_words(values, strlen(values));
        puts(after);
    }
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

static void bash_commands(void)
{
    for (size_t i = 0; i < cli_command_count; i++) {
        const struct cli_command *command = &cli_commands[i];
        printf("    %s) words='", command->name);
        put_names(command);
        fputs("'", stdout);
        if (has_word(command, "key=value"))
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
    put_values(table, "        ", ") words='", "' ;;");
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
        if (has_word(command, "key=value"))
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
    put_values(table, "        (", ") compadd -- ", " ;;");
    puts("        (*) _files ;;\n        esac\n        return\n    fi\n"
         "    case $words[2] in");
    zsh_commands();
    puts("    esac\n}\nif [[ $funcstack[1] == _ocsim ]]; then\n    _ocsim \"$@\"\nelse\n    compdef _ocsim ocsim\nfi");
}

/* ---- fish ---- */

static void fish_options(const struct cli_command *command)
{
    char word[WORD_BYTES];
    size_t length = cli_words_length(command->usage);
    const char *at = command->usage + length;
    if (length) {
        printf("complete -c ocsim -n '__fish_seen_subcommand_from %s' -f -a '", command->name);
        put_words(command->usage, length);
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
    const char *at = values_of(key);
    if (at) {
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

int cli_completion(const struct cli_arguments *arguments, struct error *error)
{
    (void)error;
    static void (*const printers[])(const struct key_table *) = {print_bash, print_zsh,
                                                                 print_fish}; /* as in the usage */
    struct key_table table;
    settings_table(&table);
    printers[arguments->word](&table);
    key_table_free(&table);
    return STATUS_OK;
}
