/* same_sizes.c: which arguments are sizes, and may vary where blocks are to be the same but for
 * sizes: how many channels and features a layer has, what shape a tensor is given. So may the
 * chance with which dropout leaves something out, which often grows from block to block. Whatever
 * else says how something is computed (kernels, strides, dilation, heads) is none. Called by
 * same.c. */
#include <string.h>

#include "op/module_row.h"
#include "pass/same.h"

/* ---- layers ---- */

static const char *const size_names[] = {
    "in_channels",  "out_channels",  "num_features",     "num_channels", "in_features",
    "out_features", "in1_features",  "in2_features",     "input_size",   "hidden_size",
    "d_model",      "embedding_dim", "normalized_shape", "embed_dim",    "dim_feedforward",
};

static bool is_size(const char *name) {
    for (size_t i = 0; i < sizeof size_names / sizeof *size_names; i++)
        if (strcmp(size_names[i], name) == 0)
            return true;
    return false;
}

/* Of a layer that leaves out at random, or has one inside. */
static bool is_chance(const fxs_layer *l, const char *name) {
    bool drops = strstr(l->row->name, "Drop") || strcmp(l->row->name, "StochasticDepth") == 0;
    return strcmp(name, "dropout") == 0 ||
           (drops && (strcmp(name, "p") == 0 || strcmp(name, "drop_prob") == 0));
}

/* A group for each channel follows the number of channels. */
static bool is_depthwise(const fxs_layer *l, const char *name) {
    return strcmp(name, "groups") == 0 &&
           fxs_layer_int(l, "groups", 0) == fxs_layer_int(l, "in_channels", -1);
}

static bool same_hyper(fxs_comparison *c, const fxs_layer *a, const fxs_layer *b) {
    for (int i = 0; i < a->nhyper; i++) {
        const char *name = a->hyper_names[i];
        bool size = is_size(name) || (is_depthwise(a, name) && is_depthwise(b, name));
        unsigned vary = size ? FXS_VARY_INTS : c->layers || is_chance(a, name) ? FXS_VARY_REALS : 0;
        bool varies = c->varies;
        c->varies = false;
        if (!fxs_same_value(c, &a->hyper[i], &b->hyper[i], vary))
            return false;
        c->resized = c->resized || (size && c->varies);
        c->varies = c->varies || varies;
    }
    return true;
}

static bool bind(fxs_comparison *c, fxs_arena *scratch, const fxs_module *m, fxs_layer *out) {
    fxs_status s = fxs_layer_bind(c->p->m->ctx, scratch, m->row, &m->args, &m->kwargs, out);
    c->out_of_memory = c->out_of_memory || s == FXS_ENOMEM;
    return s == FXS_OK;
}

/* Layers that no row describes have no arguments that are known for sizes. */
static bool same_but_for_sizes(fxs_comparison *c, const fxs_module *a, const fxs_module *b) {
    fxs_arena scratch = {0};
    fxs_layer x, y;
    bool same = a->row && a->row == b->row && bind(c, &scratch, a, &x) &&
                bind(c, &scratch, b, &y) && x.nhyper == y.nhyper &&
                fxs_value_len(&a->args) == fxs_value_len(&b->args) &&
                fxs_value_len(&a->kwargs) == fxs_value_len(&b->kwargs) && same_hyper(c, &x, &y);
    fxs_arena_clear(&scratch);
    return same;
}

/* A text that is no list of arguments. */
static const char *other_text(const fxs_module *m) {
    bool read = fxs_value_len(&m->args) || fxs_value_len(&m->kwargs);
    return m->extra && !read ? m->extra : "";
}

bool fxs_same_layer_args(fxs_comparison *c, const fxs_module *a, const fxs_module *b) {
    if (strcmp(other_text(a), other_text(b)) != 0)
        return false;
    bool varies = c->varies;
    if (fxs_same_value(c, &a->args, &b->args, 0) && fxs_same_value(c, &a->kwargs, &b->kwargs, 0))
        return true;
    c->varies = varies;
    return c->sizes && same_but_for_sizes(c, a, b);
}

/* ---- functions and methods ---- */

