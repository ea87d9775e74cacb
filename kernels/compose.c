/* compose.c: runs compositions (compose.h): in META to learn the outputs and the cost, in EXECUTE
 * for the values, which are copied into the outputs that were promised. Called by the families of
 * composed operators; knows none of them. */
#include "kernels/compose.h"

#include <stdio.h>
#include <string.h>

#include "op/registry.h"

typedef struct fxs_step_result {
    fxs_value value;
    struct fxs_step_result *next;
} step_result;

static bool lies_in(const step_result *r, const fxs_storage *s) {
    return r->value.tag == FXS_V_TENSOR && r->value.u.tensor->storage == s;
}

/* Nobody but steps holds what lies in s: no argument, no result in a tuple. */
static bool steps_alone_hold(const fxs_compose *k, const fxs_storage *s) {
    int tensors = 0, references = 0, held = 0;
    for (const step_result *r = k->steps; r; r = r->next) {
        if (!lies_in(r, s))
            continue;
        const step_result *same = k->steps;
        while (!lies_in(same, s) || same->value.u.tensor != r->value.u.tensor)
            same = same->next;
        held++;
        tensors += same == r;
        references += same == r ? r->value.u.tensor->refs : 0;
    }
    return held == references && tensors == s->refs;
}

static bool is_last_use(const void *user, const fxs_tensor *t) {
    const fxs_compose *k = user;
    return (t->storage == k->dying[0] || t->storage == k->dying[1]) &&
           steps_alone_hold(k, t->storage);
}

/* Drops what died with the step, but not the step's own result. */
static void drop_dead(fxs_compose *k) {
    for (int i = 0; i < 2 && k->dying[i]; i++)
        for (step_result *r = k->steps->next; r; r = r->next)
            if (lies_in(r, k->dying[i]))
                fxs_value_unref(&r->value);
    k->dying[0] = k->dying[1] = NULL;
}

void fxs_last(fxs_compose *k, const fxs_tensor *t) {
    int i = k->dying[0] != NULL;
    if (k->status == FXS_OK && t && t->storage && !k->dying[i])
        k->dying[i] = t->storage;
}

static fxs_status run_step(fxs_compose *k, const char *op, size_t n, const fxs_value *args,
                           const fxs_value *kwargs) {
    fxs_ctx *ctx = k->call->ctx;
    fxs_apply how = {.meta = k->meta,
                     .train = k->call->train,
                     .seed = k->call->seed,
                     .scratch = k->call->scratch,
                     .is_last_use = is_last_use,
                     .user = k};
    const fxs_candidate *ops;
    fxs_applied done;
    fxs_value all;
    step_result *r = FXS_NEW(how.scratch, step_result);
    FXS_TRY(fxs_registry_find_op(ctx, op, &ops));
    if (!r)
        return fxs_fail_memory(ctx);
    if (!ops)
        return fxs_fail(ctx, FXS_EUNKNOWN, "there is no operator %s here", op);
    FXS_TRY(fxs_make_seq(ctx, how.scratch, FXS_V_TUPLE, n, &all));
    if (n)
        memcpy(all.u.seq->items, args, n * sizeof *args);
    fxs_status s = fxs_op_apply(ctx, ops, &all, kwargs, &how, &done);
    *r = (step_result){.value = done.result, .next = k->steps};
    k->steps = r;
    k->flops += done.cost.flops;
    drop_dead(k);
    return s;
}

static fxs_tensor *result_of(const fxs_compose *k) {
    bool is_tensor = k->status == FXS_OK && k->steps->value.tag == FXS_V_TENSOR;
    return is_tensor ? k->steps->value.u.tensor : NULL;
}

fxs_tensor *fxs_do(fxs_compose *k, const char *op, size_t n, const fxs_value *args) {
    if (k->status != FXS_OK)
        return NULL;
    k->status = run_step(k, op, n, args, NULL);
    return result_of(k);
}

fxs_tensor *fxs_do_named(fxs_compose *k, const char *op, const char *name, fxs_value value,
                         size_t n, const fxs_value *args) {
    fxs_value kwargs;
    if (k->status == FXS_OK)
        k->status = fxs_value_dict(k->call->ctx, 1, &name, &value, &kwargs);
    if (k->status != FXS_OK)
        return NULL;
    k->status = run_step(k, op, n, args, &kwargs);
    fxs_value_unref(&kwargs);
    return result_of(k);
}

fxs_tensor *fxs_do_item(fxs_compose *k, int i) {
    const fxs_value *v =
        k->status == FXS_OK && k->steps ? fxs_value_item(&k->steps->value, (size_t)i) : NULL;
    return v && v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
}

