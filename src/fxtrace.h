/* fxtrace.h: networks written in C. Modules are put together with fxs_nn..., their forward
 * functions are C functions over fxs_proxy, and fxs_trace runs them once and records the graph that
 * torch.fx would record for the same network in Python: the same names, targets, arguments and
 * module paths.
 *
 *     static fxs_proxy forward(fxs_proxy self, const fxs_proxy *x) {
 *         fxs_proxy y = fxs_call(self, "conv", x[0]);
 *         return fxs_add(fxs_relu(y), fxs_attr(self, "bias"));
 *     }
 *
 * A proxy stands for a value that is not there yet; plain C numbers and strings may be given where
 * one is expected. It is sticky: after the first error every call does nothing, and fxs_trace
 * returns that error with the place in the caller's source. Proxies live as long as the trace; they
 * are passed by value and never freed. C does not say which of a call's arguments is computed
 * first. gcc and clang go from left to right in all calls here, as Python does; where the order of
 * nodes must not depend on that, give each call a line of its own. fxops.h, which is generated, has
 * a typed macro for every operator of the library. */
#ifndef FXTRACE_H
#define FXTRACE_H

#include <stdio.h>

#include "fxscope.h"

#ifdef __cplusplus
#error "fxtrace.h uses C11 (_Generic and compound literals); write traced networks in C"
#endif

typedef struct fxs_tracer fxs_tracer;

typedef enum fxs_proxy_kind {
    FXS_P_ABSENT, /* not given: what a zeroed field of a generated macro's arguments says */
    FXS_P_POISON, /* what a failed call gives */
    FXS_P_VALUE,  /* a node, a constant, or a container of them */
    FXS_P_TEXT,   /* a string, or by tag a device; borrowed */
    FXS_P_INTS,   /* a tuple of ints; borrowed */
    FXS_P_ITEMS,  /* by tag a list, tuple, slice or dict without nodes; borrowed */
    FXS_P_MODULE  /* a module of the network that is traced */
} fxs_proxy_kind;

typedef struct fxs_proxy {
    fxs_tracer *tracer;  /* NULL: a constant */
    const char *keyword; /* set by FXS_KW */
    unsigned char kind, tag;
    unsigned n;
    union {
        fxs_value value;
        const char *text;
        const int64_t *ints;
        const struct fxs_proxy *items;
        fxs_module *module;
    } u;
} fxs_proxy;

/* The caller's line: for messages, and for nodes where asked. */
#define FXS_HERE ((fxs_place){__FILE__, __LINE__})

/* ---- Constants
 * ---------------------------------------------------------------------------------------- */

static inline fxs_proxy fxs_v(fxs_value v) {
    return (fxs_proxy){.kind = FXS_P_VALUE, .u.value = v};
}
static inline fxs_proxy fxs_i(int64_t i) { return fxs_v(fxs_int(i)); }
static inline fxs_proxy fxs_f(double f) { return fxs_v(fxs_float(f)); }
/* In C, true is an int: say fxs_b(true) where Python says True. */
static inline fxs_proxy fxs_b(bool b) { return fxs_v(fxs_bool(b)); }
static inline fxs_proxy fxs_d(fxs_dtype d) {
    return fxs_v((fxs_value){.tag = FXS_V_DTYPE, .u.dtype = d});
}
static inline fxs_proxy fxs_format(fxs_memory_format f) {
    return fxs_v((fxs_value){.tag = FXS_V_MEMORY_FORMAT, .u.format = f});
}
/* The text is borrowed until the call that it is given to. */
static inline fxs_proxy fxs_s(const char *s) {
    return (fxs_proxy){.kind = FXS_P_TEXT, .tag = FXS_V_STR, .u.text = s};
}
static inline fxs_proxy fxs_device(const char *s) {
    return (fxs_proxy){.kind = FXS_P_TEXT, .tag = FXS_V_DEVICE, .u.text = s};
}
static inline fxs_proxy fxs_p(fxs_proxy p) { return p; }
/* A tensor that is there already: becomes an attribute _tensor_constantN of the root, and a
 * get_attr node at each use. Counted from then on: keep a reference of your own until the call that
 * it is given to. */
