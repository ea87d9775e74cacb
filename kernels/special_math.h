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
double fxs_chebyshev_t(double x, int64_t n);
double fxs_chebyshev_u(double x, int64_t n);
double fxs_chebyshev_v(double x, int64_t n);
double fxs_chebyshev_w(double x, int64_t n);
double fxs_hermite_h(double x, int64_t n);
double fxs_hermite_he(double x, int64_t n);
double fxs_laguerre_l(double x, int64_t n);
double fxs_legendre_p(double x, int64_t n);

#endif
