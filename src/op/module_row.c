/* module_row.c: the small language of layer rows (module_row.h): hyper-parameters, state, and the
 * forward call. */
#include "op/module_row.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/pytext.h"

typedef struct reader {
    fxs_layer *layer;
    const char *at;
    bool no_memory; /* a word could not be copied */
} reader;

static size_t word_len(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static void blanks(reader *r) {
    while (*r->at == ' ')
        r->at++;
}

static bool accept(reader *r, const char *s) {
    blanks(r);
    size_t n = strlen(s);
    if (strncmp(r->at, s, n) != 0 || (isalpha((unsigned char)s[0]) && word_len(r->at) != n))
        return false;
    r->at += n;
    return true;
}

/* A word as a NUL-terminated copy; NULL when there is none or memory is out. */
static const char *word(reader *r) {
    blanks(r);
    size_t n = word_len(r->at);
    if (n == 0)
        return NULL;
    const char *w = fxs_arena_dup(r->layer->arena, r->at, n);
    r->no_memory |= !w;
    r->at += n;
    return w;
}

static fxs_status bad_row(reader *r, const char *what) {
    if (r->no_memory)
        return fxs_fail_memory(r->layer->ctx);
    return fxs_fail(r->layer->ctx, FXS_EPARSE, "row of layer %s: %s expected at '%.20s'",
                    r->layer->row->name, what, r->at);
}

/* ---- hyper-parameters
 * ---------------------------------------------------------------------------------- */

static fxs_status literal(reader *r, fxs_value *out) {
    blanks(r);
    if (*r->at == '\'') {
        const char *end = strchr(r->at + 1, '\'');
        if (!end)
            return bad_row(r, "closing quote");
        FXS_TRY(fxs_make_text(r->layer->ctx, r->layer->arena, FXS_V_STR, r->at + 1,
                              (size_t)(end - r->at - 1), out));
        r->at = end + 1;
        return FXS_OK;
    }
    size_t n = strcspn(r->at, ",;) ");
    int64_t i;
    double f;
    if (n == 4 && memcmp(r->at, "None", n) == 0)
        *out = fxs_none();
    else if (n == 4 && memcmp(r->at, "True", n) == 0)
        *out = fxs_bool(true);
    else if (n == 5 && memcmp(r->at, "False", n) == 0)
        *out = fxs_bool(false);
    else if (fxs_read_int(r->at, n, &i))
        *out = fxs_int(i);
    else if (fxs_read_float(r->at, n, &f))
        *out = fxs_float(f);
    else
        return bad_row(r, "a literal");
    r->at += n;
    return FXS_OK;
}

static fxs_status bind_hyper(fxs_layer *layer, const fxs_value *args, const fxs_value *kwargs) {
    reader r = {.layer = layer, .at = layer->row->hyper ? layer->row->hyper : ""};
    size_t position = 0;
    if (accept(&r, "*"))
        return FXS_OK;
    for (blanks(&r); *r.at; blanks(&r)) {
        if (layer->nhyper && !accept(&r, ","))
            return bad_row(&r, "','");
        const char *name = word(&r);
        if (!name || layer->nhyper == FXS_MAX_HYPER)
            return bad_row(&r, "a name");
        fxs_value fallback = fxs_none();
        bool optional = accept(&r, "=");
        if (optional)
            FXS_TRY(literal(&r, &fallback));
        const fxs_value *v = fxs_value_item(args, position++);
        for (size_t k = 0; !v && k < fxs_value_len(kwargs); k++) {
            const char *key = fxs_value_text(fxs_value_key(kwargs, k));
            if (key && strcmp(key, name) == 0)
                v = fxs_value_item(kwargs, k);
        }
        if (!v && !optional)
            return fxs_fail(layer->ctx, FXS_ETYPE, "%s: argument '%s' is missing", layer->row->name,
                            name);
        layer->hyper_names[layer->nhyper] = name;
        layer->hyper[layer->nhyper++] = v ? *v : fallback;
    }
    if (fxs_value_len(args) > position)
        return fxs_fail(layer->ctx, FXS_ETYPE, "%s: takes at most %d arguments, not %d",
                        layer->row->name, (int)position, (int)fxs_value_len(args));
    /* Keywords that the row does not name are kept by the module, and mean nothing to its forward.
     */
    return FXS_OK;
}

const fxs_value *fxs_layer_hyper(const fxs_layer *layer, const char *name) {
    for (int i = 0; i < layer->nhyper; i++)
        if (strcmp(layer->hyper_names[i], name) == 0)
            return &layer->hyper[i];
    return NULL;
}

int64_t fxs_layer_int(const fxs_layer *layer, const char *name, int64_t otherwise) {
    const fxs_value *v = fxs_layer_hyper(layer, name);
    if (v && (v->tag == FXS_V_INT || v->tag == FXS_V_BOOL))
        return v->tag == FXS_V_INT ? v->u.i : v->u.b;
    return otherwise;
}

/* ---- state
 * --------------------------------------------------------------------------------------------- */

static fxs_status not_an_int(reader *r, const char *name) {
    return fxs_fail(r->layer->ctx, FXS_ETYPE, "%s: argument '%s' must be an int",
                    r->layer->row->name, name);
}

static fxs_status factor(reader *r, int64_t *out) {
    blanks(r);
    if (isdigit((unsigned char)*r->at)) {
        for (*out = 0; isdigit((unsigned char)*r->at); r->at++)
            *out = *out * 10 + (*r->at - '0');
        return FXS_OK;
    }
    const char *name = word(r);
    if (!name)
        return bad_row(r, "a size");
    const fxs_value *v = fxs_layer_hyper(r->layer, name);
    if (!v || (v->tag != FXS_V_INT && v->tag != FXS_V_BOOL))
        return not_an_int(r, name);
    *out = v->tag == FXS_V_INT ? v->u.i : v->u.b;
    return FXS_OK;
}

static fxs_status size_expression(reader *r, int64_t *out) {
    FXS_TRY(factor(r, out));
    for (;;) {
        int64_t f;
        if (accept(r, "*")) {
            FXS_TRY(factor(r, &f));
            if (__builtin_mul_overflow(*out, f, out))
                return fxs_fail(r->layer->ctx, FXS_ELIMIT, "%s: a size beyond 2^63",
                                r->layer->row->name);
        } else if (accept(r, "/")) {
            FXS_TRY(factor(r, &f));
            if (f == 0 || (f == -1 && *out == INT64_MIN))
                return fxs_fail(r->layer->ctx, FXS_EINVAL, "%s: an argument is 0 and can't divide",
                                r->layer->row->name);
            *out /= f;
        } else {
            return FXS_OK;
        }
    }
}

static fxs_status add_size(reader *r, fxs_state *s, int64_t size) {
    if (s->ndim == FXS_MAX_DIM)
        return fxs_fail(r->layer->ctx, FXS_ELIMIT, "%s: '%s' has too many dimensions",
                        r->layer->row->name, s->name);
    s->sizes[s->ndim++] = size;
    return FXS_OK;
}

static fxs_status splice(reader *r, fxs_state *s) {
    const char *name = word(r);
    const fxs_value *v = name ? fxs_layer_hyper(r->layer, name) : NULL;
    if (!v)
        return bad_row(r, "a name");
    if (v->tag == FXS_V_INT)
        return add_size(r, s, v->u.i);
    for (size_t i = 0; i < fxs_value_len(v); i++) {
        if (fxs_value_item(v, i)->tag != FXS_V_INT)
            return not_an_int(r, name);
        FXS_TRY(add_size(r, s, fxs_value_item(v, i)->u.i));
    }
    return FXS_OK;
}

static fxs_status shape(reader *r, fxs_state *s) {
    if (!accept(r, "["))
        return bad_row(r, "'['");
    while (!accept(r, "]")) {
        if (s->ndim && !accept(r, ","))
            return bad_row(r, "',' or ']'");
        if (accept(r, "*")) {
            FXS_TRY(splice(r, s));
            continue;
        }
        int64_t n;
        FXS_TRY(size_expression(r, &n));
        FXS_TRY(add_size(r, s, n));
    }
    return FXS_OK;
}

/* PyTorch's fan-in: the product of all sizes but the first. */
static double fan_in_bound(const fxs_state *s) {
    double n = 1;
    for (int i = 1; i < s->ndim; i++)
        n *= (double)s->sizes[i];
    return n > 0 ? 1 / sqrt(n) : 0;
}

static fxs_status init(reader *r, fxs_state *s) {
    const char *how = word(r), *of = NULL;
    if (how && accept(r, "(")) {
        of = word(r);
        if (!of || !accept(r, ")"))
            return bad_row(r, "(NAME)");
    }
    if (!how)
        return bad_row(r, "an initialiser");
    if (strcmp(how, "zeros") == 0)
        s->init = FXS_INIT_ZEROS;
    else if (strcmp(how, "ones") == 0)
        s->init = FXS_INIT_ONES;
    else if (strcmp(how, "normal") == 0)
        s->init = FXS_INIT_NORMAL;
    else if (strcmp(how, "uniform") == 0 && of) {
        int64_t n = fxs_layer_int(r->layer, of, 1);
        s->init = FXS_INIT_UNIFORM;
        s->bound = n > 0 ? 1 / sqrt((double)n) : 0;
    } else if (strcmp(how, "fan_in") == 0 && of) {
        const fxs_state *w = strcmp(of, s->name) == 0 ? s : NULL;
        for (int i = 0; !w && i < r->layer->nstate; i++)
            if (strcmp(r->layer->state[i].name, of) == 0)
                w = &r->layer->state[i];
        if (!w)
            return bad_row(r, "a parameter's name");
        s->init = FXS_INIT_UNIFORM;
        s->bound = fan_in_bound(w);
    } else {
        return bad_row(r, "zeros, ones, normal, fan_in(NAME) or uniform(NAME)");
    }
    return FXS_OK;
}

static bool truth(const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_NONE:
        return false;
    case FXS_V_BOOL:
        return v->u.b;
    case FXS_V_INT:
        return v->u.i != 0;
    case FXS_V_FLOAT:
        return v->u.f != 0;
    default:
        return true;
    }
}

