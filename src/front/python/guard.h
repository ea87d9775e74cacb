/* guard.h: the seat belt: what a model file may do while it is drawn and for how long.
 * Not a sandbox: it keeps mistakes and surprises from doing harm, not malice. */
#ifndef FXPY_GUARD_H
#define FXPY_GUARD_H

#include "front/python/fxpy.h"
#include "front/python/plugin.h"

/* From here on the options hold; Python runs already. 0, or -1 with an exception. */
int fxpy_guard_start(const fxs_python_options *options);
/* Lifts the limit of time. What is refused stays refused: threads and functions of the
 * file may run later. */
void fxpy_guard_stop(void);
/* Again around a function of the file that is called after that: what is left of the time. */
void fxpy_guard_resume(void);

/* ---- its parts ---- */

typedef enum fxpy_action { FXPY_NET, FXPY_EXEC, FXPY_WRITE, FXPY_END, FXPY_ACTIONS } fxpy_action;

/* Sets PermissionError, that a model file may not do this, and says what does let it; `by` is the
 * event, or NULL. Gives NULL. */
PyObject *fxpy_guard_refuse(fxpy_action a, const char *by);
/* guard_builtins.c: functions that Python's audit hooks do not hear of are refused too, but those
 * of the allowed actions. 0, or -1 with an exception. */
int fxpy_guard_builtins(const bool allowed[FXPY_ACTIONS]);
/* guard_time.c: after that many seconds an exception is raised where the program is, and the
 * process ends if it does not stop then. */
int fxpy_guard_watch(double seconds);
/* Ends that, and gives the seconds that were left. */
double fxpy_guard_unwatch(void);

#endif
