/* front.h: front ends: rows { name, extensions, sniff, load }. Each turns bytes into a module with
 * a graph, through the builder of the IR only. */
#ifndef FXS_FRONT_FRONT_H
#define FXS_FRONT_FRONT_H

#include "ir/module.h"

typedef struct fxs_front {
    const char *name;
    const char *extensions; /* ".fx .txt" */
    bool (*sniff)(const char *text, size_t len);
    /* `file` names the text in messages; text[len] is NUL. */
    fxs_status (*load)(fxs_ctx *ctx, const char *file, const char *text, size_t len,
                       fxs_module **out);
} fxs_front;

extern const fxs_front fxs_front_text;

#endif
