/* pytext.c: see pytext.h; and values written as Python's repr and str do. */
#include "base/pytext.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value.h"

void fxs_buf_float(fxs_buf *b, double x) {
    char digits[40];
    if (isnan(x)) {
        fxs_buf_puts(b, "nan");
        return;
    }
    if (isinf(x)) {
        fxs_buf_puts(b, x < 0 ? "-inf" : "inf");
        return;
    }
    for (int n = 1; n <= 17; n++) { /* d.ddde+XX with the fewest digits that read back */
        snprintf(digits, sizeof digits, "%.*e", n - 1, x);
        if (strtod(digits, NULL) == x)
            break;
    }
    char *e = strchr(digits, 'e');
    int exp = atoi(e + 1);
    *e = '\0';
    char *d = digits;
    if (*d == '-') {
        fxs_buf_putc(b, '-');
        d++;
    }
    if (d[1] == '.')
        memmove(d + 1, d + 2, strlen(d + 2) + 1);
    int n = (int)strlen(d);
    if (exp < -4 || exp >= 16) {
        fxs_buf_printf(b, n > 1 ? "%c.%se%c%02d" : "%c%se%c%02d", d[0], d + 1, exp < 0 ? '-' : '+',
                       abs(exp));
    } else if (exp < 0) {
        fxs_buf_puts(b, "0.");
        fxs_buf_fill(b, '0', (size_t)(-exp - 1));
        fxs_buf_puts(b, d);
    } else if (n <= exp + 1) {
        fxs_buf_puts(b, d);
        fxs_buf_fill(b, '0', (size_t)(exp + 1 - n));
        fxs_buf_puts(b, ".0");
    } else {
        fxs_buf_add(b, d, (size_t)exp + 1);
        fxs_buf_putc(b, '.');
        fxs_buf_puts(b, d + exp + 1);
    }
}

size_t fxs_utf8_len(const char *s, size_t left) {
    const unsigned char *u = (const unsigned char *)s;
    if (left == 0)
        return 0;
    if (u[0] < 0x80)
        return 1;
    size_t n = u[0] >= 0xc2 && u[0] < 0xe0   ? 2
               : u[0] >= 0xe0 && u[0] < 0xf0 ? 3
               : u[0] >= 0xf0 && u[0] < 0xf5 ? 4
                                             : 0;
    if (n == 0 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((u[i] & 0xc0) != 0x80)
            return 0;
    if ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f) ||
        (u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f))
        return 0; /* overlong, surrogate, beyond U+10FFFF */
    return n;
}

static uint32_t code_point(const char *s, size_t n) {
    static const unsigned char first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = (unsigned char)s[0] & first[n];
    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    return c;
}

/* Three bytes that would be a surrogate, if one were UTF-8: Python's strings can hold it. Those
 * from U+DC80 to U+DCFF stand for single bytes, so that the three are written one by one. */
static bool is_surrogate(const char *s, size_t left) {
    const unsigned char *u = (const unsigned char *)s;
    return left >= 3 && u[0] == 0xed && (u[1] & 0xe0) == 0xa0 && (u[2] & 0xc0) == 0x80 &&
           !(code_point(s, 3) >= 0xdc80 && code_point(s, 3) <= 0xdcff);
}

/* A byte that is no UTF-8 is a surrogate, as Python reads it where it has to. */
static size_t put_code_point(fxs_buf *b, const char *s, size_t left) {
    size_t n = fxs_utf8_len(s, left);
    uint32_t c = n ? code_point(s, n) : 0xdc00u + (unsigned char)s[0];
    if (!n && is_surrogate(s, left)) {
        n = 3;
        c = code_point(s, n);
    }
    if (n && fxs_is_printable(c))
        fxs_buf_add(b, s, n);
    else
        fxs_buf_printf(b, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
    return n ? n : 1;
}

void fxs_buf_quoted(fxs_buf *b, const char *s, size_t len) {
    char quote = memchr(s, '\'', len) && !memchr(s, '"', len) ? '"' : '\'';
    fxs_buf_putc(b, quote);
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)s[i];
        size_t n = 1;
        if (c == (unsigned char)quote || c == '\\')
            fxs_buf_printf(b, "\\%c", c);
        else if (c == '\n')
            fxs_buf_puts(b, "\\n");
        else if (c == '\r')
            fxs_buf_puts(b, "\\r");
        else if (c == '\t')
            fxs_buf_puts(b, "\\t");
        else
            n = put_code_point(b, s + i, len - i);
        i += n;
    }
    fxs_buf_putc(b, quote);
}

