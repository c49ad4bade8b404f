/* Conditions on combinations: see plan_where.h. A reader by recursive descent, its depth limited. */
#include "scenario/plan_where.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

/* How the left side may stand to the right one where a comparison holds. */
enum { LESS = 1, EQUAL = 2, MORE = 4 };

static const struct {
    const char *text;
    int holds;
} orders[] = {{"==", EQUAL}, {"!=", LESS | MORE}, {"<=", LESS | EQUAL}, {">=", MORE | EQUAL}, {"<", LESS}, {">", MORE}};

struct operand {
    const struct axis *axis;    /* NULL = the constant below */
    struct axis_value constant; /* its text, and its number where it is one */
    enum axis_kind kind;
    bool is_bare; /* a number without unit: goes with any */
    bool is_word; /* neither an axis nor in quotes: has to be a value of the other side */
    size_t at;    /* its place in the condition */
};

enum operation { COMPARE, AND, OR, NOT };

struct instruction {
    enum operation operation;
    int holds;
    struct operand left, right;
};

struct plan_where {
    struct instruction *instructions; /* in postfix order */
    size_t count;
};

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_TEXT, TOKEN_ORDER, TOKEN_OPEN, TOKEN_CLOSE };

struct token {
    enum token_kind kind;
    int holds;        /* of orders */
    const char *text; /* of words, numbers and texts */
    size_t at;
};

struct parser {
    const struct yaml_node *node;
    const struct sweep *sweep;
    struct arena *arena;
    struct plan_where *where;
    size_t at;
    struct token token; /* the one to read next */
    int depth;
    struct error *error;
};

/* The column is right for a condition on one line; the number of the character always is. */
static enum status refuse_at(const struct parser *parser, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum status refuse_at(const struct parser *parser, size_t at, const char *format, ...)
{
    const struct yaml_node *node = parser->node;
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    int column = node->column ? node->column + (node->is_plain ? 0 : 1) + (int)at : 0;
    return error_at(parser->error, node->file, node->line, column, "where, character %zu: %s", at + 1, text);
}

/* ---- tokens ---- */

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || byte == '_' || byte == '.' || byte == '-' || byte == '/';
}

/* A number and a unit that follows at once: 1e-3s, 1.6TB/s. */
static size_t number_length(const char *text)
{
    size_t length = *text == '-' || *text == '+';
    for (;; length++) {
        bool is_power = length > 1 && (text[length] == '-' || text[length] == '+') &&
                        (text[length - 1] == 'e' || text[length - 1] == 'E') &&
                        isdigit((unsigned char)text[length + 1]);
        if (!is_power && !isalnum((unsigned char)text[length]) && text[length] != '.' && text[length] != '/')
            return length;
    }
}

static bool starts_number(const char *text)
{
    text += *text == '-' || *text == '+';
    return isdigit((unsigned char)*text) || (*text == '.' && isdigit((unsigned char)text[1]));
}

static void take_token(struct parser *parser, enum token_kind kind, size_t skip, size_t length)
{
    const char *start = parser->node->text + parser->at;
    parser->token = (struct token){.kind = kind, .at = parser->at};
    parser->token.text = arena_text(parser->arena, start + skip, length);
    parser->at += length + 2 * skip;
}

static enum status take_order(struct parser *parser)
{
    const char *start = parser->node->text + parser->at;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        size_t length = strlen(orders[i].text);
        if (strncmp(start, orders[i].text, length) != 0)
            continue;
        take_token(parser, TOKEN_ORDER, 0, length);
        parser->token.holds = orders[i].holds;
        return STATUS_OK;
    }
    char shown[TEXT_SHOW_BYTES];
    return refuse_at(parser, parser->at,
                     "cannot read '%s'; expected axes, numbers, texts, == != < <= > >=, and, or, not",
                     text_show(start, shown));
}

static enum status next_token(struct parser *parser)
{
    const char *text = parser->node->text;
    while (text[parser->at] == ' ' || text[parser->at] == '\n' || text[parser->at] == '\t')
        parser->at++;
    const char *start = text + parser->at;
    if (!*start) {
        parser->token = (struct token){.kind = TOKEN_END, .at = parser->at};
        return STATUS_OK;
    }
    if (*start == '\'' || *start == '"') {
        const char *end = strchr(start + 1, *start);
        if (!end)
            return refuse_at(parser, parser->at, "the text is not closed");
        take_token(parser, TOKEN_TEXT, 1, (size_t)(end - start) - 1);
    } else if (*start == '(' || *start == ')') {
        take_token(parser, *start == '(' ? TOKEN_OPEN : TOKEN_CLOSE, 0, 1);
    } else if (starts_number(start)) {
        take_token(parser, TOKEN_NUMBER, 0, number_length(start));
    } else if (isalpha((unsigned char)*start) || *start == '_') {
        size_t length = 1;
        while (is_word_byte(start[length]))
            length++;
        take_token(parser, TOKEN_WORD, 0, length);
    } else {
        return take_order(parser);
    }
    return STATUS_OK;
}

