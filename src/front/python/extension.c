/* extension.c: what the extension module fxscope._fxscope has beyond the plug-in: the frozen
 * library, which an interpreter that runs already gets through install(). */
#include "front/python/embed.h"

/* install_frozen(): import finds the frozen modules from now on. */
static PyObject *install_frozen(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    if (PyImport_FrozenModules && PyImport_FrozenModules != fxpy_frozen &&
        PyImport_FrozenModules->name)
        return PyErr_Format(PyExc_RuntimeError, "this Python has frozen modules of its own");
    PyImport_FrozenModules = fxpy_frozen;
    Py_RETURN_NONE;
}

/* The names of the frozen modules. */
static PyObject *frozen_names(PyObject *self, PyObject *unused) {
    PyObject *names = PyList_New(0);
    (void)self, (void)unused;
    for (const struct _frozen *f = fxpy_frozen; names && f->name; f++) {
        PyObject *name = PyUnicode_FromString(f->name);
        if (!name || PyList_Append(names, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(name);
    }
    return names;
}

static PyMethodDef functions[] = {
    {"install_frozen", install_frozen, METH_NOARGS, NULL},
    {"frozen_names", frozen_names, METH_NOARGS, NULL},
    {0},
};

int fxpy_init_extension(PyObject *module) { return PyModule_AddFunctions(module, functions); }
