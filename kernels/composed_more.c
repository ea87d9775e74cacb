/* composed_more.c: more functions that are a formula or two of others: renorm nanmean isin ldexp
 * index_reduce conv_tbc and the like; see composed.c. Those of matrices are in composed_matrix.c.
 */
#include <math.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }
static fxs_value self(const fxs_compose *k) { return fxs_t(arg(k, 0)); }
/* A copy that lies row by row, whatever lay how before. */
static fxs_tensor *packed(fxs_compose *k, fxs_tensor *t) {
    fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
    return FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(t));
}
static bool is_float(const fxs_tensor *t) {
    return fxs_is_floating(t->dtype) || fxs_is_complex(t->dtype);
}

/* ---- element by element
 * ------------------------------------------------------------------------------------- */

/* ldexp(x, other): x * 2^other */
static void make_ldexp(fxs_compose *k) {
    if (k->call->in_place && (arg(k, 0)->requires_grad || arg(k, 1)->requires_grad))
        fxs_stop(k, FXS_EINVAL, "in place it can't be differentiated");
    fxs_tensor *power = FXS_DO(k, "pow", fxs_float(2), fxs_t(arg(k, 1)));
    fxs_give(k, FXS_DO(k, "mul", self(k), fxs_t(power)));
}

/* The kind of number that a tensor without a known element holds. */
static fxs_value some_number(fxs_dtype d) {
    return fxs_is_complex(d)    ? (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {1, 0}}
           : fxs_is_floating(d) ? fxs_float(1)
           : d == FXS_BOOL      ? fxs_bool(true)
                                : fxs_int(1);
}

/* A tensor stands for a number when it has no dimensions and no gradient. */
static fxs_value number_at(fxs_compose *k, int i) {
    const fxs_tensor *t = arg(k, i);
    if (t && (t->ndim > 0 || t->requires_grad))
        fxs_stop(k, FXS_ETYPE, "argument %d must be a number", i + 1);
    fxs_value v = fxs_known_number(&k->call->arg[i]);
    return v.tag == FXS_V_NONE && t ? some_number(t->dtype) : v;
}

/* add(x, alpha, other), as PyTorch took it once */
static void make_add_scaled(fxs_compose *k) {
    bool takes = strstr(k->call->spelling ? k->call->spelling : "", "sub") != NULL;
    fxs_value alpha = number_at(k, 1);
    fxs_give(k, FXS_DO_NAMED(k, takes ? "sub" : "add", "alpha", alpha, k->call->arg[0],
                             k->call->arg[2]));
}

/* subtract(x, other, alpha), also of a number, and rsub(x, other, alpha): alpha needs no name where
 * other is a number */
static void make_subtract_scaled(fxs_compose *k) {
    bool back = strstr(k->call->spelling ? k->call->spelling : "", "rsub") != NULL;
    fxs_value other = number_at(k, 1), alpha = number_at(k, 2);
    if (back && !arg(k, 0))
        fxs_stop(k, FXS_ETYPE, "argument 1 must be a tensor");
    fxs_give(k, FXS_DO_NAMED(k, back ? "rsub" : "sub", "alpha", alpha, k->call->arg[0], other));
}

/* elu(x, alpha, scale, input_scale), as only torch._C._nn has it */
static void make_elu_scaled(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_tensor *y = FXS_DO(k, "elu", self(k), a[1]);
    for (int i = 1; i < 4 && k->status == FXS_OK; i++)
        k->status = fxs_check_number(k->call, i, FXS_FLOAT64);
    double scale = fxs_arg_float(k->call, 2), alpha = fxs_arg_float(k->call, 1) * scale;
    fxs_tensor *low = FXS_DO(k, "mul", self(k), fxs_float(fxs_arg_float(k->call, 3)));
    low = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "expm1", fxs_t(low))), fxs_float(alpha));
    fxs_tensor *high = FXS_DO(k, "mul", self(k), fxs_float(scale));
    fxs_tensor *up = FXS_DO(k, "gt", self(k), fxs_int(0));
    low = FXS_DO(k, "where", fxs_t(up), fxs_t(high), fxs_t(low));
    fxs_give(k, FXS_DO(k, "copy_", fxs_t(y), fxs_t(low))); /* it lies as elu's does */
}

