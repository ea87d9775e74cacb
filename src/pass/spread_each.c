/* spread_each.c: the results one by one of what is drawn for several (fxs_spread.each), so that
 * what leaves a run is the last block's own. Called by spread.c and outline_box.c. */
#include "ir/spread.h"
#include "pass/spread.h"

static fxs_status room_for(fxs_ctx *ctx, fxs_spread *s, fxs_arena *arena, size_t n) {
    fxs_value *each = FXS_NEW_N(arena, fxs_value, n + 1);
    for (size_t i = 0; each && i < n; i++)
        each[i] = fxs_none();
    s->each = each;
    s->neach = each ? n : 0;
    return each ? FXS_OK : fxs_fail_memory(ctx);
}

static fxs_value *at(fxs_spread *s, size_t i) { return (fxs_value *)&s->each[i]; }

/* How many nodes n is drawn for; 0 where one of them was drawn for several already: their order is
 * that of the runs, whichever is around the other, and that is not known. */
static size_t count_each(const fxs_outline_plan *p, const fxs_node *n) {
    size_t count = 1, i = p->next_node[n->index];
    bool known = !n->meta.spread || !n->meta.spread->neach;
    for (; i; i = p->next_node[i], count++)
        known = known && (!p->node[i]->meta.spread || !p->node[i]->meta.spread->neach);
    return known ? count : 0;
}

fxs_status fxs_spread_each(const fxs_outline_plan *p, const fxs_node *n, fxs_spread *s,
                           fxs_arena *arena) {
    size_t count = count_each(p, n), k = 0;
    if (!count)
        return FXS_OK;
    FXS_TRY(room_for(p->m->ctx, s, arena, count));
    for (size_t i = n->index, first = 1; first || i; i = p->next_node[i], first = 0)
        FXS_TRY(fxs_value_copy(p->m->ctx, NULL, &p->node[i]->meta.result, at(s, k++)));
    return FXS_OK;
}

fxs_status fxs_spread_each_box(const fxs_outline_plan *p, const fxs_outline_found *outputs,
                               size_t calls, fxs_spread *s, fxs_arena *arena) {
    fxs_ctx *ctx = p->m->ctx;
    for (size_t i = 0; i < outputs->n; i++)
        if (count_each(p, outputs->items[i].u.node) != calls)
            return FXS_OK;
    FXS_TRY(room_for(ctx, s, arena, outputs->n ? calls : 0));
    if (outputs->n == 1)
        return fxs_spread_each(p, outputs->items[0].u.node, s, arena);
    for (size_t k = 0; k < s->neach; k++)
        FXS_TRY(fxs_make_seq(ctx, NULL, FXS_V_TUPLE, outputs->n, at(s, k)));
    for (size_t i = 0; i < outputs->n; i++) {
        size_t node = outputs->items[i].u.node->index;
        for (size_t k = 0; k < s->neach; k++, node = p->next_node[node])
            FXS_TRY(
                fxs_value_copy(ctx, NULL, &p->node[node]->meta.result, &at(s, k)->u.seq->items[i]));
    }
    return FXS_OK;
}

fxs_status fxs_spread_each_again(fxs_ctx *ctx, const fxs_leaving *out, size_t n, fxs_spread *s,
                                 fxs_arena *arena) {
    size_t count = n ? fxs_meta_leaving(&out[0].node->meta, out[0].runs) : 0;
    for (size_t i = 1; i < n; i++)
        if (fxs_meta_leaving(&out[i].node->meta, out[i].runs) != count)
            return FXS_OK;
    FXS_TRY(room_for(ctx, s, arena, count));
    for (size_t k = 0; k < count; k++) {
        if (n > 1)
            FXS_TRY(fxs_make_seq(ctx, NULL, FXS_V_TUPLE, n, at(s, k)));
        for (size_t i = 0; i < n; i++)
            FXS_TRY(fxs_value_copy(ctx, NULL, fxs_meta_leaves(&out[i].node->meta, out[i].runs, k),
                                   n > 1 ? &at(s, k)->u.seq->items[i] : at(s, k)));
    }
    return FXS_OK;
}

const fxs_value *fxs_leaving_first(const fxs_leaving *out) {
    const fxs_meta *m = &out->node->meta;
    return fxs_meta_leaving(m, out->runs) ? fxs_meta_leaves(m, out->runs, 0) : &m->result;
}
