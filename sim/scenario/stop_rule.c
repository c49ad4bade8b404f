/* How often each point of a sweep is run: see stop_rule.h. */
#include "scenario/stop_rule.h"

#include <math.h>
#include <string.h>

#include "engine/statistics.h"
#include "scenario/plan_axes.h"
#include "input/text.h"
#include "input/units.h"

static const char *const stop_members[] = {"metric", "relative_half_width", "max_repeat", NULL};

static enum status read_repetitions(const struct yaml_node *node, const char *name, uint32_t least, uint32_t *count,
                                    struct error *error)
{
    int64_t value = 0;
    TRY(plan_need_scalar(node, name, error));
    char shown[TEXT_SHOW_BYTES];
    if (units_integer(node->text, &value, NULL) != STATUS_OK || value < least || value > PLAN_RUN_LIMIT)
        return yaml_error(error, node, "%s: '%s' is not allowed; expected a whole number from %u to %d", name,
                          text_show(node->text, shown), (unsigned)least, PLAN_RUN_LIMIT);
    *count = (uint32_t)value;
    return STATUS_OK;
}

static enum status read_metric(const struct yaml_node *node, enum metric *metric, struct error *error)
{
    const char *names[METRIC_COUNT + 1] = {0};
    for (int i = 0; i < METRIC_COUNT; i++)
        names[i] = metric_name((enum metric)i);
    TRY(plan_need_scalar(node, "metric", error));
    for (int i = 0; i < METRIC_COUNT; i++) {
        *metric = (enum metric)i;
        if (strcmp(node->text, names[i]) == 0)
            return STATUS_OK;
    }
    char shown[TEXT_SHOW_BYTES];
    const char *nearest = plan_nearest(node->text, names);
    return yaml_error(error, node, "metric: '%s' is no column of runs.csv; %s %s%s", text_show(node->text, shown),
                      nearest ? "did you mean" : "e.g.", nearest ? nearest : names[METRIC_BLOCKING_RATE],
                      nearest ? "?" : "");
}

static enum status read_stop(const struct yaml_node *node, struct stop_rule *rule, struct error *error)
{
    if (node->kind != YAML_MAPPING)
        return yaml_error(error, node,
                          "stop_when: expected {metric: blocking_rate, relative_half_width: 0.05, max_repeat: 50}, "
                          "found %s",
                          yaml_kind_name(node));
    TRY(plan_check_members(node, stop_members, "stop_when", error));
    const struct yaml_node *metric = yaml_get(node, "metric"), *width = yaml_get(node, "relative_half_width");
    const struct yaml_node *most = yaml_get(node, "max_repeat");
    if (!metric || !width || !most)
        return yaml_error(error, node, "stop_when: needs metric, relative_half_width and max_repeat");
    TRY(read_metric(metric, &rule->metric, error));
    TRY(plan_need_scalar(width, "relative_half_width", error));
    double value = 0;
    char shown[TEXT_SHOW_BYTES];
    if (units_number(width->text, &value, NULL) != STATUS_OK || !(value > 0 && value < 1))
        return yaml_error(error, width, "relative_half_width: '%s' is not allowed; expected a number between 0 and 1",
                          text_show(width->text, shown));
    rule->is_adaptive = true;
    rule->relative_half_width = value;
    return read_repetitions(most, "max_repeat", rule->least, &rule->most, error);
}

enum status stop_rule_read(const struct yaml_node *sweep, struct stop_rule *rule, struct error *error)
{
    require(sweep && sweep->kind == YAML_MAPPING && rule);
    const struct yaml_node *repeat = yaml_get(sweep, "repeat"), *stop = yaml_get(sweep, "stop_when");
    struct stop_rule made = {.least = stop ? 2 : 1}; /* an interval takes two runs */
    if (repeat)
        TRY(read_repetitions(repeat, "repeat", 1, &made.least, error));
    made.most = made.least;
    if (stop)
        TRY(read_stop(stop, &made, error));
    require(made.least >= 1 && made.most >= made.least && (made.is_adaptive || made.most == made.least));
    *rule = made;
    return STATUS_OK;
}

/* Below two values there is no interval; a mean of exactly zero is met only by a width of zero. */
bool stop_rule_is_met(const struct stop_rule *rule, size_t done, double mean, double half_width)
{
    return rule->is_adaptive && done >= rule->least && half_width <= rule->relative_half_width * fabs(mean);
}

size_t stop_rule_count(const struct stop_rule *rule, size_t count, const bool *is_done, const double *values,
                       bool *is_settled)
{
    require(count > 0 && is_done && (values || !rule->is_adaptive));
    struct statistics_sample sample = {0};
    size_t done = 0, least = rule->least < count ? rule->least : count;
    while (done < count && is_done[done]) {
        if (rule->is_adaptive && !isnan(values[done]))
            statistics_sample_add(&sample, values[done]);
        done++;
        *is_settled = stop_rule_is_met(rule, done, sample.mean, statistics_sample_half_width(&sample));
        if (*is_settled)
            return done;
    }
    *is_settled = done == count;
    return done > least ? done : least; /* a point that misses one of its first repetitions still shows those it has */
}
