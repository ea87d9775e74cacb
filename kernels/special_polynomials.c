/* special_polynomials.c: the orthogonal polynomials of special_math.h. Low degrees are made by
 * their recurrence in the type of x, as PyTorch makes them; Chebyshev's between -1 and 1 by angles,
 * as PyTorch does too. Degrees that no recurrence should count up to have closed or asymptotic
 * forms, so that any degree ends soon. */
#include <math.h>

#include "kernels/special_math.h"

/* The last degree that is counted up to. */
enum { COUNTED = 1 << 18 };

/* From the first two: p is the polynomial of degree k - 1, q that of k. What is no number any more
 * stays none. */
#define RECURRENCE(name, first, second, next)                                                      \
    static double name##_counted(double x, int64_t n) {                                            \
        double p = first, q = second;                                                              \
        for (double k = 1; k <= (double)n && !(isnan(p) && isnan(q)); k++) {                       \
            double r = next;                                                                       \
            p = q;                                                                                 \
            q = r;                                                                                 \
        }                                                                                          \
        return p;                                                                                  \
    }                                                                                              \
    static float name##_countedf(float x, int64_t n) {                                             \
        float p = first, q = second;                                                               \
        for (float k = 1; k <= (float)n && !(isnan(p) && isnan(q)); k++) {                         \
            float r = next;                                                                        \
            p = q;                                                                                 \
            q = r;                                                                                 \
        }                                                                                          \
        return p;                                                                                  \
    }
RECURRENCE(chebyshev_t, 1, x, 2 * x * q - p)
RECURRENCE(chebyshev_u, 1, 2 * x, 2 * x * q - p)
RECURRENCE(chebyshev_v, 1, 2 * x - 1, 2 * x * q - p)
RECURRENCE(chebyshev_w, 1, 2 * x + 1, 2 * x * q - p)
RECURRENCE(hermite_h, 1, 2 * x, 2 * x * q - 2 * k * p)
RECURRENCE(hermite_he, 1, x, x *q - k * p)
RECURRENCE(laguerre_l, 1, 1 - x, ((2 * k + 1 - x) * q - k * p) / (k + 1))
RECURRENCE(legendre_p, 1, x, ((2 * k + 1) * x * q - k * p) / (k + 1))
#undef RECURRENCE

/* ---- between -1 and 1, where x is the cosine of an angle a
 * ----------------------------------------------------------------------------- */

#define ANGLES(type, f)                                                                            \
    static type chebyshev_t_angle##f(type a, type n) { return cos##f(n * a); }                     \
    static type chebyshev_u_angle##f(type a, type n) { return sin##f((n + 1) * a) / sin##f(a); }   \
    static type chebyshev_v_angle##f(type a, type n) {                                             \
        return cos##f((n + (type)0.5) * a) / cos##f(a / 2);                                        \
    }                                                                                              \
    static type chebyshev_w_angle##f(type a, type n) {                                             \
        return sin##f((n + (type)0.5) * a) / sin##f(a / 2);                                        \
    }
ANGLES(double, )
ANGLES(float, f)
#undef ANGLES

/* ---- at 1 and -1
 * -------------------------------------------------------------------------------------------------------------------
 */

static double one(double n) {
    (void)n;
    return 1;
}
static double next(double n) { return n + 1; }
static double odd(double n) { return 2 * n + 1; }

/* ---- beyond, for high degrees: x is the hyperbolic cosine of a
 * ----------------------------------------------------------------------- */

static double chebyshev_t_far(double a, double n) { return cosh(n * a); }
static double chebyshev_u_far(double a, double n) { return sinh((n + 1) * a) / sinh(a); }
static double chebyshev_v_far(double a, double n) { return cosh((n + 0.5) * a) / cosh(a / 2); }
static double chebyshev_w_far(double a, double n) { return sinh((n + 0.5) * a) / sinh(a / 2); }

/* What overflows is no number, as at the end of a recurrence. */
static double finite_or_nan(double x) { return isinf(x) ? NAN : x; }

/* `mirror` is the polynomial whose value at -x, but for the sign of odd degrees, this one has at x.
 */
#define CHEBYSHEV_AS(type, f, name, mirror, at_one, at_minus_one)                                  \
    type fxs_##name##f(type x, int64_t n) {                                                        \
        type sign = x < 0 && n % 2 ? -1 : 1;                                                       \
        if (n < 0)                                                                                 \
            return 0;                                                                              \
        if (x == 1 || x == -1)                                                                     \
            return sign * (type)(x > 0 ? at_one : at_minus_one)((double)n);                        \
        if (n > 8 && x > -1 && x < 1)                                                              \
            return name##_angle##f(acos##f(x), (type)n);                                           \
        if (n <= COUNTED || isnan(x))                                                              \
            return name##_counted##f(x, isnan(x) && n > 1 ? 1 : n);                                \
        double a = acosh(fabs((double)x));                                                         \
        return sign *                                                                              \
               (type)finite_or_nan(x > 0 ? name##_far(a, (double)n) : mirror##_far(a, (double)n)); \
    }
#define CHEBYSHEV(name, mirror, at_one, at_minus_one)                                              \
    CHEBYSHEV_AS(double, , name, mirror, at_one, at_minus_one)                                     \
    CHEBYSHEV_AS(float, f, name, mirror, at_one, at_minus_one)
CHEBYSHEV(chebyshev_t, chebyshev_t, one, one)
CHEBYSHEV(chebyshev_u, chebyshev_u, next, next)
CHEBYSHEV(chebyshev_v, chebyshev_w, one, odd)
CHEBYSHEV(chebyshev_w, chebyshev_v, odd, one)
#undef CHEBYSHEV
#undef CHEBYSHEV_AS

/* ---- the others
 * --------------------------------------------------------------------------------------------------------------------
 */

/* Hermite's overflow within some hundred degrees, and are no numbers from there on. */
static double no_number(double x, double n) {
    (void)x, (void)n;
    return NAN;
}

/* Hilb's formula. */
static double laguerre_l_high(double x, double n) {
    double root = 2 * sqrt((n + 0.5) * fabs(x));
    return exp(x / 2) * (x >= 0 ? j0(root) : fxs_bessel_i(0, root, 0));
}

/* The same for Legendre's, of the angle from the nearer end. */
static double legendre_p_high(double x, double n) {
    double sign = x < 0 && fmod(n, 2) != 0 ? -1 : 1, a;
    if (fabs(x) == 1)
        return sign;
    if (fabs(x) < 1) {
        a = acos(fabs(x));
        return sign * sqrt(a / sin(a)) * j0((n + 0.5) * a);
    }
    a = acosh(fabs(x));
    return sign * sqrt(a / sinh(a)) * fxs_bessel_i(0, (n + 0.5) * a, 0);
}

#define PLAIN_AS(type, f, name, high)                                                              \
    type fxs_##name##f(type x, int64_t n) {                                                        \
        if (n < 0)                                                                                 \
            return 0;                                                                              \
        return n <= COUNTED ? name##_counted##f(x, n)                                              \
                            : (type)finite_or_nan(high((double)x, (double)n));                     \
    }
#define PLAIN(name, high)                                                                          \
    PLAIN_AS(double, , name, high)                                                                 \
    PLAIN_AS(float, f, name, high)
PLAIN(hermite_h, no_number)
PLAIN(hermite_he, no_number)
PLAIN(laguerre_l, laguerre_l_high)
PLAIN(legendre_p, legendre_p_high)
#undef PLAIN
#undef PLAIN_AS
