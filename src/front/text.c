/* text.c: the text front end: what PyTorch prints. A file holds a module tree (print(model)),
 * declarations of parameters and buffers, and a graph (print(graph)), in any order; blank lines,
 * comments (#) and the fences of a bug report (```) are passed over. Everything becomes one
 * GraphModule. */
#include "front/text.h"

#include <ctype.h>
#include <string.h>

#include "base/pytext.h"

/* ---- cursor
 * -------------------------------------------------------------------------------------------- */

int fxs_text_line(const fxs_text *t, const char *where) {
    int line = 1;
    for (const char *s = t->begin; s < where; s++)
        line += *s == '\n';
    return line;
}

fxs_status fxs_text_fail(fxs_text *t, const char *where, const char *fmt, ...) {
    fxs_buf b = {0};
    const char *line = where;
    while (line > t->begin && line[-1] != '\n')
        line--;
    va_list ap;
    va_start(ap, fmt);
    fxs_buf_vprintf(&b, fmt, ap);
    va_end(ap);
    fxs_status s = b.failed ? fxs_fail_memory(t->ctx)
                            : fxs_fail(t->ctx, FXS_EPARSE, "%s:%d:%d: %s", t->file,
                                       fxs_text_line(t, where), (int)(where - line) + 1, b.data);
    fxs_buf_free(&b);
    return s;
}

fxs_status fxs_text_expected(fxs_text *t, const char *want) {
    fxs_buf found = {0};
    size_t n = strcspn(t->at, "\n");
    if (t->at >= t->end)
        fxs_buf_puts(&found, "the end of the file");
    else if (n == 0)
        fxs_buf_puts(&found, "the end of the line");
    else
        fxs_buf_quoted(&found, t->at, n < 30 ? n : 30);
    fxs_status s = found.failed
                       ? fxs_fail_memory(t->ctx)
                       : fxs_text_fail(t, t->at, "expected %s, found %s", want, found.data);
    fxs_buf_free(&found);
    return s;
}

void fxs_text_blanks(fxs_text *t) {
    while (*t->at == ' ' || *t->at == '\t' || *t->at == '\r')
        t->at++;
}

void fxs_text_next_line(fxs_text *t) {
    const char *nl = memchr(t->at, '\n', (size_t)(t->end - t->at));
    t->at = nl ? nl + 1 : t->end;
}

/* ---- declarations
 * ----------------------------------------------------------------------------------------- */

typedef struct declaration {
    const char *where; /* of its name */
    size_t name_len;
    bool is_buffer;
    fxs_dtype dtype;
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
    const char *same_as; /* of `parameter a = b`: b, else NULL */
    size_t same_len;
    bool has_init; /* "uniform(0.5)" stands behind the shape */
    fxs_init init;
    double bound;
} declaration;

/* A graph of the file, owned until a module takes it over. */
typedef struct graph_part {
    const char *where, *path; /* "": of the root */
    fxs_graph *graph;
    struct graph_part *next;
} graph_part;

typedef struct file {
    fxs_text t;
    fxs_module *root;
    graph_part *graphs; /* the last one first */
    bool has_graph;     /* of the root */
    struct fxs_text_wrap *wraps;
    declaration *declarations;
    size_t ndeclarations, declarations_cap;
} file;

fxs_status fxs_text_shape(fxs_text *t, fxs_dtype *dtype, int *ndim, int64_t *sizes) {
    fxs_text_accept(t, "torch.");
    size_t n = fxs_word_len(t->at);
    if (n == 0 || !fxs_dtype_find(t->at, n, dtype))
        return fxs_text_expected(t, "a dtype");
    t->at += n;
    if (!fxs_text_accept(t, "["))
        return fxs_text_expected(t, "'[' and the sizes");
    for (*ndim = 0; !fxs_text_accept(t, "]");) {
        if (*ndim && !fxs_text_accept(t, ","))
            return fxs_text_expected(t, "',' or ']'");
        fxs_text_blanks(t);
        size_t digits = strspn(t->at, "0123456789");
        if (*ndim == FXS_MAX_DIM)
            return fxs_text_fail(t, t->at, "more than %d dimensions", FXS_MAX_DIM);
        if (!fxs_read_int(t->at, digits, &sizes[*ndim]))
            return fxs_text_expected(t, "a size");
        t->at += digits;
        ++*ndim;
    }
    return FXS_OK;
}

