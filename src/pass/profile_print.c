/* profile_print.c: a profile's rows and totals as text, CSV, Markdown and TSV; JSON is in
 * profile_json.c. */
#include "emit/grid.h"
#include "pass/profile.h"

#include <math.h>

static const char *const node_headers[] = {"node",  "operator", "ms",  "share",
                                           "FLOPs", "GFLOP/s",  "GB/s"};
static const char *const operator_headers[] = {"operator", "nodes",   "ms",  "share",
                                               "FLOPs",    "GFLOP/s", "GB/s"};
enum { COLUMNS = 7 };

static void put_rate(fxs_buf *b, double amount, double seconds) {
    if (amount > 0 && seconds > 0)
        fxs_buf_printf(b, "%.1f", amount / seconds * 1e-9);
    else
        fxs_buf_putc(b, '-');
}

static void put_row(fxs_buf *row, const fxs_profile_row *r, fxs_profile_by by) {
    fxs_buf_puts(&row[0], r->name);
    if (by == FXS_BY_NODE)
        fxs_buf_puts(&row[1], r->operator_name);
    else
        fxs_buf_printf(&row[1], "%zu", r->calls);
    fxs_buf_printf(&row[2], "%.3f", r->seconds * 1e3);
    fxs_buf_printf(&row[3], "%.1f%%", r->share * 100);
    fxs_buf_printf(&row[4], "%.0f", r->flops);
    put_rate(&row[5], r->flops, r->seconds);
    put_rate(&row[6], r->bytes, r->seconds);
}

static fxs_status fill(const fxs_profile *p, fxs_profile_by by, fxs_grid *g) {
    size_t n;
    const fxs_profile_row *rows = fxs_profile_rows(p, by, &n);
    FXS_TRY(fxs_grid_init(p->ctx, g, COLUMNS, by == FXS_BY_NODE ? node_headers : operator_headers));
    for (size_t i = 0; i < n; i++) {
        fxs_buf *row = fxs_grid_row(g);
        if (!row)
            return fxs_fail_memory(p->ctx);
        put_row(row, &rows[i], by);
    }
    return FXS_OK;
}

/* Milliseconds of the whole run, and what statistics add to it. */
static void put_totals(const fxs_profile *p, fxs_buf *b) {
    const fxs_profile_totals *t = &p->totals;
    double mib = 1024 * 1024;
    fxs_buf_printf(b, "\n%zu nodes, %.4g GFLOPs in %.3f ms: ", t->nodes, t->flops * 1e-9,
                   t->seconds * 1e3);
    put_rate(b, t->flops, t->seconds);
    fxs_buf_printf(b, " GFLOP/s; least of %u runs\n", t->rounds * 2);
    fxs_buf_printf(
        b, "whole run %.3f ms, with statistics %.3f ms (%+.1f%%), the first one %.3f ms\n",
        t->plain * 1e3, t->steady * 1e3, (t->steady / t->plain - 1) * 100, t->first * 1e3);
    fxs_buf_printf(b, "results take %.1f MiB at most, at least %.1f MiB are needed\n",
                   t->activations / mib, t->least / mib);
}

fxs_status fxs_profile_print(const fxs_profile *p, fxs_profile_by by, fxs_table_format format,
                             char **text, size_t *len) {
    fxs_buf b = {0};
    fxs_grid g = {0};
    fxs_status s = format == FXS_TABLE_JSON ? fxs_profile_json(p, &b) : fill(p, by, &g);
    if (s == FXS_OK) {
        switch (format) {
        case FXS_TABLE_CSV:
            fxs_grid_csv(&g, &b);
            break;
        case FXS_TABLE_TSV:
            fxs_grid_tsv(&g, &b);
            break;
        case FXS_TABLE_MARKDOWN:
            fxs_grid_markdown(&g, &b);
            break;
        case FXS_TABLE_TEXT:
            fxs_grid_simple(&g, &b);
            break;
        default:
            break;
        }
    }
    if (format == FXS_TABLE_TEXT || format == FXS_TABLE_MARKDOWN)
        put_totals(p, &b);
    fxs_grid_free(&g);
    if (s == FXS_OK)
        return fxs_buf_give(p->ctx, &b, text, len);
    fxs_buf_free(&b);
    return s;
}
