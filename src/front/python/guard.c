/* guard.c: see guard.h. Actions are refused by an audit hook, which Python's own functions ask
 * before they act (those that do not ask: guard_builtins.c), memory by the system's limit. */
#include "front/python/guard.h"

#include <fcntl.h>

static const struct {
    const char *name, *what;
} actions[FXPY_ACTIONS] = {
    [FXPY_NET] = {"net", "use the network"},
    [FXPY_EXEC] = {"exec", "start programs, send signals or load libraries"},
    [FXPY_WRITE] = {"write", "write or remove files"},
    [FXPY_END] = {NULL, "end the process or lift its limits"},
};

typedef struct rule {
    const char *name;
    fxpy_action action;
} rule;

/* Events of Python's audit hooks; a name that ends in '.' stands for all that begin so. */
static const rule events[] = {
    {"socket.", FXPY_NET},
    {"ftplib.", FXPY_NET},
    {"http.client.", FXPY_NET},
    {"imaplib.", FXPY_NET},
    {"nntplib.", FXPY_NET},
    {"poplib.", FXPY_NET},
    {"smtplib.", FXPY_NET},
    {"syslog.", FXPY_NET},
    {"telnetlib.", FXPY_NET},
    {"urllib.", FXPY_NET},
    {"subprocess.", FXPY_EXEC},
    {"os.system", FXPY_EXEC},
    {"os.exec", FXPY_EXEC},
    {"os.fork", FXPY_EXEC},
    {"os.forkpty", FXPY_EXEC},
    {"os.posix_spawn", FXPY_EXEC},
    {"os.spawn", FXPY_EXEC},
    {"os.startfile", FXPY_EXEC},
    {"os.kill", FXPY_EXEC},
    {"os.killpg", FXPY_EXEC},
    {"signal.pthread_kill", FXPY_EXEC},
    {"pty.spawn", FXPY_EXEC},
    {"webbrowser.open", FXPY_EXEC},
    {"ctypes.dlopen", FXPY_EXEC},
    {"ctypes.dlsym", FXPY_EXEC},
    {"ctypes.dlsym/handle", FXPY_EXEC},
    {"ctypes.call_function", FXPY_EXEC},
    {"os.remove", FXPY_WRITE},
    {"os.rename", FXPY_WRITE},
    {"os.rmdir", FXPY_WRITE},
    {"os.mkdir", FXPY_WRITE},
    {"os.link", FXPY_WRITE},
    {"os.symlink", FXPY_WRITE},
    {"os.truncate", FXPY_WRITE},
    {"os.chmod", FXPY_WRITE},
    {"os.chown", FXPY_WRITE},
    {"os.lchown", FXPY_WRITE},
    {"os.utime", FXPY_WRITE},
    {"os.setxattr", FXPY_WRITE},
    {"os.removexattr", FXPY_WRITE},
    {"shutil.", FXPY_WRITE},
    {"tempfile.", FXPY_WRITE},
    {"sqlite3.connect", FXPY_WRITE},
    {"fcntl.", FXPY_WRITE},
    {"resource.setrlimit", FXPY_END},
    {"resource.prlimit", FXPY_END},
};

/* Modules that act without asking. They are not there: who can do without them does. */
static const rule modules[] = {
    {"readline", FXPY_WRITE},
    {"_dbm", FXPY_WRITE},
    {"_gdbm", FXPY_WRITE},
    {"_posixshmem", FXPY_WRITE},
    {"ossaudiodev", FXPY_WRITE},
    {"nis", FXPY_NET},
    {"_cffi_backend", FXPY_EXEC},
    {"_tkinter", FXPY_EXEC},
    {"_testcapi", FXPY_EXEC},
    {"_ctypes_test", FXPY_EXEC},
    {"_testinternalcapi", FXPY_EXEC},
    {"_xxsubinterpreters", FXPY_EXEC},
};

static bool active, allowed[FXPY_ACTIONS];

/* ---- actions ---- */

PyObject *fxpy_guard_refuse(fxpy_action a, const char *by) {
    char where[80] = "";
    if (by)
        snprintf(where, sizeof where, " (%s)", by);
    if (actions[a].name)
        return PyErr_Format(PyExc_PermissionError,
                            "a model file may not %s while it is read%s: --allow %s lets it",
                            actions[a].what, where, actions[a].name);
    return PyErr_Format(PyExc_PermissionError, "a model file may not %s%s", actions[a].what, where);
}

