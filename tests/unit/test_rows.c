/* test_rows.c: an edge that carries one element of a result begins at the row of the table that
 * shows the element; every other edge begins at the side where ranks go on. */
#include "geometry.h"
#include "golden.h"
#include "render_testing.h"

#include "render/layout.h"

typedef struct picture {
    fxs_fonts *fonts;
    fxs_view view;
    fxs_scene scene;
} picture;

static void lay_out(fxs_module *m, const fxs_draw_options *opt, picture *p) {
    fxs_buf notes = {0};
    assert_ok(m->ctx, fxs_fonts_new(m->ctx, true, &p->fonts));
    assert_ok(m->ctx, fxs_view_make(m, opt, p->fonts, &p->view));
    assert_ok(m->ctx, fxs_layout(m->ctx, &p->view, "layered", 60, NULL, &p->scene, &notes));
    fxs_buf_free(&notes);
}

static void drop(picture *p) {
    fxs_scene_free(&p->scene);
    fxs_view_free(&p->view);
    fxs_fonts_free(p->fonts);
}

static bool is_near(double a, double b) { return fabs(a - b) <= 1; }

/* How many edges begin at rows. */
static size_t check_starts(const char *name, const fxs_scene *s) {
    const fxs_view *v = s->view;
    size_t n = 0;
    for (size_t e = 0; e < v->nedges; e++) {
        fxs_area box = geo_box(s, v->edges[e].from);
        fxs_point at = s->curves[e].points[0];
        const fxs_label_row *row = fxs_edge_row(v, &v->edges[e]);
        bool right = is_near(at.x, box.high.x);
        if (row) {
            const fxs_cell *c = &row->cell[0];
            bool ok = (right || (!v->lr && is_near(at.x, box.low.x))) && at.y > box.low.y + c->y &&
                      at.y < box.low.y + c->y + c->h;
            if (!ok)
                fail_msg("%s: edge %zu begins at %g, %g, not at its row of %s", name, e, at.x, at.y,
                         v->nodes[v->edges[e].from].id);
            n++;
        } else if (v->lr ? !right : !is_near(at.y, box.high.y))
            fail_msg("%s: edge %zu of %s begins at %g, %g", name, e, v->nodes[v->edges[e].from].id,
                     at.x, at.y);
        for (size_t f = 0; f < e; f++)
            if (row && v->edges[e].from == v->edges[f].from &&
                geo_distance(at, s->curves[f].points[0]) < 1)
                fail_msg("%s: two edges of %s begin at one point", name,
                         v->nodes[v->edges[e].from].id);
    }
    return n;
}

typedef struct tally {
    fxs_ctx *ctx;
    size_t edges;
} tally;

static void check_network(const char *name, void *user) {
    tally *t = user;
    size_t len, n[4];
    fxs_module *m;
    if (strncmp(name, "densenet", 8) == 0) /* values of a bus begin together */
        return;
    char *file = golden_file(name, &len);
    fxs_inputs *in = golden_inputs(t->ctx, name);
    assert_ok(t->ctx, fxs_load_text(t->ctx, name, file, len, &m));
    assert_ok(t->ctx, fxs_run(m, in, &(fxs_run_options){.mode = FXS_RUN_META}, NULL));
    for (int k = 0; k < 4; k++) {
        picture p;
        lay_out(m, &(fxs_draw_options){.direction = k & 1 ? "LR" : "TB", .clusters = k & 2}, &p);
        n[k] = check_starts(name, &p.scene);
        assert_int_equal(n[k], n[0]);
        drop(&p);
    }
    if (strcmp(name, "recurrent") == 0)
        assert_int_equal(n[0], 6); /* lstm and its state, gru */
    if (strcmp(name, "text_encoder") == 0)
        assert_int_equal(n[0], 9); /* three times query, key and value */
    t->edges += n[0];
    fxs_inputs_free(in);
    fxs_free(file);
    fxs_module_unref(m);
}

static void elements_begin_at_their_rows(void **state) {
    tally t = {.ctx = *state};
    for_each_golden(check_network, &t);
    assert_true(t.edges >= 80);
}

/* ---- which element
 * --------------------------------------------------------------------------------------------- */

static fxs_node *get(fxs_module *m, const char *target, fxs_node *of, fxs_value which) {
    fxs_node *n =
        add_node(m, FXS_CALL_FUNCTION, target, TUPLE(m->ctx, fxs_of_node(of), which), NULL);
    set_done(n, meta_tensor(m->ctx, FXS_FLOAT32, SIZES(2, 3)));
    return n;
}

