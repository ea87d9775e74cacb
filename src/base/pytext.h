/* pytext.h: Python's way of writing numbers and strings, and of reading them back. */
#ifndef FXS_BASE_PYTEXT_H
#define FXS_BASE_PYTEXT_H

#include "base/buf.h"

/* repr(float): the shortest digits that read back the same; 1e-05, 1e+16, 1000000000000000.0, inf,
 * nan, -0.0 */
FXS_API void fxs_buf_float(fxs_buf *b, double x);
/* repr(str): single quotes unless the text holds one and no double quote; what is not printable as
 * \xNN, \uNNNN or \UNNNNNNNN, and a byte NN that is no UTF-8 as \udcNN, as Python's surrogateescape
 * has it. Reads back as the same bytes. */
FXS_API void fxs_buf_quoted(fxs_buf *b, const char *s, size_t len);
/* Reads what Python reads as int or float: -3, 1e-05, inf, -inf, nan, 0.5, 1_000 not. The whole of
 * s. */
bool fxs_read_int(const char *s, size_t len, int64_t *out);
bool fxs_read_float(const char *s, size_t len, double *out);
/* cpu, cuda:0 */
bool fxs_is_device(const char *s, size_t len);
/* str.isprintable() of one code point. */
bool fxs_is_printable(uint32_t c);
/* Can the byte be part of a Python name? Of letters beyond ASCII each byte can. */
static inline bool fxs_is_name_byte(char c) {
    unsigned char u = (unsigned char)c;
    return (unsigned)((u | 32) - 'a') < 26 || (unsigned)(u - '0') < 10 || u == '_' || u >= 0x80;
}
/* Length of the UTF-8 sequence at s (1 to 4), 0 when it is not valid. */
size_t fxs_utf8_len(const char *s, size_t left);

#endif
