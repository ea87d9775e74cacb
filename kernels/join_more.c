/* join_more.c: atleast_1d atleast_2d atleast_3d, column_stack, block_diag, cartesian_prod,
 * combinations, argwhere, fill: tensors given more dimensions, or put together in other ways than
 * end to end. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/create.h"
#include "kernels/iterate.h"

/* ---- atleast_nd
 * ------------------------------------------------------------------------------------------------
 */

/* t with at least n dimensions: t itself, or a view with dimensions of size 1. Vectors get one in
 * front, matrices one behind. */
static fxs_status out_at_least(fxs_call *c, fxs_tensor *t, int n) {
    fxs_tensor *v;
    if (t->ndim >= n)
        return fxs_out_same(c, t);
    FXS_TRY(fxs_out_view(c, t, &v));
    v->ndim = n;
    for (int i = 0; i < n; i++)
        v->sizes[i] = v->strides[i] = 1;
    int at = t->ndim == 1 ? 1 : 0;
    for (int i = 0; i < t->ndim; i++, at++) {
        v->sizes[at] = t->sizes[i];
        v->strides[at] = t->strides[i];
    }
    if (t->ndim == 1)
        v->strides[0] = t->sizes[0] * t->strides[0];
    return FXS_OK;
}

/* Of one tensor, or of each of several, which give a tuple. */
static fxs_status infer_at_least(fxs_call *c, int n) {
    if (c->nargs && fxs_arg_tensor(c, 0))
        return out_at_least(c, fxs_arg_tensor(c, 0), n);
    for (int i = 0; c->nargs && i < fxs_arg_len(c, 0); i++) {
        if (!fxs_arg_tensor_at(c, 0, i))
            return FXS_REFUSE(c, FXS_ETYPE, "expected a tensor as element %d, but got None", i);
        FXS_TRY(out_at_least(c, fxs_arg_tensor_at(c, 0, i), n));
    }
    c->out_tuple = true;
    return FXS_OK;
}

static fxs_status infer_atleast_1d(fxs_call *c) { return infer_at_least(c, 1); }
static fxs_status infer_atleast_2d(fxs_call *c) { return infer_at_least(c, 2); }
static fxs_status infer_atleast_3d(fxs_call *c) { return infer_at_least(c, 3); }

/* ---- lists of tensors
 * ------------------------------------------------------------------------------------------ */

static fxs_tensor *item(fxs_compose *k, int i) {
    fxs_tensor *t = fxs_arg_tensor_at(k->call, 0, i);
    if (!t)
        fxs_stop(k, FXS_ETYPE, "expected a tensor as element %d, but got None", i);
    return t;
}

/* column_stack(tensors): vectors are columns */
static void make_column_stack(fxs_compose *k) {
    int n = fxs_arg_len(k->call, 0);
    fxs_tensor **t = FXS_NEW_N(k->call->scratch, fxs_tensor *, (size_t)(n ? n : 1));
    if (!t) {
        k->status = fxs_fail_memory(k->call->ctx);
        return;
    }
    if (n == 0)
        fxs_stop(k, FXS_EINVAL, "expects a non-empty list of tensors");
    for (int i = 0; i < n && (t[i] = item(k, i)); i++)
        if (t[i]->ndim <= 1)
            t[i] = FXS_DO(k, "reshape", fxs_t(t[i]), FXS_INTS(k, fxs_tensor_numel(t[i]), 1));
    if (k->status == FXS_OK)
        fxs_give(k, FXS_DO(k, "hstack", fxs_tensors(k, n, t)));
}
FXS_COMPOSED_FREE(column_stack)

/* The type that all of a list have in common. */
static fxs_dtype list_type(const fxs_call *c, int n) {
    fxs_tensor with = {.dtype = FXS_DTYPE_COUNT, .ndim = 1}, without = {.dtype = FXS_DTYPE_COUNT};
    fxs_operands o = {0};
    for (int i = 0; i < n; i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, 0, i);
        fxs_tensor *sum = t->ndim ? &with : &without;
        sum->dtype = sum->dtype == FXS_DTYPE_COUNT ? t->dtype : fxs_promote(sum->dtype, t->dtype);
    }
    if (with.dtype != FXS_DTYPE_COUNT)
        o.v[o.n++] = fxs_of_tensor(&with);
    if (without.dtype != FXS_DTYPE_COUNT)
        o.v[o.n++] = fxs_of_tensor(&without);
    return o.n ? fxs_common_type(&o) : FXS_FLOAT32;
}

