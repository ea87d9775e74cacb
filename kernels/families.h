/* families.h: the tables at the bottom of each kernel file. */
#ifndef FXS_KERNELS_FAMILIES_H
#define FXS_KERNELS_FAMILIES_H

#include "op/module_row.h"
#include "op/op.h"

extern const fxs_op fxs_ops_conv[];
extern const fxs_module_row fxs_modules_conv[];
extern const fxs_op fxs_ops_linear[];
extern const fxs_module_row fxs_modules_linear[];
extern const fxs_op fxs_ops_matmul[];
extern const fxs_op fxs_ops_einsum[];
extern const fxs_op fxs_ops_attention[];
extern const fxs_op fxs_ops_attention_layer[];
extern const fxs_module_row fxs_modules_attention_layer[];
extern const fxs_op fxs_ops_swin[];
extern const fxs_op fxs_ops_loss[];
extern const fxs_module_row fxs_modules_loss[];
extern const fxs_op fxs_ops_loss_class[];
extern const fxs_module_row fxs_modules_loss_class[];
extern const fxs_op fxs_ops_unique_dim[];
extern const fxs_op fxs_ops_scatter_reduce[];
extern const fxs_op fxs_ops_search[];
extern const fxs_op fxs_ops_grid[];
extern const fxs_op fxs_ops_embedding_bag[];
extern const fxs_module_row fxs_modules_embedding_bag[];
extern const fxs_op fxs_ops_recurrent_cell[];
extern const fxs_module_row fxs_modules_recurrent_cell[];
extern const fxs_op fxs_ops_complex[];
extern const fxs_op fxs_ops_fft[];
extern const fxs_op fxs_ops_random_draw[];
extern const fxs_op fxs_ops_transformer[];
extern const fxs_module_row fxs_modules_transformer[];
extern const fxs_op fxs_ops_unpooling[];
extern const fxs_module_row fxs_modules_unpooling[];
extern const fxs_op fxs_ops_composed[];
extern const fxs_op fxs_ops_arithmetic_special[];
extern const fxs_module_row fxs_modules_composed[];
extern const fxs_op fxs_ops_recurrent[];
extern const fxs_module_row fxs_modules_recurrent[];
extern const fxs_op fxs_ops_pooling[];
extern const fxs_module_row fxs_modules_pooling[];
extern const fxs_op fxs_ops_pooling_adaptive[];
extern const fxs_module_row fxs_modules_pooling_adaptive[];
extern const fxs_op fxs_ops_norm_batch[];
extern const fxs_module_row fxs_modules_norm_batch[];
extern const fxs_op fxs_ops_norm_layer[];
extern const fxs_module_row fxs_modules_norm_layer[];
extern const fxs_op fxs_ops_norm_local[];
extern const fxs_module_row fxs_modules_norm_local[];
extern const fxs_op fxs_ops_softmax[];
extern const fxs_module_row fxs_modules_softmax[];
extern const fxs_op fxs_ops_embedding[];
extern const fxs_module_row fxs_modules_embedding[];
extern const fxs_op fxs_ops_resample[];
extern const fxs_module_row fxs_modules_resample[];
extern const fxs_op fxs_ops_shuffle[];
extern const fxs_module_row fxs_modules_shuffle[];
extern const fxs_op fxs_ops_activation[];
extern const fxs_op fxs_ops_arithmetic[];
extern const fxs_op fxs_ops_cast[];
extern const fxs_op fxs_ops_compare[];
extern const fxs_op fxs_ops_dropout[];
extern const fxs_op fxs_ops_index[];
extern const fxs_op fxs_ops_join[];
extern const fxs_op fxs_ops_scalar_math[];
extern const fxs_op fxs_ops_scalar_number[];
extern const fxs_op fxs_ops_scalar_sequence[];
extern const fxs_op fxs_ops_scalar_tensor[];
extern const fxs_op fxs_ops_select[];
extern const fxs_op fxs_ops_unary[];
extern const fxs_op fxs_ops_view[];
extern const fxs_op fxs_ops_view_dims[];
extern const fxs_op fxs_ops_view_split[];
extern const fxs_module_row fxs_modules_activation[];
extern const fxs_module_row fxs_modules_dropout[];
extern const fxs_module_row fxs_modules_view[];
extern const fxs_op fxs_ops_reduce_sum[];
extern const fxs_op fxs_ops_reduce_var[];
extern const fxs_op fxs_ops_reduce_arg[];
extern const fxs_op fxs_ops_order[];
extern const fxs_op fxs_ops_scan[];
extern const fxs_op fxs_ops_index_gather[];
extern const fxs_op fxs_ops_index_found[];
extern const fxs_op fxs_ops_rearrange[];
extern const fxs_op fxs_ops_triangle[];
extern const fxs_op fxs_ops_pad[];
extern const fxs_op fxs_ops_create[];
extern const fxs_op fxs_ops_create_data[];
extern const fxs_op fxs_ops_random[];
extern const fxs_module_row fxs_modules_pad[];

#endif
