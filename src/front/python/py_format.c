/* py_format.c: nodes of Python's torch.fx as format_node prints them. The layout of a line is the
 * core's (emit/format.h); here its pieces are turned into text. */
#include "front/python/fxgraph.h"

#include <string.h>

/* A piece that the core shall print as it is. Takes over `text`, which may be NULL (an exception is
 * set). */
static int put_text(fxs_arena *a, PyObject *text, fxs_value *out) {
    Py_ssize_t len;
    const char *s = text ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    int r = -1;
    if (s && fxs_make_text(fxpy_ctx(), a, FXS_V_OPAQUE, s, (size_t)len, out) == FXS_OK)
        r = 0;
    else if (s)
        fxpy_raise();
    Py_XDECREF(text);
    return r;
}

static int put_arg(fxs_arena *a, PyObject *o, fxs_value *out);

static int put_items(fxs_arena *a, PyObject *o, fxs_value *out) {
    bool tuple = PyTuple_Check(o);
    size_t n = (size_t)PySequence_Fast_GET_SIZE(o);
    if (fxs_make_seq(fxpy_ctx(), a, tuple ? FXS_V_TUPLE : FXS_V_LIST, n, out) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    for (size_t i = 0; i < n && i < (size_t)PySequence_Fast_GET_SIZE(o); i++)
        if (put_arg(a, PySequence_Fast_GET_ITEM(o, (Py_ssize_t)i), &out->u.seq->items[i]) < 0)
            return -1;
    return 0;
}

static int put_pairs(fxs_arena *a, PyObject *o, fxs_value *out) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    size_t n = (size_t)PyDict_GET_SIZE(o);
    if (fxs_make_dict(fxpy_ctx(), a, n, out) != FXS_OK) {
        fxpy_raise();
        return -1;
    }
    for (size_t i = 0; i < n && PyDict_Next(o, &at, &key, &value); i++)
        if (put_text(a, PyObject_Str(key), &out->u.dict->pairs[i].key) < 0 ||
            put_arg(a, value, &out->u.dict->pairs[i].value) < 0)
            return -1;
    return 0;
}

static int put_other(fxs_arena *a, PyObject *o, fxs_value *out) {
    PyObject *own = NULL;
    if (FXPY_IS_NODE(o))
        return put_text(a, PyUnicode_FromFormat("%%%S", o), out);
    if (_PyType_Lookup(Py_TYPE(o), fxpy_str._custom_fx_repr_fn) &&
        !(own = PyObject_GetAttr(o, fxpy_str._custom_fx_repr_fn)))
        return -1;
    PyObject *text = own ? PyObject_CallNoArgs(own) : PyObject_Str(o);
    Py_XDECREF(own);
    return put_text(a, text, out);
}

static int put_arg(fxs_arena *a, PyObject *o, fxs_value *out) {
    if (!PyTuple_Check(o) && !PyList_Check(o) && !PyDict_Check(o))
        return put_other(a, o, out);
    if (Py_EnterRecursiveCall(" in torch.fx.node._format_arg"))
        return -1;
    int r = PyDict_Check(o) ? put_pairs(a, o, out) : put_items(a, o, out);
    Py_LeaveRecursiveCall();
    return r;
}

static PyObject *take(fxs_buf *b) {
    PyObject *s = b->failed
                      ? PyErr_NoMemory()
                      : PyUnicode_DecodeUTF8(b->data ? b->data : "", (Py_ssize_t)b->len, "replace");
    fxs_buf_free(b);
    return s;
}

