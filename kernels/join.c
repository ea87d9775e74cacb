/* join.c: cat, stack, hstack, vstack, dstack: many tensors into one. The result keeps channels_last
 * when all inputs look so, as PyTorch decides it. */
#include <string.h>

#include "base/pool.h"
#include "kernels/format.h"
#include "kernels/iterate.h"
#include "kernels/view.h"

enum {
    FEW_PARTS = 2,
    SERIAL_BELOW = 32768 /* elements: a copy of less is not worth another thread */
};

/* torch.result_type over a list. */
static fxs_dtype list_type(const fxs_call *c) {
    fxs_operands all = {.n = 2};
    fxs_dtype dim = FXS_BOOL, zero = FXS_BOOL;
    bool any_dim = false, any_zero = false;
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, 0, i);
        fxs_dtype *at = t->ndim ? &dim : &zero;
        bool *any = t->ndim ? &any_dim : &any_zero;
        *at = *any ? fxs_promote(*at, t->dtype) : t->dtype;
        *any = true;
    }
    if (!any_dim || !any_zero)
        return any_dim ? dim : zero;
    fxs_tensor a = {.ndim = 1, .dtype = dim}, b = {.ndim = 0, .dtype = zero};
    all.v[0] = fxs_of_tensor(&a);
    all.v[1] = fxs_of_tensor(&b);
    return fxs_common_type(&all);
}

static fxs_status check_list(fxs_call *c) {
    if (fxs_arg_len(c, 0) == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "expected a non-empty list of Tensors");
    for (int i = 0; i < fxs_arg_len(c, 0); i++)
        if (!fxs_arg_tensor_at(c, 0, i))
            return FXS_REFUSE(c, FXS_ETYPE,
                              "expected a tensor as element %d of the list, but got None", i);
    fxs_dtype d = list_type(c);
    for (int i = 0; i < fxs_arg_len(c, 0); i++)
        if (fxs_arg_tensor_at(c, 0, i)->dtype != d)
            FXS_TRY(fxs_check_computable(c, d));
    return FXS_OK;
}

/* What is joined in the place of each tensor of the list: hstack and its kin give them more
 * dimensions first. */
typedef fxs_tensor seen_as(const fxs_tensor *t);

static fxs_tensor as_it_is(const fxs_tensor *t) { return *t; }

static fxs_tensor with_front(const fxs_tensor *t, int ndim) {
    fxs_tensor v = *t;
    while (v.ndim < ndim) {
        int64_t step = v.ndim ? v.sizes[0] * v.strides[0] : 1;
        for (int i = v.ndim++; i > 0; i--) {
            v.sizes[i] = v.sizes[i - 1];
            v.strides[i] = v.strides[i - 1];
        }
        v.sizes[0] = 1;
        v.strides[0] = step;
    }
    return v;
}

static fxs_tensor at_least_1d(const fxs_tensor *t) { return with_front(t, 1); }
static fxs_tensor at_least_2d(const fxs_tensor *t) { return with_front(t, 2); }

static fxs_tensor at_least_3d(const fxs_tensor *t) {
    fxs_tensor v = with_front(t, 2);
    if (v.ndim == 2) {
        v.sizes[v.ndim] = 1;
        v.strides[v.ndim++] = 1;
    }
    return v;
}

/* An empty vector takes part in any cat, for old times' sake. */
static bool is_skipped(const fxs_tensor *t) { return t->ndim == 1 && t->sizes[0] == 0; }

static fxs_status mismatch(fxs_call *c, const fxs_tensor *first, const fxs_tensor *t, int at,
                           int dim) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    fxs_sizes_text(first, a);
    fxs_sizes_text(t, b);
    if (first->ndim != t->ndim)
        return FXS_REFUSE(
            c, FXS_ESHAPE,
            "tensors must have the same number of dimensions: got %d and %d: shapes %s and %s",
            first->ndim, t->ndim, a, b);
    return FXS_REFUSE(c, FXS_ESHAPE,
                      "sizes of tensors must match except in dimension %d: shapes %s and %s "
                      "(tensor number %d in the list)",
                      dim, a, b, at);
}

static bool joins(const fxs_tensor *a, const fxs_tensor *b, int dim) {
    for (int i = 0; i < a->ndim; i++)
        if (i != dim && a->sizes[i] != b->sizes[i])
            return false;
    return a->ndim == b->ndim;
}

