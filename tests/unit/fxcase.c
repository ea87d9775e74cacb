/* fxcase.c: see fxcase.h: printing, building, and Python's literals read with the public makers of
 * values. */
#include "fxcase.h"

#include <ctype.h>
#include <errno.h>

/* ---- what is printed
 * --------------------------------------------------------------------------------------------- */

void put(fxcase *c, const char *format, ...) {
    char *text;
    va_list ap;
    va_start(ap, format);
    assert_true(vasprintf(&text, format, ap) >= 0);
    va_end(ap);
    fxs_buf_puts(&c->out, text);
    free(text);
}

static void put_text(fxcase *c, char *text) {
    fxs_buf_puts(&c->out, text);
    fxs_free(text);
}

void put_graph(fxcase *c, const fxs_graph *g) {
    char *text;
    OK(c, fxs_graph_print(g, 0, &text, NULL));
    put_text(c, text);
}

void put_code(fxcase *c, const fxs_graph *g) {
    char *text;
    OK(c, fxs_graph_python_code(g, 0, &text, NULL));
    put_text(c, text);
    put(c, "\n");
}

void put_module(fxcase *c, const fxs_module *m) {
    char *text;
    OK(c, fxs_module_print(m, &text, NULL));
    put_text(c, text);
    put_code(c, fxs_module_graph(m));
    put(c, "# To see more debug info, please use `graph_module.print_readable()`\n");
}

void put_both(fxcase *c, const fxs_module *m) {
    put_graph(c, fxs_module_graph(m));
    put_code(c, fxs_module_graph(m));
}

void put_globals(fxcase *c, const fxs_graph *g) {
    char *text;
    size_t n = 0;
    OK(c, fxs_graph_python_globals(g, 0, &text, NULL));
    put(c, "globals: [");
    for (char *line = text; *line; n++) {
        size_t len = strcspn(line, "\n");
        if (n >= 7)
            put(c, n > 7 ? ", '%.*s'" : "'%.*s'", (int)strcspn(line, " "), line);
        line += len + (line[len] == '\n');
    }
    put(c, "]\n");
    fxs_free(text);
}

void put_names(fxcase *c, const fxs_graph *g) {
    put(c, "[");
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        put(c, n == fxs_graph_first(g) ? "'%s'" : ", '%s'", fxs_node_name(n));
    put(c, "]");
}

static void put_list(fxcase *c, size_t n, fxs_node *const *nodes) {
    put(c, "[");
    for (size_t i = 0; i < n; i++)
        put(c, i ? ", %s" : "%s", fxs_node_name(nodes[i]));
    put(c, "]");
}

void put_users(fxcase *c, const fxs_node *n) {
    fxs_node *nodes[64];
    put_list(c, fxs_node_users(n, nodes, 64), nodes);
}

void put_inputs(fxcase *c, const fxs_node *n) {
    fxs_node *nodes[64];
    put_list(c, fxs_node_inputs(n, nodes, 64), nodes);
}

void put_value(fxcase *c, const fxs_value *v) {
    char *text;
    OK(c, fxs_value_print(c->ctx, v, &text));
    put_text(c, text);
}

void put_args(fxcase *c, const fxs_node *n) { put_value(c, fxs_node_args(n)); }
void put_kwargs(fxcase *c, const fxs_node *n) { put_value(c, fxs_node_kwargs(n)); }

void put_meta(fxcase *c, const fxs_node *n) {
    const fxs_value *meta = fxs_node_user_meta(n, NULL);
    assert_int_equal(fxs_node_meta(n)->outcome, FXS_NOT_RUN);
    if (meta)
        put_value(c, meta);
    else
        put(c, "{}");
}

void set_meta(fxcase *c, fxs_node *n, const char *key, const char *value) {
    fxs_value v = py(c, fxs_node_graph(n), value);
    OK(c, fxs_node_set_user_meta(n, key, &v));
}

void put_node(fxcase *c, const fxs_node *n) {
    char *text;
    OK(c, fxs_node_format(n, 0, &text));
    put_text(c, text);
    put(c, "\n");
}

void refused(fxcase *c, fxs_status s, const char *type) {
    assert_int_not_equal(s, FXS_OK);
    put(c, "%s: %s\n", type, fxs_ctx_error(c->ctx));
    fxs_ctx_clear(c->ctx);
}

/* Where the text is that torch.fx printed next, by lines. */
static const char *next_line(const fxcase *c) {
    const char *at = c->want;
    for (size_t i = 0; i < c->out.len && at; i++)
        if (c->out.data[i] == '\n' && (at = strchr(at, '\n')))
            at++;
    return at ? at : "";
}

