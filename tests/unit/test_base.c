/* test_base.c: dtype conversions, promotion, Python's number and string texts, values, tensors,
 * arenas, maps, threads, libraries.
 */
#include "testing.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/library.h"
#include "base/map.h"
#include "base/pool.h"
#include "base/pytext.h"

static void floats_print_as_python_does(void **state) {
    static const struct {
        double x;
        const char *text;
    } cases[] = {{1, "1.0"},
                 {1e-5, "1e-05"},
                 {1e16, "1e+16"},
                 {1e15, "1000000000000000.0"},
                 {123456789, "123456789.0"},
                 {0.1, "0.1"},
                 {-0.0, "-0.0"},
                 {0.0001, "0.0001"},
                 {0.00012345, "0.00012345"},
                 {1.5e-7, "1.5e-07"},
                 {1e22, "1e+22"},
                 {0.1767766952966369, "0.1767766952966369"},
                 {1.7976931348623157e308, "1.7976931348623157e+308"},
                 {5e-324, "5e-324"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_buf b = {0};
        double back;
        fxs_buf_float(&b, cases[i].x);
        assert_string_equal(b.data, cases[i].text);
        assert_true(fxs_read_float(b.data, b.len, &back));
        assert_memory_equal(&back, &cases[i].x, sizeof back);
        fxs_buf_free(&b);
    }
}

static void strings_quote_as_python_does(void **state) {
    static const char *const cases[][2] = {{"str", "'str'"},
                                           {"it's", "\"it's\""},
                                           {"a\"b", "'a\"b'"},
                                           {"b'\"c", "'b\\'\"c'"},
                                           {"n\nt\t\\", "'n\\nt\\t\\\\'"},
                                           {"\xc3\xa9", "'\xc3\xa9'"},
                                           {"\xff\x01", "'\\udcff\\x01'"},
                                           {"\xc2\x85\xc2\xa0\xc2\xad", "'\\x85\\xa0\\xad'"},
                                           {"\xcd\xb8\xcd\xba", "'\\u0378\xcd\xba'"},
                                           {"\xe2\x80\xae\xe2\x80\xa8", "'\\u202e\\u2028'"},
                                           {"\xe3\x80\x80\xe4\xb8\xad", "'\\u3000\xe4\xb8\xad'"},
                                           {"\xee\x80\x80", "'\\ue000'"},
                                           {"\xed\xa0\x80", "'\\ud800'"},
                                           {"\xf0\x9f\x98\x80", "'\xf0\x9f\x98\x80'"},
                                           {"\xf3\xa0\x81\x81", "'\\U000e0041'"},
                                           {"\xf4\x8f\xbf\xbf", "'\\U0010ffff'"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fxs_buf b = {0};
        fxs_buf_quoted(&b, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(b.data, cases[i][1]);
        fxs_buf_free(&b);
    }
}

static void half_floats_round_to_even(void **state) {
    (void)state;
    for (unsigned h = 0; h < 0x10000; h++) {
        float f = fxs_half_to_float((uint16_t)h);
        if (isnan(f))
            continue;
        assert_int_equal(fxs_float_to_half(f), h);
        assert_int_equal(fxs_float_to_bfloat16(fxs_bfloat16_to_float((uint16_t)(h & 0x7f7f))),
                         h & 0x7f7f);
    }
    assert_int_equal(fxs_float_to_half(1.0f + 0x1p-11f),
                     fxs_float_to_half(1.0f)); /* half-way, even below */
    assert_int_equal(fxs_float_to_half(1.0f + 3 * 0x1p-11f),
                     fxs_float_to_half(1.0f + 0x1p-9f)); /* half-way, even above */
    assert_int_equal(fxs_float_to_half(65520.0f), 0x7c00);
    assert_int_equal(fxs_float_to_half(65519.0f), 0x7bff);
    assert_int_equal(fxs_float_to_bfloat16(NAN), 0x7fc0);
}

static void promotion_follows_torch(void **state) {
    static const fxs_dtype cases[][3] = {{FXS_INT64, FXS_FLOAT32, FXS_FLOAT32},
                                         {FXS_UINT8, FXS_INT8, FXS_INT16},
                                         {FXS_BOOL, FXS_UINT8, FXS_UINT8},
                                         {FXS_FLOAT16, FXS_BFLOAT16, FXS_FLOAT32},
                                         {FXS_FLOAT64, FXS_COMPLEX64, FXS_COMPLEX128},
                                         {FXS_INT32, FXS_INT64, FXS_INT64},
                                         {FXS_FLOAT32, FXS_FLOAT64, FXS_FLOAT64}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(fxs_promote(cases[i][0], cases[i][1]), cases[i][2]);
        assert_int_equal(fxs_promote(cases[i][1], cases[i][0]), cases[i][2]);
    }
}

static void the_first_error_wins(void **state) {
    fxs_ctx *ctx = *state;
    assert_int_equal(fxs_fail(ctx, FXS_ESHAPE, "one %d", 1), FXS_ESHAPE);
    assert_int_equal(fxs_fail(ctx, FXS_EIO, "two"), FXS_ESHAPE);
    fxs_fail_where(ctx, "%s", "there");
    assert_string_equal(fxs_ctx_error(ctx), "there: one 1");
    fxs_ctx_clear(ctx);
    assert_string_equal(fxs_ctx_error(ctx), "");
    fxs_fail_memory(ctx);
    assert_string_equal(fxs_ctx_error(ctx), "out of memory");
    fxs_ctx_clear(ctx);
}

static void hostile_sizes_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t;
    int64_t huge[] = {1000000000000000000, 1000000000000000000}, negative[] = {-1}, one[20] = {0};
    assert_int_equal(fxs_tensor_new(ctx, FXS_FLOAT32, 2, huge, &t), FXS_ELIMIT);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_tensor_new_meta(ctx, FXS_FLOAT32, 1, negative, &t), FXS_ESHAPE);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_tensor_new(ctx, FXS_FLOAT32, 20, one, &t), FXS_ELIMIT);
    fxs_ctx_clear(ctx);
    assert_int_equal(fxs_tensor_new(ctx, FXS_UINT8, 1, huge, &t), FXS_ENOMEM);
    fxs_ctx_clear(ctx);
}

