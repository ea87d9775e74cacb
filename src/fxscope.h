/* fxscope.h: the public interface of libfxscope, in the order of its flow.
 *
 *     fxs_ctx *ctx = fxs_ctx_new();
 *     fxs_module *m;
 *     fxs_load(ctx, "model.fx", NULL, &m);             a model: from a file, or written in C and
 *                                                      traced (fxs_trace, fxtrace.h)
 *     fxs_graph *g = fxs_module_graph(m);              its graph: walk it, edit it
 *     fxs_pass_run(m, "dead-code", NULL);              passes, patterns (fxpass.h)
 *     fxs_run(m, inputs, &options, &summary);          run it: each node keeps what it computed
 *     fxs_graph_print(g, 0, &text, NULL);              print it: graph, table, Python code
 *     fxs_draw(m, NULL, files, 1, NULL);               draw it (fxrender.h)
 *
 * Ownership in one paragraph: what an out-parameter gives you is yours, and freed with the matching
 * `_free` or `_unref`; a `const` pointer that is returned is borrowed from the first argument;
 * tensors and modules are counted; everything else lives in its graph or context. Every free
 * accepts NULL. Errors: every call that can fail returns an fxs_status; the message is in the
 * context (fxs_ctx_error), set where the error began. The library never prints, aborts or exits. A
 * context and what was made with it belong to one thread at a time. A text that is NULL or empty is
 * FXS_EINVAL where nothing else is said. */
#ifndef FXSCOPE_H
#define FXSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define FXS_API __attribute__((visibility("default")))
#define FXS_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#else
#define FXS_API
#define FXS_PRINTF(fmt, first)
#endif

/* ---- Status
 * ------------------------------------------------------------------------------------------- */

#define FXS_STATUS_MAP(X)                                                                          \
    X(OK, "success")                                                                               \
    X(ENOMEM, "out of memory")                                                                     \
    X(EIO, "input or output failed")                                                               \
    X(EPARSE, "text can't be parsed")                                                              \
    X(EINVAL, "an argument is wrong")                                                              \
    X(ETYPE, "types do not agree")                                                                 \
    X(ESHAPE, "shapes do not agree")                                                               \
    X(EINDEX, "an index is out of range")                                                          \
    X(ENOTFOUND, "a name is not there")                                                            \
    X(EUNKNOWN, "an operator is not known")                                                        \
    X(ELIMIT, "a limit is exceeded")                                                               \
    X(ELINT, "the graph is not well-formed")

typedef enum fxs_status {
#define X(name, text) FXS_##name,
    FXS_STATUS_MAP(X)
#undef X
        FXS_STATUS_COUNT
} fxs_status;

/* "EPARSE" and the like; never NULL. */
FXS_API const char *fxs_status_name(fxs_status s);
/* One English line; never NULL. */
FXS_API const char *fxs_status_text(fxs_status s);

/* "0.1.0" */
FXS_API const char *fxs_version(void);

/* ---- Context
 * ------------------------------------------------------------------------------------------ */

typedef struct fxs_ctx fxs_ctx;

/* A new context, or NULL when memory is out. One thread computes until fxs_ctx_set_threads. */
FXS_API fxs_ctx *fxs_ctx_new(void);
FXS_API void fxs_ctx_free(fxs_ctx *ctx);
/* The message of the first error since the last clear, or ""; borrowed until the next call. */
FXS_API const char *fxs_ctx_error(const fxs_ctx *ctx);
/* The status that belongs to that message. */
FXS_API fxs_status fxs_ctx_status(const fxs_ctx *ctx);
/* Forgets the error, so that the next one is kept. */
FXS_API void fxs_ctx_clear(fxs_ctx *ctx);
/* How many threads kernels may use: 1 to 256; 0 means one for each processor. */
FXS_API fxs_status fxs_ctx_set_threads(fxs_ctx *ctx, int threads);
/* Seeds parameters, random inputs and operators. One seed gives the same numbers everywhere. */
FXS_API void fxs_ctx_set_seed(fxs_ctx *ctx, uint64_t seed);
/* Frees text that the library gave (fxs_graph_print and its like). */
FXS_API void fxs_free(void *p);

/* ---- dtypes
 * ------------------------------------------------------------------------------------------- */

/* X(NAME, torch's name, bytes an element, class); class: b bool, i integer, f floating, c complex,
 * q quantised */
#define FXS_DTYPE_MAP(X)                                                                           \
    X(FLOAT32, "float32", 4, 'f')                                                                  \
    X(FLOAT64, "float64", 8, 'f')                                                                  \
    X(FLOAT16, "float16", 2, 'f')                                                                  \
    X(BFLOAT16, "bfloat16", 2, 'f')                                                                \
    X(INT64, "int64", 8, 'i')                                                                      \
    X(INT32, "int32", 4, 'i')                                                                      \
    X(INT16, "int16", 2, 'i')                                                                      \
    X(INT8, "int8", 1, 'i')                                                                        \
    X(UINT8, "uint8", 1, 'i')                                                                      \
    X(BOOL, "bool", 1, 'b')                                                                        \
    X(COMPLEX32, "complex32", 4, 'c')                                                              \
    X(COMPLEX64, "complex64", 8, 'c')                                                              \
    X(COMPLEX128, "complex128", 16, 'c')                                                           \
    X(QUINT8, "quint8", 1, 'q')                                                                    \
    X(QINT8, "qint8", 1, 'q')                                                                      \
    X(QINT32, "qint32", 4, 'q')                                                                    \
    X(QUINT4X2, "quint4x2", 1, 'q')                                                                \
    X(QUINT2X4, "quint2x4", 1, 'q')                                                                \
    X(UINT16, "uint16", 2, 'i')                                                                    \
    X(UINT32, "uint32", 4, 'i')                                                                    \
    X(UINT64, "uint64", 8, 'i')                                                                    \
    X(FLOAT8_E4M3FN, "float8_e4m3fn", 1, 'f')                                                      \
    X(FLOAT8_E5M2, "float8_e5m2", 1, 'f')

