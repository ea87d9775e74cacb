/* test_python.c: generated Python code: the 29 golden networks and what torch 1.13 gave for some
 * 330 small graphs, byte for byte; forms that no printed graph carries; whole files. With a
 * directory as its argument, the program writes every code and file there in place of testing, for
 * compile.sh. */
#include "golden.h"
#include "ir/module.h"
#include "unit.h"

static void assert_text(const char *have, const char *want, const char *what) {
    if (strcmp(have, want) == 0)
        return;
    size_t i = 0;
    while (have[i] && have[i] == want[i])
        i++;
    while (i > 0 && want[i - 1] != '\n')
        i--;
    fprintf(stderr, "%s differs:\n  have %.*s\n  want %.*s\n", what, (int)strcspn(have + i, "\n"),
            have + i, (int)strcspn(want + i, "\n"), want + i);
    fail();
}

static fxs_graph *graph_of(fxs_ctx *ctx, const char *name, const char *text, size_t len,
                           fxs_module **m) {
    assert_ok(ctx, fxs_load_text(ctx, name, text, len, m));
    return fxs_module_graph(*m);
}

static char *code_of(const fxs_graph *g, unsigned flags) {
    char *text;
    assert_ok(fxs_graph_ctx(g), fxs_graph_python_code(g, flags, &text, NULL));
    return text;
}

/* ---- the golden networks
 * ---------------------------------------------------------------------------------- */

/* What a printed graph does not tell: the type that forward returns. */
static const char *returned_type(const char *name) {
    static const char *const types[][2] = {
        {"deeplabv3_mobilenet_v3_large", "typing.Dict[str, torch.Tensor]"},
        {"fcn_resnet50", "typing.Dict[str, torch.Tensor]"},
        {"googlenet", "torchvision.models.googlenet.GoogLeNetOutputs"},
        {"inception_v3", "torchvision.models.inception.InceptionOutputs"},
        {"recurrent", NULL},
        {"swin_t", NULL},
        {"testmodel", NULL},
        {"text_encoder", NULL},
        {"unet", NULL},
        {"vit_b_16", NULL},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i][0], name) == 0)
            return types[i][1];
    return "torch.Tensor";
}

static fxs_module *golden_network(fxs_ctx *ctx, const char *name) {
    size_t len;
    fxs_module *m;
    char *file = golden_file(name, &len);
    fxs_graph *g = graph_of(ctx, name, file, len, &m);
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n)) {
        if (n->kind == FXS_OUTPUT)
            n->type = returned_type(name);
        n->wrapped = n->kind == FXS_CALL_FUNCTION && strncmp(n->target, "torchvision.", 12) == 0;
    }
    fxs_free(file);
    return m;
}

static void code_equals_golden(const char *name, void *user) {
    fxs_module *m = golden_network(user, name);
    char *want = read_golden(name, ".code.txt", NULL), *have = code_of(fxs_module_graph(m), 0);
    assert_text(have, want, name);
    fxs_free(have);
    fxs_free(want);
    fxs_module_unref(m);
}

static void code_of_networks_is_torchs(void **state) {
    for_each_golden(code_equals_golden, *state);
}

/* ---- small graphs
 * -------------------------------------------------------------------------------------------- */

/* One block of fx_code.txt, cut into strings:
 *   === NAME, globals: NAMES, returns: TYPE, wrapped: NODES (the last two are not in the printout),
 * graph, --- code, code */
typedef struct block {
    char *name, *globals, *returns, *wrapped, *graph, *code;
} block;

static char *cut_line(char **at, const char *head) {
    char *s = *at, *end = strchr(s, '\n');
    assert_int_equal(strncmp(s, head, strlen(head)), 0);
    *end = '\0';
    *at = end + 1;
    return s + strlen(head);
}

/* False behind the last block. */
static bool next_block(char **at, block *b) {
    if (!**at)
        return false;
    b->name = cut_line(at, "=== ");
    b->globals = cut_line(at, "globals: ");
    b->returns = cut_line(at, "returns: ");
    b->wrapped = cut_line(at, "wrapped: ");
    b->graph = *at;
    char *middle = strstr(*at, "\n--- code\n"), *end;
    assert_non_null(middle);
    middle[1] = '\0'; /* the graph keeps its newline */
    b->code = middle + 10;
    end = strstr(b->code, "\n=== ");
    if (!end)
        end = b->code + strlen(b->code) - 1;
    *end = '\0';
    *at = end + 1;
    return true;
}

