/* winograd.c: see winograd.h. The same three kinds of vectors as in micro.c. */
#include "kernels/winograd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define WINO_LANES 16
#define WINO_TARGET __attribute__((target("avx512f,avx2,fma")))
#define WINO(name) name##_512
#include "kernels/winograd_lines.h"
#undef WINO_LANES
#undef WINO_TARGET
#undef WINO
#define WINO_LANES 8
#define WINO_TARGET __attribute__((target("avx2,fma")))
#define WINO(name) name##_256
#include "kernels/winograd_lines.h"
#undef WINO_LANES
#undef WINO_TARGET
#undef WINO
#else /* never chosen there: micro.c has the narrowest only */
#define transforms_512 transforms_128
#define transforms_256 transforms_128
#endif

#define WINO_LANES 4
#define WINO_TARGET
#define WINO(name) name##_128
#include "kernels/winograd_lines.h"

const fxs_winograd *fxs_winograd_of(const fxs_micro *m, int tile) {
    int lanes = m->tile / 2; /* a panel is two vectors wide */
    const fxs_winograd *w = lanes == 16  ? transforms_512
                            : lanes == 8 ? transforms_256
                                         : transforms_128;
    return w[0].tile == tile ? &w[0] : &w[1];
}
