/* einsum.c: Einstein sums of any number of operands. Every operand is seen with one dimension a
 * label, the result's labels first; then operands are contracted from left to right, each pair as
 * one batch of matrix products. infer walks the same way on tensors without storage, because the
 * steps decide the result's strides. */
#include <ctype.h>
#include <string.h>

#include "kernels/families.h"
#include "kernels/iterate.h"
#include "kernels/product.h"

enum { EQUATION, OPERANDS, LABELS = 128, ELLIPSIS = 0 /* the label of "..." */ };

typedef struct sum {
    fxs_call *c;
    bool compute;
    int noperands, nout, ndim; /* result labels come first among ndim dimensions */
    int dim_of[LABELS];        /* a label's dimension, -1: not there */
    int hidden;                /* dimensions that "..." stands for */
    int64_t sizes[FXS_MAX_DIM];
    int uses[FXS_MAX_DIM]; /* operands yet to be contracted that have a dimension of more than one
                            */
} sum;

/* ---- the equation
 * ----------------------------------------------------------------------------------------- */

/* One term: labels of one operand, or of the result. */
typedef struct term {
    int n;
    int label[FXS_MAX_DIM];
    bool dots;
} term;

static fxs_status read_term(fxs_call *c, const char **at, const char *end, term *t) {
    *t = (term){0};
    for (; *at < end && **at != ',' && **at != '-'; ++*at) {
        if (**at == ' ')
            continue;
        if (t->n == FXS_MAX_DIM)
            return FXS_REFUSE(c, FXS_ELIMIT, "more than %d subscripts for one operand",
                              FXS_MAX_DIM);
        if (isalpha((unsigned char)**at)) {
            t->label[t->n++] = (unsigned char)**at;
        } else if (end - *at >= 3 && strncmp(*at, "...", 3) == 0 && !t->dots) {
            t->dots = true;
            t->label[t->n++] = ELLIPSIS;
            *at += 2;
        } else {
            return FXS_REFUSE(
                c, FXS_EINVAL,
                "invalid subscript '%c' in '%s': subscripts must be letters or one '...'", **at,
                fxs_arg_str(c, EQUATION));
        }
    }
    return FXS_OK;
}

/* Labels of the result when the equation does not name them: those that occur once, in alphabetical
 * order. */
static void implied_result(const term *terms, int n, term *out) {
    int count[LABELS] = {0};
    *out = (term){0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < terms[i].n; k++)
            count[terms[i].label[k]]++;
    if (count[ELLIPSIS])
        out->label[out->n++] = ELLIPSIS;
    for (int l = 1; l < LABELS; l++)
        if (count[l] == 1 && out->n < FXS_MAX_DIM)
            out->label[out->n++] = l;
}

static fxs_status read_equation(fxs_call *c, term *terms, int n, term *out) {
    const char *at = fxs_arg_str(c, EQUATION), *end = at + strlen(at);
    for (int i = 0; i < n; i++) {
        FXS_TRY(read_term(c, &at, end, &terms[i]));
        bool more = at < end && *at == ',';
        if (more != (i + 1 < n))
            return FXS_REFUSE(c, FXS_EINVAL,
                              "the number of operands (%d) is not that of the equation '%s'", n,
                              fxs_arg_str(c, EQUATION));
        at += more;
    }
    if (at == end) {
        implied_result(terms, n, out);
        return FXS_OK;
    }
    if (strncmp(at, "->", 2) != 0)
        return FXS_REFUSE(c, FXS_EINVAL, "'->' expected in '%s'", fxs_arg_str(c, EQUATION));
    at += 2;
    FXS_TRY(read_term(c, &at, end, out));
    return at == end ? FXS_OK
                     : FXS_REFUSE(c, FXS_EINVAL, "'%s' goes on behind the result",
                                  fxs_arg_str(c, EQUATION));
}

/* ---- operands with a dimension for each label
 * ------------------------------------------------------------- */

/* How many dimensions of an operand its "..." stands for. */
static int hidden_of(const term *t, const fxs_tensor *x) {
    return t->dots ? x->ndim - (t->n - 1) : 0;
}

static fxs_status count_hidden(sum *s, const term *terms) {
    for (int i = 0; i < s->noperands; i++) {
        const fxs_tensor *x = fxs_arg_tensor_at(s->c, OPERANDS, i);
        int hidden = hidden_of(&terms[i], x);
        char text[FXS_SIZES_TEXT];
        if (terms[i].dots ? hidden < 0 : terms[i].n != x->ndim)
            return FXS_REFUSE(
                s->c, FXS_ESHAPE,
                "the number of subscripts for operand %d in '%s' does not fit its shape %s", i,
                fxs_arg_str(s->c, EQUATION), fxs_sizes_text(x, text));
        s->hidden = hidden > s->hidden ? hidden : s->hidden;
    }
    return FXS_OK;
}

