/* blas.c: see blas.h. OpenBLAS is held to one thread: work is split over the pool by who calls it,
 * and two thread pools that alternate cost more than the products. */
#include "kernels/blas.h"

#include <sched.h>

#include "blas_library.h"

/* When it is loaded, OpenBLAS starts a thread for each processor that the loading thread may use,
 * and they spin for 20 ms: on one processor it starts none. (The environment could say so too, but
 * to write there is not safe while other threads read it.) Where the system refuses this, they are
 * started, and idle. */
fxs_status fxs_blas_need(fxs_ctx *ctx) {
    if (fxs_library_is_open(&fxs_blas_library))
        return FXS_OK;
    cpu_set_t before, one;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    if (cpu >= 0 && cpu < CPU_SETSIZE)
        CPU_SET(cpu, &one);
    bool held = sched_getaffinity(0, sizeof before, &before) == 0 &&
                sched_setaffinity(0, sizeof one, &one) == 0;
    fxs_status s = fxs_library_need(ctx, &fxs_blas_library, "OpenBLAS");
    if (held)
        sched_setaffinity(0, sizeof before, &before);
    if (s == FXS_OK)
        openblas_set_num_threads(1);
    return s;
}
