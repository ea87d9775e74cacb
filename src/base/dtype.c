/* dtype.c: see dtype.h. */
#include "base/dtype.h"

#include <math.h>
#include <string.h>

const fxs_dtype_fact fxs_dtype_facts[FXS_DTYPE_COUNT] = {
#define X(name, text, size, cls) {text, size, cls},
    FXS_DTYPE_MAP(X)
#undef X
};

static const struct {
    const char *alias;
    fxs_dtype dtype;
} aliases[] = {
    {"float", FXS_FLOAT32},    {"double", FXS_FLOAT64},     {"half", FXS_FLOAT16},
    {"long", FXS_INT64},       {"int", FXS_INT32},          {"short", FXS_INT16},
    {"cfloat", FXS_COMPLEX64}, {"cdouble", FXS_COMPLEX128}, {"chalf", FXS_COMPLEX32},
};

const char *fxs_dtype_name(fxs_dtype d) {
    return (unsigned)d < FXS_DTYPE_COUNT ? fxs_dtype_facts[d].name : "?";
}

static bool same(const char *name, size_t len, const char *text) {
    return strlen(text) == len && memcmp(name, text, len) == 0;
}

bool fxs_dtype_find(const char *name, size_t len, fxs_dtype *out) {
    if (len > 6 && memcmp(name, "torch.", 6) == 0) {
        name += 6;
        len -= 6;
    }
    for (int d = 0; d < FXS_DTYPE_COUNT; d++) {
        if (same(name, len, fxs_dtype_facts[d].name)) {
            *out = (fxs_dtype)d;
            return true;
        }
    }
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (same(name, len, aliases[i].alias)) {
            *out = aliases[i].dtype;
            return true;
        }
    }
    return false;
}

bool fxs_is_quantized(fxs_dtype d) { return fxs_dtype_facts[d].cls == 'q'; }

bool fxs_is_computable(fxs_dtype d) {
    switch (d) {
    case FXS_FLOAT32:
    case FXS_FLOAT64:
    case FXS_FLOAT16:
    case FXS_BFLOAT16:
    case FXS_INT64:
    case FXS_INT32:
    case FXS_INT16:
    case FXS_INT8:
    case FXS_UINT8:
    case FXS_BOOL:
        return true;
    default:
        return false;
    }
}

/* Order of the classes: a higher class wins with its own type. */
static int class_rank(fxs_dtype d) {
    switch (fxs_dtype_facts[d].cls) {
    case 'b':
        return 0;
    case 'i':
        return 1;
    case 'f':
        return 2;
    case 'c':
        return 3;
    default:
        return 4;
    }
}

static fxs_dtype promote_integers(fxs_dtype a, fxs_dtype b) {
    bool ua = a == FXS_UINT8, ub = b == FXS_UINT8;
    if (ua != ub) { /* uint8 does not fit into int8 */
        fxs_dtype other = ua ? b : a;
        return other == FXS_INT8 ? FXS_INT16 : other;
    }
    return fxs_dtype_facts[a].size >= fxs_dtype_facts[b].size ? a : b;
}

static fxs_dtype promote_complex(fxs_dtype c, fxs_dtype f) {
    if (f == FXS_FLOAT64)
        return FXS_COMPLEX128;
    if (c == FXS_COMPLEX32 && (f == FXS_FLOAT32 || f == FXS_BFLOAT16))
        return FXS_COMPLEX64;
    return c;
}

bool fxs_dtype_keeps(fxs_dtype to, fxs_dtype from) {
    bool lost = (fxs_is_complex(from) && !fxs_is_complex(to)) ||
                (fxs_is_floating(from) && fxs_is_integral(to)) ||
                (from != FXS_BOOL && to == FXS_BOOL);
    return !lost;
}

fxs_dtype fxs_promote(fxs_dtype a, fxs_dtype b) {
    if (a == b)
        return a;
    int ra = class_rank(a), rb = class_rank(b);
    if (ra < rb) {
        fxs_dtype t = a;
        a = b;
        b = t;
        int r = ra;
        ra = rb;
        rb = r;
    }
    if (ra == 3 && rb == 2)
        return promote_complex(a, b);
    if (ra != rb)
        return a;
    if (ra == 1)
        return promote_integers(a, b);
    if (ra == 2 && fxs_dtype_facts[a].size == 2 && fxs_dtype_facts[b].size == 2)
        return FXS_FLOAT32; /* float16 with bfloat16 */
    return fxs_dtype_facts[a].size >= fxs_dtype_facts[b].size ? a : b;
}