/* open(path, mode, flags): for writing? */
static bool opens_for_writing(PyObject *args) {
    PyObject *path = PyTuple_GET_SIZE(args) == 3 ? PyTuple_GET_ITEM(args, 0) : NULL;
    if (!path || PyLong_Check(path)) /* a descriptor that is open already */
        return false;
    const char *name = PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : NULL;
    PyErr_Clear();
    if (name && strcmp(name, "/dev/null") == 0)
        return false;
    PyObject *mode = PyTuple_GET_ITEM(args, 1), *flags = PyTuple_GET_ITEM(args, 2);
    const char *m = PyUnicode_Check(mode) ? PyUnicode_AsUTF8(mode) : NULL;
    long f = PyLong_Check(flags) ? PyLong_AsLong(flags) : 0;
    PyErr_Clear();
    return (m && strpbrk(m, "wax+")) || (f & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND));
}

/* Importing ctypes opens the program itself, which is nothing new. */
static bool opens_itself(const char *event, PyObject *args) {
    return strcmp(event, "ctypes.dlopen") == 0 && PyTuple_GET_SIZE(args) == 1 &&
           PyTuple_GET_ITEM(args, 0) == Py_None;
}

static int check_import(PyObject *args) {
    PyObject *name = PyTuple_GET_SIZE(args) ? PyTuple_GET_ITEM(args, 0) : NULL;
    for (size_t i = 0; name && PyUnicode_Check(name) && i < sizeof modules / sizeof *modules; i++) {
        fxpy_action a = modules[i].action;
        if (allowed[a] || PyUnicode_CompareWithASCIIString(name, modules[i].name) != 0)
            continue;
        PyErr_Format(PyExc_ImportError,
                     "a model file may not import %U, which can %s: --allow %s lets it", name,
                     actions[a].what, actions[a].name);
        return -1;
    }
    return 0;
}

static int audit(const char *event, PyObject *args, void *unused) {
    (void)unused;
    if (!active)
        return 0;
    if (strcmp(event, "import") == 0)
        return check_import(args);
    if (strcmp(event, "open") == 0) {
        if (!allowed[FXPY_WRITE] && opens_for_writing(args))
            return fxpy_guard_refuse(FXPY_WRITE, event) ? 0 : -1;
        return 0;
    }
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        size_t n = strlen(events[i].name);
        bool prefix = events[i].name[n - 1] == '.';
        if (strncmp(event, events[i].name, n) != 0 || (!prefix && event[n]))
            continue;
        if (!allowed[events[i].action] && !opens_itself(event, args))
            return fxpy_guard_refuse(events[i].action, event) ? 0 : -1;
    }
    return 0;
}

static void allow(const char *list) {
    for (const char *s = list ? list : ""; *s;) {
        size_t n = strcspn(s, ",");
        for (int a = 0; a < FXPY_ACTIONS; a++)
            if (actions[a].name && strncmp(s, actions[a].name, n) == 0 && !actions[a].name[n])
                allowed[a] = true;
        s += n + (s[n] == ',');
    }
}

/* ---- all of it ---- */

static double seconds_left;

int fxpy_guard_start(const fxs_python_options *options) {
    static bool hooked;
    memset(allowed, 0, sizeof allowed);
    allow(options->allow);
    if (options->guarded &&
        ((!hooked && PySys_AddAuditHook(audit, NULL) < 0) || fxpy_guard_builtins(allowed) < 0))
        return -1;
    hooked |= options->guarded;
    active = options->guarded;
    seconds_left = options->timeout;
    if (fxpy_guard_watch(seconds_left) < 0)
        return -1;
    return 0;
}

void fxpy_guard_stop(void) {
    double left = fxpy_guard_unwatch();
    if (seconds_left > 0) /* zero would be no limit at all */
        seconds_left = left > 1 ? left : 1;
}

void fxpy_guard_resume(void) {
    if (fxpy_guard_watch(seconds_left) < 0)
        PyErr_Clear();
}
