/* value.c: Python objects as values and back. Used for every eager call, and by the graph side for
 * arguments of nodes. */
#include "front/python/host.h"
#include "front/python/tensor.h"

int (*fxpy_value_hook)(PyObject *o, fxs_arena *a, fxs_value *out);
PyObject *(*fxpy_node_hook)(const fxs_value *v);

/* ---- objects that travel as they are ---- */

/* Of numpy's arrays, what is told of tensors: "ndarray(float32, (2, 3))". NULL: it is none. */
static PyObject *array_text(PyObject *o) {
    PyObject *dtype = PyObject_GetAttrString(o, "dtype"), *text = NULL;
    PyObject *shape = dtype ? PyObject_GetAttrString(o, "shape") : NULL;
    if (shape && PyTuple_Check(shape)) {
        const char *name = strrchr(Py_TYPE(o)->tp_name, '.');
        text =
            PyUnicode_FromFormat("%s(%S, %S)", name ? name + 1 : Py_TYPE(o)->tp_name, dtype, shape);
    }
    Py_XDECREF(dtype);
    Py_XDECREF(shape);
    PyErr_Clear();
    return text;
}

static void object_print(const void *data, fxs_buf *out) {
    PyObject *text = array_text((PyObject *)data);
    if (!text)
        text = PyObject_Repr((PyObject *)data);
    const char *s = text ? PyUnicode_AsUTF8(text) : NULL;
    fxs_buf_puts(out, s ? s : "<object>");
    if (!s)
        PyErr_Clear();
    Py_XDECREF(text);
}

static void object_free(void *data) { Py_DECREF((PyObject *)data); }

const fxs_object_type fxpy_object_type = {"object", object_print, object_free};

static int convert_object(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    fxs_object *x = c->arena ? FXS_NEW(c->arena, fxs_object) : fxs_alloc0(1, sizeof *x);
    if (!x) {
        PyErr_NoMemory();
        return -1;
    }
    *x = (fxs_object){.refs = c->arena ? 0 : 1, .type = &fxpy_object_type, .data = o};
    if (!c->arena)
        Py_INCREF(o);
    *out = (fxs_value){.tag = FXS_V_OBJECT, .u.object = x};
    return 0;
}

/* ---- from Python ---- */

static int failed(void) {
    fxpy_raise();
    return -1;
}

static int text(fxpy_conversion *c, fxs_tag tag, const char *s, fxs_value *out) {
    return fxs_make_text(fxpy_ctx(), c->arena, tag, s, strlen(s), out) == FXS_OK ? 0 : failed();
}

static int convert_str(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(o, &n);
    if (!s)
        return -1;
    return fxs_make_text(fxpy_ctx(), c->arena, FXS_V_STR, s, (size_t)n, out) == FXS_OK ? 0
                                                                                       : failed();
}

static int convert_int(PyObject *o, fxs_value *out) {
    int overflow;
    long long i = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (i == -1 && PyErr_Occurred())
        return -1;
    if (overflow) {
        PyErr_SetString(PyExc_RuntimeError, "Overflow when unpacking long");
        return -1;
    }
    *out = fxs_int(i);
    return 0;
}

static int remember(fxpy_conversion *c, const fxs_tensor *t, PyObject *o) {
    if (c->nsources == c->cap) {
        size_t cap = c->cap ? 2 * c->cap : 8;
        fxpy_source *p = fxs_realloc(c->sources, cap, sizeof *p);
        if (!p) {
            PyErr_NoMemory();
            return -1;
        }
        c->sources = p;
        c->cap = cap;
    }
    c->sources[c->nsources++] = (fxpy_source){t, o};
    return 0;
}

static int convert_tensor(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    FxpyTensor *x = (FxpyTensor *)o;
    fxs_tensor *t = x->meta || c->shapes_only ? fxpy_tensor_meta(o) : fxpy_tensor_get(o);
    if (!t)
        return -1;
    c->meta |= x->meta;
    *out = fxs_of_tensor(c->arena ? t : fxs_tensor_ref(t));
    return remember(c, t, o);
}

/* A list, tuple or slice: items is what PySequence_Fast gave. */
static int convert_items(fxpy_conversion *c, fxs_tag tag, PyObject *const *items, Py_ssize_t n,
                         fxs_value *out) {
    if (fxs_make_seq(fxpy_ctx(), c->arena, tag, (size_t)n, out) != FXS_OK)
        return failed();
    for (Py_ssize_t i = 0; i < n; i++) {
        if (fxpy_convert(c, items[i], &out->u.seq->items[i]) < 0) {
            fxs_value_unref(out);
            return -1;
        }
    }
    return 0;
}

