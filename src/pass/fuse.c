/* fuse.c: passes for networks in eval mode: batch normalisation folded into the convolution before
 * it, and layers and functions that then do nothing taken out. Both delete the submodules that are
 * no longer needed. opt.c lists them. */
#include <math.h>
#include <string.h>

#include "ir/subst.h"
#include "pass/effect.h"
#include "pass/opt.h"

/* ---- who uses which submodule
 * --------------------------------------------------------------------------- */

/* How many nodes call a path, or get a tensor of it. */
typedef struct module_uses {
    fxs_map counts;
} module_uses;

static fxs_status count_uses(const fxs_graph *g, module_uses *u) {
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        size_t len = strlen(n->target);
        if (n->kind == FXS_GET_ATTR) {
            const char *dot = strrchr(n->target, '.');
            len = dot ? (size_t)(dot - n->target) : 0;
        } else if (n->kind != FXS_CALL_MODULE) {
            continue;
        }
        void **at = fxs_map_at(&u->counts, n->target, len);
        if (at)
            *at = (void *)((uintptr_t)*at + 1);
        else if (!fxs_map_put(&u->counts, n->target, len, (void *)1))
            return fxs_fail_memory(g->ctx);
    }
    return FXS_OK;
}

/* Nodes that use the module itself; one above it that is called may use it too, and counts. */
static size_t uses_of(const module_uses *u, const char *path) {
    size_t n = 0;
    for (size_t len = strlen(path);;) {
        void **at = fxs_map_at(&u->counts, path, len);
        n += at ? (uintptr_t)*at : 0;
        while (len && path[len - 1] != '.')
            len--;
        if (!len)
            return n;
        len--;
    }
}

/* One use of a path ends; a module without any is deleted. */
static fxs_status drop_use(fxs_module *m, module_uses *u, const char *path) {
    void **at = fxs_map_at(&u->counts, path, strlen(path));
    if (at)
        *at = (void *)((uintptr_t)*at - 1);
    return uses_of(u, path) ? FXS_OK : fxs_module_delete_submodule(m, path);
}

/* ---- convolution and batch normalisation
 * ---------------------------------------------------------------- */

/* What batch normalisation makes of channel c: x * scale[c] + shift[c]. */
typedef struct affine {
    double *scale, *shift;
    int64_t n;
} affine;

static fxs_status read_state(const fxs_module *m, const char *name, fxs_tensor **out) {
    fxs_parameter *p = fxs_module_attribute(m, name, strlen(name));
    *out = NULL;
    return p ? fxs_parameter_read(m->ctx, p, out) : FXS_OK;
}

static double number_at(const fxs_tensor *t, int64_t i, double otherwise) {
    const char *data = t ? fxs_tensor_data(t) : NULL;
    return t ? fxs_load_double(t->dtype, data + (size_t)i * fxs_dtype_size(t->dtype)) : otherwise;
}

static fxs_status read_affine(const fxs_module *bn, fxs_arena *a, affine *out) {
    fxs_tensor *mean, *var, *weight, *bias;
    fxs_layer *layer = FXS_NEW(a, fxs_layer);
    if (!layer)
        return fxs_fail_memory(bn->ctx);
    FXS_TRY(fxs_module_layer(bn, a, layer));
    const fxs_value *eps = fxs_layer_hyper(layer, "eps");
    FXS_TRY(read_state(bn, "running_mean", &mean));
    FXS_TRY(read_state(bn, "running_var", &var));
    FXS_TRY(read_state(bn, "weight", &weight));
    FXS_TRY(read_state(bn, "bias", &bias));
    out->n = fxs_tensor_numel(mean);
    out->scale = FXS_NEW_N(a, double, (size_t)out->n);
    out->shift = FXS_NEW_N(a, double, (size_t)out->n);
    if (!out->scale || !out->shift)
        return fxs_fail_memory(bn->ctx);
    for (int64_t c = 0; c < out->n; c++) {
        double e =
            eps && eps->tag == FXS_V_FLOAT ? eps->u.f : (double)fxs_layer_int(layer, "eps", 0);
        out->scale[c] = number_at(weight, c, 1) / sqrt(number_at(var, c, 1) + e);
        out->shift[c] = number_at(bias, c, 0) - number_at(mean, c, 0) * out->scale[c];
    }
    return FXS_OK;
}

/* The output channel of row r, column k of a weight: [out, in / groups, ...], transposed [in, out /
 * groups, ...]. */
static int64_t channel_of(const fxs_tensor *w, bool transposed, int64_t groups, int64_t r,
                          int64_t k) {
    return transposed ? r / (w->sizes[0] / groups) * w->sizes[1] + k : r;
}

