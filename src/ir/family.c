/* family.c: see family.h. Called by the pictures, and where boxes are summed up. */
#include "ir/family.h"

#include <stdio.h>
#include <string.h>

/* What was written down for a box when it was summed up (pass/sum.c). */
static bool family_of_box(const fxs_node *box, fxs_group *out) {
    const fxs_value *word = fxs_node_user_meta(box, FXS_FAMILY_OF_BOX);
    const char *text = word ? fxs_value_text(word) : NULL;
    for (int g = 0; text && g < FXS_GROUP_COUNT; g++)
        if (strcmp(text, fxs_group_class((fxs_group)g)) == 0) {
            *out = (fxs_group)g;
            return true;
        }
    return false;
}

fxs_status fxs_node_family(const fxs_node *node, const fxs_module *m, bool *none, fxs_group *out) {
    fxs_ctx *ctx = node->graph->ctx;
    char spelling[256];
    *out = FXS_GROUP_OTHER;
    *none = node->meta.inside > 0 && !family_of_box(node, out);
    if (node->meta.inside)
        return FXS_OK;
    *none = node->meta.outcome == FXS_DONE && !node->meta.has_tensor;
    if (*none)
        return FXS_OK;
    switch (node->kind) {
    case FXS_CALL_FUNCTION:
        return fxs_group_of_spelling(ctx, node->target, out);
    case FXS_CALL_METHOD:
        snprintf(spelling, sizeof spelling, "Tensor.%s", node->target);
        return fxs_group_of_spelling(ctx, spelling, out);
    case FXS_CALL_MODULE: {
        const fxs_module *layer = fxs_module_find(m, node->target);
        return layer ? fxs_group_of_class(ctx, layer->class_name, out) : FXS_OK;
    }
    default:
        *none = true;
        return FXS_OK;
    }
}
