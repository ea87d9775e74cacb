/* composed_product.c: products that are made of others: outer addr addbmm inner tensordot; see
 * composed.c. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/product.h"
#include "kernels/work.h"

static fxs_tensor *arg(const fxs_compose *k, int i) { return fxs_arg_tensor(k->call, i); }

/* ---- of two vectors
 * ------------------------------------------------------------------------------------------- */

static fxs_status check_vector(fxs_call *c, int i, const char *name) {
    const fxs_tensor *t = fxs_arg_tensor(c, i);
    return t->ndim == 1
               ? FXS_OK
               : FXS_REFUSE(c, FXS_ESHAPE, "argument '%s' must be 1-D, but it has %d dimensions",
                            name, t->ndim);
}

/* outer(a, b): a[:, None] * b */
static fxs_tensor *outer(fxs_compose *k, fxs_tensor *a, fxs_tensor *b) {
    if (a)
        a = FXS_DO(k, "reshape", fxs_t(a), FXS_INTS(k, a->sizes[0], 1));
    return FXS_DO(k, "mul", fxs_t(a), fxs_t(b));
}

static void make_outer(fxs_compose *k) {
    k->status = check_vector(k->call, 0, "input");
    if (k->status == FXS_OK)
        k->status = check_vector(k->call, 1, "vec2");
    if (k->status == FXS_OK)
        fxs_give(k, outer(k, arg(k, 0), arg(k, 1)));
}

enum { ADD_INPUT, ADD_A, ADD_B, ADD_BETA, ADD_ALPHA };

static fxs_status expand_refused(fxs_call *c, const int64_t *sizes) {
    char text[FXS_SIZES_TEXT];
    return FXS_REFUSE(c, FXS_ESHAPE,
                      "argument 'input' of shape %s can't be expanded to the result's shape [%lld, "
                      "%lld]",
                      fxs_sizes_text(fxs_arg_tensor(c, ADD_INPUT), text), (long long)sizes[0],
                      (long long)sizes[1]);
}

/* The input as a matrix of such sizes. */
static fxs_status expanded(fxs_call *c, const int64_t *sizes, fxs_tensor *out) {
    const fxs_tensor *t = fxs_arg_tensor(c, ADD_INPUT);
    *out = *t;
    out->ndim = 2;
    if (t->ndim > 2)
        return expand_refused(c, sizes);
    for (int i = 0; i < 2; i++) {
        int at = i - (2 - t->ndim);
        bool is_there = at >= 0 && (t->sizes[at] != 1 || sizes[i] == 1);
        if (is_there && t->sizes[at] != sizes[i])
            return expand_refused(c, sizes);
        out->sizes[i] = sizes[i];
        out->strides[i] = is_there ? t->strides[at] : 0;
    }
    return FXS_OK;
}

/* For real tensors a complex number whose imaginary part is 0 is its real part. */
static fxs_value real_scale(const fxs_value *v, fxs_dtype d) {
    bool real = v->tag == FXS_V_COMPLEX && v->u.c[1] == 0 && !fxs_is_complex(d);
    return real ? fxs_float(v->u.c[0]) : *v;
}

/* Numbers that scale: of bool for bools alone, whole ones for whole numbers. */
static fxs_status check_scale(fxs_call *c, int i, fxs_dtype d) {
    const char *name = i == ADD_BETA ? "beta" : "alpha";
    fxs_tag tag = c->arg[i].tag;
    if (tag == FXS_V_BOOL && d != FXS_BOOL)
        return FXS_REFUSE(c, FXS_ETYPE, "a %s of bool is only supported for bools", name);
    if (!fxs_is_floating(d) && !fxs_is_complex(d) && tag != FXS_V_BOOL && tag != FXS_V_INT)
        return FXS_REFUSE(c, FXS_ETYPE,
                          "for integral tensors, %s must not be a floating point number", name);
    fxs_value scale = real_scale(&c->arg[i], d);
    return scale.tag == c->arg[i].tag ? fxs_check_number(c, i, d) : FXS_OK;
}

