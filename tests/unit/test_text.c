/* test_text.c: the text front end and the printers: the 29 golden networks byte for byte, every
 * argument form, errors with their places, truncations and damage. */
#include "golden.h"

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

static void print_equals_golden(const char *name, void *user) {
    fxs_ctx *ctx = user;
    size_t len;
    char *file = golden_file(name, &len), *text, *want;
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &text, NULL));
    want = read_golden(name, ".graph.txt", NULL);
    assert_text(text, want, name);
    fxs_free(text);
    fxs_free(want);
    assert_ok(ctx, fxs_module_print(m, &text, NULL));
    want = read_golden(name, ".modules.txt", NULL);
    assert_text(text, want, name);
    fxs_free(text);
    fxs_free(want);
    assert_ok(ctx, fxs_graph_lint(fxs_module_graph(m)));
    fxs_module_unref(m);
    fxs_free(file);
}

static void printing_is_torchs_byte_for_byte(void **state) {
    for_each_golden(print_equals_golden, *state);
}

/* parse, print, parse, print */
static void round_trip(fxs_ctx *ctx, const char *name, const char *text, size_t len) {
    fxs_module *m;
    char *once, *twice;
    size_t once_len;
    assert_ok(ctx, fxs_load_text(ctx, name, text, len, &m));
    assert_ok(ctx, fxs_module_print_file(m, 0, &once, &once_len));
    fxs_module_unref(m);
    assert_ok(ctx, fxs_load_text(ctx, name, once, once_len, &m));
    assert_ok(ctx, fxs_module_print_file(m, 0, &twice, NULL));
    fxs_module_unref(m);
    assert_text(twice, once, name);
    fxs_free(twice);
    assert_ok(ctx, fxs_load_text(ctx, name, once, once_len, &m));
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), FXS_PRINT_TORCH2, &twice, NULL));
    fxs_module_unref(m);
    assert_null(strstr(twice, "[#users="));
    assert_ok(
        ctx, fxs_load_text(ctx, name, twice, strlen(twice), &m)); /* a graph alone is a model too */
    fxs_module_unref(m);
    fxs_free(once);
    fxs_free(twice);
}

static void round_trip_golden(const char *name, void *user) {
    size_t len;
    char *file = golden_file(name, &len);
    round_trip(user, name, file, len);
    fxs_free(file);
}

static void round_trips_are_identical(void **state) { for_each_golden(round_trip_golden, *state); }

/* Parameters and buffers that layers imply are exactly the ones that PyTorch lists, but for those
 * of modules of the network's own, which the printed file declares. */
static void implied_state_is_complete(const char *name, void *user) {
    fxs_ctx *ctx = user;
    fxs_buf b = {0};
    fxs_module *m;
    size_t len;
    char *modules = read_golden(name, ".modules.txt", NULL), *file = golden_file(name, &len), *with,
         *without;
    assert_ok(ctx, fxs_load_text(ctx, name, file, len, &m));
    assert_ok(ctx, fxs_module_print_file(m, 0, &with, NULL));
    int64_t count = fxs_module_parameter_count(m), declared = 0;
    fxs_module_unref(m);
    char *tsv = read_golden(name, ".params.tsv", NULL);
    for (char *line = tsv; *line; line = strchr(line, '\n') + 1) {
        int64_t n = 1;
        char *s = strchr(line, '[');
        if (line[0] == 'p')
            for (s++; *s != ']'; s += strspn(s, ", "))
                n *= strtoll(s, &s, 10);
        declared += line[0] == 'p' ? n : 0;
    }
    assert_int_equal(count, declared);
    fxs_buf_puts(&b, modules);
    for (char *s = with; s && *s; s = strchr(s, '\n') ? strchr(s, '\n') + 1 : NULL)
        if (strncmp(s, "parameter ", 10) == 0 || strncmp(s, "buffer ", 7) == 0)
            fxs_buf_add(&b, s, strcspn(s, "\n") + 1);
    char *graph = read_golden(name, ".graph.txt", NULL);
    fxs_buf_puts(&b, graph);
    assert_ok(ctx, fxs_load_text(ctx, name, b.data, b.len, &m));
    assert_int_equal(fxs_module_parameter_count(m), declared);
    assert_ok(ctx, fxs_module_print_file(m, 0, &without, NULL));
    assert_text(without, with, name);
    fxs_module_unref(m);
    fxs_buf_free(&b);
    fxs_free(modules);
    fxs_free(graph);
    fxs_free(file);
    fxs_free(with);
    fxs_free(without);
    fxs_free(tsv);
}