/* Blocks for which other code is right, and why. */
static const char *const others[][2] = {
    {"code_args", "torch.per_tensor_affine prints as the string of that text does"},
    {"code_getattr",
     "the string '1' prints as the integer; x.class and 3.relu() of torch are no Python"},
    {"code_targets", "self.class of torch is no Python"},
    {"tr_args.3", "a node as default value prints as the string of its name does"},
    {"tr_control.2", "the string 'Proxy(x)' prints as an object's repr does"},
    {"tr_methods", "the string 'cpu' prints as the device does"},
};
enum { OTHERS = sizeof others / sizeof *others };

static bool is_other(const char *name) {
    for (size_t i = 0; i < OTHERS; i++)
        if (strcmp(others[i][0], name) == 0)
            return true;
    return false;
}

static fxs_module *block_model(fxs_ctx *ctx, const block *b) {
    fxs_module *m;
    fxs_graph *g = graph_of(ctx, b->name, b->graph, strlen(b->graph), &m);
    char *save = NULL;
    for (char *name = strtok_r(b->wrapped, " ", &save); name; name = strtok_r(NULL, " ", &save))
        fxs_graph_find(g, name)->wrapped = true;
    for (fxs_node *n = fxs_graph_first(g); n; n = fxs_node_next(n))
        if (n->kind == FXS_OUTPUT && *b->returns)
            n->type = b->returns;
    return m;
}

/* The names in "name = object" lines behind the seven that are always there. */
static void globals_equal(fxs_graph *g, const block *b) {
    char *text, *save = NULL;
    fxs_buf names = {0};
    int i = 0;
    assert_ok(fxs_graph_ctx(g), fxs_graph_python_globals(g, 0, &text, NULL));
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        *strstr(line, " = ") = '\0';
        if (i++ >= 7)
            fxs_buf_printf(&names, names.len ? " %s" : "%s", line);
    }
    assert_text(names.data ? names.data : "", b->globals, b->name);
    fxs_buf_free(&names);
    fxs_free(text);
}

static void code_of_small_graphs_is_torchs(void **state) {
    char *file = read_test_file("golden/fx_code.txt", NULL), *at = file;
    size_t compared = 0, skipped = 0;
    for (block b; next_block(&at, &b);) {
        fxs_module *m = block_model(*state, &b);
        char *have = code_of(fxs_module_graph(m), 0);
        if (is_other(b.name)) { /* an entry that is not needed any more would hide a fault */
            assert_string_not_equal(have, b.code);
            skipped++;
        } else {
            assert_text(have, b.code, b.name);
            globals_equal(fxs_module_graph(m), &b);
            compared++;
        }
        fxs_free(have);
        fxs_module_unref(m);
    }
    assert_int_equal(compared, 331 - OTHERS);
    assert_int_equal(skipped, OTHERS);
    fxs_free(file);
}

/* ---- types
 * ------------------------------------------------------------------------------------------------------
 */

