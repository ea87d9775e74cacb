/* report.h: an exception, as the command's user sees it. */
#ifndef FXPY_REPORT_H
#define FXPY_REPORT_H

#include "front/python/fxpy.h"

/* Prints the exception that is set, as Python would, and clears it. Frames of the frozen library
 * are left out unless `all`. */
void fxpy_report_traceback(bool all);
/* One message instead: "fxscope: model.py:41: TypeError: ...", the line, the function it is in. */
void fxpy_report_message(void);
/* A text with the place where a stack of frames is; takes the reference over (may be NULL). */
void fxpy_report_at_frame(PyFrameObject *frame, const char *text);

#endif