static size_t dotted_len(const char *s) {
    size_t n = 0;
    while (s[n] && !strchr(" \t\r\n:=", s[n]))
        n++;
    return n;
}

/* How the values are made: zeros, ones, normal, uniform(BOUND). */
static fxs_status read_init(fxs_text *t, declaration *d) {
    static const struct {
        const char *word;
        fxs_init init;
    } words[] = {{"zeros", FXS_INIT_ZEROS}, {"ones", FXS_INIT_ONES}, {"normal", FXS_INIT_NORMAL}};
    fxs_text_blanks(t);
    for (size_t i = 0; i < sizeof words / sizeof *words && !d->has_init; i++) {
        d->has_init = fxs_text_accept(t, words[i].word);
        d->init = words[i].init;
    }
    if (d->has_init || !fxs_text_accept(t, "uniform("))
        return FXS_OK;
    size_t n = strcspn(t->at, ")\n");
    if (!fxs_read_float(t->at, n, &d->bound) || d->bound < 0 || t->at[n] != ')')
        return fxs_text_expected(t, "a bound and ')'");
    t->at += n + 1;
    d->has_init = true;
    d->init = FXS_INIT_UNIFORM;
    return FXS_OK;
}

static fxs_status declaration_line(file *f, bool is_buffer) {
    fxs_text *t = &f->t;
    declaration d = {.is_buffer = is_buffer};
    fxs_text_blanks(t);
    d.where = t->at;
    d.name_len = dotted_len(t->at);
    if (d.name_len == 0)
        return fxs_text_expected(t, "the dotted name of a parameter or buffer");
    t->at += d.name_len;
    fxs_text_blanks(t);
    if (fxs_text_accept(t, "=")) {
        fxs_text_blanks(t);
        d.same_as = t->at;
        d.same_len = dotted_len(t->at);
        if (d.same_len == 0)
            return fxs_text_expected(t, "the dotted name of another parameter");
        t->at += d.same_len;
    } else if (fxs_text_accept(t, ":")) {
        fxs_text_blanks(t);
        FXS_TRY(fxs_text_shape(t, &d.dtype, &d.ndim, d.sizes));
        FXS_TRY(read_init(t, &d));
    } else {
        return fxs_text_expected(t, "':' and a shape, or '=' and a name");
    }
    fxs_text_blanks(t);
    if (t->at < t->end && *t->at != '\n')
        return fxs_text_expected(t, "the end of the line");
    if (f->ndeclarations == f->declarations_cap) {
        size_t cap = f->declarations_cap ? f->declarations_cap * 2 : 32;
        declaration *p = fxs_realloc(f->declarations, cap, sizeof *p);
        if (!p)
            return fxs_fail_memory(t->ctx);
        f->declarations = p;
        f->declarations_cap = cap;
    }
    f->declarations[f->ndeclarations++] = d;
    return FXS_OK;
}

/* The module that holds a dotted name's last part; *last is that part, NUL-terminated in the arena.
 * Without a tree in the file, modules on the way are made. */
static fxs_status holder_of(file *f, const char *name, size_t len, bool make, fxs_module **out,
                            const char **last) {
    char *path = fxs_arena_dup(f->t.arena, name, len);
    fxs_module *m = f->root;
    if (!path)
        return fxs_fail_memory(f->t.ctx);
    for (char *dot; (dot = strchr(path, '.')); path = dot + 1) {
        *dot = '\0';
        fxs_module *child = fxs_module_child(m, path, strlen(path));
        if (!child && make) {
            FXS_TRY(fxs_module_new(f->t.ctx, "Module", NULL, NULL, &child));
            fxs_status s = fxs_module_add_child(m, path, child);
            fxs_module_unref(child);
            FXS_TRY(s);
        }
        if (!child)
            return fxs_text_fail(&f->t, name, "module %s has no child '%s'", m->class_name, path);
        m = child;
    }
    *out = m;
    *last = path;
    return FXS_OK;
}

