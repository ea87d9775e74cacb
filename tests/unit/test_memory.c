/* test_memory.c: blocks of tensors: they do not overlap, what is free is joined and used again, and
 * the results of blocks like those of real networks take little more than the least that they need.
 */
#include "testing.h"

#include "base/blocks.h"
#include "fxprofile.h"

enum { KIB = 1024 };

/* ---- blocks
 * ------------------------------------------------------------------------------------------------
 */

static fxs_piece take(fxs_blocks *b, size_t bytes) {
    fxs_piece p;
    assert_true(fxs_blocks_take(b, bytes, &p));
    assert_true(p.capacity >= bytes);
    assert_int_equal((uintptr_t)p.data % 64, 0);
    return p;
}

static void neighbours_are_joined(void **state) {
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        fxs_blocks *b = fxs_blocks_new();
        fxs_piece p[3];
        for (int k = 0; k < 3; k++)
            p[k] = take(b, 100 * KIB);
        for (int k = 0; k < 3; k++)
            fxs_blocks_give(b, &p[orders[i][k]]);
        fxs_piece all = take(b, 300 * KIB);
        memset(all.data, 1, 300 * KIB);
        assert_int_equal(fxs_blocks_peak(b), 300 * KIB);
        fxs_blocks_give(b, &all);
        fxs_blocks_unref(b);
    }
}

/* The free end of what is in use grows, instead of lying idle before a new block. */
static void the_end_grows(void **state) {
    fxs_blocks *b = fxs_blocks_new();
    (void)state;
    fxs_piece first = take(b, 100 * KIB), last = take(b, 60 * KIB);
    fxs_blocks_give(b, &last);
    last = take(b, 90 * KIB);
    assert_int_equal(fxs_blocks_peak(b), 190 * KIB);
    fxs_blocks_give(b, &first);
    fxs_blocks_give(b, &last);
    fxs_blocks_unref(b);
}

static bool holds(const fxs_piece *p, size_t bytes, unsigned char mark) {
    const unsigned char *x = p->data;
    for (size_t i = 0; i < bytes; i++)
        if (x[i] != mark)
            return false;
    return true;
}

/* Random sizes, those beyond a slab among them, taken and given in random order. */
static void blocks_do_not_overlap(void **state) {
    enum { SLOTS = 40, ROUNDS = 3000 };
    fxs_blocks *b = fxs_blocks_new();
    fxs_piece p[SLOTS];
    size_t bytes[SLOTS] = {0};
    bool used[SLOTS] = {0};
    (void)state;
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint64_t at = (uint64_t)(fxs_random_unit(1, 2 * i) * SLOTS);
        double size = (double)fxs_random_unit(1, 2 * i + 1);
        if (used[at]) {
            assert_true(holds(&p[at], bytes[at], (unsigned char)at));
            fxs_blocks_give(b, &p[at]);
        } else {
            bytes[at] = (size_t)(size * size * size * size * 200 * KIB);
            p[at] = take(b, bytes[at]);
            memset(p[at].data, (int)at, bytes[at]);
        }
        used[at] = !used[at];
    }
    for (int i = 0; i < SLOTS; i++)
        if (used[i])
            fxs_blocks_give(b, &p[i]);
    fxs_piece large = take(b, (size_t)65 * KIB * KIB); /* more than a slab */
    ((char *)large.data)[large.capacity - 1] = 1;
    fxs_blocks_give(b, &large);
    fxs_blocks_unref(b);
}

/* What is refused leaves the blocks as they were. */
static void out_of_memory(void **state) {
    fxs_piece p;
    (void)state;
    for (long granted = 0, done = 0; !done; granted++) {
        fxs_blocks *b = fxs_blocks_new();
        fxs_piece first = take(b, 200 * KIB), last = take(b, 10 * KIB);
        fxs_blocks_give(b, &first);
        fxs_alloc_fail_after(granted);
        done = fxs_blocks_take(b, 100 * KIB, &p); /* a part of what is free */
        fxs_alloc_fail_after(-1);
        if (done)
            fxs_blocks_give(b, &p);
        first = take(b, 200 * KIB);
        assert_int_equal(fxs_blocks_peak(b), 210 * KIB);
        fxs_blocks_give(b, &first);
        fxs_blocks_give(b, &last);
        fxs_blocks_unref(b);
        assert_true(granted < 10);
    }
    fxs_blocks *b = fxs_blocks_new();
    assert_false(fxs_blocks_take(b, SIZE_MAX - 8, &p));
    assert_false(fxs_blocks_take(b, (size_t)1 << 60, &p));
    fxs_blocks_unref(b);
}

