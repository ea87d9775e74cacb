/* special_math.c: see special_math.h. Each function is a series where it converges fast, and an
 * asymptotic series, a continued fraction or the trapezium rule where it does not. */
#include "kernels/special_math.h"

#include <math.h>
#include <stdbool.h>

static const double PI = 3.141592653589793238;

/* B(2k) for k = 1, 2, ... */
static const double bernoulli[] = {
    1.0 / 6, -1.0 / 30,     1.0 / 42,      -1.0 / 30,      5.0 / 66,       -691.0 / 2730,
    7.0 / 6, -3617.0 / 510, 43867.0 / 798, -174611. / 330, 854513.0 / 138, -236364091.0 / 2730};
enum { BERNOULLI = sizeof bernoulli / sizeof *bernoulli };

/* ---- gamma's kin
 * -------------------------------------------------------------------------------------------- */

double fxs_digamma(double x) {
    double sum = 0;
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0) {
        double whole, part = modf(x, &whole);
        if (part == 0)
            return NAN;
        return fxs_digamma(1 - x) - PI / tan(PI * part);
    }
    for (; x < 12; x++)
        sum -= 1 / x;
    double y = 1 / (x * x), power = y, series = 0;
    for (int k = 1; k <= 8; k++, power *= y)
        series += bernoulli[k - 1] / (2 * k) * power;
    return sum + log(x) - 0.5 / x - series;
}

/* Euler and Maclaurin: the first terms one by one, the rest as an integral with corrections. */
double fxs_zeta(double x, double q) {
    enum { DIRECT = 16 };
    if (x == 1)
        return INFINITY;
    if (x < 1 || isnan(x) || isnan(q))
        return NAN;
    if (q <= 0 && q == floor(q))
        return INFINITY;
    if (q <= 0 && x != floor(x))
        return NAN;
    double sum = 0;
    for (; q < 0; q++)
        sum += pow(q, -x);
    for (int k = 0; k < DIRECT; k++)
        sum += pow(q + k, -x);
    double a = q + DIRECT, term = pow(a, -x);
    sum += term * a / (x - 1) + term / 2;
    double factor = x * term / a;
    for (int k = 1; k <= BERNOULLI; k++) {
        sum += bernoulli[k - 1] * factor / tgamma(2 * k + 1);
        factor *= (x + 2 * k - 1) * (x + 2 * k) / (a * a);
    }
    return sum;
}

double fxs_polygamma(int64_t n, double x) {
    double sign = n % 2 ? 1 : -1;
    if (n == 1 && x < 0.5) { /* the reflection holds where the sum does not */
        double s = sin(PI * x);
        return PI * PI / (s * s) - fxs_polygamma(1, 1 - x);
    }
    return sign * tgamma((double)n + 1) * fxs_zeta((double)n + 1, x);
}

/* x^a exp(-x) / gamma(a) */
static double gamma_front(double a, double x) { return exp(a * log(x) - x - lgamma(a)); }

static double lower_series(double a, double x) {
    double term = 1 / a, sum = term;
    for (int k = 1; k < 100000 && fabs(term) > fabs(sum) * 1e-17; k++) {
        term *= x / (a + k);
        sum += term;
    }
    return sum * gamma_front(a, x);
}

/* Lentz's walk along the continued fraction. */
static double upper_fraction(double a, double x) {
    double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
    for (int i = 1; i < 100000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = fabs(d) < 1e-300 ? 1e300 : 1 / d;
        c = b + an / c;
        c = fabs(c) < 1e-300 ? 1e-300 : c;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-16)
            break;
    }
    return h * gamma_front(a, x);
}

/* The ends of the range, where both functions are 0 or 1. True when the answer is in *lower. */
static bool gamma_edge(double a, double x, double *lower) {
    if (isnan(a) || isnan(x) || x < 0 || a < 0 || (a == 0 && x == 0) || (isinf(a) && isinf(x)))
        *lower = NAN;
    else if (a == 0 || isinf(x))
        *lower = 1;
    else if (x == 0 || isinf(a))
        *lower = 0;
    else
        return false;
    return true;
}

double fxs_gamma_lower(double a, double x) {
    double y;
    if (gamma_edge(a, x, &y))
        return y;
    return x < a + 1 ? lower_series(a, x) : 1 - upper_fraction(a, x);
}

double fxs_gamma_upper(double a, double x) {
    double y;
    if (gamma_edge(a, x, &y))
        return 1 - y;
    return x < a + 1 ? 1 - lower_series(a, x) : upper_fraction(a, x);
}

/* ---- the normal distribution
 * -------------------------------------------------------------------------------- */

