/* py_lower.c: a GraphModule of Python's torch.fx becomes the core's: module tree, parameters,
 * graph, and where each node comes from. Called when the core shall draw, infer or print what a
 * script or a model file made; nothing of Python is needed afterwards. */
#include "front/python/fxgraph.h"
#include "front/python/host.h"

#include <string.h>

/* ---- the module tree
 * ---------------------------------------------------------------------------------------- */

static int failed(fxs_status s) {
    if (s == FXS_OK)
        return 0;
    fxpy_raise();
    return -1;
}

/* One parameter or buffer. Values that nobody has read are left to the core to make. */
static int put_tensor(fxs_module *root, const char *path, PyObject *o, bool is_buffer) {
    const fxs_tensor *t = fxpy_tensor_meta(o);
    const char *dot = strrchr(path, '.');
    char owner[1024];
    size_t n = dot ? (size_t)(dot - path) : 0;
    if (n >= sizeof owner)
        return 0;
    memcpy(owner, path, n);
    owner[n] = '\0';
    fxs_module *m = fxs_module_find(root, owner);
    if (!m)
        return 0; /* below a module that print(model) does not show */
    const char *name = dot ? dot + 1 : path;
    if (t->storage)
        return failed(fxs_module_put_tensor(m, name, is_buffer, (fxs_tensor *)t));
    return failed(fxs_module_add_tensor(m, name, is_buffer, t->dtype, t->ndim, t->sizes));
}

static int put_tensors(fxs_module *root, PyObject *module, const char *method, bool is_buffer) {
    PyObject *pairs = PyObject_CallMethod(module, method, NULL);
    PyObject *list = pairs ? PySequence_List(pairs) : NULL;
    int bad = !list;
    for (Py_ssize_t i = 0; !bad && i < PyList_GET_SIZE(list); i++) {
        PyObject *pair = PyList_GET_ITEM(list, i), *o = PyTuple_GetItem(pair, 1);
        const char *path = o ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(pair, 0)) : NULL;
        bad = !path || (fxpy_is_tensor(o) && put_tensor(root, path, o, is_buffer) < 0);
    }
    Py_XDECREF(pairs);
    Py_XDECREF(list);
    return bad ? -1 : 0;
}

static int lower_modules(PyObject *module, fxs_module **out);

/* ("encoder", "a): b(", module): a submodule whose name text can't have. */
static int put_child(fxs_module *root, PyObject *row) {
    const char *path = PyUnicode_AsUTF8(PyTuple_GET_ITEM(row, 0));
    const char *name = path ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(row, 1)) : NULL;
    fxs_module *parent = name ? fxs_module_find(root, path) : NULL, *child = NULL;
    if (!parent)
        return name ? 0 : -1;
    if (lower_modules(PyTuple_GET_ITEM(row, 2), &child) < 0)
        return -1;
    int bad = failed(fxs_module_add_child(parent, name, child));
    fxs_module_unref(child);
    return bad;
}

/* What print(module) shows, read by the text front. */
static int lower_modules(PyObject *module, fxs_module **out) {
    PyObject *place = PyImport_ImportModule("torch.nn.modules.module");
    PyObject *text = place ? PyObject_CallMethod(place, "core_text", "O", module) : NULL;
    PyObject *rows = text ? PyObject_CallMethod(place, "left_out", "O", module) : NULL;
    const char *s = rows ? PyUnicode_AsUTF8(text) : NULL;
    *out = s ? fxs_nn(fxpy_ctx(), "%s", s) : NULL;
    if (s && !*out)
        fxpy_raise();
    for (Py_ssize_t i = 0; *out && i < PyList_GET_SIZE(rows); i++) {
        if (put_child(*out, PyList_GET_ITEM(rows, i)) < 0) {
            fxs_module_unref(*out);
            *out = NULL;
        }
    }
    Py_XDECREF(place);
    Py_XDECREF(text);
    Py_XDECREF(rows);
    return *out ? 0 : -1;
}

static int lower_tree(PyObject *module, fxs_module **out) {
    if (lower_modules(module, out) < 0)
        return -1;
    if (*out && (put_tensors(*out, module, "named_parameters", false) < 0 ||
                 put_tensors(*out, module, "named_buffers", true) < 0)) {
        fxs_module_unref(*out);
        *out = NULL;
    }
    return *out ? 0 : -1;
}

/* ---- nodes
 * ---------------------------------------------------------------------------------------------------
 */

