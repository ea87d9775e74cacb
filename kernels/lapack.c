/* lapack.c: see lapack.h. */
#include "kernels/lapack.h"
#include "blas_library.h"
#include "kernels/lapack_single.h"

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

static size_t size_of(int parts, int m, int n) { return (size_t)parts * (size_t)m * (size_t)n; }

int fxs_lapack_lu(int parts, bool single, int m, int n, double *a, int *pivots) {
    int info = 0, ld = most(m, 1);
    fxs_narrowed all = {0};
    if (!single) {
        (parts == 1 ? dgetrf_ : zgetrf_)(&m, &n, a, &ld, pivots, &info);
        return info;
    }
    float *f = fxs_narrow(&all, a, size_of(parts, m, n));
    if (!all.failed)
        (parts == 1 ? sgetrf_ : cgetrf_)(&m, &n, f, &ld, pivots, &info);
    return fxs_widen(&all, info);
}

int fxs_lapack_lu_solve(int parts, bool single, char trans, int n, int k, double *lu,
                        const int *pivots, double *b) {
    int info = 0, ld = most(n, 1);
    fxs_narrowed all = {0};
    if (!single) {
        (parts == 1 ? dgetrs_ : zgetrs_)(&trans, &n, &k, lu, &ld, pivots, b, &ld, &info, 1);
        return info;
    }
    float *fl = fxs_narrow(&all, lu, size_of(parts, n, n)),
          *fb = fxs_narrow(&all, b, size_of(parts, n, k));
    if (!all.failed)
        (parts == 1 ? sgetrs_ : cgetrs_)(&trans, &n, &k, fl, &ld, pivots, fb, &ld, &info, 1);
    return fxs_widen(&all, info);
}

int fxs_lapack_cholesky(int parts, bool single, bool upper, int n, double *a) {
    int info = 0, ld = most(n, 1);
    const char *uplo = upper ? "U" : "L";
    fxs_narrowed all = {0};
    if (!single) {
        (parts == 1 ? dpotrf_ : zpotrf_)(uplo, &n, a, &ld, &info, 1);
        return info;
    }
    float *f = fxs_narrow(&all, a, size_of(parts, n, n));
    if (!all.failed)
        (parts == 1 ? spotrf_ : cpotrf_)(uplo, &n, f, &ld, &info, 1);
    return fxs_widen(&all, info);
}

int fxs_lapack_cholesky_inverse(int parts, bool single, bool upper, int n, double *a) {
    int info = 0, ld = most(n, 1);
    const char *uplo = upper ? "U" : "L";
    fxs_narrowed all = {0};
    if (!single) {
        (parts == 1 ? dpotri_ : zpotri_)(uplo, &n, a, &ld, &info, 1);
        return info;
    }
    float *f = fxs_narrow(&all, a, size_of(parts, n, n));
    if (!all.failed)
        (parts == 1 ? spotri_ : cpotri_)(uplo, &n, f, &ld, &info, 1);
    return fxs_widen(&all, info);
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