static fxs_status apply_declaration(file *f, const declaration *d, bool make) {
    fxs_module *m, *other;
    const char *name, *other_name;
    FXS_TRY(holder_of(f, d->where, d->name_len, make, &m, &name));
    if (fxs_module_child(m, name, strlen(name)))
        return fxs_text_fail(&f->t, d->where, "'%s' is a module", name);
    if (!d->same_as) {
        fxs_status s = fxs_module_add_tensor(m, name, d->is_buffer, d->dtype, d->ndim, d->sizes);
        fxs_parameter *p = s == FXS_OK ? fxs_module_attribute(m, name, strlen(name)) : NULL;
        if (p && d->has_init && !p->implied) {
            p->init = d->init;
            p->bound = d->bound;
        }
        if (s == FXS_OK || s == FXS_ENOMEM)
            return s;
        char *message =
            fxs_arena_dup(f->t.arena, fxs_ctx_error(f->t.ctx), strlen(fxs_ctx_error(f->t.ctx)));
        fxs_ctx_clear(f->t.ctx);
        return message ? fxs_text_fail(&f->t, d->where, "%s", message) : fxs_fail_memory(f->t.ctx);
    }
    FXS_TRY(holder_of(f, d->same_as, d->same_len, false, &other, &other_name));
    fxs_parameter *p = fxs_module_attribute(other, other_name, strlen(other_name));
    if (!p)
        return fxs_text_fail(&f->t, d->same_as, "there is no parameter or buffer '%s' in %s",
                             other_name, other->class_name);
    return fxs_module_share(m, name, p);
}

/* ---- sections
 * ------------------------------------------------------------------------------------------------
 */

static bool line_starts(const char *s, const char *word) {
    size_t n = strlen(word);
    return strncmp(s, word, n) == 0;
}

/* A part of the dump stands on the next line. */
static bool part_follows(const char *s) {
    const char *next = s + strcspn(s, "\n");
    next += *next == '\n';
    return line_starts(next, "  (") || line_starts(next, "parameter ") ||
           line_starts(next, "buffer ") || line_starts(next, "graph(") || fxs_text_is_wrap(next);
}

/* CLASS( at the end of a line, or CLASS(...) alone on it. A function that was traced has a small
 * letter: that is prose, if no other part follows. */
static bool is_tree_line(const char *s) {
    size_t n = 0, len = strcspn(s, "\n");
    bool lambda = line_starts(s, "<lambda>");
    while (fxs_is_name_byte(s[n]) || s[n] == '.' || (lambda && strchr("<>", s[n])))
        n++;
    while (len && (s[len - 1] == ' ' || s[len - 1] == '\r' || s[len - 1] == '\t'))
        len--;
    bool begins = isupper((unsigned char)s[0]) || s[0] == '_';
    if (n == 0 || s[n] != '(' || (s[len - 1] != '(' && s[len - 1] != ')'))
        return false;
    return begins || ((islower((unsigned char)s[0]) || lambda || (unsigned char)s[0] >= 0x80) &&
                      part_follows(s));
}

/* What a log or a bug report says around the dump. A line that begins as parts of the dump do is
 * not passed over: it is a damaged part, and an error. */
static bool is_prose(const char *s) {
    return *s && !strchr("%()[]{}", *s) && !line_starts(s, "return ") &&
           !line_starts(s, "parameter ") && !line_starts(s, "buffer ") && !line_starts(s, "graph");
}

static bool is_noise(const char *s) {
    return *s == '\n' || *s == '\r' || *s == '\0' || *s == '#' || line_starts(s, "```");
}

/* print(graph_module) shows the generated code behind the tree: "def forward(self, x):" and its
 * indented lines. */
static bool is_code(const char *s) {
    return line_starts(s, "def forward(") || line_starts(s, "import ") ||
           line_starts(s, "torch.fx._symbolic_trace.wrap(");
}

static void skip_code(fxs_text *t) {
    do
        fxs_text_next_line(t);
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n'));
}

/* "graph():", or "PATH.graph():" of a module that is a graph itself. */
static fxs_status graph_section(file *f) {
    fxs_text *t = &f->t;
    bool is_graph;
    size_t n = fxs_text_graph_path(t->at, &is_graph);
    for (const graph_part *p = f->graphs; p; p = p->next)
        if (strlen(p->path) == n && memcmp(p->path, t->at, n) == 0)
            return fxs_text_fail(t, t->at, "a second graph; %s holds one",
                                 n ? "each module" : "one file");
    graph_part *part = FXS_NEW(t->arena, graph_part);
    if (!part)
        return fxs_fail_memory(t->ctx);
    part->where = t->at;
    part->path = fxs_arena_dup(t->arena, t->at, n);
    if (!part->path)
        return fxs_fail_memory(t->ctx);
    FXS_TRY(fxs_graph_new(t->ctx, &part->graph));
    part->next = f->graphs;
    f->graphs = part;
    f->has_graph = f->has_graph || n == 0;
    t->at += strcspn(t->at, "(") + 1;
    const fxs_module *m = f->root ? fxs_module_find(f->root, part->path) : NULL;
    t->class_name = m ? m->class_name : NULL;
    FXS_TRY(fxs_text_whole_graph(t, part->graph, f->wraps));
    f->wraps = NULL;
    return FXS_OK;
}

