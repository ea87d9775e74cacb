/* group.c: see group.h. Called by the pictures. */
#include "op/group.h"

#include <string.h>

/* Operators that a reader expects elsewhere than in the rest of their table. */
static const struct {
    const char *name;
    fxs_group group;
} exceptions[] = {
    {"tanh", FXS_GROUP_ACTIVATION},
    {"sigmoid", FXS_GROUP_ACTIVATION},
    {"logsumexp", FXS_GROUP_REDUCE},
    {"rms_norm", FXS_GROUP_NORM},
    {"frozen_batch_norm", FXS_GROUP_NORM},
    {"sigmoid_focal_loss", FXS_GROUP_LOSS},
    {"nansum", FXS_GROUP_REDUCE},
    {"aminmax", FXS_GROUP_REDUCE},
    {"sum_to_size", FXS_GROUP_REDUCE},
    {"trapezoid", FXS_GROUP_REDUCE},
    {"inner", FXS_GROUP_LINEAR},
    {"cdist", FXS_GROUP_LINEAR},
    {"linalg_cross", FXS_GROUP_LINEAR},
    {"relative_position_bias", FXS_GROUP_INDEX},
    {"patch_merging_pad", FXS_GROUP_SHAPE},
    {"view_as_real", FXS_GROUP_SHAPE},
    {"view_as_complex", FXS_GROUP_SHAPE},
    {"fill_", FXS_GROUP_ELEMENTWISE},
    {"zero_", FXS_GROUP_ELEMENTWISE},
    {"copy_", FXS_GROUP_ELEMENTWISE},
};

static bool find_exception(const char *name, fxs_group *out) {
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++)
        if (strcmp(exceptions[i].name, name) == 0) {
            *out = exceptions[i].group;
            return true;
        }
    return false;
}

fxs_group fxs_group_of_op(const fxs_op *op) {
    fxs_group found = FXS_GROUP_OTHER;
    if (find_exception(op->name, &found))
        return found;
    const fxs_family *f = fxs_registry_family(op);
    return f ? f->group : FXS_GROUP_OTHER;
}

fxs_status fxs_group_of_spelling(fxs_ctx *ctx, const char *spelling, fxs_group *out) {
    const fxs_candidate *c;
    FXS_TRY(fxs_registry_find(ctx, spelling, &c));
    *out = c ? fxs_group_of_op(c->op) : FXS_GROUP_OTHER;
    return FXS_OK;
}

static const fxs_family *family_of_row(const fxs_module_row *row) {
    for (const fxs_family *f = fxs_families; f->name; f++)
        for (const fxs_module_row *m = f->modules; m && m->name; m++)
            if (m == row)
                return f;
    return NULL;
}

/* A layer is what its table is; RMSNorm stands beside what it is composed of, as its operator does.
 */
fxs_status fxs_group_of_class(fxs_ctx *ctx, const char *class_name, fxs_group *out) {
    const fxs_module_row *row;
    char op[64];
    *out = FXS_GROUP_OTHER;
    FXS_TRY(fxs_registry_find_module(ctx, class_name, &row));
    if (!row)
        return FXS_OK;
    size_t n = row->call ? strcspn(row->call, "(") : 0;
    if (n && n < sizeof op) {
        memcpy(op, row->call, n);
        op[n] = '\0';
        if (find_exception(op, out))
            return FXS_OK;
    }
    const fxs_family *f = family_of_row(row);
    *out = f ? f->group : FXS_GROUP_OTHER;
    return FXS_OK;
}

static const struct {
    const char *class, *text;
} words[] = {
#define X(name, class, text) {class, text},
    FXS_GROUP_MAP(X)
#undef X
};

const char *fxs_group_class(fxs_group g) { return words[g].class; }
const char *fxs_group_text(fxs_group g) { return words[g].text; }
