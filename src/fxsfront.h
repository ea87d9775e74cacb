/* fxsfront.h: what front ends that are plug-ins may use of the library beyond fxscope.h: values,
 * tensors, the operators' table and their application, how functions are spelled, the graph and the
 * module tree. For front ends of this project: not stable, not installed. The functions that a
 * plug-in may call carry FXS_API in the headers below; a new need is one more FXS_API there. */
#ifndef FXSFRONT_H
#define FXSFRONT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/ctx.h"
#include "base/dtype.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/pytext.h"
#include "base/rng.h"
#include "base/storage.h"
#include "base/tensor.h"
#include "base/value.h"
#include "emit/format.h"
#include "front/trace.h"
#include "fxscope.h"
#include "ir/module.h"
#include "op/registry.h"
#include "run/input_spec.h"

/* A plug-in sees into these; one that was built with other headers than the library has another
 * number here, and must not touch them. */
#define FXS_FRONT_ABI                                                                              \
    ((unsigned)(sizeof(struct fxs_ctx) + 3 * sizeof(fxs_value) + 5 * sizeof(fxs_tensor) +          \
                7 * sizeof(struct fxs_node) + 11 * sizeof(struct fxs_graph) +                      \
                13 * sizeof(struct fxs_module) + 17 * sizeof(fxs_parameter) +                      \
                19 * sizeof(fxs_op) + 23 * sizeof(fxs_schema) + 29 * sizeof(fxs_meta) +            \
                31 * sizeof(fxs_call)))
/* The library's number. */
FXS_API unsigned fxs_front_abi(void);

#endif
