/* pattern.h: places where a pattern stands become one node each. Called by outline.c. */
#ifndef FXS_PASS_PATTERN_H
#define FXS_PASS_PATTERN_H

#include "fxoutline.h"
#include "ir/module.h"

/* *out is a model whose graph is m's with a box for each match; *count is their number. */
fxs_status fxs_pattern_fold(const fxs_module *m, const fxs_outline_pattern *pattern,
                            fxs_module **out, size_t *count);

#endif
