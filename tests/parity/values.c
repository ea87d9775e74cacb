/* values.c: the JSON notation of arguments. JSON's null, booleans, integers, reals, strings and
 * arrays are Python's; the rest is an object with one telling key: {"t": {dtype, sizes, strides,
 * offset, data, grad}}, {"tuple": [...]},
 * {"size": [...]}, {"slice": [a, b, c]}, {"ellipsis": 1}, {"float": "nan"}, {"complex": [re, im]},
 * {"dtype": "float32"},
 * {"device": "cpu"}, {"format": "channels_last"}, {"function": "torch.Tensor"}, {"dict": {...}}. */
#include <math.h>
#include <string.h>

#include "opcase.h"

static double special(const char *s) {
    return strcmp(s, "nan") == 0 ? (double)NAN : *s == '-' ? -(double)INFINITY : (double)INFINITY;
}

double opcase_number(const json_t *data, size_t i) {
    const json_t *j = json_array_get(data, i);
    if (json_is_string(j))
        return special(json_string_value(j));
    return json_is_true(j) ? 1 : json_number_value(j);
}

const json_t *opcase_tensor_json(const json_t *j) {
    return json_is_object(j) ? json_object_get(j, "t") : NULL;
}

const char *opcase_dtype_name(const json_t *tensor) {
    const char *s = json_string_value(json_object_get(tensor, "dtype"));
    return s ? s : "float32";
}

bool opcase_dtype(const json_t *tensor, fxs_dtype *out) {
    const char *s = opcase_dtype_name(tensor);
    return s && fxs_dtype_find(s, strlen(s), out);
}

static int int_array(const json_t *j, int64_t *out) {
    size_t n = json_array_size(j);
    for (size_t i = 0; i < n && i < FXS_MAX_DIM; i++)
        out[i] = json_integer_value(json_array_get(j, i));
    return n > FXS_MAX_DIM ? -1 : (int)n;
}

static void store(fxs_dtype d, char *p, const json_t *data, size_t i) {
    const json_t *item = json_array_get(data, i);
    if (d == FXS_COMPLEX64) {
        ((float *)(void *)p)[0] = (float)opcase_number(data, 2 * i);
        ((float *)(void *)p)[1] = (float)opcase_number(data, 2 * i + 1);
    } else if (d == FXS_COMPLEX128) {
        ((double *)(void *)p)[0] = opcase_number(data, 2 * i);
        ((double *)(void *)p)[1] = opcase_number(data, 2 * i + 1);
    } else if (json_is_integer(item) && !fxs_is_floating(d)) {
        fxs_store_int(d, p, json_integer_value(item));
    } else {
        fxs_store_double(d, p, opcase_number(data, i));
    }
}

static bool fill(fxs_ctx *ctx, fxs_tensor *t, const json_t *data) {
    size_t n = json_array_size(data) / (fxs_is_complex(t->dtype) ? 2 : 1),
           size = fxs_dtype_size(t->dtype);
    t->storage = fxs_storage_new(ctx->blocks, n * size);
    if (!t->storage)
        return false;
    for (size_t i = 0; i < n; i++)
        store(t->dtype, (char *)t->storage->data + i * size, data, i);
    return true;
}

static bool make_tensor(fxs_ctx *ctx, const json_t *j, bool meta, fxs_value *out) {
    int64_t sizes[FXS_MAX_DIM], strides[FXS_MAX_DIM];
    const json_t *order = json_object_get(j, "strides");
    int ndim = int_array(json_object_get(j, "sizes"), sizes);
    fxs_dtype d;
    fxs_tensor *t;
    if (ndim < 0 || !opcase_dtype(j, &d) || (order && int_array(order, strides) != ndim) ||
        fxs_tensor_make(ctx, d, ndim, sizes, order ? strides : NULL, &t) != FXS_OK)
        return false;
    t->offset = json_integer_value(json_object_get(j, "offset"));
    t->requires_grad = json_is_true(json_object_get(j, "grad"));
    t->is_parameter = t->requires_grad; /* made by hand it is a leaf, as a parameter is */
    *out = fxs_of_tensor(t);
    return meta || fill(ctx, t, json_object_get(j, "data"));
}

static bool make_seq(fxs_ctx *ctx, const json_t *j, fxs_tag tag, bool meta, fxs_value *out) {
    size_t n = json_array_size(j);
    if (fxs_make_seq(ctx, NULL, tag, n, out) != FXS_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!opcase_value(ctx, json_array_get(j, i), meta, &out->u.seq->items[i]))
            return false;
    return true;
}

