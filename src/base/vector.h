/* vector.h: FXS_VECTOR marks a loop that is compiled twice, for AVX2 with FMA and for any
 * processor; the loader picks one. Not under sanitizers, whose start-up the loader's choice would
 * precede, and not with compilers that lack it. */
#ifndef FXS_BASE_VECTOR_H
#define FXS_BASE_VECTOR_H

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) &&                             \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(FXS_NO_CLONES)
#define FXS_VECTOR __attribute__((target_clones("arch=x86-64-v3", "default")))
/* For AVX-512 too: where much is computed for each value. */
#define FXS_VECTOR_WIDE                                                                            \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FXS_VECTOR
#define FXS_VECTOR_WIDE
#endif

/* The loop before which this stands has iterations that do not depend on each other, even when out
 * is an input. */
#if defined(__GNUC__) && !defined(__clang__)
#define FXS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define FXS_INDEPENDENT
#endif

#endif
