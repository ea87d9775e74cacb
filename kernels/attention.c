/* attention.c: scaled_dot_product_attention. Products are in product.c, the softmax in softmax.c.
 */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "kernels/families.h"
#include "kernels/product.h"
#include "kernels/softmax.h"

enum { QUERY, KEY, VALUE, MASK, DROPOUT, CAUSAL, SCALE };

/* t with its last two dimensions exchanged */
static fxs_tensor turned(const fxs_tensor *t) {
    fxs_tensor v = *t;
    int a = t->ndim - 2, b = t->ndim - 1;
    v.sizes[a] = t->sizes[b], v.sizes[b] = t->sizes[a];
    v.strides[a] = t->strides[b], v.strides[b] = t->strides[a];
    return v;
}

/* Sizes of query @ key' into *scores, and of that @ value into *result. */
static fxs_status check_attention(fxs_call *c, fxs_tensor *scores, fxs_tensor *result) {
    const fxs_tensor *q = fxs_arg_tensor(c, QUERY), *k = fxs_arg_tensor(c, KEY),
                     *v = fxs_arg_tensor(c, VALUE);
    const fxs_tensor *const all[] = {q, k, v};
    char text[FXS_SIZES_TEXT];
    FXS_TRY(fxs_check_dtype(c, q, FXS_TAKES_FLOATS));
    FXS_TRY(fxs_check_same_dtype(c, q, k, "key"));
    FXS_TRY(fxs_check_same_dtype(c, q, v, "value"));
    for (int i = 0; i < 3; i++)
        if (all[i]->ndim < 2)
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "expected query, key and value of at least 2 dimensions, but got shape %s",
                fxs_sizes_text(all[i], text));
    fxs_tensor key = turned(k);
    *scores = (fxs_tensor){.dtype = q->dtype};
    *result = (fxs_tensor){.dtype = q->dtype};
    FXS_TRY(fxs_product_sizes(c, q, &key, &scores->ndim, scores->sizes));
    return fxs_product_sizes(c, scores, v, &result->ndim, result->sizes);
}

/* The mask must expand to the scores. */
static fxs_status check_mask(fxs_call *c, const fxs_tensor *scores) {
    const fxs_tensor *m = fxs_arg_tensor(c, MASK);
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    bool ok = !m || m->ndim <= scores->ndim;
    if (!m)
        return FXS_OK;
    if (fxs_arg_bool(c, CAUSAL))
        return FXS_REFUSE(c, FXS_EINVAL,
                          "explicit attn_mask should not be set when is_causal=True");
    if (m->dtype != FXS_BOOL && m->dtype != scores->dtype)
        return FXS_REFUSE(c, FXS_ETYPE, "expected attn_mask of type bool or %s, but got %s",
                          fxs_dtype_name(scores->dtype), fxs_dtype_name(m->dtype));
    for (int i = 0; ok && i < m->ndim; i++) {
        int64_t n = scores->sizes[scores->ndim - m->ndim + i];
        ok = m->sizes[i] == n || m->sizes[i] == 1;
    }
    return ok ? FXS_OK
              : FXS_REFUSE(c, FXS_ESHAPE,
                           "attn_mask of shape %s can't be expanded to scores of shape %s",
                           fxs_sizes_text(m, a), fxs_sizes_text(scores, b));
}

static fxs_status infer_attention(fxs_call *c) {
    fxs_tensor scores, result;
    FXS_TRY(check_attention(c, &scores, &result));
    FXS_TRY(check_mask(c, &scores));
    return fxs_out_new(c, result.dtype, result.ndim, result.sizes, NULL);
}

/* The mask's element for position i of the scores. */
static const char *mask_at(const fxs_tensor *m, const fxs_tensor *scores, int64_t i) {
    int64_t at = 0;
    for (int d = scores->ndim - 1; d >= 0; d--) {
        int k = d - (scores->ndim - m->ndim);
        if (k >= 0 && m->sizes[k] != 1)
            at += i % scores->sizes[d] * m->strides[k];
        i /= scores->sizes[d];
    }
    return (const char *)fxs_tensor_data(m) + at * (int64_t)fxs_dtype_size(m->dtype);
}

static double masked(const fxs_call *c, const fxs_tensor *scores, int64_t i, double x) {
    const fxs_tensor *m = fxs_arg_tensor(c, MASK);
    int64_t cols = scores->sizes[scores->ndim - 1], rows = scores->sizes[scores->ndim - 2];
    if (fxs_arg_bool(c, CAUSAL))
        return i % cols > i / cols % rows ? -INFINITY : x;
    if (!m)
        return x;
    double v = fxs_load_double(m->dtype, mask_at(m, scores, i));
    if (m->dtype == FXS_BOOL)
        return v != 0 ? x : -INFINITY;
    return x + v;
}

