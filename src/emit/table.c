/* table.c: what a run recorded, node by node, as text, CSV, Markdown and TSV; JSON is in json.c. */
#include "emit/table.h"

#include <math.h>
#include <string.h>

#include "emit/facts.h"
#include "emit/grid.h"

static const char *const format_names[] = {
#define X(name, text) text,
    FXS_TABLE_MAP(X)
#undef X
};

bool fxs_table_format_find(const char *name, fxs_table_format *out) {
    for (int i = 0; name && i < FXS_TABLE_COUNT; i++) {
        if (strcmp(format_names[i], name) == 0) {
            *out = (fxs_table_format)i;
            return true;
        }
    }
    return false;
}

/* ---- cells
 * -------------------------------------------------------------------------------------------------
 */

static void put_sizes(const fxs_tensor *t, fxs_buf *b) { fxs_buf_sizes(b, t->ndim, t->sizes); }
static void put_dtype(const fxs_tensor *t, fxs_buf *b) {
    fxs_buf_puts(b, fxs_dtype_name(t->dtype));
}

static void put_shapes(fxs_buf *b, const fxs_value *v) {
    fxs_buf_repr(b, v, &(fxs_repr){.tensor = put_sizes});
}

static void shape_cell(fxs_buf *b, const fxs_meta *m) {
    if (m->outcome == FXS_NOT_RUN)
        return;
    fxs_buf_range(b, fxs_meta_range(m), put_shapes);
}

static void dtype_cell(fxs_buf *b, const fxs_meta *m) {
    if (m->outcome == FXS_NOT_RUN)
        return;
    if (m->has_tensor)
        fxs_buf_repr(b, &m->result, &(fxs_repr){.tensor = put_dtype});
    else
        fxs_buf_puts(b, m->outcome == FXS_DONE ? m->type_name : "?");
}

static void count_cell(fxs_buf *b, double x) {
    if (x != 0)
        fxs_buf_printf(b, "%.0f", x);
    else
        fxs_buf_putc(b, '0');
}

static void number_cell(fxs_buf *b, double x) {
    if (isnan(x))
        fxs_buf_puts(b, "-");
    else
        fxs_buf_printf(b, "%.5g", x);
}

static void stats_cells(fxs_buf *row, const fxs_meta *m) {
    fxs_buf_printf(&row[0], "%.3f", m->seconds * 1e3);
    for (size_t i = 0; i < m->nstats; i++) {
        const fxs_stats *s = &m->stats[i];
        for (int c = 1; i && c < 7; c++)
            fxs_buf_puts(&row[c], ", ");
        number_cell(&row[1], s->min);
        number_cell(&row[2], s->max);
        number_cell(&row[3], s->mean);
        fxs_buf_printf(&row[4], "%.1f%%", 100 * s->zeros);
        fxs_buf_printf(&row[5], "%lld", (long long)s->nan);
        fxs_buf_printf(&row[6], "%lld", (long long)s->inf);
    }
}

bool fxs_graph_has_stats(const fxs_graph *g) {
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (n->meta.nstats)
            return true;
    return false;
}

static const char *const headers[] = {"kind",       "name",  "target", "shape", "dtype",
                                      "parameters", "FLOPs", "ms",     "min",   "max",
                                      "mean",       "zeros", "nan",    "inf"};
enum { PLAIN_COLUMNS = 7, ALL_COLUMNS = 14 };

static size_t times_of(const fxs_node *n) { return n->meta.spread ? n->meta.spread->nodes : 1; }

static bool is_folded(const fxs_graph *g) {
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (times_of(n) > 1)
            return true;
    return false;
}

static void fill_row(fxs_buf *row, const fxs_node *n) {
    fxs_buf_puts(&row[0], fxs_kind_name(n->kind));
    fxs_buf_puts(&row[1], n->name);
    fxs_buf_puts(&row[2], n->target);
    shape_cell(&row[3], &n->meta);
    dtype_cell(&row[4], &n->meta);
    count_cell(&row[5], (double)n->meta.parameters);
    count_cell(&row[6], n->meta.flops);
}

/* Where a node is drawn for several, the last column says for how many. The grid borrows names. */
static fxs_status fill_grid(const fxs_module *m, const char *names[ALL_COLUMNS + 1],
                            fxs_grid *grid) {
    bool stats = fxs_graph_has_stats(m->graph), folded = is_folded(m->graph);
    int n = stats ? ALL_COLUMNS : PLAIN_COLUMNS;
    memcpy(names, headers, sizeof headers);
    names[n] = "times";
    FXS_TRY(fxs_grid_init(m->ctx, grid, (size_t)(n + folded), names));
    for (const fxs_node *at = fxs_graph_first(m->graph); at; at = fxs_node_next(at)) {
        fxs_buf *row = fxs_grid_row(grid);
        if (!row)
            return fxs_fail_memory(m->ctx);
        fill_row(row, at);
        if (stats)
            stats_cells(&row[PLAIN_COLUMNS], &at->meta);
        if (folded)
            fxs_buf_printf(&row[n], "%zu", times_of(at));
    }
    return FXS_OK;
}