float fxs_half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exp = (h >> 10) & 31, frac = h & 0x3ff;
    if (exp == 0) {
        float v = ldexpf((float)frac, -24);
        return sign ? -v : v;
    }
    uint32_t bits = sign | (exp == 31 ? 0x7f800000u : (exp + 112) << 23) | frac << 13;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t fxs_float_to_half(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    uint32_t mag = bits & 0x7fffffff;
    if (mag > 0x7f800000)
        return sign | 0x7e00;
    if (mag >= 0x477ff000) /* rounds to 65536 or more */
        return sign | 0x7c00;
    if (mag < 0x38800000) { /* subnormal: scale so that the float's own rounding is the right one */
        float v;
        memcpy(&v, &mag, sizeof v);
        v += 0.5f; /* ulp of 0.5 is 2^-24, half's smallest step */
        memcpy(&mag, &v, sizeof mag);
        return (uint16_t)(sign | (mag - 0x3f000000));
    }
    mag += 0xfff + (mag >> 13 & 1);
    return (uint16_t)(sign | ((mag >> 13) - (112 << 10)));
}

float fxs_bfloat16_to_float(uint16_t h) {
    uint32_t bits = (uint32_t)h << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

uint16_t fxs_float_to_bfloat16(float f) {
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define LOAD(type) (*(const type *)p)

double fxs_load_double(fxs_dtype d, const void *p) {
    switch (d) {
    case FXS_FLOAT32:
        return (double)LOAD(float);
    case FXS_FLOAT64:
        return LOAD(double);
    case FXS_FLOAT16:
        return (double)fxs_half_to_float(LOAD(uint16_t));
    case FXS_BFLOAT16:
        return (double)fxs_bfloat16_to_float(LOAD(uint16_t));
    case FXS_COMPLEX64:
        return (double)LOAD(float);
    case FXS_COMPLEX128:
        return LOAD(double);
    default:
        return (double)fxs_load_int(d, p);
    }
}

/* C leaves conversions out of range undefined; x86 gives the smallest integer, and so do we. */
static int64_t double_to_int(double x) {
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

void fxs_store_double(fxs_dtype d, void *p, double x) {
    switch (d) {
    case FXS_FLOAT32:
        *(float *)p = (float)x;
        break;
    case FXS_FLOAT64:
        *(double *)p = x;
        break;
    case FXS_FLOAT16:
        *(uint16_t *)p = fxs_float_to_half((float)x);
        break;
    case FXS_BFLOAT16:
        *(uint16_t *)p = fxs_float_to_bfloat16((float)x);
        break;
    case FXS_BOOL:
        *(uint8_t *)p = x != 0;
        break;
    case FXS_COMPLEX64:
    case FXS_COMPLEX128:
        fxs_store_pair(d, p, (const double[2]){x, 0});
        break;
    default:
        fxs_store_int(d, p, double_to_int(x));
    }
}

int64_t fxs_load_int(fxs_dtype d, const void *p) {
    switch (d) {
    case FXS_INT64:
        return LOAD(int64_t);
    case FXS_INT32:
        return LOAD(int32_t);
    case FXS_INT16:
        return LOAD(int16_t);
    case FXS_INT8:
        return LOAD(int8_t);
    case FXS_UINT8:
        return LOAD(uint8_t);
    case FXS_BOOL:
        return LOAD(uint8_t) != 0;
    case FXS_FLOAT32:
    case FXS_FLOAT64:
    case FXS_FLOAT16:
    case FXS_BFLOAT16:
    case FXS_COMPLEX64:
    case FXS_COMPLEX128:
        return double_to_int(fxs_load_double(d, p));
    default:
        return 0;
    }
}

void fxs_store_int(fxs_dtype d, void *p, int64_t x) {
    switch (d) {
    case FXS_INT64:
        *(int64_t *)p = x;
        break;
    case FXS_INT32:
        *(int32_t *)p = (int32_t)x;
        break;
    case FXS_INT16:
        *(int16_t *)p = (int16_t)x;
        break;
    case FXS_INT8:
        *(int8_t *)p = (int8_t)x;
        break;
    case FXS_UINT8:
        *(uint8_t *)p = (uint8_t)x;
        break;
    case FXS_BOOL:
        *(uint8_t *)p = x != 0;
        break;
    case FXS_FLOAT32:
    case FXS_FLOAT64:
    case FXS_FLOAT16:
    case FXS_COMPLEX64:
    case FXS_COMPLEX128:
    case FXS_BFLOAT16:
        fxs_store_double(d, p, (double)x);
        break;
    default:
        break;
    }
}

void fxs_load_pair(fxs_dtype d, const void *p, double z[2]) {
    z[0] = fxs_load_double(d, p);
    z[1] = d == FXS_COMPLEX64    ? (double)((const float *)p)[1]
           : d == FXS_COMPLEX128 ? ((const double *)p)[1]
                                 : 0;
}

void fxs_store_pair(fxs_dtype d, void *p, const double z[2]) {
    if (d == FXS_COMPLEX64)
        ((float *)p)[0] = (float)z[0], ((float *)p)[1] = (float)z[1];
    else if (d == FXS_COMPLEX128)
        ((double *)p)[0] = z[0], ((double *)p)[1] = z[1];
    else if (d == FXS_BOOL)
        *(uint8_t *)p = z[0] != 0 || z[1] != 0;
    else
        fxs_store_double(d, p, z[0]);
}