static int convert_sequence(fxpy_conversion *c, PyObject *o, fxs_tag tag, fxs_value *out) {
    if (Py_EnterRecursiveCall(" while converting an argument"))
        return -1;
    int bad = convert_items(c, tag, PySequence_Fast_ITEMS(o), PySequence_Fast_GET_SIZE(o), out);
    Py_LeaveRecursiveCall();
    if (!bad && Py_TYPE(o) == fxpy_size_type)
        out->u.seq->kind = FXS_TUPLE_SIZE;
    return bad;
}

static int convert_slice(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    PySliceObject *s = (PySliceObject *)o;
    PyObject *items[] = {s->start, s->stop, s->step};
    return convert_items(c, FXS_V_SLICE, items, 3, out);
}

static int convert_dict(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    PyObject *key, *value;
    Py_ssize_t at = 0;
    size_t i = 0, n = (size_t)PyDict_GET_SIZE(o);
    if (fxs_make_dict(fxpy_ctx(), c->arena, n, out) != FXS_OK)
        return failed();
    if (Py_EnterRecursiveCall(" while converting an argument"))
        return -1;
    int bad = 0;
    while (!bad && i < n && PyDict_Next(o, &at, &key, &value)) {
        fxs_pair *p = &out->u.dict->pairs[i++];
        bad = fxpy_convert(c, key, &p->key) < 0 || fxpy_convert(c, value, &p->value) < 0;
    }
    Py_LeaveRecursiveCall();
    if (bad)
        fxs_value_unref(out);
    return bad ? -1 : 0;
}

PyObject *fxpy_plain_scalar(PyObject *o) {
    PyNumberMethods *n = Py_TYPE(o)->tp_as_number;
    if (!n || PyType_Check(o) || fxpy_is_tensor(o) || !PyObject_CheckBuffer(o) ||
        PySequence_Check(o))
        return NULL;
    const char *name = strrchr(Py_TYPE(o)->tp_name, '.');
    if (name && strcmp(name, ".bool_") == 0) {
        int yes = PyObject_IsTrue(o);
        return yes < 0 ? NULL : PyBool_FromLong(yes);
    }
    if (n->nb_index)
        return PyNumber_Index(o);
    return n->nb_float ? PyNumber_Float(o) : NULL;
}

/* Types of the library, and what behaves like a number: numpy's scalars. */
static int convert_rest(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    fxs_dtype d;
    fxs_memory_format f;
    const char *layout;
    char device[32];
    if (fxpy_is_dtype(o, &d)) {
        *out = (fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d};
        return 0;
    }
    if (fxpy_is_format(o, &f)) {
        *out = (fxs_value){.tag = FXS_V_MEMORY_FORMAT, .u.format = f};
        return 0;
    }
    if (fxpy_device_text(o, device))
        return text(c, FXS_V_DEVICE, device, out);
    if (fxpy_layout_text(o, &layout))
        return text(c, FXS_V_LAYOUT, layout, out);
    if (Py_TYPE(o) == fxpy_function_type)
        return text(c, FXS_V_FUNCTION, fxpy_function_path(o), out);
    if (PySlice_Check(o))
        return convert_slice(c, o, out);
    if (PyComplex_Check(o)) {
        Py_complex z = PyComplex_AsCComplex(o);
        *out = (fxs_value){.tag = FXS_V_COMPLEX, .u.c = {z.real, z.imag}};
        return 0;
    }
    if (!PyType_Check(o) && PyIndex_Check(o) && !PyObject_CheckBuffer(o)) {
        PyObject *i = PyNumber_Index(o);
        int bad = i ? convert_int(i, out) : -1;
        Py_XDECREF(i);
        return bad;
    }
    PyObject *scalar = fxpy_plain_scalar(o);
    if (scalar) {
        int bad = fxpy_convert(c, scalar, out);
        Py_DECREF(scalar);
        return bad;
    }
    return PyErr_Occurred() ? -1 : convert_object(c, o, out);
}

int fxpy_convert(fxpy_conversion *c, PyObject *o, fxs_value *out) {
    *out = fxs_none();
    if (o == Py_None)
        return 0;
    if (fxpy_is_tensor(o))
        return convert_tensor(c, o, out);
    if (PyBool_Check(o))
        *out = fxs_bool(o == Py_True);
    else if (PyLong_Check(o))
        return convert_int(o, out);
    else if (PyFloat_Check(o))
        *out = fxs_float(PyFloat_AS_DOUBLE(o));
    else if (PyUnicode_Check(o))
        return convert_str(c, o, out);
    else if (fxpy_value_hook) {
        int taken = fxpy_value_hook(o, c->arena, out);
        if (taken)
            return taken < 0 ? -1 : 0;
    }
    if (out->tag != FXS_V_NONE)
        return 0;
    if (PyTuple_Check(o))
        return convert_sequence(c, o, FXS_V_TUPLE, out);
    if (PyList_Check(o))
        return convert_sequence(c, o, FXS_V_LIST, out);
    if (PyDict_Check(o))
        return convert_dict(c, o, out);
    if (o == Py_Ellipsis) {
        *out = (fxs_value){.tag = FXS_V_ELLIPSIS};
        return 0;
    }
    return convert_rest(c, o, out);
}