static fxs_status condition(reader *r, bool *out) {
    bool negate = accept(r, "not");
    const char *name = word(r);
    const fxs_value *v = name ? fxs_layer_hyper(r->layer, name) : NULL;
    if (!v)
        return bad_row(r, "a hyper-parameter");
    *out = truth(v);
    if (accept(r, "==")) {
        fxs_value other;
        FXS_TRY(literal(r, &other));
        *out = fxs_value_equal(v, &other);
    }
    *out ^= negate;
    return FXS_OK;
}

fxs_status fxs_layer_add(fxs_layer *layer, const fxs_state *s) {
    if (layer->nstate == FXS_MAX_STATE)
        return fxs_fail(layer->ctx, FXS_ELIMIT, "%s: more than %d parameters", layer->row->name,
                        FXS_MAX_STATE);
    for (int i = 0; i < s->ndim; i++)
        if (s->sizes[i] < 0)
            return fxs_fail(layer->ctx, FXS_ESHAPE, "%s: '%s' would have the negative size %lld",
                            layer->row->name, s->name, (long long)s->sizes[i]);
    if (layer->nstate == layer->state_cap) {
        int cap = layer->state_cap ? layer->state_cap * 2 : 8;
        fxs_state *grown = FXS_NEW_N(layer->arena, fxs_state, (size_t)cap);
        if (!grown)
            return fxs_fail_memory(layer->ctx);
        if (layer->nstate)
            memcpy(grown, layer->state, (size_t)layer->nstate * sizeof *grown);
        layer->state = grown;
        layer->state_cap = cap;
    }
    layer->state[layer->nstate++] = *s;
    return FXS_OK;
}

