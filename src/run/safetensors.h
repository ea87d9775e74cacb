/* safetensors.h: what the reader and the writer of .safetensors files share: eight bytes of length,
 * a JSON header that says where each tensor lies, and the data. */
#ifndef FXS_RUN_SAFETENSORS_H
#define FXS_RUN_SAFETENSORS_H

#include "ir/module.h"

enum { FXS_SAFETENSORS_LENGTH = 8, FXS_SAFETENSORS_HEADER = 100 << 20 /* at most */ };

/* The format's name of a dtype; NULL: it has none. */
const char *fxs_safetensors_code(fxs_dtype d);

#endif
