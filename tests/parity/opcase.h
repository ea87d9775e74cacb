/* opcase.h: one recorded call as JSON, read into values, made in both modes and compared with
 * PyTorch's answer. The notation stands in values.c; cases come from parity.py and from
 * recorded.jsonl. */
#ifndef FXS_TESTS_OPCASE_H
#define FXS_TESTS_OPCASE_H

#include <jansson.h>

#include "base/buf.h"
#include "op/registry.h"

/* A value from JSON, counted for the caller; tensors get no storage in `meta` mode. False: the
 * notation is wrong. */
bool opcase_value(fxs_ctx *ctx, const json_t *j, bool meta, fxs_value *out);
/* Tensor facts and elements as JSON has them; NULL when `j` is none. */
const json_t *opcase_tensor_json(const json_t *j);
/* What a tensor leaves out: float32, contiguous strides, offset 0; of an answer also the
 * contiguous format, and that it is no view of the first argument ("alias": null: it is not said).
 */
const char *opcase_dtype_name(const json_t *tensor);
bool opcase_dtype(const json_t *tensor, fxs_dtype *out);
/* Element i of "data"; the imaginary part of complex numbers is `part` 1. */
double opcase_number(const json_t *data, size_t i);

typedef struct opcase_compare {
    double tolerance;         /* relative to 1 + |value|; 0: the dtype's own */
    bool odd;                 /* strides of dimensions of size 0 or 1 are not compared */
    bool values;              /* else facts alone: random operators, META */
    const fxs_storage *first; /* the first argument's storage, to tell views from copies */
    fxs_buf *why;
} opcase_compare;

/* True when v is what PyTorch answered; else what differs is written to `why`. */
bool opcase_same(const opcase_compare *c, const fxs_value *v, const json_t *want,
                 const char *where);

#endif