typedef enum fxs_dtype {
#define X(name, text, size, cls) FXS_##name,
    FXS_DTYPE_MAP(X)
#undef X
        FXS_DTYPE_COUNT
} fxs_dtype;

/* "float32"; never NULL. */
FXS_API const char *fxs_dtype_name(fxs_dtype d);
/* Finds a dtype by "float32", "torch.float32", or an alias of torch ("float", "long", "half", ...);
 * false when unknown.
 */
FXS_API bool fxs_dtype_find(const char *name, size_t len, fxs_dtype *out);
FXS_API size_t fxs_dtype_size(fxs_dtype d);

#define FXS_MEMORY_FORMAT_MAP(X)                                                                   \
    X(CONTIGUOUS, "torch.contiguous_format")                                                       \
    X(CHANNELS_LAST, "torch.channels_last")                                                        \
    X(CHANNELS_LAST_3D, "torch.channels_last_3d")                                                  \
    X(PRESERVE, "torch.preserve_format")

typedef enum fxs_memory_format {
#define X(name, text) FXS_##name,
    FXS_MEMORY_FORMAT_MAP(X)
#undef X
        FXS_MEMORY_FORMAT_COUNT,
    FXS_NO_FORMAT = FXS_MEMORY_FORMAT_COUNT /* none of them holds; prints as None */
} fxs_memory_format;

/* ---- Tensors
 * ------------------------------------------------------------------------------------------ */

typedef struct fxs_tensor fxs_tensor;
/* More dimensions than this are refused with FXS_ELIMIT. */
#define FXS_MAX_DIM 16

/* A counted tensor over fresh zeroed storage, contiguous; refuses sizes below 0 or too large. */
FXS_API fxs_status fxs_tensor_new(fxs_ctx *ctx, fxs_dtype dtype, int ndim, const int64_t *sizes,
                                  fxs_tensor **out);
/* The same without storage: a meta tensor. */
FXS_API fxs_status fxs_tensor_new_meta(fxs_ctx *ctx, fxs_dtype dtype, int ndim,
                                       const int64_t *sizes, fxs_tensor **out);
FXS_API fxs_tensor *fxs_tensor_ref(fxs_tensor *t);
FXS_API void fxs_tensor_unref(fxs_tensor *t);
FXS_API fxs_dtype fxs_tensor_dtype(const fxs_tensor *t);
FXS_API int fxs_tensor_ndim(const fxs_tensor *t);
/* ndim values each; borrowed. Strides count elements. */
FXS_API const int64_t *fxs_tensor_sizes(const fxs_tensor *t);
FXS_API const int64_t *fxs_tensor_strides(const fxs_tensor *t);
FXS_API int64_t fxs_tensor_numel(const fxs_tensor *t);
FXS_API bool fxs_tensor_requires_grad(const fxs_tensor *t);
/* The first that holds of contiguous, channels_last, channels_last_3d; else FXS_NO_FORMAT. */
FXS_API fxs_memory_format fxs_tensor_memory_format(const fxs_tensor *t);
/* The first element; NULL for a meta tensor. */
FXS_API void *fxs_tensor_data(const fxs_tensor *t);

/* ---- Values
 * ------------------------------------------------------------------------------------------- */

typedef struct fxs_node fxs_node;
typedef struct fxs_graph fxs_graph;
typedef struct fxs_module fxs_module;

typedef enum fxs_tag {
    FXS_V_NONE,
    FXS_V_BOOL,
    FXS_V_INT,
    FXS_V_FLOAT,
    FXS_V_COMPLEX,
    FXS_V_STR,
    FXS_V_DTYPE,
    FXS_V_DEVICE, /* text as torch prints it: cpu, cuda:0 */
    FXS_V_LAYOUT, /* text: torch.strided */
    FXS_V_MEMORY_FORMAT,
    FXS_V_ELLIPSIS,
    FXS_V_SLICE, /* three items: start, stop, step */
    FXS_V_LIST,
    FXS_V_TUPLE,
    FXS_V_DICT,
    FXS_V_NODE,     /* in arguments only */
    FXS_V_TENSOR,   /* in results and constants */
    FXS_V_FUNCTION, /* a callable, by its qualified name */
    FXS_V_OPAQUE,   /* something that has no meaning here: its text */
    FXS_V_OBJECT,   /* a user's pointer with a vtable */
    FXS_V_UNKNOWN   /* in results only: what could not be computed; prints as ? */
} fxs_tag;

/* What a tuple was in Python. */
typedef enum fxs_tuple_kind { FXS_TUPLE_PLAIN, FXS_TUPLE_SIZE, FXS_TUPLE_NAMED } fxs_tuple_kind;

typedef struct fxs_string fxs_string;
typedef struct fxs_seq fxs_seq;
typedef struct fxs_dict fxs_dict;
typedef struct fxs_object fxs_object;

/* One argument or result. Copying the struct does not count a reference; see fxs_value_ref. */
typedef struct fxs_value {
    fxs_tag tag;
    union {
        bool b;
        int64_t i;
        double f;
        double c[2]; /* real, imaginary */
        fxs_dtype dtype;
        fxs_memory_format format;
        fxs_string *s; /* STR DEVICE LAYOUT FUNCTION OPAQUE */
        fxs_seq *seq;  /* SLICE LIST TUPLE */
        fxs_dict *dict;
        fxs_node *node;
        fxs_tensor *tensor;
        fxs_object *object;
    } u;
} fxs_value;

