/* layout.c: one model laid out by each engine, and what the picture is worth in numbers: a line of
 * tab-separated values for each. Also writes the graph for engines that are not ours, and reads
 * what they made of it. Run by `./dev bench --layout`; links the core.
 * usage: bench_layout MODEL INPUT,INPUT,... SECONDS OUT [IMPORT...]
 *        bench_layout KIND:NODES "" SECONDS     (a graph made here: chain, xf, dense, xfmask: with
 *        a mask that all blocks share, xflines: without references to it) */
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ir/module.h"
#include "render/ranks.h"
#include "tests/unit/geometry.h"

#include "render/layout.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void must(fxs_ctx *ctx, fxs_status s) {
    if (s == FXS_OK)
        return;
    fprintf(stderr, "layout: %s\n", fxs_ctx_error(ctx));
    exit(1);
}

/* ---- graphs made here
 * -------------------------------------------------------------------------------------- */

static fxs_node *call(fxs_ctx *ctx, fxs_graph *g, const char *target, size_t n,
                      fxs_node *const *from) {
    fxs_value v[64], args, list;
    fxs_node *node;
    for (size_t i = 0; i < n; i++)
        v[i] = fxs_of_node(from[i]);
    if (n > 2) {
        must(ctx, fxs_value_list(ctx, n, v, &list));
        must(ctx, fxs_value_tuple(ctx, 1, &list, &args));
        fxs_value_unref(&list);
    } else
        must(ctx, fxs_value_tuple(ctx, n, v, &args));
    must(ctx, fxs_graph_call_function(g, target, &args, NULL, &node));
    fxs_value_unref(&args);
    return node;
}

#define CALL(target, ...)                                                                          \
    call(ctx, g, target, sizeof((fxs_node *[]){__VA_ARGS__}) / sizeof(fxs_node *),                 \
         (fxs_node *[]){__VA_ARGS__})

/* A block of a transformer, 25 nodes; with a mask that all blocks share. */
static fxs_node *block(fxs_ctx *ctx, fxs_graph *g, fxs_node *x, fxs_node *mask) {
    fxs_node *n = CALL("torch.layer_norm", x), *head[3];
    for (int i = 0; i < 3; i++)
        head[i] = CALL("torch.transpose", CALL("torch.reshape", CALL("torch.linear", n)));
    fxs_node *score = CALL("torch.mul", CALL("torch.matmul", head[0], head[1]));
    score = mask ? CALL("torch.masked_fill", score, mask) : CALL("torch.clamp", score);
    fxs_node *mixed = CALL("torch.matmul", CALL("torch.softmax", score), head[2]);
    fxs_node *flat = CALL("torch.flatten", CALL("torch.transpose", mixed));
    x = CALL("torch.add", CALL("torch.dropout", CALL("torch.linear", flat)), x);
    n = CALL("torch.linear", CALL("torch.layer_norm", x));
    n = CALL("torch.dropout", CALL("torch.linear", CALL("torch.gelu", n)));
    return CALL("torch.add", n, x);
}

/* 16 layers, each of which takes the results of all before it. */
static fxs_node *dense(fxs_ctx *ctx, fxs_graph *g, fxs_node *x) {
    fxs_node *all[17] = {x};
    for (size_t i = 1; i < 17; i++)
        all[i] = CALL("torch.conv2d", call(ctx, g, "torch.cat", i, all));
    return call(ctx, g, "torch.cat", 17, all);
}

static fxs_module *make(fxs_ctx *ctx, const char *kind, size_t n) {
    fxs_module *m;
    fxs_graph *g;
    fxs_node *x, *mask = NULL, *out, *first;
    must(ctx, fxs_module_new(ctx, kind, NULL, NULL, &m));
    must(ctx, fxs_graph_new(ctx, &g));
    fxs_module_set_graph(m, g);
    must(ctx, fxs_graph_placeholder(g, "x", NULL, &x));
    if (kind[0] == 'x' && kind[2])
        must(ctx, fxs_graph_placeholder(g, "mask", NULL, &mask));
    while (g->len + 1 < n) {
        if (kind[0] == 'x')
            x = block(ctx, g, x, mask);
        else if (kind[0] == 'd')
            x = dense(ctx, g, x);
        else {
            first = x;
            for (int i = 0; i < 5; i++)
                x = CALL("torch.relu", x);
            x = CALL("torch.add", x, first);
        }
    }
    fxs_value v = fxs_of_node(x);
    must(ctx, fxs_graph_output(g, &v, &out));
    return m;
}

