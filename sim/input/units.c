/* Units: see units.h. A quantity is kept as decimal digits and an exponent; a unit is a small whole factor and an
 * exponent, so that scaling is one multiplication on digits and the only rounding is the last step (strtod, which
 * rounds correctly). */
#include "input/units.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/text.h"

/* Digits that may be written, and room for them times the largest factor (2^50). */
enum { DIGIT_LIMIT = 64, DIGIT_ROOM = 96, EXPONENT_LIMIT = 4000 };

/* 0.d1d2...dn is not used: the value is the whole number d1...dn times 10^exponent. */
struct decimal {
    bool is_negative;
    int count; /* digits; 0 = the value zero */
    int exponent;
    unsigned char digits[DIGIT_ROOM]; /* most significant first, no leading and no trailing zero */
};

struct unit {
    const char *name;
    uint64_t factor;
    int exponent;
};

struct unit_family {
    const struct unit *units;
    const char *expected; /* for messages */
};

static const struct unit time_units[] = {{"ps", 1, -12}, {"ns", 1, -9}, {"us", 1, -6}, {"ms", 1, -3}, {"s", 1, 0},
                                         {"min", 6, 1},  {"h", 36, 2},  {"d", 864, 2}, {NULL, 0, 0}};
static const struct unit rate_units[] = {
    {"B/s", 1, 0},      {"kB/s", 1, 3},      {"MB/s", 1, 6},     {"GB/s", 1, 9},     {"TB/s", 1, 12},
    {"PB/s", 1, 15},    {"bit/s", 125, -3},  {"kbit/s", 125, 0}, {"Mbit/s", 125, 3}, {"Gbit/s", 125, 6},
    {"Tbit/s", 125, 9}, {"Pbit/s", 125, 12}, {NULL, 0, 0}};
static const struct unit size_units[] = {{"B", 1, 0},
                                         {"kB", 1, 3},
                                         {"MB", 1, 6},
                                         {"GB", 1, 9},
                                         {"TB", 1, 12},
                                         {"PB", 1, 15},
                                         {"KiB", (uint64_t)1 << 10, 0},
                                         {"MiB", (uint64_t)1 << 20, 0},
                                         {"GiB", (uint64_t)1 << 30, 0},
                                         {"TiB", (uint64_t)1 << 40, 0},
                                         {"PiB", (uint64_t)1 << 50, 0},
                                         {NULL, 0, 0}};

static const struct unit_family times = {time_units, "ps, ns, us, ms, s, min, h or d, e.g. 1000s"};
static const struct unit_family rates = {
    rate_units, "B/s, kB/s, MB/s, GB/s, TB/s, PB/s, or bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s, Pbit/s, e.g. 1.6TB/s"};
static const struct unit_family sizes = {size_units, "B, kB, MB, GB, TB, PB, or KiB, MiB, GiB, TiB, PiB, e.g. 80GB"};

static enum status refuse(struct error *error, const char *text, const char *why)
{
    char shown[TEXT_SHOW_BYTES];
    return error_set(error, STATUS_USER, "'%s': %s", text_show(text, shown), why);
}

static void strip_trailing_zeros(struct decimal *decimal)
{
    while (decimal->count > 0 && decimal->digits[decimal->count - 1] == 0) {
        decimal->count--;
        decimal->exponent++;
    }
}

/* Reads the digits around the point. Returns what follows them; NULL = no digit at all or too many. Zeros at either
 * end are no burden on the limit. */
static const char *read_digits(const char *at, struct decimal *decimal, bool *is_too_long)
{
    bool has_digit = false, has_point = false;
    int zeros = 0; /* pending zeros: they count once a digit follows */
    for (; isdigit((unsigned char)*at) || (*at == '.' && !has_point); at++) {
        if (*at == '.') {
            has_point = true;
            continue;
        }
        has_digit = true;
        if (has_point)
            decimal->exponent--;
        if (*at == '0') {
            zeros += decimal->count > 0;
            continue;
        }
        if (zeros >= DIGIT_LIMIT || decimal->count + zeros >= DIGIT_LIMIT) {
            *is_too_long = true;
            return NULL;
        }
        for (; zeros > 0; zeros--)
            decimal->digits[decimal->count++] = 0;
        decimal->digits[decimal->count++] = (unsigned char)(*at - '0');
    }
    decimal->exponent += zeros;
    return has_digit ? at : NULL;
}

