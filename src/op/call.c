/* call.c: what infer and kernels use to read arguments and to give results. */
#include <stdio.h>
#include <string.h>

#include "op/op.h"

/* Most calls have one result, which needs no memory of its own. */
static bool more_room(fxs_call *c) {
    if (c->out_cap == 0) {
        c->out = c->few;
        c->out_cap = sizeof c->few / sizeof *c->few;
        return true;
    }
    bool few = c->out == c->few;
    fxs_tensor **p = fxs_realloc(few ? NULL : c->out, (size_t)c->out_cap * 2, sizeof *p);
    if (!p)
        return false;
    if (few)
        memcpy(p, c->few, sizeof c->few);
    c->out = p;
    c->out_cap *= 2;
    return true;
}

static fxs_status push_out(fxs_call *c, fxs_tensor *t) {
    if (c->nout == c->out_cap && !more_room(c)) {
        fxs_tensor_unref(t);
        return fxs_fail_memory(c->ctx);
    }
    c->out[c->nout++] = t;
    return FXS_OK;
}

fxs_status fxs_out_new(fxs_call *c, fxs_dtype dtype, int ndim, const int64_t *sizes,
                       const int64_t *strides) {
    fxs_tensor *t;
    FXS_TRY(fxs_tensor_make(c->ctx, dtype, ndim, sizes, strides, &t));
    return push_out(c, t);
}

fxs_status fxs_out_view(fxs_call *c, fxs_tensor *t, fxs_tensor **view) {
    fxs_tensor *v;
    FXS_TRY(fxs_tensor_view(c->ctx, t, &v));
    FXS_TRY(push_out(c, v));
    if (view)
        *view = v;
    return FXS_OK;
}

fxs_status fxs_out_same(fxs_call *c, fxs_tensor *t) { return push_out(c, fxs_tensor_ref(t)); }

fxs_status fxs_out_value(fxs_call *c, fxs_value v) {
    fxs_value_unref(&c->result);
    c->result = v;
    c->has_result = true;
    return FXS_OK;
}

fxs_status fxs_op_refuse(fxs_call *c, fxs_status s, const char *fmt, ...) {
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return fxs_fail(c->ctx, s, "%s: %s", c->op->name, text);
}

fxs_status fxs_wrap_dim(fxs_call *c, int64_t dim, int ndim, int *out) {
    int64_t n = ndim > 0 ? ndim : 1;
    if (dim < -n || dim >= n)
        return FXS_REFUSE(c, FXS_EINDEX,
                          "dimension %lld is out of range: it must be in %lld to %lld",
                          (long long)dim, (long long)-n, (long long)n - 1);
    *out = (int)(dim < 0 ? dim + n : dim);
    return FXS_OK;
}

bool fxs_is_functional(const fxs_call *c) {
    return !c->spelling || strncmp(c->spelling, "torch.nn.functional.", 20) == 0;
}

bool fxs_arg_bool(const fxs_call *c, int i) { return c->arg[i].tag == FXS_V_BOOL && c->arg[i].u.b; }

int64_t fxs_arg_int(const fxs_call *c, int i) {
    const fxs_value *v = &c->arg[i];
    return v->tag == FXS_V_INT     ? v->u.i
           : v->tag == FXS_V_BOOL  ? v->u.b
           : v->tag == FXS_V_FLOAT ? (int64_t)v->u.f
                                   : 0;
}

double fxs_arg_float(const fxs_call *c, int i) {
    const fxs_value *v = &c->arg[i];
    return v->tag == FXS_V_FLOAT  ? v->u.f
           : v->tag == FXS_V_INT  ? (double)v->u.i
           : v->tag == FXS_V_BOOL ? v->u.b
                                  : 0;
}

const char *fxs_arg_str(const fxs_call *c, int i) {
    const char *s = fxs_value_text(&c->arg[i]);
    return s ? s : "";
}

int fxs_arg_ints(const fxs_call *c, int i, int64_t *out, int max) {
    const fxs_value *v = &c->arg[i];
    if (v->tag == FXS_V_INT || v->tag == FXS_V_BOOL) {
        if (max > 0)
            out[0] = fxs_arg_int(c, i);
        return 1;
    }
    if (v->tag != FXS_V_LIST && v->tag != FXS_V_TUPLE)
        return 0;
    int n = (int)v->u.seq->len;
    for (int k = 0; k < n && k < max; k++)
        out[k] = v->u.seq->items[k].u.i;
    return n;
}

fxs_tensor *fxs_arg_tensor_at(const fxs_call *c, int i, int k) {
    const fxs_value *v = fxs_value_item(&c->arg[i], (size_t)k);
    return v && v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
}

int fxs_arg_len(const fxs_call *c, int i) { return (int)fxs_value_len(&c->arg[i]); }

int64_t fxs_arg_numel(const fxs_call *c, int i) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    return t ? fxs_tensor_numel(t) : 0;
}
