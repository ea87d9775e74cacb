/* unfinished.h: names of files that are being written and are not in place yet, so that a program
 * that must end in the middle of it can remove them (fxs_discard_unfinished). */
#ifndef FXS_BASE_UNFINISHED_H
#define FXS_BASE_UNFINISHED_H

#include "fxfile.h"

typedef struct fxs_unfinished fxs_unfinished;

/* Takes the name over. NULL when memory is out: the name is still the caller's. */
fxs_unfinished *fxs_unfinished_add(char *name);
/* The file is in place or removed; frees the name. NULL is nothing. */
void fxs_unfinished_done(fxs_unfinished *u);

#endif