static fxs_status state_entry(reader *r) {
    fxs_state s = {.dtype = FXS_FLOAT32};
    bool wanted = true;
    s.is_buffer = accept(r, "buffer");
    s.name = word(r);
    if (s.name && fxs_dtype_find(s.name, strlen(s.name), &s.dtype))
        s.name = word(r);
    if (!s.name)
        return bad_row(r, "a name");
    /* The condition stands last but decides first: without bias there may be no sizes to compute.
     */
    const char *end = strchr(r->at, ';'), *cond = strstr(r->at, " if ");
    if (cond && (!end || cond < end)) {
        reader c = {.layer = r->layer, .at = cond + 4};
        FXS_TRY(condition(&c, &wanted));
    }
    if (wanted) {
        FXS_TRY(shape(r, &s));
        if (!accept(r, "="))
            return bad_row(r, "'='");
        FXS_TRY(init(r, &s));
        FXS_TRY(fxs_layer_add(r->layer, &s));
    }
    r->at = end ? end + 1 : r->at + strlen(r->at);
    return FXS_OK;
}

fxs_status fxs_layer_bind(fxs_ctx *ctx, fxs_arena *a, const fxs_module_row *row,
                          const fxs_value *args, const fxs_value *kwargs, fxs_layer *out) {
    *out = (fxs_layer){.ctx = ctx, .arena = a, .row = row};
    return bind_hyper(out, args, kwargs);
}

