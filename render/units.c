/* units.c: see units.h. Called by label.c and overlay.c. */
#include "units.h"

#include <math.h>
#include <stdio.h>

const char *const fxs_units_flops[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", NULL};
const char *const fxs_units_bytes[] = {"B", "kB", "MB", "GB", "TB", NULL};
const char *const fxs_units_time[] = {"ns", "us", "ms", "s", NULL}; /* of nanoseconds */
const char *const fxs_units_count[] = {"", "k", "M", "G", "T", NULL};

void fxs_put_unit(fxs_buf *out, double x, const char *const *units) {
    while (x >= 999.5 && units[1]) {
        x /= 1000;
        units++;
    }
    int decimals = x == floor(x) && x < 1000 ? 0 : x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
    fxs_buf_printf(out, "%.*f%s%s", decimals, x, **units ? " " : "", units[0]);
}

void fxs_put_grouped(fxs_buf *out, int64_t n) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)n);
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0 && digits[i - 1] != '-')
            fxs_buf_putc(out, ',');
        fxs_buf_putc(out, digits[i]);
    }
}