/* A type as graphs print it, and as torch 1.13 writes the annotation. */
static const char *const types[][2] = {
    {"typing.List[torch.Tensor]", "typing_List[torch.Tensor]"},
    {"typing.Optional[float]", "typing_Union[float,NoneType]"},
    {"typing.Dict[str, typing.List[mod.P]]", "typing_Dict[str,typing_List[mod_P]]"},
    {"typing.Tuple[int, ...]", "typing_Tuple[int,_]"},
    {"typing.Tuple[()]", "typing_Tuple"},
    {"typing.Tuple", "typing_Tuple"},
    {"typing.List", "typing_List"},
    {"typing.Sequence[int]", "collections_abc_Sequence[int]"},
    {"typing.Sequence", "collections_abc_Sequence"},
    {"typing.Callable[[int, str], float]", "collections_abc_Callable[int,str,float]"},
    {"typing.Callable[..., int]", "collections_abc_Callable[_,int]"},
    {"typing.Callable[[], int]", "collections_abc_Callable[int]"},
    {"typing.Union[int, str, NoneType]", "typing_Union[int,str,NoneType]"},
    {"list[int]", "typing_List[int]"},
    {"dict[str, int]", "typing_Dict[str,int]"},
    {"tuple[int, ...]", "typing_Tuple[int,_]"},
    {"set[int]", "typing_Set[int]"},
    {"frozenset[int]", "typing_FrozenSet[int]"},
    {"typing.Type[int]", "type[int]"},
    {"typing.Type", "type"},
    {"typing.DefaultDict[str, int]", "collections_defaultdict[str,int]"},
    {"typing.Deque[int]", "collections_deque[int]"},
    {"collections.deque", "collections_deque"},
    {"typing.Literal['a', 1]", "typing_Literal[_a_,_1]"},
    {"typing.List[ForwardRef('X')]", "typing_List[ForwardRef_X_]"},
    {"~T", "_T"},
    {"typing.List[~T]", "typing_List[_T]"},
    {"typing.Any", "typing_Any"},
    {"NoneType", "NoneType"},
    {"torch.device", "device"},
    {"typing.Optional[torch.device]", "typing_Union[device,NoneType]"},
    {"torch.dtype", "torch.dtype"},
    {"int | None", "int_None"},
    {"typing.Mapping[str, typing.Any]", "collections_abc_Mapping[str,typing_Any]"},
    {"typing.Iterable[typing.Tuple[int, str]]", "collections_abc_Iterable[typing_Tuple[int,str]]"},
    {"'fwd'", "_fwd_"},
    {"()", "()"},
    {"typing.AbstractSet[int]", "collections_abc_Set[int]"},
    {"typing.ContextManager[int]", "contextlib_AbstractContextManager[int]"},
    {"typing.Optional[typing.Callable[[torch.Tensor], torch.Tensor]]",
     "typing_Union[collections_abc_Callable[torch.Tensor,torch.Tensor],NoneType]"},
    {"typing.Dict[str, typing.Dict[str, typing.Tuple[int, int]]]",
     "typing_Dict[str,typing_Dict[str,typing_Tuple[int,int]]]"},
    {"typing.List[typing.Optional[torch.Tensor]]",
     "typing_List[typing_Union[torch.Tensor,NoneType]]"},
    {"type", "type"},
    {"typing.Type[torch.nn.modules.module.Module]", "type[torch.nn.modules.module.Module]"},
    {"typing.Pattern[str]", "re_Pattern[str]"},
    {"typing.Counter[str]", "collections_Counter[str]"},
    {"typing.Callable", "collections_abc_Callable"},
};

static fxs_graph *new_graph(fxs_ctx *ctx) {
    fxs_graph *g;
    assert_ok(ctx, fxs_graph_new(ctx, &g));
    return g;
}

/* Appends a node; drops args and kwargs. */
static fxs_node *add(fxs_graph *g, fxs_kind kind, const char *target, fxs_value args,
                     fxs_value kwargs) {
    fxs_node *n;
    assert_ok(fxs_graph_ctx(g),
              fxs_graph_create_node(g, kind, target, args.tag == FXS_V_TUPLE ? &args : NULL,
                                    kwargs.tag == FXS_V_DICT ? &kwargs : NULL, NULL, NULL, &n));
    fxs_value_unref(&args);
    fxs_value_unref(&kwargs);
    return n;
}

static void types_are_written_as_in_torch(void **state) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        fxs_graph *g = new_graph(*state);
        char want[256], *have;
        add(g, FXS_PLACEHOLDER, "x", fxs_none(), fxs_none())->type = types[i][0];
        snprintf(want, sizeof want, "\n\n\ndef forward(self, x : %s):\n    pass\n    ",
                 types[i][1]);
        have = code_of(g, 0);
        assert_text(have, want, types[i][0]);
        fxs_free(have);
        fxs_graph_free(g);
    }
}

