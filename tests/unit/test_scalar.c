/* test_scalar.c: Python's own values in graphs: arithmetic, comparisons, the math module,
 * sequences, and facts of tensors. Results are compared as Python prints them. */
#include "checking.h"

#define NONE fxs_none()
#define I fxs_int
#define R fxs_float
#define B fxs_bool

/* Runs in both modes, which must agree, and compares with Python's repr. */
static void gives(fxs_ctx *ctx, const char *op, fxs_value args, const char *want) {
    for (int meta = 0; meta < 2; meta++) {
        fxs_value out;
        char *text;
        fxs_value_ref(args);
        assert_ok(ctx, try_op(ctx, meta, op, args, NONE, &out));
        assert_ok(ctx, fxs_value_print(ctx, &out, &text));
        if (strcmp(text, want) != 0)
            fail_msg("%s gives %s, want %s", op, text, want);
        fxs_free(text);
        fxs_value_unref(&out);
    }
    fxs_value_unref(&args);
}

static fxs_value size_of(fxs_ctx *ctx, int n, const int64_t *sizes) {
    fxs_value v;
    assert_ok(ctx, fxs_make_size(ctx, n, sizes, &v));
    return v;
}
#define SIZE(ctx, ...) size_of((ctx), SIZES(__VA_ARGS__))
#define SLICE(ctx, ...) make_list((ctx), FXS_V_SLICE, 3, (fxs_value[]){__VA_ARGS__})

