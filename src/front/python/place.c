/* place.c: see place.h. */
#include "front/python/place.h"

static bool text_begins(PyObject *text, const char *prefix) {
    const char *s = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    return s && strncmp(s, prefix, strlen(prefix)) == 0;
}

bool fxpy_code_is_ours(PyCodeObject *code) {
    return text_begins(code->co_filename, "<fxscope>") ||
           text_begins(code->co_filename, "<frozen ");
}

static bool in_standard_library(PyCodeObject *code) {
    const char *folder = NULL;
    PyObject *path = PySys_GetObject("_stdlib_dir");
    if (path && PyUnicode_Check(path))
        folder = PyUnicode_AsUTF8(path);
    bool in = folder && text_begins(code->co_filename, folder);
    const char *file = in ? PyUnicode_AsUTF8(code->co_filename) : NULL;
    in = file && file[strlen(folder)] == '/' && !strstr(file, "/site-packages/") &&
         !strstr(file, "/dist-packages/");
    PyErr_Clear();
    return in;
}

static bool is_users(PyCodeObject *code) {
    return !fxpy_code_is_ours(code) && !in_standard_library(code);
}

static void set(fxpy_place *p, PyCodeObject *code, long line) {
    Py_XSETREF(p->file, Py_NewRef(code->co_filename));
    Py_XSETREF(p->function, Py_NewRef(code->co_qualname));
    p->line = line;
}

fxpy_place fxpy_place_of_traceback(PyObject *traceback) {
    fxpy_place p = {0};
    for (PyTracebackObject *t = (PyTracebackObject *)traceback; t; t = t->tb_next) {
        PyCodeObject *code = PyFrame_GetCode(t->tb_frame);
        long line = t->tb_lineno >= 0 ? t->tb_lineno : PyCode_Addr2Line(code, t->tb_lasti);
        if (is_users(code))
            set(&p, code, line);
        Py_DECREF(code);
    }
    return p;
}

fxpy_place fxpy_place_of_frame(PyFrameObject *frame) {
    fxpy_place p = {0};
    while (frame && !p.file) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        if (is_users(code))
            set(&p, code, PyFrame_GetLineNumber(frame));
        Py_DECREF(code);
        PyFrameObject *outer = PyFrame_GetBack(frame);
        Py_SETREF(frame, outer);
    }
    Py_XDECREF(frame);
    return p;
}

static PyObject *source_line(const fxpy_place *p) {
    PyObject *linecache = p->file ? PyImport_ImportModule("linecache") : NULL;
    PyObject *line =
        linecache ? PyObject_CallMethod(linecache, "getline", "Ol", p->file, p->line) : NULL;
    PyObject *bare = line ? PyObject_CallMethod(line, "strip", NULL) : NULL;
    Py_XDECREF(linecache);
    Py_XDECREF(line);
    PyErr_Clear();
    return bare;
}

void fxpy_place_write(const fxpy_place *p, PyObject *text) {
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (p && p->file)
        PySys_FormatStderr("fxscope: %U:%ld: %U\n", p->file, p->line, text);
    else
        PySys_FormatStderr("fxscope: %U\n", text);
    PyObject *line = p ? source_line(p) : NULL;
    if (line && PyUnicode_GetLength(line))
        PySys_FormatStderr("%6ld | %U\n", p->line, line);
    if (p && p->function && !text_begins(p->function, "<module>"))
        PySys_FormatStderr("  in %U\n", p->function);
    Py_XDECREF(line);
    PyErr_Restore(type, value, traceback);
}

void fxpy_place_clear(fxpy_place *p) {
    Py_CLEAR(p->file);
    Py_CLEAR(p->function);
}