static void make_isreal(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    if (fxs_is_complex(x->dtype))
        fxs_give(k, FXS_DO(k, "eq", fxs_t(FXS_DO(k, "imag", fxs_t(x))), fxs_int(0)));
    else
        fxs_give(k, FXS_DO_NAMED(k, "ones_like", "dtype", fxs_of_dtype(FXS_BOOL), fxs_t(x)));
}

/* isin(elements, test_elements, *, assume_unique, invert) */
static void make_isin(fxs_compose *k) {
    fxs_value x = k->call->arg[0], among = k->call->arg[1];
    fxs_tensor *same;
    for (int i = 0; i < 2; i++)
        if (arg(k, i) && (arg(k, i)->dtype == FXS_BOOL || fxs_is_complex(arg(k, i)->dtype)))
            fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s",
                     fxs_dtype_name(arg(k, i)->dtype));
    if (x.tag == FXS_V_BOOL || x.tag == FXS_V_COMPLEX || among.tag == FXS_V_BOOL ||
        among.tag == FXS_V_COMPLEX)
        fxs_stop(k, FXS_ETYPE, "not implemented for a bool or a complex number");
    if (among.tag != FXS_V_TENSOR) {
        same = FXS_DO(k, "eq", x, among);
    } else {
        if (x.tag == FXS_V_TENSOR)
            x = fxs_t(FXS_DO(k, "unsqueeze", x, fxs_int(-1)));
        same = FXS_DO(k, "eq", fxs_t(FXS_DO(k, "ravel", among)), x);
        same = FXS_DO(k, "any", fxs_t(same), fxs_int(-1));
    }
    fxs_give(k, packed(k, fxs_arg_bool(k->call, 3) ? FXS_DO(k, "logical_not", fxs_t(same)) : same));
}

/* ---- along dimensions
 * --------------------------------------------------------------------------------------- */

/* nanmean(input, dim, keepdim, *, dtype) */
static void make_nanmean(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    fxs_value dim = k->call->arg[1], keep = k->call->arg[2];
    if (!is_float(x))
        fxs_stop(k, FXS_ETYPE, "expected input to have floating point or complex dtype but got %s",
                 fxs_dtype_name(x->dtype));
    fxs_tensor *is = FXS_DO(k, "logical_not", fxs_t(FXS_DO(k, "isnan", fxs_t(x))));
    fxs_tensor *n = FXS_DO(k, "sum", fxs_t(is), dim, keep);
    x = FXS_DO_NAMED(k, "nansum", "dtype", k->call->arg[3], fxs_t(x), dim, keep);
    fxs_give(k, FXS_DO(k, "div", fxs_t(x), fxs_t(n)));
}

static void make_msort(fxs_compose *k) {
    FXS_DO(k, "sort", self(k), fxs_int(0));
    fxs_give(k, fxs_do_item(k, 0));
}

/* narrow_copy(input, dim, start, length): PyTorch copies the elements row by row into a tensor that
 * keeps the input's strides when it keeps its sizes. */
static void make_narrow_copy(fxs_compose *k) {
    const fxs_value *a = k->call->arg;
    fxs_tensor *x = packed(k, FXS_DO(k, "narrow", a[0], a[1], a[2], a[3]));
    int64_t strides[FXS_MAX_DIM];
    if (x && memcmp(x->sizes, arg(k, 0)->sizes, (size_t)x->ndim * sizeof *x->sizes) == 0) {
        fxs_strides_like(arg(k, 0), strides);
        x = FXS_DO(k, "as_strided", fxs_t(x), fxs_ints(k, x->ndim, x->sizes),
                   fxs_ints(k, x->ndim, strides));
    }
    fxs_give(k, x);
}

