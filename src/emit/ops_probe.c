/* ops_probe.c: which types an operator's tensors may have, and whether it runs without values: its
 * row is asked, by calls in META with arguments that are drawn for it until one is taken: first
 * with tensors that are all alike, then of several shapes and with another type beside the one that
 * is asked for. A draw is a number, as is which tensors have that other type, so that what worked
 * for one type is tried for the others. Rows of which that tells nothing are in ops_named.c. Called
 * by ops.c. */
#include "emit/ops_probe.h"

#include <string.h>

#include "base/rng.h"
#include "emit/ops_named.h"
#include "op/registry.h"

static const struct {
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
} shapes[] = {{2, {2, 2}}, {1, {2}},    {3, {2, 2, 2}},    {4, {1, 1, 4, 4}}, {5, {1, 1, 3, 3, 3}},
              {2, {3, 3}}, {1, {3}},    {1, {1}},          {2, {2, 3}},       {2, {1, 1}},
              {2, {2, 4}}, {2, {2, 5}}, {4, {1, 2, 2, 2}}, {0, {0}},          {1, {0}}};

/* Draws below PLAIN have tensors of one shape and type; those below EAGER leave options alone. */
enum { PLAIN = 7, EAGER = 600, MOST = 4000, FEW = 40, WORKED = 12, PATTERNS = 22, HELD = 64 };
/* The last two are a number and nothing, which any operator may take for what it is not. */
enum { SHAPES = sizeof shapes / sizeof *shapes, ORDINARY = SHAPES - 2 };

static const struct {
    const char *name;
    fxs_dtype dtype;
} kinds[] = {{"float", FXS_FLOAT32},
             {"half", FXS_FLOAT16},
             {"int", FXS_INT64},
             {"bool", FXS_BOOL},
             {"complex", FXS_COMPLEX64}};

enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct probe {
    fxs_ctx *ctx;
    fxs_arena *arena;
    uint64_t draw, at; /* at: how much was drawn */
    uint64_t pattern;  /* 0: all tensors are alike; then three for each choice of some of them */
    bool values;       /* in EXECUTE, of zeros */
    fxs_dtype dtype, beside;
    int shape;         /* of the last tensor */
    bool used, others; /* there is a tensor of `dtype`, one of the type beside it */
    int nheld;
    fxs_tensor *held[HELD];
} probe;

/* The calls that were taken. */
typedef struct found {
    int n;
    struct {
        uint64_t draw;
        int tensors;
    } calls[WORKED];
} found;

static int pick(probe *p, int n) { return (int)(fxs_random_bits(p->draw, p->at++) % (uint32_t)n); }

/* Of the type that is asked for, or the one beside it. */
static fxs_dtype some_type(probe *p) {
    uint64_t beside = p->pattern ? (p->pattern - 1) / 3 + 1 : 0;
    bool own = !(beside >> p->nheld % 3 & 1);
    p->used = p->used || own;
    p->others = p->others || !own;
    return own ? p->dtype : p->beside;
}

static fxs_status some_tensor(probe *p, fxs_value *out) {
    fxs_tensor *t;
    if (p->nheld == HELD)
        return fxs_fail(p->ctx, FXS_ELIMIT, "too many tensors");
    if (p->draw < PLAIN)
        p->shape = (int)p->draw;
    else if (p->nheld == 0 || pick(p, 2))
        p->shape = pick(p, p->draw < EAGER ? ORDINARY : SHAPES);
    FXS_TRY(fxs_tensor_make(p->ctx, some_type(p), shapes[p->shape].ndim, shapes[p->shape].sizes,
                            NULL, &t));
    p->held[p->nheld++] = t;
    if (p->values) {
        FXS_TRY(fxs_tensor_allocate(p->ctx, t));
        memset(fxs_tensor_data(t), 0, (size_t)fxs_tensor_numel(t) * fxs_dtype_size(t->dtype));
    }
    *out = fxs_of_tensor(t);
    return FXS_OK;
}

static fxs_status some_list(probe *p, const fxs_param *param, bool tensors, fxs_value *out) {
    size_t n = param->count ? (size_t)param->count : tensors ? 2 : 1;
    if (p->draw >= PLAIN && !param->count)
        n = 1 + (size_t)pick(p, 4);
    FXS_TRY(fxs_make_seq(p->ctx, p->arena, FXS_V_LIST, n, out));
    for (size_t i = 0; i < n; i++) {
        out->u.seq->items[i] = fxs_int(p->draw < PLAIN ? 1 : pick(p, 4));
        if (tensors)
            FXS_TRY(some_tensor(p, &out->u.seq->items[i]));
    }
    return FXS_OK;
}

