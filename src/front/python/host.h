/* host.h: the functions of the user's program, for the core's runs of its graph. */
#ifndef FXPY_HOST_H
#define FXPY_HOST_H

#include "front/python/fxpy.h"

/* To be put into the context (fxs_ctx.host) by who keeps Python alive. */
extern const fxs_host fxpy_host;
/* Called around each call into Python: the limits of a seat belt. NULL: nothing. */
extern void (*fxpy_host_enter)(void), (*fxpy_host_leave)(void);
/* The module whose submodules are called; kept. */
void fxpy_host_root(PyObject *module);
/* An object of the class of a named tuple or dataclass whose value has these fields; the items are a
 * tuple, in the fields' order. */
PyObject *fxpy_host_named(const char *const *fields, PyObject *items);
/* What a target of a call_function node is. 0, or -1 with an exception. */
int fxpy_host_put(const char *name, PyObject *callable);

#endif