static fxs_status give_dimension(sum *s, int label) {
    int width = label == ELLIPSIS ? s->hidden : 1;
    if (s->dim_of[label] >= 0)
        return FXS_OK;
    if (s->ndim + width > FXS_MAX_DIM)
        return FXS_REFUSE(s->c, FXS_ELIMIT, "more than %d different subscripts", FXS_MAX_DIM);
    s->dim_of[label] = s->ndim;
    s->ndim += width;
    return FXS_OK;
}

static fxs_status give_dimensions(sum *s, const term *terms, const term *out) {
    bool used[LABELS] = {false};
    for (int i = 0; i < s->noperands; i++)
        for (int k = 0; k < terms[i].n; k++)
            used[terms[i].label[k]] = true;
    for (int l = 0; l < LABELS; l++)
        s->dim_of[l] = -1;
    for (int k = 0; k < out->n; k++) {
        int l = out->label[k];
        if (s->dim_of[l] >= 0)
            return FXS_REFUSE(s->c, FXS_EINVAL, "subscript %c appears more than once in the result",
                              l ? l : '.');
        if (!used[l] && l != ELLIPSIS)
            return FXS_REFUSE(s->c, FXS_EINVAL,
                              "subscript %c of the result does not appear in any operand", l);
        FXS_TRY(give_dimension(s, l));
    }
    s->nout = s->ndim;
    for (int l = 0; l < LABELS; l++)
        if (used[l])
            FXS_TRY(give_dimension(s, l));
    return FXS_OK;
}

/* Puts dimension `from` of x at `to` of the view; a label that comes twice takes the diagonal. */
static fxs_status place(sum *s, const fxs_tensor *x, int from, fxs_tensor *view, int to,
                        bool again) {
    char text[FXS_SIZES_TEXT];
    if (again && view->sizes[to] != x->sizes[from])
        return FXS_REFUSE(s->c, FXS_ESHAPE,
                          "a subscript that is repeated for one operand has different sizes in %s",
                          fxs_sizes_text(x, text));
    view->sizes[to] = x->sizes[from];
    view->strides[to] = again ? view->strides[to] + x->strides[from] : x->strides[from];
    if (x->sizes[from] == 1)
        return FXS_OK;
    if (s->sizes[to] != 1 && s->sizes[to] != x->sizes[from])
        return FXS_REFUSE(
            s->c, FXS_ESHAPE,
            "operands do not broadcast: a subscript has size %lld, but %lld in shape %s",
            (long long)s->sizes[to], (long long)x->sizes[from], fxs_sizes_text(x, text));
    s->sizes[to] = x->sizes[from];
    s->uses[to] += !again;
    return FXS_OK;
}

static fxs_status spread(sum *s, const term *t, const fxs_tensor *x, fxs_tensor *view) {
    bool seen[FXS_MAX_DIM] = {false};
    int from = 0;
    *view = *x;
    view->ndim = s->ndim;
    for (int d = 0; d < s->ndim; d++)
        view->sizes[d] = 1, view->strides[d] = 0;
    for (int k = 0; k < t->n; k++) {
        int width = t->label[k] == ELLIPSIS ? hidden_of(t, x) : 1;
        int to = s->dim_of[t->label[k]] + (t->label[k] == ELLIPSIS ? s->hidden - width : 0);
        for (int i = 0; i < width; i++, from++, to++) {
            FXS_TRY(place(s, x, from, view, to, seen[to]));
            seen[to] = true;
        }
    }
    return FXS_OK;
}

/* ---- contraction
 * ------------------------------------------------------------------------------------------ */

/* Dimensions of a pair by what becomes of them. */
typedef struct parts {
    int both[FXS_MAX_DIM], left[FXS_MAX_DIM], summed[FXS_MAX_DIM], right[FXS_MAX_DIM];
    int nboth, nleft, nsummed, nright;
} parts;

static int append(int *out, const int *dims, int n) {
    if (n)
        memcpy(out, dims, (size_t)n * sizeof *dims);
    return n;
}

static int64_t volume(const fxs_tensor *t, const int *dims, int n) {
    int64_t v = 1;
    for (int i = 0; i < n; i++)
        v *= t->sizes[dims[i]];
    return v;
}

