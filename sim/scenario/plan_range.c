/* Ranges of a sweep: values made from first, last and step or count.
 *
 * Linear ranges are counted in whole decimal steps, so that 0.1 to 0.9 by 0.1
 * are nine values written as a person would and the last one is met exactly.
 * Logarithmic ranges keep their ends as written and round what lies between to
 * three digits. O(values).
 */
#include "scenario/plan_axes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "input/text.h"
#include "input/units.h"

enum { PART_COUNT = 3, DIGIT_LIMIT = 15, PLACE_LIMIT = 15 };

/* mantissa * 10^exponent, and the unit as written. */
struct decimal {
    int64_t mantissa;
    int exponent;
    const char *unit;
};

/* ---- the list ---- */

static enum status check_list(const struct yaml_node *list, const char *what, const char *example, struct error *error)
{
    if (list->kind != YAML_SEQUENCE || list->count != PART_COUNT)
        return yaml_error(error, list, "%s: expected three values, e.g. %s", what, example);
    for (size_t i = 0; i < PART_COUNT; i++) {
        if (list->items[i]->kind != YAML_SCALAR)
            return yaml_error(error, list->items[i], "%s: expected a number, found %s", what,
                              yaml_kind_name(list->items[i]));
    }
    return STATUS_OK;
}

static void start_nodes(const struct yaml_node *list, size_t count, struct arena *arena, struct yaml_node *values)
{
    *values = *list;
    values->items = arena_alloc(arena, count, sizeof *values->items);
    values->count = 0;
}

static void add_node(struct yaml_node *values, struct arena *arena, const char *text)
{
    struct yaml_node *node = arena_alloc(arena, 1, sizeof *node);
    *node = yaml_scalar(values, text, arena);
    values->items[values->count++] = node;
}

/* ---- linear ---- */

static const char *read_digits(const char *at, struct decimal *decimal, int *digits)
{
    bool has_point = false;
    for (; isdigit((unsigned char)*at) || (*at == '.' && !has_point); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        if (*digits > DIGIT_LIMIT)
            return at; /* refused by the caller */
        decimal->mantissa = decimal->mantissa * 10 + (*at - '0');
        *digits += decimal->mantissa != 0;
        decimal->exponent -= has_point;
    }
    return at;
}

static const char *read_power(const char *at, struct decimal *decimal)
{
    const char *digit = at + 1;
    if ((*at != 'e' && *at != 'E') || !(isdigit((unsigned char)digit[*digit == '-' || *digit == '+'])))
        return at;
    char *end = NULL;
    long power = strtol(digit, &end, 10);
    decimal->exponent += (int)(power > 1000 ? 1000 : power < -1000 ? -1000 : power);
    return end;
}

/* The text is known to be a number of the key's kind; only its size is in question. */
static bool read_decimal(const char *text, struct decimal *decimal)
{
    *decimal = (struct decimal){0};
    int digits = 0;
    bool is_negative = *text == '-';
    const char *at = read_digits(text + (*text == '-' || *text == '+'), decimal, &digits);
    at = read_power(at, decimal);
    decimal->unit = at + (*at == ' ');
    for (; decimal->mantissa && decimal->mantissa % 10 == 0; decimal->exponent++)
        decimal->mantissa /= 10;
    if (!decimal->mantissa)
        decimal->exponent = 0;
    if (is_negative)
        decimal->mantissa = -decimal->mantissa;
    return digits <= DIGIT_LIMIT && abs(decimal->exponent) <= PLACE_LIMIT;
}

/* Brings the three to one exponent, at most 0; false where that takes too many digits. */
static bool align(struct decimal parts[PART_COUNT])
{
    int exponent = 0;
    for (size_t i = 0; i < PART_COUNT; i++)
        exponent = parts[i].exponent < exponent ? parts[i].exponent : exponent;
    for (size_t i = 0; i < PART_COUNT; i++) {
        for (; parts[i].exponent > exponent; parts[i].exponent--) {
            if (llabs(parts[i].mantissa) > INT64_MAX / 100)
                return false;
            parts[i].mantissa *= 10;
        }
    }
    return true;
}

static void write_decimal(int64_t mantissa, int exponent, const char *unit, char *text, size_t size)
{
    require(exponent <= 0 && exponent >= -PLACE_LIMIT);
    int64_t scale = 1;
    for (int i = 0; i < -exponent; i++)
        scale *= 10;
    int places = -exponent;
    long long whole = llabs(mantissa) / scale, rest = llabs(mantissa) % scale;
    for (; places > 0 && rest % 10 == 0; places--)
        rest /= 10;
    const char *sign = mantissa < 0 ? "-" : "";
    int length = places ? snprintf(text, size, "%s%lld.%0*lld%s", sign, whole, places, rest, unit)
                        : snprintf(text, size, "%s%lld%s", sign, whole, unit);
    require(length > 0 && (size_t)length < size);
}

