/* buf.h: a growing text. A failed allocation makes it stay failed, so that printers read like prose
 * and ask once. */
#ifndef FXS_BASE_BUF_H
#define FXS_BASE_BUF_H

#include <stdarg.h>

#include "base/mem.h"

typedef struct fxs_buf {
    char *data; /* NUL-terminated once something was added */
    size_t len, cap;
    bool failed;
} fxs_buf;

FXS_API void fxs_buf_add(fxs_buf *b, const char *s, size_t n);
FXS_API void fxs_buf_puts(fxs_buf *b, const char *s);
FXS_API void fxs_buf_putc(fxs_buf *b, char c);
FXS_API void fxs_buf_fill(fxs_buf *b, char c, size_t n);
FXS_API void fxs_buf_printf(fxs_buf *b, const char *fmt, ...) FXS_PRINTF(2, 3);
FXS_API void fxs_buf_vprintf(fxs_buf *b, const char *fmt, va_list ap);
/* Where up to n bytes may be written; fxs_buf_wrote says how many were. NULL when the buffer
 * failed. */
char *fxs_buf_room(fxs_buf *b, size_t n);
void fxs_buf_wrote(fxs_buf *b, size_t n);
/* Cuts the text back to n bytes. */
FXS_API void fxs_buf_cut(fxs_buf *b, size_t n);
/* The text ("" when empty), for the caller to fxs_free; NULL when the buffer failed. The buffer is
 * empty after. */
FXS_API char *fxs_buf_take(fxs_buf *b, size_t *len);
FXS_API void fxs_buf_free(fxs_buf *b);

#endif
