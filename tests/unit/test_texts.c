/* test_texts.c: every public function that takes a text is called with NULL and with an empty one:
 * it refuses them with a message, or means what its header says. The table must name every such
 * function of the headers. */
#include "golden.h"

#include "fxfile.h"
#include "fxops.h"
#include "fxoutline.h"
#include "ir/module.h"
#ifdef FXS_HAVE_RENDER
#include "../../render/fxrender.h"
#endif

/* What the calls are made on. */
typedef struct world {
    fxs_ctx *ctx;
    fxs_module *m; /* a GraphModule, which has a layer "relu" */
    fxs_graph *g;  /* another graph */
    fxs_node *n;   /* a node of it */
} world;

typedef fxs_status call_fn(world *w, const char *s);

/* A call inside a trace, and one outside. */

#define INSIDE(id, expression)                                                                     \
    static fxs_proxy forward_##id(fxs_proxy self, const fxs_proxy *x) {                            \
        const char *s = fxs_user(self);                                                            \
        (void)s, (void)x;                                                                          \
        return expression;                                                                         \
    }                                                                                              \
    static fxs_status call_##id(world *w, const char *s) {                                         \
        fxs_module *traced = NULL;                                                                 \
        fxs_status status =                                                                        \
            fxs_trace_function(w->ctx, "f", "x", forward_##id, (void *)s, NULL, &traced);          \
        fxs_module_unref(traced);                                                                  \
        return status;                                                                             \
    }
#define CALL(id, expression)                                                                       \
    static fxs_status call_##id(world *w, const char *s) {                                         \
        (void)w;                                                                                   \
        return expression;                                                                         \
    }

static fxs_proxy give_back(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return x[0];
}

/* The status of a call that gives a value, which goes. */
static fxs_status drop_value(fxs_status s, fxs_value *v) {
    fxs_value_unref(v);
    return s;
}

static fxs_status drop_module(fxs_status s, fxs_module **m) {
    fxs_module_unref(*m);
    return s;
}

static fxs_status drop_text(fxs_status s, char **text) {
    fxs_free(*text);
    return s;
}

static fxs_status found(bool is) { return is ? FXS_OK : FXS_ENOTFOUND; }

/* ---- fxscope.h */

static fxs_status call_fxs_dtype_find(world *w, const char *s) {
    fxs_dtype d;
    (void)w;
    return found(fxs_dtype_find(s, s ? strlen(s) : 0, &d));
}

static fxs_status call_fxs_value_str(world *w, const char *s) {
    fxs_value v;
    return drop_value(fxs_value_str(w->ctx, s, &v), &v);
}

static fxs_status call_fxs_value_dict(world *w, const char *s) {
    fxs_value one = fxs_int(1), v;
    return drop_value(fxs_value_dict(w->ctx, 1, &s, &one, &v), &v);
}

CALL(fxs_module_find, found(fxs_module_find(w->m, s)))

static fxs_status call_fxs_module_new(world *w, const char *s) {
    fxs_module *m;
    fxs_status status = fxs_module_new(w->ctx, s, NULL, NULL, &m);
    assert_null(m);
    return status;
}

CALL(fxs_module_add_child, fxs_module_add_child(w->m, s, fxs_module_find(w->m, "relu")))
CALL(fxs_module_add_tensor, fxs_module_add_tensor(w->m, s, true, FXS_FLOAT32, 0, NULL))
CALL(fxs_module_add_submodule, fxs_module_add_submodule(w->m, s, fxs_module_find(w->m, "relu")))
CALL(fxs_module_delete_submodule, fxs_module_delete_submodule(w->m, s))

static fxs_status call_fxs_module_put_tensor(world *w, const char *s) {
    fxs_tensor *t = random_tensor(w->ctx, FXS_FLOAT32, SIZES(2), 1);
    fxs_status status = fxs_module_put_tensor(w->m, s, true, t);
    fxs_tensor_unref(t);
    return status;
}

static fxs_status call_fxs_numbers_read(world *w, const char *s) {
    fxs_numbers *o = NULL;
    fxs_status status = fxs_numbers_read(w->ctx, s, &o);
    fxs_numbers_free(o);
    return status;
}

CALL(fxs_module_load_weights, fxs_module_load_weights(w->m, s, NULL))
CALL(fxs_module_save_weights, fxs_module_save_weights(w->m, s, true))
CALL(fxs_write_file, fxs_write_file(w->ctx, s, "", 0))
CALL(fxs_check_file, fxs_check_file(w->ctx, s))

