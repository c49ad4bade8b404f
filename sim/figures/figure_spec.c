/* The `figures` key: see figure_spec.h. One table lists the members with the plots in which they mean something, so a
 * member without effect is refused just like an unknown one. */
#include "figures/figure_spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cluster/metrics.h"
#include "figures/figure_columns.h"
#include "input/text.h"
#include "input/units.h"

enum { NAME_LIMIT_BYTES = 64 };

static const char *const plot_names[FIGURE_PLOT_COUNT] = {"bars", "lines", "stacked", "cdf", "histogram", "scatter"};

const char *figure_plot_name(enum figure_plot plot)
{
    require(plot < FIGURE_PLOT_COUNT);
    return plot_names[plot];
}

struct reader {
    struct figure_axes axes;
    struct arena *arena;
    struct figure_spec *spec;
    struct error *error;
};

/* ---- plain values ---- */

static enum status need_text(struct reader *reader, const struct yaml_node *node, const char *what)
{
    if (node->kind != YAML_SCALAR || !*node->text)
        return yaml_error(reader->error, node, "figures: expected %s, found %s", what,
                          node->kind == YAML_SCALAR ? "nothing" : yaml_kind_name(node));
    return STATUS_OK;
}

static enum status read_text(struct reader *reader, const struct yaml_node *node, const char **text)
{
    enum status status = need_text(reader, node, "a text");
    if (status == STATUS_OK)
        *text = node->text;
    return status;
}

static enum status read_truth(struct reader *reader, const struct yaml_node *node, bool *truth)
{
    bool is_true = node->kind == YAML_SCALAR && strcmp(node->text, "true") == 0;
    if (!is_true && (node->kind != YAML_SCALAR || strcmp(node->text, "false") != 0))
        return yaml_error(reader->error, node, "figures: expected true or false");
    *truth = is_true;
    return STATUS_OK;
}

static enum status read_number(struct reader *reader, const struct yaml_node *node, double *value)
{
    struct error inner = {0};
    enum status status = need_text(reader, node, "a number");
    if (status == STATUS_OK && units_number(node->text, value, &inner) != STATUS_OK)
        status = yaml_error(reader->error, node, "figures: %s", inner.message);
    return status;
}

/* ---- columns ---- */

static enum status refuse_column(struct reader *reader, const struct yaml_node *node, const char *name, bool is_number)
{
    char shown[TEXT_SHOW_BYTES], known[600];
    const char *nearest = figure_columns_nearest(reader->axes, name, is_number);
    figure_columns_list(reader->axes, is_number, known, sizeof known);
    return yaml_error(reader->error, node, "figures: no column '%s'%s%s%s; there are %s", text_show(name, shown),
                      nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "", known);
}

static void note_source(struct reader *reader, struct figure_column column)
{
    reader->spec->uses_jobs = reader->spec->uses_jobs || column.source == FIGURE_FROM_JOB;
}

static enum status read_field(struct reader *reader, const struct yaml_node *node, struct figure_fields *fields)
{
    enum status status = need_text(reader, node, "the name of a column");
    if (status != STATUS_OK)
        return status;
    if (fields->count == FIGURE_FIELD_LIMIT)
        return yaml_error(reader->error, node, "figures: at most %d columns can be put together", FIGURE_FIELD_LIMIT);
    struct figure_column column;
    if (!figure_columns_find_group(reader->axes, node->text, &column))
        return refuse_column(reader, node, node->text, false);
    note_source(reader, column);
    fields->names[fields->count] = node->text;
    fields->columns[fields->count++] = column;
    return STATUS_OK;
}

static enum status read_fields(struct reader *reader, const struct yaml_node *node, struct figure_fields *fields)
{
    if (node->kind != YAML_SEQUENCE)
        return read_field(reader, node, fields);
    enum status status = STATUS_OK;
    if (!node->count)
        status = yaml_error(reader->error, node, "figures: expected the name of a column, found an empty list");
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++)
        status = read_field(reader, node->items[i], fields);
    return status;
}