static inline fxs_value fxs_none(void) { return (fxs_value){.tag = FXS_V_NONE}; }
static inline fxs_value fxs_bool(bool b) { return (fxs_value){.tag = FXS_V_BOOL, .u.b = b}; }
static inline fxs_value fxs_int(int64_t i) { return (fxs_value){.tag = FXS_V_INT, .u.i = i}; }
static inline fxs_value fxs_float(double f) { return (fxs_value){.tag = FXS_V_FLOAT, .u.f = f}; }
/* Takes over the reference. */
static inline fxs_value fxs_of_tensor(fxs_tensor *t) {
    return (fxs_value){.tag = FXS_V_TENSOR, .u.tensor = t};
}
static inline fxs_value fxs_of_node(fxs_node *n) {
    return (fxs_value){.tag = FXS_V_NODE, .u.node = n};
}

/* Containers and strings on the heap, counted once for the caller. Items are copied as structs, and
 * their references counted once more. */
FXS_API fxs_status fxs_value_str(fxs_ctx *ctx, const char *s, fxs_value *out);
FXS_API fxs_status fxs_value_tuple(fxs_ctx *ctx, size_t n, const fxs_value *items, fxs_value *out);
FXS_API fxs_status fxs_value_list(fxs_ctx *ctx, size_t n, const fxs_value *items, fxs_value *out);
/* start, stop and step may be none. */
FXS_API fxs_status fxs_value_slice(fxs_ctx *ctx, fxs_value start, fxs_value stop, fxs_value step,
                                   fxs_value *out);
/* A dict with text keys, and one with any keys. */
FXS_API fxs_status fxs_value_dict(fxs_ctx *ctx, size_t n, const char *const *keys,
                                  const fxs_value *values, fxs_value *out);
FXS_API fxs_status fxs_value_dict_of(fxs_ctx *ctx, size_t n, const fxs_value *keys,
                                     const fxs_value *values, fxs_value *out);
/* Counts one more reference of what v holds, and returns v. */
FXS_API fxs_value fxs_value_ref(fxs_value v);
/* Drops the reference, and makes *v none. */
FXS_API void fxs_value_unref(fxs_value *v);
/* Number of items of a list, tuple, slice or dict; 0 for others. */
FXS_API size_t fxs_value_len(const fxs_value *v);
/* Item i of a list, tuple, slice, or the i-th value of a dict; borrowed; NULL when out of range. */
FXS_API const fxs_value *fxs_value_item(const fxs_value *v, size_t i);
/* The i-th key of a dict; borrowed; NULL when out of range. */
FXS_API const fxs_value *fxs_value_key(const fxs_value *v, size_t i);
/* The text of a string, device, layout, function or opaque value; NULL for others. */
FXS_API const char *fxs_value_text(const fxs_value *v);
/* Python's repr of the value; nodes by name, tensors in the notation float32[1, 3]; yours to
 * fxs_free. */
FXS_API fxs_status fxs_value_print(fxs_ctx *ctx, const fxs_value *v, char **text);

/* ---- Modules
 * ------------------------------------------------------------------------------------------ */

FXS_API fxs_module *fxs_module_ref(fxs_module *m);
FXS_API void fxs_module_unref(fxs_module *m);
/* "Conv2d" */
FXS_API const char *fxs_module_class(const fxs_module *m);
/* The graph of a GraphModule, NULL for another module; borrowed. */
FXS_API fxs_graph *fxs_module_graph(const fxs_module *m);
/* The submodule at a dotted path ("layer1.0.conv1"; "" is m itself); borrowed; or NULL. */
FXS_API fxs_module *fxs_module_find(const fxs_module *m, const char *path);
/* Elements of all parameters below m, shared ones once; no parameter is made. */
FXS_API int64_t fxs_module_parameter_count(const fxs_module *m);
/* A module without children. args is a tuple and kwargs a dict of its own arguments as print(model)
 * shows them (NULL: none); both are copied. A class that is known brings its parameters along. */
FXS_API fxs_status fxs_module_new(fxs_ctx *ctx, const char *class_name, const fxs_value *args,
                                  const fxs_value *kwargs, fxs_module **out);
/* Puts a child under a name; the parent counts it. A name that is taken is refused. */
FXS_API fxs_status fxs_module_add_child(fxs_module *m, const char *name, fxs_module *child);
/* Declares a parameter or buffer of m itself. One that the class implies must agree in kind, dtype
 * and shape. */
FXS_API fxs_status fxs_module_add_tensor(fxs_module *m, const char *name, bool is_buffer,
                                         fxs_dtype dtype, int ndim, const int64_t *sizes);
/* Makes m a GraphModule: it takes the graph over. */
FXS_API void fxs_module_set_graph(fxs_module *m, fxs_graph *g);

/* Puts a submodule under a dotted path, in the place of one that is there; plain Modules are made
 * on the way. A tensor on the way is FXS_EINVAL. The tree counts it. */
FXS_API fxs_status fxs_module_add_submodule(fxs_module *m, const char *path, fxs_module *child);
/* FXS_ENOTFOUND unless the path leads to a submodule. */
FXS_API fxs_status fxs_module_delete_submodule(fxs_module *m, const char *path);
/* Keeps what m's graph gets or calls, what is on the way there, and all below it. *deleted (may be
 * NULL): how many went, with all that was below them. */
FXS_API fxs_status fxs_module_delete_all_unused_submodules(fxs_module *m, size_t *deleted);
/* Puts a parameter or buffer with given values under a name, in the place of one that is there;
 * counts t. Such values can't be made again from the seed, so they stay in memory, and a model file
 * can only declare their shape: fxs_module_save_weights keeps them. */
