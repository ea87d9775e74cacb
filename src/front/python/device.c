/* device.c: torch.device and torch.layout. Everything is computed on the processor: another device
 * is a name that is kept and shown. */
#include "front/python/fxpy.h"

#include <ctype.h>

typedef struct FxpyDevice {
    PyObject_HEAD char type[16];
    int index; /* -1: none */
} FxpyDevice;

typedef struct FxpyLayout {
    PyObject_HEAD const char *text;
} FxpyLayout;

static PyTypeObject *device_type, *layout_type;
static PyObject *strided;

/* ---- torch.device ---- */

static const char known[] = " cpu cuda ipu xpu mkldnn opengl opencl ideep hip ve fpga ort xla lazy "
                            "vulkan mps meta hpu privateuseone ";

static PyObject *make(PyTypeObject *type, const char *text, Py_ssize_t len, int index) {
    char name[24];
    if (len >= 16 || len == 0 || snprintf(name, sizeof name, " %.*s ", (int)len, text) < 0 ||
        !strstr(known, name))
        return PyErr_Format(PyExc_RuntimeError,
                            "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, "
                            "hip, ve, fpga, ort, xla, lazy, vulkan, mps, meta, hpu, privateuseone "
                            "device type at start of device string: %.100s",
                            text);
    FxpyDevice *d = PyObject_New(FxpyDevice, type);
    if (d) {
        snprintf(d->type, sizeof d->type, "%.*s", (int)len, text);
        d->index = index;
    }
    return (PyObject *)d;
}

PyObject *fxpy_device(const char *text) {
    const char *colon = strchr(text, ':');
    Py_ssize_t len = colon ? colon - text : (Py_ssize_t)strlen(text);
    int index = -1;
    if (colon) {
        char *end;
        long i = strtol(colon + 1, &end, 10);
        if (!isdigit((unsigned char)colon[1]) || *end || i > 127)
            return PyErr_Format(PyExc_RuntimeError, "Invalid device string: '%.100s'", text);
        index = (int)i;
    }
    return make(device_type, text, len, index);
}

bool fxpy_device_text(PyObject *o, char text[32]) {
    if (Py_TYPE(o) != device_type)
        return false;
    const FxpyDevice *d = (const FxpyDevice *)o;
    if (d->index < 0)
        snprintf(text, 32, "%s", d->type);
    else
        snprintf(text, 32, "%s:%d", d->type, d->index);
    return true;
}

static PyObject *device_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"type", "index", NULL}, *device_names[] = {"device", NULL};
    PyObject *what;
    int index = -1;
    (void)type;
    if (kwargs && PyDict_GetItemString(kwargs, "device")) {
        if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:device", device_names, &what))
            return NULL;
    } else if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|i:device", names, &what, &index)) {
        return NULL;
    }
    if (Py_TYPE(what) == device_type)
        return Py_NewRef(what);
    if (PyLong_Check(what)) { /* the number of a GPU */
        long i = PyLong_AsLong(what);
        return i == -1 && PyErr_Occurred() ? NULL : make(device_type, "cuda", 4, (int)i);
    }
    const char *text = PyUnicode_Check(what) ? PyUnicode_AsUTF8(what) : NULL;
    if (!text)
        return PyErr_Occurred() ? NULL
                                : PyErr_Format(PyExc_TypeError,
                                               "Device() received an invalid combination of "
                                               "arguments - got (%.100s), but expected one of:\n"
                                               " * (torch.device device)\n"
                                               " * (str type, int index)",
                                               Py_TYPE(what)->tp_name);
    if (index < 0)
        return fxpy_device(text);
    if (strchr(text, ':'))
        return PyErr_Format(PyExc_RuntimeError,
                            "type (string) must not include an index because index was passed "
                            "explicitly: %.100s",
                            text);
    return make(device_type, text, (Py_ssize_t)strlen(text), index);
}

static PyObject *device_repr(PyObject *o) {
    const FxpyDevice *d = (const FxpyDevice *)o;
    if (d->index < 0)
        return PyUnicode_FromFormat("device(type='%s')", d->type);
    return PyUnicode_FromFormat("device(type='%s', index=%d)", d->type, d->index);
}

static PyObject *device_str(PyObject *o) {
    char text[32];
    fxpy_device_text(o, text);
    return PyUnicode_FromString(text);
}

static Py_hash_t device_hash(PyObject *o) {
    const FxpyDevice *d = (const FxpyDevice *)o;
    Py_hash_t h = (Py_hash_t)(fxs_hash(d->type, strlen(d->type)) >> 8) ^ (d->index + 1);
    return h == -1 ? -2 : h;
}