/* ---- scratch
 * ------------------------------------------------------------------------------------------------
 */

/* Rounds of scratch that grows, as nodes of a network need it: what is large lies where it lay in
 * the round before, so that its pages are there. */
static void large_scratch_stays(void **state) {
    enum { ROOM = 4 << 20, ROUNDS = 6 };
    fxs_arena a = {.room = ROOM};
    char *large = NULL;
    (void)state;
    for (size_t i = 0; i < ROUNDS; i++) {
        size_t bytes = (200 + 500 * i) * KIB;
        memset(fxs_arena_alloc_raw(&a, 100, 1), 1, 100);
        char *p = fxs_arena_alloc_raw(&a, bytes, 1);
        memset(p, 2, bytes);
        memset(fxs_arena_alloc(&a, 50, KIB), 3, 50 * KIB);
        assert_true(p[0] == 2 && p[bytes - 1] == 2);
#ifndef FXS_DEBUG_ARENA /* there each item is an allocation of its own */
        assert_true(i < 2 || p == large);
#endif
        large = p;
        fxs_arena_reset(&a);
    }
    large = fxs_arena_alloc_raw(&a, 2, ROOM); /* beyond the room */
    large[2 * ROOM - 1] = 1;
    fxs_arena_reset(&a);
    assert_non_null(fxs_arena_alloc_raw(&a, 2, ROOM));
    fxs_arena_clear(&a);
}

/* ---- networks
 * ------------------------------------------------------------------------------------------------
 */

static void assert_bound(const char *text, const char *input, double bound) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m;
    fxs_inputs *in;
    fxs_profile *p;
    assert_ok(ctx, fxs_load_text(ctx, "net", text, strlen(text), &m));
    assert_ok(ctx, fxs_inputs_new(ctx, &in));
    assert_ok(ctx, fxs_inputs_add(in, input));
    assert_ok(ctx, fxs_profile_run(m, in, &(fxs_profile_options){.rounds = 2}, &p));
    const fxs_profile_totals *t = fxs_profile_all(p);
    assert_int_equal(t->failed, 0);
    if (t->activations > bound * t->least)
        fprintf(stderr, "%g bytes, but %g are needed\n", t->activations, t->least);
    assert_true(t->activations >= t->least);
    assert_true(t->activations <= bound * t->least);
    fxs_profile_free(p);
    fxs_inputs_free(in);
    fxs_module_unref(m);
    fxs_ctx_free(ctx);
}

#define NORM(name, n)                                                                              \
    "  (" name "): BatchNorm2d(" n ", eps=1e-05, momentum=0.1, affine=True, "                      \
    "track_running_stats=True)\n"
#define CALL(out, module, in)                                                                      \
    "    %" out " : [#users=1] = call_module[target=" module "](args = (%" in ",), kwargs = {})\n"