static void memory_formats(void **state) {
    fxs_ctx *ctx = *state;
    static const int64_t sizes[] = {2, 3, 4, 5}, last[] = {60, 1, 15, 3}, odd[] = {60, 5, 1, 20};
    fxs_tensor *t;
    assert_ok(ctx, fxs_tensor_make(ctx, FXS_FLOAT32, 4, sizes, NULL, &t));
    assert_int_equal(fxs_tensor_memory_format(t), FXS_CONTIGUOUS);
    memcpy(t->strides, last, sizeof last);
    assert_int_equal(fxs_tensor_memory_format(t), FXS_CHANNELS_LAST);
    memcpy(t->strides, odd, sizeof odd);
    assert_int_equal(fxs_tensor_memory_format(t), FXS_NO_FORMAT);
    fxs_tensor_unref(t);
}

static void copies_follow_strides_and_types(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *t = random_tensor(ctx, FXS_FLOAT32, SIZES(3, 4, 5), 7), *view, *dense, *ints;
    assert_ok(ctx, fxs_tensor_view(ctx, t, &view));
    view->sizes[0] = 5, view->sizes[2] = 3, view->strides[0] = 1, view->strides[2] = 20;
    assert_ok(ctx, fxs_tensor_contiguous(ctx, view, &dense));
    assert_true(fxs_tensor_is_contiguous(dense));
    for (int64_t i = 0; i < 60; i++)
        assert_near(nth(dense, i), nth(view, i), 0);
    assert_ok(ctx, fxs_tensor_new(ctx, FXS_INT8, 3, view->sizes, &ints));
    fxs_fill_uniform(ctx, t, 3, -100, 100);
    fxs_tensor_copy(ctx, ints, view);
    for (int64_t i = 0; i < 60; i++)
        assert_near(nth(ints, i), trunc(nth(view, i)), 0);
    fxs_tensor_unref(t);
    fxs_tensor_unref(view);
    fxs_tensor_unref(dense);
    fxs_tensor_unref(ints);
}

