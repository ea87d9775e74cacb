/* render_testing.h: what the tests of pictures share: graphs made by hand with what a run would
 * have recorded, pictures in memory, and a small check that a text is well-formed XML. */
#ifndef FXS_TESTS_RENDER_TESTING_H
#define FXS_TESTS_RENDER_TESTING_H

#include "testing.h"

#include "ir/module.h"
#include "render/fxrender.h"

/* ---- graphs ---- */

static inline fxs_module *new_graph_module(fxs_ctx *ctx, const char *class_name) {
    fxs_module *m;
    fxs_graph *g;
    assert_ok(ctx, fxs_module_new(ctx, class_name, NULL, NULL, &m));
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    fxs_module_set_graph(m, g);
    return m;
}

/* args is dropped after. */
static inline fxs_node *add_node(fxs_module *m, fxs_kind kind, const char *target, fxs_value args,
                                 const char *name) {
    fxs_node *n;
    assert_ok(m->ctx,
              fxs_graph_create_node(m->graph, kind, target, args.tag == FXS_V_TUPLE ? &args : NULL,
                                    NULL, name, NULL, &n));
    fxs_value_unref(&args);
    return n;
}

static inline fxs_value meta_tensor(fxs_ctx *ctx, fxs_dtype d, int ndim, const int64_t *sizes) {
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_new_meta(ctx, d, ndim, sizes, &t));
    return fxs_of_tensor(t);
}

/* Records a result, whose reference is taken over. */
static inline void set_done(fxs_node *n, fxs_value result) {
    n->meta.outcome = FXS_DONE;
    n->meta.result = result;
    n->meta.has_tensor = fxs_value_has_tensor(&result);
    n->meta.type_name = fxs_value_type_name(&result);
}

static inline void set_message(fxs_node *n, fxs_outcome outcome, const char *message) {
    n->meta.outcome = outcome;
    n->meta.message = fxs_arena_dup(&n->graph->arena, message, strlen(message));
}

#define ONE(ctx, v) TUPLE(ctx, v)
#define TENSOR_OF(...) meta_tensor(ctx, FXS_FLOAT32, SIZES(__VA_ARGS__))

/* The article's model as far as a picture needs it: a layer, a skip, a size that is no tensor. */
static inline fxs_module *sample_module(fxs_ctx *ctx) {
    fxs_module *m = new_graph_module(ctx, "TestModel"), *conv;
    fxs_value sizes = TUPLE(ctx, fxs_int(3), fxs_int(4));
    assert_ok(ctx, fxs_module_new(ctx, "Pointwise", &sizes, NULL, &conv));
    fxs_value_unref(&sizes);
    assert_ok(ctx, fxs_module_add_child(m, "conv", conv));
    fxs_module_unref(conv);
    fxs_node *x = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
    fxs_node *y = add_node(m, FXS_PLACEHOLDER, "y", fxs_none(), NULL);
    fxs_node *layer = add_node(m, FXS_CALL_MODULE, "conv", ONE(ctx, fxs_of_node(x)), NULL);
    fxs_node *size = add_node(m, FXS_CALL_METHOD, "size", ONE(ctx, fxs_of_node(layer)), NULL);
    fxs_node *resize = add_node(m, FXS_CALL_FUNCTION, "torch.nn.functional.interpolate",
                                TUPLE(ctx, fxs_of_node(y), fxs_of_node(size)), NULL);
    fxs_node *sum = add_node(m, FXS_CALL_FUNCTION, "operator.add",
                             TUPLE(ctx, fxs_of_node(layer), fxs_of_node(resize)), NULL);
    fxs_node *twice = add_node(m, FXS_CALL_FUNCTION, "operator.add",
                               TUPLE(ctx, fxs_of_node(sum), fxs_of_node(sum)), NULL);
    fxs_node *out = add_node(m, FXS_OUTPUT, "output", ONE(ctx, fxs_of_node(twice)), NULL);
    set_done(x, TENSOR_OF(1, 3, 16, 16));
    set_done(y, TENSOR_OF(1, 4, 8, 8));
    set_done(layer, TENSOR_OF(1, 4, 16, 16));
    fxs_value shape;
    assert_ok(ctx, fxs_make_size(ctx, SIZES(1, 4, 16, 16), &shape));
    set_done(size, shape);
    set_done(resize, TENSOR_OF(1, 4, 16, 16));
    set_done(sum, TENSOR_OF(1, 4, 16, 16));
    set_done(twice, TENSOR_OF(1, 4, 16, 16));
    set_done(out, TENSOR_OF(1, 4, 16, 16));
    return m;
}

