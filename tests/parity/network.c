/* network.c: runs one network with given weights on one input and writes what it returns: for
 * parity.py --networks, which has PyTorch's answer. It uses the public interface only. network
 * MODEL.fx WEIGHTS.safetensors 1x3x224x224 INPUT.raw > OUTPUT.raw     (float32 in the machine's
 * order) */
#include <stdio.h>
#include <stdlib.h>

#include "fxscope.h"

static int fail(fxs_ctx *ctx) {
    fprintf(stderr, "network: %s\n", fxs_ctx_error(ctx));
    return 1;
}

static fxs_status read_input(fxs_ctx *ctx, const char *shape, const char *path, fxs_tensor **out) {
    int64_t sizes[FXS_MAX_DIM];
    int n = 0;
    for (char *at = (char *)shape; *at && n < FXS_MAX_DIM; at += *at == 'x')
        sizes[n++] = strtoll(at, &at, 10);
    fxs_status s = fxs_tensor_new(ctx, FXS_FLOAT32, n, sizes, out);
    FILE *f = s == FXS_OK ? fopen(path, "rb") : NULL;
    size_t want = s == FXS_OK ? (size_t)fxs_tensor_numel(*out) : 0;
    if (!f || fread(fxs_tensor_data(*out), sizeof(float), want, f) != want)
        s = s == FXS_OK ? FXS_EIO : s;
    if (f)
        fclose(f);
    return s;
}

static void write_tensor(const fxs_tensor *t) {
    const int64_t *sizes = fxs_tensor_sizes(t), *strides = fxs_tensor_strides(t);
    const float *x = fxs_tensor_data(t);
    for (int64_t i = 0, n = fxs_tensor_numel(t); i < n; i++) {
        int64_t rest = i, at = 0;
        for (int k = fxs_tensor_ndim(t) - 1; k >= 0; k--) {
            at += rest % sizes[k] * strides[k];
            rest /= sizes[k];
        }
        fwrite(&x[at], sizeof *x, 1, stdout);
    }
}

static void write_value(const fxs_value *v) {
    if (v->tag == FXS_V_TENSOR && fxs_tensor_dtype(v->u.tensor) == FXS_FLOAT32)
        write_tensor(v->u.tensor);
    for (size_t i = 0; i < fxs_value_len(v); i++)
        write_value(fxs_value_item(v, i));
}

int main(int argc, char **argv) {
    fxs_ctx *ctx = fxs_ctx_new();
    fxs_module *m;
    fxs_tensor *x;
    fxs_interpreter *it;
    fxs_value result;
    char *notes;
    if (!ctx || argc != 5)
        return 2;
    fxs_ctx_set_threads(ctx, 2);
    if (fxs_load(ctx, argv[1], NULL, &m) != FXS_OK ||
        fxs_module_load_weights(m, argv[2], &notes) != FXS_OK ||
        read_input(ctx, argv[3], argv[4], &x) != FXS_OK ||
        fxs_interpreter_new(m, &(fxs_interpreter_options){.mode = FXS_RUN_EXECUTE}, &it) != FXS_OK)
        return fail(ctx);
    fputs(notes ? notes : "", stderr);
    fxs_value input = fxs_of_tensor(x);
    if (fxs_interpreter_run(it, &input, 1, &result) != FXS_OK)
        return fail(ctx);
    write_value(&result);
    fxs_value_unref(&result);
    fxs_value_unref(&input);
    fxs_interpreter_free(it);
    fxs_module_unref(m);
    fxs_free(notes);
    fxs_ctx_free(ctx);
    return 0;
}
