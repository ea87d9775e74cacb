/* write.h: what the writers of text formats share: numbers, passing text on in pieces, and clusters
 * in nested order. */
#ifndef FXS_RENDER_WRITE_H
#define FXS_RENDER_WRITE_H

#include "base/sink.h"
#include "scene.h"

/* At most three decimals, and no more than are needed: 12, 12.5, -0.125 */
void fxs_put_number(fxs_buf *b, double x);
/* Moves what `b` holds to the sink when it is more than `over` bytes; a failed buffer is a failed
 * sink. */
void fxs_flush(fxs_buf *b, fxs_sink *out, size_t over);
enum { FXS_FLUSH = 1 << 16 };

/* What is written for the clusters of a view; any may be NULL. */
typedef struct fxs_nesting {
    void (*open)(void *user, size_t cluster);
    void (*node)(void *user, size_t node);
    void (*close)(void *user, size_t cluster);
} fxs_nesting;
/* Calls node for the members of the picture itself, then for each of its clusters open, the same
 * for what is in it, and close. Without recursion: clusters may be nested as deep as they like.
 * False: memory is out. */
bool fxs_nest(const fxs_view *v, const fxs_nesting *f, void *user);

/* A point of the cubic curve from p[0] to p[3]; t is from 0 to 1. */
fxs_point fxs_curve_at(const fxs_point *p, double t);
/* True when the cubic curve from p[0] to p[3] is a straight line. */
bool fxs_is_straight(const fxs_point *p);

#endif
