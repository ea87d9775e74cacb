/* script.c: `fxscope run`: a script as __main__. */
#include "front/python/embed.h"
#include "front/python/guard.h"
#include "front/python/report.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static char *folder_of(const char *script) {
    char *real = realpath(script, NULL), *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        slash[slash == real] = '\0';
    return real;
}

/* Reads, compiles and runs a file in __main__. */
static PyObject *run_file(const char *script) {
    PyObject *main = PyImport_AddModule("__main__");
    PyObject *dict = main ? PyModule_GetDict(main) : NULL, *out = NULL;
    PyObject *name = PyUnicode_DecodeFSDefault(script);
    PyObject *io = PyImport_ImportModule("io");
    PyObject *file = io && name ? PyObject_CallMethod(io, "open_code", "O", name) : NULL;
    PyObject *bytes = file ? PyObject_CallMethod(file, "read", NULL) : NULL;
    if (file)
        Py_XDECREF(PyObject_CallMethod(file, "close", NULL));
    PyObject *code = NULL;
    if (bytes && dict && PyDict_SetItemString(dict, "__file__", name) == 0)
        code = Py_CompileStringExFlags(PyBytes_AS_STRING(bytes), script, Py_file_input, NULL, -1);
    if (code)
        out = PyEval_EvalCode(code, dict, dict);
    Py_XDECREF(name);
    Py_XDECREF(io);
    Py_XDECREF(file);
    Py_XDECREF(bytes);
    Py_XDECREF(code);
    return out;
}

/* sys.exit(3) is 3, sys.exit("text") is 1 with the text. PyErr_Print would end the process. */
static int exit_status(void) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *code = value ? PyObject_GetAttrString(value, "code") : NULL;
    int status = 1;
    if (code == Py_None)
        status = 0;
    else if (code && PyLong_Check(code))
        status = (int)PyLong_AsLong(code) & 0xff;
    else if (code)
        PySys_FormatStderr("%S\n", code);
    Py_XDECREF(code);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    PyErr_Clear();
    return status;
}

int fxpy_run_script(fxs_ctx *ctx, int argc, char **argv, const fxs_python_options *options) {
    int status = 1;
    if (access(argv[0], R_OK) != 0) {
        fprintf(stderr, "fxscope: %s: %s\n", argv[0], strerror(errno));
        return status;
    }
    char *folder = folder_of(argv[0]);
    if (fxpy_start(ctx, argc, argv, folder, options) == 0) {
        PyObject *done = fxpy_guard_start(options) < 0 ? NULL : run_file(argv[0]);
        fxpy_guard_stop();
        if (done)
            status = 0;
        else if (PyErr_ExceptionMatches(PyExc_SystemExit))
            status = exit_status();
        else
            fxpy_report_traceback(options->traceback);
        Py_XDECREF(done);
        if (Py_FinalizeEx() < 0 && status == 0)
            status = 1; /* what was printed did not arrive */
    }
    free(folder);
    return status;
}
