/* lapack_vectors.c: the routines of lapack.h whose vectors have signs of their own: svd, eigh, eig.
 * They are called in the matrices' own precision, since rounding may turn a sign; buffers of double
 * are converted on the way. */
#include <string.h>

#include "blas_library.h"
#include "kernels/lapack.h"
#include "kernels/lapack_single.h"

static int most(int a, int b) { return a > b ? a : b; }
static int least(int a, int b) { return a < b ? a : b; }

/* Work space, taken after LAPACK was asked (-1) how much it wants. */
#define TAKE(type, n, nreal, nwhole)                                                               \
    type *work = fxs_alloc((size_t)most((n), 2), sizeof(type)),                                    \
         *real = fxs_alloc((size_t)most((nreal), 2), sizeof(type));                                \
    int *whole = fxs_alloc((size_t)most((nwhole), 1), sizeof(int));                                \
    bool taken = work && real && whole
#define DROP                                                                                       \
    fxs_free(work);                                                                                \
    fxs_free(real);                                                                                \
    fxs_free(whole);                                                                               \
    return taken ? info : FXS_LAPACK_MEMORY

/* ---- real matrices
 * --------------------------------------------------------------------------------------------- */

#define REAL(p, type)                                                                              \
    static int p##svd(char job, int m, int n, type *a, type *s, type *u, type *vt) {               \
        int info = 0, ask = -1, ld = most(m, 1), ldvt = most(job == 'S' ? least(m, n) : n, 1);     \
        type size[2] = {0};                                                                        \
        p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vt, &ldvt, size, &ask, &ask, &info, 1);         \
        int want = (int)size[0];                                                                   \
        TAKE(type, want, 0, 8 * least(m, n));                                                      \
        if (taken)                                                                                 \
            p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vt, &ldvt, work, &want, whole, &info, 1);   \
        DROP;                                                                                      \
    }                                                                                              \
    static int p##eigh(bool vectors, bool upper, int n, type *a, type *w) {                        \
        int info = 0, ask = -1, ld = most(n, 1), nwhole = 0;                                       \
        type size[2] = {0};                                                                        \
        const char *job = vectors ? "V" : "N", *uplo = upper ? "U" : "L";                          \
        p##syevd_(job, uplo, &n, a, &ld, w, size, &ask, &nwhole, &ask, &info, 1, 1);               \
        int want = (int)size[0];                                                                   \
        TAKE(type, want, 0, nwhole);                                                               \
        if (taken)                                                                                 \
            p##syevd_(job, uplo, &n, a, &ld, w, work, &want, whole, &nwhole, &info, 1, 1);         \
        DROP;                                                                                      \
    }                                                                                              \
    static int p##eig(int n, type *a, type *w, type *v) {                                          \
        int info = 0, ld = most(n, 1), one = 1, want = 0, ask = -1;                                \
        type size[2] = {0};                                                                        \
        const char *job = v ? "V" : "N";                                                           \
        p##geev_("N", job, &n, a, &ld, w, w, NULL, &one, v, &ld, size, &ask, &info, 1, 1);         \
        want = (int)size[0];                                                                       \
        TAKE(type, want, 2 * n + n * n, 0);                                                        \
        if (taken)                                                                                 \
            p##geev_("N", job, &n, a, &ld, real, real + n, NULL, &one, real + 2 * n, &ld, work,    \
                     &want, &info, 1, 1);                                                          \
        for (int i = 0; taken && i < n; i++)                                                       \
            w[2 * i] = real[i], w[2 * i + 1] = real[n + i];                                        \
        if (taken && v)                                                                            \
            p##unpack(n, real + n, real + 2 * n, v);                                               \
        DROP;                                                                                      \
    }

/* geev gives a pair of conjugate vectors as their real and imaginary parts, in two columns. */
#define UNPACK(p, type)                                                                            \
    static void p##unpack(int n, const type *im, const type *packed, type *v) {                    \
        for (int j = 0; j < n; j++) {                                                              \
            int first = im[j] < 0 ? j - 1 : j;                                                     \
            type sign = (type)(im[j] < 0 ? -1 : 1);                                                \
            for (int i = 0; i < n; i++) {                                                          \
                v[2 * (j * n + i)] = packed[first * n + i];                                        \
                v[2 * (j * n + i) + 1] = im[j] == 0 ? 0 : sign * packed[(first + 1) * n + i];      \
            }                                                                                      \
        }                                                                                          \
    }
UNPACK(s, float)
UNPACK(d, double)
REAL(s, float)
REAL(d, double)
#undef UNPACK
#undef REAL

/* ---- complex matrices: two numbers an element
 * ------------------------------------------------------------------ */