fxs_status fxs_layer_bind_state(fxs_layer *layer) {
    reader r = {.layer = layer, .at = layer->row->state ? layer->row->state : ""};
    for (blanks(&r); *r.at; blanks(&r))
        FXS_TRY(state_entry(&r));
    return layer->row->expand ? layer->row->expand(layer) : FXS_OK;
}

/* ---- the forward call
 * ---------------------------------------------------------------------------------- */

typedef struct forward {
    fxs_layer *layer;
    fxs_arena *arena;
    const fxs_value *args, *kwargs;
    bool train, traced;
    fxs_fetch_fn *fetch;
    void *user;
} forward;

static const char *parameters_of(const fxs_module_row *row) {
    return row->forward ? row->forward : "input";
}

/* Position of a word in a comma-separated list, -1 when it is not there. */
static int list_index(const char *list, const char *name) {
    size_t n = strlen(name);
    for (int i = 0;; i++) {
        list += strspn(list, " ");
        size_t len = word_len(list);
        if (len == n && memcmp(list, name, n) == 0)
            return i;
        list = strchr(list, ',');
        if (!list)
            return -1;
        list++;
    }
}

/* "name?" */
static bool is_optional(const char *list, int position) {
    for (; position > 0; position--)
        list = strchr(list, ',') + 1;
    list += strspn(list, " ");
    return list[word_len(list)] == '?';
}

static fxs_status forward_argument(const forward *f, const char *name, int position,
                                   fxs_value *out) {
    const fxs_value *v = fxs_value_item(f->args, (size_t)position);
    for (size_t k = 0; !v && k < fxs_value_len(f->kwargs); k++) {
        const char *key = fxs_value_text(fxs_value_key(f->kwargs, k));
        if (key && strcmp(key, name) == 0)
            v = fxs_value_item(f->kwargs, k);
    }
    if (!v && !is_optional(parameters_of(f->layer->row), position))
        return fxs_fail(f->layer->ctx, FXS_ETYPE, "%s: argument '%s' is missing",
                        f->layer->row->name, name);
    *out = v ? *v : fxs_none();
    return FXS_OK;
}

