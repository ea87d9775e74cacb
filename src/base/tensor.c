/* tensor.c: see tensor.h. */
#include "base/tensor.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/pool.h"

void fxs_strides_of(int ndim, const int64_t *sizes, const int *perm, int64_t *strides) {
    int64_t step = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        int d = perm ? perm[i] : i;
        strides[d] = step;
        /* Wraps where the sizes are beyond 2^63: fxs_tensor_make then refuses them. */
        step = (int64_t)((uint64_t)step * (uint64_t)(sizes[d] > 0 ? sizes[d] : 1));
    }
}

void fxs_channels_last_strides(int ndim, const int64_t *sizes, int64_t *strides) {
    static const int inward[] = {1, 4, 3, 2, 0};
    int64_t step = 1; /* becomes 0 behind a size of 0, as PyTorch counts */
    for (int i = 0; i < 5; i++) {
        if (inward[i] >= ndim)
            continue;
        strides[inward[i]] = step;
        step *= sizes[inward[i]];
    }
}

static fxs_status check_sizes(fxs_ctx *ctx, fxs_dtype dtype, int ndim, const int64_t *sizes) {
    if (ndim < 0 || ndim > FXS_MAX_DIM)
        return fxs_fail(ctx, FXS_ELIMIT, "a tensor of %d dimensions; at most %d are supported",
                        ndim, FXS_MAX_DIM);
    if ((unsigned)dtype >= FXS_DTYPE_COUNT)
        return fxs_fail(ctx, FXS_EINVAL, "there is no dtype %d", (int)dtype);
    int64_t bytes = (int64_t)fxs_dtype_size(dtype);
    for (int i = 0; i < ndim; i++) {
        if (sizes[i] < 0)
            return fxs_fail(ctx, FXS_ESHAPE, "a size can't be negative, but dimension %d has %lld",
                            i, (long long)sizes[i]);
        if (__builtin_mul_overflow(bytes, sizes[i] ? sizes[i] : 1, &bytes))
            return fxs_fail(ctx, FXS_ELIMIT, "a tensor of more than 2^63 bytes");
    }
    return FXS_OK;
}

/* Sizes and strides beyond ndim stay as they are: nobody reads them. False: check_sizes says why.
 */
static bool fill_dims(fxs_tensor *t, const int64_t *sizes, const int64_t *strides) {
    int64_t bytes = (int64_t)fxs_dtype_size(t->dtype);
    uint64_t step = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        int64_t n = sizes[i], some = n ? n : 1; /* of empty tensors too */
        t->sizes[i] = n;
        t->strides[i] = strides ? strides[i] : (int64_t)step;
        step *= (uint64_t)some;
        if (n < 0 || __builtin_mul_overflow(bytes, some, &bytes))
            return false;
    }
    return true;
}

fxs_status fxs_tensor_make(fxs_ctx *ctx, fxs_dtype dtype, int ndim, const int64_t *sizes,
                           const int64_t *strides, fxs_tensor **out) {
    *out = NULL;
    if (ndim < 0 || ndim > FXS_MAX_DIM || (unsigned)dtype >= FXS_DTYPE_COUNT)
        return check_sizes(ctx, dtype, ndim, sizes);
    fxs_tensor *t = fxs_alloc(1, sizeof *t);
    if (!t)
        return fxs_fail_memory(ctx);
    t->refs = 1;
    t->dtype = dtype;
    t->ndim = ndim;
    t->requires_grad = t->is_parameter = false;
    t->offset = 0;
    t->storage = NULL;
    if (!fill_dims(t, sizes, strides)) {
        fxs_free(t);
        return check_sizes(ctx, dtype, ndim, sizes);
    }
    *out = t;
    return FXS_OK;
}

fxs_status fxs_tensor_new_meta(fxs_ctx *ctx, fxs_dtype dtype, int ndim, const int64_t *sizes,
                               fxs_tensor **out) {
    return fxs_tensor_make(ctx, dtype, ndim, sizes, NULL, out);
}

fxs_status fxs_tensor_new(fxs_ctx *ctx, fxs_dtype dtype, int ndim, const int64_t *sizes,
                          fxs_tensor **out) {
    FXS_TRY(fxs_tensor_make(ctx, dtype, ndim, sizes, NULL, out));
    fxs_status s = fxs_tensor_allocate(ctx, *out);
    if (s != FXS_OK) {
        fxs_tensor_unref(*out);
        *out = NULL;
        return s;
    }
    memset((*out)->storage->data, 0, (*out)->storage->bytes);
    return FXS_OK;
}