static fxs_status call_fxs_load(world *w, const char *s) {
    fxs_module *m;
    fxs_status status = fxs_load(w->ctx, s, NULL, &m);
    assert_null(m);
    return status;
}

static fxs_status call_fxs_load_text(world *w, const char *s) {
    static const char text[] = "graph():\n    return 1\n";
    fxs_module *m;
    fxs_status status = fxs_load_text(w->ctx, s, text, sizeof text - 1, &m);
    assert_null(m);
    assert_int_equal(fxs_load_text(w->ctx, "name", NULL, 0, &m), FXS_EINVAL);
    return status;
}

static fxs_status create(world *w, const char *target, const char *name, const char *type) {
    fxs_node *n;
    return fxs_graph_create_node(w->g, FXS_GET_ATTR, target, NULL, NULL, name, type, &n);
}

static fxs_status call_fxs_graph_create_node(world *w, const char *s) {
    assert_int_equal(create(w, "w", s, NULL), FXS_OK);
    assert_int_equal(create(w, "w", NULL, s), s ? FXS_EINVAL : FXS_OK);
    fxs_ctx_clear(w->ctx);
    return create(w, s, NULL, NULL);
}

static fxs_node *made;
CALL(fxs_node_set_target, fxs_node_set_target(w->n, s))
CALL(fxs_graph_placeholder, fxs_graph_placeholder(w->g, s, NULL, &made))
CALL(fxs_graph_get_attr, fxs_graph_get_attr(w->g, s, &made))
CALL(fxs_graph_call_function, fxs_graph_call_function(w->g, s, NULL, NULL, &made))
CALL(fxs_graph_call_method, fxs_graph_call_method(w->g, s, NULL, NULL, &made))
CALL(fxs_graph_call_module, fxs_graph_call_module(w->g, s, NULL, NULL, &made))
CALL(fxs_node_set_user_meta, fxs_node_set_user_meta(w->n, s, &(fxs_value){0}))
CALL(fxs_node_user_meta, found(fxs_node_user_meta(w->n, s)))
CALL(fxs_node_update_kwarg, fxs_node_update_kwarg(w->n, s, &(fxs_value){0}))

static fxs_status call_fxs_inputs_add(world *w, const char *s) {
    fxs_inputs *in;
    assert_ok(w->ctx, fxs_inputs_new(w->ctx, &in));
    fxs_status status = fxs_inputs_add(in, s);
    fxs_inputs_free(in);
    return status;
}

static fxs_status call_fxs_inputs_add_value(world *w, const char *s) {
    fxs_inputs *in;
    assert_ok(w->ctx, fxs_inputs_new(w->ctx, &in));
    fxs_status status = fxs_inputs_add_value(in, s, make_str(w->ctx, "value"));
    fxs_inputs_free(in);
    return status;
}

static fxs_status call_fxs_graph_python_code_with_root(world *w, const char *s) {
    char *text = NULL;
    return drop_text(fxs_graph_python_code_with_root(w->g, s, 0, &text, NULL), &text);
}

static fxs_table_format format;
CALL(fxs_table_format_find, found(fxs_table_format_find(s, &format)))

static fxs_status call_fxs_print_ops(world *w, const char *s) {
    char *text = NULL;
    return drop_text(fxs_print_ops(w->ctx, s, &text, NULL), &text);
}

static fxs_status call_fxs_print_coverage(world *w, const char *s) {
    char *text = NULL;
    return drop_text(fxs_print_coverage(w->ctx, s, &text, NULL), &text);
}

/* ---- fxpass.h, fxoutline.h */

CALL(fxs_pass_run, fxs_pass_run(w->m, s, NULL))

static fxs_status outline(world *w, const fxs_outline_options *opt) {
    fxs_module *m = NULL;
    return drop_module(fxs_outline(w->m, opt, &m, NULL), &m);
}

static fxs_status call_fxs_outline(world *w, const char *s) {
    assert_ok(w->ctx, outline(w, NULL));
    assert_ok(w->ctx, outline(w, &(fxs_outline_options){.focus = s}));
    return outline(w, &(fxs_outline_options){.hide = (const char *[]){s, NULL}});
}

static fxs_status call_fxs_outline_closes(world *w, const char *s) {
    (void)w;
    assert_false(fxs_outline_closes(&(fxs_outline_options){.collapse = (const char *[]){"*", NULL}},
                                    s, s, 1)); /* what has no name matches no pattern */
    assert_true(fxs_outline_closes(&(fxs_outline_options){.depth = 1}, s, s, 1));
    return FXS_OK;
}

