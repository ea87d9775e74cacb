/* test_recurrent.c: LSTM, GRU and plain recurrent networks step by step against plain loops;
 * attention against its formula; the layers' parameters; refusals. */
#include "checking.h"

#include "op/module_row.h"

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

typedef struct plan {
    const char *op;
    int gates, layers, directions;
    int64_t steps, batch, input, hidden, projection;
    bool bias, batch_first;
} plan;

enum { MAX_WEIGHTS = 64 };

static int make_weights(fxs_ctx *ctx, const plan *p, fxs_dtype d, fxs_tensor **w) {
    int64_t out = p->projection ? p->projection : p->hidden, gates = p->gates * p->hidden;
    int n = 0;
    for (int i = 0; i < p->layers * p->directions; i++) {
        int64_t width = i < p->directions ? p->input : out * p->directions;
        w[n] = random_tensor(ctx, d, SIZES(gates, width), (uint64_t)n + 100), n++;
        w[n] = random_tensor(ctx, d, SIZES(gates, out), (uint64_t)n + 100), n++;
        for (int b = 0; b < 2 && p->bias; b++)
            w[n] = random_tensor(ctx, d, SIZES(gates), (uint64_t)n + 100), n++;
        if (p->projection)
            w[n] = random_tensor(ctx, d, SIZES(out, p->hidden), (uint64_t)n + 100), n++;
    }
    return n;
}

/* bias + weight[row] . x */
static double dot(const fxs_tensor *w, const fxs_tensor *bias, int64_t row, const double *x) {
    double sum = bias ? nth(bias, row) : 0;
    for (int64_t k = 0; k < w->sizes[1]; k++)
        sum += nth(w, row * w->sizes[1] + k) * x[k];
    return sum;
}

/* One step of one image: h and c change. */
static void step(const plan *p, fxs_tensor *const *w, const double *x, double *h, double *c) {
    int64_t n = p->hidden, out = p->projection ? p->projection : n;
    double next[64], old[64];
    const fxs_tensor *bi = p->bias ? w[2] : NULL, *bh = p->bias ? w[3] : NULL;
    memcpy(old, h, (size_t)out * sizeof *h);
    for (int64_t i = 0; i < n; i++) {
        double a[4] = {0}, b[4] = {0};
        for (int g = 0; g < p->gates; g++) {
            a[g] = dot(w[0], bi, g * n + i, x);
            b[g] = dot(w[1], bh, g * n + i, old);
        }
        if (p->gates == 4) {
            c[i] = sigmoid(a[1] + b[1]) * c[i] + sigmoid(a[0] + b[0]) * tanh(a[2] + b[2]);
            next[i] = sigmoid(a[3] + b[3]) * tanh(c[i]);
        } else if (p->gates == 3) {
            double z = sigmoid(a[1] + b[1]), fresh = tanh(a[2] + sigmoid(a[0] + b[0]) * b[2]);
            next[i] = (1 - z) * fresh + z * old[i];
        } else {
            next[i] = strstr(p->op, "relu") ? fmax(a[0] + b[0], 0) : tanh(a[0] + b[0]);
        }
    }
    for (int64_t i = 0; i < out; i++)
        h[i] = p->projection ? dot(w[p->bias ? 4 : 2], NULL, i, next) : next[i];
}

/* Runs image n through all layers; seq is [steps, directions * out], h and c are all layers'
 * states. */
static void reference(const plan *p, fxs_tensor *const *w, int per, double *seq, int64_t width,
                      double *h, double *c) {
    int64_t out = p->projection ? p->projection : p->hidden, full = out * p->directions;
    double *next = calloc((size_t)(p->steps * full), sizeof *next);
    for (int layer = 0; layer < p->layers; layer++) {
        for (int d = 0; d < p->directions; d++) {
            int cell = layer * p->directions + d;
            for (int64_t t = 0; t < p->steps; t++) {
                int64_t at = d ? p->steps - 1 - t : t;
                step(p, w + cell * per, seq + at * width, h + cell * out, c + cell * p->hidden);
                memcpy(next + at * full + d * out, h + cell * out, (size_t)out * sizeof *h);
            }
        }
        width = full;
        memcpy(seq, next, (size_t)(p->steps * full) * sizeof *seq);
    }
    free(next);
}

