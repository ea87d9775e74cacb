/* label.c: node + meta become the small table that is drawn for a node. Called by view.c for each
 * node; knows texts and their widths, nothing of places on the page or of any output format. One
 * function a row, in the table at the bottom.
 */
#include <math.h>
#include <string.h>

#include "emit/facts.h"
#include "emit/format.h"
#include "escape.h"
#include "units.h"
#include "view.h"

enum { MAX_ROWS = 64, MAX_ITEMS = 8, MIN_WIDTH = 54 };

typedef struct builder {
    fxs_view *view;
    const fxs_module *root;
    const fxs_node *node;
    unsigned asked; /* fxs_row bits */
    fxs_label_row rows[MAX_ROWS];
    size_t nrows, first_item, nitems;
    fxs_buf text, clean;
    bool failed; /* memory is out */
} builder;

/* ---- cells
 * -----------------------------------------------------------------------------------------------
 */

static size_t count_lines(const fxs_buf *clean) {
    size_t n = 0, at = 0;
    fxs_span span;
    while (fxs_wrap_next(clean->data, clean->len, FXS_WRAP_CHARS, &at, &span))
        n++;
    return n;
}

static fxs_cell make_cell(builder *b, fxs_ink ink, const char *s, size_t len) {
    fxs_cell cell = {.ink = ink};
    fxs_buf_cut(&b->clean, 0);
    fxs_clean(&b->clean, len ? s : " ", len ? len : 1, FXS_CELL_CHARS, true);
    if (b->clean.failed || b->failed) {
        b->failed = true;
        return cell;
    }
    size_t count = count_lines(&b->clean), at = 0;
    char *text = fxs_arena_dup(&b->view->arena, b->clean.data, b->clean.len);
    cell.lines = FXS_NEW_N(&b->view->arena, fxs_line, count);
    if (!text || !cell.lines) {
        b->failed = true;
        return cell;
    }
    fxs_span span;
    while (fxs_wrap_next(text, b->clean.len, FXS_WRAP_CHARS, &at, &span)) {
        fxs_line *line = &cell.lines[cell.nlines++];
        line->text = text + span.at;
        line->len = span.len;
        b->failed |= !fxs_fonts_width(b->view->fonts, ink, line->text, line->len, &line->width);
    }
    return cell;
}

/* A row over both columns; the text is what b->text holds. */
static void put_wide(builder *b, fxs_ink ink) {
    b->failed |= b->text.failed;
    if (b->nrows < MAX_ROWS && !b->failed)
        b->rows[b->nrows++] =
            (fxs_label_row){.cell = {make_cell(b, ink, b->text.data, b->text.len)}, .ncells = 1};
}

/* A row "key | what b->text holds". */
static void put_pair(builder *b, const char *key, size_t len, fxs_ink ink) {
    b->failed |= b->text.failed;
    if (b->nrows == MAX_ROWS || b->failed)
        return;
    fxs_label_row *row = &b->rows[b->nrows++];
    row->ncells = 2;
    row->cell[0] = make_cell(b, FXS_INK_KEY, key, len);
    row->cell[1] = make_cell(b, ink, b->text.data, b->text.len);
}

static fxs_buf *new_text(builder *b) {
    fxs_buf_cut(&b->text, 0);
    return &b->text;
}

static void pair(builder *b, const char *key) { put_pair(b, key, strlen(key), FXS_INK_TEXT); }

/* ---- rows
 * ------------------------------------------------------------------------------------------------
 */

static void row_name(builder *b) {
    fxs_buf_puts(new_text(b), b->node->name);
    put_wide(b, FXS_INK_NAME);
}

/* The box of a pattern (fxoutline.h): a call of the pattern, and of no module. */
static bool is_pattern(const fxs_node *n) { return n->meta.inside && n->kind == FXS_CALL_FUNCTION; }

/* Kind and target are one row when both are shown. */
static void row_kind(builder *b) {
    const char *kind = is_pattern(b->node) ? "pattern" : fxs_kind_name(b->node->kind);
    bool both = b->asked & FXS_ROW_TARGET;
    fxs_buf_puts(new_text(b), both ? b->node->target : kind);
    pair(b, both ? kind : "kind");
}

static void row_target(builder *b) {
    if (b->asked & FXS_ROW_KIND)
        return;
    fxs_buf_puts(new_text(b), b->node->target);
    pair(b, "target");
}

static void put_inputs(builder *b) {
    for (size_t i = 0; i < b->node->ninputs && i < MAX_ITEMS; i++) {
        const fxs_node *input = b->node->inputs[i];
        if (input->meta.outcome != FXS_DONE)
            continue;
        fxs_buf_carried(new_text(b), input, b->node, fxs_buf_result);
        pair(b, "input");
    }
}

