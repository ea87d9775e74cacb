/* sum.c: see sum.h. Called by outline_box.c and pattern.c, which say what is in a box. */
#include "pass/sum.h"

#include <string.h>

static int severity_of(const fxs_node *n) {
    static const int severity[FXS_OUTCOME_COUNT] = {
        [FXS_DONE] = 1, [FXS_BLOCKED] = 2, [FXS_UNKNOWN] = 3, [FXS_FAILED] = 4};
    return severity[n->meta.outcome];
}

static void add_each(fxs_sum *sum, const fxs_meta *one, size_t times) {
    const fxs_spread *s = one->spread && one->spread->nodes > 1 ? one->spread : NULL;
    size_t blocks = s && times ? s->nodes / times : 1;
    if (!sum->worst || blocks < sum->blocks)
        sum->blocks = blocks;
    for (int i = 0; i < 2; i++) {
        sum->flops_each[i] += (double)times * (s ? s->flops[i] : one->flops);
        sum->parameters_each[i] += (int64_t)times * (s ? s->parameters[i] : one->parameters);
    }
}

void fxs_meta_add_costs(fxs_meta *to, const fxs_meta *one) {
    to->flops += one->flops;
    to->bytes_read += one->bytes_read;
    to->bytes_written += one->bytes_written;
    to->seconds += one->seconds;
    to->overlay += one->overlay;
    to->has_overlay = to->has_overlay || one->has_overlay;
}

fxs_status fxs_sum_add(fxs_sum *sum, const fxs_node *member, size_t times) {
    fxs_meta *to = &sum->box->meta;
    const fxs_meta *one = &member->meta;
    size_t inside = times * (one->inside ? one->inside : 1);
    fxs_group group;
    bool none;
    add_each(sum, one, times);
    fxs_meta_add_costs(to, one);
    to->inside += inside;
    if (!sum->worst || severity_of(member) > severity_of(sum->worst))
        sum->worst = member;
    FXS_TRY(fxs_node_family(member, sum->m, &none, &group));
    if (!none) {
        sum->flops[group] += one->flops;
        sum->count[group] += inside;
    }
    return FXS_OK;
}

/* The message of the member with the worst outcome. */
static fxs_status take_message(fxs_sum *sum) {
    fxs_graph *g = sum->box->graph;
    fxs_buf text = {0};
    if (!sum->worst->meta.message)
        return FXS_OK;
    fxs_buf_printf(&text, "%s: %s", sum->worst->name, sum->worst->meta.message);
    sum->box->meta.message = text.failed ? NULL : fxs_arena_dup(&g->arena, text.data, text.len);
    fxs_buf_free(&text);
    return sum->box->meta.message ? FXS_OK : fxs_fail_memory(g->ctx);
}

/* FXS_GROUP_COUNT: there is nothing of a family in it. */
static fxs_group largest(const fxs_sum *sum) {
    int best = FXS_GROUP_COUNT;
    for (int g = 0; g < FXS_GROUP_COUNT; g++)
        if (sum->count[g] && (best == FXS_GROUP_COUNT || sum->flops[g] > sum->flops[best] ||
                              (sum->flops[g] == sum->flops[best] && /* most often 0 */
                               sum->count[g] > sum->count[best])))
            best = g;
    return (fxs_group)best;
}

static fxs_status take_family(fxs_sum *sum) {
    fxs_node *box = sum->box;
    fxs_ctx *ctx = box->graph->ctx;
    fxs_group group = FXS_GROUP_OTHER;
    fxs_value word;
    if (box->kind == FXS_CALL_MODULE && box->type)
        FXS_TRY(fxs_group_of_class(ctx, box->type, &group));
    if (group == FXS_GROUP_OTHER)
        group = largest(sum);
    if (group == FXS_GROUP_COUNT)
        return FXS_OK;
    FXS_TRY(fxs_value_str(ctx, fxs_group_class(group), &word));
    fxs_status s = fxs_node_set_user_meta(box, FXS_FAMILY_OF_BOX, &word);
    fxs_value_unref(&word);
    return s;
}

fxs_status fxs_sum_finish(fxs_sum *sum) {
    sum->box->meta.outcome = sum->worst->meta.outcome;
    FXS_TRY(take_message(sum));
    return take_family(sum);
}