static inline fxs_proxy fxs_constant(fxs_tensor *t) {
    return fxs_v((fxs_value){.tag = FXS_V_TENSOR, .u.tensor = t});
}
#define FXS_NONE fxs_v(fxs_none())
#define FXS_ELLIPSIS fxs_v((fxs_value){.tag = FXS_V_ELLIPSIS})

/* Whatever may be given as an argument, as a proxy: proxies, integers, floating numbers, bool,
 * strings. */
#define FXS_P(v)                                                                                   \
    _Generic((v),                                                                                                      \
        fxs_proxy: fxs_p,                                                                                              \
        bool: fxs_b,                                                                                                   \
        int: fxs_i,                                                                                                    \
        long: fxs_i,                                                                                                   \
        long long: fxs_i,                                                                                              \
        unsigned: fxs_i,                                                                                               \
        unsigned long: fxs_i,                                                                                          \
        unsigned long long: fxs_i,                                                                                     \
        float: fxs_f,                                                                                                  \
        double: fxs_f,                                                                                                 \
        char *: fxs_s,                                                                                                 \
        const char *: fxs_s)(v)

/* FXS_P of each of up to 24 arguments. */
#define FXS_COUNT(...)                                                                             \
    FXS_COUNT_(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7,   \
               6, 5, 4, 3, 2, 1, 0)
#define FXS_COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, N, ...) N
#define FXS_JOIN_(a, b) a##b
#define FXS_JOIN(a, b) FXS_JOIN_(a, b)
#define FXS_MAP(...) FXS_JOIN(FXS_MAP, FXS_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define FXS_MAP1(a) FXS_P(a)
#define FXS_MAP2(a, ...) FXS_P(a), FXS_MAP1(__VA_ARGS__)
#define FXS_MAP3(a, ...) FXS_P(a), FXS_MAP2(__VA_ARGS__)
#define FXS_MAP4(a, ...) FXS_P(a), FXS_MAP3(__VA_ARGS__)
#define FXS_MAP5(a, ...) FXS_P(a), FXS_MAP4(__VA_ARGS__)
#define FXS_MAP6(a, ...) FXS_P(a), FXS_MAP5(__VA_ARGS__)
#define FXS_MAP7(a, ...) FXS_P(a), FXS_MAP6(__VA_ARGS__)
#define FXS_MAP8(a, ...) FXS_P(a), FXS_MAP7(__VA_ARGS__)
#define FXS_MAP9(a, ...) FXS_P(a), FXS_MAP8(__VA_ARGS__)
#define FXS_MAP10(a, ...) FXS_P(a), FXS_MAP9(__VA_ARGS__)
#define FXS_MAP11(a, ...) FXS_P(a), FXS_MAP10(__VA_ARGS__)
#define FXS_MAP12(a, ...) FXS_P(a), FXS_MAP11(__VA_ARGS__)
#define FXS_MAP13(a, ...) FXS_P(a), FXS_MAP12(__VA_ARGS__)
#define FXS_MAP14(a, ...) FXS_P(a), FXS_MAP13(__VA_ARGS__)
#define FXS_MAP15(a, ...) FXS_P(a), FXS_MAP14(__VA_ARGS__)
#define FXS_MAP16(a, ...) FXS_P(a), FXS_MAP15(__VA_ARGS__)
#define FXS_MAP17(a, ...) FXS_P(a), FXS_MAP16(__VA_ARGS__)
#define FXS_MAP18(a, ...) FXS_P(a), FXS_MAP17(__VA_ARGS__)
#define FXS_MAP19(a, ...) FXS_P(a), FXS_MAP18(__VA_ARGS__)
#define FXS_MAP20(a, ...) FXS_P(a), FXS_MAP19(__VA_ARGS__)
#define FXS_MAP21(a, ...) FXS_P(a), FXS_MAP20(__VA_ARGS__)
#define FXS_MAP22(a, ...) FXS_P(a), FXS_MAP21(__VA_ARGS__)
#define FXS_MAP23(a, ...) FXS_P(a), FXS_MAP22(__VA_ARGS__)
#define FXS_MAP24(a, ...) FXS_P(a), FXS_MAP23(__VA_ARGS__)
#define FXS_ALL_OF(...)                                                                            \
    FXS_COUNT(__VA_ARGS__), (fxs_proxy[]) { FXS_MAP(__VA_ARGS__) }

