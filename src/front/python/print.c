/* print.c: tensors as torch prints them: one width for all elements, four digits, scientific where
 * the range is wide, lines of 80 characters, the middle left out of what has over 1000 elements. */
#include "front/python/tensor.h"

#include <ctype.h>
#include <math.h>

enum { LINE = 80, EDGE = 3, THRESHOLD = 1000, PRECISION = 4 };

/* How all elements (or all real, all imaginary parts) of one tensor are written. */
typedef struct format {
    bool floating, whole, scientific;
    int width;
} format;

typedef struct printer {
    const fxs_tensor *t;
    fxs_buf *out;
    format real, imag;
    bool complex, summarize;
    int line, edge, precision;
} printer;

/* torch.set_printoptions */
static struct {
    int precision, edge, line;
    long long threshold;
    int scientific; /* -1: as the values are */
} options = {PRECISION, EDGE, LINE, THRESHOLD, -1};

/* ---- one element ---- */

static int64_t size_of(const printer *p) { return (int64_t)fxs_dtype_size(p->t->dtype); }

static double part(const printer *p, const char *at, bool imag) {
    if (p->t->dtype == FXS_COMPLEX64)
        return ((const float *)(const void *)at)[imag];
    if (p->t->dtype == FXS_COMPLEX128)
        return ((const double *)(const void *)at)[imag];
    return fxs_load_double(p->t->dtype, at);
}

