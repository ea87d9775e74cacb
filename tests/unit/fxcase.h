/* fxcase.h: the rule scripts of torch.fx written again in C: one function a script builds the
 * script's graphs through the public interface and prints what the script prints; fxcase.c compares
 * that with what torch.fx 1.13 printed (tests/golden/fx). Texts of values are Python's: the harness
 * makes them with the public makers, names stand for nodes of the graph. */
#ifndef FXS_TESTS_FXCASE_H
#define FXS_TESTS_FXCASE_H

#include "tracing.h"

typedef struct fxcase {
    fxs_ctx *ctx;
    const char *name, *want; /* what torch.fx printed */
    fxs_buf out;             /* what the case printed so far */
    size_t differences;      /* places where it is not torch.fx's text, each with its reason */
    fxs_graph *graphs[64];   /* all of these are dropped at the end */
    fxs_module *modules[192];
    fxs_value values[512];
    size_t ngraphs, nmodules, nvalues;
} fxcase;

typedef void fxcase_fn(fxcase *c);
/* One row for each file in tests/golden/fx; a case without function says why. */
typedef struct fxcase_row {
    const char *name;
    fxcase_fn *fn;
    const char *reason;
} fxcase_row;
extern const fxcase_row fx_names_rows[], fx_node_rows[], fx_graph_rows[], fx_print_rows[],
    fx_code_rows[], fx_exec_rows[], fx_pass_rows[], fx_rewrite_rows[], fx_more_rows[],
    fx_trace_rows[];

/* ---- what is printed */

void put(fxcase *c, const char *format, ...) FXS_PRINTF(2, 3);
/* print(graph), print(graph.code) and print(gm). */
void put_graph(fxcase *c, const fxs_graph *g);
void put_code(fxcase *c, const fxs_graph *g);
void put_module(fxcase *c, const fxs_module *m);
/* The graph, then the code. */
void put_both(fxcase *c, const fxs_module *m);
/* "globals: ['math_sqrt']" without the seven that all code has. */
void put_globals(fxcase *c, const fxs_graph *g);
/* "['x', 'y']" */
void put_names(fxcase *c, const fxs_graph *g);
/* "[x, y]" */
void put_users(fxcase *c, const fxs_node *n);
void put_inputs(fxcase *c, const fxs_node *n);
/* Python's repr, nodes by name. */
void put_value(fxcase *c, const fxs_value *v);
void put_args(fxcase *c, const fxs_node *n);
void put_kwargs(fxcase *c, const fxs_node *n);
/* node.meta, where no run recorded facts; and node.meta[key] = value. */
void put_meta(fxcase *c, const fxs_node *n);
void set_meta(fxcase *c, fxs_node *n, const char *key, const char *value);
/* node.format_node(), with a new line. */
void put_node(fxcase *c, const fxs_node *n);
/* "TYPE: message": `type` stands for Python's class of the error that the script expects. */
void refused(fxcase *c, fxs_status s, const char *type);
/* The next lines of torch.fx's text as they are, because they are Python's alone. */
void python_lines(fxcase *c, size_t lines, const char *reason);
/* The same for a part of a line. */
void python_text(fxcase *c, const char *text, const char *reason);
/* What was printed has `ours`, once, where torch.fx has `theirs`, on purpose. */
void instead(fxcase *c, const char *ours, const char *theirs, const char *reason);
/* An error that torch.fx words differently, or has no words for: `theirs` is printed after ours was
 * compared. */
void other_words(fxcase *c, fxs_status s, const char *ours, const char *theirs);

/* ---- what is built */

#define OK(c, call) assert_ok((c)->ctx, (call))
fxs_graph *new_graph(fxcase *c);
/* Borrowed until the end of the case. */
fxs_module *own(fxcase *c, fxs_module *m);
fxs_value own_value(fxcase *c, fxs_value v);
fxs_node *node(const fxs_graph *g, const char *name);
fxs_value py(fxcase *c, const fxs_graph *g, const char *text);
/* args: "x, [y, 2], dim=y" */
fxs_status create(fxcase *c, fxs_graph *g, fxs_kind kind, const char *target, const char *args,
                  const char *name, const char *type, fxs_node **out);
fxs_node *fn(fxcase *c, fxs_graph *g, const char *target, const char *args);
fxs_node *method(fxcase *c, fxs_graph *g, const char *name, const char *args);
fxs_node *mod(fxcase *c, fxs_graph *g, const char *path, const char *args);
fxs_node *attr(fxcase *c, fxs_graph *g, const char *path);
fxs_node *input(fxcase *c, fxs_graph *g, const char *name, const char *fallback);
fxs_node *typed_input(fxcase *c, fxs_graph *g, const char *name, const char *type,
                      const char *fallback);
fxs_node *output(fxcase *c, fxs_graph *g, const char *value);
/* A GraphModule that takes g over (g must be of new_graph): GraphModule({}, g). */
fxs_module *wrap_graph(fxcase *c, fxs_graph *g);
/* symbolic_trace of a C function, and of a module (which is dropped). */
fxs_module *trace_c(fxcase *c, const char *signature, fxs_forward_fn *f);
fxs_module *trace_m(fxcase *c, fxs_module *root);

/* Python's lambda x, y: EXPRESSION over x[0], x[1], ... */
#define LAMBDA(name, expression)                                                                   \
    static fxs_proxy name(fxs_proxy self, const fxs_proxy *x) {                                    \
        (void)self;                                                                                \
        (void)x;                                                                                   \
        return expression;                                                                         \
    }
/* torch.NAME(...) */
#define T(name, ...) fxs_function(self, "torch." name, __VA_ARGS__)

/* Insertion of nodes inside of a block, as with Python's `with`. */
#define BEFORE(c, g, n)                                                                            \
    for (fxs_insert_point was_,                                                                    \
         *once_ = (assert_ok((c)->ctx, fxs_graph_inserting_before((g), (n), &was_)), &was_);       \
         once_; fxs_graph_restore_insert_point((g), was_), once_ = NULL)
#define AFTER(c, g, n)                                                                             \
    for (fxs_insert_point was_,                                                                    \
         *once_ = (assert_ok((c)->ctx, fxs_graph_inserting_after((g), (n), &was_)), &was_);        \
         once_; fxs_graph_restore_insert_point((g), was_), once_ = NULL)

#endif
