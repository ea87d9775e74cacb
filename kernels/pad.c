/* pad.c: torch.nn.functional.pad in its modes, and the padding layers. A padded index of a
 * dimension goes back to an index of the input, or to none (constant); the maps of all dimensions
 * make the copy. */
#include <string.h>

#include "kernels/format.h"
#include "kernels/iterate.h"
#include "kernels/python.h"
#include "kernels/work.h"
#include "op/module_row.h"

/* Elements before and after, by dimension. Negative ones crop. */
typedef struct padding {
    int pairs; /* that were given: for the last dimensions */
    int64_t before[FXS_MAX_DIM], after[FXS_MAX_DIM], sizes[FXS_MAX_DIM];
} padding;

static fxs_status read_padding(fxs_call *c, const fxs_tensor *x, padding *p) {
    int64_t list[2 * FXS_MAX_DIM];
    char text[FXS_SIZES_TEXT];
    int n = fxs_arg_ints(c, 1, list, 2 * FXS_MAX_DIM);
    *p = (padding){.pairs = n / 2};
    if (n % 2)
        return FXS_REFUSE(c, FXS_EINVAL, "length of pad must be even but instead it equals %d", n);
    if (n / 2 > x->ndim)
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "length of pad should be no more than twice the number of dimensions of "
                          "the input; pad length is "
                          "%d while the input has %d dimensions",
                          n, x->ndim);
    bool grows = false; /* a mere crop may leave nothing */
    for (int k = 0; k < n; k++)
        grows |= list[k] > 0;
    for (int i = 0; i < x->ndim; i++) {
        int at = x->ndim - 1 - i;
        if (at < p->pairs) {
            p->before[i] = list[2 * at];
            p->after[i] = list[2 * at + 1];
        }
        if (__builtin_add_overflow(x->sizes[i], p->before[i], &p->sizes[i]) ||
            __builtin_add_overflow(p->sizes[i], p->after[i], &p->sizes[i]))
            return FXS_REFUSE(c, FXS_ELIMIT, "a size beyond 2^63");
        bool crossed = grows && (x->sizes[i] < -p->before[i] || x->sizes[i] < -p->after[i]);
        if (p->sizes[i] < 0 || crossed || (p->sizes[i] == 0 && at < p->pairs && grows))
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "the input size %lld, plus negative padding %lld and %lld, resulted "
                              "in a negative output "
                              "size: shape %s",
                              (long long)x->sizes[i], (long long)p->before[i],
                              (long long)p->after[i], fxs_sizes_text(x, text));
    }
    return FXS_OK;
}

/* ---- modes
 * --------------------------------------------------------------------------------------------- */

/* Index in the input of size n for index i - before; -1: outside. */
typedef int64_t source_fn(int64_t i, int64_t n);

static int64_t constant_source(int64_t i, int64_t n) { return i < 0 || i >= n ? -1 : i; }
static int64_t replicate_source(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }
static int64_t reflect_source(int64_t i, int64_t n) {
    return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
}
static int64_t circular_source(int64_t i, int64_t n) { return i < 0 ? i + n : i >= n ? i - n : i; }

static fxs_status check_replicate(fxs_call *c, const fxs_tensor *x, const padding *p);

static fxs_status check_reflect(fxs_call *c, const fxs_tensor *x, const padding *p) {
    bool channels = x->ndim == p->pairs + 1; /* no batch: of none there is nothing to mirror */
    if (!channels || x->sizes[0] || p->pairs > 2)
        FXS_TRY(check_replicate(c, x, p));
    for (int i = 0; i < x->ndim; i++)
        if (p->before[i] >= x->sizes[i] || p->after[i] >= x->sizes[i])
            if (p->before[i] || p->after[i])
                return FXS_REFUSE(c, FXS_ESHAPE,
                                  "padding size should be less than the corresponding input "
                                  "dimension, but got: padding "
                                  "(%lld, %lld) at dimension %d of size %lld",
                                  (long long)p->before[i], (long long)p->after[i], i,
                                  (long long)x->sizes[i]);
    return FXS_OK;
}

static fxs_status check_circular(fxs_call *c, const fxs_tensor *x, const padding *p) {
    for (int i = 0; i < x->ndim; i++)
        if (p->before[i] > x->sizes[i] || p->after[i] > x->sizes[i])
            return FXS_REFUSE(
                c, FXS_ESHAPE,
                "padding value causes wrapping around more than once: padding (%lld, %lld) "
                "at dimension %d of size %lld",
                (long long)p->before[i], (long long)p->after[i], i, (long long)x->sizes[i]);
    return FXS_OK;
}

/* All dimensions but a batch's must have elements. */
static fxs_status check_replicate(fxs_call *c, const fxs_tensor *x, const padding *p) {
    char text[FXS_SIZES_TEXT];
    for (int i = x->ndim - p->pairs - 1; i < x->ndim; i++)
        if (i >= 0 && x->sizes[i] == 0)
            return FXS_REFUSE(c, FXS_ESHAPE,
                              "expected a tensor with possibly 0 batch size and other non-zero "
                              "dimensions for input, but "
                              "got: %s",
                              fxs_sizes_text(x, text));
    return FXS_OK;
}