/* What a node gets that is drawn for several: of a box the inputs of all blocks, of another node
 * how many there are where that varies. */
static void put_spread_inputs(builder *b) {
    const fxs_spread *s = b->node->meta.spread;
    for (size_t i = 0; i < s->ninputs && i < MAX_ITEMS; i++) {
        fxs_buf_puts(new_text(b), s->inputs[i]);
        pair(b, "input");
    }
    if (!b->node->meta.inside && fxs_buf_node_inputs(new_text(b), b->node))
        pair(b, "inputs");
}

/* A box says the class of its module, which call of it that is when it is not the first, and what
 * it gets; what is in it, the other rows say. */
static void put_box(builder *b, const char *class_name) {
    const fxs_meta *meta = &b->node->meta;
    fxs_buf *text = new_text(b);
    fxs_buf_puts(text, class_name);
    if (meta->nth)
        fxs_buf_printf(text, " (call %zu)", meta->nth + 1);
    fxs_buf_times(text, meta->times, meta->weights);
    fxs_buf_printf(text, ", %zu nodes", meta->inside);
    put_wide(b, FXS_INK_TEXT);
    if (!meta->spread || !meta->spread->inputs)
        put_inputs(b);
}

static void put_pattern(builder *b) {
    const fxs_value *of = fxs_value_item(&b->node->kwargs, 0);
    if (of && fxs_value_text(of)) {
        fxs_buf_printf(new_text(b), "%zu nodes: %s", b->node->meta.inside, fxs_value_text(of));
        put_wide(b, FXS_INK_TEXT);
    }
    put_inputs(b);
}

static void row_layer(builder *b) {
    const fxs_module *layer =
        b->node->kind == FXS_CALL_MODULE ? fxs_module_find(b->root, b->node->target) : NULL;
    bool box = b->node->meta.inside && b->node->kind == FXS_CALL_MODULE;
    if (is_pattern(b->node))
        put_pattern(b);
    else if (box && (b->node->type || layer))
        put_box(b, b->node->type ? b->node->type : layer->class_name);
    if (layer && !box) {
        fxs_buf_node_layer(new_text(b), b->node, layer);
        put_wide(b, FXS_INK_TEXT);
    }
    if (b->node->meta.spread)
        put_spread_inputs(b);
}

static void row_args(builder *b) {
    if (fxs_value_len(&b->node->args)) {
        fxs_buf_node_args(new_text(b), b->node);
        pair(b, "args");
    }
    if (fxs_value_len(&b->node->kwargs)) {
        fxs_buf_node_kwargs(new_text(b), b->node);
        pair(b, "kwargs");
    }
}

static void put_item(builder *b, fxs_range r, size_t i) {
    fxs_buf key = {0};
    fxs_buf_item_key(&key, r.least, i);
    b->failed |= key.failed;
    fxs_buf_range(new_text(b), fxs_range_item(r, i), fxs_buf_result);
    if (!b->failed)
        put_pair(b, key.data, key.len, FXS_INK_TEXT);
    fxs_buf_free(&key);
}

static void row_result(builder *b) {
    const fxs_meta *meta = &b->node->meta;
    if (meta->outcome == FXS_UNKNOWN || meta->outcome == FXS_BLOCKED) {
        fxs_buf_putc(new_text(b), '?');
        pair(b, "result");
    }
    if (meta->outcome != FXS_DONE)
        return;
    if (!fxs_result_is_split(&meta->result)) {
        fxs_buf_node_result(new_text(b), meta);
        pair(b, "result");
        return;
    }
    size_t n = fxs_value_len(&meta->result), shown = n > MAX_ITEMS + 1 ? MAX_ITEMS : n;
    b->first_item = b->nrows;
    for (size_t i = 0; i < shown; i++)
        put_item(b, fxs_meta_range(meta), i);
    b->nitems = b->nrows - b->first_item;
    if (shown < n) {
        fxs_buf_printf(new_text(b), "... %zu more", n - shown);
        put_wide(b, FXS_INK_KEY);
    }
}

typedef struct tensor_rows {
    fxs_buf *text; /* a line each */
    size_t n;
} tensor_rows;

static bool put_stride(void *user, const fxs_value *leaf) {
    tensor_rows *r = user;
    if (leaf->tag != FXS_V_TENSOR)
        return true;
    if (++r->n > MAX_ITEMS)
        return false;
    fxs_buf_stride(r->text, leaf->u.tensor);
    fxs_buf_putc(r->text, '\n');
    return true;
}

static void put_strides(fxs_buf *b, const fxs_value *v) {
    fxs_value_visit(v, put_stride, &(tensor_rows){.text = b});
}

static void sizes_of(const fxs_tensor *t, fxs_buf *b) { fxs_buf_sizes(b, t->ndim, t->sizes); }
static void dtype_of(const fxs_tensor *t, fxs_buf *b) { fxs_buf_puts(b, fxs_dtype_name(t->dtype)); }

