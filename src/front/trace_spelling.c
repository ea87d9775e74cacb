/* trace_spelling.c: what torch.fx sees when a function is called by the name under which people
 * know it. A functional that is written in Python shows itself, with its required parameters by
 * position and all others by keyword, defaults filled in from the operator's row; one that is a
 * builtin shows the builtin, called as it was called. */
#include <string.h>

#include "front/trace.h"

/* ---- names
 * ----------------------------------------------------------------------------------------------------------
 */

/* Functionals that are builtins under another name. */
static const struct {
    const char *prefix, *names;
} builtins[] = {
    {"torch.", " adaptive_avg_pool1d avg_pool1d bilinear channel_shuffle conv1d conv2d conv3d "
               "conv_tbc conv_transpose1d "
               "conv_transpose2d conv_transpose3d cosine_similarity hardshrink "
               "native_channel_shuffle pairwise_distance pdist "
               "pixel_shuffle pixel_unshuffle prelu relu_ selu_ celu_ rrelu_ "},
    {"torch._C._nn.", " avg_pool2d avg_pool3d gelu linear logsigmoid one_hot softplus softshrink "
                      "elu_ leaky_relu_ hardtanh_ hardswish_ "
                      "_scaled_dot_product_attention scaled_dot_product_attention "},
};
/* Functions of torch that are written in Python, in torch.functional. */
static const char functional[] =
    " atleast_1d atleast_2d atleast_3d block_diag broadcast_tensors cartesian_prod cdist "
    "chain_matmul einsum lu meshgrid norm split stft tensordot unique unique_consecutive ";
/* A functional whose Python part the trace does not enter: as it is called. */
static const char as_called[] = " pad ";
/* Which of two functions it is, return_indices decides. */
static const char dispatched[] =
    " max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d "
    "adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d ";
static const char *const moved[][2] = {
    {"torch.fft.", "torch._C._fft.fft_"},
    {"torch.linalg.", "torch._C._linalg.linalg_"},
    {"torch.special.", "torch._C._special.special_"},
};

static bool listed(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *s = list; n && (s = strstr(s, name)); s += n)
        if (s[-1] == ' ' && s[n] == ' ')
            return true;
    return false;
}

static const char *behind(const char *name, const char *prefix) {
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

static fxs_status join(fxs_ctx *ctx, fxs_arena *a, const char *prefix, const char *name,
                       const char *suffix, const char **out) {
    size_t n = strlen(prefix), m = strlen(name), k = strlen(suffix);
    char *s = fxs_arena_alloc(a, n + m + k + 1, 1);
    if (!s)
        return fxs_fail_memory(ctx);
    memcpy(s, prefix, n);
    memcpy(s + n, name, m);
    memcpy(s + n + m, suffix, k);
    *out = s;
    return FXS_OK;
}

/* The qualified name of what is called; *python says that it is a Python function, recorded with
 * all keywords. */
static fxs_status target_of(fxs_ctx *ctx, fxs_arena *a, const char *name, const char **out,
                            bool *python) {
    const char *f = behind(name, "torch.nn.functional.");
    *python = false;
    *out = name;
    f = f ? f : behind(name, "F.");
    for (size_t i = 0; f && i < sizeof builtins / sizeof *builtins; i++)
        if (listed(builtins[i].names, f))
            return join(ctx, a, builtins[i].prefix,
                        strcmp(f, "logsigmoid") == 0 ? "log_sigmoid" : f, "", out);
    if (f) {
        *python = !listed(as_called, f);
        f = strcmp(f, "threshold") == 0      ? "_threshold"
            : strncmp(f, "upsample", 8) == 0 ? "interpolate"
                                             : f;
        return join(ctx, a, "torch.nn.functional.", f, "", out);
    }
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++)
        if ((f = behind(name, moved[i][0])))
            return join(ctx, a, moved[i][1], f, "", out);
    f = behind(name, "torch.functional.");
    f = f ? f : behind(name, "torch.");
    if (!f || !listed(functional, f))
        return FXS_OK;
    *python = true;
    return join(ctx, a, "torch.functional.", f, "", out);
}

/* ---- arguments
 * ---------------------------------------------------------------------------------------------------------
 */

