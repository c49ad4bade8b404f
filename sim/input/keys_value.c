/* One value of one key: see keys_value.h. Every type goes through one union, so that reading, range check and storing
 * are each written once. */
#include "input/keys_value.h"

#include <stdlib.h>
#include <string.h>

#include "input/units.h"

/* YAML takes a key for one only in its first 1024 characters, unless `?` says so; an escape makes 4 of a byte. */
enum { LONG_KEY_BYTES = 200 };

#define TIME_UNITS " (ps, ns, us, ms, s, min, h, d)"

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

static void format_integer(int64_t value, char *text)
{
    snprintf(text, UNITS_TEXT_BYTES, "%lld", (long long)value);
}

/* What depends on the type of a key alone. */
static const struct type {
    const char *name, *units;
    size_t bytes; /* as it is stored */
    enum status (*read_whole)(const char *text, int64_t *value, struct error *error);
    enum status (*read_real)(const char *text, double *value, struct error *error);
    void (*format_whole)(int64_t value, char *text);
    void (*format_real)(double value, char *text);
} types[] = {
    [KEY_TEXT] = {"text", "", .bytes = sizeof(char *)},
    [KEY_FILE] = {"a file", "", .bytes = sizeof(char *)},
    [KEY_CHOICE] = {"one word of a list", "", .bytes = sizeof(int)},
    [KEY_INTEGER] = {"a whole number", "", sizeof(int64_t), .read_whole = units_integer,
                     .format_whole = format_integer},
    [KEY_NUMBER] = {"a number", "", sizeof(double), .read_real = units_number, .format_real = units_format_number},
    [KEY_BOOLEAN] = {"true or false", "", .bytes = sizeof(bool)},
    [KEY_TIME] = {"a time with its unit", TIME_UNITS, sizeof(int64_t), .read_whole = units_time_ps,
                  .format_whole = units_format_time_ps},
    [KEY_SECONDS] = {"a time with its unit", TIME_UNITS, sizeof(double), .read_real = units_time_s,
                     .format_real = units_format_time_s},
    [KEY_RATE] = {"a rate with its unit", " (B/s, kB/s, MB/s, GB/s, TB/s, PB/s; bit/s, kbit/s, ... Pbit/s)",
                  sizeof(double), .read_real = units_rate, .format_real = units_format_rate},
    [KEY_BYTES] = {"a size with its unit", " (B, kB, MB, GB, TB, PB; KiB, MiB, GiB, TiB, PiB)", sizeof(double),
                   .read_real = units_size, .format_real = units_format_size},
    [KEY_LIST] = {"a list", "", .bytes = sizeof(struct key_list)},
    [KEY_NODE] = {"a part of its own", "", .bytes = sizeof(struct yaml_node *)},
    [KEY_STRATEGY] = {"one word of a list", "", .bytes = sizeof(struct choice)},
};

const char *keys_type_name(enum key_type type)
{
    return types[type].name;
}

const char *keys_type_units(enum key_type type)
{
    return types[type].units;
}

void *keys_field(const struct keys *keys, size_t key)
{
    const struct key *row = &keys->table->rows[key];
    return (char *)keys->blocks[row->block] + row->offset;
}

static bool is_number(enum key_type type)
{
    return types[type].read_whole || types[type].read_real;
}

static enum status read_number(enum key_type type, const char *text, union value *value, struct error *error)
{
    require(is_number(type));
    return types[type].read_whole ? types[type].read_whole(text, &value->whole, error)
                                  : types[type].read_real(text, &value->real, error);
}

/* Is the value on the inner side of a bound such as "1ps" or ">0s"? An open bound itself is outside. NULL = no bound.
 * side: 1 for a minimum, -1 for a maximum. */
static bool is_inside(const struct key *key, union value value, const char *bound, int side)
{
    if (!bound)
        return true;
    bool is_open = *bound == '>' || *bound == '<';
    union value limit = {0};
    enum status status = read_number(key->type, bound + is_open, &limit, NULL);
    require(status == STATUS_OK);
    int order = types[key->type].read_whole ? (value.whole > limit.whole) - (value.whole < limit.whole)
                                            : (value.real > limit.real) - (value.real < limit.real);
    return order * side > 0 || (order == 0 && !is_open);
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
    const char *word = key->type == KEY_INTEGER ? key->choices : NULL;
    snprintf(text, size, "%s%s%s%s%s", word ? word : "", word && (low || high) ? ", or " : "", least,
             low && high ? " and " : "", most);
}

