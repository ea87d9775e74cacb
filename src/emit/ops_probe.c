/* ops_probe.c: which types an operator's tensors may have: its row is asked, by calls in META with
 * tensors of several shapes, until one is taken. Called by ops.c. */
#include "emit/ops_probe.h"

#include <string.h>

#include "op/registry.h"

enum { SHAPES = 8 };
static const struct {
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
} shapes[SHAPES] = {{2, {2, 2}},          {1, {2}},    {0, {0}}, {3, {2, 2, 2}}, {4, {1, 1, 4, 4}},
                    {5, {1, 1, 3, 3, 3}}, {2, {3, 3}}, {1, {3}}};

static const struct {
    const char *name;
    fxs_dtype dtype;
} kinds[] = {{"float", FXS_FLOAT32},
             {"half", FXS_FLOAT16},
             {"int", FXS_INT64},
             {"bool", FXS_BOOL},
             {"complex", FXS_COMPLEX64}};

typedef struct probe {
    fxs_ctx *ctx;
    fxs_arena arena;
    fxs_tensor *t;
    fxs_value args[FXS_MAX_ARGS];
} probe;

static fxs_status list_of(probe *p, fxs_value item, size_t n, fxs_value *out) {
    FXS_TRY(fxs_make_seq(p->ctx, &p->arena, FXS_V_LIST, n, out));
    for (size_t i = 0; i < n; i++)
        out->u.seq->items[i] = item;
    return FXS_OK;
}

/* A value that a parameter takes. */
static fxs_status example(probe *p, const fxs_param *param, fxs_value *out) {
    unsigned t = param->types;
    *out = fxs_int(1);
    if (t & 1u << FXS_T_TENSOR)
        *out = fxs_of_tensor(p->t);
    else if (t & 1u << FXS_T_TENSORS)
        return list_of(p, fxs_of_tensor(p->t), 2, out);
    else if (t & 1u << FXS_T_INTS)
        return list_of(p, fxs_int(1), param->count ? (size_t)param->count : 1, out);
    else if (t & 1u << FXS_T_BOOL)
        *out = fxs_bool(false);
    else if (t & 1u << FXS_T_DTYPE)
        *out = (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = FXS_FLOAT32};
    else if (t & 1u << FXS_T_STR)
        return fxs_make_text(p->ctx, &p->arena, FXS_V_STR, "mean", 4, out);
    return FXS_OK;
}

static fxs_status call(probe *p, const fxs_op *op, const fxs_schema *s) {
    fxs_candidate one = {.op = op};
    fxs_apply how = {.meta = true, .seed = 1, .scratch = &p->arena};
    fxs_applied done = {0};
    fxs_value args, kwargs;
    fxs_pair named[FXS_MAX_ARGS];
    size_t n = 0, nnamed = 0;
    for (int i = 0; i < s->nparams; i++) {
        const fxs_param *param = &s->params[i];
        if (param->has_default)
            continue;
        fxs_value v;
        FXS_TRY(example(p, param, &v));
        if (param->keyword_only || n < (size_t)i) {
            named[nnamed].value = v;
            FXS_TRY(fxs_make_text(p->ctx, &p->arena, FXS_V_STR, param->name, strlen(param->name),
                                  &named[nnamed++].key));
        } else {
            p->args[n++] = v;
        }
    }
    FXS_TRY(fxs_make_seq(p->ctx, &p->arena, FXS_V_TUPLE, n, &args));
    FXS_TRY(fxs_make_dict(p->ctx, &p->arena, nnamed, &kwargs));
    if (n)
        memcpy(args.u.seq->items, p->args, n * sizeof *p->args);
    if (nnamed)
        memcpy(kwargs.u.dict->pairs, named, nnamed * sizeof *named);
    fxs_status status = fxs_op_apply(p->ctx, &one, &args, &kwargs, &how, &done);
    fxs_value_unref(&done.result);
    return status;
}

static bool takes(fxs_ctx *ctx, const fxs_op *op, const fxs_schema *s, fxs_dtype d) {
    bool taken = false;
    for (int i = 0; i < SHAPES && !taken; i++) {
        probe p = {.ctx = ctx};
        fxs_status status = fxs_tensor_make(ctx, d, shapes[i].ndim, shapes[i].sizes, NULL, &p.t);
        if (status == FXS_OK)
            status = call(&p, op, s);
        taken = status == FXS_OK;
        fxs_ctx_clear(ctx);
        fxs_tensor_unref(p.t);
        fxs_arena_clear(&p.arena);
    }
    return taken;
}

static bool has_tensor(const fxs_schema *s) {
    for (int i = 0; i < s->nparams; i++)
        if (s->params[i].types & (1u << FXS_T_TENSOR | 1u << FXS_T_TENSORS) &&
            !s->params[i].has_default)
            return true;
    return false;
}

fxs_status fxs_buf_op_types(fxs_ctx *ctx, fxs_buf *b, const fxs_op *op) {
    const fxs_schema *s;
    size_t before = b->len;
    FXS_TRY(fxs_registry_schema(ctx, op, &s));
    for (size_t i = 0; has_tensor(s) && i < sizeof kinds / sizeof *kinds; i++)
        if (takes(ctx, op, s, kinds[i].dtype))
            fxs_buf_printf(b, "%s%s", b->len > before ? " " : "", kinds[i].name);
    if (b->len == before)
        fxs_buf_puts(b, "-");
    return FXS_OK;
}