static void damaged_types_are_survived(void **state) {
    static const char *const damaged[] = {"",      "[",     "]",          "a[",    "a[]", "a[b",
                                          "a[b]]", "a[[b]", ",",          "a[,,]", "a['", "a[\"b']",
                                          "a[(,]", "a.[b]", "a[b](c)[d]", " "};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        fxs_graph *g = new_graph(*state);
        add(g, FXS_PLACEHOLDER, "x", fxs_none(), fxs_none())->type = damaged[i];
        fxs_free(code_of(g, 0));
        fxs_graph_free(g);
    }
    fxs_buf deep = {0};
    for (int i = 0; i < 100000; i++)
        fxs_buf_puts(&deep, "a[");
    fxs_buf_fill(&deep, ']', 100000);
    fxs_graph *g = new_graph(*state);
    add(g, FXS_PLACEHOLDER, "x", fxs_none(), fxs_none())->type = deep.data;
    fxs_free(code_of(g, 0));
    fxs_graph_free(g);
    fxs_buf_free(&deep);
}

/* ---- forms that a printed graph does not carry
 * ---------------------------------------------------------------------
 */

static void comments_say_where_nodes_were_traced(void **state) {
    static const char *const traces[] = {
        "  File \"/u/model.py\", line 12, in forward\n    y = torch.relu(x)\n",
        "  File \"/u/model.py\", line 12, in forward\n    y = torch.relu(x)\n",
        NULL,
        NULL,
        "Module stack: {}\nGradient addition node\n  File \"<x y>.py\", line 3, in <module>\n    "
        "zz\nextra",
        "no file line",
    };
    static const char want[] =
        "\n\n\ndef forward(self, x):\n    \n    # File: /u/model.py:12, code: y = torch.relu(x)\n"
        "    abs_1 = torch.abs(x);  x = None\n    abs_2 = torch.abs(abs_1);  abs_1 = None\n    \n"
        "    # No stacktrace found for following nodes \n"
        "    abs_3 = torch.abs(abs_2);  abs_2 = None\n    abs_4 = torch.abs(abs_3);  abs_3 = None\n"
        "    \n    # Module stack: {}, Gradient addition node, File: <x y>.py:3, code: zz\n"
        "    abs_5 = torch.abs(abs_4);  abs_4 = None\n    \n    # no file line\n"
        "    abs_6 = torch.abs(abs_5);  abs_5 = None\n    return abs_6\n    ";
    static const char want2[] =
        "\n\n\ndef forward(self, x):\n    # File: /u/model.py:12 in forward, code: y = "
        "torch.relu(x)\n    abs_1 = torch.abs(x);  x = None\n";
    fxs_graph *g = new_graph(*state);
    fxs_node *n = add(g, FXS_PLACEHOLDER, "x", fxs_none(), fxs_none());
    for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
        n = add(g, FXS_CALL_FUNCTION, "torch.abs", TUPLE(*state, fxs_of_node(n)), fxs_none());
        n->stack_trace = traces[i];
    }
    add(g, FXS_OUTPUT, "output", TUPLE(*state, fxs_of_node(n)), fxs_none());
    fxs_graph *copy;
    char *have = code_of(g, FXS_CODE_VERBOSE);
    assert_text(have, want, "verbose");
    fxs_free(have);
    assert_ok(*state, fxs_graph_deep_copy(g, &copy));
    have = code_of(copy, FXS_CODE_VERBOSE);
    assert_text(have, want, "copy");
    fxs_free(have);
    fxs_graph_free(copy);
    have = code_of(g, FXS_CODE_VERBOSE | FXS_CODE_TORCH2);
    assert_int_equal(strncmp(have, want2, sizeof want2 - 1), 0);
    fxs_free(have);
    fxs_graph_free(g);
}

static fxs_value make_text(fxs_ctx *ctx, fxs_tag tag, const char *s) {
    fxs_value v;
    assert_ok(ctx, fxs_make_text(ctx, NULL, tag, s, strlen(s), &v));
    return v;
}

