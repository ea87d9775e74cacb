/* fxgraph.h: torch.fx's objects as Python sees them: Graph, Node, Proxy, Tracer. A script may put
 * any object into a graph (as target, type, argument), rename and relink nodes at will, so these
 * are objects of Python's own; py_lower.c turns such a graph into the core's when the core shall
 * do something with it. The classes of frozen torch/fx/ derive from the types here. Included by the
 * py_*.c files of the graph side only. */
#ifndef FXS_FRONT_PYTHON_FXGRAPH_H
#define FXS_FRONT_PYTHON_FXGRAPH_H

#include "front/python/fxpy.h"

#include <structmember.h>

typedef struct FxpyNode {
    PyObject_HEAD PyObject *graph, *name, *op, *target, *type;
    PyObject *args, *kwargs;      /* immutable: tuple, immutable_dict */
    PyObject *users, *inputs;     /* dicts, node -> None, in order of first use */
    PyObject *meta, *repr_fn;     /* meta NULL: not asked for yet */
    struct FxpyNode *prev, *next; /* counted; a ring through the graph's root */
    PyObject *code;               /* of the user's frame that recorded it, NULL: not traced */
    PyObject *scope;              /* (outer scope, path, class name) of the module, or NULL */
    PyObject *hint;               /* what it computes for the example inputs, or NULL */
    PyObject *weak;
    int lasti; /* where in the code */
    bool erased;
} FxpyNode;

typedef struct FxpyGraph {
    PyObject_HEAD PyObject *names; /* FxpyNames */
    FxpyNode *root, *insert_at;
    Py_ssize_t len;
    bool insert_after;
} FxpyGraph;

typedef struct FxpyTracerObject {
    PyObject_HEAD PyObject *graph, *scope;
} FxpyTracerObject;

typedef struct FxpyProxy {
    PyObject_HEAD PyObject *tracer, *node;
    PyObject *root, *attr; /* of an Attribute; its node is made when it is asked for */
    PyObject *dict, *weak;
} FxpyProxy;

extern PyTypeObject FxpyNames_Type, FxpyNode_Type, FxpyGraph_Type, FxpyTracer_Type;

#define FXPY_IS_NODE(o) PyObject_TypeCheck((o), &FxpyNode_Type)
#define FXPY_IS_GRAPH(o) PyObject_TypeCheck((o), &FxpyGraph_Type)
#define FXPY_IS_PROXY(o) PyObject_TypeCheck((o), fxpy_proxy_type)

/* What frozen Python gave under that name with _fxscope.fx_register: classes and rare paths that
 * are written in Python. Borrowed; NULL with an exception when it did not yet. */
PyObject *fxpy_registered(const char *name);
/* The same, called. New reference. */
PyObject *fxpy_call_registered(const char *name, PyObject *const *args, size_t n);

/* X(identifier, text): names that are looked up often, interned once. */
#define FXPY_NAMES(X)                                                                              \
    X(args)                                                                                        \
    X(create_arg)                                                                                  \
    X(create_node)                                                                                 \
    X(create_proxy)                                                                                \
    X(iter)                                                                                        \
    X(keys)                                                                                        \
    X(kwargs)                                                                                      \
    X(meta)                                                                                        \
    X(proxy)                                                                                       \
    X(to_bool)                                                                                     \
    X(stack_trace)                                                                                 \
    X(record_stack_traces)                                                                         \
    X(check_mutable_operations)                                                                    \
    X(trace_asserts)                                                                               \
    X(placeholder)                                                                                 \
    X(get_attr)                                                                                    \
    X(call_function)                                                                               \
    X(call_method)                                                                                 \
    X(call_module)                                                                                 \
    X(output)                                                                                      \
    X(root)                                                                                        \
    X(__call__)                                                                                    \
    X(__name__)                                                                                    \
    X(__fx_create_arg__)                                                                           \
    X(_custom_fx_repr_fn)                                                                          \
    X(_fields)                                                                                     \
    X(_create_special)                                                                             \
    X(_pretty_print_target)                                                                        \
    X(node)
typedef struct FxpyStrings {
#define X(name) PyObject *name;
    FXPY_NAMES(X)
#undef X
} FxpyStrings;
extern FxpyStrings fxpy_str;

/* torch.fx's map_aggregate with fn for the leaves: tuples, lists, dicts and slices are rebuilt as
 * immutable ones. An exact tuple in which nothing changes is kept. New reference. */
typedef PyObject *fxpy_leaf_fn(void *user, PyObject *leaf);
PyObject *fxpy_map(PyObject *a, fxpy_leaf_fn *fn, void *user);

/* A node at the graph's insert point. args is a tuple and kwargs a dict (NULL: empty); name NULL:
 * made from the target. New reference. */
PyObject *fxpy_graph_create(FxpyGraph *g, PyObject *op, PyObject *target, PyObject *args,
                            PyObject *kwargs, PyObject *name, PyObject *type);
/* A node that is linked nowhere. */
FxpyNode *fxpy_node_new(PyObject *graph, PyObject *name, PyObject *op, PyObject *target,
                        PyObject *args, PyObject *kwargs, PyObject *type);
/* Puts x before n; both are of one graph. */
void fxpy_node_link(FxpyNode *n, FxpyNode *x);
/* One of the six, interned; NULL with an AssertionError for another. Borrowed. */
PyObject *fxpy_node_op(PyObject *op);

/* A unique, legal name like the candidate, for obj (NULL: for nothing). New reference. */
PyObject *fxpy_names_create(PyObject *names, PyObject *candidate, PyObject *obj);
/* The candidate for a node's name from its target: torch.fx's Graph._target_to_str. */
PyObject *fxpy_target_name(PyObject *target);
/* torch.fx.graph._snake_case */
PyObject *fxpy_snake_case(PyObject *self, PyObject *s);

/* node._format_line(): the line that str(graph) has for it. */
PyObject *fxpy_node_line(PyObject *node, PyObject *unused);
/* torch.fx.node._format_arg */
PyObject *fxpy_format_arg(PyObject *self, PyObject *args, PyObject *kwargs);

/* The tracer's create_proxy, in C where no class of the user's replaces it. New reference. */
PyObject *fxpy_record(PyObject *tracer, PyObject *op, PyObject *target, PyObject *args,
                      PyObject *kwargs);
int fxpy_proxy_init(PyObject *module);
int fxpy_record_init(PyObject *module);
int fxpy_schema_init(PyObject *module);
int fxpy_lower_init(PyObject *module);

#endif