static fxs_status call_fxs_outline_in_focus(world *w, const char *s) {
    (void)w;
    assert_false(fxs_outline_in_focus(&(fxs_outline_options){.focus = "a"}, s, 0));
    assert_false(fxs_outline_in_focus(&(fxs_outline_options){.focus = s}, s, 0));
    return FXS_OK;
}

/* ---- fxtrace.h */

static fxs_status drop_nn(world *w, fxs_module *m) {
    assert_null(m);
    return fxs_ctx_status(w->ctx);
}

#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
CALL(fxs_nn, drop_nn(w, fxs_nn(w->ctx, s)))

static fxs_status call_fxs_nn_add(world *w, const char *s) {
    assert_null(fxs_nn_add(w->m, "a", s));
    fxs_ctx_clear(w->ctx);
    return fxs_nn_add(w->m, s, "ReLU()") ? FXS_OK : fxs_ctx_status(w->ctx);
}

static fxs_status call_fxs_nn_put(world *w, const char *s) {
    return fxs_nn_put(w->m, s, fxs_nn(w->ctx, "ReLU()")) ? FXS_OK : fxs_ctx_status(w->ctx);
}

static fxs_status call_fxs_nn_parameter(world *w, const char *s) {
    assert_int_equal(fxs_nn_parameter(w->m, "p", s), FXS_EINVAL);
    fxs_ctx_clear(w->ctx);
    return fxs_nn_parameter(w->m, s, "float32[1]");
}

static fxs_status call_fxs_nn_buffer(world *w, const char *s) {
    assert_int_equal(fxs_nn_buffer(w->m, "p", s), FXS_EINVAL);
    fxs_ctx_clear(w->ctx);
    return fxs_nn_buffer(w->m, s, "float32[1]");
}

static fxs_status call_fxs_nn_forward(world *w, const char *s) {
    assert_int_equal(fxs_nn_forward(w->m, "x", NULL, NULL), FXS_EINVAL);
    fxs_ctx_clear(w->ctx);
    return fxs_nn_forward(w->m, s, give_back, NULL);
}

INSIDE(fxs_has, fxs_has(self, s) ? x[0] : FXS_NONE)
INSIDE(fxs_s, fxs_relu(x[0], fxs_s(s)))
INSIDE(fxs_device, fxs_method(x[0], "to", fxs_device(s)))
INSIDE(fxs_keyword, fxs_method(x[0], "to", FXS_KW(s, 1)))
INSIDE(fxs_record_call, fxs_call(self, s, x[0]))
INSIDE(fxs_record_function, fxs_function(self, s, x[0]))
INSIDE(fxs_record_method, fxs_method(x[0], s))
INSIDE(fxs_record_attr, fxs_attr(self, s))
INSIDE(fxs_record_getattr, fxs_getattr(x[0], s))
INSIDE(fxs_record_operator, fxs_record_operator(FXS_HERE, s, 2, (fxs_proxy[]){x[0], x[0]}))
INSIDE(fxs_record_annotate, fxs_annotate(x[0], s))
INSIDE(fxs_record_fields, fxs_record_fields(FXS_HERE, s, s, 1, x))

static fxs_status call_fxs_trace_function(world *w, const char *s) {
    fxs_module *m;
    fxs_status status = fxs_trace_function(w->ctx, "f", "x", give_back, NULL,
                                           &(fxs_trace_options){.concrete_args = s}, &m);
    assert_ok(w->ctx, status);
    fxs_module_unref(m);
    assert_int_equal(fxs_trace_function(w->ctx, "f", NULL, give_back, NULL, NULL, &m), FXS_EINVAL);
    assert_null(m);
    fxs_ctx_clear(w->ctx);
    return drop_module(fxs_trace_function(w->ctx, s, "x", give_back, NULL, NULL, &m), &m);
}

static fxs_status call_fxs_graph_module_new(world *w, const char *s) {
    fxs_graph *g;
    fxs_module *m;
    assert_ok(w->ctx, fxs_graph_new(w->ctx, &g));
    fxs_status status = fxs_graph_module_new(w->m, g, s, &m);
    if (status != FXS_OK)
        fxs_graph_free(g);
    return drop_module(status, &m);
}

CALL(fxs_run_text, fxs_run_text(w->m, s, NULL, NULL))
CALL(fxs_module_write, fxs_module_write(w->m, s, stdout))

/* ---- fxrender.h */