/* Arguments that torch 1.13 writes as something that is no Python, or names nothing. */
static void odd_arguments(fxs_ctx *ctx, fxs_graph *g, fxs_node *x) {
    fxs_tensor *t, *meta;
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_INT64, SIZES(1, 2), &t));
    assert_ok(ctx, fxs_tensor_new_meta(ctx, FXS_FLOAT32, SIZES(3), &meta));
    fxs_value named = TUPLE(ctx, fxs_of_node(x), fxs_int(1)), inner = fxs_value_ref(named), size;
    int64_t sizes[] = {1, 2};
    named.u.seq->kind = FXS_TUPLE_NAMED;
    named.u.seq->type_name = "mod.P";
    assert_ok(ctx, fxs_make_size(ctx, 2, sizes, &size));
    add(g, FXS_CALL_FUNCTION, "f.g", TUPLE(ctx, named, LIST(ctx, inner), size), fxs_none());
    add(g, FXS_CALL_FUNCTION, "f.g",
        TUPLE(ctx, make_text(ctx, FXS_V_FUNCTION, "operator.add"),
              make_text(ctx, FXS_V_FUNCTION, "torch.relu"),
              make_text(ctx, FXS_V_OPAQUE, "<class 'int'>"),
              make_text(ctx, FXS_V_OPAQUE, "<function h at 0x7f>"),
              make_text(ctx, FXS_V_OPAQUE, "range(0, 3)"), fxs_of_tensor(t), fxs_of_tensor(meta)),
        fxs_none());
    add(g, FXS_CALL_METHOD, "random_", TUPLE(ctx, fxs_of_node(x)),
        KEYWORDS(ctx, {"from", fxs_int(1)}, {"to", fxs_int(2)}));
    add(g, FXS_CALL_METHOD, "relu", TUPLE(ctx, fxs_int(3)), fxs_none());
    add(g, FXS_CALL_FUNCTION, "operator.iadd", TUPLE(ctx, fxs_int(3), fxs_of_node(x)), fxs_none());
    add(g, FXS_CALL_FUNCTION, "operator.add", TUPLE(ctx, fxs_of_node(x)), fxs_none());
    add(g, FXS_CALL_FUNCTION, "torch.nn.init.<lambda>", TUPLE(ctx, fxs_of_node(x)), fxs_none());
    add(g, FXS_GET_ATTR, "a.class.\"b", fxs_none(), fxs_none());
}

static const char odd_code[] =
    "\n"
    "torch.fx._symbolic_trace.wrap(\"len\")\n"
    "\n"
    "def forward(self, x, *args, input_1, x_1, class_1 = 's'):\n"
    "    _args = args\n"
    "    len_1 = len(x)\n"
    "    len_2 = len(x)\n"
    "    g = f_g(mod_P(x, 1), [mod_P(x, 1)], torch.Size([1, 2]))\n"
    "    g_1 = f_g(_operator_add, torch.relu, int, _function_h_at_0x7f_, range(0, 3), "
    "torch.tensor([[0, 0]], dtype=torch.int64), torch.empty([3], dtype=torch.float32, "
    "device='meta'))\n"
    "    random_ = x.random_(**{'from': 1}, to = 2)\n"
    "    relu = (3).relu()\n"
    "    iadd = _operator_iadd(3, x)\n"
    "    add = _operator_add(x)\n"
    "    _lambda_ = torch_nn_init_lambda_(x);  x = None\n"
    "    a_class_b = getattr(getattr(self.a, \"class\"), '\"b')\n"
    "    return len_1\n"
    "    ";

static const char odd_globals[] =
    "inf = math.inf\nnan = math.nan\nNoneType = type(None)\ntorch = torch\n"
    "device = torch.device\nfx_pytree = torch.fx._pytree\npytree = torch.utils._pytree\n"
    "len = len\nf_g = f.g\nmod_P = mod.P\n_operator_add = _operator.add\nint = int\n"
    "_function_h_at_0x7f_ = <function h at 0x7f>\n_operator_iadd = _operator.iadd\n"
    "torch_nn_init_lambda_ = torch.nn.init.<lambda>\n";

static fxs_graph *odd_graph(fxs_ctx *ctx) {
    fxs_graph *g = new_graph(ctx);
    fxs_node *x = add(g, FXS_PLACEHOLDER, "x", fxs_none(), fxs_none());
    add(g, FXS_PLACEHOLDER, "*args", fxs_none(), fxs_none());
    add(g, FXS_PLACEHOLDER, "input.1", fxs_none(), fxs_none());
    add(g, FXS_PLACEHOLDER, "x", fxs_none(), fxs_none());
    add(g, FXS_PLACEHOLDER, "class", TUPLE(ctx, make_str(ctx, "s")), fxs_none());
    fxs_node *len =
        add(g, FXS_CALL_FUNCTION, "builtins.len", TUPLE(ctx, fxs_of_node(x)), fxs_none());
    len->wrapped = true;
    add(g, FXS_CALL_FUNCTION, "builtins.len", TUPLE(ctx, fxs_of_node(x)), fxs_none())->wrapped =
        true;
    odd_arguments(ctx, g, x);
    add(g, FXS_OUTPUT, "output", TUPLE(ctx, fxs_of_node(len)), fxs_none());
    return g;
}

