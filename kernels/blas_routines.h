/* blas_routines.h: what kernels call of OpenBLAS: its CBLAS, and the Fortran routines of the LAPACK
 * that it carries inside, which no header declares. Characters come with their lengths behind all
 * other arguments, as gfortran passes them. Included through blas.h. */
#ifndef FXS_KERNELS_BLAS_ROUTINES_H
#define FXS_KERNELS_BLAS_ROUTINES_H

#include <cblas.h>
#include <stddef.h>

#define INT const int *
#define TEXT const char *

/* ---- lapack.c ---- */

#define FACTORS(p, type)                                                                           \
    extern void p##getrf_(INT, INT, type *, INT, int *, int *);                                    \
    extern void p##getrs_(TEXT, INT, INT, const type *, INT, const int *, type *, INT, int *,      \
                          size_t);                                                                 \
    extern void p##potrf_(TEXT, INT, type *, INT, int *, size_t);                                  \
    extern void p##potri_(TEXT, INT, type *, INT, int *, size_t);
FACTORS(s, float)
FACTORS(d, double)
FACTORS(c, float)
FACTORS(z, double)
#undef FACTORS
extern void dgeqrf_(INT, INT, double *, INT, double *, double *, INT, int *);
extern void zgeqrf_(INT, INT, double *, INT, double *, double *, INT, int *);
extern void dorgqr_(INT, INT, INT, double *, INT, const double *, double *, INT, int *);
extern void zungqr_(INT, INT, INT, double *, INT, const double *, double *, INT, int *);

/* ---- lapack_ldl.c ---- */

typedef void fxs_ldl_factor(TEXT, INT, double *, INT, int *, double *, INT, int *, size_t);
typedef void fxs_ldl_solve(TEXT, INT, INT, const double *, INT, const int *, double *, INT, int *,
                           size_t);
extern fxs_ldl_factor dsytrf_, zsytrf_, zhetrf_;
extern fxs_ldl_solve dsytrs_, zsytrs_, zhetrs_;

/* ---- lapack_vectors.c ---- */

#define REAL(p, type)                                                                              \
    extern void p##gesdd_(TEXT, INT, INT, type *, INT, type *, type *, INT, type *, INT, type *,   \
                          INT, int *, int *, size_t);                                              \
    extern void p##syevd_(TEXT, TEXT, INT, type *, INT, type *, type *, INT, int *, INT, int *,    \
                          size_t, size_t);                                                         \
    extern void p##geev_(TEXT, TEXT, INT, type *, INT, type *, type *, type *, INT, type *, INT,   \
                         type *, INT, int *, size_t, size_t);
REAL(s, float)
REAL(d, double)
#undef REAL

#define COMPLEX(p, type)                                                                           \
    extern void p##gesdd_(TEXT, INT, INT, type *, INT, type *, type *, INT, type *, INT, type *,   \
                          INT, type *, int *, int *, size_t);                                      \
    extern void p##heevd_(TEXT, TEXT, INT, type *, INT, type *, type *, INT, type *, INT, int *,   \
                          INT, int *, size_t, size_t);                                             \
    extern void p##geev_(TEXT, TEXT, INT, type *, INT, type *, type *, INT, type *, INT, type *,   \
                         INT, type *, int *, size_t, size_t);
COMPLEX(c, float)
COMPLEX(z, double)
#undef COMPLEX

/* ---- lapack_least.c ---- */

/* `...` is rwork in front of the last arguments of complex routines. */
#define ROUTINES(p, type, ...)                                                                     \
    extern void p##gels_(TEXT, INT, INT, INT, type *, INT, type *, INT, type *, INT, int *,        \
                         size_t);                                                                  \
    extern void p##gelsy_(INT, INT, INT, type *, INT, type *, INT, int *, const type *, int *,     \
                          type *, INT __VA_ARGS__, int *);                                         \
    extern void p##gelsd_(INT, INT, INT, type *, INT, type *, INT, type *, const type *, int *,    \
                          type *, INT __VA_ARGS__, int *, int *);                                  \
    extern void p##gelss_(INT, INT, INT, type *, INT, type *, INT, type *, const type *, int *,    \
                          type *, INT __VA_ARGS__, int *);
#define NOTHING
ROUTINES(s, float, NOTHING)
ROUTINES(d, double, NOTHING)
ROUTINES(c, float, , float *)
ROUTINES(z, double, , double *)
#undef NOTHING
#undef ROUTINES

#undef INT
#undef TEXT

#endif