static fxs_tensor permuted(const fxs_tensor *t, const int *order) {
    fxs_tensor p = *t;
    for (int i = 0; i < t->ndim; i++)
        p.sizes[i] = t->sizes[order[i]], p.strides[i] = t->strides[order[i]];
    return p;
}

/* A contiguous tensor seen as [a, b, c]. */
static fxs_tensor as_batch(const fxs_tensor *t, int64_t a, int64_t b, int64_t c) {
    fxs_tensor v = *t;
    v.ndim = 3;
    v.sizes[0] = a, v.sizes[1] = b, v.sizes[2] = c;
    fxs_strides_of(3, v.sizes, NULL, v.strides);
    return v;
}

/* result [both, left, summed (1), right] = left [both, left, summed] @ right [both, summed, right]
 */
static fxs_status multiply(sum *s, const parts *p, const fxs_tensor *a, const fxs_tensor *b,
                           fxs_tensor *out) {
    int order[FXS_MAX_DIM], n = append(order, p->both, p->nboth);
    int64_t nb = volume(a, p->both, p->nboth), nl = volume(a, p->left, p->nleft),
            nr = volume(b, p->right, p->nright);
    int64_t ns = volume(a, p->summed, p->nsummed);
    n += append(order + n, p->left, p->nleft);
    n += append(order + n, p->summed, p->nsummed);
    append(order + n, p->right, p->nright);
    fxs_tensor left = permuted(a, order);
    n = append(order, p->both, p->nboth);
    n += append(order + n, p->summed, p->nsummed);
    n += append(order + n, p->right, p->nright);
    append(order + n, p->left, p->nleft);
    fxs_tensor right = permuted(b, order);
    fxs_work w = fxs_work_begin(s->c, a->dtype);
    fxs_tensor *x = fxs_work_in(&w, &left), *y = fxs_work_in(&w, &right),
               *z = fxs_work_out(&w, out);
    if (w.status == FXS_OK) {
        fxs_tensor bx = as_batch(x, nb, nl, ns), by = as_batch(y, nb, ns, nr);
        fxs_product(&w, &bx, &by, z, false);
    }
    return fxs_work_end(&w);
}

/* Sorts the dimensions of a pair. A dimension that no later operand has is summed here. */
static void sort_parts(sum *s, const fxs_tensor *a, const fxs_tensor *b, parts *p) {
    for (int d = 0; d < s->ndim; d++) {
        bool in_a = a->sizes[d] != 1, in_b = b->sizes[d] != 1;
        bool last = d >= s->nout && (in_a || in_b) && s->uses[d] - in_a - in_b == 0;
        s->uses[d] -= in_a && in_b;
        if (last)
            s->uses[d] = 0;
        if (last && in_a && in_b)
            p->summed[p->nsummed++] = d;
        else if (in_a && in_b)
            p->both[p->nboth++] = d;
        else if (in_a)
            p->left[p->nleft++] = d;
        else
            p->right[p->nright++] = d;
    }
}

/* Sums dimensions `dims` of t by a product with ones; they keep size 1. *out is counted. */
static fxs_status add_up(sum *s, const fxs_tensor *t, const int *dims, int n, fxs_tensor **out) {
    int64_t sizes[FXS_MAX_DIM], count = volume(t, dims, n);
    int order[FXS_MAX_DIM], at = 0;
    bool summed[FXS_MAX_DIM] = {false};
    memcpy(sizes, t->sizes, (size_t)t->ndim * sizeof *sizes);
    for (int i = 0; i < n; i++)
        sizes[dims[i]] = 1, summed[dims[i]] = true;
    for (int d = 0; d < t->ndim; d++)
        if (!summed[d])
            order[at++] = d;
    append(order + at, dims, n);
    FXS_TRY(fxs_tensor_make(s->c->ctx, t->dtype, t->ndim, sizes, NULL, out));
    if (!s->compute)
        return FXS_OK;
    fxs_tensor rows = permuted(t, order);
    fxs_work w = fxs_work_begin(s->c, t->dtype);
    fxs_tensor *ones = NULL, *x = fxs_work_in(&w, &rows), *y = NULL;
    if (w.status == FXS_OK)
        w.status = fxs_tensor_allocate(s->c->ctx, *out);
    y = fxs_work_out(&w, *out);
    if (w.status == FXS_OK)
        w.status = fxs_tensor_new(s->c->ctx, w.dtype, 1, &count, &ones);
    if (w.status == FXS_OK) {
        for (int64_t i = 0; i < count; i++)
            fxs_store_double(
                w.dtype, (char *)fxs_tensor_data(ones) + i * (int64_t)fxs_dtype_size(w.dtype), 1);
        fxs_tensor flat = as_batch(x, 1, fxs_tensor_numel(*out), count);
        fxs_product(&w, &flat, ones, y, false);
    }
    fxs_tensor_unref(ones);
    return fxs_work_end(&w);
}

