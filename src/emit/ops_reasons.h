/* ops_reasons.h: why names of PyTorch are no operators here. */
#ifndef FXS_EMIT_OPS_REASONS_H
#define FXS_EMIT_OPS_REASONS_H

/* The reason, one of few; NULL: it is an operation, as far as is known. */
const char *fxs_no_operation(const char *name);

#endif
