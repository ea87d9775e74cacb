/* product.c: see product.h. */
#include "kernels/product.h"

#include "kernels/complex.h"
#include "kernels/gemm.h"

/* A tensor seen as a stack of matrices: [batch..., rows, cols]. */
typedef struct stack {
    fxs_tensor *t;
    int64_t rows, cols, row, col;
    int nbatch;
} stack;

/* A vector is a row on the left side and a column on the right side. */
static stack stack_of(fxs_tensor *t, bool left) {
    int n = t->ndim;
    stack s = {.t = t, .rows = 1, .cols = 1, .nbatch = n > 2 ? n - 2 : 0};
    if (n == 1 && left)
        s.cols = t->sizes[0], s.row = t->sizes[0], s.col = t->strides[0];
    else if (n == 1)
        s.rows = t->sizes[0], s.row = t->strides[0], s.col = 1;
    else
        s.rows = t->sizes[n - 2], s.cols = t->sizes[n - 1], s.row = t->strides[n - 2],
        s.col = t->strides[n - 1];
    return s;
}

static int64_t batch_count(const stack *s) {
    int64_t n = 1;
    for (int i = 0; i < s->nbatch; i++)
        n *= s->t->sizes[i];
    return n;
}

/* The operand as BLAS can read it: copied only when its type or layout does not allow it. */
static stack usable(fxs_work *w, fxs_tensor *t, bool left) {
    stack s = stack_of(t, left);
    if (t->dtype == w->dtype && fxs_gemm_takes(s.rows, s.cols, s.row, s.col))
        return s;
    fxs_tensor *dense = fxs_work_in(w, t);
    return dense ? stack_of(dense, left) : s;
}

/* Stride of batch dimension i (of n, broadcast from the right). */
static int64_t batch_stride(const stack *s, int i, int n) {
    int at = i - (n - s->nbatch);
    return at < 0 || s->t->sizes[at] == 1 ? 0 : s->t->strides[at];
}

static int64_t batch_size(const stack *a, const stack *b, int i, int n) {
    int at = i - (n - a->nbatch), bt = i - (n - b->nbatch);
    int64_t x = at < 0 ? 1 : a->t->sizes[at], y = bt < 0 ? 1 : b->t->sizes[bt];
    return x == 1 ? y : x;
}

static void set_batch(fxs_gemm *g, const stack *a, const stack *b) {
    int64_t step = g->m * g->n;
    g->batch_ndim = a->nbatch > b->nbatch ? a->nbatch : b->nbatch;
    for (int i = g->batch_ndim - 1; i >= 0; i--) {
        g->batch[i] = batch_size(a, b, i, g->batch_ndim);
        g->a_batch[i] = batch_stride(a, i, g->batch_ndim);
        g->b_batch[i] = batch_stride(b, i, g->batch_ndim);
        g->c_batch[i] = step;
        step *= g->batch[i];
    }
}

/* The real (0) or imaginary (1) part of a complex tensor, as a view of it. */
static fxs_tensor part_of(const fxs_tensor *t, int part) {
    fxs_tensor v = *t;
    v.dtype = fxs_real_of(t->dtype);
    v.offset = 2 * t->offset + part;
    for (int i = 0; i < t->ndim; i++)
        v.strides[i] = 2 * t->strides[i];
    return v;
}

static void add_part(fxs_tensor *out, int part, const fxs_tensor *term, double sign, bool add) {
    for (int64_t i = 0, n = fxs_tensor_numel(out); i < n; i++) {
        char *p = (char *)fxs_tensor_data(out) + i * (int64_t)fxs_dtype_size(out->dtype);
        double z[2], x = fxs_load_double(term->dtype, (char *)fxs_tensor_data(term) +
                                                          i * (int64_t)fxs_dtype_size(term->dtype));
        fxs_load_pair(out->dtype, p, z);
        z[part] = (add ? z[part] : 0) + sign * x;
        fxs_store_pair(out->dtype, p, z);
    }
}