FXS_API fxs_status fxs_module_put_tensor(fxs_module *m, const char *name, bool is_buffer,
                                         fxs_tensor *t);
/* Gives parameters and buffers of m and below the values that a .safetensors file has for their
 * dotted names, in their own dtype. The file is mapped, not read: it must stay as it is while the
 * values are used. *notes (may be NULL; yours to fxs_free) is NULL, or one line for each name that
 * only the model or only the file has. A shape that differs is FXS_ESHAPE, a broken file
 * FXS_EPARSE; what came before the error in the file is loaded then. */
FXS_API fxs_status fxs_module_load_weights(fxs_module *m, const char *path, char **notes);
/* Writes such a file: the tensors of m and below that have given values; with `all` every parameter
 * and buffer, those that have no values yet made from the seed, one after the other. A shared
 * tensor is there under each of its names. What was at the path is replaced once all is written;
 * FXS_EIO when it can't be, FXS_ETYPE for a dtype that the format does not know. */
FXS_API fxs_status fxs_module_save_weights(const fxs_module *m, const char *path, bool all);
/* How many tensors below m have given values. */
FXS_API size_t fxs_module_given_tensors(const fxs_module *m);

/* ---- Loading
 * ------------------------------------------------------------------------------------------ */

/* Reads a model: a file name, or "-" for standard input. The front end is found by extension and
 * content, or named by `front` ("text"). *out is a module with a graph. Errors carry file, line and
 * column. */
FXS_API fxs_status fxs_load(fxs_ctx *ctx, const char *path, const char *front, fxs_module **out);
/* The same from memory; `name` stands for the file in messages. */
FXS_API fxs_status fxs_load_text(fxs_ctx *ctx, const char *name, const char *text, size_t len,
                                 fxs_module **out);

/* ---- Graphs and nodes
 * --------------------------------------------------------------------------------- */

#define FXS_KIND_MAP(X)                                                                            \
    X(PLACEHOLDER, "placeholder")                                                                  \
    X(GET_ATTR, "get_attr")                                                                        \
    X(CALL_FUNCTION, "call_function")                                                              \
    X(CALL_MODULE, "call_module")                                                                  \
    X(CALL_METHOD, "call_method")                                                                  \
    X(OUTPUT, "output")

typedef enum fxs_kind {
#define X(name, text) FXS_##name,
    FXS_KIND_MAP(X)
#undef X
        FXS_KIND_COUNT
} fxs_kind;

/* "call_module"; never NULL. */
FXS_API const char *fxs_kind_name(fxs_kind k);

/* An empty graph; freed with fxs_graph_free, or by the module that took it over. */
FXS_API fxs_status fxs_graph_new(fxs_ctx *ctx, fxs_graph **out);
FXS_API void fxs_graph_free(fxs_graph *g);
/* Appends a node. args is a tuple and kwargs a dict (NULL: empty); they are copied. An empty target
 * is FXS_EINVAL. name NULL: made from the target; "": _unnamed; either way it is made unique as
 * torch.fx does. type is the text of a type expression or NULL. */
FXS_API fxs_status fxs_graph_create_node(fxs_graph *g, fxs_kind kind, const char *target,
                                         const fxs_value *args, const fxs_value *kwargs,
                                         const char *name, const char *type, fxs_node **out);
/* torch's node.target = ...; the text is copied. The name stays. */
FXS_API fxs_status fxs_node_set_target(fxs_node *n, const char *target);
/* Replaces a node's arguments and keeps the users of all nodes right; copies. */
FXS_API fxs_status fxs_node_set_args(fxs_node *n, const fxs_value *args, const fxs_value *kwargs);
FXS_API fxs_ctx *fxs_graph_ctx(const fxs_graph *g);
/* Number of nodes. */
FXS_API size_t fxs_graph_len(const fxs_graph *g);
/* Forward walk: first, then next until NULL. */
FXS_API fxs_node *fxs_graph_first(const fxs_graph *g);
FXS_API fxs_node *fxs_node_next(const fxs_node *n);
FXS_API fxs_node *fxs_node_prev(const fxs_node *n);
FXS_API fxs_kind fxs_node_kind(const fxs_node *n);
FXS_API const char *fxs_node_name(const fxs_node *n);
/* "layer1.0.conv1", "torch.flatten", "view", ... */
FXS_API const char *fxs_node_target(const fxs_node *n);
/* A tuple and a dict; borrowed. */
FXS_API const fxs_value *fxs_node_args(const fxs_node *n);
FXS_API const fxs_value *fxs_node_kwargs(const fxs_node *n);
/* Nodes whose value n uses, each once, in argument order; returns how many, fills at most max. */
FXS_API size_t fxs_node_inputs(const fxs_node *n, fxs_node **out, size_t max);
/* Nodes that use n's value, in order of first use; returns how many, fills at most max. */
FXS_API size_t fxs_node_users(const fxs_node *n, fxs_node **out, size_t max);

/* The text of a type expression, NULL when the node has none. */
FXS_API const char *fxs_node_type(const fxs_node *n);
FXS_API fxs_graph *fxs_node_graph(const fxs_node *n);
/* The stack of n's call as Python prints it, NULL when there is none; borrowed from n's graph. */
FXS_API const char *fxs_node_stack_trace(const fxs_node *n);
/* The module that the graph belongs to, NULL when it belongs to none; borrowed. */
FXS_API fxs_module *fxs_graph_owning_module(const fxs_graph *g);

/* Whose weights (parameters) the blocks have that are drawn as one (fxoutline.h, fold). */
typedef enum fxs_sharing {
    FXS_SHARING_NONE,    /* they have none */
    FXS_SHARING_UNKNOWN, /* their layers are not in the module tree */
    FXS_SHARING_OWN,     /* each its own */
    FXS_SHARING_SOME,    /* some are in several blocks */
    FXS_SHARING_ALL      /* all have the same */
} fxs_sharing;

