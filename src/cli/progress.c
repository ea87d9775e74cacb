/* progress.c: what a run has done so far, in one line that is written again and again, and taken
 * away in the end. Only a terminal gets it, and only when the work takes long enough to wonder. */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "session.h"

static const double patience = 0.5, interval = 0.1; /* seconds */
enum { LINE_WIDTH = 60 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void step(void *user, size_t done, size_t total) {
    cli_progress *p = user;
    double t = now();
    if (t - p->start < patience || t - p->last < interval)
        return;
    char line[LINE_WIDTH + 1];
    snprintf(line, sizeof line, "fxscope: %zu of %zu nodes, %.0f s", done, total, t - p->start);
    fprintf(stderr, "\r%-*s", LINE_WIDTH, line);
    fflush(stderr);
    p->visible = true;
    p->last = t;
}

cli_progress_fn *cli_progress_begin(cli_progress *p) {
    *p = (cli_progress){.start = now()};
    return isatty(STDERR_FILENO) ? step : NULL;
}

void cli_progress_end(cli_progress *p) {
    if (p->visible)
        fprintf(stderr, "\r%*s\r", LINE_WIDTH, "");
    fflush(stderr);
    p->visible = false;
}

/* Layout and drawing tell no steps: a timer writes the line when they last. */
static volatile sig_atomic_t drawing_visible;

static void say_drawing(int signal_number) {
    static const char line[] = "\rfxscope: drawing";
    ssize_t written = write(STDERR_FILENO, line, sizeof line - 1);
    (void)signal_number;
    drawing_visible = written > 0;
}

void cli_drawing_begin(void) {
    struct sigaction action = {.sa_handler = say_drawing, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {.tv_usec = (suseconds_t)(patience * 1e6)}};
    drawing_visible = 0;
    if (isatty(STDERR_FILENO) && sigaction(SIGALRM, &action, NULL) == 0)
        setitimer(ITIMER_REAL, &timer, NULL);
}

void cli_drawing_end(void) {
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    if (drawing_visible)
        fprintf(stderr, "\r%*s\r", LINE_WIDTH, "");
    fflush(stderr);
}
