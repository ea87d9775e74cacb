/* trace_ops.c: a program of the build: prints fxops.h, with one documented macro for each spelling
 * of each operator of the tables in kernels/. The macros only name their arguments:
 * fxs_record_fields makes the node. usage: fxops-gen OUTPUT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/trace.h"

enum { MAX_ROWS = 8, MORE = 10 }; /* MORE: positional arguments where the schema ends in "int..." */

/* One macro: a spelling, and the rows that share it. */
typedef struct macro {
    char *name, *spelling;
    const fxs_op *rows[MAX_ROWS];
    int nrows;
    struct macro *next;
} macro;

typedef struct generator {
    fxs_ctx *ctx;
    fxs_arena arena;
    fxs_map by_spelling, by_name; /* -> macro */
    macro *first, **last;
    FILE *out;
} generator;

/* Names that fxscope.h and fxtrace.h have given already: the function is then called
 * fxs_torch_NAME. */
static const char taken[] = " add sub mul truediv floordiv mod pow matmul and or xor lshift rshift "
                            "eq ne lt le gt ge neg pos invert index "
                            "unpack "
                            "getattr truth len iter assert annotate call apply attr children has "
                            "user function method trace load run free none "
                            "int float bool version draw constant device format keyword ";

static bool is_taken(const char *name) {
    char blanks[128];
    snprintf(blanks, sizeof blanks, " %.100s ", name);
    return strstr(taken, blanks) != NULL;
}

/* Where a spelling's macro is named after: prefix of the spelling, prefix of the macro. The first
 * that is free of a function's names wins: the functional before the function of torch. */
static const struct {
    const char *spelling, *macro,
        *otherwise; /* otherwise: when `macro` is taken; NULL: no macro then */
} families[] = {
    {"torch.nn.functional.", "fxs_", NULL},
    {"torch.functional.", "fxs_", NULL},
    {"torch._C._nn.", "fxs_", "fxs_C_"},
    {"torch._C._linalg.", "fxs_", "fxs_C_"},
    {"torch._C._special.", "fxs_", "fxs_C_"},
    {"torch._C._fft.", "fxs_", "fxs_C_"},
    {"torch.", "fxs_", "fxs_torch_"},
    {"Tensor.", "fxs_m_", NULL},
    {"operator.", "fxs_operator_", NULL},
    {"builtins.", "fxs_builtin_", NULL},
    {"math.", "fxs_math_", NULL},
};

static _Noreturn void die(const char *why) {
    fprintf(stderr, "fxops-gen: %s\n", why);
    exit(1);
}

enum { ROOM = 24 }; /* behind a copied text, for a longer prefix or a suffix */

static char *dup_text(generator *g, const char *s, size_t n) {
    char *copy = fxs_arena_alloc(&g->arena, n + ROOM, 1);
    if (!copy)
        die("out of memory");
    memcpy(copy, s, n);
    return copy;
}

static macro *find(const fxs_map *m, const char *key) { return fxs_map_get(m, key); }

static void put(fxs_map *m, const char *key, macro *value) {
    if (!fxs_map_put(m, key, strlen(key), value))
        die("out of memory");
}

static char *joined(generator *g, const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    char *text = fxs_arena_alloc(&g->arena, n + m + ROOM, 1);
    if (!text)
        die("out of memory");
    memcpy(text, a, n);
    memcpy(text + n, b, m);
    return text;
}

/* The name of a spelling's macro; NULL when it has none: its function has one under another
 * spelling. */
static char *macro_name(generator *g, const char *spelling) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t n = strlen(families[i].spelling);
        if (strncmp(spelling, families[i].spelling, n) != 0)
            continue;
        const char *rest = spelling + n;
        if (strchr(rest, '.') || strncmp(rest, "__", 2) == 0)
            return NULL;
        char *name = joined(g, families[i].macro, rest);
        bool plain = strcmp(families[i].macro, "fxs_") == 0;
        if (!find(&g->by_name, name) && !(plain && is_taken(rest)))
            return name;
        if (!families[i].otherwise)
            return NULL;
        name = joined(g, families[i].otherwise, rest);
        return find(&g->by_name, name) ? NULL : name;
    }
    return NULL;
}

