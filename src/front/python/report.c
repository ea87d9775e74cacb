/* report.c: exceptions for the user of the command: where in the user's own file it happened, and
 * what. Frames of the frozen library (<fxscope>/...) are nobody's business unless they are asked
 * for. */
#include "front/python/report.h"

#include "front/python/place.h"

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

static bool is_ours(PyTracebackObject *traceback) {
    PyCodeObject *code = PyFrame_GetCode(traceback->tb_frame);
    bool ours = fxpy_code_is_ours(code);
    Py_DECREF(code);
    return ours;
}

/* The traceback without our frames; NULL: none is left. New reference. */
static PyObject *without_ours(PyObject *traceback) {
    PyObject *first = NULL;
    PyTracebackObject *last = NULL;
    for (PyTracebackObject *t = (PyTracebackObject *)traceback; t; t = t->tb_next) {
        if (is_ours(t))
            continue;
        if (last && last->tb_next != t) {
            Py_INCREF(t);
            Py_XSETREF(last->tb_next, t);
        }
        first = first ? first : Py_NewRef((PyObject *)t);
        last = t;
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

static long long_attribute(PyObject *o, const char *name) {
    PyObject *v = PyObject_GetAttrString(o, name);
    long n = v && PyLong_Check(v) ? PyLong_AsLong(v) : 0;
    Py_XDECREF(v);
    PyErr_Clear();
    return n;
}

/* A SyntaxError tells its place itself, if it has one. */
static fxpy_place place_of(const error *e) {
    fxpy_place p = {0};
    if (e->value && PyErr_GivenExceptionMatches(e->type, PyExc_SyntaxError)) {
        p.file = PyObject_GetAttrString(e->value, "filename");
        p.line = long_attribute(e->value, "lineno");
        PyErr_Clear();
        bool named = p.file && PyUnicode_Check(p.file) && PyUnicode_GetLength(p.file) > 0;
        if (named && p.line > 0 && PyUnicode_READ_CHAR(p.file, 0) != '<') /* of exec("x = (") */
            return p;
        fxpy_place_clear(&p);
    }
    return fxpy_place_of_traceback(e->traceback);
}

static bool is_loaders(PyObject *type) {
    PyObject *module = PyObject_GetAttrString(type, "__module__");
    const char *s = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8(module) : NULL;
    bool is = s && strncmp(s, "fxfront", 7) == 0;
    Py_XDECREF(module);
    PyErr_Clear();
    return is;
}

/* What the exception says of itself; a class may fail at that too. */
static PyObject *own_text(const error *e) {
    PyObject *text = PyErr_GivenExceptionMatches(e->type, PyExc_SyntaxError)
                         ? PyObject_GetAttrString(e->value, "msg")
                         : PyObject_Str(e->value);
    if (text && !PyUnicode_Check(text))
        Py_CLEAR(text);
    if (!text)
        text = PyUnicode_FromString("(its text can't be told: that raises too)");
    PyErr_Clear();
    return text;
}

/* What happened: "TypeError: text"; of mistakes that the loader explains, the text alone. */
static PyObject *what(const error *e, const char *name) {
    if (PyErr_GivenExceptionMatches(e->type, PyExc_MemoryError))
        return PyUnicode_FromString("out of memory (--max-memory)");
    PyObject *text = own_text(e), *said = NULL;
    if (!text || is_loaders(e->type))
        return text;
    said = PyUnicode_GetLength(text) ? PyUnicode_FromFormat("%s: %U", name, text)
                                     : PyUnicode_FromString(name);
    Py_DECREF(text);
    return said;
}

void fxpy_report_message(void) {
    error e = fetch();
    if (!e.value) {
        drop(&e);
        return;
    }
    const char *name = ((PyTypeObject *)e.type)->tp_name, *dot = strrchr(name, '.');
    name = dot ? dot + 1 : name;
    fxpy_place p = place_of(&e);
    PyObject *text = what(&e, name);
    if (text) /* the loader's messages begin with their place */
        fxpy_place_write(strcmp(name, "LoadError") == 0 ? NULL : &p, text);
    Py_XDECREF(text);
    fxpy_place_clear(&p);
    drop(&e);
}

void fxpy_report_at_frame(PyFrameObject *frame, const char *text) {
    fxpy_place p = fxpy_place_of_frame(frame);
    PyObject *said = PyUnicode_FromString(text);
    if (said)
        fxpy_place_write(&p, said);
    Py_XDECREF(said);
    fxpy_place_clear(&p);
}