static int write_float(const format *f, int precision, double x, char *text, size_t room) {
    if (!isfinite(x))
        return snprintf(text, room, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
    if (f->scientific)
        return snprintf(text, room, "%.*e", precision, x);
    return f->whole ? snprintf(text, room, "%.0f.", x) : snprintf(text, room, "%.*f", precision, x);
}

static int write_element(const printer *p, const format *f, const char *at, bool imag, char *text,
                         size_t room) {
    if (f->floating)
        return write_float(f, p->precision, part(p, at, imag), text, room);
    if (p->t->dtype == FXS_BOOL)
        return snprintf(text, room, *at ? "True" : "False");
    if (p->t->dtype == FXS_UINT64)
        return snprintf(text, room, "%llu",
                        (unsigned long long)*(const uint64_t *)(const void *)at);
    return snprintf(text, room, "%lld", (long long)fxs_load_int(p->t->dtype, at));
}

static void put_element(const printer *p, const char *at) {
    char text[400];
    int n = write_element(p, &p->real, at, false, text, sizeof text);
    fxs_buf_fill(p->out, ' ', n < p->real.width ? (size_t)(p->real.width - n) : 0);
    fxs_buf_add(p->out, text, (size_t)n);
    if (!p->complex)
        return;
    n = write_element(p, &p->imag, at, true, text, sizeof text);
    if (*text != '-' && *text != '+')
        fxs_buf_putc(p->out, '+');
    fxs_buf_add(p->out, text, (size_t)n);
    fxs_buf_putc(p->out, 'j');
}

/* ---- the width of all ---- */

/* Whether dimension d is cut, and which index follows i. */
static bool cut(const printer *p, int d) { return p->summarize && p->t->sizes[d] > 2 * p->edge; }
static int64_t next_index(const printer *p, int d, int64_t i) {
    return cut(p, d) && i == p->edge - 1 ? p->t->sizes[d] - p->edge : i + 1;
}

typedef struct survey {
    printer *p;
    format *f;
    bool imag;
    double low, high; /* of the absolute values that are finite and not zero */
    bool any, fractions;
    int width; /* of what is written so far */
} survey;

/* Calls fn for each element that is shown. */
static void each(survey *s, int d, const char *at, void (*fn)(survey *, const char *)) {
    const printer *p = s->p;
    if (d == p->t->ndim) {
        fn(s, at);
        return;
    }
    int64_t first = p->edge || !cut(p, d) ? 0 : p->t->sizes[d];
    for (int64_t i = first; i < p->t->sizes[d]; i = next_index(p, d, i))
        each(s, d + 1, at + i * p->t->strides[d] * size_of(p), fn);
}

static void note_range(survey *s, const char *at) {
    double x = part(s->p, at, s->imag), a = fabs(x);
    if (!isfinite(x) || x == 0)
        return;
    s->low = !s->any || a < s->low ? a : s->low;
    s->high = !s->any || a > s->high ? a : s->high;
    s->fractions |= x != ceil(x);
    s->any = true;
}

static void note_width(survey *s, const char *at) {
    char text[400];
    if (s->f->floating) {
        double x = part(s->p, at, s->imag);
        if (!isfinite(x) || x == 0)
            return;
    }
    int n = write_element(s->p, s->f, at, s->imag, text, sizeof text);
    s->width = n > s->width ? n : s->width;
}

static void choose_format(printer *p, format *f, bool imag) {
    survey s = {.p = p, .f = f, .imag = imag, .width = 1};
    const char *data = fxs_tensor_data(p->t);
    *f =
        (format){.floating = fxs_is_floating(p->t->dtype) || p->complex, .whole = true, .width = 1};
    if (f->floating) {
        each(&s, 0, data, note_range);
        f->whole = !s.fractions;
        f->scientific =
            s.any && (s.high / s.low > 1000. || s.high > 1.e8 || (s.fractions && s.low < 1.e-4));
    }
    each(&s, 0, data, note_width);
    f->width = s.width;
    if (f->floating && options.scientific >= 0 && s.any)
        f->scientific = options.scientific; /* the width stays, as torch has it */
}

/* ---- rows ---- */

static void put_row(const printer *p, int d, const char *at, int indent) {
    int width = p->real.width + 2 + (p->complex ? p->imag.width + 1 : 0);
    int per_line = (p->line - indent) / width, shown = 0;
    int64_t n = p->t->sizes[d], step = p->t->strides[d] * size_of(p);
    per_line = per_line < 1 ? 1 : per_line;
    fxs_buf_putc(p->out, '[');
    for (int64_t i = 0; i < n; shown++) {
        if (shown) {
            fxs_buf_putc(p->out, ',');
            if (shown % per_line == 0) {
                fxs_buf_putc(p->out, '\n');
                fxs_buf_fill(p->out, ' ', (size_t)indent + 1);
            } else {
                fxs_buf_putc(p->out, ' ');
            }
        }
        if (cut(p, d) && shown == p->edge) {
            fxs_buf_puts(p->out, p->edge ? " ..." : "...");
            i = n - p->edge;
            continue;
        }
        put_element(p, at + i * step);
        i = cut(p, d) && i == p->edge - 1 ? i : i + 1;
    }
    fxs_buf_putc(p->out, ']');
}

static void put_level(const printer *p, int d, const char *at, int indent) {
    const fxs_tensor *t = p->t;
    if (d == t->ndim) {
        put_element(p, at);
        return;
    }
    if (d == t->ndim - 1) {
        put_row(p, d, at, indent);
        return;
    }
    fxs_buf_putc(p->out, '[');
    for (int64_t i = 0; i < t->sizes[d];) {
        if (i) {
            fxs_buf_putc(p->out, ',');
            fxs_buf_fill(p->out, '\n', (size_t)(t->ndim - d - 1));
            fxs_buf_fill(p->out, ' ', (size_t)indent + 1);
        }
        put_level(p, d + 1, at + i * t->strides[d] * size_of(p), indent + 1);
        int64_t next = next_index(p, d, i);
        if (next != i + 1) {
            fxs_buf_putc(p->out, ',');
            fxs_buf_fill(p->out, '\n', (size_t)(t->ndim - d - 1));
            fxs_buf_fill(p->out, ' ', (size_t)indent + 1);
            fxs_buf_puts(p->out, "...");
        }
        i = next;
    }
    fxs_buf_putc(p->out, ']');
}

/* ---- tensor(..., dtype=torch.int32) ---- */

static size_t last_line(const fxs_buf *b) {
    const char *nl = b->data ? strrchr(b->data, '\n') : NULL;
    return nl ? b->len - (size_t)(nl - b->data) : b->len + 2;
}

static void suffix(fxs_buf *b, size_t *line, const char *text, size_t indent) {
    size_t n = strlen(text);
    if (*line + n + 2 > (size_t)options.line) {
        fxs_buf_puts(b, ",\n");
        fxs_buf_fill(b, ' ', indent);
        *line = indent + n;
    } else {
        fxs_buf_puts(b, ", ");
        *line += n + 2;
    }
    fxs_buf_puts(b, text);
}

static bool default_type(fxs_dtype d) {
    return d == fxpy_default_dtype() || d == FXS_INT64 || d == FXS_BOOL ||
           d == (fxpy_default_dtype() == FXS_FLOAT64 ? FXS_COMPLEX128 : FXS_COMPLEX64);
}

/* AddBackward0 of add: what would compute the gradient. Some rows serve several functions of torch,
 * or have another name there. */
static void grad_name(const char *op, int ndim, char *text, size_t room) {
    static const char *const others[][2] = {{"getitem", "select"},
                                            {"linear", "addmm"},
                                            {"conv1d", "convolution"},
                                            {"conv2d", "convolution"},
                                            {"conv3d", "convolution"},
                                            {"batch_norm", "native_batch_norm"},
                                            {"layer_norm", "native_layer_norm"},
                                            {"group_norm", "native_group_norm"},
                                            {"max_pool2d", "max_pool2D_with_indices"},
                                            {"flatten", "view"},
                                            {"reshape", "view"}};
    size_t n = 0;
    bool up = true;
    if (strcmp(op, "matmul") == 0)
        op = ndim == 0 ? "dot" : ndim == 1 ? "mv" : ndim == 2 ? "mm" : "unsafe_view";
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(op, others[i][0]) == 0) {
            op = others[i][1];
            break;
        }
    for (; *op && n + 12 < room; op++) {
        if (*op == '_' && op[1])
            up = true;
        else if (*op != '_')
            text[n++] = up ? (char)toupper((unsigned char)*op) : *op, up = false;
    }
    snprintf(text + n, room - n, "Backward0>");
}

