/* python.h: Python's view of values that are no tensors, shared by the scalar families: numbers,
 * truth, order. */
#ifndef FXS_KERNELS_PYTHON_H
#define FXS_KERNELS_PYTHON_H

#include "op/op.h"

/* A bool, int or float as Python computes with it; bools are ints. */
typedef struct fxs_number {
    bool real;
    int64_t i;
    double f; /* the value as a float, whichever it is */
} fxs_number;

/* False when v is no number. A tensor of one known element counts as its item. */
bool fxs_number_of(const fxs_value *v, fxs_number *out);
/* Writes a number (complex ones too, and tensors of one known element) as an element of type d;
 * false when v is none. */
bool fxs_store_value(fxs_dtype d, void *p, const fxs_value *v);
/* The item of a tensor of one element as a Python number; refuses other tensors, and values that
 * are not computed. */
fxs_status fxs_item(fxs_call *c, const fxs_tensor *t, fxs_value *out);
/* Python's bool(v). */
fxs_status fxs_truth(fxs_call *c, const fxs_value *v, bool *out);
/* Python's v == w, looking into tensors of one element. */
bool fxs_python_equal(const fxs_value *v, const fxs_value *w);
/* Below 0, 0 or above 0 as v is less, equal or greater; refuses what has no order. NaN: *unordered.
 */
fxs_status fxs_python_compare(fxs_call *c, const fxs_value *v, const fxs_value *w, int *order,
                              bool *unordered);
/* "unsupported operand type(s) for +: 'int' and 'str'" */
fxs_status fxs_bad_operands(fxs_call *c, const char *sign);
/* Gives a number as the result. */
fxs_status fxs_out_int(fxs_call *c, int64_t i);
fxs_status fxs_out_float(fxs_call *c, double f);
fxs_status fxs_out_bool(fxs_call *c, bool b);

/* Are the first operands (at most two) numbers, and one of them complex? What follows computes with
 * such: a + b (a - b for a sign below 0), a * b, a / b, a ** b; and of a alone -a, +a and |a|. */
bool fxs_any_complex(const fxs_call *c);
fxs_status fxs_complex_sum(fxs_call *c, double sign);
fxs_status fxs_complex_product(fxs_call *c);
fxs_status fxs_complex_division(fxs_call *c);
fxs_status fxs_complex_power(fxs_call *c);
fxs_status fxs_complex_unary(fxs_call *c, char sign);

#endif
