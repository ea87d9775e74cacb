/* fxpy.h: what the parts of the Python front share: the process's one context, conversion between
 * Python objects and values, errors as Python exceptions, and the C types of the module _fxscope.
 * All functions want the GIL. Those that give a PyObject * give a new reference, or NULL with a
 * Python exception set, unless they say otherwise; int results are 0, or -1 with an exception. */
#ifndef FXPY_H
#define FXPY_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "fxsfront.h"

/* ---- the process (module.c, error.c)
 * ---------------------------------------------------------------------------------- */

/* The context of everything that Python makes; never NULL once _fxscope is imported. */
fxs_ctx *fxpy_ctx(void);
/* Uses the command's context instead of an own one; before _fxscope is imported. Borrowed. */
void fxpy_set_ctx(fxs_ctx *ctx);
/* The context's error as a Python exception (RuntimeError, TypeError, IndexError, ... as torch
 * raises), and clears it. Returns NULL. Does nothing where an exception is set already. */
PyObject *fxpy_raise(void);
/* Parts of the module add their types here, called once at import: 0, or -1 with an exception. */
int fxpy_add_type(PyObject *module, const char *name, PyTypeObject *type);

int fxpy_init_dtype(PyObject *module);
int fxpy_init_device(PyObject *module);
int fxpy_init_size(PyObject *module);
int fxpy_init_generator(PyObject *module);
int fxpy_init_tensor(PyObject *module);
int fxpy_init_function(PyObject *module);
int fxpy_init_create(PyObject *module);
int fxpy_init_graph(PyObject *module);
int fxpy_init_print(PyObject *module);
int fxpy_init_model(PyObject *module);
/* Only in the extension module (extension.c); weak, NULL in the plug-in. */
int fxpy_init_extension(PyObject *module) __attribute__((weak));
/* The module _fxscope. */
PyMODINIT_FUNC PyInit__fxscope(void);

/* ---- tensors (tensor.c, lazy.c)
 * ---------------------------------------------------------------------------------- */

/* What an unread tensor is filled with once it is read; shared by all views of it. */
typedef struct fxpy_lazy fxpy_lazy;

typedef struct FxpyTensor {
    PyObject_HEAD fxs_tensor *t; /* owned; without storage: unread, or on the meta device */
    fxpy_lazy *lazy;             /* counted; NULL: nothing is open */
    PyObject *grad;              /* NULL: None */
    PyObject *backward_hooks;
    const char *made_by; /* row name of the operator whose result it is; NULL: a leaf */
    bool meta;           /* on the meta device: never has values */
} FxpyTensor;

extern PyTypeObject *fxpy_tensor_base; /* torch._C._TensorBase */
extern PyTypeObject *fxpy_tensor_type; /* torch.Tensor: Parameter and users' classes inherit it */

static inline bool fxpy_is_tensor(PyObject *o) { return PyObject_TypeCheck(o, fxpy_tensor_base); }
/* The tensor with its values, which are made now if nobody read them before; borrowed. NULL: an
 * exception is set. */
fxs_tensor *fxpy_tensor_get(PyObject *o);
/* The tensor for its dtype, sizes and strides alone: it may lack storage; borrowed, never NULL. */
fxs_tensor *fxpy_tensor_meta(PyObject *o);
/* Takes the reference over (also on failure). */
PyObject *fxpy_tensor_new(fxs_tensor *t);
/* The same with a class, which is a subclass of torch.Tensor. */
PyObject *fxpy_tensor_new_as(PyTypeObject *type, fxs_tensor *t);

/* How an unread tensor would be filled, for who can carry that on (a parameter of the module tree).
 * FXPY_FILL_OTHER: only by reading it. */
typedef enum fxpy_fill_kind {
    FXPY_FILL_CONSTANT,
    FXPY_FILL_UNIFORM,
    FXPY_FILL_NORMAL,
    FXPY_FILL_TRUNC_NORMAL,
    FXPY_FILL_OTHER
} fxpy_fill_kind;
typedef struct fxpy_fill {
    fxpy_fill_kind kind;
    double a, b;      /* value; low and high; mean and deviation */
    double low, high; /* limits of FXPY_FILL_TRUNC_NORMAL */
    uint64_t seed;
} fxpy_fill;
/* False: the tensor has its values already. */
bool fxpy_tensor_fill(PyObject *o, fxpy_fill *out);

/* ---- values (value.c)
 * ---------------------------------------------------------------------------------- */

/* An object as a value. a NULL: counted, on the heap, and yours to fxs_value_unref; else its
 * containers live in `a`, and tensors and objects are borrowed from o, which must live as long.
 * Tensors are read. What has no meaning for the library becomes FXS_V_OBJECT (fxpy_object_type)
 * with the PyObject * as its data. */
int fxpy_value_from_py(PyObject *o, fxs_arena *a, fxs_value *out);
/* A value as a new object; tensors become new torch.Tensors over the same memory. */
PyObject *fxpy_value_to_py(const fxs_value *v);
/* The type of objects that travel as they are. */
extern const fxs_object_type fxpy_object_type;
/* The graph side's part of the conversion: 1 when it has taken o (a Node), 0 when it is not its
 * kind, -1 with an exception. NULL: there is none. */
