/* guard_builtins.c: functions of Python's own C modules that act without asking the audit hooks.
 * What they call is exchanged where it stands, in the module's table of methods, so that it makes
 * no difference how a file gets at them: by from posix import mkfifo, importlib.reload(os), or a
 * reference that was taken before. */
#include "front/python/guard.h"

static const struct {
    const char *module, *function;
    fxpy_action action;
} refused[] = {
    {"posix", "mkfifo", FXPY_WRITE},
    {"posix", "mknod", FXPY_WRITE},
    {"posix", "chroot", FXPY_WRITE},
    {"posix", "_exit", FXPY_END},
    {"posix", "abort", FXPY_END},
    {"_posixsubprocess", "fork_exec", FXPY_EXEC},
    {"_signal", "raise_signal", FXPY_EXEC},
    {"_signal", "pidfd_send_signal", FXPY_EXEC},
    {"faulthandler", "dump_traceback_later", FXPY_END},
};

/* One for each action and each way in which C functions are called: X(action) */
#define REFUSERS(X) X(FXPY_EXEC) X(FXPY_WRITE) X(FXPY_END)
#define DEFINE(a)                                                                                  \
    static PyObject *plain_##a(PyObject *self, PyObject *args) {                                   \
        (void)self, (void)args;                                                                    \
        return fxpy_guard_refuse(a, NULL);                                                         \
    }                                                                                              \
    static PyObject *keywords_##a(PyObject *self, PyObject *args, PyObject *kwargs) {              \
        (void)kwargs;                                                                              \
        return plain_##a(self, args);                                                              \
    }                                                                                              \
    static PyObject *fast_##a(PyObject *self, PyObject *const *args, Py_ssize_t n) {               \
        (void)args, (void)n;                                                                       \
        return plain_##a(self, NULL);                                                              \
    }                                                                                              \
    static PyObject *fast_keywords_##a(PyObject *self, PyObject *const *args, Py_ssize_t n,        \
                                       PyObject *names) {                                          \
        (void)names;                                                                               \
        return fast_##a(self, args, n);                                                            \
    }
REFUSERS(DEFINE)

static PyCFunction refuser(fxpy_action a, int flags) {
    typedef void (*any)(void);
    static const any table[FXPY_ACTIONS][4] = {
#define ROW(a) [a] = {(any)plain_##a, (any)keywords_##a, (any)fast_##a, (any)fast_keywords_##a},
        REFUSERS(ROW)};
    int fast = (flags & METH_FASTCALL) ? 2 : 0, keywords = (flags & METH_KEYWORDS) ? 1 : 0;
    return (PyCFunction)table[a][fast + keywords];
}

/* Other Pythons may lack a module or a function. */
static void exchange(const char *module, const char *function, fxpy_action a) {
    PyObject *m = PyImport_ImportModule(module);
    PyObject *f = m ? PyObject_GetAttrString(m, function) : NULL;
    if (f && PyCFunction_Check(f)) {
        PyMethodDef *def = ((PyCFunctionObject *)f)->m_ml;
        def->ml_meth = refuser(a, def->ml_flags);
    }
    Py_XDECREF(m);
    Py_XDECREF(f);
    PyErr_Clear();
}

/* Where programs may be started, their processes have to end: os._exit. */
int fxpy_guard_builtins(const bool allowed[FXPY_ACTIONS]) {
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (!allowed[refused[i].action] && !(refused[i].action == FXPY_END && allowed[FXPY_EXEC]))
            exchange(refused[i].module, refused[i].function, refused[i].action);
    return 0;
}
