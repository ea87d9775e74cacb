/* python.c: a graph as Python source: what torch.fx 1.13's graph.python_code("self").src holds,
 * byte for byte, and the globals that it names. Called by users and by python_file.c. It knows no
 * module: paths are written as they are. */
#include "emit/python.h"

#include <string.h>

#include "emit/format.h"

typedef struct writer {
    fxs_py *p;
    fxs_buf parameters, returns, body, wraps;
    fxs_buf type, function; /* of the statement in turn */
    fxs_map wrapped;        /* globals that wraps has */
    fxs_map taken;          /* parameters' names */
    const fxs_node **last;  /* by id: the last user */
    fxs_py_tree tree;       /* where the inputs are trees */
    const char *trace; /* of the nodes before; "" after a node without, NULL at the beginning */
} writer;

/* ---- operators that Python writes between or around their arguments
 * ---------------------------------------- */

typedef struct infix {
    const char *name, *text; /* # stands for an argument */
    bool in_place;           /* a statement: x += y */
} infix;

static const infix infixes[] = {
    {"add", "# + #", false},       {"sub", "# - #", false},        {"mul", "# * #", false},
    {"floordiv", "# // #", false}, {"truediv", "# / #", false},    {"mod", "# % #", false},
    {"pow", "# ** #", false},      {"lshift", "# << #", false},    {"rshift", "# >> #", false},
    {"and_", "# & #", false},      {"or_", "# | #", false},        {"xor", "# ^ #", false},
    {"matmul", "# @ #", false},    {"eq", "# == #", false},        {"ne", "# != #", false},
    {"lt", "# < #", false},        {"gt", "# > #", false},         {"le", "# <= #", false},
    {"ge", "# >= #", false},       {"getitem", "#[#]", false},     {"pos", "+#", false},
    {"neg", "-#", false},          {"invert", "~#", false},        {"iadd", "# += #", true},
    {"iand", "# &= #", true},      {"ifloordiv", "# //= #", true}, {"ilshift", "# <<= #", true},
    {"imod", "# %= #", true},      {"imul", "# *= #", true},       {"imatmul", "# @= #", true},
    {"ior", "# |= #", true},       {"ipow", "# **= #", true},      {"irshift", "# >>= #", true},
    {"isub", "# -= #", true},      {"itruediv", "# /= #", true},   {"ixor", "# ^= #", true},
    {"setitem", "#[#] = #", true},
};

/* NULL when the call is none of them, or can't be written so: too few arguments, or a literal that
 * would be assigned.
 */
static const infix *find_infix(const fxs_node *n) {
    const char *name = n->target + (n->target[0] == '_');
    size_t wanted = 0;
    if (strncmp(name, "operator.", 9) != 0)
        return NULL;
    for (size_t i = 0; i < sizeof infixes / sizeof *infixes; i++) {
        const infix *x = &infixes[i];
        if (strcmp(x->name, name + 9) != 0)
            continue;
        for (const char *s = x->text; *s; s++)
            wanted += *s == '#';
        if (fxs_value_len(&n->args) < wanted)
            return NULL;
        return x->in_place && fxs_value_item(&n->args, 0)->tag != FXS_V_NODE ? NULL : x;
    }
    return NULL;
}

static void put_infix(writer *w, const fxs_node *n, const infix *x) {
    size_t i = 0;
    for (const char *s = x->text; *s; s++) {
        if (*s == '#')
            fxs_py_value(w->p, &w->body, fxs_value_item(&n->args, i++));
        else
            fxs_buf_putc(&w->body, *s);
    }
}

/* ---- statements
 * -------------------------------------------------------------------------------------------- */

/* "name : type = " */
static void put_target(writer *w, const fxs_node *n) {
    fxs_py_node(w->p, &w->body, n);
    if (w->type.len)
        fxs_buf_add(&w->body, w->type.data, w->type.len);
    fxs_buf_puts(&w->body, " = ");
}

/* A keyword that Python has for itself (from) can't be written before '='; torch.fx writes it,
 * which does not compile.
 */