static const char *read_exponent(const char *at, struct decimal *decimal)
{
    if (*at != 'e' && *at != 'E')
        return at;
    const char *digit = at + 1;
    int sign = *digit == '-' ? -1 : 1;
    if (*digit == '-' || *digit == '+')
        digit++;
    if (!isdigit((unsigned char)*digit))
        return at; /* the letter belongs to a unit */
    int exponent = 0;
    for (; isdigit((unsigned char)*digit); digit++) {
        if (exponent < EXPONENT_LIMIT)
            exponent = exponent * 10 + (*digit - '0');
    }
    decimal->exponent += sign * exponent;
    return digit;
}

/* Reads the number at the start of text; *rest is what follows, past one space. */
static enum status read_decimal(const char *text, struct decimal *decimal, const char **rest, struct error *error)
{
    if (strlen(text) > 1000)
        return refuse(error, text, "too long for a number");
    *decimal = (struct decimal){0};
    const char *at = text;
    decimal->is_negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    bool is_too_long = false;
    at = read_digits(at, decimal, &is_too_long);
    if (!at)
        return refuse(error, text, is_too_long ? "a number of more than 64 digits" : "not a number");
    at = read_exponent(at, decimal);
    if (decimal->count == 0)
        *decimal = (struct decimal){0};
    if (*at == ' ' && at[1])
        at++;
    *rest = at;
    return STATUS_OK;
}

static void scale(struct decimal *decimal, const struct unit *unit)
{
    if (decimal->count == 0)
        return;
    decimal->exponent += unit->exponent;
    if (unit->factor == 1)
        return;
    unsigned char product[DIGIT_ROOM];
    int first = DIGIT_ROOM;
    uint64_t carry = 0;
    for (int i = decimal->count; i > 0 || carry;) {
        if (i > 0)
            carry += decimal->digits[--i] * unit->factor;
        require(first > 0);
        product[--first] = (unsigned char)(carry % 10);
        carry /= 10;
    }
    decimal->count = DIGIT_ROOM - first;
    memcpy(decimal->digits, product + first, (size_t)decimal->count);
}

static enum status read_plain(const char *text, struct decimal *decimal, struct error *error)
{
    const char *rest = NULL;
    enum status status = read_decimal(text, decimal, &rest, error);
    if (status != STATUS_OK)
        return status;
    if (*rest)
        return refuse(error, text, "a plain number is expected here, without a unit or other text behind it");
    strip_trailing_zeros(decimal);
    return STATUS_OK;
}

/* A number with a unit of the family; NULL: without a unit. */
static enum status read_quantity(const char *text, const struct unit_family *family, struct decimal *decimal,
                                 struct error *error)
{
    require(text);
    if (!family)
        return read_plain(text, decimal, error);
    const char *name = NULL;
    enum status status = read_decimal(text, decimal, &name, error);
    if (status != STATUS_OK)
        return error ? error_wrap(error, "expected a number with a unit: %s", family->expected) : status;
    char shown[TEXT_SHOW_BYTES];
    if (!*name)
        return error_set(error, STATUS_USER, "'%s': missing unit; expected %s", text_show(text, shown),
                         family->expected);
    for (const struct unit *unit = family->units; unit->name; unit++) {
        if (strcmp(unit->name, name) == 0) {
            scale(decimal, unit);
            strip_trailing_zeros(decimal);
            return STATUS_OK;
        }
    }
    return error_set(error, STATUS_USER, "'%s': unknown unit; expected %s", text_show(text, shown), family->expected);
}

/* Whole numbers only. Returns false where it does not fit. */
static bool whole_value(const struct decimal *decimal, int64_t *value)
{
    require(decimal->exponent >= 0 || decimal->count == 0);
    if (decimal->count == 0) {
        *value = 0;
        return true;
    }
    if (decimal->count + decimal->exponent > 19)
        return false;
    uint64_t sum = 0;
    for (int i = 0; i < decimal->count; i++)
        sum = sum * 10 + decimal->digits[i];
    for (int i = 0; i < decimal->exponent; i++)
        sum *= 10;
    if (sum > (uint64_t)INT64_MAX)
        return false;
    *value = decimal->is_negative ? -(int64_t)sum : (int64_t)sum;
    return true;
}

/* The nearest double; infinite where it is too large, zero for a value too small. */
static double double_value(const struct decimal *decimal)
{
    char text[DIGIT_ROOM + 32];
    int used = 0;
    if (decimal->is_negative)
        text[used++] = '-';
    if (decimal->count == 0)
        text[used++] = '0';
    for (int i = 0; i < decimal->count; i++)
        text[used++] = (char)('0' + decimal->digits[i]);
    snprintf(text + used, sizeof text - (size_t)used, "e%d", decimal->count ? decimal->exponent : 0);
    return strtod(text, NULL);
}

