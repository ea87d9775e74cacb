/* function.c: the functions of torch and the methods of Tensor as Python objects, one for each
 * name, made from the operators' table. How torch.fx spells a function (fxs_spell) decides which
 * names are the same object: F.linear is torch._C._nn.linear. */
#include "front/python/tensor.h"

#include <stddef.h>
#include <structmember.h>

PyTypeObject *fxpy_function_type, *fxpy_method_type;
static PyObject *functions; /* path of the object -> Function */
static fxs_arena names;     /* as long as the process */

/* ---- the objects ---- */

static PyObject *call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *kwnames) {
    return fxpy_call((FxpyFunction *)callable, args, PyVectorcall_NARGS(nargsf), kwnames);
}

static FxpyFunction *make(PyTypeObject *type, const char *path) {
    FxpyFunction *f = (FxpyFunction *)type->tp_alloc(type, 0);
    if (!f)
        return NULL;
    f->call = call;
    f->path = fxs_arena_dup(&names, path, strlen(path));
    f->method = type == fxpy_method_type;
    const char *dot = f->path ? strrchr(f->path, '.') : NULL;
    if (!dot || fxs_registry_find(fxpy_ctx(), path, &f->ops) != FXS_OK) {
        fxpy_raise();
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        Py_DECREF(f);
        return NULL;
    }
    f->name = dot + 1;
    f->laziness = fxpy_laziness(f->name, f->method);
    return f;
}

static void function_dealloc(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    Py_XDECREF(((FxpyFunction *)o)->dict);
    type->tp_free(o);
    Py_DECREF(type);
}

const char *fxpy_function_path(PyObject *f) { return ((FxpyFunction *)f)->path; }

static bool starts(const char *s, const char *prefix) {
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* torch.relu: a static method of the class that holds such builtins. */
static bool is_variable_function(const FxpyFunction *f) {
    return starts(f->path, "torch.") && f->name == f->path + strlen("torch.");
}

/* As torch's own objects show themselves. */
static PyObject *function_repr(PyObject *o) {
    const FxpyFunction *f = (FxpyFunction *)o;
    if (f->method)
        return PyUnicode_FromFormat("<method '%s' of 'torch._C._TensorBase' objects>", f->name);
    if (is_variable_function(f))
        return PyUnicode_FromFormat("<built-in method %s of type object at %p>", f->name, o);
    if (starts(f->path, "torch._C."))
        return PyUnicode_FromFormat("<built-in function %s>", f->name);
    return PyUnicode_FromFormat("<function %s at %p>", f->name, o);
}

static PyObject *get_name(PyObject *o, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((FxpyFunction *)o)->name);
}
static PyObject *get_qualname(PyObject *o, void *unused) {
    const FxpyFunction *f = (FxpyFunction *)o;
    (void)unused;
    return PyUnicode_FromFormat("%s%s",
                                f->method                 ? "_TensorBase."
                                : is_variable_function(f) ? "_VariableFunctionsClass."
                                                          : "",
                                f->name);
}
static PyObject *get_module(PyObject *o, void *unused) {
    const FxpyFunction *f = (FxpyFunction *)o;
    (void)unused;
    return PyUnicode_FromStringAndSize(f->path, f->name - 1 - f->path);
}
static PyObject *get_doc(PyObject *o, void *unused) {
    const FxpyFunction *f = (FxpyFunction *)o;
    (void)unused;
    return f->ops ? PyUnicode_FromFormat("%s%s", f->name, f->ops->op->schema) : Py_NewRef(Py_None);
}
static PyObject *function_reduce(PyObject *o, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(((FxpyFunction *)o)->name);
}
static PyObject *same(PyObject *o, PyObject *unused) {
    (void)unused;
    return Py_NewRef(o);
}

static PyGetSetDef attributes[] = {
    {"__name__", get_name, NULL, NULL, NULL},
    {"__qualname__", get_qualname, NULL, NULL, NULL},
    {"__doc__", get_doc, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {0},
};
/* As torch has it: functions have __module__, methods have not. */
static PyGetSetDef function_attributes[] = {
    {"__name__", get_name, NULL, NULL, NULL},
    {"__qualname__", get_qualname, NULL, NULL, NULL},
    {"__module__", get_module, NULL, NULL, NULL},
    {"__doc__", get_doc, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {0},
};
static PyMethodDef methods[] = {
    {"__reduce__", function_reduce, METH_NOARGS, NULL},
    {"__copy__", same, METH_NOARGS, NULL},
    {"__deepcopy__", same, METH_O, NULL},
    {0},
};
static PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FxpyFunction, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(FxpyFunction, dict), READONLY, NULL},
    {0},
};

