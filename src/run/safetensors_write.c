/* safetensors_write.c: parameters and buffers become a .safetensors file, which the reader beside
 * it takes back. Two passes over the model: the header says where each tensor will lie, then the
 * data follows, so that no more than one tensor that has to be made is in memory. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/sink.h"
#include "run/safetensors.h"

typedef struct saver {
    fxs_ctx *ctx;
    const char *file;
    bool all;
    size_t width; /* tensors whose elements have so many bytes, now */
    size_t at;    /* where the next one lies */
    json_t *header;
    fxs_sink sink;
} saver;

/* Names are dotted from the root. Wide elements come first, so that each tensor lies as its type
 * asks, and the reader need not copy it. */
typedef fxs_status saver_fn(saver *v, const char *name, fxs_parameter *p);

typedef struct visit {
    saver *v;
    saver_fn *fn;
} visit;

static fxs_status visit_module(void *user, const char *path, fxs_module *m) {
    const visit *w = user;
    fxs_buf name = {0};
    fxs_status s = FXS_OK;
    for (size_t i = 0; i < m->nattributes && s == FXS_OK; i++) {
        fxs_parameter *p = m->attributes[i].param;
        if (!(p->given || w->v->all) || fxs_dtype_size(p->spec->dtype) != w->v->width)
            continue;
        fxs_buf_cut(&name, 0);
        fxs_buf_printf(&name, "%s%s%s", path, *path ? "." : "", m->attributes[i].name);
        s = fxs_buf_status(m->ctx, &name);
        if (s == FXS_OK)
            s = w->fn(w->v, name.data, p);
    }
    fxs_buf_free(&name);
    return s;
}

static fxs_status visit_all(saver *v, const fxs_module *m, saver_fn *fn) {
    static const size_t widths[] = {16, 8, 4, 2, 1};
    visit w = {.v = v, .fn = fn};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        v->width = widths[i];
        FXS_TRY(fxs_module_walk((fxs_module *)m, visit_module, &w)); /* which changes no module */
    }
    return FXS_OK;
}

static fxs_status describe(saver *v, const char *name, fxs_parameter *p) {
    const fxs_tensor *t = p->spec;
    const char *code = fxs_safetensors_code(t->dtype);
    size_t end = v->at + (size_t)fxs_tensor_numel(t) * fxs_dtype_size(t->dtype);
    if (!code)
        return fxs_fail(v->ctx, FXS_ETYPE, "%s: '%s' is %s, which a safetensors file can't hold",
                        v->file, name, fxs_dtype_name(t->dtype));
    if (p->data && !p->data->storage)
        return fxs_fail(v->ctx, FXS_EINVAL, "%s: '%s' has no values to save", v->file, name);
    if (strcmp(name, "__metadata__") == 0)
        return fxs_fail(v->ctx, FXS_EINVAL, "%s: no tensor can be named '%s' in such a file",
                        v->file, name);
    json_t *shape = json_array();
    for (int i = 0; i < t->ndim; i++)
        json_array_append_new(shape, json_integer(t->sizes[i]));
    json_t *entry = json_pack("{s:s, s:o, s:[I, I]}", "dtype", code, "shape", shape, "data_offsets",
                              (json_int_t)v->at, (json_int_t)end);
    v->at = end;
    if (json_array_size(shape) == (size_t)t->ndim &&
        json_object_set_new(v->header, name, entry) == 0)
        return FXS_OK;
    return fxs_fail(v->ctx, FXS_EINVAL,
                    "%s: '%s' can't be the name of a tensor there, or memory is out", v->file,
                    name);
}

/* Values that are read from the file while it is written over would be lost, and those of the model
 * with them. */
static fxs_status check_source(saver *v, const char *name, fxs_parameter *p) {
    const fxs_storage *storage = p->data ? p->data->storage : NULL;
    (void)name;
    if (!storage || !storage->file || !fxs_sink_overwrites(&v->sink, storage->file))
        return FXS_OK;
    return fxs_fail(v->ctx, FXS_EIO,
                    "can't write %s: the model's values are read from it while they are used, and "
                    "its folder takes no other file in its place: write another file",
                    v->file);
}

static fxs_status write_data(saver *v, const char *name, fxs_parameter *p) {
    bool made = !p->data;
    fxs_tensor *t, *flat;
    (void)name;
    FXS_TRY(fxs_parameter_read(v->ctx, p, &t));
    fxs_status s = fxs_tensor_contiguous(v->ctx, t, &flat);
    if (s == FXS_OK) {
        fxs_sink_write(&v->sink, fxs_tensor_data(flat),
                       (size_t)fxs_tensor_numel(flat) * fxs_dtype_size(flat->dtype));
        fxs_tensor_unref(flat);
    }
    if (made)
        fxs_parameter_drop(p);
    return s;
}

/* The header's length is a multiple of eight, by spaces at its end. */
static fxs_status write_header(saver *v) {
    char *text = json_dumps(v->header, JSON_COMPACT), length[FXS_SAFETENSORS_LENGTH];
    if (!text)
        return fxs_fail_memory(v->ctx);
    size_t have = strlen(text), n = (have + 7) / 8 * 8;
    for (int i = 0; i < FXS_SAFETENSORS_LENGTH; i++)
        length[i] = (char)(n >> (8 * i) & 0xff);
    fxs_sink_write(&v->sink, length, sizeof length);
    fxs_sink_write(&v->sink, text, have);
    fxs_sink_write(&v->sink, "       ", n - have);
    free(text);
    return n <= FXS_SAFETENSORS_HEADER
               ? FXS_OK
               : fxs_fail(v->ctx, FXS_ELIMIT, "%s: there are too many tensors for one file",
                          v->file);
}

fxs_status fxs_module_save_weights(const fxs_module *m, const char *path, bool all) {
    FXS_TRY(fxs_need_text(m->ctx, path, "fxs_module_save_weights: path"));
    saver v = {.ctx = m->ctx, .file = path, .all = all, .header = json_object()};
    fxs_sink_memory(&v.sink);
    fxs_status s = v.header ? visit_all(&v, m, describe) : fxs_fail_memory(m->ctx);
    if (s == FXS_OK)
        s = fxs_sink_open(m->ctx, path, &v.sink);
    if (s == FXS_OK)
        s = visit_all(&v, m, check_source);
    if (s == FXS_OK)
        s = write_header(&v);
    if (s == FXS_OK)
        s = visit_all(&v, m, write_data);
    if (s == FXS_OK)
        s = fxs_sink_finish(m->ctx, &v.sink);
    if (s == FXS_OK)
        s = fxs_sink_commit(m->ctx, &v.sink);
    fxs_sink_close(&v.sink);
    json_decref(v.header);
    return s;
}
