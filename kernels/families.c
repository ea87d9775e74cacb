/* families.c: the list of all operator tables. Each family is a file beside this one. */
#include "kernels/families.h"

const fxs_family fxs_families[] = {
    {"convolution", fxs_ops_conv, fxs_modules_conv},
    {"linear", fxs_ops_linear, fxs_modules_linear},
    {"matmul", fxs_ops_matmul, NULL},
    {"pooling", fxs_ops_pooling, fxs_modules_pooling},
    {"adaptive pooling", fxs_ops_pooling_adaptive, fxs_modules_pooling_adaptive},
    {"batch normalisation", fxs_ops_norm_batch, fxs_modules_norm_batch},
    {"layer normalisation", fxs_ops_norm_layer, fxs_modules_norm_layer},
    {"softmax", fxs_ops_softmax, fxs_modules_softmax},
    {"embedding", fxs_ops_embedding, fxs_modules_embedding},
    {"resampling", fxs_ops_resample, fxs_modules_resample},
    {"shuffling", fxs_ops_shuffle, fxs_modules_shuffle},
    {"unary", fxs_ops_unary, NULL},
    {"arithmetic", fxs_ops_arithmetic, NULL},
    {"comparison", fxs_ops_compare, NULL},
    {"selection", fxs_ops_select, NULL},
    {"activation", fxs_ops_activation, fxs_modules_activation},
    {"dropout", fxs_ops_dropout, fxs_modules_dropout},
    {"view", fxs_ops_view, fxs_modules_view},
    {"dimensions", fxs_ops_view_dims, NULL},
    {"split", fxs_ops_view_split, NULL},
    {"cast", fxs_ops_cast, NULL},
    {"join", fxs_ops_join, NULL},
    {"index", fxs_ops_index, NULL},
    {"tensor facts", fxs_ops_scalar_tensor, NULL},
    /* Python's own values come last: their rows take anything that the tensors' rows did not. */
    {"python numbers", fxs_ops_scalar_number, NULL},
    {"python math", fxs_ops_scalar_math, NULL},
    {"python sequences", fxs_ops_scalar_sequence, NULL},
    {0},
};
