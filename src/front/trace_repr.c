/* trace_repr.c: a layer's constructor arguments as print(model) shows them, by the .repr of its
 * row. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "front/trace.h"

/* One item of .repr. */
typedef struct item {
    const char *name;      /* of the hyper-parameter */
    const char *literal;   /* what is shown as it stands, instead of an argument; NULL: none */
    const char *otherwise; /* whose value it takes when it is None; NULL: none */
    const char *below;     /* whose value it is added to when it is negative; NULL: none */
    int times;             /* an int becomes a tuple of that many; 0: stays */
    bool keyword, only_other, quoted, floating;
} item;

typedef struct writer {
    fxs_text *t;
    const fxs_module_row *row;
    fxs_layer *layer;
    fxs_buf text;
    bool shown[FXS_MAX_HYPER];
    size_t nargs, nkwargs, nhidden;
    fxs_value args[FXS_MAX_HYPER];
    fxs_pair kwargs[FXS_MAX_HYPER];
} writer;

static char *word(writer *w, const char **s) {
    size_t n = fxs_word_len(*s);
    char *name = fxs_arena_dup(w->t->arena, *s, n);
    *s += n;
    return name;
}

static bool next_item(writer *w, const char **s, item *out) {
    *out = (item){0};
    *s += strspn(*s, ", ");
    if (!**s)
        return false;
    if (**s == ':') {
        size_t n = strcspn(++*s, ",");
        out->name = out->literal = fxs_arena_dup(w->t->arena, *s, n);
        *s += n;
        return true;
    }
    out->name = word(w, s);
    if (**s == '(') {
        out->times = atoi(*s + 1);
        *s += strcspn(*s, ")") + 1;
    }
    if (**s == '|') {
        ++*s;
        out->otherwise = word(w, s);
    }
    if (**s == '-') {
        ++*s;
        out->below = word(w, s);
    }
    if (**s == '=') {
        out->keyword = true;
        for (++*s; **s && **s != ','; ++*s) {
            out->only_other |= **s == '?';
            out->quoted |= **s == '!';
            out->floating |= **s == 'f';
        }
    }
    return true;
}

static int hyper_index(const fxs_layer *layer, const char *name) {
    for (int i = 0; i < layer->nhyper; i++)
        if (strcmp(layer->hyper_names[i], name) == 0)
            return i;
    return -1;
}

/* The default that the row gives, UNKNOWN when the parameter is required. */
static fxs_status default_of(writer *w, int i, fxs_value *out) {
    const char *s = w->row->hyper;
    size_t n = strlen(w->layer->hyper_names[i]);
    *out = (fxs_value){.tag = FXS_V_UNKNOWN};
    for (; s && *s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) {
        s += strspn(s, " ");
        if (strncmp(s, w->layer->hyper_names[i], n) != 0 || s[n] != '=')
            continue;
        fxs_text inner = *w->t;
        inner.begin = inner.at = s + n + 1;
        inner.end = inner.at + strcspn(inner.at, ",");
        return fxs_text_value(&inner, FXS_IN_REPR, 0, out);
    }
    return FXS_OK;
}

static fxs_value as_float(fxs_value v) { return v.tag == FXS_V_INT ? fxs_float((double)v.u.i) : v; }

/* Numbers as tuples, ints as floats, from the end: as the layer's constructor keeps them. */
static fxs_status kept_form(writer *w, const item *it, fxs_value *v) {
    if (it->times)
        FXS_TRY(fxs_layer_ntuple(w->t->ctx, w->t->arena, it->times, v));
    if (it->below && v->tag == FXS_V_INT && v->u.i < 0)
        v->u.i += fxs_layer_int(w->layer, it->below, 0);
    if (!it->floating)
        return FXS_OK;
    *v = as_float(*v);
    if (v->tag != FXS_V_TUPLE && v->tag != FXS_V_LIST)
        return FXS_OK;
    fxs_value given = *v;
    FXS_TRY(fxs_value_copy(w->t->ctx, w->t->arena, &given, v));
    for (size_t i = 0; i < fxs_value_len(v); i++)
        v->u.seq->items[i] = as_float(v->u.seq->items[i]);
    return FXS_OK;
}

static fxs_status keep(writer *w, const char *keyword, fxs_value v) {
    if (!keyword) {
        w->args[w->nargs++] = v;
        return FXS_OK;
    }
    fxs_pair *p = &w->kwargs[w->nkwargs++];
    p->value = v;
    return fxs_make_text(w->t->ctx, w->t->arena, FXS_V_STR, keyword, strlen(keyword), &p->key);
}