static void count_items(void *user, int64_t begin, int64_t end, int thread) {
    (void)thread;
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&((atomic_int *)user)[i], 1);
}

static void threads_take_every_item_once(void **state) {
    fxs_ctx *ctx = *state;
    static atomic_int seen[10007];
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 4));
    for (int round = 1; round <= 50; round++) {
        fxs_parallel(ctx, 10007, 13, count_items, seen);
        for (int i = 0; i < 10007; i++)
            assert_int_equal(seen[i], round);
    }
    assert_int_equal(fxs_ctx_set_threads(ctx, 1000), FXS_EINVAL);
    fxs_ctx_clear(ctx);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

enum { SHARERS = 3 };

typedef struct sharing {
    atomic_int here;
    atomic_llong first[SHARERS]; /* the first item of each thread; -1: none yet */
} sharing;

/* Each thread waits in its first range until all have one. */
static void note_first(void *user, int64_t begin, int64_t end, int thread) {
    sharing *s = user;
    (void)end;
    if (s->first[thread] >= 0)
        return;
    s->first[thread] = begin;
    s->here++;
    while (s->here < SHARERS)
        sched_yield();
}

/* So what a thread wrote in one region it finds in its own cache in the next. */
static void threads_begin_with_their_own_part(void **state) {
    fxs_ctx *ctx = *state;
    assert_ok(ctx, fxs_ctx_set_threads(ctx, SHARERS));
    for (int round = 0; round < 20; round++) {
        sharing s = {.first = {-1, -1, -1}};
        fxs_parallel(ctx, 100, 10, note_first, &s); /* ten ranges: 4, 3, 3 */
        assert_int_equal(s.first[0], 0);
        assert_int_equal(s.first[1], 40);
        assert_int_equal(s.first[2], 70);
    }
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

static void random_numbers_do_not_depend_on_threads(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *a = random_tensor(ctx, FXS_FLOAT32, SIZES(300000), 5), *b;
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 3));
    b = random_tensor(ctx, FXS_FLOAT32, SIZES(300000), 5);
    assert_memory_equal(fxs_tensor_data(a), fxs_tensor_data(b), 300000 * sizeof(float));
    double mean = 0, square = 0;
    fxs_fill_normal(ctx, a, 9, 2, 3);
    for (int64_t i = 0; i < 300000; i++)
        mean += nth(a, i) / 300000;
    for (int64_t i = 0; i < 300000; i++)
        square += (nth(a, i) - mean) * (nth(a, i) - mean) / 300000;
    assert_near(mean, 2, 0.02);
    assert_near(sqrt(square), 3, 0.02);
    fxs_tensor_unref(a);
    fxs_tensor_unref(b);
    assert_ok(ctx, fxs_ctx_set_threads(ctx, 1));
}

static void maps_find_what_was_put(void **state) {
    static char keys[2000][16];
    fxs_map m = {0};
    (void)state;
    for (int i = 0; i < 2000; i++) {
        snprintf(keys[i], sizeof keys[i], "k%d", i);
        assert_true(fxs_map_put(&m, keys[i], strlen(keys[i]), keys[i]));
    }
    for (int i = 0; i < 2000; i++)
        assert_ptr_equal(fxs_map_get(&m, keys[i]), keys[i]);
    assert_null(fxs_map_get(&m, "absent"));
    fxs_map_free(&m);
}

static fxs_status increment(void *user, const fxs_value *leaf, fxs_value *out) {
    (void)user;
    if (leaf->tag == FXS_V_INT)
        *out = fxs_int(leaf->u.i + 1);
    return FXS_OK;
}

