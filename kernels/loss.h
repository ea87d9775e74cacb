/* loss.h: what losses share: the reduction that all of them end with. */
#ifndef FXS_KERNELS_LOSS_H
#define FXS_KERNELS_LOSS_H

#include "kernels/compose.h"

typedef enum fxs_loss_kind { FXS_LOSS_EACH, FXS_LOSS_SUM, FXS_LOSS_MEAN } fxs_loss_kind;

/* The arguments of a loss that say how it is reduced. */
#define FXS_LOSS_ARGUMENTS ", bool? size_average=None, bool? reduce=None, str reduction='mean'"

/* The same of a loss' layer, and how its forward hands them on. print(model) shows none of them. */
#define FXS_LOSS_OLD "size_average=None, reduce=None, reduction='mean'"
#define FXS_LOSS_HOW "size_average, reduce, reduction"

/* Of the argument `reduction` at position i, and the two names of old before it. */
fxs_loss_kind fxs_loss_reduction(fxs_compose *k, int i);
/* Gives x as it is, its sum or its mean. */
void fxs_give_loss(fxs_compose *k, fxs_tensor *x, int i);

#endif
