/* work.c: see work.h. Called by kernels of every family; knows no operator. */
#include "kernels/work.h"

#include "base/pool.h"

#include "kernels/create.h"
fxs_dtype fxs_compute_dtype(fxs_dtype d) {
    return d == FXS_FLOAT16 || d == FXS_BFLOAT16 ? FXS_FLOAT32 : d;
}

fxs_work fxs_work_begin(fxs_call *c, fxs_dtype like) {
    return (fxs_work){.call = c, .dtype = fxs_compute_dtype(like)};
}

static fxs_tensor *hold(fxs_work *w, fxs_tensor *t, fxs_tensor *target) {
    w->held[w->nheld].tensor = t;
    w->held[w->nheld++].target = target;
    return t;
}

/* A tensor of the working type with t's sizes; NULL when memory is out. */
static fxs_tensor *fresh_like(fxs_work *w, const fxs_tensor *t) {
    fxs_tensor *copy;
    w->status = fxs_tensor_make(w->call->ctx, w->dtype, t->ndim, t->sizes, NULL, &copy);
    if (w->status == FXS_OK)
        w->status = fxs_tensor_allocate(w->call->ctx, copy);
    if (w->status == FXS_OK)
        return copy;
    fxs_tensor_unref(copy);
    return NULL;
}

fxs_tensor *fxs_work_in(fxs_work *w, fxs_tensor *t) {
    fxs_tensor *dense;
    if (!t || w->status != FXS_OK)
        return NULL;
    if (t->dtype == w->dtype) {
        w->status = fxs_tensor_contiguous(w->call->ctx, t, &dense);
        return w->status == FXS_OK ? hold(w, dense, NULL) : NULL;
    }
    dense = fresh_like(w, t);
    if (!dense)
        return NULL;
    fxs_tensor_copy(w->call->ctx, dense, t);
    return hold(w, dense, NULL);
}

fxs_tensor *fxs_work_out(fxs_work *w, fxs_tensor *out) {
    if (w->status != FXS_OK)
        return NULL;
    if (out->dtype == w->dtype && fxs_tensor_is_contiguous(out))
        return out;
    fxs_tensor *t = fresh_like(w, out);
    return t ? hold(w, t, out) : NULL;
}

const void *fxs_work_data(fxs_work *w, fxs_tensor *t) {
    fxs_tensor *dense = fxs_work_in(w, t);
    return dense ? fxs_tensor_data(dense) : NULL;
}

void *fxs_work_scratch(fxs_work *w, int64_t n, size_t size) {
    if (w->status != FXS_OK)
        return NULL;
    void *p = fxs_arena_alloc_raw(w->call->scratch, (size_t)n, size);
    if (!p)
        w->status = fxs_fail_memory(w->call->ctx);
    return p;
}

void *fxs_thread_scratch(fxs_call *c, int64_t n, size_t size, int64_t *step) {
    enum { APART = 128 }; /* bytes: processors fetch lines in pairs */
    int64_t apart = (APART + (int64_t)size - 1) / (int64_t)size, all;
    if (__builtin_add_overflow(n, 2 * apart - 1, step))
        return NULL;
    *step -= *step % apart;
    if (__builtin_mul_overflow(*step, (int64_t)fxs_threads(c->ctx), &all))
        return NULL;
    return fxs_arena_alloc_raw(c->scratch, (size_t)all, size);
}

void *fxs_work_thread_scratch(fxs_work *w, int64_t n, size_t size, int64_t *step) {
    if (w->status != FXS_OK)
        return NULL;
    void *p = fxs_thread_scratch(w->call, n, size, step);
    if (!p)
        w->status = fxs_fail_memory(w->call->ctx);
    return p;
}

fxs_status fxs_work_end(fxs_work *w) {
    for (int i = 0; i < w->nheld; i++) {
        if (w->status == FXS_OK && w->held[i].target)
            fxs_tensor_copy(w->call->ctx, w->held[i].target, w->held[i].tensor);
        fxs_tensor_unref(w->held[i].tensor);
    }
    w->nheld = 0;
    return w->status;
}

fxs_status fxs_check_dtype(fxs_call *c, const fxs_tensor *t, unsigned takes) {
    fxs_dtype d = t->dtype;
    bool pairs = (d == FXS_COMPLEX64 || d == FXS_COMPLEX128) && c->op->flags & FXS_OP_COMPLEX;
    bool ok =
        pairs || (fxs_is_computable(d) && ((fxs_is_floating(d) && takes & FXS_TAKES_FLOATS) ||
                                           (fxs_is_integral(d) && takes & FXS_TAKES_INTEGERS) ||
                                           (d == FXS_BOOL && takes & FXS_TAKES_BOOL)));
    return ok ? FXS_OK : FXS_REFUSE(c, FXS_ETYPE, "not implemented for type %s", fxs_dtype_name(d));
}

