/* loop.c: runs a function over the elements of broadcast operands: joins dimensions, cuts them into
 * chunks that stay in the first cache, converts chunks whose type is not the one to compute in, and
 * spreads the work over threads. Called through fxs_loop_run by the kernels of pointwise operators;
 * knows no operator. */
#include <string.h>

#include "base/pool.h"
#include "kernels/iterate.h"

enum { CHUNK = 512, GRAIN = 32768, OUT = FXS_MAX_OPERANDS };

typedef struct operand {
    char *data; /* NULL: a number */
    fxs_dtype dtype;
    int64_t size;                 /* bytes of an element */
    int64_t strides[FXS_MAX_DIM]; /* bytes */
    const fxs_value *number;
} operand;

typedef struct job {
    fxs_loop_fn *fn;
    const void *user;
    fxs_dtype compute, written,
        common; /* compute: FLOAT32, FLOAT64, INT64 or COMPLEX128; written: what fn writes */
    int ndim, nin;
    int64_t sizes[FXS_MAX_DIM]; /* the innermost first */
    operand ops[FXS_MAX_OPERANDS + 1];
} job;

typedef struct chunk_buffers {
    _Alignas(64) char data[FXS_MAX_OPERANDS + 1][CHUNK * 16];
    const char *filled[FXS_MAX_OPERANDS]; /* a broadcast element that the buffer is full of */
} chunk_buffers;

/* ---- conversion
 * ---------------------------------------------------------------------------------------- */

#define FROM(dtype, type)                                                                          \
    case dtype:                                                                                    \
        if (step == (int64_t)sizeof(type))                                                         \
            for (int64_t i = 0; i < n; i++)                                                        \
                d[i] = (TO)((const type *)s)[i];                                                   \
        else                                                                                       \
            for (int64_t i = 0; i < n; i++)                                                        \
                d[i] = (TO) * (const type *)(s + i * step);                                        \
        break;
#define FROM_ALL                                                                                   \
    FROM(FXS_FLOAT32, float)                                                                       \
    FROM(FXS_FLOAT64, double)                                                                      \
    FROM(FXS_INT64, int64_t)                                                                       \
    FROM(FXS_INT32, int32_t)                                                                       \
    FROM(FXS_INT16, int16_t) FROM(FXS_INT8, int8_t) FROM(FXS_UINT8, uint8_t) FROM(FXS_BOOL, uint8_t)

#define TO float
static void load_floats(float *d, fxs_dtype t, const char *s, int64_t step, int64_t n) {
    switch (t) {
        FROM_ALL
    default:
        for (int64_t i = 0; i < n; i++)
            d[i] = (float)fxs_load_double(t, s + i * step);
    }
}
#undef TO
#define TO double
static void load_doubles(double *d, fxs_dtype t, const char *s, int64_t step, int64_t n) {
    switch (t) {
        FROM_ALL
    default:
        for (int64_t i = 0; i < n; i++)
            d[i] = fxs_load_double(t, s + i * step);
    }
}
#undef TO
#undef FROM
#undef FROM_ALL

static void load_ints(int64_t *d, fxs_dtype t, const char *s, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        d[i] = fxs_load_int(t, s + i * step);
}

static void load_pairs(double *d, fxs_dtype t, const char *s, int64_t step, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        fxs_load_pair(t, s + i * step, d + 2 * i);
}

static bool narrows(const job *j, fxs_dtype from) {
    return from != j->common && j->common != j->compute && j->common != FXS_BOOL;
}

/* Elements take the common type before the type to compute in, so that they wrap and round as
 * torch's do. */
static void narrow(const job *j, char *buffer, int64_t n) {
    char element[8];
    if (j->compute == FXS_COMPLEX128) {
        for (int64_t i = 0; i < 2 * n; i++)
            ((double *)buffer)[i] = (double)(float)((double *)buffer)[i];
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        if (j->compute == FXS_INT64) {
            fxs_store_int(j->common, element, ((int64_t *)buffer)[i]);
            ((int64_t *)buffer)[i] = fxs_load_int(j->common, element);
        } else {
            fxs_store_double(j->common, element, (double)((float *)buffer)[i]);
            ((float *)buffer)[i] = (float)fxs_load_double(j->common, element);
        }
    }
}

void fxs_load_chunk(fxs_dtype compute, void *buffer, fxs_dtype t, const char *s, int64_t step,
                    int64_t n) {
    if (compute == FXS_FLOAT32)
        load_floats(buffer, t, s, step, n);
    else if (compute == FXS_FLOAT64)
        load_doubles(buffer, t, s, step, n);
    else if (compute == FXS_COMPLEX128)
        load_pairs(buffer, t, s, step, n);
    else
        load_ints(buffer, t, s, step, n);
}