/* True when the row's state has an entry of that name, wanted by this layer's arguments or not. */
static bool declares_state(const char *state, const char *name) {
    for (; state; state = strchr(state, ';') ? strchr(state, ';') + 1 : NULL) {
        const char *end = strchr(state, '[');
        size_t n = 0;
        while (end && end - (ptrdiff_t)n > state &&
               (isalnum((unsigned char)end[-1 - (ptrdiff_t)n]) || end[-1 - (ptrdiff_t)n] == '_'))
            n++;
        if (n == strlen(name) && memcmp(end - n, name, n) == 0)
            return true;
    }
    return false;
}

/* All parameters in the order of the state: for layers that have as many as their arguments say. */
static fxs_status all_parameters(const forward *f, fxs_value *out) {
    size_t n = 0;
    if (f->layer->nstate == 0)
        FXS_TRY(fxs_layer_bind_state(f->layer));
    for (int i = 0; i < f->layer->nstate; i++)
        n += !f->layer->state[i].is_buffer;
    FXS_TRY(fxs_make_seq(f->layer->ctx, f->arena, FXS_V_LIST, n, out));
    n = 0;
    for (int i = 0; i < f->layer->nstate; i++)
        if (!f->layer->state[i].is_buffer)
            FXS_TRY(f->fetch(f->user, f->layer->state[i].name, &out->u.seq->items[n++]));
    return FXS_OK;
}

static fxs_status resolve(const forward *f, const char *name, fxs_value *out) {
    const fxs_value *own =
        strncmp(name, "self.", 5) == 0 ? fxs_layer_hyper(f->layer, name + 5) : NULL;
    if (own) {
        *out = *own;
        return FXS_OK;
    }
    int at = list_index(parameters_of(f->layer->row), name);
    if (at >= 0)
        return forward_argument(f, name, at, out);
    if (strcmp(name, "training") == 0) {
        /* Norms without running statistics work as in training; kernels know that themselves. */
        const fxs_value *track = fxs_layer_hyper(f->layer, "track_running_stats");
        *out = fxs_bool(f->train || (f->traced && track && !truth(track)));
        return FXS_OK;
    }
    if (strcmp(name, "parameters") == 0)
        return all_parameters(f, out);
    *out = fxs_none();
    FXS_TRY(f->fetch(f->user, name, out));
    const fxs_value *v = fxs_layer_hyper(f->layer, name);
    /* `bias` names an argument and a parameter: forward means the parameter, and None when there is
     * none. */
    if (out->tag == FXS_V_NONE && v && !declares_state(f->layer->row->state, name))
        *out = *v;
    return FXS_OK;
}

/* Length of a name with dots in it. */
static size_t path_len(const char *s) {
    size_t n = word_len(s);
    while (n && s[n] == '.' && word_len(s + n + 1))
        n += 1 + word_len(s + n + 1);
    return n;
}

/* Behind a name: "(2)" makes a tuple of two, "(f)" a float. */
static fxs_status converted(reader *r, const forward *f, fxs_value *v) {
    if (*r->at != '(' || !f->traced)
        return FXS_OK;
    const char *how = r->at + 1, *end = strchr(how, ')');
    if (!end)
        return bad_row(r, "')'");
    r->at = end + 1;
    if (*how != 'f')
        return fxs_layer_ntuple(f->layer->ctx, f->arena, *how - '0', v);
    if (v->tag == FXS_V_INT)
        *v = fxs_float((double)v->u.i);
    return FXS_OK;
}

fxs_status fxs_layer_ntuple(fxs_ctx *ctx, fxs_arena *a, int n, fxs_value *v) {
    fxs_value one = *v;
    bool list = one.tag == FXS_V_LIST, number = one.tag == FXS_V_INT || one.tag == FXS_V_FLOAT;
    if (!list && !number)
        return FXS_OK;
    size_t len = list ? fxs_value_len(&one) : (size_t)n;
    FXS_TRY(fxs_make_seq(ctx, a, FXS_V_TUPLE, len, v));
    for (size_t i = 0; i < len; i++)
        v->u.seq->items[i] = list ? *fxs_value_item(&one, i) : one;
    return FXS_OK;
}

