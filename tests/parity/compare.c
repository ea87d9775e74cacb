/* compare.c: a result against PyTorch's answer: structure, dtype, sizes, strides, memory format,
 * requires_grad and sharing of storage exactly; elements within the tolerance of their type. */
#include <math.h>
#include <string.h>

#include "base/pytext.h"
#include "opcase.h"

static bool differ(const opcase_compare *c, const char *where, const char *what, const char *have,
                   const char *want) {
    fxs_buf_printf(c->why, "%s%s: have %s, want %s", where, what, have, want);
    return false;
}

static char *json_text(const json_t *j, char text[96]) {
    char *s = json_dumps(j, JSON_COMPACT | JSON_ENCODE_ANY);
    snprintf(text, 96, "%s", s ? s : "?");
    free(s);
    return text;
}

static double tolerance_of(fxs_dtype d) {
    switch (d) {
    case FXS_FLOAT64:
    case FXS_COMPLEX128:
        return 1e-9;
    case FXS_FLOAT16:
        return 2e-3;
    case FXS_BFLOAT16:
        return 1.6e-2;
    case FXS_FLOAT32:
    case FXS_COMPLEX64:
        return 1e-5;
    default:
        return 0;
    }
}

static bool near(double have, double want, double tolerance) {
    if (isnan(want) || isnan(have))
        return isnan(want) && isnan(have);
    return have == want || fabs(have - want) <= tolerance * (1 + fabs(want));
}

static bool same_ints(const opcase_compare *c, const int64_t *have, int n, const json_t *want,
                      const char *where, const char *what) {
    char a[FXS_MAX_DIM * 21 + 3] = "[", b[96];
    bool same = (size_t)n == json_array_size(want);
    for (int i = 0; i < n; i++) {
        same = same && have[i] == json_integer_value(json_array_get(want, (size_t)i));
        sprintf(a + strlen(a), "%s%lld", i ? "," : "", (long long)have[i]);
    }
    strcat(a, "]");
    return same || differ(c, where, what, a, json_text(want, b));
}

/* Strides, but those of dimensions that have one place or none. */
static bool same_strides(const opcase_compare *c, const fxs_tensor *t, const json_t *want,
                         const char *where) {
    int64_t strides[FXS_MAX_DIM];
    memcpy(strides, t->strides, sizeof strides);
    for (int i = 0; i < t->ndim; i++)
        if (c->odd && (t->sizes[i] == 1 || fxs_tensor_numel(t) == 0))
            strides[i] = json_integer_value(json_array_get(want, (size_t)i));
    return same_ints(c, strides, t->ndim, want, where, " strides");
}

static bool contiguous(const opcase_compare *c, const fxs_tensor *t, const char *where) {
    json_t *want = json_array();
    int64_t step = 1;
    for (int i = t->ndim - 1; i >= 0; i--) {
        json_array_insert_new(want, 0, json_integer(step));
        step *= t->sizes[i] > 1 ? t->sizes[i] : 1;
    }
    bool same = same_strides(c, t, want, where);
    json_decref(want);
    return same;
}

static double component(const fxs_tensor *t, const char *p, int part) {
    if (t->dtype == FXS_COMPLEX64)
        return ((const float *)(const void *)p)[part];
    if (t->dtype == FXS_COMPLEX128)
        return ((const double *)(const void *)p)[part];
    return fxs_load_double(t->dtype, p);
}

static bool same_data(const opcase_compare *c, const fxs_tensor *t, const json_t *data,
                      const char *where) {
    int parts = fxs_is_complex(t->dtype) ? 2 : 1;
    double tolerance = tolerance_of(t->dtype);
    char have[40], want[60];
    if (tolerance > 0 && c->tolerance > tolerance)
        tolerance = c->tolerance;
    for (int64_t i = 0, n = fxs_tensor_numel(t) * parts; i < n; i++) {
        int64_t rest = i / parts, at = 0;
        for (int k = t->ndim - 1; k >= 0; k--) {
            at += rest % t->sizes[k] * t->strides[k];
            rest /= t->sizes[k];
        }
        const char *p = (const char *)fxs_tensor_data(t) + at * (int64_t)fxs_dtype_size(t->dtype);
        double x = component(t, p, (int)(i % parts)), y = opcase_number(data, (size_t)i);
        if (!near(x, y, tolerance)) {
            snprintf(have, sizeof have, "%.9g", x);
            snprintf(want, sizeof want, "%.9g at %lld", y, (long long)(i / parts));
            return differ(c, where, " value", have, want);
        }
    }
    return true;
}

static const char *format_text(const fxs_tensor *t) {
    static const char *const names[] = {"contiguous_format", "channels_last", "channels_last_3d",
                                        "?", "none"};
    return names[fxs_tensor_memory_format(t)];
}

