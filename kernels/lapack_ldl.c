/* lapack_ldl.c: the routines of lapack.h for symmetric matrices that are not positive definite. */
#include "base/mem.h"
#include "blas_library.h"
#include "kernels/lapack.h"

int fxs_lapack_ldl(int parts, bool hermitian, int n, double *a, int *pivots) {
    int info = 0, ask = -1, ld = n > 1 ? n : 1;
    double size[2] = {0};
    fxs_ldl_factor *factor = parts == 1 ? dsytrf_ : hermitian ? zhetrf_ : zsytrf_;
    factor("L", &n, a, &ld, pivots, size, &ask, &info, 1);
    int room = size[0] > 1 ? (int)size[0] : 1;
    double *work = fxs_alloc((size_t)room * (size_t)parts, sizeof *work);
    if (!work)
        return FXS_LAPACK_MEMORY;
    factor("L", &n, a, &ld, pivots, work, &room, &info, 1);
    fxs_free(work);
    return info;
}

int fxs_lapack_ldl_solve(int parts, bool hermitian, int n, int k, const double *ld,
                         const int *pivots, double *b) {
    int info = 0, stride = n > 1 ? n : 1;
    fxs_ldl_solve *solve = parts == 1 ? dsytrs_ : hermitian ? zhetrs_ : zsytrs_;
    solve("L", &n, &k, ld, &stride, pivots, b, &stride, &info, 1);
    return info;
}
