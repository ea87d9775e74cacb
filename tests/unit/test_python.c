/* test_python.c: generated Python code: the 29 golden networks and what torch 1.13 gave for some 330 small graphs, byte
 * for byte; forms that no printed graph carries; whole files. With a directory as its argument, the program writes every
 * code and file there in place of testing, for compile.sh. */
#include "golden.h"
#include "ir/module.h"

static void assert_text(const char *have, const char *want, const char *what) {
    if (strcmp(have, want) == 0)
        return;
    size_t i = 0;
    while (have[i] && have[i] == want[i])
        i++;
    while (i > 0 && want[i - 1] != '\n')
        i--;
    fprintf(stderr, "%s differs:\n  have %.*s\n  want %.*s\n", what, (int)strcspn(have + i, "\n"), have + i,
            (int)strcspn(want + i, "\n"), want + i);
    fail();
}

static fxs_graph *graph_of(fxs_ctx *ctx, const char *name, const char *text, size_t len, fxs_module **m) {
    assert_ok(ctx, fxs_load_text(ctx, name, text, len, m));
    return fxs_module_graph(*m);
}

static char *code_of(const fxs_graph *g, unsigned flags) {
    char *text;
    assert_ok(fxs_graph_ctx(g), fxs_graph_python_code(g, flags, &text, NULL));
    return text;
}

/* ---- the golden networks ---------------------------------------------------------------------------------- */

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

static void code_of_networks_is_torchs(void **state) { for_each_golden(code_equals_golden, *state); }

/* ---- small graphs -------------------------------------------------------------------------------------------- */

/* One block of fx_code.txt, cut into strings:
 *   === NAME, globals: NAMES, returns: TYPE, wrapped: NODES (the last two are not in the printout), graph, --- code, code */
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

/* Blocks whose printed graph lacks what the code shows, so that other code is right for it. */
static const char *const lossy[][2] = {
    {"", ""},
};

static const char *why_lossy(const char *name) {
    for (size_t i = 0; i < sizeof lossy / sizeof *lossy; i++)
        if (strcmp(lossy[i][0], name) == 0)
            return lossy[i][1];
    return NULL;
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
        if (why_lossy(b.name)) { /* an entry that is not needed any more would hide a fault */
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
    assert_true(compared > 280);
    assert_int_equal(skipped, sizeof lossy / sizeof *lossy);
    fxs_free(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_networks_is_torchs),
        cmocka_unit_test(code_of_small_graphs_is_torchs),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