static bool same_tensor(const opcase_compare *c, const fxs_tensor *t, const json_t *want,
                        const char *where) {
    const char *dtype = opcase_dtype_name(want);
    const char *format = json_string_value(json_object_get(want, "format"));
    const json_t *strides = json_object_get(want, "strides"),
                 *alias = json_object_get(want, "alias");
    format = format ? format : "contiguous_format";
    bool grad = json_is_true(json_object_get(want, "grad"));
    if (strcmp(fxs_dtype_name(t->dtype), dtype) != 0)
        return differ(c, where, " dtype", fxs_dtype_name(t->dtype), dtype);
    if (!same_ints(c, t->sizes, t->ndim, json_object_get(want, "sizes"), where, " sizes"))
        return false;
    if (!(strides ? same_strides(c, t, strides, where) : contiguous(c, t, where)))
        return false;
    if (strcmp(format_text(t), format) != 0)
        return differ(c, where, " memory_format", format_text(t), format);
    if (t->requires_grad != grad)
        return differ(c, where, " requires_grad", t->requires_grad ? "True" : "False",
                      grad ? "True" : "False");
    if (!json_is_null(alias) && c->first && t->storage && fxs_tensor_numel(t) &&
        json_is_true(alias) != (t->storage == c->first))
        return differ(c, where, " view of the first argument",
                      t->storage == c->first ? "yes" : "no", json_is_true(alias) ? "yes" : "no");
    if (!c->values)
        return true;
    return t->storage ? same_data(c, t, json_object_get(want, "data"), where)
                      : differ(c, where, " values", "none", "some");
}

static bool same_items(const opcase_compare *c, const fxs_value *v, const json_t *want,
                       const char *where) {
    char inner[64], a[24], b[24];
    size_t n = fxs_value_len(v);
    if (n != json_array_size(want)) {
        snprintf(a, sizeof a, "%zu", n);
        snprintf(b, sizeof b, "%zu", json_array_size(want));
        return differ(c, where, " items", a, b);
    }
    for (size_t i = 0; i < n; i++) {
        snprintf(inner, sizeof inner, "%.40s[%zu]", where, i);
        if (!opcase_same(c, fxs_value_item(v, i), json_array_get(want, i), inner))
            return false;
    }
    return true;
}

/* What an answer's JSON says of its kind, as fxs_value_type_name would say it. */
static const char *kind_of(const json_t *j) {
    static const char *const keys[][2] = {
        {"t", "torch.Tensor"},    {"size", "torch.Size"},
        {"tuple", "tuple"},       {"float", "float"},
        {"dtype", "torch.dtype"}, {"device", "torch.device"},
        {"complex", "complex"},   {"slice", "slice"},
        {"dict", "dict"},         {"format", "torch.memory_format"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_is_object(j) && json_object_get(j, keys[i][0]))
            return keys[i][1];
    return json_is_null(j)      ? "NoneType"
           : json_is_boolean(j) ? "bool"
           : json_is_integer(j) ? "int"
           : json_is_real(j)    ? "float"
           : json_is_string(j)  ? "str"
           : json_is_array(j)   ? "list"
                                : "?";
}

static bool same_scalar(const opcase_compare *c, const fxs_value *v, const json_t *want,
                        const char *where) {
    char text[96], have[40];
    bool same = true;
    fxs_buf b = {0};
    if (v->tag == FXS_V_BOOL)
        same = v->u.b == json_is_true(want);
    else if (v->tag == FXS_V_INT)
        same = v->u.i == json_integer_value(want);
    else if (v->tag == FXS_V_FLOAT) {
        const json_t *s = json_object_get(want, "float");
        double y = s ? strtod(json_string_value(s), NULL) : json_real_value(want);
        same = !c->values || near(v->u.f, y, c->tolerance > 1e-9 ? c->tolerance : 1e-9);
    } else if (v->tag == FXS_V_STR) {
        same = strcmp(fxs_value_text(v), json_string_value(want)) == 0;
    } else if (v->tag == FXS_V_DEVICE) {
        same = strcmp(fxs_value_text(v), json_string_value(json_object_get(want, "device"))) == 0;
    } else if (v->tag == FXS_V_DTYPE) {
        same = strcmp(fxs_dtype_name(v->u.dtype),
                      json_string_value(json_object_get(want, "dtype"))) == 0;
    }
    if (same)
        return true;
    fxs_buf_repr(&b, v, &(fxs_repr){0});
    snprintf(have, sizeof have, "%.39s", b.data ? b.data : "?");
    fxs_buf_free(&b);
    return differ(c, where, "", have, json_text(want, text));
}

bool opcase_same(const opcase_compare *c, const fxs_value *v, const json_t *want,
                 const char *where) {
    const char *have = fxs_value_type_name(v), *kind = kind_of(want);
    const json_t *items = json_object_get(want, "tuple"), *name = json_object_get(want, "name");
    if (v->tag == FXS_V_TENSOR)
        return strcmp(kind, "torch.Tensor") == 0
                   ? same_tensor(c, v->u.tensor, json_object_get(want, "t"), where)
                   : differ(c, where, " type", "torch.Tensor", kind);
    if (name)
        kind = json_string_value(name);
    if (strcmp(have, kind) != 0)
        return differ(c, where, " type", have, kind);
    if (items)
        return same_items(c, v, items, where);
    if (json_is_array(want))
        return same_items(c, v, want, where);
    if (strcmp(kind, "torch.Size") == 0)
        return same_items(c, v, json_object_get(want, "size"), where);
    return same_scalar(c, v, want, where);
}