void python_lines(fxcase *c, size_t lines, const char *reason) {
    const char *at = next_line(c), *end = at;
    for (size_t i = 0; i < lines && *end; i++)
        end = strchr(end, '\n') + 1;
    assert_ptr_not_equal(at, end); /* a reason for nothing */
    print_message("# %s: %zu line%s not compared: %s\n", c->name, lines, lines > 1 ? "s" : "",
                  reason);
    fxs_buf_add(&c->out, at, (size_t)(end - at));
    c->differences++;
}

void python_text(fxcase *c, const char *text, const char *reason) {
    print_message("# %s: '%.*s' not compared: %s\n", c->name, (int)strcspn(text, "\n"), text,
                  reason);
    fxs_buf_puts(&c->out, text);
    c->differences++;
}

void instead(fxcase *c, const char *ours, const char *theirs, const char *reason) {
    fxs_buf_puts(&c->out, "");
    char *at = strstr(c->out.data, ours);
    if (!at || strstr(at + 1, ours))
        fail_msg("%s: '%s' is not there once", c->name, ours);
    print_message("# %s: '%.*s' is here '%.*s': %s\n", c->name, (int)strcspn(theirs, "\n"), theirs,
                  (int)strcspn(ours, "\n"), ours, reason);
    char *tail = strdup(at + strlen(ours));
    fxs_buf_cut(&c->out, (size_t)(at - c->out.data));
    fxs_buf_puts(&c->out, theirs);
    fxs_buf_puts(&c->out, tail);
    free(tail);
    c->differences++;
}

void other_words(fxcase *c, fxs_status s, const char *ours, const char *theirs) {
    assert_int_not_equal(s, FXS_OK);
    assert_string_equal(fxs_ctx_error(c->ctx), ours);
    fxs_ctx_clear(c->ctx);
    print_message("# %s: '%.*s' is here: %s\n", c->name, (int)strcspn(theirs, "\n"), theirs, ours);
    put(c, "%s\n", theirs);
    c->differences++;
}

/* ---- Python's literals
 * --------------------------------------------------------------------------------------------- */

typedef struct reader {
    fxcase *c;
    const fxs_graph *g;
    const char *at;
} reader;

static fxs_value read_value(reader *r);

static bool take(reader *r, const char *text) {
    r->at += strspn(r->at, " ");
    size_t n = strlen(text);
    if (strncmp(r->at, text, n) != 0)
        return false;
    r->at += n;
    return true;
}

static fxs_value text_value(fxcase *c, fxs_tag tag, const char *text, size_t len) {
    char *copy = strndup(text, len);
    fxs_value v;
    OK(c, fxs_value_str(c->ctx, copy, &v));
    v.tag = tag;
    free(copy);
    return own_value(c, v);
}

/* "a, b" up to `close`; *comma: one stands behind the last item, or several are there. */
static size_t read_items(reader *r, const char *close, fxs_value *items, bool *comma) {
    size_t n = 0;
    *comma = false;
    while (!take(r, close)) {
        assert_true(n < 64 && *r->at);
        items[n++] = read_value(r);
        *comma |= take(r, ",");
    }
    return n;
}

static fxs_value read_sequence(reader *r, const char *close) {
    fxs_value items[64], v;
    bool comma;
    size_t n = read_items(r, close, items, &comma);
    if (*close == ')' && n == 1 && !comma)
        return items[0];
    OK(r->c, *close == ']' ? fxs_value_list(r->c->ctx, n, items, &v)
                           : fxs_value_tuple(r->c->ctx, n, items, &v));
    return own_value(r->c, v);
}

static fxs_value read_dict(reader *r) {
    fxs_value keys[64], values[64], v;
    size_t n = 0;
    for (; !take(r, "}"); n++) {
        keys[n] = read_value(r);
        assert_true(take(r, ":"));
        values[n] = read_value(r);
        take(r, ",");
    }
    OK(r->c, fxs_value_dict_of(r->c->ctx, n, keys, values, &v));
    return own_value(r->c, v);
}

static fxs_value read_string(reader *r) {
    fxs_buf b = {0};
    char quote = *r->at++;
    for (; *r->at != quote; r->at++) {
        assert_true(*r->at);
        if (*r->at == '\\')
            r->at++;
        fxs_buf_putc(&b, r->at[-1] != '\\' ? *r->at
                         : *r->at == 'n'   ? '\n'
                         : *r->at == 't'   ? '\t'
                                           : *r->at);
    }
    r->at++;
    fxs_value v = text_value(r->c, FXS_V_STR, b.len ? b.data : "", b.len);
    fxs_buf_free(&b);
    return v;
}

