/* guard.h: the seat belt: what a model file may do while it is drawn, for how long, in how much
 * memory. Not a sandbox: it keeps mistakes and surprises from doing harm, not malice. */
#ifndef FXPY_GUARD_H
#define FXPY_GUARD_H

#include "front/python/fxpy.h"
#include "front/python/plugin.h"

/* From here on the options hold; Python runs already. 0, or -1 with an exception. */
int fxpy_guard_start(const fxs_python_options *options);
/* Lifts time and memory limits, and lets everything pass again. */
void fxpy_guard_stop(void);
/* Whether the exception that is set is the time limit's. */
bool fxpy_guard_timed_out(void);

#endif
