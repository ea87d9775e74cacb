/* columns.h: a long picture becomes columns side by side (rows below each other when it goes from
 * left to right). */
#ifndef FXS_RENDER_COLUMNS_H
#define FXS_RENDER_COLUMNS_H

#include "scene.h"

/* Cuts a finished scene between ranks into n columns of about equal length and sets them side by
 * side. Lines go on through the space between two columns; a frame that is cut is drawn in each
 * column that it has members in. The scene is finished again after. Where there are too few places
 * to cut at, there are fewer columns, and `notes` says so. */
fxs_status fxs_columns(fxs_ctx *ctx, size_t n, fxs_scene *s, fxs_buf *notes);

enum { FXS_MAX_COLUMNS = 100 };

#endif