/* A node with n results, as what `type` says. */
static fxs_node *add_several(fxs_module *m, size_t n, const char *type) {
    fxs_value items[16] = {{0}}, all;
    for (size_t i = 0; i < n; i++)
        items[i] = meta_tensor(m->ctx, FXS_FLOAT32, SIZES(2, 3));
    assert_ok(m->ctx, fxs_value_tuple(m->ctx, n, items, &all));
    for (size_t i = 0; i < n; i++)
        fxs_value_unref(&items[i]);
    if (type) {
        all.u.seq->kind = FXS_TUPLE_NAMED;
        all.u.seq->type_name = type;
    }
    fxs_node *node = add_node(m, FXS_CALL_FUNCTION, "torch.max", fxs_none(), NULL);
    set_done(node, all);
    return node;
}

static fxs_value text_of(fxs_ctx *ctx, const char *s) {
    fxs_value v;
    assert_ok(ctx, fxs_value_str(ctx, s, &v));
    return v;
}

static void elements_are_found(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "Elements");
    fxs_node *pair = add_several(m, 2, "torch.return_types.max"), *many = add_several(m, 12, NULL),
             *box = add_several(m, 2, NULL);
    box->meta.inside = 3;
    const struct {
        fxs_node *user;
        size_t item;
        bool row;
    } rows[] = {
        {get(m, "builtins.getattr", pair, text_of(ctx, "indices")), 1, true},
        {get(m, "builtins.getattr", pair, text_of(ctx, "shape")), FXS_NO_ITEM, false},
        {get(m, "operator.getitem", pair, fxs_int(0)), 0, true},
        {get(m, "operator.getitem", pair, fxs_int(-1)), 1, true}, /* a second one at this row */
        {get(m, "operator.getitem", pair, fxs_int(2)), FXS_NO_ITEM, false},
        {get(m, "operator.getitem", pair, fxs_int(-3)), FXS_NO_ITEM, false},
        {get(m, "torch.add", pair, fxs_int(0)), FXS_NO_ITEM, false},
        {get(m, "operator.getitem", many, fxs_int(7)), 7, true},
        {get(m, "operator.getitem", many, fxs_int(8)), 8, false}, /* "... 4 more" */
        {get(m, "operator.getitem", box, fxs_int(0)), FXS_NO_ITEM, false},
    };
    enum { N = sizeof rows / sizeof *rows };
    for (int lr = 0; lr < 2; lr++) {
        picture p;
        lay_out(m, &(fxs_draw_options){.direction = lr ? "LR" : "TB"}, &p);
        assert_int_equal(p.view.nedges, N);
        for (size_t e = 0; e < N; e++) {
            const fxs_view_edge *edge = &p.view.edges[e];
            assert_ptr_equal(p.view.nodes[edge->to].node, rows[e].user);
            assert_int_equal(edge->item, rows[e].item);
            assert_int_equal(fxs_edge_row(&p.view, edge) != NULL, rows[e].row);
        }
        assert_int_equal(check_starts("elements", &p.scene), 4);
        char what[300] = "";
        if (geo_passes(&p.scene, what, sizeof what) + geo_overlaps(&p.scene, what, sizeof what))
            fail_msg("%s", what);
        drop(&p);
    }
    fxs_module_unref(m);
}

/* Parts that stand in their order leave a table without a crossing, however many there are. */
static void parts_in_order_do_not_cross(void **state) {
    fxs_ctx *ctx = *state;
    for (size_t n = 2; n <= 9; n++)
        for (int lr = 0; lr < 2; lr++) {
            fxs_module *m = new_graph_module(ctx, "Parts");
            fxs_node *whole = add_several(m, n, NULL);
            for (size_t i = 0; i < n; i++)
                get(m, "operator.getitem", whole, fxs_int((int64_t)i));
            picture p;
            lay_out(m, &(fxs_draw_options){.direction = lr ? "LR" : "TB"}, &p);
            assert_int_equal(check_starts("parts", &p.scene), n);
            assert_true(geo_crossings(&p.scene) == 0);
            const fxs_box *b = p.scene.boxes;
            for (size_t i = 2; i <= n; i++)
                assert_true(lr ? b[i].y > b[i - 1].y : b[i].x > b[i - 1].x);
            drop(&p);
            fxs_module_unref(m);
        }
}

/* The shape beside an edge is that of the element. */
static void edges_tell_the_shape_of_the_element(void **state) {
    fxs_ctx *ctx = *state;
    fxs_module *m = new_graph_module(ctx, "Shapes");
    fxs_node *pair = add_several(m, 2, NULL);
    get(m, "operator.getitem", pair, fxs_int(1));
    picture p;
    lay_out(m, &(fxs_draw_options){.edge_shapes = true}, &p);
    assert_string_equal(p.view.edges[0].label.text, "2\303\2273");
    drop(&p);
    fxs_module_unref(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(elements_begin_at_their_rows, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(elements_are_found, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(parts_in_order_do_not_cross, new_ctx, free_ctx),
        cmocka_unit_test_setup_teardown(edges_tell_the_shape_of_the_element, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests_name("rows of results", tests, NULL, NULL);
}
