/* lazy.c: tensors that were filled, but that nobody has read: a shape and a list of fillings,
 * shared by all views of the same memory. Networks are built this way: 632 million parameters that
 * a drawing never looks at cost their shapes. Each random filling takes its seed when it is asked
 * for, so that the values do not depend on when they are read. */
#include "front/python/tensor.h"

#include <math.h>

enum { MAX_PATCHES = 64 };

typedef struct patch {
    fxs_tensor at; /* sizes, strides and offset alone */
    fxpy_fill fill;
} patch;

struct fxpy_lazy {
    int refs;
    fxs_tensor base;      /* all of it, as it was made */
    fxs_storage *storage; /* counted, once it is read */
    patch *patches;
    size_t n, cap;
};

fxpy_lazy *fxpy_lazy_ref(fxpy_lazy *l) {
    if (l)
        l->refs++;
    return l;
}

void fxpy_lazy_unref(fxpy_lazy *l) {
    if (!l || --l->refs > 0)
        return;
    if (l->storage)
        fxs_storage_unref(l->storage);
    fxs_free(l->patches);
    fxs_free(l);
}

fxs_storage *fxpy_lazy_storage(const fxpy_lazy *l) { return l->storage; }

fxpy_lazy *fxpy_lazy_new(const fxs_tensor *t, const fxpy_fill *fill) {
    fxpy_lazy *l = fxs_alloc0(1, sizeof *l);
    if (!l) {
        PyErr_NoMemory();
        return NULL;
    }
    l->refs = 1;
    l->base = *t;
    l->base.storage = NULL;
    if (fxpy_lazy_patch(l, t, fill) < 0) {
        fxpy_lazy_unref(l);
        return NULL;
    }
    return l;
}

