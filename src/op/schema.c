/* schema.c: parses signatures in PyTorch's syntax; binding is in bind.c. */
#include "op/schema.h"

#include <ctype.h>
#include <string.h>

#include "base/pytext.h"

typedef struct cursor {
    fxs_ctx *ctx;
    fxs_arena *arena;
    const char *text, *at;
} cursor;

static const struct {
    const char *name;
    fxs_type one, many;
} type_names[] = {
    {"Tensor", FXS_T_TENSOR, FXS_T_TENSORS},
    {"int", FXS_T_INT, FXS_T_INTS},
    {"float", FXS_T_FLOAT, FXS_T_COUNT},
    {"Scalar", FXS_T_SCALAR, FXS_T_COUNT},
    {"number", FXS_T_NUMBER, FXS_T_COUNT},
    {"bool", FXS_T_BOOL, FXS_T_COUNT},
    {"str", FXS_T_STR, FXS_T_COUNT},
    {"dtype", FXS_T_DTYPE, FXS_T_COUNT},
    {"device", FXS_T_DEVICE, FXS_T_COUNT},
    {"layout", FXS_T_LAYOUT, FXS_T_COUNT},
    {"memory_format", FXS_T_MEMORY_FORMAT, FXS_T_COUNT},
    {"any", FXS_T_ANY, FXS_T_ANY},
};

static fxs_status bad(cursor *c, const char *what) {
    return fxs_fail(c->ctx, FXS_EPARSE, "schema '%s': %s at column %d", c->text, what,
                    (int)(c->at - c->text) + 1);
}

static void skip_blanks(cursor *c) {
    while (*c->at == ' ')
        c->at++;
}

static bool accept(cursor *c, const char *s) {
    skip_blanks(c);
    size_t n = strlen(s);
    if (strncmp(c->at, s, n) != 0)
        return false;
    c->at += n;
    return true;
}

static size_t word_len(const char *s) {
    size_t n = 0;
    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static fxs_status parse_one_type(cursor *c, fxs_param *p) {
    skip_blanks(c);
    size_t n = word_len(c->at);
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (strlen(type_names[i].name) != n || memcmp(type_names[i].name, c->at, n) != 0)
            continue;
        c->at += n;
        fxs_type t = type_names[i].one;
        if (strncmp(c->at, "...", 3) == 0) {
            c->at += 3;
            p->variadic = true;
            t = type_names[i].many;
        } else if (*c->at == '[') {
            c->at++;
            while (isdigit((unsigned char)*c->at))
                p->count = p->count * 10 + (*c->at++ - '0');
            if (*c->at++ != ']')
                return bad(c, "']' expected");
            t = type_names[i].many;
        }
        if (t == FXS_T_COUNT)
            return bad(c, "this type has no list form");
        p->types |= 1u << t;
        if (*c->at == '?') {
            c->at++;
            p->optional = true;
        }
        return FXS_OK;
    }
    return bad(c, "unknown type");
}

static fxs_status parse_default_list(cursor *c, fxs_value *out);

static fxs_status parse_default(cursor *c, fxs_value *out) {
    skip_blanks(c);
    if (*c->at == '[')
        return parse_default_list(c, out);
    if (*c->at == '\'') {
        const char *end = strchr(c->at + 1, '\'');
        if (!end)
            return bad(c, "unclosed string");
        FXS_TRY(
            fxs_make_text(c->ctx, c->arena, FXS_V_STR, c->at + 1, (size_t)(end - c->at - 1), out));
        c->at = end + 1;
        return FXS_OK;
    }
    size_t n = strcspn(c->at, ",)] ");
    const char *s = c->at;
    int64_t i;
    double f;
    fxs_dtype d;
    c->at += n;
    if (n == 4 && memcmp(s, "None", n) == 0)
        *out = fxs_none();
    else if ((n == 4 && memcmp(s, "True", n) == 0) || (n == 5 && memcmp(s, "False", n) == 0))
        *out = fxs_bool(*s == 'T');
    else if (fxs_read_int(s, n, &i))
        *out = fxs_int(i);
    else if (fxs_read_float(s, n, &f))
        *out = fxs_float(f);
    else if (fxs_dtype_find(s, n, &d))
        *out = (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d};
    else if (n == 17 && memcmp(s, "contiguous_format", n) == 0)
        *out = (fxs_value){.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_CONTIGUOUS};
    else if (n == 15 && memcmp(s, "preserve_format", n) == 0)
        *out = (fxs_value){.tag = FXS_V_MEMORY_FORMAT, .u.format = FXS_PRESERVE};
    else {
        c->at = s;
        return bad(c, "a default value expected");
    }
    return FXS_OK;
}

static fxs_status parse_default_list(cursor *c, fxs_value *out) {
    fxs_value items[8];
    size_t n = 0;
    c->at++;
    while (!accept(c, "]")) {
        if (n == 8 || (n && !accept(c, ",")))
            return bad(c, "',' or ']' expected");
        FXS_TRY(parse_default(c, &items[n++]));
    }
    FXS_TRY(fxs_make_seq(c->ctx, c->arena, FXS_V_LIST, n, out));
    memcpy(out->u.seq->items, items, n * sizeof *items);
    return FXS_OK;
}

static fxs_status parse_param(cursor *c, fxs_param *p) {
    do
        FXS_TRY(parse_one_type(c, p));
    while (*c->at == '|' && c->at++);
    skip_blanks(c);
    size_t n = word_len(c->at);
    if (n == 0)
        return bad(c, "a name expected");
    p->name = fxs_arena_dup(c->arena, c->at, n);
    if (!p->name)
        return fxs_fail_memory(c->ctx);
    c->at += n;
    if (!accept(c, "="))
        return FXS_OK;
    p->has_default = true;
    return parse_default(c, &p->fallback);
}

/* Of most operators most arguments are numbers: who looks for tensors looks at these alone. */
static void note_holders(fxs_schema *s) {
    const unsigned some = 1u << FXS_T_TENSOR | 1u << FXS_T_TENSORS | 1u << FXS_T_ANY;
    for (int i = 0; i < s->nparams; i++)
        if (s->params[i].types & some)
            s->holders[s->nholders++] = (unsigned char)i;
}

fxs_status fxs_schema_parse(fxs_ctx *ctx, fxs_arena *a, const char *text, fxs_schema *out) {
    cursor c = {.ctx = ctx, .arena = a, .text = text, .at = text};
    bool keyword_only = false;
    *out = (fxs_schema){.returns = ""};
    if (!accept(&c, "("))
        return bad(&c, "'(' expected");
    while (!accept(&c, ")")) {
        if ((out->nparams || keyword_only) && !accept(&c, ","))
            return bad(&c, "',' or ')' expected");
        if (accept(&c, "*")) {
            keyword_only = true;
            continue;
        }
        if (out->nparams == FXS_MAX_ARGS)
            return bad(&c, "too many parameters");
        fxs_param *p = &out->params[out->nparams++];
        p->keyword_only = keyword_only;
        FXS_TRY(parse_param(&c, p));
    }
    if (!accept(&c, "->"))
        return bad(&c, "'->' expected");
    skip_blanks(&c);
    out->returns = c.at;
    out->inplace = fxs_schema_index(out, "inplace");
    note_holders(out);
    out->requires_grad = fxs_schema_index(out, "requires_grad");
    return FXS_OK;
}

int fxs_schema_index(const fxs_schema *s, const char *name) {
    for (int i = 0; i < s->nparams; i++)
        if (strcmp(s->params[i].name, name) == 0)
            return i;
    return -1;
}
