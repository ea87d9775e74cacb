/* opt.h: the passes, one function each: it changes m's graph, and says whether it did. opt.c has
 * their table; lint is run by it. */
#ifndef FXS_PASS_OPT_H
#define FXS_PASS_OPT_H

#include "ir/module.h"

typedef fxs_status fxs_pass_fn(fxs_module *m, bool *changed);

#define X(id, name, text) fxs_pass_fn fxs_pass_##id;
FXS_PASS_MAP(X)
#undef X

#endif