/* addr(input, vec1, vec2, *, beta, alpha): PyTorch walks over all three at once. */
static fxs_status infer_addr(fxs_call *c) {
    fxs_tensor column = *fxs_arg_tensor(c, ADD_A), *row = fxs_arg_tensor(c, ADD_B), input;
    FXS_TRY(check_vector(c, ADD_A, "vec1"));
    FXS_TRY(check_vector(c, ADD_B, "vec2"));
    FXS_TRY(expanded(c, (int64_t[]){column.sizes[0], row->sizes[0]}, &input));
    column.ndim = 2;
    column.sizes[1] = column.strides[1] = 1;
    fxs_operands o = {.n = 3,
                      .v = {fxs_of_tensor(&input), fxs_of_tensor(&column), fxs_of_tensor(row)}};
    fxs_dtype d = fxs_common_type(&o);
    FXS_TRY(check_scale(c, ADD_BETA, d));
    FXS_TRY(check_scale(c, ADD_ALPHA, d));
    return fxs_out_pointwise(c, &o, d);
}

static bool is_number(const fxs_value *v, double x) {
    return v->tag == FXS_V_COMPLEX ? v->u.c[0] == x && v->u.c[1] == 0
           : v->tag == FXS_V_INT   ? (double)v->u.i == x
           : v->tag == FXS_V_BOOL  ? (double)v->u.b == x
                                   : v->u.f == x;
}

/* beta * x + alpha * p; beta = 0 takes x away, with its NaN, and alpha is not looked at when p is
 * a sum of no products. */
static fxs_tensor *scaled_sum(fxs_compose *k, fxs_tensor *x, fxs_tensor *p, bool products) {
    if (!x || !p)
        return NULL;
    fxs_value beta = real_scale(&k->call->arg[ADD_BETA], x->dtype),
              alpha = real_scale(&k->call->arg[ADD_ALPHA], p->dtype);
    if (!is_number(&alpha, 1) && products)
        p = FXS_DO(k, "mul", fxs_t(p), alpha);
    if (is_number(&beta, 0))
        return p;
    if (!is_number(&beta, 1))
        x = FXS_DO(k, "mul", fxs_t(x), beta);
    return FXS_DO(k, "add", fxs_t(x), fxs_t(p));
}

static void make_addr(fxs_compose *k) {
    fxs_value d = fxs_of_dtype(k->call->out[0]->dtype);
    fxs_tensor *a = FXS_DO(k, "to", fxs_t(arg(k, ADD_A)), d),
               *b = FXS_DO(k, "to", fxs_t(arg(k, ADD_B)), d);
    fxs_give(k, scaled_sum(k, FXS_DO(k, "to", fxs_t(arg(k, ADD_INPUT)), d), outer(k, a, b), true));
}

static fxs_status run_addr(fxs_call *c) { return fxs_compose_run(c, make_addr); }
static fxs_cost cost_addr(const fxs_call *c) { return fxs_compose_cost(c, make_addr); }

/* ---- of batches
 * -----------------------------------------------------------------------------------------------
 */

/* PyTorch looks at numbers where it multiplies by them: alpha when there is a product. */
static void check_scales(fxs_compose *k, const fxs_tensor *p) {
    const fxs_tensor *a = arg(k, ADD_A);
    bool products = a->sizes[0] && fxs_tensor_numel(p);
    if (k->status != FXS_OK)
        return;
    if (!a->sizes[0] || (products && !a->sizes[2]))
        k->status = fxs_check_beta_alone(k->call, ADD_BETA, p->dtype);
    if (k->status == FXS_OK && p->dtype == FXS_BOOL && products && !a->sizes[2] && a->sizes[0] > 1)
        fxs_stop(k, FXS_ETYPE, "a result of torch.int64 can't be cast to torch.bool");
    if (k->status == FXS_OK && products && a->sizes[2])
        k->status = fxs_check_number(k->call, ADD_BETA, p->dtype);
    if (k->status == FXS_OK && products && a->sizes[2])
        k->status = fxs_check_number(k->call, ADD_ALPHA, p->dtype);
}

/* In place PyTorch copies the input, stretched to the result's shape, over the result first: one
 * element onto itself, which it takes for two that overlap when their strides are not the same.
 * Stretching goes on with the stride of a vector, and has none of a number. */
static void check_overlap(fxs_compose *k, const fxs_tensor *x, const fxs_tensor *stretched) {
    fxs_value beta = fxs_known_number(&k->call->arg[ADD_BETA]);
    bool as_it_was =
        x->ndim == 2 && x->sizes[0] == stretched->sizes[0] && x->sizes[1] == stretched->sizes[1];
    if (!k->call->in_place || as_it_was || fxs_tensor_numel(stretched) != 1 ||
        is_number(&beta, 0) || (x->ndim && x->strides[0] == 1))
        return;
    fxs_stop(k, FXS_EINVAL,
             "some elements of the input and of the result refer to a single memory location");
}

