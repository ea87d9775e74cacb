/* trace_signature.c: the signature of a forward ("x: torch.Tensor, y=None, *args") into parameters,
 * and the arguments of a call onto them, as Python binds them. */
#include <string.h>

#include "front/trace.h"

typedef struct signature {
    fxs_text t; /* over a copy in the forward's arena */
    struct fxs_forward *f;
    bool keyword_only;
} signature;

/* The end of what stands before one of `stops`, brackets and quotes left out. */
static const char *part_end(const char *s, const char *stops) {
    int depth = 0;
    for (char quote = '\0'; *s; s++) {
        if (quote)
            quote = *s == quote ? '\0' : quote;
        else if (*s == '\'' || *s == '"')
            quote = *s;
        else if (depth == 0 && strchr(stops, *s))
            return s;
        else
            depth += strchr("([{", *s) ? 1 : strchr(")]}", *s) ? -1 : 0;
    }
    return s;
}

static char *trimmed(fxs_arena *a, const char *s, const char *end) {
    while (s < end && *s == ' ')
        s++;
    while (end > s && end[-1] == ' ')
        end--;
    return fxs_arena_dup(a, s, (size_t)(end - s));
}

static fxs_status parse_default(signature *s, fxs_forward_param *p) {
    fxs_text_blanks(&s->t);
    const char *end = part_end(s->t.at, ",");
    fxs_text inner = s->t;
    inner.end = end;
    while (inner.end > inner.at && inner.end[-1] == ' ')
        inner.end--;
    FXS_TRY(fxs_text_value(&inner, FXS_IN_REPR, 0, &p->fallback));
    if (inner.at != inner.end)
        return fxs_text_expected(&inner, "',' behind the default");
    p->has_default = true;
    s->t.at = end;
    return FXS_OK;
}

static fxs_status parse_param(signature *s) {
    fxs_text *t = &s->t;
    fxs_forward_param p = {.keyword_only = s->keyword_only};
    while (fxs_text_accept(t, "*"))
        p.stars++;
    size_t n = fxs_word_len(t->at);
    if (n == 0 && p.stars == 1) { /* a bare star: what follows is by keyword only */
        s->keyword_only = true;
        return FXS_OK;
    }
    if (n == 0 || p.stars > 2)
        return fxs_text_expected(t, "the name of a parameter");
    if (s->f->nparams == FXS_MAX_ARGS)
        return fxs_text_fail(t, t->at, "more than %d parameters", FXS_MAX_ARGS);
    p.name = fxs_arena_dup(t->arena, t->at, n);
    t->at += n;
    fxs_text_blanks(t);
    if (fxs_text_accept(t, ":")) {
        const char *end = part_end(t->at, ",=");
        p.type = trimmed(t->arena, t->at, end);
        t->at = end;
        if (!p.type)
            return fxs_fail_memory(t->ctx);
        if (!*p.type)
            return fxs_text_expected(t, "a type");
        if (p.stars)
            p.type = NULL; /* torch.fx gives starred parameters no type */
    }
    if (!p.name)
        return fxs_fail_memory(t->ctx);
    if (fxs_text_accept(t, "="))
        FXS_TRY(parse_default(s, &p));
    s->keyword_only = s->keyword_only || p.stars == 1;
    s->f->params[s->f->nparams++] = p;
    return FXS_OK;
}

/* Cuts "-> TYPE" off: the type of what the forward returns. */
static fxs_status cut_returns(signature *s, char *text) {
    for (char *at = text; *(at = (char *)part_end(at, "-")); at++) {
        if (at[1] != '>')
            continue;
        s->f->returns = trimmed(s->t.arena, at + 2, at + strlen(at));
        *at = '\0';
        s->t.end = at;
        return s->f->returns ? FXS_OK : fxs_fail_memory(s->t.ctx);
    }
    return FXS_OK;
}

static fxs_status parse_signature(signature *s) {
    for (fxs_text_blanks(&s->t); *s->t.at; fxs_text_blanks(&s->t)) {
        FXS_TRY(parse_param(s));
        fxs_text_blanks(&s->t);
        if (*s->t.at && !fxs_text_accept(&s->t, ","))
            return fxs_text_expected(&s->t, "',' between parameters");
    }
    return FXS_OK;
}

fxs_status fxs_forward_new(fxs_ctx *ctx, const char *text, fxs_forward_fn *fn, void *user,
                           struct fxs_forward **out) {
    struct fxs_forward *f = *out = fxs_alloc0(1, sizeof *f);
    if (!f)
        return fxs_fail_memory(ctx);
    f->fn = fn;
    f->user = user;
    char *copy = fxs_arena_dup(&f->arena, text, strlen(text));
    signature s = {
        .t = {.ctx = ctx, .file = "signature", .begin = copy, .at = copy, .arena = &f->arena},
        .f = f};
    s.t.end = copy ? copy + strlen(copy) : NULL;
    fxs_status status = copy ? cut_returns(&s, copy) : fxs_fail_memory(ctx);
    if (status == FXS_OK)
        status = parse_signature(&s);
    if (s.keyword_only || (f->nparams && f->params[f->nparams - 1].stars))
        f->returns = NULL; /* torch.fx compiles such functions anew, and this gets lost */
    if (status != FXS_OK) {
        fxs_forward_free(f);
        *out = NULL;
    }
    return status;
}

void fxs_forward_free(struct fxs_forward *f) {
    if (!f)
        return;
    fxs_arena_clear(&f->arena);
    fxs_free(f);
}

