/* micro.c: see micro.h. Three versions: 512-bit vectors with 32 registers, 256-bit and 128-bit ones
 * with 16, of which two a row hold sums. */
#include "kernels/micro.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define EACH1(X) X(0)
#define EACH2(X) EACH1(X) X(1)
#define EACH3(X) EACH2(X) X(2)
#define EACH4(X) EACH3(X) X(3)
#define EACH5(X) EACH4(X) X(4)
#define EACH6(X) EACH5(X) X(5)
#define EACH7(X) EACH6(X) X(6)
#define EACH8(X) EACH7(X) X(7)
#define EACH9(X) EACH8(X) X(8)
#define EACH10(X) EACH9(X) X(9)
#define EACH11(X) EACH10(X) X(10)
#define EACH12(X) EACH11(X) X(11)

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_TARGETS
#define MICRO_BYTES 64
#define MICRO_TARGET __attribute__((target("avx512f,avx2,fma")))
#define MICRO(name) name##_512
#include "kernels/micro_rows.h"
#undef MICRO_BYTES
#undef MICRO_TARGET
#undef MICRO
#define MICRO_BYTES 32
#define MICRO_TARGET __attribute__((target("avx2,fma")))
#define MICRO(name) name##_256
#include "kernels/micro_rows.h"
#undef MICRO_BYTES
#undef MICRO_TARGET
#undef MICRO
#endif

#define MICRO_BYTES 16
#define MICRO_TARGET
#define MICRO(name) name##_128
#include "kernels/micro_rows.h"

static bool everywhere(void) { return true; }
#ifdef HAVE_TARGETS
static bool has_512(void) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("fma");
}
static bool has_256(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

const fxs_micro fxs_micros[] = {
#ifdef HAVE_TARGETS
    {12, 32, functions_512, dots_512, has_512},
    {6, 16, functions_256, dots_256, has_256},
#endif
    {6, 8, functions_128, dots_128, everywhere},
    {0},
};

static _Atomic(const fxs_micro *) used;

void fxs_micro_use(const fxs_micro *m) { used = m; }

const fxs_micro *fxs_micro_here(void) {
    const fxs_micro *m = used;
    if (m)
        return m;
    for (m = fxs_micros; !m->here();)
        m++;
    used = m;
    return m;
}