static enum status read_factor(struct reader *reader, const struct yaml_node *node, const char *start, size_t length,
                               struct figure_factor *factor)
{
    while (length && *start == ' ')
        start++, length--;
    while (length && start[length - 1] == ' ')
        length--;
    const char *name = arena_text(reader->arena, start, length);
    if (!length)
        return yaml_error(reader->error, node,
                          "figures: '%.80s': expected columns and numbers with * or / between, "
                          "e.g. sequential_s/jct_s",
                          node->text);
    if (units_number(name, &factor->constant, NULL) == STATUS_OK) {
        factor->is_constant = true;
        return STATUS_OK;
    }
    if (!figure_columns_find_number(reader->axes, name, &factor->column))
        return refuse_column(reader, node, name, true);
    note_source(reader, factor->column);
    return STATUS_OK;
}

static enum status read_value(struct reader *reader, const struct yaml_node *node, struct figure_value *value)
{
    enum status status = need_text(reader, node, "a column, e.g. blocking_rate, or a ratio, e.g. comm_s/jct_s");
    if (status != STATUS_OK)
        return status;
    bool is_divisor = false;
    value->text = node->text;
    for (const char *at = node->text;; at++) {
        size_t length = strcspn(at, "*/");
        if (value->factor_count == FIGURE_FACTOR_LIMIT)
            return yaml_error(reader->error, node, "figures: at most %d factors", FIGURE_FACTOR_LIMIT);
        struct figure_factor *factor = &value->factors[value->factor_count++];
        *factor = (struct figure_factor){.is_divisor = is_divisor};
        status = read_factor(reader, node, at, length, factor);
        at += length;
        if (status != STATUS_OK || !*at)
            return status;
        is_divisor = *at == '/';
    }
}

/* ---- members ---- */

static enum status read_x(struct reader *reader, const struct yaml_node *node)
{
    if (reader->spec->plot == FIGURE_SCATTER)
        return read_value(reader, node, &reader->spec->x_value);
    return read_fields(reader, node, &reader->spec->x);
}

static enum status read_y(struct reader *reader, const struct yaml_node *node)
{
    struct figure_spec *spec = reader->spec;
    if (spec->plot != FIGURE_STACKED || node->kind != YAML_SEQUENCE) {
        spec->y_count = 1;
        return read_value(reader, node, &spec->ys[0]);
    }
    if (node->count < 1 || node->count > FIGURE_VALUE_LIMIT)
        return yaml_error(reader->error, node, "figures: y: expected from 1 to %d columns", FIGURE_VALUE_LIMIT);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++)
        status = read_value(reader, node->items[i], &spec->ys[spec->y_count++]);
    return status;
}

static enum status read_series(struct reader *reader, const struct yaml_node *node)
{
    return read_fields(reader, node, &reader->spec->series);
}

static enum status read_logx(struct reader *reader, const struct yaml_node *node)
{
    return read_truth(reader, node, &reader->spec->is_x_log);
}

static enum status read_ylog(struct reader *reader, const struct yaml_node *node)
{
    return read_truth(reader, node, &reader->spec->is_y_log);
}

static enum status read_diagonal(struct reader *reader, const struct yaml_node *node)
{
    return read_truth(reader, node, &reader->spec->has_diagonal);
}

static enum status read_shares(struct reader *reader, const struct yaml_node *node)
{
    return read_truth(reader, node, &reader->spec->is_shared);
}

static enum status read_bin(struct reader *reader, const struct yaml_node *node)
{
    enum status status = read_number(reader, node, &reader->spec->bin);
    if (status == STATUS_OK && reader->spec->bin <= 0)
        status = yaml_error(reader->error, node, "figures: bin: expected a width above 0, e.g. 0.01");
    return status;
}

