/* limit.c: see limit.h. The clock is a thread that waits and then ends the process, since no loop
 * of ours can look at it in the middle of a matrix product, in cairo or in zlib. Memory is limited
 * by the system, so that libraries are bound too. Called by the session and main.c. */
#include "limit.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "fxfile.h"
#include "say.h"

enum { PYTHON_GRACE = 6, STACK = 128 << 10 };
enum { RUNNING, EXPIRED, ENDED };

static _Atomic(const char *) doing = "starting";
static atomic_int state = ENDED;
static atomic_bool python_runs;
static double deadline; /* 0: none */
static double seconds;
static int megabytes; /* 0: no limit */
static char model[400];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_doing(const char *what) { atomic_store(&doing, what); }
void cli_drawing_does(void *user, const char *what) {
    (void)user;
    cli_doing(what);
}
void cli_limits_python(void) { atomic_store(&python_runs, true); }

/* ---- the clock ---- */

/* Streams may be locked by who is stopped: the message goes past them. */
static void end_process(void) {
    char text[700];
    int n = snprintf(text, sizeof text,
                     "fxscope: %s: the time limit was reached (--timeout %g) while %s\n", model,
                     seconds, atomic_load(&doing));
    fxs_discard_unfinished();
    if (write(STDERR_FILENO, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1) < 0)
        _exit(CLI_FAILURE);
    _exit(CLI_FAILURE);
}

static void *watch(void *unused) {
    (void)unused;
    for (double left;
         (left = deadline - now()) > 0 || (atomic_load(&python_runs) && left > -PYTHON_GRACE);) {
        left = left > 0 ? left : 0.05;
        struct timespec t = {.tv_sec = (time_t)left,
                             .tv_nsec = (long)((left - (double)(time_t)left) * 1e9)};
        nanosleep(&t, NULL);
    }
    int was = RUNNING;
    if (atomic_compare_exchange_strong(&state, &was, EXPIRED))
        end_process();
    return NULL;
}

static bool start_clock(void) {
    pthread_attr_t how;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, STACK);
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the command's */
    atomic_store(&state, RUNNING);
    bool ok = pthread_create(&thread, &how, watch, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    return ok;
}

double cli_limits_left(const cli_settings *s, double otherwise) {
    if (s->python_seconds < 0)
        return otherwise;
    double left = deadline - now();
    return deadline <= 0 ? s->python_seconds : left > 0.001 ? left : 0.001;
}

/* Who comes too late has to wait for the end. */
void cli_limits_end(void) {
    int was = RUNNING;
    if (!atomic_compare_exchange_strong(&state, &was, ENDED) && was == EXPIRED)
        for (;;)
            pause();
}

/* ---- memory ---- */

/* Bytes of data that the process has already: libraries, and what a sanitizer reserves. */
static rlim_t data_in_use(void) {
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmData: %llu kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (rlim_t)kib << 10;
}

static bool limit_memory(void) {
    struct rlimit r;
    if (getrlimit(RLIMIT_DATA, &r) != 0)
        return false;
    rlim_t most = data_in_use() + ((rlim_t)megabytes << 20);
    if (most < r.rlim_cur)
        r.rlim_cur = most;
    return setrlimit(RLIMIT_DATA, &r) == 0;
}

void cli_memory_error(const char *message) {
    if (megabytes)
        cli_error("%s, while %s: the limit is %d MB (--max-memory)", message, atomic_load(&doing),
                  megabytes);
    else
        cli_error("%s, while %s", message, atomic_load(&doing));
}

/* ---- signals ---- */

/* Libraries that draw end the process when memory is out; where it is limited that is expected. */
static void on_abort(int number) {
    char text[400];
    int n = snprintf(text, sizeof text,
                     "fxscope: out of memory, while %s: the limit is %d MB (--max-memory)\n",
                     atomic_load(&doing), megabytes);
    (void)number;
    fxs_discard_unfinished();
    if (write(STDERR_FILENO, text, (size_t)n) < 0)
        _exit(CLI_FAILURE);
    _exit(CLI_FAILURE);
}

static void on_signal(int number) {
    fxs_discard_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

static void catch (int number, void (*handler)(int)) {
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = SA_NODEFER};
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void cli_catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        catch (numbers[i], on_signal);
}

cli_exit cli_limits_begin(const cli_command *c, const cli_settings *s, bool clock) {
    snprintf(model, sizeof model, "%s", s->operands.len ? s->operands.items[0] : c->name);
    megabytes = s->max_memory;
    seconds = clock && s->python_seconds > 0 ? s->python_seconds : 0;
    if (seconds > 0) {
        deadline = now() + seconds;
        if (!start_clock())
            return cli_error("the clock of --timeout can't be started"), CLI_FAILURE;
    }
    if (megabytes && !limit_memory())
        return cli_error("memory can't be limited here (--max-memory)"), CLI_FAILURE;
    if (megabytes && clock) {
        catch (SIGABRT, on_abort);
        catch (SIGTRAP, on_abort);
    }
    return CLI_OK;
}