/* A name with dots in it: a child's state (out_proj.weight), a qualified name. */
static const char *dotted(reader *r) {
    blanks(r);
    size_t n = path_len(r->at);
    const char *name = n ? fxs_arena_dup(r->layer->arena, r->at, n) : NULL;
    r->no_memory |= n && !name;
    r->at += n;
    return name;
}

/* Fetches PREFIX, NUMBER (when it is not negative) and each name of {A B C}. True in *any when one
 * was there. */
static fxs_status fetch_names(const forward *f, const char *prefix, size_t n, int number,
                              const char *names, fxs_value *out, bool *any) {
    *any = false;
    for (const char *s = names + strspn(names, " "); *s && *s != '}'; s += strspn(s, " ")) {
        fxs_buf b = {0};
        size_t len = path_len(s);
        if (number >= 0)
            fxs_buf_printf(&b, "%.*s%d.%.*s", (int)n, prefix, number, (int)len, s);
        else
            fxs_buf_printf(&b, "%.*s", (int)len, s);
        fxs_status status = fxs_buf_status(f->layer->ctx, &b);
        if (status == FXS_OK)
            status = f->fetch(f->user, b.data, out);
        fxs_buf_free(&b);
        FXS_TRY(status);
        *any |= out->tag != FXS_V_NONE;
        out++;
        s += len ? len : 1;
    }
    return FXS_OK;
}

static size_t count_names(const char *s) {
    size_t count = 0;
    for (s += strspn(s, " "); *s && *s != '}'; s += strspn(s, " ")) {
        size_t n = path_len(s);
        count += n > 0;
        s += n ? n : 1;
    }
    return count;
}

/* {A B C} is a list of state; layers.#{A B C} that of layers.0, layers.1, ... one after the other.
 */
static fxs_status group(reader *r, const forward *f, const char *prefix, size_t n, bool numbered,
                        fxs_value *out) {
    size_t names = count_names(r->at), layers = 0;
    fxs_value one[FXS_MAX_ARGS];
    bool any = true;
    if (names == 0 || names > FXS_MAX_ARGS || !strchr(r->at, '}'))
        return bad_row(r, "names and '}'");
    for (; numbered && any; layers += any) /* how many there are */
        FXS_TRY(fetch_names(f, prefix, n, (int)layers, r->at, one, &any));
    layers = numbered ? layers : 1;
    FXS_TRY(fxs_make_seq(f->layer->ctx, f->arena, FXS_V_LIST, names * layers, out));
    for (size_t i = 0; i < layers; i++)
        FXS_TRY(fetch_names(f, prefix, n, numbered ? (int)i : -1, r->at,
                            &out->u.seq->items[i * names], &any));
    r->at = strchr(r->at, '}') + 1;
    return FXS_OK;
}

static fxs_status call_value(reader *r, const forward *f, fxs_value *out) {
    blanks(r);
    if (accept(r, "{"))
        return group(r, f, "", 0, false, out);
    if (*r->at == '\'' || *r->at == '-' || isdigit((unsigned char)*r->at) ||
        strncmp(r->at, "None", 4) == 0 || strncmp(r->at, "True", 4) == 0 ||
        strncmp(r->at, "False", 5) == 0)
        return literal(r, out);
    size_t n = path_len(r->at);
    if (n && strncmp(r->at + n, ".#{", 3) == 0) {
        const char *prefix = r->at;
        r->at += n + 3;
        return group(r, f, prefix, n + 1, true, out);
    }
    const char *name = dotted(r);
    if (!name)
        return bad_row(r, "a name");
    FXS_TRY(resolve(f, name, out));
    return converted(r, f, out);
}