static enum status read_xlabel(struct reader *reader, const struct yaml_node *node)
{
    return read_text(reader, node, &reader->spec->x_label);
}

static enum status read_ylabel(struct reader *reader, const struct yaml_node *node)
{
    return read_text(reader, node, &reader->spec->y_label);
}

static enum status read_caption(struct reader *reader, const struct yaml_node *node)
{
    return read_text(reader, node, &reader->spec->caption);
}

static enum status read_yrange(struct reader *reader, const struct yaml_node *node)
{
    struct figure_spec *spec = reader->spec;
    if (node->kind != YAML_SEQUENCE || node->count != 2)
        return yaml_error(reader->error, node, "figures: yrange: expected two numbers, e.g. [0, 1]; null = automatic");
    enum status status = STATUS_OK;
    if (!yaml_is_null(node->items[0]))
        status = read_number(reader, node->items[0], &spec->y_low);
    if (status == STATUS_OK && !yaml_is_null(node->items[1]))
        status = read_number(reader, node->items[1], &spec->y_high);
    if (status == STATUS_OK && spec->y_low >= spec->y_high)
        status = yaml_error(reader->error, node, "figures: yrange: the first number must be the smaller one");
    return status;
}

static enum status read_labels(struct reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING)
        return yaml_error(reader->error, node, "figures: labels: expected value: text pairs, e.g. {max: Para_max}");
    for (size_t i = 0; i < node->count; i++) {
        enum status status = need_text(reader, node->items[i], "a text");
        if (status != STATUS_OK)
            return status;
    }
    reader->spec->labels = node;
    return STATUS_OK;
}

static enum status read_filter_values(struct reader *reader, const struct yaml_node *value,
                                      struct figure_filter *filter)
{
    const struct yaml_node *const *items = value->kind == YAML_SEQUENCE ? value->items : &value;
    filter->value_count = value->kind == YAML_SEQUENCE ? value->count : 1;
    filter->values = arena_alloc(reader->arena, filter->value_count, sizeof *filter->values);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < filter->value_count && status == STATUS_OK; i++)
        status = read_text(reader, items[i], &filter->values[i]);
    return status;
}

static enum status read_filter_column(struct reader *reader, const struct yaml_node *node, const char *name,
                                      struct figure_filter *filter)
{
    if (!figure_columns_find_group(reader->axes, name, &filter->column))
        return refuse_column(reader, node, name, false);
    note_source(reader, filter->column);
    return STATUS_OK;
}

/* The short form "column=value". */
static enum status read_short_where(struct reader *reader, const struct yaml_node *node)
{
    struct figure_filter *filter = reader->spec->filters;
    const char *equals = strchr(node->text, '=');
    require(equals);
    filter->values = arena_alloc(reader->arena, 1, sizeof *filter->values);
    filter->values[0] = equals + 1;
    filter->value_count = 1;
    const char *name = arena_text(reader->arena, node->text, (size_t)(equals - node->text));
    return read_filter_column(reader, node, name, filter);
}

static enum status read_where(struct reader *reader, const struct yaml_node *node)
{
    struct figure_spec *spec = reader->spec;
    bool is_short = node->kind == YAML_SCALAR && strchr(node->text, '=');
    if (!is_short && (node->kind != YAML_MAPPING || !node->count))
        return yaml_error(reader->error, node,
                          "figures: where: expected column: value pairs, e.g. {workload.beta: [A, B]}");
    spec->filter_count = is_short ? 1 : node->count;
    spec->filters = arena_alloc(reader->arena, spec->filter_count, sizeof *spec->filters);
    if (is_short)
        return read_short_where(reader, node);
    enum status status = STATUS_OK;
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++) {
        status = read_filter_column(reader, node->keys[i], node->keys[i]->text, &spec->filters[i]);
        if (status == STATUS_OK)
            status = read_filter_values(reader, node->items[i], &spec->filters[i]);
    }
    return status;
}

