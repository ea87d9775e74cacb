/* apply.c: one operator call from arguments to results: bind, infer, allocate, compute, cost.
 * Called by the interpreter for every node; knows no node. */
#include <string.h>

#include "base/map.h"
#include "op/registry.h"

/* An unread META value of this size or smaller is computed when all it is made of is known: it may
 * decide a shape. */
enum { SMALL = 4096 };

/* The first overload that takes the arguments: tensors as tensors, or else as the numbers that they
 * hold. When none does, the error is that of the first, or of the first that lacks such a number.
 */
static fxs_status bind_overload(fxs_ctx *ctx, const fxs_candidate *ops, const fxs_value *args,
                                const fxs_value *kwargs, fxs_arena *scratch,
                                const fxs_candidate **chosen, const fxs_schema **schema,
                                fxs_value *bound) {
    const fxs_candidate *blamed = NULL;
    for (int pass = 0; pass < 2; pass++) {
        for (const fxs_candidate *o = ops; o && ops->next; o = o->next) {
            *chosen = o;
            FXS_TRY(fxs_registry_schema(ctx, o->op, schema));
            fxs_status s =
                fxs_schema_try(ctx, scratch, o->spelling, pass == 0, *schema, args, kwargs, bound);
            if (s == FXS_OK || s == FXS_ENOMEM)
                return s;
            blamed = !blamed && s == FXS_EUNKNOWN ? o : blamed;
        }
    }
    *chosen = blamed ? blamed : ops;
    const fxs_op *op = (*chosen)->op;
    FXS_TRY(fxs_registry_schema(ctx, op, schema));
    return fxs_schema_bind(ctx, scratch, op->name, (*chosen)->spelling, *schema, args, kwargs,
                           bound);
}

typedef struct arg_facts {
    bool grad, all_known;
    const fxs_tensor *self; /* the tensor that an in-place call writes */
    bool overlaps;          /* another argument looks at self's storage in another way */
} arg_facts;

static bool look_at_arg(void *user, const fxs_value *v) {
    arg_facts *f = user;
    if (v->tag != FXS_V_TENSOR)
        return true;
    const fxs_tensor *t = v->u.tensor;
    f->grad |= t->requires_grad;
    f->all_known &= t->storage != NULL;
    if (f->self && f->self != t && t->storage && t->storage == f->self->storage &&
        !fxs_tensor_same_place(t, f->self))
        f->overlaps = true;
    return true;
}

static arg_facts facts_of(const fxs_call *c, const fxs_schema *s) {
    arg_facts f = {.all_known = true, .self = c->nargs ? fxs_arg_tensor(c, 0) : NULL};
    for (int k = 0; k < s->nholders; k++) {
        const fxs_value *v = &c->arg[s->holders[k]];
        bool grad = f.grad;
        if (v->tag == FXS_V_TENSOR)
            look_at_arg(&f, v);
        else if (v->tag != FXS_V_NONE)
            fxs_value_visit(v, look_at_arg, &f);
        if (strcmp(s->params[s->holders[k]].name, "index") == 0)
            f.grad =
                grad; /* nothing is differentiated by places: of no elements they may be floats */
    }
    return f;
}

static bool small_and_exact(const fxs_call *c) {
    for (int i = 0; i < c->nout; i++)
        if (fxs_is_floating(c->out[i]->dtype) || fxs_is_complex(c->out[i]->dtype) ||
            fxs_tensor_numel(c->out[i]) > SMALL)
            return false;
    return true;
}

/* Does the argument that result i follows require grad? */
static bool grad_for(const fxs_call *c, const arg_facts *f, int i) {
    const fxs_tensor *t = NULL;
    if (!(c->op->flags & (FXS_OP_GRAD_OF_SELF | FXS_OP_GRAD_EACH)))
        return f->grad;
    if (c->op->flags & FXS_OP_GRAD_OF_SELF)
        t = fxs_arg_tensor(c, 0);
    else
        t = fxs_arg_tensor_at(c, 0, i);
    return t && t->requires_grad;
}

static void mark_grad(fxs_call *c, const arg_facts *f) {
    if (c->op->flags & FXS_OP_NO_GRAD || !f->grad || c->knows_grad)
        return;
    for (int i = 0; i < c->nout; i++)
        if (!(c->constants >> i & 1) &&
            (fxs_is_floating(c->out[i]->dtype) || fxs_is_complex(c->out[i]->dtype)) &&
            grad_for(c, f, i))
            c->out[i]->requires_grad = true;
}