/* Every graph to its module. */
static fxs_status hand_out_graphs(file *f) {
    for (graph_part *p = f->graphs; p; p = p->next) {
        fxs_module *m = fxs_module_find(f->root, p->path);
        if (!m)
            return fxs_text_fail(&f->t, p->where, "there is no module '%s' that had this graph",
                                 p->path);
        fxs_module_set_graph(m, p->graph);
        p->graph = NULL;
    }
    return FXS_OK;
}

static fxs_status section(file *f) {
    fxs_text *t = &f->t;
    bool is_graph;
    fxs_text_blanks(t);
    fxs_text_graph_path(t->at, &is_graph);
    if (is_noise(t->at)) {
        fxs_text_next_line(t);
    } else if (is_graph) {
        return graph_section(f);
    } else if (fxs_text_is_wrap(t->at)) {
        return fxs_text_wrap_line(t, &f->wraps);
    } else if (fxs_text_accept(t, "parameter ") || fxs_text_accept(t, "buffer ")) {
        return declaration_line(f, t->at[-2] == 'r' && t->at[-3] == 'e' && t->at[-4] == 'f');
    } else if (is_code(t->at)) {
        skip_code(t);
    } else if (is_tree_line(t->at)) {
        if (f->root)
            return fxs_text_fail(t, t->at, "a second module tree; one file holds one");
        FXS_TRY(fxs_text_module(t, &f->root));
        fxs_text_blanks(t);
        if (t->at < t->end && *t->at != '\n')
            return fxs_text_expected(t, "the end of the line behind the module tree");
    } else if (is_prose(t->at)) {
        fxs_text_next_line(t);
    } else {
        return fxs_text_expected(t, "a module tree, 'parameter', 'buffer' or 'graph():'");
    }
    return FXS_OK;
}

static fxs_status check_utf8_or_binary(fxs_text *t) {
    const char *nul = memchr(t->begin, '\0', (size_t)(t->end - t->begin));
    return nul ? fxs_text_fail(t, nul, "a zero byte: this is no text") : FXS_OK;
}

static fxs_status read_file(file *f) {
    fxs_text *t = &f->t;
    FXS_TRY(check_utf8_or_binary(t));
    if (line_starts(t->at, "\xef\xbb\xbf"))
        t->at += 3;
    while (t->at < t->end)
        FXS_TRY(section(f));
    if (!f->has_graph)
        return fxs_text_fail(t, t->at,
                             "expected a graph ('graph():' and its nodes, as print(graph) gives "
                             "them), found the end "
                             "of the file");
    bool make = !f->root;
    if (make)
        FXS_TRY(fxs_module_new(t->ctx, "GraphModule", NULL, NULL, &f->root));
    for (size_t i = 0; i < f->ndeclarations; i++)
        FXS_TRY(apply_declaration(f, &f->declarations[i], make));
    return hand_out_graphs(f);
}

static fxs_status load_text(fxs_ctx *ctx, const char *name, const char *text, size_t len,
                            fxs_module **out) {
    fxs_arena arena = {0};
    file f = {.t = {.ctx = ctx,
                    .file = name,
                    .begin = text,
                    .at = text,
                    .end = text + len,
                    .arena = &arena}};
    fxs_status s = read_file(&f);
    if (s == FXS_OK) {
        *out = fxs_module_ref(f.root);
    }
    for (graph_part *p = f.graphs; p; p = p->next)
        fxs_graph_free(p->graph);
    fxs_module_unref(f.root);
    fxs_free(f.declarations);
    fxs_arena_clear(&arena);
    return s;
}

static bool sniff_text(const char *text, size_t len) { return memchr(text, '\0', len) == NULL; }

const fxs_front fxs_front_text = {"text", ".fx .txt", sniff_text, load_text};