static void map_rebuilds_containers(void **state) {
    fxs_ctx *ctx = *state;
    fxs_value v = TUPLE(ctx, fxs_int(1), LIST(ctx, fxs_int(2), fxs_none())), out;
    char *text;
    assert_ok(ctx, fxs_value_map(ctx, NULL, &v, increment, NULL, &out));
    assert_ok(ctx, fxs_value_print(ctx, &out, &text));
    assert_string_equal(text, "(2, [3, None])");
    fxs_free(text);
    fxs_value_unref(&v);
    fxs_value_unref(&out);
}

static void schemas_bind_as_torch_does(void **state) {
    fxs_ctx *ctx = *state;
    fxs_arena a = {0};
    fxs_schema s;
    fxs_value out[FXS_MAX_ARGS], args, kwargs;
    fxs_tensor *t = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 1);
    assert_ok(
        ctx,
        fxs_schema_parse(
            ctx, &a,
            "(Tensor input, int[2] stride=1, int[2]|str padding=[0, 0], *, Scalar? alpha=None, "
            "dtype? dtype=None, str mode='zeros') -> Tensor",
            &s));
    assert_int_equal(s.nparams, 6);
    args = TUPLE(ctx, TENSOR(t), fxs_int(3), make_str(ctx, "same"));
    kwargs = KEYWORDS(ctx, {"alpha", fxs_float(0.5)});
    assert_ok(ctx, fxs_schema_bind(ctx, &a, "op", NULL, &s, &args, &kwargs, out));
    assert_int_equal(fxs_value_len(&out[1]), 2);
    assert_int_equal(out[1].u.seq->items[1].u.i, 3);
    assert_string_equal(fxs_value_text(&out[2]), "same");
    assert_string_equal(fxs_value_text(&out[5]), "zeros");
    fxs_value_unref(&kwargs);
    kwargs = KEYWORDS(ctx, {"strides", fxs_int(1)});
    assert_int_equal(fxs_schema_bind(ctx, &a, "op", NULL, &s, &args, &kwargs, out), FXS_ETYPE);
    assert_string_equal(fxs_ctx_error(ctx), "op: unknown argument 'strides'");
    fxs_ctx_clear(ctx);
    fxs_value_unref(&kwargs);
    fxs_value_unref(&args);
    assert_ok(ctx, fxs_schema_parse(ctx, &a, "(Tensor self, int... size) -> Tensor", &s));
    args = TUPLE(ctx, TENSOR(t), fxs_int(3), fxs_int(-1));
    assert_ok(ctx, fxs_schema_bind(ctx, &a, "view", NULL, &s, &args, NULL, out));
    assert_int_equal(fxs_value_len(&out[1]), 2);
    fxs_value_unref(&args);
    args = TUPLE(ctx, TENSOR(t), LIST(ctx, fxs_int(6)));
    assert_ok(ctx, fxs_schema_bind(ctx, &a, "view", NULL, &s, &args, NULL, out));
    assert_int_equal(fxs_value_len(&out[1]), 1);
    fxs_value_unref(&args);
    args = TUPLE(ctx, TENSOR(t), fxs_float(1.5));
    assert_int_equal(fxs_schema_bind(ctx, &a, "view", NULL, &s, &args, NULL, out), FXS_ETYPE);
    fxs_ctx_clear(ctx);
    fxs_value_unref(&args);
    fxs_tensor_unref(t);
    fxs_arena_clear(&a);
}

