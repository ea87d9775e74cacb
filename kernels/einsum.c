/* einsum.c: Einstein sums of any number of operands. Every operand is seen with one dimension a
 * label, the result's labels first; then operands are contracted from left to right, each pair as
 * one batch of matrix products, or as a product of elements where nothing is summed. It is a
 * composition of the operators that PyTorch makes it of, because they decide types and strides. */
#include <ctype.h>
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"

enum { EQUATION, OPERANDS, LABELS = 128, ELLIPSIS = 0 /* the label of "..." */ };

typedef struct sum {
    fxs_call *c;
    fxs_compose *k;
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

/* An operand as a view with a dimension for each label. */
typedef struct spread {
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM];
} spread;

/* Puts dimension `from` of x at `to` of the view; a label that comes twice takes the diagonal. */
static fxs_status place(sum *s, const fxs_tensor *x, int from, spread *view, int to, bool again) {
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

static fxs_status spread_out(sum *s, const term *t, const fxs_tensor *x, spread *view) {
    bool seen[FXS_MAX_DIM] = {false};
    int from = 0;
    for (int d = 0; d < s->ndim; d++)
        view->sizes[d] = view->strides[d] = 1;
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

static int append(int64_t *out, const int *dims, int n) {
    for (int i = 0; i < n; i++)
        out[i] = dims[i];
    return n;
}

static int64_t volume(const fxs_tensor *t, const int *dims, int n) {
    int64_t v = 1;
    for (int i = 0; i < n; i++)
        v *= t->sizes[dims[i]];
    return v;
}

static fxs_tensor *add_up(sum *s, fxs_tensor *t, int d) {
    return FXS_DO(s->k, "sum", fxs_t(t), FXS_INTS(s->k, d), fxs_bool(true));
}

/* Sums what only one side has and no later operand; lists in p what the pair shares and no later
 * operand has. */
static void sum_first(sum *s, fxs_tensor **a, fxs_tensor **b, parts *p) {
    for (int d = s->nout; *a && *b && d < s->ndim; d++) {
        bool in_a = (*a)->sizes[d] != 1, in_b = (*b)->sizes[d] != 1;
        if (in_a && in_b) {
            if (--s->uses[d] == 1) {
                p->summed[p->nsummed++] = d;
                s->uses[d] = 0;
            }
        } else if (s->uses[d] == 1 && (in_a || in_b)) {
            fxs_tensor **one = in_a ? a : b;
            *one = add_up(s, *one, d);
            s->uses[d] = 0;
        }
    }
}

/* Sorts the dimensions that are not summed. */
static void sort_parts(const sum *s, const fxs_tensor *a, const fxs_tensor *b, parts *p) {
    bool summed[FXS_MAX_DIM] = {false};
    for (int i = 0; i < p->nsummed; i++)
        summed[p->summed[i]] = true;
    for (int d = 0; d < s->ndim; d++) {
        bool in_a = a->sizes[d] != 1, in_b = b->sizes[d] != 1;
        if (summed[d])
            continue;
        if (in_a && in_b)
            p->both[p->nboth++] = d;
        else if (in_a)
            p->left[p->nleft++] = d;
        else
            p->right[p->nright++] = d;
    }
}

/* [both, left, summed] @ [both, summed, right], seen in the order of the labels */
static fxs_tensor *multiply(sum *s, const parts *p, fxs_tensor *a, fxs_tensor *b) {
    fxs_compose *k = s->k;
    int64_t order[FXS_MAX_DIM], sizes[FXS_MAX_DIM], back[FXS_MAX_DIM];
    int64_t nb = volume(a, p->both, p->nboth), nl = volume(a, p->left, p->nleft),
            nr = volume(b, p->right, p->nright), ns = volume(a, p->summed, p->nsummed);
    int n = append(order, p->both, p->nboth);
    n += append(order + n, p->summed, p->nsummed);
    n += append(order + n, p->right, p->nright);
    append(order + n, p->left, p->nleft);
    fxs_tensor *y = FXS_DO(k, "permute", fxs_t(b), fxs_ints(k, s->ndim, order));
    y = FXS_DO(k, "reshape", fxs_t(y), FXS_INTS(k, nb, ns, nr));
    n = append(order, p->both, p->nboth);
    n += append(order + n, p->left, p->nleft);
    n += append(order + n, p->summed, p->nsummed);
    append(order + n, p->right, p->nright);
    fxs_tensor *x = FXS_DO(k, "permute", fxs_t(a), fxs_ints(k, s->ndim, order));
    x = FXS_DO(k, "reshape", fxs_t(x), FXS_INTS(k, nb, nl, ns));
    for (int i = 0; i < s->ndim; i++) {
        int64_t d = order[i];
        sizes[i] = a->sizes[d] == 1 ? b->sizes[d] : a->sizes[d];
        back[d] = i;
    }
    for (int i = 0; i < p->nsummed; i++)
        sizes[p->nboth + p->nleft + i] = 1;
    x = FXS_DO(k, "bmm", fxs_t(x), fxs_t(y));
    x = FXS_DO(k, "view", fxs_t(x), fxs_ints(k, s->ndim, sizes));
    return FXS_DO(k, "permute", fxs_t(x), fxs_ints(k, s->ndim, back));
}

static fxs_tensor *contract(sum *s, fxs_tensor *a, fxs_tensor *b) {
    parts p = {0};
    sum_first(s, &a, &b, &p);
    if (!a || !b)
        return NULL;
    if (p.nsummed == 0)
        return FXS_DO(s->k, "mul", fxs_t(a), fxs_t(b));
    sort_parts(s, a, b, &p);
    return multiply(s, &p, a, b);
}

/* ---- the whole
 * -------------------------------------------------------------------------------------------- */

/* Operand i with a dimension for each label. */
static fxs_tensor *operand(sum *s, const spread *views, int i) {
    fxs_tensor *x = fxs_arg_tensor_at(s->c, OPERANDS, i);
    return FXS_DO(s->k, "as_strided", fxs_t(x), fxs_ints(s->k, s->ndim, views[i].sizes),
                  fxs_ints(s->k, s->ndim, views[i].strides), fxs_int(x->offset));
}

/* Reads the equation, and the operands as it says. */
static fxs_status begin(sum *s, spread **views) {
    fxs_call *c = s->c;
    int n = s->noperands = fxs_arg_len(c, OPERANDS);
    term *terms = FXS_NEW_N(c->scratch, term, (size_t)n + 1), result;
    *views = FXS_NEW_N(c->scratch, spread, (size_t)n + 1);
    if (!terms || !*views)
        return fxs_fail_memory(c->ctx);
    if (n == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "must provide at least one operand");
    for (int i = 0; i < n; i++)
        if (!fxs_arg_tensor_at(c, OPERANDS, i))
            return FXS_REFUSE(c, FXS_ETYPE, "operand %d is None", i);
    FXS_TRY(read_equation(c, terms, n, &result));
    FXS_TRY(count_hidden(s, terms));
    FXS_TRY(give_dimensions(s, terms, &result));
    for (int d = 0; d < FXS_MAX_DIM; d++)
        s->sizes[d] = 1, s->uses[d] = 0;
    for (int i = 0; i < n; i++)
        FXS_TRY(spread_out(s, &terms[i], fxs_arg_tensor_at(c, OPERANDS, i), &(*views)[i]));
    return FXS_OK;
}

static void make_einsum(fxs_compose *k) {
    sum s = {.c = k->call, .k = k};
    spread *views = NULL;
    int64_t summed[FXS_MAX_DIM];
    k->status = begin(&s, &views);
    if (k->status != FXS_OK)
        return;
    fxs_tensor *t = operand(&s, views, 0);
    for (int i = 1; i < s.noperands && t; i++)
        t = contract(&s, t, operand(&s, views, i));
    for (int d = s.nout; d < s.ndim; d++)
        summed[d - s.nout] = d;
    k->view = s.noperands == 1 && s.nout == s.ndim;
    if (s.nout < s.ndim && s.noperands == 1)
        t = FXS_DO(k, "sum", fxs_t(t), fxs_ints(k, s.ndim - s.nout, summed));
    else if (s.nout < s.ndim && t)
        t = FXS_DO(k, "view", fxs_t(t), fxs_ints(k, s.nout, t->sizes));
    fxs_give(k, t);
}
FXS_COMPOSED(einsum)

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
