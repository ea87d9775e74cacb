/* guard_time.c: the time limit. A thread of our own waits, which no signal, timer or handler of
 * the file can stop. When the time is up it has an exception raised where the program is; what
 * does not stop then ends with the process: after three seconds, with the line if Python can still
 * be asked for it, and one second later without. Who asks Python waits for its lock, so that each
 * question has a thread of its own. */
#include "front/python/guard.h"
#include "front/python/report.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static PyObject *time_is_up; /* a BaseException: `except Exception` does not catch it */
static PyThreadState *program;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped;
static pthread_t watchdog;
static struct timespec deadline;
static bool running, stop; /* stop: under the lock */
static atomic_bool due;    /* an exception is to be raised */

/* The exception is raised as a class, without a text. */
static PyObject *said(PyObject *self, PyObject *unused) {
    (void)self, (void)unused;
    return PyUnicode_FromString("the time limit was reached (--timeout)");
}

static PyObject *make_exception(void) {
    static PyMethodDef str = {"__str__", said, METH_NOARGS, NULL};
    PyObject *dict = PyDict_New(), *function = PyCFunction_New(&str, NULL), *made = NULL;
    if (dict && function && PyDict_SetItemString(dict, "__str__", function) == 0)
        made = PyErr_NewException("fxfront.TimeIsUp", PyExc_BaseException, dict);
    Py_XDECREF(dict);
    Py_XDECREF(function);
    return made;
}

/* Signals are the program's business. */
static int start_thread(pthread_t *t, void *(*run)(void *)) {
    pthread_attr_t how;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, 512 << 10);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int bad = pthread_create(t, &how, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    return bad;
}

static void *raise_exception(void *unused) {
    (void)unused;
    PyGILState_STATE state = PyGILState_Ensure();
    if (atomic_exchange(&due, false))
        PyThreadState_SetAsyncExc(program->thread_id, time_is_up);
    PyGILState_Release(state);
    return NULL;
}

/* ---- the end of the process ---- */

static const char last_words[] =
    "the time limit was reached (--timeout), and the program did not stop";

/* Waits for Python's lock, which a program that sleeps or waits does not hold. */
static void *end_with_place(void *unused) {
    (void)unused;
    PyGILState_Ensure();
    fxpy_report_at_frame(PyThreadState_GetFrame(program), last_words);
    _exit(1);
}

static void end_process(void) {
    pthread_t t;
    if (start_thread(&t, end_with_place) == 0)
        sleep(1);
    ssize_t n = write(STDERR_FILENO, "fxscope: ", 9);
    n = write(STDERR_FILENO, last_words, sizeof last_words - 1);
    n = write(STDERR_FILENO, "\n", 1);
    (void)n;
    _exit(1);
}

/* ---- the watchdog ---- */

/* Until the deadline; true: it was stopped. Wants the lock. */
static bool wait_until(const struct timespec *t) {
    while (!stop)
        if (pthread_cond_timedwait(&stopped, &lock, t) == ETIMEDOUT)
            break;
    return stop;
}

static void *watch(void *unused) {
    struct timespec t = deadline;
    pthread_t raiser;
    (void)unused;
    pthread_mutex_lock(&lock);
    bool ended = wait_until(&t);
    if (!ended) {
        atomic_store(&due, true);
        if (start_thread(&raiser, raise_exception) == 0)
            pthread_detach(raiser);
        t.tv_sec += 3; /* the exception has three seconds to get out */
        ended = wait_until(&t);
    }
    pthread_mutex_unlock(&lock);
    if (!ended)
        end_process();
    return NULL;
}

static void init_condition(void) {
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&stopped, &how);
    pthread_condattr_destroy(&how);
}

int fxpy_guard_watch(double seconds) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (seconds <= 0 || running)
        return 0;
    if (!time_is_up)
        time_is_up = make_exception();
    if (!time_is_up)
        return -1;
    pthread_once(&once, init_condition);
    program = PyThreadState_Get();
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    double whole = floor(seconds);
    long nanoseconds = deadline.tv_nsec + (long)((seconds - whole) * 1e9);
    deadline.tv_sec += (time_t)whole + nanoseconds / 1000000000;
    deadline.tv_nsec = nanoseconds % 1000000000;
    stop = false;
    atomic_store(&due, false);
    if (start_thread(&watchdog, watch) != 0) {
        PyErr_SetString(PyExc_RuntimeError, "the watch over --timeout can't be started");
        return -1;
    }
    running = true;
    return 0;
}

double fxpy_guard_unwatch(void) {
    struct timespec now;
    if (!running)
        return 0;
    pthread_mutex_lock(&lock);
    stop = true;
    pthread_cond_signal(&stopped);
    pthread_mutex_unlock(&lock);
    pthread_join(watchdog, NULL);
    running = false;
    atomic_store(&due, false); /* what was to be raised, and was not yet, is of no use now */
    PyThreadState_SetAsyncExc(program->thread_id, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(deadline.tv_sec - now.tv_sec) + (double)(deadline.tv_nsec - now.tv_nsec) / 1e9;
}