static bool make_dict(fxs_ctx *ctx, const json_t *j, bool meta, fxs_value *out) {
    const char *key;
    json_t *item;
    size_t i = 0;
    if (fxs_make_dict(ctx, NULL, json_object_size(j), out) != FXS_OK)
        return false;
    json_object_foreach((json_t *)j, key, item) {
        fxs_pair *p = &out->u.dict->pairs[i++];
        if (fxs_value_str(ctx, key, &p->key) != FXS_OK || !opcase_value(ctx, item, meta, &p->value))
            return false;
    }
    return true;
}

static bool make_text(fxs_ctx *ctx, const json_t *j, fxs_tag tag, fxs_value *out) {
    const char *s = json_string_value(j);
    return s && fxs_make_text(ctx, NULL, tag, s, strlen(s), out) == FXS_OK;
}

static bool make_format(const json_t *j, fxs_value *out) {
    static const char *const names[] = {"contiguous_format", "channels_last", "channels_last_3d",
                                        "preserve_format"};
    for (int i = 0; i < FXS_MEMORY_FORMAT_COUNT; i++)
        if (strcmp(names[i], json_string_value(j)) == 0) {
            *out = (fxs_value){.tag = FXS_V_MEMORY_FORMAT, .u.format = (fxs_memory_format)i};
            return true;
        }
    return false;
}

static bool make_complex(const json_t *j, fxs_value *out) {
    *out = (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {opcase_number(j, 0), opcase_number(j, 1)}};
    return true;
}

static bool make_size(fxs_ctx *ctx, const json_t *j, fxs_value *out) {
    int64_t sizes[FXS_MAX_DIM];
    int n = int_array(j, sizes);
    return n >= 0 && fxs_make_size(ctx, n, sizes, out) == FXS_OK;
}

static bool make_dtype(const json_t *j, fxs_value *out) {
    const char *s = json_string_value(j);
    *out = (fxs_value){.tag = FXS_V_DTYPE};
    return s && fxs_dtype_find(s, strlen(s), &out->u.dtype);
}

static bool make_object(fxs_ctx *ctx, const json_t *j, bool meta, fxs_value *out) {
    void *at = json_object_iter((json_t *)j);
    const char *key = at ? json_object_iter_key(at) : "";
    const json_t *v = at ? json_object_iter_value(at) : NULL;
    if (strcmp(key, "t") == 0)
        return make_tensor(ctx, v, meta, out);
    if (strcmp(key, "tuple") == 0)
        return make_seq(ctx, v, FXS_V_TUPLE, meta, out);
    if (strcmp(key, "slice") == 0)
        return make_seq(ctx, v, FXS_V_SLICE, meta, out);
    if (strcmp(key, "size") == 0)
        return make_size(ctx, v, out);
    if (strcmp(key, "dict") == 0)
        return make_dict(ctx, v, meta, out);
    if (strcmp(key, "dtype") == 0)
        return make_dtype(v, out);
    if (strcmp(key, "device") == 0)
        return make_text(ctx, v, FXS_V_DEVICE, out);
    if (strcmp(key, "function") == 0)
        return make_text(ctx, v, FXS_V_FUNCTION, out);
    if (strcmp(key, "format") == 0)
        return make_format(v, out);
    if (strcmp(key, "complex") == 0)
        return make_complex(v, out);
    *out = strcmp(key, "float") == 0 ? fxs_float(special(json_string_value(v)))
                                     : (fxs_value){.tag = FXS_V_ELLIPSIS};
    return strcmp(key, "float") == 0 || strcmp(key, "ellipsis") == 0;
}

bool opcase_value(fxs_ctx *ctx, const json_t *j, bool meta, fxs_value *out) {
    *out = fxs_none();
    if (json_is_boolean(j))
        *out = fxs_bool(json_is_true(j));
    else if (json_is_integer(j))
        *out = fxs_int(json_integer_value(j));
    else if (json_is_real(j))
        *out = fxs_float(json_real_value(j));
    else if (json_is_string(j))
        return fxs_value_str(ctx, json_string_value(j), out) == FXS_OK;
    else if (json_is_array(j))
        return make_seq(ctx, j, FXS_V_LIST, meta, out);
    else if (json_is_object(j))
        return make_object(ctx, j, meta, out);
    return true;
}