static void put_keyword(writer *w, const fxs_value *key, const fxs_value *v) {
    const char *name = fxs_value_text(key);
    bool plain = name && fxs_py_identifier(name, strlen(name));
    fxs_buf_puts(&w->body, plain ? name : "**{");
    if (!plain)
        fxs_py_value(w->p, &w->body, key);
    fxs_buf_puts(&w->body, plain ? " = " : ": ");
    fxs_py_value(w->p, &w->body, v);
    if (!plain)
        fxs_buf_putc(&w->body, '}');
}

static void put_arguments(writer *w, const fxs_node *n, size_t from) {
    fxs_buf_putc(&w->body, '(');
    size_t nargs = fxs_value_len(&n->args);
    for (size_t i = from; i < nargs; i++) {
        if (i > from)
            fxs_buf_puts(&w->body, ", ");
        fxs_py_value(w->p, &w->body, fxs_value_item(&n->args, i));
    }
    for (size_t i = 0; i < fxs_value_len(&n->kwargs); i++) {
        if (i || nargs > from)
            fxs_buf_puts(&w->body, ", ");
        put_keyword(w, fxs_value_key(&n->kwargs, i), fxs_value_item(&n->kwargs, i));
    }
    fxs_buf_putc(&w->body, ')');
}

/* v and a path behind it. An integer's dot would begin its decimals: (3).relu(). */
static void put_attribute(writer *w, const fxs_value *v, const char *path) {
    fxs_buf base = {0};
    bool number = v->tag == FXS_V_INT;
    fxs_buf_puts(&base, number ? "(" : "");
    fxs_py_value(w->p, &base, v);
    fxs_buf_puts(&base, number ? ")" : "");
    if (!base.failed)
        fxs_py_path(&w->body, base.data, path);
    w->p->failed |= base.failed;
    fxs_buf_free(&base);
}

static bool is_getattr(const fxs_node *n) {
    const fxs_value *name = fxs_value_item(&n->args, 1);
    return strcmp(n->target, "builtins.getattr") == 0 && fxs_value_len(&n->args) == 2 &&
           name->tag == FXS_V_STR && fxs_py_identifier(name->u.s->text, name->u.s->len);
}

static void note_wrapped(writer *w) {
    const char *name =
        w->function.data ? fxs_arena_dup(&w->p->arena, w->function.data, w->function.len) : NULL;
    if (name && fxs_map_at(&w->wrapped, name, w->function.len))
        return;
    if (!name || !fxs_map_put(&w->wrapped, name, w->function.len, w)) {
        w->p->failed = true;
        return;
    }
    fxs_buf_printf(&w->wraps, "%storch.fx._symbolic_trace.wrap(\"%s\")", w->wraps.len ? "\n" : "",
                   name);
}

static void put_call(writer *w, const fxs_node *n) {
    const infix *x = find_infix(n);
    if (x && x->in_place) {
        put_infix(w, n, x);
        fxs_buf_puts(&w->body, ";  ");
        put_target(w, n);
        fxs_py_value(w->p, &w->body, fxs_value_item(&n->args, 0));
        return;
    }
    if (x) {
        put_target(w, n);
        put_infix(w, n, x);
        return;
    }
    fxs_buf_cut(&w->function, 0);
    fxs_py_function(w->p, &w->function, n->target); /* named before the node is */
    put_target(w, n);
    if (is_getattr(n)) {
        put_attribute(w, fxs_value_item(&n->args, 0), fxs_value_text(fxs_value_item(&n->args, 1)));
        return;
    }
    fxs_buf_add(&w->body, w->function.data ? w->function.data : "", w->function.len);
    put_arguments(w, n, 0);
    bool opaque = w->function.data && strncmp(w->function.data, "torch.", 6) != 0;
    if (n->wrapped || (opaque && (w->p->flags & FXS_PY_WRAP_ALL)))
        note_wrapped(w);
}

/* A parameter of forward. What can't be one (input.1, class, a name that another has) gives way to
 * the node's name. */