/* A chain of n nodes that were not run. */
static inline fxs_module *chain_module(fxs_ctx *ctx, int n) {
    fxs_module *m = new_graph_module(ctx, "Chain");
    fxs_node *at = add_node(m, FXS_PLACEHOLDER, "x", fxs_none(), NULL);
    for (int i = 1; i < n; i++)
        at = add_node(m, FXS_CALL_FUNCTION, "torch.relu", ONE(ctx, fxs_of_node(at)), NULL);
    return m;
}

/* ---- pictures ---- */

/* Free it. */
__attribute__((noinline, unused)) static char *draw(fxs_module *m, const fxs_draw_options *opt,
                                                    const char *format, size_t *len) {
    char *bytes = NULL, *notes = NULL;
    size_t n = 0;
    assert_ok(m->ctx, fxs_draw_memory(m, opt, format, &bytes, &n, &notes));
    assert_non_null(notes);
    fxs_free(notes);
    if (len)
        *len = n;
    return bytes;
}

static inline size_t count_of(const char *text, const char *what) {
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* ---- XML ---- */

static inline bool xml_text_ok(const char *s, const char *end, bool attribute) {
    for (; s < end; s++) {
        if (*s == '<' || (attribute && *s == '"') || ((unsigned char)*s < 0x20 && *s != '\n'))
            return false;
        if (*s != '&')
            continue;
        static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#10;"};
        bool known = false;
        for (size_t i = 0; i < 5; i++)
            known |= strncmp(s, names[i], strlen(names[i])) == 0;
        if (!known)
            return false;
    }
    return true;
}

/* One tag from behind '<' on; the place behind '>', NULL when it is wrong. */
static inline const char *xml_tag(const char *s, bool *empty) {
    s += strcspn(s, " \n/>");
    for (;;) {
        s += strspn(s, " \n");
        *empty = *s == '/';
        if (*s == '/')
            s++;
        if (*s == '>')
            return s + 1;
        size_t name = strcspn(s, "=<>\"& \n");
        if (*empty || !name || s[name] != '=' || s[name + 1] != '"')
            return NULL;
        const char *value = s + name + 2, *end = strchr(value, '"');
        if (!end || !xml_text_ok(value, end, true))
            return NULL;
        s = end + 1;
    }
}

/* Every tag is closed in its turn, attributes are quoted, entities known, bytes allowed. */
static inline bool xml_ok(const char *s) {
    enum { DEEP = 20 };
    const char *open[DEEP];
    size_t lengths[DEEP], depth = 0;
    while (*s) {
        const char *tag = strchr(s, '<');
        if (!tag)
            return depth == 0 && strspn(s, "\n") == strlen(s);
        if (!xml_text_ok(s, tag, false))
            return false;
        size_t len = strcspn(tag + 1, " \n/>");
        bool empty;
        if (tag[1] == '/') {
            len = strcspn(tag + 2, ">");
            if (!depth-- || lengths[depth] != len || strncmp(open[depth], tag + 2, len) != 0)
                return false;
            s = tag + 3 + len;
            continue;
        }
        s = xml_tag(tag + 1, &empty);
        if (!s || (!empty && depth == DEEP))
            return false;
        if (!empty) {
            open[depth] = tag + 1;
            lengths[depth++] = len;
        }
    }
    return depth == 0;
}

#endif
