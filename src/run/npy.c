/* npy.c: NumPy's array files. The header is a Python dict of three keys; the data follows,
 * little-endian. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/pytext.h"
#include "run/inputs.h"

typedef struct npy {
    fxs_ctx *ctx;
    const char *path;
    FILE *file;
    char *header;
    fxs_dtype dtype;
    bool fortran;
    int ndim;
    int64_t sizes[FXS_MAX_DIM];
} npy;

static fxs_status bad(npy *n, const char *what) {
    return fxs_fail(n->ctx, FXS_EPARSE, "%s: %s", n->path, what);
}

static fxs_status read_exactly(npy *n, void *to, size_t bytes) {
    if (fread(to, 1, bytes, n->file) == bytes)
        return FXS_OK;
    if (ferror(n->file))
        return fxs_fail(n->ctx, FXS_EIO, "%s: can't be read: %s", n->path, strerror(errno));
    return bad(n, "the file ends too early: it is shorter than its header says");
}

static fxs_status read_header(npy *n) {
    unsigned char head[12];
    FXS_TRY(read_exactly(n, head, 10));
    if (memcmp(head, "\x93NUMPY", 6) != 0)
        return bad(n, "this is no .npy file: it does not begin with \\x93NUMPY");
    size_t len = head[8] | (size_t)head[9] << 8;
    if (head[6] < 1 || head[6] > 3)
        return bad(n, "unknown version of the .npy format");
    if (head[6] > 1) {
        FXS_TRY(read_exactly(n, head + 10, 2));
        len |= (size_t)head[10] << 16 | (size_t)head[11] << 24;
    }
    if (len > 65536)
        return bad(n, "the header is too long");
    n->header = fxs_alloc0(len + 1, 1);
    if (!n->header)
        return fxs_fail_memory(n->ctx);
    return read_exactly(n, n->header, len);
}

static const char *field(const npy *n, const char *key) {
    const char *at = strstr(n->header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    at += strspn(at, "'\": ");
    return at;
}

static fxs_status read_descr(npy *n) {
    static const struct {
        const char *code;
        fxs_dtype dtype;
    } codes[] = {{"f4", FXS_FLOAT32},   {"f8", FXS_FLOAT64},    {"f2", FXS_FLOAT16},
                 {"i8", FXS_INT64},     {"i4", FXS_INT32},      {"i2", FXS_INT16},
                 {"i1", FXS_INT8},      {"u1", FXS_UINT8},      {"b1", FXS_BOOL},
                 {"c8", FXS_COMPLEX64}, {"c16", FXS_COMPLEX128}};
    const char *d = field(n, "descr");
    if (!d || (*d != '<' && *d != '|'))
        return bad(n, "the element type must be little-endian, as '<f4'");
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        size_t len = strlen(codes[i].code);
        if (strncmp(d + 1, codes[i].code, len) == 0 && (d[1 + len] == '\'' || d[1 + len] == '"')) {
            n->dtype = codes[i].dtype;
            return FXS_OK;
        }
    }
    return bad(n, "this element type is not supported");
}

static fxs_status read_shape(npy *n) {
    const char *s = field(n, "shape"), *fortran = field(n, "fortran_order");
    if (!s || *s != '(' || !fortran)
        return bad(n, "the header has no shape or order");
    n->fortran = strncmp(fortran, "True", 4) == 0;
    for (s++; *s != ')'; s += strspn(s, ", ")) {
        size_t digits = strspn(s, "0123456789");
        if (n->ndim == FXS_MAX_DIM)
            return bad(n, "too many dimensions");
        if (!fxs_read_int(s, digits, &n->sizes[n->ndim]))
            return bad(n, "the shape can't be read");
        n->ndim++;
        s += digits;
        if (*s != ',' && *s != ')')
            return bad(n, "the shape can't be read");
    }
    return FXS_OK;
}

/* Checked against the file's length first, so that a header of 10^18 elements asks for no memory.
 */
static fxs_status read_data(npy *n, fxs_tensor *t) {
    long at = ftell(n->file);
    size_t bytes = (size_t)fxs_tensor_numel(t) * fxs_dtype_size(t->dtype);
    if (at < 0 || fseek(n->file, 0, SEEK_END) != 0)
        return fxs_fail(n->ctx, FXS_EIO, "%s: can't be read: %s", n->path, strerror(errno));
    if ((size_t)(ftell(n->file) - at) < bytes)
        return bad(n, "the file ends too early: it is shorter than its header says");
    fseek(n->file, at, SEEK_SET);
    FXS_TRY(fxs_tensor_allocate(n->ctx, t));
    return read_exactly(n, t->storage->data, bytes);
}

static fxs_status read_file(npy *n, fxs_tensor **out) {
    int64_t strides[FXS_MAX_DIM];
    int reversed[FXS_MAX_DIM];
    FXS_TRY(read_header(n));
    FXS_TRY(read_descr(n));
    FXS_TRY(read_shape(n));
    for (int i = 0; i < n->ndim; i++)
        reversed[i] = n->ndim - 1 - i;
    FXS_TRY(fxs_tensor_make(n->ctx, n->dtype, n->ndim, n->sizes, NULL,
                            out)); /* refuses sizes that overflow */
    if (n->fortran) {
        fxs_strides_of(n->ndim, n->sizes, reversed, strides);
        memcpy((*out)->strides, strides, sizeof strides);
    }
    return read_data(n, *out);
}

fxs_status fxs_npy_read(fxs_ctx *ctx, const char *path, fxs_tensor **out) {
    npy n = {.ctx = ctx, .path = path, .file = fopen(path, "rb")};
    *out = NULL;
    if (!n.file)
        return fxs_fail(ctx, FXS_EIO, "%s: can't be opened: %s", path, strerror(errno));
    fxs_status s = read_file(&n, out);
    fclose(n.file);
    fxs_free(n.header);
    if (s != FXS_OK) {
        fxs_tensor_unref(*out);
        *out = NULL;
    }
    return s;
}