static fxs_status check_nothing(fxs_call *c, const fxs_tensor *x, const padding *p) {
    (void)c, (void)x, (void)p;
    return FXS_OK;
}

typedef struct mode {
    const char *name;
    source_fn *source;
    fxs_status (*check)(fxs_call *c, const fxs_tensor *x, const padding *p);
} mode;

static const mode modes[] = {
    {"constant", constant_source, check_nothing},
    {"reflect", reflect_source, check_reflect},
    {"replicate", replicate_source, check_replicate},
    {"circular", circular_source, check_circular},
};

static fxs_status find_mode(fxs_call *c, const mode **out) {
    const char *name = fxs_arg_str(c, 2);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        *out = &modes[i];
        if (strcmp(modes[i].name, name) == 0)
            return FXS_OK;
    }
    return FXS_REFUSE(c, FXS_EINVAL, "unrecognised padding mode %s", name);
}

/* ---- the operator
 * -------------------------------------------------------------------------------------- */

static bool is_zero(const fxs_value *v) {
    return v->tag == FXS_V_NONE || (v->tag == FXS_V_INT && v->u.i == 0) ||
           (v->tag == FXS_V_FLOAT && v->u.f == 0) || (v->tag == FXS_V_BOOL && !v->u.b);
}

static fxs_status infer_mode(fxs_call *c, const mode *m, const fxs_value *value) {
    fxs_tensor *x = fxs_arg_tensor(c, 0);
    int64_t strides[FXS_MAX_DIM];
    padding p;
    bool grows = false;
    FXS_TRY(read_padding(c, x, &p));
    if (m->source != constant_source) {
        if (!is_zero(value))
            return FXS_REFUSE(c, FXS_EINVAL, "padding mode \"%s\" doesn't take in value argument",
                              m->name);
        if (m->source != circular_source && !fxs_is_floating(x->dtype) && !fxs_is_complex(x->dtype))
            return FXS_REFUSE(c, FXS_ETYPE, "padding mode \"%s\" is not implemented for torch.%s",
                              m->name, fxs_dtype_name(x->dtype));
        bool batched =
            x->ndim == p.pairs + 2 || (m->source != circular_source && x->ndim == p.pairs + 1);
        if (p.pairs < 1 || p.pairs > 3 || !batched)
            return FXS_REFUSE(c, FXS_EUNKNOWN,
                              "only 2D, 3D, 4D, 5D padding with non-constant padding are supported "
                              "for now, not %d pairs on "
                              "%d dimensions",
                              p.pairs, x->ndim);
    }
    FXS_TRY(m->check(c, x, &p));
    for (int i = 0; i < x->ndim; i++)
        grows |= p.before[i] > 0 || p.after[i] > 0;
    if (m->source != constant_source)
        return fxs_out_new(c, x->dtype, x->ndim, p.sizes, NULL);
    if (!grows) { /* a crop is a clone of a view of the input */
        fxs_tensor view = *x;
        memcpy(view.sizes, p.sizes, sizeof view.sizes);
        return fxs_out_formatted(c, &view, x->dtype, FXS_PRESERVE);
    }
    FXS_TRY(fxs_check_fits(c, (int)(value - c->arg), x->dtype));
    FXS_TRY(fxs_format_strides(c, fxs_suggested_format(x), x->ndim, p.sizes, strides));
    return fxs_out_new(c, x->dtype, x->ndim, p.sizes, strides);
}

static void fill_constant(fxs_tensor *o, const fxs_value *value) {
    size_t size = fxs_dtype_size(o->dtype);
    char *data = o->storage->data;
    _Alignas(16) char element[16] = {0};
    fxs_store_value(o->dtype, element, value);
    bool zero = true;
    for (size_t i = 0; i < size; i++)
        zero &= element[i] == 0;
    if (zero)
        memset(data, 0, o->storage->bytes);
    for (size_t at = 0; !zero && at + size <= o->storage->bytes; at += size)
        memcpy(data + at, element, size);
}

/* What is left of the input, at its place. */
static fxs_status run_constant(fxs_call *c, const padding *p, const fxs_value *value) {
    fxs_tensor from = *fxs_arg_tensor(c, 0), to = *c->out[0];
    fill_constant(c->out[0], value);
    for (int i = 0; i < from.ndim; i++) {
        int64_t skip = p->before[i] < 0 ? -p->before[i] : 0,
                put = p->before[i] > 0 ? p->before[i] : 0;
        int64_t n = from.sizes[i] - skip - (p->after[i] < 0 ? -p->after[i] : 0);
        if (n <= 0)
            return FXS_OK;
        from.offset += skip * from.strides[i];
        to.offset += put * to.strides[i];
        from.sizes[i] = to.sizes[i] = n;
    }
    fxs_tensor_copy(c->ctx, &to, &from);
    return FXS_OK;
}