/* ---- references ---- */

static enum status read_marks(struct reader *reader, const struct yaml_node *node, struct figure_reference *reference)
{
    reference->is_level = node->kind == YAML_SCALAR;
    if (reference->is_level)
        return read_number(reader, node, &reference->level);
    if (node->kind != YAML_MAPPING || !node->count)
        return yaml_error(reader->error, node,
                          "figures: values: expected a number or x: number pairs, e.g. {A: 0.26, B: 0.26}");
    reference->xs = arena_alloc(reader->arena, node->count, sizeof *reference->xs);
    reference->ys = arena_alloc(reader->arena, node->count, sizeof *reference->ys);
    reference->count = node->count;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++) {
        reference->xs[i] = node->keys[i]->text;
        status = read_number(reader, node->items[i], &reference->ys[i]);
    }
    return status;
}

static enum status read_reference_member(struct reader *reader, const struct yaml_node *key,
                                         const struct yaml_node *value, struct figure_reference *reference)
{
    if (strcmp(key->text, "label") == 0)
        return read_text(reader, value, &reference->label);
    if (strcmp(key->text, "source") == 0)
        return read_text(reader, value, &reference->source);
    if (strcmp(key->text, "series") == 0)
        return read_text(reader, value, &reference->series);
    if (strcmp(key->text, "values") == 0)
        return read_marks(reader, value, reference);
    char shown[TEXT_SHOW_BYTES];
    return yaml_error(reader->error, key,
                      "figures: reference: unknown member '%s'; there are label, values, source "
                      "and series",
                      text_show(key->text, shown));
}

static enum status read_one_reference(struct reader *reader, const struct yaml_node *node,
                                      struct figure_reference *reference)
{
    enum status status = STATUS_OK;
    reference->node = node;
    if (node->kind != YAML_MAPPING)
        return yaml_error(reader->error, node, "figures: reference: expected {label: ..., values: ..., source: ...}");
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++)
        status = read_reference_member(reader, node->keys[i], node->items[i], reference);
    if (status == STATUS_OK && (!reference->label || !reference->source || !yaml_get(node, "values")))
        status = yaml_error(reader->error, node,
                            "figures: reference: label, values and source are all needed, so that "
                            "a reader can find where a number comes from");
    return status;
}

static enum status read_references(struct reader *reader, const struct yaml_node *node)
{
    struct figure_spec *spec = reader->spec;
    if (node->kind != YAML_SEQUENCE)
        return yaml_error(reader->error, node, "figures: reference: expected a list, found %s", yaml_kind_name(node));
    spec->references = arena_alloc(reader->arena, node->count, sizeof *spec->references);
    spec->reference_count = node->count;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++)
        status = read_one_reference(reader, node->items[i], &spec->references[i]);
    return status;
}

/* ---- one figure ---- */

enum {
    IN_BARS = 1 << FIGURE_BARS,
    IN_LINES = 1 << FIGURE_LINES,
    IN_STACKED = 1 << FIGURE_STACKED,
    IN_CDF = 1 << FIGURE_CDF,
    IN_HISTOGRAM = 1 << FIGURE_HISTOGRAM,
    IN_SCATTER = 1 << FIGURE_SCATTER,
    IN_ALL = (1 << FIGURE_PLOT_COUNT) - 1
};