void fxs_tensor_free(fxs_tensor *t) {
    fxs_storage_unref(t->storage);
    fxs_free(t);
}

void fxs_tensor_copy_facts(fxs_tensor *to, const fxs_tensor *t) {
    memcpy(to, t, offsetof(fxs_tensor, sizes));
    for (int i = 0; i < t->ndim; i++) {
        to->sizes[i] = t->sizes[i];
        to->strides[i] = t->strides[i];
    }
}

static fxs_status copy_struct(fxs_ctx *ctx, const fxs_tensor *t, fxs_tensor **out) {
    fxs_tensor *v = fxs_alloc(1, sizeof *v);
    *out = v;
    if (!v)
        return fxs_fail_memory(ctx);
    fxs_tensor_copy_facts(v, t);
    v->refs = 1;
    v->is_parameter = false;
    return FXS_OK;
}

fxs_status fxs_tensor_view(fxs_ctx *ctx, fxs_tensor *t, fxs_tensor **out) {
    FXS_TRY(copy_struct(ctx, t, out));
    if (t->storage)
        fxs_storage_ref(t->storage);
    return FXS_OK;
}

fxs_status fxs_tensor_to_meta(fxs_ctx *ctx, const fxs_tensor *t, fxs_tensor **out) {
    FXS_TRY(copy_struct(ctx, t, out));
    (*out)->storage = NULL;
    (*out)->is_parameter = t->is_parameter;
    return FXS_OK;
}

fxs_status fxs_tensor_allocate(fxs_ctx *ctx, fxs_tensor *t) {
    int64_t last = t->offset, bytes; /* the farthest element */
    bool empty = false;
    for (int i = 0; i < t->ndim; i++) {
        int64_t reach;
        empty |= t->sizes[i] == 0;
        if (!empty && (__builtin_mul_overflow(t->sizes[i] - 1, t->strides[i], &reach) ||
                       __builtin_add_overflow(last, reach, &last)))
            return fxs_fail(ctx, FXS_ELIMIT, "a tensor of more than 2^63 bytes");
    }
    if (__builtin_mul_overflow(empty ? 0 : last + 1, (int64_t)fxs_dtype_size(t->dtype), &bytes))
        return fxs_fail(ctx, FXS_ELIMIT, "a tensor of more than 2^63 bytes");
    t->storage = fxs_storage_new(ctx->blocks, (size_t)bytes);
    if (!t->storage) {
        char text[FXS_SIZES_TEXT];
        return fxs_fail(ctx, FXS_ENOMEM, "out of memory: no room for a tensor %s%s of %lld bytes",
                        fxs_dtype_name(t->dtype), fxs_sizes_text(t, text), (long long)bytes);
    }
    return FXS_OK;
}

fxs_dtype fxs_tensor_dtype(const fxs_tensor *t) { return t->dtype; }
int fxs_tensor_ndim(const fxs_tensor *t) { return t->ndim; }
const int64_t *fxs_tensor_sizes(const fxs_tensor *t) { return t->sizes; }
const int64_t *fxs_tensor_strides(const fxs_tensor *t) { return t->strides; }
bool fxs_tensor_requires_grad(const fxs_tensor *t) { return t->requires_grad; }

void *fxs_tensor_data(const fxs_tensor *t) {
    return t->storage ? (char *)t->storage->data + t->offset * (int64_t)fxs_dtype_size(t->dtype)
                      : NULL;
}

bool fxs_tensor_is_contiguous(const fxs_tensor *t) {
    int64_t step = 1;
    if (fxs_tensor_numel(t) == 0)
        return true;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->sizes[i] == 1)
            continue;
        if (t->strides[i] != step)
            return false;
        step *= t->sizes[i];
    }
    return true;
}

static bool is_channels_last_of(const fxs_tensor *t, int ndim) {
    static const int order4[] = {1, 3, 2, 0}, order5[] = {1, 4, 3, 2, 0};
    const int *order = ndim == 4 ? order4 : order5;
    int64_t step = 1;
    if (t->ndim != ndim || fxs_tensor_numel(t) == 0)
        return false;
    for (int i = 0; i < ndim; i++) {
        int d = order[i];
        if (t->sizes[d] == 1)
            continue;
        if (t->strides[d] != step)
            return false;
        step *= t->sizes[d];
    }
    return true;
}

