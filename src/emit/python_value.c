/* python_value.c: arguments and paths as Python code: repr, but nodes and callables by the names
 * that the scope gives. Where torch.fx prints what is no Python (a function's address), the nearest
 * code is written. */
#include <string.h>

#include "base/pytext.h"
#include "emit/python.h"

void fxs_py_path(fxs_buf *b, const char *base, const char *path) {
    for (const char *s = path;;
         s++) { /* each name that can't stand behind a dot wraps all before it */
        size_t n = strcspn(s, ".");
        if (!fxs_py_identifier(s, n))
            fxs_buf_puts(b, "getattr(");
        s += n;
        if (!*s)
            break;
    }
    fxs_buf_puts(b, base);
    for (const char *s = path;; s++) {
        size_t n = strcspn(s, ".");
        /* torch.fx also puts keywords behind dots ("self.class"), and quotes into quotes; neither
         * compiles. */
        if (fxs_py_identifier(s, n)) {
            fxs_buf_putc(b, '.');
            fxs_buf_add(b, s, n);
        } else if (memchr(s, '"', n) || memchr(s, '\\', n) || memchr(s, '\n', n) ||
                   memchr(s, '\r', n)) {
            fxs_buf_puts(b, ", ");
            fxs_buf_quoted(b, s, n);
            fxs_buf_putc(b, ')');
        } else {
            fxs_buf_puts(b, ", \"");
            fxs_buf_add(b, s, n);
            fxs_buf_puts(b, "\")");
        }
        s += n;
        if (!*s)
            return;
    }
}

void fxs_py_indent(fxs_buf *b, const char *text, size_t indent) {
    for (const char *s = text;; s++) {
        size_t n = strcspn(s, "\n");
        fxs_buf_fill(b, ' ', indent);
        fxs_buf_add(b, s, n);
        s += n;
        if (!*s)
            return;
        fxs_buf_putc(b, '\n');
    }
}

/* ---- tensors
 * ---------------------------------------------------------------------------------------------- */

static void put_element(fxs_buf *b, fxs_dtype d, const char *at) {
    if (d == FXS_BOOL)
        fxs_buf_puts(b, fxs_load_int(d, at) ? "True" : "False");
    else if (fxs_is_integral(d))
        fxs_buf_printf(b, "%lld", (long long)fxs_load_int(d, at));
    else
        fxs_buf_float(b, fxs_load_double(d, at));
}

static void put_elements(fxs_buf *b, const fxs_tensor *t, int dim, const char *at) {
    int64_t size = (int64_t)fxs_dtype_size(t->dtype);
    if (dim == t->ndim) {
        put_element(b, t->dtype, at);
        return;
    }
    fxs_buf_putc(b, '[');
    for (int64_t i = 0; i < t->sizes[dim]; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        put_elements(b, t, dim + 1, at + i * t->strides[dim] * size);
    }
    fxs_buf_putc(b, ']');
}

/* torch.fx 1.13 writes repr(tensor), whose "tensor" is not defined and whose digits are rounded. A
 * tensor without values stays one. */
static void put_tensor(fxs_buf *b, const fxs_tensor *t) {
    const void *data = fxs_tensor_data(t);
    if (data && fxs_is_computable(t->dtype) && !fxs_is_complex(t->dtype) &&
        fxs_tensor_numel(t) > 0) {
        fxs_buf_puts(b, "torch.tensor(");
        put_elements(b, t, 0, data);
        fxs_buf_printf(b, ", dtype=torch.%s)", fxs_dtype_name(t->dtype));
        return;
    }
    fxs_buf_puts(b, "torch.empty(");
    fxs_buf_sizes(b, t->ndim, t->sizes);
    fxs_buf_printf(b, ", dtype=torch.%s%s)", fxs_dtype_name(t->dtype),
                   data ? "" : ", device='meta'");
}

/* ---- values
 * -----------------------------------------------------------------------------------------------
 */

static void put_sequence(fxs_py *p, fxs_buf *b, const fxs_value *v, const char *open,
                         const char *close) {
    size_t n = v->u.seq->len;
    fxs_buf_puts(b, open);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_py_value(p, b, &v->u.seq->items[i]);
    }
    if (n == 1 && v->tag == FXS_V_TUPLE && close[0] == ')')
        fxs_buf_putc(b, ',');
    fxs_buf_puts(b, close);
}

static void put_tuple(fxs_py *p, fxs_buf *b, const fxs_value *v) {
    if (v->u.seq->kind == FXS_TUPLE_SIZE) {
        put_sequence(p, b, v, "torch.Size([", "])");
        return;
    }
    /* A named tuple. torch.fx 1.13 does so at the top alone, and deeper writes a repr that names no
     * module. */
    if (v->u.seq->kind == FXS_TUPLE_NAMED && v->u.seq->type_name)
        fxs_py_object(p, b, v->u.seq->type_name, strlen(v->u.seq->type_name), false);
    put_sequence(p, b, v, "(", ")");
}

static void put_dict(fxs_py *p, fxs_buf *b, const fxs_value *v) {
    fxs_buf_putc(b, '{');
    for (size_t i = 0; i < v->u.dict->len; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_py_value(p, b, &v->u.dict->pairs[i].key);
        fxs_buf_puts(b, ": ");
        fxs_py_value(p, b, &v->u.dict->pairs[i].value);
    }
    fxs_buf_putc(b, '}');
}

/* What was printed without meaning: range(0, 3) is code. <class 'a.B'> and <function f at 0x7f> are
 * none: the class can be named, and any other object becomes a global that whoever runs the code
 * must define. */
static void put_opaque(fxs_py *p, fxs_buf *b, const char *s, size_t len) {
    if (len > 10 && memcmp(s, "<class '", 8) == 0 && memcmp(s + len - 2, "'>", 2) == 0 &&
        fxs_py_dotted(s + 8, len - 10))
        fxs_py_object(p, b, s + 8, len - 10, false);
    else if (len > 1 && s[0] == '<' && s[len - 1] == '>')
        fxs_py_object(p, b, s, len, false);
    else
        fxs_buf_add(b, s, len);
}

void fxs_py_value(fxs_py *p, fxs_buf *b, const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_NODE:
        fxs_py_node(p, b, v->u.node);
        break;
    case FXS_V_LIST:
        put_sequence(p, b, v, "[", "]");
        break;
    case FXS_V_SLICE:
        put_sequence(p, b, v, "slice(", ")");
        break;
    case FXS_V_TUPLE:
        put_tuple(p, b, v);
        break;
    case FXS_V_DICT:
        put_dict(p, b, v);
        break;
    case FXS_V_TENSOR:
        put_tensor(b, v->u.tensor);
        break;
    case FXS_V_FUNCTION:
        fxs_py_function(p, b, v->u.s->text);
        break;
    case FXS_V_OPAQUE:
        put_opaque(p, b, v->u.s->text, v->u.s->len);
        break;
    default:
        fxs_buf_repr(b, v, &(fxs_repr){0});
    }
}