/* sum_to_size(size): dimensions in front, and those that are to be 1, are added up */
static void make_sum_to_size(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    int64_t sizes[FXS_MAX_DIM], dims[FXS_MAX_DIM];
    int n = fxs_arg_ints(k->call, 1, sizes, FXS_MAX_DIM), lead = x->ndim - n, folded = 0;
    bool fits = lead >= 0;
    for (int i = 0; i < n && fits; i++) {
        fits = sizes[i] == x->sizes[lead + i] || sizes[i] == 1;
        if (sizes[i] == 1 && x->sizes[lead + i] != 1)
            dims[folded++] = lead + i;
    }
    if (!fits)
        fxs_stop(k, FXS_ESHAPE, "size is not expandable to the size of the input");
    for (int i = 0; fits && i < lead; i++)
        dims[folded++] = i;
    if (folded || x->ndim == 0) /* the sum of integers is int64 */
        x = FXS_DO(k, "sum", fxs_t(x), fxs_ints(k, folded, dims), fxs_bool(true));
    fxs_give(k, FXS_DO(k, "view", fxs_t(x), fxs_ints(k, n, sizes)));
}

/* renorm(x, p, dim, maxnorm): slices along dim get a norm of at most maxnorm */
static void make_renorm(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0);
    int64_t dims[FXS_MAX_DIM];
    int dim = 0, n = 0;
    if (k->status == FXS_OK)
        k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 2), x->ndim, &dim);
    for (int i = 1; i < 4; i += 2)
        if (k->call->arg[i].tag == FXS_V_COMPLEX)
            fxs_stop(k, FXS_ETYPE, "p and maxnorm must be real");
    if (x->ndim < 2 || fxs_arg_float(k->call, 1) <= 0 || fxs_arg_float(k->call, 3) < 0)
        fxs_stop(k, FXS_EINVAL,
                 "expected at least 2 dimensions, a p above 0 and a maxnorm of at least 0");
    for (int i = 0; i < x->ndim; i++)
        if (i != dim)
            dims[n++] = i;
    fxs_tensor *norm = FXS_DO(k, "linalg_vector_norm", fxs_t(x), k->call->arg[1],
                              fxs_ints(k, n, dims), fxs_bool(true));
    fxs_tensor *room = FXS_DO(k, "add", fxs_t(norm), fxs_float(1e-7));
    room = FXS_DO(k, "mul", fxs_t(FXS_DO(k, "reciprocal", fxs_t(room))), k->call->arg[3]);
    fxs_tensor *above = FXS_DO(k, "gt", fxs_t(norm), k->call->arg[3]);
    room =
        FXS_DO(k, "where", fxs_t(above), fxs_t(room), fxs_t(FXS_DO(k, "ones_like", fxs_t(room))));
    fxs_give(k, packed(k, FXS_DO(k, "mul", fxs_t(x), fxs_t(room))));
}

/* source with slices along dim that are stretched to those of x */
static fxs_tensor *stretched_slices(fxs_compose *k, fxs_tensor *source, const fxs_tensor *x,
                                    int dim) {
    int64_t sizes[FXS_MAX_DIM], count = source->ndim ? source->sizes[dim] : 1;
    if (x->ndim <= 1 && source->ndim > 1)
        fxs_stop(k, FXS_ESHAPE, "source must be a vector, as self is");
    fxs_tensor *s = source->ndim ? FXS_DO(k, "movedim", fxs_t(source), fxs_int(dim), fxs_int(0))
                                 : FXS_DO(k, "view", fxs_t(source), FXS_INTS(k, 1));
    int pad = s ? x->ndim - s->ndim : 0; /* dimensions that slices lack in front */
    if (pad < 0)
        fxs_stop(k, FXS_ESHAPE, "slices of source have more dimensions than those of self");
    if (k->status != FXS_OK || x->ndim == 0)
        return s;
    sizes[0] = count;
    for (int i = 0; i < x->ndim - 1; i++)
        sizes[i + 1] = i < pad ? 1 : s->sizes[i + 1 - pad];
    s = FXS_DO(k, "reshape", fxs_t(s), fxs_ints(k, x->ndim, sizes));
    for (int i = 0, at = 1; i < x->ndim; i++)
        if (i != dim)
            sizes[at++] = x->sizes[i];
    if (count)
        s = FXS_DO(k, "expand", fxs_t(s), fxs_ints(k, x->ndim, sizes));
    return FXS_DO(k, "movedim", fxs_t(s), fxs_int(0), fxs_int(dim));
}

