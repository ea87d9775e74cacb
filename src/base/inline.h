/* inline.h: for functions of a few instructions, which are called at every step of a run: their
 * bodies stand in headers, are inlined where optimisation is on, and inline.c holds the ones that
 * everybody else links to. */
#ifndef FXS_BASE_INLINE_H
#define FXS_BASE_INLINE_H

#ifndef FXS_INLINE
#define FXS_INLINE extern inline __attribute__((gnu_inline))
#endif

#endif
