/* place.h: places in the user's own files. Frames of the frozen library (<fxscope>/...) and of
 * Python's own modules are not where a user looks for a mistake. */
#ifndef FXPY_PLACE_H
#define FXPY_PLACE_H

#include "front/python/fxpy.h"

typedef struct fxpy_place {
    PyObject *file, *function; /* counted; NULL: not known */
    long line;
} fxpy_place;

/* Is the code the frozen library's? */
bool fxpy_code_is_ours(PyCodeObject *code);
/* The last frame of a traceback that is the user's. */
fxpy_place fxpy_place_of_traceback(PyObject *traceback);
/* The innermost frame of a stack that is the user's; takes the reference over (NULL: none). */
fxpy_place fxpy_place_of_frame(PyFrameObject *frame);
/* "fxscope: FILE:LINE: text", the line, and the function, on standard error; without a place the
 * text alone. No exception is set or lost. */
void fxpy_place_write(const fxpy_place *p, PyObject *text);
void fxpy_place_clear(fxpy_place *p);

#endif