static void put_placeholder(writer *w, const fxs_node *n) {
    fxs_buf fallback = {0}, name = {0}, declared = {0};
    size_t stars = strspn(n->target, "*");
    const char *raw = n->target + stars;
    const fxs_value *value = fxs_value_item(&n->args, 0);
    if (value)
        fxs_py_value(w->p, &fallback, value);
    fxs_py_node(w->p, &name, n);
    bool rename = !fxs_py_identifier(raw, strlen(raw)) || (fxs_map_at(&w->taken, raw, strlen(raw)));
    if (rename)
        raw = w->p->nodes[n->id];
    if (raw && !fxs_map_put(&w->taken, raw, strlen(raw), w))
        w->p->failed = true;
    fxs_buf_puts(&declared, w->type.len ? w->type.data : "");
    fxs_buf_puts(&declared, value ? " = " : "");
    fxs_buf_puts(&declared, value && fallback.data ? fallback.data : "");
    const char *behind = declared.data ? declared.data : "";
    if (raw && !w->p->failed && w->tree.of)
        fxs_py_tree_leaf(w->p, &w->tree, raw, behind);
    else if (raw && !w->p->failed)
        fxs_buf_printf(&w->parameters, "%s%.*s%s%s", w->parameters.len ? ", " : "", (int)stars,
                       n->target, raw, behind);
    if (raw && !w->p->failed && strcmp(raw, name.data ? name.data : "") != 0)
        fxs_buf_printf(&w->body, "%s = %s\n", name.data, raw);
    w->p->failed |= declared.failed;
    fxs_buf_free(&declared);
    w->p->failed |= fallback.failed || name.failed;
    fxs_buf_free(&fallback);
    fxs_buf_free(&name);
}

static void put_output(writer *w, const fxs_node *n) {
    if (w->type.len) {
        fxs_buf_cut(&w->returns, 0);
        fxs_buf_printf(&w->returns, " -> %s", w->type.data + 3);
    }
    fxs_buf_puts(&w->body, w->tree.of ? "return pytree.tree_unflatten(" : "return ");
    fxs_py_value(w->p, &w->body, fxs_value_item(&n->args, 0));
    fxs_buf_puts(&w->body, w->tree.of ? ", self._out_spec)" : "");
}

/* ---- what stands around a statement
 * ---------------------------------------------------------------------- */

/* Frees what this node was the last to use, and in PyTorch 2 also what nobody uses. */
static void put_freed(writer *w, const fxs_node *n) {
    size_t count = 0;
    bool unused = (w->p->flags & FXS_CODE_TORCH2) && n->nusers == 0;
    for (size_t i = 0; i < n->ninputs + unused; i++) {
        const fxs_node *of = i < n->ninputs ? n->inputs[i] : n;
        if (i < n->ninputs && w->last[of->id] != n)
            continue;
        fxs_buf_puts(&w->body, count++ ? " = " : ";  ");
        fxs_py_node(w->p, &w->body, of);
    }
    if (count)
        fxs_buf_puts(&w->body, " = None");
}

/* The recorded result, in a comment at the line's end. */
static void put_shape(writer *w, const fxs_node *n) {
    fxs_buf result = {0};
    if (!(w->p->flags & FXS_CODE_SHAPES) || n->meta.outcome != FXS_DONE)
        return;
    fxs_buf_result(&result, &n->meta.result);
    if (!result.failed)
        fxs_buf_printf(&w->body, "  # %.*s", (int)strcspn(result.data, "\n\r"), result.data);
    w->p->failed |= result.failed;
    fxs_buf_free(&result);
}

static fxs_status refuse(const fxs_node *n, const char *what) {
    return fxs_fail(n->graph->ctx, FXS_EINVAL, "no code for %s: %s needs %s as its first argument",
                    n->name, fxs_kind_name(n->kind), what);
}

