/* generator.c: torch.Generator and the seeds that random tensors take. Each takes the next number
 * of a sequence that the seed begins, so that its values depend on the order of the calls alone.
 * The values are not those of PyTorch's generators. */
#include "front/python/fxpy.h"

#include <time.h>

typedef struct FxpyGenerator {
    PyObject_HEAD uint64_t seed, count;
} FxpyGenerator;

static PyTypeObject *generator_type;
static FxpyGenerator *standard;

uint64_t fxpy_next_seed(PyObject *generator) {
    FxpyGenerator *g =
        generator && Py_TYPE(generator) == generator_type ? (FxpyGenerator *)generator : standard;
    uint64_t x = g->seed * 0x9e3779b97f4a7c15u + ++g->count * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static PyObject *generator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"device", NULL};
    PyObject *device = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:Generator", names, &device))
        return NULL;
    FxpyGenerator *g = (FxpyGenerator *)type->tp_alloc(type, 0);
    if (g)
        g->seed = 67280421310721; /* what torch.Generator().initial_seed() says */
    return (PyObject *)g;
}

static PyObject *manual_seed(PyObject *o, PyObject *seed) {
    FxpyGenerator *g = (FxpyGenerator *)o;
    PyObject *whole = PyNumber_Long(seed);
    if (!whole)
        return NULL;
    g->seed = PyLong_AsUnsignedLongLongMask(whole);
    g->count = 0;
    Py_DECREF(whole);
    return PyErr_Occurred() ? NULL : Py_NewRef(o);
}

static PyObject *initial_seed(PyObject *o, PyObject *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(((FxpyGenerator *)o)->seed);
}

static PyObject *new_seed(PyObject *o, PyObject *unused) {
    FxpyGenerator *g = (FxpyGenerator *)o;
    struct timespec now;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &now);
    g->seed = ((uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec) & 0x7fffffffffffffffu;
    g->count = 0;
    return PyLong_FromUnsignedLongLong(g->seed);
}

/* The state is a tensor of bytes, as in torch. */
static PyObject *get_state(PyObject *o, PyObject *unused) {
    const FxpyGenerator *g = (FxpyGenerator *)o;
    uint64_t numbers[] = {g->seed, g->count};
    int64_t size = sizeof numbers;
    fxs_tensor *t;
    (void)unused;
    if (fxs_tensor_new(fxpy_ctx(), FXS_UINT8, 1, &size, &t) != FXS_OK)
        return fxpy_raise();
    memcpy(fxs_tensor_data(t), numbers, sizeof numbers);
    return fxpy_tensor_new(t);
}

static PyObject *set_state(PyObject *o, PyObject *state) {
    FxpyGenerator *g = (FxpyGenerator *)o;
    uint64_t numbers[2];
    if (!fxpy_is_tensor(state) || fxpy_tensor_meta(state)->dtype != FXS_UINT8 ||
        fxs_tensor_numel(fxpy_tensor_meta(state)) != (int64_t)sizeof numbers)
        return PyErr_Format(PyExc_TypeError, "expected a state that get_state() gave");
    fxs_tensor *t = fxpy_tensor_get(state);
    if (!t)
        return NULL;
    memcpy(numbers, fxs_tensor_data(t), sizeof numbers);
    g->seed = numbers[0];
    g->count = numbers[1];
    return Py_NewRef(o);
}

static PyObject *get_device(PyObject *o, void *unused) {
    (void)o, (void)unused;
    return fxpy_device("cpu");
}

static PyMethodDef methods[] = {
    {"manual_seed", manual_seed, METH_O, NULL}, {"initial_seed", initial_seed, METH_NOARGS, NULL},
    {"seed", new_seed, METH_NOARGS, NULL},      {"get_state", get_state, METH_NOARGS, NULL},
    {"set_state", set_state, METH_O, NULL},     {0},
};
static PyGetSetDef attributes[] = {
    {"device", get_device, NULL, NULL, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, generator_new},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, NULL},
};
static PyType_Spec spec = {
    .name = "torch._C.Generator",
    .basicsize = sizeof(FxpyGenerator),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = slots,
};

/* torch.manual_seed and torch.initial_seed. */
static PyObject *standard_manual_seed(PyObject *self, PyObject *seed) {
    (void)self;
    return manual_seed((PyObject *)standard, seed);
}
static PyObject *standard_initial_seed(PyObject *self, PyObject *unused) {
    (void)self;
    return initial_seed((PyObject *)standard, unused);
}
static PyMethodDef functions[] = {
    {"manual_seed", standard_manual_seed, METH_O, NULL},
    {"initial_seed", standard_initial_seed, METH_NOARGS, NULL},
    {0},
};

int fxpy_init_generator(PyObject *module) {
    generator_type = (PyTypeObject *)PyType_FromSpec(&spec);
    standard =
        generator_type ? (FxpyGenerator *)PyObject_CallNoArgs((PyObject *)generator_type) : NULL;
    if (!standard)
        return -1;
    return fxpy_add_type(module, "Generator", generator_type) < 0 ||
                   PyModule_AddFunctions(module, functions) < 0
               ? -1
               : PyModule_AddObjectRef(module, "default_generator", (PyObject *)standard);
}