/* Arguments of forward that the row does not name would be lost silently: refuse them. */
static fxs_status check_surplus(const forward *f) {
    const char *list = parameters_of(f->layer->row);
    size_t n = 1;
    for (const char *s = list; (s = strchr(s, ',')); s++)
        n++;
    if (fxs_value_len(f->args) > n)
        return fxs_fail(f->layer->ctx, FXS_ETYPE, "%s: forward takes at most %d arguments, not %d",
                        f->layer->row->name, (int)n, (int)fxs_value_len(f->args));
    for (size_t k = 0; k < fxs_value_len(f->kwargs); k++) {
        const char *key = fxs_value_text(fxs_value_key(f->kwargs, k));
        if (!key || list_index(list, key) < 0)
            return fxs_fail(f->layer->ctx, FXS_ETYPE, "%s: forward has no argument '%s'",
                            f->layer->row->name, key ? key : "?");
    }
    return FXS_OK;
}

/* "(a, b, k=c)" */
static fxs_status call_arguments(reader *r, const forward *f, fxs_value *args, fxs_value *kwargs) {
    fxs_layer *layer = f->layer;
    fxs_value positional[FXS_MAX_ARGS];
    fxs_pair named[FXS_MAX_ARGS];
    size_t npositional = 0, nnamed = 0;
    if (!accept(r, "("))
        return bad_row(r, "NAME(");
    while (!accept(r, ")")) {
        if ((npositional || nnamed) && !accept(r, ","))
            return bad_row(r, "',' or ')'");
        if (npositional + nnamed == FXS_MAX_ARGS)
            return bad_row(r, "fewer arguments");
        blanks(r);
        size_t n = word_len(r->at);
        if (n && r->at[n] == '=') {
            fxs_pair *p = &named[nnamed++];
            FXS_TRY(fxs_make_text(layer->ctx, f->arena, FXS_V_STR, r->at, n, &p->key));
            r->at += n + 1;
            FXS_TRY(call_value(r, f, &p->value));
        } else {
            FXS_TRY(call_value(r, f, &positional[npositional++]));
        }
    }
    FXS_TRY(fxs_make_seq(layer->ctx, f->arena, FXS_V_TUPLE, npositional, args));
    FXS_TRY(fxs_make_dict(layer->ctx, f->arena, nnamed, kwargs));
    memcpy(args->u.seq->items, positional, npositional * sizeof *positional);
    memcpy(kwargs->u.dict->pairs, named, nnamed * sizeof *named);
    return FXS_OK;
}

fxs_status fxs_layer_call(fxs_layer *layer, fxs_arena *a, const fxs_value *given,
                          const fxs_value *kwgiven, bool train, fxs_fetch_fn *fetch, void *user,
                          const char **op, fxs_value *args, fxs_value *kwargs) {
    forward f = {.layer = layer,
                 .arena = a,
                 .args = given,
                 .kwargs = kwgiven,
                 .train = train,
                 .fetch = fetch,
                 .user = user};
    reader r = {.layer = layer, .at = layer->row->call};
    FXS_TRY(check_surplus(&f));
    *op = word(&r);
    return *op ? call_arguments(&r, &f, args, kwargs) : bad_row(&r, "NAME(");
}

fxs_status fxs_layer_traced_call(fxs_layer *layer, fxs_arena *a, const fxs_value *given,
                                 const fxs_value *kwgiven, bool train, fxs_fetch_fn *fetch,
                                 void *user, const char **op, fxs_value *args, fxs_value *kwargs) {
    forward f = {.layer = layer,
                 .arena = a,
                 .args = given,
                 .kwargs = kwgiven,
                 .train = train,
                 .traced = true,
                 .fetch = fetch,
                 .user = user};
    reader r = {.layer = layer, .at = layer->row->trace};
    FXS_TRY(check_surplus(&f));
    *op = dotted(&r);
    if (!*op)
        return bad_row(&r, "NAME(");
    if (*r.at)
        return call_arguments(&r, &f, args, kwargs);
    const char *name = *op;
    *op = NULL;
    return resolve(&f, name, args);
}