static void implied_parameters_agree_with_pytorch(void **state) {
    for_each_golden(implied_state_is_complete, *state);
}

/* An argument tuple, and how many users %x has then. */
static const struct {
    const char *args;
    int users;
} argument_forms[] = {
    {"()", 0},
    {"(%x,)", 1},
    {"((%x,),)", 1},
    {"([%x],)", 1},
    {"([],)", 0},
    {"((),)", 0},
    {"([(%x,), [%x, [%x]], {}],)", 1},
    {"({k: %x, m: {n: (%x, 1)}},)", 1},
    {"({1: %x, (1, 2): 2},)", 1},
    {"(slice(None, None, None),)", 0},
    {"(slice(x, None, 2),)", 1},
    {"((slice(1, x, None), Ellipsis, None),)", 1},
    {"([slice(0, x, None)],)", 1},
    {"(True, False, None, Ellipsis)", 0},
    {"(1.0, 1e-05, 1e+16, 1000000000000000.0, 123456789.0, 0.1, inf, -inf, nan, -0.0, (2+3j), "
     "100000000000000000000)",
     0},
    {"(str, it's, a\"b, new\nline, )", 0},
    {"([str, {k: v}],)", 0},
    {"(torch.float32, torch.bool, torch.int64, torch.bfloat16)", 0},
    {"(cpu, cuda:0, cuda)", 0},
    {"(torch.channels_last, torch.contiguous_format, torch.strided, torch.sparse_coo, torch.qint8)",
     0},
    {"((1, 2), (%x, 1), range(0, 3), b'by', frozenset({1}))", 1},
    {"(<function userfn at 0x7f>, <built-in method add of type object at 0x7f>, <class "
     "'__main__.UserT'>)",
     0},
    {"(tensor([1., 2.]),)", 0},
    {"(ij,jk, %x, %x)", 1},
    {"(b h i d, b h j d -> b h i j, %x, %x)", 1},
    {"(-3, -0.5, 2j, -1.5e-07, 007, 1e5, +3)", 0},
    {"(b c (h p1) (w p2) -> b (h w) (p1 p2 c), %x)", 1},
    {"(torch.quint8, torch.complex64, torch.per_tensor_affine)", 0},
};

static void every_argument_form_is_kept(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof argument_forms / sizeof *argument_forms; i++) {
        fxs_buf b = {0};
        fxs_module *m;
        char *text;
        fxs_buf_printf(
            &b,
            "graph():\n    %%x : [#users=%d] = placeholder[target=x]\n    %%add : [#users=1] = "
            "call_function[target=torch.add](args = ",
            argument_forms[i].users);
        fxs_buf_puts(&b, argument_forms[i].args);
        fxs_buf_puts(&b,
                     ", kwargs = {dim: -1, keepdim: True, out: None, name: q})\n    return add\n");
        assert_ok(ctx, fxs_load_text(ctx, "form", b.data, b.len, &m));
        assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &text, NULL));
        assert_text(text, b.data, argument_forms[i].args);
        fxs_free(text);
        fxs_module_unref(m);
        fxs_buf_free(&b);
    }
}

static const char *const whole_graphs[] = {
    "graph():\n",
    "graph():\n    return None\n",
    ("graph():\n    %x : torch.Tensor [#users=2] = placeholder[target=x]\n    %y : [#users=0] = "
     "placeholder[target=y](default=None)\n"
     "    %z : int [#users=0] = placeholder[target=z](default=3)\n    %_args : [#users=0] = "
     "placeholder[target=*args]\n"
     "    %_kwargs : [#users=0] = placeholder[target=**kwargs]\n"
     "    %userfn : __main__.UserT [#users=0] = call_function[target=__main__.userfn](args = "
     "(%x,), kwargs = {})\n"
     "    %_lambda_ : 'str_annot' [#users=0] = call_function[target=__main__.<lambda>](args = (), "
     "kwargs = {})\n"
     "    %d : typing.Dict[str, typing.List[int]] [#users=0] = "
     "placeholder[target=d](default=torch.float32)\n"
     "    return {'r': [x, (x,)], 's': 'txt'}\n"),
    ("graph():\n    %x : [#users=1] = placeholder[target=x]\n    return (x, 's', None, "
     "torch.float32, slice(x, 1, "
     "None))\n"),
    "graph():\n    %x : [#users=1] = placeholder[target=x]\n    return (device(type='cuda', "
    "index=1), x)\n",
    "graph():\n    return cuda:1\n",
    "graph():\n    return s\n",
    "graph():\n    return 1.5\n",
    "graph():\n    return {'a': [], 'b': {}}\n",
    /* nodes that are named before they are there, bare and with %; output# is none, though the
     * names that begin with output are counted under it */
    ("graph():\n    %a : [#users=1] = call_function[target=f](args = (%b,), kwargs = {k: %c})\n    "
     "%b : [#users=2] = call_function[target=f](args = (%b, slice(None, c, x)), kwargs = {})\n    "
     "%c : [#users=3] = placeholder[target=c](default=[c, a])\n    return output\n"),
    ("graph():\n    %output : [#users=1] = placeholder[target=x]\n    return (output, output#, "
     "q)\n"),
};