void fxpy_conversion_end(fxpy_conversion *c) {
    fxs_free(c->sources);
    c->sources = NULL;
    c->nsources = c->cap = 0;
}

int fxpy_value_from_py(PyObject *o, fxs_arena *a, fxs_value *out) {
    fxpy_conversion c = {.arena = a};
    int bad = fxpy_convert(&c, o, out);
    fxpy_conversion_end(&c);
    return bad;
}

/* ---- to Python ---- */

static PyObject *result_tensor(fxpy_conversion *c, fxs_tensor *t, const char *made_by) {
    for (size_t i = 0; c && i < c->nsources; i++)
        if (c->sources[i].t == t)
            return Py_NewRef(c->sources[i].o);
    if (c && c->meta && t->storage) { /* small integers are computed even there */
        fxs_storage_unref(t->storage);
        t->storage = NULL;
    }
    PyObject *o = fxpy_tensor_new(fxs_tensor_ref(t));
    if (!o)
        return NULL;
    FxpyTensor *x = (FxpyTensor *)o;
    if (c && !fxpy_grad_enabled)
        t->requires_grad = false;
    if (t->requires_grad)
        x->made_by = made_by;
    if (!t->storage && c && c->unread)
        x->lazy = fxpy_lazy_ref(c->unread->lazy);
    x->meta = !t->storage && !x->lazy;
    return o;
}

/* One field a line. */
static PyObject *named_repr(PyObject *o) {
    PyObject *fields = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__match_args__");
    Py_ssize_t n = fields && PyTuple_Check(fields) ? PyTuple_GET_SIZE(fields) : 0;
    PyObject *text = fields ? PyUnicode_FromFormat("%s(", Py_TYPE(o)->tp_name) : NULL;
    for (Py_ssize_t i = 0; text && i < n; i++) {
        PyObject *line = PyUnicode_FromFormat("\n%U=%R%s", PyTuple_GET_ITEM(fields, i),
                                              PyTuple_GET_ITEM(o, i), i + 1 < n ? "," : ")");
        PyUnicode_Append(&text, line);
        Py_XDECREF(line);
    }
    Py_XDECREF(fields);
    return text;
}

enum { MOST_FIELDS = 8 };

/* Of so many fields; those that have no name here are told by their places. */
static PyTypeObject *named_type(const char *name, int len) {
    static PyObject *types; /* name -> type */
    PyStructSequence_Field fields[MOST_FIELDS + 1] = {0};
    const char *const *known_names = fxs_named_fields(name);
    int known_len = 0;
    if (!types && !(types = PyDict_New()))
        return NULL;
    PyObject *known = PyDict_GetItemString(types, name);
    if (known)
        return (PyTypeObject *)known;
    while (known_names && known_names[known_len])
        known_len++;
    for (int i = 0; i < len && i < MOST_FIELDS; i++)
        fields[i].name = i < known_len ? known_names[i] : PyStructSequence_UnnamedField;
    PyStructSequence_Desc desc = {.name = name, .fields = fields, .n_in_sequence = len};
    PyTypeObject *type = PyStructSequence_NewType(&desc);
    if (type)
        type->tp_repr = named_repr;
    if (type && PyDict_SetItemString(types, name, (PyObject *)type) < 0)
        Py_CLEAR(type);
    Py_XDECREF(type); /* the dict keeps it */
    return type;
}

static PyObject *result_named(fxpy_conversion *c, const fxs_seq *s, const char *made_by) {
    PyTypeObject *type = named_type(s->type_name, (int)s->len);
    PyObject *out = type ? PyStructSequence_New(type) : NULL;
    for (size_t i = 0; out && i < s->len; i++) {
        PyObject *item = fxpy_result(c, &s->items[i], made_by);
        if (!item)
            Py_CLEAR(out);
        else
            PyStructSequence_SetItem(out, (Py_ssize_t)i, item);
    }
    return out;
}