static fxs_value read_number(reader *r) {
    char *whole_end, *real_end;
    errno = 0;
    long long i = strtoll(r->at, &whole_end, 10);
    bool fits = errno == 0;
    double f = strtod(r->at, &real_end);
    const char *start = r->at;
    r->at = real_end;
    if (*real_end == '+' && isdigit((unsigned char)real_end[1])) {
        double imaginary = strtod(real_end, &real_end);
        r->at = real_end + 1; /* the j */
        return (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {f, imaginary}};
    }
    if (real_end > whole_end)
        return fxs_float(f);
    return fits ? fxs_int(i) : text_value(r->c, FXS_V_OPAQUE, start, (size_t)(real_end - start));
}

/* torch.float32, torch.channels_last, torch.strided. */
static fxs_value torch_value(fxcase *c, const char *name, size_t len) {
    static const char *const layouts[] = {"torch.strided", "torch.sparse_coo"};
    fxs_value v = {.tag = FXS_V_DTYPE};
    if (fxs_dtype_find(name, len, &v.u.dtype))
        return v;
    v.tag = FXS_V_MEMORY_FORMAT;
#define X(symbol, text)                                                                            \
    if (strlen(text) == len && strncmp(text, name, len) == 0) {                                    \
        v.u.format = FXS_##symbol;                                                                 \
        return v;                                                                                  \
    }
    FXS_MEMORY_FORMAT_MAP(X)
#undef X
    bool layout = false;
    for (size_t i = 0; i < 2; i++)
        layout |= strlen(layouts[i]) == len && strncmp(layouts[i], name, len) == 0;
    return text_value(c, layout ? FXS_V_LAYOUT : FXS_V_OPAQUE, name, len);
}

/* slice(a, b, c), device('cpu'), function('torch.add'), opaque('range(0, 3)'), Size(1, 2) */
static fxs_value read_call(reader *r, const char *name, size_t len) {
    static const struct {
        const char *name;
        fxs_tag tag;
    } texts[] = {{"device", FXS_V_DEVICE}, {"function", FXS_V_FUNCTION}, {"opaque", FXS_V_OPAQUE}};
    fxs_value items[64], v;
    bool comma;
    size_t n = read_items(r, ")", items, &comma);
    if (strncmp(name, "torch.", 6) == 0)
        name += 6, len -= 6;
    for (size_t i = 0; i < 3; i++)
        if (strlen(texts[i].name) == len && strncmp(texts[i].name, name, len) == 0)
            return text_value(r->c, texts[i].tag, fxs_value_text(&items[0]),
                              strlen(fxs_value_text(&items[0])));
    if (*name == 's') {
        OK(r->c, fxs_value_slice(r->c->ctx, items[0], n > 1 ? items[1] : fxs_none(),
                                 n > 2 ? items[2] : fxs_none(), &v));
    } else {
        OK(r->c, fxs_value_tuple(r->c->ctx, n, items, &v));
        v.u.seq->kind = *name == 'S' ? FXS_TUPLE_SIZE : FXS_TUPLE_NAMED;
        v.u.seq->type_name = "__main__.P";
    }
    return own_value(r->c, v);
}

static fxs_value read_word(reader *r) {
    static const struct {
        const char *name;
        fxs_value value;
    } words[] = {{"True", {.tag = FXS_V_BOOL, .u.b = true}},
                 {"False", {.tag = FXS_V_BOOL}},
                 {"None", {.tag = FXS_V_NONE}},
                 {"inf", {.tag = FXS_V_FLOAT, .u.f = INFINITY}},
                 {"-inf", {.tag = FXS_V_FLOAT, .u.f = -INFINITY}},
                 {"nan", {.tag = FXS_V_FLOAT, .u.f = NAN}},
                 {"...", {.tag = FXS_V_ELLIPSIS}}};
    const char *name = r->at;
    r->at += strspn(r->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
    size_t len = (size_t)(r->at - name);
    assert_true(len > 0);
    if (take(r, "("))
        return read_call(r, name, len);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].name) == len && strncmp(words[i].name, name, len) == 0)
            return words[i].value;
    if (strncmp(name, "torch.", 6) == 0)
        return torch_value(r->c, name, len);
    char text[64];
    snprintf(text, sizeof text, "%.*s", (int)len, name);
    return fxs_of_node(node(r->g, text));
}

static fxs_value read_value(reader *r) {
    r->at += strspn(r->at, " ");
    if (take(r, "("))
        return read_sequence(r, ")");
    if (take(r, "["))
        return read_sequence(r, "]");
    if (take(r, "{"))
        return read_dict(r);
    if (*r->at == '\'' || *r->at == '"')
        return read_string(r);
    if (isdigit((unsigned char)*r->at) || (*r->at == '-' && isdigit((unsigned char)r->at[1])))
        return read_number(r);
    return read_word(r);
}

fxs_value py(fxcase *c, const fxs_graph *g, const char *text) {
    reader r = {c, g, text};
    fxs_value v = read_value(&r);
    assert_string_equal(r.at, "");
    return v;
}