static void arithmetic(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *op;
        fxs_value a, b;
        const char *want;
    } cases[] = {
#define N(i_) {.tag = FXS_V_INT, .u.i = i_}
#define D(f_)                                                                                      \
    { .tag = FXS_V_FLOAT, .u.f = f_ }
#define T(b_)                                                                                      \
    { .tag = FXS_V_BOOL, .u.b = b_ }
        {"operator.add", N(2), N(3), "5"},
        {"operator.add", N(2), D(0.5), "2.5"},
        {"operator.add", T(true), T(true), "2"},
        {"operator.sub", N(2), N(3), "-1"},
        {"operator.mul", N(4), D(0.5), "2.0"},
        {"operator.truediv", N(7), N(2), "3.5"},
        {"operator.truediv", N(6), N(3), "2.0"},
        {"operator.floordiv", N(7), N(2), "3"},
        {"operator.floordiv", N(-7), N(2), "-4"},
        {"operator.floordiv", N(7), N(-2), "-4"},
        {"operator.floordiv", D(7.5), N(2), "3.0"},
        {"operator.floordiv", D(-7.5), N(2), "-4.0"},
        {"operator.mod", N(7), N(3), "1"},
        {"operator.mod", N(-7), N(3), "2"},
        {"operator.mod", N(7), N(-3), "-2"},
        {"operator.mod", D(-7.5), N(2), "0.5"},
        {"operator.mod", D(6), D(-3), "-0.0"},
        {"operator.pow", N(2), N(10), "1024"},
        {"operator.pow", N(-2), N(3), "-8"},
        {"operator.pow", N(2), N(-1), "0.5"},
        {"operator.pow", N(2), D(0.5), "1.4142135623730951"},
        {"operator.pow", N(-1), N(1000000001), "-1"},
        {"operator.and_", N(12), N(10), "8"},
        {"operator.or_", T(true), T(false), "True"},
        {"operator.xor", N(12), N(10), "6"},
        {"operator.lshift", N(3), N(4), "48"},
        {"operator.rshift", N(-9), N(1), "-5"},
        {"operator.rshift", N(-9), N(100), "-1"},
        {"operator.eq", N(1), D(1), "True"},
        {"operator.ne", N(1), T(true), "False"},
        {"operator.lt", N(1), D(1.5), "True"},
        {"operator.ge", D(NAN), N(1), "False"},
        {"operator.le", D(NAN), D(NAN), "False"},
        {"operator.is_", N(3), N(3), "True"},
        {"operator.is_not", N(3), D(3), "True"},
        {"math.pow", N(2), N(3), "8.0"},
        {"math.log", N(8), N(2), "3.0"},
        {"math.gcd", N(12), N(-18), "6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        gives(ctx, cases[i].op, TUPLE(ctx, cases[i].a, cases[i].b), cases[i].want);
}

static void one_number(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *op;
        fxs_value a;
        const char *want;
    } cases[] = {
        {"operator.neg", N(3), "-3"},      {"operator.neg", T(true), "-1"},
        {"operator.pos", T(true), "1"},    {"operator.abs", D(-2.5), "2.5"},
        {"builtins.abs", N(-4), "4"},      {"operator.invert", N(5), "-6"},
        {"operator.not_", N(0), "True"},   {"operator.truth", D(0.1), "True"},
        {"operator.index", N(3), "3"},     {"builtins.int", D(-2.7), "-2"},
        {"builtins.float", N(3), "3.0"},   {"builtins.bool", N(3), "True"},
        {"builtins.round", D(2.5), "2"},   {"builtins.round", D(3.5), "4"},
        {"builtins.round", D(-2.5), "-2"}, {"math.sqrt", N(2), "1.4142135623730951"},
        {"math.floor", D(-2.5), "-3"},     {"math.ceil", D(2.1), "3"},
        {"math.trunc", D(-2.9), "-2"},     {"math.log2", N(8), "3.0"},
        {"math.exp", N(0), "1.0"},         {"math.isnan", D(NAN), "True"},
        {"math.isinf", D(1), "False"},     {"math.fabs", N(-2), "2.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        gives(ctx, cases[i].op, TUPLE(ctx, cases[i].a), cases[i].want);
    gives(ctx, "builtins.round", TUPLE(ctx, R(2.567), I(2)), "2.57");
}

static void numbers_that_are_refused(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        const char *op;
        fxs_value a, b;
        const char *message;
    } cases[] = {
        {"operator.truediv", N(1), N(0), "python_truediv: division by zero (ZeroDivisionError)"},
        {"operator.floordiv", N(1), N(0), "python_floordiv: division by zero (ZeroDivisionError)"},
        {"operator.mod", D(1), D(0), "python_mod: division by zero (ZeroDivisionError)"},
        {"operator.add", N(INT64_MAX), N(1),
         "python_add: the result is an integer of more than 64 bits"},
        {"operator.sub", N(INT64_MIN), N(1),
         "python_sub: the result is an integer of more than 64 bits"},
        {"operator.mul", N(INT64_MAX), N(2),
         "python_mul: the result is an integer of more than 64 bits"},
        {"operator.pow", N(10), N(20), "python_pow: the result is an integer of more than 64 bits"},
        {"operator.floordiv", N(INT64_MIN), N(-1),
         "python_floordiv: the result is an integer of more than 64 bits"},
        {"operator.lshift", N(1), N(63),
         "python_lshift: the result is an integer of more than 64 bits"},
        {"operator.lshift", N(1), N(-1), "python_lshift: negative shift count"},
        {"operator.pow", N(0), N(-1),
         "python_pow: 0.0 cannot be raised to a negative power (ZeroDivisionError)"},
        {"operator.and_", N(1), D(1),
         "python_and: unsupported operand type(s) for &: 'int' and 'float'"},
        {"operator.add",
         N(1),
         {0},
         "python_add: unsupported operand type(s) for +: 'int' and 'NoneType'"},
        {"operator.lt", N(1), {0}, "python_lt: no order between instances of 'int' and 'NoneType'"},
        {"math.log", N(0), N(2), "math_log: math domain error"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuses(ctx, cases[i].op, TUPLE(ctx, cases[i].a, cases[i].b), NONE, cases[i].message);
    refuses(ctx, "math.sqrt", TUPLE(ctx, I(-1)), NONE, "math_sqrt: math domain error");
    refuses(ctx, "math.exp", TUPLE(ctx, I(1000)), NONE, "math_exp: math range error");
    refuses(ctx, "builtins.int", TUPLE(ctx, R(NAN)), NONE,
            "math_trunc: cannot convert float NaN to integer");
    refuses(ctx, "builtins.int", TUPLE(ctx, R(1e300)), NONE,
            "math_trunc: the result is an integer of more than 64 bits");
    refuses(ctx, "operator.neg", TUPLE(ctx, I(INT64_MIN)), NONE,
            "python_neg: the result is an integer of more than 64 bits");
    refuses(ctx, "operator.index", TUPLE(ctx, R(1)), NONE,
            "index: 'float' object cannot be interpreted as an integer");
}
#undef N
#undef D
#undef T

static void sequences(void **state) {
    fxs_ctx *ctx = *state;
    gives(ctx, "operator.add", TUPLE(ctx, SIZE(ctx, 1, 2), TUPLE(ctx, I(3))),
          "torch.Size([1, 2, 3])");
    gives(ctx, "operator.add", TUPLE(ctx, TUPLE(ctx, I(3)), SIZE(ctx, 1, 2)), "(3, 1, 2)");
    gives(ctx, "operator.add", TUPLE(ctx, LIST(ctx, I(3)), LIST(ctx, R(1))), "[3, 1.0]");
    gives(ctx, "operator.mul", TUPLE(ctx, I(2), SIZE(ctx, 1, 2)), "torch.Size([1, 2, 1, 2])");
    gives(ctx, "operator.mul", TUPLE(ctx, LIST(ctx, I(3)), I(-1)), "[]");
    gives(ctx, "operator.add", TUPLE(ctx, make_str(ctx, "ab"), make_str(ctx, "c")), "'abc'");
    gives(ctx, "operator.eq", TUPLE(ctx, SIZE(ctx, 1, 2), TUPLE(ctx, I(1), I(2))), "True");
    gives(ctx, "operator.lt", TUPLE(ctx, TUPLE(ctx, I(1), I(2)), TUPLE(ctx, I(1), I(3))), "True");
    gives(ctx, "operator.lt", TUPLE(ctx, TUPLE(ctx, I(1), I(2)), TUPLE(ctx, I(1))), "False");
    gives(ctx, "builtins.len", TUPLE(ctx, SIZE(ctx, 4, 5, 6)), "3");
    gives(ctx, "operator.contains", TUPLE(ctx, SIZE(ctx, 4, 5), I(5)), "True");
    gives(ctx, "operator.contains", TUPLE(ctx, make_str(ctx, "abc"), make_str(ctx, "bd")), "False");
    gives(ctx, "builtins.tuple", TUPLE(ctx, SIZE(ctx, 4, 5)), "(4, 5)");
    gives(ctx, "builtins.list", TUPLE(ctx, SIZE(ctx, 4, 5)), "[4, 5]");
    gives(ctx, "torch.Size", TUPLE(ctx, LIST(ctx, I(4), I(5))), "torch.Size([4, 5])");
    gives(ctx, "builtins.max", TUPLE(ctx, I(3), R(5.5), I(4)), "5.5");
    gives(ctx, "builtins.min", TUPLE(ctx, LIST(ctx, I(3), I(2), I(4))), "2");
    gives(ctx, "builtins.sum", TUPLE(ctx, SIZE(ctx, 4, 5)), "9");
    gives(ctx, "math.prod", TUPLE(ctx, SIZE(ctx, 4, 5, 6)), "120");
    refuses(ctx, "operator.add", TUPLE(ctx, LIST(ctx, I(1)), TUPLE(ctx, I(1))), NONE,
            "python_add: can only concatenate list (not \"tuple\") to list");
    refuses(ctx, "operator.mul", TUPLE(ctx, LIST(ctx, I(1), I(2)), I(INT64_MAX)), NONE,
            "python_mul: a sequence of too many items");
    refuses(ctx, "math.prod", TUPLE(ctx, LIST(ctx, I(INT64_MAX), I(2))), NONE,
            "python_prod: the result is an integer of more than 64 bits");
    refuses(ctx, "builtins.len", TUPLE(ctx, I(3)), NONE, "len: object of type 'int' has no len()");
}

static void items_and_slices(void **state) {
    fxs_ctx *ctx = *state;
    static const struct {
        int64_t start, stop, step; /* 99: None */
        const char *want;
    } slices[] = {{99, 99, 99, "torch.Size([2, 3, 4, 5])"},
                  {1, 99, 99, "torch.Size([3, 4, 5])"},
                  {99, -1, 99, "torch.Size([2, 3, 4])"},
                  {99, 99, -1, "torch.Size([5, 4, 3, 2])"},
                  {-2, 9, 99, "torch.Size([4, 5])"},
                  {3, 0, -2, "torch.Size([5, 3])"},
                  {9, 9, 99, "torch.Size([])"},
                  {-9, 2, 99, "torch.Size([2, 3])"},
                  {99, 99, 3, "torch.Size([2, 5])"},
                  {2, 1, 99, "torch.Size([])"}};
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++) {
        fxs_value s[3] = {slices[i].start == 99 ? NONE : I(slices[i].start),
                          slices[i].stop == 99 ? NONE : I(slices[i].stop),
                          slices[i].step == 99 ? NONE : I(slices[i].step)};
        gives(ctx, "operator.getitem",
              TUPLE(ctx, SIZE(ctx, 2, 3, 4, 5), make_list(ctx, FXS_V_SLICE, 3, s)), slices[i].want);
    }
    gives(ctx, "operator.getitem", TUPLE(ctx, SIZE(ctx, 2, 3), I(-1)), "3");
    gives(ctx, "operator.getitem", TUPLE(ctx, make_str(ctx, "abcd"), I(-2)), "'c'");
    gives(ctx, "operator.getitem", TUPLE(ctx, make_str(ctx, "abcd"), SLICE(ctx, NONE, NONE, I(-2))),
          "'db'");
    gives(ctx, "operator.getitem",
          TUPLE(ctx, KEYWORDS(ctx, {"a", I(1)}, {"b", I(2)}), make_str(ctx, "b")), "2");
    refuses(ctx, "operator.getitem", TUPLE(ctx, SIZE(ctx, 2, 3), I(2)), NONE,
            "python_getitem: tuple index 2 is out of range: there are 2 items");
    refuses(ctx, "operator.getitem", TUPLE(ctx, KEYWORDS(ctx, {"a", I(1)}), make_str(ctx, "c")),
            NONE, "python_getitem: the dict has no key 'c'");
    refuses(ctx, "operator.getitem", TUPLE(ctx, SIZE(ctx, 2), SLICE(ctx, NONE, NONE, I(0))), NONE,
            "python_getitem: slice step cannot be zero");
    refuses(ctx, "operator.getitem", TUPLE(ctx, I(2), I(0)), NONE,
            "python_getitem: 'int' object is not subscriptable");
}

static void facts_of_tensors(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT16, SIZES(2, 3, 4), 1);
    static const struct {
        const char *op, *want;
    } methods[] = {{"Tensor.size", "torch.Size([2, 3, 4])"},
                   {"Tensor.dim", "3"},
                   {"Tensor.ndimension", "3"},
                   {"Tensor.numel", "24"},
                   {"torch.numel", "24"},
                   {"Tensor.nelement", "24"},
                   {"Tensor.stride", "(12, 4, 1)"},
                   {"Tensor.element_size", "2"},
                   {"Tensor.is_floating_point", "True"},
                   {"torch.is_tensor", "True"},
                   {"Tensor.is_contiguous", "True"},
                   {"builtins.len", "2"},
                   {"Tensor.get_device", "-1"}};
    static const struct {
        const char *name, *want;
    } attributes[] = {{"shape", "torch.Size([2, 3, 4])"},
                      {"dtype", "torch.float16"},
                      {"device", "device(type='cpu')"},
                      {"ndim", "3"},
                      {"is_cuda", "False"},
                      {"requires_grad", "False"},
                      {"layout", "torch.strided"},
                      {"grad", "None"}};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        gives(ctx, methods[i].op, TUPLE(ctx, TENSOR(x)), methods[i].want);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        gives(ctx, "builtins.getattr", TUPLE(ctx, TENSOR(x), make_str(ctx, attributes[i].name)),
              attributes[i].want);
    gives(ctx, "Tensor.size", TUPLE(ctx, TENSOR(x), I(-1)), "4");
    gives(ctx, "Tensor.stride", TUPLE(ctx, TENSOR(x), I(0)), "12");
    fxs_value out;
    assert_ok(ctx, try_op(ctx, false, "builtins.getattr", TUPLE(ctx, TENSOR(x), make_str(ctx, "T")),
                          NONE, &out));
    assert_shape(out.u.tensor, SIZES(4, 3, 2));
    assert_strides(out.u.tensor, SIZES(1, 4, 12));
    fxs_value_unref(&out);
    refuses(ctx, "Tensor.size", TUPLE(ctx, TENSOR(x), I(3)), NONE,
            "size: dimension 3 is out of range: it must be in -3 to 2");
    refuses(ctx, "builtins.getattr", TUPLE(ctx, TENSOR(x), make_str(ctx, "colour")), NONE,
            "getattr: 'torch.Tensor' object has no attribute 'colour'");
    fxs_tensor_unref(x);
}

static void items_of_tensors(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *f = tensor_of_values(ctx, FXS_FLOAT32, SIZES(1), (double[]){2.5}),
               *n = tensor_of_values(ctx, FXS_INT64, 0, NULL, (double[]){-3}),
               *b = tensor_of_values(ctx, FXS_BOOL, SIZES(1, 1), (double[]){1}),
               *m = tensor_of_values(ctx, FXS_INT32, SIZES(2, 2), (double[]){1, 2, 3, 4}), *unknown;
    gives(ctx, "Tensor.item", TUPLE(ctx, TENSOR(f)), "2.5");
    gives(ctx, "Tensor.item", TUPLE(ctx, TENSOR(n)), "-3");
    gives(ctx, "Tensor.item", TUPLE(ctx, TENSOR(b)), "True");
    gives(ctx, "builtins.int", TUPLE(ctx, TENSOR(f)), "2");
    gives(ctx, "math.sqrt", TUPLE(ctx, TENSOR(f)), "1.5811388300841898");
    gives(ctx, "Tensor.tolist", TUPLE(ctx, TENSOR(m)), "[[1, 2], [3, 4]]");
    assert_ok(ctx, fxs_tensor_new_meta(ctx, FXS_FLOAT32, 0, NULL, &unknown));
    refuses(ctx, "Tensor.item", TUPLE(ctx, TENSOR(unknown)), NONE,
            "item: the value of the tensor is not known without computing it: run with values, not "
            "with shapes only");
    assert_int_equal(
        try_op(ctx, true, "Tensor.item", TUPLE(ctx, TENSOR(unknown)), NONE, &(fxs_value){0}),
        FXS_EUNKNOWN);
    fxs_ctx_clear(ctx);
    refuses(ctx, "Tensor.item", TUPLE(ctx, TENSOR(m)), NONE,
            "item: only one element tensors can be converted to Python scalars, but the shape is "
            "[2, 2]");
    refuses(ctx, "builtins.bool", TUPLE(ctx, TENSOR(m)), NONE,
            "truth: boolean value of a tensor with more than one value is ambiguous");
    fxs_tensor_unref(f), fxs_tensor_unref(n), fxs_tensor_unref(b), fxs_tensor_unref(m),
        fxs_tensor_unref(unknown);
}

static void assertions_and_questions(void **state) {
    fxs_ctx *ctx = *state;
    fxs_tensor *x = random_tensor(ctx, FXS_FLOAT32, SIZES(2), 1);
    fxs_value type;
    gives(ctx, "torch._assert", TUPLE(ctx, B(true), make_str(ctx, "no")), "None");
    refuses(ctx, "torch._assert", TUPLE(ctx, B(false), make_str(ctx, "Wrong image height!")), NONE,
            "assert: Wrong image height!");
    assert_ok(ctx, fxs_make_text(ctx, NULL, FXS_V_FUNCTION, "torch.Tensor", 12, &type));
    gives(ctx, "builtins.isinstance", TUPLE(ctx, TENSOR(x), fxs_value_ref(type)), "True");
    gives(ctx, "builtins.isinstance", TUPLE(ctx, I(3), type), "False");
    assert_ok(ctx, fxs_make_text(ctx, NULL, FXS_V_FUNCTION, "builtins.int", 12, &type));
    gives(ctx, "builtins.isinstance", TUPLE(ctx, B(true), type), "True");
    gives(ctx, "builtins.hasattr", TUPLE(ctx, TENSOR(x), make_str(ctx, "shape")), "True");
    gives(ctx, "operator.is_", TUPLE(ctx, NONE, NONE), "True");
    gives(ctx, "operator.is_not", TUPLE(ctx, TENSOR(x), NONE), "True");
    gives(ctx, "operator.eq", TUPLE(ctx, TENSOR(x), NONE), "False");
    fxs_tensor_unref(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arithmetic),
        cmocka_unit_test(one_number),
        cmocka_unit_test(numbers_that_are_refused),
        cmocka_unit_test(sequences),
        cmocka_unit_test(items_and_slices),
        cmocka_unit_test(facts_of_tensors),
        cmocka_unit_test(items_of_tensors),
        cmocka_unit_test(assertions_and_questions),
    };
    return cmocka_run_group_tests(tests, new_ctx, free_ctx);
}
