/* units.h: numbers as pictures write them. */
#ifndef FXS_RENDER_UNITS_H
#define FXS_RENDER_UNITS_H

#include <stdint.h>

#include "base/buf.h"

/* Units whose steps are factors of 1000; each list ends with NULL. */
extern const char *const fxs_units_flops[], *const fxs_units_bytes[], *const fxs_units_time[],
    *const fxs_units_count[];

/* Three digits and a unit of the list: 118 MFLOP. */
void fxs_put_unit(fxs_buf *out, double x, const char *const *units);
/* 1234567 -> 1,234,567 */
void fxs_put_grouped(fxs_buf *out, int64_t n);

#endif
