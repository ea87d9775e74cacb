/* input_spec.h: one input as the command line has it: a shape to be filled, a file, a plain value,
 * or a list, tuple or dict of those. */
#ifndef FXS_RUN_INPUT_SPEC_H
#define FXS_RUN_INPUT_SPEC_H

#include "base/value.h"

typedef struct fxs_input_spec fxs_input_spec;

/* Reads `text`; `whole` is what messages show. The result is yours to free, also after an error
 * (NULL or a part). */
FXS_API fxs_status fxs_input_parse(fxs_ctx *ctx, const char *whole, const char *text,
                                   fxs_input_spec **out);
/* A value that is there; takes the reference over. NULL: memory is out, and the value is dropped.
 */
fxs_input_spec *fxs_input_spec_of(fxs_value v);
FXS_API void fxs_input_spec_free(fxs_input_spec *s);
/* The value, counted. Tensors are filled from the context's seed and the name, so that an input has
 * the same numbers wherever it is made; in META mode they have no storage. */
FXS_API fxs_status fxs_input_make(fxs_ctx *ctx, const fxs_input_spec *s, const char *name,
                                  fxs_run_mode mode, fxs_value *out);
/* Several values as one: a list, tuple or dict. */
bool fxs_input_spec_is_tree(const fxs_input_spec *s);
/* FXS_EINVAL: what is wrong with it, and what an input looks like. */
fxs_status fxs_input_refuse(fxs_ctx *ctx, const char *whole, const char *what);

#endif