/* A module whose forward a trace was in. */
typedef struct fxs_scope {
    const struct fxs_scope *outer; /* NULL: the root */
    const char *path, *class_name; /* "" is the root's path */
    unsigned call, times; /* which call of the module, from 0; how many blocks it stands for, */
    fxs_sharing weights;  /* and whose weights these have */
} fxs_scope;
/* The innermost module that ran when n was recorded, n's graph's; NULL when n was not traced. */
FXS_API const fxs_scope *fxs_node_scope(const fxs_node *n);
/* A line of a source. */
typedef struct fxs_place {
    const char *file; /* NULL: not known */
    int line;
} fxs_place;
/* Where n was recorded, when the trace was asked for that. Borrowed from n's graph. */
FXS_API fxs_place fxs_node_place(const fxs_node *n);

/* torch's node.meta: values of your own with a node, by key, in the order in which they were first
 * set. v is copied, and may hold tensors but no nodes (FXS_EINVAL); NULL takes the key away. Copies
 * of the node have the same; neither a run nor a model file knows of them. */
FXS_API fxs_status fxs_node_set_user_meta(fxs_node *n, const char *key, const fxs_value *v);
/* Borrowed until that key is set again; NULL when it is not there. key NULL: all of them as a dict,
 * NULL when none was ever set. */
FXS_API const fxs_value *fxs_node_user_meta(const fxs_node *n, const char *key);

/* Checks names, order of definition and use, and (for a graph with an owner) that every target is
 * there. */
FXS_API fxs_status fxs_graph_lint(fxs_graph *g);

/* ---- Editing a graph
 * ---------------------------------------------------------------------------------- */

/* The six kinds of node, each appended at the insert point. args and kwargs as in
 * fxs_graph_create_node. */
FXS_API fxs_status fxs_graph_placeholder(fxs_graph *g, const char *name, const fxs_value *fallback,
                                         fxs_node **out);
FXS_API fxs_status fxs_graph_get_attr(fxs_graph *g, const char *path, fxs_node **out);
FXS_API fxs_status fxs_graph_call_function(fxs_graph *g, const char *qualified_name,
                                           const fxs_value *args, const fxs_value *kwargs,
                                           fxs_node **out);
FXS_API fxs_status fxs_graph_call_method(fxs_graph *g, const char *method, const fxs_value *args,
                                         const fxs_value *kwargs, fxs_node **out);
FXS_API fxs_status fxs_graph_call_module(fxs_graph *g, const char *path, const fxs_value *args,
                                         const fxs_value *kwargs, fxs_node **out);
FXS_API fxs_status fxs_graph_output(fxs_graph *g, const fxs_value *value, fxs_node **out);

/* Where new nodes go. */
typedef struct fxs_insert_point {
    fxs_node *at;
    bool after;
} fxs_insert_point;

/* From now on nodes go before n (NULL: to the very beginning), or behind it (NULL: to the end).
 * What is made behind n comes in reverse order, as in torch.fx: each new one stands directly behind
 * n. Returns the point before, for fxs_graph_restore_insert_point. A node of another graph is
 * FXS_EINVAL, and nothing changes. */
FXS_API fxs_status fxs_graph_inserting_before(fxs_graph *g, fxs_node *n, fxs_insert_point *before);
FXS_API fxs_status fxs_graph_inserting_after(fxs_graph *g, fxs_node *n, fxs_insert_point *before);
/* Where a point before it was; a zeroed one is the end, one of another graph changes nothing. */
FXS_API void fxs_graph_restore_insert_point(fxs_graph *g, fxs_insert_point p);

/* Takes a node without users out. It can still be asked for its name and neighbours; a walk that
 * stands on it goes on.
 */
FXS_API fxs_status fxs_graph_erase_node(fxs_graph *g, fxs_node *n);
/* Moves x directly before, or directly behind, n; both are of one graph. */
FXS_API fxs_status fxs_node_prepend(fxs_node *n, fxs_node *x);
FXS_API fxs_status fxs_node_append(fxs_node *n, fxs_node *x);
/* Replaces one argument: position i (negative from the end), or keyword. */
FXS_API fxs_status fxs_node_update_arg(fxs_node *n, int64_t i, const fxs_value *v);
FXS_API fxs_status fxs_node_update_kwarg(fxs_node *n, const char *name, const fxs_value *v);
/* Rewrites every use of n to `with` (NULL: to None) in the users that `filter` accepts (NULL: all),
 * in their order. *changed (may be NULL) is how many were. Replacing a node by itself is
 * FXS_EINVAL. With copy_meta the replacement gets n's recorded facts where it has none, and the
 * keys of n's user meta that it lacks. */
typedef bool fxs_user_filter(void *user, const fxs_node *candidate);
FXS_API fxs_status fxs_node_replace_all_uses_with(fxs_node *n, fxs_node *with,
                                                  fxs_user_filter *filter, void *user,
                                                  bool copy_meta, size_t *changed);
/* Rewrites every use of `old` in n's arguments to `with`; no error when there is none. */
FXS_API fxs_status fxs_node_replace_input_with(fxs_node *n, fxs_node *old, fxs_node *with);
/* Placeholders, outputs, functions with a side effect. A call_module asks its module, so the graph
 * needs an owner. */
FXS_API fxs_status fxs_node_is_impure(const fxs_node *n, bool *out);

/* Gives the value that stands for `from` in the graph that is copied into. */
typedef fxs_status fxs_node_map_fn(void *user, fxs_node *from, fxs_value *to);
/* A node like `n` in g; its arguments' nodes go through map (NULL: as they are). */
FXS_API fxs_status fxs_graph_node_copy(fxs_graph *g, const fxs_node *n, fxs_node_map_fn *map,
                                       void *user, fxs_node **out);

