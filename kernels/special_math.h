/* special_math.h: special functions of one or two numbers, in double: gamma and its kin, Bessel and
 * Airy functions, the normal distribution, orthogonal polynomials. Called by the rows in special.c
 * and special_two.c; knows no tensor. */
#ifndef FXS_KERNELS_SPECIAL_MATH_H
#define FXS_KERNELS_SPECIAL_MATH_H

#include <stdint.h>

double fxs_digamma(double x);
/* The n-th derivative of digamma, n >= 1. */
double fxs_polygamma(int64_t n, double x);
/* The sum of 1 / (k + q)^x over k = 0, 1, ... */
double fxs_zeta(double x, double q);
/* The regularised incomplete gamma functions, lower and upper. */
double fxs_gamma_lower(double a, double x);
double fxs_gamma_upper(double a, double x);

/* exp(x * x) * erfc(x) */
double fxs_erfcx(double x);
/* Logarithm of the normal distribution's area below x, and the x below which an area p lies. */
double fxs_log_ndtr(double x);
double fxs_ndtri(double p);

/* Modified Bessel functions of order 0 and 1; scaled: times exp(-|x|) of I, times exp(x) of K. */
double fxs_bessel_i(int order, double x, int scaled);
double fxs_bessel_k(int order, double x, int scaled);
double fxs_airy_ai(double x);

/* Orthogonal polynomials of degree n; 0 for a negative degree. */
#define FXS_POLYNOMIAL(name)                                                                       \
    double fxs_##name(double x, int64_t n);                                                        \
    float fxs_##name##f(float x, int64_t n)
FXS_POLYNOMIAL(chebyshev_t);
FXS_POLYNOMIAL(chebyshev_u);
FXS_POLYNOMIAL(chebyshev_v);
FXS_POLYNOMIAL(chebyshev_w);
FXS_POLYNOMIAL(hermite_h);
FXS_POLYNOMIAL(hermite_he);
FXS_POLYNOMIAL(laguerre_l);
FXS_POLYNOMIAL(legendre_p);
#undef FXS_POLYNOMIAL

#endif