static fxs_status put_node(writer *w, const fxs_node *n) {
    fxs_buf_cut(&w->type, 0);
    if (n->type) {
        fxs_buf_puts(&w->type, " : ");
        fxs_py_type(w->p, &w->type, n->type);
        w->p->failed |= w->type.failed;
    }
    if (n->kind == FXS_PLACEHOLDER) {
        put_placeholder(w, n);
        return FXS_OK;
    }
    if (n->kind == FXS_OUTPUT) {
        if (fxs_value_len(&n->args) == 0)
            return refuse(n, "a value");
        put_output(w, n);
    } else if (n->kind == FXS_CALL_FUNCTION) {
        put_call(w, n);
    } else if (n->kind == FXS_CALL_METHOD) {
        if (fxs_value_len(&n->args) == 0)
            return refuse(n, "self");
        put_target(w, n);
        put_attribute(w, fxs_value_item(&n->args, 0), n->target);
        put_arguments(w, n, 1);
    } else {
        put_target(w, n);
        fxs_py_path(&w->body, w->p->root, n->target);
        if (n->kind == FXS_CALL_MODULE)
            put_arguments(w, n, 0);
    }
    if (n->kind != FXS_OUTPUT)
        put_freed(w, n);
    put_shape(w, n);
    fxs_buf_putc(&w->body, '\n');
    return FXS_OK;
}

/* ---- the function
 * ------------------------------------------------------------------------------------------ */

