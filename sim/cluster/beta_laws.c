/* The laws of beta that a scenario can name: strategies with keys of their own. See beta.h.
 *
 * A to D are those of PAC-ML (PAC-ML simulator, section 10): uniform, and
 * skew-normal with shapes 5, 0 and -5.
 */
#include <stdio.h>

#include "cluster/beta.h"
#include "input/text.h"
#include "input/units.h"

static enum status fill_uniform(const struct beta_kind *kind, const void *settings, uint64_t seed, struct beta_law *law,
                                struct error *error)
{
    (void)kind, (void)settings, (void)seed, (void)error;
    beta_uniform(law);
    return STATUS_OK;
}

static enum status fill_skewed(double skew, uint64_t seed, struct beta_law *law)
{
    struct random_stream *random = random_open(seed, "beta.table", 0);
    beta_skew_normal(law, skew, random);
    random_close(random);
    return STATUS_OK;
}

static enum status fill_published(const struct beta_kind *kind, const void *settings, uint64_t seed,
                                  struct beta_law *law, struct error *error)
{
    (void)settings, (void)error;
    return fill_skewed(kind->skew, seed, law);
}

const struct beta_kind beta_law_a = {
    .strategy = {.name = "A", .doc = "published: 0.10, 0.11, ..., 1.00, each equally likely"}, .fill = fill_uniform};
const struct beta_kind beta_law_b = {
    .strategy = {.name = "B", .doc = "published: skew-normal, most shares small"}, .fill = fill_published, .skew = 5};
const struct beta_kind beta_law_c = {.strategy = {.name = "C", .doc = "published: normal, most shares in the middle"},
                                     .fill = fill_published};
const struct beta_kind beta_law_d = {
    .strategy = {.name = "D", .doc = "published: skew-normal, most shares large"}, .fill = fill_published, .skew = -5};
const struct beta_kind beta_law_uniform = {
    .strategy = {.name = "uniform", .doc = "0.10, 0.11, ..., 1.00, each equally likely, as A"}, .fill = fill_uniform};

/* ---- laws with keys of their own ---- */

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

static enum status fill_fixed(const struct beta_kind *kind, const void *settings, uint64_t seed, struct beta_law *law,
                              struct error *error)
{
    const struct beta_settings *own = settings;
    (void)kind, (void)seed, (void)error;
    beta_fixed(law, own->value);
    return STATUS_OK;
}

static enum status fill_skew_normal(const struct beta_kind *kind, const void *settings, uint64_t seed,
                                    struct beta_law *law, struct error *error)
{
    const struct beta_settings *own = settings;
    (void)kind, (void)error;
    return fill_skewed(own->skew, seed, law);
}

static enum status fill_table(const struct beta_kind *kind, const void *settings, uint64_t seed, struct beta_law *law,
                              struct error *error)
{
    const struct beta_settings *own = settings;
    (void)kind, (void)seed;
    return beta_load(law, own->table, error);
}

/* "A:0.5": a published law of one letter, a colon, its share. NULL where it is anything else. */
static const struct beta_kind *read_share(const char *item, double *share)
{
    static const struct beta_kind *const published[] = {&beta_law_a, &beta_law_b, &beta_law_c, &beta_law_d};
    bool is_law = item[0] >= 'A' && item[0] <= 'D' && item[1] == ':';
    if (!is_law || units_number(item + 2, share, NULL) != STATUS_OK || *share <= 0)
        return NULL;
    return published[item[0] - 'A'];
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

static enum status fill_mixture(const struct beta_kind *kind, const void *settings, uint64_t seed, struct beta_law *law,
                                struct error *error)
{
    const struct key_list *items = &((const struct beta_settings *)settings)->mixture;
    enum status status = STATUS_OK;
    (void)kind;
    for (size_t i = 0; i < items->count && status == STATUS_OK; i++) {
        struct beta_law one = {0};
        double share;
        const struct beta_kind *part = read_share(items->items[i], &share);
        require(part); /* check_mixture saw it */
        status = part->fill(part, NULL, seed, &one, error);
        beta_mix(law, &one, share);
        beta_free(&one);
    }
    return status;
}

const struct beta_kind beta_law_fixed = {.strategy = {.name = "fixed",
                                                      .doc = "workload.beta_value for every job",
                                                      STRATEGY_KEYS(value_keys, struct beta_settings)},
                                         .fill = fill_fixed};
const struct beta_kind beta_law_skew_normal = {.strategy = {.name = "skew_normal",
                                                            .doc = "as B, C and D, with the shape workload.beta_skew",
                                                            STRATEGY_KEYS(skew_keys, struct beta_settings)},
                                               .fill = fill_skew_normal};
const struct beta_kind beta_law_table = {.strategy = {.name = "table",
                                                      .doc = "shares and probabilities from workload.beta_table",
                                                      STRATEGY_KEYS(table_keys, struct beta_settings)},
                                         .fill = fill_table};
const struct beta_kind beta_law_mixture = {.strategy = {.name = "mixture",
                                                        .doc = "several of A to D, by workload.beta_mixture",
                                                        .check = check_mixture,
                                                        STRATEGY_KEYS(mixture_keys, struct beta_settings)},
                                           .fill = fill_mixture};

/* One line per law. */
#define DISTRIBUTIONS(_, type)                                                                                         \
    _(type, beta_law_a)                                                                                                \
    _(type, beta_law_b)                                                                                                \
    _(type, beta_law_c)                                                                                                \
    _(type, beta_law_d)                                                                                                \
    _(type, beta_law_uniform)                                                                                          \
    _(type, beta_law_fixed)                                                                                            \
    _(type, beta_law_skew_normal)                                                                                      \
    _(type, beta_law_table)                                                                                            \
    _(type, beta_law_mixture)
REGISTRY(distributions, struct beta_kind, DISTRIBUTIONS, beta_law_a)

enum status beta_fill(const struct choice *choice, uint64_t seed, struct beta_law *law, struct error *error)
{
    const struct beta_kind *kind = (const struct beta_kind *)choice->strategy;
    return kind->fill(kind, choice->settings, seed, law, error);
}
