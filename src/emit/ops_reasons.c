/* ops_reasons.c: names of PyTorch that are no operations on tensors, or of tensors that there are
 * not here, by the reason. Called by ops_coverage.c; knows no operator. */
#include "emit/ops_reasons.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Names are separated by spaces; one that ends in '*' stands for all that begin so. */
static const struct {
    const char *why, *names;
} reasons[] = {
    {"a part of the tree of modules, which is drawn as it is",
     "torch.nn.Module torch.nn.Sequential torch.nn.ModuleList torch.nn.ModuleDict "
     "torch.nn.Parameter torch.nn.ParameterList torch.nn.ParameterDict torch.nn.Container "
     "torch.nn.Buffer torch.nn.DataParallel torch.nn.parallel.* torch.nn.RNNBase "
     "torch.nn.RNNCellBase torch.nn.modules.*"},
    {"becomes the layer without Lazy in its name when it first sees an input", "torch.nn.Lazy*"},
    {"fills weights by methods of tensors, which are operators", "torch.nn.init.*"},
    {"changes weights, or packs inputs, outside of the graph", "torch.nn.utils.*"},
    {"a type or a constant",
     "torch.float torch.float16 torch.float32 torch.float64 torch.float8* torch.half torch.double "
     "torch.bfloat16 torch.int torch.int8 torch.int16 torch.int32 torch.int64 torch.long "
     "torch.short torch.uint8 torch.uint16 torch.uint32 torch.uint64 torch.bool torch.complex32 "
     "torch.complex64 torch.complex128 torch.cfloat torch.cdouble torch.chalf torch.qint8 "
     "torch.quint8 torch.qint32 torch.dtype torch.device torch.layout torch.memory_format "
     "torch.finfo torch.iinfo torch.pi torch.e torch.inf torch.nan torch.strided torch.jagged "
     "torch.contiguous_format torch.channels_last torch.channels_last_3d torch.preserve_format "
     "torch.Tensor torch.FloatTensor torch.DoubleTensor torch.HalfTensor torch.BFloat16Tensor "
     "torch.LongTensor torch.IntTensor torch.ShortTensor torch.CharTensor torch.ByteTensor "
     "torch.BoolTensor torch.Generator torch.__version__ torch.version.* torch.qscheme "
     "torch.*Storage"},
    {"a switch or a transform of programs, of which a graph holds nothing",
     "torch.no_grad torch.enable_grad torch.inference_mode torch.set_grad_enabled "
     "torch.is_grad_enabled torch.autocast torch.is_autocast_* torch.set_autocast_* "
     "torch.get_autocast_* torch.compile torch.compiler.* torch.vmap torch.func.* torch.jit.* "
     "torch.fx.* torch.export.* torch.manual_seed torch.seed torch.initial_seed "
     "torch.get_rng_state torch.set_rng_state torch.get_default_dtype torch.set_default_dtype "
     "torch.set_default_tensor_type torch.set_default_device torch.set_printoptions "
     "torch.set_num_threads torch.get_num_threads torch.use_deterministic_algorithms "
     "torch.set_float32_matmul_precision torch.cuda.* torch.backends.* torch.distributed.* "
     "torch.multiprocessing.* torch.profiler.* torch.amp.* torch.mps.* torch.xpu.* torch.hub.* "
     "torch.utils.* torch.typename torch.is_storage"},
    {"for training: gradients and optimisers",
     "torch.optim.* torch.autograd.* torch._foreach_* Tensor.backward Tensor.register_hook "
     "Tensor.retain_grad Tensor.retains_grad Tensor.grad_fn Tensor.reinforce Tensor.output_nr"},
    {"reads or writes files, or other libraries' memory",
     "torch.save torch.load torch.from_numpy torch.from_file torch.frombuffer torch.from_dlpack "
     "torch.to_dlpack Tensor.numpy Tensor.storage Tensor.untyped_storage Tensor.storage_type "
     "Tensor.data_ptr Tensor.__array__ Tensor.__dlpack__ Tensor.record_stream"},
    {"calls a Python function for each element", "Tensor.apply_ Tensor.map_ Tensor.map2_"},
    {"asks for a value while the graph is traced, which torch.fx refuses",
     "Tensor.__bool__ Tensor.__nonzero__ Tensor.__contains__ Tensor.__iter__ Tensor.__index__ "
     "Tensor.__complex__"},
    {"sparse tensors are not supported",
     "torch.sparse* torch.spmm torch.smm torch.dsmm torch.hsmm torch.hspmm torch.sspaddmm "
     "torch.saddmm torch.resize_as_sparse_ Tensor.to_sparse* Tensor.sparse_* Tensor.smm "
     "Tensor.sspaddmm Tensor.coalesce Tensor.is_coalesced Tensor.indices Tensor.values "
     "Tensor.dense_dim Tensor.crow_indices Tensor.col_indices Tensor.ccol_indices "
     "Tensor.row_indices Tensor.resize_as_sparse_ torch.indices_copy torch.values_copy "
     "torch.crow_indices_copy torch.col_indices_copy torch.ccol_indices_copy "
     "torch.row_indices_copy Tensor.to_dense"},
    {"quantized tensors are not supported",
     "torch.quantize_* torch.quantized_* torch.fbgemm_* torch.q_* torch.int_repr "
     "torch.empty_quantized torch.choose_qparams_optimized torch.fused_moving_avg_* "
     "torch.quantization.* torch.ao.* Tensor.q_* Tensor.qscheme Tensor.int_repr"},
    {"nested tensors are not supported", "torch.nested.* Tensor.to_padded_tensor"},
    {"tensors with named dimensions are not supported",
     "torch.align_tensors Tensor.align_* Tensor.refine_names Tensor.rename Tensor.rename_ "
     "Tensor.names"},
    {"what PyTorch calls inside, on one kind of device",
     "torch.cudnn_* torch.miopen_* torch.mkldnn_* torch.batch_norm_* torch.native_norm "
     "Tensor.to_mkldnn Tensor.ipu Tensor.xpu"},
    {"PyTorch 1.13 itself refuses it: there are others in torch.linalg",
     "Tensor.lstsq torch.lstsq Tensor.eig torch.eig Tensor.symeig torch.symeig Tensor.solve "
     "torch.solve torch.matrix_rank"},
    {"an old name of reshape, which refuses what reshape takes", "Tensor.resize Tensor.resize_as"},
    {"calls interpolate, which is an operator",
     "torch.nn.functional.upsample_bilinear torch.nn.functional.upsample_nearest "
     "F.upsample_bilinear F.upsample_nearest"},
    {"a name that PyTorch does not have", "torch.nn.Indentity torch.nn.L2loss"},
};

static bool fits(const char *pattern, size_t n, const char *name) {
    const char *star = memchr(pattern, '*', n);
    if (!star)
        return strlen(name) == n && memcmp(pattern, name, n) == 0;
    size_t before = (size_t)(star - pattern), after = n - before - 1, len = strlen(name);
    return len >= before + after && memcmp(pattern, name, before) == 0 &&
           memcmp(star + 1, name + len - after, after) == 0;
}

const char *fxs_no_operation(const char *name) {
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        for (const char *s = reasons[i].names; *s;) {
            size_t n = strcspn(s, " ");
            if (fits(s, n, name))
                return reasons[i].why;
            s += n + (s[n] == ' ');
        }
    return NULL;
}