/* Inverted residuals: each is wide inside, and no size comes twice in a row. */
static const char residuals[] =
    "Net(\n"
    "  (stem): Conv2d(3, 16, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False)\n"
    "  (up1): Conv2d(16, 96, kernel_size=(1, 1), stride=(1, 1), bias=False)\n" NORM(
        "n1",
        "96") "  (clip1): ReLU6(inplace=True)\n"
              "  (deep1): Conv2d(96, 96, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), "
              "groups=96, "
              "bias=False)\n" NORM(
                  "n2",
                  "96") "  (clip2): ReLU6(inplace=True)\n"
                        "  (down1): Conv2d(96, 24, kernel_size=(1, 1), stride=(1, 1), bias=False)\n"
                        "  (up2): Conv2d(24, 144, kernel_size=(1, 1), stride=(1, 1), "
                        "bias=False)\n" NORM(
                            "n3",
                            "144") "  (clip3): ReLU6(inplace=True)\n"
                                   "  (deep2): Conv2d(144, 144, kernel_size=(3, 3), stride=(1, 1), "
                                   "padding=(1, 1), groups=144, "
                                   "bias=False)\n"
                                   "  (down2): Conv2d(144, 24, kernel_size=(1, 1), stride=(1, 1), "
                                   "bias=False)\n"
                                   "  (up3): Conv2d(24, 150, kernel_size=(1, 1), stride=(1, 1), "
                                   "bias=False)\n"
                                   "  (deep3): Conv2d(150, 150, kernel_size=(3, 3), stride=(2, 2), "
                                   "padding=(1, 1), groups=150, "
                                   "bias=False)\n"
                                   "  (down3): Conv2d(150, 40, kernel_size=(1, 1), stride=(1, 1), "
                                   "bias=False)\n"
                                   "  (last): Conv2d(40, 300, kernel_size=(1, 1), stride=(1, 1), "
                                   "bias=False)\n"
                                   ")\n"
                                   "graph():\n"
                                   "    %x : [#users=1] = placeholder[target=x]\n" CALL(
                                       "a", "stem", "x") CALL("b", "up1",
                                                              "a") CALL("c", "n1",
                                                                        "b") CALL("d", "clip1", "c")
                                       CALL("e", "deep1", "d") CALL("f", "n2", "e") CALL(
                                           "g", "clip2",
                                           "f") "    %h : [#users=2] = "
                                                "call_module[target=down1](args = (%g,), kwargs = "
                                                "{})\n" CALL("i", "up2", "h") CALL("j", "n3", "i")
                                                    CALL("k", "clip3", "j") CALL("l", "deep2", "k")
                                                        CALL("m", "down2",
                                                             "l") "    %n : [#users=1] = "
                                                                  "call_function[target=operator."
                                                                  "add](args = (%h, %m), kwargs = "
                                                                  "{})\n" CALL("o", "up3", "n")
                                                                      CALL("p", "deep3", "o") CALL(
                                                                          "q", "down3", "p")
                                                                          CALL(
                                                                              "r", "last",
                                                                              "q") "    return r\n";

#define ATTEND(more)                                                                               \
    "    %y : [#users=1] = call_module[target=attend](args = (%n, %n, %n), kwargs = {" more "})\n"

/* A transformer's block: scores of all heads are the largest thing in it but for what is wide. */
#define TRANSFORMER(heads, more)                                                                   \
    "Net(\n"                                                                                       \
    "  (norm1): LayerNorm((96,), eps=1e-06, elementwise_affine=True)\n"                            \
    "  (attend): MultiheadAttention(\n"                                                            \
    "    embed_dim=96, num_heads=" heads "\n"                                                      \
    "    (out_proj): NonDynamicallyQuantizableLinear(in_features=96, out_features=96, "            \
    "bias=True)\n"                                                                                 \
    "  )\n"                                                                                        \
    "  (norm2): LayerNorm((96,), eps=1e-06, elementwise_affine=True)\n"                            \
    "  (up): Linear(in_features=96, out_features=384, bias=True)\n"                                \
    "  (act): GELU(approximate=none)\n"                                                            \
    "  (down): Linear(in_features=384, out_features=96, bias=True)\n"                              \
    ")\n"                                                                                          \
    "graph():\n"                                                                                   \
    "    %x : [#users=2] = placeholder[target=x]\n"                                                \
    "    %n : [#users=1] = call_module[target=norm1](args = (%x,), kwargs = {})\n" ATTEND(         \
        more) "    %z : [#users=1] = call_function[target=operator.getitem](args = (%y, 0), "      \
              "kwargs = {})\n"                                                                     \
              "    %s : [#users=2] = call_function[target=operator.add](args = (%z, %x), kwargs "  \
              "= {})\n" CALL("t", "norm2", "s") CALL("u", "up", "t") CALL("v", "act", "u")         \
                  CALL("w", "down",                                                                \
                       "v") "    %r : [#users=1] = call_function[target=operator.add](args = "     \
                            "(%s, %w), kwargs = {})\n"                                             \
                            "    return r\n"

static void memory_of_networks(void **state) {
    (void)state;
    assert_bound(residuals, "1x3x96x96", 1.4);
    assert_bound(residuals, "2x3x64x80", 1.4);
    assert_bound(TRANSFORMER("3", "need_weights: False"), "1x100x96", 2);
    assert_bound(TRANSFORMER("2", "need_weights: False"), "3x70x96", 2);
}