/* Two spellings that are recorded alike need one macro. */
static bool same_target(generator *g, const char *a, const char *b) {
    fxs_value args = fxs_none(), kwargs = fxs_none();
    fxs_spelled x, y;
    char *short_a = dup_text(g, a, strlen(a)), *short_b = dup_text(g, b, strlen(b));
    fxs_make_seq(g->ctx, &g->arena, FXS_V_TUPLE, 0, &args);
    fxs_make_dict(g->ctx, &g->arena, 0, &kwargs);
    bool fine = fxs_spell(g->ctx, &g->arena, short_a, &args, &kwargs, &x) == FXS_OK;
    fxs_ctx_clear(g->ctx);
    fine = fxs_spell(g->ctx, &g->arena, short_b, &args, &kwargs, &y) == FXS_OK && fine;
    fxs_ctx_clear(g->ctx);
    return fine && strcmp(x.target, y.target) == 0;
}

static void add_spelling(generator *g, const fxs_op *op, const char *spelling) {
    macro *m = find(&g->by_spelling, spelling);
    const char *last = strrchr(spelling, '.');
    if (!m) {
        char named[200];
        snprintf(named, sizeof named, "fxs_%.150s", last ? last + 1 : spelling);
        macro *other = find(&g->by_name, named);
        char *name = NULL;
        if (!other || strncmp(spelling, "torch", 5) != 0 ||
            !same_target(g, other->spelling, spelling))
            name = macro_name(g, spelling);
        if (!name)
            return;
        m = fxs_arena_alloc(&g->arena, 1, sizeof *m);
        if (!m)
            die("out of memory");
        m->name = name;
        m->spelling = dup_text(g, spelling, strlen(spelling));
        put(&g->by_spelling, m->spelling, m);
        put(&g->by_name, m->name, m);
        *g->last = m;
        g->last = &m->next;
    }
    if (m->nrows < MAX_ROWS && (m->nrows == 0 || m->rows[m->nrows - 1] != op))
        m->rows[m->nrows++] = op;
}

/* The row's spellings under one prefix of the list above, so that the best names are given first.
 */
static void add_family(generator *g, const fxs_op *op, const char *prefix) {
    for (const char *s = op->torch ? op->torch : ""; *s;) {
        size_t n = strcspn(s, " "), k = strlen(prefix);
        char *spelling = dup_text(g, s, n);
        bool mine = strncmp(spelling, prefix, k) == 0 &&
                    (strcmp(prefix, "torch.") != 0 || !strchr(spelling + k, '.'));
        bool marked = n && spelling[n - 1] == '!';
        if (marked)
            spelling[n - 1] = '\0';
        /* deprecated functionals, which record a method */
        mine = mine && strcmp(spelling, "torch.nn.functional.sigmoid") != 0 &&
               strcmp(spelling, "torch.nn.functional.tanh") != 0;
        if (mine)
            add_spelling(g, op, spelling);
        const fxs_candidate *in_place = NULL;
        bool has_form = mine && !marked &&
                        (strcmp(prefix, "Tensor.") == 0 || strcmp(prefix, "torch.") == 0) &&
                        (op->flags & FXS_OP_POINTWISE);
        if (has_form) {
            char *with = dup_text(g, spelling, strlen(spelling));
            strcat(with, "_");
            if (fxs_registry_find(g->ctx, with, &in_place) == FXS_OK && in_place)
                add_spelling(g, op, with);
        }
        s += n + (s[n] == ' ');
    }
}

static void collect(generator *g) {
    g->last = &g->first;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const fxs_family *f = fxs_families; f->name; f++)
            for (const fxs_op *op = f->ops; op && op->name; op++)
                add_family(g, op, families[i].spelling);
}

/* ---- printing
 * ------------------------------------------------------------------------------------------------------
 */

static const char *field_name(const char *name) {
    static const char *const words[][2] = {{"default", "default_"}, {"float", "float_"},
                                           {"int", "int_"},         {"bool", "bool_"},
                                           {"double", "double_"},   {"long", "long_"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], name) == 0)
            return words[i][1];
    return name;
}