static void scale_and_mask(const fxs_call *c, fxs_dtype d, fxs_tensor *scores) {
    const fxs_tensor *q = fxs_arg_tensor(c, QUERY);
    int64_t width = q->sizes[q->ndim - 1]; /* of none the scores are 0 */
    double scale =
        fxs_arg_is_none(c, SCALE) ? 1 / sqrt(width ? (double)width : 1) : fxs_arg_float(c, SCALE);
    int64_t n = fxs_tensor_numel(scores);
    bool plain = !fxs_arg_tensor(c, MASK) && !fxs_arg_bool(c, CAUSAL);
    float *f = fxs_tensor_data(scores);
    if (plain && d == FXS_FLOAT32) {
        for (int64_t i = 0; i < n; i++)
            f[i] *= (float)scale;
        return;
    }
    char *p = fxs_tensor_data(scores);
    for (int64_t i = 0; i < n; i++, p += fxs_dtype_size(d))
        fxs_store_double(d, p, masked(c, scores, i, fxs_load_double(d, p) * scale));
}

/* This function's dropout is its own argument, whatever the mode. */
static void drop(const fxs_call *c, fxs_dtype d, fxs_tensor *scores) {
    double p = fxs_arg_float(c, DROPOUT);
    char *x = fxs_tensor_data(scores);
    for (int64_t i = 0; p > 0 && i < fxs_tensor_numel(scores); i++, x += fxs_dtype_size(d)) {
        bool kept = (double)fxs_random_unit(c->seed, (uint64_t)i) >= p;
        fxs_store_double(d, x, kept ? fxs_load_double(d, x) / (1 - p) : 0);
    }
}

static fxs_status run_attention(fxs_call *c) {
    fxs_tensor sizes, unused, *scores = NULL, key = turned(fxs_arg_tensor(c, KEY));
    FXS_TRY(check_attention(c, &sizes, &unused));
    fxs_work w = fxs_work_begin(c, sizes.dtype);
    fxs_tensor *out = fxs_work_out(&w, c->out[0]);
    if (w.status == FXS_OK)
        w.status = fxs_tensor_make(c->ctx, w.dtype, sizes.ndim, sizes.sizes, NULL, &scores);
    if (w.status == FXS_OK)
        w.status = fxs_tensor_allocate(c->ctx, scores);
    if (w.status == FXS_OK)
        fxs_product(&w, fxs_arg_tensor(c, QUERY), &key, scores, false);
    if (w.status == FXS_OK && fxs_tensor_numel(scores) > 0) {
        int64_t n = scores->sizes[scores->ndim - 1];
        scale_and_mask(c, w.dtype, scores);
        fxs_softmax_rows(c->ctx, w.dtype, fxs_tensor_numel(scores) / n, n, fxs_tensor_data(scores),
                         fxs_tensor_data(scores));
        drop(c, w.dtype, scores);
    }
    if (w.status == FXS_OK)
        fxs_product(&w, scores, fxs_arg_tensor(c, VALUE), out, false);
    fxs_tensor_unref(scores);
    return fxs_work_end(&w);
}

/* 2 L S E for the scores and 2 L S Ev for the result, for each head; 6 for each score: scale and
 * softmax */
static fxs_cost cost_attention(const fxs_call *c) {
    const fxs_tensor *q = fxs_arg_tensor(c, QUERY), *k = fxs_arg_tensor(c, KEY), *out = c->out[0];
    double rows = out->sizes[out->ndim - 1]
                      ? (double)fxs_tensor_numel(out) / (double)out->sizes[out->ndim - 1]
                      : 0;
    double scores = rows * (double)k->sizes[k->ndim - 2];
    double each = 2 * (double)q->sizes[q->ndim - 1] + 2 * (double)out->sizes[out->ndim - 1] + 6;
    return (fxs_cost){.flops = each * scores};
}

const fxs_op fxs_ops_attention[] = {
    {.name = "scaled_dot_product_attention",
     .schema =
         "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
         "bool is_causal=False, *, float? scale=None) -> Tensor",
     .torch = "torch._C._nn.scaled_dot_product_attention "
              "torch.nn.functional.scaled_dot_product_attention",
     .infer = infer_attention,
     .kernel = run_attention,
     .cost = cost_attention,
     .flags = FXS_OP_RANDOM},
    {0},
};