/* Node of one graph -> value in another. Grows as needed. */
typedef struct fxs_val_map fxs_val_map;
FXS_API fxs_status fxs_val_map_new(const fxs_graph *of, fxs_val_map **out);
FXS_API void fxs_val_map_free(fxs_val_map *m);
FXS_API fxs_status fxs_val_map_set(fxs_val_map *m, const fxs_node *from, fxs_value to);
/* Borrowed; NULL when there is none. */
FXS_API const fxs_value *fxs_val_map_get(const fxs_val_map *m, const fxs_node *from);
/* Copies all nodes of `from` that `map` does not have yet, and enters them there; the output is not
 * copied, its value as it reads in g is *output (none without an output; it lives in g). */
FXS_API fxs_status fxs_graph_copy_into(fxs_graph *g, const fxs_graph *from, fxs_val_map *map,
                                       fxs_value *output);
/* A graph of its own with the same nodes, names and types, without owner. */
FXS_API fxs_status fxs_graph_deep_copy(const fxs_graph *g, fxs_graph **out);
/* Lints, then erases from the end every node without users that is not impure. *erased (may be
 * NULL): how many. */
FXS_API fxs_status fxs_graph_eliminate_dead_code(fxs_graph *g, size_t *erased);

/* Where arguments of a traced forward were lists, tuples or dicts, each of their leaves is a
 * placeholder. torch.fx's flatten_inps and unflatten_outs: the arguments of forward as a list of
 * one value a placeholder, and its result from the flat list that the graph returns; both counted.
 * What is flat already stays. A tree of another form is FXS_ETYPE, FXS_EINDEX or FXS_ENOTFOUND. */
FXS_API fxs_status fxs_graph_flatten_inps(const fxs_graph *g, const fxs_value *args, size_t nargs,
                                          fxs_value *flat);
FXS_API fxs_status fxs_graph_unflatten_outs(const fxs_graph *g, const fxs_value *flat,
                                            fxs_value *out);

/* ---- Inputs
 * ------------------------------------------------------------------------------------------- */

typedef struct fxs_inputs fxs_inputs;

FXS_API fxs_status fxs_inputs_new(fxs_ctx *ctx, fxs_inputs **out);
FXS_API void fxs_inputs_free(fxs_inputs *in);
/* One input as on the command line: [NAME=]SHAPE[:DTYPE[:LOW..HIGH]], NAME=@FILE.npy, NAME=int:3,
 * float:0.5, bool:true, str:TEXT, none. SHAPE is 1x3x224x224, or "scalar" for a tensor without
 * dimensions. Several as one value: [1x3, 1x4], (1x3, none), {ids: 2x50:int64, mask: 2x50}. Of a
 * graph that was traced with trees, NAME is a parameter of forward or a placeholder. */
FXS_API fxs_status fxs_inputs_add(fxs_inputs *in, const char *spec);
/* A ready value for the placeholder `name` (NULL: the next one); takes over the reference. */
FXS_API fxs_status fxs_inputs_add_value(fxs_inputs *in, const char *name, fxs_value v);

/* ---- Running
 * ------------------------------------------------------------------------------------------ */

typedef enum fxs_run_mode {
    FXS_RUN_EXECUTE, /* infer, then compute */
    FXS_RUN_META /* infer alone: no tensor has storage, only shape-deciding values are computed */
} fxs_run_mode;

/* What became of a node. */
#define FXS_OUTCOME_MAP(X)                                                                         \
    X(NOT_RUN, "not run")                                                                          \
    X(DONE, "done")                                                                                \
    X(FAILED, "failed")   /* the operator refused its arguments */                                 \
    X(UNKNOWN, "unknown") /* there is no such operator or module here: its result is unknown */    \
    X(BLOCKED, "blocked") /* it needs the result of a node that failed or is unknown */

typedef enum fxs_outcome {
#define X(name, text) FXS_##name,
    FXS_OUTCOME_MAP(X)
#undef X
        FXS_OUTCOME_COUNT
} fxs_outcome;

/* Values of one tensor of a result; NaN and Inf take no part in min, max and mean. */
typedef struct fxs_stats {
    double min, max, mean;
    double zeros; /* share, 0 to 1 */
    int64_t nan, inf, numel;
} fxs_stats;

/* A node that is drawn once for several (fxoutline.h, fold): what they have together, and what is
 * not alike in them. Texts have ranges in the place of numbers that vary: "64…224". */
typedef struct fxs_spread {
    size_t nodes;              /* how many it is drawn for; 1: only what it gets is told
                                  otherwise, of which several are drawn as one */
    bool varies;               /* results or the number of inputs do */
    fxs_value least, most;     /* the result, every size and int the least, the greatest */
    const fxs_value *each;     /* the results one by one, in the order in which they are computed */
    size_t neach;              /* of these; 0: not known */
    const char *layer;         /* as print(model) shows it; NULL: as the node's own */
    const char *args, *kwargs; /* as torch.fx prints them; NULL: as the node's own */
    const char *const *inputs; /* of a box: what it gets, a text each */
    size_t ninputs;            /* of these texts */
    size_t fewest_inputs, most_inputs; /* nodes they get results from */
    double flops[2];                   /* of one, least and greatest; fxs_meta has the sum; 0: not
                                          known, or none */
    int64_t parameters[2];             /* the same; the sum counts a shared parameter once */
    double bytes;                      /* of all results together */
} fxs_spread;

