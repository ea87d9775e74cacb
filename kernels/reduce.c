/* reduce.c: see reduce.h. Every output element is folded by one thread in one order, so results do
 * not depend on the number of threads. */
#include "kernels/reduce.h"

#include "base/pool.h"

fxs_status fxs_read_reduction(fxs_call *c, fxs_tensor *in, const fxs_value *dims, bool keepdim,
                              fxs_reduction *out) {
    size_t n = fxs_value_len(dims);
    bool one = dims->tag == FXS_V_INT || dims->tag == FXS_V_BOOL, all = !one && n == 0;
    *out = (fxs_reduction){.in = in, .count = 1};
    for (size_t i = 0; i < (one ? 1 : n); i++) {
        int dim;
        int64_t given =
            one ? (dims->tag == FXS_V_INT ? dims->u.i : dims->u.b) : fxs_value_item(dims, i)->u.i;
        FXS_TRY(fxs_wrap_dim(c, given, in->ndim, &dim));
        if (out->folded[dim])
            return FXS_REFUSE(c, FXS_EINVAL, "dim %d appears multiple times in the list of dims",
                              dim);
        out->folded[dim] = true;
    }
    for (int i = 0; i < in->ndim; i++) {
        out->folded[i] |= all;
        if (out->folded[i])
            out->count *= in->sizes[i];
        if (!out->folded[i] || keepdim)
            out->sizes[out->ndim++] = out->folded[i] ? 1 : in->sizes[i];
    }
    return FXS_OK;
}

fxs_status fxs_need_elements(fxs_call *c, const fxs_reduction *r) {
    for (int i = 0; i < r->in->ndim; i++)
        if (r->folded[i] && r->in->sizes[i] == 0)
            return FXS_REFUSE(c, FXS_EINDEX, "expected reduction dim %d to have non-zero size", i);
    return FXS_OK;
}

/* ---- the loop
 * ------------------------------------------------------------------------------------------ */

enum { CHUNK = 512, GRAIN = 32768 };

typedef struct dims {
    int n;
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM]; /* strides in bytes; the innermost first */
} dims;

typedef struct job {
    const fxs_fold *fold;
    const void *user;
    fxs_tensor *const *out;
    const char *data;
    fxs_dtype dtype, compute;
    dims kept, folded;
} job;

static int64_t offset_at(const dims *d, int64_t position) {
    int64_t at = 0;
    for (int i = 0; i < d->n; i++) {
        at += position % d->sizes[i] * d->strides[i];
        position /= d->sizes[i];
    }
    return at;
}

static void fold_run(const job *j, fxs_acc *acc, const char *at, int64_t n, int64_t step) {
    _Alignas(64) char buffer[CHUNK * 16];
    bool direct = j->dtype == j->compute && step == (int64_t)fxs_dtype_size(j->dtype);
    int64_t most = direct ? n : CHUNK;
    for (int64_t done = 0; done < n; done += most) {
        int64_t m = n - done < most ? n - done : most;
        const void *x = at + done * step;
        if (!direct) {
            fxs_load_chunk(j->compute, buffer, j->dtype, x, step, m);
            x = buffer;
        }
        if (j->compute == FXS_FLOAT32)
            j->fold->f32(acc, x, m, j->user);
        else if (j->compute == FXS_FLOAT64)
            j->fold->f64(acc, x, m, j->user);
        else if (j->compute == FXS_COMPLEX128)
            j->fold->c128(acc, x, m, j->user);
        else
            j->fold->i64(acc, x, m, j->user);
        acc->n += m;
    }
}

static void run_range(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    const dims *f = &j->folded;
    (void)thread;
    for (int64_t o = begin; o < end; o++) {
        fxs_acc acc = j->fold->start;
        const char *base = j->data + offset_at(&j->kept, o);
        int64_t index[FXS_MAX_DIM] = {0}, runs = 1;
        for (int i = 0; i < f->n; i++)
            runs *= i ? f->sizes[i] : 1;
        for (int i = 0; i < f->n; i++)
            if (f->sizes[i] == 0)
                runs = 0;
        for (int64_t r = 0; r < runs; r++) {
            int64_t at = 0;
            for (int i = 1; i < f->n; i++)
                at += index[i] * f->strides[i];
            fold_run(j, &acc, base + at, f->n ? f->sizes[0] : 1, f->n ? f->strides[0] : 0);
            for (int i = 1; i < f->n && ++index[i] == f->sizes[i]; i++)
                index[i] = 0;
        }
        j->fold->store(&acc, j->out, o, j->user);
    }
}

static void add_dim(dims *d, int64_t size, int64_t stride) {
    int last = d->n - 1;
    if (size == 1)
        return;
    if (last >= 0 && d->strides[last] * d->sizes[last] == stride) {
        d->sizes[last] *= size;
        return;
    }
    d->sizes[d->n] = size;
    d->strides[d->n++] = stride;
}

/* Folded dimensions are walked from the smallest stride on: the order of a fold is that of memory.
 */
static void sort_dims(const fxs_reduction *r, int *order, int *n) {
    *n = 0;
    for (int i = r->in->ndim - 1; i >= 0; i--) {
        if (!r->folded[i])
            continue;
        int k = (*n)++;
        for (; k > 0 && r->in->strides[order[k - 1]] > r->in->strides[i]; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

void fxs_reduce_run(fxs_call *c, const fxs_reduction *r, fxs_dtype common, const fxs_fold *fold,
                    const void *user) {
    const fxs_tensor *in = r->in;
    int64_t size = (int64_t)fxs_dtype_size(in->dtype), outputs = fxs_tensor_numel(c->out[0]);
    int order[FXS_MAX_DIM], n;
    job j = {
        .fold = fold, .user = user, .out = c->out, .data = fxs_tensor_data(in), .dtype = in->dtype};
    j.compute = fxs_compute_type(common);
    for (int i = in->ndim - 1; i >= 0; i--)
        if (!r->folded[i])
            add_dim(&j.kept, in->sizes[i], in->strides[i] * size);
    sort_dims(r, order, &n);
    for (int i = 0; i < n; i++)
        add_dim(&j.folded, in->sizes[order[i]], in->strides[order[i]] * size);
    int64_t grain = GRAIN / (r->count > 0 ? r->count : 1);
    fxs_parallel(c->ctx, outputs, grain > 0 ? grain : 1, run_range, &j);
}

fxs_cost fxs_cost_input(const fxs_call *c) {
    return (fxs_cost){.flops = (double)fxs_arg_numel(c, 0)};
}
