/* escape.h: text from a model becomes text for a picture: cleaned once (every byte is valid UTF-8
 * that XML allows), cut, wrapped into lines; and the two escapes, for XML and for DOT. */
#ifndef FXS_RENDER_ESCAPE_H
#define FXS_RENDER_ESCAPE_H

#include "base/arena.h"
#include "base/buf.h"

/* Lines hold about this many characters, cells at most that many. */
enum { FXS_WRAP_CHARS = 60, FXS_CELL_CHARS = 400, FXS_TIP_CHARS = 1200 };
/* More of them on one character would cover the lines above. */
enum { FXS_MOST_ACCENTS = 4 };

/* Appends s in clean form, cut after max characters with an ellipsis. Bytes that are not UTF-8
 * become U+FFFD; control, direction and invisible characters, and accents after the fourth on one
 * character, become a visible \xNN or \uNNNN. '\n' stays when `lines` is true, else it becomes \n.
 */
void fxs_clean(fxs_buf *out, const char *s, size_t len, size_t max, bool lines);

typedef struct fxs_span {
    size_t at, len;
} fxs_span;
/* The next line of clean text from *at on: ends at a newline or after at most `width` characters,
 * at a comma, space or bracket when there is one. Moves *at behind it; false when nothing is left.
 */
bool fxs_wrap_next(const char *s, size_t len, size_t width, size_t *at, fxs_span *line);

/* Appends clean text for XML content and for attributes in double quotes. */
void fxs_escape_xml(fxs_buf *out, const char *s, size_t len);
/* The same inside a double-quoted DOT string. HTML-like labels of DOT take fxs_escape_xml. */
void fxs_escape_dot(fxs_buf *out, const char *s, size_t len);
/* The same where DOT shows the string, in which it would read HTML's entities. */
void fxs_escape_dot_label(fxs_buf *out, const char *s, size_t len);
/* A name as part of an XML id: letters, digits, _ - . stay, other bytes become _NN. */
void fxs_escape_id(fxs_buf *out, const char *s);

#endif
