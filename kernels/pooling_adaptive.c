/* pooling_adaptive.c: pooling to a given output size: adaptive_avg_pool and adaptive_max_pool of
 * one to three dimensions, and their layers. The loops are in pooling_run.c. */
#include <string.h>

#include "kernels/compose.h"
#include "kernels/families.h"
#include "kernels/pooling.h"

enum { INPUT, SIZE, INDICES };

/* output_size is an int, or a list with None where the input's size stays. */
static fxs_status read_size(fxs_call *c, int dims, fxs_window *w) {
    const fxs_value *v = &c->arg[SIZE];
    int n = (int)fxs_value_len(v);
    bool one = v->tag == FXS_V_INT;
    fxs_window_sizes(w, fxs_arg_tensor(c, INPUT), w->in);
    if (!one && n != dims && n != 1)
        return FXS_REFUSE(c, FXS_ESHAPE, "output_size must be %d number%s", dims,
                          dims == 1 ? "" : "s");
    for (int k = 0; k < dims; k++) {
        const fxs_value *item = one ? v : fxs_value_item(v, n == 1 ? 0 : (size_t)k);
        int d = 3 - dims + k;
        bool whole = item->tag == FXS_V_INT || (k > 0 && n > 1 && item->tag == FXS_V_BOOL);
        if (!whole && item->tag != FXS_V_NONE)
            return FXS_REFUSE(c, FXS_ETYPE, "output_size must be ints or None, not %s",
                              fxs_value_type_name(item));
        w->out[d] = item->tag == FXS_V_BOOL  ? item->u.b
                    : item->tag == FXS_V_INT ? item->u.i
                                             : w->in[d];
        if (w->out[d] < 0)
            return FXS_REFUSE(
                c, FXS_EINVAL,
                "elements of output_size must be greater than or equal to 0, but got %lld",
                (long long)w->out[d]);
    }
    return FXS_OK;
}

/* The average over everything is PyTorch's mean, which takes what the pooling does not. */
static void make_mean(fxs_compose *k) {
    fxs_tensor *x = fxs_arg_tensor(k->call, INPUT);
    int dims = k->call->op->name[strlen("adaptive_avg_pool")] - '0', least = dims == 1 ? 2 : dims;
    int64_t last[3] = {-1, -2, -3};
    if (x->ndim < least || (dims == 1 && x->ndim > 3))
        fxs_stop(k, FXS_ESHAPE, "expected at least %d dimensions, but got %d", least, x->ndim);
    else
        fxs_give(k, FXS_DO(k, "mean", fxs_t(x), fxs_ints(k, dims, last), fxs_bool(true)));
}

static bool is_mean(const fxs_tensor *x, int dims, const fxs_window *w) {
    bool plain = x->ndim == dims + 1 || x->ndim == dims + 2;
    for (int d = 3 - dims; d < 3; d++)
        if (w->out[d] != 1)
            return false;
    return !plain || fxs_is_complex(x->dtype) || fxs_tensor_numel(x) == 0;
}

/* A batch of none may be pooled, one of the channels' dimension in its place too. */
static fxs_status check_adaptive(fxs_call *c, int dims, bool average) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    char text[FXS_SIZES_TEXT];
    bool fits = x->ndim == dims + 1 || x->ndim == dims + 2;
    for (int i = average && dims < 3 ? x->ndim - dims : 1; fits && i < x->ndim; i++)
        fits = x->sizes[i] != 0;
    return fits ? FXS_OK
                : FXS_REFUSE(c, FXS_ESHAPE,
                             "expected %dD or %dD (batch mode) tensor with optional 0 dim batch "
                             "size for input, but got: %s",
                             dims + 1, dims + 2, fxs_sizes_text(x, text));
}

static fxs_status infer_adaptive(fxs_call *c, int dims, bool average, bool indices) {
    const fxs_tensor *x = fxs_arg_tensor(c, INPUT);
    fxs_window w = fxs_window_new(dims);
    if (average && x->ndim >= dims) {
        FXS_TRY(read_size(c, dims, &w));
        if (is_mean(x, dims, &w))
            return fxs_compose_infer(c, make_mean);
    }
    FXS_TRY(check_adaptive(c, dims, average));
    FXS_TRY(read_size(c, dims, &w));
    if (average && fxs_is_complex(x->dtype))
        FXS_TRY(fxs_check_no_grad(c, INPUT, "input"));
    bool nothing = fxs_tensor_numel(x) == 0 || fxs_volume(w.out) == 0;
    if (fxs_is_complex(x->dtype) && (!average || dims == 3 || !nothing))
        return FXS_REFUSE(c, FXS_ETYPE, "not implemented for torch.%s", fxs_dtype_name(x->dtype));
    if (!average || dims == 3 || !nothing)
        FXS_TRY(fxs_check_dtype(c, x, FXS_TAKES_FLOATS));
    return fxs_pooling_result(c, x, dims, w.out, true, indices);
}