static void load(const job *j, char *buffer, fxs_dtype t, const char *s, int64_t step, int64_t n) {
    fxs_load_chunk(j->compute, buffer, t, s, step, n);
    if (narrows(j, t))
        narrow(j, buffer, n);
}

static void store(const job *j, char *d, int64_t step, const char *buffer, int64_t n) {
    const operand *o = &j->ops[OUT];
    int64_t size = (int64_t)fxs_dtype_size(j->written);
    if (o->dtype == j->written && size == 4) {
        for (int64_t i = 0; i < n; i++)
            *(float *)(d + i * step) = ((const float *)buffer)[i];
    } else if (o->dtype == j->written) {
        for (int64_t i = 0; i < n; i++)
            memcpy(d + i * step, buffer + i * size, (size_t)size);
    } else if (j->written == FXS_COMPLEX128) {
        for (int64_t i = 0; i < n; i++)
            fxs_store_pair(o->dtype, d + i * step, (const double *)(buffer + i * size));
    } else if (j->written == FXS_INT64 || j->written == FXS_BOOL) {
        for (int64_t i = 0; i < n; i++)
            fxs_store_int(o->dtype, d + i * step, fxs_load_int(j->written, buffer + i * size));
    } else {
        for (int64_t i = 0; i < n; i++)
            fxs_store_double(o->dtype, d + i * step,
                             fxs_load_double(j->written, buffer + i * size));
    }
}

static void repeat_first(const job *j, char *buffer, int64_t n) {
    if (j->compute == FXS_FLOAT32)
        for (int64_t i = 1; i < n; i++)
            ((float *)buffer)[i] = ((float *)buffer)[0];
    else if (j->compute == FXS_COMPLEX128)
        for (int64_t i = 1; i < n; i++)
            memcpy(buffer + 16 * i, buffer, 16);
    else
        for (int64_t i = 1; i < n; i++)
            ((int64_t *)buffer)[i] = ((int64_t *)buffer)[0];
}

static void fill_number(const job *j, char *buffer, const fxs_value *v) {
    int64_t whole = v->tag == FXS_V_BOOL ? v->u.b : v->tag == FXS_V_INT ? v->u.i : 0;
    if (v->tag == FXS_V_FLOAT)
        load(j, buffer, FXS_FLOAT64, (const char *)&v->u.f, 8, 1);
    else if (v->tag == FXS_V_COMPLEX)
        load(j, buffer, FXS_COMPLEX128, (const char *)v->u.c, 16, 1);
    else
        load(j, buffer, FXS_INT64, (const char *)&whole, 8, 1);
    repeat_first(j, buffer, CHUNK);
}

/* ---- walking
 * ------------------------------------------------------------------------------------------- */

/* n elements of operand k in the type to compute in: in place where they lie so, else in the
 * buffer. */
static const void *operand_chunk(const job *j, chunk_buffers *b, int k, const char *at, int64_t n) {
    const operand *o = &j->ops[k];
    int64_t step = o->strides[0];
    char *buffer = b->data[k];
    if (!o->data)
        return buffer;
    if (step == 0) {
        if (b->filled[k] != at) {
            load(j, buffer, o->dtype, at, 0, 1);
            repeat_first(j, buffer, j->sizes[0] < CHUNK ? j->sizes[0] : CHUNK);
            b->filled[k] = at;
        }
        return buffer;
    }
    if (o->dtype == j->compute && step == o->size)
        return at;
    load(j, buffer, o->dtype, at, step, n);
    return buffer;
}

static void run_row(const job *j, chunk_buffers *b, char *const *at, int64_t n) {
    const operand *out = &j->ops[OUT];
    bool direct = out->dtype == j->written && out->strides[0] == out->size;
    for (int64_t done = 0; done < n; done += CHUNK) {
        int64_t m = n - done < CHUNK ? n - done : CHUNK;
        const void *in[FXS_MAX_OPERANDS];
        for (int k = 0; k < j->nin; k++)
            in[k] = operand_chunk(j, b, k,
                                  j->ops[k].data ? at[k] + done * j->ops[k].strides[0] : NULL, m);
        char *d = at[OUT] + done * out->strides[0];
        j->fn(m, direct ? d : b->data[OUT], in, j->user);
        if (!direct)
            store(j, d, out->strides[0], b->data[OUT], m);
    }
}