static const struct member {
    const char *name;
    enum status (*read)(struct reader *, const struct yaml_node *); /* NULL = read before the others */
    int plots;                                                      /* in which it means something */
    int needed;
} members[] = {
    {"name", NULL, IN_ALL, 0},
    {"plot", NULL, IN_ALL, 0},
    {"x", read_x, IN_BARS | IN_LINES | IN_STACKED | IN_SCATTER, IN_BARS | IN_LINES | IN_STACKED | IN_SCATTER},
    {"y", read_y, IN_ALL, IN_ALL},
    {"series", read_series, IN_ALL & ~IN_STACKED, 0},
    {"xlabel", read_xlabel, IN_ALL, 0},
    {"ylabel", read_ylabel, IN_ALL, 0},
    {"caption", read_caption, IN_ALL, 0},
    {"logx", read_logx, IN_LINES | IN_CDF | IN_SCATTER, 0},
    {"ylog", read_ylog, IN_LINES | IN_SCATTER, 0}, /* bars start at zero */
    {"yrange", read_yrange, IN_ALL, 0},
    {"bin", read_bin, IN_HISTOGRAM, 0},
    {"diagonal", read_diagonal, IN_SCATTER, 0},
    {"shares", read_shares, IN_STACKED, 0},
    {"where", read_where, IN_ALL, 0},
    {"labels", read_labels, IN_ALL, 0},
    {"reference", read_references, IN_BARS | IN_LINES | IN_SCATTER, 0},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static enum status read_name(struct reader *reader, const struct yaml_node *node)
{
    const struct yaml_node *name = yaml_get(node, "name");
    if (!name)
        return yaml_error(reader->error, node,
                          "figures: a figure needs a name, e.g. {name: blocking, plot: bars, ...}");
    enum status status = read_text(reader, name, &reader->spec->name);
    if (status != STATUS_OK)
        return status;
    size_t good = strspn(name->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
    if (name->text[good] || good > NAME_LIMIT_BYTES)
        return yaml_error(reader->error, name, "figures: name: it names files, so up to %d letters, digits, - and _",
                          NAME_LIMIT_BYTES);
    return STATUS_OK;
}

static enum status read_plot(struct reader *reader, const struct yaml_node *node)
{
    const struct yaml_node *plot = yaml_get(node, "plot");
    for (int i = 0; plot && plot->kind == YAML_SCALAR && i < FIGURE_PLOT_COUNT; i++) {
        if (strcmp(plot->text, plot_names[i]) == 0) {
            reader->spec->plot = (enum figure_plot)i;
            return STATUS_OK;
        }
    }
    return yaml_error(reader->error, plot ? plot : node,
                      "figures: plot: expected bars, lines, stacked, cdf, histogram or scatter");
}

static enum status refuse_member(struct reader *reader, const struct yaml_node *key)
{
    char shown[TEXT_SHOW_BYTES];
    const char *nearest = NULL;
    int least = 4;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        int far = text_distance(key->text, members[i].name);
        if (far < least) {
            least = far;
            nearest = members[i].name;
        }
    }
    return yaml_error(reader->error, key, "figures: unknown member '%s'%s%s%s", text_show(key->text, shown),
                      nearest ? "; did you mean "
                              : "; there are name, plot, x, y, series, xlabel, ylabel, caption, "
                                "logx, ylog, yrange, bin, diagonal, shares, where, labels and reference",
                      nearest ? nearest : "", nearest ? "?" : "");
}

static enum status read_member(struct reader *reader, const struct yaml_node *key, const struct yaml_node *value)
{
    size_t i = 0;
    while (i < MEMBER_COUNT && strcmp(members[i].name, key->text) != 0)
        i++;
    if (i == MEMBER_COUNT)
        return refuse_member(reader, key);
    if (!(members[i].plots & 1 << reader->spec->plot))
        return yaml_error(reader->error, key, "figures: %s has no effect with plot: %s", members[i].name,
                          figure_plot_name(reader->spec->plot));
    return members[i].read && !yaml_is_null(value) ? members[i].read(reader, value) : STATUS_OK;
}

static enum status check_needed(struct reader *reader, const struct yaml_node *node)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++)
        if (members[i].needed & 1 << reader->spec->plot && !yaml_get(node, members[i].name))
            return yaml_error(reader->error, node, "figures: plot: %s needs %s", figure_plot_name(reader->spec->plot),
                              members[i].name);
    return STATUS_OK;
}

