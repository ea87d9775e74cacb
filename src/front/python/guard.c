/* guard.c: see guard.h. Actions are refused by an audit hook, which Python's own functions ask
 * before they act; time by an alarm that raises an exception where the program is, and ends the
 * process when it does not stop; memory by the system's limit. */
#include "front/python/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

typedef enum action { NET, EXEC, WRITE, ACTIONS } action;

static const struct {
    const char *name, *what;
} actions[ACTIONS] = {
    [NET] = {"net", "use the network"},
    [EXEC] = {"exec", "start programs or load libraries"},
    [WRITE] = {"write", "write or remove files"},
};

/* Events of Python's audit hooks; a name that ends in '.' stands for all that begin so. */
static const struct {
    const char *event;
    action action;
} events[] = {
    {"socket.", NET},        {"ftplib.", NET},           {"http.client.", NET},
    {"imaplib.", NET},       {"nntplib.", NET},          {"poplib.", NET},
    {"smtplib.", NET},       {"telnetlib.", NET},        {"urllib.", NET},
    {"subprocess.", EXEC},   {"os.system", EXEC},        {"os.exec", EXEC},
    {"os.fork", EXEC},       {"os.forkpty", EXEC},       {"os.posix_spawn", EXEC},
    {"os.spawn", EXEC},      {"os.startfile", EXEC},     {"os.kill", EXEC},
    {"os.killpg", EXEC},     {"pty.spawn", EXEC},        {"webbrowser.open", EXEC},
    {"ctypes.dlopen", EXEC}, {"os.remove", WRITE},       {"os.rename", WRITE},
    {"os.rmdir", WRITE},     {"os.mkdir", WRITE},        {"os.link", WRITE},
    {"os.symlink", WRITE},   {"os.truncate", WRITE},     {"os.chmod", WRITE},
    {"os.chown", WRITE},     {"os.lchown", WRITE},       {"os.utime", WRITE},
    {"os.setxattr", WRITE},  {"os.removexattr", WRITE},  {"shutil.", WRITE},
    {"tempfile.", WRITE},    {"sqlite3.connect", WRITE}, {"fcntl.", WRITE},
};

static bool active, allowed[ACTIONS];

/* ---- actions ---- */

static int refuse(action a, const char *event) {
    PyErr_Format(PyExc_PermissionError,
                 "a model file may not %s while it is read (%s): --allow %s lets it",
                 actions[a].what, event, actions[a].name);
    return -1;
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

static int audit(const char *event, PyObject *args, void *unused) {
    (void)unused;
    if (!active)
        return 0;
    if (strcmp(event, "open") == 0)
        return !allowed[WRITE] && opens_for_writing(args) ? refuse(WRITE, event) : 0;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        size_t n = strlen(events[i].event);
        bool prefix = events[i].event[n - 1] == '.';
        if (strncmp(event, events[i].event, n) != 0 || (!prefix && event[n]))
            continue;
        if (!allowed[events[i].action] && !opens_itself(event, args))
            return refuse(events[i].action, event);
    }
    return 0;
}

static int allow(const char *list) {
    for (const char *s = list ? list : ""; *s;) {
        size_t n = strcspn(s, ",");
        int a = 0;
        while (a < ACTIONS && (strncmp(s, actions[a].name, n) != 0 || actions[a].name[n]))
            a++;
        if (a < ACTIONS)
            allowed[a] = true;
        s += n + (s[n] == ',');
    }
    return 0;
}

/* ---- time ---- */

static PyObject *time_is_up; /* a BaseException: `except Exception` does not catch it */
static volatile sig_atomic_t alarms;

static int raise_timeout(void *unused) {
    (void)unused;
    PyErr_SetString(time_is_up, "the time limit was reached");
    return -1;
}

static void on_alarm(int signal_number) {
    static const char text[] = "fxscope: the time limit was reached (--timeout), and the program "
                               "did not stop\n";
    (void)signal_number;
    if (alarms++) {
        ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
        (void)n;
        _exit(1);
    }
    Py_AddPendingCall(raise_timeout, NULL);
}

static void set_timer(double seconds, double again) {
    struct itimerval t = {.it_value = {(time_t)seconds, (suseconds_t)(fmod(seconds, 1) * 1e6)},
                          .it_interval = {(time_t)again, 0}};
    setitimer(ITIMER_REAL, &t, NULL);
}

static int start_timer(double seconds) {
    if (seconds <= 0)
        return 0;
    time_is_up = PyErr_NewException("fxfront.TimeIsUp", PyExc_BaseException, NULL);
    if (!time_is_up)
        return -1;
    alarms = 0;
    signal(SIGALRM, on_alarm);
    set_timer(seconds, 3); /* the exception has three seconds to get out */
    return 0;
}

bool fxpy_guard_timed_out(void) { return time_is_up && PyErr_ExceptionMatches(time_is_up); }

/* ---- memory ---- */

static struct rlimit before;
static bool limited;

/* Bytes that the process has for data already. */
static uint64_t data_in_use(void) {
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmData: %llu kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib << 10;
}

static void limit_memory(uint64_t bytes) {
    struct rlimit now;
    if (!bytes || getrlimit(RLIMIT_DATA, &before) != 0)
        return;
    now = before;
    bytes += data_in_use();
    now.rlim_cur = bytes < before.rlim_cur ? bytes : before.rlim_cur;
    limited = setrlimit(RLIMIT_DATA, &now) == 0;
}

/* ---- all of it ---- */

int fxpy_guard_start(const fxs_python_options *options) {
    static bool hooked;
    if (options->guarded && !hooked && PySys_AddAuditHook(audit, NULL) < 0)
        return -1;
    hooked |= options->guarded;
    memset(allowed, 0, sizeof allowed);
    allow(options->allow);
    active = options->guarded;
    limit_memory(options->max_memory);
    return start_timer(options->timeout);
}

void fxpy_guard_stop(void) {
    active = false;
    set_timer(0, 0);
    signal(SIGALRM, SIG_DFL);
    if (limited)
        setrlimit(RLIMIT_DATA, &before);
    limited = false;
}