fxs_status fxs_check_number(fxs_call *c, int i, fxs_dtype d) {
    if (c->arg[i].tag != FXS_V_COMPLEX || fxs_is_complex(d))
        return FXS_OK;
    return FXS_REFUSE(c, FXS_ETYPE, "the complex number %g%+gj can't be converted to torch.%s",
                      c->arg[i].u.c[0], c->arg[i].u.c[1], fxs_dtype_name(d));
}

fxs_value fxs_known_number(const fxs_value *v) {
    const fxs_tensor *t = v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
    double z[2];
    if (!t)
        return *v;
    if (!t->storage || fxs_tensor_numel(t) != 1)
        return fxs_none();
    const char *p = (const char *)fxs_tensor_data(t);
    if (t->dtype == FXS_BOOL)
        return fxs_bool(fxs_load_int(t->dtype, p) != 0);
    if (fxs_is_integral(t->dtype))
        return fxs_int(fxs_load_int(t->dtype, p));
    fxs_load_pair(t->dtype, p, z);
    return fxs_is_complex(t->dtype) ? (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {z[0], z[1]}}
                                    : fxs_float(z[0]);
}

fxs_status fxs_check_fits(fxs_call *c, int i, fxs_dtype d) {
    fxs_value v = fxs_known_number(&c->arg[i]);
    bool fits = d == FXS_BOOL || fxs_type_holds(d, &v);
    if (v.tag == FXS_V_COMPLEX && !fxs_is_complex(d)) {
        fxs_value real = fxs_float(v.u.c[0]);
        fits = d == FXS_BOOL || (v.u.c[1] == 0 && fxs_type_holds(d, &real));
    }
    return fits ? FXS_OK
                : FXS_REFUSE(c, FXS_EINVAL,
                             "the value can't be converted to type %s without overflow",
                             fxs_dtype_name(d));
}

fxs_status fxs_check_no_grad(fxs_call *c, int i, const char *name) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    if (!t || !t->requires_grad)
        return FXS_OK;
    return FXS_REFUSE(c, FXS_EINVAL,
                      "is not differentiable with respect to argument '%s', which requires grad",
                      name);
}

fxs_status fxs_check_mask_bytes(fxs_call *c, const fxs_tensor *mask) {
    for (int64_t i = 0, n = fxs_tensor_numel(mask); mask->dtype == FXS_UINT8 && i < n; i++) {
        int64_t at = 0;
        for (int64_t d = mask->ndim - 1, rest = i; mask->storage && d >= 0; d--) {
            at += rest % mask->sizes[d] * mask->strides[d];
            rest /= mask->sizes[d];
        }
        if (mask->storage && ((const uint8_t *)fxs_tensor_data(mask))[at] > 1)
            return FXS_REFUSE(c, FXS_EINVAL, "a mask can take 0 and 1 values only");
    }
    return FXS_OK;
}

fxs_status fxs_check_real_grad(fxs_call *c) {
    bool grad = false, complex = false;
    for (int i = 0; i < c->nargs; i++)
        grad |= fxs_arg_tensor(c, i) && fxs_arg_tensor(c, i)->requires_grad;
    for (int i = 0; i < c->nout; i++)
        complex |= fxs_is_complex(c->out[i]->dtype);
    return grad && complex ? FXS_REFUSE(c, FXS_EINVAL, "complex results can't be differentiated")
                           : FXS_OK;
}

fxs_status fxs_check_same_dtype(fxs_call *c, const fxs_tensor *like, const fxs_tensor *t,
                                const char *name) {
    if (!t || t->dtype == like->dtype)
        return FXS_OK;
    return FXS_REFUSE(c, FXS_ETYPE, "expected argument '%s' of type %s as the input, but got %s",
                      name, fxs_dtype_name(like->dtype), fxs_dtype_name(t->dtype));
}

bool fxs_suggests_channels_last(const fxs_tensor *t) {
    static const int order4[] = {1, 3, 2, 0}, order5[] = {1, 4, 3, 2, 0};
    if (t->ndim != 4 && t->ndim != 5)
        return false;
    const int *order = t->ndim == 4 ? order4 : order5;
    int64_t step = 0;
    if (t->strides[1] == 0)
        return false;
    for (int i = 0; i < t->ndim; i++) {
        int d = order[i];
        if (t->sizes[d] == 0 || t->strides[d] < step)
            return false;
        if (d == 0 && step == t->strides[1])
            return false; /* [N, 1, 1, 1] and the like: both orders hold */
        step = t->sizes[d] > 1 ? t->strides[d] * t->sizes[d] : t->strides[d];
    }
    return true;
}

fxs_status fxs_out_format(fxs_call *c, fxs_dtype dtype, int ndim, const int64_t *sizes, bool last) {
    int64_t strides[FXS_MAX_DIM];
    if (!last || (ndim != 4 && ndim != 5))
        return fxs_out_new(c, dtype, ndim, sizes, NULL);
    fxs_channels_last_strides(ndim, sizes, strides);
    return fxs_out_new(c, dtype, ndim, sizes, strides);
}