extern int (*fxpy_value_hook)(PyObject *o, fxs_arena *a, fxs_value *out);
/* The same the other way round: for FXS_V_NODE. Gives NULL with an exception. */
extern PyObject *(*fxpy_node_hook)(const fxs_value *v);

PyObject *fxpy_dtype(fxs_dtype d);
bool fxpy_is_dtype(PyObject *o, fxs_dtype *out);
fxs_dtype fxpy_default_dtype(void);
/* "cpu", "cuda:0" as torch.device. */
PyObject *fxpy_device(const char *text);
PyObject *fxpy_memory_format(fxs_memory_format f);
bool fxpy_is_format(PyObject *o, fxs_memory_format *out);
/* "cuda:0" of a torch.device, "torch.strided" of a torch.layout; false: it is none. */
bool fxpy_device_text(PyObject *o, char text[32]);
bool fxpy_layout_text(PyObject *o, const char **text);
PyObject *fxpy_strided(void);
/* torch.Size of n ints. */
PyObject *fxpy_size(int n, const int64_t *sizes);
extern PyTypeObject *fxpy_size_type;
/* The seed for the next random tensor, from the default generator or one that is given (may be
 * NULL or None). */
uint64_t fxpy_next_seed(PyObject *generator);

/* ---- functions and methods (function.c, call.c)
 * ---------------------------------------------------------------------------------- */

/* torch.relu, torch._C._nn.gelu, torch.nn.functional.relu, Tensor.add: one object for each. */
typedef struct FxpyFunction {
    PyObject_HEAD vectorcallfunc call;
    const char *path;         /* "torch.nn.functional.relu", "Tensor.add"; as fxs_spell takes it */
    const char *name;         /* the part behind the last dot */
    const fxs_candidate *ops; /* NULL: known by name only (it can be recorded, not computed) */
    bool method;
    unsigned char laziness; /* what it does with tensors that nobody read yet: call.c */
    PyObject *(*run)(PyObject *self, PyObject *const *args, Py_ssize_t n,
                     PyObject *kwnames); /* instead of a row: torch.tensor */
    PyObject *dict;
} FxpyFunction;

extern PyTypeObject *fxpy_function_type, *fxpy_method_type;

/* The function of a qualified name as torch.fx prints targets ("torch.relu", "torch._C._nn.gelu",
 * "torch.nn.functional.relu"); made on demand. NULL without an exception: there is none. */
PyObject *fxpy_function_find(const char *target);
/* The same for a target that a trace has spelled: torch.meshgrid is the builtin there, and not what
 * users call by that name. */
PyObject *fxpy_function_exact(const char *target);
/* "torch._C._nn.gelu" of a Function; borrowed from it. */
const char *fxpy_function_path(PyObject *function);
/* Runs a row eagerly, by its spelling: args a tuple, kwargs a dict or NULL. */
PyObject *fxpy_call_spelling(const char *spelling, PyObject *args, PyObject *kwargs);

/* ---- towards the core (py_lower.c)
 * ---------------------------------------------------------------------------------- */

/* The core's graph of a torch.fx.Graph, with files, lines and scopes; yours to fxs_graph_free. */
int fxpy_lower_graph(PyObject *graph, fxs_graph **out);
/* The core's module of a torch.fx.GraphModule: tree, parameters, graph; yours to unref. */
int fxpy_lower(PyObject *module, fxs_module **out);

/* ---- recording (py_record.c)
 * ---------------------------------------------------------------------------------- */

/* Proxy, and what inherits it (Attribute); NULL until the graph side has registered it. */
extern PyTypeObject *fxpy_proxy_type;
static inline bool fxpy_is_proxy(PyObject *o) {
    return fxpy_proxy_type && PyObject_TypeCheck(o, fxpy_proxy_type);
}
/* Refuse what torch.fx 1.13 refuses: proxies where a size, number, dtype is wanted. */
extern bool fxpy_strict;
/* What the proxy's node computes for the example inputs; borrowed; NULL: it is not known, or an
 * exception is set. */
PyObject *fxpy_proxy_hint(PyObject *proxy);
/* The first proxy in o: itself, or in lists, tuples, dicts, slices up to a depth of 3; borrowed;
 * NULL: there is none. */
PyObject *fxpy_find_proxy(PyObject *o, int depth);

/* Records a call in which a proxy stands, and gives the proxy of its result. func is the Function
 * that was called, by the name under which the user knows it: fxs_spell(fxpy_function_path(func),
 * ...) says which target and arguments torch.fx would see. args a tuple, kwargs a dict or NULL. */
PyObject *fxpy_record_function(PyObject *tracer, PyObject *func, PyObject *args, PyObject *kwargs);
/* The same for a method: args[0] is self. */
PyObject *fxpy_record_method(PyObject *tracer, const char *name, PyObject *args, PyObject *kwargs);

#endif