/* "(2, 0)" */
static PyObject *sizes_tuple(const fxs_tensor *t) {
    PyObject *size = fxpy_size(t->ndim, t->sizes);
    PyObject *text = size ? PyTuple_Type.tp_repr(size) : NULL;
    Py_XDECREF(size);
    return text;
}

static void put_suffixes(fxs_buf *b, const FxpyTensor *x, size_t indent, bool shape) {
    char text[400];
    const fxs_tensor *t = x->t;
    size_t line = last_line(b);
    fxs_buf sizes = {0};
    if (x->meta)
        suffix(b, &line, "device='meta'", indent);
    if (shape) {
        PyObject *tuple = sizes_tuple(t);
        fxs_buf_puts(&sizes, tuple ? PyUnicode_AsUTF8(tuple) : "()");
        Py_XDECREF(tuple);
        snprintf(text, sizeof text, "size=%s", sizes.data ? sizes.data : "");
        suffix(b, &line, text, indent);
        fxs_buf_free(&sizes);
    }
    bool empty = fxs_tensor_numel(t) == 0 || x->meta;
    if (empty ? t->dtype != fxpy_default_dtype() : !default_type(t->dtype)) {
        snprintf(text, sizeof text, "dtype=torch.%s", fxs_dtype_name(t->dtype));
        suffix(b, &line, text, indent);
    }
    if (t->requires_grad && x->made_by) {
        snprintf(text, sizeof text, "grad_fn=<");
        grad_name(x->made_by, t->ndim, text + 9, sizeof text - 9);
        suffix(b, &line, text, indent);
    } else if (t->requires_grad) {
        suffix(b, &line, "requires_grad=True", indent);
    }
}