/* ---- attention, whose steps write over each other
 * ------------------------------------------------------------------------------------------------
 */

enum { LENGTH = 6, WIDTH = 8, HEADS = 2 };

/* Calls multi_head_attention_forward with one tensor for query, key and value. */
static fxs_value attend(fxs_ctx *ctx, fxs_tensor *x, fxs_tensor *mask, fxs_tensor *still,
                        bool need_weights) {
    fxs_value none = fxs_none(), out;
    fxs_tensor *w = random_tensor(ctx, FXS_FLOAT32, SIZES(3 * WIDTH, WIDTH), 2),
               *b = random_tensor(ctx, FXS_FLOAT32, SIZES(3 * WIDTH), 3),
               *o = random_tensor(ctx, FXS_FLOAT32, SIZES(WIDTH, WIDTH), 4);
    fxs_value args = TUPLE(ctx, TENSOR(x), TENSOR(x), TENSOR(x), fxs_int(WIDTH), fxs_int(HEADS),
                           fxs_of_tensor(w), fxs_of_tensor(b), none, none, fxs_bool(false),
                           fxs_float(0), fxs_of_tensor(o), none, fxs_bool(false));
    fxs_value more = KEYWORDS(
        ctx, {"need_weights", fxs_bool(need_weights)}, {"attn_mask", mask ? TENSOR(mask) : none},
        {"static_k", still ? TENSOR(still) : none}, {"static_v", still ? TENSOR(still) : none});
    assert_ok(ctx, try_op(ctx, false, "torch.nn.functional.multi_head_attention_forward", args,
                          more, &out));
    return out;
}

/* With and without the weights, which then must stay: the same result, and no argument changes. */
static void attention_over_its_steps(void **state) {
    fxs_ctx *ctx = *state;
    const size_t bytes = LENGTH * WIDTH * sizeof(float);
    for (int how = 0; how < 4; how++) {
        fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(LENGTH, 1, WIDTH), 5),
                   *same = random_tensor(ctx, FXS_FLOAT32, SIZES(LENGTH, 1, WIDTH), 5),
                   *mask = random_tensor(ctx, FXS_FLOAT32, SIZES(LENGTH, LENGTH), 6),
                   *mask2 = random_tensor(ctx, FXS_FLOAT32, SIZES(LENGTH, LENGTH), 6),
                   *still = random_tensor(ctx, FXS_FLOAT32, SIZES(HEADS, LENGTH, WIDTH / HEADS), 7),
                   *still2 =
                       random_tensor(ctx, FXS_FLOAT32, SIZES(HEADS, LENGTH, WIDTH / HEADS), 7);
        fxs_tensor *m = how & 1 ? mask : NULL, *s = how & 2 ? still : NULL;
        fxs_value with = attend(ctx, x, m, s, true), without = attend(ctx, x, m, s, false);
        assert_memory_equal(fxs_tensor_data(fxs_value_item(&with, 0)->u.tensor),
                            fxs_tensor_data(fxs_value_item(&without, 0)->u.tensor), bytes);
        const fxs_tensor *weights = fxs_value_item(&with, 1)->u.tensor;
        for (int64_t row = 0; row < LENGTH; row++) {
            double sum = 0;
            for (int64_t i = 0; i < LENGTH; i++)
                sum += nth(weights, row * LENGTH + i);
            assert_near(sum, 1, 1e-5);
        }
        assert_memory_equal(fxs_tensor_data(x), fxs_tensor_data(same), bytes);
        assert_memory_equal(fxs_tensor_data(mask), fxs_tensor_data(mask2), LENGTH * LENGTH * 4);
        assert_memory_equal(fxs_tensor_data(still), fxs_tensor_data(still2), bytes);
        fxs_value_unref(&with);
        fxs_value_unref(&without);
        fxs_tensor *all[] = {x, same, mask, mask2, still, still2};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            fxs_tensor_unref(all[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_joined),
        cmocka_unit_test(the_end_grows),
        cmocka_unit_test(blocks_do_not_overlap),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(large_scratch_stays),
        cmocka_unit_test(memory_of_networks),
        cmocka_unit_test_setup_teardown(attention_over_its_steps, new_ctx, free_ctx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