/* Python's [a, b], (a, b), a:b:c and {k: v}. With a node in them they live as long as the trace,
 * otherwise until the end of the block that they are written in. */
#define FXS_LIST(...) fxs_sequence_of(FXS_V_LIST, FXS_ALL_OF(__VA_ARGS__))
#define FXS_TUPLE(...) fxs_sequence_of(FXS_V_TUPLE, FXS_ALL_OF(__VA_ARGS__))
#define FXS_SLICE(start, stop, step) fxs_sequence_of(FXS_V_SLICE, FXS_ALL_OF(start, stop, step))
/* A bare colon: every index. */
#define FXS_ALL FXS_SLICE(FXS_NONE, FXS_NONE, FXS_NONE)
/* Keys and values in turn. */
#define FXS_DICT(...) fxs_sequence_of(FXS_V_DICT, FXS_ALL_OF(__VA_ARGS__))
/* A tuple of plain ints: FXS_INTS(2, 2). */
#define FXS_INTS(...)                                                                              \
    ((fxs_proxy){.kind = FXS_P_INTS,                                                               \
                 .n = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                          \
                 .u.ints = (const int64_t[]){__VA_ARGS__}})
/* The same from an array; tag is FXS_V_LIST, _TUPLE, _SLICE or _DICT. n may be 0. What is none of
 * these, and a dict without the value of its last key, is an error where it is used. */
FXS_API fxs_proxy fxs_sequence_of(fxs_tag tag, size_t n, const fxs_proxy *items);

/* An argument by keyword, in any of the calls below that take a list of arguments. */
#define FXS_KW(name, v) fxs_keyword((name), FXS_P(v))
static inline fxs_proxy fxs_keyword(const char *name, fxs_proxy p) {
    p.keyword = name ? name : ""; /* which is refused */
    return p;
}

/* ---- Putting modules together
 * --------------------------------------------------------------------------- */

/* A module: a layer as PyTorch's constructor takes it ("Conv2d(3, 64, 7, stride=2)": then it prints
 * as print(model) shows it), the name of a class of your own ("BasicBlock"), or a whole tree as
 * print(model) gives it. The text is a printf format. Yours, or NULL: then the error is in the
 * context, and fxs_trace will return it. */
FXS_API fxs_module *fxs_nn(fxs_ctx *ctx, const char *format, ...) FXS_PRINTF(2, 3);
/* Puts such a module under m; name NULL is the next number, as in Sequential and ModuleList.
 * Returns it, borrowed from m; NULL after an error, also when m is NULL. */
FXS_API fxs_module *fxs_nn_add(fxs_module *m, const char *name, const char *format, ...)
    FXS_PRINTF(3, 4);
/* Puts a ready module under m, and takes over the reference; returns it, borrowed from m. */
FXS_API fxs_module *fxs_nn_put(fxs_module *m, const char *name, fxs_module *child);
/* Declares a parameter or buffer of m: "float32[1, 64, 128]". */
FXS_API fxs_status fxs_nn_parameter(fxs_module *m, const char *name, const char *format, ...)
    FXS_PRINTF(3, 4);
FXS_API fxs_status fxs_nn_buffer(fxs_module *m, const char *name, const char *format, ...)
    FXS_PRINTF(3, 4);

/* torch's m.train(on), of m and all below: what fxs_training says in a forward, and how layers that
 * are traced through are recorded. Modules begin in training, as PyTorch's do; fxs_nn_train(m,
 * false) is m.eval(). A run has its own switch, fxs_run_options.train. m may be NULL. */
FXS_API void fxs_nn_train(fxs_module *m, bool on);

/* What a module computes: self is the module, x[i] its i-th parameter in the order of the
 * signature. */
typedef fxs_proxy fxs_forward_fn(fxs_proxy self, const fxs_proxy *x);
/* Gives m a forward, so that a trace goes through it. The signature is Python's: "x: torch.Tensor,
 * y=None, *args", and perhaps "-> torch.Tensor" behind it. Sequential has one already. m may be
 * NULL (after an error). */