/* Puts the key's name before the message of an error, and an example behind it. */
static enum status wrap_refusal(const struct key *key, struct error *error)
{
    const char *example = key->example ? key->example : key->default_text;
    if (!error)
        return STATUS_USER;
    error_wrap(error, "%s", key->name);
    if (example && *example)
        text_append(error->message, sizeof error->message, " (e.g. %s: %s)", key->name, example);
    return STATUS_USER;
}

#define refuse_value(key, node, error, ...) (yaml_error(error, node, __VA_ARGS__), wrap_refusal(key, error))

static enum status read_checked_number(const struct key *key, const struct yaml_node *node, union value *value,
                                       struct error *error)
{
    struct error inner = {0};
    char range[200], shown[TEXT_SHOW_BYTES];
    if (key->type == KEY_INTEGER && key->choices && strcmp(node->text, key->choices) == 0) {
        value->whole = 0;
        return STATUS_OK;
    }
    keys_value_range(key, range, sizeof range);
    if (read_number(key->type, node->text, value, &inner) != STATUS_OK)
        return refuse_value(key, node, error, "%.900s%s%s", inner.message, *range ? "; allowed: " : "", range);
    if (is_inside(key, *value, key->minimum, 1) && is_inside(key, *value, key->maximum, -1))
        return STATUS_OK;
    return refuse_value(key, node, error, "'%s' is out of range; allowed: %s", text_show(node->text, shown), range);
}