/* A complex product as four real ones. */
static void complex_product(fxs_work *w, const fxs_tensor *a, const fxs_tensor *b, fxs_tensor *out,
                            bool accumulate) {
    int64_t n = fxs_tensor_numel(out);
    fxs_tensor *term = NULL;
    w->status = fxs_tensor_new(w->call->ctx, fxs_real_of(w->dtype), 1, &n, &term);
    for (int k = 0; k < 4 && w->status == FXS_OK; k++) {
        fxs_tensor x = part_of(a, k / 2), y = part_of(b, k % 2);
        fxs_work real = fxs_work_begin(w->call, fxs_real_of(w->dtype));
        fxs_product(&real, &x, &y, term, false);
        w->status = fxs_work_end(&real); /* while x and y are there */
        if (w->status == FXS_OK)
            add_part(out, k == 1 || k == 2, term, k == 3 ? -1 : 1, accumulate || k > 1);
    }
    fxs_tensor_unref(term);
}

void fxs_product(fxs_work *w, fxs_tensor *a, fxs_tensor *b, fxs_tensor *out, bool accumulate) {
    if (w->status != FXS_OK)
        return;
    if (fxs_is_complex(w->dtype)) {
        complex_product(w, a, b, out, accumulate);
        return;
    }
    stack x = usable(w, a, true), y = usable(w, b, false);
    if (w->status != FXS_OK)
        return;
    fxs_gemm g = fxs_gemm_dense(w->dtype, x.rows, y.cols, x.cols, fxs_tensor_data(x.t),
                                fxs_tensor_data(y.t), fxs_tensor_data(out));
    g.accumulate = accumulate;
    g.a_row = x.row, g.a_col = x.col, g.b_row = y.row, g.b_col = y.col;
    if (batch_count(&y) == 1 && x.nbatch >= y.nbatch && fxs_tensor_is_contiguous(x.t)) {
        g.m = batch_count(&x) * x.rows; /* one product instead of a batch */
        g.a_row = x.cols, g.a_col = 1;
    } else {
        set_batch(&g, &x, &y);
    }
    w->status = fxs_gemm_run(w->call->ctx, &g);
}

static fxs_status refuse_inner(fxs_call *c, const fxs_tensor *a, const fxs_tensor *b) {
    char x[FXS_SIZES_TEXT], y[FXS_SIZES_TEXT];
    if (a->ndim == 2 && b->ndim == 2)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)",
                          (long long)a->sizes[0], (long long)a->sizes[1], (long long)b->sizes[0],
                          (long long)b->sizes[1]);
    return FXS_REFUSE(c, FXS_ESHAPE, "shapes cannot be multiplied: %s and %s", fxs_sizes_text(a, x),
                      fxs_sizes_text(b, y));
}

fxs_status fxs_product_sizes(fxs_call *c, const fxs_tensor *a, const fxs_tensor *b, int *ndim,
                             int64_t *sizes) {
    char at[FXS_SIZES_TEXT], bt[FXS_SIZES_TEXT];
    if (a->ndim == 0 || b->ndim == 0)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "both arguments need to be at least 1-dimensional, but they are %s and %s",
            fxs_sizes_text(a, at), fxs_sizes_text(b, bt));
    stack x = stack_of((fxs_tensor *)a, true), y = stack_of((fxs_tensor *)b, false);
    if (x.cols != y.rows)
        return refuse_inner(c, a, b);
    int n = x.nbatch > y.nbatch ? x.nbatch : y.nbatch, count = n;
    for (int i = 0; i < n; i++) {
        sizes[i] = batch_size(&x, &y, i, n);
        int j = i - (n - y.nbatch);
        if (j >= 0 && y.t->sizes[j] != 1 && y.t->sizes[j] != sizes[i])
            return FXS_REFUSE(c, FXS_ESHAPE, "batch dimensions do not broadcast: %s and %s",
                              fxs_sizes_text(a, at), fxs_sizes_text(b, bt));
    }
    if (a->ndim > 1)
        sizes[count++] = x.rows;
    if (b->ndim > 1)
        sizes[count++] = y.cols;
    *ndim = count;
    return FXS_OK;
}

double fxs_product_flops(const fxs_tensor *a, const fxs_tensor *out) {
    double inner = a->ndim ? (double)a->sizes[a->ndim - 1] : 1;
    return 2 * inner * (double)fxs_tensor_numel(out);
}