fxs_status fxs_nn_forward(fxs_module *m, const char *text, fxs_forward_fn *fn, void *user) {
    struct fxs_forward *f;
    if (!m)
        return FXS_EINVAL; /* the error of whatever did not make it is kept in the context */
    FXS_TRY(fxs_need(m->ctx, text, "fxs_nn_forward: signature"));
    if (!fn)
        return fxs_fail(m->ctx, FXS_EINVAL, "fxs_nn_forward: forward is NULL");
    FXS_TRY(fxs_forward_new(m->ctx, text, fn, user, &f));
    if (m->forward)
        m->forward_free(m->forward);
    m->forward = f;
    m->forward_free = fxs_forward_free;
    return FXS_OK;
}

const struct fxs_forward *fxs_forward_of(const fxs_module *m) {
    static const struct fxs_forward sequential = {
        .fn = fxs_forward_sequential, .nparams = 1, .params = {{.name = "input"}}};
    if (m->forward)
        return m->forward;
    return strcmp(m->class_name, "Sequential") == 0 ? &sequential : NULL;
}

/* ---- binding
 * -----------------------------------------------------------------------------------------------------
 */

typedef struct binding {
    fxs_tracer *t;
    const struct fxs_forward *f;
    const char *class_name;
    fxs_proxy *x;
    fxs_proxy *rest; /* positional arguments of *args, then keywords of **kwargs in pairs */
    size_t nrest, nkeywords;
} binding;

static int param_index(const struct fxs_forward *f, const char *name) {
    for (int i = 0; i < f->nparams; i++)
        if (!f->params[i].stars && strcmp(f->params[i].name, name) == 0)
            return i;
    return -1;
}

static int stars_index(const struct fxs_forward *f, int stars) {
    for (int i = 0; i < f->nparams; i++)
        if (f->params[i].stars == stars)
            return i;
    return -1;
}

static bool bind_keyword(binding *b, const fxs_proxy *p) {
    int i = param_index(b->f, p->keyword);
    fxs_proxy plain = *p;
    plain.keyword = NULL;
    if (i >= 0 && b->x[i].kind == FXS_P_ABSENT) {
        b->x[i] = plain;
        return true;
    }
    if (i >= 0)
        fxs_tracer_fail(b->t, FXS_ETYPE, "%s.forward() got multiple values for argument '%s'",
                        b->class_name, p->keyword);
    else if (stars_index(b->f, 2) < 0)
        fxs_tracer_fail(b->t, FXS_ETYPE, "%s.forward() got an unexpected keyword argument '%s'",
                        b->class_name, p->keyword);
    if (b->t->failed)
        return false;
    b->rest[2 * b->nkeywords] = fxs_s(p->keyword);
    b->rest[2 * b->nkeywords++ + 1] = plain;
    return true;
}

/* What *args or **kwargs stand for in a call inside the network: a tuple or dict that is there. */
static bool bind_rest(binding *b, int stars, fxs_tag tag, size_t n) {
    int i = stars_index(b->f, stars);
    fxs_proxy all = {
        .tracer = b->t, .kind = FXS_P_ITEMS, .tag = (unsigned char)tag, .n = (unsigned)n};
    fxs_value v;
    if (i < 0)
        return true;
    all.u.items = b->rest;
    if (!fxs_proxy_value(b->t, &b->t->arena, &all, &v))
        return false;
    b->x[i] = fxs_made(b->t, v);
    return true;
}

static bool fill_defaults(binding *b) {
    for (int i = 0; i < b->f->nparams; i++) {
        const fxs_forward_param *p = &b->f->params[i];
        if (p->stars || b->x[i].kind != FXS_P_ABSENT)
            continue;
        if (!p->has_default) {
            fxs_tracer_fail(b->t, FXS_ETYPE, "%s.forward() missing a required argument: '%s'",
                            b->class_name, p->name);
            return false;
        }
        b->x[i] = fxs_made(b->t, p->fallback);
    }
    return true;
}

bool fxs_forward_bind(fxs_tracer *t, const struct fxs_forward *f, const char *class_name, size_t n,
                      const fxs_proxy *p, fxs_proxy *x) {
    binding b = {.t = t, .f = f, .class_name = class_name, .x = x};
    int next = 0;
    memset(x, 0, FXS_MAX_ARGS * sizeof *x);
    b.rest = FXS_NEW_N(&t->arena, fxs_proxy, 2 * n + 1);
    if (!b.rest)
        return fxs_tracer_failed(t, fxs_fail_memory(t->ctx)), false;
    for (size_t i = 0; i < n; i++) {
        if (p[i].keyword)
            continue;
        while (next < f->nparams && f->params[next].stars)
            next++;
        if (next < f->nparams && !f->params[next].keyword_only)
            x[next++] = p[i];
        else if (stars_index(f, 1) >= 0)
            b.rest[b.nrest++] = p[i];
        else
            return fxs_tracer_fail(t, FXS_ETYPE,
                                   "%s.forward() takes %d arguments but more were given",
                                   class_name, f->nparams),
                   false;
    }
    if (!bind_rest(&b, 1, FXS_V_TUPLE, b.nrest))
        return false;
    for (size_t i = 0; i < n; i++)
        if (p[i].keyword && !bind_keyword(&b, &p[i]))
            return false;
    return bind_rest(&b, 2, FXS_V_DICT, 2 * b.nkeywords) && fill_defaults(&b);
}