/* Whole numbers; of a time, picoseconds. */
static enum status read_whole(const char *text, const struct unit_family *family, const char *too_fine,
                              const char *too_large, int64_t *value, struct error *error)
{
    struct decimal decimal;
    enum status status = read_quantity(text, family, &decimal, error);
    if (status != STATUS_OK)
        return status;
    if (family && decimal.count > 0)
        decimal.exponent += 12;
    if (decimal.exponent < 0)
        return refuse(error, text, too_fine);
    return whole_value(&decimal, value) ? STATUS_OK : refuse(error, text, too_large);
}

static enum status read_double(const char *text, const struct unit_family *family, double *value, struct error *error)
{
    struct decimal decimal;
    enum status status = read_quantity(text, family, &decimal, error);
    if (status != STATUS_OK)
        return status;
    double nearest = double_value(&decimal);
    if (!isfinite(nearest))
        return refuse(error, text, "too large a number");
    if (nearest == 0 && decimal.count > 0)
        return refuse(error, text, "too small a number, it would count as zero");
    *value = nearest;
    return STATUS_OK;
}

enum status units_time_ps(const char *text, int64_t *time_ps, struct error *error)
{
    return read_whole(text, &times, "finer than a picosecond; expected whole picoseconds, e.g. 1ps",
                      "too long a time; at most 9223372.036854775807s (106 days) can be counted in ps", time_ps, error);
}

enum status units_integer(const char *text, int64_t *value, struct error *error)
{
    return read_whole(text, NULL, "a whole number is expected here", "too large; at most 9223372036854775807", value,
                      error);
}

enum status units_time_s(const char *text, double *time_s, struct error *error)
{
    return read_double(text, &times, time_s, error);
}

enum status units_rate(const char *text, double *rate_bytes_per_s, struct error *error)
{
    return read_double(text, &rates, rate_bytes_per_s, error);
}

enum status units_size(const char *text, double *size_bytes, struct error *error)
{
    return read_double(text, &sizes, size_bytes, error);
}

enum status units_number(const char *text, double *value, struct error *error)
{
    return read_double(text, NULL, value, error);
}

/* The shortest decimal that reads back as value; whole numbers in full, not as 1e+06. */
void units_format_number(double value, char *text)
{
    require(isfinite(value) && text);
    if (fabs(value) < 1e15 && floor(value) == value) {
        snprintf(text, UNITS_TEXT_BYTES, "%.0f", value == 0 ? 0.0 : value);
        return;
    }
    int digits = 1;
    do {
        snprintf(text, UNITS_TEXT_BYTES, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && digits++ < 17);
    require(digits <= 17); /* 17 digits always read back */
}

void units_format_time_ps(int64_t time_ps, char *text)
{
    require(text && time_ps > INT64_MIN);
    static const char *const names[] = {"ps", "ns", "us", "ms", "s"};
    size_t unit = time_ps == 0 ? 4 : 0;
    while (unit < 4 && time_ps % 1000 == 0) {
        time_ps /= 1000;
        unit++;
    }
    snprintf(text, UNITS_TEXT_BYTES, "%lld%s", (long long)time_ps, names[unit]);
}

/* Goes down the decimal units (the first `count` of the family, ascending) to the largest one that gives a number of
 * at least 1 and reads back exactly. */
static void format_in(double value, const struct unit_family *family, int count, char *text)
{
    for (int i = count - 1; i > 0; i--) {
        double in_unit = value / pow(10, family->units[i].exponent);
        if (fabs(in_unit) < 1 || !isfinite(in_unit))
            continue;
        char number[UNITS_TEXT_BYTES];
        double back = 0;
        snprintf(number, sizeof number, "%.15g", in_unit);
        snprintf(text, UNITS_TEXT_BYTES, "%.40s%s", number, family->units[i].name);
        if (read_double(text, family, &back, NULL) == STATUS_OK && back == value)
            return;
    }
    char number[UNITS_TEXT_BYTES];
    units_format_number(value, number);
    snprintf(text, UNITS_TEXT_BYTES, "%.40s%s", number, family->units[0].name);
}

void units_format_time_s(double time_s, char *text)
{
    char number[UNITS_TEXT_BYTES];
    units_format_number(time_s, number);
    snprintf(text, UNITS_TEXT_BYTES, "%.40ss", number);
}

void units_format_rate(double rate_bytes_per_s, char *text)
{
    format_in(rate_bytes_per_s, &rates, 6, text);
}

void units_format_size(double size_bytes, char *text)
{
    format_in(size_bytes, &sizes, 6, text);
}
