/* One value of one key: see keys_value.h. Every type goes through one union, so that reading, range check and storing
 * are each written once. */
#include "input/keys_value.h"

#include <stdlib.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

/* YAML takes a key for one only in its first 1024 characters, unless `?` says so; an escape makes 4 of a byte. */
enum { LONG_KEY_BYTES = 200 };

union value {
    const char *text;
    int64_t whole; /* INTEGER, TIME */
    double real;   /* NUMBER, SECONDS, RATE, BYTES */
    bool truth;
    struct key_list list;
    const struct yaml_node *node;
    int position; /* CHOICE */
    struct choice choice;
};

static bool is_whole(enum key_type type)
{
    return type == KEY_INTEGER || type == KEY_TIME;
}

static bool is_real(enum key_type type)
{
    return type == KEY_NUMBER || type == KEY_SECONDS || type == KEY_RATE || type == KEY_BYTES;
}

static enum status read_number(enum key_type type, const char *text, union value *value, struct error *error)
{
    switch (type) {
    case KEY_INTEGER:
        return units_integer(text, &value->whole, error);
    case KEY_TIME:
        return units_time_ps(text, &value->whole, error);
    case KEY_SECONDS:
        return units_time_s(text, &value->real, error);
    case KEY_RATE:
        return units_rate(text, &value->real, error);
    case KEY_BYTES:
        return units_size(text, &value->real, error);
    default:
        require(type == KEY_NUMBER);
        return units_number(text, &value->real, error);
    }
}

/* -1, 0 or 1. */
static int compare(enum key_type type, union value a, union value b)
{
    if (is_whole(type))
        return (a.whole > b.whole) - (a.whole < b.whole);
    return (a.real > b.real) - (a.real < b.real);
}

/* Compares the value with a bound such as "1ps" or ">0s"; *is_open tells whether the bound itself is left out. */
static int compare_bound(const struct key *key, union value value, const char *bound, bool *is_open)
{
    *is_open = *bound == '>' || *bound == '<';
    union value limit = {0};
    enum status status = read_number(key->type, bound + *is_open, &limit, NULL);
    require(status == STATUS_OK);
    return compare(key->type, value, limit);
}

static bool is_in_range(const struct key *key, union value value)
{
    bool is_open = false;
    if (key->minimum) {
        int order = compare_bound(key, value, key->minimum, &is_open);
        if (order < 0 || (order == 0 && is_open))
            return false;
    }
    if (key->maximum) {
        int order = compare_bound(key, value, key->maximum, &is_open);
        if (order > 0 || (order == 0 && is_open))
            return false;
    }
    return true;
}

void keys_value_range(const struct key *key, char *text, size_t size)
{
    require(size > 0);
    const char *low = key->minimum, *high = key->maximum;
    char least[80] = "", most[80] = "";
    if (low)
        snprintf(least, sizeof least, "%s%s", *low == '>' ? "more than " : "at least ", low + (*low == '>'));
    if (high)
        snprintf(most, sizeof most, "%s%s", *high == '<' ? "less than " : "at most ", high + (*high == '<'));
    snprintf(text, size, "%s%s%s", least, low && high ? " and " : "", most);
}

static const char *example_of(const struct key *key)
{
    return key->example ? key->example : key->default_text ? key->default_text : "";
}

/* Puts the place and the name before what units.c said, and an example behind it. */
static enum status refuse(const struct key *key, const struct yaml_node *node, const char *why, struct error *error)
{
    const char *example = example_of(key);
    return yaml_error(error, node, "%s: %s%s%s%s%s%s", key->name, why, *example ? " (e.g. " : "",
                      *example ? key->name : "", *example ? ": " : "", example, *example ? ")" : "");
}

static enum status read_checked_number(const struct key *key, const struct yaml_node *node, union value *value,
                                       struct error *error)
{
    struct error inner = {0};
    char why[1200], range[200], shown[TEXT_SHOW_BYTES];
    keys_value_range(key, range, sizeof range);
    if (read_number(key->type, node->text, value, &inner) != STATUS_OK) {
        snprintf(why, sizeof why, "%.900s%s%s", inner.message, *range ? "; allowed: " : "", range);
        return refuse(key, node, why, error);
    }
    if (is_in_range(key, *value))
        return STATUS_OK;
    snprintf(why, sizeof why, "'%s' is out of range; allowed: %s", text_show(node->text, shown), range);
    return refuse(key, node, why, error);
}

static enum status check_choice(const struct key *key, const struct yaml_node *node, const char *word,
                                struct error *error)
{
    if (!key->choices || text_position(word, key->choices) >= 0)
        return STATUS_OK;
    char why[700], choices[500], shown[TEXT_SHOW_BYTES];
    snprintf(why, sizeof why, "'%s' is not allowed; expected %s", text_show(word, shown),
             text_alternatives(key->choices, choices, sizeof choices));
    return refuse(key, node, why, error);
}