static fxs_status check_grad(fxs_call *c, const arg_facts *f) {
    bool complex = f->self && fxs_is_complex(f->self->dtype);
    if (!(c->op->flags & FXS_OP_REAL_GRAD) || !f->grad)
        return FXS_OK;
    for (int i = 0; i < c->nout; i++)
        complex |= fxs_is_complex(c->out[i]->dtype);
    return complex ? FXS_REFUSE(c, FXS_EINVAL,
                                "it can't be differentiated by complex numbers, but an argument "
                                "requires grad")
                   : FXS_OK;
}

/* torch.ones(2, requires_grad=True) */
static fxs_status give_grad(fxs_call *c) {
    for (int i = 0; c->wants_grad && i < c->nout; i++) {
        if (!fxs_is_floating(c->out[i]->dtype) && !fxs_is_complex(c->out[i]->dtype))
            return FXS_REFUSE(
                c, FXS_ETYPE,
                "only tensors of floating point and complex dtype can require gradients");
        c->out[i]->requires_grad = true;
    }
    return FXS_OK;
}

static bool same_sizes(const fxs_tensor *a, const fxs_tensor *b) {
    bool same = a->ndim == b->ndim;
    for (int i = 0; same && i < b->ndim; i++)
        same = a->sizes[i] == b->sizes[i];
    return same;
}

static fxs_status check_in_place(fxs_call *c, const fxs_tensor *self, const fxs_tensor *out) {
    char a[FXS_SIZES_TEXT], b[FXS_SIZES_TEXT];
    if (!same_sizes(self, out) && !(c->op->flags & FXS_OP_RESIZES))
        return FXS_REFUSE(c, FXS_ESHAPE,
                          "in place: the result has shape %s, but the tensor to write has shape %s",
                          fxs_sizes_text(out, a), fxs_sizes_text(self, b));
    bool lost = fxs_is_floating(out->dtype) > fxs_is_floating(self->dtype) ||
                fxs_is_complex(out->dtype) > fxs_is_complex(self->dtype);
    if (fxs_promote(self->dtype, out->dtype) != self->dtype && (lost || self->dtype == FXS_BOOL))
        return FXS_REFUSE(c, FXS_ETYPE,
                          "in place: a result of type %s can't be written into a tensor of type %s",
                          fxs_dtype_name(out->dtype), fxs_dtype_name(self->dtype));
    return FXS_OK;
}

/* A stretched tensor has one element in several places: what would be written there is not clear.
 */
static fxs_status check_writable(fxs_call *c, const fxs_tensor *self) {
    if (fxs_tensor_numel(self) == 0 || c->op->flags & FXS_OP_STRETCHED)
        return FXS_OK;
    for (int i = 0; i < self->ndim; i++)
        if (self->sizes[i] > 1 && self->strides[i] == 0)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "more than one element of the written-to tensor refers to a single "
                              "memory location: "
                              "clone() it before");
    return FXS_OK;
}

static bool fits_over(const fxs_tensor *out, const fxs_tensor *t) {
    if (!t->storage || !t->storage->blocks || t->offset != 0 || t->dtype != out->dtype ||
        t->ndim != out->ndim)
        return false;
    for (int i = 0; i < t->ndim; i++)
        if (t->sizes[i] != out->sizes[i] || t->strides[i] != out->strides[i])
            return false;
    return true;
}

/* A result may lie in the place of an argument that nobody needs any more: that saves memory, and
 * what is read and written stays in the cache. */
static bool lie_over_argument(fxs_call *c, const fxs_apply *how) {
    bool first_only = c->op->flags & FXS_OP_OVER_INPUT;
    if (!(c->op->flags & (FXS_OP_POINTWISE | FXS_OP_OVER_INPUT)) || c->nout != 1 ||
        c->out[0]->storage || !how->is_last_use)
        return false;
    for (int i = 0; i < (first_only ? 1 : c->nargs); i++) {
        fxs_tensor *t = fxs_arg_tensor(c, i);
        if (!t || !fits_over(c->out[0], t) || !how->is_last_use(how->user, t))
            continue;
        c->out[0]->storage = fxs_storage_ref(t->storage);
        return true;
    }
    return false;
}

static fxs_status allocate_outputs(fxs_call *c, bool *fresh) {
    for (int i = 0; i < c->nout; i++) {
        if (c->out[i]->storage)
            continue;
        FXS_TRY(fxs_tensor_allocate(c->ctx, c->out[i]));
        *fresh = true;
    }
    return FXS_OK;
}

/* A META value that was overwritten by something unknown is unknown itself. */
static void forget_self(fxs_call *c) {
    fxs_tensor *self = c->nargs ? fxs_arg_tensor(c, 0) : NULL;
    if (self && self->storage) {
        fxs_storage_unref(self->storage);
        self->storage = NULL;
    }
}