static const plan plans[] = {
    {"torch.lstm", 4, 1, 1, 4, 2, 3, 5, 0, true, false},
    {"torch.lstm", 4, 2, 2, 3, 2, 3, 4, 0, true, true},
    {"torch.lstm", 4, 2, 2, 3, 1, 3, 5, 2, false, false},
    {"torch.lstm", 4, 3, 1, 2, 3, 2, 9, 4, true, true},
    {"torch.gru", 3, 1, 1, 4, 2, 3, 5, 0, true, false},
    {"torch.gru", 3, 2, 2, 3, 3, 3, 4, 0, false, true},
    {"torch.rnn_tanh", 1, 2, 1, 4, 2, 3, 5, 0, true, true},
    {"torch.rnn_relu", 1, 1, 2, 4, 2, 3, 5, 0, true, false},
};

static void check(fxs_ctx *ctx, const plan *p, fxs_dtype d) {
    int64_t out = p->projection ? p->projection : p->hidden, cells = p->layers * p->directions,
            full = out * p->directions;
    fxs_tensor *w[MAX_WEIGHTS], *x;
    int n = make_weights(ctx, p, d, w), per = n / (int)cells;
    fxs_value items[MAX_WEIGHTS];
    x = random_tensor(
        ctx, d,
        SIZES(p->batch_first ? p->batch : p->steps, p->batch_first ? p->steps : p->batch, p->input),
        1);
    fxs_tensor *h = random_tensor(ctx, d, SIZES(cells, p->batch, out), 2),
               *c = random_tensor(ctx, d, SIZES(cells, p->batch, p->hidden), 3);
    for (int i = 0; i < n; i++)
        items[i] = TENSOR(w[i]);
    fxs_value state = p->gates == 4 ? LIST(ctx, TENSOR(h), TENSOR(c)) : TENSOR(h);
    fxs_value got =
        run_both(ctx, p->op,
                 TUPLE(ctx, TENSOR(x), state, make_list(ctx, FXS_V_LIST, (size_t)n, items),
                       fxs_bool(p->bias), fxs_int(p->layers), fxs_float(0), fxs_bool(false),
                       fxs_bool(p->directions == 2), fxs_bool(p->batch_first)),
                 fxs_none());
    for (int64_t b = 0; b < p->batch; b++) {
        double seq[256], hs[128], cs[128];
        for (int64_t t = 0; t < p->steps; t++)
            for (int64_t k = 0; k < p->input; k++)
                seq[t * p->input + k] =
                    element(x, p->batch_first ? (int64_t[]){b, t, k} : (int64_t[]){t, b, k});
        for (int64_t i = 0; i < cells; i++) {
            for (int64_t k = 0; k < out; k++)
                hs[i * out + k] = element(h, (int64_t[]){i, b, k});
            for (int64_t k = 0; k < p->hidden; k++)
                cs[i * p->hidden + k] = element(c, (int64_t[]){i, b, k});
        }
        reference(p, w, per, seq, p->input, hs, cs);
        for (int64_t t = 0; t < p->steps; t++)
            for (int64_t k = 0; k < full; k++)
                assert_near(element(tensor_at(&got, 0),
                                    p->batch_first ? (int64_t[]){b, t, k} : (int64_t[]){t, b, k}),
                            seq[t * full + k], tolerance_of(d));
        for (int64_t i = 0; i < cells * out; i++)
            assert_near(element(tensor_at(&got, 1), (int64_t[]){i / out, b, i % out}), hs[i],
                        tolerance_of(d));
        for (int64_t i = 0; p->gates == 4 && i < cells * p->hidden; i++)
            assert_near(element(tensor_at(&got, 2), (int64_t[]){i / p->hidden, b, i % p->hidden}),
                        cs[i], tolerance_of(d));
    }
    fxs_value_unref(&got);
    for (int i = 0; i < n; i++)
        fxs_tensor_unref(w[i]);
    fxs_tensor_unref(x);
    fxs_tensor_unref(h);
    fxs_tensor_unref(c);
}