/* block_diag(tensors): matrices corner to corner in zeros; vectors are rows */
static void make_block_diag(fxs_compose *k) {
    int n = k->call->nargs ? fxs_arg_len(k->call, 0) : 0;
    int64_t rows = n ? 0 : 1, columns = 0, row = 0, column = 0;
    k->any_grad = true;
    for (int i = 0; i < n; i++) {
        const fxs_tensor *t = item(k, i);
        if (k->status == FXS_OK && t->ndim > 2)
            fxs_stop(k, FXS_ESHAPE,
                     "input tensors must have two or fewer dimensions, but number %d has %d", i,
                     t->ndim);
        if (k->status != FXS_OK)
            return;
        rows += t->ndim == 2 ? t->sizes[0] : 1;
        columns += t->ndim ? t->sizes[t->ndim - 1] : 1;
    }
    fxs_dtype d = list_type(k->call, n);
    fxs_tensor *out =
        FXS_DO_NAMED(k, "zeros", "dtype", fxs_of_dtype(d), FXS_INTS(k, rows, columns));
    for (int i = 0; i < n && k->status == FXS_OK; i++) {
        const fxs_tensor *t = item(k, i);
        int64_t h = t->ndim == 2 ? t->sizes[0] : 1, w = t->ndim ? t->sizes[t->ndim - 1] : 1;
        fxs_tensor *part = FXS_DO(k, "narrow", fxs_t(out), fxs_int(0), fxs_int(row), fxs_int(h));
        part = FXS_DO(k, "narrow", fxs_t(part), fxs_int(1), fxs_int(column), fxs_int(w));
        FXS_DO(k, "copy_", fxs_t(part), fxs_t((fxs_tensor *)t));
        row += h;
        column += w;
    }
    fxs_give(k, out);
}
FXS_COMPOSED_FREE(block_diag)

/* cartesian_prod(tensors): every choice of one element from each vector is a row */
static void make_cartesian_prod(fxs_compose *k) {
    int n = fxs_arg_len(k->call, 0);
    fxs_tensor *column[FXS_MAX_DIM], *grid[FXS_MAX_DIM];
    if (n == 0 || n > FXS_MAX_DIM)
        fxs_stop(k, FXS_EINVAL, "expects 1 to %d tensors, but got %d", FXS_MAX_DIM, n);
    for (int i = 0; i < n && k->status == FXS_OK; i++) {
        const fxs_tensor *t = item(k, i);
        if (t && t->ndim != 1)
            fxs_stop(k, FXS_ESHAPE, "expects 1D vectors, but number %d has %d dimensions", i,
                     t->ndim);
    }
    if (k->status != FXS_OK)
        return;
    fxs_do(k, "meshgrid", (size_t)n, k->call->arg[0].u.seq->items);
    for (int i = 0; i < n; i++)
        grid[i] = fxs_do_item(k, i);
    for (int i = 0; i < n; i++)
        column[i] = FXS_DO(k, "flatten", fxs_t(grid[i]));
    if (k->status == FXS_OK)
        fxs_give(k, FXS_DO(k, "stack", fxs_tensors(k, n, column), fxs_int(1)));
}

/* One vector is given back as it is. */
static fxs_status infer_cartesian_prod(fxs_call *c) {
    fxs_tensor *only = fxs_arg_len(c, 0) == 1 ? fxs_arg_tensor_at(c, 0, 0) : NULL;
    return only && only->ndim == 1 ? fxs_out_same(c, only)
                                   : fxs_compose_infer(c, make_cartesian_prod);
}
static fxs_status run_cartesian_prod(fxs_call *c) {
    return fxs_compose_run(c, make_cartesian_prod);
}

/* ---- combinations(self, r, with_replacement)
 * ---------------------------------------------------------------------------- */

/* How many ways there are to choose r of n, -1: beyond 2^63. */
static int64_t choices(int64_t n, int64_t r) {
    int64_t count = 1;
    if (r > n)
        return 0;
    if (r > n - r)
        r = n - r;
    for (int64_t i = 1; i <= r; i++) /* count * (n - r + i) is a multiple of i */
        if (__builtin_mul_overflow(count, n - r + i, &count))
            return -1;
        else
            count /= i;
    return count;
}

static fxs_status infer_combinations(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t r = fxs_arg_int(c, 1), n, count;
    if (t->ndim != 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "expects a 1D vector, but got %d dimensions", t->ndim);
    if (r < 0)
        return FXS_REFUSE(c, FXS_EINVAL, "expects a non-negative number of elements, but got %lld",
                          (long long)r);
    c->constants = r == 0;
    if (r == 0)
        return fxs_out_new(c, t->dtype, 1, (int64_t[]){0}, NULL);
    n = t->sizes[0];
    if (n && fxs_arg_bool(c, 2))
        n += r - 1;
    count = choices(n, r);
    if (count < 0)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than 2^63 combinations");
    return fxs_out_new(c, t->dtype, 2, (int64_t[]){count, r}, NULL);
}