void fxs_give(fxs_compose *k, fxs_tensor *t) {
    if (k->status == FXS_OK && k->nout < 4)
        k->out[k->nout++] = t;
}

void fxs_stop(fxs_compose *k, fxs_status s, const char *fmt, ...) {
    char text[512];
    va_list ap;
    if (k->status != FXS_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    k->status = fxs_fail(k->call->ctx, s, "%s", text);
}

fxs_value fxs_ints(fxs_compose *k, int n, const int64_t *ints) {
    fxs_value v = fxs_none();
    if (k->status != FXS_OK)
        return v;
    k->status = fxs_make_seq(k->call->ctx, k->call->scratch, FXS_V_LIST, (size_t)n, &v);
    for (int i = 0; i < n && k->status == FXS_OK; i++)
        v.u.seq->items[i] = fxs_int(ints[i]);
    return v;
}

fxs_value fxs_tensors(fxs_compose *k, int n, fxs_tensor *const *t) {
    fxs_value v = fxs_none();
    if (k->status != FXS_OK)
        return v;
    k->status = fxs_make_seq(k->call->ctx, k->call->scratch, FXS_V_LIST, (size_t)n, &v);
    for (int i = 0; i < n && k->status == FXS_OK; i++)
        v.u.seq->items[i] = fxs_t(t[i]);
    return v;
}

fxs_value fxs_word(fxs_compose *k, const char *s) {
    fxs_value v = fxs_none();
    if (k->status == FXS_OK)
        k->status = fxs_make_text(k->call->ctx, k->call->scratch, FXS_V_STR, s, strlen(s), &v);
    return v;
}

/* ---- the row's functions
 * --------------------------------------------------------------------------------- */

static void begin(fxs_compose *k, fxs_call *c, bool meta, fxs_compose_fn *how) {
    *k = (fxs_compose){.call = c, .meta = meta};
    how(k);
    size_t n = strlen(c->op->name);
    const char *said = fxs_ctx_error(c->ctx);
    bool named = said && strncmp(said, c->op->name, n) == 0 && said[n] == ':';
    if (k->status != FXS_OK && k->status != FXS_ENOMEM && !named)
        fxs_fail_where(c->ctx, "%s", c->op->name);
}

fxs_status fxs_compose_end(fxs_compose *k) {
    for (step_result *r = k->steps; r; r = r->next)
        fxs_value_unref(&r->value);
    k->steps = NULL;
    return k->status;
}

static fxs_status end(fxs_compose *k, fxs_status s) {
    fxs_status own = fxs_compose_end(k);
    return own != FXS_OK ? own : s;
}

static fxs_status promise(fxs_call *c, const fxs_compose *k) {
    c->knows_grad = k->own_grad;
    for (int i = 0; i < k->nout; i++) {
        const fxs_tensor *t = k->out[i];
        c->constants |= t->requires_grad || k->any_grad
                            ? 0
                            : 1u << i; /* attention's weights need no value's grad */
        if (k->view)
            FXS_TRY(fxs_out_view(c, k->out[i], NULL));
        else
            FXS_TRY(fxs_out_new(c, t->dtype, t->ndim, t->sizes, t->strides));
        c->out[c->nout - 1]->requires_grad = k->own_grad && t->requires_grad;
    }
    return FXS_OK;
}

fxs_status fxs_compose_infer(fxs_call *c, fxs_compose_fn *how) {
    fxs_compose k;
    begin(&k, c, true, how);
    return end(&k, k.status == FXS_OK ? promise(c, &k) : k.status);
}

fxs_status fxs_compose_infer_values(fxs_call *c, fxs_compose_fn *how) {
    fxs_compose k;
    begin(&k, c, c->meta, how);
    k.view = true; /* of what the steps computed */
    return end(&k, k.status == FXS_OK ? promise(c, &k) : k.status);
}

fxs_status fxs_compose_run(fxs_call *c, fxs_compose_fn *how) {
    fxs_compose k;
    begin(&k, c, false, how);
    for (int i = 0; k.status == FXS_OK && !k.view && i < k.nout; i++)
        fxs_tensor_copy(c->ctx, c->out[i], k.out[i]);
    return end(&k, FXS_OK);
}

fxs_cost fxs_compose_cost(const fxs_call *c, fxs_compose_fn *how) {
    fxs_call copy = *c;
    fxs_compose k;
    begin(&k, &copy, true, how);
    if (end(&k, FXS_OK) != FXS_OK)
        fxs_ctx_clear(c->ctx);
    return (fxs_cost){.flops = k.flops};
}
