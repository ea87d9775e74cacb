/* call_plan.c: see call_plan.h. */
#include "ir/call_plan.h"

typedef struct planner {
    fxs_ctx *ctx;
    fxs_arena *arena;
    fxs_call_plan *plan;
    bool tensors_only;
    bool unfit; /* another overload would not help */
} planner;

static bool is_no_object(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_OBJECT;
}

bool fxs_args_have_object(const fxs_value *args) {
    return !fxs_value_visit(args, is_no_object, NULL);
}

static bool count_node(void *user, const fxs_value *leaf) {
    *(size_t *)user += leaf->tag == FXS_V_NODE;
    return true;
}

static fxs_status add_slot(planner *p, int param, int item, const fxs_node *n) {
    bool takes = item >= 0 || p->plan->schema->params[param].types & 1u << FXS_T_TENSOR;
    if (p->tensors_only && !takes)
        return FXS_ETYPE;
    p->plan->slots[p->plan->nslots++] =
        (fxs_plan_slot){.param = param, .item = item, .takes_tensor = takes, .node = n};
    return FXS_OK;
}

/* A list that nodes are in: of tensors, some of which may be left out. */
static fxs_status plan_list(planner *p, int param, const fxs_value *list, fxs_value *out) {
    bool tensors = p->plan->schema->params[param].types & 1u << FXS_T_TENSORS;
    p->unfit |= !tensors || (list->tag != FXS_V_LIST && list->tag != FXS_V_TUPLE);
    if (p->unfit)
        return FXS_ETYPE;
    FXS_TRY(fxs_make_seq(p->ctx, p->arena, list->tag, fxs_value_len(list), out));
    for (size_t k = 0; k < fxs_value_len(list); k++) {
        const fxs_value *v = fxs_value_item(list, k);
        p->unfit |= v->tag != FXS_V_NODE && v->tag != FXS_V_TENSOR && v->tag != FXS_V_NONE;
        if (v->tag == FXS_V_NODE)
            FXS_TRY(add_slot(p, param, (int)k, v->u.node));
        else
            out->u.seq->items[k] = *v;
    }
    return p->unfit ? FXS_ETYPE : FXS_OK;
}

/* Sorts the arguments into slots and what stays as it is. */
static fxs_status settle(planner *p, const bool *given) {
    fxs_call_plan *plan = p->plan;
    plan->nslots = 0;
    for (int i = 0; i < plan->schema->nparams; i++) {
        fxs_value v = plan->bound[i];
        if (v.tag == FXS_V_NODE)
            FXS_TRY(add_slot(p, i, -1, v.u.node));
        else if (fxs_value_has_node(&v))
            FXS_TRY(plan_list(p, i, &v, &plan->bound[i]));
        else if (given[i] || v.tag != FXS_V_NONE)
            FXS_TRY(fxs_schema_put(p->ctx, p->arena, NULL, plan->schema, i, &v, plan->bound));
    }
    return FXS_OK;
}

static fxs_status bind_to(planner *p, const fxs_candidate *o, const fxs_value *args,
                          const fxs_value *kwargs) {
    bool given[FXS_MAX_ARGS];
    FXS_TRY(fxs_registry_schema(p->ctx, o->op, &p->plan->schema));
    FXS_TRY(fxs_schema_place(p->ctx, p->arena, o->op->name, o->spelling, p->plan->schema, args,
                             kwargs, p->plan->bound, given));
    return settle(p, given);
}

fxs_status fxs_call_plan_bind(fxs_ctx *ctx, fxs_arena *a, const fxs_candidate *ops,
                              const fxs_value *args, const fxs_value *kwargs, bool tensors_only,
                              fxs_call_plan *plan) {
    planner p = {.ctx = ctx, .arena = a, .plan = plan, .tensors_only = tensors_only};
    size_t nodes = 0, nparams = 0;
    for (const fxs_candidate *o = ops; o; o = o->next) { /* room for any overload */
        const fxs_schema *schema;
        FXS_TRY(fxs_registry_schema(ctx, o->op, &schema));
        nparams = (size_t)schema->nparams > nparams ? (size_t)schema->nparams : nparams;
    }
    fxs_value_visit(args, count_node, &nodes);
    fxs_value_visit(kwargs, count_node, &nodes);
    *plan = (fxs_call_plan){.bound = FXS_NEW_N(a, fxs_value, nparams),
                            .slots = FXS_NEW_N(a, fxs_plan_slot, nodes)};
    if (!plan->bound || !plan->slots)
        return fxs_fail_memory(ctx);
    if (fxs_args_have_object(args) || fxs_args_have_object(kwargs))
        return FXS_OK; /* the front end calls it */
    for (const fxs_candidate *o = ops; o && !plan->op && !p.unfit; o = o->next) {
        fxs_status s = bind_to(&p, o, args, kwargs);
        if (s == FXS_ENOMEM)
            return s;
        if (s == FXS_OK)
            plan->op = o;
        fxs_ctx_clear(ctx);
    }
    return FXS_OK;
}