static fxs_status run_combinations(fxs_call *c) {
    const fxs_tensor *t = fxs_arg_tensor(c, 0);
    const fxs_tensor *out = c->out[0];
    int64_t n = t->sizes[0], r = out->ndim == 2 && out->sizes[0] ? out->sizes[1] : 0;
    int64_t *at = FXS_SCRATCH(c->scratch, int64_t, (size_t)(r ? r : 1));
    if (!at)
        return fxs_fail_memory(c->ctx);
    size_t size = fxs_dtype_size(t->dtype);
    bool again = fxs_arg_bool(c, 2);
    for (int64_t i = 0; i < r; i++)
        at[i] = again ? 0 : i;
    for (int64_t row = 0; r && row < out->sizes[0]; row++) {
        for (int64_t i = 0; i < r; i++)
            memcpy((char *)fxs_tensor_data(out) + (size_t)(row * r + i) * size,
                   (const char *)fxs_tensor_data(t) + at[i] * t->strides[0] * (int64_t)size, size);
        int64_t i = r - 1; /* the last that can go on; those behind it start from there */
        while (i > 0 && at[i] == (again ? n - 1 : n - r + i))
            i--;
        at[i]++;
        for (int j = i + 1; j < r; j++)
            at[j] = at[j - 1] + !again;
    }
    return FXS_OK;
}

/* ---- in other words
 * -------------------------------------------------------------------------------------------------
 */

/* argwhere(self): where it is not zero, as rows */
static void make_argwhere(fxs_compose *k) {
    fxs_give(k, FXS_DO(k, "nonzero", fxs_t(fxs_arg_tensor(k->call, 0))));
}
FXS_COMPOSED_FREE(argwhere)

/* fill(self, value): a copy with one value everywhere */
static void make_fill(fxs_compose *k) {
    fxs_tensor *t = fxs_arg_tensor(k->call, 0);
    if (!fxs_type_holds(t->dtype, &k->call->arg[1]))
        fxs_stop(k, FXS_EINVAL, "the value can't be converted to torch.%s",
                 fxs_dtype_name(t->dtype));
    t = FXS_DO(k, "empty_like", fxs_t(t));
    k->any_grad = true;
    fxs_give(k, FXS_DO(k, "fill_", fxs_t(t), k->call->arg[1]));
}
FXS_COMPOSED_FREE(fill)

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)
#define BOTH(name) "torch." name " Tensor." name
#define PYTHON(name) "torch.functional." name " torch." name
#define AT_LEAST(name)                                                                             \
    {#name, "(Tensor self) -> Tensor", PYTHON(#name), infer_##name, NULL, NULL, PURE},             \
        {#name,                                                                                    \
         "(Tensor... tensors) -> Tensor[]",                                                        \
         PYTHON(#name),                                                                            \
         infer_##name,                                                                             \
         NULL,                                                                                     \
         NULL,                                                                                     \
         PURE | FXS_OP_GRAD_EACH},                                                                 \
    {                                                                                              \
#name, "() -> Tensor[]", PYTHON(#name), infer_##name, NULL, NULL, PURE                     \
    }

const fxs_op fxs_ops_join_more[] = {
    AT_LEAST(atleast_1d),
    AT_LEAST(atleast_2d),
    AT_LEAST(atleast_3d),
    {"column_stack", "(Tensor[] tensors) -> Tensor", "torch.column_stack", infer_column_stack,
     run_column_stack, NULL, PURE},
    {"block_diag", "(Tensor... tensors) -> Tensor", PYTHON("block_diag"), infer_block_diag,
     run_block_diag, NULL, PURE},
    {"block_diag", "() -> Tensor", PYTHON("block_diag"), infer_block_diag, run_block_diag, NULL,
     PURE},
    {"cartesian_prod", "(Tensor... tensors) -> Tensor", PYTHON("cartesian_prod"),
     infer_cartesian_prod, run_cartesian_prod, NULL, PURE},
    {"combinations", "(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
     "torch.combinations", infer_combinations, run_combinations, NULL, PURE},
    {"argwhere", "(Tensor self) -> Tensor", BOTH("argwhere"), infer_argwhere, run_argwhere, NULL,
     PURE},
    {"fill", "(Tensor self, Tensor|Scalar value) -> Tensor", "torch.fill", infer_fill, run_fill,
     NULL, PURE},
    {0},
};
#undef PURE
#undef BOTH
#undef PYTHON
#undef AT_LEAST