/* self becomes what the result is: its shape and memory. */
static void become(fxs_tensor *self, const fxs_tensor *out) {
    fxs_storage_unref(self->storage);
    self->storage = out->storage ? fxs_storage_ref(out->storage) : NULL;
    self->offset = out->offset;
    self->ndim = out->ndim;
    memcpy(self->sizes, out->sizes, sizeof self->sizes);
    memcpy(self->strides, out->strides, sizeof self->strides);
}

/* Replaces output 0 by self: written directly where that is safe, else copied over. */
static fxs_status compute_in_place(fxs_call *c, const arg_facts *f, bool compute) {
    fxs_tensor *self = c->arg[0].u.tensor, *out = c->out[0];
    FXS_TRY(check_in_place(c, self, out));
    bool resized = !same_sizes(self, out); /* to places of its own */
    if (!resized)
        FXS_TRY(check_writable(c, self));
    bool direct = (c->op->flags & FXS_OP_POINTWISE) && out->dtype == self->dtype && !f->overlaps &&
                  c->nout == 1;
    bool fresh = true;
    self->requires_grad |=
        out->requires_grad || (f->grad && !(c->op->flags & FXS_OP_NO_GRAD) &&
                               out->dtype == FXS_BOOL && fxs_is_floating(self->dtype));
    if (!compute)
        forget_self(c);
    if (!compute && resized)
        become(self, out);
    if (direct || !compute) {
        c->out[0] = fxs_tensor_ref(self);
        fxs_tensor_unref(out);
        return compute && c->op->kernel ? c->op->kernel(c) : FXS_OK;
    }
    FXS_TRY(allocate_outputs(c, &fresh));
    if (c->op->kernel)
        FXS_TRY(c->op->kernel(c));
    if (resized)
        become(self, out);
    else
        fxs_tensor_copy(c->ctx, self, out);
    c->out[0] = fxs_tensor_ref(self);
    fxs_tensor_unref(out);
    return FXS_OK;
}

static fxs_status compute(fxs_call *c, const fxs_schema *schema, const fxs_apply *how) {
    arg_facts f = facts_of(c, schema);
    bool writes = c->op->flags & FXS_OP_WRITES_SELF;
    bool run = !c->meta || (f.all_known && (writes || small_and_exact(c)));
    if (writes && c->op->flags & FXS_OP_RANDOM && f.self)
        FXS_TRY(check_writable(c, f.self));
    FXS_TRY(check_grad(c, &f));
    mark_grad(c, &f);
    FXS_TRY(give_grad(c));
    if (c->in_place && c->nout && fxs_arg_tensor(c, 0) && !c->out[0]->storage &&
        c->out[0] != c->arg[0].u.tensor)
        return compute_in_place(c, &f, run);
    if (!run && (writes || c->in_place))
        forget_self(c);
    if (!run)
        return FXS_OK;
    bool fresh = lie_over_argument(c, how) || writes;
    FXS_TRY(allocate_outputs(c, &fresh));
    return fresh && c->op->kernel ? c->op->kernel(c) : FXS_OK;
}

static fxs_status gather_result(fxs_call *c, fxs_value *out) {
    if (c->has_result) {
        *out = c->result;
        c->result = fxs_none();
        return FXS_OK;
    }
    bool sequence = c->out_list || c->out_tuple || c->tuple_name;
    if (c->nout == 1 && !sequence) {
        out->tag = FXS_V_TENSOR;
        out->u.tensor = c->out[0];
        c->nout = 0; /* it is the result's now */
        return FXS_OK;
    }
    if (c->nout == 0 && !sequence) {
        *out = fxs_none();
        return FXS_OK;
    }
    FXS_TRY(
        fxs_make_seq(c->ctx, NULL, c->out_list ? FXS_V_LIST : FXS_V_TUPLE, (size_t)c->nout, out));
    if (c->tuple_name) {
        out->u.seq->kind = FXS_TUPLE_NAMED;
        out->u.seq->type_name = c->tuple_name;
    }
    for (int i = 0; i < c->nout; i++)
        out->u.seq->items[i] = fxs_of_tensor(fxs_tensor_ref(c->out[i]));
    return FXS_OK;
}

static double bytes_of(const fxs_tensor *t) {
    return (double)fxs_tensor_numel(t) * (double)fxs_dtype_size(t->dtype);
}

static bool add_bytes(void *user, const fxs_value *v) {
    if (v->tag == FXS_V_TENSOR)
        *(double *)user += bytes_of(v->u.tensor);
    return true;
}

