/* safetensors.c: weights from a .safetensors file: eight bytes of length, a JSON header that says
 * where each tensor lies, and the data. The file is mapped, and parameters look at it where it
 * fits: nothing is copied then. */
#include <jansson.h>
#include <string.h>

#include "base/mapping.h"
#include "run/safetensors.h"

typedef struct loader {
    fxs_ctx *ctx;
    const char *path;
    fxs_module *root;
    fxs_mapping *file;
    char *data; /* behind the header */
    size_t len;
    size_t loaded;
    fxs_buf notes;
} loader;

static fxs_status bad(const loader *l, const char *name, const char *what) {
    return name ? fxs_fail(l->ctx, FXS_EPARSE, "%s: tensor '%s': %s", l->path, name, what)
                : fxs_fail(l->ctx, FXS_EPARSE, "%s: %s", l->path, what);
}

/* ---- the header
 * ------------------------------------------------------------------------------------------------
 */

static fxs_status read_header(loader *l, json_t **out) {
    uint64_t n = 0;
    json_error_t e;
    *out = NULL;
    if (l->file->len < FXS_SAFETENSORS_LENGTH)
        return bad(l, NULL, "this is no safetensors file: it is shorter than its length");
    for (int i = 0; i < FXS_SAFETENSORS_LENGTH; i++)
        n |= (uint64_t)(unsigned char)l->file->data[i] << (8 * i);
    if (n > FXS_SAFETENSORS_HEADER || n > l->file->len - FXS_SAFETENSORS_LENGTH)
        return bad(l, NULL,
                   "this is no safetensors file: its header would be longer than the file");
    *out =
        json_loadb(l->file->data + FXS_SAFETENSORS_LENGTH, (size_t)n, JSON_REJECT_DUPLICATES, &e);
    if (!*out)
        return fxs_fail(l->ctx, FXS_EPARSE, "%s: the header can't be parsed: %s at byte %d",
                        l->path, e.text, e.position);
    if (!json_is_object(*out))
        return bad(l, NULL, "the header is no JSON object");
    l->data = l->file->data + FXS_SAFETENSORS_LENGTH + n;
    l->len = l->file->len - FXS_SAFETENSORS_LENGTH - (size_t)n;
    return FXS_OK;
}

static const struct {
    const char *code;
    fxs_dtype dtype;
} codes[] = {{"F32", FXS_FLOAT32},        {"F64", FXS_FLOAT64},   {"F16", FXS_FLOAT16},
             {"BF16", FXS_BFLOAT16},      {"I64", FXS_INT64},     {"I32", FXS_INT32},
             {"I16", FXS_INT16},          {"I8", FXS_INT8},       {"U8", FXS_UINT8},
             {"U16", FXS_UINT16},         {"U32", FXS_UINT32},    {"U64", FXS_UINT64},
             {"BOOL", FXS_BOOL},          {"C64", FXS_COMPLEX64}, {"F8_E4M3", FXS_FLOAT8_E4M3FN},
             {"F8_E5M2", FXS_FLOAT8_E5M2}};

static bool dtype_of(const char *code, fxs_dtype *out) {
    for (size_t i = 0; code && i < sizeof codes / sizeof *codes; i++)
        if (strcmp(codes[i].code, code) == 0) {
            *out = codes[i].dtype;
            return true;
        }
    return false;
}

const char *fxs_safetensors_code(fxs_dtype d) {
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].dtype == d)
            return codes[i].code;
    return NULL;
}

/* A tensor as the header describes it, over the mapped bytes; a copy where they do not lie as its
 * type asks. */
static fxs_status tensor_of(loader *l, const char *name, const json_t *entry, fxs_tensor **out) {
    const json_t *shape = json_object_get(entry, "shape"),
                 *place = json_object_get(entry, "data_offsets");
    int64_t sizes[FXS_MAX_DIM];
    fxs_dtype d;
    size_t n = json_array_size(shape);
    if (!dtype_of(json_string_value(json_object_get(entry, "dtype")), &d))
        return bad(l, name, "its dtype is not known");
    if (!json_is_array(shape) || n > FXS_MAX_DIM || json_array_size(place) != 2)
        return bad(l, name, "it needs a shape of at most 16 dimensions, and two data_offsets");
    for (size_t i = 0; i < n; i++) {
        sizes[i] = json_integer_value(json_array_get(shape, i));
        if (!json_is_integer(json_array_get(shape, i)) || sizes[i] < 0)
            return bad(l, name, "its shape has a size that is no whole number");
    }
    int64_t from = json_integer_value(json_array_get(place, 0)),
            to = json_integer_value(json_array_get(place, 1));
    FXS_TRY(fxs_tensor_make(l->ctx, d, (int)n, sizes, NULL, out));
    size_t bytes = (size_t)fxs_tensor_numel(*out) * fxs_dtype_size(d);
    fxs_status s = FXS_OK;
    if (from < 0 || to < from || (uint64_t)to > l->len || (uint64_t)(to - from) != bytes)
        s = bad(l, name, "its data_offsets do not fit its shape and the file");
    else if ((uintptr_t)(l->data + from) % fxs_dtype_size(d) == 0)
        s = ((*out)->storage = fxs_storage_map(l->file, l->data + from, bytes))
                ? FXS_OK
                : fxs_fail_memory(l->ctx);
    else if ((s = fxs_tensor_allocate(l->ctx, *out)) == FXS_OK && bytes)
        memcpy((*out)->storage->data, l->data + from, bytes);
    if (s != FXS_OK) {
        fxs_tensor_unref(*out);
        *out = NULL;
    }
    return s;
}