static enum status add_item(const struct key *key, const struct yaml_node *node, const char *text, size_t length,
                            struct arena *arena, struct key_list *list, struct error *error)
{
    while (length && *text == ' ') {
        text++;
        length--;
    }
    while (length && text[length - 1] == ' ')
        length--;
    if (!length)
        return refuse(key, node, "an empty item in the list", error);
    const char *item = arena_text(arena, text, length);
    enum status status = check_choice(key, node, item, error);
    if (status == STATUS_OK)
        list->items[list->count++] = item;
    return status;
}

/* "a,b" as it is written on a command line. */
static enum status read_joined_list(const struct key *key, const struct yaml_node *node, struct arena *arena,
                                    struct key_list *list, struct error *error)
{
    size_t commas = 0;
    for (const char *at = node->text; *at; at++)
        commas += *at == ',';
    list->items = arena_alloc(arena, commas + 1, sizeof *list->items);
    enum status status = STATUS_OK;
    for (const char *at = node->text; at && status == STATUS_OK;) {
        const char *comma = strchr(at, ',');
        status = add_item(key, node, at, comma ? (size_t)(comma - at) : strlen(at), arena, list, error);
        at = comma ? comma + 1 : NULL;
    }
    return status;
}

static enum status read_list(const struct key *key, const struct yaml_node *node, struct arena *arena,
                             struct key_list *list, struct error *error)
{
    *list = (struct key_list){0};
    if (node->kind == YAML_SCALAR)
        return read_joined_list(key, node, arena, list, error);
    if (node->kind != YAML_SEQUENCE)
        return refuse(key, node, "expected a list, found a mapping", error);
    if (!node->count)
        return refuse(key, node, "the list is empty", error);
    list->items = arena_alloc(arena, node->count, sizeof *list->items);
    for (size_t i = 0; i < node->count; i++) {
        const struct yaml_node *item = node->items[i];
        if (item->kind != YAML_SCALAR)
            return refuse(key, item, "a list of plain texts is expected", error);
        enum status status = add_item(key, item, item->text, strlen(item->text), arena, list, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status read_scalar(const struct key *key, const struct yaml_node *node, struct arena *arena,
                               union value *value, struct error *error)
{
    char why[200], shown[TEXT_SHOW_BYTES];
    if (node->kind != YAML_SCALAR) {
        snprintf(why, sizeof why, "expected %s, found %s", keys_type_name(key->type), yaml_kind_name(node));
        return refuse(key, node, why, error);
    }
    if (!*node->text && (node->is_plain || key->type != KEY_TEXT))
        return refuse(key, node, "has no value; write null for the default", error);
    if (key->type == KEY_BOOLEAN) {
        value->truth = strcmp(node->text, "true") == 0;
        if (value->truth || strcmp(node->text, "false") == 0)
            return STATUS_OK;
        snprintf(why, sizeof why, "'%s' is not allowed; expected true or false", text_show(node->text, shown));
        return refuse(key, node, why, error);
    }
    if (is_whole(key->type) || is_real(key->type))
        return read_checked_number(key, node, value, error);
    value->text = arena_text(arena, node->text, strlen(node->text));
    return key->choices && key->type != KEY_FILE ? check_choice(key, node, value->text, error) : STATUS_OK;
}

static size_t stored_size(enum key_type type)
{
    static const size_t sizes[] = {[KEY_TEXT] = sizeof(char *),
                                   [KEY_FILE] = sizeof(char *),
                                   [KEY_CHOICE] = sizeof(int),
                                   [KEY_BOOLEAN] = sizeof(bool),
                                   [KEY_LIST] = sizeof(struct key_list),
                                   [KEY_NODE] = sizeof(struct yaml_node *),
                                   [KEY_STRATEGY] = sizeof(struct choice)};
    return is_whole(type) || is_real(type) ? sizeof(int64_t) : sizes[type];
}

/* From the word, which is one of the choices, to what is stored for it. */
static void resolve_choice(const struct keys *keys, const struct key *row, union value *value)
{
    const char *word = value->text;
    int position = text_position(word, row->choices);
    require(position >= 0);
    if (row->type == KEY_CHOICE) {
        value->position = position;
        return;
    }
    size_t block = row->strategy_blocks[position];
    value->choice = (struct choice){row->registry->strategies[position], block ? keys->blocks[block] : NULL};
}

enum status keys_value_store(struct keys *keys, size_t key, const struct yaml_node *node, struct error *error)
{
    require(keys && key < keys->table->count && node);
    _Static_assert(sizeof(int64_t) == sizeof(double), "numbers are stored alike");
    const struct key *row = &keys->table->rows[key];
    union value value = {0};
    enum status status = STATUS_OK;
    if (row->type == KEY_NODE)
        value.node = node;
    else if (row->type == KEY_LIST)
        status = read_list(row, node, &keys->arena, &value.list, error);
    else
        status = read_scalar(row, node, &keys->arena, &value, error);
    if (status != STATUS_OK)
        return status;
    if (row->type == KEY_CHOICE || row->type == KEY_STRATEGY)
        resolve_choice(keys, row, &value);
    memcpy((char *)keys->blocks[row->block] + row->offset, &value, stored_size(row->type));
    return STATUS_OK;
}

void keys_value_store_default(struct keys *keys, size_t key)
{
    const struct key *row = &keys->table->rows[key];
    if (!row->default_text) {
        memset((char *)keys->blocks[row->block] + row->offset, 0, stored_size(row->type));
        return;
    }
    require(row->type != KEY_NODE);
    struct yaml_node node = {.kind = YAML_SCALAR, .file = "defaults", .text = row->default_text, .weight = 1};
    enum status status = keys_value_store(keys, key, &node, NULL);
    require(status == STATUS_OK);
}

/* Writes the character at `at` for double quotes and returns what follows. The three line ends that only Unicode knows
 * are written as escapes, because a YAML reader would fold them into a space. */
static const char *write_quoted(const char *at, FILE *out)
{
    static const struct {
        const char *bytes, *escape;
    } line_ends[] = {{"\xc2\x85", "\\N"}, {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}};
    for (size_t i = 0; i < sizeof line_ends / sizeof *line_ends; i++) {
        size_t length = strlen(line_ends[i].bytes);
        if (strncmp(at, line_ends[i].bytes, length) == 0) {
            fputs(line_ends[i].escape, out);
            return at + length;
        }
    }
    unsigned char byte = (unsigned char)*at;
    if (byte == '"' || byte == '\\')
        fprintf(out, "\\%c", byte);
    else if (byte < 0x20 || byte == 0x7f)
        fprintf(out, "\\x%02x", byte);
    else
        fputc(byte, out);
    return at + 1;
}

/* Plain where nobody, and no YAML reader, could take it for something else. */
void keys_value_write_text(const char *text, FILE *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+";
    bool is_plain = *text &&
                    !text[strspn(text, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+")] &&
                    strchr(plain, *text) && strcmp(text, "null") != 0;
    if (is_plain) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *at = text; *at;)
        at = write_quoted(at, out);
    fputc('"', out);
}

static void write_node(const struct yaml_node *node, FILE *out)
{
    if (node->kind == YAML_SCALAR) {
        if (yaml_is_null(node))
            fputs("null", out);
        else
            keys_value_write_text(node->text, out);
        return;
    }
    bool is_mapping = node->kind == YAML_MAPPING;
    fputc(is_mapping ? '{' : '[', out);
    for (size_t i = 0; i < node->count; i++) {
        fputs(i ? ", " : "", out);
        if (is_mapping) {
            fputs(strlen(node->keys[i]->text) > LONG_KEY_BYTES ? "? " : "", out);
            keys_value_write_text(node->keys[i]->text, out);
            fputs(": ", out);
        }
        write_node(node->items[i], out);
    }
    fputc(is_mapping ? '}' : ']', out);
}

static void write_number(const struct key *key, union value value, FILE *out)
{
    char text[UNITS_TEXT_BYTES];
    switch (key->type) {
    case KEY_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)value.whole);
        break;
    case KEY_TIME:
        units_format_time_ps(value.whole, text);
        break;
    case KEY_SECONDS:
        units_format_time_s(value.real, text);
        break;
    case KEY_RATE:
        units_format_rate(value.real, text);
        break;
    case KEY_BYTES:
        units_format_size(value.real, text);
        break;
    default:
        units_format_number(value.real, text);
    }
    fputs(text, out);
}

static void write_list(const struct key_list *list, FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < list->count; i++) {
        fputs(i ? ", " : "", out);
        keys_value_write_text(list->items[i], out);
    }
    fputc(']', out);
}

/* The word at a position of "a|b|c". */
static void write_word(const char *choices, int position, FILE *out)
{
    for (; position > 0; position--)
        choices = strchr(choices, '|') + 1;
    fprintf(out, "%.*s", (int)strcspn(choices, "|"), choices);
}

void keys_value_write(const struct keys *keys, size_t key, FILE *out)
{
    const struct key *row = &keys->table->rows[key];
    union value value = {0};
    memcpy(&value, (const char *)keys->blocks[row->block] + row->offset, stored_size(row->type));
    if (is_whole(row->type) || is_real(row->type))
        write_number(row, value, out);
    else if (row->type == KEY_BOOLEAN)
        fputs(value.truth ? "true" : "false", out);
    else if (row->type == KEY_CHOICE)
        write_word(row->choices, value.position, out);
    else if (row->type == KEY_STRATEGY)
        fputs(value.choice.strategy->name, out);
    else if (row->type == KEY_LIST && value.list.count)
        write_list(&value.list, out);
    else if (row->type == KEY_NODE && value.node)
        write_node(value.node, out);
    else if (row->type != KEY_LIST && row->type != KEY_NODE && value.text)
        keys_value_write_text(value.text, out);
    else
        fputs("null", out);
}