static void scale_weight(const fxs_tensor *w, fxs_tensor *out, const affine *f, bool transposed,
                         int64_t groups) {
    int64_t inner = 1, at = 0;
    for (int i = 2; i < w->ndim; i++)
        inner *= w->sizes[i];
    char *to = fxs_tensor_data(out);
    for (int64_t r = 0; r < w->sizes[0]; r++)
        for (int64_t k = 0; k < w->sizes[1]; k++) {
            double scale = f->scale[channel_of(w, transposed, groups, r, k)];
            for (int64_t i = 0; i < inner; i++, at++)
                fxs_store_double(w->dtype, to + (size_t)at * fxs_dtype_size(w->dtype),
                                 number_at(w, at, 0) * scale);
        }
}

static fxs_status fill_fused(const fxs_module *conv, const affine *f, bool transposed,
                             int64_t groups, fxs_module *fused) {
    fxs_tensor *w, *b, *weight = NULL, *bias = NULL;
    FXS_TRY(read_state(conv, "weight", &w));
    FXS_TRY(read_state(conv, "bias", &b));
    fxs_status s = fxs_tensor_new(conv->ctx, w->dtype, w->ndim, w->sizes, &weight);
    if (s == FXS_OK)
        s = fxs_tensor_new(conv->ctx, w->dtype, 1, &f->n, &bias);
    if (s == FXS_OK) {
        weight->requires_grad = bias->requires_grad = true;
        weight->is_parameter = bias->is_parameter = true;
        scale_weight(w, weight, f, transposed, groups);
        for (int64_t c = 0; c < f->n; c++)
            fxs_store_double(w->dtype,
                             (char *)fxs_tensor_data(bias) + (size_t)c * fxs_dtype_size(w->dtype),
                             number_at(b, c, 0) * f->scale[c] + f->shift[c]);
        s = fxs_module_put_tensor(fused, "weight", false, weight);
    }
    if (s == FXS_OK)
        s = fxs_module_put_tensor(fused, "bias", false, bias);
    fxs_tensor_unref(weight);
    fxs_tensor_unref(bias);
    return s;
}

/* The same convolution with a bias: its line without bias=False. */
static fxs_status new_fused(const fxs_module *conv, fxs_module **out) {
    fxs_value kwargs;
    size_t n = fxs_value_len(&conv->kwargs), kept = 0;
    FXS_TRY(fxs_make_dict(conv->ctx, NULL, n, &kwargs));
    for (size_t i = 0; i < n; i++) {
        const char *name = fxs_value_text(fxs_value_key(&conv->kwargs, i));
        if (strcmp(name, "bias") == 0)
            continue;
        kwargs.u.dict->pairs[kept].key = fxs_value_ref(*fxs_value_key(&conv->kwargs, i));
        kwargs.u.dict->pairs[kept++].value = fxs_value_ref(*fxs_value_item(&conv->kwargs, i));
    }
    kwargs.u.dict->len = kept;
    fxs_status s = fxs_module_new(conv->ctx, conv->class_name, &conv->args, &kwargs, out);
    fxs_value_unref(&kwargs);
    return s;
}

/* "Conv2d" and "BatchNorm2d" go together: 2; 0 when the class is another. */
static int rank_of(const fxs_module *m, const char *class_name) {
    size_t n = strlen(class_name);
    if (!m || !m->row || strncmp(m->row->name, class_name, n) != 0 || strlen(m->row->name) != n + 2)
        return 0;
    int rank = m->row->name[n] - '0';
    return m->row->name[n + 1] == 'd' && rank >= 1 && rank <= 3 ? rank : 0;
}

/* Values that this file reads as they lie in memory. */
static bool is_plain(const fxs_module *m) {
    for (size_t i = 0; i < m->nattributes; i++) {
        const fxs_parameter *p = m->attributes[i].param;
        if (!fxs_is_computable(p->spec->dtype) || (p->data && !fxs_tensor_is_contiguous(p->data)))
            return false;
    }
    return true;
}

typedef struct fusing {
    fxs_module *m;
    module_uses uses;
    fxs_subst subst;
} fusing;

/* The convolution node that a batch normalisation may be folded into; NULL when it must stay. */
static fxs_node *partner_of(const fusing *f, const fxs_node *n, bool *transposed) {
    const fxs_module *bn = n->kind == FXS_CALL_MODULE ? fxs_module_find(f->m, n->target) : NULL;
    int rank = rank_of(bn, "BatchNorm");
    fxs_node *c = rank && n->ninputs == 1 ? n->inputs[0] : NULL;
    if (!c || c->kind != FXS_CALL_MODULE || c->nusers != 1 || uses_of(&f->uses, c->target) != 1)
        return NULL;
    const fxs_module *conv = fxs_module_find(f->m, c->target);
    const fxs_parameter *mean = fxs_module_attribute(bn, "running_mean", 12);
    *transposed = rank_of(conv, "ConvTranspose") == rank;
    if ((!*transposed && rank_of(conv, "Conv") != rank) || !mean || !is_plain(conv) ||
        !is_plain(bn))
        return NULL;
    return fxs_value_len(&conv->args) > 3
               ? NULL
               : c; /* print(model) names all arguments behind the third */
}

