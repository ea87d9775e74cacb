/* lapack.c: see lapack.h: OpenBLAS carries LAPACK inside, whose Fortran symbols are declared here.
 * Characters come with their lengths behind all other arguments, as gfortran passes them. */
#include "kernels/lapack.h"

#include <cblas.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define INT const int *
#define TEXT const char *
#define BOTH(name, ...)                                                                            \
    extern void d##name##_(__VA_ARGS__);                                                           \
    extern void z##name##_(__VA_ARGS__)
BOTH(getrf, INT, INT, double *, INT, int *, int *);
BOTH(getrs, TEXT, INT, INT, const double *, INT, const int *, double *, INT, int *, size_t);
BOTH(potrf, TEXT, INT, double *, INT, int *, size_t);
BOTH(geqrf, INT, INT, double *, INT, double *, double *, INT, int *);
extern void dorgqr_(INT, INT, INT, double *, INT, const double *, double *, INT, int *);
extern void zungqr_(INT, INT, INT, double *, INT, const double *, double *, INT, int *);
extern void dgelsd_(INT, INT, INT, double *, INT, double *, INT, double *, const double *, int *,
                    double *, INT, int *, int *);
extern void zgelsd_(INT, INT, INT, double *, INT, double *, INT, double *, const double *, int *,
                    double *, INT, double *, int *, int *);
#undef BOTH
#undef INT
#undef TEXT

static int most(int a, int b) { return a > b ? a : b; }

/* Work space: doubles for numbers, for real numbers beside complex ones, and integers. */
typedef struct space {
    double *work, *real;
    int *whole;
    int n, nreal, nwhole;
} space;

static int take(int parts, space *w) {
    w->work = fxs_alloc((size_t)most(w->n, 1) * (size_t)parts, sizeof(double));
    w->real = fxs_alloc((size_t)most(w->nreal, 1), sizeof(double));
    w->whole = fxs_alloc((size_t)most(w->nwhole, 1), sizeof(int));
    return w->work && w->real && w->whole ? 0 : FXS_LAPACK_MEMORY;
}

static int drop(space *w, int info) {
    fxs_free(w->work);
    fxs_free(w->real);
    fxs_free(w->whole);
    return info;
}

int fxs_lapack_lu(int parts, int m, int n, double *a, int *pivots) {
    int info = 0, ld = most(m, 1);
    (parts == 1 ? dgetrf_ : zgetrf_)(&m, &n, a, &ld, pivots, &info);
    return info;
}

int fxs_lapack_lu_solve(int parts, char trans, int n, int k, const double *lu, const int *pivots,
                        double *b) {
    int info = 0, ld = most(n, 1);
    (parts == 1 ? dgetrs_ : zgetrs_)(&trans, &n, &k, lu, &ld, pivots, b, &ld, &info, 1);
    return info;
}

int fxs_lapack_cholesky(int parts, bool upper, int n, double *a) {
    int info = 0, ld = most(n, 1);
    (parts == 1 ? dpotrf_ : zpotrf_)(upper ? "U" : "L", &n, a, &ld, &info, 1);
    return info;
}

/* Each asks for its work space first (-1), then works. */
int fxs_lapack_qr(int parts, int m, int n, double *a, double *tau) {
    int info = 0, ld = most(m, 1), ask = -1;
    double size[2] = {0};
    (parts == 1 ? dgeqrf_ : zgeqrf_)(&m, &n, a, &ld, tau, size, &ask, &info);
    space w = {.n = (int)size[0]};
    if (take(parts, &w) == 0)
        (parts == 1 ? dgeqrf_ : zgeqrf_)(&m, &n, a, &ld, tau, w.work, &w.n, &info);
    else
        info = FXS_LAPACK_MEMORY;
    return drop(&w, info);
}

int fxs_lapack_q(int parts, int m, int columns, int reflectors, double *a, const double *tau) {
    int info = 0, ld = most(m, 1), ask = -1;
    double size[2] = {0};
    (parts == 1 ? dorgqr_ : zungqr_)(&m, &columns, &reflectors, a, &ld, tau, size, &ask, &info);
    space w = {.n = most((int)size[0], 1)};
    if (take(parts, &w) == 0)
        (parts == 1 ? dorgqr_ : zungqr_)(&m, &columns, &reflectors, a, &ld, tau, w.work, &w.n,
                                         &info);
    else
        info = FXS_LAPACK_MEMORY;
    return drop(&w, info);
}

int fxs_lapack_least_squares(int parts, int m, int n, int k, double *a, double *b, double *s,
                             double rcond, int *rank) {
    int info = 0, lda = most(m, 1), ldb = most(most(m, n), 1), ask = -1, whole = 0;
    double size[2] = {0}, real = 0;
    if (parts == 1)
        dgelsd_(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, size, &ask, &whole, &info);
    else
        zgelsd_(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, size, &ask, &real, &whole, &info);
    space w = {.n = (int)size[0], .nreal = (int)real, .nwhole = whole};
    if (take(parts, &w) != 0)
        info = FXS_LAPACK_MEMORY;
    else if (parts == 1)
        dgelsd_(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, w.work, &w.n, w.whole, &info);
    else
        zgelsd_(&m, &n, &k, a, &lda, b, &ldb, s, &rcond, rank, w.work, &w.n, w.real, w.whole,
                &info);
    return drop(&w, info);
}

void fxs_lapack_triangle(int parts, bool left, bool upper, char trans, bool unit, int m, int k,
                         const double *a, double *b) {
    static const double one[2] = {1, 0};
    CBLAS_SIDE side = left ? CblasLeft : CblasRight;
    CBLAS_UPLO uplo = upper ? CblasUpper : CblasLower;
    CBLAS_TRANSPOSE turn = trans == 'N' ? CblasNoTrans : trans == 'T' ? CblasTrans : CblasConjTrans;
    CBLAS_DIAG diagonal = unit ? CblasUnit : CblasNonUnit;
    int lda = most(left ? m : k, 1), ldb = most(m, 1);
    if (parts == 1)
        cblas_dtrsm(CblasColMajor, side, uplo, turn, diagonal, m, k, 1, a, lda, b, ldb);
    else
        cblas_ztrsm(CblasColMajor, side, uplo, turn, diagonal, m, k, one, a, lda, b, ldb);
}