static void whole_graphs_are_kept(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof whole_graphs / sizeof *whole_graphs; i++) {
        fxs_module *m;
        char *text;
        assert_ok(ctx, fxs_load_text(ctx, "graph", whole_graphs[i], strlen(whole_graphs[i]), &m));
        assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &text, NULL));
        assert_text(text, whole_graphs[i], "graph");
        fxs_free(text);
        fxs_module_unref(m);
    }
}

/* The part in front of "graph():", and what is expected of the error. */
static const struct {
    const char *text, *error;
} errors[] = {
    {"", "m.fx:1:1: expected a graph ('graph():' and its nodes, as print(graph) gives them), found "
         "the end of the file"},
    {"hello world\n", "m.fx:2:1: expected a graph ('graph():' and its nodes, as print(graph) gives "
                      "them), found the end of the file"},
    {"%x = 3\n",
     "m.fx:1:1: expected a module tree, 'parameter', 'buffer' or 'graph():', found '%x = 3'"},
    {"graph():\n    %x : [#users=0] = placeholder[target=x]\n    %x : [#users=0] = "
     "placeholder[target=x]\n",
     "m.fx:3:5: a second node %x"},
    {"graph():\n    %a : [#users=0] = call_function[target=torch.add](args = (%b,), kwargs = {})\n",
     "m.fx:2:63: there is no node %b in this graph"},
    {"graph():\n    %a : [#users=0] = call_function[target=torch.add](args = (1, 2, kwargs = {})\n "
     "   return a\n",
     "m.fx:2:81: expected ', kwargs = ', found the end of the line"},
    {"graph():\n    %a : [#users=0] = frobnicate[target=x]\n",
     "m.fx:2:23: expected placeholder, get_attr, call_function, call_module or call_method, found "
     "'frobnicate[target=x]'"},
    {"graph():\n    %a [#users=0] = placeholder[target=x]\n",
     "m.fx:2:7: expected ' : ', found ' [#users=0] = placeholder[targ'"},
    {"graph():\n    %sum : [#users=0] = placeholder[target=x]\n",
     "m.fx:2:5: 'sum' can't be a node's name: torch.fx would call it sum_1"},
    {"M(\n  (a): Linear(in_features=3, out_features=4, bias=True)\n",
     "m.fx:1:1: this module's ')' is missing: the file ends before it"},
    {"M(\n  (a): ReLU()\n  (a): ReLU()\n)\ngraph():\n", "m.fx:3:4: a second child 'a'"},
    {"M(\n  (0-3): 5 x ReLU()\n)\ngraph():\n", "m.fx:2:10: (0-3) are 4 children, not 5"},
    {"M()\nparameter a.b: torch.float32[1]\ngraph():\n", "m.fx:2:11: module M has no child 'a'"},
    {"M()\nparameter a: torch.float33[1]\ngraph():\n",
     "m.fx:2:20: expected a dtype, found 'float33[1]'"},
    {"M(\n  (l): Linear(in_features=3, out_features=4, bias=True)\n)\nparameter l.weight: "
     "torch.float32[3, "
     "4]\ngraph():\n",
     "m.fx:4:11: Linear implies parameter weight: torch.float32[4, 3], but it is declared as "
     "parameter "
     "torch.float32[3, 4]"},
    {"M(\n  (l): Linear(out_features=4, bias=True)\n)\ngraph():\n",
     "m.fx:2:8: Linear: argument 'in_features' is missing"},
    {"graph():\ngraph():\n", "m.fx:2:1: a second graph; one file holds one"},
    /* What is no line of a graph is said before what its arguments name. */
    {"graph():\n    %a : [#users=0] = call_function[target=f](args = (%b,), kwargs = {1: 2})\n    "
     "%c : [#users=0] = call_function[target=f](args = (%d,), kwargs = {})\n    %e : nothing\n",
     "m.fx:4:10: expected [#users=N] or [num_users=N], found 'nothing'"},
    {"graph():\n    %a : [#users=0] = call_function[target=f](args = (1,), kwargs = {1: 2})\n    "
     "%c : [#users=0] = call_function[target=f](args = (%d,), kwargs = {})\n",
     "keys of kwargs must be names"},
    {"graph():\n    %a : [#users=0] = call_function[target=f](args = (%c, [%d]), kwargs = {})\n    "
     "%c : [#users=0] = call_function[target=f](args = (%e,), kwargs = {})\n",
     "m.fx:2:60: there is no node %d in this graph"},
};