static PyObject *result_sequence(fxpy_conversion *c, const fxs_value *v, const char *made_by) {
    size_t n = v->u.seq->len;
    bool list = v->tag == FXS_V_LIST;
    bool named = !list && v->u.seq->kind == FXS_TUPLE_NAMED && v->u.seq->type_name;
    if (named && !v->u.seq->fields && n <= MOST_FIELDS)
        return result_named(c, v->u.seq, made_by);
    PyObject *out = list ? PyList_New((Py_ssize_t)n) : PyTuple_New((Py_ssize_t)n);
    for (size_t i = 0; out && i < n; i++) {
        PyObject *item = fxpy_result(c, &v->u.seq->items[i], made_by);
        if (!item)
            Py_CLEAR(out);
        else if (list)
            PyList_SET_ITEM(out, (Py_ssize_t)i, item);
        else
            PyTuple_SET_ITEM(out, (Py_ssize_t)i, item);
    }
    if (out && !list && v->u.seq->kind == FXS_TUPLE_SIZE) {
        PyObject *size = PyObject_CallOneArg((PyObject *)fxpy_size_type, out);
        Py_DECREF(out);
        return size;
    }
    if (out && named) /* of a class of the user's */
        Py_SETREF(out, fxpy_host_named(v->u.seq->fields, out));
    return out;
}

static PyObject *result_slice(fxpy_conversion *c, const fxs_value *v, const char *made_by) {
    PyObject *part[3] = {NULL, NULL, NULL}, *out = NULL;
    for (size_t i = 0; i < 3; i++)
        part[i] = fxpy_result(c, &v->u.seq->items[i], made_by);
    if (part[0] && part[1] && part[2])
        out = PySlice_New(part[0], part[1], part[2]);
    for (size_t i = 0; i < 3; i++)
        Py_XDECREF(part[i]);
    return out;
}

static PyObject *result_dict(fxpy_conversion *c, const fxs_value *v, const char *made_by) {
    PyObject *out = PyDict_New();
    for (size_t i = 0; out && i < v->u.dict->len; i++) {
        PyObject *key = fxpy_result(c, &v->u.dict->pairs[i].key, made_by);
        PyObject *value = fxpy_result(c, &v->u.dict->pairs[i].value, made_by);
        if (!key || !value || PyDict_SetItem(out, key, value) < 0)
            Py_CLEAR(out);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    return out;
}

static PyObject *result_layout(const char *text_) {
    return strcmp(text_, "torch.strided") == 0
               ? fxpy_strided()
               : PyErr_Format(PyExc_NotImplementedError, "the layout %s", text_);
}

static PyObject *result_function(const char *name) {
    PyObject *f = fxpy_function_find(name);
    return f || PyErr_Occurred() ? f : PyUnicode_FromString(name);
}

PyObject *fxpy_result(fxpy_conversion *c, const fxs_value *v, const char *made_by) {
    switch (v->tag) {
    case FXS_V_NONE:
        Py_RETURN_NONE;
    case FXS_V_BOOL:
        return PyBool_FromLong(v->u.b);
    case FXS_V_INT:
        return PyLong_FromLongLong(v->u.i);
    case FXS_V_FLOAT:
        return PyFloat_FromDouble(v->u.f);
    case FXS_V_COMPLEX:
        return PyComplex_FromDoubles(v->u.c[0], v->u.c[1]);
    case FXS_V_STR:
    case FXS_V_OPAQUE:
        return PyUnicode_FromStringAndSize(v->u.s->text, (Py_ssize_t)v->u.s->len);
    case FXS_V_DTYPE:
        return fxpy_dtype(v->u.dtype);
    case FXS_V_DEVICE:
        return fxpy_device(v->u.s->text);
    case FXS_V_LAYOUT:
        return result_layout(v->u.s->text);
    case FXS_V_MEMORY_FORMAT:
        return fxpy_memory_format(v->u.format);
    case FXS_V_ELLIPSIS:
        return Py_NewRef(Py_Ellipsis);
    case FXS_V_SLICE:
        return result_slice(c, v, made_by);
    case FXS_V_LIST:
    case FXS_V_TUPLE:
        return result_sequence(c, v, made_by);
    case FXS_V_DICT:
        return result_dict(c, v, made_by);
    case FXS_V_TENSOR:
        return result_tensor(c, v->u.tensor, made_by);
    case FXS_V_FUNCTION:
        return result_function(v->u.s->text);
    case FXS_V_NODE:
        if (fxpy_node_hook)
            return fxpy_node_hook(v);
        break;
    case FXS_V_OBJECT:
        if (v->u.object->type == &fxpy_object_type)
            return Py_NewRef((PyObject *)v->u.object->data);
        break;
    case FXS_V_UNKNOWN:
        break;
    }
    return PyErr_Format(PyExc_RuntimeError, "a value of the kind %s has no Python object",
                        fxs_value_type_name(v));
}

PyObject *fxpy_value_to_py(const fxs_value *v) { return fxpy_result(NULL, v, NULL); }
