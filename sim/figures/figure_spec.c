/* The `figures` key: see figure_spec.h. One table lists the members with the plots in which they mean something, so a
 * member without effect is refused just like an unknown one. */
#include "figures/figure_spec.h"

#include <math.h>
#include <stddef.h>
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

static enum status read_text(struct reader *reader, const struct yaml_node *node, void *field)
{
    TRY(need_text(reader, node, "a text"));
    *(const char **)field = node->text;
    return STATUS_OK;
}

static enum status read_truth(struct reader *reader, const struct yaml_node *node, void *field)
{
    bool is_true = node->kind == YAML_SCALAR && strcmp(node->text, "true") == 0;
    if (!is_true && (node->kind != YAML_SCALAR || strcmp(node->text, "false") != 0))
        return yaml_error(reader->error, node, "figures: expected true or false");
    *(bool *)field = is_true;
    return STATUS_OK;
}

static enum status read_number(struct reader *reader, const struct yaml_node *node, double *value)
{
    struct error inner = {0};
    TRY(need_text(reader, node, "a number"));
    if (units_number(node->text, value, &inner) != STATUS_OK)
        return yaml_error(reader->error, node, "figures: %s", inner.message);
    return STATUS_OK;
}

/* ---- columns ---- */

static enum status refuse_column(struct reader *reader, const struct yaml_node *node, const char *name, bool is_number)
{
    char shown[TEXT_SHOW_BYTES], hint[TEXT_HINT_BYTES], known[600];
    text_hint(figure_columns_nearest(reader->axes, name, is_number), hint);
    figure_columns_list(reader->axes, is_number, known, sizeof known);
    return yaml_error(reader->error, node, "figures: no column '%s'%s; there are %s", text_show(name, shown), hint,
                      known);
}

/* A column whose texts name groups. */
static enum status find_group(struct reader *reader, const struct yaml_node *node, const char *name,
                              struct figure_column *column)
{
    if (!figure_columns_find(reader->axes, name, false, column))
        return refuse_column(reader, node, name, false);
    reader->spec->uses_jobs |= column->source == FIGURE_FROM_JOB;
    return STATUS_OK;
}

static enum status read_fields(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_fields *fields = field;
    const struct yaml_node *const *items = node->kind == YAML_SEQUENCE ? node->items : &node;
    size_t count = node->kind == YAML_SEQUENCE ? node->count : 1;
    if (!count)
        return yaml_error(reader->error, node, "figures: expected the name of a column, found an empty list");
    for (; fields->count < count; fields->count++) {
        const struct yaml_node *item = items[fields->count];
        TRY(need_text(reader, item, "the name of a column"));
        if (fields->count == FIGURE_FIELD_LIMIT)
            return yaml_error(reader->error, item, "figures: at most %d columns can be put together",
                              FIGURE_FIELD_LIMIT);
        TRY(find_group(reader, item, item->text, &fields->columns[fields->count]));
        fields->names[fields->count] = item->text;
    }
    return STATUS_OK;
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
    if (!figure_columns_find(reader->axes, name, true, &factor->column))
        return refuse_column(reader, node, name, true);
    reader->spec->uses_jobs |= factor->column.source == FIGURE_FROM_JOB;
    return STATUS_OK;
}

static enum status read_product(struct reader *reader, const struct yaml_node *node, struct figure_value *value)
{
    TRY(need_text(reader, node, "a column, e.g. blocking_rate, or a ratio, e.g. comm_s/jct_s"));
    bool is_divisor = false;
    value->text = node->text;
    for (const char *at = node->text;; at++) {
        size_t length = strcspn(at, "*/");
        if (value->factor_count == FIGURE_FACTOR_LIMIT)
            return yaml_error(reader->error, node, "figures: at most %d factors", FIGURE_FACTOR_LIMIT);
        struct figure_factor *factor = &value->factors[value->factor_count++];
        *factor = (struct figure_factor){.is_divisor = is_divisor};
        TRY(read_factor(reader, node, at, length, factor));
        at += length;
        if (!*at)
            return STATUS_OK;
        is_divisor = *at == '/';
    }
}

/* ---- members ---- */

static enum status read_x(struct reader *reader, const struct yaml_node *node, void *field)
{
    (void)field;
    if (reader->spec->plot == FIGURE_SCATTER)
        return read_product(reader, node, &reader->spec->x_value);
    return read_fields(reader, node, &reader->spec->x);
}