static fxs_status fuse_pair(fusing *f, fxs_node *c, fxs_node *n, bool transposed) {
    const fxs_module *conv = fxs_module_find(f->m, c->target),
                     *bn = fxs_module_find(f->m, n->target);
    fxs_module *fused = NULL;
    fxs_arena a = {0};
    affine by;
    fxs_layer *layer = FXS_NEW(&a, fxs_layer);
    fxs_status s = layer ? fxs_module_layer(conv, &a, layer) : fxs_fail_memory(f->m->ctx);
    if (s == FXS_OK)
        s = read_affine(bn, &a, &by);
    if (s == FXS_OK && by.n != fxs_layer_int(layer, "out_channels", -1))
        s = fxs_fail(f->m->ctx, FXS_ESHAPE, "%s gives %lld channels, but %s normalises %lld",
                     c->target, (long long)fxs_layer_int(layer, "out_channels", -1), n->target,
                     (long long)by.n);
    if (s == FXS_OK)
        s = new_fused(conv, &fused);
    if (s == FXS_OK)
        s = fill_fused(conv, &by, transposed, fxs_layer_int(layer, "groups", 1), fused);
    if (s == FXS_OK)
        s = fxs_module_add_submodule(f->m, c->target, fused);
    fxs_module_unref(fused);
    fxs_arena_clear(&a);
    fxs_value v = fxs_of_node(c);
    if (s == FXS_OK)
        s = fxs_subst_set(&f->subst, n, &v);
    if (s == FXS_OK)
        fxs_subst_erase(&f->subst, n);
    return s == FXS_OK ? drop_use(f->m, &f->uses, n->target) : s;
}

static fxs_status fuse_all(fusing *f, bool *changed) {
    fxs_graph *g = f->m->graph;
    FXS_TRY(fxs_graph_lint(g));
    FXS_TRY(count_uses(g, &f->uses));
    FXS_TRY(fxs_subst_init(&f->subst, g));
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        bool transposed;
        fxs_node *c = partner_of(f, n, &transposed);
        if (!c)
            continue;
        FXS_TRY(fuse_pair(f, c, n, transposed));
        *changed = true;
    }
    return *changed ? fxs_subst_apply(&f->subst) : FXS_OK;
}

fxs_status fxs_pass_fuse_conv_bn(fxs_module *m, bool *changed) {
    fusing f = {.m = m};
    fxs_status s = fuse_all(&f, changed);
    fxs_map_free(&f.uses.counts);
    fxs_subst_free(&f.subst);
    return s;
}

/* ---- what does nothing in eval mode
 * --------------------------------------------------------------------- */

/* *input: what the node hands through; NULL: it is no such node. */
static fxs_status find_idle(const fxs_module *m, const fxs_node *n, fxs_arena *a,
                            fxs_node **input) {
    const fxs_op *op = NULL;
    const fxs_value *v = fxs_value_item(&n->args, 0);
    *input = NULL;
    if (n->kind == FXS_CALL_MODULE) {
        const fxs_module *layer = fxs_module_find(m, n->target);
        if (layer)
            FXS_TRY(fxs_layer_op(layer, &op));
        if (!v)
            v = fxs_value_item(&n->kwargs, 0);
    } else if (n->kind == FXS_CALL_FUNCTION) {
        fxs_node_call *call = FXS_NEW(a, fxs_node_call);
        if (!call)
            return fxs_fail_memory(m->ctx);
        FXS_TRY(fxs_node_call_of(n, a, call));
        const fxs_value *training = fxs_node_call_arg(call, "training");
        training = training ? training : fxs_node_call_arg(call, "train");
        if (training && training->tag == FXS_V_BOOL && !training->u.b) {
            op = call->ops->op;
            v = &call->arg[0];
        }
    }
    if (op && op->flags & FXS_OP_IDLE_IN_EVAL && v && v->tag == FXS_V_NODE)
        *input = v->u.node;
    return FXS_OK;
}

static fxs_status remove_all(fusing *f, fxs_arena *a, bool *changed) {
    fxs_graph *g = f->m->graph;
    FXS_TRY(fxs_graph_lint(g));
    FXS_TRY(count_uses(g, &f->uses));
    FXS_TRY(fxs_subst_init(&f->subst, g));
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        fxs_node *input;
        FXS_TRY(find_idle(f->m, n, a, &input));
        fxs_arena_reset(a);
        if (!input)
            continue;
        fxs_value v = fxs_of_node(input);
        FXS_TRY(fxs_subst_set(&f->subst, n, &v));
        fxs_subst_erase(&f->subst, n);
        *changed = true;
        if (n->kind == FXS_CALL_MODULE)
            FXS_TRY(drop_use(f->m, &f->uses, n->target));
    }
    return *changed ? fxs_subst_apply(&f->subst) : FXS_OK;
}

fxs_status fxs_pass_remove_identity(fxs_module *m, bool *changed) {
    fusing f = {.m = m};
    fxs_arena a = {0};
    fxs_status s = remove_all(&f, &a, changed);
    fxs_map_free(&f.uses.counts);
    fxs_subst_free(&f.subst);
    fxs_arena_clear(&a);
    return s;
}