FXS_API fxs_status fxs_nn_forward(fxs_module *m, const char *signature, fxs_forward_fn *forward,
                                  void *user);
/* The forward of Sequential, for classes that derive from it; its signature is "input". */
FXS_API fxs_proxy fxs_forward_sequential(fxs_proxy self, const fxs_proxy *x);

/* ---- Inside forward: modules
 * ------------------------------------------------------------------------------ */

/* self.name(...): fxs_call(self, "conv1", x). The name may be dotted. A module with a forward is
 * traced through, another is one call_module node. */
#define fxs_call(...) fxs_record_call(FXS_HERE, FXS_ALL_OF(__VA_ARGS__))
/* module(...): fxs_apply(fxs_child_at(self, i), x). */
#define fxs_apply(...) fxs_record_apply(FXS_HERE, FXS_ALL_OF(__VA_ARGS__))
/* self.name: a parameter is one get_attr node for the whole trace, a buffer one at each use; a
 * child is a module. */
#define fxs_attr(self, name) fxs_record_attr(FXS_HERE, (self), (name))
/* Children: how many, by position, by name (dotted). */
FXS_API size_t fxs_children(fxs_proxy self);
#define fxs_child_at(self, i) fxs_record_child_at(FXS_HERE, (self), (i))
/* Is there a child, parameter or buffer of that name? */
FXS_API bool fxs_has(fxs_proxy self, const char *name);
/* The module that self stands for, borrowed; NULL when it stands for none. */
FXS_API fxs_module *fxs_module_of(fxs_proxy self);
/* self.training */
FXS_API bool fxs_training(fxs_proxy self);
/* What fxs_nn_forward was given. */
FXS_API void *fxs_user(fxs_proxy self);

/* ---- Inside forward: calls
 * -------------------------------------------------------------------------------- */

/* A function by its qualified name: fxs_function(self, "torch.cat", FXS_LIST(x, y), FXS_KW("dim",
 * 1)). What torch.fx sees is recorded: F.relu(x) is torch.nn.functional.relu with all of its
 * keywords, torch.split is torch.functional.split, F.conv2d is torch.conv2d. Names that the library
 * does not know are recorded as they are written. Without a node in the arguments it is computed at
 * once. */
#define fxs_function(...) fxs_record_function(FXS_HERE, FXS_ALL_OF(__VA_ARGS__))
/* A method: fxs_method(x, "view", n, -1). */
#define fxs_method(...) fxs_record_method(FXS_HERE, FXS_ALL_OF(__VA_ARGS__))
/* x.name as a value: fxs_getattr(x, "shape"). */
#define fxs_getattr(x, name) fxs_record_getattr(FXS_HERE, FXS_P(x), (name))
/* x[...]: one index, or several as a tuple: fxs_index(mask, FXS_ALL, FXS_NONE). */
#define fxs_index(...) fxs_record_index(FXS_HERE, FXS_ALL_OF(__VA_ARGS__))
/* a, b = x: n getitem nodes. */
#define fxs_unpack(x, n, out) fxs_record_unpack(FXS_HERE, FXS_P(x), (n), (out))