static enum status read_y(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_spec *spec = field;
    if (spec->plot != FIGURE_STACKED || node->kind != YAML_SEQUENCE) {
        spec->y_count = 1;
        return read_product(reader, node, &spec->ys[0]);
    }
    if (node->count < 1 || node->count > FIGURE_VALUE_LIMIT)
        return yaml_error(reader->error, node, "figures: y: expected from 1 to %d columns", FIGURE_VALUE_LIMIT);
    for (size_t i = 0; i < node->count; i++)
        TRY(read_product(reader, node->items[i], &spec->ys[spec->y_count++]));
    return STATUS_OK;
}

static enum status read_log(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_spec *spec = field;
    const char *axes = node->kind == YAML_SCALAR ? node->text : "";
    if (strcmp(axes, "x") != 0 && strcmp(axes, "y") != 0 && strcmp(axes, "xy") != 0)
        return yaml_error(reader->error, node, "figures: log: expected x, y or xy");
    spec->is_x_log = axes[0] == 'x';
    spec->is_y_log = strchr(axes, 'y') != NULL;
    if (spec->is_y_log && spec->plot == FIGURE_CDF)
        return yaml_error(reader->error, node, "figures: log: %s has no effect on y with plot: cdf; use log: x", axes);
    return STATUS_OK;
}

static enum status read_bin(struct reader *reader, const struct yaml_node *node, void *field)
{
    double *bin = field;
    TRY(read_number(reader, node, bin));
    if (*bin <= 0)
        return yaml_error(reader->error, node, "figures: bin: expected a width above 0, e.g. 0.01");
    return STATUS_OK;
}

static enum status read_yrange(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_spec *spec = field;
    if (node->kind != YAML_SEQUENCE || node->count != 2)
        return yaml_error(reader->error, node, "figures: yrange: expected two numbers, e.g. [0, 1]; null = automatic");
    if (!yaml_is_null(node->items[0]))
        TRY(read_number(reader, node->items[0], &spec->y_low));
    if (!yaml_is_null(node->items[1]))
        TRY(read_number(reader, node->items[1], &spec->y_high));
    if (spec->y_low >= spec->y_high)
        return yaml_error(reader->error, node, "figures: yrange: the first number must be the smaller one");
    return STATUS_OK;
}

static enum status read_labels(struct reader *reader, const struct yaml_node *node, void *field)
{
    if (node->kind != YAML_MAPPING)
        return yaml_error(reader->error, node, "figures: labels: expected value: text pairs, e.g. {max: Para_max}");
    for (size_t i = 0; i < node->count; i++)
        TRY(need_text(reader, node->items[i], "a text"));
    *(const struct yaml_node **)field = node;
    return STATUS_OK;
}

static enum status read_filter(struct reader *reader, const struct yaml_node *key, const struct yaml_node *value,
                               struct figure_filter *filter)
{
    const struct yaml_node *const *items = value->kind == YAML_SEQUENCE ? value->items : &value;
    TRY(find_group(reader, key, key->text, &filter->column));
    filter->value_count = value->kind == YAML_SEQUENCE ? value->count : 1;
    filter->values = arena_alloc(reader->arena, filter->value_count, sizeof *filter->values);
    for (size_t i = 0; i < filter->value_count; i++)
        TRY(read_text(reader, items[i], &filter->values[i]));
    return STATUS_OK;
}

/* The short form "column=value". */
static enum status read_short_filter(struct reader *reader, const struct yaml_node *node, struct figure_filter *filter)
{
    size_t length = strcspn(node->text, "=");
    filter->values = arena_alloc(reader->arena, 1, sizeof *filter->values);
    filter->values[0] = node->text + length + 1;
    filter->value_count = 1;
    return find_group(reader, node, arena_text(reader->arena, node->text, length), &filter->column);
}

static enum status read_filters(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_spec *spec = field;
    bool is_short = node->kind == YAML_SCALAR && strchr(node->text, '=');
    if (!is_short && (node->kind != YAML_MAPPING || !node->count))
        return yaml_error(reader->error, node,
                          "figures: where: expected column: value pairs, e.g. {workload.beta: [A, B]}");
    spec->filter_count = is_short ? 1 : node->count;
    spec->filters = arena_alloc(reader->arena, spec->filter_count, sizeof *spec->filters);
    if (is_short)
        return read_short_filter(reader, node, spec->filters);
    for (size_t i = 0; i < node->count; i++)
        TRY(read_filter(reader, node->keys[i], node->items[i], &spec->filters[i]));
    return STATUS_OK;
}