/* 3628146688 FLOPs as "3.628 GFLOPs", 11689512 parameters as "11.69 M parameters": `joined` for a
 * unit that takes the prefix. */
static void put_scaled(fxs_buf *b, double x, const char *unit, bool joined) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    int p = 0;
    while (x >= 999.95 && p < 5) {
        x /= 1000;
        p++;
    }
    fxs_buf_printf(b, p ? "%.4g %s" : "%.0f %s", x, prefixes[p]);
    fxs_buf_printf(b, p && !joined ? " %s" : "%s", unit);
}

static void put_nonfinite(fxs_buf *b, const fxs_graph *g) {
    size_t n;
    const fxs_node *first = fxs_graph_nonfinite(g, &n);
    if (!first)
        return;
    fxs_buf_printf(b, "NaN or Inf begins at %s", first->name);
    if (n > 1)
        fxs_buf_printf(b, ", and at %zu more node%s whose inputs are finite", n - 1,
                       n == 2 ? "" : "s");
    fxs_buf_putc(b, '\n');
}

static void put_totals(fxs_buf *b, const fxs_module *m) {
    size_t outcomes[FXS_OUTCOME_COUNT] = {0};
    double flops = 0, seconds = 0;
    for (const fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        outcomes[n->meta.outcome]++;
        flops += n->meta.flops;
        seconds += n->meta.seconds;
    }
    fxs_buf_printf(b, "\n%zu nodes, ", m->graph->len);
    put_scaled(b, (double)fxs_module_parameter_count(m), "parameters", false);
    fxs_buf_puts(b, ", ");
    put_scaled(b, flops, "FLOPs", true);
    if (fxs_graph_has_stats(m->graph))
        fxs_buf_printf(b, ", %.1f ms", seconds * 1e3);
    if (outcomes[FXS_FAILED])
        fxs_buf_printf(b, ", %zu failed", outcomes[FXS_FAILED]);
    if (outcomes[FXS_UNKNOWN])
        fxs_buf_printf(b, ", %zu unknown", outcomes[FXS_UNKNOWN]);
    if (outcomes[FXS_BLOCKED])
        fxs_buf_printf(b, ", %zu blocked", outcomes[FXS_BLOCKED]);
    fxs_buf_putc(b, '\n');
    put_nonfinite(b, m->graph);
}

/* One line a node: name, kind, result in full; control characters can't be in them but inside a
 * string's repr. */
static void put_tsv(const fxs_module *m, fxs_buf *b) {
    for (const fxs_node *n = fxs_graph_first(m->graph); n; n = fxs_node_next(n)) {
        fxs_buf_printf(b, "%s\t%s\t", n->name, fxs_kind_name(n->kind));
        if (n->meta.outcome != FXS_NOT_RUN)
            fxs_buf_range(b, fxs_meta_range(&n->meta), fxs_buf_result_full);
        fxs_buf_putc(b, '\n');
    }
}

static fxs_status put_grid(const fxs_module *m, fxs_table_format format, fxs_buf *b) {
    const char *names[ALL_COLUMNS + 1];
    fxs_grid grid = {0};
    fxs_status s = fill_grid(m, names, &grid);
    if (s == FXS_OK && format == FXS_TABLE_CSV)
        fxs_grid_csv(&grid, b);
    else if (s == FXS_OK && format == FXS_TABLE_MARKDOWN)
        fxs_grid_markdown(&grid, b);
    else if (s == FXS_OK) {
        fxs_grid_simple(&grid, b);
        put_totals(b, m);
    }
    fxs_grid_free(&grid);
    return s;
}

fxs_status fxs_module_print_table(const fxs_module *m, fxs_table_format format, char **text,
                                  size_t *len) {
    fxs_buf b = {0};
    fxs_status s = FXS_OK;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s has no graph", m->class_name);
    if (format == FXS_TABLE_JSON)
        s = fxs_put_json_table(m, &b);
    else if (format == FXS_TABLE_TSV)
        put_tsv(m, &b);
    else
        s = put_grid(m, format, &b);
    if (s != FXS_OK) {
        fxs_buf_free(&b);
        return s;
    }
    return fxs_buf_give(m->ctx, &b, text, len);
}