static fxs_module *load(fxs_ctx *ctx, const char *path, const char *inputs) {
    fxs_module *m;
    const char *colon = strchr(path, ':');
    if (colon) {
        char kind[16];
        snprintf(kind, sizeof kind, "%.*s", (int)(colon - path), path);
        return make(ctx, kind, (size_t)atol(colon + 1));
    }
    must(ctx, fxs_load(ctx, path, NULL, &m));
    fxs_inputs *in;
    must(ctx, fxs_inputs_new(ctx, &in));
    char *list = strdup(inputs), *save = NULL;
    for (char *s = strtok_r(list, ",", &save); s; s = strtok_r(NULL, ",", &save))
        must(ctx, fxs_inputs_add(in, s));
    must(ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    fxs_inputs_free(in);
    free(list);
    return m;
}

/* ---- other engines
 * --------------------------------------------------------------------------------------- */

/* "nodes edges", then a size a line, then two ends a line. */
static void write_graph(const fxs_view *v, const char *path) {
    FILE *f = fopen(path, "w");
    if (!f)
        return;
    fprintf(f, "%zu %zu\n", v->nnodes, v->nedges);
    for (size_t i = 0; i < v->nnodes; i++)
        fprintf(f, "%g %g\n", v->nodes[i].label.w, v->nodes[i].label.h);
    for (size_t i = 0; i < v->nedges; i++)
        fprintf(f, "%zu %zu\n", v->edges[i].from, v->edges[i].to);
    fclose(f);
}

static void add_corner(fxs_curve *c, fxs_point p, fxs_arena *a) {
    fxs_point *more = FXS_NEW_N(a, fxs_point, c->n + 3), from;
    if (!more)
        exit(1);
    if (c->n)
        memcpy(more, c->points, c->n * sizeof *more);
    c->points = more;
    if (c->n) {
        from = c->points[c->n - 1];
        for (int i = 1; i < 3; i++)
            c->points[c->n++] =
                (fxs_point){from.x + (p.x - from.x) * i / 3, from.y + (p.y - from.y) * i / 3};
    }
    c->points[c->n++] = p;
    c->tip = p;
}

/* "seconds", then a box's corner a line, then for each edge a count and its corners. */
static bool read_layout(const char *path, fxs_scene *s, double *seconds) {
    FILE *f = fopen(path, "r");
    size_t n;
    fxs_point p;
    bool ok = f && fscanf(f, "%lf", seconds) == 1;
    for (size_t i = 0; i < s->view->nnodes && ok; i++)
        ok = fscanf(f, "%lf %lf", &s->boxes[i].x, &s->boxes[i].y) == 2;
    for (size_t i = 0; i < s->view->nedges && ok; i++) {
        ok = fscanf(f, "%zu", &n) == 1;
        for (size_t k = 0; k < n && ok; k++) {
            ok = fscanf(f, "%lf %lf", &p.x, &p.y) == 2;
            if (ok)
                add_corner(&s->curves[i], p, &s->arena);
        }
    }
    if (f)
        fclose(f);
    if (ok)
        fxs_scene_finish(s);
    return ok;
}

/* ---- figures
 * --------------------------------------------------------------------------------------------- */

static void print(const char *engine, const fxs_scene *s, double seconds) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    geo_figures f =
        s->view->nnodes <= 2000 ? geo_measure(s) : (geo_figures){NAN, NAN, NAN, s->w, s->h};
    printf("%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.4f\t%ld\n", engine, f.crossings, f.length, f.bends,
           f.w, f.h, seconds, r.ru_maxrss / 1024);
    fflush(stdout);
}

static void try_engine(fxs_ctx *ctx, const fxs_view *v, const char *engine, double limit) {
    fxs_scene s;
    fxs_buf notes = {0};
    double best = 1e9, spent = 0;
    fxs_status status = FXS_OK;
    for (int i = 0; i < 3 && spent < 2 && status == FXS_OK; i++) {
        if (i)
            fxs_scene_free(&s);
        double begin = now();
        status = fxs_layout(ctx, v, engine, limit, NULL, &s, &notes);
        double took = now() - begin;
        best = took < best ? took : best;
        spent += took;
    }
    bool other = notes.data && strstr(notes.data, "instead"); /* of the engine that was asked */
    if (status == FXS_OK && !other)
        print(engine, &s, best);
    else {
        printf("%s\t-\t-\t-\t-\t-\t>%.0f\t-\n", engine, limit);
        fprintf(stderr, "%s\n", other ? notes.data : fxs_ctx_error(ctx));
    }
    fxs_ctx_clear(ctx);
    fxs_scene_free(&s);
    fxs_buf_free(&notes);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: bench_layout MODEL INPUTS SECONDS [GRAPH-OUT] [LAYOUT-IN...]\n");
        return 2;
    }
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m = load(ctx, argv[1], argv[2]);
    double limit = atof(argv[3]);
    fxs_fonts *fonts;
    fxs_view v;
    must(ctx, fxs_fonts_new(ctx, false, &fonts));
    fxs_draw_options opt = {.hub_uses = strncmp(argv[1], "xflines", 7) == 0 ? SIZE_MAX : 0};
    must(ctx, fxs_view_make(m, &opt, fonts, &v));
    if (argc > 4 && argc < 6)
        write_graph(&v, argv[4]);
    int *rank = malloc((v.nnodes + 1) * sizeof *rank);
    if (argc < 6 && fxs_ranks(&v, rank) > 0) {
        printf("size\t%zu\t%zu\t%.0f\n", v.nnodes, v.nedges, fxs_ranks_size(&v, rank));
        try_engine(ctx, &v, "layered", limit);
        if (limit > 0 && argc > 4)
            try_engine(ctx, &v, "dot", limit);
    }
    for (int i = 5; i < argc; i++) {
        fxs_scene s;
        double seconds;
        must(ctx, fxs_scene_new(&v, &s));
        const char *name = strrchr(argv[i], '.');
        if (read_layout(argv[i], &s, &seconds))
            print(name ? name + 1 : argv[i], &s, seconds);
        fxs_scene_free(&s);
    }
    free(rank);
    fxs_view_free(&v);
    fxs_fonts_free(fonts);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
    return 0;
}
