/* The laws of beta that a scenario can name: strategies with keys of their own. See beta.h.
 *
 * A to D are those of PAC-ML (PAC-ML simulator, section 10): uniform, and
 * skew-normal with shapes 5, 0 and -5.
 */
#include <stdio.h>

#include "cluster/beta.h"
#include "input/text.h"
#include "input/units.h"

/* Laws with keys fill their own part of this. */
struct beta_settings {
    double value, skew;
    const char *table; /* a path, found */
    struct key_list mixture;
};

#define SETTINGS struct beta_settings
static const struct key value_keys[] = {{NUMBER_KEY("workload.beta_value", value), .minimum = ">0", .maximum = "1",
                                         .doc = "The share every job gets.", .example = "0.5", .is_needed = true}};
static const struct key skew_keys[] = {
    {NUMBER_KEY("workload.beta_skew", skew), .minimum = "-1000", .maximum = "1000",
     .doc = "Shape of the skew-normal shares: above zero mostly small, below zero mostly large.", .example = "5",
     .is_needed = true}};
static const struct key table_keys[] = {{FILE_KEY("workload.beta_table", table),
                                         .doc = "A CSV file of shares and their probabilities.",
                                         .example = "shares.csv", .is_needed = true}};
static const struct key mixture_keys[] = {{LIST_KEY("workload.beta_mixture", mixture),
                                           .doc = "Named laws (A, B, C, D) with their shares.",
                                           .example = "[A:0.5, D:0.5]", .is_needed = true}};

static enum status check_mixture(const struct keys *keys, const void *settings, struct error *error);

enum shape { UNIFORM, SKEWED, FIXED, TABLE, MIXTURE };

#define KEYS(rows) STRATEGY_KEYS(rows, struct beta_settings)
static const struct law {
    struct strategy strategy;
    enum shape shape;
    double skew; /* of a law that has no key for it */
} laws[] = {
    {{.name = "A", .doc = "published: 0.10, 0.11, ..., 1.00, each equally likely"}, UNIFORM, 0},
    {{.name = "B", .doc = "published: skew-normal, most shares small"}, SKEWED, 5},
    {{.name = "C", .doc = "published: normal, most shares in the middle"}, SKEWED, 0},
    {{.name = "D", .doc = "published: skew-normal, most shares large"}, SKEWED, -5},
    {{.name = "uniform", .doc = "0.10, 0.11, ..., 1.00, each equally likely, as A"}, UNIFORM, 0},
    {{.name = "fixed", .doc = "workload.beta_value for every job", KEYS(value_keys)}, FIXED, 0},
    {{.name = "skew_normal", .doc = "as B, C and D, with the shape workload.beta_skew", KEYS(skew_keys)}, SKEWED, 0},
    {{.name = "table", .doc = "shares and probabilities from workload.beta_table", KEYS(table_keys)}, TABLE, 0},
    {{.name = "mixture",
      .doc = "several of A to D, by workload.beta_mixture",
      .check = check_mixture,
      KEYS(mixture_keys)},
     MIXTURE,
     0},
};

static const struct strategy *const entries[] = {&laws[0].strategy, &laws[1].strategy, &laws[2].strategy,
                                                 &laws[3].strategy, &laws[4].strategy, &laws[5].strategy,
                                                 &laws[6].strategy, &laws[7].strategy, &laws[8].strategy};
_Static_assert(sizeof entries / sizeof *entries == sizeof laws / sizeof *laws, "one entry per law");
const struct registry distributions = {.kind = "distributions",
                                       .strategies = entries,
                                       .count = sizeof entries / sizeof *entries,
                                       .standard = &laws[0].strategy};

/* "A:0.5": a published law of one letter, a colon, its share. NULL where it is anything else. */
static const struct law *read_share(const char *item, double *share)
{
    bool is_law = item[0] >= 'A' && item[0] <= 'D' && item[1] == ':';
    bool is_good = is_law && units_number(item + 2, share, NULL) == STATUS_OK && *share > 0;
    return is_good ? &laws[item[0] - 'A'] : NULL;
}

static enum status check_mixture(const struct keys *keys, const void *settings, struct error *error)
{
    const struct key_list *items = &((const struct beta_settings *)settings)->mixture;
    char shown[TEXT_SHOW_BYTES];
    double share;
    for (size_t i = 0; i < items->count; i++)
        if (!read_share(items->items[i], &share))
            return keys_error(keys, keys_named(keys, mixture_keys[0].name), error,
                              "found '%s'; expected a law (A, B, C or D) and its share, e.g. A:0.5",
                              text_show(items->items[i], shown));
    return STATUS_OK;
}

static enum status fill_law(const struct law *law, const struct beta_settings *settings, uint64_t seed,
                            struct beta_law *out, struct error *error);

static enum status fill_mixture(const struct key_list *items, uint64_t seed, struct beta_law *out, struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < items->count && status == STATUS_OK; i++) {
        struct beta_law one = {0};
        double share;
        const struct law *law = read_share(items->items[i], &share);
        require(law); /* check_mixture saw it */
        status = fill_law(law, NULL, seed, &one, error);
        beta_mix(out, &one, share);
        beta_free(&one);
    }
    return status;
}

static enum status fill_law(const struct law *law, const struct beta_settings *settings, uint64_t seed,
                            struct beta_law *out, struct error *error)
{
    struct random_stream *random;
    require(settings || !law->strategy.key_count);
    switch (law->shape) {
    case UNIFORM:
        beta_uniform(out);
        break;
    case SKEWED:
        random = random_open(seed, "beta.table", 0);
        beta_skew_normal(out, settings ? settings->skew : law->skew, random);
        random_close(random);
        break;
    case FIXED:
        beta_fixed(out, settings->value);
        break;
    case TABLE:
        return beta_load(out, settings->table, error);
    case MIXTURE:
        return fill_mixture(&settings->mixture, seed, out, error);
    }
    return STATUS_OK;
}

enum status beta_fill(const struct choice *choice, uint64_t seed, struct beta_law *law, struct error *error)
{
    require(law->count == 0);
    return fill_law((const struct law *)choice->strategy, choice->settings, seed, law, error);
}