static int keyword_at(const fxs_value *kwargs, const char *name) {
    for (size_t i = 0; i < fxs_value_len(kwargs); i++)
        if (strcmp(fxs_value_text(&kwargs->u.dict->pairs[i].key), name) == 0)
            return (int)i;
    return -1;
}

/* Position of "Tensor... tensors", which takes all positional arguments from there on; nparams when
 * there is none. */
static int variadic_at(const fxs_schema *s) {
    int i = 0;
    while (i < s->nparams && !s->params[i].variadic)
        i++;
    return i;
}

/* Does the call fit the schema's names? What is missing or too much is named in *wrong. */
static bool fits(const fxs_schema *s, const fxs_value *args, const fxs_value *kwargs,
                 const char **wrong) {
    int variadic = variadic_at(s), given = (int)fxs_value_len(args);
    *wrong = "too many arguments";
    if (variadic < s->nparams)
        given = variadic + 1;
    if (given > s->nparams)
        return false;
    for (size_t i = 0; i < fxs_value_len(kwargs); i++) {
        *wrong = fxs_value_text(&kwargs->u.dict->pairs[i].key);
        if (fxs_schema_index(s, *wrong) < given) /* not there, or given by position too */
            return false;
    }
    for (int i = given; i < s->nparams; i++) {
        *wrong = s->params[i].name;
        if (!s->params[i].has_default && keyword_at(kwargs, *wrong) < 0)
            return false;
    }
    return true;
}

/* One parameter's value: given by position, by keyword, or its default. */
static const fxs_value *value_of(const fxs_schema *s, int i, const fxs_value *args,
                                 const fxs_value *kwargs) {
    int at = keyword_at(kwargs, s->params[i].name);
    const fxs_value *v = variadic_at(s) < i ? NULL : fxs_value_item(args, (size_t)i);
    return v ? v : at >= 0 ? &kwargs->u.dict->pairs[at].value : &s->params[i].fallback;
}

/* Required parameters by position, all others by keyword. */
static fxs_status fill(fxs_ctx *ctx, fxs_arena *a, const fxs_schema *s, fxs_spelled *out) {
    fxs_value args = out->args, kwargs = out->kwargs;
    int required = 0, named = 0, n = s->nparams;
    bool variadic = variadic_at(s) < n;
    while (required < n && !s->params[required].has_default)
        required++;
    /* A row may serve the builtin too, which has this one parameter more. */
    if (n && strncmp(s->params[n - 1].name, "cudnn_enable", 12) == 0)
        n--;
    if (!variadic)
        FXS_TRY(fxs_make_seq(ctx, a, FXS_V_TUPLE, (size_t)required, &out->args));
    FXS_TRY(fxs_make_dict(ctx, a, (size_t)(n - required), &out->kwargs));
    for (int i = variadic ? required : 0; i < n; i++) {
        const fxs_value *v = value_of(s, i, &args, &kwargs);
        if (i < required) {
            out->args.u.seq->items[i] = *v;
            continue;
        }
        fxs_pair *p = &out->kwargs.u.dict->pairs[named++];
        p->value = *v;
        FXS_TRY(fxs_make_text(ctx, a, FXS_V_STR, s->params[i].name, strlen(s->params[i].name),
                              &p->key));
    }
    return FXS_OK;
}

static fxs_status fill_from_rows(fxs_ctx *ctx, fxs_arena *a, fxs_spelled *out) {
    const fxs_candidate *c;
    const char *wrong = NULL, *first_wrong = NULL, *missing = NULL;
    FXS_TRY(fxs_registry_find(ctx, out->target, &c));
    if (!c)
        return FXS_OK; /* not known here: as it is called */
    for (; c; c = c->next) {
        const fxs_schema *s;
        FXS_TRY(fxs_registry_schema(ctx, c->op, &s));
        if (fits(s, &out->args, &out->kwargs, &wrong))
            return fill(ctx, a, s, out);
        if (!first_wrong)
            missing = fxs_schema_missing(s, &out->args, &out->kwargs);
        first_wrong = first_wrong ? first_wrong : wrong;
    }
    if (missing)
        return fxs_fail(ctx, FXS_ETYPE, "%s() missing a required argument: '%s'", out->target,
                        missing);
    return fxs_fail(ctx, FXS_ETYPE, "%s: the call does not fit its parameters: %s", out->target,
                    first_wrong);
}