static fxs_status write_item(writer *w, const item *it) {
    int i = hyper_index(w->layer, it->name);
    fxs_value v, fallback;
    if (it->literal) {
        fxs_buf_printf(&w->text, "%s%s", w->text.len ? ", " : "", it->literal);
        return FXS_OK;
    }
    if (i < 0)
        return fxs_fail(w->t->ctx, FXS_EPARSE, "row %s: .repr names '%s', which is no argument",
                        w->row->name, it->name);
    v = w->layer->hyper[i];
    FXS_TRY(default_of(w, i, &fallback));
    if (v.tag == FXS_V_NONE && it->otherwise && fxs_layer_hyper(w->layer, it->otherwise))
        v = *fxs_layer_hyper(w->layer, it->otherwise);
    FXS_TRY(kept_form(w, it, &v));
    FXS_TRY(kept_form(w, it, &fallback));
    w->shown[i] = true;
    if (it->only_other && fxs_value_equal(&v, &fallback))
        return FXS_OK;
    fxs_buf_puts(&w->text, w->text.len ? ", " : "");
    if (it->keyword)
        fxs_buf_printf(&w->text, "%s=", it->name);
    if (it->quoted)
        fxs_buf_repr(&w->text, &v, &(fxs_repr){0});
    else
        fxs_buf_str(&w->text, &v, &(fxs_repr){0});
    return keep(w, it->keyword ? it->name : NULL, v);
}

/* What print(model) does not tell is kept all the same. */
static fxs_status keep_hidden(writer *w) {
    for (int i = 0; i < w->layer->nhyper; i++) {
        fxs_value fallback;
        if (w->shown[i])
            continue;
        FXS_TRY(default_of(w, i, &fallback));
        /* A module (encoder_layer) has become a child. */
        if (w->row->children && w->layer->hyper[i].tag == FXS_V_OPAQUE)
            continue;
        if (fxs_value_equal(&w->layer->hyper[i], &fallback))
            continue;
        FXS_TRY(keep(w, w->layer->hyper_names[i], w->layer->hyper[i]));
        w->nhidden++;
    }
    return FXS_OK;
}

static fxs_status check_keywords(const writer *w, const fxs_value *kwargs) {
    bool any = w->row->hyper && *w->row->hyper == '*';
    for (size_t k = 0; k < fxs_value_len(kwargs) && !any; k++) {
        const char *name = fxs_value_text(fxs_value_key(kwargs, k));
        if (hyper_index(w->layer, name) < 0 && strcmp(name, "device") != 0 &&
            strcmp(name, "dtype") != 0)
            return fxs_fail(w->t->ctx, FXS_ETYPE, "%s: there is no argument '%s'", w->row->name,
                            name);
    }
    return FXS_OK;
}

static fxs_status make(writer *w, fxs_module **out) {
    fxs_value args, kwargs;
    FXS_TRY(fxs_make_seq(w->t->ctx, w->t->arena, FXS_V_TUPLE, w->nargs, &args));
    FXS_TRY(fxs_make_dict(w->t->ctx, w->t->arena, w->nkwargs, &kwargs));
    memcpy(args.u.seq->items, w->args, w->nargs * sizeof *w->args);
    memcpy(kwargs.u.dict->pairs, w->kwargs, w->nkwargs * sizeof *w->kwargs);
    FXS_TRY(fxs_buf_status(w->t->ctx, &w->text));
    FXS_TRY(fxs_module_new(w->t->ctx, w->row->name, &args, &kwargs, out));
    (*out)->nhidden = w->nhidden;
    if (w->nargs + w->nkwargs == 0 && w->text.len == 0)
        return FXS_OK;
    (*out)->extra = fxs_memdup0(w->text.data ? w->text.data : "", w->text.len);
    return (*out)->extra ? FXS_OK : fxs_fail_memory(w->t->ctx);
}

fxs_status fxs_layer_from_constructor(fxs_text *t, const fxs_module_row *row, const fxs_value *args,
                                      const fxs_value *kwargs, fxs_module **out) {
    writer *w = FXS_NEW(t->arena, writer);
    const char *at = row->repr;
    item it;
    if (!w || !(w->layer = FXS_NEW(t->arena, fxs_layer)))
        return fxs_fail_memory(t->ctx);
    w->t = t;
    w->row = row;
    fxs_status s = fxs_layer_bind(t->ctx, t->arena, row, args, kwargs, w->layer);
    if (s == FXS_OK)
        s = check_keywords(w, kwargs);
    while (s == FXS_OK && next_item(w, &at, &it))
        s = it.name ? write_item(w, &it) : fxs_fail_memory(t->ctx);
    if (s == FXS_OK)
        s = keep_hidden(w);
    if (s == FXS_OK)
        s = make(w, out);
    if (s == FXS_OK && (row->children || row->plan))
        s = fxs_layer_children(t, w->layer, *out);
    fxs_buf_free(&w->text);
    return s;
}
