/* facts.c: see facts.h. Called by the table and by the pictures. */
#include "emit/facts.h"

#include "emit/format.h"

static bool add_bytes(void *user, const fxs_value *leaf) {
    if (leaf->tag == FXS_V_TENSOR)
        *(double *)user += (double)fxs_tensor_numel(leaf->u.tensor) *
                           (double)fxs_dtype_size(leaf->u.tensor->dtype);
    return true;
}

double fxs_result_bytes(const fxs_meta *m) {
    double bytes = 0;
    if (m->outcome == FXS_DONE)
        fxs_value_visit(&m->result, add_bytes, &bytes);
    return bytes;
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
