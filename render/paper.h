/* paper.h: lengths and sizes as users write them. */
#ifndef FXS_RENDER_PAPER_H
#define FXS_RENDER_PAPER_H

#include "fxrender.h"

/* A width that was asked for. */
typedef struct fxs_length {
    double value; /* points, or pixels; 0: none */
    bool pixels;
    bool page; /* as wide as a page has room for */
} fxs_length;

/* The least width that a picture can be asked to have, in points or pixels: an icon's. */
enum { FXS_LEAST_WIDTH = 16 };

/* "170mm", "6.5in", "480pt", "480", "800px", "page"; false for anything else, and for a length that
 * is not above 0 and below a million. */
bool fxs_length_parse(const char *text, fxs_length *out);
/* A name of a size, or "210x297mm"; points. */
bool fxs_paper_parse(const char *text, double *w, double *h);
/* "a3, a4, ..." */
const char *fxs_paper_names(void);
/* "2000x1500": pixels, 64 to 32767 a side. */
bool fxs_tile_parse(const char *text, double *w, double *h);

#endif