static fxs_cost cost_of(const fxs_call *c, const fxs_schema *s) {
    fxs_cost cost = c->op->cost ? c->op->cost(c) : (fxs_cost){0};
    if (cost.bytes_read != 0 || cost.bytes_written != 0 || !c->op->kernel)
        return cost; /* a view moves nothing */
    for (int k = 0; k < s->nholders; k++) {
        const fxs_value *v = &c->arg[s->holders[k]];
        if (v->tag == FXS_V_TENSOR)
            cost.bytes_read += bytes_of(v->u.tensor);
        else if (v->tag != FXS_V_NONE)
            fxs_value_visit(v, add_bytes, &cost.bytes_read);
    }
    for (int i = 0; i < c->nout; i++)
        cost.bytes_written += bytes_of(c->out[i]);
    return cost;
}

static void drop_outputs(fxs_call *c) {
    for (int i = 0; i < c->nout; i++)
        fxs_tensor_unref(c->out[i]);
    if (c->out != c->few)
        fxs_free(c->out);
    fxs_value_unref(&c->result);
}

/* A flag that some operators have: inplace, requires_grad. */
static bool asks_for(int flag, const fxs_value *bound) {
    return flag >= 0 && bound[flag].tag == FXS_V_BOOL && bound[flag].u.b;
}

static bool same_facts(const fxs_tensor *a, const fxs_tensor *b) {
    size_t bytes = (size_t)a->ndim * sizeof *a->sizes;
    return a->requires_grad == b->requires_grad && a->ndim == b->ndim && a->offset == b->offset &&
           a->dtype == b->dtype && memcmp(a->sizes, b->sizes, bytes) == 0 &&
           memcmp(a->strides, b->strides, bytes) == 0;
}

/* The tensor whose facts a call may change: only those that write in place do. */
static fxs_tensor *may_change(const fxs_call *c, const fxs_candidate *op, const fxs_apply *how) {
    bool writes = c->in_place || op->underscored || c->op->flags & FXS_OP_WRITES_SELF;
    return how->changed && writes && c->nargs ? fxs_arg_tensor(c, 0) : NULL;
}

/* infer, compute, and word to whom it may concern of what has become of self. */
static fxs_status infer_and_tell(fxs_call *c, const fxs_schema *schema, const fxs_apply *how,
                                 fxs_tensor *self) {
    fxs_tensor before;
    fxs_tensor_copy_facts(&before, self);
    fxs_status s = c->op->infer(c);
    if (s == FXS_OK)
        s = compute(c, schema, how);
    if (same_facts(self, &before))
        return s;
    fxs_status told = how->changed(how->user, self, &before);
    return s == FXS_OK ? told : s;
}

/* Few operators draw: for the others no name is read. */
static uint64_t seed_of(const fxs_op *op, const fxs_apply *how) {
    return how->name && op->flags & FXS_OP_RANDOM
               ? how->seed ^ fxs_hash(how->name, strlen(how->name))
               : how->seed;
}

fxs_status fxs_op_apply_bound(fxs_ctx *ctx, const fxs_candidate *op, const fxs_schema *schema,
                              fxs_value *bound, const fxs_apply *how, fxs_applied *out) {
    fxs_call c = {.ctx = ctx,
                  .op = op->op,
                  .spelling = op->spelling,
                  .arg = bound,
                  .nargs = schema->nparams,
                  .meta = how->meta,
                  .train = how->train,
                  .in_place = op->in_place || asks_for(schema->inplace, bound),
                  .wants_grad = asks_for(schema->requires_grad, bound),
                  .seed = seed_of(op->op, how),
                  .scratch = how->scratch};
    fxs_tensor *self = may_change(&c, op, how);
    *out = (fxs_applied){.op = c.op};
    fxs_status s = self ? infer_and_tell(&c, schema, how, self) : c.op->infer(&c);
    if (s == FXS_OK && !self)
        s = compute(&c, schema, how);
    if (s == FXS_OK)
        out->cost = cost_of(&c, schema);
    if (s == FXS_OK)
        s = gather_result(&c, &out->result);
    drop_outputs(&c);
    return s;
}

fxs_status fxs_op_apply(fxs_ctx *ctx, const fxs_candidate *ops, const fxs_value *args,
                        const fxs_value *kwargs, const fxs_apply *how, fxs_applied *out) {
    const fxs_candidate *chosen = NULL;
    const fxs_schema *schema = NULL;
    fxs_value *bound = FXS_NEW_N(how->scratch, fxs_value, FXS_MAX_ARGS);
    *out = (fxs_applied){.op = ops->op};
    if (!bound)
        return fxs_fail_memory(ctx);
    FXS_TRY(bind_overload(ctx, ops, args, kwargs, how->scratch, &chosen, &schema, bound));
    return fxs_op_apply_bound(ctx, chosen, schema, bound, how, out);
}
