/* opcase.c: makes calls that are given as JSON lines, in META and in EXECUTE, and compares them
 * with the answers of PyTorch that stand in the same lines: {"op": spelling, "args": [...],
 * "kwargs": {...}, "want": answer}. An answer is
 * {"value": ...} and perhaps {"self": the first argument after the call}, or {"refused": message}.
 * Layers are
 * {"layer": class, "hyper": {...}, "state": {...}} with "args" of forward.
 *   opcase            one line in, one line out: {"ok": ..., "why": ..., "row" and "schema": which
 *                     row took the call}
 *   opcase --replay F TAP, one test an operator: what `./dev test` runs where there is no PyTorch
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opcase.h"

typedef struct opcase {
    fxs_ctx *ctx;
    const json_t *line;
    bool meta;
    fxs_arena scratch;
    fxs_value args, kwargs, state, hyper, result;
    const fxs_op *row; /* that took the call */
    fxs_status status;
} opcase;

static const fxs_value *item_named(const fxs_value *dict, const char *name) {
    for (size_t i = 0; i < fxs_value_len(dict); i++)
        if (strcmp(fxs_value_text(fxs_value_key(dict, i)), name) == 0)
            return fxs_value_item(dict, i);
    return NULL;
}

/* A parameter or buffer; or an argument of the layer that a stack was made of: layers.0.nhead. */
static fxs_status fetch(void *user, const char *name, fxs_value *out) {
    const opcase *o = user;
    const fxs_value *v = item_named(&o->state, name);
    const char *dot = strrchr(name, '.');
    const fxs_value *layer = item_named(&o->hyper, "encoder_layer");
    layer = layer ? layer : item_named(&o->hyper, "decoder_layer");
    if (!v && dot && layer && strncmp(name, "layers.0.", 9) == 0)
        v = item_named(layer, dot + 1);
    if (!v && dot && strncmp(name, "encoder.layers.0.", 17) == 0)
        v = item_named(&o->hyper, dot + 1);
    *out = v ? *v : fxs_none();
    return FXS_OK;
}

static fxs_status apply(opcase *o, const fxs_candidate *ops, const fxs_value *args,
                        const fxs_value *kwargs) {
    fxs_apply how = {.meta = o->meta,
                     .train = json_is_true(json_object_get(o->line, "train")),
                     .seed = 1,
                     .scratch = &o->scratch};
    fxs_applied done = {0};
    fxs_status s = fxs_op_apply(o->ctx, ops, args, kwargs, &how, &done);
    o->result = done.result;
    o->row = done.op;
    return s;
}

static fxs_status call_layer(opcase *o, const char *name) {
    const fxs_module_row *row;
    const fxs_candidate *ops;
    const char *op;
    fxs_value args, kwargs, none;
    fxs_layer *layer = FXS_NEW(&o->scratch, fxs_layer);
    FXS_TRY(fxs_registry_find_module(o->ctx, name, &row));
    if (!row || !layer)
        return fxs_fail(o->ctx, FXS_EUNKNOWN, "there is no layer %s", name);
    FXS_TRY(fxs_make_seq(o->ctx, &o->scratch, FXS_V_TUPLE, 0, &none));
    FXS_TRY(fxs_layer_bind(o->ctx, &o->scratch, row, &none, &o->hyper, layer));
    FXS_TRY(fxs_layer_call(layer, &o->scratch, &o->args, &o->kwargs,
                           json_is_true(json_object_get(o->line, "train")), fetch, o, &op, &args,
                           &kwargs));
    FXS_TRY(fxs_registry_find_op(o->ctx, op, &ops));
    return apply(o, ops, &args, &kwargs);
}

static fxs_status call(opcase *o) {
    const char *layer = json_string_value(json_object_get(o->line, "layer"));
    const char *spelling = json_string_value(json_object_get(o->line, "op"));
    const fxs_candidate *ops;
    if (layer)
        return call_layer(o, layer);
    FXS_TRY(fxs_registry_find(o->ctx, spelling, &ops));
    if (!ops)
        return fxs_fail(o->ctx, FXS_EUNKNOWN, "no operator is spelled %s", spelling);
    return apply(o, ops, &o->args, &o->kwargs);
}

/* A member, or an empty list or dict in its place. */
static bool member(opcase *o, const char *name, fxs_tag tag, fxs_value *out) {
    json_t *j = json_object_get(o->line, name), *wrapped;
    if (!j)
        return (tag == FXS_V_TUPLE ? fxs_make_seq(o->ctx, NULL, tag, 0, out)
                                   : fxs_make_dict(o->ctx, NULL, 0, out)) == FXS_OK;
    wrapped = json_pack("{s:O}", tag == FXS_V_TUPLE ? "tuple" : "dict", j);
    bool good = opcase_value(o->ctx, wrapped, o->meta, out);
    json_decref(wrapped);
    return good;
}

static bool open_case(opcase *o) {
    return member(o, "args", FXS_V_TUPLE, &o->args) &&
           member(o, "kwargs", FXS_V_DICT, &o->kwargs) &&
           member(o, "state", FXS_V_DICT, &o->state) && member(o, "hyper", FXS_V_DICT, &o->hyper);
}