static void put_shapes(fxs_buf *b, const fxs_value *v) {
    fxs_buf_repr(b, v, &(fxs_repr){.tensor = sizes_of});
}

static void put_dtypes(fxs_buf *b, const fxs_value *v) {
    fxs_buf_repr(b, v, &(fxs_repr){.tensor = dtype_of});
}

static void put_tensors(builder *b, const char *key, fxs_put_value *put) {
    const fxs_meta *meta = &b->node->meta;
    if (meta->outcome != FXS_DONE || !meta->has_tensor)
        return;
    fxs_buf_range(new_text(b), fxs_meta_range(meta), put);
    pair(b, key);
}

static void row_shape(builder *b) { put_tensors(b, "shape", put_shapes); }
static void row_dtype(builder *b) { put_tensors(b, "dtype", put_dtypes); }

static void row_memory(builder *b) {
    double bytes = fxs_result_bytes(&b->node->meta);
    if (bytes <= 0)
        return;
    fxs_put_unit(new_text(b), bytes, fxs_units_bytes);
    pair(b, "memory");
}

static void row_stride(builder *b) {
    fxs_buf all = {0};
    if (b->node->meta.outcome == FXS_DONE)
        fxs_buf_range(&all, fxs_meta_range(&b->node->meta), put_strides);
    b->failed |= all.failed;
    for (const char *line = all.data; !b->failed && line && *line;) {
        size_t len = strcspn(line, "\n");
        fxs_buf_add(new_text(b), line, len);
        pair(b, "stride");
        line += len + (line[len] == '\n');
    }
    fxs_buf_free(&all);
}

static void put_count(fxs_buf *b, double x) { fxs_put_grouped(b, (int64_t)x); }
static void put_flops(fxs_buf *b, double x) { fxs_put_unit(b, x, fxs_units_flops); }

static void row_params(builder *b) {
    if (b->node->meta.parameters <= 0)
        return;
    const fxs_spread *s = b->node->meta.spread;
    fxs_put_grouped(new_text(b), b->node->meta.parameters);
    if (s)
        fxs_buf_each(&b->text, (double)b->node->meta.parameters, (double)s->parameters[0],
                     (double)s->parameters[1], put_count);
    pair(b, "params");
}

static void row_flops(builder *b) {
    if (b->node->meta.flops <= 0)
        return;
    const fxs_spread *s = b->node->meta.spread;
    put_flops(new_text(b), b->node->meta.flops);
    if (s)
        fxs_buf_each(&b->text, b->node->meta.flops, s->flops[0], s->flops[1], put_flops);
    pair(b, "flops");
}

static void row_time(builder *b) {
    if (b->node->meta.seconds <= 0)
        return;
    fxs_put_unit(new_text(b), b->node->meta.seconds * 1e9, fxs_units_time);
    pair(b, "time");
}

static void row_stats(builder *b) {
    const fxs_meta *meta = &b->node->meta;
    for (size_t i = 0; i < meta->nstats && i < MAX_ITEMS; i++) {
        const fxs_stats *s = &meta->stats[i];
        fxs_buf_printf(new_text(b), "min %.4g, max %.4g, mean %.4g, zeros %.3g%%", s->min, s->max,
                       s->mean, s->zeros * 100);
        pair(b, "stats");
        if (!s->nan && !s->inf)
            continue;
        fxs_buf *text = new_text(b);
        fxs_put_grouped(text, s->nan);
        fxs_buf_puts(text, " NaN, ");
        fxs_put_grouped(text, s->inf);
        fxs_buf_puts(text, " Inf of ");
        fxs_put_grouped(text, s->numel);
        put_wide(b, FXS_INK_ERROR);
    }
}

static void row_source(builder *b) {
    fxs_place at = fxs_node_place(b->node);
    if (!at.file)
        return;
    const char *name = strrchr(at.file, '/');
    fxs_buf_printf(new_text(b), "%s:%d", name ? name + 1 : at.file, at.line);
    pair(b, "source");
}

static void row_module(builder *b) {
    const fxs_scope *s = fxs_node_scope(b->node);
    if (!s)
        return;
    fxs_buf_printf(new_text(b), "%s%s%s", s->path, *s->path ? " " : "", s->class_name);
    pair(b, "module");
}

static void row_nonfinite(builder *b) {
    fxs_nonfinite what = b->view->marks_nonfinite ? fxs_node_nonfinite(b->node) : FXS_FINITE;
    if (what == FXS_FINITE)
        return;
    bool first = what == FXS_NONFINITE_FIRST;
    fxs_buf_puts(new_text(b), first ? "NaN or Inf begins here" : "NaN or Inf from an input");
    put_wide(b, first ? FXS_INK_ERROR : FXS_INK_KEY);
}