static void errors_say_where_and_what(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        fxs_module *m;
        assert_int_not_equal(fxs_load_text(ctx, "m.fx", errors[i].text, strlen(errors[i].text), &m),
                             FXS_OK);
        assert_null(m);
        assert_text(fxs_ctx_error(ctx), errors[i].error, "error");
        fxs_ctx_clear(ctx);
    }
}

static void a_dump_in_a_log_is_an_input(void **state) {
    fxs_ctx *ctx = *state;
    static const char text[] =
        "INFO:root:loading\nHi, I get this error(s):\n>>> print(model)\n```\nM(\n"
        "  (l): Linear(in_features=2, out_features=3, bias=False)\n)\n```\n>>> print(gm.graph)\n"
        "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
        "    %l : [#users=1] = call_module[target=l](args = (%x,), kwargs = {})\n    return (l,1)\n"
        "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nRuntimeError: "
        "no\n";
    fxs_module *m;
    char *out;
    assert_ok(ctx, fxs_load_text(ctx, "log", text, strlen(text), &m));
    assert_non_null(fxs_module_find(m, "l"));
    assert_ok(ctx, fxs_graph_print(fxs_module_graph(m), 0, &out, NULL));
    assert_non_null(strstr(out, "    return (l, 1)\n"));
    fxs_free(out);
    fxs_module_unref(m);
}

static void declarations_may_change_the_precision(void **state) {
    fxs_ctx *ctx = *state;
    static const char text[] =
        "M(\n  (l): Linear(in_features=2, out_features=3, bias=False)\n)\n"
        "parameter l.weight: torch.float16[3, 2]\n"
        "graph():\n    %x : [#users=1] = placeholder[target=x]\n"
        "    %l : [#users=1] = call_module[target=l](args = (%x,), kwargs = {})\n    return l\n";
    fxs_module *m;
    fxs_inputs *in;
    char *out;
    assert_ok(ctx, fxs_load_text(ctx, "half", text, strlen(text), &m));
    assert_ok(ctx, fxs_module_print_file(m, 0, &out, NULL));
    assert_text(out, text, "half");
    fxs_free(out);
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, "4x2:float16"));
    assert_ok(ctx, fxs_run(m, in, NULL, NULL));
    assert_ok(ctx, fxs_module_print_table(m, FXS_TABLE_TSV, &out, NULL));
    assert_non_null(strstr(out, "l\tcall_module\tfloat16[4, 3] "));
    fxs_free(out);
    fxs_inputs_free(in);
    fxs_module_unref(m);
}

static void folded_children_are_unfolded(void **state) {
    fxs_ctx *ctx = *state;
    static const char text[] = "M(\n  (blocks): ModuleList(\n    (0-2): 3 x Block(\n      (fc): "
                               "Linear(in_features=2, out_features=3, "
                               "bias=False)\n    )\n    (3): ReLU()\n  )\n)\ngraph():\n";
    fxs_module *m;
    assert_ok(ctx, fxs_load_text(ctx, "m", text, strlen(text), &m));
    assert_non_null(fxs_module_find(m, "blocks.2.fc"));
    assert_null(fxs_module_find(m, "blocks.4"));
    assert_int_equal(fxs_module_parameter_count(m), 18);
    fxs_module_unref(m);
}

static void shared_parameters_count_once(void **state) {
    fxs_ctx *ctx = *state;
    static const char text[] = "M(\n  (a): Embedding(10, 4)\n  (b): Linear(in_features=4, "
                               "out_features=10, bias=False)\n)\n"
                               "parameter b.weight = a.weight\ngraph():\n";
    fxs_module *m;
    char *out;
    assert_ok(ctx, fxs_load_text(ctx, "m", text, strlen(text), &m));
    assert_int_equal(fxs_module_parameter_count(m), 40);
    assert_ok(ctx, fxs_module_print_file(m, 0, &out, NULL));
    assert_text(out, text, "shared");
    fxs_free(out);
    fxs_module_unref(m);
}