static bool is_word(const struct parser *parser, const char *word)
{
    return parser->token.kind == TOKEN_WORD && strcmp(parser->token.text, word) == 0;
}

static bool is_reserved(const struct parser *parser)
{
    return is_word(parser, "and") || is_word(parser, "or") || is_word(parser, "not");
}

static enum status refuse_token(const struct parser *parser, const char *expected)
{
    char shown[TEXT_SHOW_BYTES];
    if (parser->token.kind == TOKEN_END)
        return refuse_at(parser, parser->token.at, "ends where %s should stand", expected);
    return refuse_at(parser, parser->token.at, "expected %s, found '%s'", expected,
                     text_show(parser->token.text, shown));
}

/* ---- operands ---- */

static enum status read_quantity(const struct parser *parser, struct operand *operand)
{
    static const enum axis_kind kinds[] = {AXIS_NUMBER, AXIS_TIME, AXIS_BYTES, AXIS_RATE};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (plan_axis_number(kinds[i], operand->constant.text, &operand->constant.number, NULL) != STATUS_OK)
            continue;
        operand->kind = kinds[i];
        operand->is_bare = kinds[i] == AXIS_NUMBER;
        return STATUS_OK;
    }
    char shown[TEXT_SHOW_BYTES];
    return refuse_at(parser, operand->at, "'%s' is no number, e.g. 0.5, 1000s, 80GB or 1.6TB/s; texts stand in quotes",
                     text_show(operand->constant.text, shown));
}

static enum status read_operand(struct parser *parser, struct operand *operand)
{
    const struct token *token = &parser->token;
    *operand = (struct operand){.kind = AXIS_TEXT, .constant.text = token->text, .at = token->at};
    if (token->kind == TOKEN_NUMBER) {
        TRY(read_quantity(parser, operand));
    } else if (token->kind == TOKEN_WORD && !is_reserved(parser)) {
        for (size_t i = 0; i < parser->sweep->axis_count && !operand->axis; i++) {
            if (strcmp(token->text, parser->sweep->axes[i].name) == 0)
                operand->axis = &parser->sweep->axes[i];
        }
        operand->is_word = !operand->axis;
        operand->kind = operand->axis ? operand->axis->kind : AXIS_TEXT;
    } else if (token->kind != TOKEN_TEXT) {
        return refuse_token(parser, "the name of an axis, a number or a text");
    }
    return next_token(parser);
}

/* A bare word has to be a value of the axis on the other side: anything else is a typing mistake. */
static enum status check_word(const struct parser *parser, const struct operand *word, const struct operand *other)
{
    const struct axis *axis = other->axis && other->axis->kind == AXIS_TEXT ? other->axis : NULL;
    struct text_search search = {.word = word->constant.text, .limit = 3};
    if (!word->is_word)
        return STATUS_OK;
    for (size_t i = 0; i < parser->sweep->axis_count; i++)
        text_offer(&search, parser->sweep->axes[i].name);
    for (size_t i = 0; axis && i < axis->value_count; i++) {
        if (strcmp(axis->values[i].text, search.word) == 0)
            return STATUS_OK;
        text_offer(&search, axis->values[i].text);
    }
    char shown[TEXT_SHOW_BYTES], near[TEXT_SHOW_BYTES], hint[TEXT_HINT_BYTES];
    return refuse_at(parser, word->at, "'%s' is neither an axis nor a value of the other side%s",
                     text_show(search.word, shown),
                     text_hint(search.nearest ? text_show(search.nearest, near) : NULL, hint));
}

static const char *kind_name(enum axis_kind kind)
{
    static const char *const names[] = {"a text", "a number", "a time", "a rate", "a size"};
    require((size_t)kind < sizeof names / sizeof *names);
    return names[kind];
}

static enum status check_kinds(const struct parser *parser, const struct instruction *compare, size_t at)
{
    const struct operand *left = &compare->left, *right = &compare->right;
    TRY(check_word(parser, left, right));
    TRY(check_word(parser, right, left));
    bool is_text = left->kind == AXIS_TEXT || right->kind == AXIS_TEXT;
    if (left->kind != right->kind && (is_text || (!left->is_bare && !right->is_bare)))
        return refuse_at(parser, at, "compares %s with %s", kind_name(left->kind), kind_name(right->kind));
    if (is_text && compare->holds != EQUAL && compare->holds != (LESS | MORE))
        return refuse_at(parser, at, "texts have no order; use == or !=");
    return STATUS_OK;
}

/* ---- conditions ---- */

