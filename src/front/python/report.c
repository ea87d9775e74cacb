/* report.c: exceptions for the user of the command: where in the user's own file it happened, and
 * what. Frames of the frozen library (<fxscope>/...) are nobody's business unless they are asked
 * for. */
#include "front/python/report.h"

typedef struct error {
    PyObject *type, *value, *traceback;
} error;

static error fetch(void) {
    error e;
    PyErr_Fetch(&e.type, &e.value, &e.traceback);
    PyErr_NormalizeException(&e.type, &e.value, &e.traceback);
    if (e.traceback && e.value)
        PyException_SetTraceback(e.value, e.traceback);
    return e;
}

static void drop(error *e) {
    Py_CLEAR(e->type);
    Py_CLEAR(e->value);
    Py_CLEAR(e->traceback);
    PyErr_Clear();
}

/* ---- frames ---- */

static bool text_begins(PyObject *text, const char *prefix) {
    const char *s = text && PyUnicode_Check(text) ? PyUnicode_AsUTF8(text) : NULL;
    PyErr_Clear();
    return s && strncmp(s, prefix, strlen(prefix)) == 0;
}

static PyCodeObject *code_of(PyObject *traceback) {
    PyFrameObject *frame = ((PyTracebackObject *)traceback)->tb_frame;
    return PyFrame_GetCode(frame);
}

static bool is_ours(PyObject *traceback) {
    PyCodeObject *code = code_of(traceback);
    bool ours =
        text_begins(code->co_filename, "<fxscope>") || text_begins(code->co_filename, "<frozen ");
    Py_DECREF(code);
    return ours;
}

/* The traceback without our frames; NULL: none is left. New reference. */
static PyObject *without_ours(PyObject *traceback) {
    PyObject *first = NULL;
    PyTracebackObject *last = NULL;
    for (PyObject *t = traceback; t; t = (PyObject *)((PyTracebackObject *)t)->tb_next) {
        if (is_ours(t))
            continue;
        if (last && last->tb_next != (PyTracebackObject *)t) {
            Py_INCREF(t);
            Py_XSETREF(last->tb_next, (PyTracebackObject *)t);
        }
        first = first ? first : Py_NewRef(t);
        last = (PyTracebackObject *)t;
    }
    return first;
}

void fxpy_report_traceback(bool all) {
    error e = fetch();
    if (!all && e.traceback && e.value) {
        PyObject *own = without_ours(e.traceback);
        if (own) { /* where everything is ours, something has to be shown */
            Py_XSETREF(e.traceback, own);
            PyException_SetTraceback(e.value, own);
        }
    }
    PyErr_Display(e.type, e.value, e.traceback);
    drop(&e);
}

/* ---- one message ---- */

typedef struct place {
    PyObject *file, *function; /* counted; NULL: not known */
    long line;
} place;

static long long_attribute(PyObject *o, const char *name) {
    PyObject *v = PyObject_GetAttrString(o, name);
    long n = v && PyLong_Check(v) ? PyLong_AsLong(v) : 0;
    Py_XDECREF(v);
    PyErr_Clear();
    return n;
}

/* Python's own modules are not where the user looks for a mistake. */
static bool in_standard_library(PyObject *traceback) {
    const char *folder = NULL;
    PyObject *path = PySys_GetObject("_stdlib_dir");
    PyCodeObject *code = code_of(traceback);
    if (path && PyUnicode_Check(path))
        folder = PyUnicode_AsUTF8(path);
    bool in = folder && text_begins(code->co_filename, folder);
    const char *file = in ? PyUnicode_AsUTF8(code->co_filename) : NULL;
    in = file && file[strlen(folder)] == '/' && !strstr(file, "/site-packages/") &&
         !strstr(file, "/dist-packages/");
    Py_DECREF(code);
    PyErr_Clear();
    return in;
}

/* The last frame that is the user's. */
static place innermost(PyObject *traceback) {
    place p = {0};
    for (PyObject *t = traceback; t; t = (PyObject *)((PyTracebackObject *)t)->tb_next) {
        if (is_ours(t) || in_standard_library(t))
            continue;
        PyCodeObject *code = code_of(t);
        Py_XSETREF(p.file, Py_NewRef(code->co_filename));
        Py_XSETREF(p.function, Py_NewRef(code->co_qualname));
        p.line = long_attribute(t, "tb_lineno");
        Py_DECREF(code);
    }
    return p;
}

/* A SyntaxError tells its place itself. */
static place place_of(const error *e) {
    if (!PyErr_GivenExceptionMatches(e->type, PyExc_SyntaxError))
        return innermost(e->traceback);
    place p = {.file = PyObject_GetAttrString(e->value, "filename"),
               .line = long_attribute(e->value, "lineno")};
    PyErr_Clear();
    return p;
}

static PyObject *source_line(const place *p) {
    PyObject *linecache = p->file ? PyImport_ImportModule("linecache") : NULL;
    PyObject *line =
        linecache ? PyObject_CallMethod(linecache, "getline", "Ol", p->file, p->line) : NULL;
    PyObject *bare = line ? PyObject_CallMethod(line, "strip", NULL) : NULL;
    Py_XDECREF(linecache);
    Py_XDECREF(line);
    PyErr_Clear();
    return bare;
}

/* What happened: "TypeError: text"; of mistakes that the loader explains, the text alone. */
static PyObject *what(const error *e) {
    PyObject *text = NULL, *module = PyObject_GetAttrString(e->type, "__module__");
    bool plain = text_begins(module, "fxfront");
    Py_XDECREF(module);
    if (PyErr_GivenExceptionMatches(e->type, PyExc_SyntaxError))
        text = PyObject_GetAttrString(e->value, "msg");
    else
        text = PyObject_Str(e->value);
    if (!text)
        return NULL;
    const char *name = ((PyTypeObject *)e->type)->tp_name, *dot = strrchr(name, '.');
    if (PyErr_GivenExceptionMatches(e->type, PyExc_MemoryError))
        Py_XSETREF(text, PyUnicode_FromString("out of memory (--max-memory)"));
    else if (!plain)
        Py_XSETREF(text, PyUnicode_GetLength(text)
                             ? PyUnicode_FromFormat("%s: %U", dot ? dot + 1 : name, text)
                             : PyUnicode_FromString(dot ? dot + 1 : name));
    return text;
}

static void write_message(const place *p, PyObject *text, bool at) {
    if (at && p->file)
        PySys_FormatStderr("fxscope: %U:%ld: %U\n", p->file, p->line, text);
    else
        PySys_FormatStderr("fxscope: %U\n", text);
    PyObject *line = at ? source_line(p) : NULL;
    if (line && PyUnicode_GetLength(line))
        PySys_FormatStderr("%6ld | %U\n", p->line, line);
    if (at && p->function && !text_begins(p->function, "<module>"))
        PySys_FormatStderr("  in %U\n", p->function);
    Py_XDECREF(line);
}

void fxpy_report_message(void) {
    bool load_error = false;
    error e = fetch();
    if (!e.value)
        return;
    place p = place_of(&e);
    PyObject *text = what(&e);
    const char *name = strrchr(((PyTypeObject *)e.type)->tp_name, '.');
    load_error = strcmp(name ? name + 1 : ((PyTypeObject *)e.type)->tp_name, "LoadError") == 0;
    if (text)
        write_message(&p, text, !load_error);
    Py_XDECREF(text);
    Py_XDECREF(p.file);
    Py_XDECREF(p.function);
    drop(&e);
}
