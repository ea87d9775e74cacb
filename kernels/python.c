/* python.c: see python.h. */
#include "kernels/python.h"

#include <math.h>
#include <string.h>

bool fxs_number_of(const fxs_value *v, fxs_number *out) {
    const fxs_tensor *t = v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
    *out = (fxs_number){0};
    if (t && t->storage && fxs_tensor_numel(t) == 1 && fxs_is_computable(t->dtype)) {
        out->real = fxs_is_floating(t->dtype);
        out->f = fxs_load_double(t->dtype, fxs_tensor_data(t));
        out->i = out->real ? 0 : fxs_load_int(t->dtype, fxs_tensor_data(t));
        return true;
    }
    switch (v->tag) {
    case FXS_V_BOOL:
        out->i = v->u.b;
        break;
    case FXS_V_INT:
        out->i = v->u.i;
        break;
    case FXS_V_FLOAT:
        out->real = true;
        out->f = v->u.f;
        return true;
    default:
        return false;
    }
    out->f = (double)out->i;
    return true;
}

/* The parts of a complex number or of a complex tensor of one known element. */
static bool pair_of(const fxs_value *v, double z[2]) {
    const fxs_tensor *t = v->tag == FXS_V_TENSOR ? v->u.tensor : NULL;
    if (v->tag == FXS_V_COMPLEX)
        memcpy(z, v->u.c, sizeof v->u.c);
    else if (t && t->storage && fxs_tensor_numel(t) == 1 && fxs_is_complex(t->dtype))
        fxs_load_pair(t->dtype, fxs_tensor_data(t), z);
    else
        return false;
    return true;
}

bool fxs_store_value(fxs_dtype d, void *p, const fxs_value *v) {
    fxs_number n;
    double z[2];
    if (pair_of(v, z) && d == FXS_BOOL)
        fxs_store_int(d, p, z[0] != 0 || z[1] != 0);
    else if (pair_of(v, z))
        fxs_store_pair(d, p, z);
    else if (!fxs_number_of(v, &n))
        return false;
    else if (n.real)
        fxs_store_double(d, p, n.f);
    else
        fxs_store_int(d, p, n.i);
    return true;
}

fxs_status fxs_item(fxs_call *c, const fxs_tensor *t, fxs_value *out) {
    char text[FXS_SIZES_TEXT];
    fxs_value v = fxs_of_tensor((fxs_tensor *)t);
    fxs_number n;
    if (fxs_tensor_numel(t) != 1)
        return FXS_REFUSE(
            c, FXS_EINVAL,
            "only one element tensors can be converted to Python scalars, but the shape is %s",
            fxs_sizes_text(t, text));
    if (!t->storage)
        return FXS_REFUSE(
            c, FXS_EUNKNOWN,
            "the value of the tensor is not known without computing it: run with values, "
            "not with shapes only");
    double z[2];
    if (pair_of(&v, z)) {
        *out = (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {z[0], z[1]}};
        return FXS_OK;
    }
    if (!fxs_number_of(&v, &n))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(t->dtype));
    *out = n.real ? fxs_float(n.f) : t->dtype == FXS_BOOL ? fxs_bool(n.i != 0) : fxs_int(n.i);
    return FXS_OK;
}

fxs_status fxs_truth(fxs_call *c, const fxs_value *v, bool *out) {
    fxs_value item;
    fxs_number n;
    *out = true;
    switch (v->tag) {
    case FXS_V_NONE:
        *out = false;
        return FXS_OK;
    case FXS_V_TENSOR:
        if (fxs_tensor_numel(v->u.tensor) > 1)
            return FXS_REFUSE(c, FXS_EINVAL,
                              "boolean value of a tensor with more than one value is ambiguous");
        if (fxs_tensor_numel(v->u.tensor) == 0) {
            *out = false;
            return FXS_OK;
        }
        FXS_TRY(fxs_item(c, v->u.tensor, &item));
        return fxs_truth(c, &item, out);
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_DICT:
        *out = fxs_value_len(v) != 0;
        return FXS_OK;
    case FXS_V_STR:
        *out = v->u.s->len != 0;
        return FXS_OK;
    case FXS_V_UNKNOWN:
        return FXS_REFUSE(c, FXS_EUNKNOWN, "the truth of a value is not known");
    case FXS_V_COMPLEX:
        *out = v->u.c[0] != 0 || v->u.c[1] != 0;
        return FXS_OK;
    default:
        if (fxs_number_of(v, &n))
            *out = n.real ? n.f != 0 : n.i != 0;
        return FXS_OK;
    }
}

bool fxs_python_equal(const fxs_value *v, const fxs_value *w) {
    fxs_number a, b;
    if (v->tag == FXS_V_COMPLEX && fxs_number_of(w, &b))
        return v->u.c[0] == b.f && v->u.c[1] == 0;
    if (w->tag == FXS_V_COMPLEX && fxs_number_of(v, &a))
        return w->u.c[0] == a.f && w->u.c[1] == 0;
    if (!fxs_number_of(v, &a) || !fxs_number_of(w, &b))
        return fxs_value_equal(v, w);
    return a.real || b.real ? a.f == b.f : a.i == b.i;
}

static fxs_status no_order(fxs_call *c, const fxs_value *v, const fxs_value *w) {
    return FXS_REFUSE(c, FXS_ETYPE, "no order between instances of '%s' and '%s'",
                      fxs_value_type_name(v), fxs_value_type_name(w));
}

fxs_status fxs_python_compare(fxs_call *c, const fxs_value *v, const fxs_value *w, int *order,
                              bool *unordered) {
    fxs_number a, b;
    *order = 0;
    if (fxs_number_of(v, &a) && fxs_number_of(w, &b)) {
        *unordered = isnan(a.f) || isnan(b.f);
        *order = a.real || b.real ? (a.f > b.f) - (a.f < b.f) : (a.i > b.i) - (a.i < b.i);
        return FXS_OK;
    }
    *unordered = false;
    if (v->tag != w->tag)
        return no_order(c, v, w);
    if (v->tag == FXS_V_STR) {
        *order = strcmp(v->u.s->text, w->u.s->text);
        return FXS_OK;
    }
    if (v->tag != FXS_V_LIST && v->tag != FXS_V_TUPLE)
        return no_order(c, v, w);
    size_t n = fxs_value_len(v), m = fxs_value_len(w);
    for (size_t i = 0; i < n && i < m; i++)
        if (!fxs_python_equal(fxs_value_item(v, i), fxs_value_item(w, i)))
            return fxs_python_compare(c, fxs_value_item(v, i), fxs_value_item(w, i), order,
                                      unordered);
    *order = (n > m) - (n < m);
    return FXS_OK;
}

fxs_status fxs_bad_operands(fxs_call *c, const char *sign) {
    return FXS_REFUSE(c, FXS_ETYPE, "unsupported operand type(s) for %s: '%s' and '%s'", sign,
                      fxs_value_type_name(&c->arg[0]), fxs_value_type_name(&c->arg[1]));
}

fxs_status fxs_out_int(fxs_call *c, int64_t i) { return fxs_out_value(c, fxs_int(i)); }
fxs_status fxs_out_float(fxs_call *c, double f) { return fxs_out_value(c, fxs_float(f)); }
fxs_status fxs_out_bool(fxs_call *c, bool b) { return fxs_out_value(c, fxs_bool(b)); }