/* Dimensions that are summed here though only one side has them. */
static int lone_dims(const sum *s, const int *dims, int n, int *lone) {
    int found = 0;
    for (int i = 0; i < n; i++)
        if (dims[i] >= s->nout && s->uses[dims[i]] == 0)
            lone[found++] = dims[i];
    return found;
}

static fxs_status new_product(sum *s, const parts *p, const fxs_tensor *a, const fxs_tensor *b,
                              fxs_tensor **out) {
    int order[FXS_MAX_DIM], n = append(order, p->both, p->nboth);
    int64_t sizes[FXS_MAX_DIM];
    n += append(order + n, p->left, p->nleft);
    n += append(order + n, p->summed, p->nsummed);
    n += append(order + n, p->right, p->nright);
    for (int i = 0; i < n; i++) {
        int d = order[i];
        sizes[i] = a->sizes[d] == 1 ? b->sizes[d] : a->sizes[d];
    }
    for (int i = 0; i < p->nsummed; i++)
        sizes[p->nboth + p->nleft + i] = 1;
    FXS_TRY(fxs_tensor_make(s->c->ctx, a->dtype, n, sizes, NULL, out));
    if (s->compute) {
        FXS_TRY(fxs_tensor_allocate(s->c->ctx, *out));
        FXS_TRY(multiply(s, p, a, b, *out));
    }
    fxs_tensor back = **out; /* to the order of the labels */
    for (int i = 0; i < n; i++)
        (*out)->sizes[order[i]] = back.sizes[i], (*out)->strides[order[i]] = back.strides[i];
    return FXS_OK;
}

/* Without summed dimensions torch multiplies element by element, which has its own idea of strides.
 */
static fxs_status pointwise_strides(sum *s, const fxs_tensor *a, const fxs_tensor *b,
                                    fxs_tensor *out) {
    fxs_operands o = {.n = 2,
                      .v = {fxs_of_tensor((fxs_tensor *)a), fxs_of_tensor((fxs_tensor *)b)}};
    fxs_call probe = {.ctx = s->c->ctx, .op = s->c->op, .scratch = s->c->scratch};
    fxs_status status = fxs_out_pointwise(&probe, &o, out->dtype);
    if (status == FXS_OK)
        memcpy(out->strides, probe.out[0]->strides, sizeof out->strides);
    for (int i = 0; i < probe.nout; i++)
        fxs_tensor_unref(probe.out[i]);
    fxs_free(probe.out);
    return status;
}

/* *a = *a contracted with b; *a is replaced. */
static fxs_status contract(sum *s, fxs_tensor **a, const fxs_tensor *b) {
    parts p = {0};
    int lone[FXS_MAX_DIM], n;
    fxs_tensor *left = fxs_tensor_ref(*a), *right = NULL, *out = NULL;
    sort_parts(s, *a, b, &p);
    fxs_status status = FXS_OK;
    n = lone_dims(s, p.left, p.nleft, lone);
    if (n) {
        fxs_tensor_unref(left);
        left = NULL;
        status = add_up(s, *a, lone, n, &left);
    }
    n = lone_dims(s, p.right, p.nright, lone);
    if (n && status == FXS_OK)
        status = add_up(s, b, lone, n, &right);
    const fxs_tensor *r = right ? right : b;
    if (status == FXS_OK)
        status = new_product(s, &p, left, r, &out);
    if (status == FXS_OK && !s->compute && p.nsummed == 0)
        status = pointwise_strides(s, left, r, out);
    fxs_tensor_unref(left);
    fxs_tensor_unref(right);
    fxs_tensor_unref(*a);
    *a = out;
    return status;
}

/* ---- the whole
 * -------------------------------------------------------------------------------------------- */

static fxs_status check_operands(fxs_call *c, int n) {
    const fxs_tensor *first = n ? fxs_arg_tensor_at(c, OPERANDS, 0) : NULL;
    if (!first)
        return FXS_REFUSE(c, FXS_EINVAL, "must provide at least one operand");
    FXS_TRY(fxs_check_dtype(c, first, FXS_TAKES_FLOATS | FXS_TAKES_INTEGERS));
    for (int i = 1; i < n; i++) {
        const fxs_tensor *t = fxs_arg_tensor_at(c, OPERANDS, i);
        if (!t)
            return FXS_REFUSE(c, FXS_ETYPE, "operand %d is None", i);
        FXS_TRY(fxs_check_same_dtype(c, first, t, "operands"));
    }
    return FXS_OK;
}