static fxs_status out_joined(fxs_call *c, seen_as *see, int64_t wanted_dim) {
    fxs_tensor shape = {0};
    fxs_memory_format format = FXS_NO_FORMAT;
    int64_t total = 0, strides[FXS_MAX_DIM];
    int dim = 0;
    bool any = false;
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        fxs_tensor t = see(fxs_arg_tensor_at(c, 0, i));
        fxs_memory_format f = fxs_suggested_format(&t);
        format = format == FXS_NO_FORMAT || format == f ? f : FXS_CONTIGUOUS;
        if (t.ndim == 0)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "zero-dimensional tensor (at position %d) cannot be concatenated", i);
        if (is_skipped(&t))
            continue;
        if (!any) {
            shape = t;
            FXS_TRY(fxs_wrap_dim(c, wanted_dim, t.ndim, &dim));
        }
        if (!joins(&shape, &t, dim))
            return mismatch(c, &shape, &t, i, dim);
        if (__builtin_add_overflow(total, t.sizes[dim], &total))
            return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
        any = true;
    }
    if (!any) {
        shape = (fxs_tensor){.ndim = 1};
        FXS_TRY(fxs_wrap_dim(c, wanted_dim, 1, &dim));
    }
    shape.sizes[dim] = total;
    FXS_TRY(fxs_format_strides(c, shape.ndim < 4 ? FXS_CONTIGUOUS : format, shape.ndim, shape.sizes,
                               strides));
    return fxs_out_new(c, list_type(c), shape.ndim, shape.sizes, strides);
}

typedef struct joining {
    const fxs_call *call;
    seen_as *see;
    int dim;
    int64_t *at; /* where along dim each part begins */
} joining;

static void copy_part(const joining *j, int i, bool alone) {
    fxs_tensor t = j->see(fxs_arg_tensor_at(j->call, 0, i)), part = *j->call->out[0];
    if (is_skipped(&t))
        return;
    part.offset += j->at[i] * part.strides[j->dim];
    part.sizes[j->dim] = t.sizes[j->dim];
    if (alone)
        fxs_tensor_copy_alone(&part, &t);
    else
        fxs_tensor_copy(j->call->ctx, &part, &t);
}

static void copy_parts(void *user, int64_t begin, int64_t end, int thread) {
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        copy_part(user, (int)i, true);
}

/* Many parts: a thread takes whole ones. Two large ones: all threads copy each. */
static fxs_status run_joined(fxs_call *c, seen_as *see, int64_t wanted_dim) {
    int n = fxs_arg_len(c, 0);
    joining j = {.call = c, .see = see};
    int64_t at = 0;
    FXS_TRY(fxs_wrap_dim(c, wanted_dim, c->out[0]->ndim, &j.dim));
    j.at = FXS_SCRATCH(c->scratch, int64_t, (size_t)n);
    if (!j.at)
        return fxs_fail_memory(c->ctx);
    for (int i = 0; i < n; i++) {
        fxs_tensor t = see(fxs_arg_tensor_at(c, 0, i));
        j.at[i] = at;
        at += is_skipped(&t) ? 0 : t.sizes[j.dim];
    }
    if (n > FEW_PARTS && fxs_tensor_numel(c->out[0]) > SERIAL_BELOW)
        fxs_parallel(c->ctx, n, 1, copy_parts, &j);
    else
        for (int i = 0; i < n; i++)
            copy_part(&j, i, false);
    return FXS_OK;
}

/* PyTorch passes over empty vectors, of old; where there is nothing else no dim is looked at. */
static int64_t cat_dim(const fxs_call *c) {
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, 0, i);
        if (t->ndim != 1 || t->sizes[0] != 0)
            return fxs_arg_int(c, 1);
    }
    return 0;
}

static fxs_status infer_cat(fxs_call *c) {
    FXS_TRY(check_list(c));
    return out_joined(c, as_it_is, cat_dim(c));
}
static fxs_status run_cat(fxs_call *c) { return run_joined(c, as_it_is, cat_dim(c)); }

/* Vectors are joined end to end, everything else along its columns. */
static int64_t hstack_dim(const fxs_call *c) {
    return fxs_arg_tensor_at(c, 0, 0)->ndim <= 1 ? 0 : 1;
}

static fxs_status infer_hstack(fxs_call *c) {
    FXS_TRY(check_list(c));
    return out_joined(c, at_least_1d, hstack_dim(c));
}
static fxs_status run_hstack(fxs_call *c) { return run_joined(c, at_least_1d, hstack_dim(c)); }

static fxs_status infer_vstack(fxs_call *c) {
    FXS_TRY(check_list(c));
    return out_joined(c, at_least_2d, 0);
}
static fxs_status run_vstack(fxs_call *c) { return run_joined(c, at_least_2d, 0); }