static void what_would_not_compile_is_written_right(void **state) {
    fxs_graph *g = odd_graph(*state);
    char *have = code_of(g, 0);
    assert_text(have, odd_code, "odd");
    fxs_free(have);
    assert_ok(*state, fxs_graph_python_globals(g, 0, &have, NULL));
    assert_text(have, odd_globals, "globals");
    fxs_free(have);
    fxs_graph_free(g);
}

static void calls_without_self_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_graph *g = new_graph(ctx);
    char *text;
    add(g, FXS_CALL_METHOD, "relu", fxs_none(), fxs_none());
    assert_int_equal(fxs_graph_python_code(g, 0, &text, NULL), FXS_EINVAL);
    assert_null(text);
    assert_string_equal(fxs_ctx_error(ctx),
                        "no code for relu: call_method needs self as its first argument");
    fxs_ctx_clear(ctx);
    fxs_graph_free(g);
    g = new_graph(ctx);
    add(g, FXS_OUTPUT, "output", fxs_none(), fxs_none());
    assert_int_equal(fxs_graph_python_code(g, 0, &text, NULL), FXS_EINVAL);
    assert_string_equal(fxs_ctx_error(ctx),
                        "no code for output: output needs a value as its first argument");
    fxs_ctx_clear(ctx);
    fxs_graph_free(g);
}

/* ---- whole files
 * -----------------------------------------------------------------------------------------------------
 */

/* What torch 1.13 gives for tracing's assertion, and how PyTorch 2 frees the assertion's own value.
 */
static void torch2_frees_what_nobody_uses(void **state) {
    static const char text[] =
        "graph():\n    %b_1 : [#users=1] = placeholder[target=b_1]\n    %eq : [#users=1] = "
        "call_function[target=operator.eq](args = (%b_1, False), kwargs = {})\n    %_assert : "
        "[#users=0] = call_function[target=torch._assert](args = (%eq, no), kwargs = {})\n"
        "    return None\n";
    fxs_module *m;
    fxs_graph *g = graph_of(*state, "m", text, sizeof text - 1, &m);
    char *have = code_of(g, FXS_CODE_TORCH2);
    assert_text(have,
                "\n\n\ndef forward(self, b_1):\n    eq = b_1 == False;  b_1 = None\n    _assert = "
                "torch._assert(eq, "
                "'no');  eq = _assert = None\n    return None\n    ",
                "torch2");
    fxs_free(have);
    fxs_module_unref(m);
}

static fxs_module *test_model(fxs_ctx *ctx) {
    size_t len;
    fxs_module *m;
    char *file = golden_file("testmodel", &len);
    assert_ok(ctx, fxs_load_text(ctx, "testmodel", file, len, &m));
    fxs_free(file);
    return m;
}

static void shapes_stand_behind_statements(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = test_model(ctx);
    fxs_inputs *in;
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "1x3x16x16"));
    assert_ok(ctx, fxs_inputs_add(in, "1x2x8x8"));
    assert_ok(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    char *have = code_of(fxs_module_graph(m), FXS_CODE_SHAPES);
    assert_non_null(strstr(have, "(x);  x = None  # float32[1, 4, 16, 16]\n"));
    assert_non_null(strstr(have, "size = main_1.size()  # torch.Size([1, 4, 16, 16])\n"));
    assert_non_null(strstr(have, "return add_1  # float32[1, 4, 16, 16]\n"));
    fxs_free(have);
    fxs_inputs_free(in);
    fxs_module_unref(m);
}

/* FILE.fx in tests/golden/code is a model, FILE.py the file that is written for it. */
static void file_equals_golden(fxs_ctx *ctx, const char *name) {
    char path[128], *text, *want, *have;
    size_t len;
    fxs_module *m;
    snprintf(path, sizeof path, "golden/code/%s.fx", name);
    text = read_test_file(path, &len);
    snprintf(path, sizeof path, "golden/code/%s.py", name);
    want = read_test_file(path, NULL);
    graph_of(ctx, name, text, len, &m);
    assert_ok(ctx, fxs_module_python_file(m, 0, &have, NULL));
    assert_text(have, want, name);
    fxs_free(have);
    fxs_free(want);
    fxs_free(text);
    fxs_module_unref(m);
}