static fxs_status some_word(probe *p, fxs_value *out) {
    static const char *const words[] = {"mean",   "sum",  "none",   "constant", "i",
                                        "ij->ji", "amax", "row",    "relu",     "reflect",
                                        "xyxy",   "tanh", "nearest"};
    const char *s = words[p->draw < PLAIN ? 0 : pick(p, sizeof words / sizeof *words)];
    return fxs_make_text(p->ctx, p->arena, FXS_V_STR, s, strlen(s), out);
}

/* A value that a parameter takes. */
static fxs_status example(probe *p, const fxs_param *param, fxs_value *out) {
    static const int numbers[] = {1, 0, 2, 3, 4, -1};
    unsigned t = param->types;
    *out = fxs_int(p->draw < PLAIN ? 1 : numbers[pick(p, 6)]);
    if (p->draw >= PLAIN && param->optional && pick(p, 2)) {
        *out = fxs_none();
        return FXS_OK;
    }
    if (t & (1u << FXS_T_SCALAR | 1u << FXS_T_NUMBER) && p->draw >= PLAIN && pick(p, 2)) {
        *out = pick(p, 2) ? *out : fxs_float(0.5);
        return FXS_OK;
    }
    if (t & 1u << FXS_T_TENSOR)
        return some_tensor(p, out);
    if (t & 1u << FXS_T_TENSORS)
        return some_list(p, param, true, out);
    if (t & 1u << FXS_T_INTS)
        return some_list(p, param, false, out);
    if (t & 1u << FXS_T_BOOL && !(t & 1u << FXS_T_INT))
        *out = fxs_bool(p->draw >= PLAIN && pick(p, 2));
    else if (t & 1u << FXS_T_FLOAT && p->draw >= PLAIN && pick(p, 2))
        *out = fxs_float(0.5);
    else if (t & 1u << FXS_T_DTYPE)
        *out = (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = FXS_FLOAT32};
    else if (t & 1u << FXS_T_STR)
        return some_word(p, out);
    return FXS_OK;
}

static fxs_status apply(probe *p, const fxs_op *op, const fxs_value *args,
                        const fxs_value *kwargs) {
    fxs_candidate one = {.op = op};
    fxs_apply how = {.meta = !p->values, .seed = 1, .scratch = p->arena};
    fxs_applied done = {0};
    fxs_status status = fxs_op_apply(p->ctx, &one, args, kwargs, &how, &done);
    fxs_value_unref(&done.result);
    return status;
}

static fxs_status call(probe *p, const fxs_op *op, const fxs_schema *s) {
    fxs_value args, kwargs, list[FXS_MAX_ARGS];
    fxs_pair named[FXS_MAX_ARGS];
    size_t n = 0, nnamed = 0;
    for (int i = 0; i < s->nparams; i++) {
        const fxs_param *param = &s->params[i];
        fxs_value v;
        if (param->has_default && (p->draw < EAGER || pick(p, 5)))
            continue;
        FXS_TRY(example(p, param, &v));
        if (param->keyword_only || n < (size_t)i) {
            named[nnamed].value = v;
            FXS_TRY(fxs_make_text(p->ctx, p->arena, FXS_V_STR, param->name, strlen(param->name),
                                  &named[nnamed++].key));
        } else {
            list[n++] = v;
        }
    }
    FXS_TRY(fxs_make_seq(p->ctx, p->arena, FXS_V_TUPLE, n, &args));
    FXS_TRY(fxs_make_dict(p->ctx, p->arena, nnamed, &kwargs));
    if (n)
        memcpy(args.u.seq->items, list, n * sizeof *list);
    if (nnamed)
        memcpy(kwargs.u.dict->pairs, named, nnamed * sizeof *named);
    return apply(p, op, &args, &kwargs);
}

/* The status of the call of number `draw` with tensors of type d, and `beside` where it has others.
 */
static fxs_status attempt(probe *p, const fxs_op *op, const fxs_schema *s) {
    fxs_status status = call(p, op, s);
    fxs_ctx_clear(p->ctx);
    for (int i = 0; i < p->nheld; i++)
        fxs_tensor_unref(p->held[i]);
    fxs_arena_reset(p->arena);
    return status;
}

/* A row that is asked. */
typedef struct row {
    fxs_ctx *ctx;
    const fxs_op *op;
    const fxs_schema *schema;
    fxs_arena arena;
    found worked;
    fxs_op_facts *facts;
} row;

/* Is a call taken? One whose sizes depend on values is made with zeros. */
static bool taken(const row *r, const probe *how, probe *did) {
    *did = *how;
    fxs_status status = attempt(did, r->op, r->schema);
    if (status != FXS_EUNKNOWN)
        return status == FXS_OK;
    *did = *how;
    did->values = true;
    return attempt(did, r->op, r->schema) == FXS_OK;
}