/* addbmm(input, batch1, batch2, beta, alpha): the sum of the products */
static void make_addbmm(fxs_compose *k) {
    fxs_tensor *x = arg(k, ADD_INPUT), matrix;
    k->any_grad = true;
    bool none = arg(k, ADD_A)->sizes[0] == 0; /* of no matrices the types are not looked at */
    if (!none && x->dtype != arg(k, ADD_A)->dtype)
        fxs_stop(k, FXS_ETYPE, "expected input of torch.%s, as batch1, but got torch.%s",
                 fxs_dtype_name(arg(k, ADD_A)->dtype), fxs_dtype_name(x->dtype));
    fxs_tensor *p = FXS_DO(k, "bmm", fxs_t(arg(k, ADD_A)), fxs_t(arg(k, ADD_B)));
    p = FXS_DO_NAMED(k, "sum", "dtype", fxs_of_dtype(x->dtype), fxs_t(p), fxs_int(0));
    if (p)
        k->status = expanded(k->call, p->sizes, &matrix);
    if (p && k->status == FXS_OK)
        check_overlap(k, x, &matrix);
    if (k->status == FXS_OK)
        check_scales(k, p);
    x = scaled_sum(k, x, p, fxs_tensor_numel(arg(k, ADD_A)) != 0);
    fxs_value format = {.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
    fxs_give(k, x && fxs_tensor_numel(x) == 0
                    ? FXS_DO_NAMED(k, "clone", "memory_format", format, fxs_t(x))
                    : FXS_DO(k, "contiguous", fxs_t(x)));
}

/* ---- over chosen dimensions
 * ----------------------------------------------------------------------------------- */

/* Dimensions of a and b that are multiplied and added up. */
typedef struct pairs {
    int n;
    int64_t a[FXS_MAX_DIM], b[FXS_MAX_DIM];
} pairs;

/* The other dimensions of t in front (or behind) of those that are summed, as a matrix. */
static fxs_tensor *as_matrix(fxs_compose *k, fxs_tensor *t, int n, const int64_t *dims, bool front,
                             int64_t *others, int *nothers) {
    int64_t order[FXS_MAX_DIM], inner = 1;
    bool summed[FXS_MAX_DIM] = {false};
    int at = front ? 0 : n;
    for (int i = 0; i < n; i++) {
        summed[dims[i]] = true;
        inner *= t->sizes[dims[i]];
    }
    for (int i = 0; i < t->ndim; i++)
        if (!summed[i]) {
            order[at++] = i;
            others[(*nothers)++] = t->sizes[i];
        }
    for (int i = 0; i < n; i++)
        order[front ? at++ : i] = dims[i];
    int64_t outer = 1;
    for (int i = 0; i < t->ndim; i++)
        outer *= summed[i] ? 1 : t->sizes[i];
    int ndim = t->ndim;
    t = FXS_DO(k, "permute", fxs_t(t), fxs_ints(k, ndim, order));
    return FXS_DO(k, "reshape", fxs_t(t),
                  front ? FXS_INTS(k, outer, inner) : FXS_INTS(k, inner, outer));
}

/* Multiplies over p. What meets a single place is added up first. */
static void give_product(fxs_compose *k, fxs_tensor *a, fxs_tensor *b, const pairs *p) {
    int64_t sizes[2 * FXS_MAX_DIM];
    int ndim = 0;
    for (int i = 0; k->status == FXS_OK && i < p->n; i++) {
        int64_t na = arg(k, 0)->sizes[p->a[i]], nb = arg(k, 1)->sizes[p->b[i]];
        if (nb == 1)
            a = FXS_DO(k, "sum", fxs_t(a), FXS_INTS(k, p->a[i]), fxs_bool(true));
        else if (na == 1)
            b = FXS_DO(k, "sum", fxs_t(b), FXS_INTS(k, p->b[i]), fxs_bool(true));
        else if (na != nb)
            fxs_stop(k, FXS_ESHAPE,
                     "contracted dimensions need to match, but first has size %lld in dim %lld and "
                     "second has size %lld in dim %lld",
                     (long long)na, (long long)p->a[i], (long long)nb, (long long)p->b[i]);
    }
    if (k->status != FXS_OK)
        return;
    a = as_matrix(k, a, p->n, p->a, true, sizes, &ndim);
    b = as_matrix(k, b, p->n, p->b, false, sizes, &ndim);
    a = FXS_DO(k, "mm", fxs_t(a), fxs_t(b));
    fxs_give(k, FXS_DO(k, "reshape", fxs_t(a), fxs_ints(k, ndim, sizes)));
}

/* inner(a, b): over the last dimensions of both */
static void make_inner(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1);
    char s[FXS_SIZES_TEXT], t[FXS_SIZES_TEXT];
    if (a->ndim == 0 || b->ndim == 0) {
        fxs_give(k, FXS_DO(k, "mul", fxs_t(a), fxs_t(b)));
        return;
    }
    if (a->sizes[a->ndim - 1] != b->sizes[b->ndim - 1])
        fxs_stop(k, FXS_ESHAPE, "the last dimensions of shapes %s and %s must match",
                 fxs_sizes_text(a, s), fxs_sizes_text(b, t));
    give_product(k, a, b, &(pairs){1, {a->ndim - 1}, {b->ndim - 1}});
}