#ifdef FXS_HAVE_RENDER
static unsigned bit;
CALL(fxs_draw_row_find, found(fxs_draw_row_find(s, &bit)))
CALL(fxs_draw_rows, found(fxs_draw_rows(s, &bit)))

static fxs_status call_fxs_draw(world *w, const char *s) {
    char *bytes = NULL;
    assert_int_equal(fxs_draw(w->m, NULL, NULL, 1, NULL), FXS_EINVAL);
    fxs_ctx_clear(w->ctx);
    fxs_status status =
        fxs_draw_memory(w->m, &(fxs_draw_options){.theme = s}, "log", &bytes, NULL, NULL);
    assert_int_equal(status, s ? FXS_EINVAL : FXS_OK);
    fxs_free(bytes);
    fxs_ctx_clear(w->ctx);
    return fxs_draw(w->m, NULL, &s, 1, NULL);
}

static fxs_status call_fxs_draw_profile(world *w, const char *s) {
    fxs_profile *p;
    assert_ok(w->ctx, fxs_profile_run(w->m, NULL, &(fxs_profile_options){.rounds = 1}, &p));
    fxs_status status = fxs_draw_profile(w->m, p, FXS_BY_NODE, NULL, &s, 1, NULL);
    fxs_profile_free(p);
    return status;
}

static fxs_status call_fxs_draw_memory(world *w, const char *s) {
    char *bytes = NULL;
    return drop_text(fxs_draw_memory(w->m, NULL, s, &bytes, NULL, NULL), &bytes);
}

static fxs_status call_fxs_draw_dot(world *w, const char *s) {
    char *bytes = NULL;
    assert_int_equal(fxs_draw_dot(w->ctx, "digraph { a }", s, 0, &bytes, NULL), FXS_EINVAL);
    fxs_ctx_clear(w->ctx);
    return drop_text(fxs_draw_dot(w->ctx, s, "svg", 0, &bytes, NULL), &bytes);
}
#endif

/* ---- the table */

static const struct {
    const char *function;
    call_fn *call;
    fxs_status null, empty; /* what NULL and "" give */
} rows[] = {
#define ROW(id, null, empty) {#id, call_##id, FXS_##null, FXS_##empty},
    ROW(fxs_dtype_find, ENOTFOUND, ENOTFOUND) ROW(fxs_value_str, EINVAL, OK)
        ROW(fxs_value_dict, EINVAL, OK)
            ROW(fxs_module_find, ENOTFOUND, OK) /* "" is the module itself */
    ROW(fxs_module_new, EINVAL, EINVAL) ROW(fxs_module_add_child, EINVAL, EINVAL) ROW(
        fxs_module_add_tensor, EINVAL, EINVAL) ROW(fxs_module_add_submodule, EINVAL, EINVAL)
        ROW(fxs_module_delete_submodule, EINVAL, EINVAL) ROW(fxs_module_put_tensor, EINVAL, EINVAL)
            ROW(fxs_numbers_read, EINVAL, EINVAL) ROW(fxs_module_load_weights, EINVAL, EINVAL) ROW(
                fxs_module_save_weights, EINVAL, EINVAL) ROW(fxs_load, EINVAL, EINVAL)
                ROW(fxs_load_text, EINVAL, EINVAL) ROW(fxs_graph_create_node, EINVAL, EINVAL) ROW(
                    fxs_node_set_target, EINVAL, EINVAL) ROW(fxs_graph_placeholder, EINVAL, EINVAL)
                    ROW(fxs_graph_get_attr, EINVAL, EINVAL)
                        ROW(fxs_graph_call_function, EINVAL, EINVAL)
                            ROW(fxs_graph_call_method, EINVAL, EINVAL)
                                ROW(fxs_graph_call_module, EINVAL, EINVAL)
                                    ROW(fxs_node_user_meta, ENOTFOUND, ENOTFOUND)
                                        ROW(fxs_node_update_kwarg, EINVAL, EINVAL)
                                            ROW(fxs_node_set_user_meta, EINVAL, EINVAL)
                                                ROW(fxs_inputs_add, EINVAL, EINVAL)
                                                    ROW(fxs_inputs_add_value, OK,
                                                        EINVAL) /* NULL: the next placeholder */
    ROW(fxs_graph_python_code_with_root, OK, EINVAL)            /* NULL: self */
    ROW(fxs_table_format_find, ENOTFOUND, ENOTFOUND) ROW(fxs_print_ops, OK, OK) /* all of them */
    ROW(fxs_print_coverage, EINVAL, EINVAL) ROW(fxs_pass_run, EINVAL, EINVAL)
        ROW(fxs_outline, OK, ENOTFOUND) /* no pattern; one that matches nothing */
    ROW(fxs_outline_closes, OK, OK) ROW(fxs_outline_in_focus, OK, OK) ROW(fxs_nn, EINVAL, EINVAL)
        ROW(fxs_nn_add, OK, EINVAL) /* NULL: the next number */
    ROW(fxs_nn_put, OK, EINVAL) ROW(fxs_nn_parameter, EINVAL, EINVAL)
        ROW(fxs_nn_buffer, EINVAL, EINVAL) ROW(fxs_nn_forward, EINVAL, OK) /* "": no parameters */
    ROW(fxs_has, OK, OK) ROW(fxs_s, EINVAL, OK) ROW(fxs_device, EINVAL, EINVAL)
        ROW(fxs_keyword, EINVAL, EINVAL) ROW(fxs_record_call, EINVAL, EINVAL)
            ROW(fxs_record_function, EINVAL, EINVAL) ROW(fxs_record_method, EINVAL, EINVAL)
                ROW(fxs_record_attr, EINVAL, EINVAL) ROW(fxs_record_getattr, EINVAL, EINVAL) ROW(
                    fxs_record_operator, EINVAL, EINVAL) ROW(fxs_record_annotate, EINVAL, EINVAL)
                    ROW(fxs_record_fields, EINVAL, EINVAL) ROW(fxs_trace_function, EINVAL, EINVAL)
                        ROW(fxs_graph_module_new, OK, EINVAL) /* NULL: the root's class */
    ROW(fxs_run_text, OK, OK)                                 /* no inputs */
    ROW(fxs_module_write, EINVAL, EINVAL) ROW(fxs_write_file, EINVAL, EINVAL)
        ROW(fxs_check_file, EINVAL, EINVAL)
#ifdef FXS_HAVE_RENDER
            ROW(fxs_draw_row_find, ENOTFOUND, ENOTFOUND) ROW(fxs_draw_rows, ENOTFOUND, ENOTFOUND)
                ROW(fxs_draw, EINVAL, EINVAL) ROW(fxs_draw_profile, EINVAL, EINVAL)
                    ROW(fxs_draw_memory, EINVAL, EINVAL) ROW(fxs_draw_dot, EINVAL, EINVAL)
#endif
};
enum { ROWS = sizeof rows / sizeof *rows };