/* Positional arguments, then name=value. */
static void read_arguments(fxcase *c, const fxs_graph *g, const char *text, fxs_value *args,
                           fxs_value *kwargs) {
    reader r = {c, g, text};
    fxs_value positional[64], values[64];
    char *names[64];
    size_t n = 0, k = 0;
    while (*r.at) {
        size_t word = strspn(r.at, "abcdefghijklmnopqrstuvwxyz_");
        bool named = word > 0 && r.at[word] == '=';
        if (named) {
            names[k] = strndup(r.at, word);
            r.at += word + 1;
        }
        *(named ? &values[k] : &positional[n]) = read_value(&r);
        k += named;
        n += !named;
        take(&r, ",");
        r.at += strspn(r.at, " ");
    }
    OK(c, fxs_value_tuple(c->ctx, n, positional, args));
    OK(c, fxs_value_dict(c->ctx, k, (const char *const *)names, values, kwargs));
    own_value(c, *args);
    own_value(c, *kwargs);
    while (k)
        free(names[--k]);
}

/* ---- what is built
 * --------------------------------------------------------------------------------------------- */

fxs_graph *new_graph(fxcase *c) {
    assert_true(c->ngraphs < 64);
    OK(c, fxs_graph_new(c->ctx, &c->graphs[c->ngraphs]));
    return c->graphs[c->ngraphs++];
}

fxs_module *own(fxcase *c, fxs_module *m) {
    assert_true(c->nmodules < 192);
    assert_non_null(m);
    return c->modules[c->nmodules++] = m;
}

fxs_value own_value(fxcase *c, fxs_value v) {
    assert_true(c->nvalues < 512);
    return c->values[c->nvalues++] = v;
}

fxs_node *node(const fxs_graph *g, const char *name) {
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (strcmp(fxs_node_name(n), name) == 0)
            return n;
    fail_msg("there is no node %s", name);
    return NULL;
}

fxs_status create(fxcase *c, fxs_graph *g, fxs_kind kind, const char *target, const char *args,
                  const char *name, const char *type, fxs_node **out) {
    fxs_value a, k;
    read_arguments(c, g, args, &a, &k);
    return fxs_graph_create_node(g, kind, target, &a, &k, name, type, out);
}

static fxs_node *made(fxcase *c, fxs_graph *g, fxs_kind kind, const char *target, const char *args,
                      const char *type) {
    fxs_node *n;
    OK(c, create(c, g, kind, target, args, NULL, type, &n));
    return n;
}

fxs_node *fn(fxcase *c, fxs_graph *g, const char *target, const char *args) {
    return made(c, g, FXS_CALL_FUNCTION, target, args, NULL);
}

fxs_node *method(fxcase *c, fxs_graph *g, const char *name, const char *args) {
    return made(c, g, FXS_CALL_METHOD, name, args, NULL);
}

fxs_node *mod(fxcase *c, fxs_graph *g, const char *path, const char *args) {
    return made(c, g, FXS_CALL_MODULE, path, args, NULL);
}

fxs_node *attr(fxcase *c, fxs_graph *g, const char *path) {
    fxs_node *n;
    OK(c, fxs_graph_get_attr(g, path, &n));
    return n;
}

fxs_node *input(fxcase *c, fxs_graph *g, const char *name, const char *fallback) {
    fxs_node *n;
    fxs_value v = fallback ? py(c, g, fallback) : fxs_none();
    OK(c, fxs_graph_placeholder(g, name, fallback ? &v : NULL, &n));
    return n;
}

fxs_node *typed_input(fxcase *c, fxs_graph *g, const char *name, const char *type,
                      const char *fallback) {
    return made(c, g, FXS_PLACEHOLDER, name, fallback ? fallback : "", type);
}

fxs_node *output(fxcase *c, fxs_graph *g, const char *value) {
    fxs_node *n;
    fxs_value v = py(c, g, value);
    OK(c, fxs_graph_output(g, &v, &n));
    return n;
}

fxs_module *wrap_graph(fxcase *c, fxs_graph *g) {
    fxs_module *root, *m;
    OK(c, fxs_module_new(c->ctx, "GraphModule", NULL, NULL, &root));
    own(c, root);
    OK(c, fxs_graph_module_new(root, g, NULL, &m));
    for (size_t i = 0; i < c->ngraphs; i++)
        if (c->graphs[i] == g)
            c->graphs[i] = NULL; /* the module's now */
    return own(c, m);
}

fxs_module *trace_c(fxcase *c, const char *signature, fxs_forward_fn *f) {
    fxs_module *m;
    OK(c, fxs_trace_function(c->ctx, "GraphModule", signature, f, NULL, NULL, &m));
    return own(c, m);
}

fxs_module *trace_m(fxcase *c, fxs_module *root) {
    fxs_module *m;
    OK(c, fxs_trace(c->ctx, own(c, root), NULL, &m));
    return own(c, m);
}