PyObject *fxpy_format_arg(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"arg", "max_list_len", NULL};
    PyObject *o;
    double max = -1;
    fxs_arena a = {0};
    fxs_value v;
    fxs_buf b = {0};
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|d:_format_arg", names, &o, &max))
        return NULL;
    if (put_arg(&a, o, &v) < 0) {
        fxs_arena_clear(&a);
        return NULL;
    }
    /* the core's 0 is all; torch's 0 shows none */
    if (max == 0 && (v.tag == FXS_V_LIST || v.tag == FXS_V_TUPLE) && v.u.seq->len)
        fxs_buf_printf(&b,
                       v.tag == FXS_V_LIST ? "[, ...[total_len=%zu]]"
                       : v.u.seq->len == 1 ? "(,, ...[total_len=%zu])"
                                           : "(, ...[total_len=%zu])",
                       v.u.seq->len);
    else
        fxs_buf_arg(&b, &v, max < 0 || max > 1e9 ? 0 : (int)max);
    fxs_arena_clear(&a);
    return take(&b);
}

/* ---- a line
 * -----------------------------------------------------------------------------------------------
 */

/* Text that lives in the arena; NULL for none. */
static int keep_text(fxs_arena *a, PyObject *text, const char **out) {
    Py_ssize_t len;
    const char *s = text ? PyUnicode_AsUTF8AndSize(text, &len) : NULL;
    *out = s ? fxs_arena_dup(a, s, (size_t)len) : NULL;
    if (s && !*out)
        PyErr_NoMemory();
    Py_XDECREF(text);
    return *out ? 0 : -1;
}

static int kind_of(PyObject *op, fxs_kind *out) {
    const char *text = PyUnicode_Check(op) ? PyUnicode_AsUTF8(op) : NULL;
    for (int k = 0; text && k < FXS_KIND_COUNT; k++) {
        if (strcmp(text, fxs_kind_name((fxs_kind)k)) == 0) {
            *out = (fxs_kind)k;
            return 0;
        }
    }
    return -1;
}

/* The pieces of the line in the shape of a node of the core, with all texts ready. */
static int lay_out(fxs_arena *a, FxpyNode *n, fxs_node *out) {
    PyObject *first =
        PyTuple_Check(n->args) && PyTuple_GET_SIZE(n->args) ? PyTuple_GET_ITEM(n->args, 0) : NULL;
    bool plain = out->kind == FXS_OUTPUT || out->kind == FXS_PLACEHOLDER;
    PyObject *type = n->type;
    if (keep_text(a, PyObject_Str(n->name), &out->name) < 0)
        return -1;
    if (type != Py_None && (out->kind != FXS_PLACEHOLDER || PyObject_IsTrue(type) > 0) &&
        keep_text(a, fxpy_call_registered("type_repr", &type, 1), &out->type) < 0)
        return -1;
    PyObject *target =
        PyUnicode_Check(n->target)
            ? Py_NewRef(n->target)
            : PyObject_CallMethodOneArg((PyObject *)n, fxpy_str._pretty_print_target, n->target);
    if (keep_text(a, target, &out->target) < 0)
        return -1;
    if (plain && !first)
        return 0;
    if (plain) { /* by str, not piece by piece */
        if (fxs_make_seq(fxpy_ctx(), a, FXS_V_TUPLE, 1, &out->args) != FXS_OK) {
            fxpy_raise();
            return -1;
        }
        return put_text(a, PyObject_Str(first), &out->args.u.seq->items[0]);
    }
    PyObject *kwargs = PyObject_GetAttr((PyObject *)n, fxpy_str.kwargs);
    int r = kwargs ? put_arg(a, n->args, &out->args) : -1;
    r = r < 0 ? -1 : put_arg(a, kwargs, &out->kwargs);
    Py_XDECREF(kwargs);
    return r;
}

PyObject *fxpy_node_line(PyObject *self, PyObject *unused) {
    FxpyNode *n = (FxpyNode *)self;
    fxs_node node = {.nusers = n->users ? (size_t)PyDict_GET_SIZE(n->users) : 0};
    fxs_arena a = {0};
    fxs_buf b = {0};
    (void)unused;
    if (kind_of(n->op, &node.kind) < 0)
        return PyErr_Occurred() ? NULL : fxpy_call_registered("format_odd_node", &self, 1);
    int r = lay_out(&a, n, &node);
    if (r == 0)
        fxs_buf_node_line(&b, &node, 0);
    fxs_arena_clear(&a);
    return r == 0 ? take(&b) : NULL;
}