/* Python's operators, as functions of the module operator. */
#define fxs_add(a, b) fxs_record_operator(FXS_HERE, "add", FXS_ALL_OF(a, b))
#define fxs_sub(a, b) fxs_record_operator(FXS_HERE, "sub", FXS_ALL_OF(a, b))
#define fxs_mul(a, b) fxs_record_operator(FXS_HERE, "mul", FXS_ALL_OF(a, b))
#define fxs_truediv(a, b) fxs_record_operator(FXS_HERE, "truediv", FXS_ALL_OF(a, b))
#define fxs_floordiv(a, b) fxs_record_operator(FXS_HERE, "floordiv", FXS_ALL_OF(a, b))
#define fxs_mod(a, b) fxs_record_operator(FXS_HERE, "mod", FXS_ALL_OF(a, b))
#define fxs_pow(a, b) fxs_record_operator(FXS_HERE, "pow", FXS_ALL_OF(a, b))
#define fxs_matmul(a, b) fxs_record_operator(FXS_HERE, "matmul", FXS_ALL_OF(a, b))
#define fxs_and(a, b) fxs_record_operator(FXS_HERE, "and_", FXS_ALL_OF(a, b))
#define fxs_or(a, b) fxs_record_operator(FXS_HERE, "or_", FXS_ALL_OF(a, b))
#define fxs_xor(a, b) fxs_record_operator(FXS_HERE, "xor", FXS_ALL_OF(a, b))
#define fxs_lshift(a, b) fxs_record_operator(FXS_HERE, "lshift", FXS_ALL_OF(a, b))
#define fxs_rshift(a, b) fxs_record_operator(FXS_HERE, "rshift", FXS_ALL_OF(a, b))
#define fxs_eq(a, b) fxs_record_operator(FXS_HERE, "eq", FXS_ALL_OF(a, b))
#define fxs_ne(a, b) fxs_record_operator(FXS_HERE, "ne", FXS_ALL_OF(a, b))
#define fxs_lt(a, b) fxs_record_operator(FXS_HERE, "lt", FXS_ALL_OF(a, b))
#define fxs_le(a, b) fxs_record_operator(FXS_HERE, "le", FXS_ALL_OF(a, b))
#define fxs_gt(a, b) fxs_record_operator(FXS_HERE, "gt", FXS_ALL_OF(a, b))
#define fxs_ge(a, b) fxs_record_operator(FXS_HERE, "ge", FXS_ALL_OF(a, b))
#define fxs_neg(a) fxs_record_operator(FXS_HERE, "neg", FXS_ALL_OF(a))
#define fxs_pos(a) fxs_record_operator(FXS_HERE, "pos", FXS_ALL_OF(a))
#define fxs_invert(a) fxs_record_operator(FXS_HERE, "invert", FXS_ALL_OF(a))

/* What torch.fx can't trace is an error at this place: the truth of a node (if, while, and, or,
 * not), its length, and going through it in a loop. Of constants, lists and module containers they
 * give what Python gives. */
#define fxs_truth(x) fxs_record_truth(FXS_HERE, FXS_P(x))
#define fxs_len(x) fxs_record_len(FXS_HERE, FXS_P(x))
/* Item i of a loop over x. */
#define fxs_iter(x, i) fxs_record_iter(FXS_HERE, FXS_P(x), (i))
/* assert x: a node where the trace was asked for asserts, otherwise as fxs_truth. */
#define fxs_assert(x) fxs_record_assert(FXS_HERE, FXS_P(x))
/* Gives x's node a type expression; a second one is an error. Returns x. */
#define fxs_annotate(x, type) fxs_record_annotate(FXS_HERE, FXS_P(x), (type))

FXS_API fxs_proxy fxs_record_call(fxs_place at, size_t n, const fxs_proxy *p);
FXS_API fxs_proxy fxs_record_apply(fxs_place at, size_t n, const fxs_proxy *p);
FXS_API fxs_proxy fxs_record_attr(fxs_place at, fxs_proxy self, const char *name);
FXS_API fxs_proxy fxs_record_child_at(fxs_place at, fxs_proxy self, size_t i);
FXS_API fxs_proxy fxs_record_function(fxs_place at, size_t n, const fxs_proxy *p);
FXS_API fxs_proxy fxs_record_method(fxs_place at, size_t n, const fxs_proxy *p);
FXS_API fxs_proxy fxs_record_getattr(fxs_place at, fxs_proxy x, const char *name);
FXS_API fxs_proxy fxs_record_index(fxs_place at, size_t n, const fxs_proxy *p);
FXS_API void fxs_record_unpack(fxs_place at, fxs_proxy x, size_t n, fxs_proxy *out);
FXS_API fxs_proxy fxs_record_operator(fxs_place at, const char *name, size_t n, const fxs_proxy *p);
FXS_API bool fxs_record_truth(fxs_place at, fxs_proxy x);
FXS_API size_t fxs_record_len(fxs_place at, fxs_proxy x);
FXS_API fxs_proxy fxs_record_iter(fxs_place at, fxs_proxy x, size_t i);
FXS_API void fxs_record_assert(fxs_place at, fxs_proxy x);
FXS_API fxs_proxy fxs_record_annotate(fxs_place at, fxs_proxy x, const char *type);
/* What the macros of fxops.h call. `fields` are first `positional` proxies, then one for each of
 * `names`, which are separated by blanks; those that are FXS_P_ABSENT were not given. */
