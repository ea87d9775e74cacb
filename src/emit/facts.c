/* facts.c: see facts.h. Called by the table and by the pictures. */
#include "emit/facts.h"

#include <string.h>

#include "emit/format.h"
#include "ir/spread.h"

static bool add_bytes(void *user, const fxs_value *leaf) {
    if (leaf->tag == FXS_V_TENSOR)
        *(double *)user += (double)fxs_tensor_numel(leaf->u.tensor) *
                           (double)fxs_dtype_size(leaf->u.tensor->dtype);
    return true;
}

double fxs_result_bytes(const fxs_meta *m) {
    double bytes = 0;
    if (m->spread && m->spread->nodes > 1)
        return m->spread->bytes;
    if (m->outcome == FXS_DONE)
        fxs_value_visit(&m->result, add_bytes, &bytes);
    return bytes;
}

/* ---- of several nodes ---- */

fxs_range fxs_meta_range(const fxs_meta *m) {
    return (fxs_range){fxs_meta_extreme(m, false), fxs_meta_extreme(m, true)};
}

fxs_range fxs_range_item(fxs_range r, size_t i) {
    return (fxs_range){fxs_value_item(r.least, i), fxs_value_item(r.most, i)};
}

void fxs_buf_range(fxs_buf *b, fxs_range r, fxs_put_value *put) {
    fxs_buf least = {0}, most = {0};
    if (r.least == r.most) {
        put(b, r.least);
        return;
    }
    put(&least, r.least);
    put(&most, r.most);
    fxs_buf_add(&least, "", 0);
    fxs_buf_add(&most, "", 0);
    b->failed = b->failed || least.failed || most.failed;
    if (!b->failed && !fxs_buf_ranges(b, (const char *[]){least.data, most.data}, 2))
        fxs_buf_printf(b, "%s \xe2\x80\xa6 %s", least.data, most.data); /* an ellipsis */
    fxs_buf_free(&least);
    fxs_buf_free(&most);
}

void fxs_buf_carried(fxs_buf *b, const fxs_node *from, const fxs_node *to, fxs_put_value *put) {
    size_t runs = fxs_joins_blocks(to) ? 1 : fxs_runs_left(from, to->scope);
    if (fxs_meta_leaving(&from->meta, runs) == 1)
        put(b, fxs_meta_leaves(&from->meta, runs, 0));
    else
        fxs_buf_range(b, fxs_meta_range(&from->meta), put);
}

void fxs_buf_node_result(fxs_buf *b, const fxs_meta *m) {
    fxs_buf_range(b, fxs_meta_range(m), fxs_buf_result);
}

void fxs_buf_node_layer(fxs_buf *b, const fxs_node *n, const fxs_module *layer) {
    if (n->meta.spread && n->meta.spread->layer)
        fxs_buf_puts(b, n->meta.spread->layer);
    else
        fxs_buf_layer(b, layer);
}

bool fxs_buf_node_inputs(fxs_buf *b, const fxs_node *n) {
    const fxs_spread *s = n->meta.spread;
    bool varies = s && s->fewest_inputs != s->most_inputs;
    if (!varies && (!s || s->nodes > 1 || s->most_inputs == n->ninputs))
        return false;
    fxs_buf_printf(b, "%zu", s->fewest_inputs);
    if (varies)
        fxs_buf_printf(b, "\xe2\x80\xa6%zu", s->most_inputs); /* an ellipsis */
    return true;
}

void fxs_buf_each(fxs_buf *b, double sum, double least, double most,
                  void (*put)(fxs_buf *b, double x)) {
    if (!(most > 0) || (sum == least && sum == most))
        return;
    fxs_buf_puts(b, " (");
    fxs_buf_least_most(b, least, most, put);
    fxs_buf_puts(b, " each)");
}

const char *fxs_sharing_word(fxs_sharing s) {
    static const char *const words[FXS_SHARING_ALL + 1] = {[FXS_SHARING_OWN] = "own",
                                                           [FXS_SHARING_SOME] = "partly shared",
                                                           [FXS_SHARING_ALL] = "shared"};
    return words[s];
}

void fxs_buf_times(fxs_buf *b, size_t times, fxs_sharing weights) {
    const char *word = fxs_sharing_word(weights);
    if (times < 2)
        return;
    fxs_buf_printf(b, " \303\227 %zu", times); /* a multiplication sign */
    if (word)
        fxs_buf_printf(b, ", %s weights", word);
}

void fxs_buf_stride(fxs_buf *b, const fxs_tensor *t) {
    fxs_buf_putc(b, '(');
    for (int i = 0; i < t->ndim; i++)
        fxs_buf_printf(b, i ? ", %lld" : "%lld", (long long)t->strides[i]);
    fxs_buf_puts(b, t->ndim == 1 ? ",)" : ")");
    fxs_memory_format format = fxs_tensor_memory_format(t);
    if (format == FXS_NO_FORMAT)
        fxs_buf_puts(b, ", not contiguous");
    else if (format != FXS_CONTIGUOUS)
        fxs_buf_printf(b, ", %s", fxs_memory_format_text(format) + strlen("torch."));
}

static bool no_tensor_leaf(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_TENSOR && leaf->tag != FXS_V_UNKNOWN;
}

bool fxs_result_is_split(const fxs_value *v) {
    return (v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE || v->tag == FXS_V_DICT) &&
           fxs_value_len(v) && !fxs_value_visit(v, no_tensor_leaf, NULL);
}

void fxs_buf_item_key(fxs_buf *b, const fxs_value *v, size_t i) {
    if (v->tag == FXS_V_DICT)
        fxs_buf_node_repr(b, fxs_value_key(v, i));
    else if (v->tag == FXS_V_TUPLE && v->u.seq->fields) /* a named tuple of the user's */
        fxs_buf_puts(b, v->u.seq->fields[i]);
    else
        fxs_buf_printf(b, "%zu", i);
}

static bool is_nonfinite(const fxs_meta *m) {
    for (size_t i = 0; i < m->nstats; i++)
        if (m->stats[i].nan || m->stats[i].inf)
            return true;
    return false;
}

fxs_nonfinite fxs_node_nonfinite(const fxs_node *n) {
    if (!is_nonfinite(&n->meta))
        return FXS_FINITE;
    for (size_t i = 0; i < n->ninputs; i++)
        if (is_nonfinite(&n->inputs[i]->meta))
            return FXS_NONFINITE_INHERITED;
    return FXS_NONFINITE_FIRST;
}

const fxs_node *fxs_graph_nonfinite(const fxs_graph *g, size_t *n) {
    const fxs_node *first = NULL;
    size_t count = 0;
    for (const fxs_node *at = fxs_graph_first(g); at; at = fxs_node_next(at)) {
        if (fxs_node_nonfinite(at) != FXS_NONFINITE_FIRST)
            continue;
        count++;
        first = first ? first : at;
    }
    if (n)
        *n = count;
    return first;
}