static enum status read_parts(const struct yaml_node *list, const struct key *key, struct decimal parts[PART_COUNT],
                              struct error *error)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        const struct yaml_node *item = list->items[i];
        double number = 0;
        struct error inner = {0};
        if (plan_axis_number(plan_axis_kind(key->type), item->text, &number, &inner) != STATUS_OK)
            return yaml_error(error, item, "range: %s: %s", key->name, inner.message);
        if (!read_decimal(item->text, &parts[i]))
            return yaml_error(error, item, "range: at most %d digits", DIGIT_LIMIT);
        if (strcmp(parts[i].unit, parts[0].unit) != 0)
            return yaml_error(error, item, "range: first, last and step need the same unit, e.g. [500s, 2000s, 500s]");
    }
    if (!align(parts))
        return yaml_error(error, list, "range: first, last and step differ by too many digits");
    return STATUS_OK;
}

enum status plan_range_linear(const struct yaml_node *list, const struct key *key, struct arena *arena,
                              struct yaml_node *values, struct error *error)
{
    struct decimal parts[PART_COUNT];
    TRY(check_list(list, "range", "[500s, 2000s, 500s]: first, last, step", error));
    TRY(read_parts(list, key, parts, error));
    int64_t step = parts[2].mantissa, span = parts[1].mantissa - parts[0].mantissa;
    char shown[TEXT_SHOW_BYTES];
    if (step == 0 || (span != 0 && (span > 0) != (step > 0)) || span % step != 0)
        return yaml_error(error, list->items[2], "range: steps of %s do not lead from the first value to the last",
                          text_show(list->items[2]->text, shown));
    if (span / step >= PLAN_RUN_LIMIT)
        return yaml_error(error, list, "range: more than %d values", PLAN_RUN_LIMIT);
    size_t count = (size_t)(span / step) + 1;
    start_nodes(list, count, arena, values);
    for (size_t i = 0; i < count; i++) {
        char text[64];
        write_decimal(parts[0].mantissa + (int64_t)i * step, parts[0].exponent, parts[0].unit, text, sizeof text);
        add_node(values, arena, text);
    }
    return STATUS_OK;
}

/* ---- logarithmic ---- */

/* Three digits, in whatever unit reads best. */
static void write_rounded(double value, enum key_type type, char *text)
{
    static void (*const formats[])(double, char *) = {[AXIS_NUMBER] = units_format_number,
                                                      [AXIS_TIME] = units_format_time_s,
                                                      [AXIS_RATE] = units_format_rate,
                                                      [AXIS_BYTES] = units_format_size};
    char digits[40];
    snprintf(digits, sizeof digits, "%.2e", value);
    double rounded = strtod(digits, NULL);
    if (type == KEY_INTEGER)
        snprintf(text, UNITS_TEXT_BYTES, "%.0f", rounded);
    else if (type == KEY_TIME)
        units_format_time_ps(llround(rounded * 1e12), text);
    else
        formats[plan_axis_kind(type)](rounded, text);
}

static enum status read_ends(const struct yaml_node *list, const struct key *key, double ends[2], struct error *error)
{
    for (size_t i = 0; i < 2; i++) {
        const struct yaml_node *item = list->items[i];
        struct error inner = {0};
        if (plan_axis_number(plan_axis_kind(key->type), item->text, &ends[i], &inner) != STATUS_OK)
            return yaml_error(error, item, "log_range: %s: %s", key->name, inner.message);
        if (!(ends[i] > 0))
            return yaml_error(error, item, "log_range: needs values above zero");
        if (key->type == KEY_TIME && ends[i] > 9e6)
            return yaml_error(error, item, "log_range: %s: more than 104 days", key->name);
        if (key->type == KEY_INTEGER && ends[i] > 9e15)
            return yaml_error(error, item, "log_range: %s: more than 9e15", key->name);
    }
    return STATUS_OK;
}

enum status plan_range_log(const struct yaml_node *list, const struct key *key, struct arena *arena,
                           struct yaml_node *values, struct error *error)
{
    double ends[2] = {0, 0};
    int64_t count = 0;
    TRY(check_list(list, "log_range", "[1ns, 100ms, 9]: first, last, how many", error));
    TRY(read_ends(list, key, ends, error));
    char shown[TEXT_SHOW_BYTES], text[UNITS_TEXT_BYTES];
    const char *how_many = list->items[2]->text;
    if (units_integer(how_many, &count, NULL) != STATUS_OK || count < 2 || count > PLAN_RUN_LIMIT)
        return yaml_error(error, list->items[2], "log_range: '%s' is no number of values; expected 2 to %d",
                          text_show(how_many, shown), PLAN_RUN_LIMIT);
    double low = log10(ends[0]), high = log10(ends[1]);
    start_nodes(list, (size_t)count, arena, values);
    add_node(values, arena, list->items[0]->text);
    for (int64_t i = 1; i + 1 < count; i++) {
        write_rounded(pow(10, low + (high - low) * ((double)i / (double)(count - 1))), key->type, text);
        add_node(values, arena, text);
    }
    add_node(values, arena, list->items[1]->text);
    return STATUS_OK;
}