static void networks_agree_with_loops(void **state) {
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++)
        for (int t = 0; t < (plans[i].gates == 1 || plans[i].layers > 1 ? 2 : 3); t++)
            check(*state, &plans[i], types[t]);
}

static void a_batch_in_front_is_a_view_of_time_in_front(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *w[MAX_WEIGHTS], *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 3), 1),
                                *h = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 2, 4), 1);
    static const plan p = {"torch.gru", 3, 1, 2, 3, 2, 3, 4, 0, false, true};
    int n = make_weights(ctx, &p, FXS_FLOAT32, w);
    fxs_value items[MAX_WEIGHTS];
    for (int i = 0; i < n; i++)
        items[i] = TENSOR(w[i]);
    fxs_value got =
        run_both(ctx, p.op,
                 TUPLE(ctx, TENSOR(x), TENSOR(h), make_list(ctx, FXS_V_LIST, (size_t)n, items),
                       fxs_bool(false), fxs_int(1), fxs_float(0), fxs_bool(false), fxs_bool(true),
                       fxs_bool(true)),
                 fxs_none());
    assert_shape(tensor_at(&got, 0), 3, (int64_t[]){2, 3, 8});
    assert_strides(tensor_at(&got, 0), 3, (int64_t[]){8, 16, 1});
    fxs_value_unref(&got);
    for (int i = 0; i < n; i++)
        fxs_tensor_unref(w[i]);
    fxs_tensor_unref(x);
    fxs_tensor_unref(h);
}

/* ---- layers
 * -----------------------------------------------------------------------------------------------
 */

typedef struct store {
    fxs_ctx *ctx;
    int n;
    char names[MAX_WEIGHTS][32];
    fxs_tensor *tensors[MAX_WEIGHTS];
} store;

static fxs_status fetch(void *user, const char *name, fxs_value *out) {
    store *s = user;
    for (int i = 0; i < s->n; i++)
        if (strcmp(s->names[i], name) == 0)
            *out = fxs_of_tensor(s->tensors[i]);
    return FXS_OK;
}

/* Binds a layer, makes its state, calls its forward on x. */
static fxs_status call_layer(fxs_ctx *ctx, const char *class_name, fxs_value args, fxs_value kwargs,
                             fxs_tensor *x, fxs_value *out) {
    fxs_arena a = {0}, scratch = {0};
    const fxs_module_row *row;
    const fxs_candidate *op;
    const char *name;
    fxs_value given = TUPLE(ctx, TENSOR(x)), none = fxs_none(), call_args, call_kwargs;
    fxs_layer *layer = calloc(1, sizeof *layer);
    store s = {.ctx = ctx};
    fxs_applied got = {0};
    fxs_apply how = {.scratch = &scratch};
    assert_ok(ctx, fxs_registry_find_module(ctx, class_name, &row));
    assert_ok(ctx, fxs_layer_bind(ctx, &a, row, &args, kwargs.tag == FXS_V_DICT ? &kwargs : &none,
                                  layer));
    assert_ok(ctx, fxs_layer_bind_state(layer));
    for (s.n = 0; s.n < layer->nstate; s.n++) {
        const fxs_state *st = &layer->state[s.n];
        snprintf(s.names[s.n], sizeof s.names[0], "%s", st->name);
        s.tensors[s.n] = random_tensor(ctx, st->dtype, st->ndim, st->sizes, (uint64_t)s.n);
    }
    assert_ok(ctx, fxs_layer_call(layer, &a, &given, &none, false, fetch, &s, &name, &call_args,
                                  &call_kwargs));
    assert_ok(ctx, fxs_registry_find_op(ctx, name, &op));
    fxs_status status = fxs_op_apply(ctx, op, &call_args, &call_kwargs, &how, &got);
    *out = got.result;
    for (int i = 0; i < s.n; i++)
        fxs_tensor_unref(s.tensors[i]);
    fxs_value_unref(&given);
    fxs_value_unref(&args);
    fxs_value_unref(&kwargs);
    fxs_arena_clear(&a);
    fxs_arena_clear(&scratch);
    free(layer);
    return status;
}

