/* py_schema.c: the operators' parameters for Python: what frozen torch.fx binds arguments by. */
#include "front/python/fxgraph.h"

#include <string.h>

static const char *const type_names[] = {
    [FXS_T_TENSOR] = "Tensor",
    [FXS_T_TENSORS] = "Tensor[]",
    [FXS_T_INT] = "int",
    [FXS_T_INTS] = "int[]",
    [FXS_T_FLOAT] = "float",
    [FXS_T_SCALAR] = "Scalar",
    [FXS_T_NUMBER] = "number",
    [FXS_T_BOOL] = "bool",
    [FXS_T_STR] = "str",
    [FXS_T_DTYPE] = "dtype",
    [FXS_T_DEVICE] = "device",
    [FXS_T_LAYOUT] = "layout",
    [FXS_T_MEMORY_FORMAT] = "memory_format",
    [FXS_T_ANY] = "any",
};

/* (name, names of types, has a default, the default, by keyword only, takes all that follow) */
static PyObject *parameter(const fxs_param *p) {
    PyObject *types = PyList_New(0), *fallback = NULL, *made = NULL;
    for (int t = 0; types && t < FXS_T_COUNT; t++) {
        PyObject *name = p->types & (1u << t) ? PyUnicode_FromString(type_names[t]) : NULL;
        if ((p->types & (1u << t)) && (!name || PyList_Append(types, name) < 0))
            Py_CLEAR(types);
        Py_XDECREF(name);
    }
    if (types)
        fallback = p->has_default ? fxpy_value_to_py(&p->fallback) : Py_NewRef(Py_None);
    if (fallback)
        made =
            Py_BuildValue("(sOOOOO)", p->name, types, p->has_default ? Py_True : Py_False, fallback,
                          p->keyword_only ? Py_True : Py_False, p->variadic ? Py_True : Py_False);
    Py_XDECREF(types);
    Py_XDECREF(fallback);
    return made;
}

static PyObject *parameters(const fxs_op *op) {
    const fxs_schema *s;
    if (fxs_registry_schema(fxpy_ctx(), op, &s) != FXS_OK)
        return fxpy_raise();
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < s->nparams; i++) {
        PyObject *p = parameter(&s->params[i]);
        if (!p || PyList_Append(list, p) < 0)
            Py_CLEAR(list);
        Py_XDECREF(p);
    }
    return list;
}

/* The rows of a spelling or Function; *c is NULL for what the library does not know. */
static int find_rows(PyObject *what, const fxs_candidate **c) {
    const char *spelling = Py_TYPE(what) == fxpy_function_type ? fxpy_function_path(what) : NULL;
    *c = NULL;
    if (!spelling && !(spelling = PyUnicode_AsUTF8(what)))
        return -1;
    if (fxs_registry_find(fxpy_ctx(), spelling, c) == FXS_OK)
        return 0;
    fxpy_raise();
    return -1;
}

/* schemas(spelling or Function): for each overload the list of its parameters; empty for what the
 * library does not know. */
static PyObject *schemas(PyObject *self, PyObject *what) {
    const fxs_candidate *c;
    (void)self;
    if (find_rows(what, &c) < 0)
        return NULL;
    PyObject *list = PyList_New(0);
    for (; list && c; c = c->next) {
        PyObject *one = parameters(c->op);
        if (!one || PyList_Append(list, one) < 0)
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

/* is_in_place(spelling or Function): does it write into its argument? */
static PyObject *is_in_place(PyObject *self, PyObject *what) {
    const fxs_candidate *c;
    (void)self;
    if (find_rows(what, &c) < 0)
        return NULL;
    return PyBool_FromLong(c && c->in_place);
}

static PyMethodDef functions[] = {
    {"schemas", schemas, METH_O, "schemas(spelling or Function): the parameters of each overload."},
    {"is_in_place", is_in_place, METH_O, "is_in_place(spelling or Function)"},
    {NULL, NULL, 0, NULL}};

int fxpy_schema_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
