/* python.h: what the parts of the Python printer share: the scope that gives names to nodes and
 * globals while code is written, and the pieces of code. All append to a buffer; that memory is out
 * is kept in the scope, so that the parts read like the code they write. What the library offers of
 * it is in fxscope.h. */
#ifndef FXS_EMIT_PYTHON_H
#define FXS_EMIT_PYTHON_H

#include "ir/module.h"
#include "ir/pytree.h"

/* A name that the code uses and does not define. */
typedef struct fxs_py_global {
    const char *name;   /* as the code writes it: "math_sqrt" */
    const char *object; /* what it stands for: "math.sqrt", a builtin "len", "...", or the text of a
                           type expression */
    bool is_type;       /* named in an annotation only */
} fxs_py_global;

/* torch.fx's namespace of one printout: nodes and globals share it, and get their names when they
 * are first written. */
typedef struct fxs_py {
    fxs_ctx *ctx;
    unsigned flags;   /* FXS_CODE_... */
    const char *root; /* what modules and attributes are found under: "self" */
    fxs_arena arena;
    fxs_map used;       /* names that were given */
    fxs_map objects;    /* an object's text -> its name */
    const char **nodes; /* by id; NULL until the node is named */
    fxs_py_global *globals;
    size_t nglobals, globals_cap;
    const char *source_path, *source; /* the file that was read last (python_place.c) */
    bool failed;                      /* memory is out */
} fxs_py;

/* Beside the public flags: torch.fx.wrap is told of every function that tracing would else look
 * into. Such a function was wrapped when the graph was traced, or it would not be there. */
enum { FXS_PY_WRAP_ALL = 1 << 16 };
/* How many globals are there from the start (inf, nan, NoneType, torch, device, fx_pytree, pytree).
 */
enum { FXS_PY_PRESET = 7 };

fxs_status fxs_py_init(fxs_py *p, const fxs_graph *g, unsigned flags);
void fxs_py_free(fxs_py *p);
/* Another function of the same file: its nodes are named afresh, around the globals that are there
 * and the name of each of `classes`. */
void fxs_py_next_function(fxs_py *p, const fxs_graph *g, const fxs_map *classes);
/* A name that nothing in the scope has, like `candidate`; NULL when memory is out. */
const char *fxs_py_unique(fxs_py *p, const char *candidate);

void fxs_py_node(fxs_py *p, fxs_buf *b, const fxs_node *n);
/* A callable by the target that format_node prints: "operator.add", "builtins.len", "torch.relu".
 */
void fxs_py_function(fxs_py *p, fxs_buf *b, const char *target);
/* An object by torch.fx's qualified name: what is from torch is written so, all else becomes a
 * global. */
void fxs_py_object(fxs_py *p, fxs_buf *b, const char *object, size_t len, bool is_type);
/* A type expression ("typing.List[torch.Tensor]") as torch.fx writes it in annotations. */
void fxs_py_type(fxs_py *p, fxs_buf *b, const char *type);
/* An argument. */
void fxs_py_value(fxs_py *p, fxs_buf *b, const fxs_value *v);
/* base and a dotted path behind it: self.main, getattr(self.main, "0"). */
void fxs_py_path(fxs_buf *b, const char *base, const char *path);
/* A name that can stand behind a dot: an identifier of ASCII letters that is no keyword. */
bool fxs_py_identifier(const char *s, size_t len);
/* Identifiers with dots between. */
bool fxs_py_dotted(const char *s, size_t len);
/* text with `indent` blanks in front of every line. */
void fxs_py_indent(fxs_buf *b, const char *text, size_t indent);

/* A comment about where the next node was traced, unless it was there that the one before was.
 * *before is that one's trace: NULL at the beginning, "" when it had none. */
void fxs_py_trace_comment(fxs_buf *b, const char *trace, const char **before, unsigned flags);

/* The node's stack trace, or one of the file and line that it knows; NULL: neither. */
const char *fxs_py_node_trace(fxs_py *p, const fxs_node *n);

/* Where the placeholders are leaves of trees (python_pytree.c): forward has the parameters of the
 * function that was traced, and one line takes them apart. */
typedef struct fxs_py_tree {
    const fxs_pytree *of; /* NULL: the placeholders are the parameters */
    fxs_buf signature;    /* "x, y = 2" */
    fxs_buf leaves;       /* "x_1, x_2, " */
    fxs_buf line;         /* "    x_1, x_2, = fx_pytree.tree_flatten_spec([x], self._in_spec)\n" */
    size_t param, next;   /* parameter in turn, and the leaf that it begins with */
    size_t leaf;          /* the placeholder in turn */
} fxs_py_tree;
/* The next placeholder: its name, and what stands behind its parameter's (" : int = 2"). */
void fxs_py_tree_leaf(fxs_py *p, fxs_py_tree *t, const char *name, const char *behind);
/* All of them are there. */
void fxs_py_tree_end(fxs_py *p, fxs_py_tree *t);
void fxs_py_tree_free(fxs_py_tree *t);
/* Statements that give a module its _in_spec and _out_spec. */
void fxs_py_tree_specs(fxs_buf *b, const fxs_pytree *t);

/* The lines of torch.fx.wrap (without a final newline), and the function from "def" on, as
 * GraphModule.code has them.
 */
fxs_status fxs_py_forward(fxs_py *p, const fxs_graph *g, fxs_buf *wraps, fxs_buf *function);

/* torch.nn has m's class, and makes m from the arguments that print(model) shows; a container,
 * which then has m's children put into it, from none. */
bool fxs_py_torch_nn(const fxs_module *m);
/* A class of torch.nn that makes no parameters itself, but has them and modules put into it. */
bool fxs_py_container(const fxs_module *m);
/* "torch.nn.Conv2d(3, 4, kernel_size=(1, 1))", for what fxs_py_torch_nn agrees to. */
void fxs_py_layer(fxs_py *p, fxs_buf *b, const fxs_module *m);

#endif
