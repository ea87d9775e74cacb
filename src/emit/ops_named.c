/* ops_named.c: the types of the rows that calls with drawn arguments do not tell: sizes depend on
 * each other, or some arguments pass any type. `./dev parity --dtypes` compares them, as those of
 * the other rows, with PyTorch. Called by ops_probe.c. */
#include "emit/ops_named.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char floats[] = "float half", few[] = "float complex", some[] = "float half complex",
                  real[] = "float half int", bools[] = "float half int bool",
                  numbers[] = "float half int complex";

static const struct {
    const char *name, *types;
    const char *schema; /* how it starts, where rows of one name differ */
} named[] = {
    /* The sizes of weights depend on each other. */
    {"transformer_encoder", floats},
    {"transformer_decoder", floats},
    {"transformer", floats},
    {"multi_head_attention", floats},
    {"multi_head_attention_forward", floats},
    {"shifted_window_attention", floats},
    {"adaptive_log_softmax", floats},
    {"lstm", some},
    {"gru", some},
    {"rnn_tanh", some},
    {"rnn_relu", real},
    {"lstm_layer", some},
    {"gru_layer", some},
    {"rnn_layer", some},
    {"gru_cell", some},
    {"lstm_cell", some},
    {"deform_columns", floats},
    {"deform_conv2d_split", floats},
    {"deform_conv2d", floats},
    {"ps_roi_align", floats},
    {"ps_roi_pool", floats},
    {"affine_grid", floats},
    {"affine_grid_generator", some},
    /* Matrices and pivots, and lengths and targets, are of different types. */
    {"lu_solve", few},
    {"linalg_lu_solve", few},
    {"linalg_ldl_solve", "float int complex"},
    {"linalg_matrix_rank", few, "(Tensor input, Tensor"},
    {"ctc_loss", bools},
    {"torch_ctc_loss", bools},
    {"cross_entropy", real},
    {"nextafter", floats}, /* bfloat16 alone of the halves */
    {"istft", few},        /* a real one has its parts in its last dimension */
    /* What is not computed at all takes any type: of one place, of the same size, with the chance
       0. */
    {"svd_lowrank", "float"}, /* with q=0, which is no columns, any type */
    {"pca_lowrank", "float"},
    {"pdist", "float"},
    {"adaptive_avg_pool1d", floats},
    {"adaptive_avg_pool2d", floats},
    {"adaptive_avg_pool3d", floats},
    {"max_unpool2d", real},
    {"drop_block2d", floats},
    {"stochastic_depth", floats},
    {"torch_feature_alpha_dropout", floats},
    {"native_dropout", some},
    {"chain_matmul", numbers},
    {"conv_tbc", numbers},
    {"inner", numbers},
    {"tensordot", numbers},
    {"subtract_scaled", numbers}, /* each of three may be a number */
    {"cosine_embedding_loss", bools},
    {"torch_cosine_embedding_loss", bools},
    {"int_item", bools},
    {"float_item", bools},
    {"bincount", "int"},
    {"bucketize", real},
    /* A number beside a tensor of bools makes another type of it. */
    {"remainder", real, "(Tensor"},
    {"rremainder", real},
    {"rfloor_divide", real},
    {"fmod", real},
    {"clamp_max", real},
    {"pow", numbers, "(Tensor"},
    {"shift_left", "int", "(Tensor"},
    {"shift_right", "int", "(Tensor"},
};

const char *fxs_op_named_types(const fxs_op *op) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
        const char *start = named[i].schema ? named[i].schema : "";
        if (strcmp(named[i].name, op->name) == 0 && strncmp(op->schema, start, strlen(start)) == 0)
            return named[i].types;
    }
    return NULL;
}