/* How many patterns differ in a call of so many tensors. The others have another type where no
 * tensor is, or for all of them. */
static uint64_t patterns_of(int tensors) {
    return tensors > 3 ? PATTERNS : tensors < 2 ? 1 : 1 + 3 * ((UINT64_C(1) << tensors) - 2);
}

/* Is a call taken with tensors of type d? Not when d and the type beside it may change places: then
 * one is promoted to the other, which says nothing of a tensor of type d alone. */
static bool takes(row *r, fxs_dtype d, uint64_t draw, uint64_t pattern, int *tensors) {
    static const fxs_dtype others[] = {FXS_INT64, FXS_BOOL, FXS_FLOAT32};
    fxs_dtype beside = others[pattern % 3];
    probe own = {.ctx = r->ctx,
                 .arena = &r->arena,
                 .draw = draw,
                 .pattern = pattern,
                 .dtype = d,
                 .beside = beside},
          did;
    bool good = taken(r, &own, &did);
    *tensors = did.nheld;
    if (!good || !did.used)
        return false;
    r->facts->without_values = r->facts->without_values || !did.values;
    if (!did.others || d == beside)
        return true;
    own.dtype = beside;
    own.beside = d;
    return !taken(r, &own, &did);
}

static bool has_tensor(const fxs_schema *s) {
    for (int i = 0; i < s->nparams; i++)
        if (s->params[i].types & (1u << FXS_T_TENSOR | 1u << FXS_T_TENSORS) &&
            !s->params[i].has_default)
            return true;
    return false;
}

/* Draws that were taken for another type decide. New ones would find the odd calls that any type
 * passes. */
static bool passes(row *r, fxs_dtype d) {
    int tensors;
    for (int i = 0; i < r->worked.n; i++)
        for (uint64_t pattern = 0; pattern < patterns_of(r->worked.calls[i].tensors); pattern++)
            if (takes(r, d, r->worked.calls[i].draw, pattern, &tensors))
                return true;
    return false;
}

/* New draws, and behind the first that is taken a few more. */
static void search(row *r, fxs_dtype d, uint64_t most) {
    found *w = &r->worked;
    for (uint64_t draw = 0; draw < most && w->n < WORKED; draw++) {
        int tensors;
        if (!takes(r, d, draw, draw < PLAIN ? 0 : draw % PATTERNS, &tensors))
            continue;
        most = w->n ? most : draw + FEW;
        w->calls[w->n].draw = draw;
        w->calls[w->n++].tensors = tensors;
    }
}

static void find_types(row *r) {
    for (int i = 0; i <= KINDS && !r->worked.n; i++)
        search(r, kinds[i % KINDS].dtype, i < KINDS ? EAGER : MOST);
    for (int i = 0; i < KINDS; i++)
        if (passes(r, kinds[i].dtype))
            r->facts->types |= 1u << i;
    r->facts->asked = r->worked.n > 0;
}

static void read_types(const char *names, fxs_op_facts *out) {
    for (int i = 0; i < KINDS; i++)
        if (strstr(names, kinds[i].name))
            out->types |= 1u << i;
}

static void find_modes(row *r) {
    int tensors, kind = 0;
    while (kind < KINDS - 1 && !(r->facts->types & 1u << kind))
        kind++;
    for (uint64_t draw = 0; !r->facts->without_values && draw < FEW; draw++)
        if (takes(r, kinds[kind].dtype, draw, draw % PATTERNS, &tensors))
            r->facts->asked = true;
}

fxs_status fxs_op_find_facts(fxs_ctx *ctx, const fxs_op *op, fxs_op_facts *out) {
    row r = {.ctx = ctx, .op = op, .facts = out};
    *out = (fxs_op_facts){0};
    FXS_TRY(fxs_registry_schema(ctx, op, &r.schema));
    if (!has_tensor(r.schema))
        return FXS_OK;
    const char *named = fxs_op_named_types(op);
    if (named)
        read_types(named, out);
    else
        find_types(&r);
    if (named || out->asked)
        find_modes(&r);
    fxs_arena_clear(&r.arena);
    return FXS_OK;
}

void fxs_buf_op_types(fxs_buf *b, const fxs_op_facts *f) {
    size_t before = b->len;
    for (int i = 0; i < KINDS; i++)
        if (f->types & 1u << i)
            fxs_buf_printf(b, "%s%s", b->len > before ? " " : "", kinds[i].name);
    if (b->len == before)
        fxs_buf_puts(b, "-");
}
