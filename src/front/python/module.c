/* module.c: the module _fxscope: every part adds its types and functions. The same objects are the
 * plug-in of the command, where the interpreter is embedded, and an extension module of a user's
 * own Python. */
#include "front/python/fxpy.h"

int fxpy_add_type(PyObject *module, const char *name, PyTypeObject *type) {
    return PyModule_AddObjectRef(module, name, (PyObject *)type);
}

/* constants(): name in torch -> dtype, memory format or layout. */
static PyObject *constants(PyObject *module, PyObject *unused) {
    static const char *const tables[] = {"dtypes", "memory_formats", "layouts"};
    PyObject *all = PyDict_New();
    (void)unused;
    for (size_t i = 0; all && i < sizeof tables / sizeof *tables; i++) {
        PyObject *table = PyObject_GetAttrString(module, tables[i]);
        if (!table || PyDict_Update(all, table) < 0)
            Py_CLEAR(all);
        Py_XDECREF(table);
    }
    return all;
}

static PyMethodDef functions[] = {
    {"constants", constants, METH_NOARGS, NULL},
    {0},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_fxscope",
    .m_doc = "Tensors, functions and graphs of libfxscope.",
    .m_size = -1,
    .m_methods = functions,
};

/* In this order: later parts use the types of earlier ones. */
static int (*const parts[])(PyObject *) = {
    fxpy_init_dtype,    fxpy_init_device, fxpy_init_size,  fxpy_init_generator, fxpy_init_tensor,
    fxpy_init_function, fxpy_init_create, fxpy_init_print, fxpy_init_graph,     fxpy_init_model,
};

PyMODINIT_FUNC PyInit__fxscope(void) {
    if (fxs_front_abi() != FXS_FRONT_ABI) {
        PyErr_SetString(PyExc_ImportError, "_fxscope belongs to another version of libfxscope: "
                                           "build or install both together");
        return NULL;
    }
    if (!fxpy_ctx())
        return PyErr_NoMemory();
    PyObject *module = PyModule_Create(&definition);
    int bad = !module || PyModule_AddStringConstant(module, "__version__", fxs_version()) < 0;
    for (size_t i = 0; !bad && i < sizeof parts / sizeof *parts; i++)
        bad = parts[i](module) < 0;
    if (!bad && fxpy_init_extension)
        bad = fxpy_init_extension(module) < 0;
    if (bad)
        Py_CLEAR(module);
    return module;
}
