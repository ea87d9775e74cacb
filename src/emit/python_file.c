/* python_file.c: a model as a .py file that runs with PyTorch: imports and globals, classes that
 * torch.nn does not have, one for each GraphModule in the tree, and a class whose __init__ builds
 * the module tree and whose forward is python.c's code. Called by users. Which layers torch.nn
 * builds is python_nn.c's to say. */
#include <string.h>

#include "base/pytext.h"
#include "emit/format.h"
#include "emit/python.h"

/* A GraphModule in the tree, and its class in the file. */
typedef struct inner {
    const fxs_module *module;
    const char *name;
    struct inner *next;
} inner;

typedef struct file {
    fxs_py py;
    const fxs_module *root;
    fxs_buf imports, globals, wraps, classes, init, forward;
    fxs_map imported;  /* modules that globals has imports of */
    fxs_map stand_ins; /* class name as print(model) shows it -> name in the file */
    fxs_map inners;    /* address of a GraphModule -> its inner */
    fxs_map names;     /* of all classes of the file; key and value are the same */
    inner *first, **last;
    bool trees;     /* a forward takes trees apart */
    fxs_map shared; /* address of a shared parameter -> where it stands: "self.a.weight" */
    fxs_buf module; /* the one in turn: "self.layer1" */
} file;

/* ---- globals
 * ------------------------------------------------------------------------------------------------
 */

/* The word stands in the text as an identifier of its own. */
static bool has_word(const fxs_buf *b, const char *word) {
    size_t n = strlen(word);
    for (const char *s = b->data; s && (s = strstr(s, word)); s += n) {
        bool begins = s == b->data || (s[-1] != '.' && !fxs_py_identifier(s - 1, 1) &&
                                       (s[-1] < '0' || s[-1] > '9'));
        if (begins && !fxs_py_identifier(s + n, 1) && (s[n] < '0' || s[n] > '9'))
            return true;
    }
    return false;
}

/* What can't be imported, from the program that was traced or without a name: whoever runs the file
 * must supply it. */
static void put_missing(file *f, const fxs_py_global *g) {
    if (g->is_type) { /* an annotation may be any object */
        fxs_buf_printf(&f->globals, "%s = ", g->name);
        fxs_buf_quoted(&f->globals, g->object, strlen(g->object));
        fxs_buf_putc(&f->globals, '\n');
        return;
    }
    fxs_buf_printf(&f->globals, "\n\ndef %s(*args, **kwargs):\n    raise NotImplementedError(",
                   g->name);
    fxs_buf_quoted(&f->globals, g->object, strlen(g->object));
    fxs_buf_puts(&f->globals, ")\n\n\n");
}

static void put_global(file *f, const fxs_py_global *g) {
    const char *dot = strrchr(g->object, '.');
    if (fxs_name_reserved(g->object) == FXS_NAME_BUILTIN)
        return;
    if (strcmp(g->object, "...") == 0) {
        fxs_buf_printf(&f->globals, "%s = ...\n", g->name);
    } else if (dot && strncmp(g->object, "__main__.", 9) != 0 &&
               fxs_py_dotted(g->object, strlen(g->object))) {
        fxs_buf_printf(&f->imports, "from %.*s import %s as %s\n", (int)(dot - g->object),
                       g->object, dot + 1, g->name);
    } else {
        put_missing(f, g);
    }
}