/* F.max_pool2d(..., return_indices=True) is another function. */
static fxs_status dispatch(fxs_ctx *ctx, fxs_arena *a, fxs_spelled *out) {
    const char *name = behind(out->target, "torch.nn.functional.");
    if (!name || !listed(dispatched, name))
        return FXS_OK;
    int at = keyword_at(&out->kwargs, "return_indices");
    if (at < 0 || out->kwargs.u.dict->pairs[at].value.tag != FXS_V_BOOL ||
        !out->kwargs.u.dict->pairs[at].value.u.b)
        return FXS_OK;
    return join(ctx, a, out->target, "_with_indices", "", &out->target);
}

/* The two deprecated forms of interpolate say its mode by their names. */
static fxs_status add_mode(fxs_ctx *ctx, fxs_arena *a, const char *mode, fxs_value *kwargs) {
    fxs_value old = *kwargs;
    size_t n = fxs_value_len(&old);
    bool corners = strcmp(mode, "bilinear") == 0;
    FXS_TRY(fxs_make_dict(ctx, a, n + (corners ? 2 : 1), kwargs));
    fxs_pair *p = kwargs->u.dict->pairs;
    if (n)
        memcpy(p, old.u.dict->pairs, n * sizeof *p);
    FXS_TRY(fxs_make_text(ctx, a, FXS_V_STR, "mode", 4, &p[n].key));
    FXS_TRY(fxs_make_text(ctx, a, FXS_V_STR, mode, strlen(mode), &p[n].value));
    if (!corners)
        return FXS_OK;
    p[n + 1].value = fxs_bool(true);
    return fxs_make_text(ctx, a, FXS_V_STR, "align_corners", 13, &p[n + 1].key);
}

static bool is_one_list(const fxs_value *args, size_t at) {
    const fxs_value *v = fxs_value_len(args) == at + 1 ? fxs_value_item(args, at) : NULL;
    return v && (v->tag == FXS_V_LIST || v->tag == FXS_V_TUPLE);
}

/* A list of operands: einsum takes it apart, meshgrid hands it to the builtin as it is. *done: it
 * is spelled. */
static fxs_status spell_operands(fxs_ctx *ctx, fxs_arena *a, fxs_spelled *out, bool *done) {
    *done = false;
    if (strcmp(out->target, "torch.functional.meshgrid") == 0 && is_one_list(&out->args, 0)) {
        out->target = "torch.meshgrid";
        *done = true;
    }
    if (strcmp(out->target, "torch.functional.einsum") != 0 || !is_one_list(&out->args, 1))
        return FXS_OK;
    const fxs_value *operands = fxs_value_item(&out->args, 1);
    const fxs_value equation = *fxs_value_item(&out->args, 0);
    size_t n = fxs_value_len(operands);
    FXS_TRY(fxs_make_seq(ctx, a, FXS_V_TUPLE, n + 1, &out->args));
    out->args.u.seq->items[0] = equation;
    for (size_t i = 0; i < n; i++)
        out->args.u.seq->items[i + 1] = *fxs_value_item(operands, i);
    return FXS_OK;
}

fxs_status fxs_spell(fxs_ctx *ctx, fxs_arena *a, const char *name, const fxs_value *args,
                     const fxs_value *kwargs, fxs_spelled *out) {
    const char *f = behind(name, "torch.nn.functional.");
    bool python;
    *out = (fxs_spelled){.target = name, .args = *args, .kwargs = *kwargs};
    f = f ? f : behind(name, "F.");
    if (f && (strcmp(f, "sigmoid") == 0 ||
              strcmp(f, "tanh") == 0)) { /* deprecated, and written as x.sigmoid() */
        out->target = f;
        out->method = true;
        return FXS_OK;
    }
    if (f && (strcmp(f, "upsample_bilinear") == 0 || strcmp(f, "upsample_nearest") == 0))
        FXS_TRY(add_mode(ctx, a, f + 9, &out->kwargs));
    FXS_TRY(target_of(ctx, a, name, &out->target, &python));
    bool done = false;
    if (python)
        FXS_TRY(spell_operands(ctx, a, out, &done));
    if (!python || done)
        return FXS_OK;
    FXS_TRY(fill_from_rows(ctx, a, out));
    return dispatch(ctx, a, out);
}