static void files_are_written_as_expected(void **state) {
    file_equals_golden(*state, "testmodel");
    file_equals_golden(*state, "odd");
    file_equals_golden(*state, "nested");
}

static void the_root_may_have_another_name(void **state) {
    static const char text[] =
        "M(\n  (model): ReLU()\n  (0): ReLU()\n)\nparameter w: torch.float32[1]\n"
        "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
        "    %model : [#users=1] = call_module[target=model](args = (%x,), "
        "kwargs = {})\n    %_0 : [#users=1] = call_module[target=0](args = "
        "(%model,), kwargs = {})\n    %w : [#users=1] = get_attr[target=w]\n"
        "    return (_0, w)\n";
    static const char *const refused[] = {"torch", "class", "len",         "3",
                                          "a b",   "a.",    "self.torch.1"};
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m;
    char *have;
    (void)state;
    fxs_graph *g = graph_of(ctx, "root", text, sizeof text - 1, &m);
    assert_ok(ctx, fxs_graph_python_code_with_root(g, "model", 0, &have, NULL));
    assert_text(have,
                "\n\n\ndef forward(self, x):\n    model_1 = model.model(x);  x = None\n"
                "    _0 = getattr(model, \"0\")(model_1);  model_1 = None\n    w = model.w\n"
                "    return (_0, w)\n    ",
                "model");
    fxs_free(have);
    assert_ok(ctx, fxs_graph_python_code_with_root(g, "self.inner", 0, &have, NULL));
    assert_non_null(strstr(have, "    model = self.inner.model(x);  x = None\n"));
    fxs_free(have);
    for (size_t i = 0; i < 2; i++) {
        assert_ok(ctx, fxs_graph_python_code_with_root(g, i ? "self" : NULL, 0, &have, NULL));
        assert_non_null(strstr(have, "    model = self.model(x);  x = None\n"));
        fxs_free(have);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(fxs_graph_python_code_with_root(g, refused[i], 0, &have, NULL),
                         FXS_EINVAL);
        assert_null(have);
        fxs_ctx_clear(ctx);
    }
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

static void a_module_without_graph_is_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m;
    char *text;
    assert_ok(ctx, fxs_module_new(ctx, "ReLU", NULL, NULL, &m));
    assert_int_equal(fxs_module_python_file(m, 0, &text, NULL), FXS_EINVAL);
    assert_string_equal(fxs_ctx_error(ctx),
                        "module ReLU has no graph, so there is no forward to write");
    fxs_ctx_clear(ctx);
    fxs_module_unref(m);
}

/* ---- memory
 * ------------------------------------------------------------------------------------------------------------
 */

typedef fxs_status printer(const fxs_module *m, char **text);
static fxs_status print_code(const fxs_module *m, char **text) {
    return fxs_graph_python_code(fxs_module_graph(m), FXS_CODE_VERBOSE | FXS_CODE_SHAPES, text,
                                 NULL);
}
static fxs_status print_globals(const fxs_module *m, char **text) {
    return fxs_graph_python_globals(fxs_module_graph(m), 0, text, NULL);
}
static fxs_status print_file(const fxs_module *m, char **text) {
    return fxs_module_python_file(m, 0, text, NULL);
}

typedef struct printing {
    const fxs_module *m;
    printer *print;
} printing;

static fxs_status print_once(fxs_ctx *ctx, const void *data) {
    const printing *p = data;
    char *text;
    (void)ctx;
    fxs_status s = p->print(p->m, &text);
    assert_true((s == FXS_OK) == (text != NULL));
    fxs_free(text);
    return s;
}