bool fxs_is_device(const char *s, size_t len) {
    static const char *const types[] = {"cpu", "cuda", "mps", "xpu",
                                        "xla", "meta", "hpu", "privateuseone"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        size_t n = strlen(types[i]);
        if (len < n || memcmp(s, types[i], n) != 0)
            continue;
        if (len == n)
            return true;
        if (s[n] != ':' || len == n + 1)
            continue;
        for (size_t k = n + 1; k < len; k++)
            if (s[k] < '0' || s[k] > '9')
                return false;
        return true;
    }
    return false;
}

bool fxs_read_int(const char *s, size_t len, int64_t *out) {
    char text[24];
    size_t digits = len && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    if (len <= digits || len >= sizeof text)
        return false;
    for (size_t i = digits; i < len; i++)
        if (s[i] < '0' || s[i] > '9')
            return false;
    memcpy(text, s, len);
    text[len] = '\0';
    errno = 0;
    long long v = strtoll(text, NULL, 10);
    if (errno)
        return false;
    *out = v;
    return true;
}

bool fxs_read_float(const char *s, size_t len, double *out) {
    char text[64], *end;
    size_t i = len && (s[0] == '-' || s[0] == '+') ? 1 : 0;
    if (len <= i || len >= sizeof text)
        return false;
    memcpy(text, s, len);
    text[len] = '\0';
    if (strcmp(text + i, "inf") == 0 || strcmp(text + i, "nan") == 0) {
        *out = text[i] == 'n' ? (double)NAN : s[0] == '-' ? (double)-INFINITY : (double)INFINITY;
        return true;
    }
    if (strspn(text + i, "0123456789.eE+-") != len - i || strpbrk(text + i, "0123456789") == NULL)
        return false;
    *out = strtod(text, &end);
    return *end == '\0';
}

/* ---- values
 * ------------------------------------------------------------------------------------------- */

void fxs_buf_tensor(fxs_buf *b, const fxs_tensor *t) {
    fxs_buf_puts(b, fxs_dtype_name(t->dtype));
    fxs_buf_sizes(b, t->ndim, t->sizes);
}

static void put_complex(fxs_buf *b, const double *c) {
    bool real = c[0] != 0 || signbit(c[0]);
    fxs_buf imag = {0};
    fxs_buf_float(&imag, c[1]);
    if (imag.len > 2 && strcmp(imag.data + imag.len - 2, ".0") == 0) /* (2+3j), not (2.0+3.0j) */
        fxs_buf_cut(&imag, imag.len - 2);
    if (real) {
        fxs_buf_putc(b, '(');
        size_t at = b->len;
        fxs_buf_float(b, c[0]);
        if (!b->failed && b->len - at > 2 && strcmp(b->data + b->len - 2, ".0") == 0)
            fxs_buf_cut(b, b->len - 2);
        if (imag.data && imag.data[0] != '-')
            fxs_buf_putc(b, '+');
    }
    if (imag.data)
        fxs_buf_puts(b, imag.data);
    fxs_buf_puts(b, real ? "j)" : "j");
    fxs_buf_free(&imag);
}

static void repr_items(fxs_buf *b, const fxs_value *v, const char *open, const char *close,
                       const fxs_repr *how) {
    size_t n = v->u.seq->len;
    fxs_buf_puts(b, open);
    for (size_t i = 0; i < n; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_buf_repr(b, &v->u.seq->items[i], how);
    }
    if (n == 1 && v->tag == FXS_V_TUPLE && close[0] == ')' && close[1] == '\0')
        fxs_buf_putc(b, ',');
    fxs_buf_puts(b, close);
}