typedef struct lowering {
    fxs_graph *graph;
    PyObject *map;    /* node -> the core's, as an int */
    PyObject *scopes; /* address of a scope's tuple -> the core's */
} lowering;

static lowering *current; /* while arguments are converted */

static int take_node(PyObject *o, fxs_arena *a, fxs_value *out) {
    (void)a;
    if (!FXPY_IS_NODE(o))
        return 0;
    PyObject *known = current ? PyDict_GetItemWithError(current->map, o) : NULL;
    if (!known) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_RuntimeError, "node %S is used before it is made", o);
        return -1;
    }
    *out = fxs_of_node(PyLong_AsVoidPtr(known));
    return 1;
}

static const char *keep(fxs_graph *g, PyObject *text) {
    Py_ssize_t len;
    const char *s = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    return s ? fxs_arena_dup(&g->arena, s, (size_t)len) : NULL;
}

/* The core's scope of (outer, path, class name); each call of a module has a tuple of its own. */
static int put_scope(lowering *l, PyObject *scope, const fxs_scope **out) {
    const fxs_scope *outer = NULL;
    *out = NULL;
    if (!scope || !PyTuple_Check(scope) || PyTuple_GET_SIZE(scope) != 3)
        return 0;
    PyObject *key = PyLong_FromVoidPtr(scope);
    PyObject *known = key ? PyDict_GetItemWithError(l->scopes, key) : NULL;
    if (known)
        *out = PyLong_AsVoidPtr(known);
    int bad = !key || PyErr_Occurred();
    if (!known && !bad && put_scope(l, PyTuple_GET_ITEM(scope, 0), &outer) == 0) {
        const char *path = PyUnicode_AsUTF8(PyTuple_GET_ITEM(scope, 1));
        const char *name = path ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(scope, 2)) : NULL;
        bad = !name || failed(fxs_graph_scope_next(l->graph, outer, path, name, out)) < 0;
        PyObject *pointer = bad ? NULL : PyLong_FromVoidPtr((void *)*out);
        bad = !pointer || PyDict_SetItem(l->scopes, key, pointer) < 0;
        Py_XDECREF(pointer);
    }
    Py_XDECREF(key);
    return bad || PyErr_Occurred() ? -1 : 0;
}

/* Where it comes from. */
static int put_origin(lowering *l, FxpyNode *n, fxs_node *to) {
    fxs_graph *g = to->graph;
    if (n->code) {
        PyCodeObject *code = (PyCodeObject *)n->code;
        to->file = keep(g, code->co_filename);
        to->line = n->lasti < 0 ? -n->lasti : PyCode_Addr2Line(code, n->lasti);
    }
    if (n->meta && PyDict_Check(n->meta)) {
        PyObject *wrapped = PyDict_GetItemString(n->meta, "is_wrapped");
        to->wrapped = wrapped && PyObject_IsTrue(wrapped) == 1;
        to->stack_trace = keep(g, PyDict_GetItemString(n->meta, "stack_trace"));
    }
    return put_scope(l, n->scope, &to->scope);
}

static int put_args(FxpyNode *n, fxs_value *args, fxs_value *kwargs) {
    *kwargs = fxs_none();
    if (fxpy_value_from_py(n->args, NULL, args) < 0)
        return -1;
    if (n->kwargs && PyDict_GET_SIZE(n->kwargs) &&
        fxpy_value_from_py(n->kwargs, NULL, kwargs) < 0) {
        fxs_value_unref(args);
        return -1;
    }
    return 0;
}

static int kind_of(PyObject *op, fxs_kind *kind) {
    for (int k = 0; PyUnicode_Check(op) && k < FXS_KIND_COUNT; k++) {
        if (PyUnicode_CompareWithASCIIString(op, fxs_kind_name((fxs_kind)k)) == 0) {
            *kind = (fxs_kind)k;
            return 0;
        }
    }
    PyErr_Format(PyExc_ValueError, "unknown opcode %R", op);
    return -1;
}

