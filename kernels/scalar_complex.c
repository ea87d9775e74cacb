/* scalar_complex.c: Python's arithmetic on complex numbers that are no tensors, step by step as
 * CPython does it, so that the last digits agree. */
#include <math.h>

#include "kernels/python.h"

typedef struct pair {
    double re, im;
} pair;

static bool pair_of(const fxs_value *v, pair *out) {
    fxs_number n = {0};
    bool is_pair = v->tag == FXS_V_COMPLEX;
    *out = (pair){0, 0};
    if (!is_pair && !fxs_number_of(v, &n))
        return false;
    *out = is_pair ? (pair){v->u.c[0], v->u.c[1]} : (pair){n.f, 0};
    return true;
}

static fxs_status give(fxs_call *c, pair z) {
    return fxs_out_value(c, (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {z.re, z.im}});
}

bool fxs_any_complex(const fxs_call *c) {
    pair z;
    bool any = false;
    for (int i = 0; i < c->nargs && i < 2; i++) {
        if (!pair_of(&c->arg[i], &z))
            return false;
        any |= c->arg[i].tag == FXS_V_COMPLEX;
    }
    return any;
}

static pair product(pair a, pair b) {
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Smith's formula; b is not 0. */
static pair quotient(pair a, pair b) {
    bool real = fabs(b.re) >= fabs(b.im);
    double ratio = real ? b.im / b.re : b.re / b.im,
           below = real ? b.re + b.im * ratio : b.re * ratio + b.im;
    return real ? (pair){(a.re + a.im * ratio) / below, (a.im - a.re * ratio) / below}
                : (pair){(a.re * ratio + a.im) / below, (a.im * ratio - a.re) / below};
}

static pair whole_power(pair a, int n) {
    pair r = {1, 0}, square = a;
    for (int rest = n < 0 ? -n : n; rest; rest /= 2, square = product(square, square))
        if (rest % 2)
            r = product(r, square);
    return n > 0 ? r : quotient((pair){1, 0}, r);
}

/* By length and angle; a is not 0. */
static pair any_power(pair a, pair b) {
    double size = hypot(a.re, a.im), angle = atan2(a.im, a.re), length = pow(size, b.re),
           phase = angle * b.re;
    if (b.im != 0) {
        length *= exp(-angle * b.im);
        phase += b.im * log(size);
    }
    return (pair){length * cos(phase), length * sin(phase)};
}

fxs_status fxs_complex_sum(fxs_call *c, double sign) {
    pair a, b;
    pair_of(&c->arg[0], &a), pair_of(&c->arg[1], &b);
    return give(c, sign < 0 ? (pair){a.re - b.re, a.im - b.im} : (pair){a.re + b.re, a.im + b.im});
}

fxs_status fxs_complex_product(fxs_call *c) {
    pair a, b;
    pair_of(&c->arg[0], &a), pair_of(&c->arg[1], &b);
    return give(c, product(a, b));
}

fxs_status fxs_complex_division(fxs_call *c) {
    pair a, b;
    pair_of(&c->arg[0], &a), pair_of(&c->arg[1], &b);
    if (b.re == 0 && b.im == 0)
        return FXS_REFUSE(c, FXS_EINVAL, "complex division by zero (ZeroDivisionError)");
    return give(c, quotient(a, b));
}

fxs_status fxs_complex_power(fxs_call *c) {
    pair a, b;
    pair_of(&c->arg[0], &a), pair_of(&c->arg[1], &b);
    bool whole = b.im == 0 && b.re == floor(b.re) && fabs(b.re) <= 100, zero = !a.re && !a.im;
    if (zero && (b.im != 0 || b.re < 0))
        return FXS_REFUSE(c, FXS_EINVAL, "0.0 to a negative or complex power (ZeroDivisionError)");
    pair r = whole ? whole_power(a, (int)b.re) : zero ? (pair){0, 0} : any_power(a, b);
    if (isinf(r.re) || isinf(r.im))
        return FXS_REFUSE(c, FXS_ELIMIT, "complex exponentiation (OverflowError)");
    return give(c, r);
}

fxs_status fxs_complex_unary(fxs_call *c, char sign) {
    pair a;
    pair_of(&c->arg[0], &a);
    if (sign != '|')
        return give(c, sign == '-' ? (pair){-a.re, -a.im} : a);
    double length = hypot(a.re, a.im);
    if (isinf(length) && isfinite(a.re) && isfinite(a.im))
        return FXS_REFUSE(c, FXS_ELIMIT, "absolute value too large (OverflowError)");
    return fxs_out_float(c, length);
}