/* What is recorded for a node. */
typedef struct fxs_meta {
    fxs_outcome outcome;
    fxs_value result; /* the structure, every tensor a meta tensor */
    const char
        *type_name; /* Python's name of the result's type: "torch.Tensor", "int", "torch.Size" */
    const char *message;     /* why it failed or is unknown; NULL otherwise */
    const fxs_node *culprit; /* for FXS_BLOCKED: the node whose result is missing */
    bool has_tensor;         /* a tensor is somewhere in the result */
    int64_t parameters;      /* elements of the module's or attribute's own parameters */
    double flops;            /* multiplies and adds counted apart */
    double bytes_read, bytes_written;
    double seconds;         /* executing only */
    const fxs_stats *stats; /* one a tensor of the result, in order; executing only */
    size_t nstats;
    double overlay; /* the user's own number for pictures, when has_overlay; of a box the sum */
    bool has_overlay;
    /* Of a box (fxoutline.h): nodes in it, equal blocks it stands for, the how many-th call of its
     * module it is, from 0; whose weights the blocks have. */
    size_t inside, times, nth;
    fxs_sharing weights;
    /* Of a node that is drawn for several; then parameters, FLOPs, bytes, seconds and the user's
     * number are sums over them, and the result is the first one's. NULL: it is one. Borrowed. */
    const fxs_spread *spread;
} fxs_meta;

/* Recorded facts of a node; borrowed; outcome is FXS_NOT_RUN before a run. */
FXS_API const fxs_meta *fxs_node_meta(const fxs_node *n);
/* Records a number of the user's own; NAN takes it away. The next run forgets it. */
FXS_API void fxs_node_set_overlay(fxs_node *n, double value);

typedef struct fxs_run_options {
    fxs_run_mode mode;
    bool train; /* dropout on, batch statistics used; false is eval mode */
    bool stats; /* record value statistics (executing only) */
    /* Called after each node with how many of how many are done; may be NULL. */
    void (*progress)(void *user, size_t done, size_t total);
    void *user;
} fxs_run_options;

/* Counts of one run. */
typedef struct fxs_run_summary {
    size_t nodes, failed, unknown, blocked;
    double flops, seconds;
    int64_t parameters;
    const fxs_node *first; /* the first node that failed, else the first unknown one, else NULL */
} fxs_run_summary;

/* Runs every node of m's graph and records it. A node that fails or is unknown does not stop the
 * others: the status is FXS_OK as long as the run itself went through, and `summary` (may be NULL)
 * counts the bad nodes. A placeholder without input and default has failed. A surplus or misnamed
 * input is FXS_EINVAL, and nothing is run. */
FXS_API fxs_status fxs_run(fxs_module *m, const fxs_inputs *in, const fxs_run_options *opt,
                           fxs_run_summary *summary);

/* ---- The interpreter
 * ---------------------------------------------------------------------------------- */

/* torch.fx's Interpreter: runs a graph with real values, each step of which may be replaced. Fields
 * of the methods that are NULL take the default, which a replacement may call. A method gets the
 * node's arguments with values in the place of nodes (borrowed; a tuple and a dict) and gives a
 * counted result. */
typedef struct fxs_interpreter fxs_interpreter;
typedef fxs_status fxs_step_fn(fxs_interpreter *it, fxs_node *n, const fxs_value *args,
                               const fxs_value *kwargs, fxs_value *result);
typedef struct fxs_interpreter_methods {
    fxs_status (*run_node)(fxs_interpreter *it, fxs_node *n, fxs_value *result);
    fxs_step_fn *placeholder, *get_attr, *call_function, *call_method, *call_module, *output;
    void *user;
} fxs_interpreter_methods;
typedef struct fxs_interpreter_options {
    fxs_interpreter_methods methods;
    fxs_run_mode mode;
    bool train;
    bool keep_values; /* values stay in the environment after their last use */
    bool flat; /* of a graph that was traced with trees of arguments: the inputs and the result are
                  their leaves */
} fxs_interpreter_options;

FXS_API fxs_status fxs_interpreter_new(fxs_module *m, const fxs_interpreter_options *opt,
                                       fxs_interpreter **out);
FXS_API void fxs_interpreter_free(fxs_interpreter *it);
FXS_API void *fxs_interpreter_user(const fxs_interpreter *it);
FXS_API fxs_ctx *fxs_interpreter_ctx(const fxs_interpreter *it);
/* The value of a node, borrowed; NULL when it has none (yet, or any more). */
FXS_API const fxs_value *fxs_interpreter_env(const fxs_interpreter *it, const fxs_node *n);
/* Gives a node a value in advance: it will not be run the next time. Takes over the reference. */
FXS_API fxs_status fxs_interpreter_set_env(fxs_interpreter *it, const fxs_node *n, fxs_value v);
/* Runs up to the output, whose value is *result (counted). args are the inputs in order; surplus
 * ones are ignored, unless they are trees, which are flattened. The first error ends the run; its
 * message names the node. */
FXS_API fxs_status fxs_interpreter_run(fxs_interpreter *it, const fxs_value *args, size_t nargs,
                                       fxs_value *result);
/* The default methods. */
FXS_API fxs_status fxs_interpreter_run_node(fxs_interpreter *it, fxs_node *n, fxs_value *result);
FXS_API fxs_step_fn fxs_interpreter_placeholder, fxs_interpreter_get_attr,
    fxs_interpreter_call_function, fxs_interpreter_call_method, fxs_interpreter_call_module,
    fxs_interpreter_output;

/* torch.fx's Transformer: an interpreter whose values are nodes of a new graph. The default of
 * every method but output is fxs_transformer_record, which makes the same node there. */
FXS_API fxs_status fxs_transformer_new(fxs_module *m, const fxs_interpreter_options *opt,
                                       fxs_interpreter **out);