static void every_failed_allocation_is_reported(void **state) {
    static printer *const printers[] = {print_code, print_globals, print_file};
    static const char *const files[] = {"golden/code/odd.fx", "golden/code/nested.fx"};
    fxs_module *models[3] = {test_model(*state)};
    for (size_t i = 0; i < 2; i++) {
        size_t len;
        char *text = read_test_file(files[i], &len);
        graph_of(*state, files[i], text, len, &models[i + 1]);
        fxs_free(text);
    }
    for (size_t i = 0; i < 9; i++)
        assert_survives(*state, print_once, &(printing){models[i % 3], printers[i / 3]});
    for (size_t i = 0; i < 3; i++)
        fxs_module_unref(models[i]);
}

/* One-byte changes of a model with odd forms: whatever loads, prints or is refused (the sanitizers
 * watch). */
static void damage_is_survived(void **state) {
    fxs_ctx *ctx = *state;
    size_t len;
    char *text = read_test_file("golden/code/odd.fx", &len), *out;
    for (uint64_t i = 0; i < 4000; i++) {
        size_t at = fxs_random_bits(3, i) % len;
        char was = text[at];
        fxs_module *m;
        text[at] = i % 2 ? "()[]{}'\"<>.,*%_ 0\\"[fxs_random_bits(4, i) % 19]
                         : (char)fxs_random_bits(4, i);
        if (fxs_load_text(ctx, "damaged", text, len, &m) == FXS_OK) {
            if (fxs_module_python_file(m, FXS_CODE_TORCH2 | FXS_CODE_VERBOSE, &out, NULL) == FXS_OK)
                fxs_free(out);
            else
                assert_int_equal(fxs_ctx_status(ctx), FXS_EINVAL);
            fxs_module_unref(m);
        }
        fxs_ctx_clear(ctx);
        text[at] = was;
    }
    fxs_free(text);
}

/* ---- for compile.sh
 * ------------------------------------------------------------------------------------------------------
 */

static void write_text(const char *dir, const char *name, const char *suffix, char *text) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    fwrite(text, 1, strlen(text), f);
    assert_int_equal(fclose(f), 0);
    fxs_free(text);
}

static void write_model(const char *dir, const char *name, fxs_module *m) {
    char *file;
    write_text(dir, name, ".code", code_of(fxs_module_graph(m), 0));
    assert_ok(fxs_graph_ctx(fxs_module_graph(m)), fxs_module_python_file(m, 0, &file, NULL));
    write_text(dir, name, ".file", file);
    fxs_module_unref(m);
}

typedef struct target {
    fxs_ctx *ctx;
    const char *dir;
} target;

static void write_network(const char *name, void *user) {
    target *t = user;
    write_model(t->dir, name, golden_network(t->ctx, name));
}

/* torch's own texts that are no Python: a parameter without default behind one with, and a second
 * self. */
static bool is_no_python(const char *name) {
    return strcmp(name, "code_placeholders") == 0 || strcmp(name, "code_placeholder_self.2") == 0;
}

static int write_all(fxs_ctx *ctx, const char *dir) {
    char *file = read_test_file("golden/fx_code.txt", NULL), *at = file;
    for (block b; next_block(&at, &b);)
        if (!is_no_python(b.name))
            write_model(dir, b.name, block_model(ctx, &b));
    fxs_free(file);
    for_each_golden(write_network, &(target){ctx, dir});
    fxs_module *m;
    assert_ok(ctx, fxs_module_new(ctx, "Odd", NULL, NULL, &m));
    fxs_module_set_graph(m, odd_graph(ctx));
    write_model(dir, "odd", m);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_networks_is_torchs),
        cmocka_unit_test(code_of_small_graphs_is_torchs),
        cmocka_unit_test(types_are_written_as_in_torch),
        cmocka_unit_test(damaged_types_are_survived),
        cmocka_unit_test(comments_say_where_nodes_were_traced),
        cmocka_unit_test(what_would_not_compile_is_written_right),
        cmocka_unit_test(calls_without_self_are_refused),
        cmocka_unit_test(torch2_frees_what_nobody_uses),
        cmocka_unit_test(shapes_stand_behind_statements),
        cmocka_unit_test(files_are_written_as_expected),
        cmocka_unit_test(the_root_may_have_another_name),
        cmocka_unit_test(a_module_without_graph_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(damage_is_survived),
    };
    if (unit_argument) {
        fxs_ctx *ctx = fxs_ctx_new();
        int code = ctx ? write_all(ctx, unit_argument) : 1;
        fxs_ctx_free(ctx);
        return code;
    }
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