static void close_case(opcase *o) {
    fxs_value_unref(&o->result);
    fxs_value_unref(&o->args);
    fxs_value_unref(&o->kwargs);
    fxs_value_unref(&o->state);
    fxs_value_unref(&o->hyper);
    fxs_arena_clear(&o->scratch);
    fxs_ctx_clear(o->ctx);
}

static bool judge(const opcase *o, const json_t *want, fxs_buf *why) {
    const json_t *refused = json_object_get(want, "refused"), *self = json_object_get(want, "self");
    const fxs_value *first = fxs_value_item(&o->args, 0);
    opcase_compare c = {.tolerance = json_number_value(json_object_get(o->line, "tolerance")),
                        .odd = json_is_true(json_object_get(o->line, "odd")),
                        .values = !o->meta && !json_is_true(json_object_get(o->line, "random")),
                        .first =
                            first && first->tag == FXS_V_TENSOR ? first->u.tensor->storage : NULL,
                        .why = why};
    if (o->status == FXS_EUNKNOWN && o->meta)
        return true; /* it depends on values, which META does not have */
    if (o->status != FXS_OK) {
        if (refused)
            return true;
        fxs_buf_printf(why, "refused: %s", fxs_ctx_error(o->ctx));
        return false;
    }
    if (refused) {
        fxs_buf_printf(why, "taken, but PyTorch refuses: %s", json_string_value(refused));
        return o->meta && json_is_true(json_object_get(want, "by_value"));
    }
    return opcase_same(&c, &o->result, json_object_get(want, "value"), "") &&
           (!self || opcase_same(&c, first, self, "self"));
}

/* What one line comes to. */
typedef struct verdict {
    char name[80];     /* how the operator is spelled, or the layer */
    const fxs_op *row; /* that took the call; NULL: none */
    fxs_status meta;   /* what META made of it */
    fxs_buf why;
} verdict;

static bool check_mode(fxs_ctx *ctx, const json_t *line, bool meta, verdict *v) {
    fxs_buf *why = &v->why;
    opcase o = {.ctx = ctx, .line = line, .meta = meta};
    bool good = open_case(&o);
    if (good) {
        o.status = call(&o);
        fxs_buf_puts(why, meta ? "META " : "EXECUTE ");
        good = judge(&o, json_object_get(line, "want"), why);
        v->row = o.status == FXS_OK ? o.row : NULL;
        v->meta = meta ? o.status : v->meta;
    } else {
        fxs_buf_puts(why, "the case can't be read");
    }
    close_case(&o);
    return good;
}

static bool check(fxs_ctx *ctx, const char *text, verdict *v) {
    json_error_t e;
    json_t *line = json_loads(text, 0, &e);
    const char *op = json_string_value(json_object_get(line, "op"));
    const char *layer = json_string_value(json_object_get(line, "layer"));
    snprintf(v->name, sizeof v->name, "%s", op ? op : layer ? layer : "?");
    bool good = line && check_mode(ctx, line, true, v);
    if (good) {
        v->why.len = 0;
        good = check_mode(ctx, line, false, v);
    }
    if (!line)
        fxs_buf_puts(&v->why, e.text);
    json_decref(line);
    return good;
}

static int answer(fxs_ctx *ctx) {
    char *text = NULL;
    size_t cap = 0;
    while (getline(&text, &cap, stdin) > 0) {
        verdict v = {0};
        bool good = check(ctx, text, &v);
        json_t *a = json_pack(
            "{s:b,s:s,s:s,s:s,s:s}", "ok", good, "why", good || !v.why.data ? "" : v.why.data,
            "row", v.row ? v.row->name : "", "schema", v.row ? v.row->schema : "", "meta",
            v.meta == FXS_OK         ? "taken"
            : v.meta == FXS_EUNKNOWN ? "unknown"
                                     : "refused");
        json_dumpf(a, stdout, JSON_COMPACT);
        putchar('\n');
        fflush(stdout);
        json_decref(a);
        fxs_buf_free(&v.why);
    }
    free(text);
    return 0;
}

/* Cases of one operator stand together. */
static int replay(fxs_ctx *ctx, const char *path) {
    FILE *f = fopen(path, "r");
    char *text = NULL, last[sizeof((verdict *)0)->name] = "";
    size_t cap = 0;
    int tests = 0, bad = 0, group = 0, cases = 0;
    if (!f)
        return 1;
    while (getline(&text, &cap, f) > 0) {
        verdict v = {0};
        bool good = check(ctx, text, &v);
        if (strcmp(v.name, last) != 0) {
            if (*last)
                printf("%sok %d - %s, %d cases\n", group ? "not " : "", ++tests, last, cases);
            group = cases = 0;
            strcpy(last, v.name);
        }
        if (!good)
            printf("# %s: %s\n# %.900s\n", v.name, v.why.data ? v.why.data : "?", text);
        bad += !good;
        group += !good;
        cases++;
        fxs_buf_free(&v.why);
    }
    if (*last)
        printf("%sok %d - %s, %d cases\n", group ? "not " : "", ++tests, last, cases);
    printf("1..%d\n", tests);
    free(text);
    fclose(f);
    return bad != 0;
}

int main(int argc, char **argv) {
    fxs_ctx *ctx = fxs_ctx_new();
    if (!ctx)
        return 1;
    int status = argc == 3 && strcmp(argv[1], "--replay") == 0 ? replay(ctx, argv[2]) : answer(ctx);
    fxs_ctx_free(ctx);
    return status;
}