/* Every row of every table is well formed: schema, spellings, layer rows. */
static void every_row_is_well_formed(void **state) {
    fxs_ctx *ctx = *state;
    for (const fxs_family *f = fxs_families; f->name; f++) {
        for (const fxs_op *op = f->ops; op && op->name; op++) {
            const fxs_schema *s;
            assert_ok(ctx, fxs_registry_schema(ctx, op, &s));
            assert_non_null(op->infer);
            assert_ptr_equal(fxs_registry_family(op), f);
        }
        for (const fxs_module_row *m = f->modules; m && m->name; m++) {
            const fxs_candidate *op;
            char name[64];
            assert_true(sscanf(m->call, "%63[a-zA-Z0-9_]", name) == 1);
            assert_ok(ctx, fxs_registry_find_op(ctx, name, &op));
            if (!op)
                fprintf(stderr, "layer %s calls %s, which is no operator\n", m->name, name);
            assert_non_null(op);
        }
    }
}

static void libraries_are_opened_or_say_why(void **state) {
    static const char *const names[] = {"cos", "sin", NULL}, *const strange[] = {"cos", "fxs_",
                                                                                 NULL};
    static const char *const files[] = {"libm.so.6", NULL};
    static const char *const missing[] = {"libm.so.6", "libfxscope-is-not-this.so.1", NULL};
    struct {
        double (*cosine)(double), (*sine)(double);
    } table = {NULL, NULL};
    fxs_ctx *ctx = *state;
    fxs_library good = {.files = files, .names = names, .table = &table},
                no_name = {.files = files, .names = strange, .table = &table},
                no_file = {.files = missing, .names = names, .table = &table};
    assert_int_equal(fxs_library_need(ctx, &no_file, "it"), FXS_EIO);
    assert_string_equal(
        fxs_ctx_error(ctx),
        "it can't be opened: libfxscope-is-not-this.so.1: cannot open shared object "
        "file: No such file or directory");
    fxs_ctx_clear(ctx);
    assert_null(table.cosine);
    assert_int_equal(fxs_library_need(ctx, &no_name, "it"), FXS_EIO);
    assert_non_null(strstr(fxs_ctx_error(ctx), "undefined symbol: fxs_"));
    assert_false(fxs_library_is_open(&no_name));
    fxs_ctx_clear(ctx);
    for (int i = 0; i < 2; i++) { /* again is all right, too */
        assert_ok(ctx, fxs_library_need(ctx, &good, "it"));
        assert_true(fxs_library_is_open(&good));
    }
    assert_true(table.cosine(0) == 1 && table.sine(0) == 0);
}

static fxs_status find_in_a_fresh_context(fxs_ctx *ctx, const void *spelling) {
    const fxs_candidate *ops = NULL;
    fxs_ctx *own = fxs_ctx_new();
    fxs_status s = own ? fxs_registry_find(own, spelling, &ops) : FXS_ENOMEM;
    assert_true(s == FXS_OK ? ops != NULL : s == FXS_ENOMEM);
    assert_true(!own || fxs_ctx_status(own) == s);
    fxs_ctx_free(own);
    return s == FXS_OK ? s : fxs_fail_memory(ctx);
}

static void the_table_of_operators_without_memory(void **state) {
    (void)state;
    fxs_ctx *ctx = fxs_ctx_new();
    assert_survives(ctx, find_in_a_fresh_context, "torch.relu");
    fxs_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_print_as_python_does),
        cmocka_unit_test(strings_quote_as_python_does),
        cmocka_unit_test(half_floats_round_to_even),
        cmocka_unit_test(promotion_follows_torch),
        cmocka_unit_test(the_first_error_wins),
        cmocka_unit_test(hostile_sizes_are_refused),
        cmocka_unit_test(memory_formats),
        cmocka_unit_test(copies_follow_strides_and_types),
        cmocka_unit_test(threads_take_every_item_once),
        cmocka_unit_test(threads_begin_with_their_own_part),
        cmocka_unit_test(random_numbers_do_not_depend_on_threads),
        cmocka_unit_test(maps_find_what_was_put),
        cmocka_unit_test(map_rebuilds_containers),
        cmocka_unit_test(schemas_bind_as_torch_does),
        cmocka_unit_test(every_row_is_well_formed),
        cmocka_unit_test(libraries_are_opened_or_say_why),
        cmocka_unit_test(the_table_of_operators_without_memory),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