static int put_values(fxs_buf *b, PyObject *o, int indent) {
    const fxs_tensor *t = fxpy_tensor_get(o);
    if (!t)
        return -1;
    if (!fxs_is_computable(t->dtype) && !fxs_is_complex(t->dtype)) {
        fxs_buf_puts(b, "...");
        return 0;
    }
    printer p = {.t = t,
                 .out = b,
                 .complex = fxs_is_complex(t->dtype),
                 .summarize = fxs_tensor_numel(t) > options.threshold,
                 .line = options.line,
                 .edge = options.edge,
                 .precision = options.precision};
    choose_format(&p, &p.real, false);
    if (p.complex)
        choose_format(&p, &p.imag, true);
    put_level(&p, 0, fxs_tensor_data(t), indent);
    return 0;
}

PyObject *fxpy_tensor_repr(PyObject *o) {
    FxpyTensor *x = (FxpyTensor *)o;
    const fxs_tensor *t = fxpy_tensor_meta(o);
    const char *name = "tensor";
    fxs_buf b = {0};
    bool empty = fxs_tensor_numel(t) == 0;
    if (Py_TYPE(o) != fxpy_tensor_type && !t->is_parameter) {
        name = strrchr(Py_TYPE(o)->tp_name, '.');
        name = name ? name + 1 : Py_TYPE(o)->tp_name;
    }
    size_t indent = strlen(name) + 1;
    fxs_buf_printf(&b, "%s(", name);
    if (x->meta || empty)
        fxs_buf_puts(&b, x->meta ? "..." : "[]");
    else if (put_values(&b, o, (int)indent) < 0) {
        fxs_buf_free(&b);
        return NULL;
    }
    put_suffixes(&b, x, indent, x->meta || (empty && t->ndim != 1));
    fxs_buf_putc(&b, ')');
    PyObject *text =
        b.failed ? PyErr_NoMemory() : PyUnicode_FromStringAndSize(b.data, (Py_ssize_t)b.len);
    fxs_buf_free(&b);
    return text;
}

/* ---- torch.set_printoptions ---- */

static PyObject *set_options(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"precision", "threshold", "edgeitems", "linewidth",
                            "profile",   "sci_mode",  NULL};
    PyObject *precision = Py_None, *threshold = Py_None, *edge = Py_None, *line = Py_None,
             *sci = Py_None;
    const char *profile = NULL;
    (void)self;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OOOOzO:set_printoptions", names, &precision,
                                     &threshold, &edge, &line, &profile, &sci))
        return NULL;
    if (profile) {
        bool brief = strcmp(profile, "short") == 0, full = strcmp(profile, "full") == 0;
        options.precision = brief ? 2 : PRECISION;
        options.edge = brief ? 2 : EDGE;
        options.threshold = full ? LLONG_MAX : THRESHOLD;
        options.line = LINE;
    }
    if (precision != Py_None)
        options.precision = (int)PyLong_AsLong(precision);
    if (threshold != Py_None) {
        double x = PyFloat_AsDouble(threshold); /* inf is usual */
        options.threshold = x < 9e18 ? (long long)x : LLONG_MAX;
    }
    if (edge != Py_None)
        options.edge = (int)PyLong_AsLong(edge);
    if (line != Py_None)
        options.line = (int)PyLong_AsLong(line);
    options.precision = options.precision < 0 ? 0 : options.precision > 60 ? 60 : options.precision;
    options.edge = options.edge < 0 ? 0 : options.edge;
    options.line = options.line < 1 ? 1 : options.line;
    options.scientific = sci == Py_None ? -1 : PyObject_IsTrue(sci) == 1;
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef functions[] = {
    {"set_printoptions", (PyCFunction)(void (*)(void))set_options, METH_VARARGS | METH_KEYWORDS,
     NULL},
    {0},
};

int fxpy_init_print(PyObject *module) { return PyModule_AddFunctions(module, functions); }