static void add_instruction(struct parser *parser, struct instruction instruction)
{
    parser->where->instructions[parser->where->count++] = instruction;
}

static enum status read_comparison(struct parser *parser)
{
    struct instruction compare = {.operation = COMPARE};
    TRY(read_operand(parser, &compare.left));
    size_t at = parser->token.at;
    if (parser->token.kind != TOKEN_ORDER)
        return refuse_token(parser, "one of == != < <= > >=");
    compare.holds = parser->token.holds;
    TRY(next_token(parser));
    TRY(read_operand(parser, &compare.right));
    TRY(check_kinds(parser, &compare, at));
    add_instruction(parser, compare);
    return STATUS_OK;
}

static enum status read_joined(struct parser *parser, enum operation operation);

static enum status read_parentheses(struct parser *parser)
{
    TRY(next_token(parser));
    TRY(read_joined(parser, OR));
    if (parser->token.kind != TOKEN_CLOSE)
        return refuse_token(parser, "')'");
    return next_token(parser);
}

static enum status read_term(struct parser *parser)
{
    bool is_negated = is_word(parser, "not");
    if (!is_negated && parser->token.kind != TOKEN_OPEN)
        return read_comparison(parser);
    if (parser->depth == PLAN_WHERE_DEPTH_LIMIT)
        return refuse_at(parser, parser->token.at, "more than %d levels deep", PLAN_WHERE_DEPTH_LIMIT);
    parser->depth++;
    if (is_negated) {
        TRY(next_token(parser));
        TRY(read_term(parser));
        add_instruction(parser, (struct instruction){.operation = NOT});
    } else {
        TRY(read_parentheses(parser));
    }
    parser->depth--;
    return STATUS_OK;
}

/* Terms with `and` between; with OR, such terms with `or` between. */
static enum status read_joined(struct parser *parser, enum operation operation)
{
    for (bool is_first = true;; is_first = false) {
        TRY(operation == OR ? read_joined(parser, AND) : read_term(parser));
        if (!is_first)
            add_instruction(parser, (struct instruction){.operation = operation});
        if (!is_word(parser, operation == OR ? "or" : "and"))
            return STATUS_OK;
        TRY(next_token(parser));
    }
}

enum status plan_where_read(const struct yaml_node *text, const struct sweep *sweep, struct arena *arena,
                            const struct plan_where **where, struct error *error)
{
    require(text && text->kind == YAML_SCALAR && sweep && arena && where);
    struct parser parser = {.node = text, .sweep = sweep, .arena = arena, .error = error};
    if (strlen(text->text) > PLAN_WHERE_LIMIT_BYTES)
        return yaml_error(error, text, "where: longer than %d bytes", PLAN_WHERE_LIMIT_BYTES);
    parser.where = arena_alloc(arena, 1, sizeof *parser.where);
    /* Every operation takes two characters at least. */
    parser.where->instructions = arena_alloc(arena, strlen(text->text) / 2 + 1, sizeof *parser.where->instructions);
    TRY(next_token(&parser));
    TRY(read_joined(&parser, OR));
    if (parser.token.kind != TOKEN_END)
        return refuse_token(&parser, "and, or, or the end");
    *where = parser.where;
    return STATUS_OK;
}

/* ---- holding ---- */

static const struct axis_value *value_of(const struct operand *operand, const size_t *positions)
{
    return operand->axis ? &operand->axis->values[positions[operand->axis->dimension]] : &operand->constant;
}

static bool compare_sides(const struct instruction *compared, const size_t *positions)
{
    const struct axis_value *a = value_of(&compared->left, positions), *b = value_of(&compared->right, positions);
    bool is_text = compared->left.kind == AXIS_TEXT;
    int order = is_text ? strcmp(a->text, b->text) : (a->number > b->number) - (a->number < b->number);
    return compared->holds & (order < 0 ? LESS : order > 0 ? MORE : EQUAL);
}

bool plan_where_holds(const struct plan_where *where, const size_t *positions)
{
    require(where && where->count > 0);
    /* Each level of nesting keeps at most one side of an `or` and one of an `and` waiting. */
    bool stack[2 * (PLAN_WHERE_DEPTH_LIMIT + 1) + 1];
    size_t top = 0;
    for (size_t i = 0; i < where->count; i++) {
        const struct instruction *instruction = &where->instructions[i];
        if (instruction->operation == COMPARE) {
            require(top < sizeof stack / sizeof *stack);
            stack[top++] = compare_sides(instruction, positions);
        } else if (instruction->operation == NOT) {
            require(top > 0);
            stack[top - 1] = !stack[top - 1];
        } else {
            require(top > 1);
            top--;
            stack[top - 1] =
                instruction->operation == AND ? stack[top - 1] && stack[top] : stack[top - 1] || stack[top];
        }
    }
    require(top == 1);
    return stack[0];
}
