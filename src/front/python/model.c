/* model.c: _fxscope.Model: a model in the library's own form, from the text that print(model) and
 * print(graph) give: run over shapes or values, told as JSON, drawn. So a model of any PyTorch can
 * be drawn from a user's own Python: its text says all that a picture needs. */
#include "front/python/fxpy.h"
#ifdef FXS_HAVE_RENDER
#include "render/fxrender.h"
#endif

typedef struct FxpyModel {
    PyObject_HEAD fxs_module *m;
} FxpyModel;

static PyTypeObject *model_type;

static PyObject *model_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"text", "name", NULL};
    const char *text, *name = "model";
    Py_ssize_t n;
    fxs_module *m;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s#|s:Model", names, &text, &n, &name))
        return NULL;
    if (fxs_load_text(fxpy_ctx(), name, text, (size_t)n, &m) != FXS_OK)
        return fxpy_raise();
    FxpyModel *x = (FxpyModel *)type->tp_alloc(type, 0);
    if (x)
        x->m = m;
    else
        fxs_module_unref(m);
    return (PyObject *)x;
}

static void model_dealloc(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    fxs_module_unref(((FxpyModel *)o)->m);
    type->tp_free(o);
    Py_DECREF(type);
}

static int add_inputs(fxs_inputs *in, PyObject *specs) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(specs); i++) {
        const char *spec = PyUnicode_AsUTF8(PySequence_Fast_ITEMS(specs)[i]);
        if (!spec)
            return -1;
        if (fxs_inputs_add(in, spec) != FXS_OK) {
            fxpy_raise();
            return -1;
        }
    }
    return 0;
}

/* run(specs, execute=False): inputs as on the command line. Gives how many nodes failed or are
 * unknown. */
static PyObject *model_run(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"inputs", "execute", "train", NULL};
    PyObject *specs, *fast, *out = NULL;
    fxs_inputs *in = NULL;
    fxs_run_summary summary = {0};
    int execute = 0, train = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|pp:run", names, &specs, &execute, &train))
        return NULL;
    fast = PySequence_Fast(specs, "inputs must be a list of texts");
    if (!fast)
        return NULL;
    fxs_run_options opt = {.mode = execute ? FXS_RUN_EXECUTE : FXS_RUN_META, .train = train};
    if (fxs_inputs_new(fxpy_ctx(), &in) != FXS_OK)
        fxpy_raise();
    else if (add_inputs(in, fast) == 0) {
        fxs_status s = fxs_run(((FxpyModel *)o)->m, in, &opt, &summary);
        out = s == FXS_OK ? PyLong_FromSize_t(summary.failed + summary.unknown) : fxpy_raise();
    }
    fxs_inputs_free(in);
    Py_DECREF(fast);
    return out;
}

static PyObject *take(fxs_status s, char *text, size_t len) {
    if (s != FXS_OK)
        return fxpy_raise();
    PyObject *out = PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "replace");
    fxs_free(text);
    return out;
}

/* What the last run recorded, as JSON. */
static PyObject *model_json(PyObject *o, PyObject *unused) {
    char *text = NULL;
    size_t len = 0;
    (void)unused;
    fxs_status s = fxs_module_print_table(((FxpyModel *)o)->m, FXS_TABLE_JSON, &text, &len);
    return take(s, text, len);
}

#ifdef FXS_HAVE_RENDER
/* draw(format, ...): the picture as bytes, and what there is to say of it. */
static PyObject *model_draw(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"format", "theme",    "direction", "title",       "dpi", "rows",
                            "show",   "color_by", "palette",   "edge_shapes", NULL};
    const char *format, *rows = NULL, *show = NULL;
    fxs_draw_options opt = {0};
    char *bytes = NULL, *notes = NULL;
    size_t len = 0;
    int shapes = 0;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "s|zzzdzzzzp:draw", names, &format, &opt.theme,
                                     &opt.direction, &opt.title, &opt.dpi, &rows, &show,
                                     &opt.color_by, &opt.palette, &shapes))
        return NULL;
    opt.edge_shapes = shapes;
    show = show ? show : rows;
    if (show && !fxs_draw_rows(show, &opt.rows))
        return PyErr_Format(PyExc_ValueError, "there is a row in '%s' that is not known", show);
    fxs_status s = fxs_draw_memory(((FxpyModel *)o)->m, &opt, format, &bytes, &len, &notes);
    PyObject *out = s == FXS_OK ? Py_BuildValue("y#s", bytes, (Py_ssize_t)len, notes ? notes : "")
                                : fxpy_raise();
    fxs_free(bytes);
    fxs_free(notes);
    return out;
}

/* render_dot(text, format): any DOT text as a picture's bytes. */
static PyObject *render_dot(PyObject *self, PyObject *args) {
    const char *text, *format;
    char *bytes = NULL;
    size_t len = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "ss:render_dot", &text, &format))
        return NULL;
    fxs_status s = fxs_draw_dot(fxpy_ctx(), text, format, 0, &bytes, &len);
    PyObject *out = s == FXS_OK ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)len) : fxpy_raise();
    fxs_free(bytes);
    return out;
}
#else
static PyObject *render_dot(PyObject *self, PyObject *args) {
    (void)self, (void)args;
    return PyErr_Format(PyExc_NotImplementedError, "fxscope was built without pictures (render)");
}
static PyObject *model_draw(PyObject *o, PyObject *args, PyObject *kwargs) {
    (void)o, (void)args, (void)kwargs;
    return PyErr_Format(PyExc_NotImplementedError, "fxscope was built without pictures (render)");
}
#endif

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))model_run, METH_VARARGS | METH_KEYWORDS, NULL},
    {"json", model_json, METH_NOARGS, NULL},
    {"draw", (PyCFunction)(void (*)(void))model_draw, METH_VARARGS | METH_KEYWORDS, NULL},
    {0},
};
static PyType_Slot slots[] = {
    {Py_tp_new, model_new},
    {Py_tp_dealloc, model_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};
static PyType_Spec spec = {.name = "_fxscope.Model",
                           .basicsize = sizeof(FxpyModel),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = slots};

/* input_value(spec, name): the value that a run gives the input of that name for the spec (without
 * its own NAME=). */
static PyObject *input_value(PyObject *self, PyObject *args) {
    const char *text, *name;
    fxs_input_spec *read = NULL;
    fxs_value v = fxs_none();
    (void)self;
    if (!PyArg_ParseTuple(args, "ss:input_value", &text, &name))
        return NULL;
    fxs_status s = fxs_input_parse(fxpy_ctx(), text, text, &read);
    if (s == FXS_OK)
        s = fxs_input_make(fxpy_ctx(), read, name, FXS_RUN_EXECUTE, &v);
    fxs_input_spec_free(read);
    PyObject *out = s == FXS_OK ? fxpy_value_to_py(&v) : fxpy_raise();
    fxs_value_unref(&v);
    return out;
}

static PyMethodDef functions[] = {{"render_dot", render_dot, METH_VARARGS, NULL},
                                  {"input_value", input_value, METH_VARARGS, NULL},
                                  {0}};

int fxpy_init_model(PyObject *module) {
    model_type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (PyModule_AddFunctions(module, functions) < 0)
        return -1;
    return model_type ? fxpy_add_type(module, "Model", model_type) : -1;
}