static void make_world(world *w, fxs_ctx *ctx) {
    static const char text[] = "M(\n  (relu): ReLU()\n)\ngraph():\n    return 1\n";
    *w = (world){.ctx = ctx};
    assert_ok(ctx, fxs_load_text(ctx, "world", text, sizeof text - 1, &w->m));
    assert_ok(ctx, fxs_graph_new(ctx, &w->g));
    assert_ok(ctx, fxs_graph_placeholder(w->g, "x", NULL, &w->n));
}

static void texts_that_are_not_there_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < 2 * ROWS; i++) {
        world w;
        make_world(&w, ctx);
        const char *text = i % 2 ? "" : NULL;
        fxs_status want = i % 2 ? rows[i / 2].empty : rows[i / 2].null;
        fxs_status have = rows[i / 2].call(&w, text);
        if (have != want)
            fail_msg("%s(%s): %s, not %s: %s", rows[i / 2].function, text ? "\"\"" : "NULL",
                     fxs_status_name(have), fxs_status_name(want), fxs_ctx_error(ctx));
        if (have == FXS_EINVAL)
            assert_true(*fxs_ctx_error(ctx) != '\0');
        fxs_ctx_clear(ctx);
        fxs_module_unref(w.m);
        fxs_graph_free(w.g);
    }
}

/* ---- is the table whole? */

static bool in_table(const char *name, size_t len) {
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].function) == len && memcmp(rows[i].function, name, len) == 0)
            return true;
    return false;
}

/* Declarations: FXS_API, what it gives, NAME(PARAMETERS); */
static size_t check_header(const char *path) {
    char *all = read_test_file(path, NULL);
    size_t seen = 0;
    for (const char *at = all; (at = strstr(at, "\nFXS_API ")); at++) {
        const char *open = strchr(at, '('), *end = strchr(at, ';'), *name = open;
        const char *text = open ? strstr(open, "const char *") : NULL;
        if (!open || open > end || !text || text > end)
            continue;
        while (name[-1] == '_' || (name[-1] >= 'a' && name[-1] <= 'z'))
            name--;
        if (!in_table(name, (size_t)(open - name)))
            fail_msg("%s: %.*s takes a text, and is not in the table", path, (int)(open - name),
                     name);
        seen++;
    }
    fxs_free(all);
    return seen;
}