static void repr_dict(fxs_buf *b, const fxs_value *v, const fxs_repr *how) {
    fxs_buf_putc(b, '{');
    for (size_t i = 0; i < v->u.dict->len; i++) {
        if (i)
            fxs_buf_puts(b, ", ");
        fxs_buf_repr(b, &v->u.dict->pairs[i].key, how);
        fxs_buf_puts(b, ": ");
        fxs_buf_repr(b, &v->u.dict->pairs[i].value, how);
    }
    fxs_buf_putc(b, '}');
}

static void repr_device(fxs_buf *b, const char *text) {
    const char *colon = strchr(text, ':');
    if (colon)
        fxs_buf_printf(b, "device(type='%.*s', index=%s)", (int)(colon - text), text, colon + 1);
    else
        fxs_buf_printf(b, "device(type='%s')", text);
}

const char *fxs_memory_format_text(fxs_memory_format f) {
    static const char *const names[] = {
#define X(name, text) text,
        FXS_MEMORY_FORMAT_MAP(X)
#undef X
            "None"};
    return names[f];
}

void fxs_buf_repr(fxs_buf *b, const fxs_value *v, const fxs_repr *how) {
    switch (v->tag) {
    case FXS_V_NONE:
        fxs_buf_puts(b, "None");
        break;
    case FXS_V_BOOL:
        fxs_buf_puts(b, v->u.b ? "True" : "False");
        break;
    case FXS_V_INT:
        fxs_buf_printf(b, "%lld", (long long)v->u.i);
        break;
    case FXS_V_FLOAT:
        fxs_buf_float(b, v->u.f);
        break;
    case FXS_V_COMPLEX:
        put_complex(b, v->u.c);
        break;
    case FXS_V_STR:
        fxs_buf_quoted(b, v->u.s->text, v->u.s->len);
        break;
    case FXS_V_DTYPE:
        fxs_buf_printf(b, "torch.%s", fxs_dtype_name(v->u.dtype));
        break;
    case FXS_V_DEVICE:
        repr_device(b, v->u.s->text);
        break;
    case FXS_V_OPAQUE:
        if (how->opaque) {
            how->opaque(v, b);
            break;
        }
        /* fall through */
    case FXS_V_LAYOUT:
    case FXS_V_FUNCTION:
        fxs_buf_add(b, v->u.s->text, v->u.s->len);
        break;
    case FXS_V_MEMORY_FORMAT:
        fxs_buf_puts(b, fxs_memory_format_text(v->u.format));
        break;
    case FXS_V_ELLIPSIS:
        fxs_buf_puts(b, "Ellipsis");
        break;
    case FXS_V_SLICE:
        repr_items(b, v, "slice(", ")", how);
        break;
    case FXS_V_LIST:
        repr_items(b, v, "[", "]", how);
        break;
    case FXS_V_TUPLE:
        if (v->u.seq->kind == FXS_TUPLE_SIZE)
            repr_items(b, v, "torch.Size([", "])", how);
        else
            repr_items(b, v, "(", ")", how);
        break;
    case FXS_V_DICT:
        repr_dict(b, v, how);
        break;
    case FXS_V_NODE:
        if (how->node)
            how->node(v->u.node, b);
        break;
    case FXS_V_TENSOR:
        if (how->tensor)
            how->tensor(v->u.tensor, b);
        else
            fxs_buf_tensor(b, v->u.tensor);
        break;
    case FXS_V_OBJECT:
        if (v->u.object->type->print)
            v->u.object->type->print(v->u.object->data, b);
        else
            fxs_buf_printf(b, "<%s object>", v->u.object->type->name);
        break;
    case FXS_V_UNKNOWN:
        fxs_buf_putc(b, '?');
        break;
    }
}

void fxs_buf_str(fxs_buf *b, const fxs_value *v, const fxs_repr *how) {
    if (v->tag == FXS_V_STR || v->tag == FXS_V_DEVICE)
        fxs_buf_add(b, v->u.s->text, v->u.s->len);
    else
        fxs_buf_repr(b, v, how);
}
