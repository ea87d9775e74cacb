/* param.c: values of parameters and buffers: made from the context's seed and the parameter's name
 * when they are first read, in the ranges of PyTorch's default initialisers. */
#include <string.h>

#include "base/mapping.h"
#include "base/rng.h"
#include "ir/module.h"

static void fill(fxs_ctx *ctx, const fxs_parameter *p, fxs_tensor *t) {
    uint64_t seed = p->seed ^ (ctx->seed * 0x9e3779b97f4a7c15u);
    switch (p->init) {
    case FXS_INIT_ZEROS:
        memset(t->storage->data, 0, t->storage->bytes);
        break;
    case FXS_INIT_ONES:
        fxs_fill_constant(ctx, t, 1);
        break;
    case FXS_INIT_NORMAL:
        fxs_fill_normal(ctx, t, seed, 0, 1);
        break;
    case FXS_INIT_UNIFORM:
        fxs_fill_uniform(ctx, t, seed, -p->bound, p->bound);
        break;
    }
}

fxs_status fxs_parameter_read(fxs_ctx *ctx, fxs_parameter *p, fxs_tensor **out) {
    *out = NULL;
    if (!p->data) {
        fxs_tensor *t;
        FXS_TRY(fxs_tensor_to_meta(ctx, p->spec, &t));
        fxs_status s = fxs_tensor_allocate(ctx, t);
        if (s != FXS_OK) {
            fxs_tensor_unref(t);
            return s;
        }
        if (fxs_is_computable(t->dtype))
            fill(ctx, p, t);
        else
            memset(t->storage->data, 0, t->storage->bytes);
        p->data = t;
    } else if (p->data->storage && p->data->storage->file && !p->here) {
        fxs_mapping_read(ctx, fxs_tensor_data(p->data),
                         (size_t)fxs_tensor_numel(p->data) * fxs_dtype_size(p->data->dtype));
    }
    p->here = true;
    *out = p->data;
    return FXS_OK;
}

void fxs_parameter_drop(fxs_parameter *p) {
    if (p->given)
        return;
    fxs_tensor_unref(p->data);
    p->data = NULL;
}

static fxs_status seed_module(void *user, const char *path, fxs_module *m) {
    uint64_t h = fxs_hash(path, strlen(path));
    (void)user;
    for (size_t i = 0; i < m->nattributes; i++) {
        fxs_parameter *p = m->attributes[i].param;
        if (p->made_for == m || !p->made_for) /* the layer that it was made for may be gone */
            p->seed = (h * 31) ^ fxs_hash(m->attributes[i].name, strlen(m->attributes[i].name));
    }
    return FXS_OK;
}

fxs_status fxs_module_name_parameters(fxs_module *root) {
    return fxs_module_walk(root, seed_module, NULL);
}

int64_t fxs_module_own_parameters(const fxs_module *m) {
    int64_t n = 0;
    for (size_t i = 0; i < m->nattributes; i++)
        if (!m->attributes[i].param->is_buffer)
            n += fxs_tensor_numel(m->attributes[i].param->spec);
    return n;
}

/* Marks are cleared first, so that shared parameters are counted once; this takes no memory, and
 * so can't fail. */
static void clear_marks(const fxs_module *m) {
    for (size_t i = 0; i < m->nattributes; i++)
        m->attributes[i].param->counted = false;
    for (size_t i = 0; i < m->nchildren; i++)
        clear_marks(m->children[i].module);
}

static int64_t count_unmarked(const fxs_module *m) {
    int64_t n = 0;
    for (size_t i = 0; i < m->nattributes; i++) {
        fxs_parameter *p = m->attributes[i].param;
        if (!p->is_buffer && !p->counted)
            n += fxs_tensor_numel(p->spec);
        p->counted = true;
    }
    for (size_t i = 0; i < m->nchildren; i++)
        n += count_unmarked(m->children[i].module);
    return n;
}

int64_t fxs_modules_parameter_count(const fxs_module *const *m, size_t n) {
    int64_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (m[i])
            clear_marks(m[i]);
    for (size_t i = 0; i < n; i++)
        count += m[i] ? count_unmarked(m[i]) : 0;
    return count;
}

int64_t fxs_module_parameter_count(const fxs_module *m) {
    return fxs_modules_parameter_count(&m, 1);
}