static void layers_have_weights_by_name(void **state) {
    fxs_ctx *ctx = *state;
    fxs_value out;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 7, 6), 1),
               *flat = random_tensor(ctx, FXS_FLOAT32, SIZES(7, 6), 1);
    assert_ok(ctx,
              call_layer(ctx, "LSTM", TUPLE(ctx, fxs_int(6), fxs_int(4)),
                         KEYWORDS(ctx, {"num_layers", fxs_int(2)}, {"batch_first", fxs_bool(true)},
                                  {"bidirectional", fxs_bool(true)}),
                         x, &out));
    assert_shape(fxs_value_item(&out, 0)->u.tensor, 3, (int64_t[]){3, 7, 8});
    assert_shape(fxs_value_item(fxs_value_item(&out, 1), 1)->u.tensor, 3, (int64_t[]){4, 3, 4});
    fxs_value_unref(&out);
    assert_ok(ctx, call_layer(ctx, "GRU", TUPLE(ctx, fxs_int(6), fxs_int(4)),
                              KEYWORDS(ctx, {"bias", fxs_bool(false)}, {"num_layers", fxs_int(3)}),
                              flat, &out));
    assert_shape(fxs_value_item(&out, 0)->u.tensor, 2, (int64_t[]){7, 4});
    assert_shape(fxs_value_item(&out, 1)->u.tensor, 2, (int64_t[]){3, 4});
    fxs_value_unref(&out);
    assert_ok(ctx, call_layer(ctx, "RNN", TUPLE(ctx, fxs_int(6), fxs_int(4)),
                              KEYWORDS(ctx, {"nonlinearity", make_str(ctx, "relu")}), x, &out));
    for (int64_t i = 0; i < 84; i++)
        assert_true(nth(fxs_value_item(&out, 0)->u.tensor, i) >= 0);
    fxs_value_unref(&out);
    assert_ok(ctx, call_layer(ctx, "LSTM", TUPLE(ctx, fxs_int(6), fxs_int(4)),
                              KEYWORDS(ctx, {"num_layers", fxs_int(10)}, {"proj_size", fxs_int(2)}),
                              x, &out));
    assert_shape(fxs_value_item(fxs_value_item(&out, 1), 0)->u.tensor, 3, (int64_t[]){10, 7, 2});
    fxs_value_unref(&out);
    assert_int_equal(
        call_layer(ctx, "GRU", TUPLE(ctx, fxs_int(5), fxs_int(4)), fxs_none(), x, &out),
        FXS_ESHAPE);
    assert_string_equal(
        fxs_ctx_error(ctx),
        "gru_layer: input.size(-1) must be equal to input_size: expected 5, but got "
        "input of shape [3, 7, 6]");
    fxs_ctx_clear(ctx);
    fxs_tensor_unref(x);
    fxs_tensor_unref(flat);
}

/* ---- attention
 * -------------------------------------------------------------------------------------------- */