static int lower_node(lowering *l, FxpyNode *n) {
    PyObject *target =
        PyObject_CallMethodOneArg((PyObject *)n, fxpy_str._pretty_print_target, n->target);
    PyObject *type = !target              ? NULL
                     : n->type == Py_None ? Py_NewRef(Py_None)
                                          : fxpy_call_registered("type_repr", &n->type, 1);
    fxs_kind kind;
    fxs_value args, kwargs;
    fxs_node *made;
    int bad = !type || kind_of(n->op, &kind) < 0 || put_args(n, &args, &kwargs) < 0;
    if (!bad) {
        const char *name = PyUnicode_AsUTF8(n->name), *t = PyUnicode_AsUTF8(target);
        bad = !name || !t ||
              (kind == FXS_CALL_FUNCTION && fxpy_ctx()->host == &fxpy_host &&
               fxpy_host_put(t, n->target) < 0) ||
              failed(fxs_graph_create_node(
                  l->graph, kind, t, &args, kwargs.tag == FXS_V_DICT ? &kwargs : NULL, name,
                  type == Py_None ? NULL : PyUnicode_AsUTF8(type), &made)) < 0;
        fxs_value_unref(&args);
        fxs_value_unref(&kwargs);
    }
    PyObject *pointer = bad ? NULL : PyLong_FromVoidPtr(made);
    bad = !pointer || PyDict_SetItem(l->map, (PyObject *)n, pointer) < 0 ||
          put_origin(l, n, made) < 0;
    Py_XDECREF(pointer);
    Py_XDECREF(target);
    Py_XDECREF(type);
    return bad ? -1 : 0;
}

static int lower_nodes(FxpyGraph *g, lowering *l) {
    lowering *outer = current;
    int bad = !l->map || !l->scopes;
    current = l;
    fxpy_value_hook = take_node;
    for (FxpyNode *n = g->root->next; !bad && n != g->root; n = n->next)
        bad = !n->erased && lower_node(l, n) < 0;
    current = outer;
    return bad ? -1 : 0;
}

int fxpy_lower_graph(PyObject *graph, fxs_graph **out) {
    lowering l = {.map = PyDict_New(), .scopes = PyDict_New()};
    *out = NULL;
    int bad = failed(fxs_graph_new(fxpy_ctx(), &l.graph)) < 0;
    bad = bad || lower_nodes((FxpyGraph *)graph, &l) < 0;
    Py_XDECREF(l.map);
    Py_XDECREF(l.scopes);
    if (bad)
        fxs_graph_free(l.graph);
    else
        *out = l.graph;
    return bad ? -1 : 0;
}

int fxpy_lower(PyObject *module, fxs_module **out) {
    PyObject *graph = PyObject_GetAttrString(module, "graph");
    fxs_graph *g = NULL;
    int bad = !graph || !FXPY_IS_GRAPH(graph);
    if (graph && bad)
        PyErr_Format(PyExc_TypeError, "a GraphModule expected, got %s", Py_TYPE(module)->tp_name);
    bad = bad || lower_tree(module, out) < 0;
    if (!bad && fxpy_lower_graph(graph, &g) < 0) {
        fxs_module_unref(*out);
        *out = NULL;
        bad = 1;
    }
    if (!bad)
        fxs_module_set_graph(*out, g);
    Py_XDECREF(graph);
    return bad ? -1 : 0;
}

/* ---- for Python
 * --------------------------------------------------------------------------------------------- */

static PyObject *take_text(fxs_status s, char *text) {
    if (s != FXS_OK)
        return fxpy_raise();
    PyObject *made = PyUnicode_FromString(text);
    fxs_free(text);
    return made;
}

/* core_graph(graph): the graph as the core prints it. */
static PyObject *core_graph(PyObject *self, PyObject *graph) {
    fxs_graph *g;
    char *text = NULL;
    size_t len;
    (void)self;
    if (!FXPY_IS_GRAPH(graph))
        return PyErr_Format(PyExc_TypeError, "a Graph expected, got %s", Py_TYPE(graph)->tp_name);
    if (fxpy_lower_graph(graph, &g) < 0)
        return NULL;
    fxs_status s = fxs_graph_print(g, 0, &text, &len);
    PyObject *made = take_text(s, text);
    fxs_graph_free(g);
    return made;
}

/* core_file(gm): module tree, declarations and graph as a model file of the core. */
static PyObject *core_file(PyObject *self, PyObject *module) {
    fxs_module *m;
    char *text = NULL;
    size_t len;
    (void)self;
    if (fxpy_lower(module, &m) < 0)
        return NULL;
    fxs_status s = fxs_module_print_file(m, 0, &text, &len);
    PyObject *made = take_text(s, text);
    fxs_module_unref(m);
    return made;
}

static PyMethodDef functions[] = {
    {"core_graph", core_graph, METH_O, "core_graph(graph): the graph as the library prints it."},
    {"core_file", core_file, METH_O, "core_file(gm): a GraphModule as the text of a model file."},
    {NULL, NULL, 0, NULL}};

int fxpy_lower_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
