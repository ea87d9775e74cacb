/* near.h: names that were perhaps meant, for the error about a pattern that matches nothing. */
#ifndef FXS_PASS_NEAR_H
#define FXS_PASS_NEAR_H

#include "base/buf.h"

enum { FXS_NEAR_NAMES = 4 };

/* All zero but `wanted` is empty. */
typedef struct fxs_near {
    const char *wanted;
    const char *name[FXS_NEAR_NAMES]; /* the nearest first; not copied */
    size_t far[FXS_NEAR_NAMES], n;
} fxs_near;

/* A name that there is; NULL and "" are none. */
void fxs_near_offer(fxs_near *p, const char *name);
/* " (near: layer1, layer2)", or " (there is none)". */
void fxs_near_put(const fxs_near *p, fxs_buf *b);

#endif
