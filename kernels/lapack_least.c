/* lapack_least.c: LAPACK's least squares, by the four routines among which torch.linalg.lstsq
 * chooses: they differ in what they take for a rank that is not full. */
#include "blas_library.h"
#include "kernels/lapack.h"
#include "kernels/lapack_single.h"

static int most(int a, int b) { return a > b ? a : b; }
static int least(int a, int b) { return a < b ? a : b; }

/* What the routines share beside the numbers. */
typedef struct shape {
    fxs_driver driver;
    int m, n, k, lda, ldb;
} shape;

/* One call: to ask for the work space (n -1), or to work. `...` is rwork in front of the last
 * arguments of complex routines. */
#define CALL(p, type, ...)                                                                         \
    static int p##call(const shape *h, type *a, type *b, type *s, type rcond, int *rank,           \
                       type *work, int n, type *real, int *whole) {                                \
        int info = 0;                                                                              \
        (void)real;                                                                                \
        if (h->driver == FXS_GELS)                                                                 \
            p##gels_("N", &h->m, &h->n, &h->k, a, &h->lda, b, &h->ldb, work, &n, &info, 1);        \
        else if (h->driver == FXS_GELSY)                                                           \
            p##gelsy_(&h->m, &h->n, &h->k, a, &h->lda, b, &h->ldb, whole, &rcond, rank, work,      \
                      &n __VA_ARGS__, &info);                                                      \
        else if (h->driver == FXS_GELSD)                                                           \
            p##gelsd_(&h->m, &h->n, &h->k, a, &h->lda, b, &h->ldb, s, &rcond, rank, work,          \
                      &n __VA_ARGS__, whole, &info);                                               \
        else                                                                                       \
            p##gelss_(&h->m, &h->n, &h->k, a, &h->lda, b, &h->ldb, s, &rcond, rank, work,          \
                      &n __VA_ARGS__, &info);                                                      \
        return info;                                                                               \
    }

/* gelsd alone says how much it wants beside its numbers; the others want 5 min(m, n) or 2 n. */
#define SOLVE(p, type, parts)                                                                      \
    static int p##solve(const shape *h, type *a, type *b, type *s, type rcond, int *rank) {        \
        type size[2] = {0}, nreal = 0;                                                             \
        int nwhole[2] = {0};                                                                       \
        int info = p##call(h, a, b, s, rcond, rank, size, -1, &nreal, nwhole);                     \
        int n = (int)size[0], small = least(h->m, h->n),                                           \
            wants = h->driver == FXS_GELSD ? (int)nreal : most(5 * small, 2 * h->n),               \
            ints = h->driver == FXS_GELSD ? nwhole[0] : h->n;                                      \
        type *work = fxs_alloc((size_t)most(n, 1) * (parts), sizeof(type)),                        \
             *real = fxs_alloc((size_t)most(wants, 1), sizeof(type));                              \
        int *whole = fxs_alloc((size_t)most(ints, 1), sizeof(int));                                \
        if (!work || !real || !whole)                                                              \
            info = FXS_LAPACK_MEMORY;                                                              \
        else                                                                                       \
            info = p##call(h, a, b, s, rcond, rank, work, n, real, whole);                         \
        fxs_free(work);                                                                            \
        fxs_free(real);                                                                            \
        fxs_free(whole);                                                                           \
        return info;                                                                               \
    }

#define NOTHING
#define REAL_ROUTINES(p, type)                                                                     \
    CALL(p, type, NOTHING)                                                                         \
    SOLVE(p, type, 1)
#define COMPLEX_ROUTINES(p, type)                                                                  \
    CALL(p, type, , real)                                                                          \
    SOLVE(p, type, 2)
REAL_ROUTINES(s, float)
REAL_ROUTINES(d, double)
COMPLEX_ROUTINES(c, float)
COMPLEX_ROUTINES(z, double)

int fxs_lapack_least_squares(fxs_driver driver, int parts, bool single, int m, int n, int k,
                             double *a, double *b, double *s, double rcond, int *rank) {
    shape h = {driver, m, n, k, most(m, 1), most(most(m, n), 1)};
    size_t p = (size_t)parts, columns = (size_t)k;
    fxs_narrowed all = {0};
    if (!single)
        return (parts == 1 ? dsolve : zsolve)(&h, a, b, s, rcond, rank);
    float *fa = fxs_narrow(&all, a, (size_t)m * (size_t)n * p),
          *fb = fxs_narrow(&all, b, (size_t)h.ldb * columns * p),
          *fs = fxs_narrow(&all, s, (size_t)least(m, n));
    int info = all.failed ? 0 : (parts == 1 ? ssolve : csolve)(&h, fa, fb, fs, (float)rcond, rank);
    return fxs_widen(&all, info);
}