static PyObject *bind(PyObject *self, PyObject *o, PyObject *type) {
    (void)type;
    return o ? PyMethod_New(self, o) : Py_NewRef(self);
}

static PyType_Slot function_slots[] = {
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_repr, function_repr},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, function_attributes},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {0, NULL},
};
/* torch's methods have no __module__. */
static PyObject *method_getattro(PyObject *o, PyObject *name) {
    if (PyUnicode_Check(name) && PyUnicode_CompareWithASCIIString(name, "__module__") == 0)
        return PyErr_Format(PyExc_AttributeError,
                            "'method_descriptor' object has no attribute '__module__'");
    return PyObject_GenericGetAttr(o, name);
}

static PyType_Slot method_slots[] = {
    {Py_tp_getattro, method_getattro},
    {Py_tp_dealloc, function_dealloc},
    {Py_tp_repr, function_repr},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_getset, attributes},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {Py_tp_descr_get, bind},
    {0, NULL},
};
enum {
    FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION
};
static PyType_Spec function_spec = {.name = "builtins.builtin_function_or_method",
                                    .basicsize = sizeof(FxpyFunction),
                                    .flags = FLAGS,
                                    .slots = function_slots};
static PyType_Spec method_spec = {.name = "builtins.method_descriptor",
                                  .basicsize = sizeof(FxpyFunction),
                                  .flags = FLAGS | Py_TPFLAGS_METHOD_DESCRIPTOR,
                                  .slots = method_slots};

/* ---- which name is which object ---- */

/* The path of the object that users reach under `path`; in the arena `names`. */
static const char *object_path(const char *path) {
    static const char f[] = "torch.nn.functional.";
    fxs_value args, kwargs = {.tag = FXS_V_DICT};
    fxs_spelled as = {.target = path};
    fxs_arena scratch = {0};
    const char *out = path;
    if (fxs_make_seq(fxpy_ctx(), &scratch, FXS_V_TUPLE, 0, &args) == FXS_OK &&
        fxs_make_dict(fxpy_ctx(), &scratch, 0, &kwargs) == FXS_OK)
        fxs_spell(fxpy_ctx(), &scratch, path, &args, &kwargs, &as);
    fxs_ctx_clear(fxpy_ctx()); /* that arguments are missing does not matter: target is set */
    if (!as.method && !(starts(path, f) && starts(as.target, f)))
        out = fxs_arena_dup(&names, as.target, strlen(as.target));
    fxs_arena_clear(&scratch);
    return out;
}

/* The object of a path, made if it is not there; borrowed. */
static PyObject *object_at(const char *path) {
    PyObject *known = PyDict_GetItemString(functions, path);
    if (known)
        return known;
    PyObject *f = (PyObject *)make(fxpy_function_type, path);
    if (!f || PyDict_SetItemString(functions, path, f) < 0) {
        Py_XDECREF(f);
        return NULL;
    }
    Py_DECREF(f);
    return f;
}

PyObject *fxpy_function_find(const char *target) {
    const char *path = object_path(target);
    PyObject *known = path ? PyDict_GetItemString(functions, path) : NULL;
    const fxs_candidate *ops = NULL;
    if (known)
        return Py_NewRef(known);
    if (path && fxs_registry_find(fxpy_ctx(), path, &ops) != FXS_OK)
        return fxpy_raise();
    return ops && starts(path, "torch.") ? Py_XNewRef(object_at(path)) : NULL;
}

PyObject *fxpy_function_exact(const char *target) {
    const fxs_candidate *ops = NULL;
    if (fxs_registry_find(fxpy_ctx(), target, &ops) != FXS_OK)
        return fxpy_raise();
    return ops && starts(target, "torch.") ? Py_XNewRef(object_at(target)) : NULL;
}

/* ---- all of them ---- */

static int put(PyObject *table, const char *path) {
    const char *object = object_path(path);
    PyObject *f = object ? object_at(object) : PyErr_NoMemory();
    return f && PyDict_SetItemString(table, path, f) == 0 ? 0 : -1;
}