static enum status check_choice(const struct key *key, const struct yaml_node *node, const char *word,
                                struct error *error)
{
    if (!key->choices || text_position(word, key->choices) >= 0)
        return STATUS_OK;
    char choices[500], shown[TEXT_SHOW_BYTES];
    return refuse_value(key, node, error, "'%s' is not allowed; expected %s", text_show(word, shown),
                        text_alternatives(key->choices, choices, sizeof choices));
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
        return refuse_value(key, node, error, "an empty item in the list");
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
        return refuse_value(key, node, error, "expected a list, found a mapping");
    if (!node->count)
        return refuse_value(key, node, error, "the list is empty");
    list->items = arena_alloc(arena, node->count, sizeof *list->items);
    for (size_t i = 0; i < node->count; i++) {
        const struct yaml_node *item = node->items[i];
        if (item->kind != YAML_SCALAR)
            return refuse_value(key, item, error, "a list of plain texts is expected");
        enum status status = add_item(key, item, item->text, strlen(item->text), arena, list, error);
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status read_scalar(const struct key *key, const struct yaml_node *node, struct arena *arena,
                               union value *value, struct error *error)
{
    char shown[TEXT_SHOW_BYTES];
    if (node->kind != YAML_SCALAR)
        return refuse_value(key, node, error, "expected %s, found %s", keys_type_name(key->type), yaml_kind_name(node));
    if (!*node->text && (node->is_plain || key->type != KEY_TEXT))
        return refuse_value(key, node, error, "has no value; write null for the default");
    if (key->type == KEY_BOOLEAN) {
        value->truth = strcmp(node->text, "true") == 0;
        if (value->truth || strcmp(node->text, "false") == 0)
            return STATUS_OK;
        return refuse_value(key, node, error, "'%s' is not allowed; expected true or false",
                            text_show(node->text, shown));
    }
    if (is_number(key->type))
        return read_checked_number(key, node, value, error);
    value->text = arena_text(arena, node->text, strlen(node->text));
    return key->choices && key->type != KEY_FILE ? check_choice(key, node, value->text, error) : STATUS_OK;
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
    memcpy(keys_field(keys, key), &value, types[row->type].bytes);
    return STATUS_OK;
}

void keys_value_store_default(struct keys *keys, size_t key)
{
    const struct key *row = &keys->table->rows[key];
    if (!row->default_text) {
        memset(keys_field(keys, key), 0, types[row->type].bytes);
        return;
    }
    require(row->type != KEY_NODE);
    struct yaml_node node = {.kind = YAML_SCALAR, .file = "defaults", .text = row->default_text, .weight = 1};
    enum status status = keys_value_store(keys, key, &node, NULL);
    require(status == STATUS_OK);
}

/* Writes the character at `at` for double quotes and returns what follows. The three line ends that only Unicode knows
 * are written as escapes, because a YAML reader would fold them into a space. */
static const char *write_quoted(const char *at, struct text_builder *out)
{
    static const struct {
        const char *bytes, *escape;
    } line_ends[] = {{"\xc2\x85", "\\N"}, {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}};
    for (size_t i = 0; i < sizeof line_ends / sizeof *line_ends; i++) {
        size_t length = strlen(line_ends[i].bytes);
        if (strncmp(at, line_ends[i].bytes, length) == 0) {
            text_build(out, "%s", line_ends[i].escape);
            return at + length;
        }
    }
    unsigned char byte = (unsigned char)*at;
    bool is_escaped = byte == '"' || byte == '\\', is_control = byte < 0x20 || byte == 0x7f;
    text_build(out, is_escaped ? "\\%c" : is_control ? "\\x%02x" : "%c", byte);
    return at + 1;
}

/* Plain where nobody, and no YAML reader, could take it for something else. */
void keys_value_write_text(const char *text, struct text_builder *out)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+";
    bool is_plain = *text &&
                    !text[strspn(text, "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+")] &&
                    strchr(plain, *text) && strcmp(text, "null") != 0;
    if (is_plain) {
        text_build(out, "%s", text);
        return;
    }
    text_build(out, "\"");
    for (const char *at = text; *at;)
        at = write_quoted(at, out);
    text_build(out, "\"");
}

static void write_node(const struct yaml_node *node, struct text_builder *out)
{
    if (node->kind == YAML_SCALAR) {
        if (yaml_is_null(node))
            text_build(out, "null");
        else
            keys_value_write_text(node->text, out);
        return;
    }
    bool is_mapping = node->kind == YAML_MAPPING;
    text_build(out, is_mapping ? "{" : "[");
    for (size_t i = 0; i < node->count; i++) {
        text_build(out, i ? ", " : "");
        if (is_mapping) {
            text_build(out, strlen(node->keys[i]->text) > LONG_KEY_BYTES ? "? " : "");
            keys_value_write_text(node->keys[i]->text, out);
            text_build(out, ": ");
        }
        write_node(node->items[i], out);
    }
    text_build(out, is_mapping ? "}" : "]");
}

static void write_list(const struct key_list *list, struct text_builder *out)
{
    text_build(out, "[");
    for (size_t i = 0; i < list->count; i++) {
        text_build(out, i ? ", " : "");
        keys_value_write_text(list->items[i], out);
    }
    text_build(out, "]");
}

/* The word at a position of "a|b|c". */
static void write_word(const char *choices, int position, struct text_builder *out)
{
    for (; position > 0; position--)
        choices = strchr(choices, '|') + 1;
    text_build(out, "%.*s", (int)strcspn(choices, "|"), choices);
}

void keys_value_write(const struct keys *keys, size_t key, struct text_builder *out)
{
    const struct key *row = &keys->table->rows[key];
    union value value = {0};
    memcpy(&value, keys_field(keys, key), types[row->type].bytes);
    const struct type *type = &types[row->type];
    char number[UNITS_TEXT_BYTES] = "";
    if (row->type == KEY_INTEGER && row->choices && value.whole == 0)
        snprintf(number, sizeof number, "%s", row->choices);
    else if (type->format_whole)
        type->format_whole(value.whole, number);
    if (type->format_real)
        type->format_real(value.real, number);
    if (*number)
        text_build(out, "%s", number);
    else if (row->type == KEY_BOOLEAN)
        text_build(out, value.truth ? "true" : "false");
    else if (row->type == KEY_CHOICE)
        write_word(row->choices, value.position, out);
    else if (row->type == KEY_STRATEGY)
        text_build(out, "%s", value.choice.strategy->name);
    else if (row->type == KEY_LIST && value.list.count)
        write_list(&value.list, out);
    else if (row->type == KEY_NODE && value.node)
        write_node(value.node, out);
    else if (row->type != KEY_LIST && row->type != KEY_NODE && value.text)
        keys_value_write_text(value.text, out);
    else
        text_build(out, "null");
}