bool fxs_tensor_is_channels_last(const fxs_tensor *t) {
    return is_channels_last_of(t, 4) || is_channels_last_of(t, 5);
}

fxs_memory_format fxs_tensor_memory_format(const fxs_tensor *t) {
    if (fxs_tensor_is_contiguous(t))
        return FXS_CONTIGUOUS;
    if (is_channels_last_of(t, 4))
        return FXS_CHANNELS_LAST;
    return is_channels_last_of(t, 5) ? FXS_CHANNELS_LAST_3D : FXS_NO_FORMAT;
}

bool fxs_tensor_same_place(const fxs_tensor *a, const fxs_tensor *b) {
    if (!a->storage || a->storage != b->storage || a->offset != b->offset || a->dtype != b->dtype ||
        a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->sizes[i] != b->sizes[i] || (a->sizes[i] > 1 && a->strides[i] != b->strides[i]))
            return false;
    return true;
}

void fxs_buf_sizes(fxs_buf *b, int ndim, const int64_t *sizes) {
    fxs_buf_putc(b, '[');
    for (int i = 0; i < ndim; i++)
        fxs_buf_printf(b, i ? ", %lld" : "%lld", (long long)sizes[i]);
    fxs_buf_putc(b, ']');
}

char *fxs_sizes_text(const fxs_tensor *t, char text[FXS_SIZES_TEXT]) {
    size_t at = 0;
    text[at++] = '[';
    for (int i = 0; i < t->ndim && at < FXS_SIZES_TEXT - 32; i++)
        at += (size_t)snprintf(text + at, FXS_SIZES_TEXT - at, i ? ", %lld" : "%lld",
                               (long long)t->sizes[i]);
    snprintf(text + at, FXS_SIZES_TEXT - at, "]");
    return text;
}

fxs_status fxs_tensor_contiguous(fxs_ctx *ctx, fxs_tensor *t, fxs_tensor **out) {
    if (fxs_tensor_is_contiguous(t)) {
        *out = fxs_tensor_ref(t);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_make(ctx, t->dtype, t->ndim, t->sizes, NULL, out));
    fxs_status s = fxs_tensor_allocate(ctx, *out);
    if (s != FXS_OK) {
        fxs_tensor_unref(*out);
        *out = NULL;
        return s;
    }
    (*out)->requires_grad = t->requires_grad;
    fxs_tensor_copy(ctx, *out, t);
    return FXS_OK;
}

/* ---- copying
 * ------------------------------------------------------------------------------------------ */

enum { COPY_PIECE = 32768 }; /* elements: what is less is not worth another thread */

typedef struct copy_job {
    int ndim; /* of the outer loop; the inner run is apart */
    int64_t sizes[FXS_MAX_DIM], dst_strides[FXS_MAX_DIM], src_strides[FXS_MAX_DIM];
    int64_t run, dst_step, src_step;
    int64_t piece, pieces; /* a run is copied in so many pieces */
    char *dst;
    const char *src;
    fxs_dtype dst_dtype, src_dtype;
    int64_t dst_size, src_size;
} copy_job;

#define COPY_RUN(type)                                                                             \
    do {                                                                                           \
        for (int64_t i = 0; i < n; i++)                                                            \
            ((type *)dst)[i * j->dst_step] = ((const type *)src)[i * j->src_step];                 \
    } while (0)

static void copy_same_type(const copy_job *j, int64_t n, char *dst, const char *src) {
    if (j->dst_step == 1 && j->src_step == 1) {
        memcpy(dst, src, (size_t)(n * j->dst_size));
        return;
    }
    switch (j->dst_size) {
    case 1:
        COPY_RUN(uint8_t);
        break;
    case 2:
        COPY_RUN(uint16_t);
        break;
    case 4:
        COPY_RUN(uint32_t);
        break;
    case 8:
        COPY_RUN(uint64_t);
        break;
    default:
        for (int64_t i = 0; i < j->run; i++)
            memcpy(dst + i * j->dst_step * j->dst_size, src + i * j->src_step * j->src_size,
                   (size_t)j->dst_size);
    }
}

