/* python_nn.c: which layers torch.nn makes from the arguments that print(model) shows, and their
 * constructors' calls. Called by python_file.c. The tables were checked against PyTorch 1.13 by
 * making each class from its own printout. Not in them: classes that print no arguments
 * (MultiheadAttention, Transformer, FractionalMaxPool2d). */
#include <stdlib.h>
#include <string.h>

#include "emit/python.h"

/* Sorted. The last ones of 2.x (RMSNorm, ZeroPad1d, CircularPad2d, ...) are here too: its printouts
 * are read. */
static const char *const layers[] = {"AdaptiveAvgPool1d",
                                     "AdaptiveAvgPool2d",
                                     "AdaptiveAvgPool3d",
                                     "AdaptiveMaxPool1d",
                                     "AdaptiveMaxPool2d",
                                     "AdaptiveMaxPool3d",
                                     "AlphaDropout",
                                     "AvgPool1d",
                                     "AvgPool2d",
                                     "AvgPool3d",
                                     "BCELoss",
                                     "BCEWithLogitsLoss",
                                     "BatchNorm1d",
                                     "BatchNorm2d",
                                     "BatchNorm3d",
                                     "Bilinear",
                                     "CELU",
                                     "CTCLoss",
                                     "ChannelShuffle",
                                     "CircularPad1d",
                                     "CircularPad2d",
                                     "CircularPad3d",
                                     "ConstantPad1d",
                                     "ConstantPad2d",
                                     "ConstantPad3d",
                                     "Conv1d",
                                     "Conv2d",
                                     "Conv3d",
                                     "ConvTranspose1d",
                                     "ConvTranspose2d",
                                     "ConvTranspose3d",
                                     "CosineEmbeddingLoss",
                                     "CosineSimilarity",
                                     "CrossEntropyLoss",
                                     "CrossMapLRN2d",
                                     "Dropout",
                                     "Dropout1d",
                                     "Dropout2d",
                                     "Dropout3d",
                                     "ELU",
                                     "Embedding",
                                     "EmbeddingBag",
                                     "FeatureAlphaDropout",
                                     "Flatten",
                                     "Fold",
                                     "GELU",
                                     "GLU",
                                     "GRU",
                                     "GRUCell",
                                     "GaussianNLLLoss",
                                     "GroupNorm",
                                     "Hardshrink",
                                     "Hardsigmoid",
                                     "Hardswish",
                                     "Hardtanh",
                                     "HingeEmbeddingLoss",
                                     "HuberLoss",
                                     "Identity",
                                     "InstanceNorm1d",
                                     "InstanceNorm2d",
                                     "InstanceNorm3d",
                                     "KLDivLoss",
                                     "L1Loss",
                                     "LPPool1d",
                                     "LPPool2d",
                                     "LSTM",
                                     "LSTMCell",
                                     "LayerNorm",
                                     "LeakyReLU",
                                     "Linear",
                                     "LocalResponseNorm",
                                     "LogSigmoid",
                                     "LogSoftmax",
                                     "MSELoss",
                                     "MarginRankingLoss",
                                     "MaxPool1d",
                                     "MaxPool2d",
                                     "MaxPool3d",
                                     "MaxUnpool1d",
                                     "MaxUnpool2d",
                                     "MaxUnpool3d",
                                     "Mish",
                                     "MultiLabelMarginLoss",
                                     "MultiLabelSoftMarginLoss",
                                     "MultiMarginLoss",
                                     "NLLLoss",
                                     "NLLLoss2d",
                                     "PReLU",
                                     "PairwiseDistance",
                                     "PixelShuffle",
                                     "PixelUnshuffle",
                                     "PoissonNLLLoss",
                                     "RMSNorm",
                                     "RNN",
                                     "RNNCell",
                                     "RReLU",
                                     "ReLU",
                                     "ReLU6",
                                     "ReflectionPad1d",
                                     "ReflectionPad2d",
                                     "ReflectionPad3d",
                                     "ReplicationPad1d",
                                     "ReplicationPad2d",
                                     "ReplicationPad3d",
                                     "SELU",
                                     "SiLU",
                                     "Sigmoid",
                                     "SmoothL1Loss",
                                     "SoftMarginLoss",
                                     "Softmax",
                                     "Softmax2d",
                                     "Softmin",
                                     "Softplus",
                                     "Softshrink",
                                     "Softsign",
                                     "SyncBatchNorm",
                                     "Tanh",
                                     "Tanhshrink",
                                     "Threshold",
                                     "TripletMarginLoss",
                                     "Unflatten",
                                     "Unfold",
                                     "Upsample",
                                     "UpsamplingBilinear2d",
                                     "UpsamplingNearest2d",
                                     "ZeroPad1d",
                                     "ZeroPad2d",
                                     "ZeroPad3d"};

static const char *const containers[] = {"Module",        "ModuleDict",    "ModuleList",
                                         "ParameterDict", "ParameterList", "Sequential"};

/* Printed as if it were an argument; the constructor has none of that name. */
static const struct {
    const char *layer, *keyword;
} no_arguments[] = {{"UpsamplingBilinear2d", "mode"}, {"UpsamplingNearest2d", "mode"}};

static int compare_names(const void *key, const void *item) {
    return strcmp(key, *(const char *const *)item);
}

static bool is_in(const char *name, const char *const *table, size_t n) {
    return bsearch(name, table, n, sizeof *table, compare_names) != NULL;
}

bool fxs_py_container(const fxs_module *m) {
    return is_in(m->class_name, containers, sizeof containers / sizeof *containers);
}

/* An object that was printed by its address or its class can't be made from that. */
static bool has_value(void *user, const fxs_value *leaf) {
    (void)user;
    return leaf->tag != FXS_V_OPAQUE && leaf->tag != FXS_V_OBJECT && leaf->tag != FXS_V_TENSOR;
}

static bool has_values(const fxs_value *v) { return fxs_value_visit(v, has_value, NULL); }

bool fxs_py_torch_nn(const fxs_module *m) {
    size_t count = fxs_value_len(&m->args) + fxs_value_len(&m->kwargs);
    bool understood = count > 0 || !m->extra; /* else what was printed is no argument list */
    if (fxs_py_container(m))
        return count == 0 && understood;
    return m->nchildren == 0 && understood &&
           is_in(m->class_name, layers, sizeof layers / sizeof *layers) && has_values(&m->args) &&
           has_values(&m->kwargs);
}

static bool is_argument(const fxs_module *m, const char *keyword) {
    for (size_t i = 0; i < sizeof no_arguments / sizeof *no_arguments; i++)
        if (strcmp(m->class_name, no_arguments[i].layer) == 0 &&
            strcmp(keyword, no_arguments[i].keyword) == 0)
            return false;
    return true;
}

void fxs_py_layer(fxs_py *p, fxs_buf *b, const fxs_module *m) {
    const char *between = "";
    fxs_buf_printf(b, "torch.nn.%s(", m->class_name);
    for (size_t i = 0; i < fxs_value_len(&m->args); i++, between = ", ") {
        fxs_buf_puts(b, between);
        fxs_py_value(p, b, fxs_value_item(&m->args, i));
    }
    for (size_t i = 0; i < fxs_value_len(&m->kwargs); i++) {
        const char *keyword = fxs_value_text(fxs_value_key(&m->kwargs, i));
        if (!keyword || !is_argument(m, keyword))
            continue;
        fxs_buf_printf(b, "%s%s=", between, keyword);
        fxs_py_value(p, b, fxs_value_item(&m->kwargs, i));
        between = ", ";
    }
    fxs_buf_putc(b, ')');
}