/* What is there from the start, when the code uses it. */
static void put_preset(file *f) {
    static const char *const lines[][2] = {{"inf", "from math import inf\n"},
                                           {"nan", "from math import nan\n"},
                                           {"device", "from torch import device\n"},
                                           {"NoneType", "NoneType = type(None)\n"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (has_word(&f->forward, lines[i][0]) || has_word(&f->init, lines[i][0]) ||
            has_word(&f->classes, lines[i][0]))
            fxs_buf_puts(i < 3 ? &f->imports : &f->globals, lines[i][1]);
    if (f->trees)
        fxs_buf_puts(&f->imports, "import torch.fx._pytree as fx_pytree\n"
                                  "import torch.utils._pytree as pytree\n");
}

/* ---- modules
 * -------------------------------------------------------------------------------------------------
 */

/* A name for a class; "" when memory is out. */
static const char *new_class(file *f, const char *like) {
    const char *name = fxs_py_unique(&f->py, like);
    if (name && fxs_map_put(&f->names, name, strlen(name), (void *)name))
        return name;
    f->py.failed = true;
    return "";
}

/* The file's name of a GraphModule's class; the class itself is written when all have names. */
static const char *inner_class(file *f, const fxs_module *m) {
    void **found = fxs_map_at(&f->inners, (const char *)&m, sizeof m);
    if (found)
        return ((inner *)*found)->name;
    inner *i = FXS_NEW(&f->py.arena, inner);
    if (!i) {
        f->py.failed = true;
        return "";
    }
    *i = (inner){.module = m, .name = new_class(f, m->class_name)};
    if (!fxs_map_put(&f->inners, (const char *)&i->module, sizeof i->module, i))
        f->py.failed = true;
    *f->last = i;
    f->last = &i->next;
    return i->name;
}

/* The file's name of a class that torch.nn can't make; the class itself goes to f->classes when it
 * is first met. */
static const char *stand_in(file *f, const char *class_name) {
    const char *name = fxs_map_get(&f->stand_ins, class_name);
    if (name)
        return name;
    name = new_class(f, class_name);
    if (!fxs_map_put(&f->stand_ins, class_name, strlen(class_name), (void *)name))
        f->py.failed = true;
    fxs_buf_printf(&f->classes, "\n\nclass %s(torch.nn.Module):\n", name);
    fxs_buf_puts(&f->classes,
                 "    def forward(self, *args, **kwargs):\n        raise NotImplementedError(");
    fxs_buf_quoted(&f->classes, class_name, strlen(class_name));
    fxs_buf_puts(&f->classes, ")\n");
    return name;
}

/* What was printed between a stand-in's parentheses is worth a comment. */
static void put_stand_in_comment(file *f, const fxs_module *m) {
    fxs_buf args = {0};
    fxs_buf_layer_args(&args, m);
    if (args.len && !strpbrk(args.data, "\n\r"))
        fxs_buf_printf(&f->init, "  # %s", args.data);
    f->init.failed |= args.failed;
    fxs_buf_free(&args);
}

static bool is_layer(const fxs_module *m) { return !m->graph && fxs_py_torch_nn(m); }

/* "self.layer1.conv = ..." or "self.layer1.add_module("0", ...)". */
static void put_child(file *f, const char *path, const fxs_module *m) {
    const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
    fxs_buf parent = {0}, prefix = {0};
    fxs_buf_add(&prefix, path, dot ? (size_t)(dot - path) : 0);
    if (dot && !prefix.failed)
        fxs_py_path(&parent, "self", prefix.data);
    else
        fxs_buf_puts(&parent, "self");
    bool plain = fxs_py_identifier(name, strlen(name)), known = is_layer(m);
    fxs_buf_printf(&f->init, plain ? "%s.%s = " : "%s.add_module(", parent.data ? parent.data : "",
                   plain ? name : "");
    if (!plain) {
        fxs_buf_quoted(&f->init, name, strlen(name));
        fxs_buf_puts(&f->init, ", ");
    }
    if (known)
        fxs_py_layer(&f->py, &f->init, m);
    else
        fxs_buf_printf(&f->init, "%s()", m->graph ? inner_class(f, m) : stand_in(f, m->class_name));
    fxs_buf_puts(&f->init, plain ? "" : ")");
    if (!known && !m->graph)
        put_stand_in_comment(f, m);
    fxs_buf_putc(&f->init, '\n');
    f->init.failed |= parent.failed || prefix.failed;
    fxs_buf_free(&parent);
    fxs_buf_free(&prefix);
}

static void put_zeros(file *f, const fxs_parameter *p) {
    bool parameter = !p->is_buffer;
    fxs_buf_puts(&f->init, parameter ? "torch.nn.Parameter(torch.zeros(" : "torch.zeros(");
    fxs_buf_sizes(&f->init, p->spec->ndim, p->spec->sizes);
    if (p->spec->dtype != FXS_FLOAT32)
        fxs_buf_printf(&f->init, ", dtype=torch.%s", fxs_dtype_name(p->spec->dtype));
    fxs_buf_putc(&f->init, ')');
    if (parameter && !fxs_is_floating(p->spec->dtype) && !fxs_is_complex(p->spec->dtype))
        fxs_buf_puts(&f->init, ", requires_grad=False");
    fxs_buf_puts(&f->init, parameter ? ")" : "");
}

/* Where a shared parameter was put first; NULL the first time, when it is noted. */
static const char *shared_with(file *f, fxs_attribute *a) {
    const char *key = (const char *)&a->param;
    if (a->param->refs < 2)
        return NULL;
    void **first = fxs_map_at(&f->shared, key, sizeof a->param);
    if (first)
        return *first;
    fxs_buf place = {0};
    fxs_py_path(&place, f->module.data ? f->module.data : "", a->name);
    char *kept =
        place.data && !place.failed ? fxs_arena_dup(&f->py.arena, place.data, place.len) : NULL;
    fxs_buf_free(&place);
    if (!kept || !fxs_map_put(&f->shared, key, sizeof a->param, kept))
        f->py.failed = true;
    return NULL;
}

static void put_attribute(file *f, fxs_attribute *a, bool made) {
    const char *first = shared_with(f, a);
    bool plain = fxs_py_identifier(a->name, strlen(a->name)) && !a->param->is_buffer;
    if (made && !first)
        return;
    fxs_buf_puts(&f->init, f->module.data ? f->module.data : "");
    if (plain) {
        fxs_buf_printf(&f->init, ".%s = ", a->name);
    } else {
        fxs_buf_puts(&f->init, a->param->is_buffer ? ".register_buffer(" : ".register_parameter(");
        fxs_buf_quoted(&f->init, a->name, strlen(a->name));
        fxs_buf_puts(&f->init, ", ");
    }
    if (first)
        fxs_buf_puts(&f->init, first);
    else
        put_zeros(f, a->param);
    fxs_buf_puts(&f->init, plain ? "\n" : ")\n");
}

static fxs_status put_module(void *user, const char *path, fxs_module *m) {
    file *f = user;
    bool known = *path && is_layer(m);
    if (*path)
        put_child(f, path, m);
    fxs_buf_cut(&f->module, 0);
    if (*path)
        fxs_py_path(&f->module, "self", path);
    else
        fxs_buf_puts(&f->module, "self");
    for (size_t i = 0; i < m->nattributes; i++) {
        const fxs_parameter *p = m->attributes[i].param;
        /* What a layer of torch.nn makes itself: what its row says, or all where there is no row.
         */
        bool made = known && (m->row ? p->implied && p->made_for == m : !fxs_py_container(m));
        put_attribute(f, &m->attributes[i], made);
    }
    return f->py.failed || f->init.failed || f->module.failed ? fxs_fail_memory(m->ctx) : FXS_OK;
}

/* ---- the file
 * --------------------------------------------------------------------------------------------------
 */

static void put_section(fxs_buf *out, const fxs_buf *part, const char *before, const char *after) {
    out->failed |= part->failed;
    if (!part->len)
        return;
    fxs_buf_puts(out, before);
    fxs_buf_add(out, part->data, part->len);
    fxs_buf_puts(out, after);
}

/* The statements of __init__, and the function forward; both are cut. */
static void put_class(const char *name, fxs_buf *init, fxs_buf *forward, fxs_buf *out) {
    fxs_buf_printf(
        out,
        "\n\nclass %s(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n",
        name);
    if (init->len) {
        fxs_buf_cut(init, init->len - 1);
        fxs_py_indent(out, init->data, 8);
        fxs_buf_putc(out, '\n');
    }
    fxs_buf_putc(out, '\n');
    fxs_buf_cut(forward, forward->len - 5); /* its last line is blank */
    fxs_py_indent(out, forward->data, 4);
    fxs_buf_putc(out, '\n');
}

/* Lines that are not there yet: two functions may call the same one. */
static void add_wraps(file *f, fxs_buf *wraps) {
    fxs_buf_puts(wraps, "");
    f->wraps.failed |= wraps->failed;
    for (char *line = wraps->data, *end; line && *line; line = end) {
        end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        if (!f->wraps.data || !strstr(f->wraps.data, line))
            fxs_buf_printf(&f->wraps, f->wraps.len ? "\n%s" : "%s", line);
        end = next;
    }
}

/* What a GraphModule in the tree computes. Its modules and tensors are put into it by the root's
 * __init__. */
static fxs_status put_inner(file *f, const inner *i) {
    fxs_buf wraps = {0}, forward = {0}, init = {0};
    const fxs_graph *g = i->module->graph;
    fxs_py_next_function(&f->py, g, &f->names);
    fxs_status s =
        f->py.failed ? fxs_fail_memory(g->ctx) : fxs_py_forward(&f->py, g, &wraps, &forward);
    if (s == FXS_OK && g->pytree) {
        f->trees = true;
        fxs_py_tree_specs(&init, g->pytree);
    }
    if (s == FXS_OK && !forward.failed && !init.failed) {
        put_class(i->name, &init, &forward, &f->classes);
        add_wraps(f, &wraps);
    }
    f->classes.failed |= forward.failed || init.failed;
    fxs_buf_free(&wraps);
    fxs_buf_free(&forward);
    fxs_buf_free(&init);
    return s;
}

static fxs_status build(file *f, unsigned flags, fxs_buf *out) {
    fxs_ctx *ctx = f->root->ctx;
    FXS_TRY(fxs_py_init(&f->py, f->root->graph, flags | FXS_PY_WRAP_ALL));
    FXS_TRY(fxs_py_forward(&f->py, f->root->graph, &f->wraps, &f->forward));
    const char *name = new_class(f, f->root->class_name);
    if (f->py.failed || f->forward.failed)
        return fxs_fail_memory(ctx);
    FXS_TRY(fxs_module_walk((fxs_module *)f->root, put_module, f));
    f->trees = f->root->graph->pytree != NULL;
    if (f->trees)
        fxs_py_tree_specs(&f->init, f->root->graph->pytree);
    for (const inner *i = f->first; i; i = i->next)
        FXS_TRY(put_inner(f, i));
    for (size_t i = FXS_PY_PRESET; i < f->py.nglobals; i++)
        put_global(f, &f->py.globals[i]);
    put_preset(f);
    if (f->py.failed || f->init.failed)
        return fxs_fail_memory(ctx);
    fxs_buf_puts(out,
                 "# Written by fxscope. Parameters and buffers that no layer makes are zeros.\n");
    put_section(out, &f->imports, "", "");
    fxs_buf_puts(out, "import torch\n");
    if (f->wraps.len)
        fxs_buf_puts(out, "import torch.fx\n");
    put_section(out, &f->globals, "\n", "");
    put_section(out, &f->wraps, "\n", "\n");
    put_section(out, &f->classes, "", "");
    put_class(name, &f->init, &f->forward, out);
    return fxs_buf_status(ctx, out);
}

fxs_status fxs_module_python_file(const fxs_module *m, unsigned flags, char **text, size_t *len) {
    file f = {.root = m};
    fxs_buf out = {0};
    f.last = &f.first;
    *text = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL,
                        "module %s has no graph, so there is no forward to write", m->class_name);
    fxs_status s = build(&f, flags, &out);
    fxs_py_free(&f.py);
    fxs_map_free(&f.stand_ins);
    fxs_map_free(&f.inners);
    fxs_map_free(&f.names);
    fxs_map_free(&f.shared);
    fxs_buf *const all[] = {&f.imports, &f.globals, &f.wraps, &f.classes,
                            &f.init,    &f.forward, &f.module};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        fxs_buf_free(all[i]);
    if (s == FXS_OK)
        return fxs_buf_give(m->ctx, &out, text, len);
    fxs_buf_free(&out);
    return s;
}