static void copy_run(const copy_job *j, int64_t n, char *dst, const char *src) {
    if (j->dst_dtype == j->src_dtype) {
        copy_same_type(j, n, dst, src);
        return;
    }
    bool exact = !fxs_is_floating(j->src_dtype) && !fxs_is_floating(j->dst_dtype);
    bool pairs = fxs_is_complex(j->src_dtype);
    for (int64_t i = 0; i < n; i++) {
        const char *s = src + i * j->src_step * j->src_size;
        char *d = dst + i * j->dst_step * j->dst_size;
        double z[2];
        if (pairs) {
            fxs_load_pair(j->src_dtype, s, z);
            z[1] = j->dst_dtype == FXS_BOOL ? 0 : z[1]; /* a bool is of the real part alone */
            fxs_store_pair(j->dst_dtype, d, z);
        } else if (exact)
            fxs_store_int(j->dst_dtype, d, fxs_load_int(j->src_dtype, s));
        else
            fxs_store_double(j->dst_dtype, d, fxs_load_double(j->src_dtype, s));
    }
}

static void copy_range(void *user, int64_t begin, int64_t end, int thread) {
    const copy_job *j = user;
    (void)thread;
    for (int64_t k = begin; k < end; k++) {
        int64_t rest = k / j->pieces, first = k % j->pieces * j->piece;
        int64_t d = first * j->dst_step, s = first * j->src_step;
        int64_t n = j->run - first < j->piece ? j->run - first : j->piece;
        for (int i = j->ndim - 1; i >= 0; i--) {
            int64_t at = rest % j->sizes[i];
            rest /= j->sizes[i];
            d += at * j->dst_strides[i];
            s += at * j->src_strides[i];
        }
        copy_run(j, n, j->dst + d * j->dst_size, j->src + s * j->src_size);
    }
}

/* Moves the dimensions that matter into j, joining neighbours that are one run in both tensors. */
static void join_dimensions(copy_job *j, const fxs_tensor *dst, const fxs_tensor *src) {
    for (int i = 0; i < dst->ndim; i++) {
        int64_t n = dst->sizes[i];
        if (n == 1)
            continue;
        int k = j->ndim - 1;
        if (k >= 0 && j->dst_strides[k] == n * dst->strides[i] &&
            j->src_strides[k] == n * src->strides[i]) {
            j->sizes[k] *= n;
        } else {
            k = j->ndim++;
            j->sizes[k] = n;
        }
        j->dst_strides[k] = dst->strides[i];
        j->src_strides[k] = src->strides[i];
    }
}

/* The inner run goes along dst's smallest stride, so that writes are dense. */
static void choose_run(copy_job *j) {
    int best = j->ndim - 1;
    for (int i = 0; i < j->ndim; i++)
        if (j->dst_strides[i] < j->dst_strides[best])
            best = i;
    j->run = j->dst_step = j->src_step = 1;
    if (best < 0)
        return;
    j->run = j->sizes[best];
    j->dst_step = j->dst_strides[best];
    j->src_step = j->src_strides[best];
    for (int i = best; i + 1 < j->ndim; i++) {
        j->sizes[i] = j->sizes[i + 1];
        j->dst_strides[i] = j->dst_strides[i + 1];
        j->src_strides[i] = j->src_strides[i + 1];
    }
    j->ndim--;
}

/* How many pieces there are; none where there is nothing to copy. */
static int64_t plan_copy(copy_job *j, fxs_tensor *dst, const fxs_tensor *src) {
    *j = (copy_job){.dst = fxs_tensor_data(dst),
                    .src = fxs_tensor_data(src),
                    .dst_dtype = dst->dtype,
                    .src_dtype = src->dtype,
                    .dst_size = (int64_t)fxs_dtype_size(dst->dtype),
                    .src_size = (int64_t)fxs_dtype_size(src->dtype)};
    if (fxs_tensor_numel(dst) == 0)
        return 0;
    join_dimensions(j, dst, src);
    choose_run(j);
    int64_t rows = 1;
    for (int i = 0; i < j->ndim; i++)
        rows *= j->sizes[i];
    j->piece = j->run < COPY_PIECE ? j->run : COPY_PIECE;
    j->pieces = j->piece ? (j->run + j->piece - 1) / j->piece : 1;
    return rows * j->pieces;
}

void fxs_tensor_copy(fxs_ctx *ctx, fxs_tensor *dst, const fxs_tensor *src) {
    copy_job j;
    int64_t n = plan_copy(&j, dst, src), grain = n ? COPY_PIECE / (j.piece ? j.piece : 1) : 1;
    fxs_parallel(ctx, n, grain > 0 ? grain : 1, copy_range, &j);
}

void fxs_tensor_copy_alone(fxs_tensor *dst, const fxs_tensor *src) {
    copy_job j;
    int64_t n = plan_copy(&j, dst, src);
    if (n)
        copy_range(&j, 0, n, 0);
}