fxpy_lazy *fxpy_lazy_copy(const fxpy_lazy *l) {
    fxpy_lazy *c = fxs_alloc0(1, sizeof *c);
    if (c) {
        *c = *l;
        c->refs = 1;
        c->cap = l->n;
        c->patches = fxs_alloc(l->n ? l->n : 1, sizeof *c->patches);
    }
    if (!c || !c->patches) {
        fxs_free(c);
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(c->patches, l->patches, l->n * sizeof *c->patches);
    return c;
}

static bool covers_all(const fxpy_lazy *l, const fxs_tensor *view) {
    return fxs_tensor_numel(view) == fxs_tensor_numel(&l->base);
}

int fxpy_lazy_patch(fxpy_lazy *l, const fxs_tensor *view, const fxpy_fill *fill) {
    if (covers_all(l, view))
        l->n = 0;
    if (l->n == MAX_PATCHES)
        return 1;
    if (l->n == l->cap) {
        size_t cap = l->cap ? 2 * l->cap : 1;
        patch *p = fxs_realloc(l->patches, cap, sizeof *p);
        if (!p) {
            PyErr_NoMemory();
            return -1;
        }
        l->patches = p;
        l->cap = cap;
    }
    l->patches[l->n++] = (patch){.at = *view, .fill = *fill};
    l->patches[l->n - 1].at.storage = NULL;
    return 0;
}

bool fxpy_lazy_affine(fxpy_lazy *l, const fxs_tensor *view, double scale, double shift) {
    if (l->n != 1 || !covers_all(l, view) || !fxs_is_floating(l->base.dtype))
        return false;
    fxpy_fill *f = &l->patches[0].fill;
    f->a = f->a * scale + shift;
    if (f->kind == FXPY_FILL_UNIFORM)
        f->b = f->b * scale + shift;
    if (f->kind == FXPY_FILL_NORMAL || f->kind == FXPY_FILL_TRUNC_NORMAL)
        f->b *= fabs(scale);
    if (f->kind == FXPY_FILL_TRUNC_NORMAL) {
        double low = f->low * scale + shift, high = f->high * scale + shift;
        f->low = low < high ? low : high;
        f->high = low < high ? high : low;
    }
    return true;
}

bool fxpy_lazy_whole(const fxpy_lazy *l, const fxs_tensor *view) {
    return view->ndim == l->base.ndim && view->offset == l->base.offset &&
           memcmp(view->sizes, l->base.sizes, sizeof view->sizes) == 0 &&
           memcmp(view->strides, l->base.strides, sizeof view->strides) == 0;
}

bool fxpy_lazy_fill_of(const fxpy_lazy *l, fxpy_fill *out) {
    *out = l->n == 1 ? l->patches[0].fill : (fxpy_fill){.kind = FXPY_FILL_OTHER};
    return !l->storage;
}

/* ---- filling ---- */

static void fill_trunc_normal(fxs_tensor *t, const fxpy_fill *f) {
    int64_t n = fxs_tensor_numel(t);
    char *p = fxs_tensor_data(t);
    for (int64_t i = 0; i < n; i++, p += fxs_dtype_size(t->dtype)) {
        double x = f->a;
        for (uint64_t k = 0; k < 1000; k++) { /* draws until one lies between the limits */
            x = f->a + f->b * fxs_random_normal(f->seed + k * 0x9e3779b97f4a7c15u, (uint64_t)i);
            if (x >= f->low && x <= f->high)
                break;
        }
        x = x < f->low ? f->low : x > f->high ? f->high : x;
        fxs_store_double(t->dtype, p, x);
    }
}

static void fill_contiguous(fxs_tensor *t, const fxpy_fill *f) {
    switch (f->kind) {
    case FXPY_FILL_CONSTANT:
        fxs_fill_constant(fxpy_ctx(), t, f->a);
        break;
    case FXPY_FILL_UNIFORM:
        fxs_fill_uniform(fxpy_ctx(), t, f->seed, f->a, f->b);
        break;
    case FXPY_FILL_NORMAL:
        fxs_fill_normal(fxpy_ctx(), t, f->seed, f->a, f->b);
        break;
    case FXPY_FILL_TRUNC_NORMAL:
        fill_trunc_normal(t, f);
        break;
    case FXPY_FILL_OTHER:
        break;
    }
}

static fxs_status apply_patch(patch *p, fxs_storage *storage) {
    fxs_tensor *own;
    if (fxs_tensor_numel(&p->at) == 0)
        return FXS_OK;
    p->at.storage = storage; /* not counted: for this call */
    if (fxs_tensor_is_contiguous(&p->at)) {
        fill_contiguous(&p->at, &p->fill);
        return FXS_OK;
    }
    FXS_TRY(fxs_tensor_new(fxpy_ctx(), p->at.dtype, p->at.ndim, p->at.sizes, &own));
    fill_contiguous(own, &p->fill);
    fxs_tensor_copy(fxpy_ctx(), &p->at, own);
    fxs_tensor_unref(own);
    return FXS_OK;
}

int fxpy_lazy_read(fxpy_lazy *l) {
    fxs_status s = FXS_OK;
    if (l->storage)
        return 0;
    fxs_tensor all = l->base;
    s = fxs_tensor_allocate(fxpy_ctx(), &all);
    for (size_t i = 0; s == FXS_OK && i < l->n; i++)
        s = apply_patch(&l->patches[i], all.storage);
    if (s != FXS_OK) {
        if (all.storage)
            fxs_storage_unref(all.storage);
        fxpy_raise();
        return -1;
    }
    l->storage = all.storage;
    fxs_free(l->patches);
    l->patches = NULL;
    l->n = l->cap = 0;
    return 0;
}

int fxpy_lazy_write(fxpy_lazy *l, fxs_tensor *t) {
    fxs_status s = FXS_OK;
    for (size_t i = 0; s == FXS_OK && i < l->n; i++) {
        s = apply_patch(&l->patches[i], t->storage);
        l->patches[i].at.storage = NULL;
    }
    if (s == FXS_OK)
        return 0;
    fxpy_raise();
    return -1;
}