static PyObject *device_compare(PyObject *a, PyObject *b, int op) {
    if (Py_TYPE(a) != device_type || Py_TYPE(b) != device_type || (op != Py_EQ && op != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    const FxpyDevice *x = (const FxpyDevice *)a, *y = (const FxpyDevice *)b;
    bool equal = x->index == y->index && strcmp(x->type, y->type) == 0;
    return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject *get_type(PyObject *o, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((FxpyDevice *)o)->type);
}
static PyObject *get_index(PyObject *o, void *unused) {
    int i = ((FxpyDevice *)o)->index;
    (void)unused;
    return i < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(i);
}
static PyObject *device_reduce(PyObject *o, PyObject *unused) {
    char text[32];
    (void)unused;
    fxpy_device_text(o, text);
    return Py_BuildValue("O(s)", device_type, text);
}
static PyObject *same(PyObject *o, PyObject *unused) {
    (void)unused;
    return Py_NewRef(o);
}

static PyMethodDef device_methods[] = {
    {"__reduce__", device_reduce, METH_NOARGS, NULL},
    {"__copy__", same, METH_NOARGS, NULL},
    {"__deepcopy__", same, METH_O, NULL},
    {0},
};
static PyGetSetDef device_attributes[] = {
    {"type", get_type, NULL, NULL, NULL},
    {"index", get_index, NULL, NULL, NULL},
    {0},
};
static PyType_Slot device_slots[] = {
    {Py_tp_new, device_new},
    {Py_tp_repr, device_repr},
    {Py_tp_str, device_str},
    {Py_tp_hash, device_hash},
    {Py_tp_richcompare, device_compare},
    {Py_tp_methods, device_methods},
    {Py_tp_getset, device_attributes},
    {0, NULL},
};
static PyType_Spec device_spec = {
    .name = "torch.device",
    .basicsize = sizeof(FxpyDevice),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = device_slots,
};

/* ---- torch.layout ---- */

bool fxpy_layout_text(PyObject *o, const char **text) {
    if (Py_TYPE(o) != layout_type)
        return false;
    *text = ((FxpyLayout *)o)->text;
    return true;
}

PyObject *fxpy_strided(void) { return Py_NewRef(strided); }

static PyObject *layout_repr(PyObject *o) { return PyUnicode_FromString(((FxpyLayout *)o)->text); }
static PyObject *layout_reduce(PyObject *o, PyObject *unused) {
    (void)unused;
    return PyUnicode_FromString(((FxpyLayout *)o)->text + strlen("torch."));
}
static PyMethodDef layout_methods[] = {
    {"__reduce__", layout_reduce, METH_NOARGS, NULL},
    {"__copy__", same, METH_NOARGS, NULL},
    {"__deepcopy__", same, METH_O, NULL},
    {0},
};
static PyType_Slot layout_slots[] = {
    {Py_tp_repr, layout_repr},
    {Py_tp_methods, layout_methods},
    {0, NULL},
};
static PyType_Spec layout_spec = {
    .name = "torch.layout",
    .basicsize = sizeof(FxpyLayout),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = layout_slots,
};

static int add_layouts(PyObject *table) {
    static const char *const texts[] = {"torch.strided",    "torch.sparse_coo", "torch.sparse_csr",
                                        "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc",
                                        "torch._mkldnn"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        FxpyLayout *o = PyObject_New(FxpyLayout, layout_type);
        if (!o)
            return -1;
        o->text = texts[i];
        int bad = PyDict_SetItemString(table, texts[i] + strlen("torch."), (PyObject *)o);
        if (i == 0)
            strided = (PyObject *)o;
        else
            Py_DECREF(o);
        if (bad)
            return -1;
    }
    return 0;
}

/* _fxscope.layouts: name -> object, as they stand in torch. */
int fxpy_init_device(PyObject *module) {
    PyObject *layouts = PyDict_New();
    device_type = (PyTypeObject *)PyType_FromSpec(&device_spec);
    layout_type = (PyTypeObject *)PyType_FromSpec(&layout_spec);
    int bad = !layouts || !device_type || !layout_type ||
              fxpy_add_type(module, "device", device_type) < 0 ||
              fxpy_add_type(module, "layout", layout_type) < 0 || add_layouts(layouts) < 0 ||
              PyModule_AddObjectRef(module, "layouts", layouts) < 0;
    Py_XDECREF(layouts);
    return bad ? -1 : 0;
}