/* Keyword names of all rows, each once; the receiver of a method has none. */
static int gather(generator *g, const macro *m, const char **names, int *positional) {
    bool method = strncmp(m->spelling, "Tensor.", 7) == 0;
    int n = 0;
    *positional = 0;
    for (int r = 0; r < m->nrows; r++) {
        const fxs_schema *s;
        if (fxs_registry_schema(g->ctx, m->rows[r], &s) != FXS_OK)
            die(fxs_ctx_error(g->ctx));
        int count = 0;
        for (int i = 0; i < s->nparams; i++) {
            const fxs_param *p = &s->params[i];
            count = p->keyword_only ? count : p->variadic ? i + MORE : i + 1;
            int k = 0;
            while (k < n && strcmp(names[k], p->name) != 0)
                k++;
            if (k == n && !p->variadic && !(method && i == 0) && n < 4 * FXS_MAX_ARGS)
                names[n++] = p->name;
        }
        *positional = count > *positional ? count : *positional;
    }
    return n;
}

static void print_macro(generator *g, const macro *m) {
    const char *names[4 * FXS_MAX_ARGS];
    int positional, n = gather(g, m, names, &positional);
    fprintf(g->out, "\n/* %s", m->spelling);
    for (int r = 0; r < m->nrows; r++)
        fprintf(g->out, "\n *   %s%s", m->rows[r]->name, m->rows[r]->schema);
    fprintf(g->out, " */\ntypedef struct %s_args {\n    char first;\n    fxs_proxy ", m->name);
    for (int i = 0; i < positional; i++)
        fprintf(g->out, "%sa%d", i ? ", " : "", i);
    for (int i = 0; i < n; i++)
        fprintf(g->out, "%s%s", i || positional ? ", " : "", field_name(names[i]));
    fprintf(g->out, ";\n} %s_args;\n#define %s(...) \\\n    fxs_record_fields(FXS_HERE, \"%s\", \"",
            m->name, m->name, m->spelling);
    for (int i = 0; i < n; i++)
        fprintf(g->out, "%s%s", i ? " " : "", names[i]);
    fprintf(g->out, "\", %d, &(%s_args){.first = 0, __VA_ARGS__}.a0)\n", positional, m->name);
}

static const char head[] =
    "/* fxops.h: made by fxops-gen from the operators' rows; not to be edited. One macro for each "
    "function and "
    "method,\n"
    " * for use inside the forward of a traced network. What is given by position is recorded by "
    "position, what is "
    "given\n"
    " * by name is recorded by name, as in Python:\n"
    " *     fxs_conv2d(x, w, .stride = FXS_INTS(2, 2))     F.conv2d(x, w, stride=(2, 2))\n"
    " *     fxs_m_view(x, n, fxs_i(-1))                    x.view(n, -1)\n"
    " * Numbers are given as fxs_i(2), fxs_f(0.5), fxs_b(true): C would take a bare 0 for an "
    "argument that is left\n"
    " * out, and another bare number is refused.\n"
    " * fxs_NAME is torch.nn.functional.NAME where there is one, otherwise torch.NAME; "
    "fxs_torch_NAME is torch's "
    "where\n"
    " * both are there or fxs_NAME is an operator; fxs_m_NAME is a method; fxs_operator_, "
    "fxs_builtin_ and fxs_math_ "
    "are\n"
    " * Python's. The schemas above each macro say what its arguments are, and their defaults. */\n"
    "#ifndef FXOPS_H\n#define FXOPS_H\n\n#include \"fxtrace.h\"\n\n"
    "#if defined(__GNUC__)\n#pragma GCC system_header /* arguments that are left out are no "
    "mistake */\n#endif\n";

int main(int argc, char **argv) {
    generator g = {.ctx = fxs_ctx_new()};
    if (argc != 2 || !g.ctx)
        die("usage: fxops-gen OUTPUT");
    g.out = fopen(argv[1], "w");
    if (!g.out)
        die(argv[1]);
    collect(&g);
    fputs(head, g.out);
    for (const macro *m = g.first; m; m = m->next)
        print_macro(&g, m);
    fputs("\n#endif\n", g.out);
    bool failed = ferror(g.out) | (fclose(g.out) != 0);
    fxs_map_free(&g.by_name);
    fxs_map_free(&g.by_spelling);
    fxs_arena_clear(&g.arena);
    fxs_ctx_free(g.ctx);
    return failed;
}