static void row_message(builder *b) {
    const fxs_meta *meta = &b->node->meta;
    if (!meta->message)
        return;
    fxs_buf_puts(new_text(b), meta->message);
    put_wide(b, meta->outcome == FXS_FAILED ? FXS_INK_ERROR : FXS_INK_TEXT);
}

/* ---- the table
 * ------------------------------------------------------------------------------------------- */

static double cell_width(const fxs_cell *c) {
    double w = 0;
    for (size_t i = 0; i < c->nlines; i++)
        w = fmax(w, c->lines[i].width);
    return ceil(w) + 2 * FXS_PAD_X;
}

static double cell_height(const fxs_cell *c) {
    return ceil((double)c->nlines * fxs_faces[c->ink].line) + 2 * FXS_PAD_Y;
}

static void place_cell(fxs_cell *c, double x, double y, double w, double h) {
    c->x = x;
    c->y = y;
    c->w = w;
    c->h = h;
}

static void place_rows(fxs_label *l) {
    double left = 0, right = 0, wide = MIN_WIDTH, y = 0;
    for (size_t i = 0; i < l->nrows; i++) {
        const fxs_label_row *row = &l->rows[i];
        if (row->ncells == 1) {
            wide = fmax(wide, cell_width(&row->cell[0]));
        } else {
            left = fmax(left, cell_width(&row->cell[0]));
            right = fmax(right, cell_width(&row->cell[1]));
            l->columns = true;
        }
    }
    l->w = fmax(left + right, wide);
    l->split = left;
    for (size_t i = 0; i < l->nrows; i++) {
        fxs_label_row *row = &l->rows[i];
        double h = cell_height(&row->cell[0]);
        if (row->ncells == 2)
            h = fmax(h, cell_height(&row->cell[1]));
        place_cell(&row->cell[0], 0, y, row->ncells == 1 ? l->w : left, h);
        place_cell(&row->cell[1], left, y, l->w - left, h);
        y += h;
    }
    l->h = y;
}

static const struct {
    unsigned bit;
    void (*put)(builder *b);
} row_table[] = {
#define ROW(NAME, fn)                                                                              \
    { FXS_ROW_##NAME, fn }
    ROW(NAME, row_name),     ROW(KIND, row_kind),       ROW(TARGET, row_target),
    ROW(LAYER, row_layer),   ROW(ARGS, row_args),       ROW(RESULT, row_result),
    ROW(SHAPE, row_shape),   ROW(DTYPE, row_dtype),     ROW(STRIDE, row_stride),
    ROW(PARAMS, row_params), ROW(FLOPS, row_flops),     ROW(MEMORY, row_memory),
    ROW(TIME, row_time),     ROW(STATS, row_stats),     ROW(SOURCE, row_source),
    ROW(MODULE, row_module), ROW(MESSAGE, row_message),
#undef ROW
};

static void finish(builder *b, fxs_label *out) {
    out->rows = FXS_NEW_N(&b->view->arena, fxs_label_row, b->nrows);
    if (!out->rows) {
        b->failed = true;
        return;
    }
    memcpy(out->rows, b->rows, b->nrows * sizeof *b->rows);
    out->nrows = b->nrows;
    out->first_item = b->first_item;
    out->nitems = b->nitems;
    place_rows(out);
}

static fxs_status close_builder(builder *b, fxs_view_node *n) {
    if (!b->failed)
        finish(b, &n->label);
    fxs_buf_free(&b->text);
    fxs_buf_free(&b->clean);
    return b->failed ? fxs_fail_memory(n->node->graph->ctx) : FXS_OK;
}

fxs_status fxs_label_reference(fxs_view *v, fxs_view_node *n) {
    builder b = {.view = v, .node = n->node};
    row_name(&b);
    fxs_buf_puts(new_text(&b), "reference");
    put_wide(&b, FXS_INK_KEY);
    return close_builder(&b, n);
}

fxs_status fxs_label_name(fxs_view *v, fxs_view_node *n) {
    builder b = {.view = v, .node = n->node};
    row_name(&b);
    return close_builder(&b, n);
}

fxs_status fxs_label_make(fxs_view *v, const fxs_module *root, unsigned rows, fxs_view_node *n) {
    const unsigned of_boxes = FXS_ROW_PARAMS | FXS_ROW_FLOPS; /* there is no other place for them */
    builder b = {.view = v, .root = root, .node = n->node, .asked = rows};
    for (size_t i = 0; i < sizeof row_table / sizeof *row_table; i++)
        if ((rows | (n->node->meta.inside ? of_boxes : 0)) & row_table[i].bit)
            row_table[i].put(&b);
    row_nonfinite(&b);
    if (b.nrows == 0) /* a box without a word says less than its name */
        row_name(&b);
    return close_builder(&b, n);
}