double fxs_erfcx(double x) {
    if (x < 10)
        return exp(x * x) * erfc(x);
    double y = 1 / (2 * x * x), term = 1, sum = 1;
    for (int k = 1; k < 20; k++) {
        term *= -(2 * k - 1) * y;
        sum += term;
    }
    return sum / (x * sqrt(PI));
}

double fxs_log_ndtr(double x) {
    double t = x * M_SQRT1_2;
    return x < -1 ? log(fxs_erfcx(-t) / 2) - t * t : log1p(-erfc(t) / 2);
}

double fxs_ndtri(double p) {
    if (!(p > 0 && p < 1))
        return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    if (p > 0.5)
        return -fxs_ndtri(1 - p);
    if (p == 0.5)
        return 0;
    double x = -sqrt(-2 * log(p)), want = log(p);
    for (int i = 0; i < 60; i++) { /* Newton on the logarithm, which is concave */
        double slope = sqrt(2 / PI) / fxs_erfcx(-x * M_SQRT1_2);
        double step = (fxs_log_ndtr(x) - want) / slope;
        x -= step;
        if (fabs(step) < 1e-15 * (1 + fabs(x)))
            break;
    }
    return x;
}

/* ---- Bessel and Airy
 * -------------------------------------------------------------------------------------------- */

double fxs_bessel_i(int order, double x, int scaled) {
    double a = fabs(x), y, sign = order && x < 0 ? -1 : 1;
    if (isnan(x))
        return x;
    if (a > 40) { /* (1 - (m - 1) / 8a + (m - 1)(m - 9) / 2! (8a)^2 - ...) / sqrt(2 pi a) */
        double m = 4.0 * order * order, term = 1, sum = 1;
        for (int k = 1; k < 40 && fabs(term) > 1e-17; k++) {
            term *= -(m - (2 * k - 1) * (2 * k - 1)) / (k * 8 * a);
            sum += term;
        }
        y = sum / sqrt(2 * PI * a); /* of infinity, PyTorch's is NaN unless scaled */
        return sign * (scaled ? y : exp(a / 2) * y * exp(a / 2));
    }
    double q = a * a / 4, term = order ? a / 2 : 1, sum = term;
    for (int k = 1; k < 300 && term > sum * 1e-17; k++) {
        term *= q / ((double)k * (k + order));
        sum += term;
    }
    return sign * (scaled ? sum * exp(-a) : sum);
}

/* exp(x) K_v(x), the integral of exp(-x (cosh t - 1)) cosh(v t) over t > 0: the trapezium rule
 * gives all the digits, since the function falls off twice exponentially. */
static double scaled_k(double v, double x) {
    const double h = 0.125;
    double sum = 0.5;
    for (int i = 1; i < 100000; i++) {
        double t = i * h, s = sinh(t / 2), e = 2 * x * s * s;
        if (e > 745 + v * t)
            break;
        sum += exp(-e) * cosh(v * t);
    }
    return sum * h;
}

double fxs_bessel_k(int order, double x, int scaled) {
    if (isnan(x) || x < 0)
        return NAN;
    if (x == 0 || isinf(x))
        return x == 0 ? INFINITY : 0;
    double y = scaled_k(order, x);
    return scaled ? y : y * exp(-x);
}

/* Ai(x) = Ai(0) f(x) + Ai'(0) g(x), with the series of f and g in long double. */
static double airy_series(double x) {
    long double c = (long double)x * x * x, f = 1, g = x, tf = 1, tg = x;
    for (int k = 1; k < 200; k++) {
        tf *= c / ((3.0L * k - 1) * (3.0L * k));
        tg *= c / ((3.0L * k) * (3.0L * k + 1));
        f += tf, g += tg;
    }
    return (double)(0.355028053887817239260063186004L * f - 0.258819403792806798405183560189L * g);
}

double fxs_airy_ai(double x) {
    double a = fabs(x), zeta = 2 / 3.0 * a * sqrt(a);
    if (isnan(x) || isinf(x))
        return NAN;
    if (x > 2)
        return sqrt(x / 3) / PI * scaled_k(1 / 3.0, zeta) * exp(-zeta);
    if (x > -8)
        return airy_series(x);
    double term = 1, even = 0, odd = 0; /* the terms u_k / zeta^k, two with each sign */
    for (int k = 0; k < 24; k++) {
        double signed_term = k / 2 % 2 ? -term : term;
        *(k % 2 ? &odd : &even) += signed_term;
        double next = term * (6 * k + 1) * (6 * k + 5) / (72.0 * (k + 1) * zeta);
        if (fabs(next) > fabs(term))
            break;
        term = next;
    }
    double angle = zeta - PI / 4;
    return (cos(angle) * even + sin(angle) * odd) / (sqrt(PI) * sqrt(sqrt(a)));
}