#define COMPLEX(p, type)                                                                           \
    static int p##svd(char job, int m, int n, type *a, type *s, type *u, type *vt) {               \
        int info = 0, ask = -1, ld = most(m, 1), small = least(m, n), large = most(m, n),          \
            ldvt = most(job == 'S' ? small : n, 1);                                                \
        type size[2] = {0};                                                                        \
        p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vt, &ldvt, size, &ask, s, &ask, &info, 1);      \
        int want = (int)size[0];                                                                   \
        TAKE(type, 2 * want, small * most(5 * small + 7, 2 * large + 2 * small + 1), 8 * small);   \
        if (taken)                                                                                 \
            p##gesdd_(&job, &m, &n, a, &ld, s, u, &ld, vt, &ldvt, work, &want, real, whole, &info, \
                      1);                                                                          \
        DROP;                                                                                      \
    }                                                                                              \
    static int p##eigh(bool vectors, bool upper, int n, type *a, type *w) {                        \
        int info = 0, ask = -1, ld = most(n, 1), nwhole = 0;                                       \
        type size[2] = {0}, nreal = 0;                                                             \
        const char *job = vectors ? "V" : "N", *uplo = upper ? "U" : "L";                          \
        p##heevd_(job, uplo, &n, a, &ld, w, size, &ask, &nreal, &ask, &nwhole, &ask, &info, 1, 1); \
        int want = (int)size[0], want_real = (int)nreal;                                           \
        TAKE(type, 2 * want, want_real, nwhole);                                                   \
        if (taken)                                                                                 \
            p##heevd_(job, uplo, &n, a, &ld, w, work, &want, real, &want_real, whole, &nwhole,     \
                      &info, 1, 1);                                                                \
        DROP;                                                                                      \
    }                                                                                              \
    static int p##eig(int n, type *a, type *w, type *v) {                                          \
        int info = 0, ld = most(n, 1), one = 1, want = 0, ask = -1;                                \
        type size[2] = {0};                                                                        \
        const char *job = v ? "V" : "N";                                                           \
        p##geev_("N", job, &n, a, &ld, w, NULL, &one, v, &ld, size, &ask, w, &info, 1, 1);         \
        want = (int)size[0];                                                                       \
        TAKE(type, 2 * want, 2 * n, 0);                                                            \
        if (taken)                                                                                 \
            p##geev_("N", job, &n, a, &ld, w, NULL, &one, v, &ld, work, &want, real, &info, 1, 1); \
        DROP;                                                                                      \
    }
COMPLEX(c, float)
COMPLEX(z, double)
#undef COMPLEX
#undef TAKE
#undef DROP

/* ---- in the precision that is asked for
 * ------------------------------------------------------------------------ */

int fxs_lapack_svd(int parts, bool single, char job, int m, int n, double *a, double *s, double *u,
                   double *vt) {
    size_t p = (size_t)parts, k = (size_t)least(m, n), rows = (size_t)m, columns = (size_t)n,
           nu = job == 'A'   ? rows
                : job == 'S' ? k
                             : 0,
           nvt = job == 'A'   ? columns
                 : job == 'S' ? k
                              : 0;
    fxs_narrowed all = {0};
    if (!single)
        return parts == 1 ? dsvd(job, m, n, a, s, u, vt) : zsvd(job, m, n, a, s, u, vt);
    float *fa = fxs_narrow(&all, a, rows * columns * p), *fs = fxs_narrow(&all, s, k),
          *fu = fxs_narrow(&all, u, rows * nu * p), *fvt = fxs_narrow(&all, vt, nvt * columns * p);
    int info = all.failed   ? 0
               : parts == 1 ? ssvd(job, m, n, fa, fs, fu, fvt)
                            : csvd(job, m, n, fa, fs, fu, fvt);
    return fxs_widen(&all, info);
}

int fxs_lapack_eigh(int parts, bool single, bool vectors, bool upper, int n, double *a, double *w) {
    size_t size = (size_t)n;
    fxs_narrowed all = {0};
    if (!single)
        return parts == 1 ? deigh(vectors, upper, n, a, w) : zeigh(vectors, upper, n, a, w);
    float *fa = fxs_narrow(&all, a, size * size * (size_t)parts), *fw = fxs_narrow(&all, w, size);
    int info = all.failed   ? 0
               : parts == 1 ? seigh(vectors, upper, n, fa, fw)
                            : ceigh(vectors, upper, n, fa, fw);
    return fxs_widen(&all, info);
}

int fxs_lapack_eig(int parts, bool single, int n, double *a, double *w, double *v) {
    size_t size = (size_t)n;
    fxs_narrowed all = {0};
    if (!single)
        return parts == 1 ? deig(n, a, w, v) : zeig(n, a, w, v);
    float *fa = fxs_narrow(&all, a, size * size * (size_t)parts),
          *fw = fxs_narrow(&all, w, 2 * size), *fv = fxs_narrow(&all, v, 2 * size * size);
    int info = all.failed ? 0 : parts == 1 ? seig(n, fa, fw, fv) : ceig(n, fa, fw, fv);
    return fxs_widen(&all, info);
}