/* Positions of the arguments that may vary, the tensor of a method being the first; the keyword
 * that they have; and whether they are sizes, or else a chance. Known by the last part of the
 * target. */
static const struct {
    const char *name;
    size_t first, last;
    const char *keyword;
    unsigned vary;
} sized[] = {
    {"view", 1, 99, "size", FXS_VARY_INTS},
    {"reshape", 1, 99, "shape", FXS_VARY_INTS},
    {"expand", 1, 99, "size", FXS_VARY_INTS},
    {"broadcast_to", 1, 1, "size", FXS_VARY_INTS},
    {"unflatten", 2, 2, "sizes", FXS_VARY_INTS},
    {"zeros", 0, 99, "size", FXS_VARY_INTS},
    {"ones", 0, 99, "size", FXS_VARY_INTS},
    {"empty", 0, 99, "size", FXS_VARY_INTS},
    {"rand", 0, 99, "size", FXS_VARY_INTS},
    {"randn", 0, 99, "size", FXS_VARY_INTS},
    {"full", 0, 0, "size", FXS_VARY_INTS},
    {"new_zeros", 1, 99, "size", FXS_VARY_INTS},
    {"new_ones", 1, 99, "size", FXS_VARY_INTS},
    {"new_empty", 1, 99, "size", FXS_VARY_INTS},
    {"new_full", 1, 1, "size", FXS_VARY_INTS},
    {"split", 1, 1, "split_size_or_sections", FXS_VARY_INTS},
    {"split_with_sizes", 1, 1, "split_sizes", FXS_VARY_INTS},
    {"layer_norm", 1, 1, "normalized_shape", FXS_VARY_INTS},
    {"rms_norm", 1, 1, "normalized_shape", FXS_VARY_INTS},
    {"dropout", 1, 1, "p", FXS_VARY_REALS},
    {"dropout1d", 1, 1, "p", FXS_VARY_REALS},
    {"dropout2d", 1, 1, "p", FXS_VARY_REALS},
    {"dropout3d", 1, 1, "p", FXS_VARY_REALS},
    {"alpha_dropout", 1, 1, "p", FXS_VARY_REALS},
    {"feature_alpha_dropout", 1, 1, "p", FXS_VARY_REALS},
    {"stochastic_depth", 1, 1, "p", FXS_VARY_REALS},
    {"drop_path", 1, 1, "drop_prob", FXS_VARY_REALS},
};

static int find_sized(const fxs_node *n) {
    const char *dot = strrchr(n->target, '.'), *name = dot ? dot + 1 : n->target;
    bool called = n->kind == FXS_CALL_FUNCTION || n->kind == FXS_CALL_METHOD;
    for (size_t i = 0; called && i < sizeof sized / sizeof *sized; i++)
        if (strcmp(sized[i].name, name) == 0)
            return (int)i;
    return -1;
}

static unsigned vary_at(const fxs_comparison *c, int row, size_t position, const char *keyword) {
    bool listed =
        row >= 0 && (keyword ? strcmp(sized[row].keyword, keyword) == 0
                             : position >= sized[row].first && position <= sized[row].last);
    unsigned vary = FXS_VARY_TENSORS | (c->layers ? FXS_VARY_REALS : 0);
    return !c->sizes ? 0 : listed ? vary | sized[row].vary : vary;
}

bool fxs_same_args(fxs_comparison *c, const fxs_node *x, const fxs_node *y) {
    size_t n = fxs_value_len(&x->args), k = fxs_value_len(&x->kwargs);
    int row = find_sized(x);
    if (n != fxs_value_len(&y->args) || k != fxs_value_len(&y->kwargs))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!fxs_same_value(c, fxs_value_item(&x->args, i), fxs_value_item(&y->args, i),
                            vary_at(c, row, i, NULL)))
            return false;
    for (size_t i = 0; i < k; i++) {
        const fxs_value *key = fxs_value_key(&x->kwargs, i);
        if (!fxs_value_equal(key, fxs_value_key(&y->kwargs, i)) ||
            !fxs_same_value(c, fxs_value_item(&x->kwargs, i), fxs_value_item(&y->kwargs, i),
                            vary_at(c, row, 0, fxs_value_text(key))))
            return false;
    }
    return true;
}
