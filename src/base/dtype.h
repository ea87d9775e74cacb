/* dtype.h: facts of element types, torch's promotion rules, and conversion of single elements. */
#ifndef FXS_BASE_DTYPE_H
#define FXS_BASE_DTYPE_H

#include "base/inline.h"
#include "fxscope.h"

FXS_API bool fxs_is_floating(fxs_dtype d);
FXS_API bool fxs_is_integral(fxs_dtype d); /* bool not included */
FXS_API bool fxs_is_complex(fxs_dtype d);
FXS_API bool fxs_is_quantized(fxs_dtype d);
/* Types that kernels can read and write element by element (fxs_load_double and fxs_store_double).
 */
FXS_API bool fxs_is_computable(fxs_dtype d);
/* torch.promote_types */
FXS_API fxs_dtype fxs_promote(fxs_dtype a, fxs_dtype b);
/* May elements of `from` be written into a tensor of `to`? Not into one of a lower kind. */
FXS_API bool fxs_dtype_keeps(fxs_dtype to, fxs_dtype from);

/* One element as a double (of a complex type: the real part; int64 above 2^53 rounds). */
FXS_API double fxs_load_double(fxs_dtype d, const void *p);
/* Converts as torch does: towards zero for integers (wrapping), nearest even for small floats. */
FXS_API void fxs_store_double(fxs_dtype d, void *p, double x);
/* One element of an integer or bool type, exactly; floats are truncated. */
FXS_API int64_t fxs_load_int(fxs_dtype d, const void *p);
FXS_API void fxs_store_int(fxs_dtype d, void *p, int64_t x);
/* Real and imaginary part; a real type stores the real part, bool whether either is not 0. */
FXS_API void fxs_load_pair(fxs_dtype d, const void *p, double z[2]);
FXS_API void fxs_store_pair(fxs_dtype d, void *p, const double z[2]);

/* Bits of the small float types; rounding is to nearest even. */
float fxs_half_to_float(uint16_t h);
uint16_t fxs_float_to_half(float f);
float fxs_bfloat16_to_float(uint16_t h);
uint16_t fxs_float_to_bfloat16(float f);

/* ---- bodies
 * -------------------------------------------------------------------------------------------- */

typedef struct fxs_dtype_fact {
    const char *name;
    size_t size;
    char cls; /* f: floating, i: integral, c: complex, q: quantized, b: bool */
} fxs_dtype_fact;
FXS_API extern const fxs_dtype_fact fxs_dtype_facts[FXS_DTYPE_COUNT];

FXS_INLINE size_t fxs_dtype_size(fxs_dtype d) {
    return (unsigned)d < FXS_DTYPE_COUNT ? fxs_dtype_facts[d].size : 0;
}
FXS_INLINE bool fxs_is_floating(fxs_dtype d) { return fxs_dtype_facts[d].cls == 'f'; }
FXS_INLINE bool fxs_is_integral(fxs_dtype d) { return fxs_dtype_facts[d].cls == 'i'; }
FXS_INLINE bool fxs_is_complex(fxs_dtype d) { return fxs_dtype_facts[d].cls == 'c'; }

#endif