static fxs_status run_mode(fxs_call *c, const mode *m, const fxs_value *value) {
    const fxs_tensor *x = fxs_arg_tensor(c, 0), *o = c->out[0];
    int64_t *map[FXS_MAX_DIM], n = fxs_tensor_numel(o);
    size_t size = fxs_dtype_size(x->dtype);
    padding p;
    FXS_TRY(read_padding(c, x, &p));
    if (n == 0)
        return FXS_OK;
    if (m->source == constant_source)
        return run_constant(c, &p, value);
    for (int i = 0; i < x->ndim; i++) { /* offsets in the input for each index of the output */
        map[i] = FXS_SCRATCH(c->scratch, int64_t, (size_t)p.sizes[i]);
        if (!map[i])
            return fxs_fail_memory(c->ctx);
        for (int64_t k = 0; k < p.sizes[i]; k++)
            map[i][k] = m->source(k - p.before[i], x->sizes[i]) * x->strides[i];
    }
    int last = x->ndim - 1;
    const char *from = fxs_tensor_data(x);
    char *to = fxs_tensor_data(o);
    for (int64_t row = 0; row < n / p.sizes[last]; row++) { /* the output is contiguous */
        int64_t rest = row, at = 0;
        for (int i = last - 1; i >= 0; i--) {
            at += map[i][rest % p.sizes[i]];
            rest /= p.sizes[i];
        }
        for (int64_t k = 0; k < p.sizes[last]; k++, to += size)
            memcpy(to, from + (at + map[last][k]) * (int64_t)size, size);
    }
    return FXS_OK;
}

/* pad(input, pad, mode, value) */
static fxs_status infer_pad(fxs_call *c) {
    const mode *m;
    FXS_TRY(find_mode(c, &m));
    return infer_mode(c, m, &c->arg[3]);
}

static fxs_status run_pad(fxs_call *c) {
    const mode *m;
    FXS_TRY(find_mode(c, &m));
    return run_mode(c, m, &c->arg[3]);
}

/* constant_pad_nd(self, pad, value) */
static fxs_status infer_constant_pad(fxs_call *c) { return infer_mode(c, &modes[0], &c->arg[2]); }
static fxs_status run_constant_pad(fxs_call *c) { return run_mode(c, &modes[0], &c->arg[2]); }

const fxs_op fxs_ops_pad[] = {
    {"pad", "(Tensor input, int[] pad, str mode='constant', number|bool? value=None) -> Tensor",
     "torch.nn.functional.pad torch._C._nn.pad torch.nn.functional._pad", infer_pad, run_pad, NULL,
     FXS_OP_NO_INPLACE},
    {"constant_pad_nd", "(Tensor self, int[] pad, Scalar value=0) -> Tensor",
     "torch.constant_pad_nd", infer_constant_pad, run_constant_pad, NULL, FXS_OP_NO_INPLACE},
    {0},
};

#define LAYER(class, hyper_, repr_, call_)                                                         \
    { .name = class, .hyper = hyper_, .repr = repr_, .call = call_ }
const fxs_module_row fxs_modules_pad[] = {
    LAYER("ZeroPad1d", "padding", "padding(2)", "pad(input, padding, 'constant', 0.0)"),
    LAYER("ZeroPad3d", "padding", "padding(6)", "pad(input, padding, 'constant', 0.0)"),
    LAYER("CircularPad1d", "padding", "padding(2)", "pad(input, padding, 'circular')"),
    LAYER("CircularPad2d", "padding", "padding(4)", "pad(input, padding, 'circular')"),
    LAYER("CircularPad3d", "padding", "padding(6)", "pad(input, padding, 'circular')"),
    LAYER("ZeroPad2d", "padding", "padding(4)", "pad(input, padding, 'constant', 0.0)"),
    LAYER("ConstantPad1d", "padding, value",
          "padding(2)=, value=", "pad(input, padding, 'constant', value)"),
    LAYER("ConstantPad2d", "padding, value",
          "padding(4)=, value=", "pad(input, padding, 'constant', value)"),
    LAYER("ConstantPad3d", "padding, value",
          "padding(6)=, value=", "pad(input, padding, 'constant', value)"),
    LAYER("ReflectionPad1d", "padding", "padding(2)", "pad(input, padding, 'reflect')"),
    LAYER("ReflectionPad2d", "padding", "padding(4)", "pad(input, padding, 'reflect')"),
    LAYER("ReflectionPad3d", "padding", "padding(6)", "pad(input, padding, 'reflect')"),
    LAYER("ReplicationPad1d", "padding", "padding(2)", "pad(input, padding, 'replicate')"),
    LAYER("ReplicationPad2d", "padding", "padding(4)", "pad(input, padding, 'replicate')"),
    LAYER("ReplicationPad3d", "padding", "padding(6)", "pad(input, padding, 'replicate')"),
    {0},
};
#undef LAYER