static void run_range(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    chunk_buffers b;
    int64_t index[FXS_MAX_DIM], rest = begin;
    (void)thread;
    memset(b.filled, 0, sizeof b.filled);
    for (int k = 0; k < j->nin; k++)
        if (!j->ops[k].data)
            fill_number(j, b.data[k], j->ops[k].number);
    for (int i = 0; i < j->ndim; i++) {
        index[i] = rest % j->sizes[i];
        rest /= j->sizes[i];
    }
    for (int64_t pos = begin; pos < end;) {
        char *at[FXS_MAX_OPERANDS + 1];
        for (int k = 0; k <= OUT; k++) {
            at[k] = j->ops[k].data;
            for (int i = 0; at[k] && i < j->ndim; i++)
                at[k] += index[i] * j->ops[k].strides[i];
        }
        int64_t n = j->sizes[0] - index[0] < end - pos ? j->sizes[0] - index[0] : end - pos;
        run_row(j, &b, at, n);
        pos += n;
        index[0] = 0;
        for (int i = 1; i < j->ndim && ++index[i] == j->sizes[i]; i++)
            index[i] = 0;
    }
}

/* ---- setting up
 * ---------------------------------------------------------------------------------------- */

static void set_operand(job *j, int k, const fxs_tensor *t, const int *perm, int ndim) {
    operand *o = &j->ops[k];
    int pad = ndim - t->ndim;
    *o = (operand){
        .data = fxs_tensor_data(t), .dtype = t->dtype, .size = (int64_t)fxs_dtype_size(t->dtype)};
    for (int i = 0; i < ndim; i++) {
        int d = perm[i] - pad;
        o->strides[i] = d < 0 || t->sizes[d] == 1 ? 0 : t->strides[d] * o->size;
    }
}

static bool joins(const job *j, int inner, int outer) {
    for (int k = 0; k <= OUT; k++)
        if (j->ops[k].data &&
            j->ops[k].strides[outer] != j->ops[k].strides[inner] * j->sizes[inner])
            return false;
    return true;
}

/* Leaves out sizes of one, and makes one dimension of neighbours that are one run in every operand.
 */
static void join_dims(job *j) {
    int n = 0;
    for (int i = 0; i < j->ndim; i++) {
        if (j->sizes[i] == 1)
            continue;
        if (n && joins(j, n - 1, i)) {
            j->sizes[n - 1] *= j->sizes[i];
            continue;
        }
        j->sizes[n] = j->sizes[i];
        for (int k = 0; k <= OUT; k++)
            j->ops[k].strides[n] = j->ops[k].strides[i];
        n++;
    }
    if (n == 0)
        j->sizes[n++] = 1;
    j->ndim = n;
}

/* Dimensions of out from the smallest stride to the largest, so that writes are dense. */
static void order_by_out(const fxs_tensor *out, int *perm) {
    for (int i = 0; i < out->ndim; i++) {
        int d = out->ndim - 1 - i, k = i;
        for (; k > 0 && out->strides[perm[k - 1]] > out->strides[d]; k--)
            perm[k] = perm[k - 1];
        perm[k] = d;
    }
}

fxs_dtype fxs_compute_type(fxs_dtype common) {
    return fxs_is_complex(common)    ? FXS_COMPLEX128
           : common == FXS_FLOAT64   ? FXS_FLOAT64
           : fxs_is_floating(common) ? FXS_FLOAT32
                                     : FXS_INT64;
}

fxs_status fxs_loop_run(fxs_call *c, fxs_tensor *out, const fxs_loops *loops,
                        const fxs_operands *in, fxs_dtype common, const void *user) {
    job j = {.user = user,
             .common = common,
             .compute = fxs_compute_type(common),
             .ndim = out->ndim,
             .nin = in->n};
    int perm[FXS_MAX_DIM] = {0};
    int64_t numel = fxs_tensor_numel(out);
    if (numel == 0)
        return FXS_OK;
    j.fn = j.compute == FXS_FLOAT32      ? loops->f32
           : j.compute == FXS_FLOAT64    ? loops->f64
           : j.compute == FXS_COMPLEX128 ? loops->c128
                                         : loops->i64;
    j.written = loops->predicate ? FXS_BOOL : j.compute;
    order_by_out(out, perm);
    for (int i = 0; i < out->ndim; i++)
        j.sizes[i] = out->sizes[perm[i]];
    for (int k = 0; k < in->n; k++) {
        if (in->v[k].tag == FXS_V_TENSOR)
            set_operand(&j, k, in->v[k].u.tensor, perm, out->ndim);
        else
            j.ops[k].number = &in->v[k];
    }
    set_operand(&j, OUT, out, perm, out->ndim);
    join_dims(&j);
    fxs_parallel(c->ctx, numel, GRAIN, run_range, &j);
    return FXS_OK;
}
