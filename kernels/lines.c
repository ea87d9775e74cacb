/* lines.c: see lines.h. */
#include "kernels/lines.h"

#include <math.h>
#include <stdlib.h>

#include "base/pool.h"
#include "kernels/work.h"

static void *element(const fxs_tensor *t, int64_t offset) {
    return (char *)fxs_tensor_data(t) + offset * (int64_t)fxs_dtype_size(t->dtype);
}

/* Offset of a line in a tensor that has all the dimensions of `in`, or all but the line's. Lines
 * count the other dimensions in row-major order. */
static int64_t line_offset(const fxs_lines *l, const fxs_tensor *t, int64_t line) {
    int64_t at = 0;
    int own = t->ndim - 1;
    for (int i = l->in->ndim - 1; i >= 0 && l->dim >= 0; i--) {
        if (i == l->dim) {
            own -= t->ndim == l->in->ndim;
            continue;
        }
        at += line % l->in->sizes[i] * t->strides[own--];
        line /= l->in->sizes[i];
    }
    return at;
}

/* Offset of element i of a line from the line's first. */
static int64_t step_offset(const fxs_lines *l, int64_t i) {
    int64_t at = 0;
    if (l->in->ndim == 0)
        return 0;
    if (l->dim >= 0)
        return i * l->in->strides[l->dim];
    for (int k = l->in->ndim - 1; k >= 0; k--) {
        at += i % l->in->sizes[k] * l->in->strides[k];
        i /= l->in->sizes[k];
    }
    return at;
}

static void run_range(void *user, int64_t begin, int64_t end, int thread) {
    const fxs_lines *l = user;
    fxs_entry *e = l->scratch + thread * l->step;
    for (int64_t line = begin; line < end; line++) {
        int64_t base = line_offset(l, l->in, line);
        for (int64_t i = 0; i < l->n; i++) {
            const void *p = element(l->in, base + step_offset(l, i));
            e[i].index = i;
            if (l->real)
                e[i].f = fxs_load_double(l->in->dtype, p);
            else
                e[i].i = fxs_load_int(l->in->dtype, p);
        }
        l->fn(l, e, l->n, line);
    }
}

fxs_status fxs_lines_run(fxs_call *c, fxs_lines *l) {
    int64_t count = 1;
    l->in = fxs_arg_tensor(c, 0);
    l->real = fxs_is_floating(l->in->dtype) && !(l->values && !fxs_is_floating(l->values->dtype));
    l->n = 1;
    for (int i = 0; i < l->in->ndim; i++)
        *(l->dim < 0 || i == l->dim ? &l->n : &count) *= l->in->sizes[i];
    l->scratch = fxs_thread_scratch(c, l->n ? l->n : 1, sizeof *l->scratch, &l->step);
    if (!l->scratch)
        return fxs_fail_memory(c->ctx);
    int64_t grain = 8192 / (l->n ? l->n : 1);
    fxs_parallel(c->ctx, count, grain > 0 ? grain : 1, run_range, l);
    return FXS_OK;
}

void fxs_put_entry(const fxs_lines *l, int64_t line, int64_t j, const fxs_entry *e) {
    fxs_tensor *const outs[] = {l->values, l->indices};
    for (int k = 0; k < 2; k++) {
        fxs_tensor *o = outs[k];
        if (!o)
            continue;
        int64_t at = line_offset(l, o, line);
        if (l->dim >= 0 && o->ndim && o->ndim == l->in->ndim)
            at += j * o->strides[l->dim];
        if (k == 1)
            fxs_store_int(o->dtype, element(o, at), e->index);
        else if (l->real)
            fxs_store_double(o->dtype, element(o, at), e->f);
        else
            fxs_store_int(o->dtype, element(o, at), e->i);
    }
}

int fxs_entry_order(const fxs_lines *l, const fxs_entry *a, const fxs_entry *b) {
    if (!l->real)
        return (a->i > b->i) - (a->i < b->i);
    bool x = isnan(a->f), y = isnan(b->f);
    return x || y ? x - y : (a->f > b->f) - (a->f < b->f);
}

static int by_index(const fxs_entry *a, const fxs_entry *b) {
    return (a->index > b->index) - (a->index < b->index);
}

#define ORDER(name, real_, sign)                                                                   \
    static int name(const void *a, const void *b) {                                                \
        static const fxs_lines how = {.real = real_};                                              \
        int order = sign fxs_entry_order(&how, a, b);                                              \
        return order ? order : by_index(a, b);                                                     \
    }
ORDER(floats_up, true, +)
ORDER(floats_down, true, -)
ORDER(ints_up, false, +)
ORDER(ints_down, false, -)
#undef ORDER

void fxs_sort_entries(const fxs_lines *l, fxs_entry *e, int64_t n) {
    qsort(e, (size_t)n, sizeof *e,
          l->real ? (l->descending ? floats_down : floats_up)
                  : (l->descending ? ints_down : ints_up));
}

fxs_status fxs_line_dim(fxs_call *c, int i, int *dim) {
    return fxs_wrap_dim(c, fxs_arg_int(c, i), fxs_arg_tensor(c, 0)->ndim, dim);
}