/* ---- references ---- */

static enum status read_marks(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_reference *reference = field;
    reference->is_level = node->kind == YAML_SCALAR;
    if (reference->is_level)
        return read_number(reader, node, &reference->level);
    if (node->kind != YAML_MAPPING || !node->count)
        return yaml_error(reader->error, node,
                          "figures: values: expected a number or x: number pairs, e.g. {A: 0.26, B: 0.26}");
    reference->xs = arena_alloc(reader->arena, node->count, sizeof *reference->xs);
    reference->ys = arena_alloc(reader->arena, node->count, sizeof *reference->ys);
    reference->count = node->count;
    for (size_t i = 0; i < node->count; i++) {
        reference->xs[i] = node->keys[i]->text;
        TRY(read_number(reader, node->items[i], &reference->ys[i]));
    }
    return STATUS_OK;
}

/* A member of a mapping: what reads it, and into what. */
struct member {
    const char *name;
    enum status (*read)(struct reader *, const struct yaml_node *, void *field); /* NULL = read before the others */
    size_t offset; /* of the field; 0 where the reader takes the struct as a whole */
    int plots;     /* of a figure: in which it means something, bits of enum figure_plot */
};

static const struct member *find_member(const struct member *members, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(members[i].name, name) == 0)
            return &members[i];
    return NULL;
}

static enum status read_reference(struct reader *reader, const struct yaml_node *node,
                                  struct figure_reference *reference)
{
    static const struct member members[] = {{"label", read_text, offsetof(struct figure_reference, label), 0},
                                            {"source", read_text, offsetof(struct figure_reference, source), 0},
                                            {"series", read_text, offsetof(struct figure_reference, series), 0},
                                            {"values", read_marks, 0, 0}};
    char shown[TEXT_SHOW_BYTES];
    reference->node = node;
    if (node->kind != YAML_MAPPING)
        return yaml_error(reader->error, node, "figures: reference: expected {label: ..., values: ..., source: ...}");
    for (size_t i = 0; i < node->count; i++) {
        const char *name = node->keys[i]->text;
        const struct member *member = find_member(members, sizeof members / sizeof *members, name);
        if (!member)
            return yaml_error(reader->error, node->keys[i],
                              "figures: reference: unknown member '%s'; there are label, values, source and series",
                              text_show(name, shown));
        TRY(member->read(reader, node->items[i], (char *)reference + member->offset));
    }
    if (!reference->label || !reference->source || !yaml_get(node, "values"))
        return yaml_error(reader->error, node,
                          "figures: reference: label, values and source are all needed, so that "
                          "a reader can find where a number comes from");
    return STATUS_OK;
}

static enum status read_references(struct reader *reader, const struct yaml_node *node, void *field)
{
    struct figure_spec *spec = field;
    if (node->kind != YAML_SEQUENCE)
        return yaml_error(reader->error, node, "figures: reference: expected a list, found %s", yaml_kind_name(node));
    spec->references = arena_alloc(reader->arena, node->count, sizeof *spec->references);
    spec->reference_count = node->count;
    for (size_t i = 0; i < node->count; i++)
        TRY(read_reference(reader, node->items[i], &spec->references[i]));
    return STATUS_OK;
}

/* ---- one figure ---- */

#define IN(plot) (1 << FIGURE_##plot)
enum { IN_ALL = IN(PLOT_COUNT) - 1, WITH_X = IN(BARS) | IN(LINES) | IN(STACKED) | IN(SCATTER) };

#define FIELD(name) offsetof(struct figure_spec, name)
static const struct member members[] = {
    {"name", NULL, 0, IN_ALL},
    {"plot", NULL, 0, IN_ALL},
    {"x", read_x, 0, WITH_X},
    {"y", read_y, 0, IN_ALL},
    {"series", read_fields, FIELD(series), IN_ALL & ~IN(STACKED)},
    {"xlabel", read_text, FIELD(x_label), IN_ALL},
    {"ylabel", read_text, FIELD(y_label), IN_ALL},
    {"caption", read_text, FIELD(caption), IN_ALL},
    {"log", read_log, 0, IN(LINES) | IN(CDF) | IN(SCATTER)}, /* bars start at zero */
    {"yrange", read_yrange, 0, IN_ALL},
    {"bin", read_bin, FIELD(bin), IN(HISTOGRAM)},
    {"diagonal", read_truth, FIELD(has_diagonal), IN(SCATTER)},
    {"shares", read_truth, FIELD(is_shared), IN(STACKED)},
    {"where", read_filters, 0, IN_ALL},
    {"labels", read_labels, FIELD(labels), IN_ALL},
    {"reference", read_references, 0, IN(BARS) | IN(LINES) | IN(SCATTER)},
    /* As `log` was written before, not listed. */
    {"logx", read_truth, FIELD(is_x_log), IN(LINES) | IN(CDF) | IN(SCATTER)},
    {"ylog", read_truth, FIELD(is_y_log), IN(LINES) | IN(SCATTER)},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members, LISTED_COUNT = MEMBER_COUNT - 2 };