static void spec_init(struct figure_spec *spec)
{
    *spec = (struct figure_spec){.y_low = NAN, .y_high = NAN};
}

static enum status read_figure(struct reader *reader, const struct yaml_node *node)
{
    spec_init(reader->spec);
    reader->spec->node = node;
    if (node->kind != YAML_MAPPING)
        return yaml_error(reader->error, node,
                          "figures: expected a figure, e.g. {name: blocking, plot: bars, x: workload.beta, y: "
                          "blocking_rate}; found %s",
                          yaml_kind_name(node));
    enum status status = read_name(reader, node);
    if (status == STATUS_OK)
        status = read_plot(reader, node);
    for (size_t i = 0; i < node->count && status == STATUS_OK; i++)
        status = read_member(reader, node->keys[i], node->items[i]);
    return status == STATUS_OK ? check_needed(reader, node) : status;
}

/* A few figures a scenario: comparing each with those before is fine up to a limit. */
enum { FIGURE_LIMIT = 100 };

static enum status check_unique(const struct figure_specs *specs, size_t last, struct error *error)
{
    for (size_t i = 0; i < last; i++)
        if (strcmp(specs->items[i].name, specs->items[last].name) == 0)
            return yaml_error(error, specs->items[last].node, "figures: two figures are named '%s'",
                              specs->items[i].name);
    return STATUS_OK;
}

enum status figure_specs_read(const struct yaml_node *node, struct figure_axes axes, struct arena *arena,
                              struct figure_specs *specs, struct error *error)
{
    require(node && arena && specs);
    if (node->kind != YAML_SEQUENCE || node->count > FIGURE_LIMIT)
        return yaml_error(error, node, "figures: expected a list of at most %d figures, found %s", FIGURE_LIMIT,
                          node->kind == YAML_SEQUENCE ? "more" : yaml_kind_name(node));
    struct figure_specs made = {.items = arena_alloc(arena, node->count, sizeof *made.items), .count = node->count};
    for (size_t i = 0; i < node->count; i++) {
        struct reader reader = {axes, arena, &made.items[i], error};
        enum status status = read_figure(&reader, node->items[i]);
        if (status == STATUS_OK)
            status = check_unique(&made, i, error);
        if (status != STATUS_OK)
            return status;
    }
    *specs = made;
    return STATUS_OK;
}

const char *figure_label(const struct figure_spec *spec, const char *text)
{
    const struct yaml_node *label = spec->labels ? yaml_get(spec->labels, text) : NULL;
    return label ? label->text : text;
}

/* ---- figures nobody asked for ---- */

static void take_y(struct figure_spec *spec, const char *name)
{
    struct figure_value *y = &spec->ys[0];
    spec->y_count = 1;
    y->text = name;
    y->factor_count = 1;
    bool is_known = figure_columns_find_number((struct figure_axes){0}, name, &y->factors[0].column);
    require(is_known);
}

void figure_spec_default(struct figure_axes axes, bool is_x_numeric, struct figure_spec *spec)
{
    require(axes.count > 0 && axes.names);
    spec_init(spec);
    spec->name = "blocking_rate";
    spec->plot = is_x_numeric ? FIGURE_LINES : FIGURE_BARS;
    take_y(spec, metric_name(METRIC_BLOCKING_RATE));
    for (size_t axis = 0; axis < axes.count && axis <= FIGURE_FIELD_LIMIT; axis++) {
        struct figure_fields *fields = axis ? &spec->series : &spec->x;
        fields->names[fields->count] = axes.names[axis];
        fields->columns[fields->count++] = (struct figure_column){FIGURE_FROM_AXIS, axis};
    }
}

void figure_spec_default_run(struct figure_spec *spec)
{
    require(spec);
    spec_init(spec);
    spec->name = "jct-cdf";
    spec->plot = FIGURE_CDF;
    spec->uses_jobs = true;
    take_y(spec, job_columns[JOB_JCT].column.name);
}