static void deep_nesting_is_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_buf b = {0};
    fxs_module *m;
    fxs_buf_puts(&b, "graph():\n    %a : [#users=0] = call_function[target=f](args = ");
    fxs_buf_fill(&b, '(', 100000);
    assert_int_equal(fxs_load_text(ctx, "m", b.data, b.len, &m), FXS_EPARSE);
    fxs_ctx_clear(ctx);
    fxs_buf_cut(&b, 0);
    for (int i = 0; i < 100000; i++)
        fxs_buf_puts(&b, "(a): M(\n");
    assert_int_equal(fxs_load_text(ctx, "m", b.data + 5, b.len - 5, &m), FXS_EPARSE);
    fxs_ctx_clear(ctx);
    fxs_buf_cut(&b, 0);
    fxs_buf_puts(&b, "graph():\n    %a : [#users=0] = call_function[target=f](args = (");
    fxs_buf_fill(&b, '[', 100000);
    fxs_buf_fill(&b, ']', 100000);
    assert_int_equal(fxs_load_text(ctx, "m", b.data, b.len, &m), FXS_EPARSE);
    fxs_ctx_clear(ctx);
    fxs_buf_free(&b);
}

/* Whatever the bytes: an error or a model that can be run and printed, never a crash (the
 * sanitizers watch). */
static void try_text(fxs_ctx *ctx, const char *text, size_t len) {
    fxs_module *m;
    char *out;
    if (fxs_load_text(ctx, "m", text, len, &m) == FXS_OK) {
        assert_ok(ctx, fxs_run(m, NULL, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
        assert_ok(ctx, fxs_module_print_file(m, 0, &out, NULL));
        fxs_free(out);
        fxs_module_unref(m);
    } else {
        assert_string_not_equal(fxs_ctx_error(ctx), "");
    }
    fxs_ctx_clear(ctx);
}

#if defined(__SANITIZE_ADDRESS__)
enum { CUT_STEP = 23, SAMPLE_CHANGES = 1000 };
#else
enum { CUT_STEP = 1, SAMPLE_CHANGES = 10000 };
#endif

/* Cuts at every byte (under the sanitizers, where time is dear, at each of the small sample's bytes
 * and a part of the others'), and one-byte changes. */
static void truncation_and_damage_are_survived(void **state) {
    static const char *const samples[] = {"testmodel", "text_encoder", "unet", "resnet18",
                                          "mobilenet_v2"};
    fxs_ctx *ctx = *state;
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        size_t len, step = k == 0 ? 1 : CUT_STEP;
        char *file = sample_file(samples[k], &len);
        for (size_t n = 0; n < len; n += step)
            try_text(ctx, file, n);
        for (uint64_t i = 0; i < (k == 0 ? 10000 : SAMPLE_CHANGES / 10); i++) {
            size_t at = fxs_random_bits(1, i) % len;
            char was = file[at];
            file[at] = (char)fxs_random_bits(2, i);
            try_text(ctx, file, len);
            file[at] = was;
        }
        fxs_free(file);
    }
}

static fxs_status load_file(fxs_ctx *ctx, const void *file) {
    fxs_module *m;
    fxs_status s = fxs_load_text(ctx, "m", file, strlen(file), &m);
    assert_true((s == FXS_OK) == (m != NULL));
    fxs_module_unref(m);
    return s;
}

static void every_failed_allocation_is_reported(void **state) {
    char *file = golden_file("testmodel", NULL);
    (void)state;
    assert_survives(NULL, load_file, file);
    fxs_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printing_is_torchs_byte_for_byte),
        cmocka_unit_test(round_trips_are_identical),
        cmocka_unit_test(implied_parameters_agree_with_pytorch),
        cmocka_unit_test(every_argument_form_is_kept),
        cmocka_unit_test(whole_graphs_are_kept),
        cmocka_unit_test(errors_say_where_and_what),
        cmocka_unit_test(a_dump_in_a_log_is_an_input),
        cmocka_unit_test(declarations_may_change_the_precision),
        cmocka_unit_test(folded_children_are_unfolded),
        cmocka_unit_test(shared_parameters_count_once),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(truncation_and_damage_are_survived),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