/* Drops the summed dimensions, which have size 1. */
static void trim(const sum *s, fxs_tensor *t) { t->ndim = s->nout; }

/* The result with its strides, computed when s->compute; *view says that it looks at the only
 * operand. */
static fxs_status evaluate(sum *s, fxs_tensor **out, bool *view) {
    int n = s->noperands = fxs_arg_len(s->c, OPERANDS);
    FXS_TRY(check_operands(s->c, n));
    term *terms = FXS_NEW_N(s->c->scratch, term, (size_t)n), result;
    fxs_tensor *views = FXS_NEW_N(s->c->scratch, fxs_tensor, (size_t)n);
    if (!terms || !views)
        return fxs_fail_memory(s->c->ctx);
    FXS_TRY(read_equation(s->c, terms, n, &result));
    FXS_TRY(count_hidden(s, terms));
    FXS_TRY(give_dimensions(s, terms, &result));
    for (int d = 0; d < FXS_MAX_DIM; d++)
        s->sizes[d] = 1, s->uses[d] = 0;
    for (int i = 0; i < n; i++)
        FXS_TRY(spread(s, &terms[i], fxs_arg_tensor_at(s->c, OPERANDS, i), &views[i]));
    *view = n == 1 && s->nout == s->ndim;
    if (n == 1 && s->nout < s->ndim) {
        int dims[FXS_MAX_DIM], count = 0;
        for (int d = s->nout; d < s->ndim; d++)
            dims[count++] = d;
        FXS_TRY(add_up(s, &views[0], dims, count, out));
        trim(s, *out);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_view(s->c->ctx, fxs_arg_tensor_at(s->c, OPERANDS, 0), out));
    memcpy((*out)->sizes, views[0].sizes, sizeof views[0].sizes);
    memcpy((*out)->strides, views[0].strides, sizeof views[0].strides);
    (*out)->ndim = s->ndim;
    for (int i = 1; i < n; i++)
        FXS_TRY(contract(s, out, &views[i]));
    trim(s, *out);
    return FXS_OK;
}

static fxs_status infer_einsum(fxs_call *c) {
    sum s = {.c = c};
    fxs_tensor *t = NULL, *view;
    bool looks;
    fxs_status status = evaluate(&s, &t, &looks);
    if (status == FXS_OK && looks) {
        status = fxs_out_view(c, fxs_arg_tensor_at(c, OPERANDS, 0), &view);
        if (status == FXS_OK) {
            view->ndim = t->ndim;
            memcpy(view->sizes, t->sizes, sizeof t->sizes);
            memcpy(view->strides, t->strides, sizeof t->strides);
        }
    } else if (status == FXS_OK) {
        status = fxs_out_new(c, t->dtype, t->ndim, t->sizes, t->strides);
    }
    fxs_tensor_unref(t);
    return status;
}

static fxs_status run_einsum(fxs_call *c) {
    sum s = {.c = c, .compute = true};
    fxs_tensor *t = NULL;
    bool looks;
    fxs_status status = evaluate(&s, &t, &looks);
    if (status == FXS_OK && !looks)
        fxs_tensor_copy(c->ctx, c->out[0], t);
    fxs_tensor_unref(t);
    return status;
}

/* 2 for each place of all labels and each operand behind the first; 1 for a single operand that is
 * summed */
static fxs_cost cost_einsum(const fxs_call *c) {
    fxs_call probe = *c;
    sum s = {.c = &probe};
    fxs_tensor *t = NULL;
    bool looks = true;
    double places = 1;
    if (evaluate(&s, &t, &looks) != FXS_OK)
        return (fxs_cost){0};
    fxs_tensor_unref(t);
    for (int d = 0; d < s.ndim; d++)
        places *= (double)s.sizes[d];
    return (fxs_cost){.flops = looks              ? 0
                               : s.noperands == 1 ? places
                                                  : 2 * places * (s.noperands - 1)};
}

const fxs_op fxs_ops_einsum[] = {
    {.name = "einsum",
     .schema = "(str equation, Tensor... operands) -> Tensor",
     .torch = "torch.functional.einsum torch.einsum",
     .infer = infer_einsum,
     .kernel = run_einsum,
     .cost = cost_einsum,
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},
    {0},
};
