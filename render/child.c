/* child.c: see child.h. Called by layout_dot.c. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Sanitizers reserve terabytes of addresses; there a limit means nothing. */
enum { MAX_MEMORY_GIB = 4, SANITIZED_TIB = 1, DONE = 0, REFUSED = 1, LEFT = 3 };
enum { STALL_SECONDS = 2, MAX_TRIES = 3 };
static const char end_mark[] =
    "\nEND\n"; /* behind a whole answer: tells it from a torn one when nobody can be waited for */

/* ---- in the child
 * ---------------------------------------------------------------------------------------- */

static void leave(void) { _exit(LEFT); }

static void limit(int what, rlim_t value) {
    struct rlimit r;
    if (getrlimit(what, &r) != 0)
        return;
    if (r.rlim_max != RLIM_INFINITY && r.rlim_max < value)
        value = r.rlim_max;
    r.rlim_cur = value;
    setrlimit(what, &r);
}

/* Bytes of addresses that are taken already: the program's model may be large. 0: not known. */
static rlim_t taken_addresses(void) {
    char text[64] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    return n > 0 ? (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

static void set_limits(double seconds) {
    limit(RLIMIT_CPU, (rlim_t)seconds + 1);
    limit(RLIMIT_CORE, 0);
    rlim_t taken = taken_addresses();
    if (taken && taken < (rlim_t)SANITIZED_TIB << 40)
        limit(RLIMIT_AS, taken + ((rlim_t)MAX_MEMORY_GIB << 30));
}

/* Signal handlers of the program must not run here, nor what it registered with atexit, nor may its
 * buffered output be written twice: a library that calls exit() meets `leave` first. */
static void forget_program(void) {
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    atexit(leave);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static void silence(void) {
    close(0); /* frees a descriptor, should none be left */
    int null = open("/dev/null", O_RDWR);
    if (null < 0)
        return;
    for (int fd = 0; fd < 3; fd++)
        if (fd != null)
            dup2(null, fd);
    if (null > 2)
        close(null);
}

_Noreturn static void be_child(fxs_child_fn *fn, const void *arg, double seconds, int fd) {
    forget_program();
    set_limits(seconds);
    int high = fd < 3 ? fcntl(fd, F_DUPFD, 3) : fd;
    silence();
    bool ok = high >= 0 && fn(high, arg) && fxs_write_all(high, end_mark, sizeof end_mark - 1);
    _exit(ok ? DONE : REFUSED);
}

/* ---- in the parent
 * --------------------------------------------------------------------------------------- */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A child that is forked while another thread of the program (pango starts some) holds a lock may
 * wait for that lock for ever. It is known by using no processor time; a child that works, or an
 * overloaded machine, does. */
typedef struct watch {
    pid_t pid;
    double since, spent; /* when the child's processor time last grew, and to what */
} watch;

static bool is_stalled(watch *w) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(w->pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return false;
    double spent = (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
    if (spent > w->spent) {
        w->spent = spent;
        w->since = now();
    }
    return now() - w->since > STALL_SECONDS;
}

/* Reads to the end of the stream; false with a reason when time, room or memory is out. */
static bool collect(int fd, double deadline, size_t max_bytes, watch *w, fxs_buf *answer,
                    fxs_buf *why) {
    char chunk[16384];
    for (;;) {
        double left = deadline - now();
        if (is_stalled(w)) {
            fxs_buf_puts(why, "stood still, and was stopped");
            return false;
        }
        if (left <= 0) {
            fxs_buf_puts(why, "took too long, and was stopped");
            return false;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int ready = poll(&p, 1, left > 1 ? 1000 : (int)(left * 1000) + 1);
        if (ready <= 0)
            continue; /* time is up at the top of the loop, or a signal came */
        ssize_t k = read(fd, chunk, sizeof chunk);
        if (k < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (k <= 0)
            return true;
        if ((size_t)k > max_bytes - answer->len) {
            fxs_buf_puts(why, "answered with too much");
            return false;
        }
        fxs_buf_add(answer, chunk, (size_t)k);
        if (answer->failed) {
            fxs_buf_puts(why, "out of memory");
            return false;
        }
    }
}

/* -1 when the program's own handling of SIGCHLD took the child away. */
static int reap(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

static bool cut_end_mark(fxs_buf *answer) {
    size_t n = sizeof end_mark - 1;
    if (answer->len < n || memcmp(answer->data + answer->len - n, end_mark, n) != 0)
        return false;
    fxs_buf_cut(answer, answer->len - n);
    return true;
}

static void explain(int status, fxs_buf *why) {
    if (status != -1 && WIFSIGNALED(status))
        fxs_buf_printf(why,
                       WTERMSIG(status) == SIGXCPU ? "took too much processor time, and was stopped"
                                                   : "crashed with signal %d (%s)",
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == REFUSED)
        fxs_buf_puts(why, "refused the graph");
    else
        fxs_buf_puts(why, "ended without an answer");
}

static fxs_status run_once(fxs_child_fn *fn, const void *arg, double deadline, size_t max_bytes,
                           bool *stalled, fxs_buf *answer, fxs_buf *why) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) {
        fxs_buf_printf(why, "can't make a pipe: %s", strerror(errno));
        return FXS_EIO;
    }
    pid_t pid = fork();
    if (pid < 0) {
        fxs_buf_printf(why, "can't start a process: %s", strerror(errno));
        close(fds[0]);
        close(fds[1]);
        return FXS_EIO;
    }
    if (pid == 0) {
        close(fds[0]);
        be_child(fn, arg, deadline - now(), fds[1]);
    }
    close(fds[1]);
    watch w = {.pid = pid, .since = now()};
    bool whole = collect(fds[0], deadline, max_bytes, &w, answer, why);
    close(fds[0]);
    *stalled = !whole && is_stalled(&w);
    /* Only a child that is still ours may be killed: were SIGCHLD ignored, its number could be
     * another's by now. But then collect failed while the pipe was open, so it was alive a moment
     * ago. */
    if (!whole)
        kill(pid, SIGKILL);
    int status = reap(pid);
    if (!whole)
        return FXS_ELIMIT;
    if (!cut_end_mark(answer)) {
        explain(status, why);
        return FXS_ELIMIT;
    }
    return FXS_OK;
}

fxs_status fxs_child_run(fxs_child_fn *fn, const void *arg, double seconds, size_t max_bytes,
                         fxs_buf *answer, fxs_buf *why) {
    double deadline = now() + seconds;
    for (int tries = 1;; tries++) {
        bool stalled = false;
        fxs_status s = run_once(fn, arg, deadline, max_bytes, &stalled, answer, why);
        if (!stalled || tries == MAX_TRIES)
            return s;
        fxs_buf_cut(answer, 0);
        fxs_buf_cut(why, 0);
    }
}