static void attention_is_its_formula(void **state) {
    fxs_ctx *ctx = *state;
    static const fxs_dtype types[] = {FXS_FLOAT32, FXS_FLOAT64, FXS_BFLOAT16};
    for (int t = 0; t < 3; t++)
        for (int form = 0; form < 4; form++) { /* plain, causal, mask of bools, mask of numbers */
            fxs_tensor *q = random_tensor(ctx, types[t], SIZES(2, 3, 4), 1),
                       *k = random_tensor(ctx, types[t], SIZES(2, 5, 4), 2);
            fxs_tensor *v = random_tensor(ctx, types[t], SIZES(2, 5, 6), 3), *m = NULL;
            if (form == 2)
                m = tensor_of_values(ctx, FXS_BOOL, SIZES(3, 5),
                                     (double[]){1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 1});
            if (form == 3)
                m = random_tensor(ctx, types[t], SIZES(2, 1, 5), 4);
            fxs_value y =
                run_both(ctx, "torch._C._nn.scaled_dot_product_attention",
                         TUPLE(ctx, TENSOR(q), TENSOR(k), TENSOR(v), m ? TENSOR(m) : fxs_none()),
                         KEYWORDS(ctx, {"is_causal", fxs_bool(form == 1)}));
            assert_shape(y.u.tensor, 3, (int64_t[]){2, 3, 6});
            for (int64_t i = 0; i < 36; i++) {
                double e[5], sum = 0, want = 0;
                for (int64_t j = 0; j < 5; j++) {
                    e[j] = 0;
                    for (int64_t c = 0; c < 4; c++)
                        e[j] += element(q, (int64_t[]){i / 18, i / 6 % 3, c}) *
                                element(k, (int64_t[]){i / 18, j, c}) / 2;
                    bool hidden = (form == 1 && j > i / 6 % 3) ||
                                  (form == 2 && element(m, (int64_t[]){i / 6 % 3, j}) == 0);
                    e[j] =
                        hidden
                            ? 0
                            : exp(e[j] + (form == 3 ? element(m, (int64_t[]){i / 18, 0, j}) : 0));
                    sum += e[j];
                }
                for (int64_t j = 0; j < 5; j++)
                    want += e[j] / sum * element(v, (int64_t[]){i / 18, j, i % 6});
                assert_near(nth(y.u.tensor, i), want, tolerance_of(types[t]));
            }
            fxs_value_unref(&y);
            fxs_tensor_unref(q);
            fxs_tensor_unref(k);
            fxs_tensor_unref(v);
            fxs_tensor_unref(m);
        }
}

static void bad_arguments_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    const char *op = "torch._C._nn.scaled_dot_product_attention";
    fxs_tensor *q = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 3, 4), 1),
               *m = random_tensor(ctx, FXS_FLOAT32, SIZES(2, 2), 1),
               *n = random_tensor(ctx, FXS_INT64, SIZES(3, 3), 1),
               *row = random_tensor(ctx, FXS_FLOAT32, SIZES(4), 1);
    refuses(ctx, op, TUPLE(ctx, TENSOR(q), TENSOR(q), TENSOR(q), TENSOR(m)), fxs_none(),
            "scaled_dot_product_attention: attn_mask of shape [2, 2] can't be expanded to scores "
            "of shape [2, 3, 3]");
    refuses(
        ctx, op, TUPLE(ctx, TENSOR(q), TENSOR(q), TENSOR(q), TENSOR(n)), fxs_none(),
        "scaled_dot_product_attention: expected attn_mask of type bool or float32, but got int64");
    refuses(ctx, op, TUPLE(ctx, TENSOR(q), TENSOR(q), TENSOR(row)), fxs_none(),
            "scaled_dot_product_attention: expected query, key and value of at least 2 dimensions, "
            "but got shape [4]");
    refuses(ctx, "torch.gru",
            TUPLE(ctx, TENSOR(q), TENSOR(q), LIST(ctx, TENSOR(q)), fxs_bool(true), fxs_int(1),
                  fxs_float(0), fxs_bool(false), fxs_bool(false), fxs_bool(false)),
            fxs_none(), "gru: expected 4 weights, but got 1");
    refuses(ctx, "torch.gru",
            TUPLE(ctx, TENSOR(q), TENSOR(q), make_list(ctx, FXS_V_LIST, 0, NULL), fxs_bool(true),
                  fxs_int(0), fxs_float(0), fxs_bool(false), fxs_bool(false), fxs_bool(false)),
            fxs_none(),
            "gru: num_layers must be 1 or more, and have weights, but it is 0 with 0 weights");
    fxs_tensor *const all[] = {q, m, n, row};
    for (int i = 0; i < 4; i++)
        fxs_tensor_unref(all[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_agree_with_loops),
        cmocka_unit_test(a_batch_in_front_is_a_view_of_time_in_front),
        cmocka_unit_test(layers_have_weights_by_name),
        cmocka_unit_test(attention_is_its_formula),
        cmocka_unit_test(bad_arguments_are_refused),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
