/* families.h: the tables at the bottom of each kernel file. */
#ifndef FXS_KERNELS_FAMILIES_H
#define FXS_KERNELS_FAMILIES_H

#include "op/module_row.h"
#include "op/op.h"

#endif
