/* How often each point of a sweep is run: `repeat` and `stop_when`. */
#include "scenario/plan_axes.h"

#include <string.h>

#include "cluster/metrics.h"
#include "input/text.h"
#include "input/units.h"

static const char *const stop_members[] = {"metric", "relative_half_width", "max_repeat", NULL};

static enum status read_count(const struct yaml_node *node, const char *name, uint32_t least, uint32_t *count,
                              struct error *error)
{
    int64_t value = 0;
    enum status status = plan_need_scalar(node, name, error);
    if (status != STATUS_OK)
        return status;
    char shown[TEXT_SHOW_BYTES];
    if (units_integer(node->text, &value, NULL) != STATUS_OK || value < least || value > PLAN_RUN_LIMIT)
        return yaml_error(error, node, "%s: '%s' is not allowed; expected a whole number from %u to %d", name,
                          text_show(node->text, shown), (unsigned)least, PLAN_RUN_LIMIT);
    *count = (uint32_t)value;
    return STATUS_OK;
}

static enum status read_metric(const struct yaml_node *node, struct plan_stop *stop, struct error *error)
{
    const char *names[METRIC_COUNT + 1] = {0};
    for (int metric = 0; metric < METRIC_COUNT; metric++)
        names[metric] = metric_name((enum metric)metric);
    enum status status = plan_need_scalar(node, "metric", error);
    if (status != STATUS_OK)
        return status;
    for (int metric = 0; metric < METRIC_COUNT; metric++) {
        if (strcmp(node->text, names[metric]) == 0)
            stop->metric = names[metric];
    }
    if (stop->metric)
        return STATUS_OK;
    char shown[TEXT_SHOW_BYTES];
    const char *nearest = plan_nearest(node->text, names);
    return yaml_error(error, node, "metric: '%s' is no column of runs.csv; %s %s%s", text_show(node->text, shown),
                      nearest ? "did you mean" : "e.g.", nearest ? nearest : names[METRIC_BLOCKING_RATE],
                      nearest ? "?" : "");
}

static enum status read_stop(const struct yaml_node *node, struct sweep *sweep, struct error *error)
{
    struct plan_stop *stop = &sweep->stop;
    if (node->kind != YAML_MAPPING)
        return yaml_error(error, node,
                          "stop_when: expected {metric: blocking_rate, relative_half_width: 0.05, max_repeat: 50}, "
                          "found %s",
                          yaml_kind_name(node));
    enum status status = plan_check_members(node, stop_members, "stop_when", error);
    if (status != STATUS_OK)
        return status;
    const struct yaml_node *metric = yaml_get(node, "metric"), *width = yaml_get(node, "relative_half_width");
    const struct yaml_node *most = yaml_get(node, "max_repeat");
    if (!metric || !width || !most)
        return yaml_error(error, node, "stop_when: needs metric, relative_half_width and max_repeat");
    status = read_metric(metric, stop, error);
    if (status == STATUS_OK)
        status = plan_need_scalar(width, "relative_half_width", error);
    if (status != STATUS_OK)
        return status;
    double value = 0;
    char shown[TEXT_SHOW_BYTES];
    if (units_number(width->text, &value, NULL) != STATUS_OK || !(value > 0 && value < 1))
        return yaml_error(error, width, "relative_half_width: '%s' is not allowed; expected a number between 0 and 1",
                          text_show(width->text, shown));
    stop->relative_half_width = value;
    return read_count(most, "max_repeat", sweep->repeat, &stop->max_repeat, error);
}

enum status plan_repeat_read(const struct yaml_node *node, struct sweep *sweep, struct error *error)
{
    require(node && node->kind == YAML_MAPPING && sweep);
    const struct yaml_node *repeat = yaml_get(node, "repeat"), *stop = yaml_get(node, "stop_when");
    /* An interval takes two runs. */
    sweep->repeat = stop ? 2 : 1;
    enum status status = repeat ? read_count(repeat, "repeat", 1, &sweep->repeat, error) : STATUS_OK;
    return status == STATUS_OK && stop ? read_stop(stop, sweep, error) : status;
}