static fxs_status infer_dstack(fxs_call *c) {
    FXS_TRY(check_list(c));
    return out_joined(c, at_least_3d, 2);
}
static fxs_status run_dstack(fxs_call *c) { return run_joined(c, at_least_3d, 2); }

/* ---- stack
 * --------------------------------------------------------------------------------------------- */

/* Of all tensors of the list, or of them with a last dimension of size 1. */
static fxs_memory_format common_format(const fxs_call *c, bool with_last) {
    fxs_memory_format format = FXS_NO_FORMAT;
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        fxs_tensor t = *fxs_arg_tensor_at(c, 0, i);
        if (with_last && t.ndim < FXS_MAX_DIM) {
            t.sizes[t.ndim] = 1;
            t.strides[t.ndim++] = 1;
        }
        fxs_memory_format f = fxs_suggested_format(&t);
        format = format == FXS_NO_FORMAT || format == f ? f : FXS_CONTIGUOUS;
    }
    return format;
}

/* A stack is a cat along `dim` whose result is viewed with that dimension split, and its strides
 * are those of that view. Behind the last dimension it is a cat of tensors with one more. */
static fxs_status stack_strides(fxs_call *c, int dim, const int64_t *sizes, int64_t *strides) {
    const fxs_tensor *first = fxs_arg_tensor_at(c, 0, 0);
    fxs_tensor joined = *first;
    fxs_shape shape = {.ndim = first->ndim + 1};
    if (dim == first->ndim)
        return fxs_format_strides(c, common_format(c, true), dim + 1, sizes, strides);
    if (__builtin_mul_overflow(joined.sizes[dim], sizes[dim], &joined.sizes[dim]))
        return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
    FXS_TRY(
        fxs_format_strides(c, common_format(c, false), joined.ndim, joined.sizes, joined.strides));
    memcpy(shape.sizes, sizes, (size_t)shape.ndim * sizeof *sizes);
    fxs_view_strides(&joined, &shape, strides);
    return FXS_OK;
}

static fxs_status infer_stack(fxs_call *c) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    FXS_TRY(check_list(c));
    const fxs_tensor *first = fxs_arg_tensor_at(c, 0, 0);
    int dim, n = fxs_arg_len(c, 0);
    int64_t sizes[FXS_MAX_DIM + 1], strides[FXS_MAX_DIM + 1];
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), first->ndim + 1, &dim));
    if (first->ndim == FXS_MAX_DIM)
        return FXS_REFUSE(c, FXS_ELIMIT, "more than %d dimensions", FXS_MAX_DIM);
    for (int i = 1; i < n; i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, 0, i);
        if (!joins(first, t, -1))
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d",
                fxs_sizes_text(first, a), fxs_sizes_text(t, b), i);
    }
    for (int i = 0, k = 0; i <= first->ndim; i++)
        sizes[i] = i == dim ? n : first->sizes[k++];
    FXS_TRY(stack_strides(c, dim, sizes, strides));
    return fxs_out_new(c, list_type(c), first->ndim + 1, sizes, strides);
}

static fxs_status run_stack(fxs_call *c) {
    fxs_tensor part = *c->out[0];
    int dim;
    FXS_TRY(fxs_wrap_dim(c, fxs_arg_int(c, 1), part.ndim, &dim));
    int64_t step = part.strides[dim];
    part.ndim--;
    for (int i = dim; i < part.ndim; i++) {
        part.sizes[i] = part.sizes[i + 1];
        part.strides[i] = part.strides[i + 1];
    }
    for (int i = 0; i < fxs_arg_len(c, 0); i++) {
        fxs_tensor_copy(c->ctx, &part, fxs_arg_tensor_at(c, 0, i));
        part.offset += step;
    }
    return FXS_OK;
}

#define PURE (FXS_OP_NO_INPLACE | FXS_OP_COMPLEX)

const fxs_op fxs_ops_join[] = {
    {"cat", "(Tensor[] tensors, int dim=0) -> Tensor", "torch.cat torch.concat torch.concatenate",
     infer_cat, run_cat, NULL, PURE},
    {"stack", "(Tensor[] tensors, int dim=0) -> Tensor", "torch.stack", infer_stack, run_stack,
     NULL, PURE},
    {"hstack", "(Tensor[] tensors) -> Tensor", "torch.hstack", infer_hstack, run_hstack, NULL,
     PURE},
    {"vstack", "(Tensor[] tensors) -> Tensor", "torch.vstack torch.row_stack", infer_vstack,
     run_vstack, NULL, PURE},
    {"dstack", "(Tensor[] tensors) -> Tensor", "torch.dstack", infer_dstack, run_dstack, NULL,
     PURE},
    {0},
};
#undef PURE
