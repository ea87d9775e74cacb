/* py_names.c: torch.fx's namespaces for Python: which name a node or a global gets. The rules are
 * the core's (ir/names.c); here is what depends on objects. */
#include "front/python/fxgraph.h"

#include <string.h>

#include "ir/graph.h"

typedef struct FxpyNames {
    PyObject_HEAD PyObject *objects; /* object -> its name */
    fxs_arena arena;
    fxs_map used;
} FxpyNames;

static PyObject *names_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    FxpyNames *n = (FxpyNames *)type->tp_alloc(type, 0);
    (void)args;
    (void)kwargs;
    if (n && !(n->objects = PyDict_New()))
        Py_CLEAR(n);
    return (PyObject *)n;
}

static int names_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((FxpyNames *)self)->objects);
    return 0;
}

static int names_clear(PyObject *self) {
    Py_CLEAR(((FxpyNames *)self)->objects);
    return 0;
}

static void names_dealloc(PyObject *self) {
    FxpyNames *n = (FxpyNames *)self;
    PyObject_GC_UnTrack(self);
    names_clear(self);
    fxs_map_free(&n->used);
    fxs_arena_clear(&n->arena);
    Py_TYPE(self)->tp_free(self);
}

/* Is the object what Python itself, or every graph, knows by that name? */
static int is_own(PyObject *candidate, PyObject *obj) {
    PyObject *presets = fxpy_registered("custom_builtins");
    PyObject *known = presets ? PyDict_GetItemWithError(presets, candidate) : NULL;
    if (!known && !PyErr_Occurred()) {
        PyObject *builtins = PyEval_GetBuiltins();
        known = builtins && PyDict_Check(builtins) ? PyDict_GetItemWithError(builtins, candidate)
                                                   : NULL;
    }
    return PyErr_Occurred() ? -1 : known == obj;
}

PyObject *fxpy_names_create(PyObject *self, PyObject *candidate, PyObject *obj) {
    FxpyNames *n = (FxpyNames *)self;
    Py_ssize_t len;
    const char *text = PyUnicode_AsUTF8AndSize(candidate, &len), *name;
    int own = 0;
    if (!text)
        return NULL;
    if (len == 0) {
        PyErr_SetString(PyExc_IndexError, "string index out of range");
        return NULL;
    }
    if (obj) {
        PyObject *known = PyDict_GetItemWithError(n->objects, obj);
        if (known || PyErr_Occurred())
            return Py_XNewRef(known);
        if ((own = is_own(candidate, obj)) < 0)
            return NULL;
    }
    if (fxs_name_unique(fxpy_ctx(), &n->arena, &n->used, text, (size_t)len, own, &name) != FXS_OK)
        return fxpy_raise();
    PyObject *made = PyUnicode_FromString(name);
    if (made && obj && PyDict_SetItem(n->objects, obj, made) < 0)
        Py_CLEAR(made);
    return made;
}

static PyObject *create_name(PyObject *self, PyObject *args) {
    PyObject *candidate, *obj;
    if (!PyArg_ParseTuple(args, "UO:create_name", &candidate, &obj))
        return NULL;
    return fxpy_names_create(self, candidate, obj == Py_None ? NULL : obj);
}

/* A name that is given already, for an object that may then be asked for. */
static PyObject *associate(PyObject *self, PyObject *args) {
    PyObject *name, *obj;
    if (!PyArg_ParseTuple(args, "UO:associate_name_with_obj", &name, &obj) ||
        PyDict_SetItem(((FxpyNames *)self)->objects, obj, name) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"create_name", create_name, METH_VARARGS,
     "create_name(candidate, obj): a unique, legal name; the one that obj has already."},
    {"associate_name_with_obj", associate, METH_VARARGS,
     "associate_name_with_obj(name, obj): obj has that name from now on."},
    {NULL, NULL, 0, NULL}};

PyTypeObject FxpyNames_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "torch.fx.graph._Namespace",
    .tp_basicsize = sizeof(FxpyNames),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = names_new,
    .tp_dealloc = names_dealloc,
    .tp_traverse = names_traverse,
    .tp_clear = names_clear,
    .tp_methods = methods,
};

/* ---- candidates
 * ------------------------------------------------------------------------------------------ */

/* Most names are so already. */
static bool is_snake(PyObject *s) {
    if (!PyUnicode_IS_COMPACT_ASCII(s))
        return false;
    const char *text = PyUnicode_DATA(s);
    for (Py_ssize_t i = 0; i < PyUnicode_GET_LENGTH(s); i++)
        if (text[i] >= 'A' && text[i] <= 'Z')
            return false;
    return true;
}

PyObject *fxpy_snake_case(PyObject *self, PyObject *s) {
    (void)self;
    if (!PyUnicode_Check(s))
        return PyErr_Format(PyExc_TypeError, "a str expected, got %s", Py_TYPE(s)->tp_name);
    if (is_snake(s))
        return Py_NewRef(s);
    Py_ssize_t n = PyUnicode_GET_LENGTH(s), len = 0;
    Py_UCS4 *text = PyMem_New(Py_UCS4, (size_t)n * 4 + 1);
    bool lower = false;
    if (!text)
        return PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < n; i++) {
        Py_UCS4 c = PyUnicode_READ_CHAR(s, i);
        if (lower && Py_UNICODE_ISUPPER(c))
            text[len++] = '_';
        lower = Py_UNICODE_ISLOWER(c);
        text[len++] = Py_UNICODE_TOLOWER(c);
    }
    PyObject *made = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text, len);
    PyMem_Free(text);
    return made;
}

/* Dunders are not for nodes: __call__ is call. */
static PyObject *without_dunder(PyObject *s) {
    Py_ssize_t n = PyUnicode_GET_LENGTH(s);
    bool both = n >= 4 && PyUnicode_READ_CHAR(s, 0) == '_' && PyUnicode_READ_CHAR(s, 1) == '_' &&
                PyUnicode_READ_CHAR(s, n - 1) == '_' && PyUnicode_READ_CHAR(s, n - 2) == '_';
    return both ? PyUnicode_Substring(s, 2, n - 2) : Py_NewRef(s);
}

PyObject *fxpy_target_name(PyObject *target) {
    bool callable = PyCallable_Check(target);
    PyObject *name = callable ? PyObject_GetAttr(target, fxpy_str.__name__) : Py_NewRef(target);
    if (name && !PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_AssertionError, "");
        Py_CLEAR(name);
    }
    if (name && !callable)
        Py_SETREF(name, without_dunder(name));
    if (name)
        Py_SETREF(name, fxpy_snake_case(NULL, name));
    return name;
}