static int read_pair(fxs_compose *k, const fxs_value *v, const fxs_tensor *t, int64_t *dims) {
    int n = 0;
    if (v->tag != FXS_V_LIST && v->tag != FXS_V_TUPLE)
        fxs_stop(k, FXS_ETYPE, "dims must be a number or two lists of ints");
    for (size_t i = 0; i < fxs_value_len(v) && i < FXS_MAX_DIM && k->status == FXS_OK; i++) {
        const fxs_value *item = fxs_value_item(v, i);
        bool flag = item->tag == FXS_V_BOOL; /* for an int behind the first, as in each list */
        int dim = 0;
        if (item->tag != FXS_V_INT && (!flag || i == 0))
            fxs_stop(k, FXS_ETYPE, "dims must be a number or two lists of ints");
        else
            k->status = fxs_wrap_dim(k->call, flag ? item->u.b : item->u.i, t->ndim, &dim);
        dims[n++] = dim;
    }
    return n;
}

/* tensordot(a, b, dims): an int, or the dimensions of a and those of b */
static void make_tensordot(fxs_compose *k) {
    fxs_tensor *a = arg(k, 0), *b = arg(k, 1);
    const fxs_value *given = &k->call->arg[2];
    pairs p = {0};
    int m = 0;
    if (given->tag == FXS_V_INT || given->tag == FXS_V_BOOL) {
        int64_t count = given->tag == FXS_V_INT ? given->u.i : given->u.b;
        if (count < 0 || count > a->ndim || count > b->ndim)
            fxs_stop(k, FXS_EINVAL, "expects dims >= 0 and no more than there are, but got %lld",
                     (long long)count);
        for (m = 0; k->status == FXS_OK && p.n < count; p.n++, m++)
            p.a[p.n] = a->ndim - count + p.n, p.b[p.n] = p.n;
    } else if (fxs_value_len(given) == 2) {
        p.n = read_pair(k, fxs_value_item(given, 0), a, p.a);
        m = read_pair(k, fxs_value_item(given, 1), b, p.b);
    } else {
        fxs_stop(k, FXS_EINVAL, "dims must be a number or two lists");
    }
    if (p.n != m)
        fxs_stop(k, FXS_EINVAL, "both dimension lists should have same length");
    give_product(k, a, b, &p);
}

FXS_COMPOSED(outer)
FXS_COMPOSED(addbmm)
FXS_COMPOSED(inner)
FXS_COMPOSED(tensordot)

#define BOTH(name) "torch." name " Tensor." name
#define SCALES "*, Scalar beta=1, Scalar alpha=1) -> Tensor"

const fxs_op fxs_ops_composed_product[] = {
    {"outer", "(Tensor input, Tensor vec2) -> Tensor", BOTH("outer") " " BOTH("ger"), infer_outer,
     run_outer, cost_outer, FXS_OP_NO_INPLACE},
    {"addr", "(Tensor self, Tensor vec1, Tensor vec2, " SCALES, BOTH("addr"), infer_addr, run_addr,
     cost_addr, FXS_OP_COMPLEX},
    {"addbmm", "(Tensor input, Tensor batch1, Tensor batch2, " SCALES, BOTH("addbmm"), infer_addbmm,
     run_addbmm, cost_addbmm, FXS_OP_RESIZES},
    {"inner", "(Tensor self, Tensor other) -> Tensor", BOTH("inner"), infer_inner, run_inner,
     cost_inner, FXS_OP_NO_INPLACE},
    {"tensordot", "(Tensor a, Tensor b, int|any dims=2, Tensor? out=None) -> Tensor",
     "torch.functional.tensordot torch.tensordot", infer_tensordot, run_tensordot, cost_tensordot,
     FXS_OP_NO_INPLACE},
    {0},
};
