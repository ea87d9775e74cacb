/* grid.h: rows and columns of text, printed in several formats. Knows nothing of what the cells
 * say. */
#ifndef FXS_EMIT_GRID_H
#define FXS_EMIT_GRID_H

#include "base/ctx.h"

typedef struct fxs_grid {
    fxs_ctx *ctx;
    size_t columns, rows, cap;
    const char *const *headers;
    fxs_buf *cells; /* rows * columns */
    bool failed;
} fxs_grid;

/* headers are borrowed: they must live as long as g. */
fxs_status fxs_grid_init(fxs_ctx *ctx, fxs_grid *g, size_t columns, const char *const *headers);
void fxs_grid_free(fxs_grid *g);
/* A new row: `columns` empty cells to fill, good until the next row; NULL when memory is out (the
 * printers say so). */
fxs_buf *fxs_grid_row(fxs_grid *g);

/* As Python's `tabulate` prints its "simple" format: headers, dashes, numeric columns to the right.
 */
void fxs_grid_simple(const fxs_grid *g, fxs_buf *out);
/* RFC 4180, but lines end with a bare newline as every other text here. */
void fxs_grid_csv(const fxs_grid *g, fxs_buf *out);
/* Tabs between cells, which hold none themselves, and no headers' dashes. */
void fxs_grid_tsv(const fxs_grid *g, fxs_buf *out);
void fxs_grid_markdown(const fxs_grid *g, fxs_buf *out);

#endif
