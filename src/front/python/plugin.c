/* plugin.c: the plug-in's table: what the command calls. Model files are loaded and checked by the
 * frozen fxfront.driver; here is what surrounds it: the interpreter, the seat belt, messages. */
#include "front/python/plugin.h"

#include "front/python/embed.h"
#include "front/python/guard.h"
#include "front/python/host.h"
#include "front/python/report.h"

/* ---- around a call of the driver ---- */

static PyObject *list_of(const fxs_python_list *l) {
    PyObject *list = PyList_New((Py_ssize_t)l->len);
    for (size_t i = 0; list && i < l->len; i++) {
        PyObject *text = PyUnicode_DecodeFSDefault(l->items[i]);
        if (!text)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, text);
    }
    return list;
}

/* What a model file prints must not get into the picture. */
static int quiet_stdout(void) {
    PyObject *err = PySys_GetObject("stderr");
    return err ? PySys_SetObject("stdout", err) : -1;
}

/* Starts Python with an empty path for the driver to fill. */
static PyObject *start(fxs_ctx *ctx, const char *file, const fxs_python_options *options) {
    char *argv[] = {(char *)file};
    fxs_python_options bare = {.isolated = true};
    if (fxpy_start(ctx, 1, argv, NULL, &bare) < 0)
        return NULL;
    PyObject *driver = PyImport_ImportModule("fxfront.driver");
    if (!driver || quiet_stdout() < 0 || fxpy_guard_start(options) < 0) {
        Py_XDECREF(driver);
        fxpy_report_traceback(true);
        return NULL;
    }
    return driver;
}

static PyObject *call(PyObject *driver, const char *function, const char *file,
                      const fxs_python_options *o) {
    PyObject *paths = list_of(&o->paths), *arguments = list_of(&o->arguments);
    PyObject *inputs = list_of(&o->inputs), *name = PyUnicode_DecodeFSDefault(file), *out = NULL;
    PyObject *method = PyObject_GetAttrString(driver, function);
    PyObject *kwargs =
        paths && arguments && inputs && name
            ? Py_BuildValue("{sOsOsOszsOsO}", "paths", paths, "arguments", arguments, "inputs",
                            inputs, "tier", o->tier, "isolated", o->isolated ? Py_True : Py_False,
                            "strict", o->strict ? Py_True : Py_False)
            : NULL;
    PyObject *args = kwargs ? PyTuple_Pack(1, name) : NULL;
    if (method && args)
        out = PyObject_Call(method, args, kwargs);
    Py_XDECREF(paths);
    Py_XDECREF(arguments);
    Py_XDECREF(inputs);
    Py_XDECREF(name);
    Py_XDECREF(method);
    Py_XDECREF(kwargs);
    Py_XDECREF(args);
    return out;
}

/* What the driver has to tell beside the result. The exception that is set stays. */
static void print_notes(PyObject *driver) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyObject *notes = PyObject_CallMethod(driver, "notes", NULL);
    for (Py_ssize_t i = 0; notes && i < PyList_GET_SIZE(notes); i++)
        PySys_FormatStderr("fxscope: note: %S\n", PyList_GET_ITEM(notes, i));
    Py_XDECREF(notes);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

static void finish(PyObject *driver, bool failed, const fxs_python_options *options) {
    fxpy_guard_stop();
    print_notes(driver);
    if (failed && options->traceback)
        fxpy_report_traceback(true);
    else if (failed)
        fxpy_report_message();
    Py_DECREF(driver);
    PyObject *err = PySys_GetObject("stderr");
    Py_XDECREF(err ? PyObject_CallMethod(err, "flush", NULL) : NULL);
    PyErr_Clear();
}

/* ---- the table ---- */

static int load(fxs_ctx *ctx, const char *spec, const fxs_python_options *options,
                fxs_module **out) {
    PyObject *driver = start(ctx, spec, options);
    *out = NULL;
    if (!driver)
        return -1;
    PyObject *module = call(driver, "load", spec, options);
    ctx->host = &fxpy_host;
    fxpy_host_root(module);
    fxpy_host_enter = fxpy_guard_resume;
    fxpy_host_leave = fxpy_guard_stop;
    int bad = !module || fxpy_lower(module, out) < 0 ? -1 : 0;
    finish(driver, bad, options);
    Py_XDECREF(module);
    return bad;
}

static int check(fxs_ctx *ctx, const char *file, const fxs_python_options *options, char **text) {
    PyObject *driver = start(ctx, file, options), *result;
    int count = -1;
    Py_ssize_t n;
    *text = NULL;
    if (!driver)
        return -1;
    result = call(driver, "check", file, options); /* (text, count) */
    const char *s = result ? PyUnicode_AsUTF8AndSize(PyTuple_GetItem(result, 0), &n) : NULL;
    if (s && (*text = fxs_memdup0(s, (size_t)n)))
        count = (int)PyLong_AsLong(PyTuple_GetItem(result, 1));
    finish(driver, count < 0, options);
    Py_XDECREF(result);
    return count;
}

const fxs_python_plugin *fxs_python_plugin_get(void) {
    static const fxs_python_plugin plugin = {
        .abi = FXS_PYTHON_ABI, .run = fxpy_run_script, .load = load, .check = check};
    static const fxs_python_plugin strange = {.abi = -1};
    return fxs_front_abi() == FXS_FRONT_ABI ? &plugin : &strange;
}