/* ---- parameters
 * --------------------------------------------------------------------------------------------------
 */

static bool same_shape(const fxs_tensor *a, const fxs_tensor *b) {
    return a->ndim == b->ndim &&
           (a->ndim == 0 || memcmp(a->sizes, b->sizes, (size_t)a->ndim * sizeof *a->sizes) == 0);
}

/* t in the parameter's dtype, as a tensor that says of itself what the parameter's does. */
static fxs_status fit(loader *l, const char *name, const fxs_parameter *p, fxs_tensor **t) {
    char have[FXS_SIZES_TEXT], want[FXS_SIZES_TEXT];
    fxs_tensor *own;
    if (!same_shape(p->spec, *t))
        return fxs_fail(l->ctx, FXS_ESHAPE, "%s: tensor '%s' has shape %s, but the model's has %s",
                        l->path, name, fxs_sizes_text(*t, have), fxs_sizes_text(p->spec, want));
    if (p->spec->dtype != (*t)->dtype) {
        if (!fxs_is_computable((*t)->dtype) || !fxs_is_computable(p->spec->dtype))
            return fxs_fail(l->ctx, FXS_ETYPE,
                            "%s: tensor '%s' is %s, which does not become the model's %s", l->path,
                            name, fxs_dtype_name((*t)->dtype), fxs_dtype_name(p->spec->dtype));
        FXS_TRY(fxs_tensor_new(l->ctx, p->spec->dtype, p->spec->ndim, p->spec->sizes, &own));
        fxs_tensor_copy(l->ctx, own, *t);
        fxs_tensor_unref(*t);
        *t = own;
    }
    (*t)->requires_grad = p->spec->requires_grad;
    (*t)->is_parameter = p->spec->is_parameter;
    return FXS_OK;
}

static fxs_status load_one(loader *l, const char *name, const json_t *entry) {
    fxs_parameter *p = fxs_module_lookup(l->root, name).param;
    fxs_tensor *t;
    FXS_TRY(tensor_of(l, name, entry, &t));
    if (!p) { /* a counter that PyTorch keeps for training means nothing to a graph */
        const char *dot = strrchr(name, '.');
        if (strcmp(dot ? dot + 1 : name, "num_batches_tracked") != 0)
            fxs_buf_printf(&l->notes, "%s: the model has no '%s'\n", l->path, name);
        fxs_tensor_unref(t);
        return FXS_OK;
    }
    fxs_status s = fit(l, name, p, &t);
    if (s != FXS_OK) {
        fxs_tensor_unref(t);
        return s;
    }
    fxs_tensor_unref(p->data);
    p->data = t;
    p->here = false;
    p->given = true;
    l->loaded++;
    return FXS_OK;
}

static fxs_status load_all(loader *l, json_t *header) {
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry) {
        if (strcmp(name, "__metadata__") == 0)
            continue;
        FXS_TRY(load_one(l, name, entry));
    }
    return l->loaded ? FXS_OK
                     : bad(l, NULL, "none of its tensors has the name of one of the model's");
}

/* Parameters that stay as they were: those that no name of the file reached. */
static fxs_status note_missing(void *user, const char *path, fxs_module *m) {
    loader *l = user;
    for (size_t i = 0; i < m->nattributes; i++) {
        const fxs_attribute *a = &m->attributes[i];
        if (!a->param->given)
            fxs_buf_printf(&l->notes, "%s: there is no '%s%s%s' in it\n", l->path, path,
                           *path ? "." : "", a->name);
    }
    return FXS_OK;
}

fxs_status fxs_module_load_weights(fxs_module *m, const char *path, char **notes) {
    loader l = {.ctx = m->ctx, .path = path, .root = m};
    json_t *header = NULL;
    if (notes)
        *notes = NULL;
    FXS_TRY(fxs_need_text(m->ctx, path, "fxs_module_load_weights: path"));
    fxs_status s = fxs_mapping_open(m->ctx, path, &l.file);
    if (s == FXS_OK)
        s = read_header(&l, &header);
    if (s == FXS_OK)
        s = load_all(&l, header);
    if (s == FXS_OK)
        s = fxs_module_walk(m, note_missing, &l);
    if (s == FXS_OK)
        s = fxs_buf_status(m->ctx, &l.notes);
    if (s == FXS_OK && notes && l.notes.len)
        s = fxs_buf_give(m->ctx, &l.notes, notes, NULL);
    json_decref(header);
    fxs_buf_free(&l.notes);
    fxs_mapping_unref(l.file);
    return s;
}