static fxs_status run_adaptive(fxs_call *c, int dims, bool average) {
    if (average) {
        fxs_window size = fxs_window_new(dims);
        FXS_TRY(read_size(c, dims, &size));
        if (is_mean(fxs_arg_tensor(c, INPUT), dims, &size))
            return fxs_compose_run(c, make_mean);
    }
    if (fxs_tensor_numel(c->out[0]) == 0)
        return FXS_OK;
    fxs_work w = fxs_work_begin(c, c->out[0]->dtype), ints = fxs_work_begin(c, FXS_INT64);
    fxs_tensor *x = fxs_work_in(&w, fxs_arg_tensor(c, INPUT)), *y = fxs_work_out(&w, c->out[0]);
    fxs_tensor *indices = c->nout > 1 ? fxs_work_out(&ints, c->out[1]) : NULL;
    if (w.status == FXS_OK && ints.status == FXS_OK && fxs_tensor_numel(y) > 0) {
        fxs_pooling p = {0};
        fxs_pooling_sizes(&p, dims, x, y);
        fxs_pooling_divide(&w, &p);
        if (w.status == FXS_OK && average)
            fxs_pooling_average(&w, &p, fxs_tensor_data(x), fxs_tensor_data(y));
        else if (w.status == FXS_OK)
            fxs_pooling_max(&w, &p, fxs_tensor_data(x), fxs_tensor_data(y),
                            indices ? fxs_tensor_data(indices) : NULL);
    }
    fxs_status s = fxs_work_end(&ints);
    fxs_status t = fxs_work_end(&w);
    return s != FXS_OK ? s : t;
}

/* every input element is summed or compared about once, and every result divided */
static fxs_cost cost_adaptive(const fxs_call *c) {
    return (fxs_cost){.flops =
                          (double)fxs_arg_numel(c, INPUT) + (double)fxs_tensor_numel(c->out[0])};
}

#define ADAPTIVE(n)                                                                                \
    static fxs_status infer_average##n(fxs_call *c) { return infer_adaptive(c, n, true, false); }  \
    static fxs_status run_average##n(fxs_call *c) { return run_adaptive(c, n, true); }             \
    static fxs_status infer_max##n(fxs_call *c) {                                                  \
        return infer_adaptive(c, n, false, fxs_arg_bool(c, INDICES));                              \
    }                                                                                              \
    static fxs_status infer_indices##n(fxs_call *c) { return infer_adaptive(c, n, false, true); }  \
    static fxs_status run_max##n(fxs_call *c) { return run_adaptive(c, n, false); }
ADAPTIVE(1)
ADAPTIVE(2)
ADAPTIVE(3)

#define ROWS(n)                                                                                    \
    {.name = "adaptive_avg_pool" #n "d",                                                           \
     .schema = "(Tensor input, any output_size) -> Tensor",                                        \
     .torch = "torch.nn.functional.adaptive_avg_pool" #n "d torch.adaptive_avg_pool" #n            \
              "d torch._C._nn.adaptive_avg_pool" #n "d",                                           \
     .infer = infer_average##n,                                                                    \
     .kernel = run_average##n,                                                                     \
     .cost = cost_adaptive,                                                                        \
     .flags = FXS_OP_NO_INPLACE | FXS_OP_COMPLEX},                                                 \
        {.name = "adaptive_max_pool" #n "d",                                                       \
         .schema = "(Tensor input, any output_size, bool return_indices=False) -> Tensor",         \
         .torch = "torch.nn.functional.adaptive_max_pool" #n "d",                                  \
         .infer = infer_max##n,                                                                    \
         .kernel = run_max##n,                                                                     \
         .cost = cost_adaptive,                                                                    \
         .flags = FXS_OP_NO_INPLACE},                                                              \
    {                                                                                              \
        .name = "adaptive_max_pool" #n "d_with_indices",                                           \
        .schema =                                                                                  \
            "(Tensor input, any output_size, bool return_indices=False) -> (Tensor, Tensor)",      \
        .torch =                                                                                   \
            "torch.nn.functional.adaptive_max_pool" #n "d_with_indices torch.adaptive_max_pool" #n \
            "d torch._C._nn.adaptive_max_pool" #n "d",                                             \
        .infer = infer_indices##n, .kernel = run_max##n, .cost = cost_adaptive,                    \
        .flags = FXS_OP_NO_INPLACE                                                                 \
    }

const fxs_op fxs_ops_pooling_adaptive[] = {ROWS(1), ROWS(2), ROWS(3), {0}};

#define LAYERS(n)                                                                                  \
    {.name = "AdaptiveAvgPool" #n "d",                                                             \
     .hyper = "output_size",                                                                       \
     .repr = "output_size=",                                                                       \
     .call = "adaptive_avg_pool" #n "d(input, output_size)"},                                      \
    {                                                                                              \
        .name = "AdaptiveMaxPool" #n "d", .hyper = "output_size, return_indices=False",            \
        .repr = "output_size=",                                                                    \
        .call = "adaptive_max_pool" #n "d(input, output_size, return_indices)"                     \
    }

const fxs_module_row fxs_modules_pooling_adaptive[] = {LAYERS(1), LAYERS(2), LAYERS(3), {0}};
