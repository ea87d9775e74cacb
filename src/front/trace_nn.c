/* trace_nn.c: building modules in C: layers from text in the style of their constructors, children,
 * parameters. An error leaves NULL behind, and is kept in the context until a trace returns it. */
#include <stdio.h>
#include <string.h>

#include "front/trace.h"

/* ---- text to module
 * --------------------------------------------------------------------------------------------------
 */

/* Python's arguments, however they are spaced, in the spacing that printers use: ", " between, none
 * around "=". */
static void normal_spacing(fxs_buf *b, const char *s) {
    for (char quote = '\0'; *s; s++) {
        if (quote || *s == '\'' || *s == '"') {
            quote = !quote ? *s : *s == quote ? '\0' : quote;
            fxs_buf_putc(b, *s);
        } else if (*s == ' ') {
            continue;
        } else {
            fxs_buf_puts(b, (char[]){*s, '\0'});
            if (*s == ',' && s[1 + strspn(s + 1, " ")] != ')')
                fxs_buf_putc(b, ' ');
        }
    }
}

static fxs_status module_of_class(fxs_text *t, const char *name, const char *arguments,
                                  fxs_module **out) {
    const fxs_module_row *row;
    fxs_value args, kwargs;
    bool fits = true;
    size_t len = strlen(arguments);
    FXS_TRY(fxs_text_arguments(t, arguments, len, &fits, &args, &kwargs));
    if (!fits)
        return fxs_fail(t->ctx, FXS_EPARSE, "%s(%s): these arguments can't be read", name,
                        arguments);
    FXS_TRY(fxs_registry_find_module(t->ctx, name, &row));
    if (row && row->repr)
        return fxs_layer_from_constructor(t, row, &args, &kwargs, out);
    FXS_TRY(fxs_module_new(t->ctx, name, &args, &kwargs, out));
    if (!len)
        return FXS_OK;
    (*out)->extra = fxs_memdup0(arguments, len);
    return (*out)->extra ? FXS_OK : fxs_fail_memory(t->ctx);
}

static bool is_class_name(const char *s, size_t n) {
    return n &&
           strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.<>-") >= n;
}

static fxs_status parse_line(fxs_text *t, fxs_module **out) {
    size_t n = strcspn(t->at, "("), len = strlen(t->at);
    bool called = n < len;
    if (!is_class_name(t->at, n) || (called && t->at[len - 1] != ')'))
        return fxs_text_expected(t, "a module: CLASS(...)");
    fxs_buf arguments = {0};
    char *name = fxs_arena_dup(t->arena, t->at, n);
    char *inside = called ? fxs_arena_dup(t->arena, t->at + n + 1, len - n - 2)
                          : fxs_arena_dup(t->arena, "", 0);
    if (!name || !inside)
        return fxs_fail_memory(t->ctx);
    normal_spacing(&arguments, inside);
    fxs_status s = fxs_buf_status(t->ctx, &arguments);
    if (s == FXS_OK)
        s = module_of_class(t, name, arguments.data ? arguments.data : "", out);
    fxs_buf_free(&arguments);
    return s;
}

fxs_status fxs_module_from_line(fxs_ctx *ctx, const char *text, size_t len, fxs_module **out) {
    fxs_arena arena = {0};
    fxs_text t = {.ctx = ctx,
                  .file = "module",
                  .begin = text,
                  .at = text,
                  .end = text + len,
                  .arena = &arena};
    fxs_status s;
    *out = NULL;
    if (strchr(text, '\n')) {
        s = fxs_text_module(&t, out);
        while (s == FXS_OK && (*t.at == ' ' || *t.at == '\n'))
            t.at++;
        if (s == FXS_OK && t.at < t.end)
            s = fxs_text_expected(&t, "the end of the module tree");
    } else {
        s = parse_line(&t, out);
    }
    if (s != FXS_OK) {
        fxs_module_unref(*out);
        *out = NULL;
    }
    fxs_arena_clear(&arena);
    return s;
}

static fxs_module *module_from(fxs_ctx *ctx, const char *format, va_list ap) {
    fxs_buf text = {0};
    fxs_module *m = NULL;
    if (ctx->status != FXS_OK || fxs_need_text(ctx, format, "the text of a module") != FXS_OK)
        return NULL;
    fxs_buf_vprintf(&text, format, ap);
    if (fxs_buf_status(ctx, &text) == FXS_OK)
        fxs_module_from_line(ctx, text.data ? text.data : "", text.len, &m);
    fxs_buf_free(&text);
    return m;
}

void fxs_nn_train(fxs_module *m, bool on) {
    if (!m)
        return;
    m->eval = !on;
    for (size_t i = 0; i < m->nchildren; i++)
        fxs_nn_train(m->children[i].module, on);
}

/* ---- the public builders
 * -----------------------------------------------------------------------------------------------
 */

fxs_module *fxs_nn(fxs_ctx *ctx, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fxs_module *m = module_from(ctx, format, ap);
    va_end(ap);
    return m;
}

fxs_module *fxs_nn_put(fxs_module *m, const char *name, fxs_module *child) {
    char number[24];
    fxs_status s = FXS_EINVAL;
    if (m && child) {
        snprintf(number, sizeof number, "%zu", m->nchildren);
        s = fxs_module_add_child(m, name ? name : number, child);
    }
    fxs_module_unref(child); /* the parent counts it now, or nobody wants it */
    return s == FXS_OK ? child : NULL;
}

fxs_module *fxs_nn_add(fxs_module *m, const char *name, const char *format, ...) {
    va_list ap;
    if (!m)
        return NULL;
    va_start(ap, format);
    fxs_module *child = module_from(m->ctx, format, ap);
    va_end(ap);
    return fxs_nn_put(m, name, child);
}

static fxs_status add_tensor(fxs_module *m, const char *name, bool is_buffer, const char *format,
                             va_list ap) {
    fxs_buf text = {0};
    fxs_dtype dtype;
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    if (!m)
        return FXS_EINVAL; /* the error of whatever did not make it is kept in the context */
    FXS_TRY(fxs_need_text(m->ctx, name,
                          is_buffer ? "the name of a buffer" : "the name of a parameter"));
    FXS_TRY(fxs_need_text(m->ctx, format, "the shape of a parameter or buffer"));
    fxs_buf_vprintf(&text, format, ap);
    fxs_status s = fxs_buf_status(m->ctx, &text);
    fxs_text t = {.ctx = m->ctx,
                  .file = name,
                  .begin = text.data,
                  .at = text.data,
                  .end = text.data + text.len};
    if (s == FXS_OK)
        s = text.data
                ? fxs_text_shape(&t, &dtype, &ndim, sizes)
                : fxs_fail(m->ctx, FXS_EINVAL, "%s: a shape like float32[1, 3] expected", name);
    if (s == FXS_OK && t.at < t.end)
        s = fxs_text_expected(&t, "the end of the shape");
    if (s == FXS_OK)
        s = fxs_module_add_tensor(m, name, is_buffer, dtype, ndim, sizes);
    fxs_buf_free(&text);
    return s;
}

fxs_status fxs_nn_parameter(fxs_module *m, const char *name, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fxs_status s = add_tensor(m, name, false, format, ap);
    va_end(ap);
    return s;
}

fxs_status fxs_nn_buffer(fxs_module *m, const char *name, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    fxs_status s = add_tensor(m, name, true, format, ap);
    va_end(ap);
    return s;
}