static void every_function_with_a_text_is_in_the_table(void **state) {
    (void)state;
    size_t seen = check_header("../src/fxscope.h") + check_header("../src/fxpass.h") +
                  check_header("../src/fxoutline.h") + check_header("../src/fxprofile.h") +
                  check_header("../src/fxfile.h") + check_header("../src/fxtrace.h");
#ifdef FXS_HAVE_RENDER
    seen += check_header("../render/fxrender.h");
#endif
    assert_true(seen > 40);
}

/* ---- containers and constants */

static fxs_proxy odd_dict(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_method(x[0], "f", fxs_sequence_of(FXS_V_DICT, FXS_ALL_OF("a", x[0], "b")));
}

static fxs_proxy odd_dict_of_constants(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_method(x[0], "f", FXS_DICT("a", 1, "b"));
}

static fxs_proxy wrong_tag(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_sequence_of(FXS_V_STR, 1, x);
}

static fxs_proxy wrong_number(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_method(x[0], "f", fxs_sequence_of((fxs_tag)300, 0, NULL));
}

static fxs_proxy short_slice(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_index(x[0], fxs_sequence_of(FXS_V_SLICE, FXS_ALL_OF(1, 2)));
}

static fxs_proxy no_items(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    return fxs_method(x[0], "f", fxs_sequence_of(FXS_V_LIST, 3, NULL));
}

static fxs_proxy sum_of_constants(fxs_proxy self, const fxs_proxy *x) {
    (void)self;
    fxs_proxy three = fxs_mul(fxs_add(1, 2), 1);
    assert_false(fxs_truth(three));
    return fxs_add(x[0], three);
}

static void wrong_containers_are_refused(void **state) {
    static const struct {
        fxs_forward_fn *forward;
        const char *message;
    } cases[] = {{odd_dict, "is a key without a value"},
                 {odd_dict_of_constants, "the last of 3 items is a key without a value"},
                 {wrong_tag, "the tag must be that of a list, tuple, slice or dict, not 5"},
                 {wrong_number, "the tag must be that of a list, tuple, slice or dict"},
                 {short_slice, "a slice has start, stop and step, not 2 items"},
                 {no_items, "the items are NULL"},
                 {sum_of_constants, "test_texts.c:"}};
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_module *m;
        assert_int_equal(fxs_trace_function(ctx, "f", "x", cases[i].forward, NULL, NULL, &m),
                         FXS_EINVAL);
        if (!strstr(fxs_ctx_error(ctx), cases[i].message))
            fail_msg("case %zu: %s", i, fxs_ctx_error(ctx));
        fxs_ctx_clear(ctx);
    }
    /* Outside of a trace nothing keeps the error, but nothing fails either. */
    fxs_proxy p = fxs_add(1, 2);
    assert_int_equal(p.kind, FXS_P_POISON);
    assert_string_equal(p.u.text, __FILE__);
}

static void a_transformer_runs_once(void **state) {
    fxs_ctx *ctx = *state;
    world w;
    fxs_interpreter *it;
    fxs_module *first, *second;
    make_world(&w, ctx);
    assert_ok(ctx, fxs_transformer_new(w.m, NULL, &it));
    assert_ok(ctx, fxs_transformer_run(it, &first));
    assert_int_equal(fxs_transformer_run(it, &second), FXS_EINVAL);
    assert_null(second);
    assert_non_null(strstr(fxs_ctx_error(ctx), "this transformer has run"));
    fxs_ctx_clear(ctx);
    fxs_interpreter_free(it);
    assert_ok(ctx, fxs_interpreter_new(w.m, NULL, &it));
    assert_int_equal(fxs_transformer_run(it, &second), FXS_EINVAL);
    assert_non_null(strstr(fxs_ctx_error(ctx), "this interpreter computes"));
    fxs_ctx_clear(ctx);
    fxs_interpreter_free(it);
    fxs_module_unref(first);
    fxs_module_unref(w.m);
    fxs_graph_free(w.g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_that_are_not_there_are_refused, new_ctx, free_ctx),
        cmocka_unit_test(every_function_with_a_text_is_in_the_table),
        cmocka_unit_test_setup_teardown(wrong_containers_are_refused, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(a_transformer_runs_once, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
