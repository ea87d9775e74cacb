/* lapack.h: the LAPACK routines that torch.linalg needs, for matrices of double or of complex
 * double in one form: `parts` is 1 or 2 doubles an element, matrices lie column by column. Called
 * by the linalg families, after fxs_blas_need (fxs_room asks); knows no tensor. Each gives LAPACK's
 * info: 0 all well, above 0 what failed; FXS_LAPACK_MEMORY when there is no memory for its work
 * space. */
#ifndef FXS_KERNELS_LAPACK_H
#define FXS_KERNELS_LAPACK_H

#include <stdbool.h>
#include <stdint.h>

enum { FXS_LAPACK_MEMORY = -1000 };

/* P A = L U of [m, n], in place; pivots counted from 1. `single`: computed in float32. */
int fxs_lapack_lu(int parts, bool single, int m, int n, double *a, int *pivots);
/* Solves A X = B (or its transposes: 'T', 'C') with what fxs_lapack_lu gave; b [n, k], in place. */
int fxs_lapack_lu_solve(int parts, bool single, char trans, int n, int k, double *lu,
                        const int *pivots, double *b);
/* A = L D L^T (hermitian: L D L^H) of a symmetric matrix, of which the lower triangle is read, in
 * place; pivots count from 1, and two equal negative ones are a block of D. */
int fxs_lapack_ldl(int parts, bool hermitian, int n, double *a, int *pivots);
/* Solves A X = B with what fxs_lapack_ldl gave; b [n, k], in place. The pivots must be in range,
 * and the negative ones in pairs. */
int fxs_lapack_ldl_solve(int parts, bool hermitian, int n, int k, const double *ld,
                         const int *pivots, double *b);
/* A = L L^H, the lower triangle in place; `upper` reads the upper one and gives U. */
int fxs_lapack_cholesky(int parts, bool single, bool upper, int n, double *a);
/* The inverse of L L^H or U^H U out of such a triangle; one triangle of it, in place. */
int fxs_lapack_cholesky_inverse(int parts, bool single, bool upper, int n, double *a);
/* Householder vectors and tau of [m, n], in place, and the first `columns` of their product. */
int fxs_lapack_qr(int parts, int m, int n, double *a, double *tau);
int fxs_lapack_q(int parts, int m, int columns, int reflectors, double *a, const double *tau);
/* job 'A': u [m, m], vt [n, n]; 'S': min(m, n) of them; 'N': the
 * values alone. s is real; a is lost.
 */
int fxs_lapack_svd(int parts, bool single, char job, int m, int n, double *a, double *s, double *u,
                   double *vt);
/* Eigenvalues (real, ascending), and eigenvectors in place when `vectors`. */
int fxs_lapack_eigh(int parts, bool single, bool vectors, bool upper, int n, double *a, double *w);
/* Eigenvalues and, where v is not NULL, vectors; both complex (2 doubles) for real matrices too. */
int fxs_lapack_eig(int parts, bool single, int n, double *a, double *w, double *v);
/* How least squares are found: by QR of full rank, by QR with exchanged columns, by singular
 * values. */
typedef enum fxs_driver { FXS_GELS, FXS_GELSY, FXS_GELSD, FXS_GELSS } fxs_driver;
/* The least squares solution of smallest norm: b [max(m, n), k] in place; s [min(m, n)] for the
 * drivers that find it. */
int fxs_lapack_least_squares(fxs_driver driver, int parts, bool single, int m, int n, int k,
                             double *a, double *b, double *s, double rcond, int *rank);
/* A X = B, or X A = B when not `left`, with a triangle of A [n, n]; b [m, k] in place. trans 'N',
 * 'T' or 'C'. */
void fxs_lapack_triangle(int parts, bool left, bool upper, char trans, bool unit, int m, int k,
                         const double *a, double *b);

#endif