/* index_reduce(self, dim, index, source, reduce, *, include_self) */
static void make_index_reduce(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *index = arg(k, 2), *source = arg(k, 3);
    int64_t sizes[FXS_MAX_DIM];
    int dim = 0;
    k->status = fxs_wrap_dim(k->call, fxs_arg_int(k->call, 1), x->ndim, &dim);
    bool counts = fxs_arg_str(k->call, 4)[0] == 'm', alone = x->ndim < 2;
    if ((x->dtype == FXS_BOOL || fxs_is_complex(x->dtype)) &&
        (alone || !fxs_arg_bool(k->call, 5) || (x->dtype == FXS_BOOL && counts)))
        fxs_stop(k, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    if (fxs_is_complex(x->dtype) && fxs_arg_str(k->call, 4)[0] == 'a')
        fxs_stop(k, FXS_ETYPE, "complex numbers have no smallest or largest");
    if (index->dtype != FXS_INT64 && index->dtype != FXS_INT32)
        fxs_stop(k, FXS_ETYPE, "expected an index of type int32 or int64, but got torch.%s",
                 fxs_dtype_name(index->dtype));
    if (index->ndim > 1 || (dim && dim >= source->ndim) ||
        fxs_tensor_numel(index) != (source->ndim ? source->sizes[dim] : 1))
        fxs_stop(k, FXS_ESHAPE, "index must be a vector of as many as source has in dim %d", dim);
    if (k->status == FXS_OK && x->ndim && x->sizes[dim] == 0 && fxs_tensor_numel(index))
        fxs_stop(k, FXS_EINDEX, "index 0 is out of range in a dimension of size 0");
    bool number = x->ndim == 0;
    if (number) /* as a vector of one */
        x = FXS_DO(k, "unsqueeze", fxs_t(x), fxs_int(0));
    source = k->status == FXS_OK ? stretched_slices(k, source, x, dim) : NULL;
    if (k->status != FXS_OK)
        return;
    for (int i = 0; i < x->ndim; i++)
        sizes[i] = i == dim ? -1 : 1;
    index = FXS_DO(k, "view", fxs_t(index), fxs_ints(k, x->ndim, sizes));
    index = FXS_DO(k, "long", fxs_t(FXS_DO(k, "expand_as", fxs_t(index), fxs_t(source))));
    x = FXS_DO_NAMED(k, "scatter_reduce", "include_self", k->call->arg[5], fxs_t(x), fxs_int(dim),
                     fxs_t(index), fxs_t(source), k->call->arg[4]);
    fxs_give(k, number ? FXS_DO(k, "squeeze", fxs_t(x), fxs_int(0)) : x);
}

/* ---- networks
 * -----------------------------------------------------------------------------------------------
 */

/* conv_tbc(input [T, B, C], weight [K, C, O], bias, pad) */
static void make_conv_tbc(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *w = arg(k, 1);
    if (x->ndim != 3 || w->ndim != 3 || x->sizes[2] != w->sizes[1])
        fxs_stop(k, FXS_ESHAPE, "expected an input [T, B, C] and weights [K, C, O]");
    if (arg(k, 2)->ndim != 1 || arg(k, 2)->sizes[0] != w->sizes[w->ndim - 1])
        fxs_stop(k, FXS_ESHAPE, "expected a bias of as many as the weights' last dimension");
    if (k->status != FXS_OK)
        return;
    int64_t n = w->sizes[0], in = x->sizes[0], pad = fxs_arg_int(k->call, 3), batch = x->sizes[1],
            length = in - n + 1 + 2 * pad;
    if (length < 0) {
        fxs_stop(k, FXS_ESHAPE, "the input is shorter than the weights");
        return;
    }
    k->any_grad = true;
    for (int i = 0; fxs_is_complex(x->dtype) && i < 3; i++)
        if (arg(k, i)->requires_grad)
            fxs_stop(k, FXS_EINVAL, "complex numbers can't be differentiated");
    fxs_tensor *y = FXS_DO(k, "to", fxs_t(arg(k, 2)), fxs_of_dtype(x->dtype));
    y = packed(k, FXS_DO(k, "expand", fxs_t(y), FXS_INTS(k, length, batch, w->sizes[2])));
    for (int64_t i = 0; i < n && k->status == FXS_OK;
         i++) { /* one row of weights after the other */
        int64_t from = i > pad ? i - pad : 0, to = pad > i ? pad - i : 0,
                most = in + pad - i < length ? in + pad - i : length, t = most - to;
        if (t <= 0)
            continue;
        fxs_tensor *part = FXS_DO(k, "narrow", fxs_t(x), fxs_int(0), fxs_int(from), fxs_int(t));
        part = FXS_DO(k, "reshape", fxs_t(part), FXS_INTS(k, t * batch, x->sizes[2]));
        fxs_tensor *row = FXS_DO(k, "select", fxs_t(w), fxs_int(0), fxs_int(i));
        fxs_tensor *place = FXS_DO(k, "narrow", fxs_t(y), fxs_int(0), fxs_int(to), fxs_int(t));
        place = FXS_DO(k, "view", fxs_t(place), FXS_INTS(k, t * batch, w->sizes[2]));
        if (x->dtype != w->dtype)
            fxs_stop(k, FXS_ETYPE, "input and weight must have the same dtype");
        part = FXS_DO(k, "addmm", fxs_t(place), fxs_t(part), fxs_t(row));
        FXS_DO(k, "copy_", fxs_t(place), fxs_t(part));
    }
    fxs_give(k, y);
}

/* gumbel_softmax(logits, tau, hard, eps, dim) */
static void make_gumbel_softmax(fxs_compose *k) {
    fxs_tensor *x = arg(k, 0), *u = FXS_DO(k, "rand_like", fxs_t(x)), *y;
    u = FXS_DO(k, "clamp_min", fxs_t(u), fxs_float(1e-10)); /* no infinite logarithm */
    u = FXS_DO(k, "neg", fxs_t(FXS_DO(k, "log", fxs_t(u))));
    u = FXS_DO(k, "neg", fxs_t(FXS_DO(k, "log", fxs_t(u))));
    x = FXS_DO(k, "add", fxs_t(x), fxs_t(u));
    x = FXS_DO(k, "div", fxs_t(x), k->call->arg[1]);
    y = FXS_DO(k, "softmax", fxs_t(x), k->call->arg[4]);
    if (fxs_arg_bool(k->call, 2)) {
        fxs_tensor *at = FXS_DO(k, "argmax", fxs_t(y), k->call->arg[4], fxs_bool(true));
        fxs_tensor *hard = FXS_DO(k, "scatter", fxs_t(FXS_DO(k, "zeros_like", fxs_t(y))),
                                  k->call->arg[4], fxs_t(at), fxs_int(1));
        hard = FXS_DO(k, "sub", fxs_t(hard), fxs_t(FXS_DO(k, "detach", fxs_t(y))));
        y = FXS_DO(k, "add", fxs_t(hard), fxs_t(y));
    }
    fxs_give(k, y);
}

FXS_COMPOSED(ldexp)
FXS_COMPOSED(isreal)
FXS_COMPOSED(isin)
FXS_COMPOSED(nanmean)
FXS_COMPOSED(msort)
FXS_COMPOSED_FREE(narrow_copy)
FXS_COMPOSED(sum_to_size)
FXS_COMPOSED(renorm)
FXS_COMPOSED(index_reduce)
FXS_COMPOSED(conv_tbc)
FXS_COMPOSED(add_scaled)
FXS_COMPOSED(subtract_scaled)
FXS_COMPOSED(elu_scaled)
FXS_COMPOSED(gumbel_softmax)

/* What has the size already is given back itself. */
static fxs_status infer_sum_to_sizes(fxs_call *c) {
    fxs_tensor *t = fxs_arg_tensor(c, 0);
    int64_t sizes[FXS_MAX_DIM];
    bool same = t->ndim > 0 && fxs_arg_ints(c, 1, sizes, FXS_MAX_DIM) == t->ndim;
    for (int i = 0; same && i < t->ndim; i++)
        same = sizes[i] == t->sizes[i];
    return same ? fxs_out_same(c, t) : infer_sum_to_size(c);
}

#define PURE FXS_OP_NO_INPLACE
#define BOTH(name) "torch." name " Tensor." name
#define ROW(op, schema, spellings, flags)                                                          \
    { #op, schema " -> Tensor", spellings, infer_##op, run_##op, cost_##op, flags }
#define FREE(op, schema, spellings)                                                                \
    { #op, schema " -> Tensor", spellings, infer_##op, run_##op, NULL, PURE }

const fxs_op fxs_ops_composed_more[] = {
    ROW(ldexp, "(Tensor self, Tensor other)", BOTH("ldexp"), 0),
    ROW(add_scaled, "(Tensor|Scalar self, Tensor|Scalar alpha, Tensor|Scalar other)",
        "torch.add Tensor.add Tensor.__add__ Tensor.__radd__ Tensor.__iadd__! torch.sub Tensor.sub "
        "Tensor.__sub__ Tensor.__isub__!",
        FXS_OP_COMPLEX),
    ROW(subtract_scaled, "(Tensor|Scalar self, Tensor|Scalar other, Tensor|Scalar alpha)",
        BOTH("subtract") " torch.rsub", FXS_OP_COMPLEX),
    ROW(elu_scaled, "(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1)",
        "torch._C._nn.elu torch._C._nn.elu_! torch.nn.functional.elu_!", FXS_OP_NO_INPLACE),
    ROW(isreal, "(Tensor self)", BOTH("isreal"), PURE),
/* three overloads: a number has a name of its own */
#define ISIN(a, b)                                                                                 \
    ROW(isin, "(" a ", " b ", *, bool assume_unique=False, bool invert=False)", "torch.isin", PURE)
    ISIN("Tensor elements", "Tensor test_elements"),
    ISIN("Tensor elements", "Scalar test_element"),
    ISIN("Scalar element", "Tensor test_elements"),
#undef ISIN
    ROW(nanmean, "(Tensor self, int|int[]? dim=None, bool keepdim=False, *, dtype? dtype=None)",
        BOTH("nanmean"), PURE),
    ROW(msort, "(Tensor self)", BOTH("msort"), PURE),
    FREE(narrow_copy, "(Tensor self, int dim, int start, int length)", BOTH("narrow_copy")),
    {"sum_to_size", "(Tensor self, int... size) -> Tensor", "Tensor.sum_to_size",
     infer_sum_to_sizes, run_sum_to_size, cost_sum_to_size, PURE},
    ROW(renorm, "(Tensor self, Scalar p, int dim, Scalar maxnorm)", BOTH("renorm"), 0),
    ROW(index_reduce,
        "(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
        "include_self=True)",
        BOTH("index_reduce"), FXS_OP_REAL_GRAD),
    ROW(conv_tbc, "(Tensor self, Tensor weight, Tensor bias, int pad=0)",
        "torch.conv_tbc torch._C._nn.conv_tbc", PURE),
    ROW(gumbel_softmax,
        "(Tensor logits, number tau=1, bool hard=False, number eps=1e-10, int dim=-1)",
        "torch.nn.functional.gumbel_softmax", PURE | FXS_OP_RANDOM),
    {0},
};
