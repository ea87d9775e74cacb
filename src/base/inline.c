/* inline.c: see inline.h: the functions whose bodies stand in headers, as functions. */
#define FXS_INLINE /* each body is an ordinary definition here */

#include "base/value.h"