FXS_API fxs_proxy fxs_record_fields(fxs_place at, const char *spelling, const char *names,
                                    size_t positional, const fxs_proxy *fields);

/* ---- Tracing
 * ------------------------------------------------------------------------------------------------
 */

/* All zero is a good default. */
typedef struct fxs_trace_options {
    /* Arguments that are fixed, in Python: "b=False, x={'a': PH, 'b': [PH, 5]}"; PH is what stays
     * an input. Lists, tuples and dicts become one placeholder a leaf, and the graph returns a flat
     * list. All of them may also be given by position. Each TENSOR ("b=TENSOR, c=[PH, TENSOR]") is
     * the next of concrete_tensors: the graph does not check what is passed there, and where the
     * forward uses it there is a get_attr of _tensor_constantN. NULL: none. */
    const char *concrete_args;
    /* As many as concrete_args has TENSORs; borrowed for the trace, counted by what it records. */
    fxs_tensor *const *concrete_tensors;
    size_t nconcrete_tensors;
    /* Should m be one node? `usual` is what torch.fx would say. NULL: what torch.fx says. */
    bool (*is_leaf_module)(void *user, const fxs_module *m, const char *path, bool usual);
    /* The path that m gets; `usual` is the first one under the root, NULL when it is not there.
     * NULL: the usual one. */
    const char *(*path_of_module)(void *user, const fxs_module *m, const char *usual);
    void *user;
    bool record_source;         /* each node remembers file and line */
    bool trace_asserts;         /* fxs_assert becomes a node */
    bool proxy_buffers;         /* buffers as parameters: one node for the whole trace */
    bool param_shapes_constant; /* shape, ndim, size(), dim(), numel() of a parameter are values */
    bool refuse_mutation;       /* functions that write in place are an error */
} fxs_trace_options;

/* Traces root's forward (or, of a layer or Sequential, what it computes) into a new GraphModule
 * that shares root's layers and parameters; `opt` may be NULL. Errors: what went wrong first, in
 * building the modules or in the trace. */
FXS_API fxs_status fxs_trace(fxs_ctx *ctx, fxs_module *root, const fxs_trace_options *opt,
                             fxs_module **graph_module);
/* The same for a function without a module; `name` becomes the class of the GraphModule. */
FXS_API fxs_status fxs_trace_function(fxs_ctx *ctx, const char *name, const char *signature,
                                      fxs_forward_fn *fn, void *user, const fxs_trace_options *opt,
                                      fxs_module **graph_module);
/* A GraphModule of class `class_name` (NULL: root's): it takes g over, and shares those modules and
 * parameters of root that g's nodes name. Where a path leads through a module that is not called, a
 * bare Module takes its place. A target that root does not have is FXS_ENOTFOUND, and then g is
 * still the caller's. */
FXS_API fxs_status fxs_graph_module_new(fxs_module *root, fxs_graph *g, const char *class_name,
                                        fxs_module **out);

/* ---- Showing what came out, in one line each
 * -------------------------------------------------------------------------------------------- */

/* fxs_run with inputs as on the command line (fxs_inputs_add), separated by blanks: "1x3x224x224
 * n=int:3", "x={ids: 2x50:int64, mask: 2x50} int:3"; NULL: none. */
FXS_API fxs_status fxs_run_text(fxs_module *m, const char *inputs, const fxs_run_options *opt,
                                fxs_run_summary *summary);
/* Writes m to a stream as Python's print does: "graph", "tabular", "modules", "file", "code",
 * "readable" (print_readable, with shapes), "python" (a whole file), or the "table" of results.
 * Another form is FXS_ENOTFOUND. */
FXS_API fxs_status fxs_module_write(const fxs_module *m, const char *form, FILE *out);

#endif