FXS_API fxs_step_fn fxs_transformer_record;
/* The new graph, for methods that make other nodes; borrowed. */
FXS_API fxs_graph *fxs_transformer_graph(const fxs_interpreter *it);
/* Runs it. *out is a GraphModule that shares modules and parameters with the old one. */
FXS_API fxs_status fxs_transformer_run(fxs_interpreter *it, fxs_module **out);

/* ---- Printing
 * ----------------------------------------------------------------------------------------- */

enum { FXS_PRINT_TORCH2 = 1 }; /* num_users in place of #users */

/* The text of all printers is yours to fxs_free; len may be NULL. */

/* What Python's print(graph) gives, with a final newline. */
FXS_API fxs_status fxs_graph_print(const fxs_graph *g, unsigned flags, char **text, size_t *len);
/* Node.format_node() */
FXS_API fxs_status fxs_node_format(const fxs_node *n, unsigned flags, char **text);
/* graph.print_tabular() */
FXS_API fxs_status fxs_graph_print_tabular(const fxs_graph *g, char **text, size_t *len);
/* What Python's print(model) gives, with a final newline. */
FXS_API fxs_status fxs_module_print(const fxs_module *m, char **text, size_t *len);
/* The model as one file, which fxs_load reads back: module tree, declarations that no layer
 * implies, graph; what nodes know of the trace that made them (scope, place, stack) stands in
 * comments, which are read back too. It keeps no values of tensors (given ones:
 * fxs_module_save_weights), and nothing that a run recorded. */
FXS_API fxs_status fxs_module_print_file(const fxs_module *m, unsigned flags, char **text,
                                         size_t *len);

/* For the printers of Python code. */
enum {
    FXS_CODE_VERBOSE =
        1, /* comments with the source lines that nodes were traced from, as in print_readable() */
    FXS_CODE_SHAPES = 2, /* what the last run recorded, as a comment behind each statement */
    FXS_CODE_TORCH2 = 4  /* what PyTorch 2 does otherwise: values that nobody uses are freed too */
};

/* What GraphModule.code holds: `forward` as Python source. A call_method or output without
 * arguments is FXS_EINVAL. */
FXS_API fxs_status fxs_graph_python_code(const fxs_graph *g, unsigned flags, char **text,
                                         size_t *len);
/* torch's Graph.on_generate_code: whoever writes code of g passes the statements of forward's body,
 * as lines without indent, to fn, which gives the new ones piece by piece to put(out, ...); a bad
 * status ends the writing with it. Gives back what was there before: fn may call it first, and
 * setting it again puts it back; {0} is none. user is borrowed as long as it is set; copies of g do
 * not have it. */
typedef void fxs_put_fn(void *out, const char *text);
typedef struct fxs_code_transform {
    fxs_status (*fn)(void *user, const char *body, fxs_put_fn *put, void *out);
    void *user;
} fxs_code_transform;
FXS_API fxs_code_transform fxs_graph_on_generate_code(fxs_graph *g, fxs_code_transform t);
/* graph.python_code(root_module): the same with modules, parameters and buffers found under another
 * name than self: "model.conv(x)". NULL is self; a name that Python or the code has taken itself is
 * FXS_EINVAL, and a node of that name gets another. */
FXS_API fxs_status fxs_graph_python_code_with_root(const fxs_graph *g, const char *root,
                                                   unsigned flags, char **text, size_t *len);
/* GraphModule.print_readable(): that code in `class NAME(torch.nn.Module):`, always verbose, and
 * behind it the same of each GraphModule among m's children; no final newline. */
FXS_API fxs_status fxs_module_print_readable(const fxs_module *m, unsigned flags, char **text,
                                             size_t *len);
/* The globals of that code, one "name = object" a line: "math_sqrt = math.sqrt"; first the seven
 * that all code has. */
FXS_API fxs_status fxs_graph_python_globals(const fxs_graph *g, unsigned flags, char **text,
                                            size_t *len);
/* A whole .py file: imports, globals, and a class that builds m's modules with torch.nn and has
 * that forward; torch.fx traces the same graph from it. A GraphModule among m's modules becomes a
 * class of its own, with its forward (which torch.fx traces through). Layers that torch.nn does not
 * have, or whose arguments print(model) does not tell, and functions of the traced program itself
 * (__main__), raise NotImplementedError with their name when they are called. */
FXS_API fxs_status fxs_module_python_file(const fxs_module *m, unsigned flags, char **text,
                                          size_t *len);

#define FXS_TABLE_MAP(X)                                                                           \
    X(TEXT, "text")                                                                                \
    X(CSV, "csv")                                                                                  \
    X(JSON, "json")                                                                                \
    X(MARKDOWN, "markdown")                                                                        \
    X(TSV, "tsv")

typedef enum fxs_table_format {
#define X(name, text) FXS_TABLE_##name,
    FXS_TABLE_MAP(X)
#undef X
        FXS_TABLE_COUNT
} fxs_table_format;

FXS_API bool fxs_table_format_find(const char *name, fxs_table_format *out);
/* Node by node, what the last run recorded. */
FXS_API fxs_status fxs_module_print_table(const fxs_module *m, fxs_table_format format, char **text,
                                          size_t *len);
/* The operator table (name, types of tensors, modes, schema, spellings), then the layer classes;
 * `filter` keeps rows that contain it. */
FXS_API fxs_status fxs_print_ops(fxs_ctx *ctx, const char *filter, char **text, size_t *len);
/* Which names of a file can be computed: names of PyTorch, one a line, or the texts of a JSON list;
 * refuses a file that can't be read. */
FXS_API fxs_status fxs_print_coverage(fxs_ctx *ctx, const char *path, char **text, size_t *len);

#ifdef __cplusplus
}
#endif

#include "fxpass.h"

#endif
