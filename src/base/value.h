/* value.h: the one tagged value of arguments and results. Containers and texts are either counted
 * on the heap or owned by an arena (refs 0: counting does nothing); which of the two is said by the
 * arena argument of the makers (NULL: heap). */
#ifndef FXS_BASE_VALUE_H
#define FXS_BASE_VALUE_H

#include "base/ctx.h"
#include "base/tensor.h"

struct fxs_string {
    int refs;
    size_t len;
    char text[];
};

struct fxs_seq {
    int refs;
    fxs_tuple_kind kind;
    const char *type_name;     /* of a named tuple, static or in the same arena */
    const char *const *fields; /* their names, if the type's are not known to getattr anyway; NULL
                                  behind the last; as type_name */
    size_t len;
    fxs_value items[];
};

typedef struct fxs_pair {
    fxs_value key, value;
} fxs_pair;

struct fxs_dict {
    int refs;
    size_t len;
    fxs_pair pairs[];
};

/* A user's pointer that travels through a graph. */
typedef struct fxs_object_type {
    const char *name;
    void (*print)(const void *data, fxs_buf *out); /* Python's repr */
    void (*free)(void *data);
} fxs_object_type;

struct fxs_object {
    int refs;
    const fxs_object_type *type;
    void *data;
};

/* Deeper nesting than this is refused, so that every walk may recurse. */
enum { FXS_MAX_DEPTH = 200 };

/* tag: STR DEVICE LAYOUT FUNCTION OPAQUE */
FXS_API fxs_status fxs_make_text(fxs_ctx *ctx, fxs_arena *a, fxs_tag tag, const char *s, size_t len,
                                 fxs_value *out);
/* tag: LIST TUPLE SLICE; the items are none, to be filled. */
FXS_API fxs_status fxs_make_seq(fxs_ctx *ctx, fxs_arena *a, fxs_tag tag, size_t len,
                                fxs_value *out);
/* The pairs are none, to be filled. */
FXS_API fxs_status fxs_make_dict(fxs_ctx *ctx, fxs_arena *a, size_t len, fxs_value *out);
/* torch.Size */
FXS_API fxs_status fxs_make_size(fxs_ctx *ctx, int ndim, const int64_t *sizes, fxs_value *out);

/* Gives the value for one leaf in *out, which already holds the leaf itself (not counted). */
typedef fxs_status fxs_map_fn(void *user, const fxs_value *leaf, fxs_value *out);
/* torch.fx's map_aggregate: rebuilds lists, tuples, slices and dicts, calls fn for every other
 * value. New containers go to `a` (NULL: the heap). What fn gives must be counted for the result,
 * or live in `a`. */
FXS_API fxs_status fxs_value_map(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_map_fn *fn,
                                 void *user, fxs_value *out);
/* A copy whose containers and texts belong to `a` (NULL: the heap); nodes and tensors are shared
 * and counted. */
FXS_API fxs_status fxs_value_copy(fxs_ctx *ctx, fxs_arena *a, const fxs_value *v, fxs_value *out);
/* Calls fn for each leaf, depth first, in order; stops at the first that returns false and returns
 * false. */
typedef bool fxs_visit_fn(void *user, const fxs_value *leaf);
FXS_API bool fxs_value_visit(const fxs_value *v, fxs_visit_fn *fn, void *user);

/* Python's ==, for values without nodes and tensors. */
FXS_API bool fxs_value_equal(const fxs_value *a, const fxs_value *b);
bool fxs_value_has_tensor(const fxs_value *v);
bool fxs_value_has_node(const fxs_value *v);
/* Python's name of the value's type, as ShapeProp would record it: "torch.Tensor", "int",
 * "torch.Size", "NoneType". */
FXS_API const char *fxs_value_type_name(const fxs_value *v);

/* Names of the fields of a named tuple of PyTorch's, "torch.return_types.max", NULL behind the
 * last; NULL: it is not known. */
FXS_API const char *const *fxs_named_fields(const char *type);
/* Number of the field of a named tuple, the user's or PyTorch's; SIZE_MAX: there is none of that
 * name. */
FXS_API size_t fxs_named_field(const fxs_value *v, const char *name);

/* How a node in a value is written; base knows no nodes. */
typedef void fxs_node_text_fn(const fxs_node *n, fxs_buf *out);
/* Python's repr and str. Tensors are written by `tensor` (NULL: float32[1, 3]), what is only text
 * by `opaque` (NULL: as it is). */
typedef void fxs_tensor_text_fn(const fxs_tensor *t, fxs_buf *out);
typedef void fxs_opaque_text_fn(const fxs_value *v, fxs_buf *out);
typedef struct fxs_repr {
    fxs_node_text_fn *node;
    fxs_tensor_text_fn *tensor;
    fxs_opaque_text_fn *opaque;
} fxs_repr;
FXS_API void fxs_buf_repr(fxs_buf *b, const fxs_value *v, const fxs_repr *how);
FXS_API void fxs_buf_str(fxs_buf *b, const fxs_value *v, const fxs_repr *how);
/* "torch.channels_last", or "None" for FXS_NO_FORMAT. */
const char *fxs_memory_format_text(fxs_memory_format f);
/* "float32[1, 3, 16, 16]" */
void fxs_buf_tensor(fxs_buf *b, const fxs_tensor *t);

/* ---- bodies
 * -------------------------------------------------------------------------------------------- */

/* One reference more, one less, of what is no tensor. */
FXS_API void fxs_value_count(const fxs_value *v);
FXS_API void fxs_value_release(fxs_value *v);

FXS_INLINE fxs_value fxs_value_ref(fxs_value v) {
    if (v.tag == FXS_V_TENSOR)
        v.u.tensor->refs++;
    else
        fxs_value_count(&v);
    return v;
}

FXS_INLINE void fxs_value_unref(fxs_value *v) {
    if (v->tag == FXS_V_TENSOR)
        fxs_tensor_unref(v->u.tensor);
    else if (v->tag > FXS_V_COMPLEX) /* numbers and None are not counted */
        fxs_value_release(v);
    *v = (fxs_value){.tag = FXS_V_NONE};
}

/* *to = *from for what has just been made: a value that is read as a whole right after its parts
 * were written waits until those have reached the cache. */
static inline void fxs_value_move(fxs_value *to, const fxs_value *from) {
    if (from->tag == FXS_V_TENSOR) {
        to->tag = FXS_V_TENSOR;
        to->u.tensor = from->u.tensor;
    } else {
        *to = *from;
    }
}

FXS_INLINE size_t fxs_value_len(const fxs_value *v) {
    switch (v->tag) {
    case FXS_V_LIST:
    case FXS_V_TUPLE:
    case FXS_V_SLICE:
        return v->u.seq->len;
    case FXS_V_DICT:
        return v->u.dict->len;
    default:
        return 0;
    }
}

FXS_INLINE const fxs_value *fxs_value_item(const fxs_value *v, size_t i) {
    if (i >= fxs_value_len(v))
        return NULL;
    return v->tag == FXS_V_DICT ? &v->u.dict->pairs[i].value : &v->u.seq->items[i];
}

#endif