static void find_last_users(writer *w, const fxs_graph *g) {
    w->last = FXS_NEW_N(&w->p->arena, const fxs_node *, g->next_id);
    if (!w->last && g->next_id) {
        w->p->failed = true;
        return;
    }
    for (const fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        for (size_t i = 0; i < n->ninputs; i++)
            w->last[n->inputs[i]->id] = n;
}

static fxs_status put_nodes(writer *w, const fxs_graph *g) {
    find_last_users(w, g);
    for (const fxs_node *n = fxs_graph_first(g); n && !w->p->failed; n = fxs_node_next(n)) {
        if ((w->p->flags & FXS_CODE_VERBOSE) && n->kind != FXS_PLACEHOLDER && n->kind != FXS_OUTPUT)
            fxs_py_trace_comment(&w->body, fxs_py_node_trace(w->p, n), &w->trace, w->p->flags);
        FXS_TRY(put_node(w, n));
    }
    return w->p->failed ? fxs_fail_memory(g->ctx) : FXS_OK;
}

static void put_function(writer *w, fxs_buf *b) {
    const char *body = w->body.len ? w->body.data : "pass\n";
    const char *parameters = w->parameters.len ? w->parameters.data : "";
    bool has_self =
        strncmp(parameters, "self", 4) == 0 && (parameters[4] == ',' || parameters[4] == '\0');
    if (w->p->flags & FXS_CODE_TORCH2)
        body += strspn(body, "\n");
    if (w->tree.of) {
        fxs_py_tree_end(w->p, &w->tree);
        parameters = w->tree.signature.len ? w->tree.signature.data : "";
    }
    fxs_buf_printf(b, "def forward(%s%s%s)%s:\n", has_self ? "" : "self",
                   !has_self && *parameters ? ", " : "", parameters,
                   w->returns.len ? w->returns.data : "");
    fxs_buf_puts(b, w->tree.line.len ? w->tree.line.data : "");
    fxs_py_indent(b, body, 4);
}

static void put_text(void *out, const char *text) {
    if (text)
        fxs_buf_puts(out, text);
}

/* What the user makes of the statements. */
static fxs_status transform(writer *w, const fxs_graph *g) {
    fxs_buf changed = {0};
    fxs_status s = FXS_OK;
    if (!g->code.fn)
        return FXS_OK;
    fxs_buf_puts(&w->body, ""); /* an empty text where there is none */
    if (!w->body.failed)
        s = g->code.fn(g->code.user, w->body.data, put_text, &changed);
    if (s != FXS_OK) {
        fxs_buf_free(&changed);
        return g->ctx->status == FXS_OK ? fxs_fail(g->ctx, s, "on_generate_code failed") : s;
    }
    fxs_buf was = w->body;
    w->body = changed;
    w->body.failed |= was.failed;
    fxs_buf_free(&was);
    return FXS_OK;
}

fxs_status fxs_py_forward(fxs_py *p, const fxs_graph *g, fxs_buf *wraps, fxs_buf *function) {
    writer w = {.p = p, .tree = {.of = g->pytree}};
    fxs_status s = put_nodes(&w, g);
    s = s ? s : transform(&w, g);
    if (s == FXS_OK && (w.parameters.failed || w.returns.failed || w.body.failed ||
                        w.wraps.failed || w.function.failed))
        s = fxs_fail_memory(g->ctx);
    if (s == FXS_OK) {
        fxs_buf_add(wraps, w.wraps.len ? w.wraps.data : "", w.wraps.len);
        put_function(&w, function);
        if (p->failed)
            s = fxs_fail_memory(g->ctx);
    }
    fxs_py_tree_free(&w.tree);
    fxs_buf *const all[] = {&w.parameters, &w.returns, &w.body, &w.wraps, &w.type, &w.function};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fxs_buf_free(all[i]);
    fxs_map_free(&w.wrapped);
    fxs_map_free(&w.taken);
    return s;
}

/* ---- for users
 * ---------------------------------------------------------------------------------------------- */

fxs_code_transform fxs_graph_on_generate_code(fxs_graph *g, fxs_code_transform t) {
    fxs_code_transform was = g->code;
    g->code = t;
    return was;
}

fxs_status fxs_graph_python_code(const fxs_graph *g, unsigned flags, char **text, size_t *len) {
    return fxs_graph_python_code_with_root(g, NULL, flags, text, len);
}

/* The root's first name is the code's own: no node may hide it. */
static fxs_status set_root(fxs_py *p, const char *root) {
    size_t first = strcspn(root, ".");
    if (!fxs_py_dotted(root, strlen(root)))
        return fxs_fail(p->ctx, FXS_EINVAL, "'%s' is no name that Python code can begin with",
                        root);
    char *name = fxs_arena_dup(&p->arena, root, first);
    const char *unique = name ? fxs_py_unique(p, name) : NULL;
    if (!unique)
        return fxs_fail_memory(p->ctx);
    if (strcmp(unique, name) != 0)
        return fxs_fail(p->ctx, FXS_EINVAL, "'%s' is taken by Python or by the code itself", name);
    p->root = root;
    return FXS_OK;
}

fxs_status fxs_graph_python_code_with_root(const fxs_graph *g, const char *root, unsigned flags,
                                           char **text, size_t *len) {
    fxs_py p;
    fxs_buf b = {0}, function = {0};
    *text = NULL;
    if (root)
        FXS_TRY(fxs_need_text(g->ctx, root, "fxs_graph_python_code_with_root: root"));
    fxs_status s = fxs_py_init(&p, g, flags);
    if (s == FXS_OK && root && strcmp(root, "self") != 0)
        s = set_root(&p, root);
    fxs_buf_putc(&b, '\n');
    if (s == FXS_OK)
        s = fxs_py_forward(&p, g, &b, &function);
    fxs_py_free(&p);
    fxs_buf_puts(&b, "\n\n");
    fxs_buf_add(&b, function.data ? function.data : "", function.len);
    b.failed |= function.failed;
    fxs_buf_free(&function);
    if (s == FXS_OK)
        return fxs_buf_give(g->ctx, &b, text, len);
    fxs_buf_free(&b);
    return s;
}

fxs_status fxs_graph_python_globals(const fxs_graph *g, unsigned flags, char **text, size_t *len) {
    fxs_py p;
    fxs_buf b = {0}, wraps = {0}, function = {0};
    *text = NULL;
    fxs_status s = fxs_py_init(&p, g, flags);
    if (s == FXS_OK)
        s = fxs_py_forward(&p, g, &wraps, &function);
    for (size_t i = 0; s == FXS_OK && i < p.nglobals; i++) {
        const char *object = p.globals[i].object; /* a type's name, which is no name in Python */
        fxs_buf_printf(&b, "%s = %s\n", p.globals[i].name,
                       strcmp(object, "NoneType") == 0 ? "type(None)" : object);
    }
    fxs_py_free(&p);
    fxs_buf_free(&wraps);
    fxs_buf_free(&function);
    if (s == FXS_OK)
        return fxs_buf_give(g->ctx, &b, text, len);
    fxs_buf_free(&b);
    return s;
}