/* Other paths of the builtin `path`: torch.nn.functional.linear of torch._C._nn.linear. */
static int put_aliases(PyObject *table, const char *path) {
    static const char *const moved[][2] = {{"torch._C._fft.fft_", "torch.fft."},
                                           {"torch._C._linalg.linalg_", "torch.linalg."},
                                           {"torch._C._special.special_", "torch.special."},
                                           {"torch.functional.", "torch."},
                                           {"torch._C._nn.", "torch.nn.functional."},
                                           {"torch.", "torch.nn.functional."}};
    char other[200];
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        if (!starts(path, moved[i][0]))
            continue;
        const char *name = path + strlen(moved[i][0]);
        if (strcmp(name, "log_sigmoid") == 0)
            name = "logsigmoid";
        if (strchr(name, '.') || snprintf(other, sizeof other, "%s%s", moved[i][1], name) >= 200)
            continue;
        const char *object = object_path(other);
        if (!object)
            return -1;
        if (strcmp(object, path) == 0 && put(table, other) < 0)
            return -1;
    }
    return 0;
}

static bool is_function_path(const char *s) {
    return starts(s, "torch.") && !starts(s, "torch.Size");
}

/* Calls fn for each spelling of each row, and for its in-place form. */
static int each_spelling(int (*fn)(PyObject *, const char *), PyObject *to) {
    char path[200];
    for (const fxs_family *family = fxs_families; family->name; family++)
        for (const fxs_op *op = family->ops; op && op->name; op++)
            for (const char *s = op->torch ? op->torch : ""; *s;) {
                int n = (int)strcspn(s, " "), bare = n - (n && s[n - 1] == '!');
                const fxs_candidate *with = NULL;
                snprintf(path, sizeof path, "%.*s", bare, s);
                if (bare && fn(to, path) < 0)
                    return -1;
                snprintf(path, sizeof path, "%.*s_", bare, s);
                if (bare && (fxs_registry_find(fxpy_ctx(), path, &with) != FXS_OK ||
                             (with && fn(to, path) < 0)))
                    return -1;
                s += n + (s[n] == ' ');
            }
    return 0;
}

static int add_function(PyObject *table, const char *path) {
    if (!is_function_path(path))
        return 0;
    return put(table, path) < 0 ? -1 : put_aliases(table, path);
}

static int add_method(PyObject *type, const char *path) {
    const char *name = path + strlen("Tensor.");
    PyTypeObject *base = (PyTypeObject *)type;
    if (!starts(path, "Tensor.") || PyDict_GetItemString(base->tp_dict, name) ||
        starts(name, "__")) /* Python's protocols are slots */
        return 0;
    FxpyFunction *f = make(fxpy_method_type, path);
    int bad = !f || PyDict_SetItemString(base->tp_dict, name, (PyObject *)f) < 0;
    Py_XDECREF(f);
    return bad ? -1 : 0;
}

/* Those that have no row, because they take any Python object. */
static int add_native(PyObject *table) {
    for (const fxpy_native *n = fxpy_natives; n->path; n++) {
        PyObject *f = object_at(n->path);
        if (!f || PyDict_SetItemString(table, n->path, f) < 0)
            return -1;
        ((FxpyFunction *)f)->run = n->run;
    }
    return 0;
}

static PyObject *all_functions(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    PyObject *table = PyDict_New();
    if (table && (each_spelling(add_function, table) < 0 || add_native(table) < 0)) {
        Py_CLEAR(table);
        fxpy_raise();
    }
    return table;
}

static PyObject *find(PyObject *self, PyObject *name) {
    const char *s = PyUnicode_AsUTF8(name);
    (void)self;
    PyObject *f = s ? fxpy_function_find(s) : NULL;
    return f || PyErr_Occurred() ? f : Py_NewRef(Py_None);
}

static PyMethodDef module_functions[] = {
    {"functions", all_functions, METH_NOARGS,
     "Every path under which user code may reach a function, and the function."},
    {"find_function", find, METH_O, "The function of a qualified name, or None."},
    {0},
};

int fxpy_init_function(PyObject *module) {
    functions = PyDict_New();
    fxpy_function_type = (PyTypeObject *)PyType_FromSpec(&function_spec);
    fxpy_method_type = (PyTypeObject *)PyType_FromSpec(&method_spec);
    if (!functions || !fxpy_function_type || !fxpy_method_type ||
        fxpy_add_type(module, "Function", fxpy_function_type) < 0 ||
        fxpy_add_type(module, "Method", fxpy_method_type) < 0 ||
        PyModule_AddFunctions(module, module_functions) < 0 ||
        each_spelling(add_method, (PyObject *)fxpy_tensor_base) < 0) {
        fxpy_raise();
        return -1;
    }
    PyType_Modified(fxpy_tensor_base);
    return 0;
}