static enum status read_name(struct reader *reader, const struct yaml_node *node)
{
    const struct yaml_node *name = yaml_get(node, "name");
    if (!name)
        return yaml_error(reader->error, node,
                          "figures: a figure needs a name, e.g. {name: blocking, plot: bars, ...}");
    TRY(read_text(reader, name, &reader->spec->name));
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
    char shown[TEXT_SHOW_BYTES], hint[TEXT_HINT_BYTES], known[200] = "; there are ";
    struct text_search search = {.word = key->text, .limit = 4};
    for (size_t i = 0; i < LISTED_COUNT; i++) {
        text_offer(&search, members[i].name);
        text_append(known, sizeof known, "%s%s", !i ? "" : i + 1 < LISTED_COUNT ? ", " : " and ", members[i].name);
    }
    return yaml_error(reader->error, key, "figures: unknown member '%s'%s", text_show(key->text, shown),
                      search.nearest ? text_hint(search.nearest, hint) : known);
}

static enum status read_member(struct reader *reader, const struct yaml_node *key, const struct yaml_node *value)
{
    const struct member *member = find_member(members, MEMBER_COUNT, key->text);
    if (!member)
        return refuse_member(reader, key);
    if (!(member->plots & 1 << reader->spec->plot))
        return yaml_error(reader->error, key, "figures: %s has no effect with plot: %s", member->name,
                          figure_plot_name(reader->spec->plot));
    if (!member->read || yaml_is_null(value))
        return STATUS_OK;
    return member->read(reader, value, (char *)reader->spec + member->offset);
}

/* x and y are needed wherever they mean something. */
static enum status check_needed(struct reader *reader, const struct yaml_node *node)
{
    static const char *const needed[] = {"x", "y"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (find_member(members, MEMBER_COUNT, needed[i])->plots & 1 << reader->spec->plot &&
            !yaml_get(node, needed[i]))
            return yaml_error(reader->error, node, "figures: plot: %s needs %s", figure_plot_name(reader->spec->plot),
                              needed[i]);
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
    TRY(read_name(reader, node));
    TRY(read_plot(reader, node));
    for (size_t i = 0; i < node->count; i++)
        TRY(read_member(reader, node->keys[i], node->items[i]));
    return check_needed(reader, node);
}

/* A few figures per scenario: comparing each with those before is fine up to a limit. */
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
        TRY(read_figure(&reader, node->items[i]));
        TRY(check_unique(&made, i, error));
    }
    *specs = made;
    return STATUS_OK;
}

bool figure_has_categories(const struct figure_spec *spec)
{
    return spec->plot == FIGURE_BARS || spec->plot == FIGURE_STACKED;
}

const char *figure_label(const struct figure_spec *spec, const char *text)
{
    const struct yaml_node *label = spec->labels ? yaml_get(spec->labels, text) : NULL;
    return label ? label->text : text;
}

/* ---- figures by default ---- */

static void set_y(struct figure_spec *spec, const char *name)
{
    struct figure_value *y = &spec->ys[0];
    spec->y_count = 1;
    y->text = name;
    y->factor_count = 1;
    bool is_known = figure_columns_find((struct figure_axes){0}, name, true, &y->factors[0].column);
    require(is_known);
}

void figure_spec_default(struct figure_axes axes, bool is_x_numeric, struct figure_spec *spec)
{
    require(axes.count > 0 && axes.names);
    spec_init(spec);
    spec->name = "blocking_rate";
    spec->plot = is_x_numeric ? FIGURE_LINES : FIGURE_BARS;
    set_y(spec, metric_name(METRIC_BLOCKING_RATE));
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
    set_y(spec, job_columns[JOB_JCT].column.name);
}
